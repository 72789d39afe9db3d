//! What the test program does when it is started as somebody else: an attacker inside a sandbox, or a supervisor that is
//! going to be killed.
//!
//! The same role can be played outside, which shows that an attack works where nothing stops it.

use std::env;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;

use shward_sandbox::{Confinement, Exit, Options, RunResult, probe, run};

use crate::guarantees;
use crate::support::{confinement, go, stdout};
use crate::{gate, groups, syscalls};

const ARGUMENTS: [&str; 5] = ["--exact", "roles::play", "--ignored", "--nocapture", "--test-threads=1"];
const MARK: &str = "=> ";

/// Plays a role in the sandbox that `base` describes, and returns what it said.
pub(crate) fn inside(base: &Confinement, role: &str, subject: impl AsRef<Path>) -> String {
    said(go(&playing(base, role, subject)))
}

/// What a role said in a run.
pub(crate) fn said(result: RunResult) -> String {
    answer(&stdout(&result)).unwrap_or_else(|| format!("{:?} {}", result.exit, result.stderr.to_text()))
}

/// The sandbox in which a role is played.
pub(crate) fn playing(base: &Confinement, role: &str, subject: impl AsRef<Path>) -> Confinement {
    let program = env::current_exe().unwrap().canonicalize().unwrap();
    base.clone()
        .program(&program)
        .arguments([program.as_os_str()].into_iter().chain(ARGUMENTS.map(AsRef::as_ref)))
        .variable("SHWARD_ROLE", role)
        .variable("SHWARD_SUBJECT", subject.as_ref())
        .read_only(&program)
}

/// The role as an ordinary process.
pub(crate) fn outside(role: &str, subject: impl AsRef<Path>) -> String {
    let done = command(role, subject.as_ref()).output().unwrap();
    answer(&String::from_utf8_lossy(&done.stdout)).unwrap_or_else(|| format!("{done:?}"))
}

pub(crate) fn command(role: &str, subject: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(ARGUMENTS).env("SHWARD_ROLE", role).env("SHWARD_SUBJECT", subject);
    command
}

/// The role as a process that another program starts, which gets the command line as its last arguments.
pub(crate) fn through(mut other: Command, role: &str, subject: &Path) -> Command {
    other.arg(env::current_exe().unwrap()).args(ARGUMENTS);
    other.env("SHWARD_ROLE", role).env("SHWARD_SUBJECT", subject);
    other
}

/// What the role says in that process.
pub(crate) fn answer_of(mut command: Command) -> String {
    let done = command.output().unwrap();
    answer(&String::from_utf8_lossy(&done.stdout)).unwrap_or_else(|| format!("{done:?}"))
}

fn answer(text: &str) -> Option<String> {
    text.lines().find_map(|line| Some(line.split_once(MARK)?.1.to_owned()))
}

#[test]
#[ignore = "started by the other tests"]
fn play() {
    let Ok(role) = env::var("SHWARD_ROLE") else { return };
    let subject = env::var_os("SHWARD_SUBJECT").unwrap_or_default();
    let path = Path::new(&subject);
    let said = match role.as_str() {
        "unix-stream" => outcome(UnixStream::connect(path)),
        "unix-datagram" => outcome(UnixDatagram::unbound().and_then(|socket| socket.send_to(b"pwn", path))),
        "unix-abstract" => {
            outcome(abstract_address(path).and_then(|address| UnixStream::connect_addr(&address)))
        }
        "unix-own" => {
            let _listener = UnixListener::bind(path).unwrap();
            outcome(UnixStream::connect(path).and(UnixStream::pair()))
        }
        "tcp" => outcome(TcpStream::connect(path.to_str().unwrap())),
        "udp" => outcome(
            UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.send_to(b"pwn", path.to_str().unwrap())),
        ),
        "tcp-own" => outcome(tcp_to_myself()),
        "syscall" => syscalls::attack(path.to_str().unwrap()),
        "probe" => format!("{:?}", probe().sandbox.map_err(|error| (error.stage, error.errno))),
        "guarantees" => guarantees::missing(),
        "accepting" => guarantees::accepting(path.to_str().unwrap()),
        "no-socket" => guarantees::no_socket(),
        "supervise" => supervise(path),
        "supervise-group" => groups::supervise(path),
        "touch" => touch(path),
        "many" => many(path),
        "leaks" => leaks(),
        "race-path" => gate::race_path(path),
        "race-argument" => gate::race_argument(path),
        "exec-as" => gate::exec_as(path.to_str().unwrap()),
        other => format!("unknown role {other}"),
    };
    println!("\n{MARK}{said}");
}

fn outcome<T>(result: std::io::Result<T>) -> String {
    match result {
        Ok(_) => "done".to_owned(),
        Err(error) => format!("refused: {error}"),
    }
}

fn abstract_address(path: &Path) -> std::io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(path.as_os_str().as_bytes())
}

fn tcp_to_myself() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    let (mut server, _) = listener.accept()?;
    client.write_all(b"x")?;
    server.read_exact(&mut [0])
}

/// Runs a sandbox that does not end by itself, until this process is killed.
fn supervise(workspace: &Path) -> String {
    let name = workspace.to_str().unwrap();
    let plan = confinement("/bin/bash", workspace)
        .arguments([
            name, // its name tells it from others
            "-c",
            "trap '' TERM HUP; echo started > started; while :; do :; done",
        ])
        .variable("PATH", "/usr/bin:/bin")
        .writable(workspace)
        .prepare()
        .unwrap();
    format!("{:?}", run(&plan, Options::default()))
}

/// Confines a command that leaves a mark in the workspace.
fn touch(workspace: &Path) -> String {
    let confinement = confinement("/usr/bin/touch", workspace)
        .arguments(["touch", "mark"])
        .writable(workspace)
        .hidden("/etc/passwd");
    match confinement.prepare().and_then(|plan| run(&plan, Options::default())) {
        Ok(result) => format!("{:?}", result.exit),
        Err(error) => error.to_string(),
    }
}

/// Hides every `h*` and protects every `p*` of the workspace.
fn many(workspace: &Path) -> String {
    let script = "cat h1 p1; for f in p*; do echo pwn > $f; done 2> /dev/null; cat h1999 p1999; echo end";
    let mut confinement = confinement("/bin/bash", workspace)
        .arguments(["bash", "-c", script])
        .variable("PATH", "/bin")
        .writable(workspace);
    for number in 0..2000 {
        confinement = confinement
            .hidden(workspace.join(format!("h{number}")))
            .read_only(workspace.join(format!("p{number}")));
    }
    match confinement.prepare().and_then(|plan| run(&plan, Options::default())) {
        Ok(result) => stdout(&result).replace('\n', " "),
        Err(error) => error.to_string(),
    }
}

/// Many runs, one after the other and at once; what is left of descriptors, mappings and children.
fn leaks() -> String {
    let once = || {
        let plan = confinement("/bin/true", "/").prepare().unwrap();
        assert_eq!(run(&plan, Options::default()).unwrap().exit, Exit::Exited(0));
        let failing = confinement("/does/not/exist", "/").prepare().unwrap();
        assert!(run(&failing, Options::default()).is_err());
    };
    let count = || {
        let lines = |path: &str| std::fs::read_to_string(path).unwrap().lines().count();
        let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
        (descriptors, lines("/proc/self/mountinfo"), lines("/proc/thread-self/children"))
    };
    once();
    let before = count();
    for _ in 0..20 {
        once();
    }
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..5).for_each(|_| once()));
        }
    });
    if before == count() { "none".to_owned() } else { format!("{before:?} became {:?}", count()) }
}
