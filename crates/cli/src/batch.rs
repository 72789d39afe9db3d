//! `check --batch`: one JSON request per line in, one verdict per line out, in the same order.

use crate::args::Args;
use crate::ask::Directories;
use crate::exit::Exit;
use crate::terminal::Fail;
use serde::Deserialize;
use shward::{Action, Firewall, MAX_COMMAND, Request, Setting};
use std::io::{self, BufRead as _, BufWriter, Read as _, Write as _};

/// Longest accepted line: a command of the greatest length with every byte escaped, and room for the rest.
const MAX_LINE: usize = 6 * MAX_COMMAND + (64 << 10);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default)]
    id: Option<serde_json::Value>,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    argv: Option<Vec<String>>,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    home: Option<String>,
    #[serde(default)]
    workspace: Option<String>,
}

/// Answers every line of standard input.
///
/// # Errors
/// Standard input cannot be read. A bad line is answered by an object with `error`, and the exit code is then 65.
pub(crate) fn run(args: &Args, firewall: &Firewall, setting: &Setting) -> Result<Exit, Fail> {
    if args.command.is_some() {
        return Err(Fail::usage("--batch reads its commands from standard input; leave out what follows --"));
    }
    let defaults = Directories::from(args)?;
    let mut input = io::stdin().lock();
    let mut output = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut line = Vec::new();
    let mut exit = Exit::Allow;
    loop {
        line.clear();
        let read = input.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line).map_err(failed)?;
        if read == 0 {
            break;
        }
        if line.len() > MAX_LINE && !line.ends_with(b"\n") {
            skip_line(&mut input).map_err(failed)?;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answer = answer(&line, &defaults, firewall, setting)
            .and_then(|a| serde_json::to_vec(&a).map_err(|e| (None, e.to_string())));
        let written = match answer {
            Ok(answer) => output.write_all(&answer),
            Err((id, error)) => {
                exit = Exit::BadInput;
                let mut object = serde_json::json!({ "v": 1 });
                if let (Some(object), Some(id)) = (object.as_object_mut(), id) {
                    object.insert("id".into(), id);
                }
                if let Some(object) = object.as_object_mut() {
                    object.insert("error".into(), error.into());
                }
                output.write_all(object.to_string().as_bytes())
            }
        };
        // Whoever reads the answers may stop reading; that is no error of ours.
        if written.and_then(|()| output.write_all(b"\n")).is_err() {
            return Ok(exit);
        }
    }
    let _ = output.flush();
    Ok(exit)
}

fn failed(e: io::Error) -> Fail {
    Fail::io(format!("standard input: {e}"))
}

fn skip_line(input: &mut impl io::BufRead) -> io::Result<()> {
    loop {
        let available = input.fill_buf()?;
        if available.is_empty() {
            return Ok(());
        }
        let (used, done) = match available.iter().position(|&b| b == b'\n') {
            Some(at) => (at + 1, true),
            None => (available.len(), false),
        };
        input.consume(used);
        if done {
            return Ok(());
        }
    }
}

type Refused = (Option<serde_json::Value>, String);

fn answer(
    line: &[u8],
    defaults: &Directories,
    firewall: &Firewall,
    setting: &Setting,
) -> Result<shward::Checked, Refused> {
    if line.len() > MAX_LINE {
        return Err((None, format!("the line has more than {MAX_LINE} bytes")));
    }
    let line: Line = serde_json::from_slice(line).map_err(|e| (None, format!("not a request: {e}")))?;
    let action = match (line.command, line.argv) {
        (Some(command), None) => Action::Command(command),
        (None, Some(argv)) => Action::Argv(argv),
        _ => return Err((line.id, "a request has either \"command\" or \"argv\"".to_owned())),
    };
    let cwd = line.cwd.map_or_else(|| defaults.cwd.clone(), Into::into);
    let request = Request {
        action,
        workspace: line.workspace.map_or_else(|| cwd.clone(), Into::into),
        cwd,
        home: line.home.map_or_else(|| defaults.home.clone(), Into::into),
        session: None,
        call_id: None,
    };
    match firewall.check(&request, setting) {
        Ok(mut checked) => {
            checked.id = line.id;
            Ok(checked)
        }
        Err(e) => Err((line.id, e.to_string())),
    }
}
