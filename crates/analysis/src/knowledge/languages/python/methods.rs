//! Methods, by what they are called on.

use super::Reader;
use super::acts::Act;
use super::acts::Reach;
use super::arguments::Arguments;
use super::moments;
use super::mutators::is_mutator;
use super::paths::{is_of_text, is_path_act};
use super::symbols::Sym;
use super::value::{Object, Union, Val};
use crate::effect::WriteMode;
use crate::value::{Origins, Value};

/// Methods of packages that evaluate a text: `DataFrame().query`, `Environment().from_string`.
const EVALUATING: [&[u8]; 5] =
    [b"eval", b"from_string", b"query", b"render_string", b"render_template_string"];

/// Methods of strings, numbers, containers, files and other data that only compute, or whose effect was seen before.
fn is_inert(name: &[u8]) -> bool {
    matches!(
        name,
        b"add"
            | b"add_argument"
            | b"append"
            | b"appendleft"
            | b"astimezone"
            | b"bit_length"
            | b"capitalize"
            | b"casefold"
            | b"center"
            | b"choice"
            | b"clear"
            | b"close"
            | b"closed"
            | b"commit"
            | b"copy"
            | b"count"
            | b"cursor"
            | b"date"
            | b"day"
            | b"debug"
            | b"decode"
            | b"difference"
            | b"digest"
            | b"discard"
            | b"done"
            | b"encode"
            | b"end"
            | b"endswith"
            | b"error"
            | b"exception"
            | b"expandtabs"
            | b"extend"
            | b"fetchall"
            | b"fetchmany"
            | b"fetchone"
            | b"fileno"
            | b"find"
            | b"findall"
            | b"finditer"
            | b"flush"
            | b"format"
            | b"format_map"
            | b"fromkeys"
            | b"fullmatch"
            | b"get"
            | b"getmembers"
            | b"getnames"
            | b"group"
            | b"groupdict"
            | b"groups"
            | b"hex"
            | b"hexdigest"
            | b"index"
            | b"info"
            | b"infolist"
            | b"insert"
            | b"intersection"
            | b"is_set"
            | b"isalnum"
            | b"isalpha"
            | b"isdigit"
            | b"isidentifier"
            | b"islower"
            | b"isnumeric"
            | b"isoformat"
            | b"isspace"
            | b"issubset"
            | b"issuperset"
            | b"istitle"
            | b"isupper"
            | b"items"
            | b"join"
            | b"keys"
            | b"ljust"
            | b"lower"
            | b"lstrip"
            | b"match"
            | b"most_common"
            | b"namelist"
            | b"parse_args"
            | b"partition"
            | b"pop"
            | b"popitem"
            | b"popleft"
            | b"randint"
            | b"read"
            | b"readable"
            | b"readline"
            | b"readlines"
            | b"remove"
            | b"removeprefix"
            | b"removesuffix"
            | b"replace"
            | b"result"
            | b"reverse"
            | b"rfind"
            | b"rindex"
            | b"rjust"
            | b"rpartition"
            | b"rsplit"
            | b"rstrip"
            | b"sample"
            | b"search"
            | b"seek"
            | b"set"
            | b"setdefault"
            | b"shuffle"
            | b"sort"
            | b"span"
            | b"split"
            | b"splitlines"
            | b"start"
            | b"startswith"
            | b"strftime"
            | b"strip"
            | b"strptime"
            | b"sub"
            | b"swapcase"
            | b"tell"
            | b"timestamp"
            | b"title"
            | b"to_bytes"
            | b"total_seconds"
            | b"translate"
            | b"truncate"
            | b"union"
            | b"update"
            | b"upper"
            | b"values"
            | b"wait"
            | b"warning"
            | b"write"
            | b"writeheader"
            | b"writelines"
            | b"writerow"
            | b"writerows"
            | b"zfill"
    )
}

impl<'a> Reader<'_, '_, 'a> {
    /// `val.name(arguments)`
    pub(super) fn method(&mut self, val: &Val<'a>, sym: Sym, arguments: &Arguments<'a>) -> Val<'a> {
        let name = self.name(sym);
        let Val::OneOf(choice) = val else { return self.method_of(val, sym, name, arguments) };
        let mut result = Union::new(self.report.arena);
        for each in choice.iter() {
            result.add(self.method_of(each, sym, name, arguments));
        }
        result.get_or(choice).unwrap_or(Val::Data)
    }

    fn method_of(&mut self, val: &Val<'a>, sym: Sym, name: &'a [u8], arguments: &Arguments<'a>) -> Val<'a> {
        match val {
            Val::Text(_) | Val::Path(_) if is_path_act(name) => self.path_method(val, name, arguments),
            Val::Path(value) if name == b"relative_to" => self.relative_to(value, arguments),
            // `str(path)` is taken for the path.
            Val::Path(value) if is_of_text(name, arguments) => {
                self.hand_over_acting(arguments);
                self.text_method(value, name, arguments)
            }
            Val::Path(_) => self.path_method(val, name, arguments),
            Val::Text(value) => {
                if name == b"replace" && arguments.positional.len() == 1 {
                    return self.path_method(val, name, arguments);
                }
                // The paths of modules as one text.
                let joins = matches!(arguments.positional.as_slice(), [Val::Object(Object::SearchPath)]);
                if name != b"join" || !joins {
                    self.hand_over_acting(arguments);
                }
                self.text_method(value, name, arguments)
            }
            Val::File(_) => {
                self.hand_over_acting(arguments);
                match name {
                    b"read" | b"readline" | b"readlines" | b"decode" | b"strip" | b"encode" | b"replace"
                    | b"format" | b"getvalue" | b"rstrip" | b"lstrip" | b"splitlines" | b"__enter__" => *val,
                    _ => Val::Data,
                }
            }
            Val::Many(_) => self.container_method(val, name, arguments),
            Val::Object(object) => self.object_method(*object, name, arguments),
            Val::Lost => {
                self.lose();
                Val::Data
            }
            Val::Never => Val::Never,
            Val::Number(_) | Val::Count if matches!(name, b"zfill" | b"bit_length") => Val::Count,
            Val::Count if moments::is_written_as_number(name, arguments) => {
                self.hand_over_acting(arguments);
                Val::Count
            }
            Val::Data | Val::Nothing | Val::Number(_) | Val::Count | Val::Local(_) => {
                self.data_method(val, sym, name, arguments)
            }
            Val::Module(_) | Val::Act(_) | Val::Foreign | Val::OneOf(_) => {
                let callee = self.attribute(val, sym);
                if matches!(callee, Val::Foreign) {
                    if writes_its_path(name) {
                        self.saved(arguments);
                    } else if name.starts_with(b"read") || name.starts_with(b"load") {
                        self.loaded(arguments);
                        self.loads_code(name, arguments);
                    } else if EVALUATING.contains(&name) {
                        self.evaluated(arguments);
                    } else if self.asks_for_route(name, arguments) {
                        self.report.project();
                        self.hand_over(arguments, Reach::Sensitive);
                        return Val::Foreign;
                    }
                }
                self.call(&callee, arguments)
            }
        }
    }

    /// A method of something of which nothing is known but that it does not act by itself.
    fn data_method(&mut self, val: &Val<'a>, sym: Sym, name: &'a [u8], arguments: &Arguments<'a>) -> Val<'a> {
        if is_mutator(name) {
            self.change_leaked();
        }
        self.lost_method(name, arguments);
        let known = self.attribute(val, sym);
        let mut called = false;
        for each in known.alternatives() {
            match each {
                Val::Local(number) => {
                    called = true;
                    self.call_local(*number, arguments, true);
                }
                Val::Data => {}
                other => {
                    called = true;
                    self.call(other, arguments);
                }
            }
        }
        match name {
            b"replace" | b"rename" => {
                // With one argument it is a path's; with two, a string's.
                if let ([target], true) = (arguments.positional.as_slice(), arguments.named.is_empty())
                    && matches!(target, Val::Text(_) | Val::Path(_) | Val::OneOf(_))
                {
                    self.path_method(&Val::Data, name, arguments);
                }
            }
            b"glob" | b"rglob" | b"iterdir" | b"move" => {}
            _ if is_path_act(name) => {
                self.path_method(&Val::Data, name, arguments);
            }
            b"open" => {
                let mode = arguments.get(0, &["mode"]).and_then(|v| v.known());
                let is_mode = mode.is_none_or(|m| m.len() <= 3 && m.iter().all(|b| b"rwaxbt+".contains(b)));
                if is_mode {
                    self.path_method(&Val::Data, name, arguments);
                }
            }
            b"connect" | b"connect_ex" if matches!(arguments.positional.first(), Some(Val::Many(_))) => {
                self.perform(Act::Host("tcp"), arguments);
            }
            b"extractall" | b"extract" => {
                self.extract(name, arguments);
            }
            b"load_module" | b"exec_module" => self.report.project(),
            b"subprocess_shell" | b"subprocess_exec" => self.report.unseen_code("shell", Origins::UNKNOWN),
            _ if super::calls::shell_name(name).is_some() => {
                self.report.unseen_code("shell", Origins::UNKNOWN);
            }
            b"read" => self.read_by_name(arguments),
            b"discover" => self.discover(arguments),
            _ if writes_its_path(name) => self.saved(arguments),
            _ => {}
        }
        if called || is_inert(name) {
            self.hand_over_acting(arguments);
        } else {
            self.hand_over(arguments, Reach::Anything);
        }
        Val::Data
    }

    /// The first argument of `read_csv`, `load` and the like is a file that is read.
    pub(super) fn loaded(&mut self, arguments: &Arguments<'a>) {
        for val in arguments.positional.iter().take(1).flat_map(|v| v.alternatives().to_vec()) {
            if let Val::Text(value) | Val::Path(value) = val
                && names_a_file(&value)
            {
                self.report.reads(Some(&value), false);
            }
        }
    }

    /// What is told to unpickle, or to load a library, executes the file: whose it is, its place tells.
    fn loads_code(&mut self, name: &[u8], arguments: &Arguments<'a>) {
        let on = |val: Val<'a>| !matches!(val, Val::Nothing);
        let pickles = arguments.named(&["allow_pickle"]).is_some_and(on)
            || name == b"load" && arguments.positional.get(2).copied().is_some_and(on);
        let trusts = matches!(arguments.named(&["weights_only", "safe_mode"]), Some(Val::Nothing));
        if !(pickles || trusts || matches!(name, b"load_library" | b"load_op_library")) {
            return;
        }
        for val in arguments.positional.iter().take(1).flat_map(|v| v.alternatives().to_vec()) {
            if let Val::Text(value) | Val::Path(value) = val
                && !value.known_prefix().is_empty()
            {
                self.report.loads_below(&value);
            }
        }
    }

    /// What a package evaluates as a formula or a template, if that names what does harm.
    fn evaluated(&mut self, arguments: &Arguments<'a>) {
        let grave = |val: &Val<'a>| {
            val.known().is_some_and(|text| {
                text.windows(2).any(|two| two == b"__") || super::super::grave::names_grave("python", text)
            })
        };
        if arguments.all().any(grave) {
            self.lose();
        }
    }

    /// The first argument of `save`, `to_csv` and the like is a file that is written.
    fn saved(&mut self, arguments: &Arguments<'a>) {
        for val in arguments.positional.iter().take(2).flat_map(|v| v.alternatives().to_vec()) {
            if let Val::Text(value) | Val::Path(value) = val
                && value
                    .known()
                    .is_some_and(|t| t.iter().any(|b| matches!(b, b'.' | b'/')) && !t.contains(&b' '))
            {
                self.report.writes(Some(&value), WriteMode::Replace);
            }
        }
    }
}

/// Whether a string that is given to a package for reading or writing can be the name of a file.
fn names_a_file(value: &Value<'_>) -> bool {
    value.known().is_some_and(|text| {
        text.iter().any(|b| matches!(b, b'.' | b'/'))
            && !text.iter().any(u8::is_ascii_whitespace)
            && !super::super::report::is_url(text)
    })
}

/// Methods of other packages that write a file which their argument names.
fn writes_its_path(name: &[u8]) -> bool {
    name.starts_with(b"to_")
        || name.starts_with(b"save")
        || name.starts_with(b"write_")
        || name.starts_with(b"export")
        || name == b"dump"
        || name == b"imwrite"
        || name == b"imsave"
}
