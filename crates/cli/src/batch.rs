//! `check --batch`: one JSON request per line in, one verdict per line out, in the same order.

use crate::args::Args;
use crate::ask::Directories;
use crate::exit::Exit;
use crate::flags::{ARGV, FILE, WORKSPACE};
use crate::terminal::{self, Fail};
use serde::Deserialize;
use shward::{Action, Firewall, LargePages, MAX_COMMAND, PlainLine, Request, Setting};
use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Longest accepted line: a command of the greatest length with every byte escaped, and room for the rest.
const MAX_LINE: usize = 6 * MAX_COMMAND + (64 << 10);

/// Text that stays where it was read, if nothing in it is escaped.
#[derive(Deserialize)]
struct Text<'l>(#[serde(borrow)] Cow<'l, str>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'l> {
    #[serde(default)]
    id: Option<serde_json::Value>,
    #[serde(default, borrow)]
    command: Option<Text<'l>>,
    #[serde(default)]
    argv: Option<Vec<String>>,
    #[serde(default, borrow)]
    cwd: Option<Text<'l>>,
    #[serde(default, borrow)]
    home: Option<Text<'l>>,
    #[serde(default, borrow)]
    workspace: Option<Text<'l>>,
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
    // One command after the other, until the process ends.
    LargePages::keep_small_blocks();
    let Directories { cwd, workspace, home } = Directories::from(args)?;
    let defaults = Defaults { cwd, home, workspace: args.has(&WORKSPACE).then_some(workspace) };
    let output = RefCell::new(BufWriter::with_capacity(1 << 16, io::stdout().lock()));
    let unread = Answered { input: io::stdin().lock(), output: &output, failed: None };
    let mut input = BufReader::with_capacity(1 << 16, unread);
    // One request, one line and one answer, again and again in the same memory.
    let mut request = Request::command("", "", "");
    let (mut line, mut written) = (Vec::new(), Vec::new());
    let mut exit = Exit::Allow;
    loop {
        line.clear();
        let read = match input.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line) {
            Ok(read) => read,
            Err(e) => return stopped(input.get_mut().failed.take(), e).map(|()| exit),
        };
        if read == 0 {
            return terminal::delivered(output.borrow_mut().flush()).map(|_| exit);
        }
        if line.len() > MAX_LINE
            && !line.ends_with(b"\n")
            && let Err(e) = skip_line(&mut input)
        {
            return stopped(input.get_mut().failed.take(), e).map(|()| exit);
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        written.clear();
        if let Err(refused) = answer(&line, &mut request, &defaults, firewall, setting, &mut written) {
            exit = Exit::BadInput;
            written = error_object(refused);
        }
        written.push(b'\n');
        if !terminal::delivered(output.borrow_mut().write_all(&written))? {
            return Ok(exit);
        }
    }
}

/// Input before whose reading all answers so far are written: the read may wait, and whoever writes the requests may wait
/// for the answers.
struct Answered<'o, R, W: Write> {
    input: R,
    output: &'o RefCell<BufWriter<W>>,
    /// Why the answers could not be written.
    failed: Option<io::Error>,
}

impl<R: Read, W: Write> Read for Answered<'_, R, W> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if let Err(e) = self.output.borrow_mut().flush() {
            self.failed = Some(e);
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.input.read(into)
    }
}

fn error_object((id, error): Refused) -> Vec<u8> {
    let mut object = serde_json::Map::new();
    object.insert("v".to_owned(), 1.into());
    object.extend(id.map(|id| ("id".to_owned(), id)));
    object.insert("error".to_owned(), error.into());
    serde_json::Value::Object(object).to_string().into_bytes()
}

/// The end, because answers could not be `written` or else because of what happened when requests were `read`.
fn stopped(written: Option<io::Error>, read: io::Error) -> Result<(), Fail> {
    match written {
        Some(e) => terminal::delivered(Err(e)).map(|_| ()),
        None => Err(Fail::io(format!("standard input: {read}"))),
    }
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

/// Appends the answer to a line.
fn answer(
    line: &[u8],
    request: &mut Request,
    defaults: &Defaults,
    firewall: &Firewall,
    setting: &Setting,
    written: &mut Vec<u8>,
) -> Result<(), Refused> {
    if line.len() > MAX_LINE {
        return Err((None, format!("the line has more than {MAX_LINE} bytes")));
    }
    if !matches!(request.action, Action::Command(_)) {
        request.action = Action::Command(String::new());
    }
    if let Action::Command(command) = &mut request.action
        && let Some(line) = PlainLine::read(line, command)
    {
        defaults.complete(request, [line.cwd, line.workspace, line.home]);
        return firewall
            .check_as_json(request, setting, line.id, written)
            .map_err(|e| (line.id.and_then(|id| serde_json::from_str(id).ok()), e.to_string()));
    }
    let line: Line<'_> = serde_json::from_slice(line).map_err(|e| (None, format!("not a request: {e}")))?;
    match (line.command, line.argv) {
        (Some(Text(command)), None) => request.action = Action::Command(command.into_owned()),
        (None, Some(argv)) => request.action = Action::Argv(argv),
        _ => return Err((line.id, "a request has either \"command\" or \"argv\"".to_owned())),
    }
    let told = [&line.cwd, &line.workspace, &line.home].map(|told| told.as_ref().map(|Text(text)| &**text));
    defaults.complete(request, told);
    let id = line.id.as_ref().map(serde_json::Value::to_string);
    firewall.check_as_json(request, setting, id.as_deref(), written).map_err(|e| (line.id, e.to_string()))
}

impl Defaults {
    /// Puts the directories that a line tells (`cwd`, `workspace`, `home`) into a request, and the others.
    fn complete(&self, request: &mut Request, [cwd, workspace, home]: [Option<&str>; 3]) {
        set(&mut request.cwd, cwd, &self.cwd);
        set(&mut request.workspace, workspace, self.workspace.as_deref().unwrap_or(&request.cwd));
        set(&mut request.home, home, &self.home);
    }
}

/// Puts a path into the memory of the last one.
fn set(path: &mut PathBuf, told: Option<&str>, otherwise: &Path) {
    let text = path.as_mut_os_string();
    text.clear();
    text.push(told.map_or(otherwise.as_os_str(), str::as_ref));
}
