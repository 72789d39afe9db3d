//! Where policies lie: whose files are believed, and what trust in a project's file means.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

use shward::reviewing::{Gatekeeper, Program};
use shward::{
    Decision, Firewall, PROJECT_FILE, Policy, PolicyError, PolicyPlaces, Request, Setting, Trust,
    chosen_gatekeeper,
};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

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
    let directory = place.path("");
    fs::write(place.path("policy.toml"), RELAXING).unwrap();
    for (of_directory, believed) in
        [(0o777, false), (0o703, false), (0o1777, true), (0o775, true), (0o700, true)]
    {
        mode(&directory, of_directory);
        assert_eq!(place.load().is_ok(), believed, "{of_directory:o}");
    }
    mode(&directory, 0o777);
    refused(&place, "others may write the directory");
    mode(&directory, 0o700);
    fs::remove_file(place.path("policy.toml")).unwrap();
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

/// Whom an option names is no more than whom a file names.
#[test]
fn a_locked_gatekeeper_is_named_by_no_option() {
    if !is_root() {
        eprintln!("skipped: it takes root");
        return;
    }
    let place = Place::new();
    let chosen = |name: Option<&str>| {
        let named = name.map(|file| Box::new(Program::new(file).unwrap()) as Box<dyn Gatekeeper>);
        chosen_gatekeeper(&place.load().unwrap(), named, Duration::from_secs(1))
            .map(|found| found.map(|gatekeeper| gatekeeper.name().to_owned()))
    };
    assert_eq!(chosen(Some("/bin/mine")).unwrap().as_deref(), Some("mine"));
    fs::write(place.path("system/20.toml"), "[gatekeeper]\nprogram = \"/bin/theirs\"\n").unwrap();
    assert_eq!(chosen(Some("/bin/mine")).unwrap().as_deref(), Some("mine"));
    fs::write(place.path("system/10.toml"), "lock = [\"gatekeeper\"]\n").unwrap();
    fs::write(place.path("system/30.toml"), "lock = [\"limits\"]\n").unwrap();
    let error = chosen(Some("/bin/mine")).unwrap_err().to_string();
    assert!(error.contains("the system's policy says who the gatekeeper is"), "{error}");
    assert_eq!(chosen(None).unwrap().as_deref(), Some("theirs"));
}

/// What the environment names only tightens; what a project fills by it as well.
#[test]
fn a_file_that_the_environment_names_only_tightens() {
    let place = Place::new();
    let ask = "curl https://example.com";
    let decides = |command: &str| {
        let mut places = place.places();
        places.named = Some(place.path("named.toml"));
        let request = Request::command(command, "/home/dev/project", "/home/dev");
        Firewall::new(places.load().unwrap()).check(&request, &Setting::frozen()).unwrap().decision
    };
    fs::write(place.path("named.toml"), RELAXING).unwrap();
    assert_eq!(decides(ask), Decision::Ask);
    fs::write(place.path("policy.toml"), RELAXING).unwrap();
    assert_eq!(decides(ask), Decision::Allow, "it takes nothing away from what the user allows");
    fs::write(place.path("named.toml"), "[programs]\ndeny = \"curl\"\n").unwrap();
    assert_eq!(decides(ask), Decision::Deny);
    fs::write(place.path("named.toml"), "nonsense = 1\n").unwrap();
    let mut places = place.places();
    places.named = Some(place.path("named.toml"));
    assert!(places.load().is_err(), "a wrong file decides nothing");
}

/// A file further down, as in a directory that was copied into the project, takes nothing away from the one above.
#[test]
fn every_file_of_a_project_counts() {
    let place = Place::new();
    let [above, below] = ["repository", "repository/sub"].map(|below| place.path(below).join(PROJECT_FILE));
    fs::write(&above, "[programs]\ndeny = \"nc\"\n").unwrap();
    assert_eq!(place.decides("nc -l 1"), Decision::Deny);
    fs::write(&below, "[programs]\ndeny = \"socat\"\n").unwrap();
    assert_eq!((place.decides("nc -l 1"), place.decides("socat - x")), (Decision::Deny, Decision::Deny));
    let ask = "curl https://example.com";
    let trust = Trust::in_state(&place.path("state"));
    fs::write(&below, RELAXING).unwrap();
    assert_eq!(place.decides(ask), Decision::Ask);
    trust.add(&below, RELAXING).unwrap();
    assert_eq!((place.decides(ask), place.decides("nc -l 1")), (Decision::Allow, Decision::Deny));
    // The nearer of two that are trusted counts, the stricter of two that are not.
    let strict = "[checks]\nnetwork = \"deny\"\n";
    fs::write(&above, strict).unwrap();
    assert_eq!(place.decides(ask), Decision::Deny);
    trust.add(&above, strict).unwrap();
    assert_eq!(place.decides(ask), Decision::Allow);
    assert_eq!(place.places().project_file().unwrap().unwrap().0, below);
}

/// A name with a line break in it would be a line about another file.
#[test]
fn what_cannot_be_one_line_is_not_trusted() {
    let place = Place::new();
    let trust = Trust::in_state(&place.path("state"));
    for name in ["a\nb", "a\tb"] {
        let path = place.path(name);
        fs::write(&path, RELAXING).unwrap();
        assert!(trust.add(&path, RELAXING).is_err() && !trust.holds(&path, RELAXING), "{name:?}");
    }
}

/// A repository in the workspace, which `git init` makes, does not take away what the project's file above it denies.
#[test]
fn a_new_repository_takes_nothing_away() {
    let place = Place::new();
    let above = place.path("repository").join(PROJECT_FILE);
    let (ask, denial) = ("curl https://example.com", "[programs]\ndeny = \"nc\"\n");
    let trust = Trust::in_state(&place.path("state"));
    fs::write(&above, denial).unwrap();
    fs::create_dir(place.path("repository/sub/.git")).unwrap();
    assert_eq!(place.decides("nc -l 1"), Decision::Deny);
    assert!(place.places().project_file().unwrap().is_none(), "not one that could be trusted from here");
    // Beyond the repository it only tightens, even if it is trusted where it lies.
    fs::write(&above, RELAXING).unwrap();
    trust.add(&above, RELAXING).unwrap();
    assert_eq!(place.decides(ask), Decision::Ask);
    fs::remove_dir(place.path("repository/sub/.git")).unwrap();
    assert_eq!(place.decides(ask), Decision::Allow);
    // Beyond the repository, a file that others could have put there decides nothing, not even that there is no policy.
    let beyond = place.dir.path().canonicalize().unwrap().join(PROJECT_FILE);
    for (text, mode, there) in
        [("nonsense = 1\n", 0o666, false), (denial, 0o666, false), (denial, 0o644, true)]
    {
        fs::write(&beyond, text).unwrap();
        fs::set_permissions(&beyond, fs::Permissions::from_mode(mode)).unwrap();
        let expected = if there { Decision::Deny } else { Decision::Ask };
        assert_eq!(place.decides("nc -l 1"), expected, "{text} {mode:o}");
    }
    fs::write(&beyond, "nonsense = 1\n").unwrap();
    assert!(place.load().is_err(), "one's own mistake is told");
}

/// What is trusted is the text that was read, wherever it lies and however it got there.
#[test]
fn links_and_pipes_are_no_way_around_trust() {
    let place = Place::new();
    let (file, other) = (place.path("repository").join(PROJECT_FILE), place.path("other.toml"));
    let (ask, trust) = ("curl https://example.com", Trust::in_state(&place.path("state")));
    fs::write(&other, RELAXING).unwrap();
    symlink(&other, &file).unwrap();
    assert_eq!(place.decides(ask), Decision::Ask);
    trust.add(&file, RELAXING).unwrap();
    assert_eq!(place.decides(ask), Decision::Allow);
    fs::write(&other, "[checks]\nnetwork = \"allow\"\nunknown-executed = \"allow\"\n").unwrap();
    assert_eq!(place.decides(ask), Decision::Ask, "the link is as it was, its aim is not");
    fs::remove_file(&file).unwrap();
    fs::write(&other, "# another\n").unwrap();
    fs::hard_link(&other, &file).unwrap();
    fs::write(&other, RELAXING).unwrap();
    assert_eq!(place.decides(ask), Decision::Allow, "the text that is trusted, at its place");
    fs::write(&other, "[checks]\ndefault = \"allow\"\n").unwrap();
    assert_eq!(place.decides(ask), Decision::Ask, "written by its other name");
    for strange in [&place.path("system"), Path::new("/dev/zero"), Path::new("/nowhere"), &file] {
        let _ = fs::remove_file(&file);
        symlink(strange, &file).unwrap();
        assert!(place.load().is_err(), "{strange:?}");
    }
    fs::remove_file(&file).unwrap();
    // A store of what is trusted that is a link to one that others may write is none, and neither is one that is no file.
    fs::write(&file, RELAXING).unwrap();
    let store = place.path("state/trust");
    fs::rename(&store, place.path("elsewhere")).unwrap();
    symlink(place.path("elsewhere"), &store).unwrap();
    fs::set_permissions(place.path("elsewhere"), fs::Permissions::from_mode(0o662)).unwrap();
    assert_eq!(place.decides(ask), Decision::Ask);
    fs::remove_file(&store).unwrap();
    symlink("/dev/zero", &store).unwrap();
    assert_eq!(place.decides(ask), Decision::Ask);
}
