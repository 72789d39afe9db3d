//! What is asked at the terminal after a run, and a command that has a terminal, with the real binary at real pseudo-terminals (script(1)).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::indexing_slicing,
    reason = "a panic is how a test fails"
)]

mod place;

use place::Place;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Stdio;

const BINARY: &str = env!("CARGO_BIN_EXE_shward");

/// `None` where there is no overlay, or no script(1).
fn place() -> Option<Place> {
    let place = Place::new();
    fs::write(place.project().join("notes.txt"), "one\n").unwrap();
    let (code, output) = place.without_terminal("run --contain speculate -- true");
    if code != 0 || !Path::new("/usr/bin/script").exists() {
        eprintln!("SKIPPED: {output}");
        return None;
    }
    Some(place)
}

impl Place {
    fn without_terminal(&self, arguments: &str) -> (i32, String) {
        let line = format!("{BINARY} {arguments} 2>&1");
        let output = self.program("setsid").args(["-w", "sh", "-c", &line]).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// At a terminal where somebody types the keys when the prompt is there.
    fn at_terminal(&self, arguments: &str, prompt: &str, keys: &str) -> (i32, String) {
        self.at_terminal_with(arguments, prompt, keys, || {})
    }

    /// The same, with what somebody else does before.
    fn at_terminal_with(
        &self,
        arguments: &str,
        prompt: &str,
        keys: &str,
        meanwhile: impl Fn(),
    ) -> (i32, String) {
        let line = format!("{BINARY} {arguments}");
        let mut command = self.program("script");
        command.args(["-qec", &line, "/dev/null"]).env("SHELL", "/bin/sh").stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
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
                meanwhile();
                stdin.write_all(keys.as_bytes()).unwrap();
                stdin.flush().unwrap();
            }
        }
        let code = child.wait().unwrap().code().unwrap();
        (code, String::from_utf8_lossy(&seen).replace('\r', ""))
    }

    fn notes(&self) -> String {
        fs::read_to_string(self.project().join("notes.txt")).unwrap()
    }
}

/// As in a shell's background: that stays so.
fn ignores_interrupts() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap() & 2 != 0;
    if ignored {
        eprintln!("SKIPPED: SIGINT is ignored here");
    }
    ignored
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

/// A signal at the question is a no, and shward ends by it, having told what became of the run.
#[test]
fn a_preview_is_dropped_on_a_signal() {
    let Some(place) = place() else { return };
    if ignores_interrupts() {
        return;
    }
    for keys in ["\u{3}", "\u{3}y\n", "y\u{3}"] {
        let (code, output) = place.at_terminal(PREVIEW, PROMPT, keys);
        assert_eq!((code, place.notes().as_str()), (130, "one\n"), "{keys:?}: {output}");
        assert!(output.contains("interrupted by signal 2; the command had ended, and nothing"), "{output}");
        let (_, told) = place.without_terminal("audit show --last 1");
        assert!(told.contains("created 0, changed 1"), "{told}");
    }
    // The same if it comes while the command is there: nobody is asked then.
    let (code, output) =
        place.at_terminal("run --preview -- 'echo two > notes.txt; echo ready; sleep 61'", "ready", "\u{3}");
    assert_eq!((code, place.notes().as_str()), (130, "one\n"), "{output}");
    assert!(!output.contains(PROMPT), "{output}");
}

/// A question about a program inside is answered with no by a signal, whatever is typed after it, and the run ends.
#[test]
fn a_question_of_the_gate_ends_with_a_key() {
    let Some(place) = place() else { return };
    if ignores_interrupts() {
        return;
    }
    let tool = "import subprocess\nsubprocess.run(['git', 'push'])\nprint('went on', flush=True)\n";
    fs::write(place.home().join("project/tool.py"), tool).unwrap();
    let run = "run --gate enforce -- /usr/bin/python3 tool.py";
    let asked = "Allow it once? [y]es, [n]o, [e]xplain: ";
    // As ever first, so that it is this that is asked.
    let (code, output) = place.at_terminal(run, asked, "n\n");
    assert!(code == 0 && output.contains("A person said no") && output.contains("went on"), "{output}");
    for keys in ["\u{3}", "\u{3}y\n", "y\u{3}", "e\n\u{3}"] {
        let start = std::time::Instant::now();
        let (code, output) = place.at_terminal(run, asked, keys);
        assert!(start.elapsed().as_secs() < 60, "{keys:?}: {output}");
        assert_eq!(code, 130, "{keys:?}: {output}");
        assert!(output.contains("interrupted by signal 2; the command and everything"), "{keys:?}: {output}");
        assert!(output.contains("[unanswered]") && !output.contains("went on"), "{keys:?}: {output}");
        let (_, told) = place.without_terminal("audit show --last 1");
        assert!(told.contains("; cancelled"), "{told}");
        let (_, told) = place.without_terminal("pending");
        assert!(!told.contains("git push"), "{told}");
    }
    // A deadline is no less.
    let start = std::time::Instant::now();
    let (code, output) = place.at_terminal(&run.replace("run", "run --timeout 2"), "never", "");
    assert!(start.elapsed().as_secs() < 60 && code == 124, "{code} {output}");
}

/// What somebody has put meanwhile where the command's file belongs stays, and that the commit is not whole is said by the exit code,
/// too; what was committed is taken back.
#[test]
fn what_could_not_be_committed_gives_the_exit_code() {
    let Some(place) = place() else { return };
    let other = place.project().join("new.txt");
    let (code, output) = place.at_terminal_with(
        "run --preview -- 'echo two > notes.txt; echo x > new.txt'",
        PROMPT,
        "y\n",
        || {
            fs::write(&other, "mine\n").unwrap();
        },
    );
    assert_eq!((code, place.notes().as_str()), (74, "two\n"), "{output}");
    assert!(output.contains("could not be committed: new.txt: "), "{output}");
    assert_eq!(fs::read_to_string(&other).unwrap(), "mine\n");
    let (code, output) = place.without_terminal("undo");
    assert_eq!((code, place.notes().as_str()), (0, "one\n"), "{output}");
    assert_eq!(fs::read_to_string(&other).unwrap(), "mine\n");
    // The command's own code counts more.
    let (code, output) =
        place.at_terminal_with("run --preview -- 'echo x > other.txt; false'", PROMPT, "y\n", || {
            fs::write(place.project().join("other.txt"), "mine\n").unwrap();
        });
    assert_eq!(code, 1, "{output}");
}

/// Key by key: `^C` and `^\` are signals of the command's own terminal, not of ours.
#[test]
fn keys_that_are_signals_reach_the_command_alone() {
    let Some(place) = place() else { return };
    for (key, signal) in [("\u{3}", "INT"), ("\u{1c}", "QUIT")] {
        let script = format!(
            "run --pty --timeout 20 -- 'trap \"echo got it; exit 7\" {signal}; echo ready; while :; do sleep 0.1; done'"
        );
        let (code, output) = place.at_terminal(&script, "ready", key);
        assert_eq!(code, 7, "{signal}: {output}");
        assert!(output.contains("got it"), "{signal}: {output}");
    }
}

#[test]
fn a_preview_without_a_terminal_is_dropped() {
    let Some(place) = place() else { return };
    let (code, output) = place.without_terminal(PREVIEW);
    assert_eq!((code, place.notes().as_str()), (126, "one\n"), "{output}");
    assert!(output.contains("nobody could be asked") && output.contains("nothing was committed"), "{output}");
    // The command's own code counts more; where somebody has said beforehand what is to become of it, or nothing was changed,
    // nobody has to be asked.
    for (arguments, expected) in [
        ("run --preview --json -- 'echo two > notes.txt'", 126),
        ("run --preview -- 'echo two > notes.txt; exit 3'", 3),
        ("run --preview --drop -- 'echo two > notes.txt'", 0),
        ("run --preview -- true", 0),
        ("run --preview -- 'cat notes.txt'", 0),
    ] {
        let (code, output) = place.without_terminal(arguments);
        assert_eq!((code, place.notes().as_str()), (expected, "one\n"), "{arguments}: {output}");
    }
    // A line on standard input is no answer.
    let (_, output) = place.without_terminal(&format!("{PREVIEW} < /dev/null"));
    assert_eq!(place.notes(), "one\n", "{output}");
}

#[test]
fn a_command_gets_a_terminal_of_its_own() {
    let Some(place) = place() else { return };
    let script = "run --pty -- 'printf \"name? \"; read -r line; echo \"got $line\"; tty; test -t 1 && echo one; \
                  echo two >&2; exit 5'";
    // The command's own terminal shows what is typed.
    let (code, output) = place.at_terminal(script, "name? ", "typed\r");
    assert_eq!((code, output.as_str()), (5, "name? typed\ngot typed\n/dev/pts/0\none\ntwo\n"));
    // Without anybody at ours its input is at its end; with --json nobody types either.
    let (code, output) = place.without_terminal(script);
    assert_eq!((code, output.replace('\r', "").as_str()), (5, "name? got \n/dev/pts/0\none\ntwo\n"));
    let (_, output) =
        place.at_terminal("run --pty --json -- 'read -r line; echo \"got $line\"'", "never", "");
    assert!(output.contains("\"stdout\":\"got \\r\\n\""), "{output}");
    // What it changes is committed as ever.
    let (code, output) =
        place.at_terminal("run --pty -- 'echo ready; cat > notes.txt'", "ready", "two\r\u{4}");
    assert_eq!((code, place.notes().as_str()), (0, "two\n"), "{output}");
}

/// Killed in any way, it leaves the terminal as it was.
#[test]
fn our_terminal_is_put_back_however_we_end() {
    let Some(place) = place() else { return };
    for end in ["kill -KILL", "kill -TERM", "kill -HUP", "kill -ABRT", "kill -QUIT", ":"] {
        let script = format!(
            "ulimit -c 0; stty -a > before; (while [ ! -s pid ] || stty -a < /dev/tty | grep -q ' icanon'; do sleep 0.1; done; {end} $(cat pid)) & \
             sh -c 'echo $$ > pid; exec {BINARY} run --pty --timeout 3 -- \"sleep 30\"'; wait; \
             for i in 1 2 3 4 5 6 7 8 9 10; do stty -a > after; cmp -s before after && break; sleep 0.1; done; \
             cmp before after && echo as before; rm pid"
        );
        fs::write(place.home().join("script.sh"), script).unwrap();
        let mut child = place.program("script");
        let line = format!("sh {}", place.home().join("script.sh").display());
        let output = child.args(["-qec", &line, "/dev/null"]).stdin(Stdio::piped()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("as before"), "{end}: {text}");
    }
}
