//! A reader of Python programs: what a program does, by everything that it refers to.
//!
//! The program is tokenised once and its expressions are evaluated over a small domain of values
//! ([`value::Val`]): passes that learn what each name may ever be bound to, and one that records effects, unless the last
//! of the others knew as much ([`Report::carry_out`]). Modules,
//! their members and functions are followed by reference, so that `f = os.system` is no way out; a reference that is
//! lost from sight counts as used in every way. Names share one scope, which only joins more together. Whatever the
//! grammar here does not cover makes the whole program code that was not understood, besides what was seen.

mod acts;
mod arguments;
mod attributes;
mod bindings;
mod builtins;
mod calls;
mod code;
mod containers;
mod copies;
mod costs;
mod definitions;
mod directories;
mod displays;
mod escapes;
mod expressions;
mod folds;
mod imports;
mod index;
mod keywords;
mod literals;
mod lost;
mod members;
mod methods;
mod modules;
mod moments;
mod mutators;
mod network;
mod objects;
mod os;
mod packages;
mod paths;
mod processes;
mod repeats;
mod scopes;
mod special;
mod starts;
mod statements;
mod strings;
mod symbols;
mod tokens;
mod value;

#[cfg(test)]
mod tests;

use super::report::{ANY_NAME, Report};
use crate::value::Field;
use repeats::Next;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use symbols::{Sym, Symbols};
use tokens::{Keyword, Token};
use value::Val;

/// The longest program that is read, in bytes.
const MAX_TEXT: usize = 256 << 10;

/// Deepest nesting of expressions.
const MAX_DEPTH: u32 = 160;

/// Most passes that learn what names may be bound to.
const MAX_LEARNING: u32 = 9;

/// After so many passes what is learnt is no longer told apart.
const WIDENING: u32 = 3;

/// The same of programs of more tokens than nearly all have.
const MAX_LEARNING_LONG: u32 = 5;
const LONG: usize = 16 << 10;

/// Deepest nesting of programs in programs (`exec`).
const MAX_PROGRAMS: u32 = 4;

/// What is known of a name.
#[derive(Debug, Clone, Copy, Default)]
struct Binding<'a> {
    /// What it is bound to now, if that is certain: at the top level, outside loops and branches.
    now: Option<Val<'a>>,
    /// It may be bound at any time, by a function that declares it `global` and the like.
    shared: bool,
    /// Everything that it is ever bound to.
    ever: Option<Val<'a>>,
    /// Everything that an attribute of this name is ever set to.
    attribute: Option<Val<'a>>,
    /// This pass has looked up what it is ever bound to, or that it is not bound.
    seen: bool,
    /// This pass has looked up what an attribute of this name is ever set to.
    attribute_seen: bool,
    /// When it was bound to that, or became uncertain; see [`repeats`].
    since: u32,
    /// Which change it was by which something was learnt last that it may be.
    changed: u32,
    /// The same of an attribute of this name.
    attribute_changed: u32,
    /// What Python itself means by it, once that was looked up.
    builtin: Option<Option<acts::Act>>,
}

/// Which pass over the tokens this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    Learning,
    Recording,
}

/// What of the things that are bound can be reached by other ways than by their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Exposed {
    Nothing,
    /// The members of a module. Modules among them are known by their names wherever they are.
    Members,
    /// All that is in a dictionary: a namespace of `exec`.
    Everything,
}

/// Lists that served and are empty again: each serves the next expression of its kind, as nothing goes from the arena.
#[derive(Default)]
struct Spare<'a> {
    arguments: Vec<arguments::Arguments<'a>>,
    parts: Vec<literals::Parts<'a>>,
    vals: Vec<bumpalo::collections::Vec<'a, Val<'a>>>,
}

/// A reader at work.
struct Reader<'r, 's, 'a> {
    tokens: &'a [Token<'a>],
    symbols: Symbols<'a>,
    report: &'r mut Report<'s, 'a>,
    at: usize,
    pass: Pass,
    bindings: Vec<Binding<'a>>,
    /// This pass has learnt of something that a name may be bound to.
    learnt: bool,
    /// A pass that knows what this one has learnt may learn more.
    unsettled: bool,
    /// This pass has added to what is known. It may learn without: what is no longer told apart is learnt in each pass.
    changed: bool,
    /// This pass has looked up a parameter that no call is known of. The one that records takes it for data.
    unbound: bool,
    /// Passes that have learnt.
    passes: u32,
    /// The parameters of each function, `*` and `**` ones left out.
    definitions: Vec<&'a [Sym]>,
    /// Every name that is such a parameter.
    parameters: BTreeSet<u32>,
    /// Where each definition stands, counting through all programs.
    numbers: BTreeMap<usize, u32>,
    /// What need not be read again.
    repeats: repeats::Repeats<'a>,
    /// What is added to a token's index to tell programs in programs apart.
    base: usize,
    next_base: usize,
    /// What is added to containers after they are made, by their identity.
    added: Vec<(u32, Val<'a>)>,
    /// What `+=` adds to containers, seen by those who had them before it, by their identity.
    outgrown: Vec<(u32, Val<'a>)>,
    /// A bit for each container that is among these: most are not.
    filled: u64,
    /// Containers whose things may be in any order, by their identity.
    scrambled: BTreeSet<u32>,
    /// All containers are: something that changes what it is given was lost from sight.
    all_scrambled: bool,
    /// Containers that may be known elsewhere by ways that are not followed, by their identity.
    leaked: BTreeSet<u32>,
    /// A container that is not known is changed: it may be one of these.
    leaks_change: bool,
    /// A directory was added to those where modules are looked for.
    searches_elsewhere: bool,
    /// Objects that went where they are not followed.
    lost_objects: Vec<value::Object>,
    /// What `a += b` made of a container, and that container: they are one.
    grown_from: Vec<(u32, u32)>,
    /// What is bound now can be reached by other ways than by its name.
    exposed: Exposed,
    /// `del`: the targets are removed.
    deleting: bool,
    /// How often the working directory is changed, by the last pass; and so far in this one.
    moves: (u32, u32),
    /// What is read now may run again once the working directory has changed; so the report was told.
    wanders: bool,
    /// A bit by which a program gets its owner's or group's rights was put to a number; whether the program names one, once asked.
    set_id: Option<bool>,
    /// The variable `HOME` may be changed.
    homeless: bool,
    /// The logical line is indented.
    indented: bool,
    /// What surely is bound where the line stands.
    scopes: scopes::Scopes,
    /// Inside something that may not run, or not once: a branch on the same line, a comprehension, a lambda.
    inner: u32,
    /// What `inner` is at the start of a line.
    floor: u32,
    /// The indented lines belong to a class.
    in_class: bool,
    /// The function or class that comes next has a decorator.
    decorated: bool,
    /// The last subscript.
    last_index: Val<'a>,
    depth: u32,
    programs: u32,
    /// What star imports may have brought.
    stars: Vec<&'static modules::Module>,
    /// A star import of a module that is not known.
    foreign_star: bool,
    /// Bytes of longer text that expressions came to in this pass, and how many may be.
    joined: Cell<usize>,
    join: usize,
    /// Things in others that were looked at, and how many may be.
    walked: Cell<usize>,
    walk: usize,
    spare: Spare<'a>,
    /// The arguments after the program.
    arguments: &'a [Field<'a>],
    /// The program takes them as they are, and changes none.
    keeps_arguments: bool,
}

/// Whether a module comes with Python, or reaches out of the process.
pub(super) fn is_standard(name: &[u8]) -> bool {
    modules::find(name).is_some_and(|module| module.rest != acts::Act::Project)
}

/// Whether a program does nothing with `sys.argv` but take items of it, and reaches it in no other way.
fn keeps_arguments(tokens: &[Token<'_>], symbols: &Symbols<'_>) -> bool {
    const WAYS: [&[u8]; 9] = [
        b"exec",
        b"eval",
        b"getattr",
        b"setattr",
        b"vars",
        b"__dict__",
        b"__getattribute__",
        b"attrgetter",
        b"import_module",
    ];
    if symbols.any(&WAYS) {
        return false;
    }
    if !symbols.any(&[b"argv"]) {
        return true;
    }
    let before = |at: usize, by: usize| at.checked_sub(by).and_then(|at| tokens.get(at));
    let is_called = |at: usize, by: usize| {
        matches!(before(at, by), Some(Token::Open { kind: b'(', .. }))
            && matches!(before(at, by + 1), Some(Token::Name(_)))
    };
    let is_taken = |(at, token): (usize, &Token<'_>)| {
        let Token::Name(sym) = token else { return true };
        if symbols.name(*sym) != b"argv" {
            return true;
        }
        // `sys.argv`, behind `=` or `in`, or as an argument.
        let member = before(at, 1) == Some(&Token::Dot) && matches!(before(at, 2), Some(Token::Name(_)));
        let is_bound = before(at, 3) == Some(&Token::Assign);
        let used = is_bound || before(at, 3) == Some(&Token::Keyword(Keyword::In));
        match tokens.get(at + 1) {
            Some(Token::Open { kind: b'[', close, .. }) => {
                let after = tokens.get(*close as usize + 1);
                member
                    && (used || is_called(at, 3))
                    && !matches!(after, Some(Token::Assign | Token::Augment(_)))
                    // `x = sys.argv[1], y = …` binds it, too.
                    && !(is_bound && after == Some(&Token::Comma))
            }
            Some(Token::Close) => {
                let counted =
                    |name: &Token<'_>| matches!(name, Token::Name(sym) if symbols.name(*sym) == b"len");
                member && is_called(at, 3) && before(at, 4).is_some_and(counted)
            }
            _ => false,
        }
    };
    tokens.iter().enumerate().all(is_taken)
}

/// Reads a program. What cannot be vouched for is recorded as code.
pub(super) fn read<'a>(report: &mut Report<'_, 'a>, text: &'a [u8], arguments: &'a [Field<'a>]) {
    let mut symbols = Symbols::default();
    let tokens = (text.len() <= MAX_TEXT).then(|| tokens::tokens(report.arena, text, &mut symbols)).flatten();
    let Some(tokens) = tokens else { return report.unseen_code("python", report.text.origins) };
    let keeps_arguments = keeps_arguments(tokens, &symbols);
    let mut reader = Reader {
        tokens,
        symbols,
        report,
        at: 0,
        pass: Pass::Learning,
        bindings: Vec::new(),
        learnt: false,
        unsettled: false,
        changed: false,
        unbound: false,
        passes: 0,
        definitions: Vec::new(),
        parameters: BTreeSet::new(),
        numbers: BTreeMap::new(),
        repeats: repeats::Repeats::default(),
        base: 0,
        next_base: 0,
        added: Vec::new(),
        outgrown: Vec::new(),
        filled: 0,
        scrambled: BTreeSet::new(),
        all_scrambled: false,
        leaked: BTreeSet::new(),
        leaks_change: false,
        searches_elsewhere: false,
        lost_objects: Vec::new(),
        grown_from: Vec::new(),
        exposed: Exposed::Nothing,
        deleting: false,
        moves: (0, 0),
        wanders: false,
        set_id: None,
        homeless: false,
        indented: false,
        scopes: scopes::Scopes::default(),
        inner: 0,
        floor: 0,
        in_class: false,
        decorated: false,
        last_index: Val::Data,
        depth: 0,
        programs: 0,
        stars: Vec::new(),
        foreign_star: false,
        joined: Cell::new(0),
        join: costs::most_text(text),
        walked: Cell::new(0),
        walk: 0,
        spare: Spare::default(),
        arguments,
        keeps_arguments,
    };
    reader.repeats.expect(reader.tokens.len());
    reader.bindings.resize(reader.symbols.len(), Binding::default());
    reader.walk = costs::most_looked_at(reader.tokens.len());
    let most = if reader.tokens.len() > LONG { MAX_LEARNING_LONG } else { MAX_LEARNING };
    // What a call gives to a parameter may be given on to another: until nothing new is learnt.
    let mut understood = true;
    let settled = loop {
        let stars = (reader.foreign_star, reader.stars.len());
        (reader.learnt, reader.unsettled) = (false, stars != (false, 0));
        (reader.changed, reader.unbound) = (false, false);
        reader.report.rehearse();
        understood &= reader.statements().is_some();
        reader.passes += 1;
        reader.count_moves();
        let same_stars = stars == (reader.foreign_star, reader.stars.len());
        if !(reader.learnt && reader.unsettled) {
            break !reader.unbound && same_stars;
        }
        // A late pass that has changed nothing would be repeated as it is.
        let stuck = reader.passes > WIDENING && !reader.changed && same_stars;
        if stuck || reader.passes >= most {
            reader.doubt();
            break false;
        }
        let next = loop {
            match reader.next_pass() {
                Next::Again => reader.skip_pass(),
                next => break next,
            }
        };
        if next == Next::Nothing {
            break !reader.unbound;
        }
        reader.start_over();
    };
    // The last pass knew all that one more would know: then it has told what is to be recorded.
    if !reader.report.carry_out(settled) {
        reader.pass = Pass::Recording;
        reader.start_over();
        understood &= reader.statements().is_some();
    }
    if !understood || !reader.walks_on() || reader.changes_lost_path() {
        reader.lose();
    }
}

impl<'a> Reader<'_, '_, 'a> {
    /// Not everything was learnt: every name may be anything.
    fn doubt(&mut self) {
        for index in 0..self.bindings.len() {
            if let (Ok(index), Some(true)) =
                (u32::try_from(index), self.bindings.get(index).map(|binding| binding.ever.is_some()))
            {
                self.bind_parameter(Sym(index), Val::Data);
            }
        }
    }

    /// Goes back to the start for the next pass.
    fn start_over(&mut self) {
        self.at = 0;
        self.joined.set(0);
        self.next_base = 0;
        self.depth = 0;
        self.inner = 0;
        self.floor = 0;
        self.indented = false;
        self.scopes.start_over();
        self.in_class = false;
        self.decorated = false;
        self.deleting = false;
        self.moves.1 = 0;
        self.wanders = false;
        self.repeats.start_over(self.pass == Pass::Recording);
        for binding in &mut self.bindings {
            (binding.now, binding.since) = (None, 0);
            (binding.seen, binding.attribute_seen) = (false, false);
        }
    }

    /// Something was not understood: the program is unread code.
    fn lose(&mut self) {
        self.report.unseen_code("python", self.report.text.origins);
    }

    /// Whether what is read now runs exactly once, in the order in which it is written.
    const fn is_plain(&self) -> bool {
        !self.indented && self.inner == 0
    }

    fn peek(&self) -> Token<'a> {
        self.tokens.get(self.at).copied().unwrap_or(Token::Newline { column: 0 })
    }

    fn peek_at(&self, ahead: usize) -> Token<'a> {
        self.tokens.get(self.at + ahead).copied().unwrap_or(Token::Newline { column: 0 })
    }

    // Inlined, it compares with the one kind of token that it is asked for.
    #[inline(always)]
    fn take(&mut self, token: Token<'a>) -> bool {
        let found = self.at < self.tokens.len() && self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, token: Token<'a>) -> Option<()> {
        self.take(token).then_some(())
    }

    fn take_keyword(&mut self, keyword: Keyword) -> bool {
        self.take(Token::Keyword(keyword))
    }

    /// A name, taken.
    fn take_name(&mut self) -> Option<Sym> {
        let Token::Name(sym) = self.peek() else { return None };
        self.at += 1;
        Some(sym)
    }

    fn name(&self, sym: Sym) -> &'a [u8] {
        self.symbols.name(sym)
    }

    /// Reads a program in this one, by `inner`, with the same names.
    fn nested<T>(&mut self, text: &'a [u8], inner: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.repeats.never_repeat();
        if self.programs >= MAX_PROGRAMS || text.len() > MAX_TEXT {
            return None;
        }
        let tokens = tokens::tokens(self.report.arena, text, &mut self.symbols)?;
        let plain = self.is_plain();
        let scopes = self.enter(tokens);
        let scopes = std::mem::replace(&mut self.scopes, scopes);
        let outer = (self.tokens, self.at, self.base, self.indented, self.inner, self.floor);
        self.next_base += outer.0.len().max(tokens.len());
        (self.tokens, self.at, self.base, self.indented) = (tokens, 0, self.next_base, false);
        self.inner += u32::from(!plain);
        self.floor = self.inner;
        self.programs += 1;
        let result = inner(self);
        self.programs -= 1;
        (self.tokens, self.at, self.base, self.indented, self.inner, self.floor) = outer;
        self.scopes.leave(scopes);
        result
    }

    /// Goes one level deeper for as long as `inner` runs.
    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Reads something that may run never, or many times.
    fn perhaps<T>(&mut self, inner: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.inner += 1;
        self.wander();
        let result = inner(self);
        self.inner -= 1;
        self.wander();
        result
    }
}
