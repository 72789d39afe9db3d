//! What is called, and what known functions do.

use super::Reader;
use super::acts::{Act, Fold, Reach};
use super::arguments::Arguments;
use super::value::{Object, Union, Val, join};
use crate::effect::{EffectKind, WriteMode};
use crate::value::{Origins, Piece, Value};

/// Modules that others import and that can then be reached through them.
pub(super) fn is_carried(name: &[u8]) -> bool {
    matches!(
        name,
        b"os"
            | b"posix"
            | b"subprocess"
            | b"sys"
            | b"shutil"
            | b"builtins"
            | b"importlib"
            | b"ctypes"
            | b"pty"
            | b"runpy"
            | b"imp"
            | b"pdb"
            | b"commands"
            | b"socket"
            | b"pickle"
            | b"webbrowser"
            | b"inspect"
            | b"gc"
    )
}

/// Names under which ways to a shell are kept, wherever they are.
pub(super) fn shell_name(name: &[u8]) -> Option<Act> {
    use super::acts::Arguments::{List, ListAndVariables, Rest, RestAndVariables};
    Some(match name {
        b"popen" => Act::ShellPipe,
        b"system" | b"getoutput" | b"getstatusoutput" | b"exec_command" => Act::Shell,
        b"Popen" | b"check_output" | b"check_call" => Act::Run,
        b"execl" | b"execlp" => Act::Start(0, Rest),
        b"execle" | b"execlpe" => Act::Start(0, RestAndVariables),
        b"execv" | b"execvp" => Act::Start(0, List),
        b"execve" | b"execvpe" => Act::Start(0, ListAndVariables),
        b"rmtree" => Act::Delete(0, true),
        _ => return None,
    })
}

impl<'a> Reader<'_, '_, 'a> {
    /// The value that a listed name stands for.
    pub(super) fn act_value(&mut self, act: Act) -> Val<'a> {
        match act {
            Act::Is(object) => Val::Object(object),
            Act::Place(place) => {
                let text = match place.strip_prefix('~') {
                    Some(below) => crate::knowledge::values::concat(
                        self.report.arena,
                        &[self.report.session.home(), below.as_bytes()],
                    ),
                    None => place.as_bytes(),
                };
                Val::Text(self.report.literal(text))
            }
            act => Val::Act(act),
        }
    }

    /// A call.
    pub(super) fn call(&mut self, val: &Val<'a>, arguments: &Arguments<'a>) -> Val<'a> {
        let Val::OneOf(vals) = val else { return self.call_one(val, arguments) };
        let mut result = Union::new(self.report.arena);
        for each in vals.iter() {
            result.add(self.call_one(each, arguments));
        }
        result.get().unwrap_or(Val::Data)
    }

    fn call_one(&mut self, val: &Val<'a>, arguments: &Arguments<'a>) -> Val<'a> {
        match val {
            Val::Act(act) => self.perform(*act, arguments),
            Val::Local(number) => {
                if self.definitions.get(*number as usize).is_some_and(|p| p.is_empty()) {
                    self.construct(arguments);
                } else {
                    self.call_local(*number, arguments, false);
                }
                Val::Data
            }
            Val::Foreign => self.perform(Act::Project, arguments),
            Val::Object(Object::Stdin) => {
                self.report.reads_stdin = true;
                self.hand_over(arguments, Reach::Sensitive);
                Val::Data
            }
            Val::Object(Object::Native) => {
                self.report.code("native", Origins::NONE);
                Val::Object(Object::Native)
            }
            Val::Lost => {
                self.lose();
                Val::Data
            }
            _ => {
                if val.acts() {
                    self.escape(val);
                }
                self.hand_over(arguments, Reach::Anything);
                Val::Data
            }
        }
    }

    /// Arguments go to something that is not followed.
    pub(super) fn hand_over(&mut self, arguments: &Arguments<'a>, reach: Reach) {
        for val in arguments.all() {
            if val.acts() {
                self.escape(val);
            }
            self.give_away(val);
            self.mention(val, reach);
        }
    }

    /// The places that a value names.
    pub(super) fn mention(&mut self, val: &Val<'a>, reach: Reach) {
        match val {
            Val::Text(value) | Val::Path(value) => self.report.mention(value, reach == Reach::Anything),
            Val::Many(items) if self.walks(items.vals.len()) => {
                for item in items.vals {
                    self.mention(item, reach);
                }
            }
            Val::OneOf(vals) if self.walks(vals.len()) => {
                for each in vals.iter() {
                    self.mention(each, reach);
                }
            }
            _ => {}
        }
    }

    /// The acting ones among the arguments go out of sight.
    pub(super) fn hand_over_acting(&mut self, arguments: &Arguments<'a>) {
        for val in arguments.all() {
            if val.acts() {
                self.escape(val);
            }
            self.leak(val);
        }
    }

    /// Whether all of the environment is among the arguments, and so read.
    fn dumps_environment(&mut self, arguments: &Arguments<'a>) {
        for val in arguments.all() {
            self.shows(val);
        }
    }

    /// A value is made text of, or printed: with it all of the environment, if it is or holds that.
    pub(super) fn shows(&mut self, val: &Val<'a>) {
        if matches!(val, Val::Object(Object::Environment)) || self.holds_environment(val) {
            self.report.environment();
        }
    }

    /// A function counts as called with anything.
    pub(super) fn use_anyhow(&mut self, act: Act) {
        if act == Act::Mutate {
            return self.scramble_all();
        }
        if act.is_inert() && act != Act::Project {
            return;
        }
        let arguments = self.no_arguments(true);
        self.perform(act, &arguments);
    }

    /// The path that an argument gives, for each that it may be; `None` where it is not known.
    pub(super) fn each_path(&self, val: Option<Val<'a>>) -> Vec<Option<Value<'a>>> {
        match val {
            Some(val) => {
                // A function or a module is no path: Python would stop there.
                let others = |v: &&Val<'a>| !matches!(v, Val::Act(_) | Val::Module(_) | Val::Local(_));
                let paths: Vec<_> = val.alternatives().iter().filter(others).map(Val::value).collect();
                if paths.is_empty() { vec![None] } else { paths }
            }
            None => vec![None],
        }
    }

    /// Does what a known function does.
    pub(super) fn perform(&mut self, act: Act, arguments: &Arguments<'a>) -> Val<'a> {
        match act {
            Act::Print => {
                self.print_known(arguments);
                self.dumps_environment(arguments);
                return Val::Data;
            }
            Act::Opaque => {
                self.dumps_environment(arguments);
                // `inspect.signature(f, eval_str=True)`
                if arguments.named(&["eval_str"]).is_some_and(|v| !matches!(v, Val::Nothing)) {
                    self.lose();
                }
                return Val::Data;
            }
            Act::Keep => {
                self.dumps_environment(arguments);
                self.hand_over_acting(arguments);
                return Val::Data;
            }
            Act::Class => {
                self.dumps_environment(arguments);
                if arguments.positional.len() != 1 || arguments.open {
                    self.hand_over_acting(arguments);
                }
                return Val::Data;
            }
            Act::Inert => {
                // Some of them print.
                self.report.printed = None;
                self.dumps_environment(arguments);
                self.hand_over_acting(arguments);
                return Val::Data;
            }
            Act::Fold(_) | Act::Same | Act::Absolute => {}
            _ => {
                if act != Act::Run {
                    self.dumps_environment(arguments);
                }
                self.report.printed = None;
            }
        }
        let first =
            arguments.get(0, &["path", "file", "filename", "src", "name", "top", "url", "dst", "key"]);
        match act {
            Act::Same => self.same(first, arguments),
            Act::Absolute => self.absolute(first),
            Act::Mutate => {
                let (container, others) = match arguments.positional.as_slice() {
                    [container, others @ ..] => (*container, others),
                    [] => (Val::Data, &[][..]),
                };
                self.hand_over_acting(arguments);
                self.change_leaked();
                self.mutate(&container, others);
                self.elements(&container)
            }
            Act::Count => {
                if !matches!(arguments.positional.as_slice(), [Val::Object(Object::SearchPath)]) {
                    self.hand_over_acting(arguments);
                }
                Val::Count
            }
            Act::Measure => {
                self.hand_over_acting(arguments);
                match first {
                    Some(Val::Number(_) | Val::Count) => Val::Count,
                    _ => Val::Data,
                }
            }
            Act::Range => {
                self.hand_over_acting(arguments);
                let vals = self.report.arena.alloc_slice_copy(&[Val::Count]);
                self.bag(self.at, vals)
            }
            Act::Enumerate => {
                // Where it begins to count is not among what it gives.
                let counts = |val: Option<Val<'a>>| matches!(val, Some(Val::Number(_) | Val::Count));
                let items = match arguments.positional.as_slice() {
                    [of, from @ ..]
                        if !arguments.open
                            && arguments.named.len() + from.len() == 1
                            && counts(arguments.get(1, &["start"])) =>
                    {
                        let mut only = self.no_arguments(false);
                        only.positional.push(*of);
                        self.items_of(&only)
                    }
                    _ => self.items_of(arguments),
                };
                let one = self.elements(&items);
                let pair = self.report.arena.alloc_slice_copy(&[Val::Count, one]);
                let pair = self.container(self.at, false, pair);
                let vals = self.report.arena.alloc_slice_copy(&[pair]);
                self.bag(self.at + 1, vals)
            }
            Act::Zip => {
                let parts: Vec<Val<'a>> = arguments.positional.iter().map(|v| self.elements(v)).collect();
                let parts = self.report.arena.alloc_slice_copy(&parts);
                self.hand_over_acting(arguments);
                let tuple = self.container(self.at, false, parts);
                let vals = self.report.arena.alloc_slice_copy(&[tuple]);
                self.bag(self.at + 1, vals)
            }
            Act::Items => self.items_of(arguments),
            Act::Sequence => match (arguments.positional.as_slice(), arguments.named.is_empty()) {
                ([one @ Val::Many(items)], true) if !items.pairs && !arguments.open => *one,
                _ => self.items_of(arguments),
            },
            Act::Dict => self.dict(arguments),
            Act::Element => {
                let all = self.items_of(arguments);
                // Of several arguments one may be the result itself.
                let whole = arguments.all().copied().reduce(|a, b| join(self.report.arena, a, b));
                let one = self.elements(&all);
                match whole.filter(|_| arguments.positional.len() != 1 || !arguments.named.is_empty()) {
                    Some(whole) => join(self.report.arena, one, whole),
                    None => one,
                }
            }
            Act::Apply => self.apply(arguments),
            Act::Fold(fold) => self.fold(fold, arguments),
            Act::PathOf => {
                let joined = if arguments.positional.is_empty() && !arguments.open {
                    Val::Text(self.report.literal(b"."))
                } else {
                    self.fold(Fold::JoinPath, arguments)
                };
                self.path_of(joined)
            }
            Act::Make(object) => {
                self.hand_over_acting(arguments);
                Val::Object(object)
            }
            Act::Is(object) => Val::Object(object),
            Act::Place(_) => self.act_value(act),
            Act::Variable => self.variable(first.as_ref()),
            Act::Decode => {
                self.report.read = self.report.read | Origins::DECODED;
                Val::Text(Value::unknown(Origins::DECODED))
            }
            Act::Temporary => self.temporary(arguments).map_or(Val::Data, Val::Text),
            Act::Fresh(kind) => self.fresh(kind, arguments),
            Act::Project => {
                self.report.project();
                self.hand_over(arguments, Reach::Anything);
                Val::Foreign
            }
            Act::Eval => self.execute_within(arguments),
            Act::Formula => self.formula(arguments),
            Act::Compile => arguments.get(0, &["source"]).unwrap_or(Val::Data),
            Act::Import => self.import_by_name(arguments.get(0, &["name"])),
            Act::Attribute => self.attribute_by_name(arguments),
            Act::Getter => self.getter(arguments, false),
            Act::Caller => self.getter(arguments, true),
            Act::Source | Act::Control | Act::Help | Act::Loader | Act::FileType | Act::Parser => {
                self.special(act, arguments)
            }
            Act::SetAttribute => self.set_attribute_by_name(arguments),
            Act::RunModule => self.run_module(arguments),
            Act::Main(program) => {
                self.main_of(program, arguments);
                Val::Data
            }
            Act::Patch => {
                self.patch(arguments);
                Val::Data
            }
            Act::Shell
            | Act::ShellPipe
            | Act::Run
            | Act::Start(..)
            | Act::Kill
            | Act::Duplicate
            | Act::Privilege => self.start(act, arguments),
            Act::Code(language) => {
                self.report.unseen_code(language, Origins::NONE);
                self.hand_over(arguments, Reach::Anything);
                Val::Data
            }
            Act::Terminal => {
                self.report.code("terminal", Origins::TERMINAL);
                Val::Data
            }
            Act::Load => {
                for path in self.each_path(first) {
                    self.report.reads(path.as_ref(), false);
                    self.report.code("native", path.map_or(Origins::UNKNOWN, |p| p.origins));
                }
                Val::Object(Object::Native)
            }
            Act::Install => {
                self.report.does(EffectKind::Package { action: "install" });
                self.hand_over(arguments, Reach::Anything);
                Val::Data
            }
            Act::Url(_) | Act::Download | Act::Host(_) | Act::Network | Act::Listen => {
                self.connect(act, arguments)
            }
            Act::ListenAt(n, name) => {
                // The socket is a file that comes to be there.
                self.perform(Act::WriteAlso(n, name, WriteMode::Create), arguments);
                self.connect(Act::Listen, arguments)
            }
            Act::SetVariable => self.set_variable(arguments),
            Act::Processes => self.processes(arguments),
            _ => self.touch_files(act, arguments, first),
        }
    }

    /// Functions that take and give files.
    fn touch_files(&mut self, act: Act, arguments: &Arguments<'a>, first: Option<Val<'a>>) -> Val<'a> {
        let elsewhere;
        let (arguments, first) = match self.counted_from_elsewhere(arguments) {
            Some(counted) => {
                elsewhere = counted;
                (&elsewhere, first.map(|val| self.relative_to_unknown(&val)))
            }
            None => (arguments, first),
        };
        // `onerror=`, `copy_function=`: no paths.
        let functions = arguments.positional.iter().skip(2).chain(arguments.named.iter().map(|(_, val)| val));
        for val in functions.copied().filter(Val::acts).collect::<Vec<_>>() {
            self.escape(&val);
        }
        let at = |n: u8, names: &[&str]| arguments.get(usize::from(n), names);
        match act {
            Act::Open => self.open(arguments),
            Act::Archive => {
                self.open(arguments);
                Val::Object(Object::Archive)
            }
            Act::Read(n) => {
                let val = at(n, &["path", "file", "filename", "source", "files"]);
                self.read_each(val);
                val.and_then(|v| v.value()).map_or(Val::Data, Val::File)
            }
            Act::Unpickle | Act::Shelf => self.unpickle(act, arguments),
            Act::Look(n) => {
                for path in self.each_path(at(n, &["path"])) {
                    self.report.lists(path.as_ref(), false);
                }
                Val::Data
            }
            Act::List(_) | Act::Entries | Act::Glob | Act::Walk => self.names(act, arguments),
            Act::Write(n, mode) => {
                for path in self.each_path(at(n, &["path", "name", "filename", "base_name"])) {
                    match mode {
                        WriteMode::Create => self.creates(path.as_ref()),
                        _ => self.report.writes(path.as_ref(), mode),
                    }
                }
                Val::Data
            }
            Act::WriteAlso(n, name, mode) => match at(n, &[name]) {
                Some(Val::Nothing) => Val::Data,
                None if !arguments.open => Val::Data,
                file => {
                    self.write_each(file, mode);
                    Val::Data
                }
            },
            Act::ReadDocument => {
                self.read_each(first);
                Val::Object(Object::Document)
            }
            Act::ReadInPlace => {
                let files = at(0, &["files"]);
                let changes = arguments.named(&["inplace"]).is_some() || arguments.positional.len() > 1;
                match files {
                    Some(_) if changes => self.write_each(files, WriteMode::Modify),
                    _ => self.perform(Act::Read(0), arguments),
                };
                Val::Data
            }
            Act::Delete(n, tree) => {
                for path in self.each_path(at(n, &["path"])) {
                    self.report.deletes(path.as_ref(), tree);
                }
                Val::Data
            }
            Act::Rename => {
                let sources = self.each_path(at(0, &["src"]));
                self.rename_each(&sources, at(1, &["dst"]))
            }
            Act::Copy(tree) => {
                let sources = self.each_path(at(0, &["src"]));
                let mode = if tree { WriteMode::Below } else { WriteMode::Replace };
                self.copy_each(&sources, tree, at(1, &["dst"]), mode)
            }
            Act::Link => {
                self.mention(&at(0, &["src"]).unwrap_or(Val::Data), Reach::Sensitive);
                let aims = self.each_path(at(0, &["src"]));
                for link in self.each_path(at(1, &["dst"])) {
                    self.report.writes(link.as_ref(), WriteMode::Create);
                    aims.iter().for_each(|aim| self.report.links(link.as_ref(), aim.as_ref()));
                }
                Val::Data
            }
            Act::Metadata(what) => {
                let what = match (what, at(1, &["mode"])) {
                    ("mode", Some(Val::Number(mode))) if mode & 0o6000 != 0 => "setuid",
                    ("mode", Some(Val::Number(mode))) if mode & 0o002 != 0 => "world-writable",
                    ("mode", Some(Val::Number(_)) | None) => what,
                    ("mode", _) if self.knows_set_id() => "setuid",
                    _ => what,
                };
                for path in self.each_path(first) {
                    self.report.metadata(path.as_ref(), what);
                }
                Val::Data
            }
            Act::Chdir => {
                self.change_directory(first);
                Val::Data
            }
            Act::ChdirWithin => {
                self.change_directory(None);
                Val::Data
            }
            Act::Unpack(from, to) => {
                self.read_each(at(from, &["filename"]));
                let to = at(to, &["extract_dir"]).unwrap_or(Val::Text(self.report.literal(b".")));
                self.unpack_to(to)
            }
            Act::Pack => {
                // How its name ends the format says.
                for path in self.each_path(at(0, &["base_name"])) {
                    let end = Value::of(self.report.arena, &[Piece::MADE_UP], Origins::FILE);
                    let path = path.map(|path| self.report.joined(&[path, end]));
                    self.report.writes(path.as_ref(), WriteMode::Replace);
                }
                for from in [at(2, &["root_dir"]), at(3, &["base_dir"])].into_iter().flatten() {
                    for path in self.each_path(Some(from).filter(|val| !matches!(val, Val::Nothing))) {
                        self.report.reads(path.as_ref(), true);
                    }
                }
                Val::Data
            }
            Act::Statement => {
                self.executes_sql(b"execute", arguments);
                Val::Object(Object::Database)
            }
            // Without a name it is in memory.
            Act::Database if first.is_none() && !arguments.open => Val::Object(Object::Database),
            Act::Database => {
                for path in self.each_path(first) {
                    if let Some(file) = path.and_then(|p| super::special::file_of_uri(&p)) {
                        let file = file.map(|file| self.report.literal(file));
                        self.report.writes(file.as_ref(), WriteMode::Modify);
                    }
                    if path.and_then(|p| p.known()) != Some(b":memory:") {
                        self.report.writes(path.as_ref(), WriteMode::Modify);
                    }
                }
                Val::Object(Object::Database)
            }
            _ => {
                self.lose();
                Val::Data
            }
        }
    }

    pub(super) fn read_each(&mut self, val: Option<Val<'a>>) {
        for path in self.each_path(val) {
            self.report.reads(path.as_ref(), false);
        }
    }

    pub(super) fn write_each(&mut self, val: Option<Val<'a>>, mode: WriteMode) -> Val<'a> {
        for path in self.each_path(val) {
            self.report.writes(path.as_ref(), mode);
        }
        val.unwrap_or(Val::Data)
    }
}
