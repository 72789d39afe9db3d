//! What a shell itself says on standard error: that something failed, and with `set -x` or `-v` what it runs.
//!
//! A message quotes what it complains of: where it goes into a file or a substitution, it is text of the command's own.

use super::Interpreter;
use super::flow::{Opt, Port};
use super::io::SinkKind;
use super::run::may_fail;
use super::state::{Content, Space};
use crate::value::{Origins, Stream};
use shward_syntax::{Command, CommandKind, Descriptor, Redirect, RedirectOperator, RedirectTarget};

impl<'a> Interpreter<'a, '_> {
    /// A command has run, here or within its redirections: where its messages are kept, nobody knows which came.
    pub(super) fn hear(&mut self, command: &Command<'_>) {
        if self.is_heard() && (self.complain(command.redirects.all()) || !self.is_silent(command)) {
            self.say();
        }
    }

    /// The same within its redirections. Of these, what stands behind the one that leads messages elsewhere is told there.
    pub(super) fn hear_inside(&mut self, command: &Command<'_>) {
        if command.redirects.is_empty() || !self.is_heard() {
            return;
        }
        let last = command.redirects.iter().rposition(leads_errors);
        let behind: &[Redirect<'_>] =
            last.and_then(|last| command.redirects.get(last + 1..)).unwrap_or_default();
        if self.complain(behind) || !self.is_silent(command) {
            self.say();
        }
    }

    /// Whether there may be something to say of redirections.
    fn complain(&self, redirects: &[Redirect<'_>]) -> bool {
        redirects.iter().any(|redirect| {
            may_fail(redirect)
                || match redirect.target {
                    RedirectTarget::Word(word) => !self.is_plain_word(&word),
                    RedirectTarget::HereDocument(document) => !document.quoted,
                }
        })
    }

    /// Whether what goes to standard error is kept.
    fn is_heard(&self) -> bool {
        let [_, _, port] = self.state.flow.standard;
        match port {
            Port::Terminal | Port::Closed => self.traces_elsewhere(),
            // Nothing of it is read again.
            Port::Sink(id) | Port::Both(_, id) => self.io.sink(id) != Some(SinkKind::Network),
            _ => true,
        }
    }

    /// The shell says something.
    pub(super) fn say(&mut self) {
        if self.is_heard() {
            let told = Stream { text: None, origins: Origins::LITERAL, source: None };
            self.write_to(2, told);
            if self.traces_elsewhere() {
                self.write_to_port(Port::Unknown, told);
            }
        }
    }

    /// Whether what is run is told on another descriptor than that of standard error.
    fn traces_elsewhere(&self) -> bool {
        self.state.flow.options.may(Opt::Talk)
            && self.state.get(Space::Variable, b"BASH_XTRACEFD").content != Content::Initial
    }

    /// Whether the shell has nothing to say of a command, the commands in it and its redirections aside.
    fn is_silent(&self, command: &Command<'_>) -> bool {
        if self.signalled || self.state.flow.options.may(Opt::Talk) {
            return false;
        }
        match &command.kind {
            CommandKind::Simple(simple) => self.is_plain_simple(simple),
            CommandKind::BraceGroup(_)
            | CommandKind::Subshell(_)
            | CommandKind::If(_)
            | CommandKind::While(_)
            | CommandKind::Until(_) => true,
            CommandKind::For(node) => {
                node.words.iter().flat_map(|words| words.iter()).all(|word| self.is_plain_word(word))
            }
            CommandKind::Case(node) => self.is_plain_word(&node.word),
            _ => false,
        }
    }
}

/// Whether a redirection is one of standard error.
fn leads_errors(redirect: &Redirect<'_>) -> bool {
    let both = matches!(
        redirect.operator,
        RedirectOperator::OutputBoth | RedirectOperator::AppendBoth | RedirectOperator::DuplicateOutput
    );
    match redirect.descriptor {
        Descriptor::Default => both,
        Descriptor::Number(number) => number == 2,
        Descriptor::Variable(_) => false,
    }
}
