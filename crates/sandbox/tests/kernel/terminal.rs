//! A pseudo-terminal for the command: whole, its own, and the way back for the one at which somebody sits.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::mpsc;
use std::time::Duration;

use shward_sandbox::{Confinement, Exit, Options, Pty, RunResult, run};

use crate::support::{Place, confinement, need_sandbox};

/// Runs at a terminal.
fn at(confinement: Confinement, pty: Option<Pty>, max_output: usize) -> RunResult {
    let mut options = Options::default();
    (options.pty, options.max_output) = (pty, max_output);
    options.timeout = Some(Duration::from_secs(20));
    run(&confinement.terminal().prepare().unwrap(), options).unwrap()
}

fn shown(result: &RunResult) -> String {
    assert!(!result.timed_out, "{}", result.stdout.to_text());
    assert_eq!(result.stderr.total, 0);
    result.stdout.to_text().replace("\r\n", "\n")
}

/// A pseudo-terminal of the host's: the side of somebody who types, and the terminal.
fn seat(rows: u16, columns: u16) -> (File, OwnedFd) {
    let (mut master, mut slave) = (-1, -1);
    let mut size = libc::winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the two descriptors and the size outlive the call; no name is asked for.
    let result = unsafe {
        libc::openpty(&raw mut master, &raw mut slave, ptr::null_mut(), ptr::null_mut(), &raw mut size)
    };
    assert_eq!(result, 0);
    // SAFETY: both were just made and belong to nobody else.
    unsafe { (File::from_raw_fd(master), OwnedFd::from_raw_fd(slave)) }
}

/// Its flags, as four numbers.
fn modes(terminal: &OwnedFd) -> [u32; 4] {
    // SAFETY: all zero is valid, and the call fills it in.
    let mut found: libc::termios = unsafe { std::mem::zeroed() };
    // SAFETY: the struct outlives the call.
    assert_eq!(unsafe { libc::tcgetattr(terminal.as_raw_fd(), &raw mut found) }, 0);
    [found.c_iflag, found.c_oflag, found.c_cflag, found.c_lflag]
}

#[test]
fn it_is_the_terminal_of_the_session() {
    need_sandbox!();
    let place = Place::new();
    let script = "test -t 0 && test -t 1 && test -t 2 && echo three; tty; stty size; \
        read -r _ _ _ _ group session _ front _ < /proc/self/stat; \
        echo $((session == $$)) $((group == front)); echo x > /dev/tty; ls /dev/pts | tr '\\n' ' '; echo error >&2";
    let mut pty = Pty::default();
    (pty.rows, pty.columns) = (50, 132);
    let result = at(place.shell(script), Some(pty), 10_000);
    assert_eq!(shown(&result), "three\n/dev/pts/0\n50 132\n1 1\nx\n0 ptmx error\n");
    assert_eq!(result.exit, Exit::Exited(0));
    // Without a size of its own, and with programs that no shell starts.
    let result = at(confinement("/usr/bin/stty", "/").arguments(["stty", "size"]), None, 10_000);
    assert_eq!(shown(&result), "24 80\n");
}

#[test]
fn where_nobody_types_there_is_nothing_to_read() {
    need_sandbox!();
    let place = Place::new();
    let result = at(place.shell("read -r x; echo \"$? [$x]\"; exit 3"), None, 10_000);
    assert_eq!((shown(&result).as_str(), result.exit), ("1 []\n", Exit::Exited(3)));
}

#[test]
fn its_output_is_bounded_and_ends() {
    need_sandbox!();
    let place = Place::new();
    let result = at(place.shell("for i in {1..20000}; do echo line $i; done"), None, 1000);
    assert!(result.stdout.truncated && result.stdout.total > 200_000, "{}", result.stdout.total);
    assert!(result.stdout.to_text().ends_with("line 20000\r\n"));
    // Whoever is left behind is killed, whether they hold the terminal or not.
    let result = at(place.shell("(trap '' HUP TERM; sleep 100; echo late) & echo done"), None, 1000);
    assert_eq!((shown(&result).as_str(), result.exit), ("done\n", Exit::Exited(0)));
    let mut options = Options::default();
    options.timeout = Some(Duration::from_millis(300));
    let result = run(&place.shell("trap '' HUP; sleep 100").terminal().prepare().unwrap(), options).unwrap();
    assert!(result.timed_out);
}

#[test]
fn nothing_is_pushed_into_what_is_typed() {
    need_sandbox!();
    let place = Place::new();
    let script = "import fcntl, os\nfor fd in (0, os.open('/dev/tty', os.O_RDWR)):\n    try:\n        \
        fcntl.ioctl(fd, 0x5412, b'x')\n        print('pushed')\n    except OSError as error:\n        print(error.errno)";
    if !std::path::Path::new("/usr/bin/python3").exists() {
        eprintln!("SKIPPED: no python3");
        return;
    }
    let confinement = confinement("/usr/bin/python3", place.workspace()).arguments(["python3", "-c", script]);
    assert_eq!(shown(&at(confinement, None, 1000)), "1\n1\n"); // EPERM
}

/// Somebody types as soon as the command says that it is ready.
#[test]
fn what_is_typed_goes_to_the_command() {
    need_sandbox!();
    let place = Place::new();
    let (keys, seat) = seat(33, 101);
    let before = modes(&seat);
    let script = "stty size; echo ready; read -r line; echo \"got $line\"; trap 'echo interrupted' INT; echo again; \
        while ! read -t 0.05 -r x; do stop=$((stop + 1)); ((stop > 200)) && exit 1; done; \
        trap 'stty size; exit 7' WINCH; echo resize; while :; do sleep 0.05; done";
    let plan = place.shell(script).terminal().prepare().unwrap();
    let (ready, told) = mpsc::channel();
    let (typing, look) = (keys.try_clone().unwrap(), seat.try_clone().unwrap());
    let typist = std::thread::spawn(move || {
        let mut keys = typing;
        let mut seen = String::new();
        for text in told {
            let text: String = text;
            seen.push_str(&text);
            for (marker, answer) in
                [("ready\r\n", "hello\r"), ("again\r\n", "\u{3}"), ("interrupted\r\n", "x\r")]
            {
                if let Some(at) = seen.find(marker) {
                    // Raw: nothing that is typed is looked at on the way.
                    assert_eq!(modes(&look)[3] & (libc::ECHO | libc::ICANON | libc::ISIG), 0);
                    seen.replace_range(at..at + marker.len(), "");
                    keys.write_all(answer.as_bytes()).unwrap();
                }
            }
            if seen.contains("resize") {
                let size = libc::winsize { ws_row: 11, ws_col: 22, ws_xpixel: 0, ws_ypixel: 0 };
                // SAFETY: the struct outlives the call.
                unsafe { libc::ioctl(look.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) };
            }
        }
    });
    let mut on_output = |_, bytes: &[u8]| drop(ready.send(String::from_utf8_lossy(bytes).into_owned()));
    let mut options = Options::default();
    options.pty = Some(Pty::typed(seat.try_clone().unwrap()));
    options.on_output = Some(&mut on_output);
    options.timeout = Some(Duration::from_secs(20));
    let result = run(&plan, options).unwrap();
    drop(ready);
    typist.join().unwrap();
    assert_eq!(result.exit, Exit::Exited(7), "{}", result.stdout.to_text());
    let text = shown(&result);
    for part in ["33 101\n", "got hello\n", "interrupted\n", "11 22\n"] {
        assert!(text.contains(part), "{part:?} in {text:?}");
    }
    assert_eq!(modes(&seat), before);
    drop(keys);
}

/// Also when the run cannot begin, and when it is cancelled.
#[test]
fn the_terminal_is_put_back() {
    need_sandbox!();
    let place = Place::new();
    let (_keys, seat) = seat(24, 80);
    let before = modes(&seat);
    let mut options = Options::default();
    options.pty = Some(Pty::typed(seat.try_clone().unwrap()));
    options.timeout = Some(Duration::from_millis(200));
    assert!(run(&place.shell("sleep 100").terminal().prepare().unwrap(), options).unwrap().timed_out);
    assert_eq!(modes(&seat), before);
    let mut options = Options::default();
    options.pty = Some(Pty::typed(seat.try_clone().unwrap()));
    let missing = confinement("/usr/bin/not-there", "/").terminal().prepare().unwrap();
    assert!(run(&missing, options).is_err());
    assert_eq!(modes(&seat), before);
    // No terminal: nothing runs.
    let mut options = Options::default();
    options.pty = Some(Pty::typed(File::open("/dev/null").unwrap().into()));
    assert!(run(&place.shell("true").terminal().prepare().unwrap(), options).is_err());
    let mut options = Options::default();
    options.pty = Some(Pty::default());
    assert!(run(&place.shell("true").prepare().unwrap(), options).is_err());
}

/// Somebody who sits at a terminal and hangs up, or holds it so that nothing is taken, hangs nobody else.
#[test]
fn who_types_too_much_or_hangs_up_holds_nothing_up() {
    need_sandbox!();
    let place = Place::new();
    let (mut keys, seat) = seat(24, 80);
    let plan = place.shell("echo ready; sleep 1; echo end").terminal().prepare().unwrap();
    let (ready, told) = mpsc::channel();
    let mut on_output = |_, _: &[u8]| ready.send(()).unwrap_or_default();
    let mut options = Options::default();
    options.pty = Some(Pty::typed(seat));
    options.timeout = Some(Duration::from_secs(20));
    options.on_output = Some(&mut on_output);
    let typist = std::thread::spawn(move || {
        let _ = told.recv();
        // More than the terminal's line can hold; the command reads none of it.
        for _ in 0..20 {
            let _ = keys.write_all(&[b'x'; 1000]);
            let _ = keys.read(&mut []);
        }
        drop(keys);
    });
    let result = run(&plan, options).unwrap();
    typist.join().unwrap();
    assert_eq!(result.exit, Exit::Exited(0));
    assert!(result.stdout.to_text().ends_with("end\r\n"));
}
