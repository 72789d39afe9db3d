//! Options and what they do, with the real binary: none is accepted and then ignored, and what is wrong is told with what is right.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod place;

use place::Place;
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

impl Place {
    /// Exit code, standard output, standard error.
    fn told(&self, words: &[&str], input: &[u8]) -> (i32, String, String) {
        let mut child = self.command(words).stdin(Stdio::piped()).spawn().unwrap();
        // The child may end without reading.
        let _ = child.stdin.take().unwrap().write_all(input);
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }
}

#[test]
fn an_option_that_would_do_nothing_is_refused() {
    let place = Place::new();
    fs::write(place.project().join("a.toml"), "[limits]\ntimeout = 5\n").unwrap();
    fs::write(place.project().join("file"), "").unwrap();
    let table: &[(&[&str], i32, &str)] = &[
        (&["policy", "show", "--within", "a.toml"], 64, "--within belongs to `policy check`"),
        (&["policy", "check", "--floor"], 64, "--floor belongs to `policy show`"),
        (&["policy", "show", "--revoke"], 64, "--revoke belongs to `policy trust`"),
        (&["policy", "check", "--corpus", "a.toml"], 64, "--corpus belongs to `policy diff`"),
        (&["policy", "show", "--log", "x"], 64, "--log belongs to `policy diff`"),
        (&["policy", "import", "programs", "file", "--policy", "a.toml"], 64, "--policy belongs to"),
        (&["policy", "diff", "a.toml", "a.toml", "--profile", "strict"], 64, "--profile belongs to"),
        (&["policy", "check", "a.toml", "--policy", "a.toml"], 64, "as FILE or with --policy"),
        (&["undo", "--list", "3"], 64, "--list lists every run"),
        (&["check", "--home", "file", "--", "ls"], 65, "is not a directory"),
        (&["check", "--home", "/nonexistent/home", "--", "ls"], 0, ""),
        (&["check", "--session", "", "--", "ls"], 64, "--session: the value is empty"),
        (&["run", "--session", "", "--", "ls"], 64, "--session: the value is empty"),
        (&["check", "--call-id", "", "--", "ls"], 64, "--call-id: the value is empty"),
        (&["check", "--batch", "--session", "s"], 64, "--session has no effect"),
        (&["check", "--batch", "--approve", "never"], 64, "--approve has no effect"),
        (&["explain", "--sandbox", "--frozen", "--", "ls"], 64, "give one of them"),
        (&["explain", "--gate", "enforce", "--", "ls"], 64, "give --sandbox, too"),
        (&["explain", "--allow-exec", "/bin/ls", "--", "ls"], 64, "give --sandbox, too"),
        (&["explain", "--json", "--color", "x", "--", "ls"], 64, "--color"),
    ];
    for (words, expected, part) in table {
        let (code, answer, told) = place.told(words, b"");
        assert!(code == *expected && (answer + &told).contains(part), "{words:?}: {code} {told}");
    }
}

#[test]
fn a_plan_is_shown_where_it_was_asked_for() {
    let place = Place::new();
    let (code, told, _) = place.told(&["check", "--plan", "--", "rm -rf build; ls"], b"");
    assert_eq!(code, 0, "{told}");
    for part in ["allow (tier", "\nprograms\n  rm -rf build\n  ls\n", "\neffects\n  delete ", "/build/"] {
        assert!(told.contains(part), "{part:?}: {told}");
    }
    let (_, told, _) = place.told(&["check", "--", "rm -rf build; ls"], b"");
    assert!(!told.contains("programs"), "{told}");
    // command, the state of its sandbox, and what else is told of it
    for (command, state, key) in
        [("ls", "plan", "plan"), ("echo a", "no-process", "run"), ("cat ~/.ssh/id_rsa", "not-run", "state")]
    {
        let (code, told, error) = place.told(&["explain", "--sandbox", "--json", "--", command], b"");
        if code == 74 && error.contains("lacks") {
            return; // no sandbox here
        }
        let object: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(object["sandbox"]["state"], state, "{command}: {told}");
        assert!(object["sandbox"].get(key).is_some() && object["plan"].is_object(), "{command}: {told}");
    }
    let plain = place.told(&["explain", "--json", "--", "ls"], b"").1;
    assert!(serde_json::from_str::<Value>(&plain).unwrap().get("sandbox").is_none(), "{plain}");
}

/// Nobody can carry out a command in a directory that is not there; whoever asks, and however.
#[test]
fn a_directory_that_is_not_there_is_refused_by_everybody() {
    let place = Place::new();
    let gone = "/nonexistent/place";
    for words in [&["check"][..], &["explain"], &["run"], &["check", "--contained"]] {
        let (code, _, told) = place.told(&[words, &["--cwd", gone, "--", "ls"]].concat(), b"");
        assert!(code == 65 && told.contains("is not a directory; create it"), "{words:?}: {code} {told}");
    }
    let line = format!("{{\"id\":1,\"command\":\"ls\",\"cwd\":\"{gone}\"}}\n");
    for (options, expected) in [(&["check", "--batch"][..], 65), (&["check", "--batch", "--frozen"], 0)] {
        let (code, told, _) = place.told(options, line.as_bytes());
        assert_eq!(code, expected, "{options:?}: {told}");
        assert_eq!(told.contains("is not a directory"), expected == 65, "{options:?}: {told}");
    }
    let event = format!(
        "{{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"cwd\":\"{gone}\",\"tool_input\":{{\"command\":\"ls\"}}}}"
    );
    let (code, _, told) = place.told(&["hook", "claude"], event.as_bytes());
    assert!(code == 2 && told.contains("is not a directory"), "{code} {told}");
}

/// Everything that is wrong is told in the same words, with what would be right.
#[test]
fn what_is_wrong_is_told_with_what_is_right() {
    let place = Place::new();
    fs::write(place.project().join("empty.toml"), "").unwrap();
    fs::write(
        place.project().join("rule.toml"),
        "[[case]]\ncommand = \"ls\"\ndecision = \"allow\"\n\n[[case]]\ncommand = \"nc\"\ndecision = \"deny\"\nrule = \"netcat\"\n",
    )
    .unwrap();
    fs::write(
        place.project().join("listed.toml"),
        "[[case]]\ncommand = \"nc\"\ndecision = \"deny\"\nrule = \"program-denied\"\n",
    )
    .unwrap();
    fs::write(place.project().join("nc.toml"), "[programs]\ndeny = [\"nc\"]\n").unwrap();
    fs::write(place.project().join("long"), "x".repeat(2 << 20)).unwrap();
    let table: &[(&[&str], &[u8], i32, &str)] = &[
        (&["policy", "test", "empty.toml"], b"", 65, "empty.toml: there is no [[case]] in it"),
        (&["policy", "test", "rule.toml"], b"", 65, "rule.toml:5: there is no rule \"netcat\""),
        (&["policy", "test", "listed.toml", "--policy", "nc.toml"], b"", 0, ""),
        (
            &["policy", "check", "absent.toml"],
            b"",
            78,
            "\"absent.toml\" cannot be read: there is no such file; name another",
        ),
        (&["check", "--policy", "absent.toml", "--", "ls"], b"", 78, "shward init \"absent.toml\""),
        (
            &["policy", "test", "absent.toml"],
            b"",
            74,
            "\"absent.toml\" cannot be read: there is no such file; name another",
        ),
        (&["check", "--", ""], b"", 65, "the command is empty; give one after --, as in: -- 'ls -la'\n"),
        (&["check", "--file", "-"], b" ", 65, "the command is empty; give one\n"),
        (&["check", "--file", "long"], b"", 65, "the command has more than 1048576 bytes; put the data"),
        (
            &["check", "--file", "absent.sh"],
            b"",
            74,
            "\"absent.sh\" cannot be read: there is no such file; name another",
        ),
        // What a variable leaves that is not set.
        (&["run", "--workspace=", "--", "ls"], b"", 64, "--workspace: the value is empty"),
        (&["check", "--cwd", "", "--", "ls"], b"", 64, "--cwd: the value is empty"),
        (&["check", "--home=", "--", "ls"], b"", 64, "--home: the value is empty"),
        (&["check", "--session", "", "--", "ls"], b"", 64, "--session: the value is empty"),
        (&["check", "--policy", "--", "ls"], b"", 64, "--policy: the value is missing; give it before --"),
        (&["install", "claude", "--home", "here"], b"", 64, "--home: \"here\" is not an absolute path"),
        (&["approve"], b"", 64, "name one question by its id; `shward pending` lists them"),
        (&["deny", "x"], b"", 64, "\"x\" is no id, nor the first 4 digits of one"),
        (&["approve", "abcd"], b"", 126, "only a person at a terminal can answer"),
        (&["audit", "show", "x.jsonl"], b"", 64, "unexpected \"x.jsonl\"; `audit show` takes options only"),
        (&["policy", "trust"], b"", 65, "`shward init .shward.toml` writes one"),
        (&["init", "-"], b"", 0, ""),
    ];
    for (words, input, expected, part) in table {
        let (code, _, told) = place.told(words, input);
        assert!(code == *expected && told.contains(part), "{words:?}: {code} {told}");
    }
    let (code, told, _) = place.told(&["check", "--batch", "--frozen"], b"{\"command\":\"\"}\n");
    assert!(code == 65 && told.contains("the command is empty; give one\""), "{told}");
    assert!(!place.project().join("-").exists());
    for verb in ["--help", "check --help", "run --help", "policy --help", "hook --help"] {
        let words: Vec<&str> = verb.split(' ').collect();
        let (_, help, _) = place.told(&words, b"");
        let long = help.lines().filter(|line| line.chars().count() > 120 && line.starts_with("  "));
        let long: Vec<&str> = long.filter(|line| !line.starts_with("  echo")).collect();
        assert!(long.is_empty(), "{verb}: {long:?}");
    }
    let (_, help, _) = place.told(&["run", "--help"], b"");
    for line in help.lines().skip_while(|line| !line.contains("--contain ")).take(8) {
        assert!(line.len() < 100, "{line}");
    }
    for code in ["0", "1", "2", "3", "64", "65", "74", "78", "124", "125", "126", "128+n"] {
        let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
        let readme = fs::read_to_string(readme).unwrap();
        let mut rows = readme.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
        assert!(rows.any(|codes| codes.split(", ").any(|known| known == code)), "README.md tells {code}");
    }
}

/// A file that `init` makes is there as a whole or not at all.
#[test]
fn a_file_that_could_not_be_written_does_not_stay() {
    let place = Place::new();
    let mut command = std::process::Command::new("/bin/sh");
    command
        .args(["-c", "ulimit -f 0; exec \"$0\" init new.toml", env!("CARGO_BIN_EXE_shward")])
        .current_dir(place.project());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(74), "{output:?}");
    assert_eq!(fs::read_dir(place.project()).unwrap().count(), 0);
    assert_eq!(place.told(&["init", "new.toml"], b"").0, 0);
    assert_eq!(fs::read_dir(place.project()).unwrap().count(), 1);
    let (code, _, told) = place.told(&["init", "new.toml"], b"");
    assert!(code == 74 && told.contains("exists already and is left as it is; name another file"), "{told}");
}

/// The copy that `install` keeps is of the settings before it, never of its own work; what it made goes again.
#[test]
fn the_copy_of_the_settings_is_of_before() {
    let place = Place::new();
    let settings = place.home().join(".claude/settings.json");
    let copy = settings.with_extension("json.before-shward");
    let act = |verb: &str| {
        let (code, told, _) = place.told(&[verb, "claude"], b"");
        assert_eq!(code, 0, "{told}");
        told
    };
    act("install");
    assert!(settings.exists() && !copy.exists());
    let dry = place.told(&["uninstall", "claude", "--dry-run"], b"").1;
    assert!(settings.exists() && dry.contains("would be removed"), "{dry}");
    assert!(act("uninstall").contains("nothing else was in it"));
    assert!(!settings.exists() && !copy.exists());
    // Somebody adds to what install has made.
    act("install");
    let added = fs::read_to_string(&settings).unwrap().replacen('{', "{\n  \"model\": \"x\",", 1);
    fs::write(&settings, added).unwrap();
    act("uninstall");
    assert_eq!(fs::read_to_string(&settings).unwrap(), "{\n  \"model\": \"x\"\n}\n");
    assert!(!copy.exists());
    // What was there before is kept, also where it was empty; and a copy that was made of our own work is replaced.
    for (before, stale) in [("{}\n", None), ("{\"model\": 1}", Some(()))] {
        fs::write(&settings, before).unwrap();
        if stale.is_some() {
            act("install");
            fs::rename(&settings, &copy).unwrap();
            fs::write(&settings, before).unwrap();
        }
        act("install");
        assert_eq!(fs::read_to_string(&copy).unwrap(), before);
        act("uninstall");
        assert!(settings.exists(), "{before}");
        assert_eq!(fs::read_to_string(&copy).unwrap(), before);
        fs::remove_file(&copy).unwrap();
    }
}
