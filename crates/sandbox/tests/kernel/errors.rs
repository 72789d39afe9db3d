//! What cannot be started is an error with its stage, and nothing has run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use shward_sandbox::{Confinement, Options, SandboxError, Stage, run};

use crate::roles;
use crate::support::{Place, confinement, need_sandbox, through_bubblewrap};

fn attempt(confinement: &Confinement) -> Result<(), SandboxError> {
    run(&confinement.prepare()?, Options::default()).map(drop)
}

#[test]
fn programs_that_cannot_start() {
    need_sandbox!();
    let place = Place::new();
    let ws = place.workspace();
    fs::write(ws.join("plain"), "no program\n").unwrap();
    fs::write(ws.join("no-interpreter"), "#!/does/not/exist\n").unwrap();
    fs::write(ws.join("text"), "just words\n").unwrap();
    for name in ["no-interpreter", "text"] {
        fs::set_permissions(ws.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let here = |name: &str| confinement(ws.join(name), &ws).writable(&ws);
    let huge = "x".repeat(200_000);
    for (confinement, stage, errno) in [
        (here("missing"), Stage::Execute, libc::ENOENT),
        (here("plain"), Stage::Execute, libc::EACCES),
        (here("no-interpreter"), Stage::Execute, libc::ENOENT),
        (here("text"), Stage::Execute, libc::ENOEXEC),
        (here(""), Stage::Execute, libc::EACCES),
        (confinement("/bin/true", ws.join("gone")), Stage::Path, libc::ENOENT),
        (confinement("/bin/true", "/usr").arguments(["true", &huge]), Stage::Execute, libc::E2BIG),
    ] {
        let error = attempt(&confinement).unwrap_err();
        assert_eq!((error.stage, error.errno), (stage, errno), "{error}");
        assert!(error.to_string().contains(stage.name()), "{error}");
    }
}

/// What would take everything else back is no writable root, and neither is what lies in something hidden.
#[test]
fn what_cannot_be_writable() {
    need_sandbox!();
    let place = Place::new();
    let link = place.workspace().join("link");
    std::os::unix::fs::symlink("/", &link).unwrap();
    let device = std::path::Path::new("/dev/null");
    for root in [
        std::path::Path::new("/"),
        "/proc".as_ref(),
        "/proc/sys".as_ref(),
        "/sys".as_ref(),
        "/dev".as_ref(),
        device,
        &link,
    ] {
        let error = place.shell("true").writable(root).prepare().unwrap_err();
        assert!(error.to_string().contains("cannot be a writable root"), "{root:?}: {error}");
    }
    for hidden in [place.workspace(), place.workspace().parent().unwrap().to_owned()] {
        let error = place.shell("true").hidden(hidden).prepare().unwrap_err();
        assert!(error.to_string().contains("lies inside the hidden path"), "{error}");
    }
}

#[test]
fn a_directory_that_vanished_since_the_plan() {
    need_sandbox!();
    let place = Place::new();
    let ws = place.workspace();
    let sub = ws.join("sub");
    fs::create_dir(&sub).unwrap();
    let plan = confinement("/bin/bash", &sub).arguments(["bash", "-c", "echo ran"]).writable(&ws);
    let plan = plan.prepare().unwrap();
    fs::remove_dir(&sub).unwrap();
    assert_eq!(run(&plan, Options::default()).unwrap_err().stage, Stage::Cwd);
}

#[test]
fn a_path_swapped_for_a_link_since_the_plan() {
    need_sandbox!();
    let place = Place::new();
    let (ws, swapped) = (place.workspace(), place.workspace().join("sub"));
    fs::create_dir(&swapped).unwrap();
    let plan = place.shell("echo pwn >> sub/victim.txt").writable(&swapped).prepare().unwrap();
    fs::rename(&swapped, ws.join("away")).unwrap();
    std::os::unix::fs::symlink(place.outside(), &swapped).unwrap();
    let error = run(&plan, Options::default()).unwrap_err();
    match through_bubblewrap() {
        true => assert_eq!(error.stage, Stage::Bubblewrap, "{error}"),
        false => assert_eq!((error.stage, error.errno), (Stage::Mount, libc::ELOOP), "{error}"),
    }
    assert_eq!(fs::read_to_string(place.outside().join("victim.txt")).unwrap(), "victim\n");
}

/// Kernels that give less, imitated in a namespace that unshare(1) makes.
#[test]
fn where_the_kernel_refuses_nothing_runs() {
    need_sandbox!();
    let usable = Command::new("unshare").args(["-Urmpf", "true"]).stderr(Stdio::null()).status();
    if !usable.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED where_the_kernel_refuses_nothing_runs: unshare(1) cannot be used");
        return;
    }
    let place = Place::new();
    for (preparation, message) in [
        ("mount -t proc proc /proc", "Exited(0)"),
        ("echo 0 > /proc/sys/user/max_user_namespaces", "user.max_user_namespaces"),
        ("echo 0 > /proc/sys/user/max_net_namespaces", "clone"),
        ("mount -t proc proc /proc; mount --bind /dev/null /proc/meminfo", "systempaths=unconfined"),
        ("mount -t tmpfs none /proc", "id-map"),
        ("mount -t proc proc /proc; ulimit -n 10", "raise `ulimit -n`"),
    ] {
        let touch = roles::command("touch", &place.workspace());
        let mut shell = Command::new("unshare");
        shell.args(["-Urmpf", "sh", "-c", &format!("{preparation}; exec \"$0\" \"$@\"")]);
        shell.arg(touch.get_program()).args(touch.get_args());
        shell.envs(touch.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let done = shell.output().unwrap();
        let text = String::from_utf8_lossy(&done.stdout);
        assert!(text.contains(message), "{preparation}: {text} {}", String::from_utf8_lossy(&done.stderr));
        let mark = place.workspace().join("mark");
        assert_eq!(fs::remove_file(mark).is_ok(), message == "Exited(0)", "{preparation}");
    }
}
