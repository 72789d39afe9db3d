//! Scripts, lists, pipelines and commands.

use super::Interpreter;
use super::branches::Ways;
use super::flow::{Opt, Port, Status};
use super::io::SinkKind;
use super::racing::Aside;
use super::state::{Moment, Racing, Space};
use crate::value::{Origins, Stream};
use shward_syntax::{
    Command, CommandKind, Item, PartKind, Pipeline, Redirect, RedirectOperator, RedirectTarget, Script,
    Stage, WordPart,
};

impl<'a> Interpreter<'a, '_> {
    /// Runs a script.
    pub(super) fn script(&mut self, script: &Script<'_>) {
        if self.reading {
            self.reading = false;
            self.read_lines(script.items, std::ptr::eq(self.text, self.source));
            self.reading = true;
            return;
        }
        self.items(script.items);
    }

    /// Runs items one after the other.
    pub(super) fn items(&mut self, items: &[Item<'_>]) {
        for item in items {
            if !self.budget.spend(1) {
                break;
            }
            self.item(item);
        }
    }

    fn item(&mut self, item: &Item<'_>) {
        if item.background {
            let moment = self.state.moment();
            self.aside(Aside::Job, |shell| {
                shell.isolated(|shell| {
                    // Nothing in a script; with job control, whatever the shell itself reads.
                    let stdin = Stream { text: None, ..Stream::EMPTY };
                    let source = shell.io.open_source(stdin);
                    if shell.state.flow.port(0) == Port::Terminal {
                        shell.set_standard(0, Port::Source(source));
                    }
                    shell.and_or(&item.list);
                })
            });
            self.beside(moment);
            self.state.flow.places.forget_status();
        } else {
            self.and_or(&item.list);
        }
    }

    /// Runs a pipeline.
    pub(super) fn pipeline(&mut self, pipeline: &Pipeline<'_>) {
        self.judge_start(pipeline);
        match pipeline.stages {
            [] => {}
            [stage] => self.command(stage.command),
            stages => self.beside_each_other(|shell| shell.stages(stages)),
        }
        if pipeline.timed {
            self.say();
        }
        self.judge_failure(pipeline);
        if pipeline.negated {
            self.conclude_news(false);
            self.state.flow.places.negate();
        }
    }

    /// Runs the stages of a pipeline, each in a subshell, with the output of one as the input of the next.
    fn stages(&mut self, stages: &[Stage<'_>]) {
        let mut input = self.state.flow.port(0);
        let upstream = self.upstream;
        self.upstream = upstream.or(Some((self.effects.len(), self.invocations.len())));
        let mut racing = Vec::new();
        for (index, stage) in stages.iter().enumerate() {
            if !self.budget.is_left() {
                // Nothing is run any more, and what would connect the rest only takes memory.
                break;
            }
            let last = index + 1 == stages.len();
            let moment = self.state.moment();
            let sink = self.io.open_sink(SinkKind::Capture, self.doubt_now(), None);
            let run = |shell: &mut Self| {
                shell.set_standard(0, input);
                if !last {
                    shell.set_standard(1, Port::Sink(sink));
                    if stage.pipes_stderr {
                        shell.set_standard(2, Port::Sink(sink));
                        // Messages are mixed with it.
                        shell.write_to(2, Stream { text: None, origins: Origins::LITERAL, source: None });
                    }
                }
                shell.command(stage.command);
            };
            if last && self.state.flow.options.may(Opt::LastPipe) {
                let mark = self.state.mark();
                let standard = self.state.flow.standard;
                run(self);
                self.state.flow.standard = standard;
                let mut ways = Ways::from(&mark);
                self.add_way(&mut ways);
                self.state.leave_subshell(&mark);
                self.join_ways(&mut ways);
            } else {
                let how = if last { Aside::No } else { Aside::Stage };
                // Its messages may go where nobody reads, and end it in the midst of what it prints elsewhere.
                let outer = stage.pipes_stderr.then(|| self.io.interrupted(true));
                self.aside(how, |shell| shell.isolated(run));
                if let Some(outer) = outer
                    && !self.signalled
                {
                    self.io.interrupted(outer);
                }
            }
            if !last {
                let output = self.io.collected(self.arena, sink);
                input = Port::Source(self.io.open_pipe(output));
                racing.extend(self.beside(moment));
            }
            self.io.retire(sink);
        }
        self.upstream = upstream;
        self.state.settle(&racing);
        self.state.flow.places.forget_status();
    }

    /// What was run since then runs beside what follows: what it writes is there at some time.
    pub(super) fn beside(&mut self, since: Moment) -> Vec<Racing<'a>> {
        self.budget.spend(self.state.changes(since));
        self.state.share_files(since)
    }

    /// Runs a command.
    pub(super) fn command(&mut self, command: &Command<'_>) {
        if !self.budget.run_command() {
            return;
        }
        let names = self.io.names();
        if command.redirects.iter().any(may_fail) {
            // Then it is not run: neither is the directory changed, nor a variable assigned, nor the shell left.
            let (mark, before) = (self.state.mark(), self.state.flow);
            // What it writes to a descriptor that was open before may not come either.
            self.conditional += 1;
            self.fallible += 1;
            self.redirected(command);
            self.fallible -= 1;
            self.conditional -= 1;
            let after = self.state.flow;
            let kept = before.places == after.places
                && (before.ended, before.may_have_ended, before.skips)
                    == (after.ended, after.may_have_ended, after.skips)
                && before.arguments == after.arguments
                && before.options == after.options;
            // A file that was not written is not there to be read either, or is what `fallible` makes of it.
            self.budget.spend(self.state.changes(mark.moment()));
            if !(kept && self.state.changed_only(Space::File, &mark)) {
                let ran = self.state.branch(&mark);
                self.budget.spend(ran.size());
                self.state.rewind(&mark);
                self.state.flow.places.forget_status();
                self.state.join(&mark, &ran);
            }
        } else {
            self.redirected(command);
        }
        self.hear(command);
        self.io.forget_names(names);
        self.budget.leave();
    }

    fn redirected(&mut self, command: &Command<'_>) {
        match &command.kind {
            CommandKind::Simple(simple) => self.simple(simple, command),
            CommandKind::Function(function) => self.define(function),
            kind if command.redirects.is_empty() => self.compound(kind, command),
            kind => {
                let before = match kind {
                    CommandKind::Subshell(_) => {
                        self.redirect_perhaps_elsewhere(command.redirects.all(), false)
                    }
                    _ => self.redirect(command.redirects.all(), false),
                };
                self.compound(kind, command);
                self.hear_inside(command);
                self.restore(&before);
            }
        }
    }

    fn compound(&mut self, kind: &CommandKind<'_>, command: &Command<'_>) {
        match kind {
            CommandKind::Simple(_) | CommandKind::Function(_) => {}
            CommandKind::BraceGroup(script) => self.script(script),
            CommandKind::Subshell(script) => {
                self.isolated(|shell| shell.script(script));
                self.state.flow.places.forget_status();
            }
            CommandKind::If(node) if self.budget.repeats(4) => self.conditional(node),
            CommandKind::While(node) | CommandKind::Until(node) => self.while_loop(node),
            CommandKind::For(node) => self.for_loop(node),
            CommandKind::Select(node) => self.select(node),
            CommandKind::ArithmeticFor(node) => self.arithmetic_for(node),
            CommandKind::Case(node) if self.budget.repeats(4) => self.case(node),
            CommandKind::If(_) | CommandKind::Case(_) => {}
            CommandKind::Conditional(node) => {
                self.test(node.expression);
                self.state.flow.places.forget_status();
            }
            CommandKind::Arithmetic(expression) => {
                self.arithmetic(expression);
                self.state.flow.places.forget_status();
            }
            CommandKind::Coprocess(node) => {
                let moment = self.state.moment();
                self.aside(Aside::Job, |shell| {
                    shell.isolated(|shell| {
                        let stdin = Stream { text: None, origins: Origins::UNKNOWN, source: None };
                        let source = shell.io.open_source(stdin);
                        shell.set_standard(0, Port::Source(source));
                        let sink = shell.io.open_sink(SinkKind::Elsewhere, shell.doubt_now(), None);
                        shell.set_standard(1, Port::Sink(sink));
                        shell.command(node.body);
                    })
                });
                self.beside(moment);
                self.state.flow.places.conclude(Status::Success);
                let name = self.lasting(node.name.unwrap_or(b"COPROC"));
                match self.dereference(name, command.span) {
                    Some(name) => self.set_coprocess(name),
                    None => self.unpredictable("a coprocess whose name is not known", command.span),
                }
            }
        }
    }
}

/// Whether a redirection may fail, so that its command is not run: a file may be missing or forbidden, a descriptor closed.
pub(super) fn may_fail(redirect: &Redirect<'_>) -> bool {
    let RedirectTarget::Word(word) = &redirect.target else { return false };
    match redirect.operator {
        RedirectOperator::HereString | RedirectOperator::HereDocument => false,
        RedirectOperator::DuplicateInput | RedirectOperator::DuplicateOutput => {
            !matches!(word.bare(), Some(b"0" | b"1" | b"2" | b"-"))
        }
        // What stands for a process substitution is a pipe that the shell has just opened.
        _ => {
            let pipe = matches!(*word.parts(), [WordPart { kind: PartKind::ProcessSubstitution(_), .. }]);
            !pipe && word.bare() != Some(b"/dev/null")
        }
    }
}
