//! Splits an argument list into options, operands and a subcommand, as the program itself will.
//!
//! The grammar is that of `getopt_long(3)` with the variations that [`Style`] names. What may be an option but is not
//! listed, or not known, is recorded as an `Unknown` effect.

use super::chosen::Chosen;
use super::image::{List, Named};
use super::run::Run;
use super::tables::{Kind, Level, Operands, Opt, Spelling, Takes, is_idle};
use super::values;
use super::words::{Act, Role, Style};
use crate::effect::{Certainty, EffectKind, Unknown};
use crate::value::{Field, Origins, Piece};
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use shward_syntax::Span;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// Most options of one program: one byte may be one.
const MOST_OPTIONS: usize = 16 << 10;

/// An option that was given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) option: Opt,
    /// Its spelling in full, with dashes.
    pub(crate) name: &'static str,
    pub(crate) value: Option<&'a Field<'a>>,
}

/// Where in the description of a program reading stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At<'a> {
    /// The program's level, then its subcommand's, and so on.
    pub(crate) levels: &'a [Level],
    /// What follows the command word or the subcommand.
    pub(crate) args: &'a [Field<'a>],
    /// The options that were given to the outer levels.
    pub(crate) outer: &'a [Given<'a>],
}

impl At<'_> {
    /// The innermost level.
    pub(crate) fn level(&self) -> Option<Level> {
        self.levels.last().copied()
    }
}

/// The names of many options, and which of those that were given is the last of that name.
#[derive(Debug)]
pub(super) struct Told {
    /// How many options there were.
    pub(super) count: usize,
    pub(super) last: BTreeMap<&'static str, usize>,
}

/// A split argument list. It is gone when its program is through, so it does not lie in the arena.
#[derive(Debug)]
pub(crate) struct Scan<'a> {
    pub(crate) levels: &'a [Level],
    /// All options, those of the outer levels first.
    pub(crate) given: Vec<Given<'a>>,
    /// How many of them were given to the outer levels.
    pub(crate) inherited: usize,
    pub(crate) operands: Chosen<'a>,
    /// The argument list of a program that is started: everything from its name on.
    pub(crate) command: &'a [Field<'a>],
    /// The subcommand and what follows it.
    pub(crate) sub: Option<(Level, &'a [Field<'a>])>,
    /// Text about the program is printed and nothing else happens.
    pub(crate) info: bool,
    /// Changes are announced, not made.
    pub(crate) narrow: bool,
    /// A subcommand was needed and not understood; the operands mean nothing. And whether it was at a word that is surely there.
    pub(crate) lost: bool,
    pub(crate) lost_at_word: bool,
    /// An option is not described: the program may refuse it.
    pub(crate) unlisted: bool,
    /// What the operands mean, once that was asked for.
    pub(super) line: OnceCell<Option<Operands>>,
    /// The names of many options: for each of many operands it may be asked whether one is given.
    pub(super) told: OnceCell<Told>,
}

impl<'a> Run<'_, 'a> {
    /// The arguments from the program's own description on.
    pub(crate) fn start(&self) -> At<'a> {
        let levels = self.arena().alloc_slice_copy(&[self.program.level()]);
        At { levels, args: self.args(), outer: &[] }
    }

    /// Splits the arguments after the description of `at`.
    pub(crate) fn scan(&mut self, at: &At<'a>) -> Scan<'a> {
        scan(self, at)
    }

    /// The place below which a subcommand's reading goes on.
    pub(crate) fn below(&self, scan: &Scan<'a>, sub: Level, args: &'a [Field<'a>]) -> At<'a> {
        let mut levels = BumpVec::with_capacity_in(scan.levels.len() + 1, self.arena());
        levels.extend_from_slice_copy(scan.levels);
        levels.push(sub);
        let levels = levels.into_bump_slice();
        At { levels, args, outer: self.arena().alloc_slice_copy(&scan.given) }
    }
}

pub(super) fn operands_line(level: &Level, given: &[Given<'_>]) -> Option<Operands> {
    level
        .operands()
        .iter()
        .find(|line| line.when.is_empty() || given.iter().any(|g| line.when.contains(&g.name)))
}

/// Splits the arguments.
fn scan<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Scan<'a> {
    let arena = run.arena();
    let mut scan = Scan {
        levels: at.levels,
        given: at.outer.to_vec(),
        inherited: at.outer.len(),
        operands: Chosen::default(),
        command: &[],
        sub: None,
        info: false,
        narrow: at.outer.iter().any(|g| narrows(g)),
        lost: false,
        lost_at_word: false,
        unlisted: false,
        line: OnceCell::new(),
        told: OnceCell::new(),
    };
    let Some(level) = at.level() else { return scan };
    let style = level.style();
    let response_files = at.levels.iter().any(|level| level.response_files());
    let sensitive = at.levels.iter().any(|l| l.sensitive());
    let mut scanner = Scanner {
        arena,
        run,
        levels: at.levels,
        style,
        sensitive,
        uncertain: false,
        unlisted: false,
        runs: level.runs(),
        over: false,
        args: at.args,
    };
    let runs = scanner.runs;
    let (mut line_for, mut line) = (None, None);
    let mut options_over = false;
    loop {
        let here = scanner.args;
        let Some((arg, rest)) = here.split_first() else { break };
        scanner.args = rest;
        if response_files && arg.value.known_prefix().starts_with(b"@") {
            let value = values::after(arena, &arg.value, 1);
            scanner.run.reads(&Field { value, ..*arg }, false);
            scanner.run.not_understood(Unknown::Construct("arguments that stand in a file"), arg.span);
            continue;
        }
        if !options_over {
            if style != Style::Bare && arg.known() == Some(b"--") {
                options_over = true;
                continue;
            }
            if scanner.option(arg, &mut scan) {
                options_over = scanner.over;
                continue;
            }
        }
        if !level.subs().is_empty() && scan.operands.len() == level.sub_after() {
            if let Some(sub) = arg.known().and_then(|name| level.sub(name)) {
                let mut args = rest;
                if level.sub_after() > 0 {
                    let both = scan.operands.iter().chain(rest).copied();
                    args = BumpVec::from_iter_in(both, arena).into_bump_slice();
                }
                scan.sub = Some((sub, args));
                break;
            }
            if level.operands().is_empty() || arg.known().is_none() && !is_no_word(&level, arg, rest) {
                let name = arg.known().unwrap_or_default();
                scanner.unknown(Unknown::Subcommand(name), arg.span, Certainty::Certain);
                (scan.lost, scan.lost_at_word) = (true, !arg.many);
                break;
            }
        }
        if runs {
            // Which line applies changes with the options alone.
            if line_for != Some(scan.given.len()) {
                line_for = Some(scan.given.len());
                line = operands_line(&level, &scan.given);
            }
            if line.is_some_and(|line| starts_command(&line, &scan, arg)) {
                scan.command = here;
                break;
            }
        }
        scan.operands.push(here);
        options_over |= matches!(style, Style::Posix | Style::Go);
    }
    scan.unlisted = scanner.unlisted;
    // Files are opened where the option that names them is read, before one behind it ends the program.
    scan.info &= scan.given.iter().all(|given| is_idle(given.option.role));
    scan
}

/// Whether an argument that is not known is none of the words by which subcommands are called: it begins with the name of a
/// directory; nor is one of those that take its place where it stands for nothing.
fn is_no_word(level: &Level, arg: &Field<'_>, rest: &[Field<'_>]) -> bool {
    let found = arg.value.origins.contains(Origins::NAMES);
    let leads = !found && !arg.value.has_unknown() && arg.value.known_prefix().contains(&b'/');
    leads && rest.iter().all(|other| other.known().is_none_or(|name| level.sub(name).is_none()))
}

/// Whether this operand is the first word of a program's argument list.
fn starts_command(line: &Operands, scan: &Scan<'_>, arg: &Field<'_>) -> bool {
    let mut items = line.items.iter().rev();
    if !items.next().is_some_and(|last| last.role.is_command()) {
        return false;
    }
    let before = items.len();
    match items.next() {
        Some(variables) if variables.role == Role::Variable => {
            scan.operands.len() >= items.len() && !is_assignment(arg.value.known_prefix())
        }
        _ => scan.operands.len() >= before,
    }
}

/// `NAME=…` with any name that `putenv(3)` takes; that is also none.
fn is_assignment(prefix: &[u8]) -> bool {
    prefix.contains(&b'=')
}

/// A narrowing option counts unless its value takes it back (`--dry-run=none`).
fn narrows(given: &Given<'_>) -> bool {
    let no: [&[u8]; 4] = [b"none", b"false", b"no", b"0"];
    given.option.kind == Kind::Narrow
        && given.value.is_none_or(|value| value.known().is_some_and(|text| !no.contains(&text)))
}

struct Scanner<'r, 's, 'a> {
    arena: &'a Bump,
    run: &'r mut Run<'s, 'a>,
    levels: &'a [Level],
    style: Style,
    /// Some option could make the effects worse.
    sensitive: bool,
    /// An argument that is not known came before: it may have ended the options.
    uncertain: bool,
    /// An option is not described.
    unlisted: bool,
    /// The operands may be a command.
    runs: bool,
    /// The last option says that what follows are operands.
    over: bool,
    args: &'a [Field<'a>],
}

impl<'a> Scanner<'_, '_, 'a> {
    fn unknown(&mut self, reason: Unknown<'a>, span: Span, certainty: Certainty) {
        self.run.emit(EffectKind::Unknown { reason }, span, certainty);
    }

    /// An argument may be, or hold, an option that cannot be seen.
    fn hidden(&mut self, span: Span) {
        self.uncertain = true;
        if self.sensitive {
            self.unknown(Unknown::Argument, span, Certainty::Possible);
        }
    }

    /// Whether an operand may do more than tell the program what to read.
    fn acts_on_operands(&self) -> bool {
        let lines = self.levels.last().map(|level| level.operands());
        lines.is_some_and(|lines| lines.iter().any(|line| line.items.iter().any(|item| !item.role.is_tame())))
    }

    /// The levels whose options are accepted here, innermost first.
    fn reachable(&self) -> impl Iterator<Item = &'a Level> + use<'a> {
        let inner = self.levels.last();
        let outer = self.levels.split_last().map(|(_, outer)| outer).unwrap_or_default();
        inner.into_iter().chain(outer.iter().rev().filter(|l| l.global()))
    }

    /// Takes the argument as an option; false if it is an operand.
    fn option(&mut self, arg: &Field<'a>, scan: &mut Scan<'a>) -> bool {
        let prefix = arg.value.known_prefix();
        let whole = prefix.len() == arg.value.known().map_or(usize::MAX, <[u8]>::len);
        if arg.many && arg.value.has_unknown() {
            // Splitting may make further arguments of it.
            self.hidden(arg.span);
            if self.runs && !self.sensitive {
                self.unknown(Unknown::Argument, arg.span, Certainty::Possible);
            }
        } else if self.style != Style::Bare
            && arg.value.origins.contains(Origins::FOUND)
            && !prefix.is_empty()
        {
            self.hidden(arg.span);
        }
        match prefix {
            [] => {
                let is_path = match *arg.value.pieces() {
                    [Piece::Made, Piece::Text(text), ..] => text.starts_with(b"/"),
                    _ => arg.value.is_made(),
                };
                if self.style != Style::Bare
                    && !is_path
                    && matches!(arg.value.pieces().first(), Some(Piece::Unknown | Piece::Made))
                {
                    self.hidden(arg.span);
                }
                false
            }
            b"-" if whole => self.whole_word(arg, prefix, whole, scan),
            b"-" => {
                self.hidden(arg.span);
                if !self.sensitive && self.acts_on_operands() {
                    // Without what is not known, it is an operand.
                    self.unknown(Unknown::Argument, arg.span, Certainty::Possible);
                }
                true
            }
            _ if self.whole_word(arg, prefix, whole, scan) => true,
            [b'-', ..] if self.style == Style::Bare => whole && self.listed(arg, prefix, scan),
            [b'-', b'-', name @ ..] => {
                self.long(arg, name, whole, scan);
                true
            }
            [b'-', ..] if matches!(self.style, Style::SingleDash | Style::Go | Style::Words) => {
                self.single(arg, prefix, scan);
                true
            }
            [b'-', digits @ ..] if whole && self.number(digits, arg, scan) => true,
            [b'-', ..] => {
                self.cluster(arg, prefix, scan);
                true
            }
            [b'+', ..] => self.plus(arg, scan),
            _ => self.key_value(arg, prefix, scan),
        }
    }

    fn find(&self, look: impl FnMut(&'a Level) -> Option<Spelling>) -> Option<Spelling> {
        self.reachable().find_map(look)
    }

    fn word(&self, name: &[u8]) -> Option<Spelling> {
        self.find(|level| exact(level.words(), name))
    }

    /// Options that are one word as typed: `-name`, `-name=value`, `+x`, `word`.
    fn whole_word(&mut self, arg: &Field<'a>, prefix: &'a [u8], whole: bool, scan: &mut Scan<'a>) -> bool {
        if self.reachable().all(|level| level.words().is_empty()) {
            return false;
        }
        let single = match (self.style, prefix) {
            (Style::SingleDash | Style::Go | Style::Words, [b'-', b'-', ..]) => {
                prefix.get(1..).unwrap_or_default()
            }
            _ => prefix,
        };
        let skipped = prefix.len() - single.len();
        if whole && let Some(found) = self.word(single) {
            self.take(found, None, arg.span, scan);
            return true;
        }
        if !single.starts_with(b"-") {
            return false;
        }
        let Some(at) = single.iter().position(|b| *b == b'=') else { return false };
        match self.word(single.get(..at).unwrap_or_default()) {
            Some(found) if found.takes != Takes::Nothing => {
                let value = Field { value: values::after(self.arena, &arg.value, skipped + at + 1), ..*arg };
                self.take(found, Some(value), arg.span, scan);
                true
            }
            _ => false,
        }
    }

    fn long(&mut self, arg: &Field<'a>, name: &'a [u8], whole: bool, scan: &mut Scan<'a>) {
        let equals = name.iter().position(|b| *b == b'=');
        if equals.is_none() && !whole {
            self.hidden(arg.span);
            return;
        }
        let key = equals.and_then(|at| name.get(..at)).unwrap_or(name);
        let abbreviates = matches!(self.style, Style::Gnu | Style::Posix);
        let found = self
            .find(|level| exact(level.long(), key))
            .or_else(|| if abbreviates { self.find(|level| abbreviated(level.long(), key)) } else { None });
        let value = equals.map(|at| Field { value: values::after(self.arena, &arg.value, at + 3), ..*arg });
        match found {
            Some(found) if found.takes == Takes::Nothing && value.is_some() => self.unlisted(arg),
            Some(found) => self.take(found, value, arg.span, scan),
            None => self.unlisted(arg),
        }
    }

    /// One option behind one dash, its value perhaps joined to a single letter.
    fn single(&mut self, arg: &Field<'a>, prefix: &'a [u8], scan: &mut Scan<'a>) {
        let Some(byte) = prefix.get(1) else { return };
        match self.find(|level| level.letter(*byte)) {
            Some(found) if prefix.len() == 2 && arg.value.known().is_some() => {
                self.take(found, None, arg.span, scan)
            }
            Some(found) if found.takes != Takes::Nothing && self.style != Style::Words => {
                // `-o=VALUE` is `-o VALUE` to some of them (Go), and an odd `-oVALUE` to others.
                let equals = usize::from(prefix.get(2) == Some(&b'='));
                let value = Field { value: values::after(self.arena, &arg.value, 2 + equals), ..*arg };
                self.take(found, Some(value), arg.span, scan);
            }
            _ => self.unlisted(arg),
        }
    }

    /// In a style without options: one that is listed all the same, as it stands.
    fn listed(&mut self, arg: &Field<'a>, name: &[u8], scan: &mut Scan<'a>) -> bool {
        let mut joined = None;
        let found = match name {
            [b'-', b'-', long @ ..] => {
                let end = long.iter().position(|b| *b == b'=');
                joined = end.map(|at| Field { value: values::after(self.arena, &arg.value, at + 3), ..*arg });
                self.find(|level| exact(level.long(), end.and_then(|at| long.get(..at)).unwrap_or(long)))
            }
            [b'-', byte] => self.find(|level| level.letter(*byte)),
            _ => None,
        };
        match found {
            Some(found) if joined.is_none() || found.takes != Takes::Nothing => {
                self.take(found, joined, arg.span, scan);
                true
            }
            _ => false,
        }
    }

    /// `-NUMBER`.
    fn number(&mut self, digits: &[u8], arg: &Field<'a>, scan: &mut Scan<'a>) -> bool {
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return false;
        }
        let Some(option) = self.reachable().find_map(|level| level.number()) else { return false };
        self.take(Spelling { takes: Takes::Nothing, name: "-NUM", option }, None, arg.span, scan);
        true
    }

    /// `-abc`: letters, the last of which may have a value.
    fn cluster(&mut self, arg: &Field<'a>, prefix: &'a [u8], scan: &mut Scan<'a>) {
        let mut digits = false;
        for (at, byte) in prefix.iter().enumerate().skip(1) {
            if digits && byte.is_ascii_digit() {
                continue;
            }
            let Some(found) = self.find(|level| level.letter(*byte)) else {
                self.unlisted(arg);
                return;
            };
            digits = found.takes == Takes::Digits;
            if !digits && found.takes != Takes::Nothing {
                let value = values::after(self.arena, &arg.value, at + 1);
                let joined = (!value.pieces().is_empty()).then_some(Field { value, ..*arg });
                self.take(found, joined, arg.span, scan);
                return;
            }
            self.take(found, None, arg.span, scan);
        }
        if arg.value.pieces().len() > 1 {
            self.hidden(arg.span);
        }
    }

    /// `+[TEXT]`.
    fn plus(&mut self, arg: &Field<'a>, scan: &mut Scan<'a>) -> bool {
        let Some(found) = self.word(b"+") else { return false };
        let value = Field { value: values::after(self.arena, &arg.value, 1), ..*arg };
        self.take(found, Some(value), arg.span, scan);
        true
    }

    /// `key=value`.
    fn key_value(&mut self, arg: &Field<'a>, prefix: &'a [u8], scan: &mut Scan<'a>) -> bool {
        if self.style != Style::KeyValue {
            return false;
        }
        let Some(at) = prefix.iter().position(|b| *b == b'=') else { return false };
        match self.word(prefix.get(..=at).unwrap_or_default()) {
            Some(found) => {
                let value = Field { value: values::after(self.arena, &arg.value, at + 1), ..*arg };
                self.take(found, Some(value), arg.span, scan);
            }
            None => self.unlisted(arg),
        }
        true
    }

    /// Records an option, with the next argument as its value if it needs one that is not joined.
    fn take(&mut self, found: Spelling, joined: Option<Field<'a>>, span: Span, scan: &mut Scan<'a>) {
        if scan.given.len() >= MOST_OPTIONS {
            // What is beyond may be worse: all that is left is not followed.
            self.run.session.works(usize::MAX);
            return;
        }
        let mut value = joined.map(|value| &*self.arena.alloc(value));
        if value.is_none()
            && found.takes == Takes::Value
            && let Some((next, rest)) = self.args.split_first()
        {
            self.args = rest;
            value = Some(next);
            if next.many && next.value.has_unknown() {
                self.hidden(span);
            }
        }
        self.over = found.option.acts.contains(&Act::Last);
        let given = Given { option: found.option, name: found.name, value };
        match found.option.kind {
            Kind::Info => scan.info |= scan.operands.is_empty() && !self.uncertain,
            Kind::Narrow => scan.narrow |= !self.uncertain && narrows(&given),
            Kind::Plain => {}
        }
        scan.given.push(given);
        let mut then = found.option.then();
        while let (Some(option), Some((next, rest))) = (then, self.args.split_first()) {
            self.args = rest;
            if next.many && next.value.has_unknown() {
                self.hidden(span);
            }
            scan.given.push(Given { option, name: "", value: Some(next) });
            then = option.then();
        }
    }

    fn unlisted(&mut self, arg: &Field<'a>) {
        let prefix = arg.value.known_prefix();
        // It may be a number (`seq -1 1`).
        self.unlisted |= !prefix.get(1).is_some_and(u8::is_ascii_digit);
        let name = prefix.split(|b| *b == b'=').next().unwrap_or(prefix);
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
        let whole = arg.known().is_some_and(|text| text.iter().all(plain));
        let level = self.levels.last().filter(|level| whole && level.inert_options());
        let Some(level) = level else {
            self.unknown(Unknown::Option(name), arg.span, Certainty::Certain);
            return;
        };
        let first = !std::mem::replace(&mut self.uncertain, true);
        let mut roles = level.operands().iter().flat_map(|line| line.items.iter().map(|item| item.role));
        if first && roles.any(|role| role == Role::Read) {
            // Whether it takes a value is not known: what looks like another option may be that, and its value an operand.
            for word in self.args.iter().filter(|word| !word.value.known_prefix().starts_with(b"-")) {
                self.run.reads(word, false);
            }
        }
    }
}

fn exact(table: List<Named<Spelling>>, name: &[u8]) -> Option<Spelling> {
    table.find(name).map(|found| found.item)
}

/// The one option that begins so (getopt_long(3): several spellings of the same option are not ambiguous).
fn abbreviated(table: List<Named<Spelling>>, start: &[u8]) -> Option<Spelling> {
    if start.is_empty() {
        return None;
    }
    let from = table.from(start);
    let rest = (from..table.len()).map_while(|index| table.get(index));
    let mut matching = rest.take_while(|found| found.name.as_bytes().starts_with(start));
    let first = matching.next()?.item;
    matching.all(|other| other.item.option == first.option).then_some(first)
}
