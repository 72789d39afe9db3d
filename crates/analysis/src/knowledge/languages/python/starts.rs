//! Programs that are started: their arguments, and what they are started with.

use super::Reader;
use super::acts::{Act, Arguments as How};
use super::arguments::Arguments;
use super::value::{Object, Val};
use crate::effect::EffectKind;
use crate::knowledge::values;
use crate::value::{Origins, Stream, Value};

/// Where `subprocess.Popen` takes by position what the others take by name.
const POPEN: Positions = Positions { executable: 2, stdin: 3, cwd: 9, env: 10 };

/// Nothing is taken by position.
const NAMED: Positions =
    Positions { executable: usize::MAX, stdin: usize::MAX, cwd: usize::MAX, env: usize::MAX };

/// Where `subprocess.Popen` takes whether there is a shell.
const POPEN_SHELL: usize = 8;

/// Positions of arguments.
struct Positions {
    executable: usize,
    stdin: usize,
    cwd: usize,
    env: usize,
}

/// What a program gets besides its arguments, as far as it does not inherit it.
struct Given<'a> {
    stdin: Option<Stream<'a>>,
    directory: Option<Value<'a>>,
}

/// An argument that is not `None`.
fn given<'a>(arguments: &Arguments<'a>, at: usize, name: &str) -> Option<Val<'a>> {
    arguments.get(at, &[name]).filter(|val| !matches!(val, Val::Nothing))
}

impl<'a> Reader<'_, '_, 'a> {
    /// A program is started, a shell command run, a process signalled.
    pub(super) fn start(&mut self, act: Act, arguments: &Arguments<'a>) -> Val<'a> {
        self.report.printed = None;
        match act {
            Act::Shell | Act::ShellPipe => {
                let mut child = self.given_to_child(arguments, &NAMED);
                if act == Act::ShellPipe {
                    let reads = match arguments.get(1, &["mode"]) {
                        None => !arguments.open,
                        Some(mode) => mode.known().is_some_and(|mode| mode.starts_with(b"r")),
                    };
                    child.stdin = child.stdin.or((!reads).then_some(unknown_input()));
                }
                let line = arguments.get(0, &["cmd", "command", "args"]);
                for line in self.each_path(line) {
                    self.report.shell(line.as_ref(), child.stdin, child.directory);
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

    /// A program that is a module: it does what it does when it is started.
    pub(super) fn main_of(&mut self, program: &'static str, arguments: &Arguments<'a>) {
        let mut argv = vec![Some(self.report.literal(program.as_bytes()))];
        let mut more = arguments.open;
        match arguments.get(0, &["args", "argv"]) {
            None | Some(Val::Nothing) => {}
            Some(Val::Many(items)) if items.closed && !items.pairs => {
                argv.extend(items.vals.iter().map(|val| val.value()));
            }
            Some(_) => more = true,
        }
        self.report.starts(&argv, more, None, None);
    }

    /// `stdin=`, `input=`, `cwd=`, `env=`, `executable=`. What may be there and is not seen makes it code that was not
    /// understood.
    fn given_to_child(&mut self, arguments: &Arguments<'a>, at: &Positions) -> Given<'a> {
        let origins = Origins::UNKNOWN;
        let stdin = given(arguments, at.stdin, "stdin");
        if stdin.is_some() {
            self.report.asks();
        }
        let network = self.report.read.intersects(Origins::NETWORK);
        let stdin = match (given(arguments, usize::MAX, "input"), stdin) {
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
        let directory = given(arguments, at.cwd, "cwd");
        let directory = directory.map(|v| v.value().unwrap_or(Value::unknown(Origins::UNKNOWN)));
        if let Some(variables) = given(arguments, at.env, "env") {
            self.set_variables(&variables);
        }
        if arguments.open || given(arguments, at.executable, "executable").is_some() {
            self.report.unseen_code("shell", Origins::UNKNOWN);
        }
        if let Some(function) = arguments.named(&["preexec_fn"]).filter(Val::acts) {
            self.escape(&function);
        }
        Given { stdin, directory }
    }

    /// `subprocess.run(args, shell=…, input=…, cwd=…, env=…)`
    fn run(&mut self, arguments: &Arguments<'a>) {
        let program = arguments.get(0, &["args", "cmd"]).unwrap_or(Val::Data);
        let child = self.given_to_child(arguments, &POPEN);
        let (stdin, directory) = (child.stdin, child.directory);
        let shell = given(arguments, POPEN_SHELL, "shell").filter(|val| !matches!(val, Val::Number(0)));
        // It may be true or not.
        let unsure = shell.is_some_and(|val| !matches!(val, Val::Number(_) | Val::Count));
        for each in program.alternatives().to_vec() {
            match each {
                Val::Many(items) => {
                    let (vals, more) = self.argv_of(items);
                    let mut values: Vec<Option<Value<'a>>> = vals.iter().map(Val::value).collect();
                    let lone = values.len() == 1 && !more;
                    if shell.is_none()
                        && !more
                        && let Some(choices) = choices(&vals)
                    {
                        for values in choices {
                            self.report.starts(&values, more, stdin, directory);
                        }
                    } else if shell.is_none() || unsure || !lone {
                        self.report.starts(&values, more, stdin, directory);
                    }
                    if shell.is_some() && lone {
                        self.report.shell(values.first().and_then(|v| v.as_ref()), stdin, directory);
                    } else if shell.is_some() {
                        // What follows are the parameters of the line.
                        let start = [Some(self.report.literal(b"/bin/sh")), Some(self.report.literal(b"-c"))];
                        values.splice(0..0, start);
                        self.report.starts(&values, more, stdin, directory);
                    }
                }
                Val::Text(value) | Val::Path(value) => {
                    if shell.is_some() {
                        self.report.shell(Some(&value), stdin, directory);
                    }
                    if shell.is_none() || unsure {
                        self.report.starts(&[Some(value)], false, stdin, directory);
                    }
                }
                _ => self.report.unseen_code("shell", Origins::UNKNOWN),
            }
        }
    }

    fn start_program(&mut self, at: usize, how: How, arguments: &Arguments<'a>) {
        let Some(program) = arguments.positional.get(at).copied() else {
            return self.report.unseen_code("shell", Origins::UNKNOWN);
        };
        let mut child = self.given_to_child(arguments, &NAMED);
        let mut more = arguments.open;
        let mut rest = arguments.positional.get(at + 1..).unwrap_or_default().to_vec();
        if matches!(how, How::RestAndVariables | How::ListAndVariables) {
            let variables = match how {
                How::RestAndVariables => rest.pop(),
                _ => rest.get(1).copied().or_else(|| arguments.named(&["env"])),
            };
            self.set_variables(&variables.unwrap_or(Val::Data));
        }
        let mut vals = match how {
            How::Rest | How::RestAndVariables | How::Following => rest,
            How::List | How::ListAndVariables => match rest.first() {
                Some(Val::Many(items)) => {
                    let (vals, others) = self.argv_of(items);
                    more |= others;
                    vals
                }
                _ => {
                    more = true;
                    Vec::new()
                }
            },
            How::Whole => match program {
                Val::Many(items) => {
                    if rest.len() > 1 || !arguments.named.is_empty() {
                        // A function says what it reads.
                        child.stdin = Some(unknown_input());
                    }
                    let (vals, others) = self.argv_of(items);
                    more |= others;
                    vals
                }
                other => vec![other],
            },
        };
        let named_otherwise = |name: &Val<'a>| match (name.known(), program.known()) {
            (Some(name), Some(program)) => values::base_name(name) != values::base_name(program),
            _ => true,
        };
        match how {
            How::Following => vals.insert(0, program),
            How::Whole => {}
            _ => {
                // Some programs go by the name that they get to see.
                if vals.first().is_none_or(named_otherwise) {
                    self.report.unseen_code("shell", Origins::UNKNOWN);
                }
                match vals.first_mut() {
                    Some(name) => *name = program,
                    None => vals.push(program),
                }
            }
        }
        // What a spawned process opens.
        let opens = arguments.named(&["file_actions"]).is_some()
            || (how == How::ListAndVariables && arguments.positional.len() > at + 3);
        if opens {
            self.report.unseen_code("shell", Origins::UNKNOWN);
        }
        let values: Vec<Option<Value<'a>>> = vals.iter().map(Val::value).collect();
        self.report.starts(&values, more, child.stdin, child.directory);
    }
}

/// Each list of arguments that this may be, if some of them may be several things and they are few in all.
fn choices<'a>(vals: &[Val<'a>]) -> Option<Vec<Vec<Option<Value<'a>>>>> {
    let several = vals.iter().map(|val| val.alternatives().len()).try_fold(1, usize::checked_mul)?;
    if !(2..=16).contains(&several) {
        return None;
    }
    let mut choices = vec![Vec::new()];
    for val in vals {
        let each = |choice: &Vec<_>| {
            let choice = choice.clone();
            val.alternatives()
                .iter()
                .map(move |one| [choice.as_slice(), &[one.value()]].concat())
                .collect::<Vec<_>>()
        };
        choices = choices.iter().flat_map(each).collect();
    }
    Some(choices)
}

/// What a program reads that another writes to it.
const fn unknown_input<'a>() -> Stream<'a> {
    Stream { text: None, origins: Origins::UNKNOWN, source: None }
}
