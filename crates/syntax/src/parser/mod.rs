//! The recursive-descent parser: its state, and lists, pipelines and the dispatch to commands.
//!
//! It follows bash's grammar and lexer in behaviour. Every method that reads leaves the cursor after what it read;
//! nesting goes through [`Parser::enter`], re-reading through [`Parser::spend`], so depth and time are bounded.

mod arithmetic;
mod assignment;
mod brace;
mod command;
mod compound;
mod conditional;
mod expansion;
mod heredoc;
mod notes;
mod operand;
mod parameter;
mod piece;
mod quote;
mod redirect;
mod simple;
mod stack;
mod word;

use crate::chars::{Keyword, LONGEST_KEYWORD, is_metacharacter, may_begin_keyword};
use crate::cursor::{Cursor, END};
use crate::{
    AndOr, ArrayElement, Assignment, AssignmentValue, CaseArm, CommandKind, Connector, Dialect, ErrorCode,
    Function, HereDocument, Item, Note, NoteKind, Options, Parameter, ParseError, Parsed, PartKind, Pipeline,
    Redirect, Script, Span, Stage, Word, WordPart,
};
use bumpalo::Bump;
use stack::Stack;

pub(crate) use arithmetic::parentheses_balance;
pub(crate) use piece::Progress;

type Result<T> = std::result::Result<T, ParseError>;

/// How many bytes may be read a second time: so many per byte of source, and some in any case.
const FUEL_PER_BYTE: u64 = 16;
const FUEL: u64 = 1 << 16;

/// Most pipelines of one list, and most commands of one pipeline: their tree cannot go before all of them have run.
const MOST_JOINED: usize = 16 << 10;

/// The parser's state.
pub(crate) struct Parser<'a> {
    arena: &'a Bump,
    source: &'a [u8],
    cursor: Cursor<'a>,
    posix: bool,
    /// Extended patterns are read outside `[[ ]]` too.
    extglob: bool,
    /// Inside `$(…)` or `<(…)`, whose text bash prints and reads again before it runs it.
    in_substitution: bool,
    /// In a pattern or number of `${…}` in a here-document, where bash 5.2 reads substitutions wrongly.
    in_document_operand: bool,
    /// Where the first command of the innermost substitution begins.
    substitution_start: usize,
    depth: u16,
    max_depth: u16,
    fuel: u64,
    /// Here-documents whose bodies begin after the next newline.
    pending: Vec<&'a HereDocument<'a>>,
    /// How many here-documents and `case` commands have been read; both matter to what is around them.
    documents: u32,
    cases: u32,
    /// Where the line of commands begins that is being read, of those that stand in nothing else.
    before: usize,
    notes: Vec<Note>,
    /// The last parameter of which no more was meant than its value: most come again and again.
    parameter: Option<&'a Parameter<'a>>,
    /// Every function that was read.
    functions: Vec<&'a Function<'a>>,
    /// Where reading leaves off, and goes on with the next piece.
    piece: piece::Bounds,
    stacks: Stacks<'a>,
}

/// The nodes that are being collected, by kind.
struct Stacks<'a> {
    items: Stack<'a, Item<'a>>,
    rest: Stack<'a, (Connector, Pipeline<'a>)>,
    stages: Stack<'a, Stage<'a>>,
    words: Stack<'a, Word<'a>>,
    parts: Stack<'a, WordPart<'a>>,
    redirects: Stack<'a, Redirect<'a>>,
    assignments: Stack<'a, Assignment<'a>>,
    elements: Stack<'a, ArrayElement<'a>>,
    arms: Stack<'a, CaseArm<'a>>,
}

impl<'a> Stacks<'a> {
    /// The capacities are enough for the ordinary one-line command, or for all that so short a text may hold.
    fn new(arena: &'a Bump, length: usize) -> Self {
        let most = |ordinary: usize| ordinary.min(1 + length / 2);
        Self {
            items: Stack::new(arena, most(4)),
            rest: Stack::new(arena, most(4)),
            stages: Stack::new(arena, most(4)),
            words: Stack::new(arena, most(16)),
            parts: Stack::new(arena, most(24)),
            redirects: Stack::new(arena, most(4)),
            assignments: Stack::new(arena, most(2)),
            elements: Stack::new(arena, 0),
            arms: Stack::new(arena, 0),
        }
    }
}

/// What surrounds a list of commands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The program itself, which bash reads and runs line by line.
    Top,
    /// A compound command or a substitution.
    Inner,
    /// A `case` clause, which `;;` ends.
    Clause,
    /// `${ …; }`, which a closing brace ends, whatever follows it.
    Current,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(arena: &'a Bump, source: &'a [u8], options: &Options) -> Self {
        Self {
            arena,
            source,
            cursor: Cursor::new(source),
            posix: options.dialect == Dialect::Posix,
            extglob: options.extglob && options.dialect == Dialect::Bash,
            in_substitution: false,
            in_document_operand: false,
            substitution_start: usize::MAX,
            depth: 0,
            max_depth: options.max_depth,
            fuel: FUEL_PER_BYTE * source.len() as u64 + FUEL,
            pending: Vec::new(),
            documents: 0,
            cases: 0,
            before: 0,
            notes: Vec::new(),
            parameter: None,
            functions: Vec::new(),
            piece: piece::Bounds::NONE,
            stacks: Stacks::new(arena, source.len()),
        }
    }

    /// Reads the whole source as a program.
    pub(crate) fn program(mut self, max_len: usize) -> Result<Parsed<'a>> {
        self.check_source(max_len)?;
        let read = self.script_to_end();
        let before = u32::try_from(self.before).unwrap_or(u32::MAX);
        let script = read.map_err(|error| ParseError { before, ..error })?;
        let (functions, notes) = (self.functions(), self.arena.alloc_slice_copy(&self.notes));
        Ok(Parsed { script, notes, functions })
    }

    /// Reads the whole source as text in a here-document.
    pub(crate) fn text(mut self, max_len: usize) -> Result<&'a [WordPart<'a>]> {
        self.check_source(max_len)?;
        self.here_document_text()
    }

    /// Reads to the end of the text, as the shell reads a file or the text of a backquoted command.
    fn script_to_end(&mut self) -> Result<Script<'a>> {
        let script = self.list(Place::Top)?;
        if self.piece.left_off {
            return Ok(script);
        }
        self.blanks();
        if !self.cursor.at_end() {
            return match self.keyword()? {
                Some((_, end)) => self.fail_word(end, ErrorCode::UnexpectedReservedWord, "a command"),
                None => self.fail(ErrorCode::UnexpectedToken, "a command or the end"),
            };
        }
        self.here_document_bodies()?;
        Ok(script)
    }

    /// A list of commands, up to a token that cannot continue it.
    fn list(&mut self, place: Place) -> Result<Script<'a>> {
        self.enter()?;
        let mark = self.stacks.items.len();
        let mut line_mark = mark;
        let mut line = if self.depth == 1 { self.piece.line } else { 0 };
        loop {
            if self.newlines()? > 0 && self.stacks.items.len() > line_mark {
                line += 1;
                if place == Place::Top {
                    self.note_options(line_mark);
                }
                line_mark = self.stacks.items.len();
                if self.depth == 1 {
                    self.before = self.cursor.position();
                }
            }
            match self.cursor.peek() {
                END | b')' => break,
                b'}' if place == Place::Current => break,
                b';' if place == Place::Clause && matches!(self.cursor.peek_second(), b';' | b'&') => break,
                b';' => return self.fail(ErrorCode::UnexpectedToken, "a command"),
                _ => {}
            }
            if self.keyword()?.is_some_and(|(keyword, _)| keyword.closes()) {
                break;
            }
            if self.cursor.position() >= self.piece.end && self.leaves_off(mark, line_mark) {
                self.piece.line = line;
                break;
            }
            let start = self.cursor.position();
            let list = self.and_or()?;
            let span = self.cursor.span_from(start);
            self.blanks();
            let mut background = false;
            let mut more = true;
            match self.cursor.peek() {
                b';' if matches!(self.cursor.peek_second(), b';' | b'&') => {
                    if place != Place::Clause {
                        return self.fail(ErrorCode::UnexpectedToken, "a single `;`");
                    }
                    more = false;
                }
                b';' => self.cursor.advance(1),
                b'&' => {
                    self.cursor.advance(1);
                    background = true;
                }
                b'\n' => {}
                _ => more = false,
            }
            self.stacks.items.push(Item { list, background, span, line });
            if !more {
                break;
            }
        }
        self.leave();
        let items = self.stacks.items.take(self.arena, mark);
        let span = match (items.first(), items.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => self.cursor.span_from(self.cursor.position()),
        };
        Ok(Script { items, span })
    }

    /// A list of commands that must not be empty.
    fn nonempty_list(&mut self, place: Place) -> Result<Script<'a>> {
        let list = self.list(place)?;
        if !list.items.is_empty() {
            Ok(list)
        } else if self.cursor.at_end() {
            self.fail(ErrorCode::UnexpectedEnd, "a command")
        } else {
            self.fail(ErrorCode::EmptyList, "a command")
        }
    }

    /// Pipelines joined by `&&` and `||`.
    fn and_or(&mut self) -> Result<AndOr<'a>> {
        let first = self.pipeline()?;
        let mark = self.stacks.rest.len();
        loop {
            self.blanks();
            let byte = self.cursor.peek();
            let connector = match byte {
                b'&' if self.cursor.peek_second() == byte => Connector::And,
                b'|' if self.cursor.peek_second() == byte => Connector::Or,
                _ => break,
            };
            self.skip_two();
            self.newlines()?;
            let next = self.pipeline()?;
            self.stacks.rest.push((connector, next));
            if self.stacks.rest.len() - mark > MOST_JOINED {
                return self.fail(ErrorCode::TooMany, "");
            }
        }
        Ok(AndOr { first, rest: self.stacks.rest.take(self.arena, mark) })
    }

    /// Commands joined by `|`, with `!` and `time` before them.
    fn pipeline(&mut self) -> Result<Pipeline<'a>> {
        self.blanks();
        let start = self.cursor.position();
        let mut negated = false;
        let mut timed = false;
        let mut prefixed = false;
        let first = self.in_substitution && start == self.substitution_start;
        while let Some((keyword, end)) = self.keyword()? {
            match keyword {
                Keyword::Bang => {
                    if self.posix && prefixed {
                        return self.fail_posix("a single !");
                    }
                    negated = !negated;
                    self.cursor.set_position(end);
                }
                Keyword::Time if !self.posix => {
                    self.note(NoteKind::PosixDiffers, start);
                    timed = true;
                    self.cursor.set_position(end);
                    self.time_options();
                }
                _ => break,
            }
            prefixed = true;
            self.blanks();
        }
        if prefixed && !self.posix && self.ends_empty_pipeline(timed && first) {
            let span = self.cursor.span_from(start);
            return Ok(Pipeline { stages: &[], negated, timed, span });
        }
        let mark = self.stacks.stages.len();
        loop {
            let command = self.command()?;
            self.blanks();
            let piped = self.cursor.peek() == b'|' && self.cursor.peek_second() != b'|';
            let mut pipes_stderr = false;
            if piped {
                let operator = self.cursor.position();
                self.cursor.advance(1);
                pipes_stderr = self.cursor.eat(b'&');
                if pipes_stderr {
                    self.require_bash(operator, "2>&1 |")?;
                }
            }
            self.stacks.stages.push(Stage { command: self.arena.alloc(command), pipes_stderr });
            if self.stacks.stages.len() - mark > MOST_JOINED {
                return self.fail(ErrorCode::TooMany, "");
            }
            if !piped {
                break;
            }
            // After `|`, and one newline, `time` is an ordinary word; otherwise reserved, and out of place.
            let newlines = self.newlines()?;
            if newlines > usize::from(!pipes_stderr)
                && !self.posix
                && let Some((Keyword::Time, end)) = self.keyword()?
            {
                return self.fail_word(end, ErrorCode::UnexpectedReservedWord, "a command");
            }
        }
        let stages = self.stacks.stages.take(self.arena, mark);
        if first && timed && !stages.first().is_some_and(is_plain) {
            return self.fail_from(start, ErrorCode::TimeInSubstitution, "");
        }
        let end = stages.last().map_or(Span::default(), |stage| stage.command.span);
        Ok(Pipeline { stages, negated, timed, span: self.cursor.span_from(start).to_end_of(end) })
    }

    /// Steps over `-p` and `--` after `time`.
    fn time_options(&mut self) {
        for option in [b"-p", b"--"] {
            self.blanks();
            let mut ahead = self.cursor;
            if option.iter().all(|byte| ahead.eat(*byte)) && ahead.word_ends(0) {
                self.cursor = ahead;
            }
        }
    }

    /// After `!` or `time`: nothing more belongs to the pipeline.
    fn ends_empty_pipeline(&mut self, at_parenthesis: bool) -> bool {
        match self.cursor.peek() {
            END | b'\n' => true,
            b';' => !matches!(self.cursor.peek_second(), b';' | b'&'),
            b')' => at_parenthesis,
            _ => false,
        }
    }

    /// The reserved word at the cursor and the position after it.
    fn keyword(&mut self) -> Result<Option<(Keyword, usize)>> {
        let first = self.cursor.peek();
        if !may_begin_keyword(first, self.cursor.peek_second()) {
            return Ok(None);
        }
        let rest = self.cursor.rest();
        let length = rest
            .iter()
            .take(LONGEST_KEYWORD + 1)
            .take_while(|byte| matches!(byte, b'a'..=b'z' | b'{' | b'}' | b'!' | b'[' | b']'))
            .count();
        if !self.cursor.word_ends(length) {
            let continued = self.cursor.raw(length) == b'\\' && self.cursor.raw(length + 1) == b'\n';
            return if continued { self.split_keyword() } else { Ok(None) };
        }
        let keyword = Keyword::of(rest.get(..length).unwrap_or(&[]));
        if keyword == Some(Keyword::Bang) && self.extglob && self.cursor.peek_second() == b'(' {
            return Ok(None);
        }
        Ok(keyword.map(|keyword| (keyword, self.cursor.position() + length)))
    }

    /// A word with a line continuation near its beginning: refused if it is a reserved word.
    fn split_keyword(&mut self) -> Result<Option<(Keyword, usize)>> {
        let mut ahead = self.cursor;
        let mut word = [0; LONGEST_KEYWORD];
        let mut length = 0;
        loop {
            let byte = ahead.peek();
            if byte == END || is_metacharacter(byte) {
                break;
            }
            let Some(slot) = word.get_mut(length) else { return Ok(None) };
            *slot = byte;
            length += 1;
            ahead.advance(1);
        }
        if word.get(..length).is_some_and(|word| Keyword::of(word).is_some()) {
            return self.fail_word(ahead.position(), ErrorCode::SplitReservedWord, "");
        }
        Ok(None)
    }

    /// Steps over the reserved word if it is next.
    fn eat_keyword(&mut self, wanted: Keyword) -> Result<bool> {
        self.blanks();
        match self.keyword()? {
            Some((found, end)) if found == wanted => {
                self.cursor.set_position(end);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Steps over the reserved word that must be next.
    fn expect_keyword(&mut self, wanted: Keyword, opener: Span, expected: &'static str) -> Result<()> {
        if self.eat_keyword(wanted)? {
            Ok(())
        } else if self.cursor.at_end() {
            self.unterminated(ErrorCode::UnterminatedCommand, opener, expected)
        } else {
            self.fail(ErrorCode::UnexpectedToken, expected)
        }
    }

    /// Steps over blanks and a comment.
    #[inline]
    fn blanks(&mut self) {
        loop {
            match self.cursor.peek() {
                b' ' | b'\t' => self.cursor.advance(1),
                b'#' => {
                    let rest = self.cursor.rest();
                    let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                    self.cursor.advance(length);
                    return;
                }
                _ => return,
            }
        }
    }

    /// Steps over blanks, comments and newlines; here-documents begin after a newline. Returns how many newlines.
    fn newlines(&mut self) -> Result<usize> {
        let mut count = 0;
        loop {
            self.blanks();
            if self.cursor.peek() != b'\n' {
                return Ok(count);
            }
            count += 1;
            self.cursor.advance(1);
            self.here_document_bodies()?;
        }
    }

    /// Steps over an operator of two characters, which a line continuation may separate.
    fn skip_two(&mut self) {
        self.cursor.advance(1);
        self.cursor.peek();
        self.cursor.advance(1);
    }

    /// One level deeper.
    #[inline]
    fn enter(&mut self) -> Result<()> {
        if self.depth >= self.max_depth {
            return self.fail(ErrorCode::TooDeep, "");
        }
        self.depth += 1;
        Ok(())
    }

    #[inline]
    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Accounts for `bytes` that are read more than once.
    fn spend(&mut self, bytes: usize) -> Result<()> {
        match self.fuel.checked_sub(bytes as u64) {
            Some(left) => {
                self.fuel = left;
                Ok(())
            }
            None => self.fail(ErrorCode::TooComplex, ""),
        }
    }

    /// An error at the cursor.
    #[cold]
    fn fail<T>(&mut self, code: ErrorCode, expected: &'static str) -> Result<T> {
        let start = self.cursor.position();
        let end = (start + 1).min(self.cursor.len()).max(start);
        Err(ParseError { code, span: self.cursor.span(start, end), opener: None, before: 0, expected })
    }

    /// An error about the word that ends at `end`.
    #[cold]
    fn fail_word<T>(&mut self, end: usize, code: ErrorCode, expected: &'static str) -> Result<T> {
        let span = self.cursor.span(self.cursor.position(), end);
        Err(ParseError { code, span, opener: None, before: 0, expected })
    }

    /// An error about everything from `start` to the cursor.
    #[cold]
    fn fail_from<T>(&mut self, start: usize, code: ErrorCode, expected: &'static str) -> Result<T> {
        Err(ParseError { code, span: self.cursor.span_from(start), opener: None, before: 0, expected })
    }

    /// Something that was opened is not closed.
    #[cold]
    fn unterminated<T>(&mut self, code: ErrorCode, opener: Span, expected: &'static str) -> Result<T> {
        let start = self.cursor.position();
        let end = (start + 1).min(self.cursor.len()).max(start);
        Err(ParseError {
            code,
            span: self.cursor.span(start, end),
            opener: Some(opener),
            before: 0,
            expected,
        })
    }

    #[cold]
    fn fail_posix<T>(&mut self, instead: &'static str) -> Result<T> {
        self.fail(ErrorCode::NotPosix, instead)
    }

    /// A construct from `start` to the cursor that only bash reads this way: refused in the POSIX dialect.
    #[inline]
    fn require_bash(&mut self, start: usize, instead: &'static str) -> Result<()> {
        if self.posix {
            return self.fail_from(start, ErrorCode::NotPosix, instead);
        }
        self.note(NoteKind::PosixDiffers, start);
        Ok(())
    }
}

/// Whether a command reads the same when the word before it is not reserved.
pub(crate) fn is_plain(stage: &Stage<'_>) -> bool {
    let CommandKind::Simple(simple) = stage.command.kind else { return false };
    let scalar = |assignment: &Assignment<'_>| {
        assignment.subscript.is_none() && matches!(assignment.value, AssignmentValue::Scalar(_))
    };
    let array = |part: &WordPart<'_>| matches!(part.kind, PartKind::ArrayAssignment(_));
    simple.assignments.iter().all(scalar) && !simple.words.iter().any(|word| word.parts().iter().any(array))
}

impl Span {
    /// The span cut off where `other` ends, if that is a real span.
    fn to_end_of(self, other: Self) -> Self {
        if other.end > self.start { Self { start: self.start, end: other.end } } else { self }
    }
}
