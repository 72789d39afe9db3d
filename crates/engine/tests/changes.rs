//! What runs do to the workspace on an overlay: committed, but for what is protected; shown; kept out of reach.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

mod common;
#[path = "common/overlaid.rs"]
mod overlaid;

use common::Place;
use overlaid::place;
use shward::policy::{Layer, Source};
use shward::{
    Action, Containment, Error, Firewall, Outcome, Policy, Request, RunOptions, Sandboxed, Then, Undoing,
};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

fn refused(outcome: &Outcome) -> Vec<String> {
    let changes = outcome.ending.as_ref().unwrap().changes.as_ref().unwrap();
    assert!(changes.failed.is_empty(), "{changes:?}");
    changes.refused.iter().map(|refused| refused.change.path.display().to_string()).collect()
}

#[test]
fn what_is_protected_is_refused_and_the_rest_committed() {
    for (script, expected) in [
        ("echo x > .git/hooks/pre-commit", &[".git/hooks/pre-commit"][..]),
        ("chmod +x .git/hooks/update.sample", &[".git/hooks/update.sample"]),
        ("rm .git/config", &[".git/config"]),
        ("git config core.fsmonitor evil", &[".git/config"]),
        ("git config --unset user.name; git config core.hooksPath x", &[".git/config"]),
        ("echo x > .git/commondir", &[".git/commondir"]),
        (
            "mkdir -p .git/modules/a/b/hooks; echo x > .git/modules/a/b/hooks/post-checkout",
            &[".git/modules/a/b/hooks/post-checkout"],
        ),
        ("mkdir .vscode; echo x > .vscode/tasks.json", &[".vscode", ".vscode/tasks.json"]),
        ("mkdir -p a/b/.idea; echo x > a/b/.idea/f", &["a/b/.idea", "a/b/.idea/f"]),
        (
            "mkdir -p evil; echo x > evil/settings.json; ln -s evil \"$(ls data.txt | sed s/data.txt/.claude/)\"",
            &[".claude"],
        ),
        (
            "mkdir t; echo x > t/settings.json; mv t \"$(ls data.txt | sed s/data.txt/.cursor/)\"",
            &[".cursor", ".cursor/settings.json"],
        ),
        ("echo x > \"$(ls data.txt | sed s/data.txt/.mcp.json/)\"; echo x > d.mcp.json", &[".mcp.json"]),
        (
            "echo x > .envrc; echo x > .env; echo x > .env.local; echo x > .env.example",
            &[".env", ".env.local", ".envrc"],
        ),
        (
            "echo x > .gitmodules; echo x > .bashrc; mkdir sub; echo x > sub/.zshrc",
            &[".bashrc", ".gitmodules", "sub/.zshrc"],
        ),
        ("mkdir .husky; echo x > .husky/pre-commit", &[".husky", ".husky/pre-commit"]),
        ("echo x > \"$(ls data.txt | sed s/data.txt/.shward.toml/)\"", &[".shward.toml"]),
        ("mkdir sub; echo 'gitdir: /tmp/x' > sub/.git", &["sub/.git"]),
        ("mkdir -p s/.git/hooks; echo x > s/.git/hooks/pre-commit", &["s/.git/hooks/pre-commit"]),
        // Under another name and moved, a repository is one.
        ("cp -r .git r; echo x > r/hooks/pre-commit; mv r r2", &["r2/hooks/pre-commit"]),
        ("git init -q --bare b; git -C b config core.fsmonitor evil", &["b/config"]),
        // Examples of hooks are none, as long as they are files and new.
        (
            "git init -q --bare b; d=.git/modules/s/hooks; mkdir -p $d; for f in a.sample pre-commit; do echo x > $d/$f; done; echo x > b/hooks/x.sample; ln -s x b/hooks/y.sample",
            &[".git/modules/s/hooks/pre-commit", "b/hooks/y.sample"],
        ),
        ("cp /bin/true t; chmod u+s t", &["t"]),
        (
            "p=lib/site-packages/p; mkdir -p $p; for f in .envrc .env x.pth; do echo x > $p/$f; done; echo x > \"$p/$(ls data.txt | sed s/data.txt/.mcp.json/)\"",
            &["lib/site-packages/p/.env", "lib/site-packages/p/.envrc", "lib/site-packages/p/.mcp.json"],
        ),
        (
            "mkdir .VSCODE; echo x > .VSCODE/t; echo x > \"$(ls data.txt | sed s/data.txt/.Mcp.json/)\"",
            &[".Mcp.json", ".VSCODE", ".VSCODE/t"],
        ),
        (
            "for f in .pre-commit-config.yaml lefthook.yml .Rprofile .yarnrc.yml p.code-workspace \"$(ls data.txt | sed s/data.txt/opencode.json/)\"; do echo x > $f; done",
            &[
                ".Rprofile",
                ".pre-commit-config.yaml",
                ".yarnrc.yml",
                "lefthook.yml",
                "opencode.json",
                "p.code-workspace",
            ],
        ),
        (
            "mkdir -p .roo .windsurf .jj/repo; echo x > \".roo/$(ls data.txt | sed s/data.txt/mcp.json/)\"; echo x > .jj/repo/config.toml",
            &[".jj/repo/config.toml", ".roo", ".roo/mcp.json", ".windsurf"],
        ),
        // Where another workspace would look for what it has begun.
        (
            "d=s/.$(echo Shward)-0/live-r1; mkdir -p $d; echo x > $d/journal",
            &["s/.Shward-0", "s/.Shward-0/live-r1", "s/.Shward-0/live-r1/journal"],
        ),
    ] {
        let Some(place) = place() else { return };
        let before = place.read(".git/config");
        let outcome = place.run(&format!("{script}; echo x > fine"));
        assert_eq!(refused(&outcome), expected, "{script}");
        for path in expected.iter().filter(|path| !path.starts_with(".git/")) {
            assert!(!place.workspace.join(path).exists(), "{script}: {path}");
        }
        assert!(!place.workspace.join(".git/hooks/pre-commit").exists(), "{script}");
        assert_eq!(place.read(".git/config"), before, "{script}");
        assert_eq!(place.read("fine").as_deref(), Some("x\n"), "{script}");
    }
}

/// Whatever makes git take a directory for a repository, in one run or several, at any place: nothing runs by that.
#[test]
fn no_other_directory_becomes_a_repository_that_runs_something() {
    const CONFIG: &str = "printf '[alias]\n\tx = !touch PWNED\n'";
    let ran = |place: &Place, directory: &str| {
        place.git(&["-C", directory, "x"]);
        place.read("pwned").is_some()
    };
    let empty = "objects refs; echo 'ref: refs/heads/x' > HEAD";
    for (directory, scripts) in [
        ("x", &["mkdir x; CONFIG > x/config", "cd x; mkdir EMPTY"][..]),
        ("x", &["mkdir -p x/hooks; CONFIG > x/config; cd x; mkdir EMPTY"]),
        ("x", &["mkdir x; cd x; CONFIG > config; mkdir objects; echo 'ref: refs/heads/x' > HEAD", "mkdir x/refs"]),
        ("hooks/r", &["mkdir -p hooks/r; cd hooks/r; CONFIG > config; mkdir EMPTY"]),
        ("config/r", &["mkdir -p config/r; cd config/r; CONFIG > config; mkdir EMPTY"]),
        (".git/r", &["mkdir -p .git/r; cd .git/r; CONFIG > config; mkdir EMPTY"]),
        (
            "x",
            &["mkdir -p x y; (cd y; mkdir EMPTY; CONFIG > config; rm HEAD); cd x; CONFIG > config.worktree
               echo 'ref: refs/heads/x' > HEAD; echo ../y > commondir; printf '[extensions]\nworktreeConfig = true\n' >> ../y/config"],
        ),
        (
            ".git/worktrees/x",
            &["mkdir -p y .git/worktrees/x; (cd y; mkdir EMPTY; CONFIG > config; rm HEAD); cd .git/worktrees/x
               echo 'ref: refs/heads/x' > HEAD; echo ../../../y > commondir"],
        ),
    ] {
        let Some(place) = place() else { return };
        let pwned = place.workspace.join("pwned").display().to_string();
        let written = |script: &str| {
            script.replace("CONFIG", CONFIG).replace("PWNED", &pwned).replace("EMPTY", empty)
        };
        for script in scripts {
            let script = written(script);
            let ending = place.run(&script).ending.unwrap();
            assert_eq!(ending.exit_code, Some(0), "{script}: {ending:?}");
        }
        assert!(!ran(&place, directory), "{directory}: {scripts:?}");
        // Without the overlay's guard it would.
        for script in scripts {
            let script = written(script).replace("mkdir ", "mkdir -p ");
            Command::new("bash").args(["-c", &script]).current_dir(&place.workspace).status().unwrap();
        }
        assert!(ran(&place, directory), "the attempt itself does not work: {directory}: {scripts:?}");
    }
}

/// What the user's settings lead to is the user's, too.
#[test]
fn what_settings_of_git_lead_to_is_protected() {
    let Some(place) = place() else { return };
    fs::create_dir(place.workspace.join(".githooks")).unwrap();
    fs::write(place.workspace.join("shared"), "[include]\n\tpath = deeper\n").unwrap();
    assert!(place.git(&["config", "include.path", "../shared"]).status.success());
    assert!(place.git(&["config", "core.hooksPath", ".githooks"]).status.success());
    let outcome = place.run("echo >> shared; echo > deeper; echo > .githooks/pre-commit; echo > fine");
    assert_eq!(refused(&outcome), [".githooks/pre-commit", "deeper", "shared"]);
    let mut live = RunOptions::default();
    live.live = true;
    let script = "echo >> shared; echo > .githooks/pre-commit; echo > fine";
    assert!(place.run_with(script, &live).unwrap().executed);
    assert_eq!(place.read("shared").as_deref(), Some("[include]\n\tpath = deeper\n"));
    assert!(place.read(".githooks/pre-commit").is_none() && place.read("fine").is_some());
}

/// Wherever settings lie, and however they are written, git obeys them.
#[test]
fn what_any_settings_of_git_lead_to_is_protected() {
    let Some(place) = place() else { return };
    let write = |path: &str, text: &str| {
        let path = place.workspace.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let hooks = |directory: &str| format!("[core]\n\thooksPath = {directory}\n");
    write("quoted/.git/config", &hooks("\"a#b\""));
    write("split/.git/config", &hooks("a\\\nb"));
    write("tree/.git/config.worktree", &hooks("own"));
    write("long/.git/config", &format!("{}{}", "# nothing\n".repeat(40_000), hooks("late")));
    write("super/.git/config", "[core]\n\tbare = false\n");
    write("super/.git/modules/lib/sub/HEAD", "ref: refs/heads/main\n");
    write(
        "super/.git/modules/lib/sub/config",
        "[core]\n\tworktree = ../../../../lib/sub\n\thooksPath = mine\n",
    );
    let others: String = (0..80).map(|n| format!("[include]\n\tpath = f{n}\n")).collect();
    write("many/.git/config", &format!("{others}{}", hooks("last")));
    fs::write(place.home.join(".gitconfig"), hooks("ofuser")).unwrap();
    let paths = [
        "long/late/pre-commit",
        "many/last/pre-commit",
        "quoted/a#b/pre-commit",
        "split/ab/pre-commit",
        "split/ofuser/pre-commit",
        "super/lib/sub/mine/pre-commit",
        "tree/own/pre-commit",
    ];
    let script: String = paths
        .iter()
        .map(|path| format!("mkdir -p '{}'; echo x > '{path}'; ", path.trim_end_matches("/pre-commit")))
        .collect();
    let refused: Vec<String> =
        refused(&place.run(&script)).into_iter().filter(|path| path.ends_with("pre-commit")).collect();
    assert_eq!(refused, paths);
}

/// However deep a repository lies in another, and however much the user's settings include: what they lead to is seen.
#[test]
fn settings_of_git_are_seen_in_the_depth_and_in_numbers() {
    let Some(place) = place() else { return };
    let included: String = (0..10).map(|n| format!("[include]\n\tpath = f{n}\n")).collect();
    fs::write(place.home.join(".gitconfig"), included).unwrap();
    for n in 0..10 {
        let text = if n == 9 { "[core]\n\thooksPath = ofuser\n" } else { "[a]\n\tb = c\n" };
        fs::write(place.home.join(format!("f{n}")), text).unwrap();
    }
    for n in 0..1_700 {
        fs::create_dir_all(place.workspace.join(format!("r/{n}/.git"))).unwrap();
    }
    let deep = ".git/modules/a/b/c/modules/d/e/f/modules/g/h/i";
    for end in [".git/modules/a/b/c", ".git/modules/a/b/c/modules/d/e/f", deep] {
        fs::create_dir_all(place.workspace.join(end)).unwrap();
        fs::write(place.workspace.join(end).join("HEAD"), "ref: refs/heads/main\n").unwrap();
    }
    let tree = place.workspace.join("t");
    fs::write(
        place.workspace.join(deep).join("config"),
        format!("[core]\n\tworktree = {}\n\thooksPath = mine\n", tree.display()),
    )
    .unwrap();
    fs::create_dir_all(place.workspace.join(".git/modules/1/2/3/4/5/6/7/8/9/10/11/12")).unwrap();
    let outcome =
        place.run("for d in r/1699/ofuser t/mine t/ofuser; do mkdir -p $d; echo > $d/pre-push; done");
    let refused: Vec<String> =
        refused(&outcome).into_iter().filter(|path| path.ends_with("pre-push")).collect();
    assert_eq!(refused, ["r/1699/ofuser/pre-push", "t/mine/pre-push", "t/ofuser/pre-push"]);
}

/// A workspace that is itself a further work tree, with a submodule's beside it, obeys settings that lie elsewhere.
#[test]
fn settings_of_a_work_tree_are_seen_where_they_lie() {
    let Some(place) = place() else { return };
    let write = |path: &Path, text: &str| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let common = place.home.join("main/.git");
    let own = common.join("worktrees/w");
    fs::remove_dir_all(place.workspace.join(".git")).unwrap();
    write(&place.workspace.join(".git"), &format!("gitdir: {}\n", own.display()));
    write(&own.join("HEAD"), "ref: refs/heads/w\n");
    write(&own.join("commondir"), "../..\n");
    write(&own.join("config.worktree"), "[core]\n\thooksPath = ofthis\n");
    write(&common.join("HEAD"), "ref: refs/heads/main\n");
    write(&common.join("config"), "[core]\n\thooksPath = ofall\n");
    write(&place.workspace.join("sub/.git"), "gitdir: ../../main/.git/modules/s\n");
    write(&common.join("modules/s/HEAD"), "ref: refs/heads/main\n");
    write(&common.join("modules/s/config"), "[core]\n\thooksPath = ofsub\n");
    // No repository, so nothing that git obeys.
    write(&place.workspace.join("none/.git"), "gitdir: ../../nothing\n");
    let outcome = place.run("for d in ofthis ofall sub/ofsub fine; do mkdir -p $d; echo > $d/pre-push; done");
    let refused: Vec<String> =
        refused(&outcome).into_iter().filter(|path| path.ends_with("pre-push")).collect();
    assert_eq!(refused, ["ofall/pre-push", "ofthis/pre-push", "sub/ofsub/pre-push"]);
    assert!(place.read("fine/pre-push").is_some());
}

/// What an ordinary user may not read is committed as well, and where nothing can be, nothing is lost.
#[test]
fn what_cannot_be_committed_is_kept_and_said() {
    let Some(place) = place() else { return };
    let outcome = place.run("mkdir keep; echo x > keep/f; chmod 000 keep; echo work > result.txt");
    assert!(refused(&outcome).is_empty());
    assert_eq!(place.read("result.txt").as_deref(), Some("work\n"));
    fs::set_permissions(place.workspace.join("keep"), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(place.read("keep/f").as_deref(), Some("x\n"));
    // Another directory in the workspace's place, as soon as the command runs.
    let away = place.home.join("away");
    fs::write(place.workspace.join("tool.sh"), "echo go; sleep 0.5; echo x > lost").unwrap();
    let argv = ["bash", "tool.sh"].map(str::to_owned).to_vec();
    let request =
        Request { action: Action::Argv(argv), ..Request::command("", &place.workspace, &place.home) };
    let firewall = Firewall::new(Policy::of_profile("open").unwrap()).with_undoing(place.undoing());
    let outcome = firewall.run(&request, &RunOptions::default(), &mut |_, _| {
        fs::rename(&place.workspace, &away).unwrap();
        fs::create_dir(&place.workspace).unwrap();
    });
    let changes = outcome.unwrap().ending.unwrap().changes.unwrap();
    assert!(!changes.committed && changes.failed.len() == 1, "{changes:?}");
    assert!(changes.failed[0].contains("lost-"), "{changes:?}");
    assert!(place.read("lost").is_none() && !away.join("lost").exists());
}

#[test]
fn a_repository_cannot_be_replaced_or_removed() {
    for script in [
        "mv .git .git-old; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit",
        "rm -rf .git",
        "rm -rf .git; echo 'gitdir: x' > .git",
    ] {
        let Some(place) = place() else { return };
        let config = place.read(".git/config");
        assert!(config.is_some());
        let outcome = place.run(script);
        assert!(refused(&outcome).contains(&".git".to_owned()), "{script}: {outcome:?}");
        assert_eq!(place.read(".git/config"), config, "{script}");
        assert!(place.git(&["status"]).status.success(), "{script}");
    }
}

/// Where the user's protected directory is a link, what it leads to is protected.
#[test]
fn what_a_protected_link_leads_to_is_protected() {
    let Some(place) = place() else { return };
    fs::create_dir(place.workspace.join("settings")).unwrap();
    fs::write(place.workspace.join("settings/settings.json"), "mine\n").unwrap();
    std::os::unix::fs::symlink("settings", place.workspace.join(".claude")).unwrap();
    let outcome = place.run("echo evil > settings/settings.json; echo x > fine");
    assert_eq!(refused(&outcome), ["settings/settings.json"]);
    let outcome = place.run("mv settings s; mkdir settings; echo evil > settings/settings.json");
    assert!(refused(&outcome).contains(&"settings".to_owned()), "{outcome:?}");
    assert_eq!(place.read("settings/settings.json").as_deref(), Some("mine\n"));
}

#[test]
fn working_with_git_needs_nothing_that_is_protected() {
    let Some(place) = place() else { return };
    let outcome = place.run(
        "set -e; git add -A; git commit -qm one; git switch -qc topic; echo x > f; git add f; git commit -qm two\n\
         git remote add origin https://example.com/x.git; git branch -q --list; git tag v1; git stash list\n\
         git switch -q -; git merge -q topic; git rm -q f; git commit -qm three; git gc -q; git init -q fresh\n\
         git -C fresh config user.name n; git clone -q . copy; git worktree add -q tree topic 2>&1",
    );
    let ending = outcome.ending.as_ref().unwrap();
    assert_eq!(ending.exit_code, Some(0), "{ending:?}");
    // A worktree is a directory whose `.git` is a file.
    assert_eq!(refused(&outcome), ["tree/.git"]);
    let log = place.git(&["log", "--format=%s"]);
    assert_eq!(String::from_utf8_lossy(&log.stdout), "three\ntwo\none\n");
    assert!(place.git(&["fsck", "--strict"]).status.success());
    assert!(place.git(&["-C", "copy", "status"]).status.success());
    assert!(place.git(&["-C", "fresh", "status"]).status.success());
    assert!(place.read(".git/config").unwrap().contains("example.com"));
}

/// A hidden file is empty inside. One that git tracks must not be committed as that.
#[test]
fn what_is_hidden_is_not_committed_as_empty() {
    let Some(place) = place() else { return };
    for directory in ["tests", ".aws"] {
        fs::create_dir(place.workspace.join(directory)).unwrap();
    }
    for file in ["tests/.env", ".aws/credentials", "main.c"] {
        fs::write(place.workspace.join(file), "KEY=1\n").unwrap();
    }
    assert!(
        place.git(&["add", "."]).status.success() && place.git(&["commit", "-qm", "one"]).status.success()
    );
    fs::write(place.workspace.join(".env"), "KEY=2\n").unwrap();
    for script in
        ["git commit -qam work", "git add -A; git commit -qm work", "git stash -q", "git rm -q tests/.env"]
    {
        let outcome = place.run(&format!("cat .env && ! cat tests/.env; echo x >> main.c; {script}"));
        assert!(!outcome.ending.unwrap().stdout.to_text().contains("KEY"), "{script}");
        for file in ["HEAD:tests/.env", "HEAD:.aws/credentials"] {
            assert_eq!(place.git(&["show", file]).stdout, b"KEY=1\n", "{script}: {file}");
        }
        assert_eq!(place.read("tests/.env").as_deref(), Some("KEY=1\n"), "{script}");
    }
    // What else changed can be committed by its name.
    let outcome = place.run("git reset -q 2>&1; echo y >> main.c; git commit -qm work main.c");
    assert_eq!(outcome.ending.unwrap().exit_code, Some(0));
    assert_eq!(place.git(&["log", "--format=%s"]).stdout, b"work\none\n");
}

#[test]
fn what_is_not_to_be_committed_is_only_shown() {
    let Some(place) = place() else { return };
    let mut speculate = RunOptions::default();
    speculate.containment = Containment::Speculate;
    let mut dropped = RunOptions::default();
    dropped.then = Then::Drop;
    let mut asked = RunOptions::default();
    asked.then = Then::Ask(Arc::new(|proposal| {
        let file = proposal.report.files.iter().find(|file| file.path == Path::new("data.txt")).unwrap();
        assert_eq!((file.what, file.size, file.size_before), ("changed", 2, Some(5)));
        assert_eq!(proposal.contents(file, 100), [Some(b"data\n".to_vec()), Some(b"x\n".to_vec())]);
        false
    }));
    for options in [speculate, dropped, asked] {
        let outcome = place.run_with("echo x > data.txt; echo y > new", &options).unwrap();
        let changes = outcome.ending.unwrap().changes.unwrap();
        assert!(!changes.committed && changes.undo.is_none());
        assert_eq!((changes.created, changes.changed, changes.deleted), (1, 1, 0), "{changes:?}");
        assert_eq!(place.read("data.txt").as_deref(), Some("data\n"));
        assert!(!place.workspace.join("new").exists());
    }
    let mut yes = RunOptions::default();
    yes.then = Then::Ask(Arc::new(|_| true));
    assert!(place.run_with("echo x > data.txt", &yes).unwrap().ending.unwrap().changes.unwrap().committed);
    assert_eq!(place.read("data.txt").as_deref(), Some("x\n"));
}

/// Without an overlay the changes are there already: what must not be, is refused before anything runs.
#[test]
fn without_an_overlay_it_is_said_or_refused() {
    let Some(place) = place() else { return };
    let mut live = RunOptions::default();
    live.live = true;
    let ending = place.run_with("echo x > data.txt; mkdir .vscode", &live).unwrap().ending.unwrap();
    assert!(ending.live.is_some() && ending.changes.is_none());
    assert_eq!(ending.moved_aside, [place.workspace.join(".vscode")]);
    assert_eq!(place.read("data.txt").as_deref(), Some("x\n"));
    let mut gated = RunOptions::default();
    gated.gate = shward::ExecGate::Enforce;
    let ending = place.run_with("true", &gated).unwrap().ending.unwrap();
    assert!(ending.live.is_none() && ending.changes.is_some(), "the gate enforces on the overlay");
    let nowhere = Firewall::new(Policy::of_profile("open").unwrap());
    let ending = place.run_by(&nowhere, "true", &RunOptions::default()).unwrap().ending.unwrap();
    assert!(ending.live.is_some() && ending.changes.is_none(), "there is no place for layers");
    let text = "extends = \"open\"\n[limits]\nrun-disk = 2000000\n".to_owned();
    let source = Source { layer: Layer::User, name: "test".to_owned(), text };
    let bounded = Firewall::new(Policy::from_sources(None, &[source]).unwrap());
    // Also where nobody asked to do without one.
    for options in [&live, &RunOptions::default()] {
        let plan = bounded
            .sandbox_plan(&Request::command("touch new", &place.workspace, &place.home), options)
            .unwrap();
        let told = matches!(&plan, Sandboxed::Plan(plan) if plan.to_string().contains("not given: the limit of what the run writes"));
        assert!(told, "{plan:?}");
    }
    live.then = Then::Drop;
    assert!(matches!(place.run_with("echo y > data.txt", &live), Err(Error::NoOverlay(_))));
    live.then = Then::Commit;
    live.containment = Containment::Speculate;
    assert!(matches!(place.run_with("echo y > data.txt", &live), Err(Error::NoOverlay(_))));
    assert_eq!(place.read("data.txt").as_deref(), Some("x\n"));
}

/// Neither depth nor number nor the name of a directory ends what is protected where there is no overlay.
#[test]
fn without_an_overlay_everything_is_looked_at() {
    let Some(place) = place() else { return };
    let repositories = ["1/2/3/4/5/6/7/8/9", "target/x", "node_modules/a/b", ".git/objects/r", "many/deep/r"];
    for repository in repositories {
        let directory = place.workspace.join(repository);
        fs::create_dir_all(&directory).unwrap();
        assert!(place.git(&["init", "-q", repository]).status.success());
        fs::write(directory.join(".git/hooks/pre-commit"), "mine\n").unwrap();
    }
    for number in 0..21_000 {
        fs::write(place.workspace.join(format!("many/{number}")), "").unwrap();
    }
    let mut live = RunOptions::default();
    live.live = true;
    let config = "printf '[core]\\n\\tfsmonitor = evil\\n'";
    let script = format!(
        "for r in {}; do echo evil > $r/.git/hooks/pre-commit; {config} >> $r/.git/config; echo x > $r/.git/commondir
         git init -q $r/new; echo evil > $r/new/.git/hooks/pre-commit; {config} >> $r/new/.git/config
         git init -q --bare $r/bare; {config} >> $r/bare/config; git init -q $r/plain; echo 'gitdir: x' > $r/.GIT; done",
        repositories.join(" ")
    );
    let ending = place.run_with(&script, &live).unwrap().ending.unwrap();
    for repository in repositories {
        let at = |path: &str| place.read(&format!("{repository}/{path}"));
        assert_eq!(at(".git/hooks/pre-commit").as_deref(), Some("mine\n"), "{repository}");
        for config in [".git/config", "plain/.git/config"] {
            assert!(at(config).is_some_and(|text| !text.contains("evil")), "{repository}/{config}");
        }
        for gone in ["new/.git/hooks/pre-commit", "new/.git/config", "bare/config", ".git/commondir", ".GIT"]
        {
            assert_eq!(at(gone), None, "{repository}/{gone}");
            assert!(
                ending.moved_aside.contains(&place.workspace.join(repository).join(gone)),
                "{repository}/{gone}"
            );
        }
    }
    // What nobody can look at is not written in.
    let closed = place.workspace.join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(&closed).is_err() {
        assert!(matches!(place.run_with("true", &live), Err(Error::TooMuch(_))));
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
}

/// What is kept beside a workspace that lies in this one, or elsewhere, is no command's business.
#[test]
fn what_is_kept_beside_another_workspace_is_not_seen() {
    let Some(place) = place() else { return };
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else { return };
    let inner = place.workspace.join("a/b/c/d/e/f/g/inner");
    fs::create_dir_all(&inner).unwrap();
    let undoing = Undoing::new(memory.path().join("state"));
    let Ok(store) = undoing.store(&inner) else { return };
    if store.root().parent() != inner.parent() {
        eprintln!("SKIPPED: /dev/shm is no other mount");
        return;
    }
    fs::write(store.root().join("kept-file"), "kept").unwrap();
    let firewall = Firewall::new(Policy::of_profile("open").unwrap()).with_undoing(undoing);
    let mut live = RunOptions::default();
    live.live = true;
    for options in [&RunOptions::default(), &live] {
        let ending =
            place.run_by(&firewall, "cat $(find . -name kept-file); echo .", options).unwrap().ending;
        assert_eq!(ending.unwrap().stdout.to_text(), ".\n");
    }
    let ending = place.run_by(&firewall, "mkdir -p .shward-7/live-r1", &live).unwrap().ending.unwrap();
    assert_eq!(ending.moved_aside, [place.workspace.join(".shward-7")]);
}

/// Rules that are text for a model are checked out as anything else, and where something is left out that is said.
#[test]
fn a_checkout_brings_rules_and_says_what_it_leaves_out() {
    let Some(place) = place() else { return };
    let rules = [".clinerules/a.md", ".openhands/microagents/r.md", ".qoder/rules/x.md"];
    let started = [".opencode.json", ".openhands/setup.sh", ".clinerules/hooks/PreToolUse"];
    let git = |arguments: &[&str]| assert!(place.git(arguments).status.success(), "{arguments:?}");
    let write = |names: &[&str], text: &str| {
        for name in names {
            let path = place.workspace.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    };
    let commit = || {
        git(&["add", "-A"]);
        git(&["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "x"]);
    };
    write(&rules, "old");
    write(&started, "old");
    commit();
    git(&["branch", "old"]);
    write(&rules, "rules");
    commit();
    git(&["branch", "rules"]);
    write(&started, "started");
    commit();
    git(&["branch", "started"]);
    git(&["checkout", "-q", "old"]);
    let outcome = place.run("git checkout -q rules");
    let changes = outcome.ending.as_ref().unwrap().changes.as_ref().unwrap();
    assert!(changes.refused.is_empty() && !changes.work_tree_differs, "{changes:?}");
    for name in rules {
        assert_eq!(place.read(name).unwrap(), "rules", "{name}");
    }
    let outcome = place.run("git checkout -q started");
    let changes = outcome.ending.as_ref().unwrap().changes.as_ref().unwrap();
    assert!(changes.refused.len() >= started.len() && changes.work_tree_differs, "{changes:?}");
    // Nothing of git's, nothing to say.
    let outcome = place.run("echo x > .bashrc");
    assert!(!outcome.ending.unwrap().changes.unwrap().work_tree_differs);
}

/// What a protected name of the home directory leads to in the workspace.
#[test]
fn what_a_link_of_the_home_leads_to_is_refused() {
    let Some(place) = place() else { return };
    let home = place.workspace.parent().unwrap();
    fs::create_dir_all(place.workspace.join("config/fish")).unwrap();
    fs::create_dir_all(home.join(".config")).unwrap();
    fs::write(place.workspace.join("rc"), "old").unwrap();
    std::os::unix::fs::symlink(place.workspace.join("rc"), home.join(".bashrc")).unwrap();
    std::os::unix::fs::symlink(place.workspace.join("config/fish"), home.join(".config/fish")).unwrap();
    let hidden = "r=$(ls rc); f=$(ls -d config)/fish";
    let outcome =
        place.run(&format!("{hidden}; echo x > \"$r\"; echo x > \"$f/config.fish\"; echo x > fine"));
    assert_eq!(refused(&outcome), ["config/fish/config.fish", "rc"]);
    assert_eq!((place.read("rc").as_deref(), place.read("fine").as_deref()), (Some("old"), Some("x\n")));
}
