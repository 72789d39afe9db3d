//! What the parameters of the shell hold.

use crate::shell::Interpreter;
use crate::shell::state::{Content, Element, Flags, Slot, Space, is_decimal};
use crate::value::{Field, Origins, Piece, Value};
use shward_syntax::{Dialect, Span};

/// What a parameter holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::shell) enum Got<'a> {
    /// Nothing.
    Unset,
    /// This value. The flag: what is not known of it is a number.
    One(Value<'a>, bool),
    /// Anything, or nothing. The flag: arithmetic may evaluate it without harm.
    Any(Origins, bool),
}

/// What `$0` is when it is not known: the name or path of a shell.
pub(in crate::shell) static SOME_SHELL: &[Piece<'static>] = &[Piece::Unknown, Piece::Text(b"sh")];

/// Chains of namerefs are followed this far.
const MOST_REFERENCES: usize = 8;

impl<'a> Interpreter<'a, '_> {
    /// The variable that a name stands for after namerefs, `None` if that is not a plain name that is known.
    pub(in crate::shell) fn dereference(&mut self, name: &'a [u8], span: Span) -> Option<&'a [u8]> {
        let mut name = name;
        for _ in 0..MOST_REFERENCES {
            let slot = self.state.get(Space::Variable, name);
            if !slot.flags.has(Flags::REFERENCE) {
                return Some(name);
            }
            match slot.content {
                Content::Scalar(value) => match value.known() {
                    Some(next) if is_name(next) => {
                        if self.innermost(next) > self.innermost(name) {
                            // Which of the two is meant depends on what is done with it.
                            self.unpredictable("a name reference to a variable that a function hides", span);
                            return None;
                        }
                        name = next;
                    }
                    _ => {
                        self.unpredictable("a name reference to what is not a plain variable", span);
                        return None;
                    }
                },
                Content::Unset | Content::Initial => return Some(name),
                _ => {
                    self.unpredictable("a name reference that is not known", span);
                    return None;
                }
            }
        }
        None
    }

    /// What a variable holds.
    pub(in crate::shell) fn lookup(&mut self, name: &'a [u8], span: Span) -> Got<'a> {
        let Some(name) = self.dereference(name, span) else { return Got::Any(Origins::UNKNOWN, false) };
        let slot = self.state.get(Space::Variable, name);
        self.scalar(name, slot)
    }

    fn scalar(&self, name: &'a [u8], slot: Slot<'a>) -> Got<'a> {
        match slot.content {
            Content::Scalar(value) => Got::One(value, slot.flags.has(Flags::NUMBER)),
            Content::Unset => Got::Unset,
            Content::Array(elements) => match elements.iter().find(|element| element.key == b"0") {
                Some(element) => Got::One(element.value, false),
                None => Got::Unset,
            },
            Content::Unknown(origins) => {
                let number = slot.flags.has(Flags::NUMBER);
                if number {
                    Got::One(Value::unknown(origins), true)
                } else {
                    Got::Any(origins, slot.flags.has(Flags::TRUSTED))
                }
            }
            _ => self.initial(name),
        }
    }

    /// What a variable holds that the script has not touched.
    fn initial(&self, name: &'a [u8]) -> Got<'a> {
        let bash = self.dialect == Dialect::Bash;
        match name {
            b"HOME" if !self.elsewhere => {
                return Got::One(Value::text(self.request.home, Origins::LITERAL), false);
            }
            b"PWD" => return Got::One(self.working_directory(), false),
            b"OLDPWD" => {
                return match self.state.flow.previous.filter(|_| !self.state.flow.stayed) {
                    Some(place) => Got::One(Value::text(place, Origins::LITERAL), false),
                    None => Got::Any(Origins::FILE, true),
                };
            }
            b"IFS" => return Got::One(Value::text(b" \t\n", Origins::LITERAL), false),
            b"OPTIND" => return Got::One(Value::text(b"1", Origins::LITERAL), true),
            b"PPID" => return Got::One(Value::unknown(Origins::LITERAL), true),
            _ if is_counted_by_shell(name) && bash => {
                return Got::One(Value::unknown(Origins::LITERAL), true);
            }
            _ if is_told_by_shell(name) && bash => {
                return Got::One(Value::unknown(Origins::ENVIRONMENT), false);
            }
            // The shell may be bash by another name.
            _ if is_counted_by_shell(name) || is_told_by_shell(name) => {
                return Got::Any(Origins::of_variable(name), true);
            }
            // The last argument, of which any text may be a part.
            b"_" => {
                let origins = self.state.flow.last_argument.map_or(Origins::NONE, |value| value.origins);
                return Got::Any(origins.union(Origins::LITERAL), false);
            }
            b"BASH" if bash => {
                return Got::One(Value::of_static(&SOME_SHELL, Origins::LITERAL), false);
            }
            _ if is_shells_own(name) => return Got::Any(Origins::LITERAL, false),
            _ => {}
        }
        if self.elsewhere || self.bare {
            return Got::Any(Origins::of_variable(name), true);
        }
        match self.world.variable(name) {
            Some(Some(text)) => {
                let text = &*self.arena.alloc_slice_copy(&text);
                Got::One(Value::text(text, Origins::of_variable(name)), is_decimal(text))
            }
            Some(None) => Got::Unset,
            None => Got::Any(Origins::of_variable(name), true),
        }
    }

    /// The elements of an array; `None` if they are not known.
    pub(in crate::shell) fn elements(&mut self, name: &'a [u8], span: Span) -> Option<Vec<Element<'a>>> {
        let name = self.dereference(name, span)?;
        let slot = self.state.get(Space::Variable, name);
        match slot.content {
            Content::Array(elements) => {
                self.budget.spend(elements.len());
                Some(elements.to_vec())
            }
            Content::Unset => Some(Vec::new()),
            // What it is a number of stands in any of its elements.
            Content::Unknown(_)
                if [Flags::INDEXED, Flags::ASSOCIATIVE].iter().any(|kind| slot.flags.has(*kind)) =>
            {
                None
            }
            _ => match self.scalar(name, slot) {
                Got::One(value, _) => Some(vec![Element { key: b"0", value }]),
                Got::Unset => Some(Vec::new()),
                Got::Any(..) => None,
            },
        }
    }

    /// Whether a variable is surely an array of which no index is left out.
    pub(in crate::shell) fn is_dense(&mut self, name: &'a [u8], span: Span) -> bool {
        let Some(name) = self.dereference(name, span) else { return false };
        let Content::Array(elements) = self.state.get(Space::Variable, name).content else { return false };
        let index = |key: &[u8]| std::str::from_utf8(key).ok().and_then(|key| key.parse().ok());
        elements.iter().enumerate().all(|(place, element)| index(element.key) == Some(place))
    }

    /// The elements of an array where their order counts, which of an associative array is not known.
    pub(in crate::shell) fn elements_in_order(
        &mut self,
        name: &'a [u8],
        span: Span,
    ) -> Option<Vec<Element<'a>>> {
        let elements = self.elements(name, span)?;
        let name = self.dereference(name, span)?;
        let ordered = !self.state.get(Space::Variable, name).flags.has(Flags::ASSOCIATIVE);
        (ordered || elements.len() < 2).then_some(elements)
    }

    /// What a positional parameter holds.
    pub(in crate::shell) fn positional(&self, number: u32) -> Got<'a> {
        if number == 0 {
            return match self.state.flow.zero {
                Some(zero) => Got::One(Value::text(zero, Origins::LITERAL), false),
                // However the shell was called, it is one.
                None => Got::One(Value::of_static(&SOME_SHELL, Origins::LITERAL), false),
            };
        }
        let mut left = number;
        for field in self.state.flow.arguments {
            if field.many {
                return Got::Any(self.argument_origins(), false);
            }
            left -= 1;
            if left == 0 {
                return Got::One(field.value, false);
            }
        }
        Got::Unset
    }

    /// Where the positional parameters come from.
    pub(in crate::shell) fn argument_origins(&self) -> Origins {
        self.state.flow.arguments.iter().fold(Origins::NONE, |all, field| all.union(field.value.origins))
    }

    /// How many positional parameters there are, if known.
    pub(in crate::shell) fn argument_count(&self) -> Option<usize> {
        let all: &[Field<'a>] = self.state.flow.arguments;
        (!all.iter().any(|field| field.many)).then_some(all.len())
    }

    /// What `$?`, `$#` and the other special parameters hold, but for `$@` and `$*`.
    pub(in crate::shell) fn special(&self, byte: u8) -> Got<'a> {
        match byte {
            b'#' => match self.argument_count() {
                Some(count) => {
                    let text = self.arena.alloc_str(&count.to_string()).as_bytes();
                    Got::One(Value::text(text, Origins::LITERAL), true)
                }
                None => Got::One(Value::unknown(Origins::LITERAL), true),
            },
            b'?' | b'$' => Got::One(Value::unknown(Origins::LITERAL), true),
            b'0' => self.positional(0),
            b'_' => match self.state.flow.last_argument {
                Some(value) => Got::One(value, false),
                None => Got::Any(Origins::ENVIRONMENT, false),
            },
            // A number once there is a background job.
            b'!' => Got::Any(Origins::JOB, true),
            // `$-` is letters.
            _ => Got::Any(Origins::LITERAL, true),
        }
    }
}

/// Variables that are always a number in bash.
fn is_counted_by_shell(name: &[u8]) -> bool {
    matches!(
        name,
        b"BASHPID"
            | b"BASH_SUBSHELL"
            | b"EPOCHSECONDS"
            | b"EUID"
            | b"HISTCMD"
            | b"LINENO"
            | b"RANDOM"
            | b"SECONDS"
            | b"SHLVL"
            | b"SRANDOM"
            | b"UID"
    )
}

/// Variables in which bash tells of itself and of the machine.
fn is_told_by_shell(name: &[u8]) -> bool {
    matches!(name, b"BASH_VERSION" | b"EPOCHREALTIME" | b"HOSTNAME" | b"HOSTTYPE" | b"MACHTYPE" | b"OSTYPE")
}

/// What bash itself keeps, whatever the environment holds.
fn is_shells_own(name: &[u8]) -> bool {
    matches!(
        name,
        b"BASH"
            | b"BASHOPTS"
            | b"BASH_ALIASES"
            | b"BASH_ARGC"
            | b"BASH_ARGV"
            | b"BASH_ARGV0"
            | b"BASH_CMDS"
            | b"BASH_COMMAND"
            | b"BASH_EXECUTION_STRING"
            | b"BASH_LINENO"
            | b"BASH_LOADABLES_PATH"
            | b"BASH_REMATCH"
            | b"BASH_SOURCE"
            | b"BASH_VERSINFO"
            | b"COMP_LINE"
            | b"COMP_WORDBREAKS"
            | b"COPROC"
            | b"COPROC_PID"
            | b"DIRSTACK"
            | b"FUNCNAME"
            | b"GROUPS"
            | b"IGNOREEOF"
            | b"MAPFILE"
            | b"OPTARG"
            | b"OPTERR"
            | b"PIPESTATUS"
            | b"PS1"
            | b"PS2"
            | b"PS4"
            | b"REPLY"
            | b"SHELLOPTS"
    )
}

/// What a shell that starts gives a value of its own, or takes away, whatever the environment holds. bash does so with all
/// of them, other shells with some.
pub(in crate::shell) fn is_set_anew(name: &[u8]) -> bool {
    let inherited = matches!(
        name,
        b"COMP_LINE" | b"COPROC" | b"COPROC_PID" | b"IGNOREEOF" | b"MAPFILE" | b"OPTARG" | b"REPLY"
    );
    is_shells_own(name) && !inherited
        || is_counted_by_shell(name)
        || matches!(name, b"_" | b"BASH_VERSION" | b"EPOCHREALTIME" | b"OPTIND" | b"PPID")
}

/// Whether text is a name as variables have it.
pub(in crate::shell) fn is_name(text: &[u8]) -> bool {
    match text {
        [first, rest @ ..] => {
            (first.is_ascii_alphabetic() || *first == b'_')
                && rest.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')
        }
        [] => false,
    }
}
