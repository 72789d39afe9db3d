//! What is protected under its name, wherever it is found below a place.

use super::letters::letters;
use super::tables::{IN_INSIDE, IN_LAST, INSIDE, LAST_LETTERS_OF_INSIDE, NAMES, PROTECTED_ENDS, Row};
use crate::effect::Scope;
use crate::world::{Entries, FileKind, World};

/// Names that so many programs give to their own files that they mean those, where nobody knows what is there.
pub(super) const OF_EVERYBODY: [&str; 4] = ["config.json", "config.toml", "config.yaml", "config.yml"];

/// Whether it is such a name.
fn is_of_everybody(name: &[u8]) -> bool {
    OF_EVERYBODY.iter().any(|common| common.as_bytes() == name)
}

/// What lies in directories that mean the same everywhere and is protected under exactly this name, if such a directory may lie in
/// this one: `.claude/settings.json` is found by its name, and `.git/hooks` where it is known to be there.
pub(crate) fn protected_by_name(world: &dyn World, directory: &[u8], name: &[u8]) -> Option<Scope> {
    if !IN_LAST.may_be(name) {
        return None;
    }
    let start = directory.strip_suffix(b"/").unwrap_or(directory);
    let may_be = |inside: &str, row: &str| {
        let place = row.strip_suffix("/**");
        let path = [start, b"/", inside.as_bytes(), b"/", place.unwrap_or(row).as_bytes()].concat();
        match world.kind(&path) {
            FileKind::Missing => false,
            FileKind::Unknown => place.is_none() && !is_of_everybody(name),
            FileKind::File | FileKind::Directory | FileKind::Special => true,
        }
    };
    let rows = INSIDE.iter().flat_map(|(inside, rows)| rows.iter().map(move |row| (*inside, row)));
    let meant = rows.filter(|(inside, (row, scope))| {
        let place = row.strip_suffix("/**").unwrap_or(row);
        matches!(scope, Scope::Own | Scope::Persistence)
            && place.as_bytes().strip_suffix(name).is_some_and(|above| matches!(above, [] | [.., b'/']))
            && !place.contains('*')
            && may_be(inside, row)
    });
    meant.map(|(_, (_, scope))| *scope).max()
}

/// What is protected and found by a pattern for names (`settings*.json`), or for paths (`*/.claude/*`), if it says enough of a name: an
/// ending of many files (`*.json`) means those.
pub(crate) fn protected_by_pattern(world: &dyn World, directory: &[u8], pattern: &[u8]) -> Option<Scope> {
    let mut names = pattern.split(|byte| *byte == b'/').map(Pattern::of).collect::<Vec<_>>();
    let start = directory.strip_suffix(b"/").unwrap_or(directory);
    let below = |inside: &str, row: &str| [start, b"/", inside.as_bytes(), b"/", row.as_bytes()].concat();
    let is_protected = |scope: Scope| matches!(scope, Scope::Own | Scope::Persistence);
    let mut meant = None;
    if let Some((at, rows)) = names.iter().enumerate().find_map(|(at, name)| Some((at, name.inside()?))) {
        let rest = names.split_off(at + 1);
        let file = rest.last().copied().unwrap_or(Pattern::ANY);
        for (row, scope) in rows.iter().filter(|(_, scope)| is_protected(*scope)) {
            let mut above = row.split('/');
            let last = above.next_back().unwrap_or_default();
            // What lies further below is meant where the pattern names its directories.
            let led = above.all(|name| rest.iter().any(|pattern| pattern.is(name)));
            if led && (last == "**" || file.fits(last.as_bytes())) {
                meant = meant.max(Some(*scope));
            }
        }
        return meant;
    }
    let name = names.pop().filter(|name| name.letters() >= LEAST)?;
    let tail = if name.whole { name.head } else { name.tail };
    if !PROTECTED_ENDS.may_end(tail) {
        return None;
    }
    // Most rows end otherwise, already in the last letter, which is told before they are taken apart.
    let end = tail.last();
    let ends = |row: &str| {
        let from = row.len().checked_sub(tail.len());
        let last = row.as_bytes().last();
        end.is_none_or(|end| last.is_some_and(|last| last.eq_ignore_ascii_case(end)))
            && from
                .and_then(|from| row.as_bytes().get(from..))
                .is_some_and(|row| row.eq_ignore_ascii_case(tail))
    };
    let letter = end.map_or(u64::MAX, |end| letters(&[end.to_ascii_lowercase()]));
    for ((inside, rows), _) in
        INSIDE.iter().zip(&LAST_LETTERS_OF_INSIDE).filter(|(_, last)| **last & letter != 0)
    {
        for (row, scope) in rows.iter().filter(|(row, scope)| ends(row) && is_protected(*scope)) {
            let last = row.rsplit('/').next().unwrap_or_default().as_bytes();
            let may_be = || match world.kind(&below(inside, row)) {
                FileKind::Missing => false,
                FileKind::Unknown => name.letters() >= ENOUGH && !is_of_everybody(last),
                FileKind::File | FileKind::Directory | FileKind::Special => true,
            };
            if name.fits(last) && !row.contains('*') && may_be() {
                meant = meant.max(Some(*scope));
            }
        }
    }
    meant
}

/// A pattern that tells so many letters of a name means what is there, and one that tells so many what may be there.
const LEAST: usize = 3;
const ENOUGH: usize = 5;

/// How names that match a pattern begin and end, in any case.
#[derive(Clone, Copy)]
struct Pattern<'p> {
    head: &'p [u8],
    tail: &'p [u8],
    /// It is no pattern.
    whole: bool,
}

impl<'p> Pattern<'p> {
    const ANY: Self = Self { head: b"", tail: b"", whole: false };

    fn of(name: &'p [u8]) -> Self {
        let is_wild = |byte: &u8| b"*?[]\\".contains(byte);
        let (Some(first), Some(last)) = (name.iter().position(is_wild), name.iter().rposition(is_wild))
        else {
            return Self { head: name, tail: b"", whole: true };
        };
        let (head, _) = name.split_at(first);
        let (_, tail) = name.split_at(last + 1);
        // Of `*.claude*` the middle is all that is told.
        let middle = name.trim_ascii().strip_prefix(b"*").and_then(|rest| rest.strip_suffix(b"*"));
        match middle.filter(|middle| !middle.iter().any(is_wild)) {
            Some(middle) => Self { head: middle, tail: b"", whole: true },
            None => Self { head, tail, whole: false },
        }
    }

    fn is(&self, name: &str) -> bool {
        self.whole && self.head.eq_ignore_ascii_case(name.as_bytes())
    }

    /// What matters in the directory of this name, which means the same everywhere.
    fn inside(&self) -> Option<&'static [Row]> {
        let begins_otherwise = || self.head.first().is_some_and(u8::is_ascii_uppercase);
        if !self.whole || !IN_INSIDE.may_be(self.head) && !begins_otherwise() {
            return None;
        }
        INSIDE.iter().find(|(inside, _)| self.is(inside)).map(|(_, rows)| *rows)
    }

    fn fits(&self, name: &[u8]) -> bool {
        let Some(rest) =
            name.split_at_checked(self.head.len()).filter(|(start, _)| start.eq_ignore_ascii_case(self.head))
        else {
            return false;
        };
        let (_, rest) = rest;
        let from = rest.len().checked_sub(self.tail.len());
        let ends =
            from.and_then(|from| rest.get(from..)).is_some_and(|end| end.eq_ignore_ascii_case(self.tail));
        ends && (!self.whole || rest.is_empty())
    }

    /// How much of a name is told beside its ending.
    fn letters(&self) -> usize {
        let end = self.tail.iter().rposition(|byte| *byte == b'.').unwrap_or(self.tail.len());
        self.head.len() + end
    }
}

/// So many names are looked at.
const MOST: usize = 2048;

/// The settings of agents that are there in a directory, as paths below it.
pub(crate) fn settings_in(world: &dyn World, directory: &[u8]) -> Vec<Vec<u8>> {
    let Entries::Names(names) = world.entries(directory, MOST) else { return Vec::new() };
    let of = |name: &[u8]| {
        let at = INSIDE.binary_search_by(|(inside, _)| inside.as_bytes().cmp(name)).ok();
        at.and_then(|at| INSIDE.get(at)).map_or(&[][..], |(_, rows)| *rows)
    };
    let below = |name: Vec<u8>| {
        let rows = of(&name).iter().filter(|(row, scope)| *scope == Scope::Own && *row != "**");
        let rows =
            rows.map(|(row, _)| row.strip_suffix("/**").unwrap_or(row)).filter(|row| !row.contains('*'));
        let paths = rows.map(|row| [name.as_slice(), b"/", row.as_bytes()].concat()).collect::<Vec<_>>();
        let is_setting = NAMES.iter().any(|(known, scope)| *scope == Scope::Own && known.as_bytes() == name);
        is_setting.then_some(name).into_iter().chain(paths)
    };
    let is_there = |path: &Vec<u8>| {
        let kind = world.kind(&[directory, b"/", path].concat());
        matches!(kind, FileKind::File | FileKind::Directory)
    };
    names.into_iter().flat_map(|(name, _)| below(name)).filter(is_there).collect()
}

#[cfg(test)]
mod tests {
    use super::{protected_by_name, protected_by_pattern};
    use crate::effect::Scope::{self, Own, Persistence};
    use crate::world::{FileKind, Frozen, World};

    /// Nothing is there but this file.
    struct Only(&'static str);

    impl World for Only {
        fn kind(&self, path: &[u8]) -> FileKind {
            if path == self.0.as_bytes() { FileKind::File } else { FileKind::Missing }
        }
    }

    #[test]
    fn what_is_there_is_protected_by_its_name() {
        let continued = Only("/w/.continue/config.json");
        let edited = Only("/w/.vscode/settings.json");
        let hooked = Only("/w/.git/hooks");
        let rows: [(&dyn World, &str, &str, Option<Scope>); 13] = [
            (&hooked, "/w", "hooks", Some(Persistence)),
            (&Frozen, "/w", "hooks", None),
            (&edited, "/w", "hooks", None),
            (&Frozen, "/w", "settings.json", Some(Own)),
            (&Frozen, "/", "config", Some(Persistence)),
            (&Frozen, "/w", "config.json", None),
            (&Frozen, "/w", "package.json", None),
            (&Frozen, "/w", "*", None),
            (&continued, "/w", "config.json", Some(Own)),
            (&continued, "/w/", "config.json", Some(Own)),
            (&continued, "/w/src", "config.json", None),
            (&continued, "/w", "settings.json", None),
            (&edited, "/w", "settings.json", Some(Persistence)),
        ];
        for (world, directory, name, expected) in rows {
            let found = protected_by_name(world, directory.as_bytes(), name.as_bytes());
            assert_eq!(found, expected, "{directory} {name}");
        }
    }

    #[test]
    fn what_is_there_is_protected_by_less() {
        let there = Only("/w/.claude/settings.json");
        for (pattern, expected) in
            [("set*", Some(Own)), ("se*", None), ("*.json", None), ("*ngs.json", Some(Own))]
        {
            assert_eq!(protected_by_pattern(&there, b"/w", pattern.as_bytes()), expected, "{pattern}");
            assert_eq!(protected_by_pattern(&Frozen, b"/w", pattern.as_bytes()), None, "{pattern}");
        }
    }

    #[test]
    fn what_a_pattern_tells_of_is_protected() {
        for (pattern, expected) in [
            ("*.json", None),
            ("*", None),
            ("*.md", None),
            ("*.local.json", Some(Own)),
            ("settings*.json", Some(Own)),
            ("*settings.json", Some(Own)),
            ("SETTINGS.JSON", Some(Own)),
            ("settings*.yaml", None),
            ("*/.claude/*", Some(Own)),
            ("./.claude/*", Some(Own)),
            ("*.claude*", Some(Own)),
            ("*/.claude/*.json", Some(Own)),
            ("*/.claude/*.md", None),
            ("*/.git/*", Some(Persistence)),
            ("*/.git/hooks/*", Some(Persistence)),
            ("*/site-packages/*.pth", Some(Persistence)),
            ("*/Site-Packages/*.pth", Some(Persistence)),
            ("./.github/*", None),
            ("./.github/hooks/*", Some(Own)),
            ("./.gitlab/*", None),
            ("./src/*", None),
            ("*test*", None),
        ] {
            assert_eq!(protected_by_pattern(&Frozen, b"/w", pattern.as_bytes()), expected, "{pattern}");
        }
    }
}
