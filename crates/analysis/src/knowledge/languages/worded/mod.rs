//! A reader of Ruby and PHP, for the programs that are given to `ruby -e` and `php -r`.
//!
//! It reads tokens, not the grammar, and vouches for a program only if every word in it is one that computes or prints, a
//! variable or function of the program's own, or one whose effect is recorded. What calls by a name that is computed (`send`,
//! `$f()`, `&name`), changes classes, evaluates text or loads files is not for it. Each language has a lexer and tables of words; what
//! follows is the same for both.

mod php;
mod ruby;
mod words;

use super::report::{Report, Sends};
use crate::effect::WriteMode;
use crate::value::{Origins, Value};
use std::collections::BTreeSet;
use words::{Deed, Words};

/// The longest program that is read, in bytes.
const MAX_TEXT: usize = 64 << 10;

/// Most tokens of one program.
const MAX_TOKENS: usize = 20_000;

/// Most tokens of an argument before a function that is called back.
const MAX_ARGUMENT: usize = 256;

/// Most tokens of a function that is called back.
const MAX_BODY: usize = 1024;

/// A token. What stands in a string and is evaluated follows it as tokens of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    /// A bare word.
    Word(&'a [u8]),
    /// `$name`, `@name`; of Ruby's own variables the sign that names them.
    Variable(&'a [u8]),
    /// `:name`
    Symbol(&'a [u8]),
    /// `name:`, in an argument list or a hash.
    Label,
    Number,
    /// A string or a list of words; the text if all of it stands there letter by letter.
    Text(Option<&'a [u8]>),
    /// A regular expression.
    Pattern,
    /// A sign; `::` is `:`, `->` and `&.` are `.`, `=>` is `>`, a single `=` is `=`, the end of a line is `;`. Of what stands for no
    /// structure all is `O`.
    Sign(u8),
}

const END: Token<'static> = Token::Sign(b';');
const MEMBER: Token<'static> = Token::Sign(b'.');
const OPEN: Token<'static> = Token::Sign(b'(');

/// Whether a sign may be no sign: in some encodings it is half of a letter behind such a byte, and a program names its encoding, or
/// the machine does.
fn may_be_letters(text: &[u8]) -> bool {
    let after = text.iter().zip(text.iter().skip(1));
    after.into_iter().any(|(byte, next)| !byte.is_ascii() && b"\\{}|[]`".contains(next))
}

/// What stands before the closing quote, behind the opening one.
fn quoted(text: &[u8], quote: u8) -> Option<&[u8]> {
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            byte if *byte == quote => return text.get(..at),
            _ => at += 1,
        }
    }
}

/// Whether a name of a module is one that only computes, as `ruby -r` or `require` gives it.
pub(super) fn is_harmless_module(name: &[u8]) -> bool {
    words::RUBY.is_module(name)
}

/// Reads a program. What cannot be vouched for is recorded as code.
pub(super) fn read<'a>(report: &mut Report<'_, 'a>, language: &'static str, text: &'a [u8]) {
    report.printed = None;
    let (words, tokens) = match language {
        "ruby" => (&words::RUBY, ruby::tokens as fn(&'a [u8]) -> Option<Vec<Token<'a>>>),
        _ => (&words::PHP, php::tokens as fn(&'a [u8]) -> Option<Vec<Token<'a>>>),
    };
    let found = (text.len() <= MAX_TEXT).then(|| tokens(text)).flatten();
    let understood = found.and_then(|tokens| {
        let own = own(words, &tokens)?;
        Reader { report: &mut *report, words, own, tokens: &tokens, writes: Vec::new(), loads: false }.all()
    });
    if understood.is_none() {
        report.unseen_code(language, report.text.origins);
    }
}

/// The functions that the program defines, and in Ruby its variables. `None`: one has a name that means something already.
fn own<'a>(words: &Words, tokens: &[Token<'a>]) -> Option<BTreeSet<&'a [u8]>> {
    let mut own = BTreeSet::new();
    // Between bars stand the variables of a block, and behind the name of a function its own.
    let (mut bars, mut heading) = (false, false);
    for (at, token) in tokens.iter().enumerate() {
        let (before, next) = (around(tokens, at, -1), around(tokens, at, 1));
        match *token {
            Token::Sign(b'|') => bars = !bars && matches!(before, Token::Sign(b'{') | Token::Word(b"do")),
            END if words.has_bare_variables => heading = false,
            Token::Word(name) => {
                let defines = matches!(before, Token::Word(b"def" | b"function"));
                heading |= defines && words.has_bare_variables;
                let assigned = matches!(next, Token::Sign(b'='))
                    || before == Token::Word(b"for")
                    || before == Token::Sign(b'>') && next == END;
                let listed = next == Token::Sign(b',') && starts_list(tokens, at);
                let variable =
                    words.has_bare_variables && before != MEMBER && (bars || heading || assigned || listed);
                if !(defines || variable) || words.is_constant(name) {
                    continue;
                }
                if words.means(name) {
                    return None;
                }
                own.insert(name);
            }
            _ => {}
        }
    }
    Some(own)
}

/// Whether a name stands in a list at the beginning of a statement that gets values: `a, b = 1, 2`, `for k, v in x`.
fn starts_list(tokens: &[Token<'_>], at: usize) -> bool {
    let before = tokens.get(..at).unwrap_or_default();
    let names = before
        .iter()
        .rev()
        .take(17)
        .take_while(|token| matches!(token, Token::Word(_) | Token::Sign(b',')))
        .count();
    let after = tokens.get(at..).unwrap_or_default();
    let rest = after.iter().take(16).find(|token| !matches!(token, Token::Word(_) | Token::Sign(b',')));
    names < 16 && rest == Some(&Token::Sign(b'=')) && around(tokens, at - names, -1) == END
}

/// The token before or after one; the end of a statement stands beyond both ends.
fn around<'a>(tokens: &[Token<'a>], at: usize, by: isize) -> Token<'a> {
    at.checked_add_signed(by).and_then(|at| tokens.get(at)).copied().unwrap_or(END)
}

struct Reader<'r, 's, 't, 'a> {
    report: &'r mut Report<'s, 'a>,
    words: &'static Words,
    own: BTreeSet<&'a [u8]>,
    tokens: &'t [Token<'a>],
    /// What is written, which may be made of anything that is read anywhere.
    writes: Vec<(Value<'a>, WriteMode)>,
    /// Whether a module is loaded while it runs.
    loads: bool,
}

impl<'a> Reader<'_, '_, '_, 'a> {
    fn token(&self, at: usize) -> Token<'a> {
        self.tokens.get(at).copied().unwrap_or(END)
    }

    fn all(&mut self) -> Option<()> {
        let mut at = 0;
        while at < self.tokens.len() {
            at = self.one(at)?;
        }
        // What is written may be the module that is loaded.
        let is_code = |path: &[u8]| path.ends_with(b".rb") || path.ends_with(b".so");
        if self.loads && self.writes.iter().any(|(path, _)| path.known().is_none_or(is_code)) {
            return None;
        }
        for (path, mode) in std::mem::take(&mut self.writes) {
            self.report.writes(Some(&path), mode);
        }
        Some(())
    }

    /// One token, or what belongs together; gives where to go on.
    fn one(&mut self, at: usize) -> Option<usize> {
        let (before, next) = (around(self.tokens, at, -1), self.token(at + 1));
        match self.token(at) {
            Token::Word(word) => return self.word(at, word, before, next),
            Token::Variable(name) => self.variable(at, name, next)?,
            // What is called by its name.
            Token::Symbol(name) if before == Token::Sign(b'&') => {
                return self.words.is_method(name).then_some(at + 1);
            }
            Token::Text(_) | Token::Sign(b')' | b']' | b'}')
                if !self.words.has_bare_variables && next == OPEN =>
            {
                return None;
            }
            // `x.(…)` and a method whose name is computed.
            MEMBER if !matches!(next, Token::Word(_)) => return None,
            // A class that is computed.
            Token::Sign(b':') if !self.words.has_bare_variables && !matches!(before, Token::Word(_)) => {
                return None;
            }
            // A block that is kept in a variable may be a method by its name.
            Token::Sign(b'&') if !matches!(next, Token::Symbol(_)) => return None,
            _ => {}
        }
        Some(at + 1)
    }

    fn variable(&mut self, at: usize, name: &[u8], next: Token<'a>) -> Option<()> {
        if self.words.standard_input.contains(&name) {
            self.report.reads_stdin = true;
        }
        if self.words.environment.contains(&name) {
            self.environment(at, next);
        }
        // A function whose name is computed, and everything that there is.
        let calls = next == OPEN && !self.words.has_bare_variables;
        (!calls && !self.words.grave_variables.contains(&name)).then_some(())
    }

    /// `ENV["NAME"]`, `getenv("NAME")`: one variable, or all of them.
    fn environment(&mut self, at: usize, next: Token<'a>) {
        let open = matches!(next, Token::Sign(b'[' | b'('));
        match (open, self.token(at + 2), self.token(at + 3)) {
            (true, Token::Text(Some(name)), Token::Sign(b']' | b')')) => {
                self.report.reads_variable(Some(name))
            }
            _ => self.report.environment(),
        }
    }

    /// A bare word; gives where to go on.
    fn word(&mut self, at: usize, word: &'a [u8], before: Token<'a>, next: Token<'a>) -> Option<usize> {
        let folded = word.to_ascii_lowercase();
        let name: &[u8] = if self.words.folds { &folded } else { word };
        if before == MEMBER {
            // Of what is no call only the value is taken.
            let property = !self.words.has_bare_variables && next != OPEN;
            return (property || self.words.is_method(name) || self.takes_operator(at, name))
                .then_some(at + 1);
        }
        if !self.words.has_bare_variables {
            match (name, next) {
                // In capitals, too.
                _ if self.words.is_grave(name) => return None,
                // Of a class that is computed nothing is known, and functions may get other names.
                (b"new", Token::Word(class)) if self.words.is_class(&class.to_ascii_lowercase()) => {
                    return Some(at + 2);
                }
                (b"new", _) => return None,
                (b"use", _) if before != Token::Sign(b')') => return None,
                _ => {}
            }
        }
        if matches!(before, Token::Word(b"def" | b"function")) {
            return self.own.contains(word).then_some(at + 1);
        }
        if self.words.environment.contains(&name) {
            self.environment(at, next);
            return Some(at + 1);
        }
        if self.words.standard_input.contains(&name) {
            self.report.reads_stdin = true;
            return Some(at + 1);
        }
        // A function of a class, or of the language, whose effect is recorded.
        if matches!(next, MEMBER | Token::Sign(b':'))
            && let Token::Word(function) = self.token(at + 2)
        {
            if let Some(deed) = self.words.deed(name, function) {
                return self.does(deed, at + 3);
            }
            let called = if self.words.folds { function.to_ascii_lowercase() } else { function.to_vec() };
            let constant = match self.words.has_bare_variables {
                true => self.words.is_class(function),
                false => self.words.is_constant(function) && self.token(at + 3) != OPEN,
            };
            let known = self.words.is_class(name) && (constant || self.words.is_method(&called));
            return known
                .then_some(at + 3)
                .or_else(|| self.own.contains(word).then_some(at + 1))
                .or_else(|| (next == MEMBER && self.words.is_function(name)).then_some(at + 1));
        }
        if next == Token::Sign(b'[')
            && let Some(deed) = self.words.deed(name, b"[")
        {
            return self.does(deed, at + 1);
        }
        if let Some(deed) = self.words.deed(b"", name) {
            return self.does(deed, at + 1);
        }
        if let Some(position) = self.words.calls_back(name) {
            return self.calls_back(at, position).then_some(at + 1);
        }
        let plain = self.words.is_function(name)
            || self.own.contains(word)
            || self.words.is_class(name)
            || !self.words.has_bare_variables && self.words.is_constant(word) && next != OPEN;
        plain.then_some(at + 1)
    }

    /// `inject(:+)`: what is named there is called.
    fn takes_operator(&self, at: usize, name: &[u8]) -> bool {
        if !matches!(name, b"inject" | b"reduce") || !self.words.has_bare_variables {
            return false;
        }
        match (self.token(at + 1), self.token(at + 2)) {
            (Token::Sign(b'{'), _) | (Token::Word(b"do"), _) => true,
            (OPEN, Token::Symbol(called)) => {
                self.words.is_method(called) || called.iter().all(u8::is_ascii_punctuation)
            }
            (OPEN, Token::Number) => matches!(self.token(at + 3), Token::Sign(b')')),
            _ => false,
        }
    }

    /// Whether what a function calls back stands there as a function that is written out.
    fn calls_back(&self, at: usize, position: usize) -> bool {
        if self.token(at + 1) != OPEN {
            return false;
        }
        let (mut depth, mut commas) = (0usize, 0usize);
        for at in (at + 2..).take(MAX_ARGUMENT) {
            if commas == position {
                return match self.token(at) {
                    Token::Word(b"fn") => true,
                    Token::Word(b"function") => self.is_all(at),
                    _ => false,
                };
            }
            match self.token(at) {
                Token::Sign(b'(' | b'[' | b'{') => depth += 1,
                // It is given none.
                Token::Sign(b')' | b']' | b'}') if depth == 0 => return true,
                Token::Sign(b')' | b']' | b'}') => depth -= 1,
                Token::Sign(b',') if depth == 0 => commas += 1,
                _ => {}
            }
        }
        false
    }

    /// Whether a function that is written out is all of an argument, and not the beginning of something that is computed.
    fn is_all(&self, at: usize) -> bool {
        let mut depth = 0usize;
        for at in (at..self.tokens.len()).take(MAX_BODY) {
            match self.token(at) {
                Token::Sign(b'(' | b'[' | b'{') => depth += 1,
                Token::Sign(b')' | b']') => depth = depth.saturating_sub(1),
                Token::Sign(b'}') if depth == 1 => {
                    return matches!(self.token(at + 1), Token::Sign(b',' | b')'));
                }
                Token::Sign(b'}') => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        false
    }

    /// The text that is all of an argument; the place behind it.
    fn argument(&self, at: usize) -> Option<(Value<'a>, usize)> {
        let Token::Text(Some(text)) = self.token(at) else { return None };
        let ended = matches!(self.token(at + 1), Token::Sign(b')' | b']' | b',' | b';' | b'}'));
        ended.then(|| (self.report.literal(text), at + 1))
    }

    /// Records what a function does, whose arguments begin here.
    fn does(&mut self, deed: Deed, at: usize) -> Option<usize> {
        let bracket = matches!(self.token(at), Token::Sign(b'(' | b'['));
        let first = at + usize::from(bracket);
        let path = self.argument(first);
        let place = match path {
            Some((path, _)) if self.words.has_addresses && path.known_prefix().contains(&b':') => {
                return self.reaches(deed, &path).then_some(first);
            }
            Some((path, _)) => Some(path),
            None => None,
        };
        match deed {
            Deed::Compute => {}
            // It may be an address.
            Deed::List if self.words.has_addresses => self.report.lists(Some(&place?), false),
            Deed::List => self.report.lists(place.as_ref(), false),
            // Of a place that is not known nobody sees more than of code that was not read, and what the text names counts.
            Deed::Read => self.report.reads(Some(&place?), false),
            Deed::Load => {
                let place = place?;
                let text = place.known()?;
                let own =
                    !text.starts_with(b"/") && !text.split(|byte| *byte == b'/').any(|part| part == b"..");
                if !own || self.report.session.has_made_files() {
                    return None;
                }
                self.report.reads(Some(&place), false);
            }
            Deed::Write => self.writes.push((place?, WriteMode::Replace)),
            Deed::Create => self.writes.push((place?, WriteMode::Create)),
            Deed::Search => {
                let (path, _) = path?;
                let pattern = path.known()?;
                let fixed = pattern.iter().position(|byte| b"*?[{\\".contains(byte)).unwrap_or(pattern.len());
                let end = pattern.get(..fixed)?.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
                let start = if end == 0 { &b"."[..] } else { pattern.get(..end)? };
                let start = self.report.literal(start);
                self.report.lists(Some(&start), true);
            }
            Deed::Open => {
                let (path, end) = path?;
                match (self.token(end), self.token(end + 1), self.token(end + 2)) {
                    (Token::Sign(b','), Token::Text(Some(mode)), Token::Sign(b')')) => {
                        let mode: Vec<u8> =
                            mode.iter().copied().filter(|byte| !matches!(byte, b'b' | b't')).collect();
                        match mode.as_slice() {
                            b"r" => self.report.reads(Some(&path), false),
                            b"w" => self.writes.push((path, WriteMode::Replace)),
                            b"a" => self.writes.push((path, WriteMode::Append)),
                            _ => return None,
                        }
                    }
                    (Token::Sign(b')' | b'{' | b';'), ..) => self.report.reads(Some(&path), false),
                    _ => return None,
                }
            }
            Deed::Require => {
                let (name, _) = path?;
                self.loads = true;
                // What the command has made may lie where modules are looked for.
                let known = name.known().is_some_and(|name| self.words.is_module(name));
                if !known || self.report.session.has_made_files() {
                    return None;
                }
            }
            Deed::Replace => {
                // A flag of old versions evaluates what is put in.
                let Token::Text(Some(pattern)) = self.token(first) else { return None };
                let pattern = pattern.trim_ascii_end();
                let flags = pattern.iter().rev().take_while(|byte| byte.is_ascii_alphabetic());
                if flags.clone().count() == pattern.len() || flags.clone().any(|flag| *flag == b'e') {
                    return None;
                }
            }
        }
        Some(first)
    }

    /// An address where a file is named: the network, or the program's own input and output.
    fn reaches(&mut self, deed: Deed, path: &Value<'a>) -> bool {
        let Some(address) = path.known() else { return false };
        let lower = address.to_ascii_lowercase();
        match lower.as_slice() {
            b"php://stdin" => self.report.reads_stdin = true,
            b"php://stdout" | b"php://stderr" | b"php://output" | b"php://memory" => {}
            _ if (lower.starts_with(b"http://") || lower.starts_with(b"https://"))
                && matches!(deed, Deed::Read) =>
            {
                self.report.connects_to(Some(path), Sends::All);
                self.report.read = self.report.read | Origins::NETWORK;
            }
            _ => return false,
        }
        true
    }
}
