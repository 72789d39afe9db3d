//! What is asked at the terminal after a run, with the real binary at real pseudo-terminals (script(1)).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::indexing_slicing,
    reason = "a panic is how a test fails"
)]

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

const BINARY: &str = env!("CARGO_BIN_EXE_shward");

struct Place {
    _directory: tempfile::TempDir,
    home: PathBuf,
}

/// `None` where there is no overlay, or no script(1).
fn place() -> Option<Place> {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().canonicalize().unwrap().join("home");
    fs::create_dir_all(home.join("project")).unwrap();
    fs::write(home.join("project/notes.txt"), "one\n").unwrap();
    let place = Place { _directory: directory, home };
    let (code, output) = place.without_terminal("run --contain speculate -- true");
    if code != 0 || !PathBuf::from("/usr/bin/script").exists() {
        eprintln!("SKIPPED: {output}");
        return None;
    }
    Some(place)
}

impl Place {
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("HOME", &self.home).env("PATH", "/usr/bin:/bin").env("SHELL", "/bin/sh");
        command.current_dir(self.home.join("project"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn without_terminal(&self, arguments: &str) -> (i32, String) {
        let line = format!("{BINARY} {arguments} 2>&1");
        let output = self.command("setsid").args(["-w", "sh", "-c", &line]).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// At a terminal where somebody types the keys when the prompt is there.
    fn at_terminal(&self, arguments: &str, prompt: &str, keys: &str) -> (i32, String) {
        let line = format!("{BINARY} {arguments}");
        let mut child = self.command("script").args(["-qec", &line, "/dev/null"]).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let (mut seen, mut buffer, mut typed) = (Vec::new(), [0; 4096], false);
        loop {
            let count = stdout.read(&mut buffer).unwrap_or(0);
            if count == 0 {
                break;
            }
            seen.extend_from_slice(&buffer[..count]);
            if !typed && String::from_utf8_lossy(&seen).contains(prompt) {
                typed = true;
                stdin.write_all(keys.as_bytes()).unwrap();
                stdin.flush().unwrap();
            }
        }
        let code = child.wait().unwrap().code().unwrap();
        (code, String::from_utf8_lossy(&seen).replace('\r', ""))
    }

    fn notes(&self) -> String {
        fs::read_to_string(self.home.join("project/notes.txt")).unwrap()
    }
}

const PREVIEW: &str = "run --preview -- 'echo two > notes.txt'";
const PROMPT: &str = "Commit these changes? [y]es, [n]o: ";

#[test]
fn a_preview_is_committed_on_a_yes() {
    let Some(place) = place() else { return };
    let (code, output) = place.at_terminal(PREVIEW, PROMPT, "y\n");
    assert_eq!((code, place.notes().as_str()), (0, "two\n"), "{output}");
    // What is asked about was shown before.
    let (shown, rest) = output.split_once(PROMPT).unwrap();
    assert!(shown.contains("changed  notes.txt") && shown.contains("-one\n+two\n"), "{output}");
    assert!(rest.contains("committed; `shward undo r"), "{output}");
}

#[test]
fn a_preview_is_dropped_on_anything_else() {
    let Some(place) = place() else { return };
    for keys in ["n\n", "maybe\nno\n", "x\nx\nx\nx\nx\nx\n", "\u{4}"] {
        let (code, output) = place.at_terminal(PREVIEW, PROMPT, keys);
        assert_eq!((code, place.notes().as_str()), (0, "one\n"), "{keys:?}: {output}");
        assert!(output.contains("nothing was committed"), "{keys:?}: {output}");
    }
}

#[test]
fn a_preview_without_a_terminal_is_dropped() {
    let Some(place) = place() else { return };
    let (code, output) = place.without_terminal(PREVIEW);
    assert_eq!((code, place.notes().as_str()), (0, "one\n"), "{output}");
    assert!(output.contains("nobody could be asked") && output.contains("nothing was committed"), "{output}");
    // A line on standard input is no answer.
    let (_, output) = place.without_terminal(&format!("{PREVIEW} < /dev/null"));
    assert_eq!(place.notes(), "one\n", "{output}");
}
