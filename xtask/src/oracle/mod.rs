//! `cargo xtask oracle`: real shells as judges. What a command is observed to do in a closed room must lie within what
//! was predicted for it.

#[cfg(target_arch = "x86_64")]
mod calls;
mod campaign;
mod generate;
mod law;
#[cfg(target_arch = "x86_64")]
mod memory;
mod options;
mod protocol;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "there is no room"))]
mod room;
mod show;
#[cfg(target_arch = "x86_64")]
mod trace;
#[cfg_attr(not(target_arch = "x86_64"), path = "elsewhere.rs")]
mod worker;

use crate::Failure;
use crate::batch;
use campaign::{Campaign, Candidate};
use generate::Which;
use options::{Options, Shell};
use protocol::Answer;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) use worker::part;

/// The exit code where no room can be made: `EX_UNAVAILABLE`.
const UNAVAILABLE: u8 = 69;

/// How many commands are predicted and run at a time.
const CHUNK: usize = 2000;

/// What generated commands are changed from, if no other commands are given.
const BASES: [&str; 2] = ["corpus/dev-sample.jsonl", "corpus/oracle/constructs.jsonl"];

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<ExitCode, Failure> {
    let mut options = Options::parse(arguments)?;
    let mut programs = Vec::new();
    if options.which == Which::Programs {
        let (commands, names) =
            generate::programs::all(&root.join("crates/analysis/knowledge"), options.seed)?;
        options.generate = commands.len();
        programs = commands;
        worker::provide(names);
    }
    if let Err(error) = worker::Room::open(None) {
        eprintln!("xtask: commands cannot be observed here: {error}");
        return Ok(ExitCode::from(UNAVAILABLE));
    }
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None => batch::build(root)?,
    };
    if let Some(command) = &options.command {
        let candidate = Candidate::new("command".to_owned(), in_shell(options.shell, command), None);
        return show::command(&binary, &candidate, options.json);
    }
    let mut campaign = Campaign::new(binary, &options)?;
    let known = corpora(&options.corpus)?;
    let known: Vec<Candidate> = known
        .into_iter()
        .map(|candidate| {
            let command = in_shell(options.shell, &candidate.command);
            Candidate { command, ..candidate }
        })
        .collect();
    campaign.run(known.chunks(CHUNK).map(<[Candidate]>::to_vec), |_, _| {})?;
    let bases = if known.is_empty() { corpora(&BASES.map(|file| root.join(file)))? } else { known };
    let corpus: Vec<&str> = bases.iter().map(|candidate| candidate.command.as_str()).collect();
    let Options { seed, generate: last, which, from, shell, .. } = options;
    let dialect = if shell == Shell::Bash { generate::Dialect::Bash } else { generate::Dialect::Posix };
    let chunks = (from..last).step_by(CHUNK).map(|first| {
        let generated = |number| {
            let generate::Generated { command, pair } = match which {
                Which::Random => generate::command(seed, number, &corpus, dialect),
                Which::Pairs | Which::Contexts | Which::Places | Which::Tasks => {
                    generate::pieces(which, seed, number)
                }
                Which::Programs => generate::Generated {
                    command: programs.get(number).cloned().unwrap_or_default(),
                    pair: None,
                },
            };
            let id = format!("{seed}:{number}");
            // A second run of the same command says less than a run of another one.
            let answer = if number % 3 == 0 { Answer::Failure } else { Answer::Word };
            Candidate { pair, answer: Some(answer), ..Candidate::new(id, in_shell(shell, &command), None) }
        };
        (first..last.min(first + CHUNK)).map(generated).collect()
    });
    let mut next = from;
    campaign.run(chunks, |commands, so_far| {
        next += commands;
        eprintln!("{next} of {last} generated, {so_far}; to go on from here: --seed {seed} --from {next}");
    })?;
    campaign.report(options.json)
}

/// The commands of the files, without those that are labelled as dangerous: they are analysed and never run.
fn corpora(files: &[PathBuf]) -> Result<Vec<Candidate>, Failure> {
    let mut candidates = Vec::new();
    for path in files {
        for (number, line) in (1..).zip(fs::read_to_string(path)?.lines()) {
            let row: serde_json::Value = serde_json::from_str(line)
                .map_err(|error| format!("{}:{number}: {error}", path.display()))?;
            let text = |key: &str| row.get(key).and_then(serde_json::Value::as_str);
            let bash = text("shell").is_none_or(|shell| shell.starts_with("bash"));
            if text("label") == Some("dangerous") || text("mode") == Some("interactive") || !bash {
                continue;
            }
            let command =
                text("command").ok_or_else(|| format!("{}:{number}: no command", path.display()))?;
            let id = text("id").map_or_else(|| number.to_string(), str::to_owned);
            let cwd = text("cwd").filter(|cwd| room::WRITABLE.contains(cwd));
            candidates.push(Candidate::new(id, command.to_owned(), cwd));
        }
    }
    Ok(candidates)
}

fn in_shell(shell: Shell, command: &str) -> String {
    let quoted = format!("'{}'", command.replace('\'', r"'\''"));
    match shell {
        Shell::Bash => command.to_owned(),
        Shell::Dash => format!("dash -c {quoted}"),
        Shell::Busybox => format!("busybox sh -c {quoted}"),
        Shell::Zsh => format!("zsh -c {quoted}"),
    }
}
