//! Modules, the environment and the standard streams: what a program does through them.

use super::super::report::Sends;
use super::Reader;
use super::lexer::Token;
use super::words::{self, Act};
use crate::effect::WriteMode;
use crate::knowledge::provenance::made_module;
use crate::knowledge::values;
use crate::value::{Origins, Value};

impl<'a> Reader<'_, '_, 'a> {
    /// `require(…)`; gives where to go on.
    pub(super) fn require(&mut self, at: usize) -> Option<usize> {
        let Token::Text(Some(module)) = self.token(at + 2) else { return None };
        if self.token(at + 1) != Token::Sign(b'(') || self.token(at + 3) != Token::Sign(b')') {
            return None;
        }
        if words::is_builtin_module(module) {
            return match (self.token(at + 4), self.token(at + 5)) {
                (Token::Sign(b'.'), Token::Name(_)) => self.module(at + 3, module),
                // The names that hold it were found before.
                _ => self.is_held(at).then_some(at + 4),
            };
        }
        if words::is_acting_package(module) {
            return None;
        }
        if module.ends_with(b".json") && module.starts_with(b".") {
            let path = self.report.literal(module);
            self.report.reads(Some(&path), false);
            // Where there is no such file, `x.json.js` and the directory `x.json` are looked for.
            for ending in [&b".js"[..], b"/index.js", b"/package.json"] {
                let other = values::concat(self.report.arena, &[module, ending]);
                let other = self.report.literal(other);
                self.made(&other);
            }
            return Some(at + 4);
        }
        // Code of the project, or of a package that it uses.
        if module.starts_with(b".") || module.starts_with(b"/") {
            let path = self.report.literal(module);
            self.report.executes(&path);
            self.made(&path);
        } else {
            self.report.project();
            let package = values::concat(self.report.arena, &[b"node_modules/", module]);
            let path = self.report.literal(package);
            self.made(&path);
        }
        match self.token(at + 4) {
            Token::Sign(b'(' | b'.') => self.foreign(at + 3),
            _ => Some(at + 4),
        }
    }

    /// What is loaded under a name is code that nobody has read if this command has made it.
    fn made(&mut self, path: &Value<'a>) {
        if let Some(made) = made_module(self.report.session, path) {
            // The text of this program says nothing about that.
            self.report.unseen_code("javascript", made.origins | Origins::UNKNOWN);
        }
    }

    /// Whether `require` here is the whole value of a declaration that was understood.
    fn is_held(&self, at: usize) -> bool {
        if self.before(at) != Token::Sign(b'=') {
            return false;
        }
        match at.checked_sub(2).map(|at| self.token(at)) {
            Some(Token::Name(name)) => {
                self.names.modules.contains_key(name) || self.names.members.contains_key(name)
            }
            Some(Token::Sign(b'}')) => {
                let open = at.checked_sub(2).and_then(|close| self.pair(close)).unwrap_or(at);
                let names = (open + 1..at.saturating_sub(2)).map(|at| self.token(at));
                let mut all = true;
                let mut any = false;
                for (index, token) in names.enumerate() {
                    if let Token::Name(name) = token {
                        let renamed = self.token(open + 2 + index) == Token::Sign(b':');
                        all &= renamed || self.names.members.contains_key(name);
                        any = true;
                    } else {
                        all &= matches!(token, Token::Sign(b',' | b':'));
                    }
                }
                all && any
            }
            _ => false,
        }
    }

    /// A module is named; `at` is the last token before its member.
    pub(super) fn module(&mut self, at: usize, module: &'a [u8]) -> Option<usize> {
        if self.token(at + 1) == Token::Sign(b'=') && self.before(at) != Token::Sign(b'.') {
            // Its declaration.
            return Some(at + 1);
        }
        let (name, end) = match (self.token(at + 1), self.token(at + 2), self.token(at + 3)) {
            (Token::Sign(b'.'), Token::Name(name), _) => (name, at + 3),
            // The same in brackets.
            (Token::Sign(b'['), Token::Text(Some(name)), Token::Sign(b']')) => (name, at + 4),
            _ => return None,
        };
        if name == b"promises" && module.ends_with(b"fs") {
            return self.module(end - 1, b"fs/promises");
        }
        self.member(end, module, name)
    }

    /// A member of a module is used; `at` is what follows it.
    pub(super) fn member(&mut self, at: usize, module: &'a [u8], name: &'a [u8]) -> Option<usize> {
        let act = words::member(module, name);
        match (self.token(at), act) {
            // Its declaration, or its place in a pattern.
            (Token::Sign(b'='), _) if self.names.members.contains_key(name_before(self, at)) => Some(at),
            (Token::Sign(b',' | b'}'), _) if self.is_taken_apart(at) => Some(at),
            (Token::Sign(b'('), Some(Act::Computes)) => Some(at),
            (Token::Sign(b'('), Some(act)) => self.perform(at, act),
            (_, Some(Act::Computes)) => Some(at),
            _ => None,
        }
    }

    /// Something that a module of the project gave: what it does is the project's.
    pub(super) fn foreign(&mut self, at: usize) -> Option<usize> {
        let mut at = at + 1;
        loop {
            match (self.token(at), self.token(at + 1)) {
                (Token::Sign(b'.'), Token::Name(name))
                    if !words::leads_out(name) || words::is_accessor(name) =>
                {
                    at += 2
                }
                (Token::Sign(b'('), _) => {
                    for (from, end) in self.arguments(at)? {
                        if let Some(value) = self.known(from, end) {
                            self.report.mention(&value, true);
                        }
                    }
                    return Some(at);
                }
                (Token::Sign(b'[') | Token::Template, _) => return None,
                _ => return Some(at),
            }
        }
    }

    /// `process.env`
    pub(super) fn environment(&mut self, at: usize) -> Option<usize> {
        let (name, end) = match (self.token(at), self.token(at + 1), self.token(at + 2)) {
            (Token::Sign(b'.' | b'Q'), Token::Name(name), _) => (Some(name), at + 2),
            (Token::Sign(b'['), Token::Text(Some(name)), Token::Sign(b']')) => (Some(name), at + 3),
            _ => (None, at),
        };
        match (name, self.token(end)) {
            // What is set is for programs that are started later.
            (_, Token::Sign(b'=' | b'I' | b'O' | b'(')) => return None,
            (Some(name), _) => self.report.reads_variable(Some(name)),
            (None, Token::Sign(b'[')) => return None,
            (None, _) => self.report.environment(),
        }
        Some(end)
    }

    /// `process.stdout.write(…)`, `process.stdin.on('data', …)`
    pub(super) fn standard_stream(&mut self, at: usize, stream: &[u8]) -> Option<usize> {
        let (Token::Sign(b'.'), Token::Name(name)) = (self.token(at), self.token(at + 1)) else {
            return if stream == b"stdin" { self.reads_stdin(at) } else { None };
        };
        let known: &[&[u8]] = match stream {
            b"stdin" => &[b"on", b"once", b"resume", b"setEncoding", b"read", b"fd", b"isTTY"],
            _ => &[b"write", b"isTTY", b"columns", b"rows", b"fd"],
        };
        if !known.contains(&name) {
            return None;
        }
        if stream == b"stdin" {
            self.report.reads_stdin = true;
        }
        Some(at + 2)
    }

    fn reads_stdin(&mut self, at: usize) -> Option<usize> {
        self.report.reads_stdin = true;
        // `for await (const chunk of process.stdin)`
        (self.token(at) == Token::Sign(b')')).then_some(at)
    }

    /// The text of an argument as far as it is known.
    fn known(&self, from: usize, end: usize) -> Option<Value<'a>> {
        let text = |token: &Token<'a>| match token {
            Token::Text(text) => *text,
            Token::Name(name) => self.names.texts.get(name).copied(),
            _ => None,
        };
        match self.tokens.get(from..end)? {
            [one] => text(one).map(|text| self.report.literal(text)),
            [Token::Name(b"__dirname"), Token::Sign(b'+'), two] => {
                let path = values::concat(self.report.arena, &[b".", text(two)?]);
                Some(self.report.literal(path))
            }
            [one, Token::Sign(b'+'), ..] => {
                let start = self.report.literal(text(one)?);
                Some(self.report.joined(&[start, Value::unknown(Origins::UNKNOWN)]))
            }
            _ => None,
        }
    }

    /// A call that acts; stands at the parenthesis. Gives where to go on: what the arguments hold is read as well.
    pub(super) fn perform(&mut self, open: usize, act: Act) -> Option<usize> {
        self.acts += 1;
        if self.acts > super::MAX_ACTS {
            return None;
        }
        let arguments = self.arguments(open)?;
        let unknown = Value::unknown(Origins::UNKNOWN);
        let value = |reader: &Self, n: usize| {
            arguments.get(n).map(|(from, end)| reader.known(*from, *end).unwrap_or(unknown))
        };
        let first = value(self, 0).unwrap_or(unknown);
        let mentions = |reader: &Self, names: &[&[u8]]| {
            let inner = reader.tokens.get(open..reader.pair(open).unwrap_or(open)).unwrap_or_default();
            let written = |token: &Token<'a>| match token {
                Token::Name(name) | Token::Text(Some(name)) => names.contains(name),
                Token::Text(None) | Token::Sign(b'[') => true,
                _ => false,
            };
            // A name, or a key that is a text or computed.
            inner.iter().any(|token| matches!(token, Token::Name(name) if names.contains(name)))
                || inner.windows(2).any(|two| matches!(two, [key, Token::Sign(b':')] if written(key)))
                || inner.windows(2).any(|two| matches!(two, [Token::Sign(b'{'), Token::Sign(b'[')]))
        };
        match act {
            Act::Computes => {}
            Act::Read => match arguments.first() {
                // A descriptor.
                Some((from, end)) if end - from == 1 && self.token(*from) == Token::Number => {
                    self.report.reads_stdin = true;
                }
                _ => self.report.reads(Some(&first), false),
            },
            Act::List => self.report.lists(Some(&first), mentions(self, &[b"recursive"])),
            // A mode or flag that says otherwise is not looked at: writing anew is the worst of them.
            Act::Write => self.report.writes(Some(&first), WriteMode::Replace),
            Act::Append => self.report.writes(Some(&first), WriteMode::Append),
            Act::Create => self.report.writes(Some(&first), WriteMode::Create),
            Act::Delete => self.report.deletes(Some(&first), false),
            Act::DeleteTree => {
                let plain = arguments.len() == 1;
                self.report.deletes(Some(&first), !plain);
            }
            Act::Copy | Act::Rename => {
                self.report.reads(Some(&first), act == Act::Copy && arguments.len() > 2);
                let second = value(self, 1).unwrap_or(unknown);
                self.report.writes(Some(&second), WriteMode::Replace);
                self.report.carries(Some(&first), Some(&second));
                if act == Act::Rename {
                    self.report.takes_away(Some(&first), Some(&second));
                }
            }
            Act::Shell => {
                if mentions(self, &[b"cwd", b"env", b"shell", b"input"]) || self.is_obscure(&arguments, 1) {
                    self.report.unseen_code("shell", Origins::UNKNOWN);
                }
                self.report.shell(Some(&first), None, None);
            }
            Act::Start => self.start(
                &arguments,
                first,
                mentions(self, &[b"cwd", b"env", b"shell", b"input", b"argv0"])
                    || self.is_obscure(&arguments, if self.is_list(&arguments, 1) { 2 } else { 1 }),
            )?,
            Act::Connect => {
                let sends =
                    mentions(self, &[b"body", b"method", b"headers"]) || self.is_obscure(&arguments, 1);
                let url = first.known_prefix();
                let whole = super::super::report::is_url(url).then_some(&first);
                self.report.connects_to(whole, if sends { Sends::All } else { Sends::Nothing });
            }
        }
        Some(open)
    }

    /// Whether options are given that are not spelt out: what follows is neither a function nor a whole object whose keys
    /// all stand there.
    fn is_obscure(&self, arguments: &[(usize, usize)], from: usize) -> bool {
        arguments
            .iter()
            .skip(from)
            .any(|(at, end)| !self.is_function(*at) && !self.is_plain_object(*at, *end))
    }

    /// Whether an argument is `{key: …, 'key': …}` and nothing more.
    fn is_plain_object(&self, at: usize, end: usize) -> bool {
        let whole = self.token(at) == Token::Sign(b'{') && self.pair(at) == end.checked_sub(1);
        whole
            && self.arguments(at).is_some_and(|entries| {
                entries.iter().all(|(from, end)| {
                    matches!(self.token(*from), Token::Name(_) | Token::Text(Some(_)))
                        && (from + 1 == *end || self.token(from + 1) == Token::Sign(b':'))
                })
            })
    }

    fn is_list(&self, arguments: &[(usize, usize)], at: usize) -> bool {
        arguments.get(at).is_some_and(|(from, end)| {
            self.token(*from) == Token::Sign(b'[') && self.pair(*from) == end.checked_sub(1)
        })
    }

    /// `spawnSync('program', ['argument', …])`
    fn start(&mut self, arguments: &[(usize, usize)], program: Value<'a>, options: bool) -> Option<()> {
        let mut argv = vec![Some(program)];
        let mut more = options;
        if let Some((from, end)) = arguments.get(1)
            && self.token(*from) == Token::Sign(b'[')
            && self.pair(*from) == Some(end - 1)
        {
            for (from, end) in self.arguments(*from)? {
                argv.push(self.known(from, end));
                more |= self.token(from) == super::lexer::SPREAD;
            }
        } else if arguments.len() > 1 && self.token(arguments.get(1)?.0) != Token::Sign(b'{') {
            more = true;
        }
        if options {
            self.report.unseen_code("shell", Origins::UNKNOWN);
        }
        self.report.starts(&argv, more, None, None);
        Some(())
    }
}

/// Most names and signs of a pattern that takes a module apart.
const MAX_PARTS: usize = 64;

impl Reader<'_, '_, '_> {
    /// Whether what stands here is part of a pattern that takes a module apart.
    fn is_taken_apart(&self, at: usize) -> bool {
        let mut open = at;
        for _ in 0..MAX_PARTS {
            let Some(before) = open.checked_sub(1) else { return false };
            open = before;
            match self.token(open) {
                Token::Name(_) | Token::Sign(b',' | b':') => {}
                Token::Sign(b'{') => break,
                _ => return false,
            }
        }
        let close = self.pair(open).unwrap_or(open);
        self.token(close + 1) == Token::Sign(b'=') && self.token(close + 2) == Token::Name(b"require")
    }
}

/// The name whose member is used.
fn name_before<'a>(reader: &Reader<'_, '_, 'a>, at: usize) -> &'a [u8] {
    match reader.before(at) {
        Token::Name(name) => name,
        _ => b"",
    }
}
