//! What was typed after `cargo xtask oracle`.

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
    /// They are all pairs of pieces, instead.
    pub(super) pairs: bool,
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
                "--pairs" => options.pairs = true,
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
        if options.pairs {
            options.generate = super::generate::pairs();
        }
        if options.command.is_none() && options.corpus.is_empty() && options.generate == 0 {
            return Err("nothing to run: -- COMMAND, --corpus FILE, --generate N or --pairs".into());
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
        for wrong in ["--seed 1", "--generate x", "--shell fish -- ls", "--corpus", "ls"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
