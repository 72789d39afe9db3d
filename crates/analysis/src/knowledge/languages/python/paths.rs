//! Paths as objects: what their attributes are, and what their methods do.

use super::Reader;
use super::acts::{Act, Fold, Reach};
use super::arguments::Arguments;
use super::strings::as_path;
use super::value::{Order, Val, any_of};
use crate::effect::WriteMode;
use crate::value::{Origins, Piece, Value};
use bumpalo::collections::Vec as BumpVec;

/// Directories above a path that are told apart.
const MAX_PARENTS: usize = 6;

/// With more steps back in a path than these, what is created on the way is not known.
const MAX_BACK: usize = 8;

/// Of longer paths it is not told what stands behind a base: of each, that is any of their ends.
const MAX_BEHIND: usize = 256;

/// Methods that only paths have and that act.
pub(super) fn is_path_act(name: &[u8]) -> bool {
    matches!(
        name,
        b"unlink"
            | b"rmdir"
            | b"write_text"
            | b"write_bytes"
            | b"read_text"
            | b"read_bytes"
            | b"touch"
            | b"mkdir"
            | b"chmod"
            | b"lchmod"
            | b"symlink_to"
            | b"hardlink_to"
            | b"link_to"
            | b"rename"
            | b"iterdir"
            | b"glob"
            | b"rglob"
            | b"copy_into"
            | b"move_into"
            | b"move"
    )
}
/// Methods that strings have and paths have not.
pub(super) fn is_of_text(name: &[u8], arguments: &Arguments<'_>) -> bool {
    let either = name == b"replace" && arguments.positional.len() > 1;
    either
        || matches!(
            name,
            b"upper"
                | b"lower"
                | b"strip"
                | b"lstrip"
                | b"rstrip"
                | b"split"
                | b"rsplit"
                | b"splitlines"
                | b"partition"
                | b"rpartition"
                | b"removeprefix"
                | b"removesuffix"
                | b"title"
                | b"join"
                | b"format"
                | b"swapcase"
                | b"casefold"
                | b"capitalize"
                | b"zfill"
                | b"ljust"
                | b"rjust"
                | b"center"
                | b"expandtabs"
                | b"translate"
                | b"encode"
        )
}

/// Whether the name at the end of a path is made up, and nothing else.
fn ends_in_made_up(path: &Value<'_>) -> bool {
    match &*path.pieces() {
        [name] => *name == Piece::MADE_UP,
        [.., Piece::Text(before), name] => *name == Piece::MADE_UP && before.ends_with(b"/"),
        _ => false,
    }
}

/// Whether text has a part in it that is empty or `.`. No step depends on the one before, so that many are made at once.
fn is_odd(text: &[u8]) -> bool {
    let (second, third) = (text.get(1..).unwrap_or_default(), text.get(2..).unwrap_or_default());
    let doubled = text.iter().zip(second).fold(false, |odd, (a, b)| odd | ((*a == b'/') & (*b == b'/')));
    let pairs = text.iter().zip(second).zip(third);
    doubled || pairs.fold(false, |odd, ((a, b), c)| odd | ((*a == b'/') & (*b == b'.') & (*c == b'/')))
}

impl<'a> Reader<'_, '_, 'a> {
    /// A path method that is named without being called: it may be called later, with anything.
    pub(super) fn path_reference(&mut self, name: &[u8]) {
        if matches!(
            name,
            b"unlink"
                | b"rmdir"
                | b"write_text"
                | b"write_bytes"
                | b"symlink_to"
                | b"hardlink_to"
                | b"read_text"
        ) {
            let arguments = self.no_arguments(true);
            self.path_method(&Val::Data, name, &arguments);
        }
    }

    /// A method of the class, as a function: its first argument is the path.
    pub(super) fn path_function(&mut self, name: &[u8]) {
        let others = matches!(name, b"open" | b"replace" | b"copy");
        if others || is_path_act(name) && !matches!(name, b"glob" | b"rglob" | b"iterdir") {
            let arguments = self.no_arguments(true);
            self.path_method(&Val::Data, name, &arguments);
        }
    }

    /// `path.name`
    pub(super) fn path_attribute(&mut self, path: &Value<'a>, name: &[u8]) -> Val<'a> {
        let mut arguments = self.no_arguments(false);
        arguments.positional.push(Val::Path(*path));
        match name {
            b"parent" => self.parent(path),
            b"name" => self.fold(Fold::BaseName, &arguments),
            b"stem" | b"suffix" | b"suffixes" | b"parts" | b"drive" | b"root" | b"anchor" => Val::Data,
            b"parents" => {
                // The path may be one that counts from the root, however it is written.
                let mut vals = [Val::Path(Value::unknown(path.origins)); MAX_PARENTS + 1];
                let mut above = *path;
                for val in vals.iter_mut().take(MAX_PARENTS) {
                    above = self.above(&above);
                    *val = Val::Path(above);
                }
                let vals = self.report.arena.alloc_slice_copy(&vals);
                self.ordered(self.at, vals, Order::Sure(MAX_PARENTS))
            }
            b"path" => Val::Path(*path),
            _ => {
                self.path_reference(name);
                Val::Data
            }
        }
    }

    /// A method of a path; of which path, `val` may not tell.
    pub(super) fn path_method(&mut self, val: &Val<'a>, name: &[u8], arguments: &Arguments<'a>) -> Val<'a> {
        let path = val.value();
        let place = path.as_ref();
        match name {
            b"read_text" | b"read_bytes" => {
                self.report.reads(place, false);
                path.map_or(Val::Data, Val::File)
            }
            b"open" => {
                let mut with_path = self.no_arguments(arguments.open);
                with_path.positional.push(*val);
                with_path.positional.extend_from_slice_copy(&arguments.positional);
                with_path.named.extend_from_slice_copy(&arguments.named);
                self.perform(Act::Open, &with_path)
            }
            b"write_text" | b"write_bytes" => {
                self.report.writes(place, WriteMode::Replace);
                Val::Data
            }
            b"unlink" | b"rmdir" => {
                self.report.deletes(place, false);
                Val::Data
            }
            b"mkdir" | b"touch" => {
                self.creates(place);
                Val::Data
            }
            b"rename" | b"replace" | b"move" | b"move_into" => {
                self.rename_each(&[place.copied()], arguments.get(0, &["target"]))
            }
            b"copy" | b"copy_into" => {
                let to = arguments.get(0, &["target", "target_dir"]);
                self.copy_each(&[place.copied()], true, to, WriteMode::Below)
            }
            b"symlink_to" | b"hardlink_to" | b"link_to" => {
                self.hand_over(arguments, Reach::Sensitive);
                self.report.writes(place, WriteMode::Create);
                for aim in self.each_path(arguments.get(0, &["target"])) {
                    self.report.links(place, aim.as_ref());
                }
                Val::Data
            }
            b"chmod" | b"lchmod" => {
                let mut with_path = self.no_arguments(arguments.open);
                with_path.positional.push(*val);
                with_path.positional.extend_from_slice_copy(&arguments.positional);
                self.perform(Act::Metadata("mode"), &with_path)
            }
            b"exists" | b"is_file" | b"is_dir" | b"is_symlink" | b"stat" | b"lstat" | b"owner" | b"group"
            | b"samefile" => {
                self.report.lists(place, false);
                Val::Data
            }
            b"iterdir" => {
                self.report.lists(place, false);
                self.names_below(path, &[], false)
            }
            b"glob" | b"rglob" => {
                self.report.lists(place, name == b"rglob");
                let pattern = arguments.positional.first().and_then(|v| v.known());
                match pattern {
                    Some(pattern) if !pattern.starts_with(b"/") => {
                        let deep = name == b"rglob" || pattern.starts_with(b"**/");
                        self.names_below(path, pattern, deep)
                    }
                    _ => Val::Data,
                }
            }
            b"walk" => {
                let mut with_path = self.no_arguments(false);
                with_path.positional.push(*val);
                self.perform(Act::Walk, &with_path)
            }
            b"joinpath" => {
                let mut parts = self.no_arguments(arguments.open);
                parts.positional.push(*val);
                parts.positional.extend_from_slice_copy(&arguments.positional);
                let joined = self.fold(Fold::JoinPath, &parts);
                self.path_of(joined)
            }
            b"expanduser" => {
                let mut with_path = self.no_arguments(false);
                with_path.positional.push(*val);
                as_path(self.report.arena, self.fold(Fold::Home, &with_path))
            }
            b"resolve" | b"absolute" => self.absolute(Some(*val)),
            b"as_posix" | b"readlink" | b"__str__" | b"__fspath__" => *val,
            // Any other name that is not known is as good as one that is made up already.
            b"with_suffix" | b"with_name" | b"with_stem"
                if place.is_some_and(ends_in_made_up) && self.renamed(name, place, arguments).is_none() =>
            {
                *val
            }
            b"with_suffix" | b"with_name" | b"with_stem" => match path {
                Some(path) => {
                    let directory = self.path_attribute(&path, b"parent");
                    let other = self.renamed(name, place, arguments);
                    let named = |directory: &Val<'a>| match directory.value() {
                        Some(directory) => {
                            let name = match other {
                                Some(name) => Value::text(name, directory.origins),
                                None => Value::of(self.report.arena, &[Piece::MADE_UP], directory.origins),
                            };
                            Val::Path(self.path_join(&[directory, name]))
                        }
                        None => Val::Data,
                    };
                    let each = directory.alternatives().iter().map(named);
                    any_of(self.report.arena, each).unwrap_or(Val::Data)
                }
                None => Val::Data,
            },
            _ => Val::Data,
        }
    }

    /// The name that a path gets by one of its `with_` methods (Python's pathlib), if all that makes it up is known.
    fn renamed(
        &self,
        method: &[u8],
        place: Option<&Value<'a>>,
        arguments: &Arguments<'a>,
    ) -> Option<&'a [u8]> {
        let [given] = &*arguments.positional else { return None };
        let given = given.value()?.known()?;
        if method == b"with_name" {
            return Some(given);
        }
        let before = place?.known()?;
        let before = before.strip_suffix(b"/").unwrap_or(before);
        let before = before.rsplit(|byte| *byte == b'/').next()?;
        // A name that begins with its only dot has no ending.
        let at = before.iter().rposition(|byte| *byte == b'.').filter(|at| *at > 0).unwrap_or(before.len());
        let (stem, suffix) = before.split_at(at);
        let parts = if method == b"with_stem" { [given, suffix] } else { [stem, given] };
        Some(self.report.arena.alloc_slice_copy(&parts.concat()))
    }

    /// A file or directory is created, and what its path leads back from, if that is created on the way.
    pub(super) fn creates(&mut self, place: Option<&Value<'a>>) {
        let text = place.and_then(Value::known).unwrap_or_default();
        let back = text.windows(3).enumerate().filter(|(_, three)| *three == b"/..");
        for (step, (at, _)) in back.enumerate() {
            if step == MAX_BACK {
                return self.report.writes(None, WriteMode::Create);
            }
            let left = text.get(..at).unwrap_or_default();
            if !left.is_empty() && !left.ends_with(b".") {
                self.report.writes(Some(&Value::text(left, Origins::FILE)), WriteMode::Create);
            }
        }
        self.report.writes(place, WriteMode::Create);
    }

    /// Names in a directory that match a pattern, or any; or anywhere below it.
    fn names_below(&mut self, directory: Option<Value<'a>>, pattern: &'a [u8], deep: bool) -> Val<'a> {
        let Some(directory) = directory else { return Val::Data };
        let arena = self.report.arena;
        let piece = self.any_name_in(&directory);
        let any = Value::of(arena, &[piece], directory.origins);
        let names = if pattern.is_empty() { any } else { self.pattern(pattern, piece) };
        let path = Val::Path(self.path_join(&[directory, names]));
        // In a home directory, what lies deeper is not of the same kind as what lies here.
        let between = if piece == Piece::LISTED { any } else { self.any_directory_in(&directory) };
        let pattern = pattern.strip_prefix(b"**/").unwrap_or(pattern);
        let named = piece == Piece::LISTED || !pattern.iter().any(|byte| b"*?[".contains(byte));
        let vals: &'a [Val<'a>] = if deep && named {
            let names = if piece == Piece::LISTED { names } else { self.report.literal(pattern) };
            let below = Val::Path(self.path_join(&[directory, between, names]));
            arena.alloc_slice_copy(&[path, below])
        } else {
            arena.alloc_slice_copy(&[path])
        };
        self.bag(self.at, vals)
    }

    /// What stands for any name in a directory that is listed. Python shows names that begin with a dot; only where homes
    /// are that says more than what lies there.
    pub(super) fn any_name_in(&mut self, directory: &Value<'a>) -> Piece<'static> {
        let covers = self.report.target(directory, true).covers;
        if covers.home || covers.root { Piece::LISTED } else { super::ANY_NAME }
    }

    /// What stands for a directory at any depth below one: where the whole workspace is looked through, `.git` and `.claude` are such
    /// directories.
    pub(super) fn any_directory_in(&mut self, directory: &Value<'a>) -> Value<'a> {
        let covers = self.report.target(directory, true).covers;
        let piece = match covers.workspace && !covers.home && !covers.root {
            true => Piece::FOUND,
            false => self.any_name_in(directory),
        };
        Value::of(self.report.arena, &[piece], directory.origins)
    }

    /// A pattern of `glob` as a value, with what stands for an asterisk.
    pub(super) fn pattern(&self, pattern: &'a [u8], any: Piece<'static>) -> Value<'a> {
        let arena = self.report.arena;
        let mut parts: BumpVec<'a, Value<'a>> = BumpVec::new_in(arena);
        let mut rest = pattern;
        while let Some(at) = rest.iter().position(|b| matches!(b, b'*' | b'?' | b'[')) {
            let (before, after) = rest.split_at(at);
            parts.push(self.report.literal(before));
            let length = match after.first() {
                Some(b'[') => after.iter().position(|b| *b == b']').map_or(1, |end| end + 1),
                _ => after.iter().take_while(|b| **b == b'*').count().max(1),
            };
            let (_, after) = after.split_at(length.min(after.len()));
            parts.push(Value::of(arena, &[any], self.report.text.origins));
            rest = after;
        }
        parts.push(self.report.literal(rest));
        self.report.joined(&parts)
    }

    /// `Path(…)`
    pub(super) fn path_of(&self, joined: Val<'a>) -> Val<'a> {
        let plain = |val: &Val<'a>| match val {
            Val::Text(value) | Val::Path(value) => Val::Path(self.without_dot(value)),
            other => *other,
        };
        any_of(self.report.arena, joined.alternatives().iter().map(plain)).unwrap_or(joined)
    }

    /// A path as its object writes it: no part is empty or `.`, so that what began with `./` may be an option. Which file the
    /// program is stays as it is, for that counts from the root.
    pub(super) fn without_dot(&self, path: &Value<'a>) -> Value<'a> {
        let pieces = path.pieces();
        let many = pieces.len();
        let dot = matches!(pieces.first(), Some(Piece::Text(text)) if text.starts_with(b"./"));
        let own = matches!(pieces.first(), Some(Piece::Text(text)) if text.starts_with(b"./__main__"));
        let odd = |piece: &Piece<'_>| match piece {
            Piece::Text(text) => is_odd(text),
            _ => false,
        };
        let ends =
            matches!(pieces.last(), Some(Piece::Text(text)) if text.ends_with(b"/") || text.ends_with(b"/."));
        if own || !dot && !ends && !pieces.iter().any(odd) {
            return *path;
        }
        let arena = self.report.arena;
        let mut all: Vec<Piece<'a>> = Vec::with_capacity(many);
        for (index, piece) in pieces.iter().enumerate() {
            let Piece::Text(text) = piece else {
                all.push(*piece);
                continue;
            };
            let mut parts: Vec<&[u8]> = text.split(|byte| *byte == b'/').collect();
            let last = parts.len() - 1;
            // What stands at an end of it belongs to the piece beside it.
            let mut at = 0;
            parts.retain(|part| {
                let joined = at == 0 && index > 0 || at == last && index + 1 < many;
                let root = at == 0 && part.is_empty();
                at += 1;
                joined || root || !matches!(*part, b"" | b".")
            });
            let text = match parts.as_slice() {
                [b""] if text.starts_with(b"/") => b"/".to_vec(),
                parts => parts.join(&b'/'),
            };
            if !text.is_empty() {
                all.push(Piece::Text(arena.alloc_slice_copy(&text)));
            }
        }
        if all.is_empty() { self.report.literal(b".") } else { Value::of(arena, &all, path.origins) }
    }

    /// `path.relative_to(base)`: what stands behind the base. Where that is not known, it is any end of the path.
    pub(super) fn relative_to(&mut self, path: &Value<'a>, arguments: &Arguments<'a>) -> Val<'a> {
        let arena = self.report.arena;
        let base = arguments.get(0, &["other"]);
        if path.pieces().len() > MAX_BEHIND {
            return Val::Data;
        }
        let path = path.forgotten(arena);
        let bases = base.as_ref().map_or(&[][..], Val::alternatives);
        let each = bases.iter().map(|base| self.behind(&path, base.known()));
        let behind: Option<Vec<Val<'a>>> = each.collect();
        if let Some(all) = behind.filter(|all| !all.is_empty()) {
            return any_of(arena, all.into_iter()).unwrap_or(Val::Data);
        }
        if path.known().is_some_and(|text| text.len() > MAX_BEHIND) {
            return Val::Data;
        }
        let Some(text) = path.known() else {
            let any = Value::of(arena, &[Piece::Glob(b"*")], path.origins);
            return any_of(arena, [Val::Path(path), Val::Path(any)].into_iter()).unwrap_or(Val::Data);
        };
        let starts = text.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1);
        let ends = [0].into_iter().chain(starts).filter_map(|at| text.get(at..));
        let ends = ends.map(|end| Val::Path(Value::text(end, path.origins)));
        any_of(arena, ends).unwrap_or(Val::Data)
    }

    /// What stands in a path behind a base that it surely begins with.
    fn behind(&self, path: &Value<'a>, base: Option<&[u8]>) -> Option<Val<'a>> {
        let base = base?;
        let base = base.strip_prefix(b"./").unwrap_or(base);
        let base = base.strip_suffix(b"/").unwrap_or(base);
        let (Piece::Text(first), rest) = path.split_first()? else { return None };
        let first = first.strip_prefix(b"./").unwrap_or(first);
        let behind = match base {
            b"." if !first.starts_with(b"/") => first,
            _ if first == base && rest.is_empty() => b".",
            _ => first.strip_prefix(base)?.strip_prefix(b"/")?,
        };
        let mut pieces = vec![Piece::Text(behind)];
        pieces.retain(|_| !behind.is_empty());
        pieces.extend_from_slice(rest);
        Some(Val::Path(Value::of(self.report.arena, &pieces, path.origins)))
    }

    /// The directory above, where a path is not put in order. Which file the program is counts from the root.
    fn above(&self, path: &Value<'a>) -> Value<'a> {
        let text = path.known().unwrap_or_default();
        let end = text.iter().rposition(|byte| *byte == b'/');
        let leads_back = text.split(|byte| *byte == b'/').any(|part| part == b"..");
        match end.filter(|_| !leads_back && !text.starts_with(b"./")) {
            Some(0) => self.report.literal(b"/"),
            Some(end) => Value::text(
                self.report.arena.alloc_slice_copy(text.get(..end).unwrap_or_default()),
                path.origins,
            ),
            None if !text.is_empty() && text != b"." && !leads_back => self.report.literal(b"."),
            None => self.report.joined(&[*path, self.report.literal(b"/..")]),
        }
    }

    /// `path.parent`, which is never empty.
    pub(super) fn parent(&mut self, path: &Value<'a>) -> Val<'a> {
        let mut arguments = self.no_arguments(false);
        let path = match path.known() {
            Some(text) => {
                let end = text.iter().rposition(|byte| *byte != b'/').map_or(text.len().min(1), |at| at + 1);
                Value::text(text.get(..end).unwrap_or_default(), path.origins)
            }
            None => *path,
        };
        arguments.positional.push(Val::Path(path));
        let directory = self.fold(Fold::DirName, &arguments);
        let here = self.known_text(b".", path.origins);
        let named = |val: &Val<'a>| if val.known() == Some(b"") { here } else { *val };
        let directories = any_of(self.report.arena, directory.alternatives().iter().map(named));
        as_path(self.report.arena, directories.unwrap_or(directory))
    }
}
