//! Redirections: what they read and write, and what they connect descriptors to.

use super::Interpreter;
use super::flow::FIRST_OWN;
use super::flow::{Opt, Port};
use super::io::SinkKind;
use super::listed::{Listed, is_bare};
use super::run::may_fail;
use super::state::{Flags, Slot, Space};
use super::words::{Got, Known};
use crate::effect::{Certainty, EffectKind, Target, Unknown, WriteMode};
use crate::knowledge::{self, endpoint};
use crate::session::Session;
use crate::value::{Origins, Stream, Value};
use shward_syntax::{
    Descriptor, Dialect, HereDocument, PartKind, Redirect, RedirectOperator, RedirectTarget, Span, Word,
    WordPart,
};

/// So many of the numbers that the shell has chosen are looked at.
const MOST_NUMBERED: usize = 16;

/// The connections before redirections, and what the redirections opened.
#[derive(Debug)]
pub(super) struct Before<'a> {
    standard: [Port; 3],
    others: &'a [(u32, Port)],
    opened: Vec<Opened<'a>>,
    /// The names of what is opened for reading, as far as they may be any of many files.
    read: Vec<Value<'a>>,
    /// How many effects and invocations there were before the first of them, or before the pipeline that it stands in.
    since: (usize, usize),
    /// A descriptor is closed that the shell may have taken for itself.
    closes_own: bool,
    /// A redirection before the next one, or around all of them, may fail.
    doubtful: bool,
}

/// A file that a redirection has opened for writing.
#[derive(Debug)]
struct Opened<'a> {
    sink: u32,
    /// What stands in it before what is written.
    start: Stream<'a>,
    /// What was known of it before.
    before: Vec<(&'a [u8], Slot<'a>)>,
    /// It is written, if the command is run.
    surely: bool,
    /// It may not let itself be written, or nothing be run that writes it.
    fails: bool,
    /// What is written lies over what stood there, not behind it.
    over: bool,
    /// It stays open when the command has ended, by a number that the shell has chosen.
    stays: bool,
    /// It may be any of many files that are there.
    listed: Option<Box<Listed<'a>>>,
}

/// What the descriptors are connected to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Connections<'a> {
    standard: [Port; 3],
    others: &'a [(u32, Port)],
}

impl<'a> Before<'a> {
    /// What the descriptors were connected to before.
    pub(super) const fn connections(&self) -> Connections<'a> {
        Connections { standard: self.standard, others: self.others }
    }
}

impl<'a> Interpreter<'a, '_> {
    /// Connects all descriptors otherwise, and gives what they were connected to.
    pub(super) const fn exchange(&mut self, new: Connections<'a>) -> Connections<'a> {
        let flow = &mut self.state.flow;
        Connections {
            standard: std::mem::replace(&mut flow.standard, new.standard),
            others: std::mem::replace(&mut flow.others, new.others),
        }
    }

    /// Performs redirections. `idle`: there is no command that writes anything.
    pub(super) fn redirect(&mut self, redirects: &[Redirect<'_>], idle: bool) -> Before<'a> {
        let mut before = Before {
            standard: self.state.flow.standard,
            others: self.state.flow.others,
            opened: Vec::new(),
            read: Vec::new(),
            since: self.upstream.unwrap_or((self.effects.len(), self.invocations.len())),
            closes_own: false,
            doubtful: self.fallible > u32::from(redirects.iter().any(may_fail)),
        };
        self.redirected += 1;
        // Those before this one are known to be doubtful.
        let mut doubted = 0;
        let followed = self.budget.redirects(redirects.len());
        for redirect in redirects.iter().filter(|_| followed) {
            if !self.budget.spend(1) {
                break;
            }
            let opened = before.opened.len();
            self.redirection(redirect, idle, &mut before);
            if may_fail(redirect) {
                before.doubtful = true;
                // What was opened before is emptied then, and nothing is written to it.
                let earlier = before.opened.get_mut(doubted..opened).unwrap_or_default();
                earlier.iter_mut().for_each(|opened| opened.fails = true);
                doubted = opened;
            }
        }
        before
    }

    /// Performs redirections of what may be a process of its own: what they assign may then be lost with it.
    pub(super) fn redirect_perhaps_elsewhere(
        &mut self,
        redirects: &[Redirect<'_>],
        idle: bool,
    ) -> Before<'a> {
        let moment = self.state.moment();
        let before = self.redirect(redirects, idle);
        if self.budget.spend(self.state.changes(moment)) {
            self.state.doubt(Space::Variable, moment);
        }
        before
    }

    /// Undoes redirections: what was written is now in the files.
    pub(super) fn restore(&mut self, before: &Before<'a>) {
        self.settle(before);
        self.state.flow.standard = before.standard;
        self.state.flow.others = before.others;
        self.redirected -= 1;
    }

    /// What was written so far is in the files.
    fn settle(&mut self, before: &Before<'a>) {
        let read = before.read.as_slice();
        for opened in &before.opened {
            let Opened { sink, start: old, before, surely, fails, over, stays, listed } = opened;
            if *stays {
                self.stays_open(*sink);
            } else if let Some(SinkKind::File { target }) = self.io.sink(*sink) {
                let new = self.io.collected(self.arena, *sink);
                self.io.prints_to(target.path);
                let lost = |text: &[u8]| text.is_empty() || listed.is_some();
                if new.text.is_some_and(lost)
                    || listed.as_ref().is_some_and(|listed| self.is_of_others(listed, read))
                {
                    self.io.is_lost(*sink, &mut self.effects);
                }
                // What is added to the workspace's own file may be read, and is judged by itself.
                let own = !over && old.text.is_none() && Origins::FILE.contains(old.origins);
                let added = own && new.text.is_some_and(|text| !text.is_empty());
                let text = match (old.text, new.text) {
                    (None, text) if added => text,
                    (Some(b""), text) | (text, Some(b"")) => text,
                    (Some(old), Some(new)) if !over && self.budget.produce(old.len() + new.len()) => {
                        Some(&*self.arena.alloc_slice_copy(&[old, new].concat()))
                    }
                    _ => None,
                };
                let origins = old.origins.union(new.origins);
                if self.is_flagged(before, Flags::TOUCHED) {
                    // Something else wrote there as well, by this name or another: one over, or behind, the other.
                    self.file_touched(&target, origins);
                    continue;
                }
                for (path, slot) in before {
                    self.state.set(Space::File, path, *slot);
                }
                let stream = Stream { text, origins, source: new.source.or(old.source) };
                self.file_redirected(&target, stream, *surely && !added, *fails || added);
            }
        }
    }

    /// Redirections of `exec` stay; what will be written to files is not known.
    pub(super) fn keep(&mut self, before: &Before<'a>) {
        let [script, ..] = before.standard;
        if self.io.is_run(script) && self.state.flow.port(0) != script {
            self.unknown(Unknown::Construct("exec gives the shell another script to read"), self.whole());
        }
        if before.doubtful {
            self.keep_both(before);
        }
        self.redirected -= 1;
        if before.closes_own && self.redirected > 0 {
            let reason = "exec closes a descriptor in which the shell may keep what is redirected around it";
            self.unknown(Unknown::Construct(reason), self.whole());
        }
        for opened in &before.opened {
            // One of many files is emptied, whatever is written there later.
            if opened.listed.is_some() {
                self.io.is_lost(opened.sink, &mut self.effects);
            }
            self.stays_open(opened.sink);
        }
    }

    /// A file stays open: the command may write to it at any time from here on.
    fn stays_open(&mut self, sink: u32) {
        if let Some(SinkKind::File { target }) = self.io.sink(sink) {
            let files = self.file_touched(&target, Origins::LITERAL);
            self.flag(&files, Flags::SHARED, Flags::NONE);
        }
    }

    /// Redirections of `exec` may have failed: what is written goes where it went before, or to the new place.
    fn keep_both(&mut self, before: &Before<'a>) {
        let standard = (0..).zip(before.standard);
        for (descriptor, port) in standard.chain(before.others.iter().copied()) {
            let was_open = matches!(port, Port::Sink(_) | Port::Both(..));
            if was_open && self.budget.spend(1) && self.state.flow.port(descriptor) != port {
                self.connect(descriptor, Port::Unknown);
            }
        }
    }

    fn redirection(&mut self, redirect: &Redirect<'_>, idle: bool, before: &mut Before<'a>) {
        let span = self.span(redirect.span);
        let input = matches!(
            redirect.operator,
            RedirectOperator::Input
                | RedirectOperator::ReadWrite
                | RedirectOperator::DuplicateInput
                | RedirectOperator::HereDocument
                | RedirectOperator::HereString
        );
        let opened = before.opened.len();
        let descriptor = match redirect.descriptor {
            Descriptor::Default => Some(u32::from(!input)),
            Descriptor::Number(number) => Some(number),
            Descriptor::Variable(name) => {
                let name = self.lasting(name);
                if let RedirectTarget::Word(word) = &redirect.target
                    && word.bare() == Some(b"-")
                {
                    return self.close_named(name, redirect.span);
                }
                // What the shell itself has open, and what it was given, takes numbers as well: which is free nobody knows.
                self.assign_some_number(name, redirect.span);
                let when = self.state.changed_at(Space::Variable, name);
                self.numbered.extend(when.map(|when| (name, when)));
                None
            }
        };
        let word = match &redirect.target {
            RedirectTarget::HereDocument(document) => {
                let stream = self.here_document(document, span);
                let source = Port::Source(self.io.open_source(stream));
                return self.connect_if_known(descriptor, source);
            }
            RedirectTarget::Word(word) => word,
        };
        let both = matches!(redirect.operator, RedirectOperator::OutputBoth | RedirectOperator::AppendBoth);
        let port = match redirect.operator {
            RedirectOperator::HereString => {
                let value = self.value(word);
                let text = value.known().and_then(|text| {
                    self.budget
                        .produce(text.len())
                        .then(|| &*self.arena.alloc_slice_copy(&[text, b"\n"].concat()))
                });
                let stream = Stream { text, origins: knowledge::names_of(&value), source: Some(span) };
                Port::Source(self.io.open_source(stream))
            }
            RedirectOperator::DuplicateInput | RedirectOperator::DuplicateOutput => {
                match self.duplicate(redirect, word, descriptor, span, before) {
                    Some(port) => port,
                    None => return,
                }
            }
            RedirectOperator::HereDocument => return,
            operator => {
                let path = self.target_word(word);
                let opened = before.opened.len();
                let port = self.open(operator, &path, idle, span, before);
                for listed in before.opened.iter_mut().skip(opened).filter_map(|new| new.listed.as_mut()) {
                    listed.bare = is_bare(word);
                }
                port
            }
        };
        if descriptor.is_none() {
            before.opened.iter_mut().skip(opened).for_each(|opened| opened.stays = true);
        }
        self.connect_if_known(descriptor, port);
        if both {
            self.connect(2, port);
        }
    }

    /// Connects a descriptor, unless the shell has chosen its number: then nobody knows which it is.
    fn connect_if_known(&mut self, descriptor: Option<u32>, port: Port) {
        if let Some(descriptor) = descriptor {
            self.connect(descriptor, port);
        }
    }

    /// `{name}>&-` closes the descriptor whose number the variable holds.
    fn close_named(&mut self, name: &'a [u8], span: Span) {
        let number = match self.lookup(name, span) {
            Got::One(value, _) => value.known().and_then(|text| std::str::from_utf8(text).ok()?.parse().ok()),
            _ => None,
        };
        let when = self.state.changed_at(Space::Variable, name);
        let own = self.numbered.iter().rev().take(MOST_NUMBERED);
        match number {
            Some(number) => self.connect(number, Port::Closed),
            // One that the shell has chosen itself: nothing else goes by it.
            None if own.clone().any(|(numbered, then)| *numbered == name && when == Some(*then)) => {}
            None => self.unpredictable("a descriptor that is closed by a number that is not known", span),
        }
    }

    /// `n>&word`, `n<&word`. `None`: it is done.
    fn duplicate(
        &mut self,
        redirect: &Redirect<'_>,
        word: &Word<'_>,
        descriptor: Option<u32>,
        span: Span,
        before: &mut Before<'a>,
    ) -> Option<Port> {
        let output = redirect.operator == RedirectOperator::DuplicateOutput;
        let (value, kind) = self.value_and_kind(word);
        match value.known() {
            Some(b"-") => {
                before.closes_own |= descriptor.is_some_and(|number| self.may_be_own(number));
                return Some(Port::Closed);
            }
            Some(text) => {
                // Whether a descriptor is moved, bash tells from the word as it is written.
                let ends_bare = word
                    .parts()
                    .last()
                    .is_some_and(|part| matches!(part.kind, PartKind::Literal(text) if text.ends_with(b"-")));
                let (digits, moved) = match text {
                    [digits @ .., b'-'] if ends_bare => (digits, true),
                    digits => (digits, false),
                };
                if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
                    let from = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
                    let port = from.map_or(Port::Unknown, |from| self.state.flow.port(from));
                    if let (true, Some(from)) = (moved, from) {
                        before.closes_own |= self.may_be_own(from);
                        self.connect(from, Port::Closed);
                    }
                    return Some(port);
                }
            }
            None if kind == Known::Number => return Some(Port::Unknown),
            None => {}
        }
        if !output {
            // A word that is no number is an error.
            return Some(Port::Unknown);
        }
        // A file that gets both streams. The shell expands the word a second time to find its name.
        let literal = matches!(*word.parts(), [part] if matches!(part.kind, PartKind::Literal(_)));
        // Quotes, tildes and process substitutions count the second time, too.
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" _./:+,=%@-".contains(byte);
        let inert = value.known().is_some_and(|text| text.iter().all(plain));
        if !literal && !inert {
            self.unknown(Unknown::Construct("the word after >& is expanded twice"), span);
        }
        // The second time patterns count.
        let globs = |part: &WordPart<'_>| matches!(part.kind, PartKind::Glob(_) | PartKind::ExtendedGlob(_));
        let value = if word.parts().iter().any(globs) { self.target_word(word) } else { value };
        let port = self.open(RedirectOperator::OutputBoth, &value, false, span, before);
        self.connect(1, port);
        self.connect(2, port);
        self.connect_if_known(descriptor.filter(|number| *number > 2), port);
        None
    }

    /// Whether the shell may have taken a number for itself.
    const fn may_be_own(&self, number: u32) -> bool {
        number >= FIRST_OWN && !self.state.flow.is_open(number)
    }

    /// Opens a file for a redirection.
    fn open(
        &mut self,
        operator: RedirectOperator,
        path: &Value<'a>,
        idle: bool,
        span: Span,
        before: &mut Before<'a>,
    ) -> Port {
        if let Some(port) = self.network(path, span) {
            return port;
        }
        let (append, mode) = match operator {
            RedirectOperator::Input => {
                if let Some(number) = self.descriptor_at(path) {
                    return self.open_by_name(number);
                }
                before.read.extend(path.names_what_is_there().then_some(*path));
                let here = self.span(span);
                let stream = match knowledge::reads_found(self, path, here) {
                    Some(stream) => stream,
                    None => self.read_file(path, false, span),
                };
                let id = self.io.open_source(stream);
                if stream.text.is_some() {
                    let target = self.target(path);
                    let (own, others) = self.aliases(&target);
                    [own].into_iter().chain(others).for_each(|path| self.io.reads_file(id, path));
                }
                return Port::Source(id);
            }
            RedirectOperator::Append | RedirectOperator::AppendBoth => (true, WriteMode::Append),
            RedirectOperator::ReadWrite => (true, WriteMode::Modify),
            _ if idle => (false, WriteMode::Truncate),
            _ => (false, WriteMode::Replace),
        };
        if let Some(number) = self.descriptor_at(path) {
            return self.write_by_name(number);
        }
        let mut sink = None;
        let start = if append { self.content_of(path) } else { Stream::EMPTY };
        let targets = self.targets(path);
        let clobbers =
            append || operator == RedirectOperator::Clobber || !self.state.flow.options.may(Opt::NoClobber);
        let fails = before.doubtful || self.locked || !clobbers || path.is_roundabout();
        let surely = !fails && targets.len() == 1 && self.is_certain();
        let over = operator == RedirectOperator::ReadWrite;
        // Beside the effect it is kept what is open, and what is known of the file.
        self.budget.plan(1);
        for target in targets {
            if self.links_to_descriptor(&target) {
                self.unknown(Unknown::Construct("a link that leads to a descriptor"), span);
            }
            let first = sink.is_none();
            let content = if first { Origins::NONE } else { Origins::UNKNOWN };
            let index = self.effects.len();
            self.emit_here(EffectKind::Write { target, mode, content }, span, Certainty::Certain);
            let known = self.file_touched(&target, Origins::NONE);
            if first {
                self.flag(&known, Flags::NONE, Flags::TOUCHED);
                let effect = (self.effects.len() > index).then_some(index);
                let id = self.io.open_sink(SinkKind::File { target }, self.doubt_now(), effect);
                before.opened.push(Opened {
                    sink: id,
                    start,
                    before: known,
                    surely,
                    fails,
                    over,
                    stays: false,
                    listed: path
                        .names_what_is_there()
                        .then(|| Box::new(Listed { path: *path, since: before.since, bare: false })),
                });
                sink = Some(id);
            }
        }
        let sink = sink.unwrap_or_default();
        if operator == RedirectOperator::ReadWrite {
            let stream = self.read_file(path, false, span);
            // It may be a pipe with a name: what is written through it is read again.
            let origins = stream.origins.union(Origins::WRITTEN).union(Origins::LITERAL);
            let source = self.io.open_source(Stream { text: None, origins, ..stream });
            return Port::Both(source, sink);
        }
        Port::Sink(sink)
    }

    /// `/dev/tcp/host/port` and `/dev/udp/host/port`, which bash opens itself.
    fn network(&mut self, path: &Value<'a>, span: Span) -> Option<Port> {
        let prefix = path.known_prefix();
        let (scheme, rest) = match (prefix.strip_prefix(b"/dev/tcp/"), prefix.strip_prefix(b"/dev/udp/")) {
            (Some(rest), _) => (b"tcp".as_slice(), rest),
            (_, Some(rest)) => (b"udp".as_slice(), rest),
            _ => return None,
        };
        if self.dialect != Dialect::Bash {
            return None;
        }
        let mut parts = rest.splitn(2, |byte| *byte == b'/');
        let complete = path.known().is_some();
        let (host, port) = match (parts.next(), parts.next()) {
            (Some(host), Some(port)) => (Some(host), Some(port).filter(|_| complete)),
            (host, _) => (host.filter(|_| complete), None),
        };
        let endpoint = endpoint::host(host, port.and_then(endpoint::number), scheme);
        let index = self.effects.len();
        let kind = EffectKind::Connect { endpoint, sends: Origins::NONE, source: None };
        self.emit_here(kind, span, Certainty::Certain);
        let source = self.io.open_source(Stream::unknown(Origins::NETWORK, span));
        let sink = self.io.open_sink(SinkKind::Network, self.doubt_now(), Some(index));
        Some(Port::Both(source, sink))
    }

    /// The name of a redirection's file. A word that may become several is an error or not known.
    pub(super) fn target_word(&mut self, word: &Word<'_>) -> Value<'a> {
        if self.dialect == Dialect::Posix {
            // It is neither divided nor taken for a pattern (POSIX, "Redirection"; bash(1), "POSIX mode").
            return self.value(word);
        }
        let mut fields = Vec::new();
        self.expand(word, &mut fields);
        match fields.as_slice() {
            [field] => field.value,
            _ => {
                let origins =
                    fields.iter().fold(Origins::LITERAL, |all, field| all.union(field.value.origins));
                Value::unknown(origins)
            }
        }
    }

    fn here_document(&mut self, document: &HereDocument<'_>, span: Span) -> Stream<'a> {
        let body = document.body();
        let at = self.span(document.body_span());
        let value = match body {
            [] => Value::EMPTY,
            parts => self.value_of(parts, document.body_span()),
        };
        Stream {
            text: value.known(),
            origins: value.origins,
            source: Some(if at.end > at.start { at } else { span }),
        }
    }

    /// Connects a descriptor.
    pub(super) fn connect(&mut self, descriptor: u32, port: Port) {
        if let Some(place) = self.state.flow.standard.get_mut(descriptor as usize) {
            *place = port;
            return;
        }
        self.io.unname(descriptor);
        let others = self.state.flow.others;
        self.budget.descriptors(others.len() + 1);
        let new = self.arena.alloc_slice_fill_copy(others.len() + 1, (descriptor, port));
        let mut length = 0;
        for ((place, old), count) in new.iter_mut().zip(others.iter().filter(|o| o.0 != descriptor)).zip(1..)
        {
            (*place, length) = (*old, count);
        }
        self.state.flow.others = new.get(..=length).unwrap_or_default();
    }

    /// The places that a path may mean: one for each directory in which the shell may be.
    pub(super) fn targets(&mut self, path: &Value<'a>) -> Vec<Target<'a>> {
        let places = self.state.flow.places;
        let mut targets: Vec<Target<'a>> = Vec::with_capacity(1);
        for (place, status) in places.iter() {
            self.state.flow.places = super::flow::Whereabouts::at(place);
            let target = self.target(path);
            let _ = status;
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        self.state.flow.places = places;
        targets
    }

    /// Reads a file for the shell itself, as text or as a script.
    pub(super) fn read_file(&mut self, path: &Value<'a>, executed: bool, span: Span) -> Stream<'a> {
        let targets = self.targets(path);
        for target in &targets {
            self.emit_here(EffectKind::Read { target: *target }, span, Certainty::Certain);
        }
        let stream = match targets.as_slice() {
            [_] if executed => self.script_of(path),
            [_] => self.content_of(path),
            several => {
                let origins =
                    several.iter().fold(Origins::NONE, |all, target| all.union(self.read_origins(target)));
                Stream { text: None, origins: origins.union(Origins::WRITTEN), source: None }
            }
        };
        Stream { source: stream.source.or(Some(span)), ..stream }
    }
}
