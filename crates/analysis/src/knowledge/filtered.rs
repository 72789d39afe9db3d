//! Secrets among names that a search has found, where what hands on some of these spells their names.
//!
//! `find . | grep '\.env$'` looks for the same files as `find . -name .env`: whoever opens what comes of it opens secrets.

use super::found::{self, Root};
use super::run::{Run, certainty};
use super::scan::Scan;
use super::spelled;
use super::values;
use super::words::{Fact, Role, Syntax};
use crate::effect::{EffectKind, Scope, Target, Unknown};
use crate::place;
use crate::value::Field;
use crate::world::FileKind;
use shward_syntax::Span;

/// Most names that one program is told, times the places where they are looked for.
const MOST_LOOKS: usize = 512;

/// What looking at one costs, in steps.
const COST: usize = 192;

/// Most words of a search that are looked at.
const MOST_WORDS: usize = 64;

/// A program hands on some of the names that it is given: the secrets that it is told to choose are listed, as by a search for them.
pub(super) fn choose(run: &mut Run<'_, '_>, scan: &Scan<'_>) {
    // Nobody opens what is only shown.
    if !run.program.has(Fact::Keeps(Syntax::Fixed))
        || run.has(Fact::LeavesOut, scan)
        || run.session.shows_output()
    {
        return;
    }
    let first = scan.operands_line().and_then(|line| line.items.iter().next());
    let first = first.filter(|item| item.role == Role::Text).and_then(|_| scan.operands.first());
    let values =
        scan.own().iter().filter(|given| given.option.role == Role::Text).filter_map(|given| given.value);
    let any_case = run.has(Fact::AnyCase, scan);
    let mut names: Vec<(Vec<u8>, Span)> = Vec::new();
    for (syntax, _) in run.program.keeps().filter(|(_, known)| scan.allows(known)) {
        for word in first.into_iter().chain(values.clone()) {
            let Some(text) = word.known() else { continue };
            run.session.works(text.len());
            let meant = spelled::names(text, syntax, any_case).into_iter();
            names.extend(meant.filter(|name| place::may_be_secret(name)).map(|name| (name, word.span)));
        }
    }
    names.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    names.dedup_by(|one, other| one.0 == other.0);
    if names.is_empty() {
        return;
    }
    let span = run.call.span;
    let (roots, _) = found::listed(run, span);
    // Each of these was held against the others.
    run.session.works(roots.len() * roots.len());
    let roots = roots.into_iter().filter(|root| holds_others(run, root)).collect::<Vec<_>>();
    let looks = names.len().saturating_mul(roots.len());
    run.session.works(looks.saturating_mul(COST));
    if looks > MOST_LOOKS {
        return run.not_understood(Unknown::Budget("names in an expression"), span);
    }
    for (name, span) in names {
        let name = &*run.arena().alloc_slice_copy(&name);
        for root in roots.iter().filter(|root| root.may_find(name)) {
            if let Some(secret) = found::secret(run, root.target, name, span) {
                list(run, &secret);
            }
        }
    }
}

/// Whether what is found below a place are other files than it is itself, and it is no secret as a whole.
fn holds_others(run: &Run<'_, '_>, root: &Root<'_>) -> bool {
    root.target.scope != Scope::Secret && run.session.world().kind(root.target.path) != FileKind::File
}

/// A secret that is looked for by its name is listed as such: who reads the list and opens what it names opens it.
pub(super) fn list<'a>(run: &mut Run<'_, 'a>, secret: &Root<'a>) {
    let named = secret.field(run.arena());
    let target = run.target(&named.value, false);
    let target = Target { scope: target.scope.max(secret.target.scope), ..target };
    run.emit(EffectKind::List { target }, named.span, certainty(&named));
}

/// The names in a regular expression that programs read as `syntax`, or in one of some.
pub(super) fn spelled_in<'a>(
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

impl Root<'_> {
    /// Whether a search may find a file of this name here, by what its words say of names: `-name '*.ts'` does not.
    fn may_find(&self, name: &[u8]) -> bool {
        let Some((words, lists)) = self.sought else { return true };
        let words = words.get(..MOST_WORDS.min(words.len())).unwrap_or_default();
        let known = |at: usize| words.get(at).and_then(Field::known);
        // What is named before is not gone into.
        let pruned = words.iter().rposition(|word| word.known() == Some(b"-prune")).unwrap_or_default();
        let (mut says, mut fits) = (false, false);
        let mut groups: Vec<bool> = Vec::new();
        let (mut negated, mut out) = (false, false);
        for at in 1..words.len() {
            let Some(word) = known(at) else { continue };
            let outer = groups.last().copied().unwrap_or_default();
            match word {
                b"!" | b"-not" => negated = !negated,
                b"(" => groups.push(outer ^ std::mem::take(&mut negated)),
                b")" => {
                    groups.pop();
                }
                _ => {}
            }
            if matches!(word, b"!" | b"-not" | b"(" | b")") {
                continue;
            }
            // What negates a test stands before it, and its value behind it.
            let left_out = std::mem::replace(&mut out, outer ^ std::mem::take(&mut negated));
            let Some((pattern, by_path)) = told(word, known(at - 1), lists) else { continue };
            let (left_out, pattern) = match pattern.strip_prefix(b"!") {
                Some(pattern) => (!left_out, pattern),
                None => (left_out, pattern),
            };
            if at < pruned {
                continue;
            }
            let base = values::base_name(pattern);
            let is_meant = values::fits(&name.to_ascii_lowercase(), &base.to_ascii_lowercase());
            if !left_out {
                says = true;
                fits |= is_meant;
            } else if is_meant && !base.iter().all(|byte| *byte == b'*') {
                let above = pattern.strip_suffix(base).unwrap_or_default();
                if !by_path || matches!(above, b"" | b"*/" | b"**/") {
                    return false;
                }
            }
        }
        fits || !says
    }
}

/// The pattern for names, or for paths, that a word of a search is, with that before it.
fn told<'a>(word: &'a [u8], before: Option<&[u8]>, lists: bool) -> Option<(&'a [u8], bool)> {
    let before = before.unwrap_or_default();
    if let Some(at) = word.iter().position(|byte| *byte == b'=') {
        let (option, value) = word.split_at_checked(at)?;
        return found::CHOOSING.contains(&option).then_some((value.get(1..)?, false));
    }
    if found::CHOOSING.contains(&before) || matches!(before, b"-name" | b"-iname") {
        return Some((word, false));
    }
    let by_path = before.starts_with(b"-") && (before.ends_with(b"path") || before.ends_with(b"wholename"));
    if by_path || before.starts_with(b"-") && before.ends_with(b"regex") && word != b".*" {
        return Some((word, true));
    }
    // Of what reads, an operand may be the text that is looked for.
    let operand = lists && !word.starts_with(b"-") && !before.starts_with(b"-") && word.contains(&b'*');
    operand.then_some((word, true))
}
