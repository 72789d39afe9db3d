//! Secrets among names that a search has found, where what hands on some of these spells their names.
//!
//! `find . | grep '\.env$'` looks for the same files as `find . -name .env`: whoever opens what comes of it opens secrets.

use super::hidden::described;
use super::listed;
use super::narrowing::{Filter, Word, is_capital, is_code};
use super::spelled;
use crate::effect::{EffectKind, Scope, Target, Unknown};
use crate::knowledge::found::{self, Root};
use crate::knowledge::run::{Run, certainty};
use crate::knowledge::scan::Scan;
use crate::knowledge::values;
use crate::knowledge::words::{Fact, Role, Syntax};
use crate::place;
use crate::session::Call;
use crate::value::Field;
use crate::world::FileKind;
use shward_syntax::Span;

/// Most names that one program is told, times the places where they are looked for.
pub(crate) const MOST_LOOKS: usize = 512;

/// What looking at one costs, in steps.
const COST: usize = 192;

/// Most programs before one that are asked what they leave over.
const MOST_NEIGHBOURS: usize = 4;

/// An ending among so many others is no name.
const MANY_ENDINGS: usize = 3;

/// Most words of a search that are looked at.
const MOST_WORDS: usize = 64;

/// A name that is looked for, by a word.
struct Wanted {
    name: Vec<u8>,
    span: Span,
    /// It may be the ending of other names.
    ending: bool,
}

/// A program hands on some of the names that it is given: the secrets that it is told to choose are listed, as by a search for them.
pub(crate) fn choose<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>) {
    // Nobody opens what is only shown.
    if !run.program.has(Fact::Keeps(Syntax::Fixed)) || run.session.shows_output() {
        return;
    }
    let own = chosen(run, scan);
    if scan.operands.len() < 2 {
        narrow(run, &own);
    }
    if own.leaves_out {
        return;
    }
    let mut wanted: Vec<Wanted> = Vec::new();
    for (word, syntax) in &own.words {
        run.session.works(word.text.len());
        let names = spelled::names(word.text, *syntax, own.any_case);
        let (secrets, others): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| place::may_be_secret(name));
        let pathless = !word.text.contains(&b'/') && !word.text.contains(&b'^');
        let endings = others.iter().filter(|name| spelled::is_ending(name) && !is_capital(name)).count();
        // One ending of many.
        if pathless
            && endings >= MANY_ENDINGS
            && secrets.iter().filter(|name| !is_capital(name)).count() == 1
            && secrets.iter().all(|name| spelled::is_ending(name))
        {
            continue;
        }
        let ended = pathless && *syntax != Syntax::Fixed && word.text.ends_with(b"$");
        // A dot that means any character, and not the dot.
        let loose = *syntax != Syntax::Fixed && !word.text.iter().any(|byte| b"\\[".contains(byte));
        let secrets = secrets.into_iter().filter(|name| !(loose && is_code(name)));
        wanted.extend(secrets.map(|name| {
            let ending = ended && spelled::is_ending(&name);
            Wanted { name, span: word.span, ending }
        }));
    }
    wanted.sort_unstable_by(|one, other| (&one.name, one.ending).cmp(&(&other.name, other.ending)));
    wanted.dedup_by(|one, other| one.name == other.name);
    if !wanted.is_empty() {
        let open = own.is_open();
        for earlier in before(run) {
            if let Some(filter) = beside(run, earlier) {
                run.session.works(filter.size() * wanted.len());
                wanted.retain(|wanted| !filter.excludes(&wanted.name, open));
            }
        }
    }
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
    for Wanted { name, span, ending } in wanted {
        let name = &*run.arena().alloc_slice_copy(&name);
        for root in roots.iter().filter(|root| !(ending && root.is_told_part()) && root.may_find(name)) {
            if let Some(secret) = found::secret(run, root.target, name, span) {
                list(run, &secret);
            }
        }
    }
}

/// What a program is told to look for in lines.
fn chosen<'a>(run: &Run<'_, 'a>, scan: &Scan<'a>) -> Filter<'a> {
    let first = scan.operands_line().and_then(|line| line.items.iter().next());
    let first = first.filter(|item| item.role == Role::Text).and_then(|_| scan.operands.first().copied());
    let values =
        scan.own().iter().filter(|given| given.option.role == Role::Text).filter_map(|given| given.value);
    let told = first
        .into_iter()
        .chain(values.copied())
        .filter_map(|field| Some(Word { text: field.known()?, span: field.span }));
    let told = told.collect::<Vec<_>>();
    let syntaxes = run.program.keeps().filter(|(_, known)| scan.allows(known)).map(|(syntax, _)| syntax);
    let words = syntaxes.flat_map(|syntax| told.iter().map(move |word| (*word, syntax))).collect();
    Filter { words, leaves_out: run.has(Fact::LeavesOut, scan), any_case: run.has(Fact::AnyCase, scan) }
}

/// What another program of the pipeline keeps of lines, or leaves out, if its options say no more of that than is known of them.
fn beside<'a>(run: &mut Run<'_, 'a>, invocation: u32) -> Option<Filter<'a>> {
    let words = run.session.words_of(Some(invocation));
    let (name, program) = described(words).filter(|(_, program)| program.has(Fact::Keeps(Syntax::Fixed)))?;
    run.session.works(words.len());
    let told = run.session.effects().len();
    let call = Call { argv: words, ..run.call };
    let mut other = Run { session: &mut *run.session, call, name, program };
    let at = other.start();
    let scan = other.scan(&at);
    let filter = chosen(&other, &scan);
    // It has said itself what it does.
    other.session.effects().truncate(told);
    let facts = [Fact::Keeps(Syntax::Fixed), Fact::LeavesOut, Fact::AnyCase];
    let is_known =
        |option| facts.iter().any(|fact| program.facts(*fact).any(|known| known.options.contains(&option)));
    let is_one = scan.operands.len() == 1 && scan.own().iter().all(|given| is_known(given.name));
    is_one.then_some(filter)
}

/// Of the secrets that the program before it has chosen, those are over that this one does not hand on.
fn narrow(run: &mut Run<'_, '_>, own: &Filter<'_>) {
    let Some(earlier) = before(run).into_iter().find(|at| listed::chooses(run.session.words_of(Some(*at))))
    else {
        return;
    };
    if run.session.is_spent(Some(earlier)) {
        return;
    }
    let ends = |word: &Field<'_>| word.known().is_some_and(|word| word.ends_with(b"$") || word == b"-x");
    let open = !run.session.words_of(Some(earlier)).iter().any(ends);
    let upstream = run.session.upstream();
    let told = run.session.effects().len();
    run.session.works(told.saturating_sub(upstream));
    let listed = run.session.effects().iter().skip(upstream).filter_map(|effect| match effect.kind {
        EffectKind::List { target }
            if effect.invocation() == Some(earlier) && target.scope >= Scope::Secret =>
        {
            Some((target, effect.span, effect.certainty))
        }
        _ => None,
    });
    let listed = listed.collect::<Vec<_>>();
    run.session.works(own.size().saturating_mul(listed.len()));
    let (over, left): (Vec<_>, Vec<_>) =
        listed.into_iter().partition(|(target, ..)| own.excludes(values::base_name(target.path), open));
    if over.is_empty() {
        return;
    }
    run.session.spends(earlier);
    for (target, span, certainty) in left {
        run.emit(EffectKind::List { target }, span, certainty);
    }
}

/// The programs of the pipeline just before this one that hand on lines, the next one first.
fn before(run: &Run<'_, '_>) -> Vec<u32> {
    let Some(current) = run.session.invocation().filter(|_| run.call.piped) else { return Vec::new() };
    let earlier = (run.session.upstream_calls()..current).rev().take(MOST_NEIGHBOURS);
    earlier.take_while(|at| listed::hands_on_lines(run.session.words_of(Some(*at)))).collect()
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
    let meant = names.filter(|name| place::may_be_secret(name)).take(MOST_WORDS);
    meant.map(|name| &*run.arena().alloc_slice_copy(&name)).collect()
}
