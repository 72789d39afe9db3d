//! What somebody needs who answers for many machines, with the real binary: files of the system that are tried before they lie there,
//! hooks that are looked at, records that are looked for, completions and the manual page.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

mod place;

use place::Place;
use std::fs;
use std::process::{Command, Stdio};

/// The exit code and both streams.
fn answer(place: &Place, words: &[&str]) -> (Option<i32>, String) {
    let output = place.command(words).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.code(), text)
}

#[test]
fn a_file_of_the_system_is_tried_before_it_lies_there() {
    let place = Place::new();
    for (name, text) in [
        ("team.toml", "lock = [\"limits\"]\n[programs]\ndeny = [\"nc\"]\n[limits]\ntimeout = 60\n"),
        ("mine.toml", "[limits]\ntimeout = 90\n"),
        ("cases.toml", "[[case]]\ncommand = \"nc -l 80\"\ndecision = \"deny\"\n"),
        ("corpus.jsonl", "{\"command\":\"nc -l 80\"}\n"),
    ] {
        fs::write(place.project().join(name), text).unwrap();
    }
    let table: &[(&[&str], i32, &str)] = &[
        (
            &["check", "team.toml"],
            78,
            "`shward policy check --system` reads a file as it counts in /etc/shward/policy.d",
        ),
        (&["check", "--system", "team.toml"], 0, "team.toml: nothing wrong"),
        (&["check", "--system", "--json", "team.toml"], 0, "\"ok\":true"),
        (&["check", "mine.toml", "--within", "team.toml"], 78, "only the system's policy can lock keys"),
        (&["check", "mine.toml", "--within", "team.toml", "--system"], 1, "limits.timeout: is longer than"),
        (&["test", "cases.toml", "--policy", "team.toml"], 78, "only the system's policy can lock keys"),
        (&["test", "cases.toml", "--policy", "team.toml", "--system"], 0, "1 of 1 cases hold"),
        (
            &["diff", "mine.toml", "team.toml", "--corpus", "corpus.jsonl", "--system"],
            1,
            "ask → deny  nc -l 80",
        ),
        (&["show", "--policy", "team.toml", "--system"], 0, "limits.timeout = 60  # system team.toml:5"),
        (&["show", "--policy", "team.toml"], 78, "only the system's policy can lock keys"),
        (&["check", "--system"], 64, "--system says how a file is read; name one"),
        (&["trust", "--system"], 64, "--system belongs to `policy show`, `policy check`"),
    ];
    for (words, code, told) in table {
        let (got, text) = answer(&place, &[&["policy"], *words].concat());
        assert!(got == Some(*code) && text.contains(told), "{words:?}: {got:?} {text}");
    }
    // What the users of a machine have set, and the new file would lock, is found before it is rolled out.
    let user = place.home().join(".config/shward");
    fs::create_dir_all(&user).unwrap();
    fs::write(user.join("policy.toml"), "[limits]\ntimeout = 90\n").unwrap();
    let (code, text) = answer(&place, &["policy", "check", "--policy", "team.toml", "--system"]);
    assert!(code == Some(78) && text.contains("policy.toml:") && text.contains("locked"), "{code:?} {text}");
    // Only these verbs read a file so: nothing is decided by it.
    let (code, text) = answer(&place, &["check", "--policy", "team.toml", "--system", "--", "ls"]);
    assert!(code == Some(64) && text.contains("unknown option --system"), "{code:?} {text}");
}

#[test]
fn whether_a_hook_is_there_is_an_exit_code() {
    let place = Place::new();
    let settings = place.home().join(".claude/settings.json");
    let look = |code: i32, told: &str| {
        let before = fs::read_to_string(&settings).ok();
        let (got, text) = answer(&place, &["install", "claude", "--check"]);
        assert!(got == Some(code) && text.contains(told), "{got:?} {text}");
        assert_eq!(fs::read_to_string(&settings).ok(), before, "it only looks");
    };
    look(1, "shward is not there");
    answer(&place, &["install", "claude"]);
    look(0, "shward answers");
    let (code, text) = answer(&place, &["install", "claude", "--check", "--json"]);
    assert!(code == Some(0) && text.contains(r#""installed":true,"switched_off":null}"#), "{text}");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text.replacen('{', "{\"disableAllHooks\": true,", 1)).unwrap();
    look(1, "\"disableAllHooks\" is true, so nobody asks it");
    // A hook that names a program elsewhere is not this one's.
    let binary = env!("CARGO_BIN_EXE_shward");
    fs::write(&settings, text.replace(binary, "/opt/old/shward")).unwrap();
    look(1, "shward is not there as");
    fs::write(&settings, "{\"hooks\": \"none\"}").unwrap();
    look(65, "these are no settings of claude: `hooks` is not a JSON object; mend the file or move it away");
    fs::write(&settings, "{,}").unwrap();
    look(65, "not JSON");
    let (code, text) = answer(&place, &["install", "claude", "--check", "--dry-run"]);
    assert!(code == Some(64) && text.contains("give one of them"), "{text}");
}

#[test]
fn records_are_looked_for() {
    let place = Place::new();
    for words in [
        &["check", "--session", "one", "--", "ls"][..],
        &["check", "--session", "two", "--", "rm -rf ~"],
        &["check", "--session", "two", "--", "curl https://example.com"],
        &["run", "--session", "two", "--", "echo hi"],
        &["run", "--session", "one", "--", "cat ~/.ssh/id_rsa"],
    ] {
        answer(&place, words);
    }
    let commands = |words: &[&str]| {
        let (code, text) = answer(&place, &[&["audit", "show"], words].concat());
        assert_eq!(code, Some(0), "{words:?}: {text}");
        text.lines()
            .map(|line| line.split_whitespace().skip(2).collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>()
    };
    let all = commands(&[]);
    // A run without a process, and how it ended.
    assert_eq!(all.len(), 6, "{all:?}");
    for (words, wanted) in [
        (&["--session", "one"][..], &[0, 5][..]),
        (&["--session", "two"], &[1, 2, 3, 4]),
        (&["--session", "three"], &[]),
        (&["--decision", "deny"], &[1, 5]),
        (&["--decision", "ask"], &[2]),
        (&["--decision", "allow"], &[0, 3, 4]),
        (&["--decision", "allow", "--session", "two"], &[3, 4]),
        (&["--rule", "home-destroyed"], &[1]),
        (&["--rule", "secret-read", "--session", "two"], &[]),
        (&["--since", "2020-01-01"], &[0, 1, 2, 3, 4, 5]),
        (&["--since", "2020-01-01T10:00:00Z", "--last", "2"], &[4, 5]),
        (&["--since", "9999-12-31"], &[]),
    ] {
        let wanted: Vec<&String> = wanted.iter().map(|at: &usize| &all[*at]).collect();
        assert_eq!(commands(words).iter().collect::<Vec<_>>(), wanted, "{words:?}");
    }
    for (words, told) in [
        (&["show", "--since", "yesterday"][..], "--since: \"yesterday\" is no time; give one in UTC"),
        (&["show", "--since", "2026-1-1"], "is no time"),
        (&["show", "--since", "2026-99-99"], "is no time"),
        (&["show", "--since", "2026-11-25T24"], "is no time"),
        (&["show", "--decision", "denied"], "decisions: allow ask deny"),
        (&["verify", "--session", "one"], "--session belongs to `audit show`"),
        (&["verify", "--since", "2026-01-01"], "--since belongs to `audit show`"),
    ] {
        let (code, text) = answer(&place, &[&["audit"], words].concat());
        assert!(code == Some(64) && text.contains(told), "{words:?}: {code:?} {text}");
    }
    for verb in ["show", "verify"] {
        let (code, text) = answer(&Place::new(), &["audit", verb]);
        assert!(code == Some(74) && text.contains("nothing was recorded there yet"), "{code:?} {text}");
    }
}

/// The verbs that `--help` lists, and the options of each.
fn listed(place: &Place) -> Vec<(String, Vec<String>)> {
    let (_, help) = answer(place, &["--help"]);
    let verbs = help.split("\nVerbs:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let verbs: Vec<&str> = verbs.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert!(verbs.len() > 15, "{verbs:?}");
    let options = |verb: &str| {
        let (_, help) = answer(place, &[verb, "--help"]);
        let words = help.lines().filter_map(|line| line.strip_prefix("  --")?.split_whitespace().next());
        words.map(|word| format!("--{word}")).collect()
    };
    verbs.into_iter().map(|verb| (verb.to_owned(), options(verb))).collect()
}

#[test]
fn shells_complete_what_help_lists() {
    let place = Place::new();
    let verbs = listed(&place);
    let (code, bash) = answer(&place, &["completions", "bash"]);
    assert_eq!(code, Some(0), "{bash}");
    let complete = |words: &[&str]| {
        let ask = "COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)); _shward; printf '%s\\n' \"${COMPREPLY[@]}\"";
        let script = format!("{bash}\n{ask}");
        let output =
            Command::new("bash").args(["-c", &script, "bash", "shward"]).args(words).output().unwrap();
        assert!(output.stderr.is_empty(), "{words:?}: {output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    let mut first: Vec<String> = verbs.iter().map(|(verb, _)| verb.clone()).collect();
    first.extend(["--help".to_owned(), "--version".to_owned()]);
    assert_eq!(complete(&[""]), first);
    for (verb, options) in &verbs {
        assert_eq!(&complete(&[verb, "--"]), options, "{verb}");
    }
    assert_eq!(complete(&["run", "--profile", "s"]), ["strict", "sandboxed-shell"]);
    assert_eq!(complete(&["audit", ""]).get(..2).unwrap(), ["verify", "show"]);
    assert_eq!(complete(&["help", "un"]), ["undo", "uninstall"]);
    assert_eq!(complete(&["run", "--approve", ""]), ["auto", "tty", "never"]);
    assert_eq!(complete(&["check", "--approve", ""]), ["auto", "never"]);
    // Such a word stands right behind the verb; elsewhere files do.
    for words in [&["policy", "test", "c"][..], &["policy", "check", "te"], &["audit", "verify", "s"]] {
        assert!(complete(words).is_empty(), "{words:?}");
    }
    // What the shell completes by itself: files, and all that belongs to the command.
    for words in [&["run", "--policy", ""][..], &["run", "--", "--pro"], &["run", "--json", "--", ""]] {
        assert!(complete(words).is_empty(), "{words:?}");
    }
    for (shell, verb) in [("zsh", "        run) _arguments"), ("fish", "-a run -d 'Decide, then run")] {
        let (code, script) = answer(&place, &["completions", shell]);
        assert!(code == Some(0) && script.contains(verb), "{script}");
        for (verb, options) in &verbs {
            let of_fish = |option: &str| format!("__shward_is {verb}' -l {}", option.trim_start_matches('-'));
            let there = options.iter().all(|option| match shell {
                "fish" => script.contains(&of_fish(option)),
                _ => script.contains(&format!("'*{option}[")),
            });
            assert!(there && script.contains(verb.as_str()), "{shell}, {verb}: {script}");
        }
        let file = place.project().join(shell);
        fs::write(&file, script).unwrap();
        match Command::new(shell).arg("-n").arg(&file).stderr(Stdio::piped()).output() {
            Ok(output) => assert!(output.status.success(), "{output:?}"),
            Err(error) => eprintln!("SKIPPED: {shell}: {error}"),
        }
    }
    // A description goes up to what is listed or in brackets, and no shorter.
    let (_, fish) = answer(&place, &["completions", "fish"]);
    for told in
        ["-d 'The policy profile'", "-d 'A policy file that counts above those of system, user and project'"]
    {
        assert!(fish.contains(told), "{told}: {fish}");
    }
    for words in [&["completions"][..], &["completions", "csh"], &["completions", "bash", "zsh"]] {
        let (code, text) = answer(&place, words);
        assert!(code == Some(64) && text.contains("shells: bash zsh fish"), "{words:?}: {text}");
    }
}

#[test]
fn the_manual_page_says_what_help_says() {
    let place = Place::new();
    let (code, page) = answer(&place, &["man"]);
    assert_eq!(code, Some(0), "{page}");
    const REQUESTS: [&str; 13] =
        [".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".BI", ".BR", ".RI", ".I", ".nf", ".fi", ".br"];
    for line in page.lines() {
        let request = line.split(' ').next().unwrap();
        assert!(!line.starts_with('\'') && (!line.starts_with('.') || REQUESTS.contains(&request)), "{line}");
    }
    let shown = page.replace("\\-", "-");
    for (verb, options) in listed(&place) {
        let of_verb = shown.split(&format!("\n.SS {verb}\n")).nth(1).expect(&verb);
        let of_verb = of_verb.split("\n.S").next().unwrap();
        for option in options {
            let there = [format!("\n.B {option}\n"), format!("\n.BI \"{option} \"")];
            assert!(there.iter().any(|line| of_verb.contains(line)), "{verb} {option}: {of_verb}");
        }
    }
    for told in ["\n.SH EXIT STATUS\n", "\n.I /etc/shward/policy.d/*.toml\n", "\n.B 126\n"] {
        assert!(shown.contains(told), "{told}");
    }
    assert_eq!(answer(&place, &["man", "run"]).0, Some(64));
}
