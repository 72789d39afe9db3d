//! Redirections to one of many files that are there: whether anything of what was in it is in what it gets.

use super::Interpreter;
use crate::effect::{Effect, EffectKind, Rest, Target};
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
    /// was emptied before it began; or all that was read is one and the same, whichever of the files is meant. `opened` is what
    /// the redirections beside it read.
    pub(super) fn is_of_others(&mut self, listed: &Listed<'a>, opened: &[Value<'a>]) -> bool {
        let (since, invocations) = listed.since;
        let effects = self.effects.get(since..).unwrap_or_default();
        let invocations = self.invocations.get(invocations..).unwrap_or_default();
        let words: usize =
            invocations.iter().map(|invocation| invocation.argv.len() + invocation.env.len()).sum();
        if !self.budget.spend(effects.len() + words + opened.len()) {
            return false;
        }
        let mut words = invocations.iter().flat_map(|invocation| invocation.argv);
        // What a program is told by a variable may be another for each, as what it is told by a word.
        let mut told = invocations.iter().flat_map(|invocation| invocation.env);
        let itself = opened.contains(&listed.path) || words.clone().any(|word| word.value == listed.path);
        let mut read = effects.iter().filter_map(|effect| match effect.kind {
            EffectKind::Read { target } | EffectKind::List { target } => Some(target),
            _ => None,
        });
        let first = read.next();
        let is_one = |target: &Target<'a>| target.rest == Rest::Exact;
        let one = first.as_ref().is_some_and(is_one) && read.clone().all(|target| is_one(&target));
        let made = first.is_none() && listed.bare && !invocations.is_empty();
        let known =
            words.all(|word| word.known().is_some()) && told.all(|(_, value)| value.known().is_some());
        if itself || !known || !(one || made) {
            return itself;
        }
        let read: Vec<_> = first.into_iter().chain(read).collect();
        !self.is_made_before(since, &read)
    }

    /// Whether the command has itself written one of these files before, when it looked at one of many: that may be another for
    /// each.
    fn is_made_before(&mut self, since: usize, read: &[Target<'a>]) -> bool {
        let told = self.effects.get(..since).unwrap_or_default();
        let each = |effect: &Effect<'a>| match effect.kind {
            EffectKind::Read { target } => target.rest != Rest::Exact,
            _ => false,
        };
        // Without enough left to look for it, it counts as one for all.
        self.budget.spend(told.len() * (read.len() + 1))
            && told.iter().any(each)
            && told.iter().any(|effect| match effect.kind {
                EffectKind::Write { target, .. } => {
                    target.rest == Rest::Exact && read.iter().any(|read| read.path == target.path)
                }
                _ => false,
            })
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
