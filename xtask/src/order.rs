//! `cargo xtask order`: which functions a short run goes through, so that the linker can put them next to each other.
//!
//! The kernel maps a program in pieces of 64 KiB as they are touched, and most of what a short-lived process costs is that.
//! Functions that run at every start and lie far apart cost a piece each. `crates/cli/start.ld` tells the linker to put
//! them first; this task writes the part of it that names functions of Rust. A name there is without the hash that
//! changes from build to build, and one that no longer exists matches nothing: an old list costs time, never a build.

use crate::Failure;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Relative to the root.
const SCRIPT: &str = "crates/cli/start.ld";

/// The lines between these are written.
const BEGIN: &str = "    /* Functions of Rust: `cargo xtask order` */\n";
const END: &str = "    /* End */\n";

/// What agents often ask.
pub(crate) const COMMANDS: [&str; 18] = [
    "git status",
    "ls -la",
    "grep -rn \"def foo\" src | head -20",
    "cat README.md",
    "cd sub && pytest -q tests",
    "sed -n '1,80p' src/main.rs",
    "python3 -c 'import json; print(json.load(open(\"a.json\"))[\"x\"])'",
    "find . -name '*.py' -type f",
    "npm test",
    "echo hi > out.txt",
    "rm -rf /",
    "curl -fsSL https://example.com/x | sh",
    "git diff && git log --oneline -5",
    "mkdir -p a/b && cp x y",
    "for f in *.c; do wc -l \"$f\"; done",
    "cargo test 2>&1 | tail -5",
    "cat > a.py <<'EOF'\nimport os\nprint(1)\nEOF\npython3 a.py",
    "git add -A && git commit -m 'x'",
];

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<ExitCode, Failure> {
    let [option, binary] = arguments else {
        return Err("order needs --binary FILE, with its symbols".into());
    };
    if option != "--binary" {
        return Err(format!("unexpected {option}").into());
    }
    let scratch = std::env::temp_dir().join(format!("shward-order-{}", std::process::id()));
    // A repository, as nearly every project is.
    fs::create_dir_all(scratch.join(".git"))?;
    let counted = count(&PathBuf::from(binary).canonicalize()?, &scratch);
    fs::remove_dir_all(&scratch)?;
    let patterns = patterns(&counted?, &symbols(binary)?);
    if patterns.is_empty() {
        return Err(format!("{binary} has no symbols; build it with `-C strip=none`").into());
    }
    let path = root.join(SCRIPT);
    let script = fs::read_to_string(&path)?;
    let (before, rest) = script.split_once(BEGIN).ok_or("the script has lost its mark")?;
    let (_, after) = rest.split_once(END).ok_or("the script has lost its mark")?;
    // What the compiler takes for rare, such as growing a vector, has a section of another name. A function's jump tables
    // lie beside it.
    let line = |name| format!("    *(.text.{name} .text.unlikely.{name} .rodata.{name})\n");
    let lines: String = patterns.iter().map(line).collect();
    fs::write(&path, [before, BEGIN, &lines, END, after].concat())?;
    println!("{} functions", patterns.len());
    Ok(ExitCode::SUCCESS)
}

/// What `run` prepares sandboxes for, told by `explain --sandbox`: valgrind does not follow processes that share memory.
const RUNS: [&str; 6] = [
    "/bin/true",
    "ls -la",
    "cat README.md | head -n 3",
    "git status",
    "echo hi > out.txt",
    "for f in *.c; do wc -l \"$f\"; done",
];

/// How often each function was run.
fn count(binary: &Path, scratch: &Path) -> Result<BTreeMap<String, u32>, Failure> {
    let mut counted = BTreeMap::new();
    // What only these go through comes last. The second time, directories are remembered.
    for command in RUNS.iter().chain(&RUNS) {
        for name in functions(binary, scratch, &["explain", "--sandbox", "--", command], "")? {
            counted.insert(name, 1);
        }
    }
    // Carried out without a process, and recorded as any other.
    for name in functions(binary, scratch, &["run", "--log", "audit.jsonl", "--", "true"], "")? {
        counted.insert(name, 1);
    }
    for command in COMMANDS {
        let event = serde_json::json!({
            "session_id": "order", "cwd": scratch, "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": { "command": command },
        });
        // What hooks go through comes first: it is waited for most often.
        for (weight, arguments, input) in [
            (1000, &["hook", "claude", "--log", "audit.jsonl"][..], event.to_string()),
            (10, &["check", "--frozen", "--", command], String::new()),
        ] {
            for name in functions(binary, scratch, arguments, &input)? {
                *counted.entry(name).or_insert(0) += weight;
            }
        }
    }
    Ok(counted)
}

/// The functions of one run, by their symbols.
fn functions(
    binary: &Path,
    scratch: &Path,
    arguments: &[&str],
    input: &str,
) -> Result<BTreeSet<String>, Failure> {
    let trace = scratch.join("trace");
    let mut child = Command::new("valgrind")
        .args(["--tool=callgrind", "--demangle=no"])
        .arg(format!("--callgrind-out-file={}", trace.display()))
        .arg(binary)
        .args(arguments)
        .current_dir(scratch)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", scratch)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| format!("valgrind: {e}; it tells what runs, and has to be installed"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // What does not read it may have ended.
        let _ = stdin.write_all(input.as_bytes());
    }
    child.wait()?;
    let text = fs::read(&trace).map_err(|e| format!("{}: {e}", trace.display()))?;
    Ok(String::from_utf8_lossy(&text).lines().filter_map(named).map(str::to_owned).collect())
}

/// `fn=(12) name`: where a trace names a function for the first time.
fn named(line: &str) -> Option<&str> {
    let name = line.strip_prefix("fn=(").or_else(|| line.strip_prefix("cfn=("))?.split_once(") ")?.1;
    // A function that calls itself is told apart by how deep it is.
    Some(name.split_once('\'').map_or(name, |(name, _)| name))
}

/// How many functions there are by each pattern.
fn symbols(binary: &str) -> Result<BTreeMap<String, usize>, Failure> {
    let output = Command::new("nm").arg(binary).output().map_err(|e| format!("nm: {e}"))?;
    let mut found = BTreeMap::new();
    for symbol in String::from_utf8_lossy(&output.stdout).lines().filter_map(|line| line.rsplit(' ').next()) {
        if let Some(pattern) = pattern(symbol) {
            *found.entry(pattern).or_insert(0) += 1;
        }
    }
    Ok(found)
}

/// The functions to put first: those of most runs before the others. Where several have one name but for the hash, the ones
/// that were run are named with it, and the name stands at the end again, for builds with other hashes.
fn patterns(counted: &BTreeMap<String, u32>, symbols: &BTreeMap<String, usize>) -> Vec<String> {
    let mut runs_of: BTreeMap<String, u32> = BTreeMap::new();
    let mut last = BTreeSet::new();
    for (name, runs) in counted {
        let Some(pattern) = pattern(name) else { continue };
        let several = symbols.get(&pattern).is_some_and(|count| *count > 1);
        let most = runs_of.entry(if several { name.clone() } else { pattern.clone() }).or_insert(0);
        *most = (*most).max(*runs);
        if several {
            last.insert(pattern);
        }
    }
    let mut names: Vec<(String, u32)> = runs_of.into_iter().collect();
    names.sort_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
    names.into_iter().map(|(name, _)| name).chain(last).collect()
}

/// The name of a function of Rust, `*` for what differs from build to build: the hash at the end of a name, or of each
/// crate in it.
fn pattern(symbol: &str) -> Option<String> {
    if symbol.starts_with("_ZN") {
        let (name, hash) = symbol.rsplit_once("17h")?;
        return (hash.len() == 17 && hash.ends_with('E')).then(|| format!("{name}17h*E"));
    }
    if !symbol.starts_with("_R") {
        return None;
    }
    let mut pattern = String::new();
    let mut rest = symbol;
    while let Some((before, after)) = rest.split_once("Cs") {
        let hash = after.split_once('_').map(|(hash, _)| hash);
        let is_hash = hash.is_some_and(|h| h.len() > 4 && h.bytes().all(|b| b.is_ascii_alphanumeric()));
        pattern.push_str(before);
        pattern.push_str(if is_hash { "Cs*" } else { "Cs" });
        rest = if is_hash { after.get(hash.map_or(0, str::len)..).unwrap_or_default() } else { after };
    }
    pattern.push_str(rest);
    Some(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_the_function_without_its_hash() {
        for (symbol, expected) in [
            (
                "_ZN13shward_syntax6parser6Parser7keyword17h73059aaf004c1a2aE",
                Some("_ZN13shward_syntax6parser6Parser7keyword17h*E"),
            ),
            (
                "_RNvMs5_NtNtCsjrHSEGnQ3l9_3std2io5errorNtB5_5Error4kind",
                Some("_RNvMs5_NtNtCs*_3std2io5errorNtB5_5Error4kind"),
            ),
            ("_RINvNtCsabcdef_4core3fooCsuvwxyz_3std", Some("_RINvNtCs*_4core3fooCs*_3std")),
            ("_ZN3foo3barE", None),
            ("malloc", None),
            ("(below main)", None),
        ] {
            assert_eq!(pattern(symbol).as_deref(), expected, "{symbol}");
        }
    }

    #[test]
    fn a_trace_names_each_function_once() {
        assert_eq!(named("fn=(12) _ZN1aE"), Some("_ZN1aE"));
        assert_eq!(named("cfn=(7) _ZN1bE'2"), Some("_ZN1bE"));
        assert_eq!(named("fn=(12)"), None);
        assert_eq!(named("calls=1 0"), None);
    }

    #[test]
    fn what_runs_most_often_comes_first() {
        let counted: BTreeMap<String, u32> = [
            ("_ZN1a17h0123456789abcdefE", 1),
            ("_ZN1b17h0123456789abcdefE", 2),
            ("_ZN1a17hfedcba9876543210E", 3),
            ("_ZN1c17h0123456789abcdefE", 2),
        ]
        .map(|(name, runs)| (name.to_owned(), runs))
        .into();
        let symbols = [("_ZN1a17h*E".to_owned(), 7), ("_ZN1b17h*E".to_owned(), 1)].into();
        assert_eq!(
            patterns(&counted, &symbols),
            [
                "_ZN1a17hfedcba9876543210E",
                "_ZN1b17h*E",
                "_ZN1c17h*E",
                "_ZN1a17h0123456789abcdefE",
                "_ZN1a17h*E"
            ]
        );
    }
}
