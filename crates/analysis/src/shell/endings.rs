//! Where a shell may end before its script does, and what that means for the shell around it.
//!
//! What follows in the same script is not run then, and takes nothing for granted that it may not. But what comes after a
//! subshell or a shell that was started sees files and output as they were when it ended: within such a one, what may
//! come behind its end is no longer certain.

use super::Interpreter;
use super::flow::{Opt, Options, Port};
use super::io::SinkKind;
use crate::session::Starting;
use crate::value::{Origins, Stream};
use shward_syntax::{
    AssignmentValue, Command, CommandKind, Dialect, PartKind, Pipeline, RedirectTarget, SimpleCommand, Span,
    Word, WordPart,
};

impl<'a> Interpreter<'a, '_> {
    /// What is being run may end the shell that runs it.
    pub(super) fn shell_may_end(&mut self) {
        self.state.flow.may_have_ended |= self.nested > 0;
        self.prints_at_exit(self.whole());
    }

    /// The shell is at its end, or may be: what a trap then prints goes where output goes just there.
    pub(super) fn prints_at_exit(&mut self, span: Span) {
        if self.awaits_exit() {
            for descriptor in [1, 2] {
                self.write_to(descriptor, Stream::unknown(Origins::UNKNOWN, span));
            }
        }
    }

    /// A pipeline is about to run: a trap, or what is not set, may end the shell.
    pub(super) fn judge_start(&mut self, pipeline: &Pipeline<'_>) {
        if (self.nested > 0 || self.awaits_exit())
            && (self.trapped || self.state.flow.options.may(Opt::NoUnset) && !expands_nothing_unset(pipeline))
        {
            self.shell_may_end();
        }
    }

    /// A pipeline has run: its failure may end the shell.
    pub(super) fn judge_failure(&mut self, pipeline: &Pipeline<'_>) {
        if (self.nested > 0 || self.awaits_exit())
            && (self.state.flow.options.may(Opt::ErrExit) || self.signalled)
            && !self.is_steady(pipeline)
        {
            self.shell_may_end();
        }
    }

    /// A special builtin has run, whose failure ends every shell but bash (POSIX, "Consequences of Shell Errors").
    pub(super) fn judge_special(&mut self, name: &[u8]) {
        if self.nested > 0 && self.dialect == Dialect::Posix && (is_special_builtin(name) || name == b"local")
        {
            self.shell_may_end();
        }
    }

    fn is_steady(&self, pipeline: &Pipeline<'_>) -> bool {
        match pipeline.stages {
            [stage] => !pipeline.negated && self.is_plain(stage.command),
            _ => false,
        }
    }

    /// Whether a command neither fails nor has anything to complain of.
    pub(super) fn is_plain(&self, command: &Command<'_>) -> bool {
        let CommandKind::Simple(simple) = &command.kind else { return false };
        command.redirects.is_empty() && self.is_plain_simple(simple)
    }

    /// The same without its redirections.
    pub(super) fn is_plain_simple(&self, simple: &SimpleCommand<'_>) -> bool {
        if !simple.assignments.is_empty() {
            return simple.words.is_empty()
                && simple.assignments.iter().all(|assignment| self.takes_any_text(assignment));
        }
        let Some((first, rest)) = simple.words.split_first() else { return true };
        let Some(name) = first.bare() else { return false };
        let plain = match (name, rest) {
            (b":" | b"true", _) => true,
            (b"echo", _) => self.takes_what_is_printed(),
            (b"printf", [format, ..]) => self.takes_what_is_printed() && is_plain_format(format),
            _ => false,
        };
        plain && self.is_itself(name) && rest.iter().all(|word| self.is_plain_word(word))
    }

    /// Whether what is printed goes where it can: no file, which may be full.
    fn takes_what_is_printed(&self) -> bool {
        let [_, out, _] = self.state.flow.standard;
        match out {
            Port::Terminal => true,
            Port::Sink(id) => matches!(self.io.sink(id), Some(SinkKind::Capture | SinkKind::Shown)),
            _ => false,
        }
    }

    /// Whether expanding a word can neither fail nor say anything.
    pub(super) fn is_plain_word(&self, word: &Word<'_>) -> bool {
        let options = self.state.flow.options;
        let parameters = !options.may(Opt::NoUnset);
        !options.may(Opt::FailGlob) && word.parts().iter().all(|part| is_plain_part(part, parameters))
    }
}

/// The options with which a shell starts, as far as they decide where it may end and what it says.
pub(super) fn started(options: &mut Options, how: Starting) {
    options.set(Opt::ExpandAliases, options.is(Opt::ExpandAliases) || how.interactive);
    if how.leaves_early {
        options.admit(Opt::ErrExit, true);
        options.admit(Opt::NoUnset, true);
    }
    if how.no_clobber {
        options.set(Opt::NoClobber, true);
    }
    if how.traces {
        options.admit(Opt::Talk, true);
    }
}

/// What the first line of a script asks the shell for that runs it.
pub(super) fn asked_for(text: &[u8]) -> bool {
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.starts_with(b"#!") && line.windows(2).any(|pair| matches!(pair, [b' ' | b'\t', b'-' | b'+']))
}

/// Whether a command is one of the special builtins of POSIX.
pub(super) const fn is_special_builtin(name: &[u8]) -> bool {
    matches!(
        name,
        b":" | b"."
            | b"eval"
            | b"exec"
            | b"exit"
            | b"export"
            | b"readonly"
            | b"return"
            | b"set"
            | b"shift"
            | b"trap"
            | b"unset"
            | b"break"
            | b"continue"
            | b"times"
    )
}

/// Whether no word of a pipeline holds a parameter that may not be set, or what may expand one.
fn expands_nothing_unset(pipeline: &Pipeline<'_>) -> bool {
    let is_plain = |word: &Word<'_>| word.parts().iter().all(|part| is_plain_part(part, false));
    pipeline.stages.iter().all(|stage| {
        let CommandKind::Simple(simple) = &stage.command.kind else { return false };
        simple.words.iter().all(is_plain)
            && simple.assignments.iter().all(|assignment| {
                assignment.subscript.is_none()
                    && matches!(&assignment.value, AssignmentValue::Scalar(word) if is_plain(word))
            })
            && stage
                .command
                .redirects
                .iter()
                .all(|redirect| matches!(&redirect.target, RedirectTarget::Word(word) if is_plain(word)))
    })
}

/// Whether a format of `printf` takes any argument.
fn is_plain_format(format: &Word<'_>) -> bool {
    let is_text = |part: &WordPart<'_>| match part.kind {
        PartKind::Literal(text) | PartKind::Quoted(text) | PartKind::SingleQuoted(text) => takes_any(text),
        PartKind::DoubleQuoted([]) => true,
        PartKind::DoubleQuoted([WordPart { kind: PartKind::Literal(text), .. }]) => takes_any(text),
        _ => false,
    };
    format.parts().iter().all(is_text)
}

fn takes_any(format: &[u8]) -> bool {
    let mut rest = format;
    if rest.starts_with(b"-") {
        return false;
    }
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        match rest.get(at + 1) {
            Some(b's' | b'%') => rest = rest.get(at + 2..).unwrap_or_default(),
            _ => return false,
        }
    }
    true
}

fn is_plain_part(part: &WordPart<'_>, parameters: bool) -> bool {
    match part.kind {
        PartKind::Literal(_)
        | PartKind::Quoted(_)
        | PartKind::SingleQuoted(_)
        | PartKind::AnsiC(_)
        | PartKind::Glob(_)
        | PartKind::Tilde(_) => true,
        PartKind::DoubleQuoted(parts) => parts.iter().all(|part| is_plain_part(part, parameters)),
        PartKind::Parameter(parameter) => {
            parameters
                && matches!(parameter.operation(), shward_syntax::ParameterOperation::None)
                && parameter.subscript().is_none()
                && !parameter.indirect()
        }
        _ => false,
    }
}
