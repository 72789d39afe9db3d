//! The answers that five other systems give, from their own suites and specifications: each must be ours too, under the
//! profile that stands for the system, or be listed here with the reason why ours is another.
//!
//! The vectors are not part of this repository. `SHWARD_SEEDS` names them, or they lie beside it; without them there is
//! nothing to compare, and the test says so.

#![allow(clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "a panic is how a test fails")]

mod seeds_exceptions;

use bumpalo::Bump;
use seeds_exceptions::EXCEPTIONS;
use serde_json::Value;
use shward_analysis::{FileKind, Frozen, Request, Source as Input, World, analyze};
use shward_policy::{
    Context, Decision, Layer, Policy, Source, Verdict, carries_code, decide_request, exceeds, risk,
};
use shward_syntax::Dialect;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const HOME: &[u8] = b"/home/user";

/// What became of a vector.
enum Result {
    /// We answer as it says.
    Same,
    /// We answer something else.
    Other(String),
    /// It is about running, waiting or asking, and is shown by this test.
    Elsewhere(&'static str),
}

use Result::{Elsewhere, Other, Same};

fn same(met: bool, told: impl Into<String>) -> Result {
    if met { Same } else { Other(told.into()) }
}

fn policy(text: &str) -> Policy {
    let source = Source { layer: Layer::User, name: "seed".to_owned(), text: text.to_owned() };
    Policy::from_sources(None, &[source]).unwrap_or_else(|e| panic!("{text}\n{e}"))
}

fn judge(policy: &Policy, input: &Input<'_>, cwd: &[u8], world: &dyn World) -> Verdict {
    let arena = Bump::new();
    let workspace = cwd;
    let request = Request { source: *input, cwd, workspace, home: HOME, dialect: Dialect::Bash };
    let plan = analyze(&arena, &request, world);
    let context = Context { contained: false, cwd, workspace, home: HOME };
    decide_request(policy, &plan, &context, input, world)
}

fn verdict(text: &str, command: &str, cwd: &str) -> Verdict {
    judge(&policy(text), &Input::Command(command.as_bytes()), cwd.as_bytes(), &Frozen)
}

fn told(verdict: &Verdict) -> String {
    let rules: Vec<&str> = verdict.findings().iter().map(|f| &*f.rule).collect();
    format!("{} tier {} [{}]", verdict.decision(), verdict.tier().get(), rules.join(" "))
}

fn list(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|v| v.as_str().map(str::to_owned)).collect()
}

fn toml(texts: &[String]) -> String {
    format!("{texts:?}")
}

/// Whether a decision is what is expected, or stricter than a question.
fn decided(got: Decision, expected: &str) -> bool {
    match expected {
        "allow" | "pass" => got == Decision::Allow,
        "ask" | "gatekeeper" => got >= Decision::Ask,
        _ => got == Decision::Deny,
    }
}

/// What only the floor denies once the patterns of a profile are emptied: allowed by a build without a floor.
const FLOOR_ONLY: &[&str] = &["seed-0615"];

#[test]
fn the_five_systems_answers_are_ours() {
    let path = std::env::var("SHWARD_SEEDS").unwrap_or_else(|_| {
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors/seeds.jsonl").to_owned()
    });
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: {path} is not there; set SHWARD_SEEDS");
        return;
    };
    let (mut count, mut excepted, mut wrong) = (0, 0, String::new());
    let mut elsewhere = BTreeMap::new();
    for line in text.lines() {
        let seed: Value = serde_json::from_str(line).expect("the vectors are JSON");
        let id = seed["id"].as_str().expect("it has an id");
        count += 1;
        let result = match seed["system"].as_str().expect("it has a system") {
            "cmdwall" => cmdwall(&seed),
            "tenuo_shlex" | "tenuo_shlex_spec" | "tenuo_shlex_rust" => shlex(&seed),
            "hector" => hector(&seed),
            "gaia" | "gaia_seed" => gaia(&seed),
            "proc_jail" => proc_jail(&seed),
            "llm_sandboxed_shell" => Elsewhere("crates/engine/tests/shapes.rs"),
            other => Other(format!("an unknown system {other}")),
        };
        let exception = EXCEPTIONS.iter().find(|(ids, _)| ids.contains(&id));
        match (result, exception) {
            (Same, None) => {}
            (Elsewhere(where_), None) => *elsewhere.entry(where_).or_insert(0) += 1,
            (Other(_), Some(_)) => excepted += 1,
            (Other(_), None) if shward_policy::UNRESTRICTED && FLOOR_ONLY.contains(&id) => excepted += 1,
            (Same | Elsewhere(_), Some(_)) => {
                let _ = writeln!(wrong, "{id}: is listed as an exception and is none");
            }
            (Other(got), None) => {
                let _ = writeln!(
                    wrong,
                    "{id} {} {} {}: wanted {}, got {got}",
                    seed["system"], seed["config"], seed["command"], seed["expect"]
                );
            }
        }
    }
    eprintln!(
        "{count} vectors: {excepted} are exceptions; about running, and shown elsewhere: {elsewhere:?}"
    );
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 890, "only {count} vectors");
}

fn cmdwall(seed: &Value) -> Result {
    let (config, expect) = (&seed["config"], seed["expect"].as_str().unwrap_or_default());
    let Some(command) = seed["command"].as_str() else { return Other("no command".to_owned()) };
    if config["entry"].is_string() {
        return Elsewhere("crates/engine/tests/tool_calls.rs");
    }
    if expect == "timeout" {
        return Elsewhere("crates/sandbox/tests/kernel/process.rs");
    }
    let replaced = command.replace("$SAFE", "/srv/safe").replace("$TMP", "/srv/tmp");
    let mut text = String::from("extends = \"tiers\"\n");
    let mut programs = String::new();
    for (key, ours) in [("blocklist", "deny"), ("allowlist", "allow")] {
        if config[key].is_array() {
            let _ = writeln!(programs, "{ours} = {}", toml(&list(&config[key])));
        }
    }
    if !programs.is_empty() {
        let _ = write!(text, "[programs]\n{programs}");
    }
    let mut paths = String::new();
    for (key, ours) in [("allowed_paths", "allow"), ("blocked_paths", "deny")] {
        if config[key].is_array() {
            let entries: Vec<String> = list(&config[key])
                .iter()
                .map(|p| p.replace("$SAFE", "/srv/safe").replace("$TMP", "/srv/tmp"))
                .collect();
            let _ = writeln!(paths, "{ours} = {}", toml(&entries));
        }
    }
    if !paths.is_empty() {
        let _ = write!(text, "[paths]\n{paths}");
    }
    for (tier, patterns) in config["custom_rules"].as_object().into_iter().flatten() {
        for pattern in list(patterns) {
            let _ = write!(text, "[[tiers.pattern]]\ntier = {tier}\nregex = {pattern:?}\n");
        }
    }
    let cwd = if config["stage"] == "sandbox" { "/srv/elsewhere" } else { "/srv/tmp" };
    let verdict = verdict(&text, &replaced, cwd);
    if config["stage"] == "sandbox" && expect == "pass" {
        let refused = verdict.findings().iter().any(|f| f.rule == "path-denied");
        // The listing of the working directory itself is refused where that is not allowed.
        return same(!refused, told(&verdict));
    }
    // What a provider answers is asked first; the answer belongs to the gatekeeper.
    if !config["provider"].is_null() || (config.get("provider").is_some() && expect == "deny") {
        return same(verdict.decision() == Decision::Ask, told(&verdict));
    }
    let tier = seed["tier"].as_u64();
    let met = decided(verdict.decision(), expect)
        && tier.is_none_or(|tier| u64::from(verdict.tier().get()) == tier);
    same(met, told(&verdict))
}

fn shlex(seed: &Value) -> Result {
    let (config, expect) = (&seed["config"], seed["expect"].as_str().unwrap_or_default());
    let parse = |allow: &[String], more: &str| {
        let text = format!("extends = \"strict\"\n{more}[programs]\nallow = {}\n", toml(allow));
        Policy::from_sources(None, &[Source { layer: Layer::User, name: "seed".to_owned(), text }])
    };
    if expect == "error" {
        return same(parse(&list(&config["allow"]), "").is_err(), "an empty list is accepted");
    }
    if let Some(parent) = config["parent_allow"].as_array() {
        let parent = parse(&list(&Value::Array(parent.clone())), "").expect("a list");
        if config["child"] == "Exact" {
            // One exact command is permitted if the parent permits it.
            let command = seed["command"].as_str().unwrap_or_default();
            let got = judge(&parent, &Input::Command(command.as_bytes()), b"/srv/project", &Frozen);
            let within =
                !got.findings().iter().any(|f| f.rule == "program-unlisted" || f.rule == "not-simple");
            return same(within == (expect == "attenuation_ok"), told(&got));
        }
        let child = parse(&list(&seed["command"]), "").expect("a list");
        let wider = exceeds(&child, &parent);
        return same(wider.is_empty() == (expect == "attenuation_ok"), format!("{wider:?}"));
    }
    // A command is text by its type here; what is not text cannot be asked.
    let Some(command) = seed["command"].as_str() else { return same(expect == "deny", "not text") };
    let command = match command {
        c if c.starts_with("<generated: echo + 100000") => format!("echo {}", "x".repeat(100_000)),
        c if c.starts_with("<generated: echo + 10000") => format!("echo{}", " x".repeat(10_000)),
        c => c.to_owned(),
    };
    if command.trim().is_empty() {
        return same(expect == "deny", "empty commands are refused before anything is judged");
    }
    let more = if config["block_globs"] == true { "block-globs = true\n" } else { "" };
    let policy = parse(&list(&config["allow"]), more).expect("a list");
    let got = judge(&policy, &Input::Command(command.as_bytes()), b"/srv/project", &Frozen);
    same(decided(got.decision(), expect), told(&got))
}

fn hector(seed: &Value) -> Result {
    let (config, expect) = (&seed["config"], seed["expect"].as_str().unwrap_or_default());
    if ["stream", "cancelled", "true", "false"].contains(&expect) {
        return Elsewhere("crates/engine/tests/tool_calls.rs, crates/sandbox/tests/kernel/process.rs");
    }
    if config["decision"].is_string() {
        return Elsewhere("crates/review: answers of a person");
    }
    let command = seed["command"].as_str().unwrap_or_default();
    if command.trim().is_empty() {
        return same(expect == "deny", "empty commands are refused before anything is judged");
    }
    let mut text = String::from("extends = \"command-tool\"\n");
    if config["require_approval"] == true {
        text.push_str("approval = \"always\"\n");
    }
    let mut programs = String::new();
    let (allowed, denied) = (list(&config["allowed_commands"]), list(&config["denied_commands"]));
    if !allowed.is_empty() {
        let _ = writeln!(programs, "allow = {}", toml(&allowed));
    }
    if !allowed.is_empty() || config["deny_by_default"] == true {
        programs.push_str("unlisted = \"deny\"\n");
    }
    if !denied.is_empty() {
        let _ = writeln!(programs, "deny = {}", toml(&denied));
    }
    if !programs.is_empty() {
        let _ = write!(text, "[programs]\n{programs}");
    }
    let got = verdict(&text, command, "/srv/project");
    same(decided(got.decision(), expect), told(&got))
}

/// What a grant for gh is: listed, and allowed to read what is elsewhere.
const GH: &str = r#"
[[rule]]
id = "gh-reads"
decision = "allow"
program = "gh"
effect = ["remote:read", "connect", "read", "list"]
"#;

fn gaia(seed: &Value) -> Result {
    let (config, expect) = (&seed["config"], seed["expect"].as_str().unwrap_or_default());
    let stage = config["stage"].as_str().unwrap_or_default();
    match expect {
        "rate_limited" => return Elsewhere("crates/review: limits"),
        "timeout" | "exec" => return Elsewhere("crates/engine/tests/run.rs"),
        _ => {}
    }
    let granted = list(&config["grants"]).contains(&"gh".to_owned());
    let command = match &seed["command"] {
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    if stage == "scope" {
        let text = format!("extends = \"inspect\"\n[programs]\nallow = [{command:?}]\n");
        let source = Source { layer: Layer::User, name: "seed".to_owned(), text };
        return same(Policy::from_sources(None, &[source]).is_err(), "the name is accepted");
    }
    if command.trim().is_empty() {
        return same(expect == "deny", "empty commands are refused before anything is judged");
    }
    let mut text = String::from("extends = \"inspect\"\n");
    if matches!(stage, "prompt" | "pre_prompt") && expect != "allow" {
        text.push_str("approval = \"always\"\n");
    }
    if granted {
        let base = shward_policy::profiles::text("inspect").expect("it is shipped");
        let names = base
            .split_once("allow = [")
            .and_then(|(_, rest)| rest.split_once(']'))
            .map_or("", |(names, _)| names);
        let _ = write!(text, "[programs]\nmatch = \"exact\"\nallow = [{names} \"gh\"]\n");
    }
    let paths = list(&config["allowed_paths"]);
    if !paths.is_empty() {
        let entries: Vec<String> = paths.iter().map(|p| p.replace("<cwd>", "$WORKSPACE")).collect();
        let _ = writeln!(text, "[paths]\nallow = {}", toml(&entries));
    } else if config["path_validator"] == "deny all" {
        text.push_str("[paths]\ndeny = \"/**\"\n");
    }
    if granted {
        text.push_str(GH);
    }
    let command = command.replace("<cwd>", "/home/user/project");
    let command = if stage == "path" { format!("cat {command}") } else { command };
    let got = verdict(&text, &command, "/home/user/project");
    match expect {
        "match" | "nomatch" => {
            let listed = !got.findings().iter().any(|f| f.rule == "program-unlisted");
            same(listed == (expect == "match"), told(&got))
        }
        "pass" if stage == "operators" => {
            same(!got.findings().iter().any(|f| f.rule == "not-a-pipeline"), told(&got))
        }
        _ => same(decided(got.decision(), expect), told(&got)),
    }
}

/// A machine with a few programs and directories.
struct Table;

impl World for Table {
    fn canonical(&self, path: &[u8]) -> Option<Cow<'_, [u8]>> {
        let text = String::from_utf8_lossy(path);
        let mut names: Vec<&str> = Vec::new();
        for name in text.split('/') {
            match name {
                "" | "." => {}
                ".." => drop(names.pop()),
                name => names.push(name),
            }
        }
        let path = format!("/{}", names.join("/"));
        let real = match path.as_str() {
            "/links/grep" => "/usr/bin/grep".to_owned(),
            "/links/bash" => "/bin/bash".to_owned(),
            "/links/file" => "/srv/tool".to_owned(),
            "/jail/escape" => "/etc".to_owned(),
            _ => path,
        };
        Some(Cow::Owned(real.into_bytes()))
    }

    fn kind(&self, path: &[u8]) -> FileKind {
        match self.canonical(path).as_deref() {
            Some(b"/dev/null") => FileKind::Special,
            Some(b"/srv/directory" | b"/tmp" | b"/jail" | b"/etc") => FileKind::Directory,
            Some(path)
                if path.starts_with(b"/bin/")
                    || path.starts_with(b"/usr/bin/")
                    || path.starts_with(b"/srv/") =>
            {
                FileKind::File
            }
            _ => FileKind::Missing,
        }
    }

    fn executable(&self, path: &[u8]) -> Option<bool> {
        Some(path != b"/srv/plain")
    }
}

/// `[[binary]]` for a program, from its rules.
fn binary(path: &str, rules: &Value) -> String {
    let number = |name: &str| rules[name].as_u64().unwrap_or(0);
    let mut text = format!(
        "[[binary]]\npath = {path:?}\nflags = {}\nmax-flags = {}\nmax-positionals = {}\n",
        toml(&list(&rules["allowed_flags"])),
        number("max_flags"),
        number("max_positionals")
    );
    if let Some(subcommand) = rules["subcommand"].as_str() {
        let _ = writeln!(text, "subcommand = {subcommand:?}");
    }
    if rules["inject_double_dash"] == "AfterFlags" {
        text.push_str("double-dash = \"after-flags\"\n");
    }
    text
}

fn proc_jail(seed: &Value) -> Result {
    let (config, expect) = (&seed["config"], seed["expect"].as_str().unwrap_or_default());
    if expect == "stripped" {
        return same(config["env"].as_str().is_some_and(carries_code), "the variable passes");
    }
    if matches!(expect, "exec" | "timeout" | "stdout_limit" | "kill_tree" | "env" | "rewrite")
        && config["inject_double_dash"].is_null()
    {
        return Elsewhere("crates/engine/tests/run.rs, crates/sandbox/tests/kernel");
    }
    let words: Vec<String> = list(&seed["command"]).iter().map(|word| file_of(word)).collect();
    if config["stage"] == "risk" {
        let category = words.first().and_then(|w| risk(w)).map_or("not_risky", shward_policy::Risk::name);
        return same(category == expect, category);
    }
    if !config["inject_double_dash"].is_null() && expect == "rewrite" {
        return rewriting(seed, config, &words);
    }
    if let Some(after) = config["after_terminator"].as_bool() {
        return classification(after, expect, &words);
    }
    if let Some(cwd) = config["cwd_policy"].as_str() {
        return directory(cwd, config["request_cwd"].as_str(), expect);
    }
    let allowed: Vec<String> = list(&config["allow_bin"])
        .iter()
        .map(|p| if p.starts_with('/') { p.clone() } else { format!("/usr/bin/{p}") })
        .collect();
    if expect == "error" {
        // A program without rules is accepted in the file and denied when it is asked for.
        let text = format!("extends = \"argv\"\n[programs]\nallow = {}\n", toml(&allowed));
        let got = argv(&text, &["/usr/bin/grep".to_owned()], "/tmp");
        return same(got.findings().iter().any(|f| f.rule == "argument-rules-required"), told(&got));
    }
    let risky = match config["risky_bin_policy"].as_str() {
        Some("Disabled") => "allow",
        Some("AllowWithWarning") => "warn",
        _ => "deny",
    };
    let words: Vec<String> = if config["stage"] == "binary"
        || words.first().is_some_and(|w| w.contains('/'))
        || allowed.is_empty()
    {
        words
    } else {
        words
            .iter()
            .map(|w| if config["risky_bin_policy"].is_string() { format!("/usr/bin/{w}") } else { w.clone() })
            .collect()
    };
    let listed =
        if allowed.is_empty() { vec!["/usr/bin/env".to_owned(), "/srv/tool".to_owned()] } else { allowed };
    let risky = if config["stage"] == "binary" { "allow" } else { risky };
    let mut text =
        format!("extends = \"argv\"\n[programs]\nallow = {}\n[argv]\nrisky = \"{risky}\"\n", toml(&listed));
    for path in &listed {
        text.push_str(&binary(path, &config["arg_rules"]));
    }
    let got = argv(&text, &words, "/tmp");
    same(decided(got.decision(), expect), told(&got))
}

/// The words that stand for files in the vectors.
fn file_of(word: &str) -> String {
    match word {
        "<symlink to real file>" => "/links/file",
        "<broken symlink>" => "/links/broken",
        "<directory>" => "/srv/directory",
        "<0644 file>" => "/srv/plain",
        "<0755 file>" => "/srv/tool",
        "<symlink to /usr/bin/grep>" => "/links/grep",
        "<link3->link2->link1->/bin/bash>" => "/links/bash",
        "$F" => "/tmp/file.txt",
        other => other,
    }
    .to_owned()
}

fn argv(text: &str, words: &[String], cwd: &str) -> Verdict {
    let policy = policy(text);
    let words: Vec<&[u8]> = words.iter().map(|w| w.as_bytes()).collect();
    let words = policy.rewritten(&words, &Table);
    judge(&policy, &Input::Argv(&words), cwd.as_bytes(), &Table)
}

fn rewriting(seed: &Value, config: &Value, words: &[String]) -> Result {
    let dash = if config["inject_double_dash"] == "Never" { "never" } else { "after-flags" };
    let policy = policy(&format!(
        "extends = \"argv\"\n[[binary]]\npath = \"/usr/bin/grep\"\ndouble-dash = \"{dash}\"\n"
    ));
    let mut line: Vec<&[u8]> = vec![b"/usr/bin/grep"];
    line.extend(words.iter().map(|w| w.as_bytes()));
    let got: Vec<String> = policy
        .rewritten(&line, &Table)
        .iter()
        .skip(1)
        .map(|w| String::from_utf8_lossy(w).into_owned())
        .collect();
    // What has to come out stands in the vector's reason or in a field of its own; the rule is the same for all.
    let wanted = ["result", "output", "expected"]
        .iter()
        .find_map(|key| seed.get(*key).filter(|v| v.is_array()))
        .map(list);
    let wanted = wanted.unwrap_or_else(|| {
        let first = words.iter().position(|w| w == "-" || !w.starts_with('-'));
        let mut wanted = words.to_vec();
        match first {
            Some(at) if dash != "never" && !words.contains(&"--".to_owned()) => {
                let only_arguments = words.iter().skip(at).all(|w| w == "-" || !w.starts_with('-'));
                if only_arguments {
                    wanted.insert(at, "--".to_owned());
                }
            }
            _ => {}
        }
        wanted
    });
    same(got == wanted, format!("{got:?} for {wanted:?}"))
}

fn classification(after: bool, expect: &str, words: &[String]) -> Result {
    let text =
        "extends = \"argv\"\n[programs]\nallow = \"/usr/bin/grep\"\n[[binary]]\npath = \"/usr/bin/grep\"\n";
    let mut line = vec!["/usr/bin/grep".to_owned()];
    if after {
        line.push("--".to_owned());
    }
    line.extend_from_slice(words);
    let got = argv(text, &line, "/tmp");
    let kind = match got.findings().iter().map(|f| &*f.rule).find(|r| r.starts_with("too-many")) {
        Some("too-many-flags") => "flag",
        Some("too-many-positionals") => "positional",
        _ => "terminator",
    };
    same(kind == expect, kind)
}

fn directory(policy: &str, request: Option<&str>, expect: &str) -> Result {
    let named = |text: &str| {
        text.replace("$JAIL", "/jail")
            .replace("$T1", "/srv/t1")
            .replace("$T2", "/srv/t2")
            .replace("$T", "/srv/t")
    };
    let (kind, paths) = policy.split_once(':').unwrap_or((policy, ""));
    let paths: Vec<String> = named(paths).split(',').map(str::to_owned).collect();
    let ours = match kind {
        "fixed" => "fixed",
        "jailed" => "below",
        _ => "listed",
    };
    let text = format!("[directory]\npolicy = \"{ours}\"\npaths = {}\n", toml(&paths));
    // Where the policy says where to start, the request need not: the engine takes the first directory.
    let first = paths.first().cloned().unwrap_or_default();
    let cwd = match request {
        _ if ours == "fixed" => first,
        None => first,
        Some(request) => named(request.split(" -> ").next().unwrap_or(request)),
    };
    if cwd.contains("..") {
        return same(expect == "deny", "a directory with `..` is refused before anything is judged");
    }
    let got = judge(&self::policy(&text), &Input::Command(b"true"), cwd.as_bytes(), &Table);
    let allowed = !got.findings().iter().any(|f| f.rule == "directory-denied");
    same(allowed == (expect != "deny"), told(&got))
}
