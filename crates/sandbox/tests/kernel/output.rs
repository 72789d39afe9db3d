//! Output: kept within bounds, never lost while there is room, never blocking the command.

use std::fs::File;
use std::io::Read;

use shward_sandbox::{Exit, Options, Output, Reserve, Space, Stream, Used, run};

use crate::support::{Place, need_sandbox};

/// The highest resident size of this process so far, in KiB.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_flood_is_drained_in_constant_memory() {
    need_sandbox!();
    let place = Place::new();
    let plan = place.shell("echo begin; head -c 100000000 /dev/zero; echo end; exit 9").prepare().unwrap();
    let before = peak_memory();
    let mut seen = 0u64;
    let mut count = |_: Stream, bytes: &[u8]| seen += bytes.len() as u64;
    let mut options = Options::default();
    options.max_output = 1000;
    options.on_output = Some(&mut count);
    let result = run(&plan, options).unwrap();
    assert_eq!(result.exit, Exit::Exited(9));
    assert_eq!((result.stdout.total, seen), (100_000_010, 100_000_010));
    assert!(result.stdout.truncated);
    assert_eq!((result.stdout.head.len(), result.stdout.tail.len()), (500, 500));
    assert!(result.stdout.head.starts_with(b"begin\n") && result.stdout.tail.ends_with(b"end\n"));
    // The kernel adds up what processors count apart, and so may tell a little less later.
    let more = peak_memory().saturating_sub(before);
    assert!(more < 32 * 1024, "KiB: {more}");
}

#[test]
fn a_flood_is_ended_where_that_is_asked() {
    need_sandbox!();
    let place = Place::new();
    // limit, command, killed
    let table: &[(usize, &str, bool)] = &[
        (1000, "yes", true),
        (1000, "yes >&2", true),
        (1000, "trap '' TERM; (yes & yes & yes)", true),
        (999, "head -c 1000 /dev/zero", true),
        (0, "exec echo", true),
        (1000, "head -c 1000 /dev/zero; head -c 1000 /dev/zero >&2", false),
        (0, "true", false),
        (0, "echo; sleep 60", true),
    ];
    for (limit, command, killed) in table {
        let mut options = Options::default();
        options.max_output = *limit;
        options.kill_on_output = true;
        options.timeout = Some(std::time::Duration::from_secs(20));
        let result = run(&place.shell(command).prepare().unwrap(), options).unwrap();
        assert_eq!((result.output_exceeded, result.timed_out), (*killed, false), "{command}");
        assert_eq!(result.exit, if *killed { Exit::Signaled(9) } else { Exit::Exited(0) }, "{command}");
        assert_eq!(result.stdout.truncated || result.stderr.truncated, *killed, "{command}");
        assert!(result.stdout.head.len() + result.stdout.tail.len() <= *limit, "{command}");
    }
}

/// Whether it ends before somebody looks is chance, and what is said of it has to fit.
#[test]
fn who_is_ended_for_the_disk_has_not_succeeded() {
    need_sandbox!();
    let place = Place::new();
    for number in 0..40 {
        let command = format!("echo; i=0; while [ $i -lt {} ]; do i=$((i+1)); done", number * 25);
        let mut reserve = Reserve::default();
        reserve.at_least = u64::MAX;
        let mut space = Space::new();
        space.reserves = vec![(place.workspace().to_owned(), reserve)];
        let mut options = Options::default();
        options.space = Some(space);
        let mut nothing = |_: Stream, _: &[u8]| {};
        options.on_output = Some(&mut nothing);
        let result = run(&place.shell(&command).prepare().unwrap(), options).unwrap();
        let expected = match result.disk_exceeded {
            Some(Used::Reserve) => Exit::Signaled(9),
            _ => Exit::Exited(0),
        };
        assert_eq!(result.exit, expected, "{command}");
    }
}

#[test]
fn bytes_stay_bytes_and_streams_apart() {
    need_sandbox!();
    let place = Place::new();
    let result = place.run("printf 'a\\xff\\0\\xc3b'; printf 'err\\xfe' >&2");
    assert_eq!(result.stdout.head, b"a\xff\0\xc3b");
    assert_eq!(result.stderr.head, b"err\xfe");
    assert!(!result.stdout.truncated);
    assert_eq!(result.stderr.to_text(), "err\u{fffd}");
}

#[test]
fn output_is_streamed_in_order() {
    need_sandbox!();
    let place = Place::new();
    let plan =
        place.shell("echo one; while [ ! -e go ]; do sleep 0.02; done; echo two >&2").prepare().unwrap();
    let mut seen = Vec::new();
    // The command goes on only after its first line has arrived here.
    let go = place.workspace().join("go");
    let mut collect = |stream: Stream, bytes: &[u8]| {
        seen.push((stream, String::from_utf8_lossy(bytes).into_owned()));
        File::create(&go).unwrap();
    };
    let mut options = Options::default();
    options.on_output = Some(&mut collect);
    run(&plan, options).unwrap();
    assert_eq!(seen, [(Stream::Stdout, "one\n".to_owned()), (Stream::Stderr, "two\n".to_owned())]);
}

#[test]
fn a_descriptor_takes_output_directly() {
    need_sandbox!();
    let place = Place::new();
    let path = place.outside().join("log");
    let mut options = Options::default();
    options.stdout = Output::Descriptor(File::create(&path).unwrap().into());
    let result = run(&place.shell("echo direct; echo captured >&2").prepare().unwrap(), options).unwrap();
    let mut text = String::new();
    File::open(&path).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), result.stderr.to_text().as_str()), ("direct\n", "captured\n"));
    assert_eq!(result.stdout.total, 0);
}

#[test]
fn closing_the_streams_does_not_end_the_command() {
    need_sandbox!();
    let place = Place::new();
    let result = place.run("exec 1>&- 2>&-; sleep 0.3; touch after; exit 2");
    assert_eq!(result.exit, Exit::Exited(2));
    assert!(place.workspace().join("after").exists());
}

/// Whoever is given the output may be kept waiting; the command is not kept alive by that.
#[test]
fn time_and_cancellation_hold_while_nobody_takes_the_output() {
    need_sandbox!();
    for cancels in [false, true] {
        let place = Place::new();
        let plan = place.shell("echo x; sleep 2; echo x > $WS/late; sleep 100").prepare().unwrap();
        let cancel = shward_sandbox::Cancel::new().unwrap();
        let mut slow = |_: Stream, _: &[u8]| {
            if cancels {
                cancel.cancel();
            }
            std::thread::sleep(std::time::Duration::from_secs(4));
        };
        let mut options = Options::default();
        options.timeout = Some(std::time::Duration::from_secs(if cancels { 60 } else { 1 }));
        options.cancel = Some(cancel.clone());
        options.on_output = Some(&mut slow);
        let result = run(&plan, options).unwrap();
        assert_eq!((result.timed_out, result.cancelled), (!cancels, cancels));
        assert!(!place.workspace().join("late").exists(), "{cancels}");
    }
}
