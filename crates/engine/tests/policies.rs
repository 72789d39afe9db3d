//! Where policies lie: whose files are believed, and what trust in a project's file means.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

use shward::{Decision, Firewall, PROJECT_FILE, Policy, PolicyError, PolicyPlaces, Request, Setting, Trust};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};

const RELAXING: &str = "[checks]\nnetwork = \"allow\"\n";

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        for below in ["repository/.git", "repository/sub", "system"] {
            fs::create_dir_all(place.path(below)).unwrap();
        }
        place
    }

    fn path(&self, below: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(below)
    }

    fn places(&self) -> PolicyPlaces {
        let mut places = PolicyPlaces::none();
        places.system = self.path("system");
        places.user = Some(self.path("policy.toml"));
        places.state = Some(self.path("state"));
        places.workspace = Some(self.path("repository/sub"));
        places
    }

    fn load(&self) -> Result<Policy, PolicyError> {
        self.places().load()
    }

    fn decides(&self, command: &str) -> Decision {
        let request = Request::command(command, "/home/dev/project", "/home/dev");
        Firewall::new(self.load().unwrap()).check(&request, &Setting::frozen()).unwrap().decision
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

fn refused(place: &Place, why: &str) {
    let error = place.load().unwrap_err().to_string();
    assert!(error.contains(why), "{error}");
}

#[test]
fn files_that_others_could_have_written_are_refused() {
    let place = Place::new();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let user = place.path("policy.toml");
    fs::write(&user, RELAXING).unwrap();
    assert_eq!(place.decides("curl https://example.com"), Decision::Allow);
    for wrong in [0o662, 0o620, 0o606] {
        mode(&user, wrong);
        refused(&place, "others may write it");
    }
    fs::remove_file(&user).unwrap();
    symlink("/nowhere", &user).unwrap();
    assert!(place.load().is_err(), "a link that leads nowhere was meant to lead somewhere");
    fs::remove_file(&user).unwrap();
    fs::create_dir(&user).unwrap();
    refused(&place, "no regular file");
    fs::remove_dir(&user).unwrap();
    let system = place.path("system/10.toml");
    fs::write(&system, "[programs]\ndeny = \"nc\"\n").unwrap();
    if !is_root() {
        refused(&place, "does not belong to root");
        return;
    }
    assert_eq!(place.decides("nc -l 1"), Decision::Deny);
    mode(&system, 0o664);
    refused(&place, "others may write it");
    mode(&system, 0o644);
    mode(&place.path("system"), 0o777);
    refused(&place, "others may write it");
    mode(&place.path("system"), 0o755);
    for path in [&system, &place.path("system")] {
        chown(path, Some(12345), None).unwrap();
        refused(&place, "does not belong to root");
        chown(path, Some(0), None).unwrap();
    }
    fs::write(&user, RELAXING).unwrap();
    chown(&user, Some(12345), None).unwrap();
    refused(&place, "belongs to somebody else");
}

#[test]
fn any_change_of_a_project_file_ends_the_trust() {
    let place = Place::new();
    let file = place.path("repository").join(PROJECT_FILE);
    fs::write(&file, RELAXING).unwrap();
    let ask = "curl https://example.com";
    assert_eq!(place.decides(ask), Decision::Ask);
    let trust = Trust::in_state(&place.path("state"));
    trust.add(&file, RELAXING).unwrap();
    assert_eq!(place.decides(ask), Decision::Allow, "found upward from the workspace");
    fs::write(&file, format!("{RELAXING}# changed\n")).unwrap();
    assert_eq!(place.decides(ask), Decision::Ask);
    fs::write(&file, RELAXING).unwrap();
    assert_eq!(place.decides(ask), Decision::Allow, "what was trusted is what it was");
    // Another place of the same text.
    let nearer = place.path("repository/sub").join(PROJECT_FILE);
    fs::rename(&file, &nearer).unwrap();
    assert_eq!(place.decides(ask), Decision::Ask);
    fs::rename(&nearer, &file).unwrap();
    if is_root() {
        chown(&file, Some(12345), None).unwrap();
        assert_eq!(place.decides(ask), Decision::Ask, "another owner");
        chown(&file, Some(0), None).unwrap();
        assert_eq!(place.decides(ask), Decision::Allow);
    }
    // A store that others could have written is none.
    fs::set_permissions(place.path("state/trust"), fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(place.decides(ask), Decision::Ask);
    fs::set_permissions(place.path("state/trust"), fs::Permissions::from_mode(0o600)).unwrap();
    assert!(trust.remove(&file).unwrap());
    assert_eq!(place.decides(ask), Decision::Ask);
    // Not beyond the root of the repository.
    fs::rename(&file, place.path(PROJECT_FILE)).unwrap();
    trust.add(&place.path(PROJECT_FILE), RELAXING).unwrap();
    assert_eq!(place.decides(ask), Decision::Ask);
}

#[test]
fn locks_of_the_system_hold_against_whoever_comes_after() {
    if !is_root() {
        eprintln!("skipped: it takes root");
        return;
    }
    let place = Place::new();
    fs::write(place.path("system/10.toml"), "lock = [\"checks\", \"rule\"]\n").unwrap();
    fs::write(place.path("policy.toml"), RELAXING).unwrap();
    let error = place.load().unwrap_err().to_string();
    assert!(error.contains("`checks` is locked by") && error.contains("10.toml:1"), "{error}");
    fs::write(place.path("policy.toml"), "[[rule]]\nid = \"a\"\ndecision = \"allow\"\nprogram = \"x\"\n")
        .unwrap();
    assert!(place.load().unwrap_err().to_string().contains("`rule` is locked by"));
    fs::remove_file(place.path("policy.toml")).unwrap();
    let explicit = place.path("explicit.env");
    fs::write(&explicit, "CMDWALL_BLOCKLIST=nc\n").unwrap();
    let mut places = place.places();
    places.explicit = Some(explicit);
    let request = Request::command("nc -l 1", "/home/dev/project", "/home/dev");
    let checked = Firewall::new(places.load().unwrap()).check(&request, &Setting::frozen()).unwrap();
    assert_eq!(checked.decision, Decision::Deny, "a file of CMDWALL_* variables that is named");
    // The environment only tightens, whatever it says.
    let mut places = place.places();
    places.environment = vec![("CMDWALL_ALLOWLIST".to_owned(), "curl".to_owned())];
    let request = Request::command("curl https://example.com", "/home/dev/project", "/home/dev");
    let decided = |places: PolicyPlaces| {
        Firewall::new(places.load().unwrap()).check(&request, &Setting::frozen()).unwrap().decision
    };
    assert_eq!(decided(places), Decision::Ask);
}

/// Variables say where the user's policy and what is trusted lie. Whoever sets them must not get a wider policy by it.
#[test]
fn a_variable_takes_away_no_denial_and_lets_no_project_speak_for_the_user() {
    let place = Place::new();
    let ask = "curl https://example.com";
    let account = place.path("account");
    fs::create_dir_all(account.join(".config/shward")).unwrap();
    fs::write(account.join(".config/shward/policy.toml"), "[programs]\ndeny = \"nc\"\n").unwrap();
    fs::write(place.path("policy.toml"), RELAXING).unwrap();
    let decides = |user: &str, state: &str, command: &str| {
        let mut places = place.places();
        places.account = Some(account.clone());
        places.user = Some(place.path(user));
        places.state = Some(place.path(state));
        let request = Request::command(command, "/home/dev/project", "/home/dev");
        Firewall::new(places.load().unwrap()).check(&request, &Setting::frozen()).unwrap().decision
    };
    assert_eq!(
        decides("policy.toml", "state", "nc -l 80"),
        Decision::Deny,
        "the account's own file still denies"
    );
    assert_eq!(
        decides("policy.toml", "state", ask),
        Decision::Allow,
        "and the file that is named still counts"
    );
    // A project brings a policy and a store of what is trusted along.
    let inside = "repository/sub/config/policy.toml";
    fs::create_dir_all(place.path("repository/sub/config")).unwrap();
    fs::write(place.path(inside), RELAXING).unwrap();
    assert_eq!(decides(inside, "state", ask), Decision::Ask);
    assert_eq!(decides("absent.toml", "state", ask), Decision::Ask);
    symlink(place.path("repository/sub/config"), place.path("link")).unwrap();
    assert_eq!(decides("link/policy.toml", "state", ask), Decision::Ask, "through a link");
    fs::write(place.path(inside), "[programs]\ndeny = \"curl\"\n").unwrap();
    assert_eq!(decides(inside, "state", ask), Decision::Deny, "it may tighten");
    let file = place.path("repository").join(PROJECT_FILE);
    fs::write(&file, RELAXING).unwrap();
    for (state, expected) in [("repository/sub/state", Decision::Ask), ("state", Decision::Allow)] {
        Trust::in_state(&place.path(state)).add(&file, RELAXING).unwrap();
        assert_eq!(decides("absent.toml", state, ask), expected, "{state}");
    }
}
