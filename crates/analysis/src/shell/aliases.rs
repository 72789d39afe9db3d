//! Aliases: the command word is replaced by text, and the whole is read anew.
//!
//! bash expands them only with `expand_aliases`, dash always; both read line by line, so that an alias is in force from
//! the line after its definition. Where that is not certain, the command is analysed both with and without it.

use super::Interpreter;
use super::branches::Ways;
use super::flow::Opt;
use super::state::{Content, Flags, Slot, Space};
use crate::effect::Unknown;
use shward_syntax::{Command, Options, RedirectTarget, SimpleCommand, Span, Word};

impl<'a> Interpreter<'a, '_> {
    /// Defines an alias; `None` if its text is not known.
    pub(super) fn define_alias(&mut self, name: &'a [u8], text: Option<&'a [u8]>, span: Span) {
        if !is_plain(name) && self.state.flow.options.may(Opt::ExpandAliases) {
            self.unknown(ODD_NAME, span);
        }
        let content = match self.state.get(Space::Alias, name).content {
            // On the rest of a line that was read before, the old text is in force.
            Content::Alias { text: old, line } if line != self.line => {
                if old == text {
                    Content::Alias { text, line }
                } else {
                    any_text()
                }
            }
            _ => Content::Alias { text, line: self.line },
        };
        self.state.set(Space::Alias, name, Slot::of(content));
    }

    /// Removes an alias. What was read before, and what is not, cannot be told apart: it is one of unknown text from now on.
    pub(super) fn remove_alias(&mut self, name: &'a [u8]) {
        if let Content::Alias { .. } = self.state.get(Space::Alias, name).content {
            self.state.set(Space::Alias, name, Slot::of(any_text()));
        }
    }

    /// Aliases are expanded from now on.
    pub(super) fn begin_aliases(&mut self, span: Span) {
        if self.state.touched(Space::Alias).any(|(name, _)| !is_plain(name)) {
            self.unknown(ODD_NAME, span);
        }
    }

    /// Runs the command as its alias makes it, if it may be in force.
    pub(super) fn alias(&mut self, simple: &SimpleCommand<'_>, command: &Command<'_>) {
        let Some(word) = simple.words.first() else { return };
        let Some(name) = word.bare().map(|name| self.lasting(name)) else { return };
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
        // What leads out of the command would change the commands around it.
        let leads_out = |text: &[u8]| text.iter().any(|byte| b"\n;&|(){}#\\<`".contains(byte));
        let text = text.filter(|text| !here_documents && !leads_out(text));
        let options = Options { dialect: self.dialect, ..Options::default() };
        let complete = text.filter(|text| self.read_text(text, &options, |_, _, _| ()).is_ok());
        let around = (
            self.text.get(command.span.start as usize..word.span().start as usize),
            self.text.get(word.span().end as usize..command.span.end as usize),
        );
        let (Some(text), (Some(before), Some(after))) = (complete, around) else {
            self.unknown(Unknown::Construct("an alias"), span);
            return;
        };
        let is_alias = |word: &Word<'_>| {
            word.bare().is_some_and(|name| self.state.get(Space::Alias, name).content != Content::Initial)
        };
        let others = simple.words.get(1..).unwrap_or_default();
        if text.ends_with(b" ") && others.first().is_some_and(is_alias)
            || text.ends_with(b"\t") && others.iter().any(is_alias)
        {
            self.unknown(Unknown::Construct("an alias"), span);
        }
        if !self.budget.produce(before.len() + text.len() + after.len()) {
            return;
        }
        let whole = self.arena.alloc_slice_copy(&[before, text, after].concat());
        // An alias is not expanded again inside its own text.
        self.state.set(Space::Alias, name, Slot { flags: slot.flags.with(Flags::MAYBE), ..slot });
        let mark = self.state.mark();
        let mut ways = Ways::from(&mark);
        self.doubtful(|shell| shell.run_here(whole, None, span));
        self.add_way(&mut ways);
        self.state.rewind(&mark);
        self.join_ways(&mut ways);
        // It may have become another one on the way.
        let same = self.state.get(Space::Alias, name).content == slot.content;
        self.state.set(Space::Alias, name, if same { slot } else { Slot::of(any_text()) });
    }
}

/// Why an alias is not followed whose name may stand where no command is looked for.
const ODD_NAME: Unknown<'static> =
    Unknown::Construct("an alias of a word that the shell reads as something else");

/// An alias of which nothing is known but that it may be in force.
const fn any_text<'a>() -> Content<'a> {
    Content::Alias { text: None, line: u32::MAX }
}

/// Words that have a meaning where a command begins.
const RESERVED: &[&str] = &[
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
    "in", "select", "then", "time", "until", "while", "{", "}",
];

/// Whether a name is one that the parser takes for a command wherever the shell looks for aliases.
fn is_plain(name: &[u8]) -> bool {
    name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.+:@%,".contains(byte))
        && !RESERVED.iter().any(|word| word.as_bytes() == name)
}
