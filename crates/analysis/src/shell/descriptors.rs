//! Descriptors that are opened by a name: `/dev/fd/3`, `/dev/stdin`, `/proc/self/fd/3`, a process substitution.
//!
//! Linux opens anew what the descriptor is connected to: a file from its start and for whatever is asked, a pipe as it is,
//! even the other end of it. Elsewhere the name means a duplicate of the descriptor. What both have in common is known.

use super::Interpreter;
use super::flow::{FIRST_OWN, Port};
use super::io::SinkKind;
use crate::effect::{EffectKind, Rest, Target, Unknown};
use crate::session::Session;
use crate::value::{Origins, Stream, Value};

/// The number that the first process substitution of a command gets.
pub(super) const LAST_SUBSTITUTION: u32 = 63;

impl<'a> Interpreter<'a, '_> {
    /// The descriptor that a path stands for, however it is spelt.
    pub(super) fn descriptor_at(&mut self, path: &Value<'a>) -> Option<u32> {
        path.known()?;
        let target = self.target(path);
        if target.rest == Rest::Exact { descriptor_named(target.path) } else { None }
    }

    /// What is read at the name of a descriptor. Of what is not a file it is gone then.
    pub(super) fn read_by_name(&mut self, number: u32) -> Stream<'a> {
        match self.port_by_name(number) {
            port @ (Port::Source(id) | Port::Both(id, _)) => {
                let stream = self.io.reopened(id);
                self.taken(port);
                stream
            }
            Port::Terminal => Stream::TERMINAL,
            Port::Closed => Stream::EMPTY,
            port @ (Port::Unknown | Port::Sink(_)) => {
                self.taken(port);
                Stream { text: None, origins: Origins::UNKNOWN, source: None }
            }
        }
    }

    /// A redirection opens a descriptor by its name, for reading.
    pub(super) fn open_by_name(&mut self, number: u32) -> Port {
        match self.port_by_name(number) {
            port @ (Port::Source(id) | Port::Both(id, _)) => {
                let new = self.io.reopen(id);
                self.taken(port);
                Port::Source(new)
            }
            Port::Sink(_) => {
                let stream = self.read_by_name(number);
                Port::Source(self.io.open_source(stream))
            }
            port => port,
        }
    }

    /// The same for writing. What is written to a file stands at its start, over what others have written or will write.
    pub(super) fn write_by_name(&mut self, number: u32) -> Port {
        let port = self.port_by_name(number);
        match port {
            Port::Sink(id) | Port::Both(_, id) => {
                if matches!(self.io.sink(id), Some(SinkKind::File { .. })) {
                    self.io.blur(id);
                }
            }
            Port::Source(_) => {
                let reason = "what a descriptor is opened for to be read is written to by its name";
                self.unknown(Unknown::Construct(reason), self.whole());
            }
            Port::Terminal | Port::Closed | Port::Unknown => {}
        }
        port
    }

    /// A program does something to a place, which may be the name of a descriptor.
    pub(super) fn reaches_descriptor(&mut self, kind: &EffectKind<'a>) {
        let (target, content) = match kind {
            EffectKind::Read { target } => (target, None),
            EffectKind::Write { target, content, .. } => (target, Some(*content)),
            EffectKind::Metadata { target, .. } => (target, Some(Origins::NONE)),
            _ => return,
        };
        if self.elsewhere || self.detours.is_empty() && descriptor_named(target.path).is_none() {
            return;
        }
        let (own, others) = self.aliases(target);
        for number in [own].into_iter().chain(others).filter_map(descriptor_named) {
            match content {
                // It reads when it runs: what it is to find there may not have been looked up yet.
                None => self.read_names.push(number),
                Some(origins) => {
                    let port = self.write_by_name(number);
                    self.write_to_port(port, Stream { text: None, origins, source: None });
                }
            }
        }
    }

    /// Whether a place may be, over a link of the command, the name of a descriptor. What is there is read then.
    pub(super) fn links_to_descriptor(&mut self, target: &Target<'a>) -> bool {
        let (_, others) = self.aliases(target);
        let mut found = false;
        for number in others.into_iter().filter_map(descriptor_named) {
            let port = self.port_by_name(number);
            self.taken(port);
            found = true;
        }
        found
    }

    /// The program that was run has read what it reads.
    pub(super) fn has_read(&mut self) {
        if self.read_names.is_empty() {
            return;
        }
        for number in std::mem::take(&mut self.read_names) {
            let port = self.port_by_name(number);
            self.taken(port);
        }
    }

    /// Something has read from what a descriptor is connected to, it is not known how much.
    pub(super) fn taken(&mut self, port: Port) {
        match port {
            Port::Source(id) | Port::Both(id, _) => self.io.consumed(id),
            Port::Sink(id) => self.io.blur(id),
            // It may be any of them.
            Port::Unknown => {
                let all = self.io.all_consumed();
                self.budget.spend(all);
            }
            Port::Terminal | Port::Closed => {}
        }
    }

    /// A number for a process substitution. Those of commands that have ended are free again, in some versions of bash: none
    /// is given twice while another one might be meant.
    pub(super) fn number_of_substitution(&mut self) -> u32 {
        for _ in FIRST_OWN..LAST_SUBSTITUTION {
            let number = self.next_descriptor;
            self.next_descriptor = if number <= FIRST_OWN { LAST_SUBSTITUTION } else { number - 1 };
            if self.io.named(number).is_none() && !self.state.flow.is_open(number) {
                return number;
            }
        }
        self.next_descriptor
    }

    fn port_by_name(&self, number: u32) -> Port {
        self.io.named(number).unwrap_or_else(|| self.state.flow.port(number))
    }
}

/// The descriptor that a name such as `/dev/fd/3` stands for.
pub(super) fn descriptor_named(name: &[u8]) -> Option<u32> {
    if !name.starts_with(b"/dev/") && !name.starts_with(b"/proc/") {
        return None;
    }
    match name {
        b"/dev/stdin" => Some(0),
        b"/dev/stdout" => Some(1),
        b"/dev/stderr" => Some(2),
        _ => {
            let places: [&[u8]; 3] = [b"/dev/fd/", b"/proc/self/fd/", b"/proc/thread-self/fd/"];
            let digits = places.iter().find_map(|place| name.strip_prefix(*place))?;
            std::str::from_utf8(digits).ok()?.parse().ok()
        }
    }
}
