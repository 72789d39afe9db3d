//! Links that the command itself makes, and where paths lead through them.
//!
//! The kernel follows a link before it takes the `..` that comes after it, so a path is resolved name by name. A link may
//! not come about (its name is taken, its directory is missing): at each name that is one both ways are gone, and the
//! more dangerous of the places that a path may mean is the one that is judged.

use super::Interpreter;
use crate::effect::{Certainty, EffectKind, Rest, Scope, Target, Unknown};
use crate::place;
use crate::value::{Origins, Piece, Value};
use crate::world::FileKind;
use shward_syntax::Span;

/// So many links are kept in mind, so that looking up a place stays cheap.
const MOST_LINKS: usize = 64;
/// So many links are followed for one path, all ways together, and one after the other.
const MOST_FOLLOWED: usize = 32;
const DEEPEST: usize = 8;
/// The longest pattern that is led through links, in pieces: each of its names may be one.
const LONGEST_PATTERN: usize = 256;
/// The longest path that Linux takes.
const LONGEST_PATH: usize = 4096;

/// A link.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Link<'a> {
    /// Where it lies, absolute and normalised.
    place: &'a [u8],
    /// What it leads to: absolute, or from the directory that it lies in. `None`: not known.
    aim: Option<&'a [u8]>,
    /// Then any name that matches and lies in `place` may be one, to the same name in `aim`.
    names: Option<&'a [Piece<'a>]>,
}

/// A number that two paths have in common if they are the same, and seldom otherwise.
fn tag(path: &[u8]) -> u64 {
    path.last_chunk().map_or(0, |end| u64::from_le_bytes(*end)) ^ path.len() as u64
}

/// All links that the command makes.
#[derive(Debug, Default)]
pub(super) struct Links<'a> {
    all: Vec<Link<'a>>,
    /// The tags of their places.
    tags: Vec<u64>,
    /// Some are of several names.
    several: bool,
    /// Directories below which they may lie as well, wherever: what a program has written there it may have packed before.
    spread: Vec<&'a [u8]>,
    /// They may have other names there.
    renamed: bool,
}

/// A path on its way.
struct Way {
    done: Vec<u8>,
    /// `done` without `.` and `..`, as if it held no links.
    normal: Vec<u8>,
    rest: Vec<u8>,
    depth: usize,
}

impl Way {
    fn to(done: &[u8], rest: Vec<u8>, depth: usize) -> Self {
        let mut way = Self { done: Vec::new(), normal: Vec::new(), rest, depth };
        done.split(|byte| *byte == b'/').for_each(|name| way.step(name));
        way
    }

    fn step(&mut self, name: &[u8]) {
        if name.is_empty() {
            return;
        }
        self.done.push(b'/');
        self.done.extend_from_slice(name);
        match name {
            b"." => {}
            b".." => self.normal.truncate(parent(&self.normal).len()),
            _ => {
                self.normal.push(b'/');
                self.normal.extend_from_slice(name);
            }
        }
    }
}

impl<'a> Links<'a> {
    /// Whether there are none.
    pub(super) const fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// How many there are, and directories about which they are spread: what looking up a place costs.
    pub(super) const fn count(&self) -> usize {
        self.all.len() + self.spread.len()
    }

    /// Whether one may lie at this path.
    fn may_lie_at(&self, path: &[u8]) -> bool {
        let tag = tag(path);
        // All are looked at: that takes fewer steps than finding the first.
        self.several
            || !self.spread.is_empty()
            || self.tags.iter().fold(false, |any, other| any | (*other == tag))
    }

    /// Whether a program has written below a directory that this path lies in, or that lies in this path.
    fn is_spread_about(&self, path: &[u8]) -> bool {
        self.spread.iter().any(|place| below(path, place).is_some() || below(place, path).is_some())
    }

    /// The links that may lie at this path, which has this name.
    fn at<'s>(&'s self, path: &'s [u8], name: &'s [u8]) -> impl Iterator<Item = &'s Link<'a>> {
        let spread = self.spread.iter().any(|place| below(parent(path), place).is_some());
        self.all
            .iter()
            .filter(move |link| link.is_at(path, name) || spread && (self.renamed || link.is_named(name)))
    }

    fn add(&mut self, link: Link<'a>) {
        self.tags.push(tag(link.place));
        self.several |= link.names.is_some();
        self.all.push(link);
    }

    /// Everything that an absolute path may lead to, itself first: paths in which no link of these is left to be followed,
    /// but `.` and `..` still stand. `None` if that is not known.
    fn led(&self, path: &[u8]) -> Option<Vec<Vec<u8>>> {
        let mut ends: Vec<Vec<u8>> = Vec::new();
        let mut ways = vec![Way::to(b"", path.to_vec(), 0)];
        let mut followed = 0;
        while let Some(mut way) = ways.pop() {
            if way.rest.len() > LONGEST_PATH {
                return None;
            }
            let rest = std::mem::take(&mut way.rest);
            let mut left = rest.as_slice();
            while !left.is_empty() {
                let at = left.iter().position(|byte| *byte == b'/').unwrap_or(left.len());
                let (name, after) = left.split_at_checked(at)?;
                left = after.strip_prefix(b"/").unwrap_or(after);
                if name.is_empty() {
                    continue;
                }
                let before = way.done.len();
                way.step(name);
                if matches!(name, b"." | b"..") || !self.may_lie_at(&way.normal) {
                    continue;
                }
                for link in self.at(&way.normal, name) {
                    followed += 1;
                    if followed > MOST_FOLLOWED || way.depth == DEEPEST {
                        return None;
                    }
                    let mut through = link.aim?.to_vec();
                    if link.names.is_some() {
                        through.push(b'/');
                        through.extend_from_slice(name);
                    }
                    let here = way.done.get(..before).unwrap_or_default();
                    let from = if through.starts_with(b"/") { b"" } else { here };
                    through.push(b'/');
                    through.extend_from_slice(left);
                    ways.push(Way::to(from, through, way.depth + 1));
                }
            }
            if way.done.is_empty() {
                way.done.push(b'/');
            }
            if !ends.contains(&way.done) {
                ends.push(way.done);
            }
        }
        Some(ends)
    }
}

/// A way in which a pattern may lead over a link.
struct Passage<'a> {
    /// The names between, each after a slash. Those that are not known are `_`.
    before: Vec<u8>,
    rest: Vec<Piece<'a>>,
}

impl<'a> Links<'a> {
    /// The ways over one of these links that a pattern has which is taken from a directory.
    fn passages(&self, link: &Link<'a>, here: &[u8], pattern: &[Piece<'a>]) -> Vec<Passage<'a>> {
        let names = names_of(pattern);
        // Where the pattern steps back, it may come to every name of it.
        let anywhere = names.iter().any(|(name, _)| matches!(name.as_slice(), [Piece::Text(b"..")]))
            || self.is_spread_about(here);
        let mut found = Vec::new();
        let mut passes = |at: usize| {
            let mut before = Vec::new();
            for (name, _) in names.iter().take(at) {
                before.push(b'/');
                match name.as_slice() {
                    [Piece::Text(name)] => before.extend_from_slice(name),
                    _ => before.push(b'_'),
                }
            }
            if let Some((name, rest)) = names.get(at) {
                let mut through = Vec::new();
                if link.names.is_some() {
                    through.extend_from_slice(name);
                    through.extend((!rest.is_empty()).then_some(Piece::Text(b"/")));
                }
                through.extend_from_slice(rest);
                found.push(Passage { before, rest: through });
            }
        };
        if anywhere {
            let own = link.name();
            let any = self.renamed || link.names.is_some();
            let may_be = |name: &[Piece<'_>]| any || place::may_name(name, own);
            (0..names.len())
                .filter(|at| names.get(*at).is_some_and(|(name, _)| may_be(name)))
                .for_each(passes);
            return found;
        }
        let directory = if link.names.is_some() { link.place } else { parent(link.place) };
        let Some(between) = below(directory, here) else { return found };
        let mut at = 0;
        for own in between.split(|byte| *byte == b'/').filter(|own| !own.is_empty()) {
            if !names.get(at).is_some_and(|(name, _)| place::may_name(name, own)) {
                return found;
            }
            at += 1;
        }
        if link.names.is_some() || names.get(at).is_some_and(|(name, _)| place::may_name(name, link.name())) {
            passes(at);
        }
        found
    }
}

impl Link<'_> {
    fn is_at(&self, path: &[u8], name: &[u8]) -> bool {
        match self.names {
            Some(pattern) => parent(path) == self.place && place::may_name(pattern, name),
            None => path == self.place,
        }
    }

    /// Whether it has this name, wherever it lies.
    fn is_named(&self, name: &[u8]) -> bool {
        match self.names {
            Some(pattern) => place::may_name(pattern, name),
            None => self.name() == name,
        }
    }

    fn name(&self) -> &[u8] {
        self.place.get(parent(self.place).len() + 1..).unwrap_or_default()
    }
}

impl<'a> Interpreter<'a, '_> {
    /// What else a path may mean than what it names, by the links that the command has made.
    pub(super) fn meanings(&self, path: &Value<'a>, named: &Target<'a>) -> Vec<Target<'a>> {
        let cwd = self.state.flow.places.only();
        if self.links.is_empty() {
            return Vec::new();
        }
        let path = &place::as_path(self.arena, path);
        if path.has_unknown() {
            return Vec::new();
        }
        if path.pieces().len() > LONGEST_PATTERN {
            return vec![Target { rest: Rest::Unknown, scope: Scope::Unknown, path: b"", ..*named }];
        }
        let prefix = path.known_prefix();
        let base = if prefix.starts_with(b"/") { Some(&b""[..]) } else { cwd };
        let Some(base) = base else { return Vec::new() };
        let unknown = || vec![Target { rest: Rest::Unknown, scope: Scope::Unknown, path: b"", ..*named }];
        if let Some(text) = path.known() {
            let Some(ends) = self.links.led(&joined(base, text)) else { return unknown() };
            let others = ends.iter().skip(1).map(|end| self.place_of_text(end));
            return others.collect();
        }
        // A pattern: what stands before it leads on, and it may match links.
        let (head, glob) =
            prefix.split_at(prefix.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1));
        let Some(ends) = self.links.led(&joined(base, head)) else { return unknown() };
        let mut pieces = Vec::with_capacity(path.pieces().len());
        if !glob.is_empty() {
            pieces.push(Piece::Text(self.arena.alloc_slice_copy(glob)));
        }
        pieces.extend(path.pieces().iter().skip_while(|piece| matches!(piece, Piece::Text(_))).copied());
        let mut meant = Vec::new();
        for (index, end) in ends.iter().enumerate() {
            if index > 0 {
                meant.push(self.place_of_pieces(end, &pieces, path.origins));
            }
            let here = place::normal(self.arena, end);
            for link in &self.links.all {
                for matched in self.links.passages(link, without_slash(here), &pieces) {
                    let Some(aim) = link.aim else { return unknown() };
                    let from = [without_slash(end), matched.before.as_slice()].concat();
                    let Some(through) = self.links.led(&joined(&from, aim)) else { return unknown() };
                    for end in through {
                        meant.push(self.place_of_pieces(&end, &matched.rest, path.origins));
                    }
                    if meant.len() > MOST_FOLLOWED {
                        return unknown();
                    }
                }
            }
        }
        meant
    }

    /// A directory, and those below it in which settings are known to lie perhaps: the workspace and the home.
    pub(super) fn owned_below<'p>(&'p self, directory: &'p [u8]) -> impl Iterator<Item = &'p [u8]> {
        let own = [self.request.workspace, self.request.home].into_iter();
        let inside = own.filter(move |own| {
            // Where nothing is known the directory itself says as much.
            below(own, directory).is_some_and(|rest| !rest.is_empty())
                && self.world.kind(own) == FileKind::Directory
        });
        std::iter::once(directory).chain(inside)
    }

    /// Where the links lead that lie below a place, other than to what lies there as well.
    pub(super) fn led_from_below(&self, place: &Target<'a>) -> Vec<Target<'a>> {
        let directory = without_slash(place.path);
        let unknown = Target { rest: Rest::Unknown, scope: Scope::Unknown, path: b"", ..*place };
        let mut led = Vec::new();
        for link in self.links.all.iter().filter(|link| below(link.place, directory).is_some()) {
            let from = if link.names.is_some() { link.place } else { parent(link.place) };
            match link.aim.and_then(|aim| self.links.led(&joined(from, aim))) {
                Some(ends) => led.extend(ends.iter().map(|end| self.place_of_text(end))),
                None => led.push(unknown),
            }
            if led.len() > MOST_FOLLOWED {
                return vec![unknown];
            }
        }
        led.retain(|to| to.rest != Rest::Exact || below(to.path, directory).is_none());
        led
    }

    fn place_of_text(&self, text: &[u8]) -> Target<'a> {
        let value = Value::text(self.arena.alloc_slice_copy(text), Origins::LITERAL);
        self.places.target(self.world, Some(b"/"), &value)
    }

    fn place_of_pieces(&self, directory: &[u8], rest: &[Piece<'a>], origins: Origins) -> Target<'a> {
        if rest.is_empty() {
            return self.place_of_text(directory);
        }
        let mut text = directory.to_vec();
        text.push(b'/');
        let first = Piece::Text(self.arena.alloc_slice_copy(&text));
        let pieces: Vec<_> = [first].into_iter().chain(rest.iter().copied()).collect();
        self.places.target(self.world, Some(b"/"), &Value::of(self.arena, &pieces, origins))
    }

    /// A link is made, or may be.
    pub(super) fn link_made(&mut self, link: &Value<'a>, aim: &Value<'a>) {
        let (link, aim) = (&place::as_path(self.arena, link), &place::as_path(self.arena, aim));
        let named = self.places.target(self.world, self.state.flow.places.only(), link);
        if named.scope == Scope::Harmless || named.rest == Rest::Unknown {
            // A write to what is not known has been told.
            return;
        }
        let cwd = self.state.flow.places.only();
        let prefix = link.known_prefix();
        let base = if prefix.starts_with(b"/") { Some(&b""[..]) } else { cwd };
        let cut = prefix.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        let (head, name) = prefix.split_at(cut);
        let mut places: Vec<&'a [u8]> = Vec::new();
        match base.and_then(|base| self.links.led(&joined(base, head))) {
            Some(ends) if ends.len() <= DEEPEST => {
                for end in ends {
                    let end = if named.rest == Rest::Exact { joined(&end, name) } else { end };
                    places.push(place::normal(self.arena, &end));
                }
            }
            _ => return self.too_many_links(),
        }
        if named.rest == Rest::Exact && !places.contains(&named.path) {
            places.push(named.path);
        }
        // A link may take the place of a file.
        for place in &places {
            self.note_removed(place);
        }
        if named.rest != Rest::Exact {
            let mut pieces = Vec::new();
            if !name.is_empty() {
                pieces.push(Piece::Text(self.arena.alloc_slice_copy(name)));
            }
            pieces.extend(link.pieces().iter().skip_while(|piece| matches!(piece, Piece::Text(_))).copied());
            // Links of which several lie in several directories are not told apart.
            let (names, rest) = first_name(&pieces);
            let aimed = aim.known_prefix();
            let cut = aimed.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
            let directory = aimed.get(..cut).unwrap_or_default();
            let known = rest.is_empty() && !aim.has_unknown() && aim.known().is_none();
            let directory: &'a [u8] =
                self.arena.alloc_slice_copy(if directory.is_empty() { b"." } else { directory });
            let names: &'a [Piece<'a>] = self.arena.alloc_slice_copy(&names);
            for place in places {
                for aim in self.aims(place, known.then_some(directory)) {
                    self.keep_link(Link { place, aim, names: Some(names) });
                }
            }
            return;
        }
        for place in places {
            for aim in self.aims(parent(place), aim.known()) {
                self.keep_link(Link { place, aim, names: None });
            }
        }
    }

    /// What a link leads to: a symbolic link from where it lies, a hard link from here.
    fn aims(&self, from: &[u8], aim: Option<&'a [u8]>) -> Vec<Option<&'a [u8]>> {
        let Some(aim) = aim.filter(|aim| aim.len() < LONGEST_PATH) else { return vec![None] };
        if aim.starts_with(b"/") {
            return vec![Some(aim)];
        }
        match self.state.flow.places.only() {
            Some(cwd) if without_slash(cwd) == without_slash(from) => vec![Some(aim)],
            Some(cwd) => vec![Some(aim), Some(self.arena.alloc_slice_copy(&joined(cwd, aim)))],
            None => vec![Some(aim), None],
        }
    }

    fn keep_link(&mut self, link: Link<'a>) {
        if self.links.may_lie_at(link.place) && self.links.all.contains(&link) {
            return;
        }
        if self.links.all.len() == MOST_LINKS {
            return self.too_many_links();
        }
        self.links.add(link);
    }

    fn too_many_links(&mut self) {
        let reason = Unknown::Budget("links");
        self.emit_here(EffectKind::Unknown { reason }, Span::new(0, 0), Certainty::Possible);
    }

    /// The links at and below a place lie at or below another one as well.
    pub(super) fn links_carried(&mut self, from: &Target<'a>, to: &Target<'a>) {
        let from_path = without_slash(from.path);
        let moved: Vec<(Link<'a>, &'a [u8])> =
            self.links.all.iter().filter_map(|link| Some((*link, below(link.place, from_path)?))).collect();
        for (link, rest) in moved {
            if from.rest != Rest::Exact || to.rest != Rest::Exact {
                // Any name there may be one of them.
                let names: &'a [Piece<'a>] = self.arena.alloc([Piece::Glob(b"*")]);
                self.keep_link(Link {
                    place: without_slash(to.path),
                    aim: Some(from.path),
                    names: Some(names),
                });
                continue;
            }
            let base = from_path.get(parent(from_path).len()..).unwrap_or_default();
            for place in
                [[without_slash(to.path), rest].concat(), [without_slash(to.path), base, rest].concat()]
            {
                let place = self.arena.alloc_slice_copy(&place);
                self.keep_link(Link { place, ..link });
            }
        }
    }

    /// A program has written below a directory, it is not known what: what the command has packed before, with the links
    /// in it, may lie there.
    pub(super) fn links_spread(&mut self, to: &Target<'a>) {
        if self.links.is_empty() || matches!(to.scope, Scope::Harmless | Scope::Elsewhere) {
            return;
        }
        let (own, others) = self.aliases(to);
        for place in [own].into_iter().chain(others) {
            let place = without_slash(place);
            if self.links.spread.iter().any(|known| below(place, known).is_some()) {
                continue;
            }
            if self.links.spread.len() == MOST_LINKS {
                return self.too_many_links();
            }
            self.links.spread.push(place);
        }
    }

    /// Links that are packed get other names.
    pub(super) fn links_renamed(&mut self) {
        self.links.renamed = true;
    }

    /// The directories in which a path with `..` ends if links are followed first, as everything but `cd` does.
    pub(super) fn followed(&self, path: &[u8], from: Option<&'a [u8]>) -> Option<Vec<&'a [u8]>> {
        let base = if path.starts_with(b"/") { b"" } else { from? };
        let ends = self.links.led(&joined(base, path))?;
        Some(ends.iter().map(|end| place::normal(self.arena, end)).collect())
    }
}

/// What stays of a path below a directory, or of the directory itself.
pub(super) fn below<'p>(path: &'p [u8], directory: &[u8]) -> Option<&'p [u8]> {
    path.strip_prefix(directory).filter(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// A path below a directory; an absolute one is itself.
fn joined(base: &[u8], path: &[u8]) -> Vec<u8> {
    if path.starts_with(b"/") {
        return path.to_vec();
    }
    [base, b"/", path].concat()
}

/// The directory that a normalised path lies in, without the last slash.
fn parent(path: &[u8]) -> &[u8] {
    path.iter().rposition(|byte| *byte == b'/').and_then(|at| path.get(..at)).unwrap_or_default()
}

fn without_slash(path: &[u8]) -> &[u8] {
    path.strip_suffix(b"/").unwrap_or(path)
}

/// The names that a pattern has, each with what comes after it.
fn names_of<'a>(pattern: &[Piece<'a>]) -> Vec<(Vec<Piece<'a>>, Vec<Piece<'a>>)> {
    let mut names = Vec::new();
    let mut left = pattern.to_vec();
    while !left.is_empty() && names.len() < MOST_FOLLOWED {
        let (name, rest) = first_name(&left);
        left.clone_from(&rest);
        if !matches!(name.as_slice(), [] | [Piece::Text(b".")]) {
            names.push((name, rest));
        }
    }
    names
}

/// The pieces of the first name, and those after the slash behind it.
fn first_name<'a>(pieces: &[Piece<'a>]) -> (Vec<Piece<'a>>, Vec<Piece<'a>>) {
    let (mut name, mut rest) = (Vec::new(), Vec::new());
    let mut ended = false;
    for piece in pieces {
        match piece {
            Piece::Text(text) if !ended => match text.iter().position(|byte| *byte == b'/') {
                Some(at) => {
                    ended = true;
                    let (before, after) = text.split_at_checked(at).unwrap_or((text, b""));
                    let after = after.strip_prefix(b"/").unwrap_or(after);
                    if !before.is_empty() {
                        name.push(Piece::Text(before));
                    }
                    if !after.is_empty() {
                        rest.push(Piece::Text(after));
                    }
                }
                None => name.push(*piece),
            },
            piece if ended => rest.push(*piece),
            piece => name.push(*piece),
        }
    }
    (name, rest)
}

/// Whether what is done is done at this place.
pub(super) fn leads(kind: EffectKind<'_>, place: &Target<'_>) -> bool {
    match kind {
        EffectKind::Read { target }
        | EffectKind::List { target }
        | EffectKind::Write { target, .. }
        | EffectKind::Delete { target, .. }
        | EffectKind::Metadata { target, .. } => {
            (target.path, target.rest, target.scope) == (place.path, place.rest, place.scope)
        }
        _ => false,
    }
}

/// The same done at another place.
pub(super) fn instead<'a>(kind: EffectKind<'a>, place: Target<'a>) -> EffectKind<'a> {
    let at = |target: Target<'a>| Target { tree: target.tree, ..place };
    match kind {
        EffectKind::Read { target } => EffectKind::Read { target: at(target) },
        EffectKind::List { target } => EffectKind::List { target: at(target) },
        EffectKind::Write { target, mode, content } => {
            EffectKind::Write { target: at(target), mode, content }
        }
        EffectKind::Delete { target, kept } => EffectKind::Delete { target: at(target), kept },
        EffectKind::Metadata { target, what } => EffectKind::Metadata { target: at(target), what },
        other => other,
    }
}
