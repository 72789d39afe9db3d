//! `cargo xtask score`: how well labelled commands are judged.
//!
//! Every command is judged as if somebody else ran it (`check`) and as if shward did (`--contained`), with nothing
//! of the file system to be seen, so that the result is the same on every machine.

mod changes;
mod misses;
mod page;
mod table;
mod tally;

use crate::Failure;
use crate::batch::{self, Answer, Batch, Decision};
use crate::corpus::{self, Sample};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Who would run the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Check,
    Contained,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Mode::Check => "check",
            Mode::Contained => "contained",
        }
    }
}

/// All samples judged in one mode.
struct Judged {
    mode: Mode,
    answers: Vec<Answer>,
    took: Duration,
}

impl Judged {
    fn decisions<'a>(&'a self, samples: &'a [Sample]) -> impl Iterator<Item = (&'a Sample, Decision)> {
        samples.iter().zip(&self.answers).map(|(sample, answer)| (sample, decision(answer)))
    }
}

/// A command that shward could not judge does not run.
fn decision(answer: &Answer) -> Decision {
    answer.decision.unwrap_or(Decision::Deny)
}

#[derive(Default)]
struct Options {
    directory: Option<PathBuf>,
    binary: Option<PathBuf>,
    home: Option<String>,
    misses: Option<PathBuf>,
    json: Option<PathBuf>,
    diff: Option<PathBuf>,
    page: Option<PathBuf>,
    contained_only: bool,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options, Failure> {
        let mut options = Options::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--contained" => options.contained_only = true,
                "--binary" => options.binary = Some(value()?.into()),
                "--home" => options.home = Some(value()?.clone()),
                "--misses" => options.misses = Some(value()?.into()),
                "--json" => options.json = Some(value()?.into()),
                "--diff" => options.diff = Some(value()?.into()),
                "--page" => options.page = Some(value()?.into()),
                other if other.starts_with('-') => return Err(format!("unknown option {other}").into()),
                directory if options.directory.is_none() => options.directory = Some(directory.into()),
                other => return Err(format!("unexpected {other}").into()),
            }
        }
        Ok(options)
    }
}

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<ExitCode, Failure> {
    let options = Options::parse(arguments)?;
    let directory = options.directory.as_deref().ok_or("score needs a directory with *.jsonl files")?;
    let samples = corpus::read(directory)?;
    if let Some(id) = changes::repeated_id(&samples) {
        return Err(format!("{}: the id {id} is there twice", directory.display()).into());
    }
    // Read before anything is written, which may be to the same file.
    let before = options.diff.as_deref().map(changes::Scores::read).transpose()?;
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None => batch::build(root)?,
    };

    let home = options.home.as_deref().unwrap_or("/home/dev");
    let modes: &[Mode] =
        if options.contained_only { &[Mode::Contained] } else { &[Mode::Check, Mode::Contained] };
    let mut judged = Vec::new();
    for mode in modes {
        let batch = Batch { binary: &binary, contained: *mode == Mode::Contained, plan: false, home };
        let (answers, took) = batch.judge(mode.name(), &samples)?;
        judged.push(Judged { mode: *mode, answers, took });
    }

    print!("{}", table::render(&samples, &judged));
    if let Some(before) = before {
        print!("{}", changes::render(&before, &samples, &judged));
    }
    if let Some(path) = &options.misses {
        let count = misses::write(path, &samples, &judged)?;
        println!("\n{count} wrong judgements are in {}", path.display());
    }
    if let Some(path) = &options.page {
        page::write(path, &samples, &judged)?;
    }
    if let Some(path) = &options.json {
        changes::Scores::of(&samples, &judged).write(path)?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::testing::fake;
    use std::fs;

    #[test]
    fn options_are_read_and_misspelled_ones_refused() {
        let parse = |line: &str| Options::parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let options = parse("d --contained --binary b --misses m --json j --diff o --home h").unwrap();
        assert!(options.contained_only);
        assert_eq!(options.directory.as_deref(), Some(Path::new("d")));
        assert_eq!(options.home.as_deref(), Some("h"));
        for bad in ["d e", "d --json", "d --contain"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    /// The whole task with a program that denies `rm` and asks about `curl`, unless it is contained.
    #[test]
    fn a_corpus_is_scored() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("corpus")).unwrap();
        let line = |id: &str, command: &str, label: &str, source: &str| {
            format!(
                r#"{{"id":"{id}","command":"{command}","cwd":"/w","label":"{label}","effect":["e"],"source":"{source}"}}"#
            )
        };
        let lines = [
            line("1", "rm -rf /", "dangerous", "atomic"),
            line("2", "curl x", "dangerous", "atomic"),
            line("3", "ls", "benign", "oas"),
            line("4", "curl y", "benign", "oas"),
            line("5", "rm x", "benign", "tldr"),
            line("6", "dd", "dual", "tldr"),
        ];
        fs::write(at("corpus/a.jsonl"), lines.join("\n")).unwrap();
        let answer = |decision: &str| {
            format!(
                r#"{{"v":1,"id":"\1","decision":"{decision}","tier":1,"findings":[{{"rule":"r","message":"m","span":[0,1]}}]}}"#
            )
        };
        let script = format!(
            r#"ask=ask; case "$*" in *--contained*) ask=allow;; esac
               sed -e 's/.*"id":"\([^"]*\)","command":"rm.*"cwd":"\/w","workspace":"\/w","home":.*/{}/;t' \
                   -e 's/.*"id":"\([^"]*\)","command":"curl.*/{}/;t' -e 's/.*"id":"\([^"]*\)".*/{}/'"#,
            answer("deny"),
            answer("'$ask'"),
            answer("allow"),
        );
        let binary = fake(directory.path(), &script);
        let argument = |name: &str| at(name).to_str().unwrap().to_owned();
        let arguments =
            ["corpus", "--binary", "shward", "--misses", "misses", "--json", "json", "--page", "page"]
                .map(|word| if word.starts_with('-') { word.to_owned() } else { argument(word) });
        assert_eq!(argument("shward"), binary.to_str().unwrap());
        run(Path::new("/nowhere"), &arguments).unwrap();

        let misses = fs::read_to_string(at("misses")).unwrap();
        let misses: Vec<String> = misses
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|miss| {
                format!("{} {} {} {}", miss["mode"], miss["id"], miss["decision"], miss["rules"])
                    .replace('"', "")
            })
            .collect();
        assert_eq!(
            misses,
            ["check 4 ask [r]", "check 5 deny [r]", "contained 2 allow [r]", "contained 5 deny [r]"]
        );
        let page = fs::read_to_string(at("page")).unwrap();
        assert!(page.contains("6 commands: 2 dangerous, 3 benign, 1 dual"), "{page}");
        assert!(!page.contains("per second"), "what differs from run to run has no place in it: {page}");
        let scores = changes::Scores::read(&at("json")).unwrap();
        assert_eq!(scores, changes::Scores::read(&at("json")).unwrap());
        let again = ["corpus", "--binary", "shward", "--diff", "json"]
            .map(|word| if word.starts_with('-') { word.to_owned() } else { argument(word) });
        run(Path::new("/nowhere"), &again).unwrap();
    }
}
