//! What is protected under its name, wherever it is found below a place.

use super::tables::{IN_LAST, INSIDE, NAMES};
use crate::effect::Scope;
use crate::world::{Entries, FileKind, World};

/// Names that so many programs give to their own files that they mean those, where nobody knows what is there.
const OF_EVERYBODY: [&[u8]; 4] = [b"config.json", b"config.toml", b"config.yaml", b"config.yml"];

/// What lies in directories that mean the same everywhere and is protected under exactly this name, if such a directory may lie in
/// this one: `.claude/settings.json` is found by its name.
pub(crate) fn protected_by_name(world: &dyn World, directory: &[u8], name: &[u8]) -> Option<Scope> {
    if !IN_LAST.may_be(name) {
        return None;
    }
    let start = directory.strip_suffix(b"/").unwrap_or(directory);
    let may_be = |inside: &str, row: &str| {
        let path = [start, b"/", inside.as_bytes(), b"/", row.as_bytes()].concat();
        match world.kind(&path) {
            FileKind::Missing => false,
            FileKind::Unknown => !OF_EVERYBODY.contains(&name),
            FileKind::File | FileKind::Directory | FileKind::Special => true,
        }
    };
    let rows = INSIDE.iter().flat_map(|(inside, rows)| rows.iter().map(move |row| (*inside, row)));
    let meant = rows.filter(|(inside, (row, scope))| {
        matches!(scope, Scope::Own | Scope::Persistence)
            && row.as_bytes().strip_suffix(name).is_some_and(|above| matches!(above, [] | [.., b'/']))
            && !row.contains('*')
            && may_be(inside, row)
    });
    meant.map(|(_, (_, scope))| *scope).max()
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
    use super::protected_by_name;
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
        let rows: [(&dyn World, &str, &str, Option<Scope>); 10] = [
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
}
