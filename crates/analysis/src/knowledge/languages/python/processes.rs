//! Programs that are started, code that is executed, connections, files that are opened.

use super::Reader;
use super::acts::{Act, Arguments as How};
use super::arguments::Arguments;
use super::value::{Object, Val, join};
use crate::effect::{EffectKind, WriteMode};
use crate::value::{Origins, Stream, Value};

impl<'a> Reader<'_, '_, 'a> {
    /// `print(…)`: what it prints, if that is certain.
    pub(super) fn print_known(&mut self, arguments: &Arguments<'a>) {
        if arguments.named(&["file"]).is_some() {
            return;
        }
        let separator = arguments.named(&["sep"]).map_or(Some(&b" "[..]), |v| v.known());
        let end = arguments.named(&["end"]).map_or(Some(&b"\n"[..]), |v| v.known());
        let texts: Option<Vec<Vec<u8>>> = arguments
            .positional
            .iter()
            .map(|v| match v {
                Val::Number(number) => Some(number.to_string().into_bytes()),
                v => v.known().map(<[u8]>::to_vec),
            })
            .collect();
        let line = match (texts, separator, end) {
            (Some(texts), Some(separator), Some(end)) if self.is_plain() && !arguments.open => {
                let mut line = texts.join(separator);
                line.extend_from_slice(end);
                Some(line)
            }
            _ => None,
        };
        self.report.prints(line.as_deref());
    }

    /// What `list(…)`, `sorted(…)`, `zip(…)` hold.
    pub(super) fn items_of(&mut self, arguments: &Arguments<'a>) -> Val<'a> {
        let arena = self.report.arena;
        if let ([one @ Val::Many(_)], []) = (arguments.positional.as_slice(), arguments.named.as_slice()) {
            return *one;
        }
        let mut all: Option<Val<'a>> = None;
        for val in &arguments.positional {
            let inner = self.elements(val);
            let whole = if matches!(val, Val::Many(_)) { inner } else { join(arena, *val, inner) };
            all = Some(all.map_or(whole, |old| join(arena, old, whole)));
        }
        for (_, val) in &arguments.named {
            if val.acts() {
                self.escape(val);
            }
            all = Some(all.map_or(*val, |old| join(arena, old, *val)));
        }
        // Functions among them may be called in turn (`functools.partial`, `sorted(key=…)`).
        if let Some(val) = all.filter(Val::acts) {
            self.escape(&val);
        }
        let vals: &'a [Val<'a>] = match all {
            Some(one) => arena.alloc_slice_copy(&[one]),
            None => &[],
        };
        // What is unpacked from pairs may be any part of them.
        self.container(self.at, false, vals)
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
        self.container(self.at, false, vals)
    }

    /// A variable of the environment is read.
    pub(super) fn variable(&mut self, name: Option<&Val<'a>>) -> Val<'a> {
        let name = name.and_then(|v| v.known());
        self.report.reads_variable(name);
        Val::Text(Value::unknown(name.map_or(Origins::ALL_VARIABLES, Origins::of_variable)))
    }

    /// A path below the directory for temporary files.
    pub(super) fn temporary(&mut self, arguments: &Arguments<'a>) -> Val<'a> {
        let directory =
            arguments.named(&["dir"]).and_then(|v| v.value()).unwrap_or(self.report.literal(b"/tmp"));
        self.report.writes(Some(&directory), WriteMode::Below);
        let names = Value { pieces: self.report.arena.alloc([super::ANY_NAME]), origins: directory.origins };
        Val::Text(self.path_join(&[directory, names]))
    }

    /// A program is started, a shell command run, a process signalled.
    pub(super) fn start(&mut self, act: Act, arguments: &Arguments<'a>) -> Val<'a> {
        self.report.printed = None;
        match act {
            Act::Shell => {
                let line = arguments.get(0, &["cmd", "command", "args"]);
                for line in self.each_path(line) {
                    self.report.shell(line.as_ref(), None, None);
                }
                Val::Object(Object::Process)
            }
            Act::Run => {
                self.run(arguments);
                Val::Object(Object::Process)
            }
            Act::Start(at, how) => {
                self.start_program(usize::from(at), how, arguments);
                Val::Data
            }
            Act::Kill => {
                if !matches!(arguments.positional.get(1), Some(Val::Number(0))) {
                    self.report.does(EffectKind::Signal { what: "process" });
                }
                Val::Data
            }
            Act::Duplicate => {
                self.report.redirected = true;
                Val::Data
            }
            _ => {
                self.report.does(EffectKind::Privilege { what: "user" });
                Val::Data
            }
        }
    }

    /// `subprocess.run(args, shell=…, input=…, cwd=…, env=…)`
    fn run(&mut self, arguments: &Arguments<'a>) {
        let program = arguments.get(0, &["args", "cmd"]).unwrap_or(Val::Data);
        let shell = arguments.named(&["shell"]);
        let origins = Origins::UNKNOWN;
        if arguments.named(&["stdin"]).is_some() {
            self.report.asks();
        }
        let network = self.report.read.intersects(Origins::NETWORK);
        let stdin = match (arguments.named(&["input"]), arguments.named(&["stdin"])) {
            (Some(Val::Text(value)), _) => {
                Some(Stream { text: value.known(), origins: value.origins, source: None })
            }
            (Some(_), _) => Some(Stream { text: None, origins, source: None }),
            (None, Some(Val::Object(Object::Socket))) => {
                Some(Stream { text: None, origins: Origins::NETWORK, source: None })
            }
            (None, Some(Val::File(path))) => Some(self.report.session.file_text(&path)),
            (None, Some(_)) if network => {
                Some(Stream { text: None, origins: Origins::NETWORK, source: None })
            }
            (None, Some(_)) => Some(Stream { text: None, origins, source: None }),
            (None, None) => None,
        };
        let directory =
            arguments.named(&["cwd"]).map(|v| v.value().unwrap_or(Value::unknown(Origins::UNKNOWN)));
        match arguments.named(&["env"]) {
            Some(Val::Many(items)) if items.pairs => {
                for pair in items.vals.chunks_exact(2) {
                    if let [key, val] = pair {
                        self.set_variable_to(key, val);
                    }
                }
            }
            Some(Val::Object(Object::Environment)) | None => {}
            Some(other) => {
                for item in other.alternatives().to_vec() {
                    if let Val::Many(items) = item {
                        for val in items.vals {
                            if let Val::Text(_) = val {
                                self.set_variable_to(val, &Val::Data);
                            }
                        }
                    }
                }
            }
        }
        if arguments.named(&["preexec_fn", "executable"]).is_some_and(|v| v.acts() || v.value().is_some())
            && arguments.named(&["executable"]).is_some()
        {
            self.report.unseen_code("shell", Origins::UNKNOWN);
        }
        let in_shell = match shell {
            None | Some(Val::Number(0)) => false,
            Some(_) => true,
        };
        for each in program.alternatives().to_vec() {
            match each {
                Val::Many(items) => {
                    let grown = self.added.iter().any(|(id, _)| *id == items.id);
                    let values: Vec<Option<Value<'a>>> = items.vals.iter().map(Val::value).collect();
                    if in_shell {
                        let line = values.first().copied().flatten();
                        self.report.shell(line.as_ref(), stdin, directory);
                    } else {
                        self.report.starts(&values, grown, stdin, directory);
                    }
                }
                Val::Text(value) | Val::Path(value) if in_shell => {
                    self.report.shell(Some(&value), stdin, directory)
                }
                Val::Text(value) | Val::Path(value) => {
                    self.report.starts(&[Some(value)], false, stdin, directory)
                }
                _ => self.report.unseen_code("shell", Origins::UNKNOWN),
            }
        }
    }

    fn start_program(&mut self, at: usize, how: How, arguments: &Arguments<'a>) {
        let Some(program) = arguments.positional.get(at).copied() else {
            return self.report.unseen_code("shell", Origins::UNKNOWN);
        };
        let mut values: Vec<Option<Value<'a>>> = Vec::new();
        let mut more = arguments.open;
        match how {
            How::Rest => {
                values.push(program.value());
                // The first argument after the program is the name that it gets to see.
                values.extend(arguments.positional.iter().skip(at + 2).map(|v| v.value()));
            }
            How::List => {
                values.push(program.value());
                match arguments.positional.get(at + 1) {
                    Some(Val::Many(items)) => {
                        more |= self.added.iter().any(|(id, _)| *id == items.id);
                        values.extend(items.vals.iter().skip(1).map(|v| v.value()));
                    }
                    _ => more = true,
                }
            }
            How::Whole => match program {
                Val::Many(items) => {
                    more |= self.added.iter().any(|(id, _)| *id == items.id);
                    values.extend(items.vals.iter().map(|v| v.value()));
                }
                other => values.push(other.value()),
            },
        }
        self.report.starts(&values, more, None, None);
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
            Some(name) => self.report.sets_variable(name, value),
            None => self.report.unseen_code("shell", Origins::UNKNOWN),
        }
    }

    /// A directory joins those where modules are looked for.
    pub(super) fn search_path(&mut self, val: &Val<'a>) {
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
        let any = Value { pieces: arena.alloc([super::ANY_NAME]), origins: Origins::FILE };
        match act {
            Act::Glob => {
                let Some(pattern) = place.and_then(|p| p.known()) else { return Val::Data };
                let mut value = self.pattern(pattern);
                if let Some(root) = arguments.named(&["root_dir"]).and_then(|v| v.value()) {
                    value = self.path_join(&[root, value]);
                }
                self.report.lists(Some(&value), false);
                self.container(self.at, false, arena.alloc_slice_copy(&[Val::Text(value)]))
            }
            Act::Walk => {
                for path in self.each_path(first) {
                    self.report.lists(path.as_ref(), true);
                }
                let Some(place) = place else { return Val::Data };
                let below = Val::Text(self.path_join(&[place, any]));
                let names = self.container(self.at, false, arena.alloc_slice_copy(&[Val::Text(any)]));
                let entry =
                    self.container(self.at + 1, false, arena.alloc_slice_copy(&[below, names, names]));
                self.container(self.at + 2, false, arena.alloc_slice_copy(&[entry]))
            }
            _ => {
                for path in self.each_path(first.or(Some(Val::Text(self.report.literal(b"."))))) {
                    self.report.lists(path.as_ref(), false);
                }
                self.container(self.at, false, arena.alloc_slice_copy(&[Val::Text(any)]))
            }
        }
    }

    /// `os.chdir(path)`
    pub(super) fn change_directory(&mut self, val: Option<Val<'a>>) {
        let value = match val {
            Some(Val::Text(value) | Val::Path(value)) if self.is_plain() => value,
            _ => Value::unknown(Origins::UNKNOWN),
        };
        self.report.change_directory(value);
    }
}
