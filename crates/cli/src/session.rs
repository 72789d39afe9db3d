//! `session`: what is kept of the sessions of `run`.

use crate::args::{self, Args};
use crate::exit::Exit;
use crate::flags::JSON;
use crate::state;
use crate::terminal::{self, Fail};
use shward::{Session, Sessions};
use std::fmt::Write as _;

/// Carries out the verb.
///
/// # Errors
/// The words are wrong, or there is no such session.
pub(crate) fn run(args: &Args) -> Result<Exit, Fail> {
    let state = state::directory().ok_or_else(|| state::missing("sessions are not kept"))?;
    let sessions = Sessions::new(state);
    let words: Vec<&str> = args.operands.iter().map(|word| word.to_str().unwrap_or_default()).collect();
    match words.as_slice() {
        ["list"] => show(args, &sessions.list()),
        ["show", name] => match sessions.find(name) {
            Some(session) => show(args, &[session]),
            None => Err(unknown(name)),
        },
        ["clear", name] if sessions.clear(name) => {
            terminal::line(&if args.has(&JSON) {
                serde_json::json!({ "v": 1, "cleared": name }).to_string()
            } else {
                format!("the session {name} is forgotten")
            })?;
            Ok(Exit::Allow)
        }
        ["clear", name] => Err(unknown(name)),
        [other, ..] if !["list", "show", "clear"].contains(other) => {
            Err(Fail::usage(args::unknown_word(other, &["list", "show", "clear"], WHAT)))
        }
        _ => Err(Fail::usage(WHAT)),
    }
}

/// What there is to do.
const WHAT: &str = "give list, show NAME or clear NAME; `shward session --help` tells more";

fn unknown(name: &str) -> Fail {
    Fail::input(format!("there is no session {name:?}; `shward session list` lists them"))
}

fn show(args: &Args, sessions: &[Session]) -> Result<Exit, Fail> {
    if args.has(&JSON) {
        let object = serde_json::json!({ "v": 1, "sessions": sessions });
        terminal::line(&object.to_string())?;
        return Ok(Exit::Allow);
    }
    let mut out = String::new();
    for session in sessions {
        let _ = writeln!(out, "{} in {}", shown(&session.name), shown(&session.cwd.display().to_string()));
        for (name, value) in &session.variables {
            let _ = writeln!(out, "  {name}={}", shown(value));
        }
    }
    if out.is_empty() {
        out.push_str("no sessions");
    }
    terminal::line(&out)?;
    Ok(Exit::Allow)
}

/// What a command has set may hold anything.
fn shown(text: &str) -> String {
    shward::reviewing::one_line(text)
}
