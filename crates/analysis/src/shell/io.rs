//! What descriptors are connected to: where output is collected, where input comes from.

use super::flow::Port;
use crate::effect::{Effect, EffectKind, Target, WriteMode};
use crate::value::{Origins, Stream};
use bumpalo::Bump;
use shward_syntax::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Something open for writing.
#[derive(Debug)]
pub(super) struct Sink<'a> {
    /// By which it is known.
    id: u32,
    /// What it is.
    pub(super) kind: SinkKind<'a>,
    text: Collected<'a>,
    origins: Origins,
    source: Option<Span>,
    /// How doubtful the code around it was when it was opened: what is written in deeper doubt may not be written.
    doubt: u32,
    /// The effect to which the origins of what is written are added.
    effect: Option<u32>,
}

/// What a sink is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum SinkKind<'a> {
    /// A pipe or substitution.
    Capture,
    /// A program that hands on what the one that it started prints, to where everybody sees it.
    Shown,
    /// A file.
    File {
        /// Which.
        target: Target<'a>,
    },
    /// A connection.
    Network,
    /// A descriptor that leads nowhere known.
    Elsewhere,
}

#[derive(Debug)]
enum Collected<'a> {
    Known(&'a [u8]),
    Several(Vec<u8>),
    Unknown,
}

/// Something open for reading.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    /// What comes out.
    pub(super) stream: Stream<'a>,
    /// What another command of the pipeline writes.
    pub(super) piped: bool,
    /// A shell reads its script from it: who else reads takes lines away from that.
    script: bool,
    /// Something has been read from it.
    begun: bool,
}

/// All sources ever opened, and all sinks of which something may still be asked.
#[derive(Debug, Default)]
pub(super) struct Io<'a> {
    sinks: Vec<Sink<'a>>,
    /// How many sinks were ever opened.
    opened: u32,
    sources: Vec<Source<'a>>,
    /// What the numbers of process substitutions stand for, as long as the commands run in which they are; the last one counts.
    names: Vec<(u32, Port)>,
    /// The sources with known text that were opened from files, by path.
    files: BTreeMap<&'a [u8], Vec<u32>>,
    /// The files to which redirections lead.
    printed: BTreeSet<&'a [u8]>,
    /// What is printed may have more in it, or end, between any two commands.
    interrupted: bool,
}

impl<'a> Io<'a> {
    /// Gives back all memory, if there is any: nothing is run or printed any more.
    pub(super) fn give_up(&mut self) {
        let Self { sinks, sources, names, files, printed, .. } = self;
        let reserved = sinks.capacity() + sources.capacity() + names.capacity();
        if reserved > 0 || !files.is_empty() || !printed.is_empty() {
            *self = Self::default();
        }
    }

    /// A redirection has led here.
    pub(super) fn prints_to(&mut self, path: &'a [u8]) {
        self.printed.insert(path);
    }

    /// Whether one has.
    pub(super) fn is_printed(&self, path: &[u8]) -> bool {
        self.printed.contains(path)
    }

    /// Opens a sink.
    pub(super) fn open_sink(&mut self, kind: SinkKind<'a>, doubt: u32, effect: Option<usize>) -> u32 {
        let id = self.opened;
        self.opened = id.saturating_add(1);
        self.sinks.push(Sink {
            id,
            kind,
            text: Collected::Known(b""),
            origins: Origins::NONE,
            source: None,
            doubt,
            effect: effect.and_then(|index| u32::try_from(index).ok()),
        });
        id
    }

    /// What was captured has been taken: nobody will ask for it again. What is written to it from now on is lost, as it was
    /// before.
    pub(super) fn retire(&mut self, id: u32) {
        self.sinks.pop_if(|last| last.id == id && last.kind == SinkKind::Capture);
    }

    /// Where a sink lies. Those that are gone leave no place behind.
    fn place(&self, id: u32) -> Option<usize> {
        match self.sinks.get(id as usize) {
            Some(sink) if sink.id == id => Some(id as usize),
            _ => self.sinks.binary_search_by_key(&id, |sink| sink.id).ok(),
        }
    }

    fn get(&self, id: u32) -> Option<&Sink<'a>> {
        self.sinks.get(self.place(id)?)
    }

    fn get_mut(&mut self, id: u32) -> Option<&mut Sink<'a>> {
        let place = self.place(id)?;
        self.sinks.get_mut(place)
    }

    /// Opens a source.
    pub(super) fn open_source(&mut self, stream: Stream<'a>) -> u32 {
        self.add(Source { stream, piped: false, script: false, begun: false })
    }

    fn add(&mut self, source: Source<'a>) -> u32 {
        self.sources.push(source);
        u32::try_from(self.sources.len() - 1).unwrap_or(u32::MAX)
    }

    /// Hands a source on to a program: what changes the file behind it changes that.
    pub(super) fn handed_on(&mut self, id: u32) -> Option<u32> {
        let source = *self.sources.get(id as usize)?;
        let new = self.add(source);
        self.files.values_mut().filter(|ids| ids.contains(&id)).for_each(|ids| ids.push(new));
        Some(new)
    }

    /// Opens what a source was opened from once more.
    pub(super) fn reopen(&mut self, id: u32) -> u32 {
        let stream = self.reopened(id);
        let new = self.handed_on(id).unwrap_or(id);
        if let Some(source) = self.sources.get_mut(new as usize) {
            source.stream = stream;
        }
        new
    }

    /// What is read where a source is opened once more: a file from its start, what is left in a pipe.
    pub(super) fn reopened(&self, id: u32) -> Stream<'a> {
        let begun = self.sources.get(id as usize).is_none_or(|source| source.begun && !source.piped);
        let stream = self.source(id);
        Stream { text: stream.text.filter(|_| !begun), ..stream }
    }

    /// A source was opened from this file.
    pub(super) fn reads_file(&mut self, id: u32, path: &'a [u8]) {
        self.files.entry(path).or_default().push(id);
    }

    /// A file gets another content: what has it open reads that one.
    pub(super) fn file_changes(&mut self, path: &[u8]) {
        for id in self.files.remove(path).unwrap_or_default() {
            self.consumed(id);
        }
    }

    /// What comes out of a source is made of these files, which may not have been read yet.
    pub(super) fn made_of(&mut self, id: u32, files: impl IntoIterator<Item = &'a [u8]>) {
        for path in files {
            self.files.entry(path).or_default().push(id);
        }
    }

    /// The same of any file.
    pub(super) fn files_change(&mut self) {
        for id in std::mem::take(&mut self.files).into_values().flatten() {
            self.consumed(id);
        }
    }

    /// Opens the source at the end of a pipe.
    pub(super) fn open_pipe(&mut self, stream: Stream<'a>) -> u32 {
        self.add(Source { stream, piped: true, script: false, begun: false })
    }

    /// Whether a source is the end of a pipe.
    pub(super) fn is_pipe(&self, id: u32) -> bool {
        self.sources.get(id as usize).is_some_and(|source| source.piped)
    }

    /// How many sinks there have been.
    pub(super) const fn sinks(&self) -> u32 {
        self.opened
    }

    /// A shell reads its script from this source.
    pub(super) fn runs(&mut self, id: u32) {
        if let Some(source) = self.sources.get_mut(id as usize) {
            source.script = true;
        }
    }

    /// Whether a shell reads its script from what a descriptor is connected to.
    pub(super) fn is_run(&self, port: Port) -> bool {
        let (Port::Source(id) | Port::Both(id, _)) = port else { return false };
        self.sources.get(id as usize).is_some_and(|source| source.script)
    }

    /// What a sink is.
    pub(super) fn sink(&self, id: u32) -> Option<SinkKind<'a>> {
        let retired = (id < self.opened).then_some(SinkKind::Capture);
        self.get(id).map(|sink| sink.kind).or(retired)
    }

    /// What comes out of a source.
    pub(super) fn source(&self, id: u32) -> Stream<'a> {
        self.sources
            .get(id as usize)
            .map_or(Stream { text: None, origins: Origins::UNKNOWN, source: None }, |s| s.stream)
    }

    /// What the number of a process substitution stands for.
    pub(super) fn named(&self, number: u32) -> Option<Port> {
        self.names.iter().rev().find(|(own, _)| *own == number).map(|(_, port)| *port)
    }

    /// A process substitution goes by this number.
    pub(super) fn name(&mut self, number: u32, port: Port) {
        self.names.push((number, port));
    }

    /// Something else is connected to a descriptor.
    pub(super) fn unname(&mut self, number: u32) {
        self.names.iter_mut().filter(|(own, _)| *own == number).for_each(|(_, port)| *port = Port::Unknown);
    }

    /// How many numbers stand for process substitutions.
    pub(super) const fn names(&self) -> usize {
        self.names.len()
    }

    /// The command has ended before which there were so many.
    pub(super) fn forget_names(&mut self, before: usize) {
        self.names.truncate(before);
    }

    /// A source has been read by something whose appetite is not known: what is left of known text is not known.
    pub(super) fn consumed(&mut self, id: u32) {
        if let Some(source) = self.sources.get_mut(id as usize) {
            source.stream.text = None;
            source.begun = true;
        }
    }

    /// Something has read from a source, perhaps to within a line.
    pub(super) fn tear(&mut self, id: u32) {
        if let Some(source) = self.sources.get_mut(id as usize)
            && source.stream.origins.contains(Origins::NAMES)
        {
            source.stream.origins = source.stream.origins.union(Origins::UNKNOWN);
        }
    }

    /// The same of a source that may be any. Gives how many there are.
    pub(super) fn all_consumed(&mut self) -> usize {
        for source in &mut self.sources {
            source.stream.text = None;
            source.begun = true;
        }
        self.sources.len()
    }

    /// All sources as they are.
    pub(super) fn sources(&self) -> Vec<Source<'a>> {
        self.sources.clone()
    }

    /// Takes back what was read from sources since they were like this, and gives which ones those are.
    pub(super) fn give_back(&mut self, before: &[Source<'a>]) -> Vec<u32> {
        let mut changed = Vec::new();
        for ((id, source), old) in (0..).zip(&mut self.sources).zip(before) {
            if source.stream != old.stream || source.begun != old.begun {
                changed.push(id);
                *source = *old;
            }
        }
        changed
    }

    /// What was written to a sink, and will be, is not what is there in the end.
    pub(super) fn blur(&mut self, id: u32) {
        if let Some(sink) = self.get_mut(id) {
            sink.text = Collected::Unknown;
        }
    }

    /// Replaces what is left of a source.
    pub(super) fn rest(&mut self, id: u32, text: &'a [u8]) {
        if let Some(source) = self.sources.get_mut(id as usize) {
            source.stream.text = Some(text);
            source.begun = true;
        }
    }

    /// Something is written to a sink. `doubt` is how doubtful the writing is. Returns how many bytes were copied.
    pub(super) fn write(
        &mut self,
        id: u32,
        stream: Stream<'a>,
        doubt: u32,
        effects: &mut [Effect<'a>],
    ) -> usize {
        let Some(sink) = self.get_mut(id) else { return 0 };
        sink.origins = sink.origins.union(stream.origins);
        sink.source = sink.source.or(stream.source);
        if let Some(effect) = sink.effect.and_then(|index| effects.get_mut(index as usize)) {
            match (&mut effect.kind, sink.kind) {
                (EffectKind::Write { target, content, .. }, SinkKind::File { target: mine })
                    if *target == mine =>
                {
                    *content = content.union(stream.origins);
                }
                (EffectKind::Connect { sends, source, .. }, SinkKind::Network) => {
                    *sends = sends.union(stream.origins);
                    *source = source.or(stream.source);
                }
                _ => {}
            }
        }
        match (&mut sink.text, stream.text) {
            (_, Some(b"")) | (Collected::Unknown, _) => 0,
            (text, Some(more)) if doubt <= sink.doubt => match text {
                Collected::Known(b"") => {
                    *text = Collected::Known(more);
                    0
                }
                Collected::Known(old) => {
                    *text = Collected::Several([old, more].concat());
                    more.len()
                }
                Collected::Several(all) => {
                    all.extend_from_slice(more);
                    more.len()
                }
                Collected::Unknown => 0,
            },
            (text, _) => {
                *text = Collected::Unknown;
                0
            }
        }
    }

    /// Nothing was written to a sink in the end, or the same to many files: what was in a file that it replaces is lost.
    pub(super) fn is_lost(&self, id: u32, effects: &mut [Effect<'a>]) {
        let Some(sink) = self.get(id) else { return };
        if let Some(effect) = sink.effect.and_then(|index| effects.get_mut(index as usize))
            && let (EffectKind::Write { target, mode, .. }, SinkKind::File { target: mine }) =
                (&mut effect.kind, sink.kind)
            && *target == mine
            && *mode == WriteMode::Replace
        {
            *mode = WriteMode::Truncate;
        }
    }

    /// From now on a trap may print between any two commands, or they may be ended; or no longer. Gives how it was.
    pub(super) const fn interrupted(&mut self, may_be: bool) -> bool {
        std::mem::replace(&mut self.interrupted, may_be)
    }

    /// Everything that was written to a sink.
    pub(super) fn collected(&self, arena: &'a Bump, id: u32) -> Stream<'a> {
        let Some(sink) = self.get(id) else {
            return Stream { text: None, origins: Origins::UNKNOWN, source: None };
        };
        let text = match &sink.text {
            _ if self.interrupted => None,
            Collected::Known(text) => Some(*text),
            Collected::Several(all) => Some(&*arena.alloc_slice_copy(all)),
            Collected::Unknown => None,
        };
        Stream { text, origins: sink.origins, source: sink.source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_captured_leaves_no_place_and_its_number_means_nothing_else() {
        let arena = Bump::new();
        let mut io = Io::default();
        let first = io.open_sink(SinkKind::Capture, 0, None);
        io.retire(first);
        assert!(io.sinks.is_empty());
        let stays = io.open_sink(SinkKind::Shown, 0, None);
        let second = io.open_sink(SinkKind::Capture, 0, None);
        let file = io.open_sink(SinkKind::Network, 0, None);
        io.retire(second);
        io.retire(stays);
        assert_eq!(io.sinks.len(), 3, "only what was captured goes, and only the last");
        assert_eq!((first, stays, second, file, io.sinks()), (0, 1, 2, 3, 4));
        let text = |text: &'static [u8]| Stream { text: Some(text), origins: Origins::FILE, source: None };
        io.write(file, text(b"f"), 0, &mut []);
        io.write(first, text(b"lost"), 0, &mut []);
        assert_eq!(io.collected(&arena, file).text, Some(&b"f"[..]));
        assert_eq!(io.collected(&arena, stays).text, Some(&b""[..]));
        assert_eq!(io.collected(&arena, first).text, None, "nothing is known of what is gone");
        assert_eq!(io.sink(first), Some(SinkKind::Capture));
        assert_eq!(io.sink(file), Some(SinkKind::Network));
        assert_eq!(io.sink(4), None);
    }
}
