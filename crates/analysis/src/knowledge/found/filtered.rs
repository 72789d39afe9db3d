//! Secrets among names that a search has found, where what hands on some of these spells their names.
//!
//! `find . | grep '\.env$'` looks for the same files as `find . -name .env`: whoever opens what comes of it opens secrets.

use super::listed;
use super::spelled;
use crate::effect::{EffectKind, Scope, Target, Unknown};
use crate::knowledge::found::{self, Root};
use crate::knowledge::run::{Run, certainty};
use crate::knowledge::scan::Scan;
use crate::knowledge::words::{Fact, Role, Syntax};
use crate::place;
use crate::value::Field;
use crate::world::FileKind;
use shward_syntax::Span;

/// Most names that one program is told, times the places where they are looked for.
pub(crate) const MOST_LOOKS: usize = 512;

/// What looking at one costs, in steps.
const COST: usize = 192;

/// Most names that one word of a search spells.
const MOST_NAMES: usize = 64;

/// A program hands on some of the names that it is given: the secrets that it is told to choose are listed, as by a search for them.
/// What other programs of the pipeline do not hand on of these is not known.
pub(crate) fn choose<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>) {
    // Nobody opens what is only shown.
    if !run.program.has(Fact::Keeps(Syntax::Fixed))
        || run.session.shows_output()
        || run.has(Fact::LeavesOut, scan)
    {
        return;
    }
    let any_case = run.has(Fact::AnyCase, scan);
    let mut wanted: Vec<(Vec<u8>, Span)> = Vec::new();
    for (word, syntax) in chosen(run, scan) {
        let Some(text) = word.known() else { continue };
        run.session.works(text.len());
        let secrets =
            spelled::names(text, syntax, any_case).into_iter().filter(|name| place::may_be_secret(name));
        wanted.extend(secrets.map(|name| (name, word.span)));
    }
    wanted.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    wanted.dedup_by(|(one, _), (other, _)| one == other);
    if wanted.is_empty() {
        return;
    }
    let span = run.call.span;
    let (roots, _) = listed::listed(run, span);
    // Each of these was held against the others.
    run.session.works(roots.len() * roots.len());
    let roots = roots.into_iter().filter(|root| holds_others(run, root)).collect::<Vec<_>>();
    let looks = wanted.len().saturating_mul(roots.len());
    run.session.works(looks.saturating_mul(COST));
    if looks > MOST_LOOKS {
        return run.not_understood(Unknown::Budget("names in an expression"), span);
    }
    for (name, span) in wanted {
        let name = &*run.arena().alloc_slice_copy(&name);
        for root in roots.iter().filter(|root| root.may_find(name)) {
            if let Some(secret) = found::secret(run, root.target, name, span) {
                list(run, &secret);
            }
        }
    }
}

/// What a program is told to look for in lines, and how that is read.
fn chosen<'a>(run: &Run<'_, 'a>, scan: &Scan<'a>) -> Vec<(Field<'a>, Syntax)> {
    let first = scan.operands_line().and_then(|line| line.items.iter().next());
    let first = first.filter(|item| item.role == Role::Text).and_then(|_| scan.operands.first().copied());
    let values =
        scan.own().iter().filter(|given| given.option.role == Role::Text).filter_map(|given| given.value);
    let told = first.into_iter().chain(values.copied()).collect::<Vec<_>>();
    let syntaxes = run.program.keeps().filter(|(_, known)| scan.allows(known)).map(|(syntax, _)| syntax);
    syntaxes.flat_map(|syntax| told.iter().map(move |word| (*word, syntax))).collect()
}

/// Whether what is found below a place are other files than it is itself, and it is no secret as a whole.
fn holds_others(run: &Run<'_, '_>, root: &Root<'_>) -> bool {
    root.target.scope != Scope::Secret && run.session.world().kind(root.target.path) != FileKind::File
}

/// A secret that is looked for by its name is listed as such: who reads the list and opens what it names opens it.
pub(crate) fn list<'a>(run: &mut Run<'_, 'a>, secret: &Root<'a>) {
    let named = secret.field(run.arena());
    let target = run.target(&named.value, false);
    let target = Target { scope: target.scope.max(secret.target.scope), ..target };
    run.emit(EffectKind::List { target }, named.span, certainty(&named));
}

/// The names in a regular expression that programs read as `syntax`, or in one of some.
pub(crate) fn spelled_in<'a>(
    run: &Run<'_, 'a>,
    word: &Field<'a>,
    syntaxes: &[Syntax],
    any_case: bool,
) -> Vec<&'a [u8]> {
    let Some(text) = word.known() else { return Vec::new() };
    let names = syntaxes.iter().flat_map(|syntax| spelled::names(text, *syntax, any_case));
    let meant = names.filter(|name| place::may_be_secret(name)).take(MOST_NAMES);
    meant.map(|name| &*run.arena().alloc_slice_copy(&name)).collect()
}
