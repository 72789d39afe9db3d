//! Text that is executed as shell commands: parsed in the same arena and run by the same interpreter.
//!
//! `eval`, `source` and traps run it in the same shell, `sh -c` and scripts in a new one that inherits only what is
//! exported. Spans inside such text are told in terms of the command that was asked about: exactly where the text
//! stands there letter by letter, else as the span of the word that carried it.

use super::Interpreter;
use super::flow::{ANY_ARGUMENTS, Flow, Opt, Options as ShellOptions, Port};
use super::reading::PIECE;
use super::spans::Spans;
use super::state::{Content, Flags, Slot, Space};
use super::words::is_set_anew;
use crate::effect::{Certainty, EffectKind, Unknown};
use crate::session::Reentry;
use crate::value::{Field, Origins, Stream, Value};
use shward_syntax::{Dialect, Function, Options, ParseError, Parsed, Span};

impl<'a> Interpreter<'a, '_> {
    /// Runs text in this very shell (`eval`, `source`, traps). `arguments` replaces the positional parameters when given.
    pub(super) fn run_here(&mut self, text: &'a [u8], arguments: Option<&'a [Field<'a>]>, span: Span) {
        if !self.budget.spend(text.len() / 8 + 4) || !self.budget.enter() {
            return;
        }
        if text.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1 {
            // bash then reads on behind the text, and knows no reserved word there.
            self.unknown(Unknown::Construct("a backslash at the end of evaluated text"), span);
        }
        let options = Options {
            dialect: self.dialect,
            extglob: self.state.flow.options.may(Opt::ExtGlob),
            ..Options::default()
        };
        let from_file = self.scripts.begin(text);
        let read = match self.readable_pieces(text, &options) {
            Some(mut reader) => {
                let mut read = Ok(());
                self.run_within(text, &[], arguments, span, |shell| {
                    shell.reading = false;
                    read = shell.read(&mut reader, PIECE);
                });
                read
            }
            None => self.read_text(text, &options, |shell, parsed, functions| {
                shell.run_parsed(text, parsed, functions, arguments, span);
            }),
        };
        if let Err(error) = read {
            self.run_what_can_be_read(text, &error, &options, arguments, span);
        }
        if from_file {
            self.scripts.end();
        }
        self.budget.leave();
    }

    /// Runs what a shell does before, or in spite of, what is wrong with the text.
    fn run_what_can_be_read(
        &mut self,
        text: &'a [u8],
        error: &ParseError,
        options: &Options,
        arguments: Option<&'a [Field<'a>]>,
        span: Span,
    ) {
        self.unknown(Unknown::Syntax, span);
        if !error.code.stops_reading() || text.contains(&b'`') {
            // The shell that is there may read it as bash does.
            let as_bash = Options { dialect: Dialect::Bash, extglob: true, ..*options };
            let read = self.read_text(text, &as_bash, |shell, parsed, functions| {
                shell.perhaps(|shell| shell.run_parsed(text, parsed, functions, arguments, span));
            });
            if read.is_ok() {
                return;
            }
            self.unknown(Unknown::Exhausted("text that shells read differently"), span);
        }
        let lines = text.get(..error.before as usize).unwrap_or_default();
        // What cannot be read was told.
        let _ = self.read_text(lines, options, |shell, parsed, functions| {
            shell.run_parsed(lines, parsed, functions, arguments, span);
        });
    }

    /// Runs text that has been parsed.
    fn run_parsed(
        &mut self,
        text: &'a [u8],
        parsed: &Parsed<'_>,
        functions: &'a [&'a Function<'a>],
        arguments: Option<&'a [Field<'a>]>,
        span: Span,
    ) {
        if self.foreign && !super::alike::is_alike(&parsed.script) {
            self.unknown(Unknown::Construct("what zsh or ksh reads in another way than bash"), span);
        }
        self.run_within(text, functions, arguments, span, |shell| shell.script(&parsed.script));
    }

    /// Runs something that stands in this text.
    fn run_within(
        &mut self,
        text: &'a [u8],
        functions: &'a [&'a Function<'a>],
        arguments: Option<&'a [Field<'a>]>,
        span: Span,
        run: impl FnOnce(&mut Self),
    ) {
        let outer = (self.text, self.spans, self.functions, self.line);
        self.spans = Spans::of(text, self.source, span);
        self.text = text;
        self.functions = functions;
        let own_arguments = self.state.flow.arguments;
        if let Some(arguments) = arguments {
            self.called();
            self.state.flow.arguments = arguments;
        }
        let nested = self.reading;
        self.reading = true;
        run(self);
        self.reading = nested;
        if let Some(arguments) = arguments {
            // `set` in a sourced file changes those of the caller.
            let kept = self.state.flow.arguments == arguments;
            self.state.flow.arguments = if kept { own_arguments } else { &ANY_ARGUMENTS };
        }
        (self.text, self.spans, self.functions, self.line) = outer;
    }

    /// Runs text in a new shell and returns what it writes to standard output.
    pub(super) fn run_shell(
        &mut self,
        text: &'a [u8],
        dialect: Dialect,
        arguments: &'a [Field<'a>],
        stdin: Stream<'a>,
        how: Reentry,
        span: Span,
    ) -> Stream<'a> {
        if how == Reentry::Same {
            return self.captured(stdin, |shell| shell.run_here(text, Some(arguments), span));
        }
        // It takes as long as two programs that are described, and what it was given is kept.
        if !self.budget.plan(2) {
            return Stream::unknown(Origins::UNKNOWN, span);
        }
        let doubted = self.scripts.is_doubted(text).then(|| self.state.mark());
        let outer = (self.dialect, self.elsewhere, self.outer_frames, self.foreign);
        let outer_environment = std::mem::replace(&mut self.outer_environment, self.environment.len());
        self.foreign = how == Reentry::Foreign;
        if self.foreign && self.has_startup_files() {
            self.unknown(Unknown::Construct("a file that zsh reads when it starts"), span);
        }
        self.outer_frames = self.frames.len();
        self.dialect = dialect;
        self.elsewhere |= how == Reentry::Elsewhere;
        self.starting.leaves_early |= super::endings::asked_for(text);
        self.starting.traces |= super::endings::asked_for(text);
        // What its traps write is captured as well.
        let output = self.captured(stdin, |shell| {
            shell.isolated(|shell| {
                if stdin.text.is_some_and(|script| std::ptr::eq(script, text))
                    && let Port::Source(id) = shell.state.flow.port(0)
                {
                    // It is the script itself; how much of that is left nobody knows.
                    shell.io.runs(id);
                    shell.io.consumed(id);
                }
                shell.become_new_shell(dialect, arguments);
                shell.run_here(text, None, span);
            });
        });
        (self.dialect, self.elsewhere, self.outer_frames, self.foreign) = outer;
        self.outer_environment = outer_environment;
        let Some(mark) = doubted else { return output };
        // Where the script is not there, nothing of it has happened.
        self.perhaps_since(&mark);
        Stream { text: None, ..output }
    }

    /// Whether the command may have made a file that zsh reads even for `-c`.
    fn has_startup_files(&mut self) -> bool {
        self.budget.spend(self.state.size_with_files());
        let touched = |name: &[u8]| self.state.get(Space::Variable, name).content != Content::Initial;
        touched(b"ZDOTDIR")
            || touched(b"HOME")
            || self.state.files().any(|(path, _)| path.is_empty() || path.ends_with(b"/.zshenv"))
    }

    /// Forgets what a new shell does not inherit: variables that are not exported, functions, aliases, options.
    fn become_new_shell(&mut self, dialect: Dialect, arguments: &'a [Field<'a>]) {
        // Each name is hidden, and comes back when the shell ends.
        self.budget.spend(self.state.size().saturating_mul(3));
        let (elsewhere, foreign) = (self.elsewhere, self.foreign);
        self.state.set_each(Space::Variable, |name, slot| {
            // Arrays are not exported.
            // Every shell starts with separators of its own (POSIX, "IFS"), and before the first of its options.
            if name == b"IFS" || name == b"OPTIND" && !foreign {
                return Some(Slot { content: Content::Initial, flags: slot.flags.without(Flags::GUESSED) });
            }
            if is_set_anew(name) {
                let origins = slot.origins().union(Origins::UNKNOWN);
                return Some(Slot::of(Content::Unknown(origins)));
            }
            let array = matches!(slot.content, Content::Array(_))
                || slot.flags.has(Flags::INDEXED)
                || slot.flags.has(Flags::ASSOCIATIVE);
            // No attribute is exported.
            let own = [Flags::INTEGER, Flags::RECASED, Flags::REFERENCE, Flags::READ_ONLY];
            let flags = own.into_iter().fold(slot.flags, Flags::without);
            // A local variable without a value hides one outside from the function, but not from what it starts.
            let hides = slot.content == Content::Unset && slot.flags.has(Flags::DECLARED);
            let exported = slot.flags.has(Flags::EXPORTED) && !slot.flags.has(Flags::MAYBE);
            if exported && !array && !hides && !elsewhere {
                return (flags != slot.flags).then_some(Slot { flags, ..*slot });
            }
            // It may have been in the environment before the script gave it another value.
            let inherited = match slot.content {
                Content::Initial => Content::Initial,
                _ => Content::Unknown(slot.origins().union(Origins::ENVIRONMENT)),
            };
            Some(Slot::of(inherited))
        });
        self.state.set_each(Space::Function, |_, slot| {
            (!slot.flags.has(Flags::EXPORTED) || elsewhere).then_some(Slot::INITIAL)
        });
        for space in [Space::Alias, Space::Command] {
            self.state.set_each(space, |_, _| Some(Slot::INITIAL));
        }
        if elsewhere {
            self.budget.spend(self.state.size_with_files().saturating_mul(3));
            self.state.set_each_file(|_, _| Some(Slot::INITIAL));
        }
        let mut options = starting_options(dialect);
        super::endings::started(&mut options, std::mem::take(&mut self.starting));
        let (zero, arguments) = match arguments.split_first() {
            Some((zero, rest)) if !zero.many => (zero.known(), rest),
            // Which word is `$0` is not known, nor which ones follow it.
            Some((zero, _)) => {
                let origins =
                    arguments.iter().fold(Origins::NONE, |all, field| all.union(field.value.origins));
                let any = Field { value: Value::unknown(origins), span: zero.span, many: true };
                (None, &*self.arena.alloc_slice_copy(&[any]))
            }
            None => (None, arguments),
        };
        // In zsh and ksh the last stage of a pipeline runs in the shell itself.
        options.set(Opt::LastPipe, self.foreign);
        self.state.flow = Flow {
            options,
            arguments,
            zero,
            last_argument: None,
            stack: Some(&[]),
            may_have_ended: false,
            ..self.state.flow
        };
    }

    /// Executes text of which nothing, or not all, is known: instructions that nobody has seen.
    pub(super) fn unseen_code(&mut self, stream: Stream<'a>, span: Span) {
        self.emit_here(
            EffectKind::Code {
                language: "shell",
                text: stream.text,
                origin: stream.origins,
                source: stream.source,
            },
            span,
            Certainty::Certain,
        );
    }
}

/// The options of the shell that runs the command. That of an agent may be zsh, or have set what it likes before.
pub(super) fn given_options(dialect: Dialect) -> ShellOptions {
    let mut options = starting_options(dialect);
    if dialect == Dialect::Bash {
        options.doubt(Opt::ExpandAliases);
    }
    options
}

/// The options of a shell that starts: only dash expands aliases in scripts.
pub(super) fn starting_options(dialect: Dialect) -> ShellOptions {
    let mut options = ShellOptions::default();
    options.set(Opt::ExpandAliases, dialect == Dialect::Posix);
    options
}
