//! What a failure looks like that comes of the sandbox and not of the program that failed, and what mends it.
//!
//! Programs tell such a failure in their own words, as if the machine were broken. What they said is compared with a table, and only
//! where the run was no success. A command can print what it likes: what it gets for it are sentences of ours, which permit nothing.

use crate::outcome::Ending;
use shward_sandbox::{Captured, Network, Plan};

/// How many bytes of the end of each stream are looked at: how it went stands there.
const LOOKED_AT: usize = 64 * 1024;

/// What has to hold of a run for a hint to be one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    /// No socket but local ones can be made in it.
    NoSockets,
    /// No host is reached.
    NoHosts,
    /// Its changes lie on an overlay.
    Overlaid,
}

/// A row: when it counts, alternatives of what one line contains, whose words (`&`) stand in their order, and what mends it.
type Row = (When, &'static [&'static str], &'static str);

/// Small letters: programs and languages write the same message in different cases.
const TABLE: &[Row] = &[
    (
        When::NoSockets,
        &[
            "listen eperm",
            "connect eperm",
            "socket: operation not permitted",
            "socketexception: operation not permitted",
            // In each traceback of Python's that ends there.
            "_socket.socket.__init__(self",
            "code: 1, kind: permissiondenied",
            // Cargo's, which says why two lines further down.
            "failed to bind tcp listener",
        ],
        "this run can make local sockets only; `--contain loopback` gives it a network of its own, in which its servers and clients find each other",
    ),
    (
        When::NoHosts,
        &[
            "could not resolve host",
            "couldn't resolve host",
            "temporary failure in name resolution",
            "eai_again",
            "network is unreachable",
            "name or service not known",
            "getaddrinfo&enotfound",
        ],
        "this run reaches no host; a person can permit some in their policy, with [network] allow",
    ),
    (
        When::Always,
        &["read-only file system"],
        "a run writes in its workspace and in a /tmp of its own only; point what is to be written there (for a cache, its variable)",
    ),
    (
        When::Overlaid,
        &["cross-device link"],
        "on the overlay of a run a directory that was there before can be renamed only where the command itself names it, nothing in it is hidden, and it is not very large, and no file can be linked to from elsewhere; both can be copied (mv does that)",
    ),
    (
        When::Overlaid,
        &["hardlink different from source"],
        "a link to a file that was there before looks like another file until it is committed; `git clone --no-hardlinks` works",
    ),
    (
        When::Overlaid,
        &["value too large for defined data type"],
        "files of another group than the user's own cannot be changed on the overlay; with `--live` they can",
    ),
    (
        When::Always,
        &["ptrace&operation not permitted", "ptrace&eperm"],
        "nothing can be traced or debugged in a run; a person can do that outside",
    ),
    (
        When::Always,
        &["leaksanitizer has encountered a fatal error"],
        "LeakSanitizer traces, which a run cannot; ASAN_OPTIONS=detect_leaks=0 leaves the other checks of AddressSanitizer",
    ),
    (
        When::Always,
        &[
            "fork&resource temporarily unavailable",
            "can't start new thread",
            "pthread_create&eagain",
            "pthread_create failed",
            "thread&resource temporarily unavailable",
        ],
        "the number of a run's processes and threads is limited; start fewer at once, or a person can raise [limits] processes",
    ),
    (
        When::Always,
        &["no space left on device"],
        "if that was in /tmp: it lies in memory, and [limits] private says how much; a directory in the workspace has the disk's room",
    ),
    (
        When::Always,
        &["cannot connect to the docker daemon", "failed to connect to bus"],
        "sockets of this machine's services are hidden from a run; a person can do that step outside",
    ),
];

/// How many are told at most.
const MOST: usize = 3;

/// What the run that ended so was.
#[derive(Clone, Copy)]
pub(crate) struct Ran {
    /// Whether it could make sockets beside local ones.
    pub(crate) sockets: bool,
    /// Whether it could reach a host.
    pub(crate) hosts: bool,
    /// Whether its changes lay on an overlay.
    pub(crate) overlaid: bool,
}

impl Ran {
    pub(crate) const fn of(plan: &Plan, overlaid: bool) -> Self {
        let network = plan.network();
        let hosts = matches!(network, Network::Proxied | Network::Host);
        Self { sockets: !matches!(network, Network::None), hosts, overlaid }
    }
}

/// What would mend it, where a run failed as only something in a sandbox does, perhaps.
pub(crate) fn of(ending: &Ending, ran: Ran) -> Vec<&'static str> {
    if ending.exit_code == Some(0) || ending.cancelled || ending.output_exceeded {
        return Vec::new();
    }
    let text = [&ending.stdout, &ending.stderr].map(end);
    let counts = |when: When| match when {
        When::Always => true,
        When::NoSockets => !ran.sockets,
        // It is told by name then.
        When::NoHosts => !ran.hosts && ending.unreached.is_empty(),
        When::Overlaid => ran.overlaid,
    };
    let says = |alternative: &&str| text.iter().any(|text| text.lines().any(|line| has(line, alternative)));
    let rows = TABLE.iter().filter(|(when, says_so, _)| counts(*when) && says_so.iter().any(says));
    rows.map(|(.., hint)| *hint).take(MOST).collect()
}

/// Whether the words of an alternative stand in a line, in their order.
fn has(line: &str, alternative: &str) -> bool {
    let mut rest = line;
    alternative.split('&').all(|words| match rest.split_once(words) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// The end of what was written, in small letters.
fn end(captured: &Captured) -> String {
    let last = |bytes: &[u8], most: usize| {
        let from = bytes.len().saturating_sub(most);
        String::from_utf8_lossy(bytes.get(from..).unwrap_or_default()).to_ascii_lowercase()
    };
    let mut text = last(&captured.head, LOOKED_AT.saturating_sub(captured.tail.len()));
    if captured.truncated {
        text.push('\n');
    }
    text.push_str(&last(&captured.tail, LOOKED_AT));
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use super::{MOST, Ran, of};
    use crate::outcome::Ending;
    use shward_sandbox::{Captured, Exit};
    use std::time::Duration;

    const ALONE: Ran = Ran { sockets: false, hosts: false, overlaid: true };

    fn ended(code: i32, out: &str, err: &str) -> Ending {
        let streams = [out, err].map(|text| Captured::of(text.as_bytes(), 1 << 20));
        Ending::new(Exit::Exited(code), Duration::ZERO, streams)
    }

    /// As programs said it on Linux 6.18.
    #[test]
    fn what_programs_say() {
        for (said, told) in [
            ("Error: listen EPERM: operation not permitted 127.0.0.1", "--contain loopback"),
            (
                "    _socket.socket.__init__(self, family, type, proto, fileno)\nPermissionError: [Errno 1] Operation not permitted",
                "--contain loopback",
            ),
            ("listen tcp 127.0.0.1:0: socket: operation not permitted", "--contain loopback"),
            ("java.net.SocketException: Operation not permitted", "--contain loopback"),
            ("Cannot open netlink socket: Operation not permitted", "--contain loopback"),
            (
                "error: failed to bind TCP listener to manage locking\n\nCaused by:\n  Operation not permitted (os error 1)",
                "--contain loopback",
            ),
            (
                "Os { code: 1, kind: PermissionDenied, message: \"Operation not permitted\" }",
                "--contain loopback",
            ),
            (
                "fatal: unable to access 'https://x.invalid/': Could not resolve host: x.invalid",
                "[network] allow",
            ),
            ("npm error code EAI_AGAIN", "[network] allow"),
            ("failed to initialize build cache at /h/.cache: read-only file system", "workspace"),
            ("fatal: hardlink different from source at 'c/.git/objects/56/26'", "--no-hardlinks"),
            ("OSError: [Errno 18] Invalid cross-device link: 'a' -> 'b'", "can be copied"),
            ("strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted", "traced"),
            ("==9==LeakSanitizer has encountered a fatal error.", "detect_leaks=0"),
            ("bash: fork: retry: Resource temporarily unavailable", "[limits] processes"),
            ("RuntimeError: can't start new thread", "[limits] processes"),
            ("write error: No space left on device", "[limits] private"),
            ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", "hidden"),
        ] {
            for ending in [
                ended(1, "", said),
                ended(1, said, ""),
                ended(1, &format!("{said}\n{}", "x\n".repeat(900)), ""),
            ] {
                let hints = of(&ending, ALONE);
                assert!(hints.iter().any(|hint| hint.contains(told)), "{said}: {hints:?}");
            }
            assert!(of(&ended(0, said, said), ALONE).is_empty(), "{said}");
        }
    }

    #[test]
    fn what_comes_of_something_else() {
        let able = Ran { sockets: true, hosts: true, overlaid: false };
        for said in [
            "listen EPERM: operation not permitted",
            "Could not resolve host: x.invalid",
            "Invalid cross-device link",
            "hardlink different from source at 'c'",
        ] {
            assert!(of(&ended(1, "", said), able).is_empty(), "{said}");
        }
        for said in [
            "",
            "error[E0425]: cannot find value",
            "chmod: changing permissions of 'x': Operation not permitted",
            "operation not permitted: socket",
            "chown: changing ownership of 'app.socket': Operation not permitted",
            "    os.nice(-5)\nPermissionError: [Errno 1] Operation not permitted",
        ] {
            assert!(of(&ended(1, said, ""), ALONE).is_empty(), "{said}");
        }
        let named = Ending { unreached: vec!["x.invalid".into()], ..ended(6, "", "Could not resolve host") };
        assert!(of(&named, ALONE).is_empty());
    }

    /// What stood before a long end is not looked at, and no more is told than can be read.
    #[test]
    fn how_much_is_looked_at_and_told() {
        let long = format!("read-only file system\n{}", "x".repeat(70_000));
        assert!(of(&ended(1, &long, ""), ALONE).is_empty());
        let parts = Captured::of(long.replace("xxx", "\n\n\n").as_bytes(), 100);
        let mut cut = ended(1, "", "");
        cut.stderr = parts;
        assert_eq!(of(&cut, ALONE).len(), 1);
        let all = "read-only file system\ninvalid cross-device link\nlisten eperm\neai_again\n";
        assert_eq!(of(&ended(1, all, ""), ALONE).len(), MOST);
    }
}
