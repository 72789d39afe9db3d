//! What a path argument means: the place, made absolute and normalised, its links followed as far as the world knows
//! them, and where it lies.
//!
//! A scope is the most dangerous one that the path may have. A path of which only a part is known has the scopes of
//! everything that it may be: a pattern stands for one name, unknown text for anything, `..` included.

mod classify;
mod endings;
mod fresh;
mod led;
mod letters;
mod listed;
mod named;
mod path;
mod pattern;
mod plain;
mod remembered;
mod tables;

#[cfg(test)]
mod tests;

use crate::Request;
use crate::effect::{Covers, Rest, Scope, Target};
use crate::value::{Origins, Piece, Value};
use crate::world::World;
use bumpalo::Bump;
use classify::{Led, Map, Root, inside};
pub(crate) use endings::may_end_in;
pub(crate) use fresh::{FRESH, as_path, is_fresh};
pub(crate) use listed::stays_below;
pub(crate) use named::{protected_by_name, protected_by_pattern, settings_in};
use path::{Names, Start};
use pattern::Part;
use shward_syntax::same;
use std::borrow::Cow;
use std::cell::Cell;

/// The places of one machine and one request.
#[derive(Debug)]
pub(crate) struct Places<'a> {
    arena: &'a Bump,
    map: Map<'a>,
    known: Cell<&'a [Cell<Option<Target<'a>>>]>,
    partly_known: Cell<&'a [Cell<Option<Partly<'a>>>]>,
    /// Those that were looked up last.
    tails: [Cell<Option<Tail<'a>>>; TAILS],
}

/// What follows unknown text, with the scope that it has wherever that leads.
type Tail<'a> = (&'a [Part<'a>], Scope);

/// A place of which a part is known, as it was found for a value in a directory.
#[derive(Debug, Clone, Copy)]
struct Partly<'a> {
    cwd: &'a [u8],
    value: Value<'a>,
    target: Target<'a>,
}

/// Places that are remembered: a command names the same few again and again, and its parts stand in one directory.
const KNOWN: usize = 16;

/// The same of what follows unknown text.
const TAILS: usize = 4;

/// Most names of a path that may turn out to be `..` before it counts as not known.
const MOST_CLIMBS: usize = 2;

impl<'a> Places<'a> {
    /// Looks up what differs from machine to machine: where links lead from the workspace and home, and where the
    /// environment has moved temporary files and our own.
    pub(crate) fn new(arena: &'a Bump, request: &Request<'a>, world: &dyn World) -> Self {
        let root = |named: &'a [u8]| {
            let named = path::normalise(arena, b"", named);
            let real = world.canonical(named).filter(|real| real.starts_with(b"/"));
            Root {
                named,
                real: real.map_or(
                    named,
                    |real| if *real == *named { named } else { arena.alloc_slice_copy(&real) },
                ),
            }
        };
        let mut map = Map::new(root(request.workspace), root(request.home));
        let directory = |variable: &str, below: &[u8]| -> Option<&'a [u8]> {
            let value = world.variable(variable.as_bytes())??;
            let absolute = value.starts_with(b"/");
            absolute.then(|| {
                path::normalise(arena, arena.alloc_slice_copy(&value), arena.alloc_slice_copy(below))
            })
        };
        let mut own = Vec::new();
        if world.tells_variables() {
            let moved = [
                directory("XDG_CONFIG_HOME", b"shward"),
                directory("XDG_STATE_HOME", b"shward"),
                directory("XDG_RUNTIME_DIR", b"shward"),
                // The tables know which files matter in the usual one.
                directory("CLAUDE_CONFIG_DIR", b"").filter(|settings| {
                    !map.home.both().any(|home| settings.strip_prefix(home) == Some(b"/.claude"))
                }),
                directory("CODEX_HOME", b""),
            ];
            own.extend(moved.into_iter().flatten());
        }
        let told = world.own().iter().map(|place| path::normalise(arena, b"", arena.alloc_slice_copy(place)));
        own.extend(told);
        map.own = arena.alloc_slice_copy(&own);
        map.guarded = arena.alloc_slice_fill_iter(
            world.guarded().iter().map(|file| path::normalise(arena, b"", arena.alloc_slice_copy(file))),
        );
        map.led = led::all(arena, world, &map);
        map.plain &=
            (map.own.is_empty() && map.guarded.is_empty() && map.led.is_empty()) || map.lies_plainly();
        // The environment may not turn a place that matters into a temporary one.
        let temp = if world.tells_variables() { directory("TMPDIR", b"") } else { None };
        map.temp = temp.filter(|temp| {
            matches!(map.scope(Names::Path(temp)), Scope::Temp | Scope::Elsewhere)
                && !map.covers(Names::Path(temp)).workspace
        });
        // What else says what a path is, the next request may not have.
        let alone = map.own.is_empty() && map.guarded.is_empty() && map.led.is_empty() && map.temp.is_none();
        map.number = map.number.filter(|_| alone);
        Self { arena, map, known: Cell::new(&[]), partly_known: Cell::new(&[]), tails: Default::default() }
    }

    /// The place that `value` means in the working directory `cwd`. It is not a tree; [`Covers`] say what it would hold
    /// if it were.
    pub(crate) fn target(&self, world: &dyn World, cwd: Option<&'a [u8]>, value: &Value<'a>) -> Target<'a> {
        match (value.known(), cwd) {
            // The kernel refuses it; a shell may still shorten it by itself.
            _ if value.extent() > Value::PATH_MAX => {
                self.partial(world, None, &Value::unknown(value.origins))
            }
            _ if steps_back_in_proc(value) => self.partial(world, None, &Value::unknown(value.origins)),
            (None, _) if value.pieces().contains(&Piece::Made) => self.made(world, cwd, value),
            (Some(text), Some(cwd)) => self.exact(world, cwd, text),
            (Some(text), None) if text.starts_with(b"/") => self.exact(world, b"/", text),
            (_, Some(cwd)) => self.partial_below(world, cwd, value),
            (_, None) => self.partial(world, None, value),
        }
    }

    /// The same of a value of which a part is known. One pattern is often looked up for each thing that is done there.
    fn partial_below(&self, world: &dyn World, cwd: &'a [u8], value: &Value<'a>) -> Target<'a> {
        let known = slot(self.arena, &self.partly_known, hash_of_pieces(&value.pieces()));
        let same = |known: &Partly<'a>| known.cwd == cwd && known.value.is_like(value);
        if let Some(known) = known.and_then(Cell::get).filter(same) {
            return known.target;
        }
        let target = self.partial(world, Some(cwd), value);
        if let Some(known) = known {
            known.set(Some(Partly { cwd, value: *value, target }));
        }
        target
    }

    /// Whether a guarded file lies at or below a path, with a name that ends like this.
    pub(crate) fn guards_below(&self, path: &[u8], end: &[u8]) -> bool {
        self.map
            .guarded
            .iter()
            .any(|file| file.ends_with(end) && !path.is_empty() && Names::Path(path).may_hold(file))
    }

    /// The names that matter and lead elsewhere, with where they lead. First those of what belongs to the firewall or an agent.
    pub(crate) fn all_led(&self) -> &'a [(&'a [u8], &'a [u8])] {
        if self.map.led.is_empty() {
            return &[];
        }
        let (own, others): (Vec<_>, Vec<_>) = self.map.led.iter().partition(|led| led.own);
        let all: Vec<_> = own.into_iter().chain(others).map(Led::both).collect();
        self.arena.alloc_slice_copy(&all)
    }

    /// What is found by this name at or below a directory, where a name leads that matters.
    pub(crate) fn led_by_name(&self, directory: &[u8], name: &[u8]) -> Option<Scope> {
        self.map.led_by_name(directory, name)
    }

    /// The origins of what is read from a place.
    pub(crate) fn read_origins(&self, target: &Target<'_>) -> Origins {
        match target.scope {
            Scope::Secret => Origins::SECRET,
            Scope::Environment => Origins::ENVIRONMENT,
            Scope::Harmless => Origins::LITERAL,
            // A home directory is read with the keys in it.
            _ if target.tree && (target.covers.secrets || target.covers.processes) => {
                Origins::FILE.union(Origins::OUTSIDE).union(Origins::SECRET)
            }
            Scope::Workspace | Scope::Product | Scope::Repository => Origins::FILE,
            _ => Origins::FILE.union(Origins::OUTSIDE),
        }
    }

    fn exact(&self, world: &dyn World, cwd: &'a [u8], text: &'a [u8]) -> Target<'a> {
        let path = path::normalise(self.arena, cwd, text);
        // What is named with `..` may lead elsewhere, once links are followed.
        let plain = path.len() == text.len() || !text.windows(2).any(|w| w == b"..");
        if !plain {
            return self.followed(world, path, path::join(self.arena, cwd, text));
        }
        let known = slot(self.arena, &self.known, hash_of(path));
        if let Some(target) = known.and_then(Cell::get).filter(|target| same(target.path, path)) {
            return target;
        }
        let target = self.followed(world, path, path);
        if let Some(known) = known.filter(|_| target.path == path) {
            known.set(Some(target));
        }
        target
    }

    /// The place of a normalised path that is named like this.
    fn followed(&self, world: &dyn World, path: &'a [u8], named: &[u8]) -> Target<'a> {
        let target = self.judged(path, Rest::Exact, Names::Path(path));
        if !follows_links(&target) {
            return target;
        }
        match real(world, named) {
            Some(real) if *real != *path => {
                let other = self.judged(self.arena.alloc_slice_copy(&real), Rest::Exact, Names::Path(&real));
                worse(target, other)
            }
            _ => target,
        }
    }

    fn partial(&self, world: &dyn World, cwd: Option<&'a [u8]>, value: &Value<'a>) -> Target<'a> {
        let partial = path::split(self.arena, cwd, value);
        if partial.start == Start::Unknown && partial.tail.is_none() {
            return self.nowhere_known(partial.head);
        }
        let Some(tail) = partial.tail else {
            return self.pattern(world, partial.head);
        };
        // As if the unknown text were one name, wherever it leads, and as if it were empty.
        let parts =
            self.arena.alloc_slice_fill_iter(partial.head.iter().chain(tail).copied().collect::<Vec<_>>());
        let here =
            if partial.start == Start::Known { self.map.scope(Names::Parts(parts)) } else { Scope::Unknown };
        let scope = Scope::Unknown.max(here).max(self.anywhere(tail));
        let told = value.pieces().iter().any(|p| !matches!(p, Piece::Unknown));
        let covers = if told && (partial.start == Start::Known || partial.bare_rooted) {
            self.map.covers(Names::Parts(partial.bare))
        } else {
            Covers::default()
        };
        // A path that begins with unknown text may be absolute: the working directory says nothing of it.
        let somewhere =
            partial.start == Start::Known && !matches!(value.pieces().first(), Some(Piece::Unknown));
        // `..$x`, or `.$x.`, is `..` where there is no `$x`.
        let dots = tail.first().is_some_and(is_dots);
        let head = partial.head.split_last().filter(|_| dots).map_or(partial.head, |(_, above)| above);
        let path = if somewhere { path::known_directory(self.arena, head) } else { b"" };
        Target { path, rest: Rest::Unknown, scope, tree: false, covers }
    }

    /// The scope of what follows unknown text. A search finds the same for each thing that is done with it.
    fn anywhere(&self, tail: &'a [Part<'a>]) -> Scope {
        let known = self.tails.iter().filter_map(Cell::get).find(|(known, _)| *known == tail);
        if let Some((_, scope)) = known {
            return scope;
        }
        let scope = Map::scope_anywhere(Names::Parts(tail));
        let mut last = Some((tail, scope));
        for known in &self.tails {
            last = known.replace(last);
        }
        scope
    }

    /// A path below a directory of which nothing is known.
    fn nowhere_known(&self, parts: &[Part<'a>]) -> Target<'a> {
        let scope = Scope::Unknown.max(Map::scope_anywhere(Names::Parts(parts)));
        Target { path: b"", rest: Rest::Unknown, scope, tree: false, covers: Covers::default() }
    }

    /// A path with patterns, but without unknown text.
    fn pattern(&self, world: &dyn World, parts: &'a [Part<'a>]) -> Target<'a> {
        let directory = path::known_directory(self.arena, parts);
        let mut target = self.judged(directory, Rest::Glob, Names::Parts(parts));
        // `.*` is also the directory itself and its parent, in shells other than bash 5.2.
        let climbs = |part: &Part<'a>| part.specific() && part.may_be(b"..");
        if parts.iter().filter(|part| climbs(part)).count() > MOST_CLIMBS {
            return self.nowhere_known(parts);
        }
        if let Some(at) = parts.iter().position(climbs) {
            let (above, rest) = parts.split_at_checked(at).unwrap_or_default();
            let parent = above.split_last().map_or(above, |(_, parent)| parent);
            let other = parent.iter().chain(rest.iter().skip(1)).copied().collect::<Vec<_>>();
            let other = self.pattern(world, self.arena.alloc_slice_fill_iter(other));
            // Whichever it is, it lies below what both have in common.
            let path = path::common(target.path, other.path);
            target = Target { path, ..worse(target, other) };
        }
        match real(world, directory) {
            Some(real) if *real != *directory => {
                let real: &'a [u8] = self.arena.alloc_slice_copy(&real);
                let patterns = parts.iter().skip_while(|part| matches!(part, Part::Text(_))).copied();
                let parts =
                    self.arena.alloc_slice_fill_iter(Names::Path(real).chain(patterns).collect::<Vec<_>>());
                worse(target, self.judged(real, Rest::Glob, Names::Parts(parts)))
            }
            _ => target,
        }
    }

    /// Where a path of the workspace lies if a link that is there leads it elsewhere, as a command would name that.
    pub(crate) fn led_by_the_disk(&self, world: &dyn World, path: &[u8]) -> Option<&'a [u8]> {
        let workspace = self.map.workspace;
        let below = path.strip_prefix(workspace.named).filter(|below| below.starts_with(b"/"))?;
        let real = real(world, path)?;
        match real.strip_prefix(workspace.real).filter(|inside| inside.starts_with(b"/")) {
            Some(inside) if inside == below => None,
            Some(inside) => Some(self.arena.alloc_slice_copy(&[workspace.named, inside].concat())),
            None => Some(self.arena.alloc_slice_copy(&real)),
        }
    }

    fn judged(&self, path: &'a [u8], rest: Rest, names: Names<'_>) -> Target<'a> {
        let (scope, covers) = match names {
            Names::Path(named) => self.map.place(named),
            Names::Parts(parts) => {
                let plainly = self.map.pattern_in_workspace(parts);
                plainly.unwrap_or_else(|| (self.map.scope(names), self.map.covers(names)))
            }
        };
        Target { path, rest, scope, tree: false, covers }
    }
}

/// Whether nothing of a name is known but that there are two dots in it.
fn is_dots(part: &Part<'_>) -> bool {
    let Part::Pattern(pieces) = part else { return false };
    let known =
        || pieces.iter().filter_map(|piece| if let Piece::Text(text) = piece { Some(*text) } else { None });
    known().all(|text| text.iter().all(|byte| *byte == b'.')) && known().map(<[u8]>::len).sum::<usize>() == 2
}

/// Whether a pattern may stand for this name.
pub(crate) fn may_name(pattern: &[Piece<'_>], name: &[u8]) -> bool {
    Part::Pattern(pattern).may_be(name)
}

/// Whether a file of this name may be a secret, in the place where programs look for it, or protected as much.
pub(crate) fn may_be_secret(name: &[u8]) -> bool {
    let is_meant = |row: &tables::Row| row.1 >= Scope::Secret && !row.0.contains('/');
    classify::by_name(Part::Text(name), true) >= Scope::Secret
        || tables::HOME.about(Names::Path(name)).any(is_meant)
}

/// An absolute path without `//`, `.` and `..`.
pub(crate) fn normal<'a>(arena: &'a Bump, path: &[u8]) -> &'a [u8] {
    path::normalise(arena, b"", arena.alloc_slice_copy(path))
}

/// Where something with this hash is remembered, in a table that is made when it is first asked for.
fn slot<'a, T: Copy>(
    arena: &'a Bump,
    table: &Cell<&'a [Cell<Option<T>>]>,
    hash: u64,
) -> Option<&'a Cell<Option<T>>> {
    if table.get().is_empty() {
        table.set(arena.alloc_slice_fill_with(KNOWN, |_| Cell::new(None)));
    }
    table.get().get((hash >> 60) as usize % KNOWN)
}

const fn mixed(hash: u64) -> u64 {
    hash.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn hash_of(path: &[u8]) -> u64 {
    let end = match path.last_chunk::<8>() {
        Some(end) => u64::from_le_bytes(*end),
        None => path.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)),
    };
    mixed(end ^ path.len() as u64)
}

fn hash_of_pieces(pieces: &[Piece<'_>]) -> u64 {
    pieces.iter().take(8).fold(pieces.len() as u64, |hash, piece| match piece {
        Piece::Text(text) => mixed(hash ^ hash_of(text)),
        Piece::Glob(glob) => mixed(hash ^ hash_of(glob) ^ 1),
        Piece::Unknown => mixed(hash ^ 2),
        Piece::Made => mixed(hash ^ 3),
    })
}

/// Two answers about one path: the more dangerous scope with its path, and what either covers.
pub(crate) fn worse<'a>(a: Target<'a>, b: Target<'a>) -> Target<'a> {
    let covers = a.covers.union(b.covers);
    Target { covers, ..if b.scope > a.scope { b } else { a } }
}

/// Descriptors and processes resolve to whoever asks, not to whoever will run the command.
fn follows_links(target: &Target<'_>) -> bool {
    target.scope != Scope::Harmless && !target.path.starts_with(b"/proc/")
}

/// Whether a path goes up behind a name in `/proc`, where `cwd`, `root` and descriptors are links (proc(5)): what is above
/// where they lead is not known.
fn steps_back_in_proc(value: &Value<'_>) -> bool {
    value.known_prefix().starts_with(b"/proc/")
        && value.texts().any(|text| text.windows(3).any(|three| three == b"/.."))
}

fn real<'w>(world: &'w dyn World, path: &[u8]) -> Option<Cow<'w, [u8]>> {
    world.canonical(path).filter(|real| real.starts_with(b"/"))
}

/// Where an absolute path lies, by its name alone: no link is followed. For whoever lists a directory and has to know
/// what in it is a secret, or protected.
#[must_use]
pub fn scope_of(path: &[u8], workspace: &[u8], home: &[u8]) -> Scope {
    Scopes::new(workspace, home).of(b"", path)
}

/// The same for many paths.
#[derive(Debug)]
pub struct Scopes<'a> {
    map: Map<'a>,
    arena: Bump,
}

impl<'a> Scopes<'a> {
    /// For this workspace and home directory.
    #[must_use]
    pub fn new(workspace: &'a [u8], home: &'a [u8]) -> Self {
        let root = |named| Root { named, real: named };
        Self { map: Map::new(root(workspace), root(home)), arena: Bump::new() }
    }

    /// Where a path lies that is absolute or counts from a directory, by its name alone.
    pub fn of(&mut self, directory: &[u8], path: &[u8]) -> Scope {
        self.arena.reset();
        let path = path::normalise(&self.arena, directory, path);
        self.map.scope_in_workspace(path).unwrap_or_else(|| self.map.scope(Names::Path(path)))
    }

    /// Whether programs read settings, or find what they start, below an absolute path, for its name.
    pub fn is_above_obeyed(&mut self, path: &[u8]) -> bool {
        self.arena.reset();
        let path = path::normalise(&self.arena, b"", path);
        self.map.holds(Names::Path(path), |scope| matches!(scope, Scope::Persistence | Scope::Own))
    }

    /// What an absolute path is to programs for its name.
    pub fn meaning(&mut self, path: &[u8]) -> Meaning {
        let scope = self.of(b"", path);
        let names = Names::Path(path);
        let of_agent = names.last().into_iter().flat_map(inside).flatten().any(|row| row.1 == Scope::Own);
        Meaning { itself: is_special(scope), holds: of_agent || self.map.holds_special(names), of_agent }
    }
}

/// What a path is to programs for its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "an answer with all that is asked")]
pub struct Meaning {
    /// It is a secret, or belongs to the firewall or an agent, or is executed or obeyed by other programs.
    pub itself: bool,
    /// Such things lie below it.
    pub holds: bool,
    /// An agent keeps its settings there.
    pub of_agent: bool,
}

/// Whether a place matters for itself.
const fn is_special(scope: Scope) -> bool {
    matches!(scope, Scope::Persistence | Scope::Secret | Scope::Own)
}
