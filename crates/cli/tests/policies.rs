//! The verbs about policies, with the real binary: what they say, their exit codes, and that a wrong policy decides nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod place;

use place::Place;
use serde_json::Value;
use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Files that every place has, by name.
const FILES: &[(&str, &str)] = &[
    ("parent.toml", "extends = \"workspace\"\n[limits]\ntimeout = 60\n[programs]\ndeny = [\"nc\"]\n"),
    (
        "narrow.toml",
        "extends = \"workspace\"\n[limits]\ntimeout = 30\n[programs]\ndeny = [\"nc\", \"make\"]\n",
    ),
    ("wide.toml", "extends = \"workspace\"\n[limits]\ntimeout = 90\n"),
    ("unknown.toml", "[limits]\ntimeuot = 5\n"),
    ("syntax.toml", "extends = \n"),
    (
        "shadowed.toml",
        "[[rule]]\nid = \"all\"\ndecision = \"deny\"\nprogram = \"kubectl\"\nreason = \"No.\"\n\n\
         [[rule]]\nid = \"part\"\ndecision = \"deny\"\nprogram = \"kubectl\"\nsubcommand = \"delete\"\nreason = \"No.\"\n",
    ),
    (
        "holds.toml",
        "[[case]]\ncommand = \"ls\"\ndecision = \"allow\"\n\n[[case]]\ncommand = \"cat ~/.ssh/id_rsa\"\ndecision = \"deny\"\n",
    ),
    (
        "fails.toml",
        "[[case]]\ncommand = \"ls\"\ndecision = \"deny\"\n\n[[case]]\ncommand = \"pwd\"\ndecision = \"allow\"\n",
    ),
    ("limits.env", "CMDWALL_DEFAULT_TIMEOUT_SECONDS=60\nCMDWALL_BLOCKLIST=[\"nc\"]\n"),
    ("claude.json", "{\"permissions\":{\"deny\":[\"Bash(nc:*)\"],\"allow\":[\"Bash(ls:*)\"]}}"),
    (
        "odd.json",
        "{\"permissions\":{\"deny\":\"Bash(nc:*)\",\"ask\":[3],\"defaultMode\":\"plan\",\"allow\":[\"Bash(ls:*)\"]}}",
    ),
    ("codex.rules", "prefix_rule(pattern = [\"nc\"], decision = \"forbidden\")\n"),
    ("programs.txt", "ls\ncat\n"),
];

impl Place {
    fn filled() -> Self {
        let place = Self::new();
        for (name, text) in FILES {
            fs::write(place.project().join(name), text).unwrap();
        }
        place
    }

    fn shward(&self, args: &[&str], environment: &[(&str, &str)], input: &[u8]) -> Output {
        let mut command = self.command(args);
        command.envs(environment.iter().copied()).stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The child may end without reading.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }

    fn run(&self, args: &[&str]) -> (i32, String) {
        told(&self.shward(args, &[], b""))
    }
}

/// The code, and both streams.
fn told(output: &Output) -> (i32, String) {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    (output.status.code().unwrap(), String::from_utf8(text).unwrap())
}

#[test]
fn verbs_say_what_they_find() {
    let place = Place::filled();
    // arguments, exit code, what has to be said
    type Row<'a> = (&'a [&'a str], i32, &'a [&'a str]);
    let table: &[Row] = &[
        (&["policy"], 64, &["say what to do"]),
        (&["policy", "nonsense"], 64, &["unknown", "say what to do"]),
        (&["policy", "show", "x"], 64, &["takes options only"]),
        (&["policy", "check", "a", "b"], 64, &["at most one file"]),
        (&["policy", "trust", "x"], 64, &["nearest .shward.toml"]),
        (&["policy", "test"], 64, &["[[case]]", "policy test FILE"]),
        (&["policy", "diff", "parent.toml"], 64, &["two policies"]),
        (&["policy", "import", "claude"], 64, &["settings.json", ".rules"]),
        (&["policy", "test", "/dev/zero"], 65, &["no regular file"]),
        (&["policy", "import", "programs", "/dev/zero"], 65, &["no regular file"]),
        (&["policy", "show"], 0, &["profile workspace", "checks:", "contained:"]),
        (&["policy", "show", "--floor"], 0, &["# floor"]),
        (&["policy", "show", "--profile", "strict"], 0, &["shell"]),
        (&["policy", "show", "--profile", "nonsense"], 64, &["unknown profile", "workspace", "tiers"]),
        (
            &["policy", "show", "--policy", "parent.toml"],
            0,
            &["limits.timeout = 60", "parent.toml:3", "programs.deny"],
        ),
        (&["policy", "show", "--policy", "unknown.toml"], 78, &["timeuot", "unknown.toml:2", "timeout"]),
        (&["policy", "check", "parent.toml"], 0, &["parent.toml: nothing wrong (0 rules, 3 other settings)"]),
        (&["policy", "check", "unknown.toml"], 78, &["timeuot", "unknown.toml:2", "timeout"]),
        (&["policy", "check", "syntax.toml"], 78, &["syntax.toml:1"]),
        (&["policy", "check", "absent.toml"], 78, &["absent.toml"]),
        (&["policy", "check", "/dev/null"], 78, &["no regular file"]),
        (
            &["policy", "check", "shadowed.toml"],
            1,
            &["shadowed.toml: 1 remark (2 rules, 0 other settings)", "part"],
        ),
        (&["policy", "check"], 0, &["the policy in force: nothing wrong"]),
        (&["policy", "check", "narrow.toml", "--within", "parent.toml"], 0, &["permits no more"]),
        (&["policy", "check", "wide.toml", "--within", "parent.toml"], 1, &["limits.timeout", "nc"]),
        (&["policy", "test", "holds.toml"], 0, &["2 of 2 cases hold"]),
        (
            &["policy", "test", "fails.toml"],
            1,
            &["fails.toml:1: wanted deny, got allow", "1 of 2 cases hold"],
        ),
        (&["policy", "test", "parent.toml"], 78, &["parent.toml"]),
        (&["policy", "test", "absent.toml"], 74, &["absent.toml"]),
        (&["policy", "import", "cmdwall", "limits.env"], 0, &["timeout = 60", "nc"]),
        (&["policy", "import", "claude", "claude.json"], 0, &["nc"]),
        (
            &["policy", "import", "claude", "odd.json"],
            0,
            &["permissions.deny: it is no list", "permissions.ask: 3 is no text", "defaultMode", "ls"],
        ),
        (&["policy", "import", "codex", "codex.rules"], 0, &["nc"]),
        (&["policy", "import", "programs", "programs.txt"], 0, &["ls"]),
        (&["policy", "import", "claude", "limits.env"], 65, &["limits.env"]),
        (&["policy", "import", "nonsense", "limits.env"], 64, &["unknown kind"]),
        (&["policy", "import", "codex", "absent"], 74, &["absent"]),
        (&["policy", "trust"], 65, &["no .shward.toml"]),
        (&["schema", "policy"], 0, &["$schema", "limits"]),
        (&["schema"], 64, &["name the schema"]),
        (&["schema", "nonsense"], 64, &["name the schema"]),
        (&["init"], 0, &["[limits]", "timeout"]),
        (&["init", "new.toml"], 0, &["new.toml: written"]),
        (&["init", "parent.toml"], 74, &["parent.toml"]),
        (&["init", "a", "b"], 64, &["at most one FILE"]),
        (&["check", "--policy", "unknown.toml", "--", "ls"], 78, &["timeuot"]),
        (&["check", "--policy", "parent.toml", "--", "nc -l 1"], 2, &["nc"]),
        (&["run", "--policy", "unknown.toml", "--", "touch ran"], 78, &["timeuot"]),
    ];
    let mut wrong = Vec::new();
    for (args, code, parts) in table {
        let (got, text) = place.run(args);
        if got != *code || !parts.iter().all(|part| text.contains(part)) {
            wrong.push(format!("{args:?}: wanted {code} {parts:?}, got {got}:\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(!place.project().join("ran").exists());
}

/// Whoever names a directory may have meant to steer the terminal of who works there.
#[test]
fn what_goes_wrong_is_told_without_control_characters() {
    let place = Place::new();
    let odd = place.project().join("d\u{1b}[2J\u{202e}");
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join(".shward.toml"), "shel = 1\n").unwrap();
    let odd = odd.to_str().unwrap();
    for args in [
        &["check", "--cwd", odd, "--", "ls"][..],
        &["policy", "show", "--workspace", odd],
        &["audit", "verify", odd],
    ] {
        let output = place.shward(args, &[], b"");
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("\\u{1b}[2J"), "{args:?}: {told:?}");
        assert!(
            !told.contains(|c: char| c != '\n' && c.is_control() || c == '\u{202e}'),
            "{args:?}: {told:?}"
        );
    }
    let rule = "[[rule]]\nid = \"a\"\ndecision = \"deny\"\npath = \"../\\u001b[2J\\u202e\"\n";
    fs::write(place.project().join("odd.toml"), rule).unwrap();
    let (code, told) = place.run(&["policy", "check", "odd.toml"]);
    assert!(code == 1 && told.contains("\\u{1b}[2J"), "{told:?}");
    assert!(!told.contains(|c: char| c != '\n' && c.is_control() || c == '\u{202e}'), "{told:?}");
}

#[test]
fn what_is_written_can_be_read_again() {
    let place = Place::filled();
    // The template says nothing, so that it is no change; what is imported is a policy.
    assert_eq!(place.run(&["init", "new.toml"]).0, 0);
    assert_eq!(place.run(&["policy", "check", "new.toml"]).0, 0);
    for (kind, file) in [("cmdwall", "limits.env"), ("claude", "claude.json"), ("codex", "codex.rules")] {
        let (code, text) = place.run(&["policy", "import", kind, file]);
        assert_eq!(code, 0, "{text}");
        fs::write(place.project().join("imported.toml"), text).unwrap();
        let (code, text) = place.run(&["check", "--policy", "imported.toml", "--", "nc -l 1"]);
        assert_eq!(code, 2, "{kind}: {text}");
    }
    let (_, schema) = place.run(&["schema", "policy"]);
    let schema: Value = serde_json::from_str(&schema).unwrap();
    assert!(schema["properties"]["rule"].is_object());
}

#[test]
fn json_says_the_same() {
    let place = Place::filled();
    let json = |args: &[&str]| -> Value {
        let (_, text) = place.run(args);
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{args:?}: {e}: {text}"))
    };
    let shown = json(&["policy", "show", "--json", "--policy", "parent.toml"]);
    assert_eq!((&shown["v"], &shown["profile"]), (&1.into(), &"workspace".into()));
    let timeout =
        shown["settings"].as_array().unwrap().iter().find(|s| s["key"] == "limits.timeout").unwrap();
    assert_eq!((&timeout["origin"]["line"], &timeout["tightening"]), (&3.into(), &false.into()));
    assert_eq!(json(&["policy", "check", "--json", "shadowed.toml"])["remarks"][0]["rule"], "part");
    let wider = json(&["policy", "check", "--json", "wide.toml", "--within", "parent.toml"]);
    assert_eq!(wider["within"], false);
    assert!(json(&["policy", "check", "--json", "unknown.toml"])["error"].is_string());
    let tested = json(&["policy", "test", "--json", "fails.toml"]);
    assert_eq!((&tested["cases"], &tested["held"]), (&2.into(), &1.into()));
    let failed = &tested["failed"][0];
    assert_eq!(
        (&failed["line"], &failed["wanted"], &failed["got"]),
        (&1.into(), &"deny".into(), &"allow".into())
    );
    let imported = json(&["policy", "import", "--json", "claude", "odd.json"]);
    assert!(imported["policy"].as_str().unwrap().contains("program = \"ls\""), "{imported}");
    assert_eq!(imported["not_exact"].as_array().unwrap().len(), 3, "{imported}");
    fs::write(place.project().join(".shward.toml"), "[limits]\ntimeout = 5\n").unwrap();
    let revoked = json(&["policy", "trust", "--revoke", "--json"]);
    assert_eq!(
        (&revoked["trusted"], revoked["file"].as_str().unwrap().ends_with(".shward.toml")),
        (&false.into(), true)
    );
    assert!(json(&["policy", "trust", "--json"])["error"].as_str().unwrap().contains("at a terminal"));
}

#[test]
fn a_difference_is_told_from_the_log() {
    let place = Place::filled();
    for command in ["ls", "nc -l 1", "make"] {
        place.run(&["check", "--", command]);
    }
    let (code, text) = place.run(&["policy", "diff", "parent.toml", "parent.toml"]);
    assert_eq!((code, text.trim()), (0, "0 of 3 decisions change"));
    let (code, text) = place.run(&["policy", "diff", "parent.toml", "narrow.toml"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("→ deny  make") && text.contains("1 of 3 decisions change"), "{text}");
    let (_, text) = place.run(&["policy", "diff", "--json", "parent.toml", "narrow.toml"]);
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&json["judged"], &json["changed"][0]["new"]), (&3.into(), &"deny".into()));
    fs::write(
        place.project().join("corpus.jsonl"),
        "{\"command\": \"make\", \"label\": \"benign\"}\n\n{\"argv\": [\"ls\"]}\n",
    )
    .unwrap();
    let diff = ["policy", "diff", "parent.toml", "narrow.toml", "--corpus", "corpus.jsonl"];
    let (code, text) = place.run(&diff);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("     1  ") && text.contains("1 of 2 decisions change"), "{text}");
    fs::write(place.project().join("corpus.jsonl"), "{\"command\":\"make\",\"cwd\":\"x\"}\n").unwrap();
    let (code, text) = place.run(&diff);
    assert_eq!((code, text.trim()), (0, "0 of 0 decisions change; 1 could not be judged"));
    fs::write(place.project().join("corpus.jsonl"), "{\"cmd\": \"make\"}\n").unwrap();
    assert_eq!(place.run(&diff).0, 65);
}

#[test]
fn a_hook_with_a_wrong_policy_denies() {
    let place = Place::filled();
    let event = format!(
        r#"{{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","cwd":{:?},"tool_input":{{"command":"ls"}}}}"#,
        place.project()
    );
    let decision = |place: &Place| {
        let output = place.shward(&["hook", "claude"], &[], event.as_bytes());
        let denied = output.status.code() == Some(2)
            || String::from_utf8_lossy(&output.stdout).contains(r#""permissionDecision":"deny""#);
        (denied, told(&output).1)
    };
    let (denied, text) = decision(&place);
    assert!(!denied, "{text}");
    for text in ["[limits]\ntimeuot = 5\n", "no toml", "[programs]\nallow = []\n"] {
        fs::write(place.project().join(".shward.toml"), text).unwrap();
        let (denied, told) = decision(&place);
        assert!(denied, "{text}: {told}");
    }
    fs::write(place.project().join(".shward.toml"), "[programs]\ndeny = [\"nc\"]\n").unwrap();
    assert!(!decision(&place).0, "a policy that is mended decides again");
}

#[test]
fn a_build_without_the_floor_says_so() {
    let place = Place::filled();
    let unrestricted = cfg!(feature = "unrestricted");
    assert_eq!(place.run(&["--version"]).1.contains("(unrestricted: without the floor)"), unrestricted);
    assert_eq!(
        place.run(&["policy", "show", "--floor"]).1.contains("This build is unrestricted"),
        unrestricted
    );
}

#[test]
fn neither_project_nor_environment_relaxes() {
    let place = Place::filled();
    let code = |environment: &[(&str, &str)], command: &str| {
        told(&place.shward(&["check", "--", command], environment, b""))
    };
    let ask = "curl https://example.com/x";
    assert_eq!(code(&[], ask).0, 3);
    fs::write(
        place.project().join(".shward.toml"),
        "[checks]\nnetwork = \"allow\"\n[programs]\ndeny = [\"make\"]\n",
    )
    .unwrap();
    assert_eq!(code(&[], ask).0, 3, "a project's file allows nothing that nobody trusted");
    assert_eq!(code(&[], "make").0, 2, "and denies at once");
    let (trusted, text) = place.run(&["policy", "trust"]);
    assert_eq!(trusted, 64, "trust is given at a terminal only: {text}");
    for (environment, command, expected) in [
        (("SHWARD_PROFILE", "open"), ask, 3),
        (("SHWARD_PROFILE", "read-only"), "touch x", 2),
        (("SHWARD_PROFILE", "nonsense"), "ls", 78),
        (("CMDWALL_BLOCKLIST", "[\"ls\"]"), "ls", 2),
        (("CMDWALL_ALLOWLIST", "[\"curl\"]"), ask, 3),
    ] {
        let (got, text) = code(&[environment], command);
        assert_eq!(got, expected, "{environment:?} {command}: {text}");
    }
}

/// Every variable by which somebody may try to speak to us, with what would relax and what tightens.
#[test]
fn each_variable_only_tightens() {
    let place = Place::filled();
    let ask = "curl https://example.com/x";
    let code = |environment: &[(&str, &str)], words: &[&str]| told(&place.shward(words, environment, b"")).0;
    let decided = |variable: (&str, &str), command: &str| code(&[variable], &["check", "--", command]);
    for (variable, command, expected) in [
        (("SHWARD_PROFILE", ""), ask, 3),
        (("SHWARD_PROFILE", "strict"), "ls | wc", 2),
        (("SHWARD_PROFILE", "/tmp/x"), "ls", 78),
        (("shward_profile", "nonsense"), "ls", 0),
        // What does not exist changes nothing.
        (("SHWARD_POLICY", "wide.toml"), ask, 3),
        (("SHWARD_DISABLE", "1"), ask, 3),
        (("SHWARD_TRUST", "1"), ask, 3),
        (("SHWARD_UNRESTRICTED", "1"), "rm -rf ~", 2),
        (("CMDWALL_ALLOWLIST", "curl,sh"), ask, 3),
        (("cmdwall_allowlist", "[\"curl\"]"), ask, 3),
        (("CMDWALL_BLOCKLIST", "nc, ls"), "ls", 2),
        (("Cmdwall_Blocklist", "ls"), "ls", 2),
        (("CMDWALL_BLOCKLIST", ""), "ls", 0),
        (("CMDWALL_BLOCKLIST", "x\"]\nchecks.default = \"allow\"\n#"), ask, 78),
        (("CMDWALL_MAX_OUTPUT_BYTES", "many"), "ls", 78),
        (("CMDWALL_DEFAULT_TIMEOUT_SECONDS", "-1"), "ls", 78),
        (("CMDWALL_DEFAULT_TIMEOUT_SECONDS", "60"), "ls", 0),
        (("CMDWALL_PROVIDER", "none"), ask, 3),
    ] {
        assert_eq!(decided(variable, command), expected, "{variable:?} {command}");
    }
    fs::write(place.project().join("short.toml"), "[limits]\ntimeout = 1\nmax-output = 4\n").unwrap();
    let run = |environment: &[(&str, &str)], policy: &[&str], command: &str| {
        let words = [&["run", "--json"], policy, &["--", command]].concat();
        let output = place.shward(&words, environment, b"");
        (output.status.code().unwrap(), serde_json::from_slice::<Value>(&output.stdout).unwrap_or_default())
    };
    if run(&[], &[], "/bin/true").0 == 125 {
        return;
    }
    let short: &[&str] = &["--policy", "short.toml"];
    for (environment, policy) in [
        (&[("CMDWALL_DEFAULT_TIMEOUT_SECONDS", "1")][..], &[][..]),
        (&[("CMDWALL_DEFAULT_TIMEOUT_SECONDS", "3600")], short),
    ] {
        assert_eq!(run(environment, policy, "sleep 20").0, 124, "{environment:?}");
    }
    for (environment, policy) in [
        (&[("CMDWALL_MAX_OUTPUT_BYTES", "4")][..], &[][..]),
        (&[("CMDWALL_MAX_OUTPUT_BYTES", "4000")], short),
    ] {
        for command in ["echo 0123456789", "/bin/echo 0123456789"] {
            let (_, outcome) = run(environment, policy, command);
            let shown = outcome["stdout"].as_str().unwrap();
            assert!(shown.contains("7 bytes left out"), "{environment:?} {command}: {outcome}");
        }
    }
}

/// `policy trust` at a pseudo-terminal (script(1)), where somebody types this once they are asked.
fn trust_at_terminal(place: &Place, arguments: &str, keys: &'static str) -> (i32, String) {
    let line = format!("{} policy trust {arguments}", env!("CARGO_BIN_EXE_shward"));
    at_terminal(place, &line, "", keys)
}

/// A line of a shell at a pseudo-terminal, where somebody types something before anything is shown, and this once they are asked.
fn at_terminal(place: &Place, line: &str, early: &str, keys: &'static str) -> (i32, String) {
    let mut command = Command::new("script");
    command.args(["-qec", line, "/dev/null"]).current_dir(place.project()).env_clear();
    command.env("HOME", place.home()).env("SHWARD_TEST_HOME", place.home()).env("PATH", "/usr/bin:/bin");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    stdin.write_all(early.as_bytes()).unwrap();
    let (mut shown, mut piece, mut stdin) = (Vec::new(), [0; 4096], Some(stdin));
    while let Some(count) = stdout.read(&mut piece).ok().filter(|count| *count > 0) {
        shown.extend(piece.iter().take(count));
        let asked = String::from_utf8_lossy(&shown).contains("[type yes]");
        if let Some(mut stdin) = stdin.take_if(|_| asked) {
            // Again, should it have come before what was typed is forgotten. It stays open for as long as the other side reads: its
            // end would be the end of the terminal.
            std::thread::spawn(move || {
                while stdin.write_all(keys.as_bytes()).is_ok() {
                    std::thread::sleep(Duration::from_secs(1));
                }
            });
        }
    }
    (child.wait().unwrap().code().unwrap(), String::from_utf8(shown).unwrap())
}

#[test]
fn a_person_at_a_terminal_trusts_a_project() {
    let place = Place::filled();
    let (file, ask) = (place.project().join(".shward.toml"), "curl https://example.com/x");
    let text = "[checks]\nnetwork = \"allow\"\n# \u{202e}hidden\n";
    fs::write(&file, text).unwrap();
    let decided = || place.run(&["check", "--", ask]).0;
    assert_eq!(decided(), 3);
    // That it is not believed yet is said wherever somebody looks for why.
    let looks: &[&[&str]] = &[
        &["policy", "show"],
        &["policy", "check"],
        &["policy", "show", "--json"],
        &["policy", "check", "--json"],
        &["doctor"],
        &["doctor", "--json"],
        &["explain", "--", ask],
    ];
    let noted = |words: &&[&str]| {
        let told = place.run(words).1;
        told.contains("project/.shward.toml is not trusted") && told.contains("`shward policy trust`")
    };
    assert!(looks.iter().all(noted));
    assert!(
        ![&["explain", "--frozen", "--", ask][..], &["policy", "check", "parent.toml"]].iter().any(noted)
    );
    // Whatever is not yes is no; and so is a pipe.
    for keys in ["no\n", "\n", "y\n", "yes please\n", "YES\n", "\u{4}"] {
        let (code, shown) = trust_at_terminal(&place, "", keys);
        assert_eq!(code, 1, "{keys:?}: {shown}");
        assert!(shown.contains("not trusted") && shown.contains("network = \"allow\""), "{shown}");
        assert!(shown.contains("permits more: checks.network: decides allow"), "{shown}");
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "{shown:?}");
        assert_eq!(decided(), 3, "{keys:?}");
    }
    // What was typed before anybody could read the question is no answer to it.
    let line = format!("sleep 2; {} policy trust", env!("CARGO_BIN_EXE_shward"));
    let (code, shown) = at_terminal(&place, &line, "yes\n", "no\n");
    assert!(code == 1 && shown.contains("not trusted"), "{shown}");
    let piped = told(&place.shward(&["policy", "trust"], &[], b"yes\n"));
    assert_eq!((piped.0, decided()), (64, 3), "{}", piped.1);
    let (code, shown) = trust_at_terminal(&place, "", "yes\n");
    assert!(code == 0 && shown.contains("trusted until it changes"), "{code} {shown}");
    assert_eq!(decided(), 0);
    assert!(!looks.iter().any(noted));
    // Any change ends it, of the text as of the place, and nobody has to be told.
    fs::write(&file, format!("{text}\n")).unwrap();
    assert_eq!(decided(), 3, "a changed text");
    fs::write(&file, text).unwrap();
    assert_eq!(decided(), 0);
    let moved = place.home().join(".shward.toml");
    fs::rename(&file, &moved).unwrap();
    assert_eq!(decided(), 3, "another place");
    fs::rename(&moved, &file).unwrap();
    assert_eq!(decided(), 0);
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(&moved, &file).unwrap();
    fs::write(&moved, text.replace("allow", "ask")).unwrap();
    assert_eq!(decided(), 3, "a link to another text");
    fs::remove_file(&file).unwrap();
    fs::write(&file, text).unwrap();
    let (code, shown) = place.run(&["policy", "trust", "--revoke"]);
    assert!(code == 0 && shown.contains("trusted no longer"), "{shown}");
    assert_eq!(decided(), 3);
    // A file that is wrong is told before anybody is asked.
    fs::write(&file, "[checks]\nnetwrk = \"allow\"\n").unwrap();
    let (code, shown) = trust_at_terminal(&place, "", "yes\n");
    assert!(code == 78 && shown.contains("netwrk") && !shown.contains("type yes"), "{code} {shown}");
}
