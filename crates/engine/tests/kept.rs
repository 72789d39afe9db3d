//! What is kept of policy files: it counts for the file's own text, and only if nobody could have written it who could not
//! write the policy.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

use shward::policy::{Document, Layer, Source};
use shward::{Decision, Firewall, Policy, PolicyPlaces, Request, Setting};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

/// A policy of many rules, one of which decides about `frobnicate`.
fn text(decision: &str) -> String {
    let rules: String =
        (0..50).map(|n| format!("[[rule]]\nid = 'r{n}'\ndecision = 'deny'\nprogram = 'p{n}'\n")).collect();
    format!("{rules}[[rule]]\nid = 'last'\nprogram = 'frobnicate'\ndecision = {decision}\n")
}

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        for below in ["workspace", "system"] {
            fs::create_dir(place.path(below)).unwrap();
        }
        place
    }

    fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    fn load(&self) -> Policy {
        let mut places = PolicyPlaces::none();
        places.user = Some(self.path("policy.toml"));
        places.state = Some(self.path("state"));
        places.system = self.path("system");
        places.system_kept = self.path("system-kept");
        places.workspace = Some(self.path("workspace"));
        places.load().unwrap()
    }

    fn decides(&self) -> Decision {
        let request = Request::command("frobnicate", "/home/dev/project", "/home/dev");
        Firewall::new(self.load()).check(&request, &Setting::frozen()).unwrap().decision
    }

    fn kept(&self, below: &str) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.path(below)) else { return Vec::new() };
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

fn identity(path: &Path) -> (u64, i64, i64) {
    let meta = fs::metadata(path).unwrap();
    (meta.ino(), meta.mtime(), meta.mtime_nsec())
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// What would be kept of another file, with the text of this one: only who may write there can make it.
fn forged(name: &Path, text: &str, other: &str) -> Vec<u8> {
    assert_eq!(text.len(), other.len());
    let source = Source { layer: Layer::User, name: name.display().to_string(), text: other.to_owned() };
    let mut bytes = Document::parse(source).unwrap().keep().unwrap();
    bytes.truncate(bytes.len() - text.len());
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

#[test]
fn a_file_is_read_once_and_again_when_it_changes() {
    let place = Place::new();
    let policy = place.path("policy.toml");
    fs::write(&policy, text("'deny'")).unwrap();
    assert!(place.kept("state/compiled").is_empty());
    assert_eq!(place.decides(), Decision::Deny);
    let [kept] = &place.kept("state/compiled")[..] else { panic!("one file is kept") };
    assert_eq!(fs::metadata(kept).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(kept.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
    let before = identity(kept);
    assert_eq!(place.decides(), Decision::Deny);
    assert_eq!(identity(kept), before, "it was not written again");
    // The same length and the same times: only the text tells them apart.
    let times = fs::metadata(&policy).unwrap().modified().unwrap();
    fs::write(&policy, text("'ask' ")).unwrap();
    fs::File::options().append(true).open(&policy).unwrap().set_modified(times).unwrap();
    assert_eq!(place.decides(), Decision::Ask);
    assert_ne!(identity(kept), before);
    // Damage, and what is no file at all, cost time and nothing else.
    for damage in [b"".to_vec(), b"x".repeat(5000), fs::read(kept).unwrap()[..3000].to_vec()] {
        fs::write(kept, &damage).unwrap();
        assert_eq!(place.decides(), Decision::Ask);
        assert_ne!(fs::read(kept).unwrap(), damage);
    }
    fs::remove_file(kept).unwrap();
    fs::create_dir(kept).unwrap();
    assert_eq!(place.decides(), Decision::Ask);
    // What is short is read each time.
    fs::write(&policy, "[[rule]]\nid = 'r'\ndecision = 'deny'\nprogram = 'frobnicate'\n").unwrap();
    fs::remove_dir(kept).unwrap();
    assert_eq!(place.decides(), Decision::Deny);
    assert!(place.kept("state/compiled").is_empty());
}

#[test]
fn what_others_could_have_written_does_not_count() {
    let place = Place::new();
    let (policy, directory) = (place.path("policy.toml"), place.path("state/compiled"));
    let (deny, allow) = (text("'deny' "), text("'allow'"));
    fs::write(&policy, &deny).unwrap();
    assert_eq!(place.decides(), Decision::Deny);
    let kept = place.kept("state/compiled").remove(0);
    let forge = || {
        fs::write(&kept, forged(&policy, &deny, &allow)).unwrap();
        set_mode(&kept, 0o600);
    };
    // Who is the user can write the policy as well: that is the line that the modes and the protected places draw.
    forge();
    assert_eq!(place.decides(), Decision::Allow);
    for mode in [0o620, 0o602, 0o666] {
        forge();
        set_mode(&kept, mode);
        assert_eq!(place.decides(), Decision::Deny, "{mode:o}");
        assert_eq!(fs::metadata(&kept).unwrap().mode() & 0o777, 0o600, "it is made anew");
    }
    forge();
    set_mode(&directory, 0o770);
    assert_eq!(place.decides(), Decision::Deny);
    set_mode(&directory, 0o700);
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        forge();
        chown(&kept, Some(12345), None).unwrap();
        assert_eq!(place.decides(), Decision::Deny, "it belongs to somebody else");
        forge();
        chown(&directory, Some(12345), None).unwrap();
        assert_eq!(place.decides(), Decision::Deny, "its directory belongs to somebody else");
        chown(&directory, Some(0), None).unwrap();
    }
    // A forgery for another file, or with one byte of the text changed.
    fs::write(&kept, forged(&place.path("other.toml"), &deny, &allow)).unwrap();
    assert_eq!(place.decides(), Decision::Deny);
}

/// What a user may write never stands for a file of the system, and only root keeps something of those.
#[test]
fn the_systems_files_are_kept_by_root_alone() {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        eprintln!("skipped: it takes root");
        return;
    }
    let place = Place::new();
    let file = place.path("system/10.toml");
    let (deny, allow) = (text("'deny' "), text("'allow'"));
    fs::write(&file, &deny).unwrap();
    assert_eq!(place.decides(), Decision::Deny);
    assert!(place.kept("state/compiled").is_empty(), "it is not kept with what the user may write");
    let kept = place.kept("system-kept").remove(0);
    assert_eq!(fs::metadata(&kept).unwrap().mode() & 0o777, 0o644, "others read it");
    let mut forgery = forged(&file, &deny, &allow);
    fs::write(&kept, &forgery).unwrap();
    assert_eq!(place.decides(), Decision::Deny, "what was made for a user's file is of another layer");
    let source = Source { layer: Layer::System, name: file.display().to_string(), text: allow };
    forgery = Document::parse(source).unwrap().keep().unwrap();
    let start = forgery.len() - deny.len();
    forgery[start..].copy_from_slice(deny.as_bytes());
    fs::write(&kept, &forgery).unwrap();
    assert_eq!(place.decides(), Decision::Allow, "so root could have written it");
    chown(&kept, Some(12345), None).unwrap();
    assert_eq!(place.decides(), Decision::Deny, "and nobody else");
}
