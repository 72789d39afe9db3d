//! Code that a program makes or finds and then executes; names that it gives as text.

use super::acts::Act;
use super::arguments::Arguments;
use super::tokens::Token;
use super::value::{Val, join};
use super::{Exposed, Reader};
use crate::effect::WriteMode;
use crate::value::{Origins, Value};

impl<'a> Reader<'_, '_, 'a> {
    /// Python text is executed. Gives its value.
    pub(super) fn execute(&mut self, val: &Val<'a>) -> Val<'a> {
        let mut result: Option<Val<'a>> = None;
        for each in val.alternatives().to_vec() {
            let one = self.execute_one(&each);
            result = Some(result.map_or(one, |old| join(self.report.arena, old, one)));
        }
        result.unwrap_or(Val::Data)
    }

    /// `exec(source, globals, locals)`, `timeit(stmt, setup, …)`: with names of its own, or other code before it.
    pub(super) fn execute_within(&mut self, arguments: &Arguments<'a>) -> Val<'a> {
        let source = arguments.get(0, &["stmt", "source"]).unwrap_or(Val::Data);
        let named = arguments.named.iter().filter(|(name, _)| !matches!(*name, b"stmt" | b"source"));
        let rest: Vec<Val<'a>> =
            arguments.positional.iter().skip(1).chain(named.map(|(_, val)| val)).copied().collect();
        if rest.is_empty() && !arguments.open {
            return self.execute(&source);
        }
        let namespace =
            arguments.open || rest.iter().any(|val| !matches!(val, Val::Text(_) | Val::Number(_)));
        let now = if namespace { Exposed::Everything } else { self.exposed };
        let exposed = std::mem::replace(&mut self.exposed, now);
        let result = self.perhaps(|reader| {
            for val in &rest {
                reader.give_names(val);
            }
            Some(reader.execute(&source))
        });
        self.exposed = exposed;
        result.unwrap_or(Val::Data)
    }

    /// A dictionary gives names to code that is executed; a text is code that is executed before it.
    fn give_names(&mut self, val: &Val<'a>) {
        for each in val.alternatives().to_vec() {
            match each {
                Val::Many(items) => {
                    match self.all_of(items).filter(|_| items.pairs) {
                        Some(vals) => {
                            for pair in vals.chunks_exact(2) {
                                match pair {
                                    [key, val] if key.known().is_some() => {
                                        let sym = self.symbols.intern(key.known().unwrap_or_default());
                                        self.bind_parameter(sym, *val);
                                    }
                                    pair => pair.iter().for_each(|val| self.escape(val)),
                                }
                            }
                        }
                        None => {
                            let one = self.elements(&each);
                            self.escape(&one);
                        }
                    }
                    // The code may change it.
                    self.scramble(&each);
                }
                Val::Text(_) => drop(self.execute(&each)),
                Val::Local(number) => {
                    let none = self.no_arguments(true);
                    self.call_local(number, &none, false);
                }
                each => {
                    if each.acts() {
                        self.escape(&each);
                    }
                }
            }
        }
    }

    pub(super) fn execute_one(&mut self, val: &Val<'a>) -> Val<'a> {
        self.report.printed = None;
        match val {
            Val::Text(value) => match value.known() {
                Some(text) => {
                    let read = self.nested(text, |reader| {
                        while matches!(reader.peek(), Token::Newline { .. })
                            && reader.at < reader.tokens.len()
                        {
                            reader.at += 1;
                        }
                        let start = reader.at;
                        let val = reader.expressions();
                        if let Some(val) = val.filter(|_| reader.at + 1 >= reader.tokens.len()) {
                            return Some(val);
                        }
                        reader.at = start.min(1).saturating_sub(1);
                        reader.statements().map(|()| Val::Data)
                    });
                    if read.is_none() {
                        self.lose();
                    }
                    read.unwrap_or(Val::Data)
                }
                None => {
                    self.report.unseen_code("python", value.origins);
                    Val::Data
                }
            },
            Val::File(path) => {
                self.run_file(path);
                Val::Data
            }
            // Code objects of functions of the program itself.
            Val::Local(_) => Val::Data,
            _ => {
                self.report.unseen_code("python", Origins::UNKNOWN);
                Val::Data
            }
        }
    }

    /// Reads a program that has names of its own. What it binds may be reached through its module.
    pub(super) fn follow(&mut self, text: &'a [u8]) {
        let now = self.exposed.max(Exposed::Members);
        let exposed = std::mem::replace(&mut self.exposed, now);
        let read = self.perhaps(|reader| reader.nested(text, Self::statements));
        self.exposed = exposed;
        if read.is_none() {
            self.lose();
        }
    }

    /// A Python file is executed.
    pub(super) fn run_file(&mut self, path: &Value<'a>) {
        let made = Origins::WRITTEN | Origins::NETWORK | Origins::DECODED | Origins::SECRET;
        if self.report.rehearses_following(*path, made) {
            return self.report.executes(path);
        }
        let content = self.report.session.script_text(path);
        if content.origins.intersects(made) {
            match content.text {
                Some(text) => self.follow(text),
                None => self.report.code_elsewhere(content.origins),
            }
            return;
        }
        self.report.executes(path);
    }

    /// `runpy.run_path(path)`, `SourceFileLoader(name, path)`: whichever argument names a file.
    pub(super) fn run_module(&mut self, arguments: &Arguments<'a>) -> Val<'a> {
        let mut found = false;
        for val in arguments.all().flat_map(|v| v.alternatives().to_vec()) {
            match val {
                Val::Text(value) | Val::Path(value) => {
                    let text = value.known_prefix();
                    if value.known().is_none() || text.contains(&b'/') || text.ends_with(b".py") {
                        found = true;
                        self.run_file(&value);
                    } else if super::modules::find(text)
                        .is_some_and(|m| !m.rest.is_inert() || !m.members.is_empty())
                    {
                        self.lose();
                    }
                }
                Val::Act(_) | Val::Object(_) | Val::Number(_) => {}
                _ if arguments.positional.len() == 1 => self.lose(),
                _ => {}
            }
        }
        if !found {
            self.report.project();
        }
        Val::Foreign
    }

    /// `__import__(name)`
    pub(super) fn import_by_name(&mut self, val: Option<Val<'a>>) -> Val<'a> {
        let Some(val) = val else {
            self.lose();
            return Val::Data;
        };
        let mut result: Option<Val<'a>> = None;
        for each in val.alternatives().to_vec() {
            let one = match each.known() {
                Some(path) => {
                    let path = path.strip_prefix(b".").unwrap_or(path);
                    let root = path.split(|b| *b == b'.').next().unwrap_or_default();
                    let leaf = self.module(path);
                    if root.len() < path.len() {
                        let root = self.module(root);
                        join(self.report.arena, root, leaf)
                    } else {
                        leaf
                    }
                }
                None => {
                    self.lose();
                    Val::Data
                }
            };
            result = Some(result.map_or(one, |old| join(self.report.arena, old, one)));
        }
        result.unwrap_or(Val::Data)
    }

    /// `attrgetter(name, …)`, `methodcaller(name, …)`: whatever they are called with later.
    pub(super) fn getter(&mut self, arguments: &Arguments<'a>, method: bool) -> Val<'a> {
        self.hand_over_acting(arguments);
        let count = if method { 1 } else { usize::MAX };
        if arguments.open {
            self.lose();
        }
        let names: Vec<Val<'a>> =
            arguments.positional.iter().take(count).flat_map(|val| val.alternatives().to_vec()).collect();
        for name in names {
            let Some(text) = name.known() else {
                self.lose();
                continue;
            };
            for part in text.split(|b| *b == b'.') {
                let loses = part.starts_with(b"_")
                    || part == b"obj"
                    || !self.may_touch(part)
                    || super::calls::is_carried(part)
                    || super::calls::shell_name(part).is_some();
                if loses {
                    self.lose();
                }
                if super::mutators::is_mutator(part) {
                    self.scramble_all();
                    self.change_leaked();
                }
                if !method {
                    self.path_reference(part);
                    self.lost_reference(&Val::Data, part);
                }
            }
            if method {
                let mut rest = self.no_arguments(false);
                rest.positional.extend(arguments.positional.iter().skip(1).copied());
                rest.named.extend(arguments.named.iter().copied());
                let sym = self.symbols.intern(text);
                self.method(&Val::Data, sym, &rest);
            }
        }
        Val::Data
    }

    /// `getattr(val, name, default)`
    pub(super) fn attribute_by_name(&mut self, arguments: &Arguments<'a>) -> Val<'a> {
        for val in arguments.positional.iter().skip(2) {
            if val.acts() {
                self.escape(val);
            }
        }
        let name = match arguments.positional.as_slice() {
            [_, name, ..] => *name,
            _ => Val::Data,
        };
        let mut result = arguments.positional.get(2).copied();
        for each in name.alternatives().to_vec() {
            let Some(text) = each.known() else {
                self.lose();
                return Val::Data;
            };
            for part in text.split(|b| *b == b'.') {
                let harmless = matches!(
                    part,
                    b"__name__" | b"__version__" | b"__doc__" | b"__file__" | b"__len__" | b"__iter__"
                );
                if part.starts_with(b"__") && !harmless {
                    self.lose();
                }
            }
            let sym = self.symbols.intern(text);
            let val = arguments.positional.first().copied().unwrap_or(Val::Data);
            self.lost_reference(&val, text);
            let one = self.attribute(&val, sym);
            result = Some(result.map_or(one, |old| join(self.report.arena, old, one)));
        }
        result.unwrap_or(Val::Data)
    }

    /// `patch(target, new, …)`, `patch.object(target, name, new, …)`: of the project's own, or a member of a module that
    /// everything else uses.
    pub(super) fn patch(&mut self, arguments: &Arguments<'a>) {
        for val in arguments.all().copied().collect::<Vec<_>>() {
            self.escape(&val);
        }
        for target in arguments.positional.iter().take(1).flat_map(|val| val.alternatives().to_vec()) {
            match target {
                Val::Text(value) => {
                    let root = value.known().and_then(|text| text.split(|b| *b == b'.').next());
                    if root.is_none_or(|root| super::modules::find(root).is_some() || root == b"__main__") {
                        self.lose();
                    }
                }
                Val::Foreign | Val::Local(_) | Val::Data => {}
                _ => self.lose(),
            }
        }
    }

    /// `setattr(val, name, new)`, `delattr(val, name)`
    pub(super) fn set_attribute_by_name(&mut self, arguments: &Arguments<'a>) -> Val<'a> {
        let val = arguments.positional.first().copied().unwrap_or(Val::Data);
        let new = arguments.positional.get(2).copied().unwrap_or(Val::Data);
        match arguments.positional.get(1).and_then(|v| v.known()) {
            Some(name) => {
                let sym = self.symbols.intern(name);
                self.store_attribute(&val, sym, &new);
            }
            None => {
                if matches!(val, Val::Module(_) | Val::Act(_)) || arguments.open {
                    self.lose();
                }
                self.escape(&new);
            }
        }
        Val::Data
    }

    /// `pickle.load(file)`: what is in the file says what is executed.
    pub(super) fn unpickle(&mut self, act: Act, arguments: &Arguments<'a>) -> Val<'a> {
        let safe = |v: Val<'a>| matches!(v, Val::Act(Act::Inert | Act::Unpickle)) || matches!(v, Val::Data);
        if arguments.named(&["Loader"]).is_some_and(safe) {
            return Val::Data;
        }
        let first = arguments.positional.first().copied();
        if act == Act::Shelf {
            self.write_each(arguments.get(0, &["filename"]), WriteMode::Modify);
        }
        if let Some(Val::Object(_)) = first {
            // Standard input, a connection.
            self.report.unseen_code("python", self.report.stdin.origins);
            return Val::Data;
        }
        if let Some(Val::File(path)) = first {
            self.report.loads_below(&path);
        }
        if let Some(Val::Text(value) | Val::Path(value)) = first {
            // The text itself, or the name of a file (`shelve.open`).
            let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'/' | b'~' | b'-');
            if value.known().is_some_and(|text| text.iter().all(is_name)) {
                self.report.reads(Some(&value), false);
                self.report.loads_below(&value);
            } else {
                self.report.unseen_code("python", value.origins);
                return Val::Data;
            }
        }
        self.report.asks();
        let read = self.report.read;
        if read.intersects(Origins::NETWORK | Origins::DECODED | Origins::SECRET) || self.report.reads_stdin {
            self.report.unseen_code("python", Origins::UNKNOWN);
        } else {
            self.report.project();
        }
        Val::Foreign
    }
}
