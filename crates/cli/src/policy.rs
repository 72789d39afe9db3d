//! `policy`, `init` and `schema`: reading, checking, trusting and comparing policies.

mod diff;
mod import;

use crate::args::{self, Args};
use crate::ask::Directories;
use crate::exit::Exit;
use crate::flags::{CORPUS, FLOOR, Flag, JSON, LOG, POLICY, PROFILE, REVOKE, SYSTEM, WITHIN};
use crate::shown::Terminal;
use crate::terminal::{self, Fail};
use crate::{setup, shown, state};
use serde_json::{Value, json};
use shward::policy::{Layer, Origin, Policy, Source, exceeds, file, profiles, remarks};
use shward::{Account, Decision, Firewall, PolicyPlaces, Request, Setting, Trust};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Carries out `policy`.
///
/// # Errors
/// The options are wrong, or a policy cannot be used.
pub(crate) fn run(args: &Args) -> Result<Exit, Fail> {
    let operands: Vec<String> = args.operands.iter().map(|o| o.to_string_lossy().into_owned()).collect();
    let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
    refuse_useless(args, &operands)?;
    match operands.as_slice() {
        ["show"] => show(args),
        ["check"] => check(args, None),
        ["check", file] => check(args, Some(Path::new(file))),
        ["trust"] => trust(args),
        ["test", file] => test(args, Path::new(file)),
        ["diff", old, new] => diff::run(args, Path::new(old), Path::new(new)),
        ["import", kind, file] => import::run(args, kind, Path::new(file)),
        words => Err(Fail::usage(match words.first().copied() {
            Some("show") => {
                "show takes options only: shward policy show --profile NAME prints a profile".to_owned()
            }
            Some("check") => "give at most one file: shward policy check [FILE] [--within PARENT]".to_owned(),
            Some("trust") => {
                "trust is about the nearest .shward.toml; --workspace DIR says from where".to_owned()
            }
            Some("test") => "name one file of [[case]]s: shward policy test FILE [--policy FILE]".to_owned(),
            Some("diff") => "name two policies: shward policy diff OLD NEW [--corpus FILE]".to_owned(),
            Some("import") => {
                format!("name a kind and a file: shward policy import KIND FILE; {}", import::KINDS)
            }
            Some(other) => {
                args::unknown_word(other, &["show", "check", "trust", "test", "diff", "import"], WHAT)
            }
            None => WHAT.to_owned(),
        })),
    }
}

/// Options that only some of what `policy` does looks at.
static ONLY: &[(&Flag, &[&str])] = &[
    (&FLOOR, &["show"]),
    (&WITHIN, &["check"]),
    (&POLICY, &["show", "check", "test"]),
    (&PROFILE, &["show", "check", "test"]),
    (&REVOKE, &["trust"]),
    (&SYSTEM, &["show", "check", "test", "diff"]),
    (&CORPUS, &["diff"]),
    (&LOG, &["diff"]),
];

/// Refuses an option that would do nothing.
fn refuse_useless(args: &Args, operands: &[&str]) -> Result<(), Fail> {
    let Some(what) = operands.first() else { return Ok(()) };
    for (flag, those) in ONLY.iter().filter(|(flag, _)| args.has(flag)) {
        if !those.contains(what) {
            let those: Vec<String> = those.iter().map(|verb| format!("`policy {verb}`")).collect();
            return Err(Fail::usage(format!("--{} belongs to {}", flag.name, those.join(", "))));
        }
    }
    if let (["check", _], true) = (operands, args.has(&POLICY)) {
        return Err(Fail::usage("give the policy as FILE or with --policy, not both"));
    }
    let named = args.has(&POLICY) || matches!(operands, ["check", _] | ["diff", ..]);
    if args.has(&SYSTEM) && !named {
        return Err(Fail::usage("--system says how a file is read; name one, as FILE or with --policy"));
    }
    Ok(())
}

/// What there is to do.
const WHAT: &str =
    "say what to do: shward policy show, check [FILE], trust, test FILE, diff OLD NEW, or import KIND FILE";

/// The text of a file that is read as a policy is: bounded, and no pipe is waited for.
fn read(path: &Path) -> Result<String, Fail> {
    use std::io::Read as _;
    let told = |e: io::Error| {
        Fail::io(match e.kind() {
            io::ErrorKind::NotFound => {
                format!("{path:?} cannot be read: there is no such file; name another")
            }
            _ => format!("{path:?} cannot be read: {e}"),
        })
    };
    let meta = fs::metadata(path).map_err(told)?;
    if !meta.is_file() {
        return Err(Fail::input(format!("{}: it is no regular file", path.display())));
    }
    let mut text = String::new();
    let most = file::MAX_FILE as u64;
    fs::File::open(path).map_err(told)?.take(most + 1).read_to_string(&mut text).map_err(told)?;
    if text.len() as u64 > most {
        return Err(Fail::input(format!("{}: it has more than {most} bytes", path.display())));
    }
    Ok(text)
}

/// Carries out `schema`.
///
/// # Errors
/// There is no such schema.
pub(crate) fn schema(args: &Args) -> Result<Exit, Fail> {
    match args.operands.as_slice() {
        [name] if name == "policy" => terminal::line(file::schema::json().trim_end()).map(|()| Exit::Allow),
        _ => Err(Fail::usage("name the schema: policy")),
    }
}

/// Carries out `init`: a commented template, to standard output or into a file that does not exist yet.
///
/// # Errors
/// The file exists, or cannot be written.
pub(crate) fn init(args: &Args) -> Result<Exit, Fail> {
    let template = file::schema::template();
    match args.operands.as_slice() {
        [] => terminal::line(template.trim_end()).map(|()| Exit::Allow),
        [path] if path == "-" => terminal::line(template.trim_end()).map(|()| Exit::Allow),
        [path] => {
            let path = Path::new(path);
            new_file(path, template.as_bytes()).map_err(|e| {
                Fail::io(match e.kind() {
                    io::ErrorKind::AlreadyExists => format!(
                        "{}: it exists already and is left as it is; name another file, or move that one away",
                        path.display()
                    ),
                    _ => format!("{}: {e}", path.display()),
                })
            })?;
            terminal::line(&format!("{}: written; every key in it is a comment", path.display()))?;
            Ok(Exit::Allow)
        }
        _ => Err(Fail::usage("at most one FILE")),
    }
}

/// Makes a file that is there as a whole or not at all, and replaces none.
fn new_file(path: &Path, text: &[u8]) -> io::Result<()> {
    use std::io::Write as _;
    if fs::symlink_metadata(path).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    let temporary = PathBuf::from(name);
    let mut out = fs::OpenOptions::new().write(true).create_new(true).open(&temporary)?;
    let written = out.write_all(text).and_then(|()| out.sync_all()).and_then(|()| {
        match fs::hard_link(&temporary, path) {
            // Not every file system has links; what came there meanwhile is not replaced by them.
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists && fs::symlink_metadata(path).is_err() => {
                fs::rename(&temporary, path)
            }
            linked => linked,
        }
    });
    let _ = fs::remove_file(&temporary);
    written
}

fn workspace(args: &Args) -> Result<PathBuf, Fail> {
    Ok(Directories::from(args)?.workspace)
}

fn place(origin: &Origin) -> String {
    format!("{} {}:{}", origin.layer.name(), origin.file, origin.line)
}

fn show(args: &Args) -> Result<Exit, Fail> {
    if let Some(name) = args.text(&PROFILE).map_err(Fail::usage)?
        && !args.has(&JSON)
        && !args.has(&FLOOR)
    {
        let text = profiles::text(name).ok_or_else(|| {
            let known: Vec<&str> = profiles::SHIPPED.iter().map(|(name, _)| *name).collect();
            Fail::usage(format!("unknown profile {name:?}; profiles: {}", known.join(" ")))
        })?;
        return terminal::line(text.trim_end()).map(|()| Exit::Allow);
    }
    let policy = setup::policy(args, &workspace(args)?)?;
    let only_floor = args.has(&FLOOR);
    let checks: Vec<_> = policy.decided().filter(|(rule, ..)| !only_floor || rule.floor).collect();
    if args.has(&JSON) {
        let notes = setup::untrusted(args, &workspace(args)?)?;
        return terminal::line(&shown_as_json(&policy, only_floor, &notes).to_string()).map(|()| Exit::Allow);
    }
    let mut out = String::new();
    if only_floor {
        out.push_str(if shward::policy::UNRESTRICTED {
            "This build is unrestricted: the floor is a list of checks like others.\n"
        } else {
            "The floor: denied in every profile, whatever a policy says.\n"
        });
    } else {
        let _ = writeln!(out, "policy {} (profile {})", policy.name(), policy.profile().name());
        for note in Account::of_process().report().notes {
            let _ = writeln!(out, "  note: {}", shown::one_line(&note));
        }
        for note in setup::untrusted(args, &workspace(args)?)? {
            let _ = writeln!(out, "  note: {note}");
        }
        for (part, key, value, origin) in policy.told() {
            let note = if part > 0 { " (can only tighten)" } else { "" };
            let _ = writeln!(out, "  {key} = {}  # {}{note}", shown::one_line(&value), place(&origin));
        }
        for rules in policy.file_rules() {
            for (id, decision, tier, origin) in rules.told() {
                let decision = decision.map_or("raises the tier", Decision::as_str);
                let tier = tier.map_or(String::new(), |t| format!(" tier {}", t.get()));
                let _ = writeln!(out, "  rule {id}: {decision}{tier}  # {}", place(&origin));
            }
        }
        out.push_str("checks:\n");
    }
    for (rule, alone, contained, origin) in checks {
        let origin = match origin {
            Some(origin) => place(origin),
            None if rule.floor => "floor".to_owned(),
            None => "built-in".to_owned(),
        };
        let _ = writeln!(
            out,
            "  {:<26}{:<6}contained: {:<6}tier {}  # {origin}",
            rule.id,
            alone.as_str(),
            contained.as_str(),
            rule.tier.get()
        );
    }
    terminal::line(out.trim_end()).map(|()| Exit::Allow)
}

fn shown_as_json(policy: &Policy, only_floor: bool, notes: &[String]) -> Value {
    let from =
        |origin: &Origin| json!({ "layer": origin.layer.name(), "file": &*origin.file, "line": origin.line });
    let checks: Vec<Value> = policy
        .decided()
        .filter(|(rule, ..)| !only_floor || rule.floor)
        .map(|(rule, alone, contained, origin)| {
            json!({ "id": rule.id, "alone": alone.as_str(), "contained": contained.as_str(), "tier": rule.tier.get(),
                    "floor": rule.floor, "origin": origin.map(from) })
        })
        .collect();
    let settings: Vec<Value> = policy
        .told()
        .iter()
        .map(|(part, key, value, origin)| json!({ "key": key, "value": value, "tightening": *part > 0, "origin": from(origin) }))
        .collect();
    let rules: Vec<Value> = policy
        .file_rules()
        .flat_map(|rules| rules.told())
        .map(|(id, decision, tier, origin)| {
            json!({ "id": id, "decision": decision.map(Decision::as_str), "tier": tier.map(shward::Tier::get), "origin": from(&origin) })
        })
        .collect();
    json!({ "v": 1, "name": policy.name(), "profile": policy.profile().name(), "unrestricted": shward::policy::UNRESTRICTED,
            "account": Account::of_process().report(), "checks": checks, "settings": settings, "rules": rules, "notes": notes })
}

/// A policy that is one file over the shipped profiles, or, without a file, the one that is in force.
fn of_file(args: &Args, path: Option<&Path>) -> Result<Policy, Fail> {
    match path {
        None => setup::policy(args, &workspace(args)?),
        Some(path) => {
            let mut places = PolicyPlaces::none();
            places.profile = args.text(&PROFILE).map_err(Fail::usage)?.map(str::to_owned);
            places.explicit = Some(path.to_owned());
            places.explicit_is_system = args.has(&SYSTEM);
            places.load().map_err(setup::bad_policy)
        }
    }
}

fn check(args: &Args, path: Option<&Path>) -> Result<Exit, Fail> {
    let policy = of_file(args, path)?;
    if let Some(parent) = args.get(&WITHIN) {
        let wider = exceeds(&policy, &of_file(args, Some(Path::new(parent)))?);
        if args.has(&JSON) {
            let points: Vec<Value> =
                wider.iter().map(|w| json!({ "what": w.what, "message": w.message })).collect();
            terminal::line(&json!({ "v": 1, "within": wider.is_empty(), "wider": points }).to_string())?;
        } else if wider.is_empty() {
            terminal::line("permits no more than its parent")?;
        } else {
            let lines: Vec<String> =
                wider.iter().map(|w| shown::one_line(&format!("{}: {}", w.what, w.message))).collect();
            terminal::line(&lines.join("\n"))?;
        }
        return Ok(if wider.is_empty() { Exit::Allow } else { Exit::Found });
    }
    let found = remarks(&policy);
    // What is in force depends on what is trusted; a file by itself does not.
    let notes = if path.is_none() { setup::untrusted(args, &workspace(args)?)? } else { Vec::new() };
    if args.has(&JSON) {
        let found: Vec<Value> = found
            .iter()
            .map(|r| json!({ "code": r.code, "rule": r.rule, "message": r.message, "file": &*r.origin.file, "line": r.origin.line }))
            .collect();
        terminal::line(
            &json!({ "v": 1, "ok": found.is_empty(), "remarks": found, "notes": notes }).to_string(),
        )?;
    } else {
        let what = path
            .map_or("the policy in force".to_owned(), |path| shown::one_line(&path.display().to_string()));
        let mut out = match found.len() {
            0 => format!("{what}: nothing wrong"),
            1 => format!("{what}: 1 remark"),
            number => format!("{what}: {number} remarks"),
        };
        let rules: usize = policy.file_rules().map(shward::policy::Compiled::len).sum();
        let counted = |number: usize, what: &str| match number {
            1 => format!("1 {what}"),
            _ => format!("{number} {what}s"),
        };
        let (rules, settings) = (counted(rules, "rule"), counted(policy.told().len(), "other setting"));
        let _ = writeln!(out, " ({rules}, {settings})");
        for note in notes {
            let _ = writeln!(out, "note: {}", shown::one_line(&note));
        }
        for remark in &found {
            // The id of a rule has no dot in it.
            let what = if remark.rule.contains('.') { "" } else { "the rule " };
            let line = format!(
                "{}:{}: {what}`{}`: {} [{}]",
                remark.origin.file, remark.origin.line, remark.rule, remark.message, remark.code
            );
            // What stands in a project's file may have been written by anybody.
            let _ = writeln!(out, "{}", shown::one_line(&line));
        }
        terminal::line(out.trim_end())?;
    }
    Ok(if found.is_empty() { Exit::Allow } else { Exit::Found })
}

fn trust(args: &Args) -> Result<Exit, Fail> {
    let places = setup::places(args, &workspace(args)?)?;
    let found = places.project_file().map_err(setup::bad_policy)?;
    let (path, source) = found
        .ok_or_else(|| Fail::input("there is no .shward.toml here or above, up to the repository's root; `shward init .shward.toml` writes one"))?;
    let state = places.state.clone().ok_or_else(|| state::missing("nothing can be trusted"))?;
    let store = Trust::in_state(&state);
    let told = |e: io::Error| Fail::io(format!("{}: {e}", state.display()));
    if args.has(&REVOKE) {
        let there = store.remove(&path).map_err(told)?;
        let what = if there { "trusted no longer; it can only tighten now" } else { "was not trusted" };
        return trusted(args, &path, false, what);
    }
    // What is wrong with the file is told before anybody is asked.
    let alone = Policy::from_sources(None, std::slice::from_ref(&source))
        .map_err(|e| Fail { exit: Exit::BadPolicy, message: e.to_string() })?;
    // Trust is given by a person who sees the file, not by a command that an agent sends.
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Fail::usage(
            "a project's policy is trusted by a person at a terminal; standard input and standard error must be one",
        ));
    }
    let text: String = source.text.lines().map(|line| format!("  {}\n", shown::one_line(line))).collect();
    let question = format!(
        "{}:\n{text}{}Trust this file as it stands? It may then allow what is asked otherwise. [type yes] ",
        shown::one_line(&path.display().to_string()),
        permits(&alone)
    );
    let answer = Terminal::default().deadline(DEADLINE).typed_after(&question).map_err(|why| {
        let message = format!("a project's policy is trusted by a person at a terminal, and {why}");
        Fail { exit: Exit::Refused, message }
    })?;
    if answer != "yes" {
        return trusted(args, &path, false, "not trusted").map(|_| Exit::Found);
    }
    store.add(&path, &source.text).map_err(told)?;
    trusted(args, &path, true, "trusted until it changes")
}

/// How long a person may read a project's policy.
const DEADLINE: Duration = Duration::from_secs(600);

/// In what a policy may permit more than there is without it: a long file could hide that from a person.
fn permits(policy: &Policy) -> String {
    let wider = exceeds(policy, &Policy::default());
    let mut out = String::new();
    for point in wider.iter().take(POINTS) {
        let (what, message) = (shown::one_line(&point.what), shown::one_line(&point.message));
        let _ = writeln!(out, "permits more: {what}: {message}");
    }
    if wider.len() > POINTS {
        let _ = writeln!(out, "permits more: in {} further points", wider.len() - POINTS);
    }
    out
}

/// So many points fit on a screen.
const POINTS: usize = 15;

/// Tells what became of a file.
fn trusted(args: &Args, path: &Path, trusted: bool, what: &str) -> Result<Exit, Fail> {
    let path = path.display().to_string();
    let line = if args.has(&JSON) {
        json!({ "v": 1, "file": path, "trusted": trusted }).to_string()
    } else {
        format!("{}: {what}", shown::one_line(&path))
    };
    terminal::line(&line).map(|()| Exit::Allow)
}

/// The verdict of a policy on a command, on no machine in particular.
fn decide(
    policy: &Policy,
    command: &str,
    cwd: &Path,
    home: &Path,
    contained: bool,
) -> Option<(Decision, Vec<String>)> {
    let request = Request::command(command, cwd, home);
    let mut setting = Setting::frozen();
    setting.contained = contained;
    let checked = Firewall::new(policy.clone()).examine(&request, &setting).ok()?;
    let rules = checked.findings.iter().map(|f| f.rule.clone()).collect();
    Some((checked.decision, rules))
}

/// Tries the cases of a file: `[[case]]` with `command`, `decision`, and perhaps `contained` and `rule`.
fn test(args: &Args, path: &Path) -> Result<Exit, Fail> {
    let policy = of_file(args, args.get(&POLICY).map(Path::new))?;
    let text = read(path)?;
    let source = Source { layer: Layer::Explicit, name: path.display().to_string(), text };
    let cases = file::cases(&source).map_err(|e| Fail { exit: Exit::BadPolicy, message: e.to_string() })?;
    if cases.is_empty() {
        return Err(Fail::input(format!(
            "{}: there is no [[case]] in it; a case has a `command` and a `decision`",
            path.display()
        )));
    }
    for case in &cases {
        if let Some(rule) = case.rule.as_ref().filter(|rule| !policy.has_rule(rule)) {
            return Err(Fail::input(format!(
                "{}:{}: there is no rule {rule:?}; `shward policy show` lists those of the policy",
                path.display(),
                case.line
            )));
        }
    }
    let directories = Directories::from(args)?;
    let mut failed = Vec::new();
    for case in &cases {
        let got = decide(&policy, &case.command, &directories.cwd, &directories.home, case.contained);
        let met = got.as_ref().is_some_and(|(decision, rules)| {
            *decision == case.decision && case.rule.as_ref().is_none_or(|rule| rules.contains(rule))
        });
        if !met {
            failed.push((case, got));
        }
    }
    let held = cases.len() - failed.len();
    if args.has(&JSON) {
        let failed: Vec<Value> = failed
            .iter()
            .map(|(case, got)| {
                json!({ "line": case.line, "command": case.command, "wanted": case.decision.as_str(), "rule": case.rule,
                        "got": got.as_ref().map(|(d, _)| d.as_str()), "rules": got.as_ref().map(|(_, rules)| rules) })
            })
            .collect();
        terminal::line(&json!({ "v": 1, "cases": cases.len(), "held": held, "failed": failed }).to_string())?;
    } else {
        let mut out = String::new();
        for (case, got) in &failed {
            let got = got
                .as_ref()
                .map_or("no verdict".to_owned(), |(d, rules)| format!("{d} [{}]", rules.join(" ")));
            let rule = case.rule.as_ref().map_or(String::new(), |rule| format!(" [{rule}]"));
            let _ = writeln!(
                out,
                "{}:{}: wanted {}{rule}, got {got}: {}",
                path.display(),
                case.line,
                case.decision,
                shown::one_line(&case.command)
            );
        }
        let _ = write!(out, "{held} of {} cases hold", cases.len());
        terminal::line(&out)?;
    }
    Ok(if failed.is_empty() { Exit::Allow } else { Exit::Found })
}
