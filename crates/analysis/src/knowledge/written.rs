//! Files that the same script has written before, found by their names.

use super::image::List;
use super::run::Run;
use super::values;
use crate::effect::{EffectKind, Unknown};
use crate::value::{Field, Origins, Piece};

/// More effects than this are not searched for files that were written.
pub(super) const MAX_SEARCHED: usize = 1024;

/// Most files that one program is followed into.
pub(super) const MAX_FILES: usize = 16;

/// Whether the script may have written files with names that fit one of the patterns.
pub(super) fn any(run: &mut Run<'_, '_>, patterns: List<&'static str>) -> bool {
    !fitting(run, patterns).is_empty()
}

/// Before fewer effects than this it does not pay to take patterns apart.
const FEW: usize = 8;

/// Before as many as this, all that can be said of each pattern is said first.
const MANY: usize = 64;

/// The [`files`] with names that fit one of the patterns. There may be dozens, and each is held against each file.
pub(super) fn fitting<'a>(run: &mut Run<'_, 'a>, patterns: List<&'static str>) -> Vec<&'a [u8]> {
    if run.session.effects().len() < FEW {
        return files(run, |name| patterns.iter().any(|pattern| names(name, pattern.as_bytes())));
    }
    if run.session.effects().len() >= MANY {
        let apart: Vec<_> = patterns.iter().map(|pattern| Ending::of(pattern.as_bytes())).collect();
        return files(run, |name| apart.iter().any(|ending| ending.fits(name)));
    }
    let last = |pattern: &[u8]| pattern.last().copied().filter(|byte| !matches!(byte, b'*' | b'\\'));
    let apart: Vec<_> =
        patterns.iter().map(|pattern| (last(pattern.as_bytes()), pattern.as_bytes())).collect();
    files(run, |name| {
        let end = name.last().copied();
        apart.iter().any(|(last, pattern)| (last.is_none() || *last == end) && names(name, pattern))
    })
}

/// The files of this name that the script has written in other directories than the one where the program runs.
pub(super) fn of_name<'a>(run: &mut Run<'_, 'a>, name: &'static [u8]) -> Vec<&'a [u8]> {
    if !run.session.has_made_files() {
        return Vec::new();
    }
    let here = values::field(name, Origins::LITERAL, run.call.span);
    let here = run.session.target(&here.value).path;
    let mut found = files(run, |path| values::base_name(path) == name);
    found.retain(|path| !path.is_empty() && *path != here);
    found
}

/// The files with names that fit, and that the script may have written before, the last first. Where it
/// did more than is searched, what it wrote is not known: an empty path.
pub(super) fn files<'a>(run: &mut Run<'_, 'a>, fits: impl Fn(&[u8]) -> bool) -> Vec<&'a [u8]> {
    let own = run.session.invocation();
    let mut found: Vec<&'a [u8]> = Vec::new();
    let mut searched = 0usize;
    for effect in run.session.effects().iter().rev() {
        if own.is_some() && effect.invocation() == own {
            continue;
        }
        searched += 1;
        if let EffectKind::Write { target, .. } = effect.kind
            && fits(target.path)
            && !found.contains(&target.path)
        {
            found.push(target.path);
        }
        if searched > MAX_SEARCHED || found.len() > MAX_FILES {
            found = vec![b""];
            break;
        }
    }
    // Each is held against some patterns.
    run.session.works(4 * searched);
    found
}

/// Whether the end of a path, of as many names as the pattern has, fits it.
pub(super) fn names(path: &[u8], pattern: &[u8]) -> bool {
    // Most end otherwise.
    path.ends_with(literal(pattern)) && Ending::of(pattern).fits(path)
}

/// The text behind the last sign of a pattern.
fn literal(pattern: &[u8]) -> &[u8] {
    let special = pattern.iter().rposition(|byte| matches!(byte, b'*' | b'\\'));
    special.map_or(Some(pattern), |at| pattern.get(at + 1..)).unwrap_or_default()
}

/// A pattern, and what can be said of it once for all paths that are held against it.
struct Ending<'p> {
    pattern: &'p [u8],
    literal: &'p [u8],
    slashes: usize,
}

impl<'p> Ending<'p> {
    fn of(pattern: &'p [u8]) -> Self {
        let slashes = pattern.iter().filter(|byte| **byte == b'/').count();
        Self { pattern, literal: literal(pattern), slashes }
    }

    fn fits(&self, path: &[u8]) -> bool {
        // Most end otherwise, already in the last letter.
        let last = self.literal.last();
        if last.is_some() && last != path.last() || !path.ends_with(self.literal) {
            return false;
        }
        let start = path.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/').nth(self.slashes);
        let end = start.and_then(|(at, _)| path.get(at + 1..));
        end.is_some_and(|end| values::fits(end, self.pattern))
    }
}

/// A pattern that may stand for the name of a file which the script has made, and which looks like an option, is not known
/// to be a name to the program.
pub(super) fn options_by_name(run: &mut Run<'_, '_>) {
    if !run.session.has_made_files() {
        return;
    }
    let is_pattern = |word: &&Field<'_>| matches!(word.value.pieces().first(), Some(Piece::Glob(_)));
    let Some(word) = run.call.argv.iter().find(is_pattern) else { return };
    let dashed = |path: &[u8]| values::base_name(path).starts_with(b"-");
    if !files(run, dashed).is_empty() {
        run.not_understood(Unknown::Argument, word.span);
    }
}
