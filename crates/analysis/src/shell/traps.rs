//! Traps: commands that the shell runs at its end, on signals, on errors, or before every command (`trap`).
//!
//! They run at a time that is not known, in the state that the shell then has. So they are analysed when the shell that
//! set them is through: what was given another value after the trap was set is not known then, the rest is.

use super::Interpreter;
use super::flow::{ANY_ARGUMENTS, Flow, Whereabouts};
use super::functions::Frame;
use super::state::{Content, Flags, Slot, Space};
use crate::effect::Unknown;
use crate::value::Origins;
use shward_syntax::Span;

/// A trap that was set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trap<'a> {
    /// What is run.
    pub(super) text: &'a [u8],
    /// The word that carries it, in the command that was asked about.
    pub(super) span: Span,
    /// What the state's clock showed when it was set.
    pub(super) clock: u32,
    /// The flow when it was set.
    pub(super) flow: Flow<'a>,
    /// It runs only when the shell is at its end.
    pub(super) at_exit: bool,
}

impl<'a> Interpreter<'a, '_> {
    /// Runs a whole shell, and then the traps that it set.
    pub(super) fn with_traps<R>(&mut self, inner: impl FnOnce(&mut Self) -> R) -> R {
        let frames = self.frames.len();
        let traps = self.traps.len();
        self.frames.push(Frame::shell(self.state.mark()));
        let result = inner(self);
        self.frames.truncate(frames);
        while self.traps.len() > traps {
            let Some(trap) = self.traps.pop() else { break };
            self.spring(&trap);
        }
        result
    }

    fn spring(&mut self, trap: &Trap<'a>) {
        let mark = self.state.mark();
        self.budget.spend(self.state.size());
        let changed: Vec<_> = self.state.changed_since(trap.clock).collect();
        for (space, name, slot) in changed {
            let slot = match space {
                Space::Variable => Slot {
                    content: Content::Unknown(slot.origins().union(Origins::UNKNOWN)),
                    flags: slot.flags.without(Flags::GUESSED),
                },
                Space::Function => Slot { flags: slot.flags.with(Flags::MAYBE), ..slot },
                _ => continue,
            };
            self.state.set(space, name, slot);
        }
        let now = self.state.flow;
        let same = now.places == trap.flow.places;
        self.state.flow = Flow {
            places: if same { now.places } else { Whereabouts::at(None) },
            arguments: if now.arguments == trap.flow.arguments { now.arguments } else { &ANY_ARGUMENTS },
            last_argument: None,
            ended: false,
            quietly: false,
            may_have_ended: now.may_have_ended && !trap.at_exit,
            ..now
        };
        let before = self.state.mark();
        let run = |shell: &mut Self| {
            shell.frames.push(Frame::shell(before));
            shell.run_here(trap.text, None, trap.span);
            shell.frames.pop();
        };
        if trap.at_exit {
            run(self);
        } else {
            self.doubtful(run);
            if self.state.changes(&before) > 0
                || self.state.flow.without_status() != before.flow().without_status()
            {
                self.unknown(Unknown::Construct("a trap that changes the state of the shell"), trap.span);
            }
        }
        self.state.leave_subshell(&mark);
    }
}
