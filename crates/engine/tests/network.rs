//! Which hosts a run reaches: real commands in the real sandbox, and real servers on this machine's loopback.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

mod common;

use shward::audit::Log;
use shward::policy::{Layer, Source};
use shward::{ConnectionReport, Containment, Error, Firewall, Outcome, Policy, Request, RunOptions};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;

/// A server that answers each connection with what it got until a full stop, in square brackets.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let (mut got, mut byte) = (Vec::new(), [0]);
            while !got.ends_with(b".") && client.read(&mut byte).unwrap_or(0) == 1 {
                got.push(byte[0]);
            }
            let _ = client.write_all(&[b"[", got.as_slice(), b"]"].concat());
        }
    });
    port
}

struct Place {
    dir: tempfile::TempDir,
}

/// `None` where the kernel gives no sandbox.
fn place() -> Option<Place> {
    if !common::sandboxed() {
        return None;
    }
    Some(Place { dir: tempfile::tempdir().unwrap() })
}

impl Place {
    fn log(&self) -> PathBuf {
        self.dir.path().join("log")
    }

    fn run(&self, policy: &str, options: &RunOptions, command: &str) -> Result<Outcome, Error> {
        let source = Source { layer: Layer::User, name: "user.toml".to_owned(), text: policy.to_owned() };
        let workspace = self.dir.path().join("project");
        std::fs::create_dir_all(&workspace).unwrap();
        let firewall = Firewall::new(Policy::from_sources(None, &[source]).unwrap());
        let firewall = firewall.with_log(Log::open(self.log()).unwrap());
        firewall.run(&Request::command(command, workspace, self.dir.path()), options, &mut |_, _| {})
    }
}

fn options(containment: Containment, hosts: &[&str]) -> RunOptions {
    let mut options = RunOptions::default();
    options.containment = containment;
    options.allow_hosts = hosts.iter().map(|&host| host.to_owned()).collect();
    options
}

/// Asks the proxy for a connection and says what it answers.
fn connect(host: &str, port: u16) -> String {
    format!(
        "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT {host}:{port} HTTP/1.1\\r\\n\\r\\nhello.' >&3; cat <&3"
    )
}

fn said(outcome: &Outcome) -> String {
    let ending = outcome.ending.as_ref().unwrap_or_else(|| panic!("{outcome:?}"));
    format!("{}{}", ending.stdout.to_text(), ending.stderr.to_text())
}

fn connections(outcome: &Outcome) -> &[ConnectionReport] {
    &outcome.ending.as_ref().unwrap().connections
}

#[test]
fn what_the_policy_permits_is_reached_and_nothing_else() {
    let Some(place) = place() else { return };
    let port = server();
    let policy = format!("[network]\nallow = ['localhost:{port}', '127.0.0.1', '::1', 'example.com']");
    let network = options(Containment::Network, &[]);

    let outcome = place.run(&policy, &network, &connect("localhost", port)).unwrap();
    assert!(said(&outcome).ends_with("[hello.]"), "{outcome:?}");
    let [one] = connections(&outcome) else { panic!("{outcome:?}") };
    assert_eq!((one.result, one.sent, one.received), ("permitted", 6, 8));
    let log = std::fs::read_to_string(place.log()).unwrap();
    assert!(log.contains(&format!("\"connections\":[{{\"destination\":\"localhost:{port}\"")), "{log}");

    // Another name, another port, and past the proxy.
    for (host, port) in [("elsewhere.org", 443), ("localhost", 1)] {
        let outcome = place.run(&policy, &network, &connect(host, port)).unwrap();
        assert!(said(&outcome).starts_with("HTTP/1.1 403 shward does not permit"), "{outcome:?}");
        assert_eq!(connections(&outcome).first().unwrap().result, "refused");
    }
    let outcome = place.run(&policy, &network, &format!("cat < /dev/tcp/127.0.0.1/{port}")).unwrap();
    assert!(said(&outcome).contains("refused") && connections(&outcome).is_empty(), "{outcome:?}");
}

/// A name on the list does not open what its address belongs to.
#[test]
fn addresses_of_this_machine_have_to_be_named_themselves() {
    let Some(place) = place() else { return };
    let port = server();
    let network = options(Containment::Network, &[]);
    for policy in [format!("[network]\nallow = ['localhost:{port}']"), "[network]\nallow = ['*']".to_owned()]
    {
        let outcome = place.run(&policy, &network, &connect("localhost", port)).unwrap();
        assert!(said(&outcome).contains("only if the policy names the address"), "{outcome:?}");
    }
    let policy = "[network]\nallow = ['*', '127.0.0.1', '::1']\ndeny = ['localhost']";
    let outcome = place.run(policy, &network, &connect("localhost", port)).unwrap();
    assert!(said(&outcome).starts_with("HTTP/1.1 403"), "{outcome:?}");
}

/// Without being told, a run reaches what its command is seen to connect to, as far as the policy permits that.
#[test]
fn the_plan_narrows_what_is_reached() {
    let Some(place) = place() else { return };
    let permits = "[network]\nallow = ['*']";
    let curl = "curl -sS -m 5 http://192.0.2.1/";
    // The address is a reserved one: that the proxy says so shows that it was asked.
    let asked = |policy: &str, containment: Containment, command: &str| {
        let outcome = place.run(policy, &options(containment, &[]), command).unwrap();
        connections(&outcome).iter().map(|c| c.destination.clone()).collect::<Vec<_>>()
    };
    assert_eq!(asked(permits, Containment::Granted, curl), ["192.0.2.1:80"]);
    assert_eq!(asked(permits, Containment::Network, curl), ["192.0.2.1:80"]);
    for containment in [Containment::ReadOnly, Containment::WorkspaceWrite, Containment::Loopback] {
        assert!(asked(permits, containment, curl).is_empty(), "{containment:?}");
    }
    assert!(asked("", Containment::Granted, curl).is_empty());
    assert!(asked("", Containment::Network, curl).is_empty());
    assert!(asked("[network]\nallow = ['example.com']", Containment::Granted, curl) == ["192.0.2.1:80"]);
    // A command that names no host gets no proxy.
    assert!(asked(permits, Containment::Granted, &connect("192.0.2.1", 80)).is_empty());
    // One that names a host gets that one only.
    let other = format!("curl -sS -m 5 http://192.0.2.1/; {}", connect("192.0.2.2", 80));
    let outcome = place.run(permits, &options(Containment::Granted, &[]), &other).unwrap();
    assert!(said(&outcome).contains("192.0.2.2:80 is not among the hosts"), "{outcome:?}");
}

#[test]
fn a_caller_can_only_narrow() {
    let Some(place) = place() else { return };
    let port = server();
    let policy = format!("[network]\nallow = ['localhost:{port}', '127.0.0.1', '::1', '*.example.com']");
    let run = |hosts: &[&str]| {
        place.run(&policy, &options(Containment::Network, hosts), &connect("localhost", port))
    };
    assert!(said(&run(&[&format!("localhost:{port}")]).unwrap()).ends_with("[hello.]"));
    assert!(said(&run(&["a.example.com"]).unwrap()).starts_with("HTTP/1.1 403"));
    assert!(matches!(run(&["elsewhere.org"]), Err(Error::HostNotPermitted(_))));
    assert!(matches!(run(&["*"]), Err(Error::HostNotPermitted(_))));
    assert!(matches!(run(&["http://x"]), Err(Error::BadHost(..))));
}
