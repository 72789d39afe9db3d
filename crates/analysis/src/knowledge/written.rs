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

/// What a script has written, found once for all patterns that it is held against. There may be dozens.
#[derive(Default)]
pub(super) struct Written<'a> {
    found: Option<Found<'a>>,
}

/// The same, as long as nothing more was told than this many effects.
struct Found<'a> {
    told: usize,
    /// How many of these were searched, and what was written with how many were searched by then, the last first.
    searched: usize,
    paths: Vec<(usize, &'a [u8])>,
    /// The last bytes of these.
    ends: u128,
    /// Where trees come from, and how much was searched for them, once that was asked.
    trees: Option<(Origins, usize)>,
}

impl<'a> Found<'a> {
    fn of(run: &mut Run<'_, 'a>) -> Self {
        let own = run.session.invocation();
        let effects = run.session.effects();
        let (mut searched, mut paths, mut ends) = (0usize, Vec::new(), 0);
        for effect in effects.iter().rev() {
            if own.is_some() && effect.invocation() == own {
                continue;
            }
            searched += 1;
            if searched > MAX_SEARCHED {
                break;
            }
            if let EffectKind::Write { target, .. } = &effect.kind {
                paths.push((searched, target.path));
                ends |= target.path.last().map_or(0, |last| end_bit(*last));
            }
        }
        Self { told: effects.len(), searched, paths, ends, trees: None }
    }
}

/// A bit for the last byte of a path.
const fn end_bit(byte: u8) -> u128 {
    1 << (byte % 128)
}

impl<'a> Written<'a> {
    /// What was found by now.
    fn now(&mut self, run: &mut Run<'_, 'a>) -> &mut Found<'a> {
        let told = run.session.effects().len();
        self.found.take_if(|found| found.told != told);
        self.found.get_or_insert_with(|| Found::of(run))
    }

    /// Something is told that may not show in the number of effects.
    pub(super) fn forget(&mut self) {
        self.found = None;
    }

    /// Where trees come from, found by `find` if that was not asked before. What was searched is paid for each time.
    pub(super) fn trees(
        &mut self,
        run: &mut Run<'_, 'a>,
        find: impl FnOnce(&mut Run<'_, 'a>) -> (Origins, usize),
    ) -> Origins {
        let known = self.now(run).trees;
        let (trees, searched) = known.unwrap_or_else(|| find(run));
        self.now(run).trees = Some((trees, searched));
        run.session.works(searched / 4);
        trees
    }

    /// Whether the script may have written files with names that fit one of the patterns.
    pub(super) fn any(&mut self, run: &mut Run<'_, 'a>, patterns: List<&'static str>) -> bool {
        !self.fitting(run, patterns).is_empty()
    }

    /// The [`files`] with names that fit one of the patterns. All effects are paid for each time.
    pub(super) fn fitting(&mut self, run: &mut Run<'_, 'a>, patterns: List<&'static str>) -> Vec<&'a [u8]> {
        let Found { searched, paths, ends, .. } = self.now(run);
        let too_many = *searched > MAX_SEARCHED;
        let (mut paid, mut found) = (*searched, Vec::new());
        // Most end otherwise.
        let may_fit = |pattern: &&[u8]| match pattern.last() {
            None | Some(b'*' | b'\\') => true,
            Some(last) => *ends & end_bit(*last) != 0,
        };
        if !paths.is_empty() {
            let apart =
                patterns.iter().map(str::as_bytes).filter(may_fit).map(Ending::of).collect::<Vec<_>>();
            let fits = |path: &[u8]| apart.iter().any(|ending| ending.fits(path));
            for (searched, path) in paths.iter().filter(|_| !apart.is_empty()) {
                if !found.contains(path) && fits(path) {
                    found.push(*path);
                }
                if found.len() > MAX_FILES {
                    paid = *searched;
                    break;
                }
            }
        }
        run.session.works(4 * paid);
        if too_many || found.len() > MAX_FILES { vec![b""] } else { found }
    }
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
