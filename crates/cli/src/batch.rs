//! `check --batch`: one JSON request per line in, one verdict per line out, in the same order.

use crate::args::Args;
use crate::ask::Directories;
use crate::exit::Exit;
use crate::flags::{
    APPROVE, ARGV, CALL_ID, FILE, GATEKEEPER, GATEKEEPER_KEY, GATEKEEPER_MODEL, GATEKEEPER_TIMEOUT, LIMIT,
    LIMIT_WAIT, REASONING, SESSION, WORKSPACE,
};
use crate::terminal::{self, Fail};
use shward::{Batch, Firewall, LargePages, Setting};
use std::cell::RefCell;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

/// Most bytes of input that are answered at once: what is there, and no more is waited for.
const AT_ONCE: usize = 64 << 10;

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
    // It gives judgements alone: nobody is asked, and a line says itself what it is about.
    let single = [
        &SESSION,
        &CALL_ID,
        &REASONING,
        &APPROVE,
        &LIMIT,
        &LIMIT_WAIT,
        &GATEKEEPER,
        &GATEKEEPER_MODEL,
        &GATEKEEPER_KEY,
        &GATEKEEPER_TIMEOUT,
    ];
    if let Some(flag) = single.into_iter().find(|flag| args.has(flag)) {
        return Err(Fail::usage(format!(
            "--batch gives judgements alone, and --{} has no effect on them; leave it out",
            flag.name
        )));
    }
    // One command after the other, until the process ends.
    LargePages::keep_small_blocks();
    let Directories { cwd, workspace, home } = Directories::from(args)?;
    let mut batch = Batch::new(firewall, *setting, cwd, home);
    if args.has(&WORKSPACE) {
        batch = batch.with_workspace(workspace);
    }
    let output = RefCell::new(BufWriter::with_capacity(1 << 16, io::stdout().lock()));
    let unread = Answered { input: io::stdin().lock(), output: &output, failed: None };
    let mut input = BufReader::with_capacity(AT_ONCE, unread);
    // Lines and answers, again and again in the same memory.
    let (mut line, mut written) = (Vec::new(), Vec::new());
    let mut exit = Exit::Allow;
    loop {
        written.clear();
        let there = match input.fill_buf() {
            Ok(there) => there,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return stopped(input.get_mut().failed.take(), e).map(|()| exit),
        };
        let verdicts = match there.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => {
                let verdicts = batch.answer_lines(there.get(..=end).unwrap_or_default(), &mut written);
                input.consume(end + 1);
                verdicts
            }
            None if there.is_empty() => {
                return terminal::delivered(output.borrow_mut().flush()).map(|_| exit);
            }
            None => {
                line.clear();
                if let Err(e) = one_line(&mut input, &mut line) {
                    return stopped(input.get_mut().failed.take(), e).map(|()| exit);
                }
                batch.answer_lines(&line, &mut written)
            }
        };
        if !verdicts {
            exit = Exit::BadInput;
        }
        if !terminal::delivered(output.borrow_mut().write_all(&written))? {
            return Ok(exit);
        }
    }
}

/// Reads up to the end of a line; of one that is too long for a request, only what tells that it is.
fn one_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<()> {
    input.by_ref().take(Batch::MAX_LINE as u64 + 1).read_until(b'\n', line)?;
    if line.len() > Batch::MAX_LINE && !line.ends_with(b"\n") {
        skip_line(input)?;
    }
    Ok(())
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

/// The end, because answers could not be `written` or else because of what happened when requests were `read`.
fn stopped(written: Option<io::Error>, read: io::Error) -> Result<(), Fail> {
    match written {
        Some(e) => terminal::delivered(Err(e)).map(|_| ()),
        None => Err(Fail::io(format!("standard input: {read}"))),
    }
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
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
