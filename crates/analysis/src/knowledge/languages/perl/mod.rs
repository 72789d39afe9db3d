//! A reader of Perl, for the programs that are given to `perl -e` and its like.
//!
//! It reads tokens, not the grammar, and vouches for a program only if every word in it is one that computes, a function
//! of the program's own, or one whose effect is recorded. References to functions by name, code in strings and patterns,
//! typeglobs and modules that are not listed are not for it. Sources: perlfunc(1), perlop(1), perlrun(1) of 5.36.

mod given;
mod lexer;
mod words;

use super::report::Report;
use crate::effect::WriteMode;
use crate::value::{Field, Origins, Value};
use given::Line;
use lexer::{ARROW, Token};
use std::collections::BTreeSet;

/// The longest program that is read, in bytes.
const MAX_TEXT: usize = 128 << 10;

/// Deepest nesting of code in substitutions.
const MAX_CODE: u32 = 4;

/// What the program is given besides its text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Given<'a> {
    /// The argument list that starts it.
    pub(super) argv: &'a [Field<'a>],
}

/// Whether a module only computes; `text` is what `-M` gives (`List::Util=sum`).
pub(super) fn is_harmless_module(text: &[u8]) -> bool {
    // What a program may do without is not taken away but warnings.
    let (text, without) = text.strip_prefix(b"-").map_or((text, false), |text| (text, true));
    let name = text.split(|b| matches!(b, b'=' | b' ')).next().unwrap_or_default();
    let rest = text.get(name.len()..).unwrap_or_default();
    let names = |text: &[u8]| text.iter().all(|b| b.is_ascii_alphanumeric() || b",:_ -".contains(b));
    let imported = match rest {
        [] => true,
        [b'=', list @ ..] => names(list),
        // After a blank stands code.
        rest => match rest.trim_ascii() {
            [b'q', b'w', b'(', list @ .., b')'] => names(list),
            [b'q', b'w', b' ', b'(', list @ .., b')'] => names(list),
            _ => false,
        },
    };
    words::is_module(name) && (!without || name == b"warnings") && imported
}

/// Whether a command line names directories in which modules are looked for first.
pub(super) fn has_libraries(argv: &[Field<'_>]) -> bool {
    Line::of(argv).libraries
}

/// The files of which a program in Ruby that runs over them in place leaves nothing.
pub(super) fn emptied_by_ruby<'a>(argv: &'a [Field<'a>], text: &[u8]) -> &'a [Field<'a>] {
    Line::of(argv).emptied_by_ruby(text)
}

/// Reads a program. What cannot be vouched for is recorded as code.
pub(super) fn read<'a>(report: &mut Report<'_, 'a>, text: &'a [u8], given: Given<'a>) {
    report.printed = None;
    let line = Line::of(given.argv);
    // All texts are one program.
    let text = match line.codes.as_slice() {
        [] | [_] => text,
        all => report.arena.alloc_slice_copy(&all.join(&b'\n')),
    };
    let mut reader = Reader {
        subs: BTreeSet::new(),
        handles: BTreeSet::new(),
        depth: 0,
        reads: false,
        arguments: false,
        strict: line.has(b"-Mstrict"),
        environment: false,
        starts: false,
        libraries: line.libraries && report.session.has_made_files(),
        report,
    };
    let understood = (text.len() <= MAX_TEXT).then(|| reader.text(text)).flatten();
    // `<>` opens its operands as `open` with two arguments does, so that `x|` is a command. What the program itself puts
    // there is not known.
    let magic = reader.reads || line.loops;
    let safe = !magic || (!reader.arguments && line.opens_plainly(reader.report.session.has_made_files()));
    // What is started sees the environment, and a variable may be changed in more ways than by assignment.
    let changed = reader.environment && reader.starts;
    if understood.is_none() || !safe || changed || !line.is_plain() {
        report.unseen_code("perl", report.text.origins);
    }
    for file in line.emptied(text) {
        report.writes(Some(&file.value), WriteMode::Truncate);
    }
}

/// A reader at work.
struct Reader<'r, 's, 'a> {
    report: &'r mut Report<'s, 'a>,
    /// Functions of the program.
    subs: BTreeSet<&'a [u8]>,
    /// File handles that the program opens.
    handles: BTreeSet<&'a [u8]>,
    depth: u32,
    /// `<>` is used.
    reads: bool,
    /// `@ARGV` is used.
    arguments: bool,
    /// What is no reference is not taken for the name of one.
    strict: bool,
    /// Variables of the environment are used.
    environment: bool,
    /// A program is started.
    starts: bool,
    /// A module may be a file that this command has made.
    libraries: bool,
}

/// Whether the program begins with `use strict`.
fn is_strict(tokens: &[Token<'_>]) -> bool {
    let statements = tokens.split(|token| *token == Token::Sign(b';'));
    statements
        .take_while(|one| one.first() == Some(&Token::Word(b"use")))
        .any(|one| matches!(one, [_, Token::Word(b"strict")]))
}

/// What stands at a place among tokens; a semicolon stands beyond both ends.
fn token<'a>(tokens: &[Token<'a>], at: usize) -> Token<'a> {
    tokens.get(at).copied().unwrap_or(Token::Sign(b';'))
}

impl<'a> Reader<'_, '_, 'a> {
    fn text(&mut self, text: &'a [u8]) -> Option<()> {
        if self.depth > MAX_CODE {
            return None;
        }
        let found = lexer::tokens(text)?;
        let tokens = &found.all;
        self.strict |= is_strict(tokens);
        if found.follows && !self.strict {
            return None;
        }
        for (at, each) in tokens.iter().enumerate() {
            if *each == Token::Word(b"sub")
                && let Token::Word(name) = token(tokens, at + 1)
            {
                if words::is_builtin(name) || name.contains(&b':') {
                    return None;
                }
                self.subs.insert(name);
            }
        }
        for (sigil, name) in &found.inner {
            self.variable(*sigil, name, &Token::Number)?;
        }
        let mut at = 0;
        while at < tokens.len() {
            at = self.token(tokens, at)?;
        }
        self.depth += 1;
        for code in found.code {
            self.text(code)?;
        }
        self.depth -= 1;
        Some(())
    }

    /// One token, or what belongs together; gives where to go on.
    fn token(&mut self, tokens: &[Token<'a>], at: usize) -> Option<usize> {
        let next = token(tokens, at + 1);
        let before = at.checked_sub(1).map_or(Token::Sign(b';'), |at| token(tokens, at));
        match token(tokens, at) {
            Token::Word(word) => return self.word(tokens, at, word, before, next),
            Token::Variable(sigil, name) => {
                let sigil = match next {
                    Token::Sign(b'{') if sigil == b'$' && !name.is_empty() => b'%',
                    Token::Sign(b'[') if sigil == b'$' && !name.is_empty() => b'@',
                    _ => sigil,
                };
                if name == b"ENV" {
                    self.environment = true;
                    return self.environment(tokens, at);
                }
                self.variable(sigil, name, &next)?;
            }
            Token::Command(text) => {
                self.starts = true;
                match text {
                    Some(text) => {
                        let line = self.report.literal(text);
                        self.report.shell(Some(&line), None, None);
                    }
                    None => self.report.unseen_code("shell", Origins::UNKNOWN),
                }
            }
            Token::Input(name) => match name {
                b"" | b"ARGV" => {
                    self.reads = true;
                    self.report.reads_stdin = true;
                }
                b"STDIN" => self.report.reads_stdin = true,
                // A name in a variable may be that of `<>`.
                [b'$', ..] => self.reads |= !self.strict,
                _ => {}
            },
            // A function by reference, or a method whose name is computed.
            Token::Sign(b'A') if matches!(next, Token::Sign(b'(' | b'&' | b'$') | Token::Variable(..)) => {
                return None;
            }
            Token::Sign(b'T') => {
                if let Token::Text(Some(path)) = next {
                    let path = self.report.literal(path);
                    self.report.lists(Some(&path), false);
                }
            }
            _ => {}
        }
        Some(at + 1)
    }

    /// A variable that is special to Perl.
    fn variable(&mut self, sigil: u8, name: &[u8], next: &Token<'_>) -> Option<()> {
        match (sigil, name) {
            (_, b"ARGV") => {
                self.arguments = true;
                Some(())
            }
            (_, b"SIG" | b"INC" | b"ISA" | b"EXPORT" | b"AUTOLOAD" | b"main" | b"STDIN" | b"STDOUT") => None,
            (b'%', b"ENV") if *next == Token::Number => {
                self.environment = true;
                // In a string: one variable, whose name is not looked at.
                self.report.reads_variable(None);
                Some(())
            }
            (_, b"ENV") => {
                self.environment = true;
                self.report.environment();
                Some(())
            }
            _ => Some(()),
        }
    }

    /// `$ENV{NAME}`, `%ENV`
    fn environment(&mut self, tokens: &[Token<'a>], at: usize) -> Option<usize> {
        let name =
            match (token(tokens, at), token(tokens, at + 1), token(tokens, at + 2), token(tokens, at + 3)) {
                (
                    Token::Variable(b'$', _),
                    Token::Sign(b'{'),
                    Token::Word(name) | Token::Text(Some(name)),
                    Token::Sign(b'}'),
                ) => Some(name),
                _ => None,
            };
        let Some(name) = name else {
            self.report.environment();
            // What is set is for programs that are started later.
            return (token(tokens, at) == Token::Variable(b'%', b"ENV")
                && token(tokens, at + 1) != Token::Sign(b'='))
            .then_some(at + 1);
        };
        self.report.reads_variable(Some(name));
        (token(tokens, at + 4) != Token::Sign(b'=')).then_some(at + 4)
    }

    /// A bare word; gives where to go on.
    fn word(
        &mut self,
        tokens: &[Token<'a>],
        at: usize,
        word: &'a [u8],
        before: Token<'a>,
        next: Token<'a>,
    ) -> Option<usize> {
        if before == ARROW {
            return words::is_method(word).then_some(at + 1);
        }
        if matches!(before, Token::Word(b"next" | b"last" | b"redo"))
            && word.iter().all(|b| b.is_ascii_uppercase())
        {
            return Some(at + 1);
        }
        if next == Token::Sign(b':') && word.iter().all(|b| b.is_ascii_uppercase() || *b == b'_') {
            return Some(at + 2);
        }
        match word {
            b"use" | b"no" => return self.module(tokens, at),
            b"open" => return self.open(tokens, at),
            // What compares may be given by name.
            b"sort" => {
                let given = if next == Token::Sign(b'(') { token(tokens, at + 2) } else { next };
                if matches!(given, Token::Variable(b'$', _)) {
                    return None;
                }
            }
            b"system" | b"exec" => {
                self.starts = true;
                self.start(tokens, at);
            }
            b"unlink" => self.unlink(tokens, at),
            b"mkdir" => match self.one_argument(tokens, at) {
                Some(path) => self.report.writes(Some(&path), WriteMode::Create),
                None => return None,
            },
            b"eval" | b"do" => return (next == Token::Sign(b'{')).then_some(at + 1),
            b"BEGIN" | b"END" | b"INIT" => return (next == Token::Sign(b'{')).then_some(at + 1),
            // A layer may load a module.
            b"binmode" => {
                let end = tokens.iter().skip(at).take(8).position(|t| matches!(t, Token::Sign(b';' | b'}')));
                let end = end.map_or(at + 8, |end| at + end).min(tokens.len());
                let plain = tokens.get(at..end)?.iter().all(|t| match t {
                    Token::Text(text) => text.is_some_and(is_plain_layer),
                    _ => true,
                });
                return plain.then_some(at + 1);
            }
            b"sub" => {
                return Some(at + 1 + usize::from(matches!(next, Token::Word(_))));
            }
            b"STDIN" => self.report.reads_stdin = true,
            b"STDOUT" | b"STDERR" => {}
            // Without arguments they mean `<>`.
            b"eof" | b"readline" => self.reads = true,
            _ if words::computes(word) || self.subs.contains(word) || self.handles.contains(word) => {}
            // A class whose methods compute.
            _ if words::is_module(word) && matches!(next, ARROW) => {}
            _ if words::is_member(word) => {}
            _ => return None,
        }
        Some(at + 1)
    }

    /// `use Module qw(…);`
    fn module(&mut self, tokens: &[Token<'a>], at: usize) -> Option<usize> {
        let end =
            tokens.iter().skip(at).position(|t| *t == Token::Sign(b';')).map_or(tokens.len(), |end| at + end);
        match token(tokens, at + 1) {
            Token::Number => {}
            Token::Word(name) if words::is_module(name) && !self.libraries => {
                // What was strict stays so.
                if token(tokens, at) == Token::Word(b"no") && name != b"warnings" {
                    return None;
                }
            }
            // `use v5.36`
            Token::Word([b'v', digits @ ..]) if digits.iter().all(u8::is_ascii_digit) => {}
            _ => return None,
        }
        // What is imported is named by strings and words that are checked where they are used.
        let plain = tokens.get(at + 2..end)?.iter().all(|t| {
            matches!(
                t,
                Token::Words
                    | Token::Text(Some(_))
                    | Token::Number
                    | Token::Sign(b',' | b'(' | b')' | b'F' | b'O' | b':')
            )
        });
        plain.then_some(end)
    }

    /// `open(my $file, '<', 'name')`, `open(FILE, 'name')`
    fn open(&mut self, tokens: &[Token<'a>], at: usize) -> Option<usize> {
        let bracket = token(tokens, at + 1) == Token::Sign(b'(');
        let mut at = at + 1 + usize::from(bracket);
        at += usize::from(matches!(token(tokens, at), Token::Word(b"my" | b"local" | b"our")));
        match token(tokens, at) {
            Token::Word(name) if !words::computes(name) && !words::is_builtin(name) => {
                self.handles.insert(name);
            }
            Token::Variable(b'$', name) if !name.is_empty() => {}
            _ => return None,
        }
        if token(tokens, at + 1) != Token::Sign(b',') {
            return None;
        }
        let Token::Text(Some(mode)) = token(tokens, at + 2) else { return None };
        // `"0" || "name"` is the other; in a parenthesis `or` and `and` give one of the two as well.
        let ended = |at: usize| match (token(tokens, at), token(tokens, at - 1)) {
            (Token::Sign(b')'), _) => true,
            (Token::Sign(b'|'), Token::Text(text)) => !matches!(text, Some(b"" | b"0")),
            (Token::Sign(b'|'), _) => true,
            (Token::Sign(b';' | b'}') | Token::Word(b"or" | b"and" | b"if"), _) => !bracket,
            _ => false,
        };
        // Blanks that are not looked for here, as the vertical tab, are taken off by Perl as well.
        if mode.iter().any(u8::is_ascii_control) {
            return None;
        }
        let trimmed = mode.trim_ascii();
        let sign = trimmed.iter().take_while(|b| b"<>+|".contains(b)).count();
        let (sign, rest) = trimmed.split_at_checked(sign)?;
        if ended(at + 3) {
            // Two arguments: the name says how.
            if sign.contains(&b'|') || rest.ends_with(b"|") || rest.starts_with(b"&") || trimmed == b"-" {
                return None;
            }
            let path = self.report.literal(rest.trim_ascii());
            self.opens(sign, Some(&path))?;
            return Some(at + 3);
        }
        if token(tokens, at + 3) != Token::Sign(b',') || !(rest.is_empty() || is_plain_layer(rest)) {
            return None;
        }
        match token(tokens, at + 4) {
            // In memory, if that is all.
            Token::Sign(b'\\') if is_reference(tokens, at + 5, ended) => {}
            Token::Text(Some(path)) if ended(at + 5) => {
                let path = self.report.literal(path);
                self.opens(sign, Some(&path))?;
            }
            _ => self.opens(sign, None)?,
        }
        Some(at + 4)
    }

    fn opens(&mut self, sign: &[u8], path: Option<&Value<'a>>) -> Option<()> {
        match sign {
            b"" | b"<" => self.report.reads(path, false),
            b">" => self.report.writes(path, WriteMode::Replace),
            b">>" => self.report.writes(path, WriteMode::Append),
            b"+<" | b"+>" => {
                self.report.reads(path, false);
                self.report.writes(path, WriteMode::Modify);
            }
            _ => return None,
        }
        Some(())
    }

    /// The strings that are all of the arguments of a function.
    fn strings(&self, tokens: &[Token<'a>], at: usize) -> Option<Vec<Value<'a>>> {
        let bracket = token(tokens, at + 1) == Token::Sign(b'(');
        let mut at = at + 1 + usize::from(bracket);
        let mut values = Vec::new();
        loop {
            let Token::Text(Some(text)) = token(tokens, at) else { return None };
            values.push(self.report.literal(text));
            at += 2;
            match token(tokens, at - 1) {
                Token::Sign(b',') => {}
                Token::Sign(b')') if bracket => return Some(values),
                Token::Sign(b';' | b'}') | Token::Word(b"or" | b"and" | b"if" | b"unless" | b"for")
                    if !bracket =>
                {
                    return Some(values);
                }
                _ => return None,
            }
        }
    }

    fn one_argument(&self, tokens: &[Token<'a>], at: usize) -> Option<Value<'a>> {
        self.strings(tokens, at).filter(|all| all.len() == 1).and_then(|all| all.first().copied())
    }

    /// `system("command")`, `exec("program", "argument")`
    fn start(&mut self, tokens: &[Token<'a>], at: usize) {
        match self.strings(tokens, at).as_deref() {
            Some([line]) => self.report.shell(Some(line), None, None),
            Some(argv) => {
                let argv: Vec<Option<Value<'a>>> = argv.iter().copied().map(Some).collect();
                self.report.starts(&argv, false, None, None);
            }
            None => self.report.unseen_code("shell", Origins::UNKNOWN),
        }
    }

    /// `unlink "file"`
    fn unlink(&mut self, tokens: &[Token<'a>], at: usize) {
        match self.strings(tokens, at) {
            Some(paths) => {
                for path in paths {
                    self.report.deletes(Some(&path), false);
                }
            }
            None => self.report.deletes(None, false),
        }
    }
}

/// Whether a variable or a text, and nothing more, stands behind a backslash.
fn is_reference(tokens: &[Token<'_>], at: usize, ended: impl Fn(usize) -> bool) -> bool {
    let at = at + usize::from(matches!(token(tokens, at), Token::Word(b"my" | b"our" | b"local")));
    match token(tokens, at) {
        Token::Variable(b'$', name) => !name.is_empty() && ended(at + 1),
        Token::Text(_) => ended(at + 1) && token(tokens, at + 1) != Token::Sign(b'|'),
        _ => false,
    }
}

/// Whether a layer of a file handle comes with Perl.
fn is_plain_layer(layer: &[u8]) -> bool {
    let name = layer.trim_ascii();
    matches!(name, b":raw" | b":utf8" | b":bytes" | b":crlf" | b":unix" | b":perlio")
        || (name.to_ascii_lowercase().starts_with(b":encoding(utf")
            && name.iter().position(|b| *b == b')') == name.len().checked_sub(1))
}
