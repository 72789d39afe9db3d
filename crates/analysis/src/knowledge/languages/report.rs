//! What a program in another language does, said as effects. All readers of languages share it.

mod directory;
mod found;
mod rehearsal;
mod settled;
mod strings;

use super::super::endpoint;
use super::super::run::anywhere;
use super::super::values;
use crate::effect::{Certainty, EffectKind, Endpoint, Rest, Scope, Target, Unknown, WriteMode};
use crate::session::{Reentry, Session};
use crate::value::{Field, Origins, Piece, Stream, Value, names_credential};
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use rehearsal::{Deed, Rehearsal};
use shward_syntax::{Dialect, Span};
pub(super) use strings::{is_url, looks_like_path};

/// Most effects that one program may have before the rest counts as not understood.
const MAX_EFFECTS: u32 = 2000;

/// Most recorded effects that are looked through for the same.
const MAX_REPEATED: usize = 16;

/// Most different endpoints that are told apart.
const MAX_CONNECTIONS: usize = 64;

/// Collects and records what one program does.
pub(super) struct Report<'s, 'a> {
    pub(super) session: &'s mut dyn Session<'a>,
    pub(super) arena: &'a Bump,
    /// Where the program's text stands.
    pub(super) span: Span,
    /// The program's text.
    pub(super) text: Stream<'a>,
    /// The program's language.
    pub(super) language: &'static str,
    /// What is left of standard input for the program.
    pub(super) stdin: Stream<'a>,
    /// Nothing is recorded: a pass that only learns names.
    rehearsal: Option<Rehearsal<'a>>,
    /// What was noted by the last rehearsal, if it was not carried out.
    rehearsed: Vec<Deed<'a>>,
    /// Origins of everything that was read.
    pub(super) read: Origins,
    /// Files were read whose names were found, or are not known.
    reads_found: bool,
    /// The standard input is read.
    pub(super) reads_stdin: bool,
    /// A child gets a connection as its standard input.
    pub(super) redirected: bool,
    /// The working directory, once the program has changed it.
    directory: Option<Value<'a>>,
    /// What happens now may happen in any directory.
    wanders: bool,
    connections: Vec<(Endpoint<'a>, Sends)>,
    codes: Vec<(&'static str, Origins)>,
    /// What is certainly printed, if all of it is known.
    pub(super) printed: Option<Vec<u8>>,
    /// Effects recorded.
    count: u32,
}

impl std::fmt::Debug for Report<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Report").field("language", &self.language).finish_non_exhaustive()
    }
}

impl<'s, 'a> Report<'s, 'a> {
    pub(super) fn new(
        session: &'s mut dyn Session<'a>,
        language: &'static str,
        text: Stream<'a>,
        stdin: Stream<'a>,
        span: Span,
    ) -> Self {
        let arena = session.arena();
        Self {
            session,
            arena,
            span,
            text,
            language,
            stdin,
            rehearsal: None,
            rehearsed: Vec::new(),
            read: Origins::NONE,
            reads_found: false,
            reads_stdin: false,
            redirected: false,
            directory: None,
            wanders: false,
            connections: Vec::new(),
            codes: Vec::new(),
            printed: Some(Vec::new()),
            count: 0,
        }
    }

    /// Known text with the origins of the program.
    pub(super) fn literal(&self, text: &'a [u8]) -> Value<'a> {
        Value::text(text, self.text.origins)
    }

    /// Values one after the other.
    pub(super) fn joined(&self, parts: &[Value<'a>]) -> Value<'a> {
        values::joined(self.arena, parts)
    }

    fn emit(&mut self, kind: EffectKind<'a>, certain: bool) {
        if self.rehearses(|| Deed::Emit(kind, certain)) {
            return;
        }
        self.count += 1;
        if self.count > MAX_EFFECTS {
            if self.count == MAX_EFFECTS + 1 {
                self.code(self.language, Origins::NONE);
            }
            return;
        }
        let certainty = if certain { Certainty::Certain } else { Certainty::Possible };
        self.session.emit(kind, self.span, certainty);
    }

    /// An effect that has no parts.
    pub(super) fn does(&mut self, kind: EffectKind<'a>) {
        self.emit(kind, true);
    }

    /// An effect that has no parts, recorded once however often it happens.
    pub(super) fn once(&mut self, kind: EffectKind<'a>) {
        if self.rehearses(|| Deed::Once(kind)) {
            return;
        }
        let (span, known) = (self.span, self.session.effects());
        if !known.iter().rev().take(MAX_REPEATED).any(|effect| effect.span == span && effect.kind == kind) {
            self.emit(kind, true);
        }
    }

    /// What is known of a file's content.
    pub(super) fn file_text(&mut self, path: &Value<'a>) -> Stream<'a> {
        let path = self.resolved(path);
        self.session.file_text(&path)
    }

    pub(super) fn target(&mut self, path: &Value<'a>, tree: bool) -> Target<'a> {
        let mut target = self.session.target(&self.resolved(path));
        target.tree |= tree;
        target
    }

    /// A file is read. `None`: not known which.
    pub(super) fn reads(&mut self, path: Option<&Value<'a>>, tree: bool) {
        match path {
            Some(path) if path.known() == Some(b"/dev/stdin") => self.reads_stdin = true,
            Some(path) => {
                if self.rehearses(|| Deed::Read(*path, tree)) {
                    return;
                }
                self.hidden(path);
                self.takes_in(path);
                let target = self.target(path, tree);
                self.read = self.read | self.session.read_origins(&target);
                let text = self.session.file_text(&self.resolved(path));
                self.read = self.read | text.origins.without(Origins::TERMINAL | Origins::LITERAL);
                self.emit(EffectKind::Read { target }, path.known().is_some());
            }
            None => {
                self.takes_in_found();
                self.read = self.read | Origins::FILE;
                self.emit(EffectKind::Read { target: anywhere(Scope::Unknown) }, false);
            }
        }
    }

    /// A path or command that was decoded: whoever wrote it so did not want it to be read.
    fn hidden(&mut self, value: &Value<'a>) {
        if value.known().is_none() && value.origins.intersects(Origins::DECODED) {
            self.code(self.language, Origins::DECODED);
        }
    }

    /// A directory or metadata is looked at.
    pub(super) fn lists(&mut self, path: Option<&Value<'a>>, tree: bool) {
        let Some(path) = path else { return };
        if self.rehearses(|| Deed::List(*path, tree)) {
            return;
        }
        let target = self.target(path, tree);
        self.read = self.read | Origins::FILE;
        self.emit(EffectKind::List { target }, path.known().is_some());
    }

    /// What files get that the program writes.
    fn content(&self) -> Origins {
        let read = if self.reads_stdin { self.read | self.stdin.origins } else { self.read };
        read | self.text.origins
    }

    /// A file is written.
    pub(super) fn writes(&mut self, path: Option<&Value<'a>>, mode: WriteMode) {
        if self.rehearses(|| Deed::Write(path.copied(), mode)) {
            return;
        }
        let content = self.content();
        let target = match path {
            Some(path) => {
                self.hidden(path);
                self.target(path, false)
            }
            None => anywhere(Scope::Unknown),
        };
        // Nothing of what was in any of these files is in what they get.
        let lost = mode == WriteMode::Replace
            && !self.reads_found
            && path.is_some_and(|path| path.names_what_is_there());
        let kind = EffectKind::Write { target, mode: if lost { WriteMode::Truncate } else { mode }, content };
        self.emit(kind, path.is_some_and(|p| p.known().is_some()));
        if path.is_some() {
            self.session.wrote(
                target,
                mode,
                Stream { text: None, origins: content, source: Some(self.span) },
            );
        }
    }

    /// A link is made. What goes through it afterwards goes where it leads.
    pub(super) fn links(&mut self, link: Option<&Value<'a>>, aim: Option<&Value<'a>>) {
        if self.rehearses(|| Deed::Link(link.copied(), aim.copied())) {
            return;
        }
        let Some(link) = link else { return };
        let aim = aim.copied().unwrap_or(Value::unknown(Origins::UNKNOWN));
        self.linked(&aim, link);
        let link = self.resolved(link);
        self.session.linked(&link, &aim);
    }

    /// What is known of a file, or of everything in a directory, is true of where it is copied or renamed to. Told after
    /// the place was written, and before what was there is gone.
    pub(super) fn carries(&mut self, from: Option<&Value<'a>>, to: Option<&Value<'a>>) {
        let (Some(from), Some(to)) = (from, to) else { return };
        if self.rehearses(|| Deed::Carry(*from, *to)) {
            return;
        }
        self.settles(from, to);
        let from = self.target(from, false);
        let to = self.target(to, false);
        self.session.carried(&from, &to);
    }

    /// Something is removed.
    pub(super) fn deletes(&mut self, path: Option<&Value<'a>>, tree: bool) {
        if self.rehearses(|| Deed::Delete(path.copied(), tree)) {
            return;
        }
        let target = match path {
            Some(path) => {
                self.hidden(path);
                // All of what the program has just made is its own.
                self.target(path, tree && !path.is_made())
            }
            None => Target { tree, ..anywhere(Scope::Unknown) },
        };
        self.emit(EffectKind::Delete { target, kept: false }, path.is_some_and(|p| p.known().is_some()));
    }

    /// Metadata changes.
    pub(super) fn metadata(&mut self, path: Option<&Value<'a>>, what: &'static str) {
        if self.rehearses(|| Deed::Metadata(path.copied(), what)) {
            return;
        }
        let target = match path {
            Some(path) => self.target(path, false),
            None => anywhere(Scope::Unknown),
        };
        self.emit(EffectKind::Metadata { target, what }, path.is_some_and(|p| p.known().is_some()));
        self.session.lock_reading();
    }

    /// A file that can execute code is loaded or run.
    pub(super) fn executes(&mut self, path: &Value<'a>) {
        if self.rehearses(|| Deed::Execute(*path)) {
            return;
        }
        let target = self.target(path, false);
        self.emit(EffectKind::Execute { target, origin: path.origins }, path.known().is_some());
    }

    /// The whole environment is read.
    pub(super) fn environment(&mut self) {
        self.read = self.read | Origins::ALL_VARIABLES;
        self.emit(EffectKind::Read { target: anywhere(Scope::Environment) }, true);
    }

    /// A variable of the environment is read. One that may be a secret counts as all of it. `None`: not known which.
    pub(super) fn reads_variable(&mut self, name: Option<&[u8]>) {
        self.read = self.read | Origins::ENVIRONMENT;
        if name.is_none_or(names_credential) {
            self.environment();
        }
    }

    /// Code of the project runs.
    pub(super) fn project(&mut self) {
        self.printed = None;
        self.code("project", Origins::NONE);
    }

    /// The program, or something that it makes, is code that was not understood.
    pub(super) fn code(&mut self, language: &'static str, origin: Origins) {
        if self.rehearses(|| Deed::Code(language, origin)) {
            return;
        }
        match self.codes.iter_mut().find(|(known, _)| *known == language) {
            Some((_, origins)) => *origins = *origins | origin,
            None => self.codes.push((language, origin)),
        }
    }

    /// Text is executed that the program gets from somewhere: what that may be, all that it takes in tells.
    pub(super) fn unseen_code(&mut self, language: &'static str, origin: Origins) {
        if self.rehearses(|| Deed::UnseenCode(language, origin)) {
            return;
        }
        let incoming = Origins::NETWORK | Origins::DECODED | Origins::SECRET | Origins::WRITTEN;
        let read = if self.reads_stdin { self.read | self.stdin.origins } else { self.read };
        let taken = incoming.names().filter_map(Origins::from_name).filter(|o| read.intersects(*o));
        let taken = taken.fold(Origins::NONE, Origins::union);
        self.code(language, origin | taken);
    }

    /// Something in the program is made not to be understood.
    pub(super) fn not_understood(&mut self, what: &'static str) {
        self.emit(EffectKind::Unknown { reason: Unknown::Construct(what) }, false);
    }

    /// A connection is made, perhaps with data of the program's.
    pub(super) fn connects(&mut self, endpoint: Endpoint<'a>, sends: Sends) {
        if !endpoint.loopback {
            self.read = self.read | Origins::NETWORK;
        }
        if self.rehearses(|| Deed::Connect(endpoint, sends)) {
            return;
        }
        if let Some((_, known)) = self.connections.iter_mut().find(|(known, _)| *known == endpoint) {
            *known = sends.max(*known);
        } else if self.connections.len() < MAX_CONNECTIONS {
            self.connections.push((endpoint, sends));
        } else if let Some(last) = self.connections.last_mut() {
            *last = (Endpoint::UNKNOWN, Sends::All);
        }
    }

    /// A connection to the place that a URL or `host:port` names.
    pub(super) fn connects_to(&mut self, url: Option<&Value<'a>>, sends: Sends) {
        let endpoint = url.map_or(Endpoint::UNKNOWN, endpoint::of);
        if endpoint.scheme == b"file" {
            let path = url.map(|url| values::after(self.arena, url, b"file://".len()));
            return self.reads(path.as_ref(), false);
        }
        if endpoint.scheme == b"data" {
            return;
        }
        let carried = match url.filter(|url| url.has_unknown()) {
            Some(url) if url.origins.intersects(Origins::CREDENTIAL | Origins::UNKNOWN) => Sends::All,
            Some(_) => Sends::Identified,
            None => Sends::Nothing,
        };
        self.connects(endpoint, sends.max(carried));
    }

    /// A connection to a host and port.
    pub(super) fn connects_host(&mut self, host: Option<&'a [u8]>, port: Option<u32>, scheme: &'static str) {
        let port = port.and_then(|p| u16::try_from(p).ok());
        let endpoint = match host {
            Some(b"") => Endpoint { host: None, port, scheme: scheme.as_bytes(), loopback: false },
            host => endpoint::host(host, port, scheme.as_bytes()),
        };
        self.connects(endpoint, Sends::All);
    }

    /// The standard input of a program that this one starts.
    fn inherited(&self) -> Stream<'a> {
        if self.redirected { Stream::unknown(Origins::NETWORK, self.span) } else { self.stdin }
    }

    /// A shell command line is executed. `None`: nothing is known of it.
    pub(super) fn shell(
        &mut self,
        line: Option<&Value<'a>>,
        stdin: Option<Stream<'a>>,
        directory: Option<Value<'a>>,
    ) {
        self.printed = None;
        if self.rehearses(|| Deed::Shell(line.copied(), stdin, directory)) {
            return;
        }
        self.reads_found = true;
        let Some(line) = line else { return self.unseen_code("shell", Origins::UNKNOWN) };
        match line.known() {
            Some(text) => {
                let stdin = stdin.unwrap_or_else(|| self.inherited());
                let span = self.span;
                self.within(directory, &mut |session| {
                    session.run_text(text, Dialect::Posix, &[], stdin, Reentry::New, span)
                });
            }
            None => self.unseen_code("shell", line.origins),
        }
    }

    /// A program is started with these arguments; `more`: and others that are not known.
    pub(super) fn starts(
        &mut self,
        arguments: &[Option<Value<'a>>],
        more: bool,
        stdin: Option<Stream<'a>>,
        directory: Option<Value<'a>>,
    ) {
        self.printed = None;
        let arena = self.arena;
        if self.rehearses(|| Deed::Start(arena.alloc_slice_copy(arguments), more, stdin, directory)) {
            return;
        }
        self.reads_found = true;
        let span = self.span;
        let program = arguments.first().copied().flatten();
        if program.is_none_or(|value| value.known().is_none()) {
            return self.unseen_code("shell", program.map_or(Origins::UNKNOWN, |value| value.origins));
        }
        let mut argv = BumpVec::with_capacity_in(arguments.len() + 1, self.arena);
        for argument in arguments {
            let value = argument.unwrap_or(Value::unknown(Origins::UNKNOWN));
            argv.push(Field { value, span, many: false });
        }
        if more {
            argv.push(Field { value: Value::unknown(Origins::UNKNOWN), span, many: true });
        }
        let stdin = stdin.unwrap_or_else(|| self.inherited());
        let argv = argv.into_bump_slice();
        self.within(directory, &mut |session| session.run_argv(argv, stdin, Reentry::New, span));
    }

    /// Starts something in the directory that it is started in; what it prints may be read.
    fn within(
        &mut self,
        directory: Option<Value<'a>>,
        start: &mut dyn FnMut(&mut dyn Session<'a>) -> Stream<'a>,
    ) {
        let directory = directory.map(|directory| self.resolved(&directory)).or(self.directory());
        let mut output = Stream::EMPTY;
        match directory {
            Some(directory) => {
                self.session.in_directory(&directory, &mut |session| {
                    session.perhaps(&mut |session| output = start(session));
                });
            }
            None => self.session.perhaps(&mut |session| output = start(session)),
        }
        self.read = self.read | output.origins.without(Origins::LITERAL | Origins::TERMINAL);
    }

    /// A variable of the environment gets a value, for what is started later.
    pub(super) fn sets_variable(&mut self, name: &'a [u8], value: Value<'a>) {
        if !self.rehearses(|| Deed::SetVariable(name, value)) {
            let field = Field { value, span: self.span, many: false };
            self.session.with_variable(name, &field, &mut |_| {});
        }
    }

    /// Modules or libraries may be loaded from below a directory.
    pub(super) fn loads_below(&mut self, directory: &Value<'a>) {
        if self.rehearses(|| Deed::LoadBelow(*directory)) {
            return;
        }
        let target = self.target(directory, false);
        let own = matches!(target.scope, Scope::Workspace | Scope::Product);
        let installed = target.scope == Scope::System && target.rest == Rest::Exact;
        if !own && !installed {
            self.emit(EffectKind::Execute { target, origin: directory.origins }, false);
        }
    }

    /// An address is listened at.
    pub(super) fn listens(&mut self, host: Option<&'a [u8]>, port: Option<u32>) {
        let port = port.and_then(|p| u16::try_from(p).ok());
        let host = host.filter(|h| !h.is_empty());
        let loopback = host.is_some_and(|h| endpoint::is_loopback(h) && !endpoint::is_unspecified(h));
        self.read = self.read | Origins::NETWORK;
        self.does(EffectKind::Listen { endpoint: Endpoint { host, port, scheme: b"tcp", loopback } });
    }

    /// A string that something not understood gets: if it names a place, that may be read, and written too.
    pub(super) fn mention(&mut self, value: &Value<'a>, foreign: bool) {
        self.takes_in(value);
        let text = value.known_prefix();
        if is_url(text) {
            if foreign && !self.rehearses(|| Deed::Mention(*value, foreign)) {
                self.connects_to(Some(value), Sends::All);
            }
            return;
        }
        if !looks_like_path(text) || self.rehearses(|| Deed::Mention(*value, foreign)) {
            return;
        }
        let expanded = match text {
            [b'~', b'/', ..] => {
                let home = Value::text(self.session.home(), value.origins);
                values::joined(self.arena, &[home, values::after(self.arena, value, 1)])
            }
            _ => *value,
        };
        let target = self.target(&expanded, false);
        let sensitive = matches!(
            target.scope,
            Scope::Secret | Scope::Own | Scope::Environment | Scope::Device | Scope::Persistence
        ) || target.covers.guarded;
        if sensitive || (foreign && target.scope != Scope::Unknown) {
            self.read = self.read | self.session.read_origins(&target);
            self.emit(EffectKind::Read { target }, false);
        }
        let outside =
            !matches!(target.scope, Scope::Harmless | Scope::Product | Scope::Workspace | Scope::Temp);
        if foreign && outside && target.scope != Scope::Unknown {
            let content = self.content();
            self.emit(EffectKind::Write { target, mode: WriteMode::Modify, content }, false);
        }
    }

    /// Whether what is printed is still of interest: all of it is known so far.
    pub(super) const fn may_print(&self) -> bool {
        self.printed.is_some()
    }

    /// Something certainly prints this.
    pub(super) fn prints(&mut self, text: Option<&'a [u8]>) {
        if !self.may_print() || self.rehearses(|| Deed::Print(text)) {
            return;
        }
        match (self.printed.as_mut(), text) {
            (Some(printed), Some(text)) if printed.len() + text.len() < 1 << 16 => {
                printed.extend_from_slice(text)
            }
            _ => self.printed = None,
        }
    }

    /// Records what had to wait for the end, and gives what the program writes to standard output.
    pub(super) fn finish(mut self) -> Stream<'a> {
        let mut read = self.read;
        let mut source = self.span;
        if self.reads_stdin {
            read = read | self.stdin.origins;
            source = self.stdin.source.unwrap_or(source);
        }
        let sent = read.without(Origins::LITERAL | Origins::NETWORK);
        for (endpoint, sends) in std::mem::take(&mut self.connections) {
            let sends = match sends {
                Sends::Nothing => Origins::NONE,
                Sends::Identified => sent.without(Origins::CREDENTIAL),
                Sends::All => sent,
            };
            self.emit(EffectKind::Connect { endpoint, sends, source: Some(source) }, true);
        }
        let understood = self.codes.is_empty();
        for (language, origin) in std::mem::take(&mut self.codes) {
            let text =
                (language == self.language || language == "project").then_some(self.text.text).flatten();
            let origin = if language == "project" { self.text.origins } else { origin | self.text.origins };
            let kind = EffectKind::Code { language, text, origin, source: self.text.source };
            self.session.emit(kind, self.span, Certainty::Certain);
        }
        if let Some(printed) = self.printed.take().filter(|_| understood && !self.reads_stdin) {
            let text = self.arena.alloc_slice_copy(&printed);
            return Stream { text: Some(text), origins: read | self.text.origins, source: Some(source) };
        }
        Stream { text: None, origins: read | self.text.origins, source: Some(source) }
    }
}

/// What of that which a program has read goes over a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sends {
    /// Nothing.
    Nothing,
    /// Anything; but a credential, if there is one, only where a credential belongs.
    Identified,
    /// Anything.
    All,
}

/// A pattern piece: any one name.
pub(super) const ANY_NAME: Piece<'static> = Piece::Glob(b"*");
