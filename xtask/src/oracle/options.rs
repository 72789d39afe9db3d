//! What was typed after `cargo xtask oracle`.

use super::generate::{self, Which};
use crate::Failure;
use std::path::PathBuf;

/// Which shell runs the commands. Those other than bash are started by it, so that what is predicted is bash's command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Shell {
    #[default]
    Bash,
    Dash,
    Busybox,
    Zsh,
}

#[derive(Debug, Default)]
pub(super) struct Options {
    /// One command to be looked at.
    pub(super) command: Option<String>,
    pub(super) corpus: Vec<PathBuf>,
    /// How many commands are to be generated.
    pub(super) generate: usize,
    /// Which.
    pub(super) which: Which,
    pub(super) seed: u64,
    /// The number of the first one, to go on where an earlier run ended.
    pub(super) from: usize,
    pub(super) shell: Shell,
    pub(super) jobs: Option<usize>,
    pub(super) binary: Option<PathBuf>,
    /// Where every observation goes.
    pub(super) record: Option<PathBuf>,
    /// Where every violation goes.
    pub(super) violations: Option<PathBuf>,
    pub(super) json: bool,
}

impl Options {
    pub(super) fn parse(arguments: &[String]) -> Result<Options, Failure> {
        let mut options = Options::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--corpus" => options.corpus.push(value()?.into()),
                "--generate" => options.generate = value()?.parse()?,
                "--pairs" => options.which = Which::Pairs,
                "--contexts" => options.which = Which::Contexts,
                "--places" => options.which = Which::Places,
                "--tasks" => options.which = Which::Tasks,
                "--programs" => options.which = Which::Programs,
                "--seed" => options.seed = value()?.parse()?,
                "--from" => options.from = value()?.parse()?,
                "--jobs" => options.jobs = Some(value()?.parse()?),
                "--binary" => options.binary = Some(value()?.into()),
                "--record" => options.record = Some(value()?.into()),
                "--violations" => options.violations = Some(value()?.into()),
                "--json" => options.json = true,
                "--shell" => {
                    options.shell = match value()?.as_str() {
                        "bash" => Shell::Bash,
                        "dash" => Shell::Dash,
                        "busybox" => Shell::Busybox,
                        "zsh" => Shell::Zsh,
                        other => return Err(format!("no shell {other} is known here").into()),
                    }
                }
                "--" => {
                    let words: Vec<&str> = rest.by_ref().map(String::as_str).collect();
                    options.command = Some(words.join(" "));
                }
                other => return Err(format!("unexpected {other}").into()),
            }
        }
        options.generate = generate::count(options.which).unwrap_or(options.generate);
        let nothing = options.generate == 0 && options.which != Which::Programs;
        if options.command.is_none() && options.corpus.is_empty() && nothing {
            return Err("nothing to run: -- COMMAND, --corpus FILE, --generate N, --pairs, --contexts, \
                        --places, --tasks or --programs"
                .into());
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let parse = |line: &str| Options::parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let options = parse("--generate 7 --seed 3 --shell zsh -- ls -l").unwrap();
        assert_eq!((options.generate, options.seed, options.shell), (7, 3, Shell::Zsh));
        assert_eq!(options.command.as_deref(), Some("ls -l"));
        assert!(parse("--pairs --seed 2").unwrap().generate > 400_000);
        assert!(parse("--contexts").unwrap().generate > 60_000);
        assert!(parse("--tasks").unwrap().generate > 60_000);
        assert!(parse("--places").unwrap().generate > 80_000);
        for wrong in ["--seed 1", "--generate x", "--shell fish -- ls", "--corpus", "ls"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
