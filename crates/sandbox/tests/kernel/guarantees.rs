//! What a machine lacks is found out, refused, and left out only where that is accepted.
//!
//! The lacks are real: a user namespace in which the kernel gives no further network namespace, for one.

use std::path::Path;
use std::process::Command;

use shward_sandbox::{Gap, Guarantee, Options, Presence, guarantees, run};

use crate::roles;
use crate::support::need_sandbox;

/// Plays a role in a user namespace (in which this user is root) after a shell has taken something away.
fn crippled(how: &str, role: &str, subject: &str) -> String {
    let script = format!("{how} || exit 9; exec \"$0\" \"$@\"");
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]);
    roles::answer_of(roles::through(command, role, Path::new(subject)))
}

const NO_NET: &str = "echo 0 > /proc/sys/user/max_net_namespaces";
const NO_USER: &str = "echo 0 > /proc/sys/user/max_user_namespaces";
const MASKED_PROC: &str = "mount --bind /dev/null /proc/version";

/// What [`missing`] says of this machine, and of machines that lack something.
#[test]
fn what_is_missing_is_found_out() {
    need_sandbox!();
    assert_eq!(missing(), "missing: unknown:");
    for (how, expected) in [
        (NO_NET, "missing: net-ns unknown:"),
        (MASKED_PROC, "missing: fresh-proc unknown:"),
        (
            NO_USER,
            "missing: user-ns unknown: mount-ns pid-ns fresh-proc net-ns ipc-ns uts-ns cgroup-ns landlock seccomp own-namespaces",
        ),
    ] {
        assert_eq!(crippled(how, "guarantees", ""), expected, "{how}");
    }
}

/// A run is refused, and the error names the mend; it works once the loss is accepted by name, and the plan says so.
#[test]
fn a_loss_has_to_be_accepted_by_name() {
    need_sandbox!();
    for (how, lost, other) in [(NO_NET, "net-ns", "fresh-proc"), (MASKED_PROC, "fresh-proc", "net-ns")] {
        let refused = crippled(how, "accepting", other);
        assert!(refused.starts_with("refused: "), "{how}: {refused}");
        assert_eq!(crippled(how, "accepting", lost), format!("ran, gaps: {lost}"), "{how}");
    }
    assert!(crippled(NO_NET, "accepting", "fresh-proc").contains("max_*_namespaces"));
    assert!(crippled(NO_USER, "accepting", "user-ns").starts_with("refused: "), "that cannot be accepted");
}

/// Accepting the loss of what is there loses nothing.
#[test]
fn what_is_given_is_used() {
    need_sandbox!();
    assert_eq!(accepting("net-ns"), "ran, gaps: ");
}

/// Without a network namespace of its own the command still has no network, and loopback is refused.
#[test]
fn without_a_network_namespace_there_is_no_network() {
    need_sandbox!();
    assert!(
        crippled(NO_NET, "no-socket", "").starts_with("refused: "),
        "{}",
        crippled(NO_NET, "no-socket", "")
    );
}

/// The role: names of what is missing and of what could not be found out.
pub(crate) fn missing() -> String {
    let named = |wanted: fn(&Presence) -> bool| -> String {
        let found = guarantees().into_iter().filter(|(_, p)| wanted(p));
        found.map(|(guarantee, _)| format!(" {guarantee}")).collect()
    };
    format!(
        "missing:{} unknown:{}",
        named(|p| matches!(p, Presence::Missing(_))),
        named(|p| *p == Presence::Unknown)
    )
}

/// The role: runs a program with the loss of one guarantee accepted.
pub(crate) fn accepting(name: &str) -> String {
    let accepted = [Guarantee::from_name(name).unwrap()];
    let confinement = crate::support::confinement("/bin/true", "/usr").accept_missing(&accepted);
    let plan = match confinement.prepare() {
        Ok(plan) => plan,
        Err(error) => return format!("refused: {error}"),
    };
    let gaps: Vec<String> = plan
        .gaps()
        .iter()
        .filter_map(|gap| if let Gap::Accepted(guarantee) = gap { Some(guarantee.to_string()) } else { None })
        .collect();
    match run(&plan, Options::default()) {
        Ok(done) if done.exit.code() == 0 => format!("ran, gaps: {}", gaps.join(" ")),
        Ok(done) => format!("ended: {:?}", done.exit),
        Err(error) => format!("refused: {error}"),
    }
}

/// The role: makes an internet socket in a sandbox without a network namespace.
pub(crate) fn no_socket() -> String {
    let base =
        crate::support::confinement("/bin/bash", "/usr").accept_missing(&[Guarantee::NetworkNamespace]);
    roles::inside(&base, "tcp", "127.0.0.1:9")
}
