//! Programs that are started, code that is executed, connections, files that are opened.

use super::Reader;
use super::acts::{Act, Fresh};
use super::arguments::Arguments;
use super::strings::decimal;
use super::value::{Object, Val, join};
use crate::effect::WriteMode;
use crate::value::{Origins, Piece, Value};
use bumpalo::collections::Vec as BumpVec;

impl<'a> Reader<'_, '_, 'a> {
    /// `print(…)`: what it prints, if that is certain.
    pub(super) fn print_known(&mut self, arguments: &Arguments<'a>) {
        if !self.report.may_print() {
            return;
        }
        if arguments.named(&["file"]).is_some_and(|val| !matches!(val, Val::Nothing)) {
            // It may be standard output by another name.
            return self.report.prints(None);
        }
        let separator = arguments.named(&["sep"]).map_or(Some(&b" "[..]), |v| v.known());
        let end = arguments.named(&["end"]).map_or(Some(&b"\n"[..]), |v| v.known());
        let line = match (separator, end) {
            (Some(separator), Some(end)) if self.is_plain() && !arguments.open => {
                self.line_of(&arguments.positional, separator, end)
            }
            _ => None,
        };
        self.report.prints(line);
    }

    /// These with a text between them and one behind them, if all are known.
    fn line_of(&self, vals: &[Val<'a>], separator: &[u8], end: &[u8]) -> Option<&'a [u8]> {
        let mut line: BumpVec<'a, u8> = BumpVec::new_in(self.report.arena);
        for (at, val) in vals.iter().enumerate() {
            if at > 0 {
                line.extend_from_slice_copy(separator);
            }
            match val {
                Val::Number(number) => line.extend_from_slice_copy(decimal(self.report.arena, *number)),
                val => line.extend_from_slice_copy(val.known()?),
            }
        }
        line.extend_from_slice_copy(end);
        Some(line.into_bump_slice())
    }

    /// What `sorted(…)`, `set(…)`, `chain(…)` hold, in any order.
    pub(super) fn items_of(&mut self, arguments: &Arguments<'a>) -> Val<'a> {
        let arena = self.report.arena;
        let mut all: Option<Val<'a>> = None;
        let mut add = |val: Val<'a>| all = Some(all.map_or(val, |old| join(arena, old, val)));
        for val in &arguments.positional {
            let inner = self.elements(val);
            add(if matches!(val, Val::Many(_)) { inner } else { join(arena, *val, inner) });
        }
        for (_, val) in &arguments.named {
            add(*val);
        }
        if arguments.open {
            add(Val::Data);
        }
        let acts: Vec<Val<'a>> = arguments.named.iter().map(|(_, val)| *val).filter(Val::acts).collect();
        acts.iter().for_each(|val| self.escape(val));
        // Functions among them may be called in turn (`functools.partial`, `sorted(key=…)`), unless one container is all.
        let one_container = matches!(arguments.positional.as_slice(), [Val::Many(_)]);
        if let Some(val) = all.filter(|val| val.acts() && !one_container) {
            self.escape(&val);
        }
        let vals: &'a [Val<'a>] = match all {
            Some(one) => arena.alloc_slice_copy(&[one]),
            None => return self.container(self.at, false, &[]),
        };
        // What is unpacked from pairs may be any part of them.
        self.bag(self.at, vals)
    }

    /// `dict(pairs, name=value)`
    pub(super) fn dict(&mut self, arguments: &Arguments<'a>) -> Val<'a> {
        let arena = self.report.arena;
        let mut vals = bumpalo::collections::Vec::new_in(arena);
        let mut certain = !arguments.open;
        for val in &arguments.positional {
            match val {
                Val::Many(items) if items.pairs && self.all_of(items).is_some() => {
                    vals.extend_from_slice_copy(items.vals);
                }
                other => {
                    certain = false;
                    let one = self.elements(other);
                    // Pairs in a list.
                    let parts = self.elements(&one);
                    vals.push(if matches!(other, Val::Many(_)) { join(arena, one, parts) } else { one });
                }
            }
        }
        for (name, val) in &arguments.named {
            vals.push(Val::Text(self.report.literal(name)));
            vals.push(*val);
        }
        let vals = vals.into_bump_slice();
        if certain { self.container(self.at, true, vals) } else { self.bag(self.at, vals) }
    }

    /// `map(function, values)`
    pub(super) fn apply(&mut self, arguments: &Arguments<'a>) -> Val<'a> {
        let Some(function) = arguments.positional.first().copied() else { return Val::Data };
        let mut inner = self.no_arguments(arguments.open);
        for val in arguments.positional.iter().skip(1) {
            let one = self.elements(val);
            inner.positional.push(one);
        }
        let result = self.call(&function, &inner);
        let given = inner
            .positional
            .iter()
            .copied()
            .reduce(|a, b| join(self.report.arena, a, b))
            .unwrap_or(Val::Data);
        let one = join(self.report.arena, result, given);
        let vals = self.report.arena.alloc_slice_copy(&[one]);
        self.bag(self.at, vals)
    }

    /// A variable of the environment is read.
    pub(super) fn variable(&mut self, name: Option<&Val<'a>>) -> Val<'a> {
        let name = name.and_then(|v| v.known());
        self.report.reads_variable(name);
        Val::Text(Value::unknown(name.map_or(Origins::ALL_VARIABLES, Origins::of_variable)))
    }

    /// A path below the directory for temporary files.
    pub(super) fn temporary(&mut self, arguments: &Arguments<'a>) -> Option<Value<'a>> {
        let (mut prefixed, mut directory) = (arguments.open, None);
        for (name, val) in &arguments.named {
            match *name {
                b"dir" if !matches!(val, Val::Nothing) => directory = Some(*val),
                b"prefix" => prefixed |= !is_plain_part(val),
                _ => {}
            }
        }
        // A mode or a suffix, then others: which of them is the directory depends on the function.
        prefixed |= arguments.positional.iter().skip(1).any(|val| !is_plain_part(val));
        let directory = directory.map_or(Some(self.report.literal(b"/tmp")), |directory| directory.value());
        let directory = directory.filter(|_| !prefixed);
        self.report.writes(directory.as_ref(), WriteMode::Below);
        let directory = directory?;
        let names = Value::of(self.report.arena, &[Piece::MADE_UP], directory.origins);
        Some(self.path_join(&[directory, names]))
    }

    /// A file or directory that is made where there was none: what lies there is the program's own.
    pub(super) fn fresh(&mut self, kind: Fresh, arguments: &Arguments<'a>) -> Val<'a> {
        let Some(mut path) = self.temporary(arguments) else { return Val::Data };
        // Elsewhere it stays known where it is.
        let told = |val: Option<Val<'a>>| val.is_some_and(|val| !matches!(val, Val::Nothing));
        let elsewhere = match kind {
            // A mode, buffering, encoding, newline, suffix, prefix, directory.
            Fresh::File => arguments.positional.len() > 4,
            _ => told(arguments.positional.get(2).copied()),
        };
        if !elsewhere && !told(arguments.named(&["dir"])) {
            path = Value::of(self.report.arena, &[Piece::Made], path.origins);
        }
        match kind {
            Fresh::File => Val::File(path),
            Fresh::Directory => Val::Text(path),
            Fresh::Descriptor => {
                let pair = self.report.arena.alloc_slice_copy(&[Val::Count, Val::Text(path)]);
                self.container(self.at, false, pair)
            }
        }
    }

    /// A variable of the environment gets a value, for what is started.
    pub(super) fn set_variable(&mut self, arguments: &Arguments<'a>) -> Val<'a> {
        let name = arguments.positional.first().copied().unwrap_or(Val::Data);
        let new = arguments.positional.get(1).copied().unwrap_or(Val::Data);
        self.set_variable_to(&name, &new);
        Val::Data
    }

    pub(super) fn set_variable_to(&mut self, name: &Val<'a>, new: &Val<'a>) {
        let value = new.value().unwrap_or(Value::unknown(Origins::UNKNOWN));
        match name.known() {
            Some(name) => {
                if name == b"HOME" && !self.homeless {
                    self.homeless = true;
                    self.repeats.changes();
                    (self.learnt, self.unsettled, self.changed) = (true, true, true);
                }
                self.report.sets_variable(name, value);
            }
            None => self.report.unseen_code("shell", Origins::UNKNOWN),
        }
    }

    /// Variables get the values that a dictionary gives them: what is started later sees them.
    pub(super) fn set_variables(&mut self, val: &Val<'a>) {
        for each in val.alternatives().to_vec() {
            match each {
                Val::Object(Object::Environment) | Val::Nothing => {}
                Val::Many(items) => {
                    let mut rest = items.vals.iter();
                    while let Some(key) = rest.next() {
                        if is_environment(key) {
                            continue;
                        }
                        match rest.next() {
                            Some(val) => self.set_variable_to(key, val),
                            None => self.report.unseen_code("shell", Origins::UNKNOWN),
                        }
                    }
                    if !self.holds_environment(&each)
                        && let Some(added) = self.put_in(items.id)
                    {
                        for key in added.alternatives().to_vec() {
                            self.set_variable_to(&key, &Val::Data);
                        }
                    }
                }
                _ => self.report.unseen_code("shell", Origins::UNKNOWN),
            }
        }
    }

    /// Whether a container holds the environment: what is put into it is set at once.
    pub(super) fn holds_environment(&self, container: &Val<'a>) -> bool {
        container.alternatives().iter().any(|each| match each {
            Val::Many(items) => items.vals.iter().any(is_environment),
            _ => false,
        })
    }

    /// A directory joins those where modules are looked for.
    pub(super) fn search_path(&mut self, val: &Val<'a>) {
        self.searches_elsewhere = true;
        for each in val.alternatives().to_vec() {
            match each {
                Val::Text(value) | Val::Path(value) => self.report.loads_below(&value),
                Val::Many(items) => {
                    for item in items.vals {
                        if let Some(value) = item.value() {
                            self.report.loads_below(&value);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// `open(path, mode)`
    pub(super) fn open(&mut self, arguments: &Arguments<'a>) -> Val<'a> {
        let path = arguments.get(0, &["file", "path", "filename", "name"]);
        let mode = arguments.get(1, &["mode", "flags"]);
        let modes: Vec<Option<&'a [u8]>> = match mode {
            None if arguments.open => vec![None],
            None => vec![Some(b"r")],
            Some(mode) => mode.alternatives().iter().map(Val::known).collect(),
        };
        if let Some(Val::Number(descriptor)) = path {
            self.report.reads_stdin |= descriptor == 0;
            return Val::Data;
        }
        let mut result = Val::Data;
        for place in self.each_path(path) {
            for mode in &modes {
                let place = place.as_ref();
                match mode {
                    Some(mode) if mode.contains(&b'w') => self.report.writes(place, WriteMode::Replace),
                    Some(mode) if mode.contains(&b'a') => self.report.writes(place, WriteMode::Append),
                    Some(mode) if mode.contains(&b'x') => self.report.writes(place, WriteMode::Create),
                    Some(mode) if !mode.contains(&b'+') => self.report.reads(place, false),
                    _ => {
                        self.report.reads(place, false);
                        self.report.writes(place, WriteMode::Modify);
                    }
                }
            }
            if let Some(place) = place {
                result = Val::File(place);
            }
        }
        result
    }

    /// Names in a directory, or that match a pattern.
    pub(super) fn names(&mut self, act: Act, arguments: &Arguments<'a>) -> Val<'a> {
        let arena = self.report.arena;
        let first = arguments.get(0, &["path", "pathname", "top"]);
        let place = match first {
            None => Some(self.report.literal(b".")),
            Some(val) => val.value(),
        };
        let name =
            place.filter(|_| act != Act::Glob).map_or(super::ANY_NAME, |place| self.any_name_in(&place));
        let any = Value::of(arena, &[name], Origins::FILE);
        match act {
            Act::Glob => {
                let Some(pattern) = place.and_then(|p| p.known()) else { return Val::Data };
                let mut value = self.pattern(pattern, super::ANY_NAME);
                if let Some(root) = arguments.named(&["root_dir"]).and_then(|v| v.value()) {
                    value = self.path_join(&[root, value]);
                }
                self.report.lists(Some(&value), false);
                let deep =
                    pattern.strip_prefix(b"**/").filter(|name| !name.iter().any(|b| b"*?[".contains(b)));
                if let Some(name) = deep {
                    let here = self.report.literal(b".");
                    let deep = self.any_directory_in(&here);
                    let name = self.report.literal(name);
                    let below = Val::Text(self.path_join(&[deep, name]));
                    return self.bag(self.at, arena.alloc_slice_copy(&[Val::Text(value), below]));
                }
                self.bag(self.at, arena.alloc_slice_copy(&[Val::Text(value)]))
            }
            Act::Walk => {
                for path in self.each_path(first) {
                    self.report.lists(path.as_ref(), true);
                }
                let Some(place) = place else { return Val::Data };
                let deep = self.any_directory_in(&place);
                let below = Val::Text(self.path_join(&[place, deep]));
                let names = self.bag(self.at, arena.alloc_slice_copy(&[Val::Text(any)]));
                let entry =
                    self.container(self.at + 1, false, arena.alloc_slice_copy(&[below, names, names]));
                self.bag(self.at + 2, arena.alloc_slice_copy(&[entry]))
            }
            _ => {
                for path in self.each_path(first.or(Some(Val::Text(self.report.literal(b"."))))) {
                    self.report.lists(path.as_ref(), false);
                }
                if act == Act::Entries {
                    let entry = place.map_or(Val::Data, |place| Val::Path(self.path_join(&[place, any])));
                    return self.bag(self.at, arena.alloc_slice_copy(&[entry]));
                }
                self.bag(self.at, arena.alloc_slice_copy(&[Val::Text(any)]))
            }
        }
    }
}

fn is_environment(val: &Val<'_>) -> bool {
    val.alternatives().iter().any(|each| matches!(each, Val::Object(Object::Environment)))
}

/// Whether what is given as a part of a name leads nowhere else.
fn is_plain_part(val: &Val<'_>) -> bool {
    match val {
        Val::Nothing | Val::Number(_) | Val::Count => true,
        val => val.known().is_some_and(|text| !text.contains(&b'/') && text != b".."),
    }
}
