//! `cargo xtask profile`: counts what runs, with a shward that counts.

use super::{PROFILE, cargo};
use crate::order::COMMANDS;
use crate::{Failure, corpus};
use serde_json::json;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The project's own commands: its sample, and the Python programs of the tests that are harmless.
const SAMPLE: &str = "corpus";
const PROGRAMS: &str = "crates/engine/tests/inline/harmless-python.txt";

/// How many of them make one long text. Agents write programs of a hundred lines; those of the tests have few.
const LONG: [usize; 4] = [8, 12, 16, 24];

/// How often the sample is judged beside the programs, which are rarer than in it.
const ROUNDS: usize = 3;

/// How often each process for one command is started, beside thousands of commands in one: often enough not to be taken for
/// rare.
const STARTS: usize = 4;

#[derive(Default)]
struct Options {
    /// Directories with more commands.
    more: Vec<PathBuf>,
    merge: Option<PathBuf>,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options, Failure> {
        let mut options = Options::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--corpus" => options.more.push(value()?.into()),
                "--llvm-profdata" => options.merge = Some(value()?.into()),
                other => return Err(format!("unexpected {other}").into()),
            }
        }
        Ok(options)
    }
}

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<ExitCode, Failure> {
    let options = Options::parse(arguments)?;
    let merge = options.merge.map_or_else(llvm_profdata, Ok)?;
    let mut sample = Vec::new();
    for directory in [root.join(SAMPLE)].iter().chain(&options.more) {
        sample.extend(corpus::read(directory)?.into_iter().map(|sample| sample.command));
    }
    let mut rest = programs(&root.join(PROGRAMS))?;
    rest.extend(LONG.iter().flat_map(|size| sample.chunks(*size)).map(|part| written("notes.md", part)));
    let scratch = env::temp_dir().join(format!("shward-profile-{}", std::process::id()));
    // A repository, as nearly every project is.
    fs::create_dir_all(scratch.join("project/.git"))?;
    let done =
        train(root, &scratch, &sample, &rest).and_then(|()| gather(&merge, &scratch, &root.join(PROFILE)));
    fs::remove_dir_all(&scratch)?;
    println!("{PROFILE}: {} KiB, of {} commands", done? / 1024, sample.len() + rest.len());
    Ok(ExitCode::SUCCESS)
}

/// Builds a shward that counts, and has it do what shward mostly does.
fn train(root: &Path, scratch: &Path, sample: &[String], rest: &[String]) -> Result<(), Failure> {
    eprintln!("building shward with counters …");
    let mut flag = OsString::from("-Cprofile-generate=");
    // Where programs leave their counts that only help to build. A path of its own for each time would build all anew.
    flag.push(root.join("target/profile/helpers"));
    let built = cargo(&[&flag, "--cfg=shward_counts".as_ref()])
        .args(["build", "--release", "--package", "shward-cli", "--bin", "shward"])
        .args(["--target-dir", "target/profile"])
        .current_dir(root)
        .status()?;
    if !built.success() {
        return Err("shward does not build".into());
    }
    let trainee = Trainee { binary: root.join("target/profile/release/shward"), scratch };
    eprintln!("{} commands …", sample.len() + rest.len());
    for commands in [sample; ROUNDS].into_iter().chain([rest]) {
        trainee.run(&["check", "--batch", "--frozen"], &requests(commands))?;
    }
    eprintln!("{} processes …", STARTS * (COMMANDS.len() * 2 + 1));
    for _ in 0..STARTS {
        for command in COMMANDS {
            let event = json!({
                "session_id": "profile", "cwd": scratch.join("project"), "hook_event_name": "PreToolUse",
                "tool_name": "Bash", "tool_input": { "command": command },
            });
            trainee.run(&["hook", "claude", "--log", "../audit.jsonl"], &event.to_string())?;
            trainee.run(&["check", "--log", "../audit.jsonl", "--", command], "")?;
        }
        trainee.run(&["run", "--log", "../audit.jsonl", "--", "true"], "")?;
    }
    Ok(())
}

/// The lines of a batch.
fn requests(commands: &[String]) -> String {
    (0..)
        .zip(commands)
        .map(|(id, command)| {
            let request = json!({
                "id": id, "command": command, "cwd": "/home/dev/project", "workspace": "/home/dev/project",
                "home": "/home/dev",
            });
            format!("{request}\n")
        })
        .collect()
}

/// A shward that counts.
struct Trainee<'a> {
    binary: PathBuf,
    scratch: &'a Path,
}

impl Trainee<'_> {
    fn run(&self, arguments: &[&str], input: &str) -> Result<(), Failure> {
        let file = self.scratch.join("input");
        fs::File::create(&file)?.write_all(input.as_bytes())?;
        let status = Command::new(&self.binary)
            .args(arguments)
            .current_dir(self.scratch.join("project"))
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.scratch)
            // %m: one file for all processes of the binary.
            .env("LLVM_PROFILE_FILE", self.scratch.join("%m.profraw"))
            .stdin(fs::File::open(&file)?)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        // Its verdict is the exit code; a signal has none.
        status.code().map(|_| ()).ok_or_else(|| format!("shward {arguments:?}: {status}").into())
    }
}

/// Makes a profile of the counts, and tells how many bytes it has.
fn gather(merge: &Path, scratch: &Path, profile: &Path) -> Result<u64, Failure> {
    let mut counts = Vec::new();
    for entry in fs::read_dir(scratch)? {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new("profraw")) {
            counts.push(path);
        }
    }
    if counts.is_empty() {
        return Err("shward has left no counts".into());
    }
    if let Some(directory) = profile.parent() {
        fs::create_dir_all(directory)?;
    }
    // Functions that never ran are named, too: they are built to be small.
    let status = Command::new(merge)
        .args(["merge", "--output"])
        .arg(profile)
        .args(&counts)
        .status()
        .map_err(|error| format!("{}: {error}", merge.display()))?;
    if !status.success() {
        return Err(format!("{}: {status}", merge.display()).into());
    }
    Ok(fs::metadata(profile)?.len())
}

/// The program that makes profiles of counts: that of the compiler's own LLVM, or another of that version or newer.
fn llvm_profdata() -> Result<PathBuf, Failure> {
    let output = Command::new("rustc").args(["--print", "target-libdir"]).output()?;
    let library = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim_end());
    let own = library.parent().map(|directory| directory.join("bin/llvm-profdata"));
    own.filter(|path| path.exists()).ok_or_else(|| {
        "no llvm-profdata: `rustup component add llvm-tools` brings it; or name one with --llvm-profdata"
            .into()
    })
}

/// The harmless Python programs of the tests, each in the command that runs it, and as long ones that are written first. Those
/// of other languages are rare among what agents run, and what they go through would outgrow the binary's bound.
fn programs(table: &Path) -> Result<Vec<String>, Failure> {
    let text = fs::read_to_string(table).map_err(|error| format!("{}: {error}", table.display()))?;
    let programs: Vec<String> = text.split("\n%%\n").map(str::to_owned).collect();
    let parts = LONG.iter().flat_map(|size| programs.chunks(*size));
    let long = parts.map(|part| written("x.py", part) + "python3 x.py\n");
    let alone = programs.iter().map(|program| format!("python3 -c '{}'", program.replace('\'', "'\\''")));
    Ok(long.chain(alone).collect())
}

/// The command that writes texts to a file, one after the other.
fn written(name: &str, texts: &[String]) -> String {
    format!("cat > {name} <<'END OF TEXT'\n{}\nEND OF TEXT\n", texts.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_stand_in_the_commands_that_run_them() {
        let directory = tempfile::tempdir().unwrap();
        let table = directory.path().join("table.txt");
        fs::write(&table, "print('a')\n%%\nprint(2)").unwrap();
        let commands = programs(&table).unwrap();
        let long = "cat > x.py <<'END OF TEXT'\nprint('a')\nprint(2)\nEND OF TEXT\npython3 x.py\n";
        assert_eq!(commands.len(), LONG.len() + 2);
        assert_eq!(commands[0], long);
        assert_eq!(commands[LONG.len()], "python3 -c 'print('\\''a'\\'')'");
    }
}
