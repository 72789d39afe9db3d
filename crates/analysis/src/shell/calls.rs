//! From a command word to a function, a builtin or a program.

use super::Interpreter;
use super::branches::Ways;
use super::files::around;
use super::flow::Port;
use super::simple::Expanded;
use super::state::{Content, Space};
use super::words::SOME_SHELL;
use crate::effect::Unknown;
use crate::knowledge;
use crate::plan::Invocation;
use crate::session::Call;
use crate::value::{Field, Origins, Stream, Value};
use shward_syntax::{Dialect, Span};

impl<'a> Interpreter<'a, '_> {
    /// Runs an expanded simple command. `functions`: functions are looked up.
    pub(super) fn dispatch(&mut self, command: &Expanded<'_, 'a>, functions: bool) {
        let Some(first) = command.argv.first() else { return };
        if !self.budget.spend(1) || !self.budget.enter() {
            return;
        }
        let outer = self.current;
        if first.known() != Some(b"return") {
            // What does not say otherwise may succeed or fail wherever it runs.
            self.state.flow.places.forget_status();
        }
        match first.known() {
            None => self.unknown_command(command),
            Some(name) => {
                let (bodies, otherwise) =
                    if functions { self.functions_named(name) } else { (&[] as &[_], true) };
                if bodies.is_empty() {
                    self.named(name, command);
                } else {
                    self.begin_invocation(command.argv, command.span, true);
                    if otherwise {
                        let mark = self.state.mark();
                        let mut ways = Ways::from(&mark);
                        self.doubtful(|shell| shell.call(bodies, command.argv, command.span));
                        self.add_way(&mut ways);
                        self.state.rewind(&mark);
                        self.doubtful(|shell| shell.named(name, command));
                        self.join_ways(&mut ways);
                    } else {
                        self.call(bodies, command.argv, command.span);
                    }
                }
            }
        }
        self.current = outer;
        self.budget.leave();
    }

    /// A command that is a builtin or a program.
    fn named(&mut self, name: &'a [u8], command: &Expanded<'_, 'a>) {
        match self.state.get(Space::Command, name).content {
            Content::Command(Some(path)) => {
                self.start_hashed(path, command.argv, command.span);
                // A directory is not taken, and then the name means what it did.
                self.doubtful(|shell| shell.builtin_or_program(name, command));
            }
            Content::Command(None) => {
                self.doubtful(|shell| shell.start_program(command.argv, command.span));
                let mark = self.state.mark();
                let mut ways = Ways::from(&mark);
                self.doubtful(|shell| shell.builtin_or_program(name, command));
                self.add_way(&mut ways);
                self.state.rewind(&mark);
                self.join_ways(&mut ways);
            }
            _ => self.builtin_or_program(name, command),
        }
    }

    /// Starts the program for which `hash -p` has made a name stand.
    pub(super) fn start_hashed(&mut self, path: Value<'a>, argv: &[Field<'a>], span: Span) {
        let mut argv = argv.to_vec();
        if let Some(first) = argv.first_mut() {
            first.value = match path.known() {
                // The kernel is given it as it is.
                Some(name) if !name.contains(&b'/') => {
                    let here = self.arena.alloc_slice_copy(&[b"./", name].concat());
                    Value::text(here, path.origins)
                }
                _ => path,
            };
        }
        self.start_program(self.arena.alloc_slice_copy(&argv), span);
    }

    fn builtin_or_program(&mut self, name: &'a [u8], command: &Expanded<'_, 'a>) {
        if self.builtin(name, command) {
            return;
        }
        self.start_program(command.argv, command.span);
        // What is not found, bash gives to a function of this name, in a subshell.
        let (handlers, _) = self.functions_named(b"command_not_found_handle");
        if !handlers.is_empty() {
            let handler = Field {
                value: Value::text(b"command_not_found_handle", Origins::LITERAL),
                span: command.span,
                many: false,
            };
            let argv: Vec<Field<'a>> = std::iter::once(handler).chain(command.argv.iter().copied()).collect();
            self.doubtful(|shell| shell.isolated(|shell| shell.call(handlers, &argv, command.span)));
        }
    }

    /// A command whose name is not known.
    fn unknown_command(&mut self, command: &Expanded<'_, 'a>) {
        self.begin_invocation(command.argv, command.span, false);
        let Some((first, rest)) = command.argv.split_first() else { return };
        if let Some(name) = first.value.known() {
            // It is this program, or there is no such word (`$(which node) x.js`).
            let word = Field { value: Value::text(name, first.value.origins), many: false, ..*first };
            let argv: Vec<Field<'a>> = std::iter::once(word).chain(rest.iter().copied()).collect();
            let argv = self.arena.alloc_slice_copy(&argv);
            self.doubtful(|shell| shell.dispatch(&Expanded { argv, ..command.clone() }, false));
            if rest.first().is_some_and(|word| self.is_no_program(word)) {
                return;
            }
        } else {
            self.unknown(Unknown::Program, first.span);
        }
        let output = Stream::unknown(Origins::UNKNOWN, command.span);
        self.write_out(output);
        if *first.value.pieces() == *SOME_SHELL {
            let value = Value::text(b"bash", first.value.origins);
            let shell = Field { value, span: first.span, many: false };
            let argv: Vec<Field<'a>> = std::iter::once(shell).chain(rest.iter().copied()).collect();
            let argv = self.arena.alloc_slice_copy(&argv);
            self.doubtful(|shell| shell.start_program(argv, command.span));
        }
        // The name may expand to nothing: the next word is then the command.
        if first.many && !rest.is_empty() {
            self.doubtful(|shell| shell.dispatch(&Expanded { argv: rest, ..command.clone() }, true));
        }
        self.consume_stdin();
    }

    /// Whether a word is an option: no system has a program of such a name where programs are looked for.
    fn is_no_program(&self, word: &Field<'a>) -> bool {
        let Some(name) = word.known().filter(|name| name.starts_with(b"-")) else { return false };
        !name.contains(&b'/')
            && self.state.get(Space::Variable, b"PATH").content == Content::Initial
            && self.state.get(Space::Command, name).content == Content::Initial
            && !self.searches_workspace
            && self.functions_named(name).0.is_empty()
    }

    /// Notes a program, builtin or function that is started.
    pub(super) fn begin_invocation(&mut self, argv: &'a [Field<'a>], span: Span, builtin: bool) {
        let known = argv.iter().all(|field| field.known().is_some());
        let stdin = self.stdin();
        let invocation = Invocation {
            program: argv.first().and_then(Field::known),
            argv,
            cwd: self.state.flow.places.only().filter(|_| !self.elsewhere),
            env: if self.environment.is_empty() {
                &[]
            } else {
                self.arena.alloc_slice_copy(&self.environment)
            },
            stdin: stdin.origins,
            certain: known && self.is_certain() && self.state.flow.places.len() == 1,
            builtin,
            no_own_files: false,
            span,
        };
        self.current = u32::try_from(self.invocations.len()).ok();
        self.invocations.push(invocation);
        self.budget.spend(argv.len() / 8);
        // The words, and what is given to it, are kept as parts of the plan are.
        self.budget.plan(1 + argv.len() / 4 + self.environment.len() / 4);
    }

    /// Starts a program, in each of the directories in which the shell may be.
    pub(super) fn start_program(&mut self, argv: &'a [Field<'a>], span: Span) {
        let outer = self.current;
        let name = argv.first().and_then(Field::known).unwrap_or_default();
        let builtin = is_builtin(name, self.dialect);
        let missing = !builtin && !self.finds_programs();
        if self.searches_workspace && !builtin && !name.contains(&b'/') && self.may_have_made(name) {
            self.unknown(Unknown::Variable(b"PATH"), span);
        }
        let (places, settled) = (self.state.flow.places, self.state.flow.settled);
        let mut output: Option<Stream<'a>> = None;
        // In each of them it finds the same to be read.
        let sources = if places.len() > 1 { self.io.sources() } else { Vec::new() };
        self.budget.spend(sources.len());
        let mut read = Vec::new();
        for (place, _) in places.iter() {
            (self.state.flow.places, self.state.flow.settled) = (places.narrowed(place), settled);
            let several = places.len() > 1;
            self.doubt += u32::from(several);
            let effects = self.effects.len();
            self.begin_invocation(argv, span, builtin);
            let stdin = self.stdin();
            let piped = self.is_piped();
            let own = self.current;
            let stream = knowledge::invoke(self, &Call { argv, stdin, piped, span });
            self.has_read();
            self.has_made(own.filter(|_| places.len() == 1));
            if several {
                read.extend(self.io.give_back(&sources));
            }
            let stream = if missing { Stream { text: None, ..stream } } else { stream };
            if several && output.is_some() {
                self.drop_repetitions(effects);
            }
            self.doubt -= u32::from(several);
            output = Some(match output {
                Some(other) if other.text != stream.text => {
                    Stream { text: None, origins: other.origins.union(stream.origins), ..stream }
                }
                _ => stream,
            });
        }
        read.into_iter().for_each(|id| self.io.consumed(id));
        // What a shell that was started has moved was noticed for the place of that shell alone.
        (self.state.flow.places, self.state.flow.settled) = (places, settled);
        self.find_itself();
        self.current = outer;
        let silent = builtin && !matches!(name, b"kill");
        if !silent {
            self.consume_stdin();
        }
        if let Some(output) = output {
            self.write_out(output);
            if !silent && !matches!(self.state.flow.port(2), Port::Terminal | Port::Closed) {
                self.write_to(2, Stream { text: None, ..output });
            }
        }
    }

    /// Whether the command may have put a file of this name anywhere, or changed what lies around the programs of the workspace.
    fn may_have_made(&mut self, name: &[u8]) -> bool {
        self.budget.spend(self.state.size_with_files());
        // Of a place that is not known nothing stands behind the last slash, nor of a whole directory.
        let may_be = |path: &[u8]| {
            let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            last.is_empty() || last == name
        };
        !self.links.is_empty()
            || self.state.files().any(|(path, slot)| matches!(slot.content, Content::File(_)) && may_be(path))
            || self.state.has_files() && self.may_be_written_program(name)
    }

    /// Whether a program of this name that `$PATH` leads to in the workspace may be one that the command has written, or load what it has.
    fn may_be_written_program(&mut self, name: &[u8]) -> bool {
        let places = std::mem::take(&mut self.programs_at);
        let found = places.iter().any(|place| {
            self.budget.spend(64);
            // Most of the workspace has nothing to do with the programs that lie in it or in a directory of it.
            let above = around(place).strip_suffix(b"/").unwrap_or_default();
            let written = if self.request.workspace.starts_with(place) {
                false
            } else if self.request.workspace == above {
                !self.files_below(&[*place, b"/"].concat()).is_empty()
            } else {
                self.is_written_around(place)
            };
            written || self.leads_to_written(&[*place, b"/", name].concat())
        });
        self.programs_at = places;
        found
    }

    /// Whether the programs of the system are found where `$PATH` says.
    fn finds_programs(&mut self) -> bool {
        match self.state.get(Space::Variable, b"PATH").content {
            Content::Initial => true,
            Content::Scalar(value) => match value.known() {
                Some(path) => {
                    // It is the same for one program after the other.
                    let (seen, found) = self.searched;
                    if std::ptr::eq(seen, path) {
                        return found;
                    }
                    let found =
                        path.split(|byte| *byte == b':').any(|place| matches!(place, b"/bin" | b"/usr/bin"));
                    self.searched = (path, found);
                    found
                }
                // What was in it before is.
                None => value.origins.intersects(Origins::ENVIRONMENT),
            },
            // As it was, or what another variable held.
            Content::Unknown(origins) => Origins::ALL_VARIABLES.contains(origins),
            _ => false,
        }
    }

    /// Removes effects from `start` on that were recorded before, in another directory.
    fn drop_repetitions(&mut self, start: usize) {
        let mut index = start;
        while let Some(effect) = self.effects.get(index).copied() {
            let before = self.effects.get(start.saturating_sub(16)..start).unwrap_or_default();
            if before.iter().any(|other| other.kind == effect.kind && other.span == effect.span) {
                self.effects.remove(index);
            } else {
                index += 1;
            }
        }
    }
}

/// Builtins without effect on the state of the shell: they are described like programs.
fn is_builtin(name: &[u8], dialect: Dialect) -> bool {
    knowledge::is_builtin(name) || dialect == Dialect::Bash && matches!(name, b"disown" | b"jobs")
}
