//! Policies of other systems as policy files of ours, with a report of what could not be carried over exactly.

mod codex;

pub use codex::codex_rules;

use crate::file::schema::quoted;
use std::fmt::Write as _;

/// An imported policy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// The policy file.
    pub toml: String,
    /// What could not be carried over, or means something slightly different here.
    pub notes: Vec<String>,
}

impl Imported {
    fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    fn rule(&mut self, id: &str, decision: &str, program: &str, lines: &str) {
        let _ = write!(
            self.toml,
            "\n[[rule]]\nid = {}\ndecision = {}\nprogram = {}\n{lines}",
            quoted(id),
            quoted(decision),
            quoted(program)
        );
    }
}

fn list(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|t| quoted(t)).collect::<Vec<_>>().join(", "))
}

/// `CMDWALL_*` settings, as in an environment or an `.env` file: `NAME=VALUE` lines. Lists are JSON arrays or
/// comma-separated.
#[must_use]
pub fn cmdwall_env(text: &str) -> Imported {
    let mut imported = Imported::default();
    let found = cmdwall_settings(text, &mut imported);
    for table in ["programs", "limits"] {
        let mut of_table = found.iter().filter(|setting| setting.table == table).peekable();
        if of_table.peek().is_some() {
            let _ = writeln!(imported.toml, "[{table}]");
        }
        for Setting { key, value, .. } in of_table {
            let _ = writeln!(imported.toml, "{key} = {value}");
        }
    }
    imported
}

/// The same as a policy file of which each setting stands in the line that it has in the `.env` file, so that what is told of a
/// line is told of that one.
#[must_use]
pub fn cmdwall_env_in_place(text: &str) -> String {
    let found = cmdwall_settings(text, &mut Imported::default());
    let mut out = String::new();
    let mut line = 0;
    for Setting { line: wanted, table, key, value } in found {
        while line < wanted {
            out.push('\n');
            line += 1;
        }
        let _ = writeln!(out, "{table}.{key} = {value}");
        line += 1;
    }
    out
}

/// A setting that an `.env` file makes.
struct Setting {
    /// The line, from 0.
    line: usize,
    table: &'static str,
    key: &'static str,
    /// In TOML.
    value: String,
}

fn cmdwall_settings(text: &str, imported: &mut Imported) -> Vec<Setting> {
    let mut found = Vec::new();
    let mut listed = None;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((name, value)) = line.split_once('=') else {
            imported.note(format!("not NAME=VALUE: {line}"));
            continue;
        };
        let name = name.trim().to_ascii_uppercase();
        let value = unquoted(value.trim());
        let names = names(value);
        let (table, key, value) = match name.as_str() {
            "CMDWALL_BLOCKLIST" | "CMDWALL_ALLOWLIST" if names.is_empty() => continue,
            "CMDWALL_BLOCKLIST" => ("programs", "deny", list(&names)),
            "CMDWALL_ALLOWLIST" => {
                listed = Some(at);
                ("programs", "allow", list(&names))
            }
            // A value that is no number is carried over as it is, so that reading the file names it.
            "CMDWALL_DEFAULT_TIMEOUT_SECONDS" => ("limits", "timeout", number(value)),
            "CMDWALL_MAX_OUTPUT_BYTES" => ("limits", "max-output", number(value)),
            known if known.starts_with("CMDWALL_") => {
                imported.note(format!("{known}: has no counterpart in a policy file"));
                continue;
            }
            // Other programs' variables stand in the same file.
            _ => continue,
        };
        found.push(Setting { line: at, table, key, value });
    }
    if let Some(line) = listed {
        imported.note("allowlist: being listed answers questions; denials and what is not understood stay");
        found.push(Setting { line, table: "programs", key: "skips", value: quoted("questions") });
    }
    found
}

/// The value of an `.env` line: without its quotation marks, and without a comment behind it.
fn unquoted(value: &str) -> &str {
    let commented = |rest: &str| rest.trim_start().is_empty() || rest.trim_start().starts_with('#');
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote)
            && let Some((inner, behind)) = rest.split_once(quote)
            && commented(behind)
        {
            return inner;
        }
    }
    let comment = value.match_indices('#').find(|(at, _)| {
        value.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with(char::is_whitespace))
    });
    let value = comment.and_then(|(at, _)| value.get(..at)).unwrap_or(value).trim_end();
    value.strip_prefix(['"', '\'']).and_then(|v| v.strip_suffix(['"', '\''])).unwrap_or(value)
}

fn number(text: &str) -> String {
    match text.trim_end_matches(".0").parse::<u64>() {
        Ok(n) => n.to_string(),
        Err(_) => quoted(text),
    }
}

fn names(text: &str) -> Vec<String> {
    let text = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    let names = text.split(',').map(|name| name.trim().trim_matches(['"', '\'']).to_owned());
    names.filter(|name| !name.is_empty()).collect()
}

/// Names of programs, one on a line or separated by commas, as a list of what may run; nothing else does.
#[must_use]
pub fn allowed_programs(text: &str) -> Imported {
    let found: Vec<String> =
        text.lines().filter(|l| !l.trim_start().starts_with('#')).flat_map(names).collect();
    let mut imported = Imported::default();
    if found.is_empty() {
        imported.note("there is no name in it");
        return imported;
    }
    imported.toml = format!("extends = \"inspect\"\n[programs]\nallow = {}\n", list(&found));
    imported.note("what a listed program writes or starts is still denied; the lists of subcommands are not needed for that");
    imported
}

/// One permission rule of Claude Code: `Bash(git push:*)` with what it decides.
#[must_use]
pub fn claude_permissions(rules: &[(&str, &str)]) -> Imported {
    let mut imported = Imported::default();
    for (number, (decision, rule)) in rules.iter().enumerate() {
        let Some(inner) = rule.strip_prefix("Bash(").and_then(|r| r.strip_suffix(')')) else {
            if *rule == "Bash" {
                imported.note("Bash without a pattern: set `approval` or `[checks]` instead");
            } else {
                imported.note(format!("{rule}: not about commands"));
            }
            continue;
        };
        let (prefix, exact) = match inner.strip_suffix(":*").or_else(|| inner.strip_suffix(" *")) {
            Some(prefix) => (prefix, false),
            None => (inner, true),
        };
        let words: Vec<&str> = prefix.split_whitespace().collect();
        let more = if exact && *decision == "allow" { "exact = true\n" } else { "" };
        prefix_rule(&mut imported, &format!("claude-{number}"), decision, &words, rule, more);
    }
    imported
}

/// A rule for a program and the words that follow it. `more` are further lines of it.
fn prefix_rule(imported: &mut Imported, id: &str, decision: &str, words: &[&str], told: &str, more: &str) {
    let Some((program, rest)) = words.split_first() else {
        imported.note(format!("{told}: names no program"));
        return;
    };
    if words.iter().any(|word| word.is_empty() || word.contains(SHELL)) || program.contains('=') {
        imported.note(format!(
            "{told}: left out, because a pattern or shell text is in it; write a rule by hand"
        ));
        return;
    }
    if words.iter().any(|word| word.contains(char::is_whitespace)) {
        imported
            .note(format!("{told}: left out, because a word with a blank is in it; write a rule by hand"));
        return;
    }
    if decision == "allow" {
        // An allowance compares what follows the program word for word, in the order of the source.
        let mut lines = String::new();
        if !rest.is_empty() {
            let _ = writeln!(lines, "subcommand = {}", quoted(&rest.join(" ")));
        }
        lines.push_str(more);
        imported.rule(id, decision, program, &lines);
        return;
    }
    let options: Vec<String> = rest.iter().filter(|w| w.starts_with('-')).map(|w| (*w).to_owned()).collect();
    let operands: Vec<&str> = rest.iter().filter(|w| !w.starts_with('-')).copied().collect();
    if options.len() > 1 {
        imported.note(format!("{told}: any one of its options is enough here"));
    }
    if !options.is_empty() && !operands.is_empty() {
        imported.note(format!("{told}: options before or between words are matched wherever they stand"));
    }
    let mut lines = String::new();
    if !operands.is_empty() {
        let _ = writeln!(lines, "subcommand = {}", quoted(&operands.join(" ")));
    }
    if !options.is_empty() {
        let _ = writeln!(lines, "option = {}", list(&options));
    }
    lines.push_str(more);
    imported.rule(id, decision, program, &lines);
}

/// What means something to a shell, so that a word with it is not the word that a program gets.
const SHELL: [char; 18] =
    ['*', '?', '[', '$', '`', '"', '\'', '\\', ';', '|', '&', '<', '>', '(', ')', '{', '~', '#'];
