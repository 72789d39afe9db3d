//! Directories that the command surely makes itself: nothing was there before, so that nothing of anybody else's is lost when it
//! deletes them again, unless it has moved something there meanwhile.

use super::Interpreter;
use super::racing::Aside;
use crate::effect::{EffectKind, Rest, Scope, Target};
use crate::world::FileKind;
use bumpalo::Bump;

/// So many are kept in mind.
const MOST: usize = 8;

/// A directory that the command has made where there was none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct New<'a> {
    path: &'a [u8],
    /// How much had been removed or moved away elsewhere by then.
    since: u32,
    /// The last command made it, if that has succeeded.
    pending: bool,
}

/// What may have been moved to a new directory.
#[derive(Debug, Default)]
pub(super) struct Gone<'a> {
    /// How often something was removed, or moved elsewhere, that was there before.
    times: u32,
    /// The same beside what follows.
    beside: bool,
    /// What the program makes that is being run, with its invocation.
    making: Vec<(Option<u32>, &'a [u8])>,
}

/// Those of both, of two ways that may have led to the same place.
pub(super) fn joined<'a>(one: &'a [New<'a>], other: &'a [New<'a>], arena: &'a Bump) -> &'a [New<'a>] {
    if one == other {
        return one;
    }
    arena.alloc_slice_fill_iter(one.iter().filter(|new| other.contains(new)).copied().collect::<Vec<_>>())
}

impl<'a> Interpreter<'a, '_> {
    /// The program that is being run fails if something is there already.
    pub(super) fn makes_where_nothing_is(&mut self, target: &Target<'a>) {
        let own = matches!(target.scope, Scope::Workspace | Scope::Temp) && target.rest == Rest::Exact;
        if own
            && !self.elsewhere
            && !self.searches_workspace
            && self.stands_alone()
            && self.moving.gone.making.len() < MOST
        {
            self.moving.gone.making.push((self.current, target.path));
        }
    }

    /// The program has run: what it has made is new if it has succeeded.
    pub(super) fn has_made(&mut self, invocation: Option<u32>) {
        if self.moving.gone.making.is_empty() {
            return;
        }
        let making = std::mem::take(&mut self.moving.gone.making);
        let mut news = self.state.flow.news.to_vec();
        let since = self.moving.gone.times;
        for (_, path) in making.into_iter().filter(|(by, _)| *by == invocation) {
            news.push(New { path, since, pending: true });
        }
        if news.len() <= MOST {
            self.state.flow.news = self.arena.alloc_slice_copy(&news);
        }
    }

    /// What the last command has made is there if it has succeeded, and if not, it may have been there before.
    pub(super) fn conclude_news(&mut self, succeeded: bool) {
        let news = self.state.flow.news;
        if news.iter().all(|new| !new.pending) {
            return;
        }
        let left: Vec<_> = news
            .iter()
            .filter(|new| succeeded || !new.pending)
            .map(|new| New { pending: false, ..*new })
            .collect();
        self.state.flow.news = self.arena.alloc_slice_copy(&left);
    }

    /// Whether nothing runs beside what is being run, and nothing runs in between.
    fn stands_alone(&self) -> bool {
        self.scripts.aside() == Aside::No && !self.in_trap && !self.trapped
    }

    /// Of a directory that the command has made itself nothing is lost that was there before.
    pub(super) fn own_deleted(&mut self, kind: EffectKind<'a>) -> EffectKind<'a> {
        let EffectKind::Delete { target, kept } = kind else { return kind };
        if matches!(target.scope, Scope::Product | Scope::Harmless) || self.elsewhere {
            return kind;
        }
        let settled = !self.moving.gone.beside && self.stands_alone();
        let since = self.moving.gone.times;
        let news = self.state.flow.news;
        let is_own = |new: &New<'a>| !new.pending && new.since == since;
        let itself = |new: &New<'a>| new.path == target.path && target.rest == Rest::Exact;
        let own = settled && (news.iter().any(|new| itself(new) && is_own(new)) || self.was_missing(&target));
        let own = own && !self.may_hold_others();
        if news.iter().any(itself) {
            let left: Vec<_> = news.iter().filter(|new| !itself(new)).copied().collect();
            self.state.flow.news = self.arena.alloc_slice_copy(&left);
        }
        let inside = |new: &New<'a>| {
            let rest = target.path.strip_prefix(new.path);
            is_own(new) && target.rest != Rest::Unknown && rest.is_some_and(|rest| rest.starts_with(b"/"))
        };
        if own || settled && news.iter().any(inside) {
            return EffectKind::Delete { target, kept: kept || own };
        }
        self.moving.gone.times = since.saturating_add(1);
        self.moving.gone.beside |= self.scripts.aside() != Aside::No;
        kind
    }

    /// Whether there was nothing at a place when the command began, and so far it has moved nothing that could be there now.
    fn was_missing(&mut self, target: &Target<'a>) -> bool {
        let place = matches!(target.scope, Scope::Workspace | Scope::Temp) && target.rest == Rest::Exact;
        place
            && target.tree
            && self.moving.gone.times == 0
            && self.world.kind(target.path) == FileKind::Missing
    }

    /// Whether something may have been moved there that is nowhere else: out of a stash, as a repository (`git init
    /// --separate-git-dir`), or by what was not read.
    fn may_hold_others(&mut self) -> bool {
        let moves = |kind: &EffectKind<'a>| match kind {
            EffectKind::Vcs { action } => matches!(*action, "stash" | "config"),
            EffectKind::Code { language, .. } => *language != "project",
            EffectKind::Unknown { .. } => true,
            _ => false,
        };
        !self.budget.spend(self.effects.len() / 4) || self.effects.iter().any(|effect| moves(&effect.kind))
    }
}
