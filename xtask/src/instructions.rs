//! `cargo xtask instructions`: how many instructions the verdicts on a fixed set of commands take, against a budget.
//!
//! Seconds depend on the machine and on what else it does; instructions depend on the compiler alone. So the budget names
//! the compiler that it was counted with, and another one's count is told and not held against anybody.

use crate::{Failure, corpus};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Relative to the root.
const BUDGET: &str = "docs/performance/instructions.json";

/// The commands: of the project's own sample, every fourth.
const SAMPLE: &str = "corpus";
const EVERY: usize = 4;

/// In percent: more than this above the budget is a regression; as much below it, and the budget is to be lowered.
const TOLERANCE: u64 = 3;

/// What was counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Count {
    /// What `rustc --version` says.
    compiler: String,
    commands: usize,
    /// For each command, on average.
    instructions: u64,
}

#[derive(Default)]
struct Options {
    binary: Option<PathBuf>,
    write: bool,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options, Failure> {
        let mut options = Options::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--binary" => options.binary = Some(rest.next().ok_or("--binary needs a value")?.into()),
                "--write" => options.write = true,
                other => return Err(format!("unexpected {other}").into()),
            }
        }
        Ok(options)
    }
}

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<ExitCode, Failure> {
    let options = Options::parse(arguments)?;
    let binary = options.binary.unwrap_or_else(|| root.join("target/debug/shward"));
    let path = root.join(BUDGET);
    let counted = count(root, &binary)?;
    if options.write {
        fs::write(&path, serde_json::to_string_pretty(&counted)? + "\n")?;
        println!("{} instructions for each of {} commands", counted.instructions, counted.commands);
        return Ok(ExitCode::SUCCESS);
    }
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let budget: Count = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    let (told, held) = compare(&budget, &counted);
    println!("{told}");
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What is to be said of a count, and whether it holds.
fn compare(budget: &Count, counted: &Count) -> (String, bool) {
    let change = counted.instructions as f64 / budget.instructions as f64 - 1.0;
    let told = format!(
        "{} instructions for each of {} commands, budget {}: {:+.1} %",
        counted.instructions,
        counted.commands,
        budget.instructions,
        change * 100.0
    );
    let write = "`cargo xtask instructions --write` makes it the budget; say in the commit what it buys";
    if counted.compiler != budget.compiler || counted.commands != budget.commands {
        return (
            format!(
                "{told}\nthe budget is of other commands or of {}: nothing is held. {write}",
                budget.compiler
            ),
            true,
        );
    }
    let percent = |share: u64| budget.instructions.saturating_mul(share) / 100;
    if counted.instructions > percent(100 + TOLERANCE) {
        return (format!("{told}\nmore than the budget allows. {write}"), false);
    }
    if counted.instructions < percent(100 - TOLERANCE) {
        return (format!("{told}\nless: lower the budget, or it lets this be lost again. {write}"), true);
    }
    (told, true)
}

fn count(root: &Path, binary: &Path) -> Result<Count, Failure> {
    let samples = corpus::read(&root.join(SAMPLE))?;
    let chosen: Vec<_> = samples.iter().step_by(EVERY).collect();
    let mut input = Vec::new();
    for sample in &chosen {
        let home = sample.home("/home/dev");
        let (command, cwd) = (&sample.command, &sample.cwd);
        serde_json::to_writer(
            &mut input,
            &serde_json::json!({ "command": command, "cwd": cwd, "home": home }),
        )?;
        input.push(b'\n');
    }
    // One command alone is what the process itself costs.
    let first = input.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
    let all = instructions(binary, &input)?.saturating_sub(instructions(binary, first)?);
    let version = Command::new("rustc").arg("--version").output()?;
    let compiler = String::from_utf8_lossy(&version.stdout).trim().to_owned();
    let commands = chosen.len();
    Ok(Count { compiler, commands, instructions: all / (commands.saturating_sub(1).max(1)) as u64 })
}

/// The instructions of a batch. The C library chooses its functions by the processor; here it takes the plain ones.
fn instructions(binary: &Path, input: &[u8]) -> Result<u64, Failure> {
    let mut child = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(binary)
        .args(["check", "--batch", "--frozen"])
        .env("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX512F,-AVX2,-AVX,-ERMS,-FSRM,-SSE4_2,-SSSE3")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("valgrind: {e}; it counts instructions, and has to be installed"))?;
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        let writer = scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        let output = child.wait_with_output();
        let _ = writer.join();
        output
    })?;
    let told = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("valgrind: {}: {told}", output.status).into());
    }
    collected(&told).ok_or_else(|| format!("valgrind has not told how many: {told}").into())
}

/// `==1== Collected : 123`
fn collected(told: &str) -> Option<u64> {
    told.lines().find_map(|line| line.split_once("Collected : ")?.1.split_whitespace().next()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(compiler: &str, instructions: u64) -> Count {
        Count { compiler: compiler.to_owned(), commands: 10, instructions }
    }

    #[test]
    fn more_than_the_tolerance_fails_and_less_is_told() {
        let budget = of("rustc 1", 1000);
        for (counted, holds, says) in [
            (of("rustc 1", 1031), false, "more than"),
            (of("rustc 1", 1030), true, "+3.0 %"),
            (of("rustc 1", 969), true, "lower the budget"),
            (of("rustc 2", 2000), true, "nothing is held"),
        ] {
            let (told, held) = compare(&budget, &counted);
            assert_eq!(held, holds, "{told}");
            assert!(told.contains(says), "{told}");
        }
    }

    #[test]
    fn the_count_is_found_in_what_valgrind_says() {
        assert_eq!(
            collected("==7== Events    : Ir\n==7== Collected : 344881927\n==7== \n"),
            Some(344_881_927)
        );
        assert_eq!(collected("==7== Collected : none\n"), None);
    }
}
