//! Redirections to one of many files that are there: whether anything of what was in it is in what it gets.

use super::Interpreter;
use crate::effect::{EffectKind, Rest};
use crate::value::Value;
use shward_syntax::{ParameterOperation, PartKind, Word, WordPart};

/// One of many files that are there, to which a redirection leads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Listed<'a> {
    pub(super) path: Value<'a>,
    /// How many effects and invocations there were when what is written there began to be made.
    pub(super) since: (usize, usize),
    /// It stands there as it was found, and nothing was put to its name.
    pub(super) bare: bool,
}

impl<'a> Interpreter<'a, '_> {
    /// Whether what is written to one of many files has nothing of what was in it: the program was to read the same file, which
    /// was emptied before it began; or all that was read is one and the same, whichever of the files is meant.
    pub(super) fn is_of_others(&mut self, listed: &Listed<'a>) -> bool {
        let (effects, invocations) = listed.since;
        let effects = self.effects.get(effects..).unwrap_or_default();
        let invocations = self.invocations.get(invocations..).unwrap_or_default();
        let words: usize = invocations.iter().map(|invocation| invocation.argv.len()).sum();
        if !self.budget.spend(effects.len() + words) {
            return false;
        }
        let mut words = invocations.iter().flat_map(|invocation| invocation.argv);
        let itself = words.clone().any(|word| word.value == listed.path);
        let mut read = effects.iter().filter_map(|effect| match effect.kind {
            EffectKind::Read { target } | EffectKind::List { target } => Some(target.rest == Rest::Exact),
            _ => None,
        });
        let reads = read.next();
        let one = reads == Some(true) && read.all(|one| one);
        let made = reads.is_none() && listed.bare && !invocations.is_empty();
        itself || (one || made) && words.all(|word| word.known().is_some())
    }
}

/// Whether a word is one expansion of a variable, and nothing beside it.
pub(super) fn is_bare(word: &Word<'_>) -> bool {
    let plain = |part: &WordPart<'_>| {
        let PartKind::Parameter(parameter) = part.kind else { return false };
        matches!(parameter.operation(), ParameterOperation::None)
    };
    match &*word.parts() {
        [WordPart { kind: PartKind::DoubleQuoted(parts), .. }] => parts.len() == 1 && parts.iter().all(plain),
        parts => parts.len() == 1 && parts.iter().all(plain),
    }
}
