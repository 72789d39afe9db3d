//! What reaches beyond the command's own files: network, processes, rights, the machine, packages, histories, clouds.

use crate::condition::{Subject, on};
use crate::decision::Tier::{Four, Three, Two};
use crate::kinds::Kinds;
use crate::reach::is_metadata_service;
use crate::rule::Rule;
use shward_analysis::{EffectKind, Origins};

/// What shows, by service, the things that would be changed or deleted.
const SHOWN_FIRST: &[(&str, &str)] = &[
    ("kubernetes", "kubectl get all"),
    ("docker", "docker ps -a"),
    ("aws", "aws s3 ls"),
    ("terraform", "terraform plan"),
    ("github", "gh pr list"),
    ("gcp", "gcloud config list"),
    ("azure", "az resource list"),
];

fn asks_metadata_service(subject: &Subject<'_>) -> bool {
    match subject.effect.map(|effect| &effect.kind) {
        Some(EffectKind::Connect { endpoint, .. }) => endpoint.host.is_some_and(is_metadata_service),
        _ => false,
    }
}

/// Functions that call themselves are the shell's own doing; whatever else changes limits is a program, or `ulimit`.
fn by_the_shell(subject: &Subject<'_>) -> bool {
    subject.invocation.is_none_or(|invocation| invocation.builtin) && subject.program() != b"ulimit"
}

/// What is more than the command's own words, be they in a file that it has written.
const CARRIED: Origins = Origins::FILE
    .union(Origins::ENVIRONMENT)
    .union(Origins::NETWORK)
    .union(Origins::DECODED)
    .union(Origins::TERMINAL)
    .union(Origins::UNKNOWN);

/// Services of which the content is asked for: rows, values, objects, logs of a device. What is in them belongs to
/// whoever uses the service. Of the others the state is asked for: names, versions, what runs.
const CONTENT: [&str; 8] = ["android", "kv", "mongo", "rclone", "redis", "s3", "sql", "vm"];

/// What in a request tells that it is about more than state: an address, or what a service keeps secret.
const NOT_STATE: [&[u8]; 6] = [b"://", b"secret", b"token", b"passw", b"credential", b"private"];

/// Asks a service that a person has set up for its state, and tells it nothing that the command does not spell out.
fn asks_for_state(subject: &Subject<'_>) -> bool {
    const SPELLED_OUT: Origins = Origins::LITERAL;
    let Some(EffectKind::Remote { action: "read", service }) = subject.effect.map(|effect| &effect.kind)
    else {
        return false;
    };
    !CONTENT.contains(service)
        && subject.invocation.is_some_and(|invocation| {
            SPELLED_OUT.union(Origins::TERMINAL).contains(invocation.stdin)
                && invocation.argv.iter().all(|word| {
                    // An address is a service of the command's choosing.
                    let text = word.value.known_prefix().to_ascii_lowercase();
                    SPELLED_OUT.contains(word.value.origins)
                        && !NOT_STATE
                            .iter()
                            .any(|sign| text.windows(sign.len()).any(|window| window == *sign))
                })
        })
}

pub(super) const RULES: &[Rule] = &[
    // Network.
    Rule::deny(
        "secret-sent",
        Four,
        &[on(Kinds::CONNECT).from(Origins::SECRET)],
        "Sends keys, tokens or passwords{from} to {host}. No task needs that.",
    )
    .flow(Origins::SECRET)
    .floor(),
    Rule::deny(
        "environment-sent",
        Four,
        &[on(Kinds::CONNECT).from(Origins::CREDENTIAL).and(|s| s.detail() != "loopback")],
        "Sends environment variables{from} to {host}, tokens or passwords among them. Send fixed text.",
    )
    .flow(Origins::CREDENTIAL)
    .floor(),
    Rule::deny(
        "metadata-service",
        Three,
        &[on(Kinds::CONNECT).and(asks_metadata_service)],
        "Asks {host} for the credentials of this machine. Use the cloud's own tools with a role that a person has set up.",
    ),
    Rule::ask(
        "data-sent",
        Two,
        &[on(Kinds::CONNECT).from(CARRIED).and(|s| s.detail() != "loopback")],
        "Sends data of this machine{from} to {host}. Say what has to be sent and why; a person decides.",
    )
    .flow(CARRIED),
    Rule::contain(
        "network",
        Two,
        &[on(Kinds::CONNECT).and(|s| s.detail() != "loopback")],
        "Connects to {host}. Work with what is in the workspace or installed; if the network is needed, say what for.",
    ),
    Rule::contain(
        "listen",
        Two,
        &[on(Kinds::LISTEN).and(|s| s.detail() != "loopback")],
        "Opens a port to which others can connect. Test without a server, or let a person decide.",
    ),
    // Processes.
    Rule::deny(
        "all-killed",
        Four,
        &[on(Kinds::SIGNAL).what(&["all"])],
        "Sends a signal to every process of the user. Name the process that this task has started.",
    )
    .instead("kill %1"),
    Rule::contain(
        "process-signalled",
        Two,
        &[on(Kinds::SIGNAL).what(&["process", "name"])],
        "Sends a signal to processes that this command has not started. Stop what it starts itself: `kill %1`.",
    )
    .instead("kill %1"),
    // Rights.
    Rule::deny(
        "rights-given",
        Three,
        &[on(Kinds::PRIVILEGE).what(&["setuid", "capability"])],
        "Gives a program rights that whoever starts it then has. Nothing in a workspace needs that.",
    ),
    Rule::ask(
        "rights-changed",
        Three,
        &[on(Kinds::PRIVILEGE).what(&["account", "container"])],
        "Changes who has which rights on this machine ({what}). Let a person do it.",
    ),
    Rule::contain(
        "privilege",
        Three,
        &[on(Kinds::PRIVILEGE)],
        "Uses the rights of another user ({what}). Do it without, in the workspace; or say why they are needed.",
    ),
    // The machine.
    Rule::deny(
        "persistence",
        Three,
        &[on(Kinds::PERSIST)],
        "Arranges for something to run later or at every start ({what}). Run it now, or let a person arrange it.",
    )
    .instead_for(&[("cron", "crontab -l"), ("at", "atq"), ("service", "systemctl list-units")]),
    Rule::deny(
        "disk-destroyed",
        Four,
        &[on(Kinds::SYSTEM).what(&["disk"])],
        "Changes a disk or its file system. What was there is gone. Use a file in the workspace as a disk image.",
    )
    .instead("lsblk -f")
    .floor(),
    Rule::deny(
        "fork-bomb",
        Four,
        &[on(Kinds::SYSTEM).what(&["process-limits"]), on(Kinds::SYSTEM).what(&["limits"]).and(by_the_shell)],
        "Starts copies of itself without end, until the machine stops. Use a loop with a number.",
    )
    .instead("for i in 1 2 3; do echo \"$i\"; done")
    .floor(),
    Rule::contain(
        "limits-changed",
        Two,
        &[on(Kinds::SYSTEM).what(&["limits", "display"])],
        "Changes limits or settings of other processes or the display ({what}).",
    )
    .instead("ulimit -a"),
    Rule::ask(
        "network-configured",
        Three,
        &[on(Kinds::SYSTEM).what(&["network"])],
        "Changes how this machine is connected: addresses, routes, tunnels, radio. Other programs lose or change their \
         connections. Let a person do it.",
    )
    .instead("ip addr"),
    Rule::deny(
        "system",
        Three,
        &[on(Kinds::SYSTEM).and(|s| !matches!(s.detail(), "limits" | "process-limits" | "display" | "network"))],
        "Changes the machine itself ({what}): services, power, kernel, clock, mounts, firewall, accounts, or what watches \
         over it. Let a person do it.",
    )
    .instead_for(&[
        ("service", "systemctl status UNIT"),
        ("mount", "findmnt"),
        ("clock", "date"),
        ("kernel", "lsmod"),
        ("account", "getent passwd NAME"),
        ("power", "uptime"),
    ]),
    // Packages.
    Rule::ask(
        "published",
        Three,
        &[on(Kinds::PACKAGE).what(&["publish"])],
        "Publishes a package to everybody, for ever. A person has to do that.",
    ),
    Rule::contain(
        "packages-changed",
        Two,
        &[on(Kinds::PACKAGE)],
        "Installs or removes packages ({what}): other people's code, executed here. Use what is installed, or say which \
         package at which version is needed.",
    ),
    // Version control.
    Rule::ask(
        "history-rewritten",
        Three,
        &[on(Kinds::VCS).what(&["rewrite", "delete", "force-push"])],
        "Rewrites or deletes history or branches ({what}): commits of others or your own can be lost. Add a new commit or a \
         new branch instead.",
    )
    .instead_for(&[
        ("force-push", "git push --force-with-lease"),
        ("delete", "git branch -d BRANCH"),
        ("rewrite", "git revert COMMIT"),
    ]),
    Rule::ask(
        "changes-discarded",
        Three,
        &[on(Kinds::VCS).what(&["discard"])],
        "Throws away changes that are not committed. Keep them first.",
    )
    .instead("git stash push -u -m 'before discarding'"),
    Rule::ask(
        "push",
        Two,
        &[on(Kinds::VCS).what(&["push"])],
        "Publishes commits to a repository elsewhere. Commit locally; a person pushes.",
    )
    .instead("git log --oneline @{upstream}.."),
    Rule::contain(
        "vcs-configured",
        Two,
        &[on(Kinds::VCS).what(&["config"])],
        "Changes how version control behaves here. Pass the setting for one command: `git -c user.name=NAME …`.",
    )
    .instead("git -c user.name=NAME commit -m MESSAGE"),
    // Other machines.
    Rule::ask(
        "remote-destroyed",
        Three,
        &[on(Kinds::REMOTE).what(&["destroy"])],
        "Deletes something in {what} that may be in use, and may not come back. Show what would be deleted first.",
    )
    .instead_for(SHOWN_FIRST),
    Rule::ask(
        "remote-changed",
        Two,
        &[on(Kinds::REMOTE).what(&["change"])],
        "Changes something in {what}, outside this workspace. Show what would be changed first.",
    )
    .instead_for(SHOWN_FIRST),
    Rule::contain(
        "remote-read",
        Two,
        &[on(Kinds::REMOTE).and(|s| !asks_for_state(s))],
        "Asks {what} for content with the credentials of this machine, or tells it something that the command does not \
         spell out. Asking for its state in literal words needs no question.",
    ),
];
