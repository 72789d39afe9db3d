//! Where a path lies: the region that it belongs to, and the places that matter for themselves.

use super::named::OF_EVERYBODY;
use super::path::{Names, Reach, differs, unmask};
use super::pattern::{Part, Relation};
use super::remembered::{Facts, place, remembered};
use super::tables::{
    Affix, FAMILIES, HOME, IN_FAMILIES, IN_INSIDE, IN_KEY_FAMILIES, IN_NAMES, IN_PRODUCT_FAMILIES,
    IN_PRODUCTS, IN_REPOSITORIES, IN_ROOT, INSIDE, KEY_FAMILIES, LETTERS_OF_INSIDE, LETTERS_OF_NAMES, NAMES,
    ORDINARY, PRODUCT_FAMILIES, PRODUCT_FILES, PRODUCTS, REPOSITORIES, ROOT, Row, Top, WORKSPACE_TOPS,
};
use crate::effect::{Covers, Scope};
use shward_syntax::{order, same};

/// A directory as it was named, and as it is with all links resolved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Root<'a> {
    pub(super) named: &'a [u8],
    pub(super) real: &'a [u8],
}

impl<'a> Root<'a> {
    pub(super) fn both(self) -> impl Iterator<Item = &'a [u8]> {
        std::iter::once(self.named).chain((self.real != self.named).then_some(self.real))
    }
}

/// A name that matters, and where it leads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Led<'a> {
    pub(super) name: &'a [u8],
    pub(super) place: &'a [u8],
    /// The name is, or holds, what belongs to the firewall or an agent.
    pub(super) own: bool,
}

/// The directories that are different on every machine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Map<'a> {
    pub(super) workspace: Root<'a>,
    pub(super) home: Root<'a>,
    /// `$TMPDIR`.
    pub(super) temp: Option<&'a [u8]>,
    /// Own directories that the environment has moved.
    pub(super) own: &'a [&'a [u8]],
    /// Files that no command may change, wherever they lie.
    pub(super) guarded: &'a [&'a [u8]],
    /// Names that matter and lead elsewhere.
    pub(super) led: &'a [Led<'a>],
    /// Whether the workspace is too broad to mean anything: the root, or one of the system's directories.
    pub(super) boundless: bool,
    /// Whether the workspace is a home directory, where hidden files are not the project's.
    pub(super) at_home: bool,
    /// Whether the home directory lies where home directories usually do.
    pub(super) usual_home: bool,
    /// Whether the names below the workspace alone decide about what lies in it.
    pub(super) plain: bool,
    /// What such a workspace is itself.
    pub(super) itself: Option<(Scope, Covers)>,
    /// Under what number is remembered what paths are, where nothing but workspace and home says it.
    pub(super) number: Option<usize>,
}

/// What is known to lie below a path.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Below {
    pub(super) secrets: bool,
    /// What is protected.
    pub(super) own: bool,
    /// What other programs obey, in directories that mean the same everywhere.
    pub(super) obeyed: bool,
    /// What processes keep to themselves.
    pub(super) processes: bool,
}

impl<'a> Map<'a> {
    pub(super) fn new(workspace: Root<'a>, home: Root<'a>) -> Self {
        let directories = [workspace.named, workspace.real, home.named, home.real];
        let (facts, number) = remembered(directories, || {
            let boundless = workspace.both().any(boundless);
            let at_home = workspace.both().any(|w| home.both().any(|h| h == w) || is_home(Names::Path(w)));
            let usual_home = home.both().all(|home| is_home(Names::Path(home)));
            let facts = Facts { boundless, at_home, usual_home, plain: false, itself: None };
            let map = Self::of(workspace, home, facts);
            let plain = map.lies_plainly();
            let names = Names::Path(workspace.named);
            Facts { plain, itself: plain.then(|| (map.scope(names), map.covers(names))), ..facts }
        });
        Self { number, ..Self::of(workspace, home, facts) }
    }

    const fn of(workspace: Root<'a>, home: Root<'a>, facts: Facts) -> Self {
        let Facts { boundless, at_home, usual_home, plain, itself } = facts;
        Self {
            workspace,
            home,
            temp: None,
            own: &[],
            guarded: &[],
            led: &[],
            boundless,
            at_home,
            usual_home,
            plain,
            itself,
            number: None,
        }
    }

    /// What an absolute path is, and what it covers.
    pub(super) fn place(&self, path: &[u8]) -> (Scope, Covers) {
        let find = || {
            self.place_in_workspace(path)
                .unwrap_or_else(|| (self.scope(Names::Path(path)), self.covers(Names::Path(path))))
        };
        match self.number {
            Some(number) => place(number, path, find),
            None => find(),
        }
    }

    /// The most dangerous scope that an absolute path may have.
    pub(super) fn scope(&self, names: Names<'_>) -> Scope {
        let scope = self.scope_by_name(names);
        if self.led.is_empty() { scope } else { scope.max(self.scope_led(names)) }
    }

    /// The same by what is written alone.
    pub(super) fn scope_by_name(&self, names: Names<'_>) -> Scope {
        let names = unmask(names);
        let region = self.region(names);
        let keys = matches!(region, Scope::Home | Scope::Elsewhere);
        region.max(special(names, keys)).max(self.home_special(names)).max(self.own_special(names))
    }

    /// The scope that a path has for the names in it, wherever its unknown beginning leads.
    pub(super) fn scope_anywhere(names: Names<'_>) -> Scope {
        let mut rest = names;
        let mut scope = special(names, false);
        // The unknown text may end before the first name that is given, or within it.
        for start in [names, {
            rest.next();
            rest
        }] {
            scope = scope.max(lookup(HOME.about(start), start).unwrap_or(ORDINARY));
            let mut below = start;
            if let Some(first) = below.next() {
                let found = tops(first).filter_map(|top| lookup(top.rows.about(below), below)).max();
                scope = scope.max(found.filter(|s| *s >= Scope::Persistence).unwrap_or(ORDINARY));
            }
        }
        scope
    }

    /// The part of the machine that a path belongs to.
    fn region(&self, names: Names<'_>) -> Scope {
        let rooted = by_root(names);
        if let Some(tail) = self.in_workspace(names) {
            let special = rooted.by_row && rooted.scope >= Scope::Persistence;
            return if special { rooted.scope } else { self.workspace_region(tail) };
        }
        if rooted.scope == Scope::Elsewhere && self.home.both().any(|home| names.below(home).is_some()) {
            return Scope::Home;
        }
        if rooted.scope < Scope::Persistence && self.temp.is_some_and(|temp| names.below(temp).is_some()) {
            return Scope::Temp;
        }
        if rooted.scope == Scope::Elsewhere { in_another_root(names) } else { rooted.scope }
    }

    /// What of a path lies below the workspace, if the project owns it.
    fn in_workspace<'p>(&self, names: Names<'p>) -> Option<Names<'p>> {
        if self.boundless {
            return None;
        }
        let in_home = |names: Names<'_>| {
            self.home.both().any(|home| {
                names.below(home).is_some()
                    && self
                        .workspace
                        .both()
                        .any(|w| w.len() < home.len() && Names::Path(home).below(w).is_some())
            })
        };
        self.workspace.both().find_map(|workspace| names.below(workspace)).filter(|_| !in_home(names))
    }

    pub(super) fn workspace_region(&self, tail: Names<'_>) -> Scope {
        let mut tail = tail.peekable();
        if self.at_home && matches!(tail.peek(), Some(Part::Text(name)) if name.starts_with(b".")) {
            return Scope::Home;
        }
        while let Some(part) = tail.next() {
            let text = if let Part::Text(name) = part { Some(name) } else { None };
            if text.is_none_or(|name| IN_REPOSITORIES.may_be(name))
                && REPOSITORIES.iter().any(|name| part.specific() && part.may_be(name.as_bytes()))
            {
                return Scope::Repository;
            }
            let product = text.is_some_and(|name| {
                IN_PRODUCTS.may_be(name)
                    && PRODUCTS.binary_search_by(|product| order(product.as_bytes(), name)).is_ok()
            });
            let family = || PRODUCT_FAMILIES.iter().any(|family| part.must_be(family));
            if product
                || (text.is_none_or(|name| IN_PRODUCT_FAMILIES.may_match(name)) && family())
                || (tail.peek().is_none() && part.ends_in(PRODUCT_FILES))
            {
                return Scope::Product;
            }
        }
        Scope::Workspace
    }

    /// The special places of a home directory that does not lie where home directories usually do.
    fn home_special(&self, names: Names<'_>) -> Scope {
        if self.usual_home {
            return ORDINARY;
        }
        let tail = self.home.both().find_map(|home| names.below(home));
        tail.and_then(|tail| lookup(HOME.about(tail), tail)).unwrap_or(ORDINARY)
    }

    fn own_special(&self, names: Names<'_>) -> Scope {
        if self.own.iter().any(|own| names.may_lie_in(own)) { Scope::Own } else { ORDINARY }
    }

    /// Which important places lie at or below a path.
    pub(super) fn covers(&self, names: Names<'_>) -> Covers {
        let names = unmask(names);
        let Some(base) = without_everything(names) else {
            return Covers {
                root: true,
                home: true,
                workspace: true,
                repository: true,
                system: true,
                secrets: true,
                processes: true,
                own: true,
                obeyed: true,
                guarded: false,
            };
        };
        let holds = |place: &[u8]| base.may_hold(place);
        let home = self.home.both().any(holds) || holds_homes(base);
        let repository = self.workspace.both().any(|workspace| match names.below(workspace) {
            Some(mut tail) => {
                tail.next().is_none()
                    || names.last().is_some_and(|part| part.specific() && part.may_be(b".git"))
            }
            None => names.may_hold(workspace),
        });
        let Below { secrets, own, obeyed, processes } = self.below(base);
        let own = own || self.own.iter().chain(self.guarded).any(|own| holds(own)) || self.covers_led(base);
        Covers {
            root: false,
            home,
            workspace: self.workspace.both().any(holds),
            repository,
            system: is_system(base),
            secrets: secrets || home,
            processes: processes && { base }.nth(1).is_none_or(is_process),
            own: own || home,
            obeyed: obeyed || home,
            guarded: self.guarded.iter().any(|file| names.may_lie_in(file)),
        }
    }

    /// What is known to lie below a path.
    pub(super) fn below(&self, names: Names<'_>) -> Below {
        let mut found = Below::default();
        // Once one is found, no other of its kind needs to be looked at.
        let mut note = |row: &Row, names: Names<'_>, inside: bool| {
            let known = match row.1 {
                Scope::Secret => &mut found.secrets,
                Scope::Own => &mut found.own,
                Scope::Persistence if inside => &mut found.obeyed,
                Scope::Environment => &mut found.processes,
                _ => return,
            };
            *known = *known || names.relation(row.0) == Reach::Above;
        };
        let mut rest = names;
        if let Some(first) = rest.next() {
            for top in tops(first) {
                top.rows.about(rest).for_each(|row| note(row, rest, false));
                if let Some(tail) = home_tail(top, rest) {
                    HOME.about(tail).for_each(|row| note(row, tail, false));
                }
            }
        }
        if let Some(tail) = self.home.both().find_map(|home| names.below(home)).filter(|_| !self.usual_home) {
            HOME.about(tail).for_each(|row| note(row, tail, false));
        }
        let mut rest = names;
        while let Some(part) = rest.next() {
            // A bare repository is obeyed where somebody goes on to work with it.
            let bare = matches!(part, Part::Text(name) if name.ends_with(b".git") && name != b".git");
            for rows in inside(part) {
                rows.iter().for_each(|row| note(row, rest, !bare));
            }
        }
        found
    }
}

/// Whether what lies in `/proc` under a name may be a process.
fn is_process(name: Part<'_>) -> bool {
    match name {
        Part::Text(name) => name.iter().all(u8::is_ascii_digit) || matches!(name, b"self" | b"thread-self"),
        Part::Pattern(_) => true,
    }
}

/// What the tables of the root say of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rooted {
    scope: Scope,
    /// A row says so; else it is what the top directory is as a whole (`/dev`, `/sys`).
    by_row: bool,
}

/// Most directories above the root of another system.
const DEEPEST_ROOT: usize = 4;

fn by_root(mut names: Names<'_>) -> Rooted {
    let as_a_whole = |scope| Rooted { scope, by_row: false };
    let Some(first) = names.next() else { return as_a_whole(Scope::System) };
    let fallback = if matches!(first, Part::Text(_)) { None } else { Some(as_a_whole(Scope::Elsewhere)) };
    tops(first).map(|top| in_top(top, names)).chain(fallback).max().unwrap_or(as_a_whole(Scope::Elsewhere))
}

/// The scope of what lies outside the usual places: as where another root is mounted (`/host/etc/shadow`), if its names
/// are those of a secret or of what programs obey there.
fn in_another_root(mut names: Names<'_>) -> Scope {
    for _ in 0..DEEPEST_ROOT {
        if names.next().is_none() {
            break;
        }
        let mut configuration = names;
        if configuration.next() != Some(Part::Text(b"etc")) {
            continue;
        }
        let rooted = by_root(names);
        if rooted.by_row && matches!(rooted.scope, Scope::Secret | Scope::Persistence) {
            return rooted.scope;
        }
    }
    Scope::Elsewhere
}

fn in_top(top: &'static Top, rest: Names<'_>) -> Rooted {
    let mut peek = rest;
    if peek.next().is_none() {
        let scope = match (top.base, top.home_after) {
            (Scope::Temp, _) => Scope::Temp,
            (_, Some(0)) => Scope::Home,
            _ => Scope::System,
        };
        return Rooted { scope, by_row: false };
    }
    let row = match home_tail(top, rest) {
        Some(tail) => lookup(HOME.about(tail), tail).map(|row| row.max(top.base)),
        None => lookup_above(top.rows.about(rest), rest, top.base),
    };
    Rooted { scope: row.unwrap_or(top.base), by_row: row.is_some() }
}

/// What follows the home directory in a path below a directory that holds homes.
pub(super) fn home_tail<'p>(top: &Top, mut rest: Names<'p>) -> Option<Names<'p>> {
    for _ in 0..top.home_after? {
        rest.next()?;
    }
    Some(rest)
}

/// The directories of the root that a first component may mean.
pub(super) fn tops<'p>(first: Part<'p>) -> impl Iterator<Item = &'static Top> + use<'p> {
    let exact = match first {
        Part::Text(name) if !IN_ROOT.may_be(name) => None,
        Part::Text(name) => ROOT.iter().find(|top| same(top.name.as_bytes(), name)),
        Part::Pattern(_) => None,
    };
    let any = matches!(first, Part::Pattern(_)) && (first.specific() || !first.has_unknown());
    let others: &[_] = if any { ROOT } else { &[] };
    exact.into_iter().chain(others.iter().filter(move |top| first.may_be(top.name.as_bytes())))
}

/// The scope that rows give: of the first that fits for certain, or of the worst before it that may fit.
fn lookup(rows: impl Iterator<Item = &'static Row>, names: Names<'_>) -> Option<Scope> {
    lookup_above(rows, names, ORDINARY)
}

/// The same where a name that none of the rows means is of the scope `other`: what only may fit may also be that
/// (`/dev/tty*`).
fn lookup_above(
    mut rows: impl Iterator<Item = &'static Row>,
    names: Names<'_>,
    other: Scope,
) -> Option<Scope> {
    let mut peek = names;
    let Some(first) = peek.next() else {
        // Only a row that means everything means the directory itself.
        return rows.find(|(row, _)| *row == "**").map(|(_, scope)| *scope);
    };
    // A name of which nothing is known is none of those that rows spell out (see `relation`), and most begin otherwise.
    let unsaid = first.has_unknown() && !first.specific();
    let letter = first.first_byte();
    let mut worst = None;
    for (row, scope) in rows {
        if unsaid && !row.starts_with('*') || letter.is_some_and(|letter| differs(letter, row)) {
            continue;
        }
        match names.relation(row) {
            Reach::At(Relation::Must) => return worst.max(Some(*scope)),
            Reach::At(Relation::May) => worst = worst.max(Some(other.max(*scope))),
            Reach::At(Relation::No) | Reach::Above => {}
        }
    }
    worst
}

/// The tables for what lies inside a directory of this name, wherever it is.
pub(super) fn inside<'p>(part: Part<'p>) -> impl Iterator<Item = &'static [Row]> + use<'p> {
    let exact = match part {
        // A bare repository is the `.git` of nothing.
        Part::Text(name) if name.ends_with(b".git") => row_of(b".git"),
        Part::Text(name) => row_of(name),
        Part::Pattern(_) => None,
    };
    let any = matches!(part, Part::Pattern(_)) && part.specific();
    let rows: &[_] = if any { INSIDE } else { &[] };
    let letters = if any { part.letters() } else { 0 };
    let others = rows.iter().zip(&LETTERS_OF_INSIDE);
    let others =
        others.filter(move |((name, _), theirs)| letters & !**theirs == 0 && part.may_be(name.as_bytes()));
    exact.into_iter().chain(others.map(|((_, rows), _)| *rows))
}

fn row_of(name: &[u8]) -> Option<&'static [Row]> {
    if !IN_INSIDE.may_be(name) {
        return None;
    }
    let at = INSIDE.binary_search_by(|(key, _)| order(key.as_bytes(), name)).ok()?;
    INSIDE.get(at).map(|(_, rows)| *rows)
}

/// What a path is for a directory in it or its last name, in any region.
fn special(names: Names<'_>, keys: bool) -> Scope {
    let mut scope = ORDINARY;
    let mut rest = names;
    while let Some(part) = rest.next() {
        for rows in inside(part) {
            scope = scope.max(lookup(rows.iter(), rest).unwrap_or(ORDINARY));
        }
        if part.is_found() {
            scope = scope.max(in_any_directory(rest));
        }
        let mut more = rest;
        if more.next().is_none() {
            scope = scope.max(by_name(part, keys));
        }
    }
    scope
}

/// What a name that is written out is behind that of any directory: `.git` and `.claude` are directories as well.
fn in_any_directory(names: Names<'_>) -> Scope {
    let mut parts = names;
    let Some(first) = parts.next() else { return ORDINARY };
    let letter = first.first_byte();
    if !parts.chain([first]).all(|part| matches!(part, Part::Text(_))) {
        return ORDINARY;
    }
    let is_named = |row: &Row| {
        // What every file in such a directory is says nothing of this one, most begin otherwise, and some names are those of many
        // projects' own files.
        row.0 != "**"
            && letter.is_some_and(|letter| !differs(letter, row.0))
            && names.relation(row.0) == Reach::At(Relation::Must)
            && !OF_EVERYBODY.contains(&row.0)
    };
    let rows = INSIDE.iter().flat_map(|(_, rows)| *rows);
    let named = rows.filter(|row| matches!(row.1, Scope::Own | Scope::Persistence) && is_named(row));
    named.map(|(_, scope)| *scope).max().unwrap_or(ORDINARY)
}

/// What a file is for its name alone.
pub(super) fn by_name(part: Part<'_>, keys: bool) -> Scope {
    let exact = match part {
        Part::Text(name) if !IN_NAMES.may_be(name) => ORDINARY,
        Part::Text(name) => NAMES
            .binary_search_by(|(key, _)| order(key.as_bytes(), name))
            .ok()
            .and_then(|at| NAMES.get(at))
            .map_or(ORDINARY, |(_, scope)| *scope),
        Part::Pattern(_) if part.specific() => {
            let letters = part.letters();
            NAMES
                .iter()
                .zip(&LETTERS_OF_NAMES)
                .filter(|((name, _), theirs)| letters & !**theirs == 0 && part.may_be(name.as_bytes()))
                .map(|((_, scope), _)| *scope)
                .max()
                .unwrap_or(ORDINARY)
        }
        Part::Pattern(_) => ORDINARY,
    };
    let family = |rows: &[Row], filter: &Affix| {
        let mut worst = ORDINARY;
        if matches!(part, Part::Text(name) if !filter.may_match(name)) {
            return worst;
        }
        let begins = part.begins();
        for (name, scope) in rows {
            // A pattern that does not say how the name begins has to be one of a family whose names end alike.
            if !begins && !name.starts_with('*') {
                continue;
            }
            match part.relation(name.as_bytes()) {
                Relation::Must => return worst.max(*scope),
                // A pattern that does not say how the name begins, or ends, may mean any family: that alone does not count.
                Relation::May if begins && !name.starts_with('*') => worst = worst.max(*scope),
                Relation::May | Relation::No => {}
            }
        }
        worst
    };
    let key = if keys { family(KEY_FAMILIES, &IN_KEY_FAMILIES) } else { ORDINARY };
    exact.max(family(FAMILIES, &IN_FAMILIES)).max(key)
}

/// A path without a last component that means everything in its directory. `None` is the root.
fn without_everything(names: Names<'_>) -> Option<Names<'_>> {
    let base = match names {
        Names::Path(_) => names,
        Names::Parts(parts) => match parts.split_last() {
            Some((last, rest)) if last.everything() => Names::Parts(rest),
            _ => names,
        },
    };
    let mut peek = base;
    peek.next().map(|_| base)
}

/// Whether home directories in their usual places lie at or below a path.
pub(super) fn holds_homes(mut names: Names<'_>) -> bool {
    let Some(first) = names.next() else { return true };
    tops(first).any(|top| {
        top.home_after.is_some_and(|after| {
            let mut rest = names;
            (0..after)
                .find_map(|_| rest.next().is_none().then_some(true))
                .unwrap_or_else(|| rest.next().is_none())
        })
    })
}

/// Whether a path is a home directory in the usual place.
fn is_home(mut names: Names<'_>) -> bool {
    let Some(first) = names.next() else { return false };
    tops(first).any(|top| home_tail(top, names).is_some_and(|mut tail| tail.next().is_none()))
}

/// Whether a path is a directory of the system itself, such as `/etc`.
fn is_system(mut names: Names<'_>) -> bool {
    let Some(first) = names.next() else { return true };
    names.next().is_none() && tops(first).any(|top| matches!(top.base, Scope::System | Scope::Device))
}

/// Whether a workspace is too broad to be one.
fn boundless(workspace: &[u8]) -> bool {
    let mut names = Names::Path(workspace);
    let Some(first) = names.next() else { return true };
    names.next().is_none()
        && tops(first).any(|top| {
            top.base != Scope::Temp && top.home_after != Some(0) && !WORKSPACE_TOPS.contains(&top.name)
        })
}
