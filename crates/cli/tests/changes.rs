//! What becomes of the changes of a run: shown, committed or kept aside, taken back; with the real binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod place;

use place::Place;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Output;

impl Place {
    fn shward(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs a command and tells as what it can be undone; `None` where there is no overlay.
    fn run(&self, command: &str) -> Option<String> {
        let outcome = json_of(&self.shward(&["run", "--json", "--", command]));
        outcome.pointer("/changes/undo")?.as_str().map(str::to_owned)
    }
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

/// Where the program itself lies in the workspace, what runs there does not change it, whatever its code does.
#[test]
fn the_program_stays_as_it_is() {
    let place = Place::new();
    if place.run("echo x > made.txt").is_none() {
        return; // no overlay here
    }
    let guard = place.project().join("tools/guard");
    fs::create_dir(guard.parent().unwrap()).unwrap();
    Place::put_binary(&guard);
    let before = fs::read(&guard).unwrap();
    // The names come from files, so that nobody has read them before.
    fs::write(place.project().join("names"), "tools guard").unwrap();
    for deed in ["os.replace('other', d + '/' + f)", "open(d + '/' + f, 'w')", "os.remove(d + '/' + f)"] {
        let tool = format!("import os\nd, f = open('names').read().split()\n{deed}\nprint('done')\n");
        fs::write(place.project().join("tool.py"), tool).unwrap();
        for options in [&["run"][..], &["run", "--live"]] {
            fs::write(place.project().join("other"), "x").unwrap();
            let mut command = place.program(guard.to_str().unwrap());
            let output = command.args(options).args(["--", "/usr/bin/python3 tool.py"]).output().unwrap();
            let what = format!("{deed} {options:?}: {output:?}");
            // On a layer it is done, and not committed.
            assert_eq!(stdout(&output).contains("done"), options.len() == 1, "{what}");
            assert!(fs::read(&guard).is_ok_and(|after| after == before), "{deed} {options:?}");
        }
    }
}

/// Where a link in the home directory leads into the workspace, what lies there is the same: nothing that runs changes it.
#[test]
fn what_a_link_of_the_home_leads_to_stays_as_it_is() {
    let place = Place::new();
    if place.run("echo x > made.txt").is_none() {
        return; // no overlay here
    }
    fs::create_dir_all(place.project().join("dot/shward")).unwrap();
    std::os::unix::fs::symlink(place.project().join("dot"), place.home().join(".config")).unwrap();
    // The names come from a file, so that nobody has read them before.
    fs::write(place.project().join("names"), "dot shward policy.toml").unwrap();
    let tool = "d, e, f = open('names').read().split()\nopen('/'.join((d, f)), 'w')\nopen('/'.join((d, e, f)), 'w').write('[')\n";
    fs::write(place.project().join("tool.py"), tool).unwrap();
    for options in [&["run"][..], &["run", "--live"]] {
        let output = place.shward(&[options, &["--", "/usr/bin/python3 tool.py"]].concat());
        assert!(place.project().join("dot/policy.toml").exists(), "{options:?}: {output:?}");
        assert!(!place.project().join("dot/shward/policy.toml").exists(), "{options:?}: {output:?}");
        fs::remove_file(place.project().join("dot/policy.toml")).unwrap();
    }
}

/// What could not be committed at all is kept, the message says where, and `undo` knows nothing of it.
#[test]
fn what_cannot_be_committed_has_an_exit_code_of_its_own() {
    for (json, command, expected) in [
        (false, "echo x > begun; sleep 2; echo x > lost.txt", 74),
        (true, "echo x > begun; sleep 2; echo x > lost.txt", 74),
        (false, "echo x > begun; sleep 2; echo x > lost.txt; exit 9", 9),
    ] {
        let place = Place::new();
        if place.run("echo x > made.txt").is_none() {
            return; // no overlay here
        }
        let mut words = vec!["run", "--profile", "open"];
        words.extend(json.then_some("--json"));
        words.extend(["--", command]);
        let mut child = place.command(&words).spawn().unwrap();
        // Its layer tells how far it is.
        let store = place.home().join(".local/state/shward/overlay");
        let begun = || {
            let layers = fs::read_dir(&store).into_iter().flatten().flatten();
            layers.into_iter().any(|layer| layer.path().join("upper/begun").exists())
        };
        while !begun() {
            assert!(child.try_wait().unwrap().is_none(), "{:?}", child.wait_with_output());
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        // Another directory in the workspace's place.
        fs::rename(place.project(), place.home().join("away")).unwrap();
        fs::create_dir(place.project()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), expected, "{output:?}");
        let told = if json {
            let object = json_of(&output);
            assert_eq!(
                (&object["exit_code"], &object["changes"]["committed"]),
                (&json!(0), &json!(false)),
                "{object}"
            );
            object["changes"]["failed"][0].as_str().unwrap().to_owned()
        } else {
            String::from_utf8(output.stderr.clone()).unwrap()
        };
        let kept = told.split('"').find(|part| part.contains("/lost-")).unwrap_or_else(|| panic!("{told}"));
        assert_eq!(
            fs::read_to_string(Path::new(kept).join("lost.txt")).ok().as_deref(),
            Some("x\n"),
            "{told}"
        );
        assert!(!place.project().join("lost.txt").exists());
        // The run before it is the one that is taken back, as far as its files are there.
        let undone = place.shward(&["undo"]);
        assert_eq!(code(&undone), 1, "{undone:?}");
        assert!(stdout(&undone).contains("made.txt is gone already"), "{undone:?}");
        assert!(Path::new(kept).join("lost.txt").exists());
    }
}

/// A program that only renames directories is told another file system where nobody has seen it coming, and does not know why.
#[test]
fn what_cannot_be_renamed_on_an_overlay_is_explained() {
    let place = Place::new();
    if place.run("mkdir d h; touch d/f; echo x > h/f").is_none() {
        return; // no overlay here
    }
    fs::write(place.project().join("h/.env"), "SECRET\n").unwrap();
    // The names come from a file, so that nobody has read them before.
    fs::write(place.project().join("names"), "d e").unwrap();
    let tool = "import os\nfrom pathlib import Path\nos.rename(*Path('names').read_text().split())\n";
    fs::write(place.project().join("tool.py"), tool).unwrap();
    let unseen = "/usr/bin/python3 tool.py";
    let hidden = "/usr/bin/python3 -c 'import os; os.rename(\"h\", \"e\")'; s=$?; cat e/.env h/.env; exit $s";
    let seen = "/usr/bin/python3 -c 'import os; os.rename(\"d\", \"e\"); os.rename(\"e\", \"d\")'";
    let copy = "mv d e && mv e d";
    for (options, command, explained) in [
        (&[][..], unseen, true),
        (&[], hidden, true),
        (&[], seen, false),
        (&[], copy, false),
        (&["--live"], unseen, false),
        (&[], "false", false),
    ] {
        let output = place.shward(&[&["run", "--profile", "open"], options, &["--", command]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said.contains("can be renamed only"), explained, "{options:?} {command}: {output:?}");
        assert_eq!(code(&output) == 0, !explained && command != "false", "{options:?} {command}: {output:?}");
        assert!(!stdout(&output).contains("SECRET"), "{options:?} {command}: {output:?}");
    }
}

/// Directories that a command says it renames are renamed, shown and taken back; and what else it did with them is all that is told.
#[test]
fn directories_are_renamed() {
    let place = Place::new();
    let git = |words: &[&str]| place.program("git").args(words).output().unwrap();
    let set_up = "mkdir -p src/deep docs && echo x > src/x && echo y > src/deep/y && echo d > docs/d && ln -s x src/link";
    if place.run(set_up).is_none() {
        return; // no overlay here
    }
    git(&["init", "-q", "."]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "add", "."]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"]);
    let names = || {
        let listed =
            place.program("/usr/bin/find").args([".", "-path", "./.git", "-prune", "-o", "-print"]).output();
        let mut names: Vec<String> = stdout(&listed.unwrap()).lines().map(str::to_owned).collect();
        names.sort();
        names
    };
    let before = names();
    let moved = |from: &str, to: &str| -> Vec<String> {
        let mut moved: Vec<String> = before
            .iter()
            .map(|name| {
                match name.strip_prefix(from).filter(|rest| rest.is_empty() || rest.starts_with('/')) {
                    Some(rest) => format!("{to}{rest}"),
                    None => name.clone(),
                }
            })
            .collect();
        moved.sort();
        moved
    };
    let src_to_lib = moved("./src", "./lib");
    for (command, expected) in [
        ("git mv src lib && git status --short | grep -q '^R  src/x -> lib/x'", &src_to_lib),
        ("/usr/bin/python3 -c 'import os; os.rename(\"src\", \"lib\")'", &src_to_lib),
        ("/usr/bin/python3 -c 'from pathlib import Path; Path(\"src\").rename(\"lib\")'", &src_to_lib),
        ("n=src; git mv \"$n\" lib", &src_to_lib),
        ("git mv src/deep src/deeper", &moved("./src/deep", "./src/deeper")),
        ("cd src && git mv deep ../docs/", &moved("./src/deep", "./docs/deep")),
    ] {
        let preview = json_of(&place.shward(&[
            "run",
            "--profile",
            "open",
            "--json",
            "--preview",
            "--drop",
            "--",
            command,
        ]));
        let changed = preview.pointer("/changes/files").and_then(Value::as_array).unwrap();
        let untouched =
            |change: &&Value| change["path"].as_str().is_some_and(|path| path == "docs/d" || path == "docs");
        assert!(
            !changed.is_empty() && !changed.iter().any(|change| untouched(&change)),
            "{command}: {changed:?}"
        );
        let output = place.shward(&["run", "--profile", "open", "--", command]);
        assert_eq!(code(&output), 0, "{command}: {output:?}");
        assert_eq!(&names(), expected, "{command}");
        assert_eq!(code(&place.shward(&["undo"])), 0, "{command}");
        assert_eq!(names(), before, "{command}");
        git(&["reset", "-q"]);
    }
    // What was not renamed after all is no change.
    for command in ["git mv src no/where", "git mv src lib && git mv lib src && git reset -q", "rmdir src"] {
        let output = json_of(&place.shward(&["run", "--profile", "open", "--json", "--", command]));
        let changed = output.pointer("/changes/files").and_then(Value::as_array).unwrap();
        let other = changed.iter().find(|change| !change["path"].as_str().unwrap().starts_with(".git/"));
        assert!(other.is_none(), "{command}: {other:?}");
        assert_eq!(names(), before, "{command}");
    }
}

/// What lies in a directory that is renamed is judged as if it had been copied and removed.
#[test]
fn what_is_protected_is_so_in_a_directory_that_is_renamed() {
    for (kind, rename, copy) in [
        ("settings", "git mv src lib", "mkdir lib && cp -a src/. lib/ && rm -r src"),
        (
            "settings",
            "git mv src lib && echo x > lib/.vscode/tasks.json",
            "mkdir lib && cp -a src/. lib/ && rm -r src && echo x > lib/.vscode/tasks.json",
        ),
        ("settings", "git mv src lib && rm -r lib/.vscode && git mv lib src", "rm -r src/.vscode"),
        (
            "settings",
            "git mv src lib && echo x > lib/.vscode/tasks.json && git mv lib src",
            "echo x > src/.vscode/tasks.json",
        ),
        (
            "repository",
            "mv src/in/.git g && echo x > g/hooks/pre-commit && mv g src/in/.git",
            "echo x > src/in/.git/hooks/pre-commit",
        ),
        ("set-id", "git mv src lib", "mkdir lib && cp -a src/. lib/ && rm -r src"),
        ("set-id", "git mv src lib && git mv lib src", "true"),
    ] {
        let mut seen = Vec::new();
        for command in [rename, copy] {
            let place = Place::new();
            let project = place.project();
            if place.run("mkdir -p src/in && echo x > src/x").is_none() {
                return; // no overlay here
            }
            let git = |words: &[&str]| place.program("git").args(words).output().unwrap();
            git(&["init", "-q", "."]);
            match kind {
                "settings" => {
                    fs::create_dir(project.join("src/.vscode")).unwrap();
                    fs::write(project.join("src/.vscode/tasks.json"), "{}").unwrap();
                }
                "repository" => drop(git(&["init", "-q", "src/in"])),
                _ => {
                    fs::write(project.join("src/in/program"), "x").unwrap();
                    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o4755);
                    fs::set_permissions(project.join("src/in/program"), mode).unwrap();
                }
            }
            fs::create_dir_all(project.join("src/in/.git/hooks")).unwrap();
            git(&["add", "src/x"]);
            let output = place.shward(&["run", "--profile", "open", "--", command]);
            assert_eq!(code(&output), 0, "{command}: {output:?}");
            let show = "find . -path ./.git -prune -o -type f -printf '%p %m ' -exec cat {} \\; | sort";
            let listed = stdout(&place.program("/bin/sh").args(["-c", show]).output().unwrap());
            seen.push(listed);
        }
        assert_eq!(seen[0], seen[1], "{kind}: {rename}");
    }
}

/// What a policy lets a run write is for the run: little of it is taken for what is to be renamed.
#[test]
fn what_is_to_be_renamed_leaves_room_for_the_run() {
    let place = Place::new();
    if place.run("mkdir d; head -c 300000 /dev/zero > d/f").is_none() {
        return; // no overlay here
    }
    let policy = place.project().join("../policy.toml");
    for (bytes, renamed) in [(1_000_000, false), (10_000_000, true)] {
        fs::write(&policy, format!("[limits]\nrun-disk = {bytes}\n")).unwrap();
        let command = "/usr/bin/python3 -c 'import os; os.rename(\"d\", \"e\")'";
        let output = place.shward(&["run", "--policy", policy.to_str().unwrap(), "--", command]);
        assert_eq!(code(&output) == 0, renamed, "{output:?}");
        assert_eq!(place.project().join("e/f").exists(), renamed, "{output:?}");
    }
}

/// A run of which something cannot be taken back does not keep back those before it.
#[test]
fn undo_passes_over_what_it_has_tried() {
    let place = Place::new();
    let Some(_) = place.run("echo x > first.txt") else { return }; // no overlay here
    let id = place.run("echo x > second.txt").unwrap();
    fs::write(place.project().join("second.txt"), "mine\n").unwrap();
    let undone = place.shward(&["undo"]);
    assert_eq!(code(&undone), 1, "{undone:?}");
    assert!(stdout(&undone).contains(&format!("`shward undo {id}`")), "{undone:?}");
    let listed = stdout(&place.shward(&["undo", "--list"]));
    let mut lines = listed.lines();
    assert!(lines.next().unwrap().contains("something is left of it"), "{listed}");
    assert!(!lines.next().unwrap().contains("something is left of it"), "{listed}");
    assert_eq!(code(&place.shward(&["undo"])), 0);
    assert!(!place.project().join("first.txt").exists());
    // Nothing but what is left of that one; by its name it is tried again.
    let undone = place.shward(&["undo"]);
    assert_eq!(code(&undone), 0, "{undone:?}");
    assert!(stdout(&undone).contains("what is left of 1 runs"), "{undone:?}");
    assert_eq!(code(&place.shward(&["undo", &id])), 1);
    assert_eq!(fs::read_to_string(place.project().join("second.txt")).unwrap(), "mine\n");
}

/// What came before a run that cannot be taken back is not the last one.
#[test]
fn undo_stops_at_what_was_too_large_to_be_kept() {
    let place = Place::new();
    let policy = place.project().join("../policy.toml");
    fs::write(&policy, "extends = \"open\"\n[undo]\nsize = 100000\n").unwrap();
    fs::write(place.project().join("notes"), "v1\n").unwrap();
    fs::write(place.project().join("much"), vec![1; 400_000]).unwrap();
    let Some(id) = place.run("echo v2 > notes") else { return }; // no overlay here
    let output = place.shward(&["run", "--policy", policy.to_str().unwrap(), "--", "rm much"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be taken back"), "{output:?}");
    for args in [&["undo"][..], &["undo", "2"]] {
        let undone = place.shward(args);
        assert_eq!(code(&undone), 1, "{undone:?}");
        assert!(stdout(&undone).contains("cannot be taken back: rm much"), "{undone:?}");
    }
    let told = json_of(&place.shward(&["undo", "--json"]));
    assert_eq!(told["stopped_by"]["command"], "rm much");
    let undone = place.shward(&["undo", told["stopped_by"]["id"].as_str().unwrap()]);
    let error = String::from_utf8_lossy(&undone.stderr);
    assert!(code(&undone) != 0 && error.contains("cannot be taken back: there was no room"), "{undone:?}");
    let listed = stdout(&place.shward(&["undo", "--list"]));
    let told =
        listed.lines().map(|line| line.contains("no room for what was there before")).collect::<Vec<_>>();
    assert!(
        told == [true, false] && listed.lines().nth(1).is_some_and(|line| line.contains(&id)),
        "{listed}"
    );
    let listed = json_of(&place.shward(&["undo", "--list", "--json"]));
    assert_eq!(
        (&listed["not_kept"][0]["command"], &listed["runs"][0]["id"]),
        (&"rm much".into(), &id.as_str().into())
    );
    // What came after it goes.
    assert!(place.run("echo x > later").is_some());
    assert_eq!(code(&place.shward(&["undo", "2"])), 1);
    assert!(!place.project().join("later").exists());
    assert_eq!(fs::read_to_string(place.project().join("notes")).unwrap(), "v2\n");
    assert_eq!(code(&place.shward(&["undo", &id])), 0);
    assert_eq!(fs::read_to_string(place.project().join("notes")).unwrap(), "v1\n");
}

/// The prompt of a shell, or an editor, lets git write its index anew: that is nobody's change.
#[test]
fn undo_takes_back_an_index_that_was_only_refreshed() {
    let place = Place::new();
    let git = |words: &[&str]| place.program("git").args(words).output().unwrap();
    if !git(&["init", "-q"]).status.success() {
        eprintln!("SKIPPED: no git");
        return;
    }
    fs::write(place.project().join("a"), "x\n").unwrap();
    let commit = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q"];
    git(&["add", "a"]);
    assert!(git(&[&commit[..], &["-m", "one"]].concat()).status.success());
    for (outside, code_of_undo) in [(&["status"][..], 0), (&["add", "b"], 1)] {
        let Some(_) = place.run("echo y >> a; git add a") else { return }; // no overlay here
        let index = || fs::read(place.project().join(".git/index")).unwrap();
        let before = index();
        fs::write(place.project().join("b"), "mine\n").unwrap();
        git(outside);
        assert_ne!(index(), before, "{outside:?}");
        let undone = place.shward(&["undo"]);
        assert_eq!(code(&undone), code_of_undo, "{undone:?}");
        let left = stdout(&undone).contains(".git/index was changed since");
        assert_eq!(left, code_of_undo == 1, "{undone:?}");
        let staged = stdout(&git(&["diff", "--cached", "--name-only"]));
        assert_eq!(staged, if left { "a\nb\n" } else { "" });
    }
}

/// What is left is named and has an exit code, also where nothing but an empty directory was made.
#[test]
fn what_an_undo_leaves_is_named() {
    // made, done since, what is left and why, the whole of what is restored
    type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str], &'a [&'a str]);
    let table: &[Row] = &[
        ("mkdir s", &[("s/own", "x")], &["s holds files that are not the run's"], &[]),
        ("mkdir -p s/t", &[("s/t/own", "x")], &["s holds files that are not the run's"], &[]),
        ("mkdir s; echo x > s/f", &[("s/own", "x")], &["s holds files that are not the run's"], &["s/f"]),
        ("mkdir s", &[("s", "")], &["s was changed since"], &[]),
        ("mkdir s; mkfifo p", &[("s/own", "x")], &["s holds files that are not the run's"], &["p"]),
        ("mkdir s", &[], &[], &["s"]),
    ];
    for (command, since, left, restored) in table {
        let place = Place::new();
        let Some(_) = place.run(command) else { return }; // no overlay here
        for (path, content) in *since {
            let path = place.project().join(path);
            if content.is_empty() {
                fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
            } else {
                fs::write(path, content).unwrap();
            }
        }
        let output = place.shward(&["undo"]);
        let shown = stdout(&output);
        assert_eq!(code(&output), i32::from(!left.is_empty()), "{command}: {shown}");
        let told: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix("  left: ")).collect();
        assert_eq!(told, *left, "{command}: {shown}");
        let back: Vec<&str> =
            shown.lines().filter_map(|line| line.strip_prefix("  ")).filter(|l| !l.contains(' ')).collect();
        assert_eq!(back, *restored, "{command}: {shown}");
        for (path, _) in *since {
            assert!(place.project().join(path).exists(), "{command}: {path}");
        }
    }
}

#[test]
fn a_long_undo_is_listed_in_part_and_a_short_one_says_so() {
    let place = Place::new();
    fs::write(place.project().join("make.sh"), "for i in $(seq 101 200); do echo x > f$i; done\n").unwrap();
    let Some(_) = place.run("sh make.sh") else { return }; // no overlay here
    for i in 101..=150 {
        fs::write(place.project().join(format!("f{i}")), "mine\n").unwrap();
    }
    let output = place.shward(&["undo", "--list", "3"]);
    assert_eq!(code(&output), 64, "{output:?}");
    let output = place.shward(&["undo", "3"]);
    let shown = stdout(&output);
    assert_eq!(code(&output), 1, "{shown}");
    for line in ["  … and 10 more", "1 of 3 runs: no more are kept for this workspace"] {
        assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
    }
    assert_eq!(shown.matches("  left: f").count(), 40, "{shown}");
    assert!(shown.contains("  left: … and 10 more (`shward undo --json r"), "{shown}");
    let id = shown.split("undo --json ").nth(1).unwrap().split('`').next().unwrap();
    let again = json_of(&place.shward(&["undo", "--json", id]));
    assert_eq!(again["undone"][0]["skipped"].as_array().unwrap().len(), 50, "{again}");
    // A number that is too large leaves something, even if all that there was is back.
    place.run("echo x > one.txt").unwrap();
    let output = place.shward(&["undo", "2"]);
    assert_eq!(code(&output), 1, "{output:?}");
    assert!(stdout(&output).contains("1 of 2 runs"), "{output:?}");
    assert!(!place.project().join("one.txt").exists());
}

/// The program that the hook and the person start stays what it is, also where nobody could foresee that it would be changed.
#[test]
fn the_program_itself_is_not_replaced() {
    let place = Place::new();
    if place.run("echo x > made.txt").is_none() || !Path::new("/usr/bin/python3").exists() {
        return;
    }
    let guard = place.project().join("tools/guard");
    fs::create_dir(place.project().join("tools")).unwrap();
    Place::put_binary(&guard);
    let before = fs::metadata(&guard).unwrap().len();
    let script = "import os\nname = 'tools/' + os.listdir('tools')[0]\ntry:\n    os.remove(name)\n    open(name, 'w').write('x')\n\
                  except OSError as error:\n    print(error)\nopen('built.txt', 'w').write('y')\n";
    fs::write(place.project().join("build.py"), script).unwrap();
    for options in [&[][..], &["--live"]] {
        let mut own = place.program(guard.to_str().unwrap());
        own.args(["run", "--profile", "open"]).args(options).args(["--", "python3 build.py"]);
        let output = own.output().unwrap();
        assert_eq!(fs::metadata(&guard).unwrap().len(), before, "{options:?}: {output:?}");
        fs::remove_file(place.project().join("built.txt")).unwrap();
    }
}
