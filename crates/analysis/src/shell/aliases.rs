//! Aliases: the command word is replaced by text, and the whole is read anew.
//!
//! bash expands them only with `expand_aliases`, dash always; both read line by line, so that an alias is in force from
//! the line after its definition. Where that is not certain, the command is analysed both with and without it.

use super::Interpreter;
use super::branches::Ways;
use super::flow::Opt;
use super::state::{Content, Flags, Slot, Space};
use crate::effect::Unknown;
use shward_syntax::{Command, Options, RedirectTarget, SimpleCommand, parse};

impl<'a> Interpreter<'a, '_> {
    /// Defines an alias; `None` if its text is not known.
    pub(super) fn define_alias(&mut self, name: &'a [u8], text: Option<&'a [u8]>) {
        let content = Content::Alias { text, line: self.line };
        self.state.set(Space::Alias, name, Slot::of(content));
    }

    /// Runs the command as its alias makes it, if it may be in force.
    pub(super) fn alias(&mut self, simple: &'a SimpleCommand<'a>, command: &'a Command<'a>) {
        let Some(word) = simple.words.first() else { return };
        let Some(name) = word.bare() else { return };
        let slot = self.state.get(Space::Alias, name);
        let Content::Alias { text, line } = slot.content else { return };
        if !self.state.flow.options.may(Opt::ExpandAliases) || slot.flags.has(Flags::MAYBE) {
            // Not in force, or being expanded.
            return;
        }
        if self.frames.len() <= 1 && self.line == line {
            return;
        }
        let span = self.span(command.span);
        let here_documents =
            command.redirects.iter().any(|r| matches!(r.target, RedirectTarget::HereDocument(_)));
        let text = text.filter(|text| !here_documents && !text.contains(&b'\n'));
        let options = Options { dialect: self.dialect, ..Options::default() };
        let complete = text.filter(|text| parse(self.arena, text, &options).is_ok());
        let around = (
            self.text.get(command.span.start as usize..word.span.start as usize),
            self.text.get(word.span.end as usize..command.span.end as usize),
        );
        let (Some(text), (Some(before), Some(after))) = (complete, around) else {
            self.unknown(Unknown::Construct("an alias"), span);
            return;
        };
        let next = simple.words.get(1).and_then(|word| word.bare());
        let next_alias =
            next.is_some_and(|next| self.state.get(Space::Alias, next).content != Content::Initial);
        if text.ends_with(b" ") && next_alias {
            self.unknown(Unknown::Construct("an alias"), span);
        }
        if !self.budget.produce(before.len() + text.len() + after.len()) {
            return;
        }
        let whole = self.arena.alloc_slice_copy(&[before, text, after].concat());
        // An alias is not expanded again inside its own text.
        self.state.set(Space::Alias, name, Slot { flags: slot.flags.with(Flags::MAYBE), ..slot });
        let mark = self.state.mark();
        let mut ways = Ways::from(mark);
        self.doubtful(|shell| shell.run_here(whole, None, span));
        self.add_way(&mut ways);
        self.state.rewind(&mark);
        self.join_ways(ways);
        self.state.set(Space::Alias, name, slot);
    }
}
