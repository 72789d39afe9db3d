//! Long commands are read piece by piece, and each piece is run before the next one is read: the tree of a piece goes as soon as
//! it has run, and most of what a long command would take in memory is its tree.
//!
//! What is defined to be called later stays: a piece with a function in it is read into the arena of the request.

use super::{Interpreter, refused};
use crate::Request;
use crate::plan::Plan;
use crate::world::World;
use bumpalo::Bump;
use shward_syntax::{Function, Options, ParseError, Parsed, Piece, Reader, parse};

/// So many bytes are read at a time, and what follows to the end of the line.
pub(super) const PIECE: usize = 8 << 10;

/// Text that was made is read at once up to this length, and twice beyond: first to see that it can be read.
const LONG: usize = 64 << 10;

/// Memory for the tree of evaluated text that is kept for the next one, at most.
const KEPT: usize = 16 << 10;

/// The same function among those that were read to stay.
pub(super) fn lasting<'a>(all: &[&'a Function<'a>], function: &Function<'_>) -> Option<&'a Function<'a>> {
    let behind = all.partition_point(|other| other.name_span.start <= function.name_span.start);
    let same =
        |other: &Function<'_>| (other.name_span, other.body.span) == (function.name_span, function.body.span);
    all.get(behind.checked_sub(1)?).copied().filter(|other| same(other))
}

/// As [`analyze`](super::analyze) does it, of a long text: `size` bytes at a time.
pub(super) fn analyze_pieces<'a>(
    arena: &'a Bump,
    request: &Request<'a>,
    world: &dyn World,
    text: &'a [u8],
    options: &Options,
    size: usize,
) -> Plan<'a> {
    let mut shell = Interpreter::new(arena, request, world, text);
    let mut reader = Reader::new(text, options);
    match shell.with_traps(|shell| shell.read(&mut reader, size)) {
        Ok(()) => Plan { notes: arena.alloc_slice_copy(reader.notes()), ..shell.finish() },
        // Then it is not run at all.
        Err(error) => refused(arena, error, text.len()),
    }
}

impl<'a> Interpreter<'a, '_> {
    /// Reads and runs the pieces of a text, one after the other.
    pub(super) fn read(&mut self, reader: &mut Reader<'a>, size: usize) -> Result<(), ParseError> {
        let mut passing = Bump::new();
        let mut goes_on = false;
        while !reader.is_done() {
            let start = reader.clone();
            if !defines_functions(reader.rest(), size) {
                passing.reset();
                let piece = reader.piece(&passing, size)?;
                if piece.functions.is_empty() {
                    self.run_piece(&piece, goes_on, reader.is_done());
                    goes_on = piece.goes_on;
                    continue;
                }
            }
            *reader = start;
            let piece = reader.piece(self.arena, size)?;
            self.functions = piece.functions;
            self.run_piece(&piece, goes_on, reader.is_done());
            goes_on = piece.goes_on;
        }
        Ok(())
    }

    /// A reader of a long text that was made, if it can be read piece by piece to its end, and defines nothing that stays: a shell
    /// that cannot read it would not run all of what comes before either.
    pub(super) fn readable_pieces(&mut self, text: &'a [u8], options: &Options) -> Option<Reader<'a>> {
        if text.len() <= LONG || self.foreign || defines_functions(text, text.len()) {
            return None;
        }
        // Reading it twice costs twice.
        self.budget.spend(text.len() / 8);
        let start = Reader::new(text, options);
        let mut reader = start.clone();
        let mut passing = Bump::new();
        while !reader.is_done() {
            passing.reset();
            let piece = reader.piece(&passing, PIECE).ok()?;
            // An error ends a line, so that all of one is run before what follows the text.
            if !piece.functions.is_empty() || piece.goes_on {
                return None;
            }
        }
        Some(start)
    }

    /// Reads text that was made, and runs what is to be done with its tree and with those functions of it that stay.
    pub(super) fn read_text(
        &mut self,
        text: &'a [u8],
        options: &Options,
        run: impl FnOnce(&mut Self, &Parsed<'_>, &'a [&'a Function<'a>]),
    ) -> Result<(), ParseError> {
        if !defines_functions(text, text.len()) {
            let mut passing = self.passing.pop().unwrap_or_default();
            let read = match parse(&passing, text, options) {
                Ok(parsed) if parsed.functions.is_empty() => {
                    run(self, &parsed, &[]);
                    Ok(())
                }
                Ok(_) => self.read_to_stay(text, options, run),
                Err(error) => Err(error),
            };
            passing.reset();
            if passing.allocated_bytes() <= KEPT {
                self.passing.push(passing);
            }
            return read;
        }
        self.read_to_stay(text, options, run)
    }

    fn read_to_stay(
        &mut self,
        text: &'a [u8],
        options: &Options,
        run: impl FnOnce(&mut Self, &Parsed<'_>, &'a [&'a Function<'a>]),
    ) -> Result<(), ParseError> {
        let parsed = parse(self.arena, text, options)?;
        run(self, &parsed, parsed.functions);
        Ok(())
    }

    /// Runs a piece. `continued`: it goes on in the line in which the one before ended. `done`: nothing comes after it.
    fn run_piece(&mut self, piece: &Piece<'_>, continued: bool, done: bool) {
        if continued {
            self.items(piece.items);
        } else {
            // What was evaluated has something after it, whatever comes behind the piece.
            let ends = std::ptr::eq(self.text, self.source);
            self.read_lines(piece.items, ends && (done || piece.goes_on));
        }
    }
}

/// Whether it looks as if functions are defined in what is read next.
fn defines_functions(text: &[u8], size: usize) -> bool {
    let text = text.get(..size).unwrap_or(text);
    text.windows(2).any(|pair| pair == b"()") || crate::value::contains(text, b"function")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dialect, Frozen, Source};

    /// Commands in which later pieces depend on earlier ones.
    const COMMANDS: &[&str] = &[
        "cd src; ls; rm a\nrm b",
        "f() { cat x; }\nf; f\nls",
        "f ( ) { g() { cat x; }; g; }; f\nf\ng",
        "function f { cat x; }; ls; f; eval 'h() { cat z; }; h'; h",
        "cat <<A; ls\n$(rm x)\nA\nwc <<B | sh\nrm y\nB",
        "shopt -s extglob\nls !(a)\nshopt -u extglob; ls\nls a",
        "shopt -s expand_aliases\nalias l='rm -r'; l x\nl y",
        "trap 'rm x' EXIT; a=(1); a[-3]=2; rm y\nrm z; exit; ls",
        "a=(1); a[-3]=2; rm y; rm z",
        "for i in 1 2; do\ncat $i\ndone; x=$(cat a\ncat b)\necho $x > \"$HOME\"",
        "if ls; then f() { cat a; }; else f() { cat b; }; fi; f &\nwait",
        "set -e; false || ls; (exit 1)\nrm x",
        "echo a{1,2}{x..z} $v{1,b}c; ls '\n'; cat \"a\\\nb\"",
        "ls\nrm x\nfi\nls",
        "ls; ls <<A\nx",
        "ls; rm x )",
    ];

    #[test]
    fn what_follows_long_text_that_is_evaluated_is_the_same_as_behind_a_short_one() {
        let texts = COMMANDS.iter().filter(|text| !text.contains('\'') && !text.contains("<<"));
        for text in texts {
            for padding in ["ls -l\n", "ls -l; "] {
                let last = |count: usize| {
                    let command = format!("eval '{}{text}'; ls z", padding.repeat(count));
                    let request = Request {
                        source: Source::Command(command.as_bytes()),
                        cwd: b"/workspace",
                        workspace: b"/workspace",
                        home: b"/home/me",
                        dialect: Dialect::Bash,
                    };
                    let arena = Bump::new();
                    let plan = crate::analyze(&arena, &request, &Frozen);
                    plan.invocations.last().map(|last| (last.certain, last.cwd.map(<[u8]>::to_vec)))
                };
                assert_eq!(last(2 * LONG / padding.len()), last(1), "{padding}{text}");
            }
        }
    }

    #[test]
    fn the_plan_is_the_same_whatever_is_read_at_a_time() {
        let sample = include_str!("../../../../corpus/dev-sample.jsonl");
        let sample = sample.lines().map(|line| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            row["command"].as_str().unwrap_or_default().to_owned()
        });
        for command in COMMANDS.iter().map(|&command| command.to_owned()).chain(sample) {
            for dialect in [Dialect::Bash, Dialect::Posix] {
                let request = Request {
                    source: Source::Command(command.as_bytes()),
                    cwd: b"/workspace",
                    workspace: b"/workspace",
                    home: b"/home/me",
                    dialect,
                };
                let arena = Bump::new();
                let whole = crate::analyze(&arena, &request, &Frozen);
                let options = Options { dialect, ..Options::default() };
                for size in [1, 20] {
                    let text = command.as_bytes();
                    let pieces = analyze_pieces(&arena, &request, &Frozen, text, &options, size);
                    assert_eq!(format!("{pieces:?}"), format!("{whole:?}"), "{command}");
                }
            }
        }
    }
}
