//! Namespaces by bubblewrap, where only it may make them; with the real bubblewrap.
//!
//! A filter of system calls refuses us what AppArmor refuses where its restriction is on: a process in a new user namespace. bubblewrap
//! makes its own by a call without `CLONE_VM`, which the filter lets pass.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use shward_sandbox::{Confinement, Gap, Guarantee, Options, run};

use crate::roles;
use crate::support::{Place, THROUGH, go, need_sandbox, stdout, through_bubblewrap};

/// Whether bubblewrap makes sandboxes here; says so when not.
fn usable() -> bool {
    let there = shward_sandbox::features().bubblewrap;
    let made = there.map_err(|why| why.clone()).and_then(|_| {
        let plan = through("/bin/true").prepare().map_err(|error| error.to_string())?;
        run(&plan, Options::default()).map(drop).map_err(|error| error.to_string())
    });
    if let Err(why) = &made {
        eprintln!("SKIPPED: bubblewrap makes no sandbox here: {why}");
    }
    made.is_ok()
}

fn through(program: &str) -> Confinement {
    Confinement::new(program, "/").without(&[Guarantee::OwnNamespaces])
}

/// Refuses the command, and what it starts, user namespaces the way we make them.
fn restricted(command: &mut Command) {
    const LOAD: u16 = 0x20;
    const AND: u16 = 0x54;
    const EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    const REFUSED: u32 = 0x0005_0000;
    const ALLOWED: u32 = 0x7fff_0000;
    let ours = (libc::CLONE_NEWUSER | libc::CLONE_VM) as u32;
    let ahead = (libc::CLONE_NEWUSER | libc::CLONE_NEWNET) as u32;
    // Code, jump if so, jump if not, operand.
    let program: [(u16, u8, u8, u32); 14] = [
        (LOAD, 0, 0, 0), // the number
        (EQUAL, 3, 0, libc::SYS_clone as u32),
        (EQUAL, 5, 0, libc::SYS_unshare as u32),
        (EQUAL, 9, 0, libc::SYS_clone3 as u32),
        (RETURN, 0, 0, ALLOWED),
        (LOAD, 0, 0, 16), // the flags
        (AND, 0, 0, ours),
        (EQUAL, 4, 3, ours),
        (LOAD, 0, 0, 16),
        (AND, 0, 0, ahead),
        (EQUAL, 1, 0, ahead),
        (RETURN, 0, 0, ALLOWED),
        (RETURN, 0, 0, REFUSED | libc::EPERM as u32),
        (RETURN, 0, 0, REFUSED | libc::ENOSYS as u32),
    ];
    let instructions = program.map(|(code, yes, no, operand)| {
        u64::from(code) | u64::from(yes) << 16 | u64::from(no) << 24 | u64::from(operand) << 32
    });
    let install = move || {
        let header = [instructions.len() as u64, instructions.as_ptr() as u64];
        // SAFETY: takes numbers.
        unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
        // SAFETY: the header is a `struct sock_fprog` of instructions that outlive the call.
        match unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const header) }
        {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: the closure makes two system calls and nothing else.
    unsafe { command.pre_exec(install) };
}

fn restricted_role(role: &str, subject: &str) -> String {
    let mut command = roles::command(role, Path::new(subject));
    restricted(&mut command);
    roles::answer_of(command)
}

/// Nothing is run until a person accepts by name what bubblewrap cannot keep; then it runs, and the plan says so.
#[test]
fn where_only_bubblewrap_may_its_losses_have_to_be_accepted() {
    need_sandbox!();
    if !usable() || through_bubblewrap() {
        return;
    }
    assert_eq!(restricted_role("guarantees", ""), "missing: own-namespaces unknown:");
    for other in ["fresh-proc", "user-ns"] {
        let refused = restricted_role("accepting", other);
        assert!(refused.starts_with("refused: sandbox: clone"), "{refused}");
        assert!(refused.contains("apparmor_restrict_unprivileged_userns"), "{refused}");
    }
    assert_eq!(restricted_role("accepting", "own-namespaces"), "ran, gaps: own-namespaces");
}

/// Where we may make namespaces ourselves bubblewrap is not asked.
#[test]
fn what_is_given_is_made_by_ourselves() {
    need_sandbox!();
    let confinement = Confinement::new("/bin/true", "/").accept_missing(&[Guarantee::OwnNamespaces]);
    let plan = confinement.prepare().unwrap();
    assert!(plan.gaps().is_empty() && !plan.to_string().contains("bwrap"), "{plan}");
}

/// What bubblewrap cannot make is an error, and no weaker sandbox.
#[test]
fn what_bubblewrap_cannot_make_is_refused() {
    need_sandbox!();
    if !usable() {
        return;
    }
    let refused = [through("/bin/true").terminal(), through("/bin/true").allow_exec("/bin/true")];
    for wanted in refused {
        let error = wanted.prepare().unwrap_err();
        assert!(error.to_string().contains("for which bubblewrap makes the namespaces"), "{error}");
    }
    let plan = through("/bin/true").prepare().unwrap();
    assert!(plan.gaps().contains(&Gap::Accepted(Guarantee::OwnNamespaces)));
    // SAFETY: cannot fail, no preconditions.
    assert_eq!(plan.gaps().contains(&Gap::ProcessLimit), unsafe { libc::geteuid() } == 0);
}

/// A command that cannot be started is told from one that ends with the same status; its words and variables are exact.
#[test]
fn the_command_is_the_one_that_was_planned() {
    need_sandbox!();
    if !usable() {
        return;
    }
    let error = run(&through("/no/such/program").prepare().unwrap(), Options::default()).unwrap_err();
    assert_eq!((error.stage.name(), error.errno), ("execute", libc::ENOENT), "{error}");
    let script = "printf '%s,' \"$0\" \"$@\"; cat /proc/self/environ | tr '\\0' ','; ls /proc/self/fd | wc -l; exit 127";
    let wanted = through("/bin/bash").arguments(["own name", "-c", script, "a", "", "b c"]);
    let result = go(&wanted.variable("EMPTY", "").variable("PATH", "/usr/bin:/bin"));
    assert_eq!(result.exit.code(), 127);
    let said = stdout(&result);
    assert!(
        said.starts_with("a,,b c,") && said.contains("EMPTY=,") && said.contains("PATH=/usr/bin:/bin,"),
        "{said}"
    );
    assert!(!said.contains("HOME") && said.ends_with("4\n"), "{said}"); // the three, and the directory itself
}

/// Not a word of bubblewrap is believed: one that leaves something out starts nothing.
#[test]
fn a_bubblewrap_that_does_less_is_found_out() {
    need_sandbox!();
    // SAFETY: cannot fail, no preconditions.
    if unsafe { libc::geteuid() } != 0 || through_bubblewrap() || !usable() {
        eprintln!("SKIPPED: only root can put another program in the place of bubblewrap");
        return;
    }
    let place = Place::new();
    let (fake, real) = (place.outside().join("bwrap"), place.outside().join("real"));
    fs::copy("/usr/bin/bwrap", &real).unwrap();
    let played = |change: &str| {
        let text = format!(
            "#!/bin/bash\nmapfile -d '' -t words <&10\n\
             out=(); last=\nfor word in \"${{words[@]}}\"; do\n{change}\nout+=(\"$word\"); last=$word; done\n\
             exec 10< <(printf '%s\\0' \"${{out[@]}}\")\nexec {} \"$@\"\n",
            real.display()
        );
        fs::write(&fake, text).unwrap();
        fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = Command::new("unshare");
        let script = "mount --bind \"$0\" /usr/bin/bwrap && exec \"$@\"";
        command.args(["--mount", "sh", "-c", script]).arg(&fake);
        let mut command = roles::through(command, "touch", &place.workspace());
        command.env(THROUGH, "yes").stderr(Stdio::inherit());
        let said = roles::answer_of(command);
        let ran = fs::remove_file(place.workspace().join("mark")).is_ok();
        assert_eq!(ran, said == "Exited(0)", "{said}");
        said
    };
    assert_eq!(played(""), "Exited(0)", "the true one by way of a script");
    for (change, found) in [
        ("[ \"$word\" = --unshare-net ] && continue", "net is a namespace of its own"),
        ("[ \"$word\" = --unshare-ipc ] && continue", "ipc is a namespace of its own"),
        ("[ \"$word\" = --unshare-uts ] && continue", "uts is a namespace of its own"),
        ("[ \"$word\" = --unshare-cgroup ] && continue", "cgroup is a namespace of its own"),
        ("[ \"$word\" = --as-pid-1 ] && continue", "process 1"),
        ("[ \"$word\" = --cap-drop ] && word=--cap-add", "no capabilities"),
        ("[ \"$word\" = --ro-bind ] && word=--bind", "/ is there, and ro"),
        ("[ \"$word\" = --ro-bind ] && word=--dev-bind", "/ is there, and ro"),
        ("[ \"$word $last\" = '/proc --remount-ro' ] && word=/dev", "/proc is there"),
        ("[ \"$word $last\" = '/dev --remount-ro' ] && word=/proc", "/dev is there"),
        ("[ \"$word\" = /etc/passwd ] && word=/etc/group", "/etc/passwd is not what is seen outside"),
        ("[ \"$word $last\" = '/tmp --tmpfs' ] && word=/mnt", "/tmp is not what is seen outside"),
    ] {
        let said = played(change);
        assert!(said.contains("bubblewrap: confirm that") && said.contains(found), "{change}: {said}");
    }
    let said = played("exit 3");
    assert!(said.contains("bubblewrap has not made the sandbox"), "{said}");
}

/// The tests of what a sandbox keeps, with namespaces of bubblewrap's. What it cannot make is left out, and so is what is about how we make
/// ours.
#[test]
fn again_through_bubblewrap() {
    need_sandbox!();
    if through_bubblewrap() || !usable() {
        return;
    }
    let left_out = [
        "again_",
        "ahead::",
        "bubblewrap::",
        "crash::",
        "filesystem::thousands_of_paths_need_few_descriptors", // each takes one
        "gate::a_program_that_could_be_replaced_is_not_listed",
        "gate::nothing_but_the_list_is_executed",
        "gate::what_is_on_the_list",
        "groups::",
        "guarantees::",
        "errors::where_the_kernel_refuses_nothing_runs",
        "open::",
        "commits::",
        "overlay::",
        "renames::",
        "terminal::",
    ];
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--test-threads", "2"]);
    for name in left_out {
        command.args(["--skip", name]);
    }
    let done = command.env(THROUGH, "yes").process_group(0).output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{text}\n{}", String::from_utf8_lossy(&done.stderr));
    let passed = text.lines().filter(|line| line.ends_with("... ok")).count();
    assert!(passed > 45, "{text}");
}
