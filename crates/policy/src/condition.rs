//! What a rule matches: kinds of effects, the places that they touch, their details and origins.

use crate::Context;
use crate::kinds::{Kinds, Scopes};
use crate::mentions::{Mentions, Said, Seen, Signs};
use shward_analysis::{Covers, Effect, EffectKind, Invocation, Origins, Plan, Rest, Scope, Target, Unknown};
use std::cell::OnceCell;

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
    /// that touches no place. `opaque`: of which the analysis does not know what happens there. `bare`: nothing important lies
    /// at or below it.
    pub(crate) const fn may_hold(&self, kinds: u32, scope: Option<usize>, opaque: bool, bare: bool) -> bool {
        self.kinds.bits() & kinds != 0
            && (opaque || !self.opaque)
            && (!bare || self.covers.is_none())
            && match (self.scopes, scope) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(scopes), Some(scope)) => scopes.contains_index(scope),
            }
    }

    /// Whether it asks what lies at or below a place, and this is an answer to that.
    #[cfg(test)]
    pub(crate) fn is_covered(&self, covers: &Covers) -> bool {
        self.covers.is_some_and(|asks| asks(covers))
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
        let place = effect.invocation().and_then(|at| usize::try_from(at).ok());
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

    /// Where its texts stand.
    const fn said(&self) -> Said<'s> {
        Said { effect: self.effect, invocation: self.invocation, context: self.context }
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
            | EffectKind::Delete { target, .. }
            | EffectKind::Metadata { target, .. }
            | EffectKind::Execute { target, .. } => Some(target),
            _ => None,
        }
    }

    /// Whether it touches no place at or below which something important lies.
    pub(crate) fn is_bare(&self) -> bool {
        self.target().is_none_or(|target| target.covers == Covers::default())
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
        *self.mentions.get_or_init(|| Mentions::of(&self.said(), self.seen))
    }

    /// What the words in them are signs of.
    pub(crate) fn signs(&self) -> Signs {
        *self.signs.get_or_init(|| Signs::of(&self.said(), self.seen))
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

/// The invocations of which the analysis does not understand everything, in order.
pub(crate) fn opaque_invocations(plan: &Plan<'_>, context: &Context<'_>) -> Vec<u32> {
    let mut opaque: Vec<u32> = Vec::new();
    for (index, effect) in plan.effects.iter().enumerate() {
        if let Some(at) = effect.invocation()
            && opaque.last() != Some(&at)
            && Subject::of_effect(effect, index, plan, context).is_opaque()
        {
            opaque.push(at);
        }
    }
    opaque.sort_unstable();
    opaque
}
