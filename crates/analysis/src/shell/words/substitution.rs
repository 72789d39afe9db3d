//! Command and process substitution: the commands are run, and what they write becomes text.

use super::Builder;
use crate::shell::Interpreter;
use crate::shell::flow::Port;
use crate::shell::io::SinkKind;
use crate::shell::racing::Aside;
use crate::shell::words::lookup::Got;
use crate::value::{Origins, Stream, Value};
use shward_syntax::{
    CommandKind, CommandSubstitution, Dialect, ProcessSubstitution, Redirect, RedirectOperator,
    RedirectTarget, Script, Span, SubstitutionForm,
};

impl<'a> Interpreter<'a, '_> {
    /// Runs a command substitution and puts what it writes into the word around it.
    pub(super) fn command_substitution(
        &mut self,
        substitution: &CommandSubstitution<'_>,
        span: Span,
        quoted: bool,
        builder: &mut Builder<'a>,
    ) {
        if !self.budget.repeats(2) || !self.budget.plan(1) || !self.budget.enter() {
            builder.unknown(quoted, Origins::UNKNOWN);
            return;
        }
        let script = &substitution.script;
        let before = self.invocations.len();
        let output = match substitution.form {
            SubstitutionForm::Dollar | SubstitutionForm::Backquote => match only_input(script) {
                Some(redirect) => self.isolated(|shell| shell.input_of(redirect)),
                // What its traps write is captured as well.
                None => self.capturing(|shell| shell.isolated(|shell| shell.script(script))),
            },
            SubstitutionForm::Current => self.capturing(|shell| shell.script(script)),
            SubstitutionForm::Reply => {
                self.script(script);
                let origins = match self.lookup(b"REPLY", span) {
                    Got::One(value, _) => value.origins,
                    Got::Unset => Origins::NONE,
                    Got::Any(origins, _) => origins,
                };
                Stream { text: None, origins, source: None }
            }
        };
        self.budget.leave();
        match output.text {
            Some(text) => {
                self.believes();
                let text = self.substituted(text);
                if quoted && !self.budget.has_room(text.len()) {
                    // The word is charged for it when it is done.
                    builder.too_much(text.len(), output.origins);
                } else {
                    builder.value(&Value::text(text, output.origins), quoted);
                }
            }
            None if self.printed(script, before, output.origins, quoted, builder) => {}
            None if output.origins == Origins::NAMES => builder.names(quoted),
            None => builder.unknown(quoted, output.origins),
        }
    }

    /// What a substitution makes of output: no NUL, no newlines at its end.
    fn substituted(&self, text: &'a [u8]) -> &'a [u8] {
        let end = text.iter().rposition(|byte| *byte != b'\n').map_or(0, |last| last + 1);
        let text = text.get(..end).unwrap_or_default();
        if text.contains(&0) {
            let kept: Vec<u8> = text.iter().copied().filter(|byte| *byte != 0).collect();
            return self.substituted(self.arena.alloc_slice_copy(&kept));
        }
        text
    }

    /// `$(<file)`
    fn input_of(&mut self, redirect: &Redirect<'_>) -> Stream<'a> {
        match redirect.target {
            RedirectTarget::Word(ref word) => {
                let path = self.target_word(word);
                let span = self.span(redirect.span);
                let read = self.read_file(&path, false, span);
                // Not every shell reads anything there.
                let text = read.text.filter(|_| self.dialect == Dialect::Bash);
                Stream { text, ..read }
            }
            RedirectTarget::HereDocument(_) => Stream::EMPTY,
        }
    }

    /// Runs a process substitution and gives the name that stands for it.
    pub(super) fn process_substitution(&mut self, substitution: &ProcessSubstitution<'_>) -> &'a [u8] {
        let number = self.number_of_substitution();
        let name = self.arena.alloc_str(&format!("/dev/fd/{number}")).as_bytes();
        if !self.budget.enter() {
            return name;
        }
        let script = &substitution.script;
        let moment = self.state.moment();
        if substitution.output {
            // What is written to it is not followed.
            let stdin = Stream { text: None, origins: Origins::UNKNOWN, source: None };
            self.aside(Aside::Job, |shell| {
                shell.isolated(|shell| {
                    let source = shell.io.open_source(stdin);
                    shell.set_standard(0, Port::Source(source));
                    shell.script(script);
                });
            });
            let sink = self.io.open_sink(SinkKind::Elsewhere, self.doubt_now(), None);
            self.io.name(number, Port::Sink(sink));
        } else {
            let (output, read) = self.aside(Aside::Job, |shell| {
                let output = shell.capturing(|shell| shell.isolated(|shell| shell.script(script)));
                (output, shell.scripts.looked_at())
            });
            let source = self.io.open_source(output);
            self.io.made_of(source, read);
            self.io.name(number, Port::Source(source));
        }
        self.beside(moment);
        self.budget.leave();
        name
    }
}

/// The redirection of a script that is nothing but `<file`.
fn only_input<'t>(script: &Script<'t>) -> Option<&'t Redirect<'t>> {
    let [item] = script.items else { return None };
    let ([], [stage]) = (item.list.rest, item.list.first.stages) else { return None };
    match (stage.command.kind, stage.command.redirects.all()) {
        (CommandKind::Simple(simple), [redirect])
            if simple.words.is_empty() && simple.assignments.is_empty() =>
        {
            (redirect.operator == RedirectOperator::Input && !item.background).then_some(redirect)
        }
        _ => None,
    }
}
