//! `policy import`: another system's policy as one of ours.

use crate::args::Args;
use crate::exit::Exit;
use crate::flags::JSON;
use crate::shown;
use crate::terminal::{self, Fail};
use serde_json::{Value, json};
use shward::policy::import::{self, Imported};
use std::fmt::Write as _;
use std::path::Path;

/// What can be imported.
pub(super) const KINDS: &str =
    "kinds: cmdwall (.env), claude (settings.json), codex (.rules), programs (a list of names)";

/// Writes another system's policy as one of ours, with what could not be carried over as comments at its head.
///
/// # Errors
/// The kind is not known, or the file cannot be read.
pub(super) fn run(args: &Args, kind: &str, path: &Path) -> Result<Exit, Fail> {
    if !["cmdwall", "programs", "codex", "claude"].contains(&kind) {
        return Err(Fail::usage(format!("unknown kind {kind:?}; {KINDS}")));
    }
    let text = super::read(path)?;
    let imported = match kind {
        "cmdwall" => import::cmdwall_env(&text),
        "programs" => import::allowed_programs(&text),
        "codex" => import::codex_rules(&text),
        _ => {
            let settings: Value =
                serde_json::from_str(&text).map_err(|e| Fail::input(format!("{}: {e}", path.display())))?;
            claude(&settings)
        }
    };
    if args.has(&JSON) {
        let object = json!({ "v": 1, "policy": imported.toml, "not_exact": imported.notes });
        return terminal::line(&object.to_string()).map(|()| Exit::Allow);
    }
    let mut out = format!("# Imported from {}.\n", shown::one_line(&path.display().to_string()));
    for note in &imported.notes {
        let _ = writeln!(out, "# Not exact: {}", shown::one_line(note));
    }
    out.push_str(&imported.toml);
    terminal::line(out.trim_end()).map(|()| Exit::Allow)
}

/// The permissions of settings of Claude Code. What is not a list of texts is told, so that no denial is lost in silence.
fn claude(settings: &Value) -> Imported {
    let mut notes = Vec::new();
    let permissions = settings.get("permissions").and_then(Value::as_object);
    if permissions.is_none() {
        notes.push("there are no `permissions` in it".to_owned());
    }
    let mut rules: Vec<(&str, &str)> = Vec::new();
    for (name, value) in permissions.into_iter().flatten() {
        match (name.as_str(), value.as_array()) {
            ("allow" | "ask" | "deny", Some(list)) => {
                for rule in list {
                    match rule.as_str() {
                        Some(rule) => rules.push((name, rule)),
                        None => notes.push(format!("permissions.{name}: {rule} is no text, and is left out")),
                    }
                }
            }
            ("allow" | "ask" | "deny", None) => {
                notes.push(format!("permissions.{name}: it is no list, and is left out"));
            }
            _ => notes.push(format!("permissions.{name}: has no counterpart in a policy file")),
        }
    }
    // In this order rules had their numbers before.
    rules.sort_by_key(|(decision, _)| ["allow", "ask", "deny"].iter().position(|known| known == decision));
    let mut imported = import::claude_permissions(&rules);
    notes.append(&mut imported.notes);
    imported.notes = notes;
    imported
}
