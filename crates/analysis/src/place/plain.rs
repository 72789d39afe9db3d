//! Places in a workspace that lies nowhere special: the names below it alone say what they are.
//!
//! Nearly every place that a command names is one of these, and looking them up in all tables takes ten times as long.

use super::classify::{Map, Root, by_name, holds_homes, home_tail, inside, tops};
use super::path::{Names, Reach};
use super::pattern::{Part, Relation};
use super::tables::{HOME, Row};
use crate::effect::{Covers, Scope};
use shward_syntax::same;

impl Map<'_> {
    /// Whether the names below the workspace decide about everything in it: it has one name, is no home and holds none, and
    /// no table says anything of it, or of what lies in it because of where it lies.
    pub(super) fn lies_plainly(&self) -> bool {
        let Root { named, real } = self.workspace;
        let path = Names::Path(named);
        let mut rest = path;
        let Some(first) = rest.next() else { return false };
        let apart = |place: &[u8]| !path.may_hold(place) && path.below(place).is_none();
        named == real
            && !self.boundless
            && !self.at_home
            && !matches!(first, Part::Text(b"proc" | b"private" | b"var"))
            && self.home.both().all(|home| apart(home) || (self.usual_home && !path.may_hold(home)))
            && !holds_homes(path)
            && self.own.iter().chain(self.guarded).all(|own| apart(own))
            && self.led.iter().all(|led| apart(led.place))
            && path.into_iter().all(|part| inside(part).next().is_none())
            && tops(first).all(|top| {
                unnamed(top.rows.about(rest), rest)
                    && home_tail(top, rest).is_none_or(|tail| unnamed(HOME.about(tail), tail))
            })
    }

    /// What such a workspace is, or a path in it. `None` where more has to be looked at.
    pub(super) fn place_in_workspace(&self, path: &[u8]) -> Option<(Scope, Covers)> {
        if self.plain && same(path, self.workspace.named) {
            return self.itself;
        }
        self.scope_in_workspace(path).map(|scope| (scope, Covers::default()))
    }

    /// What a path with patterns is that begins with the names of such a workspace. `None` where more has to be looked at.
    pub(super) fn pattern_in_workspace(&self, parts: &[Part<'_>]) -> Option<(Scope, Covers)> {
        let (_, covers) = self.itself.filter(|_| self.plain)?;
        let tail = Names::Parts(parts).below(self.workspace.named)?;
        if tail.into_iter().any(|part| part.has_unknown() || part.is_found() || inside(part).next().is_some())
        {
            return None;
        }
        let mut rest = tail;
        let first = rest.next()?;
        // Every name in the workspace is all that it holds, but not the repository that it is.
        let all = first.everything() && rest.next().is_none();
        let covers = if all { Covers { repository: false, ..covers } } else { Covers::default() };
        Some((self.workspace_region(tail).max(by_name(Names::Parts(parts).last()?, false)), covers))
    }

    /// The scope of a path in such a workspace. It covers nothing. `None` where more has to be looked at.
    pub(super) fn scope_in_workspace(&self, path: &[u8]) -> Option<Scope> {
        if !self.plain {
            return None;
        }
        let tail = Names::Path(path).below(self.workspace.named)?;
        let mut last = None;
        for part in tail {
            if inside(part).next().is_some() {
                return None;
            }
            last = Some(part);
        }
        Some(self.workspace_region(tail).max(by_name(last?, false)))
    }
}

/// Whether no row says anything of a path. Then none does of what lies below it.
fn unnamed(mut rows: impl Iterator<Item = &'static Row>, names: Names<'_>) -> bool {
    rows.all(|(row, _)| names.relation(row) == Reach::At(Relation::No))
}

#[cfg(test)]
mod tests {
    use super::super::tables::{
        FAMILIES, INSIDE, KEY_FAMILIES, NAMES, PRODUCT_FAMILIES, PRODUCT_FILES, PRODUCTS, ROOT,
    };
    use super::*;
    use crate::value::Piece;

    fn map<'a>(workspace: &'a str, home: &'a str, own: &'a [&'a [u8]]) -> Map<'a> {
        let root = |path: &'a str| Root { named: path.as_bytes(), real: path.as_bytes() };
        let mut map = Map::new(root(workspace), root(home));
        map.own = own;
        map.plain = map.lies_plainly();
        map
    }

    /// All that any table names, as paths.
    fn tails() -> Vec<String> {
        let rows =
            ROOT.iter().flat_map(|top| top.rows.rows()).chain(HOME.rows()).chain(NAMES).chain(FAMILIES);
        let rows = rows.chain(KEY_FAMILIES).map(|(row, _)| (*row).to_owned());
        let inside = INSIDE.iter().flat_map(|(name, rows)| {
            rows.iter().flat_map(move |(row, _)| [format!("{name}/{row}"), (*row).to_owned()])
        });
        let names =
            PRODUCTS.iter().chain(PRODUCT_FAMILIES).chain(PRODUCT_FILES).map(|name| (*name).to_owned());
        let tops = ROOT.iter().map(|top| top.name.to_owned());
        let found = rows.chain(inside).chain(names).chain(tops);
        let mut tails: Vec<String> =
            found.flat_map(|row| [row.replace("**", "x"), row.replace("**", "x/y")]).collect();
        tails = tails.iter().flat_map(|tail| [tail.replace('*', ""), tail.replace('*', "x")]).collect();
        tails.extend([
            String::new(),
            "x".to_owned(),
            "x.git".to_owned(),
            "dev/.ssh/id".to_owned(),
            "dev".to_owned(),
        ]);
        tails
    }

    #[test]
    fn what_is_remembered_of_a_place_is_what_it_is() {
        let tails = tails();
        for _ in 0..2 {
            for (workspace, home) in [("/w", "/home/dev"), ("/srv/p", "/w/home"), ("/home/dev", "/home/dev")]
            {
                let map = map(workspace, home, &[]);
                for tail in tails.iter().step_by(3).flat_map(|tail| [tail, tail]) {
                    for place in ["", workspace, home] {
                        let path = format!("{place}/{tail}");
                        let names = Names::Path(path.as_bytes());
                        let told = map.place(path.as_bytes());
                        assert_eq!(told, (map.scope(names), map.covers(names)), "{path} {workspace} {home}");
                    }
                }
            }
        }
    }

    #[test]
    fn plain_places_are_what_all_tables_say() {
        let workspaces = [
            "/workspace",
            "/home/dev/work",
            "/home/dev/.config",
            "/home/dev/.config/x",
            "/home/dev",
            "/home",
            "/root",
            "/root/w",
            "/tmp",
            "/tmp/w",
            "/var",
            "/var/lib/w",
            "/srv/w",
            "/usr/src/w",
            "/proc/1/root/w",
            "/w/.claude/x",
            "/w/.git",
            "/w/.ssh",
            "/opt",
            "/Users/me/w",
            "/Users/me",
            "/data/people/me",
            "/data",
            "/etc/w",
            "/etc",
            "/private/w",
            "/",
            "/mnt/c/Users/me/w",
            "/w/node_modules/x",
            "/home/dev/.local/share/w",
            "/dev/shm/w",
            "/run/w",
        ];
        let tails = tails();
        let (mut plain, mut patterns) = (0, 0);
        for home in ["/home/dev", "/root", "/data/people/me", "/workspace/home", "/"] {
            for own in [&[] as &[&[u8]], &[b"/workspace/x", b"/srv"]] {
                for workspace in workspaces {
                    let map = map(workspace, home, own);
                    for prefix in ["", "/a", "/home/dev"] {
                        for tail in &tails {
                            let path = format!("{}{prefix}/{tail}", workspace.trim_end_matches('/'));
                            let path = path.trim_end_matches('/');
                            let Some(told) = map.place_in_workspace(path.as_bytes()) else { continue };
                            plain += 1;
                            let names = Names::Path(path.as_bytes());
                            assert_eq!(told, (map.scope(names), map.covers(names)), "{path} {home}");
                        }
                    }
                    for tail in tails.iter().skip(home.len() % 7).step_by(7) {
                        patterns += patterns_of(&map, workspace, tail);
                    }
                }
            }
        }
        assert!(plain > 100_000 && patterns > 50_000, "{plain} {patterns}");
    }

    /// Holds patterns that are made of the names of a path against what all tables say. Gives how many were told plainly.
    fn patterns_of(map: &Map<'_>, workspace: &str, tail: &str) -> usize {
        let any = Piece::Glob(b"*");
        let names: Vec<&[u8]> = tail.split('/').map(str::as_bytes).filter(|name| !name.is_empty()).collect();
        let mut told = 0;
        for at in 0..names.len() {
            let (start, end) = names[at].split_at(names[at].len() / 2);
            let one: [&[Piece<'_>]; 5] = [
                &[any],
                &[Piece::Text(start), any],
                &[any, Piece::Text(end)],
                &[Piece::Text(start), Piece::Glob(b"?"), Piece::Text(end)],
                &[any, Piece::Text(names[at]), any],
            ];
            for pieces in one {
                let below = names
                    .iter()
                    .enumerate()
                    .map(|(index, name)| if index == at { Part::Pattern(pieces) } else { Part::Text(name) });
                let parts: Vec<Part<'_>> = Names::Path(workspace.as_bytes()).chain(below).collect();
                let Some(plain) = map.pattern_in_workspace(&parts) else { continue };
                told += 1;
                let names = Names::Parts(&parts);
                assert_eq!(plain, (map.scope(names), map.covers(names)), "{workspace} {parts:?}");
            }
        }
        told
    }

    #[test]
    fn facts_are_those_of_the_directories() {
        for (workspace, home) in
            [("/w", "/home/dev"), ("/home/dev", "/home/dev"), ("/", "/root"), ("/w", "/srv/me")]
        {
            let first = map(workspace, home, &[]);
            for _ in 0..2 {
                let again = map(workspace, home, &[]);
                assert_eq!(
                    (first.boundless, first.at_home, first.usual_home, first.plain, first.itself),
                    (again.boundless, again.at_home, again.usual_home, again.plain, again.itself)
                );
            }
            assert_eq!(first.at_home, workspace == home);
            assert_eq!(first.boundless, workspace == "/");
            assert_eq!(first.usual_home, home != "/srv/me");
        }
    }
}
