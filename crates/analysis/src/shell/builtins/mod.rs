//! The builtins that read or change the state of the shell (bash(1), SHELL BUILTIN COMMANDS; POSIX XCU 2.14).
//!
//! Those that do neither (`echo`, `test`, `kill`, …) are described in the command knowledge like programs.

mod alias;
mod declare;
mod directories;
mod evaluate;
mod input;
mod options;

use super::Interpreter;
use super::branches::Ways;
use super::simple::Expanded;
use crate::effect::{Certainty, Covers, EffectKind, Rest, Scope, Target, Unknown};
use crate::session::Session;
use crate::value::{Field, Origins, Stream, Value};
use shward_syntax::{Dialect, Span};

/// The options and operands of a builtin, read as bash's own `internal_getopt` does.
#[derive(Debug)]
struct Given<'a> {
    /// Letters in order, with their values.
    options: Vec<(u8, Option<Field<'a>>)>,
    /// What follows.
    operands: &'a [Field<'a>],
    /// No argument whose text is not known stood where options may stand, and there are no options but those that exist.
    sure: bool,
}

impl<'a> Given<'a> {
    /// `valued`: the letters that have a value; `flags`: those that have none.
    fn read(argv: &'a [Field<'a>], valued: &[u8], flags: &[u8]) -> Self {
        let mut rest = argv.get(1..).unwrap_or_default();
        let mut given = Self { options: Vec::new(), operands: rest, sure: true };
        while let Some((field, after)) = rest.split_first() {
            let Some(text) = field.known() else {
                let prefix = field.value.known_prefix();
                given.sure &= prefix.first().is_some_and(|byte| *byte != b'-')
                    && !(field.many && field.value.has_unknown());
                break;
            };
            let Some(letters) = text.strip_prefix(b"-").filter(|letters| !letters.is_empty()) else { break };
            rest = after;
            if letters == b"-" {
                break;
            }
            for (index, letter) in letters.iter().enumerate() {
                if !valued.contains(letter) {
                    given.sure &= flags.contains(letter);
                    given.options.push((*letter, None));
                    continue;
                }
                let joined = letters.get(index + 1..).unwrap_or_default();
                if joined.is_empty() {
                    given.sure &=
                        rest.first().is_some_and(|value| !(value.many && value.value.has_unknown()));
                    given.options.push((*letter, rest.first().copied()));
                    rest = rest.get(1..).unwrap_or_default();
                } else {
                    let value = Value::text(joined, field.value.origins);
                    given.options.push((*letter, Some(Field { value, ..*field })));
                }
                break;
            }
        }
        given.operands = rest;
        given
    }

    fn has(&self, letter: u8) -> bool {
        self.options.iter().any(|(given, _)| *given == letter)
    }

    fn value(&self, letter: u8) -> Option<Field<'a>> {
        self.options.iter().rev().find(|(given, _)| *given == letter).and_then(|(_, value)| *value)
    }
}

impl<'a> Interpreter<'a, '_> {
    /// Runs a builtin that touches the state of the shell. False if the name is none.
    pub(super) fn builtin(&mut self, name: &'a [u8], command: &Expanded<'_, 'a>) -> bool {
        let posix = self.dialect == Dialect::Posix;
        if !posix && matches!(name, b"test" | b"[" | b"printf" | b"wait") && may_name_an_element(command.argv)
        {
            self.not_understood(
                "a word that a builtin evaluates if it is the name of a variable",
                command.span,
            );
        }
        match name {
            b"test" | b"[" if !posix => {
                self.test_operands(command);
                return false;
            }
            b"printf" if !posix => return self.printf(command),
            b":" | b"." | b"eval" | b"exec" | b"exit" | b"export" | b"readonly" | b"return" | b"set"
            | b"shift" | b"trap" | b"unset" | b"break" | b"continue" | b"times" | b"cd" | b"command"
            | b"alias" | b"unalias" | b"bg" | b"fg" | b"getopts" | b"hash" | b"jobs" | b"local" | b"read"
            | b"type" | b"ulimit" | b"umask" | b"wait" => {}
            b"fc" if posix => return false,
            b"source" | b"declare" | b"typeset" | b"shopt" | b"mapfile" | b"readarray" | b"let"
            | b"builtin" | b"enable" | b"bind" | b"complete" | b"compgen" | b"compopt" | b"history"
            | b"fc" | b"pushd" | b"popd" | b"dirs" | b"disown" | b"caller" | b"suspend" | b"logout"
            | b"help" => {
                if posix {
                    // In dash these are programs; `sh` may be bash.
                    self.doubtful(|shell| shell.start_program(command.argv, command.span));
                    let mark = self.state.mark();
                    let mut ways = Ways::from(&mark);
                    self.doubtful(|shell| shell.perform(name, command));
                    self.add_way(&mut ways);
                    self.state.rewind(&mark);
                    self.join_ways(&mut ways);
                    return true;
                }
            }
            _ => return false,
        }
        self.perform(name, command);
        self.judge_special(name);
        true
    }

    /// Runs a builtin that was found to be one.
    fn perform(&mut self, name: &'a [u8], command: &Expanded<'_, 'a>) {
        self.begin_invocation(command.argv, command.span, true);
        if matches!(name, b":" | b"cd") {
            self.has_no_own_files();
        }
        if command.argv.get(1).is_some_and(|field| field.known() == Some(b"--help")) {
            self.prints(Origins::LITERAL, command.span);
        }
        match name {
            b":" | b"times" | b"bg" | b"fg" | b"umask" | b"ulimit" | b"type" | b"caller" | b"disown"
            | b"help" | b"compopt" => {
                self.prints(Origins::ENVIRONMENT, command.span);
                let operands = command.argv.get(1..).unwrap_or_default();
                let limits = |operand: &Field<'a>| {
                    operand
                        .known()
                        .is_none_or(|text| text.iter().any(|b| b.is_ascii_digit()) || !text.starts_with(b"-"))
                };
                if name == b"ulimit" && operands.iter().any(limits) {
                    // From here on files may not let themselves be opened, nor be written to their end.
                    self.locked = true;
                    self.unreadable = true;
                }
                if name == b"umask" && !operands.iter().all(leaves_readable) {
                    // What it writes from here on, it may not be able to read.
                    self.argument_unknown(command.span);
                }
            }
            b"cd" => self.change_directory(command),
            b"pushd" | b"popd" | b"dirs" => self.directory_stack(name, command),
            b"eval" => self.evaluate_text(command),
            b"." | b"source" => self.source_file(command),
            b"exec" => self.replace_shell(command),
            b"command" | b"builtin" => self.without_functions(command),
            b"exit" | b"logout" => self.exit(command),
            b"return" => self.return_from(command.argv),
            b"break" | b"continue" => {
                let count = match command.argv.get(1) {
                    None => Some(1),
                    Some(field) => number(field),
                };
                if count.is_none() {
                    // What is no number ends the shell.
                    self.shell_may_end();
                }
                if count == Some(0) || command.argv.len() > 2 {
                    self.argument_unknown(command.span);
                }
                self.leave_loops(count, name == b"continue");
            }
            b"export" | b"readonly" | b"declare" | b"typeset" | b"local" => self.declare(name, command),
            b"unset" => self.unset(command),
            b"set" => self.set_options(command),
            b"shopt" => self.shopt(command),
            b"shift" => self.shift(command),
            b"trap" => self.trap(command),
            b"alias" | b"unalias" => self.alias_builtin(name, command),
            b"getopts" => self.getopts(command),
            b"let" => self.let_builtin(command),
            b"read" => self.read_builtin(command),
            b"mapfile" | b"readarray" => self.mapfile(command),
            b"wait" => self.wait(command),
            b"jobs" => self.jobs(command),
            b"hash" => self.hash(command),
            b"enable" => self.enable(command),
            b"bind" => self.bind(command),
            b"complete" | b"compgen" => self.completion(name, command),
            b"history" => self.history(command),
            b"fc" => self.fix_command(command),
            b"suspend" => {
                self.emit_here(EffectKind::Signal { what: "own" }, command.span, Certainty::Certain)
            }
            _ => {}
        }
    }

    /// The builtin writes text that is not known to standard output.
    fn prints(&mut self, origins: Origins, span: Span) {
        self.write_out(Stream::unknown(origins, span));
    }

    /// The builtin writes the variables of the shell to standard output.
    fn prints_environment(&mut self, span: Span) {
        self.shows_environment(span);
        self.prints(Origins::ALL_VARIABLES, span);
    }

    /// Variables of the environment, credentials among them, are read to be shown.
    pub(super) fn shows_environment(&mut self, span: Span) {
        let target = Target {
            path: b"",
            rest: Rest::Unknown,
            scope: Scope::Environment,
            tree: false,
            covers: Covers::default(),
        };
        self.emit_here(EffectKind::Read { target }, span, Certainty::Certain);
    }

    /// An argument of which not enough is known stands where it could change the meaning of the builtin.
    fn argument_unknown(&mut self, span: Span) {
        self.unknown(Unknown::Argument, span);
    }
}

/// Whether an argument of `umask` leaves the owner the right to read and write.
fn leaves_readable(field: &Field<'_>) -> bool {
    match field.known() {
        Some(b"-S" | b"-p" | b"-pS" | b"-Sp") => true,
        Some([b'g' | b'o', rest @ ..]) => !rest.contains(&b','),
        Some(text) if text.starts_with(b"u=rwx,") => true,
        Some([digits @ .., _, _]) if text_is_octal(field) => matches!(digits, [] | [b'0'] | [b'0', b'0']),
        Some([_]) => text_is_octal(field),
        _ => false,
    }
}

fn text_is_octal(field: &Field<'_>) -> bool {
    field.known().is_some_and(|text| text.len() <= 4 && text.iter().all(|byte| matches!(byte, b'0'..=b'7')))
}

/// The number that an argument is.
fn number(field: &Field<'_>) -> Option<usize> {
    std::str::from_utf8(field.known()?).ok()?.parse().ok()
}

/// Whether one word may be the option behind which another one is a variable, whose subscript executes something.
fn may_name_an_element(words: &[Field<'_>]) -> bool {
    let executes = |text: &[u8]| {
        let (name, subscript) = text
            .iter()
            .position(|byte| *byte == b'[')
            .and_then(|at| text.split_at_checked(at))
            .unwrap_or_default();
        crate::shell::words::is_name(name)
            && (subscript.contains(&b'`') || subscript.windows(2).any(|pair| matches!(pair, b"$(" | b"${")))
    };
    words.iter().any(|word| word.known().is_none()) && words.iter().filter_map(Field::known).any(executes)
}
