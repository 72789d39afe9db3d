//! Prompts that are kept in a variable and given back, as what activates a virtual environment does.

use super::rule::Prompt;
use super::tables::rule;
use crate::shell::Interpreter;
use crate::shell::state::{Content, Flags, Space};
use crate::shell::words::{Got, is_plain_prompt};
use shward_syntax::{Parameter, ParameterName, ParameterOperation, PartKind, Word, WordPart};

/// Whether a variable of this name is judged as a prompt.
pub(in crate::shell) fn is_prompt(name: &[u8]) -> bool {
    // Most names are not, and differ in their last bytes.
    name.ends_with(b"PROMPT") && matches!(rule(name), Prompt)
        || matches!(name, [.., b'P', b'S', b'0'..=b'4']) && matches!(rule(name), Prompt)
}

/// The text around the prompts of a word, as far as it has been read.
#[derive(Default)]
struct Around {
    /// What stands behind the last prompt.
    text: Vec<u8>,
    /// There was a prompt.
    given: bool,
}

impl Around {
    /// More text. False if it could go on with what a prompt before it ends with (`$` and `(`).
    fn put(&mut self, more: &[u8]) -> bool {
        let goes_on = self.given && self.text.is_empty() && !matches!(more, [] | [b' ' | b')', ..]);
        self.text.extend_from_slice(more);
        !goes_on
    }

    /// A prompt that runs nothing. False if it could go on with what stands before it.
    fn prompt(&mut self) -> bool {
        let apart = !(self.given && self.text.is_empty());
        let fits = apart && is_plain_prompt(&self.text) && !self.text.ends_with(b"$");
        self.text.clear();
        self.given = true;
        fits
    }
}

impl<'a> Interpreter<'a, '_> {
    /// Whether the value that a word gives a prompt is what another prompt holds, and beside it text that runs nothing: whatever has a
    /// name of a prompt was judged as one when it got its value, and what the environment held is no trap.
    pub(in crate::shell) fn is_prompt_given_back(&mut self, word: &Word<'_>) -> bool {
        let mut around = Around::default();
        self.reads_prompt(&word.parts(), &mut around) && around.given && is_plain_prompt(&around.text)
    }

    fn reads_prompt(&mut self, parts: &[WordPart<'_>], around: &mut Around) -> bool {
        parts.iter().all(|part| match part.kind {
            PartKind::DoubleQuoted(parts) => self.reads_prompt(parts, around),
            PartKind::Literal(text) | PartKind::Quoted(text) | PartKind::SingleQuoted(text) => {
                around.put(text)
            }
            PartKind::Parameter(parameter) => {
                if self.is_kept_prompt(parameter) {
                    around.prompt()
                } else {
                    self.reads_known(part, parameter, around)
                }
            }
            _ => false,
        })
    }

    /// `$x`, of which the value is known.
    fn reads_known(&mut self, part: &WordPart<'_>, parameter: &Parameter<'_>, around: &mut Around) -> bool {
        let ParameterName::Variable(name) = parameter.name else { return false };
        if !parameter.is_plain() || self.unsure > 0 {
            return false;
        }
        match self.lookup(self.lasting(name), part.span) {
            Got::One(value, _) => value.known().is_some_and(|text| around.put(text)),
            Got::Unset => true,
            Got::Any(..) => false,
        }
    }

    /// `$PS1`, `${PS1:-}`: a prompt that is no array, of which other elements may hold what was not judged, and no other name for
    /// something else.
    fn is_kept_prompt(&self, parameter: &Parameter<'_>) -> bool {
        let ParameterName::Variable(name) = parameter.name else { return false };
        let value = match parameter.operation() {
            ParameterOperation::None => true,
            ParameterOperation::Default { word, .. } => word.parts().is_empty(),
            _ => false,
        };
        let slot = self.state.get(Space::Variable, name);
        value
            && parameter.subscript().is_none()
            && !parameter.indirect()
            && is_prompt(name)
            && matches!(
                slot.content,
                Content::Initial | Content::Unset | Content::Scalar(_) | Content::Unknown(_)
            )
            && ![Flags::REFERENCE, Flags::INDEXED, Flags::ASSOCIATIVE]
                .iter()
                .any(|flag| slot.flags.has(*flag))
    }
}
