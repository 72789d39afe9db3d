//! Every option of every described program that is installed here, with the real program as the judge.
//!
//! Programs do much for themselves: they start helpers and make temporary files. What counts is what the words of the
//! command lead to, which are always the same ones (`corpus/oracle/programs.txt`).

use super::random::Random;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const CALLS: &str = include_str!("../../../../corpus/oracle/programs.txt");

/// Values of options.
const VALUES: &[&str] =
    &["file.txt", "new1", "./new1", "src", "1", "prog", "x=new1", "/tmp/zed", "''", "file.txt:new1"];

/// What is seen of the words above in what a program does.
const WORDS: &[&str] = &["file.txt", "notes.md", "new1", "zed", "prog", "/workspace/src"];

/// So many commands of one program, by default.
const EACH: usize = 200;

/// One level of a program's description: its options and subcommands.
#[derive(Debug, Default)]
struct Level {
    flags: Vec<String>,
    options: Vec<String>,
    subs: Vec<(String, Level)>,
}

/// Whether what was seen of these words (a path, or a program with its arguments) is told by the command's own words.
pub(in crate::oracle) fn concerns(text: &str) -> bool {
    WORDS.iter().any(|word| text.contains(word))
}

/// All commands, and the programs in them.
pub(in crate::oracle) fn all(knowledge: &Path, seed: u64) -> std::io::Result<(Vec<String>, String)> {
    let calls = Calls::read();
    let mut described = BTreeMap::new();
    for file in std::fs::read_dir(knowledge)? {
        read(&std::fs::read_to_string(file?.path())?, &mut described);
    }
    let installed = |name: &&String| {
        ["/usr/bin", "/bin"].iter().any(|place| Path::new(place).join(name.as_str()).exists())
    };
    let mut commands = Vec::new();
    let mut names = Vec::new();
    for name in described.keys().filter(installed).filter(|name| !calls.left_out.contains(name.as_str())) {
        let Some(level) = described.get(name) else { continue };
        let random = &mut Random::new(seed, names.len());
        let before = calls.before.get(name.as_str()).copied().unwrap_or_default();
        let operands = calls.operands.get(name.as_str()).or_else(|| calls.operands.get("*"));
        let operands = operands.map(Vec::as_slice).unwrap_or_default();
        let mut own = Vec::new();
        forms(name, level, operands, random, &mut own);
        while own.len() > EACH {
            own.swap_remove(random.below(own.len()));
        }
        let whole = |command| if before.is_empty() { command } else { format!("{before} {command}") };
        commands.extend(own.into_iter().map(whole));
        names.push(name.as_str());
    }
    Ok((commands, names.join(" ")))
}

/// Every option of a level and of those below it, with operands before or behind.
fn forms(called: &str, level: &Level, operands: &[&str], random: &mut Random, all: &mut Vec<String>) {
    all.extend(operands.iter().map(|operands| format!("{called} {operands}")));
    for flag in &level.flags {
        all.push(format!("{called} {flag} {}", random.pick(operands)));
        if random.once_in(2) {
            let other: Vec<&str> = level.flags.iter().map(String::as_str).collect();
            all.push(format!("{called} {flag} {} {}", random.pick(&other), random.pick(operands)));
        }
        if random.once_in(4) {
            all.push(format!("{called} {} {flag}", random.pick(operands)));
        }
    }
    for option in &level.options {
        for _ in 0..4 {
            let value = random.pick(VALUES);
            let given = match option.as_bytes() {
                [.., b'='] => format!("{option}{value}"),
                [b'-', b'-', ..] if random.once_in(2) => format!("{option}={value}"),
                [b'-', _] if random.once_in(2) => format!("{option}{value}"),
                _ => format!("{option} {value}"),
            };
            all.push(match random.below(8) {
                0 => format!("{called} {given} --version"),
                1 => format!("{called} {given}"),
                _ => format!("{called} {given} {}", random.pick(operands)),
            });
        }
    }
    for (name, below) in &level.subs {
        const PLAIN: &[&str] = &["", "file.txt", "new1", ".", "file.txt new1", "< file.txt"];
        forms(&format!("{called} {name}"), below, PLAIN, random, all);
    }
}

/// Reads descriptions: the names of options, and how far each line is indented.
fn read(text: &str, all: &mut BTreeMap<String, Level>) {
    let mut lines = text.lines().filter(|line| !line.trim_start().starts_with('#')).peekable();
    while let Some(line) = lines.next() {
        if let Some(names) = line.strip_prefix("program ") {
            for name in names.split_whitespace() {
                all.insert(name.to_owned(), level(&mut lines.clone(), 1));
            }
        }
    }
}

fn level<'t>(lines: &mut std::iter::Peekable<impl Iterator<Item = &'t str> + Clone>, depth: usize) -> Level {
    let mut level_here = Level::default();
    while let Some(line) = lines.next_if(|line| indentation(line) >= depth && !line.trim().is_empty()) {
        if indentation(line) > depth {
            continue;
        }
        let line = line.split(" : ").next().unwrap_or_default();
        let mut words = line.split_whitespace();
        match words.next() {
            Some("flag" | "info" | "narrow") => level_here.flags.extend(words.map(plain)),
            Some("option") => {
                let names = words.take_while(|word| word.starts_with(['-', '+']) || word.ends_with('='));
                level_here.options.extend(names.map(|name| {
                    // A value that may be missing is joined.
                    if name.contains("[=") { format!("{}=", plain(name)) } else { plain(name) }
                }));
            }
            Some("sub") => {
                let below = level(&mut lines.clone(), depth + 1);
                if let Some(name) = words.next() {
                    level_here.subs.push((name.to_owned(), below));
                }
            }
            _ => {}
        }
    }
    level_here
}

fn indentation(line: &str) -> usize {
    (line.len() - line.trim_start().len()) / 2
}

/// A name of an option without what may be joined to it.
fn plain(name: &str) -> String {
    match name {
        "-NUM" => "-3".to_owned(),
        _ => name.split('[').next().unwrap_or_default().to_owned(),
    }
}

/// How programs are called.
#[derive(Debug, Default)]
struct Calls {
    operands: BTreeMap<&'static str, Vec<&'static str>>,
    before: BTreeMap<&'static str, &'static str>,
    left_out: BTreeSet<&'static str>,
}

impl Calls {
    fn read() -> Calls {
        let mut calls = Calls::default();
        for line in CALLS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
            match name.strip_suffix(':') {
                _ if name == "-" => calls.left_out.extend(rest.split_whitespace()),
                Some(name) => drop(calls.operands.insert(name, rest.split(" | ").collect())),
                None => drop(calls.before.insert(name.trim_end_matches('!'), rest)),
            }
        }
        calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_become_commands() {
        let mut all = BTreeMap::new();
        read(
            "program one two\n  flag -a --all[=WHEN] : recursive\n  option -o --output FILE write\n  sub go\n    flag -x\n  example one\n\nprogram three\n",
            &mut all,
        );
        assert_eq!(all.keys().collect::<Vec<_>>(), ["one", "three", "two"]);
        let mut commands = Vec::new();
        forms("one", all.get("one").unwrap(), &["file.txt"], &mut Random::new(1, 0), &mut commands);
        let has = |start: &str| commands.iter().any(|command| command.starts_with(start));
        assert!(has("one -a file.txt") && has("one --all ") && has("one --output"), "{commands:?}");
        assert!(has("one go -x ") && has("one go file.txt new1"), "{commands:?}");
        assert!(concerns("/workspace/new1.log") && !concerns("/tmp/ccx1.s"));
        let calls = Calls::read();
        assert!(calls.operands.get("*").is_some_and(|all| all.len() > 3) && calls.left_out.contains("bash"));
        assert!(calls.before.get("tar").is_some_and(|before| before.ends_with(';')));
    }
}
