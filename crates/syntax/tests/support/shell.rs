//! Real shells as judges. They are only ever asked to read (`-n`, `--pretty-print`) or to expand words of builtins
//! with nothing in `PATH`.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a shell said.
pub struct Answer {
    pub success: bool,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Answer {
    /// It took the program without a word. bash exits with 0 after an error in `[[ ]]`, but complains.
    pub fn accepted(&self) -> bool {
        let complaint =
            ["syntax error", "unexpected", "conditional"].iter().any(|word| self.stderr.contains(word));
        self.success && !complaint
    }
}

/// Runs a shell with a cleared environment.
pub fn ask(shell: &str, arguments: &[&str], stdin: &[u8]) -> Answer {
    let mut child = Command::new(shell)
        .args(arguments)
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .env("PATH", "/nonexistent")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let text = stdin.to_vec();
    let writer = std::thread::spawn(move || {
        // A shell that stops reading early is no failure of the test.
        let _ = pipe.write_all(&text);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Answer {
        success: output.status.success(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The path of bash if it is the version whose grammar is read; says so if it is not.
pub fn bash() -> Option<&'static str> {
    let path = ["/usr/bin/bash", "/bin/bash"].into_iter().find(|path| Path::new(path).exists());
    let version = path.map(|path| ask(path, &["-c", "echo \"${BASH_VERSINFO[@]:0:2}\""], b"").stdout);
    if version.as_deref() == Some(b"5 2\n") {
        return path;
    }
    eprintln!("SKIPPED: bash 5.2 is not installed");
    None
}

/// The path of dash; says so if it is not installed.
pub fn dash() -> Option<&'static str> {
    let path = ["/usr/bin/dash", "/bin/dash"].into_iter().find(|path| Path::new(path).exists());
    if path.is_none() {
        eprintln!("SKIPPED: dash is not installed");
    }
    path
}

/// Whether everything is to be tried, or a sample: set `SHWARD_FULL` for everything.
pub fn full() -> bool {
    std::env::var_os("SHWARD_FULL").is_some()
}

/// The distinct commands of the shared corpora and vectors, if they are there; a sample unless [`full`]. They lie beside
/// the repository, or where `SHWARD_SHARED` says.
pub fn corpus() -> Vec<String> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared").to_owned();
    let shared = std::env::var("SHWARD_SHARED").unwrap_or(beside);
    let mut commands = std::collections::BTreeSet::new();
    for folder in ["corpora/dev", "vectors"] {
        let Ok(entries) = std::fs::read_dir(format!("{shared}/{folder}")) else {
            eprintln!("SKIPPED: {folder} is not there");
            continue;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "jsonl") {
                continue;
            }
            for line in std::fs::read_to_string(path).unwrap().lines() {
                let value: serde_json::Value = serde_json::from_str(line).unwrap();
                let command = value.get("command").and_then(serde_json::Value::as_str);
                commands.extend(command.filter(|command| !command.contains('\0')).map(str::to_owned));
            }
        }
    }
    let step = if full() { 1 } else { 12 };
    commands.into_iter().step_by(step).collect()
}

/// A small generator of random numbers, the same on every machine. `SHWARD_SEED` gives other numbers.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let other = std::env::var("SHWARD_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
        Self(seed.wrapping_add(other).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    pub fn pick<'t, T: ?Sized>(&mut self, choices: &[&'t T]) -> &'t T {
        choices[self.below(choices.len())]
    }
}
