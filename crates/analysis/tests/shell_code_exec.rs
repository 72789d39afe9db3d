//! Constructs by which a shell runs code from data: what is executed is predicted, or an `Unknown` effect covers it.

use bumpalo::Bump;
use shward_analysis::{EffectKind, Frozen, Plan, Request, Source, analyze};
use shward_syntax::Dialect;

/// Whether the plan predicts that this program may be started, or says that anything may happen: that something was
/// not understood, or that a program is started which is not described.
fn covers(plan: &Plan<'_>, program: &str) -> bool {
    let named = |name: &[u8]| {
        let base = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
        base == program.as_bytes() || name == program.as_bytes()
    };
    plan.invocations.iter().any(|invocation| invocation.program.is_some_and(named)) || covers_anything(plan)
}

fn covers_anything(plan: &Plan<'_>) -> bool {
    let anything =
        |kind: &EffectKind<'_>| matches!(kind, EffectKind::Unknown { .. } | EffectKind::Execute { .. });
    plan.effects.iter().any(|effect| anything(&effect.kind))
}

fn with_plan<R>(command: &str, dialect: Dialect, look: impl FnOnce(&Plan<'_>) -> R) -> R {
    let arena = Bump::new();
    let request = Request {
        source: Source::Command(command.as_bytes()),
        cwd: b"/work",
        workspace: b"/work",
        home: b"/home/me",
        dialect,
    };
    look(&analyze(&arena, &request, &Frozen))
}

/// Judges one row: every program must be covered; what executes nothing must not be said to run code.
fn judge(command: &str, executes: &[&str], dialect: Dialect) -> Option<String> {
    with_plan(command, dialect, |plan| {
        let missed: Vec<_> = executes.iter().filter(|program| !covers(plan, program)).collect();
        if !missed.is_empty() {
            return Some(format!("{command:?}: {missed:?} not predicted"));
        }
        let code = plan.effects.iter().any(|effect| matches!(effect.kind, EffectKind::Code { .. }));
        (executes.is_empty() && code).then(|| format!("{command:?}: runs nothing, but code is predicted"))
    })
}

/// Command, programs. Each was observed on bash 5.2.
const BASH: &[(&str, &[&str])] = &[
    ("echo `id`", &["id"]),
    ("echo \"${x:-'$(id)'}\"", &["id"]),
    ("x='a[$(id)]'; echo $((x))", &["id"]),
    ("x='a[$(id)]'; [[ $x -eq 0 ]]", &["id"]),
    ("x='$(id)'; echo y >&\"$x\"", &["id"]),
    ("declare -i x; x='a[$(id)]'", &["id"]),
    ("a=(1); declare -n r='a[$(id)]'; echo $r", &["id"]),
    ("read 'a[$(id)]' <<< 1", &["id"]),
    ("test -v 'a[$(id)]'", &["id"]),
    ("printf -v c %s id; $c", &["id"]),
    ("mapfile -t a <<< id; ${a[0]}", &["id"]),
    ("mapfile -C 'id;:' -c 1 a <<< x", &["id"]),
    ("source <(echo id)", &["id"]),
    ("echo id > s; . ./s", &["id"]),
    ("echo aWQ= | base64 -d | bash", &["base64", "bash", "id"]),
    ("trap id EXIT", &["id"]),
    ("trap 'f' EXIT; f() { id; }", &["id"]),
    ("PS4='$(id)'; set -x; :", &["id"]),
    ("hash -p /usr/bin/id ls; ls", &["id"]),
    ("enable -n echo; echo x", &["echo"]),
    ("shopt -s expand_aliases\nalias ls=id\nls", &["id"]),
    ("f() { id; }; export -f f; bash -c f", &["bash", "id"]),
    ("set -- id -u; shift 0; \"$@\"", &["id"]),
    ("IFS=x; c=idx-u; $c", &["id"]),
    ("c=(a id); ${c[1]}", &["id"]),
    ("x=1; eval i${x/1/d}", &["id"]),
    ("eval eval -- eval id -u", &["id"]),
    ("eval eval eval x=id '; $x'", &["id"]),
    ("eval() { id; }; eval eval ls", &["id"]),
    ("shopt -s expand_aliases\nalias eval='id;'\neval eval ls", &["id"]),
    ("case a in b) ;; *) c=id; esac; $c", &["id"]),
    ("while read c; do $c; done <<< id", &["id"]),
    ("coproc id", &["id"]),
    ("exec id", &["id"]),
    ("{ echo id; } | { read c; $c; }", &["id"]),
    ("printf %d 'a[$(id)]'", &[]),
    ("x=a; echo \"${x/a/'$(id)'}\"", &[]),
    ("a=$'x\\0$(id)'", &[]),
];

/// The same for dash.
const DASH: &[(&str, &[&str])] = &[
    ("alias ls=id\nls", &["id"]),
    ("echo \"${x:-'$(id)'}\"", &["id"]),
    ("set -- id; $1", &["id"]),
    ("x=id; eval '$x'", &["id"]),
    ("echo {id,-u}", &[]),
];

#[test]
fn what_is_executed_is_predicted() {
    let bash = BASH.iter().filter_map(|(command, executes)| judge(command, executes, Dialect::Bash));
    let dash = DASH.iter().filter_map(|(command, executes)| judge(command, executes, Dialect::Posix));
    let wrong: Vec<String> = bash.chain(dash).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_construct_of_the_vectors_is_predicted() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors/bash_code_exec.jsonl");
    let Ok(rows) = std::fs::read_to_string(path) else {
        eprintln!("skipped: the construct list is not there");
        return;
    };
    let mut wrong = Vec::new();
    let mut judged = 0;
    for line in rows.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| row[key].as_str().unwrap_or_default();
        let dialect = match text("shell") {
            shell if shell.starts_with("bash") => Dialect::Bash,
            shell if shell.starts_with("dash") => Dialect::Posix,
            // zsh is not read.
            _ => continue,
        };
        let executes: Vec<&str> =
            row["executes"].as_array().unwrap().iter().map(|program| program.as_str().unwrap()).collect();
        // An interactive shell is not what an agent starts.
        if text("mode") == "interactive" {
            continue;
        }
        judged += 1;
        wrong.extend(judge(text("command"), &executes, dialect));
    }
    assert!(judged > 150, "only {judged} rows were judged");
    assert!(wrong.is_empty(), "{} of {judged}:\n{}", wrong.len(), wrong.join("\n"));
}
