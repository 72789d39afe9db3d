//! What can be written, read, and not seen.

use std::fs;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::Command;

use shward_sandbox::{Confinement, Exit, Stage};

use crate::roles;
use crate::support::{Place, confinement, go, need_sandbox, snapshot, stdout, succeed, through_bubblewrap};

#[test]
fn nothing_outside_the_workspace_is_changed() {
    need_sandbox!();
    let place = Place::new();
    let before = snapshot(&place.outside());
    for script in [
        "echo x > $OUT/new",
        "echo x >> $OUT/victim.txt",
        "mkdir $OUT/d",
        "ln -s x $OUT/link",
        "ln -s $OUT/victim.txt l; echo x >> l",
        "ln -s $OUT d; echo x > d/new",
        "ln $OUT/victim.txt hard && echo x >> hard",
        "mv $OUT/victim.txt .",
        "mv $OUT $OUT.moved",
        "mv $WS $WS.moved",
        "rm -rf $OUT/victim.txt",
        "truncate -s 0 $OUT/victim.txt",
        "chmod 777 $OUT/victim.txt",
        "touch -d 2001-01-01 $OUT/victim.txt",
        "chown $(id -u) $OUT/victim.txt",
        "mkfifo $OUT/f",
        "echo x > /proc/self/root$OUT/new",
        "cd /proc/self/cwd/../out && echo x > new",
        "echo x > /new-in-root",
        "echo x > /etc/new-in-etc",
        "echo 1 > /proc/sys/kernel/core_pattern",
        "echo x > /dev/new-device",
    ] {
        let result = place.run(script);
        assert_ne!(result.exit, Exit::Exited(0), "{script}");
        assert_eq!(snapshot(&place.outside()), before, "{script}");
    }
    assert!(!Path::new("/new-in-root").exists() && !Path::new("/etc/new-in-etc").exists());
}

/// A read-only mount does not stop writing into a pipe: this is Landlock's part. (Inside private directories Landlock grants
/// writing, so a pipe in a read-only path below `/tmp` is not covered.)
#[test]
fn pipes_of_the_host_cannot_be_written() {
    need_sandbox!();
    let Some(parent) =
        ["/opt", "/var/lib"].map(Path::new).into_iter().find(|path| tempfile::tempfile_in(path).is_ok())
    else {
        eprintln!(
            "SKIPPED pipes_of_the_host_cannot_be_written: no directory that is writable here and not private inside"
        );
        return;
    };
    let place = Place::below(parent);
    let pipe = place.outside().join("pipe");
    Command::new("mkfifo").arg(&pipe).status().unwrap();
    // A reader, so that opening the pipe for writing would succeed at once.
    let _reader = fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    assert_eq!(place.run("echo x > $OUT/pipe").exit, Exit::Exited(1));
    assert_eq!(place.run("mkfifo p; (cat p > got) & echo x > p; wait; cat got").stdout.head, b"x\n");
}

#[test]
fn private_directories_are_empty_writable_and_gone_afterwards() {
    need_sandbox!();
    let place = Place::new();
    let mark = place.workspace().to_string_lossy().replace('/', "-");
    let script = format!(
        "for d in /tmp /var/tmp /dev/shm /run; do echo x > $d/{mark} && cat $d/{mark}; done; mktemp; ls -A /run"
    );
    let text = succeed(&place.shell(&script));
    assert!(text.starts_with("x\nx\nx\nx\n/tmp/"), "{text}");
    assert!(text.ends_with(&format!("\n{mark}\n")), "{text}");
    for directory in ["/tmp", "/var/tmp", "/dev/shm", "/run"] {
        assert!(!Path::new(directory).join(&mark).exists(), "{directory}");
    }
}

#[test]
fn the_workspace_works_and_lies_where_it_lay() {
    need_sandbox!();
    let mut parents: Vec<PathBuf> = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from).to_vec();
    // SAFETY: no preconditions.
    if unsafe { libc::geteuid() } == 0 {
        parents.extend(["/root", "/home", "/opt"].map(PathBuf::from));
    }
    for parent in parents.iter().filter(|parent| parent.is_dir()) {
        let place = Place::below(parent);
        let script = "set -e; pwd; mkdir -p a/b; echo hi > a/b/f; ln -s b a/l; cat a/l/f; mv a/b/f g; cp g h; rm h; \
            ln g i; printf '#!/bin/sh\necho ran\n' > s; chmod +x s; ./s; test -e /usr/bin/env; ls $OUT";
        let text = succeed(&place.shell(script));
        assert_eq!(text, format!("{}\nhi\nran\nvictim.txt\n", place.workspace().display()), "{parent:?}");
        assert_eq!(fs::read_to_string(place.workspace().join("g")).unwrap(), "hi\n");
    }
}

#[test]
fn a_single_file_can_be_writable() {
    need_sandbox!();
    let place = Place::new();
    let file = place.outside().join("victim.txt");
    let confinement = confinement("/bin/bash", "/usr")
        .arguments([
            "bash",
            "-c",
            "cat \"$0\"; echo changed > \"$0\"; echo x > \"$0.new\"",
            file.to_str().unwrap(),
        ])
        .variable("PATH", "/usr/bin:/bin")
        .writable(&file);
    assert_eq!(stdout(&go(&confinement)), "victim\n");
    assert_eq!(fs::read_to_string(&file).unwrap(), "changed\n");
    assert!(!place.outside().join("victim.txt.new").exists());
}

#[test]
fn what_runs_and_where_is_visible_without_being_writable() {
    need_sandbox!();
    let place = Place::new();
    let program = place.outside().join("program");
    Command::new("cp").arg("/bin/bash").arg(&program).status().unwrap();
    let script = "pwd; ls; touch new 2> /dev/null; test ! -e new; echo x 2> /dev/null > ../ws/new; echo $?";
    let confinement = confinement(&program, place.outside())
        .arguments(["bash", "-c", script])
        .variable("PATH", "/usr/bin:/bin");
    assert_eq!(succeed(&confinement), format!("{}\nprogram\nvictim.txt\n1\n", place.outside().display()));
    assert!(!place.workspace().join("new").exists());
}

#[test]
fn thousands_of_paths_need_few_descriptors() {
    need_sandbox!();
    let place = Place::new();
    for number in 0..2000 {
        fs::write(place.workspace().join(format!("h{number}")), "SECRET\n").unwrap();
        fs::write(place.workspace().join(format!("p{number}")), format!("{number}\n")).unwrap();
    }
    let role = roles::command("many", &place.workspace());
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -n 64; exec \"$0\" \"$@\""]).arg(role.get_program()).args(role.get_args());
    let done = shell.envs(role.get_envs().filter_map(|(name, value)| Some((name, value?)))).output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(text.contains("=> 1 1999 end "), "{text}");
}

#[test]
fn where_descriptions_overlap_the_narrower_wins() {
    need_sandbox!();
    let place = Place::new();
    let ws = place.workspace();
    fs::create_dir_all(ws.join("a/b")).unwrap();
    let outside = format!("/tmp/shward-overlap-{}", std::process::id());
    let script = format!("touch x a/x a/b/x {outside}; cat secret a/secret");
    type Change = fn(Confinement, &Path) -> Confinement;
    let table: [(Change, &str); 6] = [
        (|c, _| c, "x a/x a/b/x"),
        (|c, ws| c.read_only(ws), ""),
        (|c, ws| c.read_only(ws.join("a")), "x"),
        (|c, ws| c.read_only(ws.join("a")).writable(ws.join("a/b")), "x a/b/x"),
        (|c, ws| c.hidden(ws.join("a")), "x"),
        (|c, ws| c.read_only(ws.join("a")).hidden(ws.join("a")), "x"),
    ];
    for (number, (change, written)) in table.into_iter().enumerate() {
        go(&change(place.shell(&script), &ws));
        let found = ["x", "a/x", "a/b/x"].into_iter().filter(|name| fs::remove_file(ws.join(name)).is_ok());
        assert_eq!(found.collect::<Vec<_>>().join(" "), written, "{number}");
        assert!(!Path::new(&outside).exists());
    }
}

/// Every combination of descriptions on a small tree, as far as a fixed sequence of random numbers leads, against the rule in
/// one sentence: hidden wins wherever it is above, else the deepest description decides, else nothing is written.
#[test]
fn random_layouts_mean_what_they_say() {
    need_sandbox!();
    const DIRECTORIES: [&str; 7] = ["a", "a/b", "a/b/c", "a/b/c/d", "a/e", "a/e/f", "g"];
    let mut random = 12_345u64;
    let mut choose = |sides: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % sides
    };
    let mut parents = vec![Path::new("/tmp")];
    parents.extend(tempfile::tempfile_in("/opt").is_ok().then_some(Path::new("/opt")));
    let mut ran = 0;
    for round in 0..60 {
        let parent = parents[round % parents.len()];
        let (place, private) = (Place::below(parent), parent == Path::new("/tmp"));
        let root = place.workspace();
        let script = "for d in \"$@\"; do echo NEW > $d/new; cat $d/data || echo; done 2> /dev/null";
        let directories = DIRECTORIES.map(|name| root.join(name));
        let mut confinement = confinement("/bin/bash", "/usr")
            .arguments(
                [&["bash", "-c", script, "bash"], &directories.each_ref().map(|d| d.to_str().unwrap())[..]]
                    .concat(),
            )
            .variable("PATH", "/usr/bin:/bin");
        let mut chosen = Vec::new();
        for directory in &directories {
            fs::create_dir(directory).unwrap();
            fs::write(directory.join("data"), "DATA\n").unwrap();
            let choice = choose(6);
            chosen.push((directory, choice));
            confinement = match choice {
                0 | 1 => confinement.writable(directory),
                2 => confinement.read_only(directory),
                3 => confinement.hidden(directory),
                _ => confinement,
            };
        }
        let above = |directory: &Path, wanted: &[u64]| {
            let found =
                chosen.iter().filter(|(d, choice)| directory.starts_with(d) && wanted.contains(choice));
            found.max_by_key(|(d, _)| d.as_os_str().len()).map(|(_, choice)| *choice)
        };
        let contradiction = chosen.iter().any(|(d, choice)| *choice < 2 && above(d, &[3]).is_some());
        match confinement.prepare() {
            Err(error) => {
                assert!(contradiction, "{chosen:?} {error}");
                continue;
            }
            Ok(_) => assert!(!contradiction, "{chosen:?}"),
        }
        ran += 1;
        let text = stdout(&go(&confinement));
        for (line, directory) in text.lines().zip(&directories) {
            let hidden = above(directory, &[3]).is_some();
            let decides = above(directory, &[0, 1, 2]);
            let visible = !hidden && (!private || decides.is_some());
            assert_eq!(line == "DATA", visible, "{directory:?} of {chosen:?}: {text}");
            let written = !hidden && matches!(decides, Some(0 | 1));
            assert_eq!(directory.join("new").exists(), written, "{directory:?} of {chosen:?}");
        }
        assert_eq!(text.lines().count(), directories.len());
    }
    assert!(ran > 20, "{ran}");
}

#[test]
fn odd_names_are_only_names() {
    need_sandbox!();
    for name in ["a b", "a,b=c", "a\nb", "a\\040b", "-rf", "*", "\u{e9}", "..."] {
        let place = Place::new();
        let workspace = place.workspace().join(name);
        fs::create_dir(&workspace).unwrap();
        fs::write(workspace.join("secret"), "SECRET").unwrap();
        let confinement = confinement("/bin/bash", &workspace)
            .arguments(["bash", "-c", "cat secret; echo x > new; echo x > ../new; pwd"])
            .variable("PATH", "/usr/bin:/bin")
            .writable(&workspace)
            .hidden(workspace.join("secret"));
        assert_eq!(stdout(&go(&confinement)), format!("{}\n", workspace.display()), "{name:?}");
        assert!(workspace.join("new").exists() && !place.workspace().join("new").exists(), "{name:?}");
    }
}

#[test]
fn hidden_paths_stay_hidden() {
    need_sandbox!();
    let place = Place::new();
    let ws = place.workspace();
    fs::create_dir_all(ws.join("sub/keys")).unwrap();
    for name in [".env", "sub/.env", "sub/keys/id"] {
        fs::write(ws.join(name), "SECRET").unwrap();
    }
    std::os::unix::fs::symlink("sub/.env", ws.join("link")).unwrap();
    let before = snapshot(&ws);
    let scripts = [
        "cat .env sub/.env sub/keys/id link",
        "grep -r SECRET .",
        "ln .env z; cat z",
        "mv .env z; cat z; rm -f .env; cat .env",
        "mv sub other; cat other/.env other/keys/id; mv other sub",
        "cp -r . /tmp/copy; grep -r SECRET /tmp/copy",
        "cat /proc/self/root$WS/.env /proc/1/root$WS/.env /proc/self/cwd/.env",
        "cat $WS/../ws/.env; cd sub/keys && cat id",
        "chmod 777 .env sub/keys; echo x > .env; echo x > sub/keys/new; cat .env",
    ];
    for (script, readable) in scripts.iter().flat_map(|script| [(script, true), (script, false)]) {
        let mut confinement = place.shell(script);
        for path in [".env", "link", "sub/keys", "missing"] {
            confinement = match readable {
                true => confinement.hidden(ws.join(path)),
                false => confinement.unreadable(ws.join(path)),
            };
        }
        let result = go(&confinement);
        let text = format!("{}{}", stdout(&result), result.stderr.to_text());
        assert!(!text.contains("SECRET"), "{script}: {text}");
        assert_eq!(
            snapshot(&ws).into_iter().filter(|(path, _)| !path.is_dir()).collect::<Vec<_>>(),
            before.clone().into_iter().filter(|(path, _)| !path.is_dir()).collect::<Vec<_>>(),
            "{script}"
        );
    }
    // Empty, or an error.
    let script = "for what in 'cat .env' 'ls sub/keys'; do $what 2>&- && echo read || echo no; done";
    let shell = place.shell(script);
    let empty = shell.clone().hidden(ws.join(".env")).hidden(ws.join("sub/keys"));
    assert_eq!(stdout(&go(&empty)), "read\nread\n");
    let error = shell.unreadable(ws.join(".env")).unreadable(ws.join("sub/keys"));
    assert_eq!(stdout(&go(&error)), "no\nno\n");
}

#[test]
fn an_emptied_directory_holds_what_is_given_in_it_and_nothing_else() {
    need_sandbox!();
    if through_bubblewrap() {
        return;
    }
    // Outside of every private directory.
    let built = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let private = ["/tmp", "/var/tmp", "/run", "/dev/shm"].iter().any(|private| built.starts_with(private));
    if private || tempfile::tempdir_in(built).is_err() {
        eprintln!("SKIPPED: {} is private in every sandbox, or cannot be written", built.display());
        return;
    }
    let place = Place::below(built);
    let (ws, out) = (place.workspace(), place.outside());
    let home = ws.parent().unwrap().to_owned();
    fs::write(out.join("key"), "SECRET").unwrap();
    fs::write(home.join("key"), "SECRET").unwrap();
    fs::write(ws.join("inside"), "").unwrap();
    std::os::unix::fs::symlink("../key", ws.join("link")).unwrap();
    let script = "cat link ../key ../out/key $WS/../key /proc/self/root$WS/../key; ls -A ..; ls; pwd; touch new
        (echo x > ../new; mkdir ../sub; mv ../ws ../other; rmdir ../ws; chmod 700 ..; touch ..) && echo changed";
    for read_only in [false, true] {
        let confinement = confinement("/bin/bash", &ws)
            .arguments(["bash", "-c", script])
            .variable("PATH", "/usr/bin:/bin")
            .variable("WS", &ws)
            .emptied(&home)
            .hidden(out.join("key"));
        let confinement = if read_only { confinement.read_only(&ws) } else { confinement.writable(&ws) };
        let result = go(&confinement);
        let expected = format!("ws\ninside\nlink\n{}\n", ws.display());
        assert_eq!(stdout(&result), expected, "{}", result.stderr.to_text());
        assert!(!result.stderr.to_text().contains("SECRET"));
        assert_eq!(ws.join("new").exists(), !read_only);
        assert!(!home.join("new").exists() && home.join("key").exists());
        let _ = fs::remove_file(ws.join("new"));
    }
    // Several levels, and a directory of its own in it.
    let deep = ws.join("a/b");
    fs::create_dir_all(&deep).unwrap();
    fs::create_dir(ws.join("c")).unwrap();
    let confinement = confinement("/bin/bash", &deep)
        .arguments([
            "bash",
            "-c",
            "find ../.. -mindepth 1 | sort; touch here ../../c/here && ls -A . ../../c",
        ])
        .variable("PATH", "/usr/bin:/bin")
        .writable(&deep)
        .private(ws.join("c"))
        .emptied(&ws);
    assert_eq!(stdout(&go(&confinement)), "../../a\n../../a/b\n../../c\n.:\nhere\n\n../../c:\nhere\n");
    assert!(deep.join("here").exists() && !ws.join("c/here").exists());
    // A file has no place there.
    let refused = Confinement::new("/bin/true", &deep).writable(ws.join("inside")).emptied(&ws).prepare();
    assert_eq!(refused.unwrap_err().stage, Stage::Request);
}

#[test]
fn read_only_paths_inside_the_workspace_cannot_be_changed() {
    need_sandbox!();
    let place = Place::new();
    let ws = place.workspace();
    fs::create_dir_all(ws.join(".git/hooks")).unwrap();
    fs::write(ws.join(".git/hooks/pre-commit"), "original").unwrap();
    fs::write(ws.join("policy.toml"), "original").unwrap();
    for (script, exit) in [
        ("echo pwn > .git/hooks/pre-commit", 1),
        ("echo pwn > .git/hooks/post-commit", 1),
        ("chmod +x .git/hooks/pre-commit", 1),
        ("rm -rf .git/hooks 2> /dev/null; mkdir .git/hooks && echo pwn > .git/hooks/pre-commit", 1),
        ("mv .git/hooks .git/old", 1),
        ("mv .git .old && mkdir -p .git/hooks && echo pwn > .git/hooks/pre-commit", 1),
        ("rm -rf .git 2> /dev/null; test -e .git/hooks/pre-commit", 0),
        ("echo pwn > policy.toml", 1),
        ("echo pwn > new && mv -f new policy.toml", 1),
        ("rm -f policy.toml", 1),
        ("echo fine > .git/index && cat policy.toml .git/hooks/pre-commit > /dev/null", 0),
    ] {
        let confinement =
            place.shell(script).read_only(ws.join(".git/hooks")).read_only(ws.join("policy.toml"));
        let result = go(&confinement);
        assert_eq!(result.exit, Exit::Exited(exit), "{script}: {}", result.stderr.to_text());
        for path in [".git/hooks/pre-commit", "policy.toml"] {
            assert_eq!(fs::read_to_string(ws.join(path)).unwrap(), "original", "{script}");
        }
        assert!(!ws.join(".git/hooks/post-commit").exists());
    }
    assert_eq!(fs::read_to_string(ws.join(".git/index")).unwrap(), "fine\n");
}

#[test]
fn sockets_of_the_host_cannot_be_reached() {
    need_sandbox!();
    let place = Place::new();
    for directory in [place.outside(), place.workspace()] {
        let (stream, datagram) = (directory.join("s"), directory.join("d"));
        let listener = UnixListener::bind(&stream).unwrap();
        listener.set_nonblocking(true).unwrap();
        let receiver = UnixDatagram::bind(&datagram).unwrap();
        receiver.set_nonblocking(true).unwrap();
        for (role, path) in [("unix-stream", &stream), ("unix-datagram", &datagram)] {
            assert_eq!(roles::outside(role, path), "done", "{role}");
            let inside = roles::inside(&place.shell(""), role, path);
            assert!(inside.starts_with("refused"), "{role}: {inside}");
        }
        assert!(listener.accept().is_ok() && listener.accept().is_err(), "only the one from outside arrived");
        assert!(receiver.recv(&mut [0; 9]).is_ok() && receiver.recv(&mut [0; 9]).is_err());
    }
    assert_eq!(roles::inside(&place.shell(""), "unix-own", place.workspace().join("own")), "done");
}

#[test]
fn only_harmless_devices_open() {
    need_sandbox!();
    let place = Place::new();
    let script = "set -e; head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c; echo x > /dev/null; \
        ! echo x > /dev/full; for d in /dev/kmsg /dev/hwrng /dev/console /dev/tty /dev/tty0; do \
        if (: < $d) 2> /dev/null; then echo opened $d; fi; done; ls /dev/pts";
    assert_eq!(succeed(&place.shell(script)), "3\n3\nptmx\n");
}

#[test]
fn every_mount_is_restricted() {
    need_sandbox!();
    let place = Place::new();
    let text = succeed(&place.shell("cat /proc/self/mountinfo"));
    let writable = ["/tmp", "/var/tmp", "/dev/shm", "/run"].map(str::to_owned);
    assert!(text.lines().count() > 8);
    let all: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    // Which mounts lie over a mount, and what has been mounted since over it or over one of them is all that is seen there.
    let above = |id: &str| {
        let mut above = vec![id.to_owned()];
        while let Some(mount) = all.iter().find(|mount| above.last().is_some_and(|id| mount[0] == id)) {
            above.push(mount[1].to_owned());
        }
        above
    };
    let covered = |id: &str, point: &str| {
        let above = above(id);
        let is = |id: &str| above.iter().any(|known| known == id);
        all.iter().any(|mount| !is(mount[0]) && is(mount[1]) && Path::new(point).starts_with(mount[4]))
    };
    for (line, fields) in text.lines().zip(&all) {
        if covered(fields[0], fields[4]) {
            continue;
        }
        let (point, options) = (fields[4], fields[5].split(',').collect::<Vec<_>>());
        assert!(options.contains(&"nosuid"), "{line}");
        let device = point.starts_with("/dev/") && point != "/dev/shm";
        assert!(options.contains(&"nodev") || device, "{line}");
        let may_write =
            device || writable.contains(&point.to_owned()) || point == place.workspace().to_str().unwrap();
        assert!(options.contains(&"ro") || may_write, "{line}");
    }
}
