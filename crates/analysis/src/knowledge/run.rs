//! One program being interpreted: what readers and the generic engine share.

use super::endpoint;
use super::tables::Program;
use super::values;
use super::words::Fact;
use crate::effect::{Certainty, Covers, EffectKind, Rest, Scope, Target, Unknown, WriteMode};
use crate::place::FRESH;
use crate::session::{Call, Reentry, Session};
use crate::value::{Field, Origins, Piece, Stream, Value};
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use shward_syntax::{Dialect, Span};

/// Most variables that one wrapper may set: each nests a call.
const MAX_VARIABLES: usize = 64;
/// Most working directory changes of one program (`git -C a -C b`).
const MAX_DIRECTORIES: usize = 16;

/// A program and its argument list, on their way to effects.
pub(crate) struct Run<'s, 'a> {
    pub(crate) session: &'s mut dyn Session<'a>,
    pub(crate) call: Call<'a>,
    /// The name under which it is described and was called.
    pub(crate) name: &'static str,
    pub(crate) program: Program,
}

impl<'a> Run<'_, 'a> {
    pub(crate) fn arena(&self) -> &'a Bump {
        self.session.arena()
    }

    /// Whether it is described as a script or module of a language (`LANG:NAME`).
    pub(crate) fn is_script(&self) -> bool {
        self.name.contains(':')
    }

    pub(crate) fn emit(&mut self, kind: EffectKind<'a>, span: Span, certainty: Certainty) {
        if let EffectKind::Vcs { .. } = kind {
            self.changes_elsewhere(span, certainty);
        }
        self.session.emit(kind, span, certainty);
    }

    /// Version control writes where it is told to work, which may be another repository than the workspace's.
    fn changes_elsewhere(&mut self, span: Span, certainty: Certainty) {
        let here = values::field(b".", Origins::LITERAL, span);
        let target = self.target(&here.value, false);
        let own = matches!(
            target.scope,
            Scope::Workspace
                | Scope::Product
                | Scope::Repository
                | Scope::Temp
                | Scope::Harmless
                | Scope::Unknown
        );
        if !own {
            let kind = EffectKind::Write { target, mode: WriteMode::Modify, content: Origins::FILE };
            self.session.emit(kind, span, certainty);
        }
    }

    /// An effect that certainly happens.
    pub(crate) fn does(&mut self, kind: EffectKind<'a>, span: Span) {
        self.emit(kind, span, Certainty::Certain);
    }

    pub(crate) fn not_understood(&mut self, reason: Unknown<'a>, span: Span) {
        self.session.emit(EffectKind::Unknown { reason }, span, Certainty::Certain);
    }

    /// Code that was not read.
    pub(crate) fn code(
        &mut self,
        language: &'static str,
        text: Option<&'a [u8]>,
        origin: Origins,
        span: Span,
    ) {
        self.does(EffectKind::Code { language, text, origin, source: None }, span);
    }

    /// Code that a stream carries.
    pub(crate) fn streamed_code(&mut self, language: &'static str, stream: Stream<'a>, span: Span) {
        let Stream { text, origins: origin, source } = stream;
        self.does(EffectKind::Code { language, text, origin, source }, span);
    }

    /// The whole argument list, the command word left out.
    pub(crate) fn args(&self) -> &'a [Field<'a>] {
        self.call.argv.split_first().map(|(_, args)| args).unwrap_or_default()
    }

    /// A value with known text that stands where `field` stands.
    pub(crate) fn part(&self, field: &Field<'a>, text: &'a [u8]) -> Field<'a> {
        values::field(text, field.value.origins, field.span)
    }

    pub(crate) fn target(&mut self, value: &Value<'a>, tree: bool) -> Target<'a> {
        let mut target = self.session.target(value);
        if let Some(path) = value.known_prefix().strip_prefix(b"file:") {
            // A program that knows addresses goes where it says, and one that does not to a file of this name.
            let slashes = if path.starts_with(b"//") { 2 } else { 0 };
            let path = values::after(self.arena(), value, b"file:".len() + slashes);
            let path = match path.known().and_then(|text| text.split(|byte| *byte == b'?').next()) {
                Some(path_text) => Value::text(path_text, value.origins),
                None => path,
            };
            let named = target;
            target = crate::place::worse(named, self.session.target(&path));
        }
        target.tree |= tree;
        target
    }

    /// The same of a word. One that may become several says nothing of where the others lie: `o/$x`.
    pub(crate) fn target_of(&mut self, field: &Field<'a>, tree: bool) -> Target<'a> {
        let target = self.target(&field.value, tree);
        let several = field.many && target.rest == Rest::Unknown;
        Target { path: if several { b"" } else { target.path }, ..target }
    }

    /// Many programs take an address where they take a file. Records the connection, if it is one.
    pub(super) fn reaches(&mut self, file: &Field<'a>, sends: Origins) -> bool {
        let prefix = file.value.known_prefix();
        let Some(end) = prefix.iter().position(|byte| !byte.is_ascii_alphanumeric()) else { return false };
        if !prefix.get(end..).is_some_and(|rest| rest.starts_with(b"://")) || prefix.starts_with(b"file:") {
            return false;
        }
        if self.program.has(Fact::NoAddresses) {
            return false;
        }
        let endpoint = endpoint::of(&file.value);
        self.emit(EffectKind::Connect { endpoint, sends, source: None }, file.span, certainty(file));
        true
    }

    pub(crate) fn lists(&mut self, file: &Field<'a>, tree: bool) {
        let target = self.target(&file.value, tree);
        self.emit(EffectKind::List { target }, file.span, certainty(file));
    }

    pub(crate) fn writes(&mut self, file: &Field<'a>, mode: WriteMode, content: Stream<'a>) {
        let target = self.target_of(file, false);
        // What is no file by that name does not let itself be written.
        let text = content.text.filter(|_| !file.value.is_roundabout());
        // What is changed is something else than it was.
        let origins = if mode == WriteMode::Modify { content.origins.edited() } else { content.origins };
        let content = Stream { text, origins, ..content };
        // What gets nothing loses what it had.
        let mode = if mode == WriteMode::Replace && text == Some(b"") { WriteMode::Truncate } else { mode };
        self.emit(EffectKind::Write { target, mode, content: content.origins }, file.span, certainty(file));
        self.reaches(file, content.origins | Origins::FILE);
        // The kind of what is written may stand before the place (`html:/srv/report`, `png:../a`).
        let prefix = file.value.known_prefix();
        if let Some(at) = kind_before(prefix) {
            let place = Field { value: values::after(self.arena(), &file.value, at + 1), ..*file };
            let target = self.target_of(&place, false);
            self.emit(
                EffectKind::Write { target, mode, content: content.origins },
                file.span,
                certainty(file),
            );
        }
        if mode == WriteMode::Create && !content.origins.contains(Origins::WRITTEN) {
            // What is there stays.
            self.session.kept();
        } else {
            self.session.wrote(target, mode, content);
        }
    }

    pub(crate) fn deletes(&mut self, file: &Field<'a>, tree: bool) {
        self.removes(file, tree, false);
    }

    fn removes(&mut self, file: &Field<'a>, tree: bool, kept: bool) {
        // Of what the script has just made, all is its own. A part of it would be another place if it was not made.
        let made = file.value.is_made();
        let part = !made && file.value.pieces().contains(&Piece::Made);
        let value = if part { file.value.forgotten(self.arena()) } else { file.value };
        let target = self.target_of(&Field { value, ..*file }, tree && !made);
        self.emit(EffectKind::Delete { target, kept }, file.span, certainty(file));
    }

    /// A file, or a directory with all that is in it, is taken from its place. That is a loss where the machine or its user
    /// live in it; elsewhere it lies at another place then, of which `kept` says that it is one of the workspace.
    pub(crate) fn takes_away(&mut self, file: &Field<'a>, kept: bool) {
        let target = self.target(&file.value, true);
        let held = target.covers;
        self.session.renamed(&target);
        self.removes(file, held.root || held.home || held.system || held.workspace, kept);
    }

    /// A program that is not described is started.
    pub(crate) fn executes(&mut self, file: &Field<'a>) {
        let target = self.target(&file.value, false);
        let origin = file.value.origins;
        self.emit(EffectKind::Execute { target, origin }, file.span, certainty(file));
    }

    /// A shell command line is executed, here or elsewhere.
    pub(crate) fn shell(&mut self, line: &Field<'a>, stdin: Stream<'a>, how: Reentry) -> Stream<'a> {
        match line.known() {
            Some(text) => self.session.run_text(text, Dialect::Posix, &[], stdin, how, line.span),
            None => {
                self.code("shell", None, line.value.origins, line.span);
                Stream::unknown(Origins::UNKNOWN, line.span)
            }
        }
    }

    /// The same of a command line that is started with the name of a file behind it, which may hold any text.
    pub(crate) fn shell_on_file(&mut self, line: &Field<'a>, stdin: Stream<'a>) -> Stream<'a> {
        let file = [&b" "[..], FRESH].map(|text| Value::text(text, Origins::LITERAL));
        let value = values::joined(self.arena(), &[line.value, file[0], file[1]]);
        self.shell(&Field { value, ..*line }, stdin, Reentry::New)
    }

    /// Words are joined by blanks and executed as a shell command line.
    pub(crate) fn shell_words(
        &mut self,
        words: &'a [Field<'a>],
        stdin: Stream<'a>,
        how: Reentry,
    ) -> Stream<'a> {
        let span = span_of(words).unwrap_or(self.call.span);
        let blank = Value::text(b" ", Origins::LITERAL);
        let mut parts = BumpVec::with_capacity_in(words.len() * 2, self.arena());
        for (index, word) in words.iter().enumerate() {
            if index > 0 {
                parts.push(blank);
            }
            parts.push(word.value);
        }
        let value = values::joined(self.arena(), &parts);
        let many = words.iter().any(|word| word.many);
        self.shell(&Field { value, span, many }, stdin, how)
    }

    /// A program is started with an argument list of the caller's, if it comes to that: there may be nothing to start it for,
    /// or a time or a lock that ends it before its end.
    pub(crate) fn argv(&mut self, argv: &'a [Field<'a>], stdin: Stream<'a>, how: Reentry) -> Stream<'a> {
        self.perhaps(|run| run.becomes(argv, stdin, how))
    }

    /// The program becomes another one, with an argument list of the caller's.
    pub(crate) fn becomes(&mut self, argv: &'a [Field<'a>], stdin: Stream<'a>, how: Reentry) -> Stream<'a> {
        let span = span_of(argv).unwrap_or(self.call.span);
        self.session.run_argv(argv, stdin, how, span)
    }

    /// What is started may not be, or not come to its end: what it prints is not known.
    pub(crate) fn perhaps(&mut self, mut inner: impl FnMut(&mut Run<'_, 'a>) -> Stream<'a>) -> Stream<'a> {
        let mut output = Stream::EMPTY;
        let (call, name, program) = (self.call, self.name, self.program);
        self.session.perhaps(&mut |session| output = inner(&mut Run { session, call, name, program }));
        Stream { text: None, ..output }
    }

    /// What is started goes on while the command does what follows.
    pub(crate) fn beside(&mut self, inner: &mut dyn FnMut(&mut Run<'_, 'a>)) {
        let (call, name, program) = (self.call, self.name, self.program);
        self.session.beside(&mut |session| inner(&mut Run { session, call, name, program }));
    }

    /// A file of the script's own is run that the program may take up by itself. False where that is not followed.
    pub(super) fn taking_up(&mut self, path: &'a [u8], inner: &mut dyn FnMut(&mut Run<'_, 'a>)) -> bool {
        let (call, name, program) = (self.call, self.name, self.program);
        self.session.taking_up(path, &mut |session| inner(&mut Run { session, call, name, program }))
    }

    /// A program is named by words without quoting, to be started with further arguments that do no harm.
    pub(crate) fn command_words(&mut self, line: &Field<'a>, how: Reentry) {
        self.command_words_before(line, &[], how);
    }

    /// The same, to be started with each file that lies at a place or below it.
    pub(crate) fn command_words_on(&mut self, line: &Field<'a>, place: &Field<'a>) {
        let below = Value::text(b"/", Origins::NAMES);
        let any = Value::of(self.arena(), &[Piece::Glob(b"*")], below.origins);
        let value = values::joined(self.arena(), &[place.value, below, any]);
        self.command_words_before(line, &[Field { value, many: true, ..*place }], Reentry::New);
    }

    fn command_words_before(&mut self, line: &Field<'a>, arguments: &[Field<'a>], how: Reentry) {
        let Some(text) = line.known() else {
            self.code("shell", None, line.value.origins, line.span);
            return;
        };
        let words = values::words(text).map(|word| self.part(line, word));
        let mut argv = BumpVec::from_iter_in(words, self.arena());
        if !argv.is_empty() {
            argv.extend_from_slice_copy(arguments);
            let stdin = Stream::unknown(Origins::FILE, line.span);
            self.argv(argv.into_bump_slice(), stdin, how);
        }
    }

    /// Does the rest in other directories, each relative to the one before.
    pub(crate) fn within(&mut self, directories: &[Field<'a>], inner: &mut dyn FnMut(&mut Run<'_, 'a>)) {
        let Some((directory, rest)) = directories.split_first() else { return inner(self) };
        if directories.len() > MAX_DIRECTORIES {
            self.not_understood(Unknown::Budget("working directories"), directory.span);
            return inner(self);
        }
        let (call, name, program) = (self.call, self.name, self.program);
        self.session.in_directory(&directory.value, &mut |session| {
            Run { session, call, name, program }.within(rest, inner);
        });
    }

    /// Does the rest with variables of the form `NAME=value` in the environment.
    pub(crate) fn with_variables(
        &mut self,
        assignments: &[Field<'a>],
        inner: &mut dyn FnMut(&mut Run<'_, 'a>),
    ) {
        let Some((assignment, rest)) = assignments.split_first() else { return inner(self) };
        if assignments.len() > MAX_VARIABLES {
            self.not_understood(Unknown::Budget("variables"), assignment.span);
            return inner(self);
        }
        let Some((variable, value)) = values::split_once(self.arena(), &assignment.value, b'=') else {
            if assignment.known().is_none() {
                self.not_understood(Unknown::Variable(assignment.value.known_prefix()), assignment.span);
            }
            return self.with_variables(rest, inner);
        };
        let value = Field { value, ..*assignment };
        let (call, name, program) = (self.call, self.name, self.program);
        self.session.with_variable(variable, &value, &mut |session| {
            Run { session, call, name, program }.with_variables(rest, inner);
        });
    }
}

/// Certain if exactly this one thing is meant.
pub(crate) fn certainty(field: &Field<'_>) -> Certainty {
    if field.known().is_some() { Certainty::Certain } else { Certainty::Possible }
}

/// A place of which only the scope is known.
pub(crate) fn anywhere<'a>(scope: Scope) -> Target<'a> {
    Target { path: b"", rest: Rest::Unknown, scope, tree: false, covers: Covers::default() }
}

/// From the first word to the last.
pub(crate) fn span_of(argv: &[Field<'_>]) -> Option<Span> {
    Some(argv.first()?.span.to(argv.last()?.span))
}

/// Where the colon stands behind which a path begins, if something stands before it that is none.
fn kind_before(name: &[u8]) -> Option<usize> {
    let is_path = |at: &usize| {
        let rest = name.get(at + 1..).unwrap_or_default();
        !rest.starts_with(b"//") && (rest.starts_with(b"/") || rest.starts_with(b".") || rest.contains(&b'/'))
    };
    let first =
        name.iter().position(|byte| matches!(byte, b':' | b'/')).filter(|at| name.get(*at) == Some(&b':'));
    let before_root = || name.windows(2).position(|two| two == b":/");
    first.filter(is_path).or_else(|| before_root().filter(is_path)).filter(|at| *at > 0)
}
