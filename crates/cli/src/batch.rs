//! `check --batch`: one JSON request per line in, one verdict per line out, in the same order.

use crate::args::Args;
use crate::ask::Directories;
use crate::exit::Exit;
use crate::flags::{ARGV, FILE, WORKSPACE};
use crate::terminal::{self, Fail};
use serde::Deserialize;
use shward::{Action, Firewall, MAX_COMMAND, Request, Setting};
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::path::PathBuf;

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

/// Where a request starts and what it may change, when its line does not say.
struct Defaults {
    cwd: PathBuf,
    home: PathBuf,
    /// `None`: each request's own `cwd`.
    workspace: Option<PathBuf>,
}

/// Answers every line of standard input.
///
/// # Errors
/// Standard input cannot be read, or standard output not written. A bad line is answered by an object with `error`, and
/// the exit code is then 65.
pub(crate) fn run(args: &Args, firewall: &Firewall, setting: &Setting) -> Result<Exit, Fail> {
    if args.command.is_some() || !args.operands.is_empty() || args.has(&ARGV) || args.has(&FILE) {
        return Err(Fail::usage(
            "--batch reads its commands from standard input; leave out --argv, --file and the command",
        ));
    }
    let Directories { cwd, workspace, home } = Directories::from(args)?;
    let defaults = Defaults { cwd, home, workspace: args.has(&WORKSPACE).then_some(workspace) };
    let mut input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut output = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut line = Vec::new();
    let mut exit = Exit::Allow;
    loop {
        // The read may wait, and whoever writes the requests may wait for the answers so far.
        if !input.buffer().contains(&b'\n') && !terminal::delivered(output.flush())? {
            return Ok(exit);
        }
        line.clear();
        let read = input.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line).map_err(failed)?;
        if read == 0 {
            return Ok(exit);
        }
        if line.len() > MAX_LINE && !line.ends_with(b"\n") {
            skip_line(&mut input).map_err(failed)?;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answer = answer(&line, &defaults, firewall, setting)
            .and_then(|a| serde_json::to_vec(&a).map_err(|e| (None, e.to_string())))
            .unwrap_or_else(|refused| {
                exit = Exit::BadInput;
                error_object(refused)
            });
        if !terminal::delivered(output.write_all(&answer).and_then(|()| output.write_all(b"\n")))? {
            return Ok(exit);
        }
    }
}

fn error_object((id, error): Refused) -> Vec<u8> {
    let mut object = serde_json::Map::new();
    object.insert("v".to_owned(), 1.into());
    object.extend(id.map(|id| ("id".to_owned(), id)));
    object.insert("error".to_owned(), error.into());
    serde_json::Value::Object(object).to_string().into_bytes()
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
    defaults: &Defaults,
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
        workspace: line
            .workspace
            .map(Into::into)
            .or_else(|| defaults.workspace.clone())
            .unwrap_or_else(|| cwd.clone()),
        cwd,
        home: line.home.map_or_else(|| defaults.home.clone(), Into::into),
        session: None,
        call_id: None,
        reasoning: None,
    };
    match firewall.check(&request, setting) {
        Ok(mut checked) => {
            checked.id = line.id;
            Ok(checked)
        }
        Err(e) => Err((line.id, e.to_string())),
    }
}
