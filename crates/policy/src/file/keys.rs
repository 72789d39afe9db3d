//! Every key of a policy file in one table, from which checking, the JSON schema and the template come.

use shward_analysis::Scope;

/// What a key's value may be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// Text.
    Text,
    /// A list of texts; one text alone is a list of one.
    Texts,
    /// `true` or `false`.
    Switch,
    /// A whole number, from and to.
    Number(i64, i64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A table.
    Table(&'static [Key]),
    /// Any number of tables: `[[key]]`.
    Tables(&'static [Key]),
    /// A table whose keys are the ids of checks, or `default`.
    Checks,
    /// A table of text, with any keys.
    Map,
}

/// A key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    /// As it is written.
    pub(crate) name: &'static str,
    /// What may follow.
    pub(crate) kind: Kind,
    /// What it means.
    pub(crate) doc: &'static str,
    /// An example, as it stands after `=`; empty for tables.
    pub(crate) example: &'static str,
}

const fn key(name: &'static str, kind: Kind, example: &'static str, doc: &'static str) -> Key {
    Key { name, kind, doc, example }
}

/// The words for decisions.
pub(crate) const DECISIONS: &[&str] = &["allow", "ask", "deny"];

/// The scopes, in the order of their bits, which is that of the enumeration.
pub(crate) const SCOPES: &[&str] = &[
    Scope::Harmless.name(),
    Scope::Product.name(),
    Scope::Workspace.name(),
    Scope::Temp.name(),
    Scope::Repository.name(),
    Scope::Elsewhere.name(),
    Scope::Home.name(),
    Scope::System.name(),
    Scope::Unknown.name(),
    Scope::Persistence.name(),
    Scope::Environment.name(),
    Scope::Device.name(),
    Scope::Secret.name(),
    Scope::Own.name(),
];

/// The keys of `[programs]`.
const PROGRAMS: &[Key] = &[
    key(
        "allow",
        Kind::Texts,
        r#"["git", "/usr/bin/make"]"#,
        "Programs that are listed. A name stands for the program of that name in a system directory, a path for exactly that file. Replaces the list of an earlier layer.",
    ),
    key(
        "deny",
        Kind::Texts,
        r#"["nc"]"#,
        "Programs that are denied, wherever they lie. Adds to the list of an earlier layer.",
    ),
    key(
        "unlisted",
        Kind::Word(&["rules", "ask", "deny"]),
        r#""rules""#,
        "What a program gets that is not listed: what the rules say, a question, or a denial.",
    ),
    key(
        "match",
        Kind::Word(&["system", "exact", "any"]),
        r#""system""#,
        "How a listed name is met by a path: in a system directory (default), never, or anywhere.",
    ),
    key(
        "skips",
        Kind::Word(&["nothing", "questions", "risk"]),
        r#""nothing""#,
        "What being listed spares: nothing (default), questions about what is understood, or its tier too. Never a denial.",
    ),
];

/// The keys of `[paths]`.
const PATHS: &[Key] = &[
    key(
        "allow",
        Kind::Texts,
        r#"["$WORKSPACE", "$TMP"]"#,
        "Directories outside which nothing may be touched, and patterns. `$WORKSPACE`, `$HOME` and `$TMP` stand for theirs. Replaces the list of an earlier layer.",
    ),
    key(
        "deny",
        Kind::Texts,
        r#"["$WORKSPACE/private"]"#,
        "Directories in which nothing may be touched, and patterns. Adds to the list of an earlier layer.",
    ),
];

/// The keys of `[[tiers.pattern]]`.
const PATTERN: &[Key] = &[
    key("tier", Kind::Number(1, 4), "3", "The tier of a command that matches. One of tier 4 is never run."),
    key(
        "regex",
        Kind::Text,
        r#"'\bterraform\s+apply\b'"#,
        "A regular expression that is looked for in the text of the command.",
    ),
];

/// The keys of `[tiers]`.
const TIERS: &[Key] = &[
    key("default", Kind::Number(1, 4), "2", "The least tier of what is not understood."),
    key("pattern", Kind::Tables(PATTERN), "", "Raises the tier of commands by their text."),
];

/// The keys of `[limits]`.
const LIMITS: &[Key] = &[
    key("timeout", Kind::Number(1, 86_400), "300", "Seconds after which a run is killed."),
    key(
        "timeout-ceiling",
        Kind::Number(1, 86_400),
        "3600",
        "The longest timeout that a caller may ask for; more is refused. Without it, a caller may only ask for less than the policy gives.",
    ),
    key(
        "max-output",
        Kind::Number(0, 1 << 30),
        "1000000",
        "Bytes of each output stream that are kept, and passed on while the command runs. Without it 1000000 are kept, and all are passed on.",
    ),
    key(
        "on-output-limit",
        Kind::Word(&["truncate", "kill"]),
        r#""truncate""#,
        "What happens beyond: the rest is dropped, or the run is killed.",
    ),
    key(
        "exec-gate",
        Kind::Word(&["off", "observe", "enforce"]),
        r#""observe""#,
        "What becomes of the programs that start inside a run: nothing, they are recorded, or each is judged by this policy before it runs. A caller may ask for more, not for less.",
    ),
    key(
        "memory",
        Kind::Number(1 << 20, 1 << 50),
        "4294967296",
        "Bytes of private memory that each process of a run may have (setrlimit(2), `RLIMIT_DATA`).",
    ),
    key(
        "run-memory",
        Kind::Number(1 << 20, 1 << 50),
        "8589934592",
        "Bytes of memory that all processes and private directories of a run use together. Takes a control group: where none is delegated (`shward doctor` says how) it does not hold, and the plan says so, unless `[sandbox] require` names `cgroup`.",
    ),
    key(
        "processors",
        Kind::Number(1, 1 << 20),
        "150",
        "Hundredths of a processor that a run uses at once. Takes a control group, as `run-memory`.",
    ),
    key(
        "run-disk",
        Kind::Number(1 << 20, 1 << 50),
        "8589934592",
        "Bytes that what a run changes may take on the disk. A run that has written more is killed, and nothing of it is committed. Without it a run is bounded by `disk-reserve` alone.",
    ),
    key(
        "disk-reserve",
        Kind::Number(0, 1 << 50),
        "2147483648",
        "Bytes that a run leaves free on the file system of the workspace; where less is left it is killed, and nothing of it is committed. Default: 536870912, or a twentieth of the file system where that is less; less only where the layer may loosen.",
    ),
    key(
        "private",
        Kind::Number(1 << 20, 1 << 40),
        "4294967296",
        "Bytes that the private directories of a run (`/tmp`, `/dev/shm`, …) hold together; they lie in memory. Default: 1073741824, or a quarter of the memory where that is less; more only where the layer may loosen.",
    ),
    key(
        "processes",
        Kind::Number(1, 1 << 22),
        "1024",
        "Processes and threads that a run may have at once. Default: 320 where there are one or two processors, else 256 for each and at most 1024; more only where the layer may loosen.",
    ),
];

/// What a sandbox can be built without, by name.
pub(crate) const DISPENSABLE: &[&str] =
    &["fresh-proc", "net-ns", "ipc-ns", "uts-ns", "cgroup-ns", "landlock", "own-namespaces"];

/// What a policy can require of the machine, by name.
pub(crate) const REQUIRABLE: &[&str] = &["cgroup"];

/// The keys of `[sandbox]`.
const SANDBOX: &[Key] = &[
    key(
        "read-only",
        Kind::Switch,
        "false",
        "A run changes nothing but its private temporary directories, whatever containment is asked for.",
    ),
    key(
        "accept-missing",
        Kind::Texts,
        r#"["fresh-proc"]"#,
        "Guarantees that a run may be without, where the machine lacks them: fresh-proc, net-ns, ipc-ns, uts-ns, cgroup-ns, landlock, own-namespaces (bubblewrap makes them then). Without this a run is refused there. `shward doctor` tells what is lacking, what would mend it and what is lost. Only layers that may loosen can say so.",
    ),
    key(
        "require",
        Kind::Texts,
        r#"["cgroup"]"#,
        "What is refused where it cannot be had: cgroup, a control group of its own for every run, which holds `[limits] run-memory`, `processors` and `processes`. Replaces the list of an earlier layer.",
    ),
    key(
        "full",
        Kind::Switch,
        "true",
        "Whether a caller may ask for runs that are not confined (`--contain full`): they are judged as what others run, and have limits and an end. Only layers that may loosen can say so.",
    ),
    key(
        "live",
        Kind::Word(&["allow", "fallback", "deny"]),
        r#""fallback""#,
        "Whether a run may write straight to the workspace, where nothing can be undone: when it is asked for and where there is no overlay (default), only where there is none, or never; such a run is refused. The strictest layer counts.",
    ),
];

/// The keys of `[undo]`.
const UNDO: &[Key] = &[
    key("runs", Kind::Number(0, 100_000), "50", "How many runs are kept."),
    key(
        "size",
        Kind::Number(0, 1 << 50),
        "2147483648",
        "Bytes of what was there before that are kept, of all runs together. The oldest go first.",
    ),
    key("age", Kind::Number(0, 315_360_000), "604800", "Seconds for which a run is kept."),
];

/// The keys of `[network]`.
const NETWORK: &[Key] = &[
    key(
        "allow",
        Kind::Texts,
        r#"["pypi.org:443", "*.pythonhosted.org:443"]"#,
        "Hosts that contained commands may reach through shward's proxy: names, patterns, addresses and ranges, with a port or without. Private, loopback and link-local addresses are reached only if the address itself or its range is named. Replaces the list of an earlier layer.",
    ),
    key(
        "deny",
        Kind::Texts,
        r#"["paste.example.com"]"#,
        "Hosts that are never reached. Adds to the list of an earlier layer.",
    ),
];

/// The keys of `[gatekeeper]`.
const GATEKEEPER: &[Key] = &[
    key(
        "program",
        Kind::Text,
        r#""/usr/local/bin/gatekeeper""#,
        "The absolute path of a program that is asked about what is asked: JSON in, JSON out.",
    ),
    key("arguments", Kind::Texts, r#"["--strict"]"#, "The program's arguments."),
    key(
        "address",
        Kind::Text,
        r#""http://127.0.0.1:11434/v1""#,
        "Instead of a program: where a model on this machine answers in the OpenAI-compatible chat protocol.",
    ),
    key("model", Kind::Text, r#""qwen3""#, "The model's name."),
    key(
        "key-variable",
        Kind::Text,
        r#""GATEKEEPER_KEY""#,
        "The variable of the environment that holds the key.",
    ),
    key("timeout", Kind::Number(1, 600), "20", "Seconds after which no answer is a denial."),
    key("required", Kind::Switch, "true", "Without a gatekeeper, what is asked is denied."),
];

/// The keys of `[environment]`.
const ENVIRONMENT: &[Key] = &[
    key(
        "policy",
        Kind::Word(&["basic", "empty", "locale", "listed"]),
        r#""basic""#,
        "What a run gets: a few harmless variables (default), nothing, the locale, or those in `allow`. Variables that carry code never pass.",
    ),
    key("allow", Kind::Texts, r#"["LANG", "TERM"]"#, "The variables that pass with `listed`."),
    key("set", Kind::Map, r#"{ CI = "1" }"#, "Variables with fixed values."),
];

/// The keys of `[directory]`.
const DIRECTORY: &[Key] = &[
    key(
        "policy",
        Kind::Word(&["any", "fixed", "below", "listed"]),
        r#""any""#,
        "Where a command may start: anywhere, always in the first of `paths`, in or below them, or exactly in one of them.",
    ),
    key("paths", Kind::Texts, r#"["$WORKSPACE"]"#, "The directories."),
];

/// The keys of `[[binary.positional]]`.
const POSITIONAL: &[Key] = &[
    key(
        "below",
        Kind::Texts,
        r#"["$WORKSPACE"]"#,
        "The argument is a path in or below one of these directories, links resolved.",
    ),
    key("regex", Kind::Text, r#"'[a-z]+'"#, "The whole argument matches this regular expression."),
    key("one-of", Kind::Texts, r#"["main", "release"]"#, "The argument is one of these."),
    key("repeat", Kind::Switch, "true", "Holds for all further arguments."),
];

/// The keys of `[[binary]]`.
const BINARY: &[Key] = &[
    key("path", Kind::Text, r#""/usr/bin/git""#, "The program: an absolute path."),
    key(
        "subcommand",
        Kind::Texts,
        r#"["status"]"#,
        "The first argument that is neither an option nor an option's value must be one of these.",
    ),
    key("flags", Kind::Texts, r#"["--short", "-s"]"#, "Options that are accepted, exactly as written."),
    key(
        "flags-with-value",
        Kind::Texts,
        r#"["-C"]"#,
        "Options that are accepted and take the next argument, or what follows `=` or the letter, as their value.",
    ),
    key("clusters", Kind::Switch, "false", "`-rn` counts as `-r -n` if both are accepted."),
    key("max-flags", Kind::Number(0, 10_000), "3", "How many options are accepted."),
    key(
        "max-positionals",
        Kind::Number(0, 100_000),
        "2",
        "How many arguments are accepted that are not options; the subcommand does not count.",
    ),
    key(
        "double-dash",
        Kind::Word(&["never", "after-flags"]),
        r#""never""#,
        "Put `--` before the first argument that is not an option, where there is none.",
    ),
    key("positional", Kind::Tables(POSITIONAL), "", "What the arguments must be, in order."),
];

/// The keys of `[argv]`.
const ARGV: &[Key] = &[
    key(
        "risky",
        Kind::Word(&["deny", "warn", "allow"]),
        r#""deny""#,
        "Shells, interpreters, programs that start others and programs that change rights: denied even when listed, allowed with a finding, or allowed.",
    ),
    key(
        "rules-required",
        Kind::Switch,
        "true",
        "A program without a `[[binary]]` is denied even when listed.",
    ),
];

/// The keys of `[[rule]]`.
pub(crate) const RULE: &[Key] = &[
    key(
        "id",
        Kind::Text,
        r#""no-production""#,
        "Names the rule in findings and records: small letters, digits and dashes.",
    ),
    key(
        "decision",
        Kind::Word(DECISIONS),
        r#""deny""#,
        "What it decides. Without it, only the tier is raised.",
    ),
    key(
        "tier",
        Kind::Number(1, 4),
        "3",
        "The least tier of what it matches. Of tier 4 is what is never run, whatever else decides.",
    ),
    key(
        "reason",
        Kind::Text,
        r#""Production is changed by the pipeline only.""#,
        "What the model is told: what is wrong, and what to do instead.",
    ),
    key("suggestion", Kind::Text, r#""kubectl --context staging …""#, "A command that would pass."),
    key(
        "program",
        Kind::Texts,
        r#"["kubectl"]"#,
        "Names, paths, or patterns of them. A denial meets a name wherever it lies; an allowance only in a system directory.",
    ),
    key("subcommand", Kind::Texts, r#"["delete", "config set"]"#, "The words of the subcommand."),
    key(
        "option",
        Kind::Texts,
        r#"["--force", "-f"]"#,
        "Options; abbreviations and clusters count for a denial.",
    ),
    key("operand", Kind::Texts, r#"["prod-*"]"#, "Patterns of which any argument matches one."),
    key("effect", Kind::Texts, r#"["write", "vcs:push"]"#, "Kinds of effects, or kinds with their detail."),
    key("scope", Kind::Texts, r#"["home", "system"]"#, "Where an effect on files lands."),
    key(
        "path",
        Kind::Texts,
        r#"["/srv/**"]"#,
        "Patterns of places: `*` within one name, `**` over any number. `$WORKSPACE`, `$HOME`, `$TMP` and `~` stand for theirs.",
    ),
    key("host", Kind::Texts, r#"["*.example.com"]"#, "Patterns of hosts that are connected to."),
    key("origin", Kind::Texts, r#"["network"]"#, "Where what is written, sent or executed comes from."),
    key("min-tier", Kind::Number(1, 4), "3", "Matches what is at least of this tier."),
    key(
        "contained",
        Kind::Switch,
        "true",
        "Matches only when shward runs the command (true) or somebody else does (false).",
    ),
    key(
        "exact",
        Kind::Switch,
        "true",
        "Of an allowance: the arguments are those of `subcommand`, and no others.",
    ),
    key(
        "match",
        Kind::Texts,
        r#"["kubectl delete pod x"]"#,
        "Commands that the rule must meet; checked whenever the file is read.",
    ),
    key("not-match", Kind::Texts, r#"["kubectl get pods"]"#, "Commands that it must not meet."),
];

/// The keys of `[[timeout]]`.
const TIMEOUT: &[Key] = &[
    key("class", Kind::Text, r#""build""#, "Its name. A later layer's class of this name replaces it."),
    key(
        "commands",
        Kind::Texts,
        r#"["make", "cargo build"]"#,
        "Which commands: a program, and the words that have to follow it. The longest time of all programs of a command counts.",
    ),
    key("seconds", Kind::Number(1, 86_400), "1800", "Seconds after which a run is killed."),
];

/// The keys of `[[rate]]`.
const RATE: &[Key] = &[
    key(
        "per",
        Kind::Word(&["session", "program", "tier", "all"]),
        r#""session""#,
        "What is counted together.",
    ),
    key("burst", Kind::Number(1, 1_000_000), "3", "How many commands may come at once."),
    key("count", Kind::Number(1, 1_000_000), "10", "How many are accepted in `seconds`, for ever."),
    key("seconds", Kind::Number(1, 86_400), "60", "The time for `count`."),
    key(
        "on-exceed",
        Kind::Word(&["refuse", "wait"]),
        r#""refuse""#,
        "Refuse and say how long to wait, or wait.",
    ),
    key(
        "max-wait",
        Kind::Number(0, 600),
        "60",
        "The longest wait, in seconds; what would take longer is refused.",
    ),
];

/// The keys of a policy file.
pub(crate) const POLICY: &[Key] = &[
    key("extends", Kind::Text, r#""workspace""#, "The profile that this file builds on."),
    key("name", Kind::Text, r#""my-team""#, "The name of this profile, for records."),
    key(
        "lock",
        Kind::Texts,
        r#"["shell", "checks"]"#,
        "Keys that later layers must not set. For system files only.",
    ),
    key(
        "shell",
        Kind::Word(&["full", "chain", "pipeline", "simple", "none"]),
        r#""full""#,
        "What is accepted: everything, simple commands joined by operators, by pipes only, one literal command, or argument lists only.",
    ),
    key("block-globs", Kind::Switch, "false", "With `shell = \"simple\"`: refuse `*`, `?` and `[`."),
    key(
        "control-characters",
        Kind::Word(&["accept", "refuse"]),
        r#""accept""#,
        "Refuse commands with control, invisible or bidirectional characters.",
    ),
    key(
        "asked",
        Kind::Word(&["ask", "deny"]),
        r#""ask""#,
        "What becomes of a question: it is asked, or denied because nobody is there.",
    ),
    key(
        "approval",
        Kind::Word(&["as-decided", "always"]),
        r#""as-decided""#,
        "Ask only what is to be asked, or everything that is not denied.",
    ),
    key(
        "decide-by",
        Kind::Word(&["checks", "tier"]),
        r#""checks""#,
        "Checks decide by themselves, or by their tier: 1 allow, 2 and 3 ask, 4 deny.",
    ),
    key(
        "checks",
        Kind::Checks,
        "",
        "Decisions of the built-in checks, by id: one word, or { alone = …, contained = … }; `default` for all that are not named.",
    ),
    key("programs", Kind::Table(PROGRAMS), "", "Lists of programs."),
    key("paths", Kind::Table(PATHS), "", "Lists of places."),
    key("tiers", Kind::Table(TIERS), "", "Tiers by patterns."),
    key("limits", Kind::Table(LIMITS), "", "Limits of a run."),
    key("network", Kind::Table(NETWORK), "", "Hosts that contained commands may reach."),
    key("sandbox", Kind::Table(SANDBOX), "", "What the sandbox may be without, and what it may not do."),
    key(
        "undo",
        Kind::Table(UNDO),
        "",
        "How much is kept so that runs can be undone. Only the policy of the system or the user can say it: what is kept is the way back from what a project's commands did.",
    ),
    key("gatekeeper", Kind::Table(GATEKEEPER), "", "Who gives a second opinion on what is asked."),
    key("environment", Kind::Table(ENVIRONMENT), "", "The variables of a run."),
    key("directory", Kind::Table(DIRECTORY), "", "Where a command may start."),
    key("argv", Kind::Table(ARGV), "", "How argument lists are judged."),
    key("binary", Kind::Tables(BINARY), "", "What one program's argument list may be."),
    key("rate", Kind::Tables(RATE), "", "How many commands are accepted in which time."),
    key("timeout", Kind::Tables(TIMEOUT), "", "The time of commands of a kind, instead of `limits.timeout`."),
    key("rule", Kind::Tables(RULE), "", "Your own rules. The strictest that matches counts."),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::{EFFECTS, Kinds};
    use shward_analysis::Origins;
    use shward_analysis::vocabulary::ORIGINS;

    #[test]
    fn names_stand_in_the_order_of_their_bits() {
        assert_eq!(SCOPES.get(Scope::Own as usize), Some(&Scope::Own.name()));
        assert_eq!(SCOPES.len(), Scope::Own as usize + 1);
        assert_eq!(SCOPES.get(Scope::Repository as usize), Some(&"repository"));
        assert_eq!(EFFECTS.len() + 1, Kinds::COUNT);
        for name in ORIGINS {
            let origins = Origins::from_name(name).expect("it is known");
            assert_eq!(origins.names().collect::<Vec<_>>(), [*name]);
        }
        assert_eq!(Origins::from_name("credential"), Some(Origins::CREDENTIAL));
    }
}
