//! Whose policy and state are used: those of an account that has a policy of its own, whatever the environment says; else those
//! that the environment names. A place that is filled beforehand relaxes where it is the account's own, so that the tests can
//! fail, and nowhere else.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

use serde_json::Value;
use shward::Trust;
use shward::reviewing::{Asks, StateDir};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const ASKED: &str = "curl https://example.com/x";
const RELAXING: &str = "[checks]\nnetwork = \"allow\"\n";

/// An account's home, a place that somebody has filled, and a project.
struct Place {
    dir: tempfile::TempDir,
}

/// Whose home it is, for the binary that is built with the tests.
#[derive(Clone, Copy)]
enum Whose {
    /// Of an account with a policy of its own.
    Account,
    /// Of an account without.
    Filled,
    /// Of a user that is in no list.
    Nobody,
}

impl Place {
    fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        for below in ["account/.config/shward", "filled/.config/shward", "project"] {
            fs::create_dir_all(place.path(below)).unwrap();
        }
        fs::write(place.path("account/.config/shward/policy.toml"), "").unwrap();
        place
    }

    fn path(&self, below: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(below)
    }

    fn state(&self, whose: &str) -> PathBuf {
        self.path(whose).join(".local/state/shward")
    }

    /// Runs shward for an account, with variables that name a place.
    fn shward(&self, whose: Whose, environment: &[(&str, &str)], words: &[&str]) -> Output {
        let home = match whose {
            Whose::Account => self.path("account"),
            Whose::Filled => self.path("filled"),
            Whose::Nobody => PathBuf::from("unlisted"),
        };
        let mut command = Command::new(env!("CARGO_BIN_EXE_shward"));
        command.args(words).current_dir(self.path("project")).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("SHWARD_TEST_HOME", home);
        for (name, below) in environment {
            command.env(name, self.path(below));
        }
        command.stdin(Stdio::null()).output().unwrap()
    }

    fn decides(&self, whose: Whose, environment: &[(&str, &str)], command: &str) -> i32 {
        let output = self.shward(whose, environment, &["check", "--home", "/home/dev", "--", command]);
        output.status.code().unwrap()
    }

    /// Everything below a directory, with the times at which it changed.
    fn seen(&self, whose: &str) -> BTreeMap<PathBuf, (i64, i64)> {
        fn walk(directory: &Path, seen: &mut BTreeMap<PathBuf, (i64, i64)>) {
            for entry in fs::read_dir(directory).unwrap() {
                let entry = entry.unwrap();
                let meta = entry.metadata().unwrap();
                seen.insert(entry.path(), (meta.ctime(), meta.ctime_nsec()));
                if meta.is_dir() {
                    walk(&entry.path(), seen);
                }
            }
        }
        let mut seen = BTreeMap::new();
        walk(&self.path(whose), &mut seen);
        seen
    }

    /// A yes of a person to what is asked by a command, in a store.
    fn answer(&self, whose: &str) {
        let asks = Asks::new(StateDir::new(self.state(whose)));
        for ask in asks.list().unwrap() {
            assert!(asks.answer(&ask.digest, true, "somebody").unwrap());
        }
    }
}

/// What names the filled place.
const VARIABLES: [&[(&str, &str)]; 4] = [
    &[("HOME", "filled")],
    &[("HOME", "account"), ("XDG_CONFIG_HOME", "filled/.config"), ("XDG_STATE_HOME", "filled/.local/state")],
    &[("XDG_CONFIG_HOME", "filled/.config"), ("XDG_STATE_HOME", "filled/.local/state")],
    &[("HOME", "filled"), ("XDG_CONFIG_HOME", "filled/.config"), ("XDG_STATE_HOME", "filled/.local/state")],
];

fn text(output: &Output) -> String {
    String::from_utf8([output.stdout.as_slice(), output.stderr.as_slice()].concat()).unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

#[test]
fn a_policy_that_a_variable_names_only_tightens() {
    let place = Place::new();
    let policy = place.path("filled/.config/shward/policy.toml");
    fs::write(&policy, RELAXING).unwrap();
    assert_eq!(place.decides(Whose::Filled, VARIABLES[0], ASKED), 0, "the account's own");
    for environment in VARIABLES {
        assert_eq!(place.decides(Whose::Account, environment, ASKED), 3, "{environment:?}");
        assert_eq!(place.decides(Whose::Nobody, environment, ASKED), 0, "nobody else's: {environment:?}");
        let shown =
            text(&place.shward(Whose::Account, environment, &["policy", "show", "--home", "/home/dev"]));
        let belongs = place.path("account/.config/shward/policy.toml");
        assert!(shown.contains(&format!("belongs into {}", belongs.display())), "{shown}");
    }
    fs::write(&policy, "[programs]\ndeny = \"nc\"\n").unwrap();
    for environment in VARIABLES {
        assert_eq!(place.decides(Whose::Account, environment, "nc -l 1"), 2, "{environment:?}");
        assert_eq!(place.decides(Whose::Nobody, environment, "nc -l 1"), 2, "{environment:?}");
    }
    // Nor does a variable take the account's own away.
    fs::rename(&policy, place.path("account/.config/shward/policy.toml")).unwrap();
    for environment in VARIABLES.into_iter().chain([&[("HOME", "nowhere")][..], &[]]) {
        assert_eq!(place.decides(Whose::Account, environment, "nc -l 1"), 2, "{environment:?}");
    }
}

#[test]
fn what_is_trusted_is_the_accounts() {
    let place = Place::new();
    let file = place.path("project/.shward.toml");
    fs::write(&file, RELAXING).unwrap();
    Trust::in_state(&place.state("filled")).add(&file, RELAXING).unwrap();
    assert_eq!(place.decides(Whose::Filled, VARIABLES[0], ASKED), 0);
    for environment in VARIABLES {
        assert_eq!(place.decides(Whose::Account, environment, ASKED), 3, "{environment:?}");
    }
}

/// The contract: `$XDG_CONFIG_HOME/shward/policy.toml`, `$XDG_STATE_HOME/shward`. What lies in the project is the project's.
#[test]
fn an_account_without_a_policy_has_it_where_the_environment_says() {
    let place = Place::new();
    fs::create_dir_all(place.path("bare")).unwrap();
    let policy = |at: &str| {
        fs::create_dir_all(place.path(at).join("shward")).unwrap();
        fs::write(place.path(at).join("shward/policy.toml"), RELAXING).unwrap();
    };
    policy("named");
    policy("project/named");
    fs::create_dir_all(place.path("bare/.config/shward")).unwrap();
    let bare = |environment: &[(&str, &str)], words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shward"));
        command.args(words).current_dir(place.path("project")).env_clear().env("PATH", "/usr/bin:/bin");
        command.env("SHWARD_TEST_HOME", place.path("bare"));
        for (name, below) in environment {
            command.env(name, place.path(below));
        }
        command.stdin(Stdio::null()).output().unwrap()
    };
    let table: [(&[(&str, &str)], i32); 6] = [
        (&[("HOME", "bare")], 3),
        (&[("XDG_CONFIG_HOME", "named"), ("XDG_STATE_HOME", "state")], 0),
        (&[("HOME", "filled"), ("XDG_CONFIG_HOME", "named")], 0),
        (&[("XDG_CONFIG_HOME", "project/named"), ("XDG_STATE_HOME", "state")], 3),
        (
            &[("XDG_CONFIG_HOME", "bare/.config/shward/../../../project/named"), ("XDG_STATE_HOME", "state")],
            3,
        ),
        (&[], 3),
    ];
    for (environment, expected) in table {
        let output = bare(environment, &["check", "--home", "/home/dev", "--", ASKED]);
        assert_eq!(output.status.code(), Some(expected), "{environment:?}: {}", text(&output));
    }
    assert!(place.path("state/shward/audit.jsonl").exists());
    // Once it has one, no variable relaxes.
    let told = text(&bare(&[("HOME", "bare")], &["policy", "show"]));
    let own = place.path("bare/.config/shward/policy.toml");
    assert!(told.contains(&format!("shward init {}", own.display())), "{told}");
    assert!(bare(&[("HOME", "bare")], &["init", own.to_str().unwrap()]).status.success());
    for (environment, _) in table {
        let output = bare(environment, &["check", "--home", "/home/dev", "--", ASKED]);
        assert_eq!(output.status.code(), Some(3), "{environment:?}: {}", text(&output));
    }
}

#[test]
fn answers_questions_and_sessions_are_the_accounts() {
    let place = Place::new();
    assert_eq!(place.decides(Whose::Filled, VARIABLES[0], ASKED), 3);
    place.answer("filled");
    let before = place.seen("filled");
    for environment in VARIABLES {
        let checked =
            place.shward(Whose::Account, environment, &["check", "--home", "/home/dev", "--", ASKED]);
        assert_eq!(checked.status.code(), Some(3), "{environment:?}: {}", text(&checked));
        let asks = json(&place.shward(Whose::Account, environment, &["pending", "--json"]));
        assert_eq!(asks["asks"].as_array().map(Vec::len), Some(1), "its own question: {asks}");
        assert_eq!(asks["asks"][0]["state"], "pending");
    }
    assert_eq!(place.seen("filled"), before, "nothing was touched");
    assert_eq!(place.decides(Whose::Filled, VARIABLES[0], ASKED), 0, "the answer would have counted");
}

/// Nobody starts a count anew by naming an empty place.
#[test]
fn a_limit_is_counted_for_the_account() {
    let place = Place::new();
    let limit = "[[rate]]\nper = \"all\"\ncount = 2\nseconds = 3600\n";
    fs::write(place.path("account/.config/shward/policy.toml"), limit).unwrap();
    let anew: [&[(&str, &str)]; 4] = [
        &[("HOME", "account")],
        &[("HOME", "a")],
        &[("XDG_STATE_HOME", "b")],
        &[("HOME", "c"), ("XDG_STATE_HOME", "d")],
    ];
    let codes: Vec<i32> =
        anew.iter().map(|environment| place.decides(Whose::Account, environment, "ls")).collect();
    assert_eq!(codes, [0, 0, 2, 2]);
    // Without a place where it could be counted nothing is decided.
    let refused = place.shward(
        Whose::Nobody,
        &[],
        &["check", "--home", "/home/dev", "--limit", "global=2/3600", "--log", "log", "--", "ls"],
    );
    assert_eq!(refused.status.code(), Some(64));
    assert!(
        text(&refused).contains("rate limits cannot be counted") && text(&refused).contains("getent passwd")
    );
}

#[test]
fn records_go_into_the_accounts_log() {
    let place = Place::new();
    let records = |whose: &str| {
        let log = fs::read_to_string(place.state(whose).join("audit.jsonl")).unwrap_or_default();
        log.lines().filter(|line| line.contains("\"check\"")).count()
    };
    for (number, environment) in VARIABLES.into_iter().enumerate() {
        assert_eq!(place.decides(Whose::Account, environment, "ls"), 0);
        assert_eq!((records("account"), records("filled")), (number + 1, 0), "{environment:?}");
    }
    assert!(place.seen("filled").keys().all(|path| path.starts_with(place.path("filled/.config"))));
}

/// A container whose user is in no list of accounts works, and has its files where the environment says.
#[test]
fn who_is_in_no_list_is_told_what_that_means() {
    let place = Place::new();
    let with = |words: &[&str]| place.shward(Whose::Nobody, VARIABLES[0], words);
    let account = json(&with(&["doctor", "--json"]))["account"].take();
    assert!(account["home"].is_null(), "{account}");
    assert_eq!(account["state"], place.state("filled").to_str().unwrap());
    let note = account["notes"][0].as_str().unwrap();
    assert!(note.contains("getent passwd") && note.contains("/etc/shward/passwd"), "{note}");
    assert!(text(&with(&["doctor"])).contains("getent passwd"));
    assert!(text(&with(&["policy", "show"])).contains("getent passwd"));
    assert_eq!(with(&["check", "--", "ls"]).status.code(), Some(0));
    let log = fs::read_to_string(place.state("filled").join("audit.jsonl")).unwrap();
    assert!(log.contains("\"ls\""), "there is a record");
    // Where the environment says nothing either, nothing is kept.
    for words in [&["pending"][..], &["session", "list"], &["undo", "--list", "--home", "/home/dev"]] {
        let output = place.shward(Whose::Nobody, &[], words);
        assert_eq!(output.status.code(), Some(64), "{words:?}");
        assert!(text(&output).contains("getent passwd"), "{words:?}: {}", text(&output));
    }
}

/// The log is not known without any variable; then nothing runs unrecorded, and `--log` mends it.
#[test]
fn without_a_home_of_any_kind_the_log_has_to_be_named() {
    let place = Place::new();
    let refused = place.shward(Whose::Nobody, &[], &["check", "--home", "/home/dev", "--", "ls"]);
    assert_eq!(refused.status.code(), Some(64));
    assert!(text(&refused).contains("--log FILE"), "{}", text(&refused));
    let named = ["check", "--home", "/home/dev", "--log", "log", "--", "ls"];
    assert_eq!(place.shward(Whose::Nobody, &[], &named).status.code(), Some(0));
    // The account's home stands in for a variable that is not there.
    assert_eq!(place.shward(Whose::Account, &[], &["check", "--", "ls"]).status.code(), Some(0));
}

/// Where the state directory lies on another file system, layers and their journal lie beside the workspace, and whoever writes
/// there would write what is committed.
#[test]
fn what_is_kept_beside_the_workspace_is_ours() {
    let place = Place::new();
    let user = fs::metadata(place.path("project")).unwrap().uid();
    let beside = format!("../.shward-{user}");
    for command in [
        format!("mkdir {beside}"),
        format!("echo x > {beside}/journal"),
        format!("rm -rf {beside}"),
        format!("mv {beside} x"),
        format!("ln -s x {}", place.path(&format!(".shward-{user}/y")).display()),
    ] {
        assert_eq!(place.decides(Whose::Account, &[], &command), 2, "{command}");
    }
    assert_eq!(place.decides(Whose::Account, &[], "echo x > ../other"), 0, "where anybody may write");
}
