//! `cargo xtask bench`: what whole processes cost beside others, and how the cost of a verdict grows.
//!
//! Seconds of one machine say little. So every figure is a ratio to `/bin/true`, or to a smaller input, measured in turn
//! with it in the same run; what an in-process verdict costs is told by `cargo tuned run --release -p shward --example verdict`.

mod bubblewrap;
mod process;
mod scaling;
mod svg;

use crate::{Failure, batch};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Rounds of whole processes, unless told otherwise.
const ROUNDS: usize = 200;

struct Options {
    binary: Option<PathBuf>,
    json: Option<PathBuf>,
    page: Option<PathBuf>,
    rounds: usize,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options, Failure> {
        let mut options = Options { binary: None, json: None, page: None, rounds: ROUNDS };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--binary" => options.binary = Some(value()?.into()),
                "--json" => options.json = Some(value()?.into()),
                "--svg" => options.page = Some(value()?.into()),
                "--rounds" => options.rounds = value()?.parse::<usize>()?.max(3),
                other => return Err(format!("unexpected {other}").into()),
            }
        }
        Ok(options)
    }
}

#[derive(Serialize)]
struct Report {
    v: u8,
    processes: Vec<process::Row>,
    curves: Vec<scaling::Curve>,
}

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<ExitCode, Failure> {
    let options = Options::parse(arguments)?;
    let binary = match &options.binary {
        Some(binary) => binary.canonicalize().map_err(|e| format!("{}: {e}", binary.display()))?,
        None => batch::build(root)?,
    };
    let directory = Scratch::new()?;
    let processes = process::measure(root, &binary, &directory.0, options.rounds)?;
    print!("{}", process::render(&processes));
    let curves = scaling::measure(&binary, &directory.0)?;
    for curve in &curves {
        print!("\n{}", curve.render());
    }
    if let Some(to) = &options.page {
        fs::create_dir_all(to)?;
        for curve in &curves {
            fs::write(to.join(format!("{}.svg", curve.name)), svg::chart(curve))?;
        }
    }
    if let Some(path) = &options.json {
        fs::write(path, serde_json::to_string_pretty(&Report { v: 1, processes, curves })? + "\n")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A directory for the time of the measurement: a home for the record, an event, policies.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch, Failure> {
        let path = std::env::temp_dir().join(format!("shward-bench-{}", std::process::id()));
        fs::create_dir(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        // Without links, as shward asks it of a workspace.
        Ok(Scratch(path.canonicalize()?))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The middle one; of an even number, the upper.
fn median<T: Copy + PartialOrd>(values: &mut [T]) -> Option<T> {
    values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    values.get(values.len() / 2).copied()
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4, 1, 3, 2]), Some(3));
        assert_eq!(median::<u8>(&mut []), None);
    }

    #[test]
    fn a_scratch_directory_goes_away() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.0.clone();
        fs::write(path.join("x"), "x").unwrap();
        drop(scratch);
        assert!(!path.exists());
    }
}
