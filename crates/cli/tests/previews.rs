//! How the changes of a run are told: what they are in a preview, and what is kept out of the workspace; with the real binary.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

mod place;

use place::Place;
use serde_json::{Value, json};
use std::fs;
use std::process::Output;

impl Place {
    fn shward(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

/// What is no file with content is shown as what it is.
#[test]
fn a_preview_shows_links_pipes_and_permissions() {
    let place = Place::new();
    let project = place.project();
    fs::write(project.join("a.sh"), "x\n").unwrap();
    fs::write(project.join("b"), "x\n").unwrap();
    std::os::unix::fs::symlink("a.sh", project.join("link")).unwrap();
    std::os::unix::fs::symlink("a.sh", project.join("gone")).unwrap();
    for path in ["a.sh", "b"] {
        fs::set_permissions(project.join(path), std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    }
    let command = "chmod 755 a.sh; ln -sfn b link; rm gone; ln -s $'x\\e[2Jy' new; mkfifo pipe; rm b; ln -s a.sh b; \
                   mkdir d; echo x > d/run; chmod 700 d/run";
    let run = |more: &[&str]| {
        let mut words = vec!["run", "--profile", "open", "--preview", "--drop"];
        words.extend(more);
        words.extend(["--", command]);
        place.shward(&words)
    };
    let output = run(&[]);
    if code(&output) == 125 {
        return; // no overlay here
    }
    let shown = String::from_utf8(output.stderr.clone()).unwrap();
    for line in [
        "  changed  a.sh  (2 bytes, mode 0644 → 0755)",
        "  changed  b  (link to a.sh, before file)",
        "  created  d  (directory)",
        "  created  d/run  (2 bytes, mode 0700)",
        "  deleted  gone  (link to a.sh)",
        "  changed  link  (link to b, before link to a.sh)",
        "  created  pipe  (pipe)",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
    }
    assert!(shown.contains("  created  new  (link to x") && !shown.contains('\u{1b}'), "{shown}");
    let object = json_of(&run(&["--json"]));
    let files = object["changes"]["files"].as_array().unwrap();
    let of = |path: &str| files.iter().find(|file| file["path"] == path).unwrap();
    assert_eq!((&of("link")["target"], &of("link")["target_before"]), (&json!("b"), &json!("a.sh")));
    assert_eq!((&of("b")["kind"], &of("b")["kind_before"]), (&json!("link"), &json!("file")));
    assert_eq!(of("pipe")["kind"], "pipe");
}

/// Where no difference of lines is shown, it is said what the file is.
#[test]
fn a_preview_says_what_has_no_difference() {
    let place = Place::new();
    let project = place.project();
    for (name, content) in [("same", &b"a\0b\n"[..]), ("gone", b"\xff\n"), ("longer", b"x\n")] {
        fs::write(project.join(name), content).unwrap();
    }
    fs::write(project.join("long"), "x".repeat(300_000)).unwrap();
    let command =
        "printf 'a\\0c\\n' > same; rm gone; printf 'y\\0' > new; printf 'x\\n\\0' > longer; echo y >> long";
    let output = place.shward(&["run", "--profile", "open", "--preview", "--drop", "--", command]);
    if code(&output) == 125 {
        return; // no overlay here
    }
    let shown = String::from_utf8(output.stderr).unwrap();
    for line in [
        "  deleted  gone  (2 bytes, binary)",
        "  changed  long  (300000 → 300002 bytes, too long to be compared)",
        "  changed  longer  (2 → 3 bytes, binary)",
        "  created  new  (2 bytes, binary)",
        "  changed  same  (4 → 4 bytes, binary)",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
    }
}

/// What is kept out is told once for a directory, and what was to go as such.
#[test]
fn what_is_refused_is_told_exactly() {
    let place = Place::new();
    let project = place.project();
    for (name, content) in [("d/.vscode/settings.json", "{}"), ("d/.envrc", "x"), ("d/a", "x")] {
        fs::create_dir_all(project.join(name).parent().unwrap()).unwrap();
        fs::write(project.join(name), content).unwrap();
    }
    let output = place.shward(&["run", "--profile", "open", "--", "mv d old"]);
    let shown = String::from_utf8(output.stderr).unwrap();
    if shown.contains("cannot be undone") {
        return; // no overlay here
    }
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(
        lines,
        [
            "shward: not deleted: d (with 4 in it) stays, because old/.envrc is refused",
            "shward: not committed: old/.envrc makes other programs run something later",
            "shward: not committed: old/.vscode (with 1 in it) is read by programs that trust what lies in .vscode",
            "shward: what is protected only a person can change, outside of shward",
        ]
    );
}
