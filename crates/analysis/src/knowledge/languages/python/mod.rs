//! Python program text that is certain to do no harm.
//!
//! Not an interpreter but a proof by closed world: a program whose modules are known, which never names what could run
//! text or give access by name, can only hold values of known types, and the methods of those that touch anything are
//! listed. What it reads and writes by literal names becomes effects. Code that imports the project's own modules is
//! `project` code. Everything else is not understood.

mod modules;
mod tokens;

use crate::effect::{Certainty, EffectKind, Endpoint, Scope, WriteMode};
use crate::knowledge::run::{Run, anywhere};
use crate::knowledge::values;
use crate::value::{Origins, Stream, Value};
use shward_syntax::Span;
use std::collections::BTreeMap;
use tokens::Token;

/// The longest program that is read.
const MAX_TEXT: usize = 64 << 10;

/// What a program does.
#[derive(Debug, Default, PartialEq, Eq)]
struct Reading<'t> {
    /// Files that are read, or `None` for a name that is computed.
    reads: Vec<Option<&'t [u8]>>,
    lists: Vec<Option<&'t [u8]>>,
    writes: Vec<(&'t [u8], Mode)>,
    /// Modules of the standard library that are imported: a file of that name in the working directory comes first.
    imports: Vec<&'t [u8]>,
    creates: Vec<&'t [u8]>,
    deletes: Vec<&'t [u8]>,
    /// Directories that modules are looked for in.
    search: Vec<&'t [u8]>,
    /// The whole environment, or a variable that may be a secret, is read.
    environment: bool,
    /// Some other variable is read.
    variable: bool,
    stdin: bool,
    network: bool,
    temporary: bool,
    /// It runs code of the project, or of packages that it installed.
    project: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Replace,
    Append,
    Modify,
}

/// Whether a module is not the project's own or a package that it installed.
pub(super) fn is_standard(name: &[u8]) -> bool {
    modules::is_powerful(name)
}

/// Records the effects of a program that is understood; `None` if it is not.
pub(super) fn run<'a>(
    run: &mut Run<'_, 'a>,
    text: &'a [u8],
    from: Stream<'a>,
    span: Span,
) -> Option<Stream<'a>> {
    if text.len() > MAX_TEXT {
        return None;
    }
    let tokens = tokens::tokens(text)?;
    let reading =
        Reader { tokens: &tokens, at: 0, names: BTreeMap::new(), found: Reading::default() }.read()?;
    for module in &reading.imports {
        // Python looks into the working directory first.
        let name = values::field(
            run.arena(),
            values::concat(run.arena(), &[module, b".py"]),
            Origins::LITERAL,
            span,
        );
        let file = run.session.file_text(&name.value);
        if file.text.is_some() || file.origins.intersects(super::NOT_OF_THE_PROJECT) {
            return None;
        }
    }
    for directory in &reading.search {
        let directory = Value::text(run.arena(), directory, from.origins);
        let target = run.target(&directory, false);
        if !matches!(target.scope, Scope::Workspace | Scope::Product) {
            return None;
        }
    }
    let mut origins = from.origins;
    if reading.variable {
        origins = origins | Origins::ENVIRONMENT;
    }
    if reading.project {
        run.code("project", Some(text), from.origins, span);
    }
    for file in &reading.reads {
        match file {
            Some(name) => {
                let file = values::field(run.arena(), name, from.origins, span);
                origins = origins | run.reads(&file, false);
            }
            None => {
                run.emit(EffectKind::Read { target: anywhere(Scope::Unknown) }, span, Certainty::Possible);
                origins = origins | Origins::UNKNOWN;
            }
        }
    }
    for place in reading.lists.iter().flatten() {
        let place = values::field(run.arena(), place, from.origins, span);
        run.lists(&place, false);
        origins = origins | Origins::FILE;
    }
    if reading.environment {
        run.does(EffectKind::Read { target: anywhere(Scope::Environment) }, span);
        origins = origins | Origins::ENVIRONMENT;
    }
    let mut source = from.source;
    if reading.stdin && from.source != run.call.stdin.source {
        origins = origins | run.call.stdin.origins;
        source = run.call.stdin.source.or(source);
    }
    if reading.network {
        let sends = origins.without(Origins::LITERAL);
        run.does(EffectKind::Connect { endpoint: Endpoint::UNKNOWN, sends, source }, span);
        origins = origins | Origins::NETWORK;
    }
    if reading.project {
        origins = origins | Origins::FILE;
    }
    let content = Stream { text: None, origins, source };
    for name in &reading.creates {
        let directory = values::field(run.arena(), name, from.origins, span);
        run.writes(&directory, WriteMode::Create, content);
    }
    for name in &reading.deletes {
        let file = values::field(run.arena(), name, from.origins, span);
        run.deletes(&file, false);
    }
    if reading.temporary {
        let place = values::field(run.arena(), b"/tmp", Origins::LITERAL, span);
        run.writes(&place, WriteMode::Below, content);
    }
    for (name, mode) in &reading.writes {
        let file = values::field(run.arena(), name, from.origins, span);
        let mode = match mode {
            Mode::Replace => WriteMode::Replace,
            Mode::Append => WriteMode::Append,
            Mode::Modify => WriteMode::Modify,
        };
        run.writes(&file, mode, content);
    }
    Some(Stream { text: None, origins, source: source.or(Some(span)) })
}

/// What a name of the program stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// A harmless module of the standard library.
    Module(&'static str),
    /// A harmless member, which may be used like any value.
    Member(&'static str, &'static str),
    /// Something of the project.
    Project,
}

struct Reader<'k, 't> {
    tokens: &'k [Token<'t>],
    at: usize,
    names: BTreeMap<&'t [u8], Bound>,
    found: Reading<'t>,
}

impl<'t> Reader<'_, 't> {
    fn peek(&self, ahead: usize) -> Option<Token<'t>> {
        self.tokens.get(self.at + ahead).copied()
    }

    fn before(&self, back: usize) -> Option<Token<'t>> {
        self.tokens.get(self.at.checked_sub(back)?).copied()
    }

    fn read(mut self) -> Option<Reading<'t>> {
        while let Some(token) = self.peek(0) {
            match token {
                Token::Name(b"import") if self.starts_statement() => self.import()?,
                Token::Name(b"from") if self.starts_statement() => self.from_import()?,
                Token::Name(name) => {
                    if self.before(1) == Some(Token::Op(b'.')) {
                        self.attribute(name)?;
                    } else {
                        self.name(name)?;
                    }
                    self.at += 1;
                }
                _ => self.at += 1,
            }
        }
        Some(self.found)
    }

    fn starts_statement(&self) -> bool {
        matches!(self.before(1), None | Some(Token::Newline | Token::Op(b';' | b':')))
    }

    /// `a.b.c` from here; leaves the position after it.
    fn dotted(&mut self) -> Option<Vec<&'t [u8]>> {
        let mut parts = Vec::new();
        loop {
            let Token::Name(part) = self.peek(0)? else { return None };
            parts.push(part);
            self.at += 1;
            if self.peek(0) != Some(Token::Op(b'.')) {
                return Some(parts);
            }
            self.at += 1;
        }
    }

    fn import(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            let parts = self.dotted()?;
            let full = parts.join(&b'.');
            let alias = if self.peek(0) == Some(Token::Name(b"as")) {
                let Token::Name(alias) = self.peek(1)? else { return None };
                self.at += 2;
                Some(alias)
            } else {
                None
            };
            let top = *parts.first()?;
            match modules::harmless(&full) {
                Some(module) => {
                    self.found.imports.push(top);
                    match (alias, parts.len()) {
                        (Some(alias), _) => self.bind(alias, Bound::Module(module.name)),
                        (None, 1) => self.bind(top, Bound::Module(module.name)),
                        // `import os.path` binds `os`; a package whose top is not described is not followed.
                        (None, _) => self.bind(top, Bound::Module(modules::harmless(top)?.name)),
                    }
                }
                None if modules::is_powerful(&full) => return None,
                None => {
                    self.foreign(top);
                    self.bind(alias.unwrap_or(top), Bound::Project);
                }
            }
            if self.peek(0) != Some(Token::Op(b',')) {
                return Some(());
            }
            self.at += 1;
        }
    }

    fn from_import(&mut self) -> Option<()> {
        self.at += 1;
        let mut relative = false;
        while self.peek(0) == Some(Token::Op(b'.')) {
            relative = true;
            self.at += 1;
        }
        let parts = if self.peek(0) == Some(Token::Name(b"import")) { Vec::new() } else { self.dotted()? };
        if self.peek(0) != Some(Token::Name(b"import")) {
            return None;
        }
        self.at += 1;
        let full = parts.join(&b'.');
        let module = if relative { None } else { modules::harmless(&full) };
        match module {
            Some(_) => self.found.imports.extend(parts.first()),
            None if !relative && modules::is_powerful(&full) => return None,
            None => self.foreign(parts.first().copied().unwrap_or_default()),
        }
        let bracket = self.peek(0) == Some(Token::Op(b'('));
        if bracket {
            self.at += 1;
        }
        loop {
            let name = match self.peek(0)? {
                Token::Name(name) => name,
                Token::Op(b'*') if module.is_none() => b"*",
                Token::Op(b')') if bracket => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            };
            self.at += 1;
            let alias = if self.peek(0) == Some(Token::Name(b"as")) {
                let Token::Name(alias) = self.peek(1)? else { return None };
                self.at += 2;
                alias
            } else {
                name
            };
            match module {
                Some(module) if module.has(name) => {
                    let nested = [module.name.as_bytes(), name].join(&b'.');
                    match modules::harmless(&nested) {
                        Some(inner) => self.bind(alias, Bound::Module(inner.name)),
                        None => {
                            let member =
                                module.members.iter().find(|m| m.as_bytes() == name).copied().unwrap_or("*");
                            self.used(module.name, member)?;
                            self.bind(alias, Bound::Member(module.name, member));
                        }
                    }
                }
                Some(_) => return None,
                None => self.bind(alias, Bound::Project),
            }
            match self.peek(0) {
                Some(Token::Op(b',')) => self.at += 1,
                Some(Token::Op(b')')) if bracket => {
                    self.at += 1;
                    return Some(());
                }
                _ if !bracket => return Some(()),
                _ => return None,
            }
        }
    }

    /// A module that does not come with Python.
    fn foreign(&mut self, top: &[u8]) {
        self.found.project = true;
        self.found.network |= modules::NETWORK.contains(&top);
    }

    fn bind(&mut self, name: &'t [u8], bound: Bound) {
        // The worse of two meanings stays: a module must not hide behind a second import of its name.
        match (self.names.get(name), bound) {
            (Some(Bound::Module(_)), Bound::Member(..) | Bound::Project) => {}
            _ => {
                self.names.insert(name, bound);
            }
        }
    }

    /// A name that is not an attribute.
    fn name(&mut self, name: &'t [u8]) -> Option<()> {
        if name.starts_with(b"__") && !modules::PLAIN_DUNDERS.contains(&name) {
            return None;
        }
        match self.names.get(name) {
            Some(Bound::Module(module)) => return self.member(modules::harmless(module.as_bytes())?),
            Some(Bound::Member(module, member)) => {
                let (module, member) = (*module, *member);
                if matches!((module, member), ("pathlib", "Path" | "PosixPath")) {
                    return self.path();
                }
                return self.used(module, member);
            }
            Some(Bound::Project) => return Some(()),
            None => {}
        }
        // An argument's name is no use of the thing.
        let keyword_argument = self.peek(1) == Some(Token::Op(b'=')) && self.peek(2) != Some(Token::Op(b'='));
        if modules::FORBIDDEN.contains(&name) && !(keyword_argument && self.before(1) != Some(Token::Newline))
        {
            return None;
        }
        match name {
            b"open" => self.open(),
            b"getattr" | b"setattr" => self.by_name(),
            _ => Some(()),
        }
    }

    /// `getattr(x, "name")`: the same as the attribute, if the name is literal.
    fn by_name(&mut self) -> Option<()> {
        let arguments = self.arguments()?;
        match arguments.get(1)?.as_slice() {
            [Token::Text(Some(name))] => self.plain_attribute(name, true),
            _ => None,
        }
    }

    /// The module's name stands here; only one of its harmless members may follow.
    fn member(&mut self, module: &'static modules::Module) -> Option<()> {
        let (Some(Token::Op(b'.')), Some(Token::Name(member))) = (self.peek(1), self.peek(2)) else {
            return None;
        };
        if matches!(member, b"__version__" | b"__name__" | b"__doc__" | b"__file__") {
            self.at += 2;
            return Some(());
        }
        if !module.has(member) {
            return None;
        }
        self.at += 2;
        let nested = [module.name.as_bytes(), member].join(&b'.');
        if let Some(inner) = modules::harmless(&nested) {
            return self.member(inner);
        }
        let name = module.members.iter().find(|m| m.as_bytes() == member).copied().unwrap_or("*");
        if (module.name, name) == ("pathlib", "Path") {
            return self.path();
        }
        self.used(module.name, name)
    }

    /// A harmless member is used: what that reads.
    fn used(&mut self, module: &'static str, member: &'static str) -> Option<()> {
        match (module, member) {
            ("os", "environ") => self.environ(),
            ("os", "getenv") => {
                let name = self.first_argument().flatten();
                self.variable(name);
            }
            ("os.path", "expandvars") => self.found.variable = true,
            ("os", "makedirs" | "mkdir") => {
                let name = self.first_argument()??;
                self.found.creates.push(name);
            }
            ("os", "remove" | "unlink") => {
                let name = self.first_argument()??;
                self.found.deletes.push(name);
            }
            ("logging", "basicConfig") => {
                let arguments = self.arguments()?;
                let plain = [&b"level"[..], b"format", b"datefmt", b"force", b"stream"];
                let all = arguments.iter().all(|a| match a.first() {
                    None => true,
                    Some(Token::Name(name)) => plain.contains(name),
                    _ => false,
                });
                if !all {
                    return None;
                }
            }
            ("tempfile", _) => self.found.temporary = true,
            ("sys", "stdin") => self.found.stdin = true,
            ("sys", "path") if self.search_path() => {}
            ("sys", "path") => {
                let shown = self.before(3) == Some(Token::Op(b'('))
                    && matches!(self.before(4), Some(Token::Name(b"print" | b"len" | b"join" | b"pprint")))
                    && self.peek(1) == Some(Token::Op(b')'));
                let iterated =
                    self.before(3) == Some(Token::Name(b"in")) && self.peek(1) != Some(Token::Op(b'.'));
                if !shown && !iterated {
                    return None;
                }
            }
            ("os", "listdir" | "walk" | "scandir" | "stat" | "lstat" | "access")
            | ("os.path", "exists" | "isfile" | "isdir" | "getsize" | "getmtime" | "islink")
            | ("glob", "glob" | "iglob") => {
                let place = self.first_argument();
                self.found.lists.push(place.flatten());
            }
            ("xml.etree.ElementTree", "parse" | "iterparse") => {
                let place = self.first_argument();
                self.found.reads.push(place.flatten());
            }
            _ => {}
        }
        Some(())
    }

    /// `os.environ` stands here: what of it is read.
    fn environ(&mut self) {
        let name = match (self.peek(1), self.peek(2), self.peek(3), self.peek(4)) {
            (Some(Token::Op(b'[')), Some(Token::Text(name)), Some(Token::Op(b']')), next) => {
                if next == Some(Token::Op(b'=')) && self.peek(5) != Some(Token::Op(b'=')) {
                    // Set, not read.
                    return;
                }
                name
            }
            (
                Some(Token::Op(b'.')),
                Some(Token::Name(b"get")),
                Some(Token::Op(b'(')),
                Some(Token::Text(name)),
            ) => name,
            (Some(Token::Op(b'.')), Some(Token::Name(b"setdefault" | b"update" | b"pop")), ..) => return,
            _ => None,
        };
        self.variable(name);
    }

    /// One variable is read, or some that cannot be told.
    fn variable(&mut self, name: Option<&[u8]>) {
        const SECRET: [&[u8]; 7] = [b"KEY", b"TOKEN", b"SECRET", b"PASS", b"CRED", b"AUTH", b"PRIVATE"];
        match name {
            Some(name)
                if !SECRET.iter().any(|s| name.to_ascii_uppercase().windows(s.len()).any(|w| w == *s)) =>
            {
                self.found.variable = true;
            }
            _ => self.found.environment = true,
        }
    }

    /// `sys.path.insert(0, "…")` and `sys.path.append("…")`: the modules there are the project's.
    fn search_path(&mut self) -> bool {
        let (Some(Token::Op(b'.')), Some(Token::Name(method))) = (self.peek(1), self.peek(2)) else {
            return false;
        };
        let directory = match (method, self.peek(3), self.peek(4), self.peek(5), self.peek(6), self.peek(7)) {
            (
                b"insert",
                Some(Token::Op(b'(')),
                Some(Token::Number),
                Some(Token::Op(b',')),
                Some(Token::Text(Some(directory))),
                Some(Token::Op(b')')),
            ) => directory,
            (
                b"append",
                Some(Token::Op(b'(')),
                Some(Token::Text(Some(directory))),
                Some(Token::Op(b')')),
                ..,
            ) => directory,
            _ => return false,
        };
        self.found.search.push(directory);
        self.found.project = true;
        // The method is done with.
        self.at += 2;
        true
    }

    /// The literal first argument of the call that follows; the outer `None` if there is no call with arguments.
    fn first_argument(&self) -> Option<Option<&'t [u8]>> {
        if self.peek(1) != Some(Token::Op(b'(')) {
            return None;
        }
        match (self.peek(2)?, self.peek(3)?) {
            (Token::Op(b')'), _) => None,
            (Token::Text(text), Token::Op(b',' | b')')) => Some(text),
            _ => Some(None),
        }
    }

    /// `open(…)`: a call with a literal mode, and a literal name if it writes.
    fn open(&mut self) -> Option<()> {
        let file = self.first_argument()?;
        let arguments = self.arguments()?;
        let mut mode: &[u8] = b"r";
        for (index, argument) in arguments.iter().enumerate() {
            match argument.as_slice() {
                [Token::Text(Some(text))] if index == 1 => mode = text,
                [Token::Name(b"mode"), Token::Op(b'='), Token::Text(Some(text))] => mode = text,
                [Token::Name(b"encoding" | b"errors" | b"newline" | b"buffering"), Token::Op(b'='), ..] => {}
                [] if index > 0 => {}
                _ if index == 0 => {
                    // `open(**x)`, `open(*x)`, `open(file=x, opener=y)`.
                    if matches!(argument.first(), Some(Token::Op(b'*')))
                        || argument.get(1) == Some(&Token::Op(b'='))
                            && argument.get(2) != Some(&Token::Op(b'='))
                    {
                        return None;
                    }
                }
                _ => return None,
            }
        }
        let kind = match (mode.contains(&b'+'), mode.first()?) {
            (true, b'r') => Mode::Modify,
            (_, b'w' | b'x') => Mode::Replace,
            (_, b'a') => Mode::Append,
            (false, b'r' | b'b' | b't' | b'U') if !mode.iter().any(|b| b"wax".contains(b)) => {
                self.found.reads.push(file);
                return Some(());
            }
            _ => return None,
        };
        self.found.writes.push((file?, kind));
        Some(())
    }

    /// The arguments of the call that follows, as tokens.
    fn arguments(&self) -> Option<Vec<Vec<Token<'t>>>> {
        if self.peek(1) != Some(Token::Op(b'(')) {
            return None;
        }
        let mut arguments = vec![Vec::new()];
        let mut depth = 0usize;
        for token in self.tokens.get(self.at + 2..)? {
            match token {
                Token::Op(b'(' | b'[' | b'{') => depth += 1,
                Token::Op(b')' | b']' | b'}') if depth == 0 => return Some(arguments),
                Token::Op(b')' | b']' | b'}') => depth -= 1,
                Token::Op(b',') if depth == 0 => {
                    arguments.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            arguments.last_mut()?.push(*token);
        }
        None
    }

    /// `Path(…)`: what is read or written of a literal path at once.
    fn path(&mut self) -> Option<()> {
        let Some(literal) = self.first_argument() else { return Some(()) };
        let (Some(Token::Op(b')')), Some(Token::Op(b'.')), Some(Token::Name(method))) =
            (self.peek(3), self.peek(4), self.peek(5))
        else {
            return Some(());
        };
        match (method, literal) {
            (b"read_text" | b"read_bytes", Some(_)) => {
                self.found.reads.push(literal);
                self.at += 5;
            }
            (b"write_text" | b"write_bytes", Some(name)) => {
                self.found.writes.push((name, Mode::Replace));
                self.at += 5;
            }
            _ => {}
        }
        Some(())
    }

    /// An attribute of something that is no module.
    fn attribute(&mut self, name: &'t [u8]) -> Option<()> {
        self.plain_attribute(name, false)
    }

    fn plain_attribute(&mut self, name: &'t [u8], by_name: bool) -> Option<()> {
        if name.starts_with(b"__") && !modules::PLAIN_DUNDERS.contains(&name)
            || modules::NEVER.contains(&name)
        {
            return None;
        }
        if by_name && matches!(name, b"replace" | b"read_text" | b"read_bytes") {
            return None;
        }
        if self.found.project {
            return Some(());
        }
        match name {
            b"read_text" | b"read_bytes" => self.found.reads.push(None),
            // `Path.replace` moves a file; `str.replace` has two arguments.
            b"replace" if self.peek(1) == Some(Token::Op(b'(')) => {
                let arguments = self.arguments()?;
                let spread = arguments.iter().any(|a| a.first() == Some(&Token::Op(b'*')));
                if arguments.len() < 2 || spread {
                    return None;
                }
            }
            b"replace" => return None,
            b"write_text" => return None,
            _ if modules::DANGEROUS_METHODS.contains(&name) => return None,
            _ => {}
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
