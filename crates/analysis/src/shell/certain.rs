//! Conditions whose outcome is known before they run: what would be assigned on the other way is not.
//!
//! What either way does is told all the same. Only what the shell holds behind it is that of the way that is gone.

use super::Interpreter;
use super::flow::Opt;
use super::state::{Content, Space};
use super::words::pattern::matches;
use crate::effect::{EffectKind, Rest};
use crate::session::Session;
use crate::value::{Origins, Value};
use crate::world::FileKind;
use shward_syntax::{
    AndOr, Command, CommandKind, Connector, Dialect, Parameter, ParameterName, ParameterOperation, PartKind,
    Pipeline, Script, Word, WordPart,
};

/// Longer texts and patterns are not held against each other, nor are patterns with more stars.
const LONGEST: usize = 256;
const MOST_STARS: usize = 3;

/// What is known of a word.
enum Told<'a> {
    /// All of it.
    Text(&'a [u8]),
    /// How it begins, if there is anything at all.
    Start(&'a [u8]),
}

impl<'a> Interpreter<'a, '_> {
    /// Whether a condition succeeds, if that is sure. Nothing is done for it.
    pub(super) fn certain(&mut self, condition: &Script<'_>) -> Option<bool> {
        let [item] = condition.items else { return None };
        if item.background || !self.budget.spend(1) || !self.budget.enter() {
            return None;
        }
        let known = self.certain_list(&item.list);
        self.budget.leave();
        known
    }

    fn certain_list(&mut self, list: &AndOr<'_>) -> Option<bool> {
        let mut known = self.certain_pipeline(&list.first)?;
        for (connector, pipeline) in list.rest {
            // One that is skipped may be anything.
            if known == (*connector == Connector::And) {
                known = self.certain_pipeline(pipeline)?;
            }
        }
        Some(known)
    }

    fn certain_pipeline(&mut self, pipeline: &Pipeline<'_>) -> Option<bool> {
        let [stage] = pipeline.stages else { return None };
        let known = self.certain_command(stage.command)?;
        Some(known != pipeline.negated)
    }

    fn certain_command(&mut self, command: &Command<'_>) -> Option<bool> {
        if !command.redirects.is_empty() {
            return None;
        }
        match &command.kind {
            CommandKind::BraceGroup(script) | CommandKind::Subshell(script) => self.certain(script),
            CommandKind::Simple(simple) if simple.assignments.is_empty() => {
                let (first, rest) = simple.words.split_first()?;
                let bracket = matches!(*first.parts(), [WordPart { kind: PartKind::Glob(b'['), .. }]);
                let name = if bracket { &b"["[..] } else { first.bare()? };
                let operands = match (name, rest) {
                    (b"[", [operands @ .., last]) if last.bare() == Some(b"]") => operands,
                    (b"test", operands) => operands,
                    _ => return None,
                };
                let itself = self.functions_named(self.lasting(name)).0.is_empty()
                    && self.state.get(Space::Alias, name).content == Content::Initial;
                if itself && self.budget.spend(operands.len()) { self.certain_test(operands) } else { None }
            }
            _ => None,
        }
    }

    /// `[ … ]`
    fn certain_test(&mut self, operands: &[Word<'_>]) -> Option<bool> {
        match operands {
            [left, operator, right] if self.compares(operator) => {
                let same = match (self.told(left)?, self.told(right)?) {
                    (Told::Text(one), Told::Text(other)) => one == other,
                    (Told::Start(start), Told::Text(text)) | (Told::Text(text), Told::Start(start)) => {
                        if text.is_empty() || text.starts_with(start) {
                            return None;
                        }
                        false
                    }
                    (Told::Start(_), Told::Start(_)) => return None,
                };
                Some(same == (operator.bare() != Some(b"!=")))
            }
            [not, rest @ ..] if not.bare() == Some(b"!") && matches!(rest, [_] | [_, _] | [_, _, _]) => {
                self.certain_test(rest).map(|known| !known)
            }
            [operator, word] => match operator.bare()? {
                b"-n" | b"-z" => {
                    let Told::Text(text) = self.told(word)? else { return None };
                    Some(text.is_empty() == (operator.bare() == Some(b"-z")))
                }
                b"-d" => {
                    let Told::Text(text) = self.told(word)? else { return None };
                    self.is_surely_directory(text).then_some(true)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a word says that two others are held against each other: dash does not know `==`.
    fn compares(&self, operator: &Word<'_>) -> bool {
        match operator.bare() {
            Some(b"=" | b"!=") => true,
            Some(b"==") => self.dialect == Dialect::Bash,
            _ => false,
        }
    }

    /// Whether there is a directory, and nothing was removed or got another name that may be it.
    fn is_surely_directory(&mut self, path: &'a [u8]) -> bool {
        if path.is_empty() || self.elsewhere || self.has_removed() {
            return false;
        }
        let target = self.target(&Value::text(path, Origins::LITERAL));
        target.rest == Rest::Exact && self.world.kind(target.path) == FileKind::Directory
    }

    /// What is known of a word that can be expanded any number of times.
    fn told(&mut self, word: &Word<'_>) -> Option<Told<'a>> {
        let parts = word.parts();
        if let Some(start) = self.told_by_machine(&parts) {
            return Some(Told::Start(start));
        }
        if !parts.iter().all(is_repeatable) {
            return None;
        }
        let text = self.value(word).known()?;
        // Without quotes it is one word, and no pattern.
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:@%+,".contains(byte);
        let quoted = |part: &WordPart<'_>| !matches!(part.kind, PartKind::Parameter(_));
        (parts.iter().all(quoted) || !text.is_empty() && text.iter().all(plain)).then_some(Told::Text(text))
    }

    /// `$OSTYPE`, which begins with the name of the system. A shell that does not set it has nothing there.
    fn told_by_machine(&self, parts: &[WordPart<'_>]) -> Option<&'a [u8]> {
        let inner = match parts {
            [WordPart { kind: PartKind::DoubleQuoted(inner), .. }] => inner,
            parts => parts,
        };
        let [WordPart { kind: PartKind::Parameter(parameter), .. }] = inner else { return None };
        let empty = match parameter.operation() {
            ParameterOperation::None => true,
            ParameterOperation::Default { word, .. } => word.parts().is_empty(),
            _ => false,
        };
        let own = parameter.name == ParameterName::Variable(b"OSTYPE")
            && empty
            && parameter.subscript().is_none()
            && !parameter.indirect()
            && self.state.get(Space::Variable, b"OSTYPE").content == Content::Initial
            && self.world.variable(b"OSTYPE").is_none_or(|told| told.is_none());
        let system = self.system().filter(|_| own)?;
        Some(&*self.arena.alloc_slice_copy(&system.to_ascii_lowercase()))
    }

    /// The name of the system on which it runs.
    pub(super) fn system(&self) -> Option<&'static [u8]> {
        if self.elsewhere { None } else { self.world.system() }
    }

    /// Whether something was removed, or got another name.
    pub(super) fn has_removed(&mut self) -> bool {
        self.budget.spend(self.effects.len() / 8);
        !self.removed.is_empty()
            || self.effects.iter().any(|effect| matches!(effect.kind, EffectKind::Delete { .. }))
    }

    /// Whether what a word matches is told by patterns alone.
    pub(super) const fn matches_by_text(&self) -> bool {
        !self.state.flow.options.may(Opt::OtherMatching)
    }

    /// Whether a text matches a pattern, if that is soon told.
    pub(super) fn fits(&mut self, pattern: &[u8], text: &[u8]) -> Option<bool> {
        let options = self.state.flow.options;
        let stars = pattern.iter().filter(|byte| **byte == b'*').count();
        let short = text.len() <= LONGEST && pattern.len() <= LONGEST && stars <= MOST_STARS;
        if !short || !self.budget.spend(1 + text.len() * stars / 4) {
            return None;
        }
        // What lies between two letters depends on the locale and on the version of the shell.
        if pattern.contains(&b'[') || options.may(Opt::ExtGlob) && pattern.contains(&b'(') {
            return None;
        }
        matches(pattern, text, false)
    }
}

/// Whether expanding a part does nothing, and gives the same again.
fn is_repeatable(part: &WordPart<'_>) -> bool {
    match part.kind {
        PartKind::Literal(text) => !text.iter().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'\\')),
        PartKind::Quoted(_) | PartKind::SingleQuoted(_) => true,
        PartKind::DoubleQuoted(parts) => parts.iter().all(is_repeatable),
        PartKind::Parameter(parameter) => is_plain(parameter),
        _ => false,
    }
}

fn is_plain(parameter: &Parameter<'_>) -> bool {
    parameter.subscript().is_none()
        && !parameter.indirect()
        && matches!(parameter.name, ParameterName::Variable(_) | ParameterName::Positional(_))
        && match parameter.operation() {
            ParameterOperation::None => true,
            ParameterOperation::Default { word, .. } | ParameterOperation::Alternative { word, .. } => {
                word.parts().iter().all(is_repeatable)
            }
            _ => false,
        }
}
