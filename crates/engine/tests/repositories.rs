//! Repositories that a workspace lies in, what a run must not hide from the next one, and what two bring at once.

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

use overlaid::place;
use shward::{Action, Cancel, Error, Firewall, Outcome, Policy, Request, RunOptions, Then};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn refused(outcome: &Outcome) -> Vec<String> {
    let changes = outcome.ending.as_ref().unwrap().changes.as_ref().unwrap();
    assert!(changes.failed.is_empty(), "{changes:?}");
    changes.refused.iter().map(|refused| refused.change.path.display().to_string()).collect()
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A package of a larger repository as the workspace: what the settings above lead to lies in it.
#[test]
fn settings_of_repositories_above_are_seen() {
    let Some(place) = place() else { return };
    let above = place.home.join(".git");
    let name = place.workspace.file_name().unwrap().to_str().unwrap();
    write(
        &above.join("config"),
        &format!("[core]\n\thooksPath = {name}/githooks\n[include]\n\tpath = ../{name}/more\n"),
    );
    write(&above.join("HEAD"), "ref: refs/heads/main\n");
    write(&above.join("modules/lib/HEAD"), "ref: refs/heads/main\n");
    let module = format!("[core]\n\tworktree = ../../../{name}/lib\n\thooksPath = mine\n");
    write(&above.join("modules/lib/config"), &module);
    fs::remove_dir_all(place.workspace.join(".git")).unwrap();
    let script = "mkdir githooks lib lib/mine fine; for d in githooks lib/mine fine; do echo > $d/pre-commit; done; echo > more; \
                  echo x > ../.git/config || mkdir ../.git/hooks || echo closed";
    let outcome = place.run(script);
    assert!(outcome.ending.as_ref().unwrap().stdout.to_text().contains("closed"), "{outcome:?}");
    let names = refused(&outcome);
    let files: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| name.contains("pre-") || *name == "more").collect();
    assert_eq!(files, ["githooks/pre-commit", "lib/mine/pre-commit", "more"]);
    assert!(place.read("fine/pre-commit").is_some());
}

/// Git starts them on its own as it does hooks, but for an alias, which somebody has to call.
#[test]
fn commands_in_settings_of_git_are_protected() {
    let Some(place) = place() else { return };
    for (name, command) in [
        ("core.fsmonitor", "./tools/monitor"),
        ("core.editor", "code --wait ."),
        ("filter.a.clean", "LANG=C sh tools/clean.sh %f"),
        ("diff.b.textconv", "python3 show.py"),
        ("merge.c.driver", "tools/new %O"),
        ("merge.d.driver", "node_modules/.bin/d %O"),
        ("core.pager", "less fine"),
        ("alias.x", "!tools/called"),
    ] {
        assert!(place.git(&["config", name, command]).status.success());
    }
    let files = ["fine", "show.py", "tools/called", "tools/clean.sh", "tools/monitor"];
    files.iter().for_each(|file| write(&place.workspace.join(file), "mine\n"));
    let script =
        "for f in fine show.py tools/called tools/clean.sh tools/monitor tools/new; do echo x > $f; done";
    let protected = ["show.py", "tools/clean.sh", "tools/monitor", "tools/new"];
    assert_eq!(refused(&place.run(script)), protected);
    let mut live = RunOptions::default();
    live.live = true;
    assert!(place.run_with(script, &live).unwrap().executed);
    for file in files.into_iter().chain(["tools/new"]) {
        let expected = match file {
            "tools/new" => None,
            file if protected.contains(&file) => Some("mine\n"),
            _ => Some("x\n"),
        };
        assert_eq!(place.read(file).as_deref(), expected, "{file}");
    }
}

/// Whoever could make a link lead elsewhere would say what git starts.
#[test]
fn links_to_what_git_starts_are_protected() {
    let Some(place) = place() else { return };
    for (name, value) in [
        ("filter.a.clean", "tools/link"),
        ("filter.b.clean", "led/deep"),
        ("filter.c.clean", "tools/chain"),
        ("filter.d.clean", "node_modules/../tools/plain"),
        ("core.hooksPath", "to"),
    ] {
        assert!(place.git(&["config", name, value]).status.success());
    }
    for file in ["tools/deep", "tools/plain", "hooks/pre-commit"] {
        write(&place.workspace.join(file), "mine\n");
    }
    for (target, link) in [
        ("deep", "tools/link"),
        ("mid", "tools/chain"),
        ("deep", "tools/mid"),
        ("tools", "led"),
        ("hooks", "to"),
    ] {
        symlink(target, place.workspace.join(link)).unwrap();
    }
    for script in [
        "echo x > other; ln -sf ../other tools/link",
        "rm led; mkdir led; echo x > led/deep",
        "echo x > other; ln -sf ../other tools/mid",
        "echo x > tools/plain",
        "rm led; ln -s hooks led; echo x > led/deep",
        "rm to; mkdir to; echo x > to/pre-commit",
        "mkdir new; echo x > new/pre-commit; ln -sfn new to",
    ] {
        assert!(!refused(&place.run(script)).is_empty(), "{script}");
        for link in ["tools/link", "tools/chain", "tools/plain", "led/deep", "to/pre-commit"] {
            assert_eq!(place.read(link).as_deref(), Some("mine\n"), "{script}: {link}");
        }
    }
}

/// Without an overlay what is not there yet cannot be mounted over, and is moved aside.
#[test]
fn what_settings_lead_to_is_moved_aside_where_it_is_made() {
    let Some(place) = place() else { return };
    assert!(place.git(&["config", "core.hooksPath", "mine/hooks"]).status.success());
    assert!(place.git(&["config", "include.path", "../more"]).status.success());
    let mut live = RunOptions::default();
    live.live = true;
    let script = "mkdir -p mine/hooks; echo x > mine/hooks/pre-commit; echo x > mine/other; ln -s mine/other more; echo x > fine";
    let outcome = place.run_with(script, &live).unwrap();
    let moved = outcome.ending.unwrap().moved_aside;
    assert_eq!(moved.len(), 2, "{moved:?}");
    assert!(place.read("mine/hooks/pre-commit").is_none() && place.read("more").is_none());
    assert!(place.read("mine/other").is_some() && place.read("fine").is_some());
}

/// New repositories get their hooks and settings from there.
#[test]
fn what_new_repositories_are_made_of_is_protected() {
    let Some(place) = place() else { return };
    let name = place.workspace.file_name().unwrap().to_str().unwrap();
    write(&place.home.join(".gitconfig"), &format!("[init]\n\ttemplateDir = ~/{name}/template\n"));
    write(&place.workspace.join("template/description"), "x\n");
    let outcome = place.run("mkdir template/hooks; echo x > template/hooks/post-checkout; echo y > fine");
    assert_eq!(refused(&outcome), ["template/hooks", "template/hooks/post-checkout"]);
    assert!(place.read("fine").is_some());
}

/// A run that makes a repository of the directory that another one lies in does not hide that one.
#[test]
fn a_repository_in_another_is_seen() {
    let Some(place) = place() else { return };
    let module = place.workspace.join(".git/modules/lib/sub");
    write(&module.join("HEAD"), "ref: refs/heads/main\n");
    write(&module.join("config"), "[core]\n\tworktree = ../../../../lib/sub\n\thooksPath = mine\n");
    let made = "cd .git/modules/lib; mkdir objects refs; echo 'ref: refs/heads/x' > HEAD";
    assert!(refused(&place.run(made)).is_empty());
    assert!(module.parent().unwrap().join("HEAD").exists());
    let outcome = place.run("mkdir -p lib/sub/mine; echo x > lib/sub/mine/pre-commit");
    assert!(refused(&outcome).contains(&"lib/sub/mine/pre-commit".to_owned()), "{outcome:?}");
}

/// What git writes into a repository's logs and references is left out, and a submodule whose name leads there is seen.
#[test]
fn a_submodule_that_is_called_as_what_git_fills_is_seen() {
    for name in
        ["lib/logs/refs", "lib/refs/heads/x", "lib/refs/tags", "lib/objects/ab", "lib/logs/refs/heads/y"]
    {
        // What names it: the repository's settings, a file that they include, or the description in the work tree.
        for by in ["config", "included", ".gitmodules"] {
            let Some(place) = place() else { return };
            let module = place.workspace.join(".git/modules").join(name);
            write(&module.join("HEAD"), "ref: refs/heads/main\n");
            let tree = format!("{}/tree", place.workspace.display());
            write(&module.join("config"), &format!("[core]\n\tworktree = {tree}\n\thooksPath = mine\n"));
            let named = format!("[submodule \"{name}\"]\n\turl = ../x\n");
            match by {
                "config" => {
                    assert!(place.git(&["config", &format!("submodule.{name}.url"), "../x"]).status.success())
                }
                "included" => {
                    write(&place.workspace.join(".git/more"), &named);
                    assert!(place.git(&["config", "include.path", "more"]).status.success());
                }
                _ => write(&place.workspace.join(by), &named),
            }
            let made = "cd .git/modules/lib; mkdir -p objects refs; echo 'ref: refs/heads/x' > HEAD";
            assert!(refused(&place.run(made)).is_empty());
            let outcome = place.run("mkdir -p tree/mine; echo x > tree/mine/pre-commit");
            assert!(
                refused(&outcome).contains(&"tree/mine/pre-commit".to_owned()),
                "{name} {by}: {outcome:?}"
            );
        }
    }
}

/// More names than are looked for: everything is looked through.
#[test]
fn many_names_of_submodules_hide_none() {
    let Some(place) = place() else { return };
    let modules = ["logs/refs/deep", "refs/heads", "objects/ab"];
    for (number, name) in modules.iter().enumerate() {
        let module = place.workspace.join(".git/modules/lib").join(name);
        write(&module.join("HEAD"), "ref: refs/heads/main\n");
        let tree = format!("{}/tree{number}", place.workspace.display());
        write(&module.join("config"), &format!("[core]\n\tworktree = {tree}\n\thooksPath = mine\n"));
    }
    for name in ["objects/x", "refs/x"] {
        fs::create_dir_all(place.workspace.join(".git/modules/lib").join(name)).unwrap();
    }
    write(&place.workspace.join(".git/modules/lib/HEAD"), "ref: refs/heads/main\n");
    for file in 0..3 {
        let names: String = (0..40_000).map(|number| format!("[submodule \"{number}\"]\n")).collect();
        write(&place.workspace.join(format!(".git/more{file}")), &names);
        let file = format!("more{file}");
        assert!(place.git(&["config", "--add", "include.path", &file]).status.success());
    }
    let outcome = place.run("for n in 0 1 2; do mkdir -p tree$n/mine; echo x > tree$n/mine/pre-commit; done");
    for number in 0..modules.len() {
        assert!(refused(&outcome).contains(&format!("tree{number}/mine/pre-commit")), "{outcome:?}");
    }
}

/// What one run leaves keeps no later one from being run.
#[test]
fn many_directories_in_a_repository_refuse_nothing() {
    let Some(place) = place() else { return };
    let module = place.workspace.join(".git/modules/lib");
    write(&module.join("HEAD"), "ref: refs/heads/main\n");
    write(&module.join("config"), "[core]\n\tworktree = ../../../lib\n\thooksPath = mine\n");
    // Nothing keeps a run from making them, as anywhere else in the workspace.
    let made = place.run("mkdir -p .git/modules/x .git/worktrees/y; cd .git/modules/x; mkdir $(seq 100)");
    assert!(refused(&made).is_empty());
    for number in 101..17_000 {
        fs::create_dir(place.workspace.join(format!(".git/modules/x/{number}"))).unwrap();
    }
    let outcome = place.run("mkdir -p lib/mine; echo x > lib/mine/pre-commit");
    assert!(refused(&outcome).contains(&"lib/mine/pre-commit".to_owned()), "{outcome:?}");
}

/// Nor does it close what the next one has to look into.
#[test]
fn what_settings_lie_in_is_not_closed() {
    let Some(place) = place() else { return };
    fs::create_dir(place.workspace.join("hooks")).unwrap();
    write(&place.workspace.join("settings/shared"), "[core]\n\thooksPath = hooks\n");
    write(&place.workspace.join("plain/file"), "x\n");
    write(&place.workspace.join("half/file"), "x\n");
    assert!(place.git(&["config", "include.path", "../settings/shared"]).status.success());
    let script = "mkdir new; echo x > new/file; chmod 000 new .git/config settings .git/refs; chmod 500 plain; chmod 000 plain/file; chmod 400 half";
    assert_eq!(refused(&place.run(script)), [".git/config", ".git/refs", "half", "settings"]);
    assert!(place.git(&["config", "core.hooksPath"]).status.success());
    let outcome = place.run("echo x > hooks/pre-commit");
    assert_eq!(refused(&outcome), ["hooks/pre-commit"]);
}

/// A workspace in a repository's own directory, whatever that is called: whatever a command writes there git may run.
#[test]
fn nothing_is_written_where_git_runs_it() {
    let Some(place) = place() else { return };
    assert!(place.git(&["init", "-q", "--bare", "bare"]).status.success());
    // Also in one that git would not take for a repository as it is.
    fs::create_dir_all(place.workspace.join("new/.git/hooks")).unwrap();
    for (directory, name) in
        [("bare/hooks", "pre-commit"), ("bare/info", "attributes"), ("new/.git/hooks", "pre-commit")]
    {
        let directory = place.workspace.join(directory);
        let script = format!("echo x > {name}; mkdir d; echo x > d/y");
        let request = Request::command(script, &directory, &place.home);
        let firewall = Firewall::new(Policy::of_profile("open").unwrap()).with_undoing(place.undoing());
        let run = |options: &RunOptions| firewall.run(&request, options, &mut |_, _| {});
        let outcome = run(&RunOptions::default()).unwrap();
        assert!(refused(&outcome).contains(&name.to_owned()), "{outcome:?}");
        assert!(!directory.join(name).exists());
        let mut live = RunOptions::default();
        live.live = true;
        assert!(matches!(run(&live), Err(Error::OfGit(_))), "{directory:?}");
        assert!(!directory.join(name).exists());
    }
}

/// Neither of two runs at the same time sees what the other brings, and somebody may be asked for long.
#[test]
fn no_two_runs_make_a_repository_that_runs_something() {
    let Some(place) = place() else { return };
    fs::create_dir(place.workspace.join("store")).unwrap();
    let one = "printf '[core]\n\tpager = touch x\n' > store/config; mkdir store/hooks; echo x > store/hooks/update; echo x > store/plain";
    let other = "mkdir store/objects store/refs; echo 'ref: refs/heads/main' > store/HEAD";
    let beside = Arc::new(place);
    let mut asked = RunOptions::default();
    let during = beside.clone();
    asked.then = Then::Ask(Arc::new(move |_| {
        refused(&during.run_with(other, &RunOptions::default()).unwrap()).is_empty()
    }));
    let outcome = beside.run_with(one, &asked).unwrap();
    let failed = outcome.ending.unwrap().changes.unwrap().failed;
    assert!(
        failed[0].starts_with("store/config: sets what git runs")
            && failed[1] == "store/hooks/update: is run by git",
        "{failed:?}"
    );
    assert!(beside.workspace.join("store/HEAD").exists() && beside.workspace.join("store/plain").exists());
    assert!(!beside.workspace.join("store/config").exists());
    // The first is looked at for long.
    fs::write(beside.workspace.join("one.sh"), format!("{one}; mkdir z; touch z/{{1..9000}}")).unwrap();
    fs::write(beside.workspace.join("other.sh"), other).unwrap();
    let store = beside.workspace.join("store");
    let firewall = Firewall::new(Policy::of_profile("open").unwrap()).with_undoing(beside.undoing());
    let run = |script: &str| {
        let argv = ["bash", script].map(str::to_owned).to_vec();
        let request =
            Request { action: Action::Argv(argv), ..Request::command("", &beside.workspace, &beside.home) };
        let outcome = firewall.run(&request, &RunOptions::default(), &mut |_, _| {}).unwrap();
        assert!(outcome.executed, "{outcome:?}");
    };
    let anew = || {
        // Something may come to be in it meanwhile.
        let _ = fs::remove_dir_all(&store);
        let _ = fs::create_dir(&store);
    };
    anew();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| run("one.sh"));
        while !first.is_finished() {
            if !store.join("config").exists() {
                anew();
            }
            run("other.sh");
        }
    });
    let made = ["HEAD", "objects", "refs"].iter().all(|name| store.join(name).exists());
    assert!(!(made && store.join("config").exists()));
}

/// What a name means does not depend on the directory that is called the workspace.
#[test]
fn a_workspace_that_others_read_brings_them_nothing() {
    let Some(place) = place() else { return };
    let firewall = Firewall::new(Policy::of_profile("open").unwrap()).with_undoing(place.undoing());
    let run = |directory: &str, name: &str, options: &RunOptions| {
        let directory = place.workspace.join(directory);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("tool.sh"), format!("mkdir -p \"$(dirname {name})\"; echo x > {name}"))
            .unwrap();
        let argv = ["bash", "tool.sh"].map(str::to_owned).to_vec();
        let request = Request { action: Action::Argv(argv), ..Request::command("", &directory, &place.home) };
        let outcome = firewall.run(&request, options, &mut |_, _| {});
        (outcome, directory.join(name).exists())
    };
    for (directory, name) in [
        (".mise", "config.toml"),
        (".mise/conf.d", "x.toml"),
        (".jj/repo", "config.toml"),
        ("_darcs/prefs", "defaults"),
        ("a/.externalToolBuilders", "x.launch"),
        (".lefthook/pre-commit", "x.sh"),
        (".amp", "x"),
        (".Vscode/deep/er", "x"),
        (".qoder/agents", "x.md"),
        (".vscode/a/b", "x"),
        (".claude/skills/x/scripts", "x"),
        (".repo/repo", "subcmds/x.py"),
        (".repo/repo/subcmds", "x.py"),
    ] {
        // Whoever makes a repository of it changes nothing.
        for repository in [false, true] {
            if repository {
                fs::create_dir_all(place.workspace.join(directory).join(".git")).unwrap();
            }
            let (outcome, there) = run(directory, name, &RunOptions::default());
            let refused = refused(&outcome.unwrap());
            assert!(
                refused.contains(&name.to_owned()) && !there,
                "{directory}/{name} {repository} {refused:?}"
            );
        }
    }
    // What was cloned into a project is read with it, and what was cloned elsewhere is not.
    let cloned = place.home.join("src/mise");
    let elsewhere = cloned.to_str().unwrap();
    for directory in [&place.workspace.join("mise"), &cloned, &place.workspace.join("own")] {
        fs::create_dir_all(directory.join(".git")).unwrap();
    }
    assert!(!run("mise", "config.toml", &RunOptions::default()).1);
    for (directory, name) in [(elsewhere, "config.toml"), ("own", "x"), ("own/src", "x")] {
        assert!(run(directory, name, &RunOptions::default()).1, "{directory}/{name}");
    }
    let mut live = RunOptions::default();
    live.live = true;
    let (outcome, there) = run(".amp/in", "x", &live);
    assert!(matches!(outcome, Err(Error::OfGit(_))) && !there, "{outcome:?}");
    // Agents keep work trees in their directories.
    let tree = place.workspace.join(".claude/worktrees/one");
    fs::create_dir_all(&tree).unwrap();
    fs::write(tree.join(".git"), "gitdir: x\n").unwrap();
    for directory in [".claude/worktrees/one", ".claude/worktrees/one/src"] {
        assert!(run(directory, "new", &RunOptions::default()).1, "{directory}");
    }
}

/// Where what is kept lies, nothing is run at all.
#[test]
fn what_is_kept_is_no_workspace() {
    let Some(place) = place() else { return };
    place.run("echo x > new");
    let firewall = Firewall::new(Policy::of_profile("open").unwrap()).with_undoing(place.undoing());
    let root = place.undoing().store(&place.workspace).unwrap().root().to_owned();
    let kept = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir());
    let beside = place.workspace.join(".shward-0/kept-r1-1/upper");
    fs::create_dir_all(&beside).unwrap();
    for directory in [root, kept.unwrap(), beside] {
        let request = Request::command("ls", &directory, &place.home);
        let outcome = firewall.run(&request, &RunOptions::default(), &mut |_, _| {});
        assert!(matches!(outcome, Err(Error::OfOurs(_))), "{directory:?} {outcome:?}");
    }
}

/// Nor is it made to look like none for as long as it takes to write settings.
#[test]
fn a_repository_without_a_work_tree_stays_one() {
    for script in ["mv bare/HEAD bare/H", "rm -r bare/refs", "rm -r bare/objects; echo x > bare/config"] {
        let Some(place) = place() else { return };
        assert!(place.git(&["init", "-q", "--bare", "bare"]).status.success());
        let outcome = place.run(script);
        assert!(!refused(&outcome).is_empty(), "{script}: {outcome:?}");
        assert!(place.git(&["-C", "bare", "rev-parse", "--git-dir"]).status.success(), "{script}");
    }
    let Some(place) = place() else { return };
    assert!(place.git(&["init", "-q", "--bare", "bare"]).status.success());
    assert!(refused(&place.run("rm -r bare")).is_empty() && !place.workspace.join("bare").exists());
}

/// Who was asked about a list has agreed to that and to nothing else, whatever it would be by now.
#[test]
fn only_what_was_shown_is_committed() {
    let Some(place) = place() else { return };
    let head = place.workspace.join("d/HEAD");
    write(&head, "ref: refs/heads/main\n");
    fs::create_dir(place.workspace.join("d/objects")).unwrap();
    fs::create_dir(place.workspace.join("d/refs")).unwrap();
    fs::create_dir(place.workspace.join("gone")).unwrap();
    let workspace = place.workspace.clone();
    let mut asked = RunOptions::default();
    asked.then = Then::Ask(Arc::new(move |proposal| {
        let refused: Vec<_> = proposal.report.refused.iter().map(|refused| &refused.change.path).collect();
        assert_eq!(refused, [Path::new("d/config")]);
        fs::remove_file(workspace.join("d/HEAD")).unwrap();
        fs::write(workspace.join("gone/new"), "x").unwrap();
        fs::write(workspace.join("data.txt"), "longer than it was shown").unwrap();
        fs::write(workspace.join("version"), "1.2.4\n").unwrap();
        fs::set_permissions(workspace.join("mode"), Permissions::from_mode(0o711)).unwrap();
        true
    }));
    fs::create_dir(place.workspace.join("mode")).unwrap();
    write(&place.workspace.join("version"), "1.2.3\n");
    let script = "printf '[core]\n\tfsmonitor = x\n' > d/config; echo x > plain; rm -r gone; rm data.txt version; touch mode/x";
    let outcome = place.run_with(script, &asked).unwrap();
    let changes = outcome.ending.unwrap().changes.unwrap();
    let kept_back: Vec<_> = changes.refused.iter().map(|refused| &refused.change.path).collect();
    // The mode of a directory that something was made in is left as others have set it.
    assert_eq!(kept_back, [Path::new("d/config"), Path::new("mode")], "{changes:?}");
    assert_eq!(
        changes.failed,
        [
            "data.txt: is not what was shown when it was asked about",
            "gone: holds what somebody else has changed since it was asked about",
            "version: is not what was shown when it was asked about"
        ]
    );
    assert!(place.read("mode/x").is_some());
    assert_eq!(fs::metadata(place.workspace.join("mode")).unwrap().mode() & 0o777, 0o711);
    assert!(!place.workspace.join("d/config").exists() && place.workspace.join("gone/new").exists());
    assert_eq!(place.read("plain").as_deref(), Some("x\n"));
    assert!(place.read("data.txt").is_some());
}

/// Where others have changed all of it, what the command did is kept aside.
#[test]
fn what_was_agreed_to_is_not_lost() {
    let Some(place) = place() else { return };
    write(&place.workspace.join("a"), "one\n");
    let workspace = place.workspace.clone();
    let mut asked = RunOptions::default();
    asked.then = Then::Ask(Arc::new(move |_| fs::write(workspace.join("a"), "three\n").is_ok()));
    let changes = place.run_with("echo two > a", &asked).unwrap().ending.unwrap().changes.unwrap();
    assert!(!changes.committed && changes.failed[0].starts_with("a: is not what was shown"), "{changes:?}");
    let (_, kept) = changes.failed[1].split_once("kept in ").unwrap_or_else(|| panic!("{changes:?}"));
    let path = kept.split('"').nth(1).unwrap();
    assert_eq!(fs::read_to_string(Path::new(path).join("a")).unwrap(), "two\n", "{changes:?}");
    assert_eq!(place.read("a").as_deref(), Some("three\n"));
}

/// Whoever holds the turn for long keeps nobody: what cannot be committed is kept aside.
#[test]
fn nobody_waits_for_others_longer_than_for_the_command() {
    let Some(place) = place() else { return };
    let store = place.undoing().store(&place.workspace).unwrap();
    let turn = store.turn(Duration::ZERO, &|| false).unwrap();
    let (mut short, mut cancelled) = (RunOptions::default(), RunOptions::default());
    short.timeout = Some(Duration::from_secs(1));
    let cancel = Cancel::new().unwrap();
    cancelled.cancel = Some(cancel.clone());
    let since = Instant::now();
    std::thread::scope(|scope| {
        let run = scope.spawn(|| place.run_with("echo b > b; echo done", &cancelled).unwrap());
        std::thread::sleep(Duration::from_millis(700));
        cancel.cancel();
        let changes = run.join().unwrap().ending.unwrap().changes.unwrap();
        assert!(changes.failed[0].contains("lost-"), "{changes:?}");
    });
    let changes = place.run_with("echo b > b", &short).unwrap().ending.unwrap().changes.unwrap();
    assert!(changes.failed[0].contains("lost-"), "{changes:?}");
    // What writes straight to the workspace goes on, and says so.
    let mut live = RunOptions::default();
    live.live = true;
    let ending = place.run_with("echo b > b", &live).unwrap().ending.unwrap();
    assert!(ending.live.as_ref().unwrap().contains("others were committing"), "{ending:?}");
    assert!(since.elapsed() < Duration::from_secs(9), "{:?}", since.elapsed());
    drop(turn);
    let ending = place.run_with("echo b > b", &live).unwrap().ending.unwrap();
    assert_eq!(ending.live.as_deref(), Some("it was asked for"));
}
