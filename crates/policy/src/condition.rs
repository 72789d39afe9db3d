//! What a rule matches: kinds of effects, the places that they touch, their details and origins.

use crate::Context;
use crate::mentions::{Mentions, Seen, Signs};
use shward_analysis::{Covers, Effect, EffectKind, Invocation, Origins, Plan, Rest, Scope, Target, Unknown};
use std::cell::OnceCell;

/// A set of kinds of effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kinds(u32);

impl Kinds {
    pub(crate) const READ: Self = Self(1);
    pub(crate) const LIST: Self = Self(1 << 1);
    pub(crate) const WRITE: Self = Self(1 << 2);
    pub(crate) const DELETE: Self = Self(1 << 3);
    pub(crate) const METADATA: Self = Self(1 << 4);
    pub(crate) const EXECUTE: Self = Self(1 << 5);
    pub(crate) const CODE: Self = Self(1 << 6);
    pub(crate) const CONNECT: Self = Self(1 << 7);
    pub(crate) const LISTEN: Self = Self(1 << 8);
    pub(crate) const SIGNAL: Self = Self(1 << 9);
    pub(crate) const PRIVILEGE: Self = Self(1 << 10);
    pub(crate) const PERSIST: Self = Self(1 << 11);
    pub(crate) const SYSTEM: Self = Self(1 << 12);
    pub(crate) const PACKAGE: Self = Self(1 << 13);
    pub(crate) const VCS: Self = Self(1 << 14);
    pub(crate) const REMOTE: Self = Self(1 << 15);
    pub(crate) const UNKNOWN: Self = Self(1 << 16);
    /// A program that is started, whatever its effects.
    pub(crate) const INVOCATION: Self = Self(1 << 17);
    /// Everything that changes files.
    pub(crate) const CHANGE: Self = Self(Self::WRITE.0 | Self::DELETE.0 | Self::METADATA.0);
    /// Nothing.
    pub(crate) const NONE: Self = Self(0);
    /// Everything that touches a place in the file system.
    pub(crate) const PLACED: Self = Self(Self::CHANGE.0 | Self::READ.0 | Self::LIST.0 | Self::EXECUTE.0);
    /// Everything that text flows into.
    pub(crate) const CARRYING: Self = Self(Self::WRITE.0 | Self::EXECUTE.0 | Self::CODE.0 | Self::CONNECT.0);
    /// How many kinds there are, programs that are started among them.
    pub(crate) const COUNT: usize = 18;
    /// Every effect.
    pub(crate) const EFFECT: Self = Self(Self::INVOCATION.0 - 1);

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// No kind at all.
    pub(crate) const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// As one bit for each kind.
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }

    /// From one bit for each kind.
    pub(crate) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Its place in a table of kinds, if this is one kind.
    pub(crate) const fn index(self) -> usize {
        self.0.trailing_zeros() as usize
    }

    /// The kind of this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        crate::file::keys::EFFECTS.iter().position(|known| *known == name).map(|at| Self(1 << at))
    }

    /// The kind of an effect. A kind that this crate does not know yet counts as not understood.
    pub(crate) fn of(kind: &EffectKind<'_>) -> Self {
        match kind {
            EffectKind::Read { .. } => Self::READ,
            EffectKind::List { .. } => Self::LIST,
            EffectKind::Write { .. } => Self::WRITE,
            EffectKind::Delete { .. } => Self::DELETE,
            EffectKind::Metadata { .. } => Self::METADATA,
            EffectKind::Execute { .. } => Self::EXECUTE,
            EffectKind::Code { .. } => Self::CODE,
            EffectKind::Connect { .. } => Self::CONNECT,
            EffectKind::Listen { .. } => Self::LISTEN,
            EffectKind::Signal { .. } => Self::SIGNAL,
            EffectKind::Privilege { .. } => Self::PRIVILEGE,
            EffectKind::Persist { .. } => Self::PERSIST,
            EffectKind::System { .. } => Self::SYSTEM,
            EffectKind::Package { .. } => Self::PACKAGE,
            EffectKind::Vcs { .. } => Self::VCS,
            EffectKind::Remote { .. } => Self::REMOTE,
            _ => Self::UNKNOWN,
        }
    }
}

/// A set of scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scopes(u16);

impl Scopes {
    pub(crate) const PRODUCT: Self = Self::of(Scope::Product);
    pub(crate) const WORKSPACE: Self = Self::of(Scope::Workspace);
    pub(crate) const TEMP: Self = Self::of(Scope::Temp);
    pub(crate) const REPOSITORY: Self = Self::of(Scope::Repository);
    pub(crate) const ELSEWHERE: Self = Self::of(Scope::Elsewhere);
    pub(crate) const HOME: Self = Self::of(Scope::Home);
    pub(crate) const SYSTEM: Self = Self::of(Scope::System);
    pub(crate) const UNKNOWN: Self = Self::of(Scope::Unknown);
    pub(crate) const PERSISTENCE: Self = Self::of(Scope::Persistence);
    pub(crate) const ENVIRONMENT: Self = Self::of(Scope::Environment);
    pub(crate) const DEVICE: Self = Self::of(Scope::Device);
    pub(crate) const SECRET: Self = Self::of(Scope::Secret);
    pub(crate) const OWN: Self = Self::of(Scope::Own);

    pub(crate) const fn of(scope: Scope) -> Self {
        Self(1 << scope as u16)
    }

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn contains(self, scope: Scope) -> bool {
        self.contains_index(scope as usize)
    }

    const fn contains_index(self, scope: usize) -> bool {
        self.0 & (1 << scope) != 0
    }
}

/// How much of a place is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// A directory with everything in it, a pattern, or what is not known.
    Many,
    /// A directory with everything in it, or a pattern that is known.
    Everything,
    /// A directory with everything in it.
    Tree,
}

/// What a rule matches. Everything that is set must hold; of several values in one field, any.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Condition {
    kinds: Kinds,
    scopes: Option<Scopes>,
    extent: Option<Extent>,
    covers: Option<fn(&Covers) -> bool>,
    details: &'static [&'static str],
    origins: Origins,
    opaque: bool,
    also: Option<fn(&Subject<'_>) -> bool>,
}

/// A condition on these kinds of effects.
pub(crate) const fn on(kinds: Kinds) -> Condition {
    Condition {
        kinds,
        scopes: None,
        extent: None,
        covers: None,
        details: &[],
        origins: Origins::NONE,
        opaque: false,
        also: None,
    }
}

impl Condition {
    /// In one of these scopes.
    pub(crate) const fn at(mut self, scopes: Scopes) -> Self {
        self.scopes = Some(scopes);
        self
    }

    /// Meaning this much.
    pub(crate) const fn extent(mut self, extent: Extent) -> Self {
        self.extent = Some(extent);
        self
    }

    /// With such places at or below it.
    pub(crate) const fn covering(mut self, covers: fn(&Covers) -> bool) -> Self {
        self.covers = Some(covers);
        self
    }

    /// With one of these details: `what`, `action`, `language`, write mode, or reason.
    pub(crate) const fn what(mut self, details: &'static [&'static str]) -> Self {
        self.details = details;
        self
    }

    /// With text from one of these origins.
    pub(crate) const fn from(mut self, origins: Origins) -> Self {
        self.origins = origins;
        self
    }

    /// Of which the analysis does not know what happens there.
    pub(crate) const fn opaque(mut self) -> Self {
        self.opaque = true;
        self
    }

    /// And this holds.
    pub(crate) const fn and(mut self, also: fn(&Subject<'_>) -> bool) -> Self {
        self.also = Some(also);
        self
    }

    /// Whether this may hold for some subject of these kinds whose place has the scope of this number, or, without one,
    /// that touches no place. `opaque`: of which the analysis does not know what happens there.
    pub(crate) const fn may_hold(&self, kinds: u32, scope: Option<usize>, opaque: bool) -> bool {
        self.kinds.bits() & kinds != 0
            && (opaque || !self.opaque)
            && match (self.scopes, scope) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(scopes), Some(scope)) => scopes.contains_index(scope),
            }
    }

    /// Whether the subject is what the rule is about.
    pub(crate) fn holds(&self, subject: &Subject<'_>) -> bool {
        self.kinds.intersects(subject.kinds)
            && (!self.opaque || subject.is_opaque())
            && (self.details.is_empty() || self.details.contains(&subject.detail()))
            && (self.origins.is_empty() || subject.origins().intersects(self.origins))
            && self.holds_of(subject.target())
            && self.also.is_none_or(|also| also(subject))
    }

    fn holds_of(&self, target: Option<&Target<'_>>) -> bool {
        if self.scopes.is_none() && self.extent.is_none() && self.covers.is_none() {
            return true;
        }
        let Some(target) = target else { return false };
        self.scopes.is_none_or(|scopes| scopes.contains(target.scope))
            && self.covers.is_none_or(|covers| covers(&target.covers))
            && self.extent.is_none_or(|extent| match extent {
                Extent::Many => target.tree || target.rest != Rest::Exact,
                Extent::Everything => {
                    (target.tree || target.rest != Rest::Exact) && target.rest != Rest::Unknown
                }
                Extent::Tree => target.tree,
            })
    }
}

/// What a condition is asked about: one effect, or one invocation.
#[derive(Debug, Clone)]
pub(crate) struct Subject<'s> {
    pub(crate) kinds: Kinds,
    pub(crate) effect: Option<&'s Effect<'s>>,
    /// The effect's place among those of the plan.
    pub(crate) index: usize,
    pub(crate) invocation: Option<&'s Invocation<'s>>,
    /// The invocation's place among those of the plan.
    pub(crate) place: Option<usize>,
    /// Of an invocation: some of what it does was not understood.
    pub(crate) opaque: bool,
    pub(crate) plan: &'s Plan<'s>,
    pub(crate) context: &'s Context<'s>,
    /// What its words and its text name, and what their words are signs of, once a rule has asked.
    mentions: OnceCell<Mentions>,
    signs: OnceCell<Signs>,
    /// What was found in texts of the same plan.
    seen: Option<&'s Seen>,
}

impl<'s> Subject<'s> {
    pub(crate) fn of_effect(
        effect: &'s Effect<'s>,
        index: usize,
        plan: &'s Plan<'s>,
        context: &'s Context<'s>,
    ) -> Self {
        let place = effect.invocation.and_then(|at| usize::try_from(at).ok());
        let invocation = place.and_then(|at| plan.invocations.get(at));
        Self {
            kinds: Kinds::of(&effect.kind),
            effect: Some(effect),
            index,
            invocation,
            place,
            opaque: false,
            plan,
            context,
            mentions: OnceCell::new(),
            signs: OnceCell::new(),
            seen: None,
        }
    }

    pub(crate) fn of_invocation(
        invocation: &'s Invocation<'s>,
        place: u32,
        opaque: bool,
        plan: &'s Plan<'s>,
        context: &'s Context<'s>,
    ) -> Self {
        let place = usize::try_from(place).ok();
        let (kinds, invocation) = (Kinds::INVOCATION, Some(invocation));
        let (mentions, signs, seen) = (OnceCell::new(), OnceCell::new(), None);
        Self {
            kinds,
            effect: None,
            index: 0,
            invocation,
            place,
            opaque,
            plan,
            context,
            mentions,
            signs,
            seen,
        }
    }

    /// The same with what was found in texts so far, which long texts are not looked through again for.
    pub(crate) fn with_seen(mut self, seen: &'s Seen) -> Self {
        self.seen = Some(seen);
        self
    }

    /// The place that the effect touches.
    pub(crate) fn target(&self) -> Option<&'s Target<'s>> {
        match &self.effect?.kind {
            EffectKind::Read { target }
            | EffectKind::List { target }
            | EffectKind::Write { target, .. }
            | EffectKind::Delete { target }
            | EffectKind::Metadata { target, .. }
            | EffectKind::Execute { target, .. } => Some(target),
            _ => None,
        }
    }

    /// The detail that tells effects of one kind apart.
    pub(crate) fn detail(&self) -> &'s str {
        let Some(effect) = self.effect else { return "" };
        match effect.kind {
            EffectKind::Write { mode, .. } => mode.name(),
            EffectKind::Metadata { what, .. }
            | EffectKind::Signal { what }
            | EffectKind::Privilege { what }
            | EffectKind::Persist { what }
            | EffectKind::System { what } => what,
            EffectKind::Code { language, .. } => language,
            EffectKind::Package { action }
            | EffectKind::Vcs { action }
            | EffectKind::Remote { action, .. } => action,
            EffectKind::Unknown { reason } => reason.name(),
            EffectKind::Connect { endpoint, .. } | EffectKind::Listen { endpoint } if endpoint.loopback => {
                "loopback"
            }
            _ => "",
        }
    }

    /// Where the text that matters comes from: what is written, sent or executed.
    pub(crate) fn origins(&self) -> Origins {
        match self.effect.map(|effect| &effect.kind) {
            Some(EffectKind::Write { content, .. }) => *content,
            Some(EffectKind::Execute { origin, .. } | EffectKind::Code { origin, .. }) => *origin,
            Some(EffectKind::Connect { sends, .. }) => *sends,
            _ => Origins::NONE,
        }
    }

    /// Whether this is a known file of the workspace: the project's own program, if it is executed.
    pub(crate) fn is_own_code(&self) -> bool {
        let own = |scope| matches!(scope, Scope::Product | Scope::Workspace);
        self.target().is_some_and(|target| target.rest == Rest::Exact && own(target.scope))
    }

    /// Whether the analysis does not know what happens here.
    pub(crate) fn is_opaque(&self) -> bool {
        match self.effect.map(|effect| &effect.kind) {
            Some(EffectKind::Execute { .. }) => !self.is_own_code(),
            Some(EffectKind::Code { language, .. }) => *language != "project",
            Some(EffectKind::Unknown { .. }) => true,
            Some(_) => false,
            None => self.opaque,
        }
    }

    /// What is named in its words and its text.
    pub(crate) fn mentions(&self) -> Mentions {
        *self.mentions.get_or_init(|| Mentions::of(self, self.seen))
    }

    /// What the words in them are signs of.
    pub(crate) fn signs(&self) -> Signs {
        *self.signs.get_or_init(|| Signs::of(self, self.seen))
    }

    /// The cloud, cluster or database that is used.
    pub(crate) fn service(&self) -> Option<&'s str> {
        match self.effect?.kind {
            EffectKind::Remote { service, .. } => Some(service),
            _ => None,
        }
    }

    /// The file name of the program.
    pub(crate) fn program(&self) -> &'s [u8] {
        let program = self.invocation.and_then(|invocation| invocation.program).unwrap_or_default();
        program.rsplit(|b| *b == b'/').next().unwrap_or_default()
    }

    /// The known path of the place, or nothing.
    pub(crate) fn path(&self) -> &'s [u8] {
        self.target().map(|target| target.path).unwrap_or_default()
    }

    /// Why the analysis did not understand it.
    pub(crate) fn reason(&self) -> Option<&'s Unknown<'s>> {
        match &self.effect?.kind {
            EffectKind::Unknown { reason } => Some(reason),
            _ => None,
        }
    }
}

/// Whether a path is this directory or lies below it.
pub(crate) fn is_below(path: &[u8], directory: &[u8]) -> bool {
    let directory = directory.strip_suffix(b"/").unwrap_or(directory);
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}
