//! The places that an earlier part of a command has looked at: what it printed lies at or below these.

use super::hidden::{chosen, described, finds_any};
use super::picked;
use super::root::{MOST_WORDS, NAME, Root};
use crate::effect::{Covers, Effect, EffectKind, Rest, Scope, Target};
use crate::knowledge::run::Run;
use crate::knowledge::tables;
use crate::knowledge::words::{Fact, Syntax};
use crate::value::{Field, Origins};
use shward_syntax::Span;

/// Most places that are told apart; and as many secrets that were looked for by name, which take no place from the others.
const MAX_ROOTS: usize = 64;

/// Most programs of a pipeline that are looked at.
const MOST_STAGES: usize = 64;

/// The places that names printed by an earlier part of the command lie at or below, and whether they may lie anywhere
/// else.
pub(crate) fn listed<'a>(run: &mut Run<'_, 'a>, span: Span) -> (Vec<Root<'a>>, bool) {
    let upstream = if run.call.piped { run.session.upstream() } else { 0 };
    listed_since(run, upstream, span)
}

/// The same of what was looked at by the effects from `upstream` on.
pub(crate) fn listed_since<'a>(run: &mut Run<'_, 'a>, upstream: usize, span: Span) -> (Vec<Root<'a>>, bool) {
    let mut roots: Vec<Root<'a>> = Vec::new();
    let here = run.session.cwd();
    let told = run.session.effects().len();
    run.session.works(told);
    let looked = |(at, effect): (usize, &Effect<'a>)| match effect.kind {
        EffectKind::List { target } => Some((at, target, effect.invocation(), true)),
        EffectKind::Read { target } => Some((at, target, effect.invocation(), false)),
        _ => None,
    };
    let looked: Vec<_> = run.session.effects().iter().enumerate().filter_map(looked).collect();
    let apart = upstream > 0 && prints_by_itself(run, looked.iter().any(|(at, ..)| *at >= upstream));
    let mut elsewhere = false;
    let mut counts = [0; 2];
    for (at, target, invocation, lists) in looked {
        if target.rest == Rest::Unknown || target.path.is_empty() {
            // Names below a place that is not known.
            elsewhere = true;
            continue;
        }
        let words = run.session.words_of(invocation);
        let picked = lists && target.scope >= Scope::Secret;
        // What was chosen among other names before is none of those that this pipeline prints.
        if picked && apart && at < upstream && chooses(words) {
            continue;
        }
        // Names may be relative to where they were printed.
        let printed_here = here.is_some() && run.session.worked_in(invocation) == here;
        elsewhere |= at >= upstream && !printed_here;
        let filtered = target.rest == Rest::Below;
        // What is printed of the working directory begins with `./`, or is below it.
        let itself = !filtered && here != Some(target.path);
        let sought = Some((words, lists));
        // Below another place each begins with the name of that.
        let led = here != Some(target.path) || leads(words) || !lists && hands_on(words);
        let whole = lists && (target.tree || filtered) && !chosen(run, invocation);
        let hidden = whole && finds_any(words);
        let root = Root {
            target,
            pattern: None,
            within: None,
            itself,
            filtered,
            sought,
            led,
            hidden,
            picked,
            again: false,
            span,
        };
        if let Some(other) = roots.iter_mut().find(|r| r.target == root.target) {
            other.led &= led;
            other.again |= other.sought != sought;
            continue;
        }
        let [others, secrets] = &mut counts;
        let count = if picked { secrets } else { others };
        if *count < MAX_ROOTS {
            *count += 1;
            roots.push(root);
            continue;
        }
        // Whatever comes last, what matters most is told.
        elsewhere = true;
        run.session.works(MAX_ROOTS / 2);
        let alike = roots.iter().enumerate().filter(|(_, other)| other.picked == picked);
        let least = alike.min_by_key(|(_, other)| weight(&other.target)).map(|(at, _)| at);
        if let Some(least) = least
            .filter(|at| roots.get(*at).is_some_and(|other| weight(&other.target) < weight(&root.target)))
        {
            roots.remove(least);
            roots.push(root);
        }
    }
    let places = roots.iter().map(|root| root.target.path).collect::<Vec<_>>();
    for root in roots.iter_mut().filter(|root| root.picked) {
        run.session.works(places.len() / 4);
        root.picked = picked::lies_below(root.target.path, &places);
    }
    (roots, elsewhere)
}

/// Whether the names that a program prints begin with the places that it is given, which stand there letter by letter.
fn leads(words: &[Field<'_>]) -> bool {
    let Some((name, words)) = words.split_first() else { return false };
    let program = name.known().and_then(tables::program);
    program.is_some_and(|(_, program)| program.has(Fact::NamesLed))
        && words.len() <= MOST_WORDS
        && words.iter().all(|word| word.known().is_some())
}

/// Whether a program that reads is given names that were found, and else nothing but text that stands there: what it prints of them
/// is told as they are.
fn hands_on(words: &[Field<'_>]) -> bool {
    let found = |word: &Field<'_>| word.value == NAME;
    words.len() <= MOST_WORDS
        && words.iter().any(found)
        && words.iter().all(|word| word.known().is_some() || found(word))
}

/// How much depends on what lies at a place.
const fn weight(target: &Target<'_>) -> ([bool; 9], Scope) {
    let Covers { root, home, own, guarded, system, secrets, processes, repository, workspace, .. } =
        target.covers;
    ([root, home, own, guarded, system, secrets, processes, repository, workspace], target.scope)
}

/// Whether a program chooses among the lines that it is given.
fn chooses(words: &[Field<'_>]) -> bool {
    described(words).is_some_and(|(_, program)| program.has(Fact::Keeps(Syntax::Fixed)))
}

/// Whether a program hands on lines, all or some.
fn hands_on_lines(words: &[Field<'_>]) -> bool {
    described(words).is_some_and(|(_, program)| program.has(Fact::SameLines))
}

/// Whether the programs of the pipeline that is being run print names, and hand on no others: none of their words is one that was found
/// before, and none reads such text but to choose among it.
fn prints_by_itself(run: &Run<'_, '_>, looks: bool) -> bool {
    let Some(current) = run.session.invocation().filter(|_| looks && run.call.piped) else { return false };
    let stages = run.session.upstream_calls()..current;
    if stages.len() > MOST_STAGES || run.session.has_open_files() {
        return false;
    }
    stages.into_iter().all(|stage| {
        let words = run.session.words_of(Some(stage));
        !words.is_empty()
            && words.iter().all(|word| !word.value.origins.intersects(Origins::NAMES | Origins::FOUND))
            && (!run.session.given_to(stage).contains(Origins::NAMES) || hands_on_lines(words))
    })
}
