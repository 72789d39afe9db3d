//! The part of a shell's state that every command may change and every branch carries: where it stands, what its
//! descriptors are connected to, its options and positional parameters. Small and copied whole.

use super::news::{New, joined};
use crate::value::{Field, Origins, Value};
use bumpalo::Bump;
use shward_syntax::Span;

/// bash takes numbers from here on for itself: to keep what a redirection replaces, and for `{name}>`.
pub(super) const FIRST_OWN: u32 = 10;

/// See the module.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Flow<'a> {
    /// Where the shell may stand.
    pub(super) places: Whereabouts<'a>,
    /// `$1` and the rest; elements may stand for any number.
    pub(super) arguments: &'a [Field<'a>],
    /// `$0`, if known.
    pub(super) zero: Option<&'a [u8]>,
    /// `$_`
    pub(super) last_argument: Option<Value<'a>>,
    /// Options.
    pub(super) options: Options,
    /// Descriptors 0, 1 and 2.
    pub(super) standard: [Port; 3],
    /// The other descriptors that were opened.
    pub(super) others: &'a [(u32, Port)],
    /// The stack of `pushd`; `None` if not known. The top is not part of it.
    pub(super) stack: Option<&'a [&'a [u8]]>,
    /// `$OLDPWD`, if known.
    pub(super) previous: Option<&'a [u8]>,
    /// The last `cd` may have failed, and `$OLDPWD` be what it was.
    pub(super) stayed: bool,
    /// How many of the directories that got another name are reckoned with in `places`.
    pub(super) settled: u32,
    /// A change of the directory has been tried: no previous one then means that it is not known.
    pub(super) went: bool,
    /// Control does not get here (`exit`, `return`, `exec`, `break`).
    pub(super) ended: bool,
    /// It ended with an error, or only left a loop or function: nothing after it becomes less certain.
    pub(super) quietly: bool,
    /// Control may not get here without an error having happened.
    pub(super) may_have_ended: bool,
    /// The outermost frame, by its index, that may have been left instead of getting here; [`NOWHERE`] if none.
    pub(super) skips: usize,
    /// Directories that the command has made where there were none.
    pub(super) news: &'a [New<'a>],
}

/// `$_` where it is not known: what is known of it is whether there may be a secret in it.
pub(super) fn last_of<'a>(origins: Origins) -> Option<Value<'a>> {
    let grave = origins.intersects(Origins::CREDENTIAL.union(Origins::SECRET));
    grave.then(|| Value::unknown(origins.union(Origins::UNKNOWN)))
}

/// `$_` behind two ways.
fn joined_argument<'a>(one: Option<Value<'a>>, other: Option<Value<'a>>) -> Option<Value<'a>> {
    if one == other {
        return one;
    }
    let origins = |value: Option<Value<'a>>| value.map_or(Origins::ENVIRONMENT, |value| value.origins);
    last_of(origins(one).union(origins(other)))
}

/// No frame was left.
pub(super) const NOWHERE: usize = usize::MAX;

impl<'a> Flow<'a> {
    /// What covers both.
    pub(super) fn join(&self, other: &Self, arena: &'a Bump) -> Self {
        let port = |i: usize| match (self.standard.get(i), other.standard.get(i)) {
            (Some(a), Some(b)) if a == b => *a,
            _ => Port::Unknown,
        };
        Self {
            places: self.places.join(&other.places),
            arguments: if self.arguments == other.arguments { self.arguments } else { &ANY_ARGUMENTS },
            zero: if self.zero == other.zero { self.zero } else { None },
            last_argument: joined_argument(self.last_argument, other.last_argument),
            options: self.options.join(other.options),
            standard: [port(0), port(1), port(2)],
            others: if self.others == other.others { self.others } else { self.joined_others(other, arena) },
            stack: if self.stack == other.stack { self.stack } else { None },
            previous: if self.previous == other.previous { self.previous } else { None },
            stayed: self.stayed || other.stayed,
            settled: self.settled.min(other.settled),
            went: self.went || other.went,
            ended: self.ended && other.ended,
            quietly: self.quietly && other.quietly,
            may_have_ended: self.may_have_ended || other.may_have_ended,
            skips: self.skips.min(other.skips),
            news: joined(self.news, other.news, arena),
        }
    }

    /// A way that has ended is joined: what follows is less certain, or only up to the frame that it has left.
    pub(super) fn miss(&mut self, other: &Self) {
        self.may_have_ended |= !other.quietly;
        self.skips = self.skips.min(other.skips);
    }

    /// Descriptors beyond the first three of both: what they do not agree on is not known.
    fn joined_others(&self, other: &Self, arena: &'a Bump) -> &'a [(u32, Port)] {
        let mut all = self.others.to_vec();
        all.extend(other.others.iter().filter(|(number, _)| self.others.iter().all(|(n, _)| n != number)));
        for (number, port) in &mut all {
            let same = self.port(*number) == other.port(*number);
            *port = if same { self.port(*number) } else { Port::Unknown };
        }
        arena.alloc_slice_copy(&all)
    }

    /// What of it makes later commands do something else.
    pub(super) fn without_status(&self) -> Self {
        let mut flow = Self {
            last_argument: None,
            ended: false,
            quietly: false,
            may_have_ended: false,
            skips: NOWHERE,
            ..*self
        };
        flow.places.forget_status();
        flow
    }

    /// What a descriptor is connected to.
    pub(super) fn port(&self, descriptor: u32) -> Port {
        if let Some(port) = self.standard.get(descriptor as usize) {
            return *port;
        }
        match self.others.iter().find(|(number, _)| *number == descriptor) {
            // The shell may have it: for what a redirection replaced, or by a number that it has chosen.
            None | Some((_, Port::Closed)) if descriptor >= FIRST_OWN => Port::Unknown,
            None => Port::Closed,
            Some((_, port)) => *port,
        }
    }

    /// Whether the script itself has opened a descriptor beyond the first three.
    pub(super) const fn is_open(&self, descriptor: u32) -> bool {
        let mut rest = self.others;
        while let [(number, port), others @ ..] = rest {
            if *number == descriptor {
                return !matches!(port, Port::Closed);
            }
            rest = others;
        }
        false
    }
}

/// Any number of arguments of which nothing is known.
pub(super) static ANY_ARGUMENTS: [Field<'static>; 1] =
    [Field { value: Value::unknown(Origins::UNKNOWN), span: Span { start: 0, end: 0 }, many: true }];

/// What a descriptor is connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Port {
    /// What the caller gave the shell.
    Terminal,
    /// Nothing.
    Closed,
    /// Not known.
    Unknown,
    /// Open for writing: an index into [`Io`](super::io::Io)'s sinks.
    Sink(u32),
    /// Open for reading: an index into its sources.
    Source(u32),
    /// Open for both: source, sink.
    Both(u32, u32),
}

/// The most places that are told apart.
const MOST: usize = 4;

/// The directories in which the shell may be, each with what the last command's status would have been there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Whereabouts<'a> {
    all: [(Option<&'a [u8]>, Status); MOST],
    len: u8,
    /// A place that is not known lies below the workspace.
    within: bool,
}

/// The exit status of the last command, as far as it depends on where the shell now is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    /// It may be anything.
    Either,
    /// Zero.
    Success,
    /// Not zero.
    Failure,
}

impl<'a> Whereabouts<'a> {
    /// One place.
    pub(super) const fn at(place: Option<&'a [u8]>) -> Self {
        Self { all: [(place, Status::Either); MOST], len: 1, within: place.is_some() }
    }

    /// One of these places.
    pub(super) fn narrowed(&self, place: Option<&'a [u8]>) -> Self {
        Self { within: self.within || place.is_some(), ..Self::at(place) }
    }

    /// The places, `None` for one that is not known.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Option<&'a [u8]>, Status)> + '_ {
        self.all.iter().take(usize::from(self.len)).copied()
    }

    /// The place, if there is only one and it is known.
    pub(super) fn only(&self) -> Option<&'a [u8]> {
        if self.len == 1 { self.all.first().and_then(|(place, _)| *place) } else { None }
    }

    /// How many there are.
    pub(super) const fn len(&self) -> u8 {
        self.len
    }

    /// Whether a place that is not known lies below the workspace.
    pub(super) const fn is_within(&self) -> bool {
        self.within
    }

    /// Adds a place. When there are too many, nothing is known.
    pub(super) fn add(&mut self, place: Option<&'a [u8]>, status: Status) {
        self.within &= place.is_some();
        self.add_within(place, status);
    }

    /// The same; if it is not known, it lies below the workspace.
    pub(super) fn add_within(&mut self, place: Option<&'a [u8]>, status: Status) {
        if let Some((_, old)) = self.all.iter_mut().take(usize::from(self.len)).find(|(p, _)| *p == place) {
            if *old != status {
                *old = Status::Either;
            }
            return;
        }
        match self.all.get_mut(usize::from(self.len)) {
            Some(free) => {
                *free = (place, status);
                self.len += 1;
            }
            None => *self = Self::at(None),
        }
    }

    /// No place yet.
    pub(super) const fn nowhere() -> Self {
        Self { all: [(None, Status::Either); MOST], len: 0, within: true }
    }

    /// What covers both.
    fn join(&self, other: &Self) -> Self {
        let mut joined = *self;
        for (place, status) in other.iter() {
            joined.add_within(place, status);
        }
        joined.within &= self.within && other.within;
        joined
    }

    /// The places that are left when the last command succeeded or failed. Some always is.
    pub(super) fn when(&self, succeeded: bool) -> Self {
        let refuted = if succeeded { Status::Failure } else { Status::Success };
        let mut left = Self::nowhere();
        for (place, status) in self.iter().filter(|(_, status)| *status != refuted) {
            left.add_within(place, status);
        }
        left.within &= self.within;
        if left.len == 0 { *self } else { left }
    }

    /// Forgets what the last command's status was: another one has run.
    pub(super) fn forget_status(&mut self) {
        self.conclude(Status::Either);
    }

    /// Wherever the shell is, the last command's status was this.
    pub(super) fn conclude(&mut self, ended: Status) {
        for (_, status) in self.all.iter_mut().take(usize::from(self.len)) {
            *status = ended;
        }
    }

    /// Swaps success and failure (`!`).
    pub(super) fn negate(&mut self) {
        for (_, status) in self.all.iter_mut().take(usize::from(self.len)) {
            *status = match status {
                Status::Either => Status::Either,
                Status::Success => Status::Failure,
                Status::Failure => Status::Success,
            };
        }
    }
}

/// The options of `set` and `shopt` that change what a script means, as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Options {
    on: u16,
    unsure: u16,
}

/// One option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opt {
    /// `set -f`: no globs.
    NoGlob = 1,
    /// `shopt -s nullglob`
    NullGlob = 1 << 1,
    /// `shopt -s extglob`
    ExtGlob = 1 << 2,
    /// Aliases are expanded.
    ExpandAliases = 1 << 3,
    /// `set -k`: assignments anywhere on the line.
    Keyword = 1 << 4,
    /// `set -a`: every assigned variable is exported.
    AllExport = 1 << 5,
    /// `shopt -s lastpipe`: the last stage of a pipeline runs in the shell itself.
    LastPipe = 1 << 6,
    /// `set -e`
    ErrExit = 1 << 7,
    /// `shopt -s nocasematch`: patterns are matched with text in another way.
    OtherMatching = 1 << 8,
    /// `shopt -s dotglob`: names that begin with a dot match, too.
    DotGlob = 1 << 9,
    /// `set -C`: `>` does not replace what is there.
    NoClobber = 1 << 10,
    /// `shopt -s failglob`: a pattern that matches nothing ends the line.
    FailGlob = 1 << 11,
    /// `set -u`: what is not set ends the shell.
    NoUnset = 1 << 12,
    /// `set -x`, `set -v`: what is run is told. `trap '' PIPE`: what prints complains.
    Talk = 1 << 13,
    /// `shopt -s globstar`: `**` stands for any number of directories.
    GlobStar = 1 << 14,
    /// `shopt -s nocaseglob`: capitals and small letters are the same in names of files.
    NoCaseGlob = 1 << 15,
}

impl Options {
    /// Whether it may be on.
    pub(super) const fn may(self, opt: Opt) -> bool {
        (self.on | self.unsure) & opt as u16 != 0
    }

    /// Whether it is surely on.
    pub(super) const fn is(self, opt: Opt) -> bool {
        self.on & opt as u16 != 0
    }

    /// Turns it on or off.
    pub(super) const fn set(&mut self, opt: Opt, on: bool) {
        let bit = opt as u16;
        self.unsure &= !bit;
        if on {
            self.on |= bit;
        } else {
            self.on &= !bit;
        }
    }

    /// Turns it on; once it may be on, it is never surely off again.
    pub(super) const fn admit(&mut self, opt: Opt, on: bool) {
        let was = self.may(opt);
        self.set(opt, on);
        if was && !on {
            self.unsure |= opt as u16;
        }
    }

    /// It may be on or off.
    pub(super) const fn doubt(&mut self, opt: Opt) {
        self.set(opt, false);
        self.unsure |= opt as u16;
    }

    /// Nothing is known of the options any more.
    pub(super) const fn forget(&mut self) {
        self.on = 0;
        self.unsure = u16::MAX;
    }

    pub(super) const fn join(self, other: Self) -> Self {
        Self { on: self.on & other.on, unsure: self.unsure | other.unsure | (self.on ^ other.on) }
    }
}
