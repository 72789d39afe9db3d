//! A run that is not confined: everything may be done, and still nothing is left.

use std::time::Duration;

use shward_sandbox::{Confinement, Exit, Limits, Options, run};

use crate::support::{Place, confinement, need_sandbox, stdout, succeed};

fn open(place: &Place, script: &str) -> Confinement {
    confinement("/bin/bash", place.workspace())
        .arguments(["bash", "-c", script])
        .variable("PATH", "/usr/bin:/bin")
        .variable("OUT", place.outside())
        .unconfined()
}

#[test]
fn it_may_do_what_the_user_may() {
    need_sandbox!();
    let place = Place::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!("echo x > $OUT/made && (exec 3<>/dev/tcp/127.0.0.1/{port}) && echo reached");
    assert_eq!(succeed(&open(&place, &script)), "reached\n");
    assert!(place.outside().join("made").exists());
}

#[test]
fn it_is_in_order_and_gains_no_rights() {
    need_sandbox!();
    let place = Place::new();
    let script = "grep -E '^(NoNewPrivs|SigBlk|SigIgn)' /proc/self/status; env | cut -d= -f1 | sort; \
                  ls /proc/self/fd | wc -l; ulimit -n; head -c 0 /dev/tty 2> /dev/null || echo no terminal; [ $PPID = 1 ] && echo own";
    let mut limits = Limits::default();
    limits.open_files = Some(77);
    let none = "0000000000000000";
    let expected = format!(
        "SigBlk:\t{none}\nSigIgn:\t{none}\nNoNewPrivs:\t1\nOLDPWD\nOUT\nPATH\nPWD\nSHLVL\n_\n4\n77\nno terminal\nown\n"
    );
    let said = succeed(&open(&place, script).limits(limits));
    assert_eq!(said.replace("OLDPWD\n", ""), expected.replace("OLDPWD\n", ""));
}

#[test]
fn nothing_of_it_is_left() {
    need_sandbox!();
    let place = Place::new();
    let mark = format!("84{}", std::process::id());
    let left = || {
        let lines = std::fs::read_dir("/proc").unwrap();
        let lines = lines.filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok());
        lines.filter(|line| line.windows(mark.len()).any(|w| w == mark.as_bytes())).count()
    };
    let script = format!("trap '' TERM HUP; (trap '' TERM; setsid sleep {mark}) & echo up; exit 5");
    let done = run(&open(&place, &script).prepare().unwrap(), Options::default()).unwrap();
    assert_eq!((done.exit, stdout(&done).as_str(), left()), (Exit::Exited(5), "up\n", 0));
    let mut options = Options::default();
    options.timeout = Some(Duration::from_millis(500));
    let script = format!("trap '' TERM; setsid sleep {mark} & while :; do sleep 1; done");
    let done = run(&open(&place, &script).prepare().unwrap(), options).unwrap();
    assert!(done.timed_out && left() == 0, "{done:?}");
}

#[test]
fn what_needs_a_sandbox_is_refused() {
    need_sandbox!();
    let place = Place::new();
    for wanted in [
        open(&place, "true").gated(),
        open(&place, "true").terminal(),
        open(&place, "true").hidden("/etc/passwd"),
        open(&place, "true").allow_exec("/bin/true"),
    ] {
        assert!(wanted.prepare().is_err());
    }
    let shown = open(&place, "true").prepare().unwrap().to_string();
    assert!(shown.contains("NOTHING IS CONFINED"), "{shown}");
}
