//! Simple commands: expansion, redirections, assignments, and what the command word names.

use super::Interpreter;
use super::branches::Ways;
use super::endings::is_special_builtin;
use super::flow::{Opt, last_of};
use super::redirect::Before;
use super::spare;
use super::state::{Content, Flags, Slot, Space};
use crate::effect::Unknown;
use crate::value::{Field, Origins, Value, contains};
use shward_syntax::{
    Assignment, AssignmentValue, Command, Dialect, Parameter, ParameterName, ParameterOperation, PartKind,
    Redirect, RedirectTarget, SimpleCommand, Span, Subscript, Word, WordPart,
};

/// A simple command, expanded.
#[derive(Debug, Clone)]
pub(super) struct Expanded<'t, 'a> {
    /// The argument list.
    pub(super) argv: &'a [Field<'a>],
    /// The array assignments among the arguments (`declare a=(…)`).
    pub(super) arrays: Vec<&'t Assignment<'t>>,
    /// The whole command, in the command that was asked about.
    pub(super) span: Span,
    /// The same in the text being run.
    pub(super) here: Span,
}

impl<'a> Interpreter<'a, '_> {
    /// Runs a simple command.
    pub(super) fn simple(&mut self, simple: &SimpleCommand<'_>, command: &Command<'_>) {
        if !simple.words.is_empty() && self.state.touched(Space::Alias).next().is_some() {
            self.alias(simple, command);
        }
        let (mut argv, arrays) = self.arguments(simple.words);
        self.note_renaming(simple.words);
        if let [name, action, _, ..] = argv.as_mut_slice()
            && action.value.known().is_none()
            && name.known() == Some(b"trap")
            && let Some(text) = simple.words.get(1).and_then(|word| self.late_text(word))
        {
            *action = Field { value: Value::text(text, Origins::LITERAL), many: false, ..*action };
        }
        let idle = match argv.as_slice() {
            [] => true,
            [only] => only.known() == Some(b":"),
            _ => false,
        };
        let assigned = if argv.is_empty() { simple.assignments.all() } else { &[] };
        // Where there is no command bash assigns before it redirects (`x=a > "$x"`), other shells do behind that.
        let first = self.dialect == Dialect::Bash;
        if first {
            assigned.iter().for_each(|assignment| self.assignment(assignment));
        } else if !assigned.is_empty() && command.redirects.iter().any(has_expansions) {
            self.unpredictable("an assignment before a redirection that may use it", command.span);
        }
        let before = match command.redirects.all() {
            [] => None,
            redirects if argv.is_empty() => Some(self.redirect(redirects, idle)),
            redirects => Some(self.redirect_perhaps_elsewhere(redirects, idle)),
        };
        if argv.is_empty() {
            if !first {
                assigned.iter().for_each(|assignment| self.assignment(assignment));
            }
            self.state.flow.places.forget_status();
            self.state.flow.last_argument = Some(Value::EMPTY);
        } else {
            let expanded = Expanded {
                // What it grew in is not needed while it runs.
                argv: spare::settled(self.arena, argv).0,
                arrays,
                span: self.span(command.span),
                here: command.span,
            };
            self.with_assignments(simple.assignments.all(), &expanded, before.as_ref());
            self.state.flow.last_argument = match expanded.argv.last() {
                Some(field) if !field.many && expanded.arrays.is_empty() => Some(field.value),
                // Where the last one may be none, it is one before.
                _ => {
                    let origins =
                        expanded.argv.iter().fold(Origins::NONE, |all, each| all | each.value.origins);
                    last_of(origins)
                }
            };
        }
        if let Some(before) = before {
            self.hear_inside(command);
            if std::mem::take(&mut self.keeps_redirections) {
                self.keep(&before);
            } else {
                self.restore(&before);
            }
        }
    }

    /// Expands the words of a simple command. The assignments among the arguments of a declaration builtin are not
    /// split (bash(1), "Assignment statements may also appear as arguments").
    fn arguments<'t>(&mut self, words: &'t [Word<'t>]) -> (Vec<Field<'a>>, Vec<&'t Assignment<'t>>) {
        let name = words.first().and_then(Word::bare);
        let declares = self.dialect == Dialect::Bash
            && matches!(
                name,
                Some(b"declare" | b"typeset" | b"export" | b"readonly" | b"local" | b"alias" | b"eval")
            );
        // Of its arguments only arrays are read as assignments.
        let evaluates = name == Some(b"eval");
        // Of its arguments all but arrays.
        let aliases = name == Some(b"alias");
        let declares_elsewhere = self.dialect == Dialect::Posix
            && matches!(name, Some(b"export" | b"readonly" | b"local" | b"alias"));
        let has_tilde = |part: &WordPart<'_>| match part.kind {
            PartKind::Literal(text) => text.contains(&b'~'),
            PartKind::Tilde(_) => true,
            _ => false,
        };
        if declares_elsewhere && let Some(word) = words.iter().find(|word| word.parts().iter().any(has_tilde))
        {
            // dash expands it where an assignment has it, and other shells do not.
            self.unpredictable("a tilde in a declaration of another shell than bash", word.span());
        }
        if !declares {
            let fields = self.fields(words);
            if declares_elsewhere
                && (fields.len() > words.len() || words.iter().any(|word| self.may_be_trimmed(word)))
            {
                // The shells of one system do not split what is assigned there, those of another do.
                self.unpredictable(
                    "a value with blanks in a declaration of another shell than bash",
                    Span::default(),
                );
            }
            return (fields, Vec::new());
        }
        if !self.budget.follows(words.len()) {
            return (Vec::new(), Vec::new());
        }
        let mut argv = Vec::with_capacity(words.len());
        let mut arrays = Vec::new();
        for word in words {
            match *word.parts() {
                [WordPart { kind: PartKind::ArrayAssignment(assignment), .. }] if !aliases => {
                    arrays.push(assignment);
                }
                _ if self.mentions(word, &arrays) => {
                    self.unpredictable(
                        "a declaration that uses an array which it has made before",
                        word.span(),
                    );
                    self.expand(word, &mut argv);
                }
                [WordPart { kind: PartKind::Literal(text), .. }, _, ..]
                    if !evaluates && is_assignment(text) =>
                {
                    let value = self.value(word);
                    argv.push(Field { value, span: self.span(word.span()), many: false });
                }
                _ => self.expand(word, &mut argv),
            }
        }
        (argv, arrays)
    }

    /// Whether a word without quotes takes over a value that splitting would make shorter.
    fn may_be_trimmed(&self, word: &Word<'_>) -> bool {
        let value = |space, name: &[u8]| match self.state.get(space, name).content {
            Content::Scalar(value) => value.known(),
            _ => None,
        };
        let separators = value(Space::Variable, b"IFS").unwrap_or(b" \t\n");
        word.parts().iter().any(|part| match part.kind {
            PartKind::Parameter(Parameter { name: ParameterName::Variable(name), .. }) => {
                value(Space::Variable, name)
                    .is_some_and(|text| text.iter().any(|byte| separators.contains(byte)))
            }
            _ => false,
        })
    }

    /// Whether a word may use one of these arrays, which are assigned before it is expanded.
    fn mentions(&self, word: &Word<'_>, arrays: &[&Assignment<'_>]) -> bool {
        if arrays.is_empty() || word.bare().is_some() {
            return false;
        }
        let text = self.text.get(word.span().start as usize..word.span().end as usize).unwrap_or_default();
        text.contains(&b'!') || arrays.iter().any(|array| contains(text, array.name))
    }

    /// Runs a command with the assignments before it in force.
    fn with_assignments(
        &mut self,
        assignments: &[Assignment<'_>],
        expanded: &Expanded<'_, 'a>,
        redirected: Option<&Before<'a>>,
    ) {
        if self.state.flow.options.may(Opt::Keyword)
            && (!expanded.arrays.is_empty()
                || expanded.argv.iter().any(|field| field.known().is_none_or(|text| text.contains(&b'='))))
        {
            self.unknown(
                Unknown::Construct("set -k takes assignments from among the arguments"),
                expanded.span,
            );
        }
        if assignments.is_empty() {
            self.dispatch(expanded, true);
            return;
        }
        if !expanded.arrays.is_empty() {
            self.unpredictable("an array that is declared behind an assignment", expanded.here);
        }
        let command = expanded.argv.first().and_then(Field::known);
        // dash keeps the assignments before a special builtin, and exports them only to what `exec` runs.
        let keeps = self.dialect == Dialect::Posix && command.is_some_and(is_special_builtin);
        let depth = self.environment.len();
        let mut hidden: Vec<(&'a [u8], Slot<'a>, bool)> = Vec::with_capacity(assignments.len());
        for assignment in assignments {
            let name = self.lasting(assignment.name);
            let before = self.state.get(Space::Variable, name);
            if before.flags.has(Flags::REFERENCE) {
                // What it stands for gets the value.
                self.unpredictable(
                    "an assignment through a name reference before a command",
                    assignment.span,
                );
            }
            let array = matches!(before.content, Content::Array(_))
                || [Flags::INDEXED, Flags::ASSOCIATIVE].into_iter().any(|kind| before.flags.has(kind));
            if array && self.is_local(name, 0) {
                // bash forgets what the local array held.
                self.unpredictable("an assignment to a local array before a command", assignment.span);
            }
            // What its own value assigns in passing stays.
            let restored = assignment.subscript.is_none() && !may_assign(&assignment.value);
            hidden.push((name, before, restored));
            // bash expands what is assigned before it redirects, dash behind that.
            let outside = redirected.filter(|_| runs_commands(&assignment.value));
            if outside.is_some() && self.dialect == Dialect::Posix {
                self.unpredictable("a substitution before a command with redirections", assignment.span);
            }
            if redirected.is_some() && !restored {
                self.unpredictable("an assignment in passing before redirections", assignment.span);
            }
            let inside = outside.map(|outside| self.exchange(outside.connections()));
            if self.dialect == Dialect::Bash && is_of_array(assignment) {
                // bash takes `a=(…)` for text here, and does not even expand `a[…]=…`.
                let mark = self.state.mark();
                let mut ways = Ways::from(&mark);
                self.doubtful(|shell| shell.assignment(assignment));
                self.add_way(&mut ways);
                self.state.rewind(&mark);
                self.join_ways(&mut ways);
                let flags = self.state.get(Space::Variable, name).flags;
                let content = Content::Unknown(Origins::UNKNOWN);
                self.state.set(Space::Variable, name, Slot { content, flags });
            } else {
                self.assignment(assignment);
            }
            if let Some(inside) = inside {
                self.exchange(inside);
            }
            let slot = self.state.get(Space::Variable, name);
            let flags = if keeps && command != Some(b"exec") {
                exported_perhaps(before.flags, slot.flags)
            } else {
                slot.flags.with(Flags::EXPORTED)
            };
            let flags = flags.with(Flags::TEMPORARY);
            self.state.set(Space::Variable, name, Slot { flags, ..slot });
            let value = match slot.content {
                Content::Scalar(value) => value,
                _ => Value::unknown(slot.origins()),
            };
            let span = self.span(assignment.span);
            self.judge_given(name, &value, span);
            self.environment.push((name, Field { value, span, many: false }));
        }
        self.dispatch(expanded, true);
        self.environment.truncate(depth);
        if keeps {
            for (name, before, _) in hidden {
                let slot = self.state.get(Space::Variable, name);
                let flags = exported_perhaps(before.flags, slot.flags);
                self.state.set(Space::Variable, name, Slot { flags, ..slot });
            }
        } else {
            for (name, before, restored) in hidden.into_iter().rev() {
                let now = self.state.get(Space::Variable, name);
                let slot = if now.flags.has(Flags::TEMPORARY) && restored {
                    before
                } else {
                    // The command has given it a value, which may be that of the variable behind the temporary one.
                    let flags = before.flags.joined(now.flags);
                    Slot { content: Content::Unknown(before.origins().union(now.origins())), flags }
                };
                self.state.set(Space::Variable, name, slot);
            }
        }
    }
}

/// What a variable's attributes are where some shells export it and others leave it what it was.
fn exported_perhaps(before: Flags, now: Flags) -> Flags {
    if before.has(Flags::EXPORTED) { now } else { now.with(Flags::EXPORTED).with(Flags::MAYBE) }
}

/// Whether where a redirection leads is not told by its text alone.
fn has_expansions(redirect: &Redirect<'_>) -> bool {
    match redirect.target {
        RedirectTarget::Word(word) => word.bare().is_none(),
        RedirectTarget::HereDocument(_) => false,
    }
}

/// Whether an assignment is one to an array or to an element of one.
const fn is_of_array(assignment: &Assignment<'_>) -> bool {
    assignment.subscript.is_some() || matches!(assignment.value, AssignmentValue::Array(_))
}

/// Whether expanding a value runs commands, which may read and write other things than its result.
fn runs_commands(value: &AssignmentValue<'_>) -> bool {
    match value {
        AssignmentValue::Scalar(word) => word.parts().iter().any(part_runs_commands),
        AssignmentValue::Array(elements) => {
            elements.iter().any(|element| element.value().parts().iter().any(part_runs_commands))
        }
    }
}

pub(super) fn part_runs_commands(part: &WordPart<'_>) -> bool {
    match part.kind {
        PartKind::DoubleQuoted(parts) | PartKind::Locale(parts) => parts.iter().any(part_runs_commands),
        PartKind::CommandSubstitution(_) | PartKind::ProcessSubstitution(_) => true,
        PartKind::Parameter(parameter) => {
            !matches!(parameter.operation(), ParameterOperation::None | ParameterOperation::Length)
                || parameter.subscript().is_some()
        }
        PartKind::Arithmetic(_) => true,
        _ => false,
    }
}

/// Whether expanding a value may give variables other values.
fn may_assign(value: &AssignmentValue<'_>) -> bool {
    let AssignmentValue::Scalar(word) = value else { return true };
    word.parts().iter().any(part_may_assign)
}

pub(super) fn part_may_assign(part: &WordPart<'_>) -> bool {
    match part.kind {
        PartKind::DoubleQuoted(parts) | PartKind::Locale(parts) => parts.iter().any(part_may_assign),
        PartKind::Parameter(parameter) => match parameter.operation() {
            ParameterOperation::None | ParameterOperation::Length => {
                matches!(parameter.subscript(), Some(Subscript::Index(_)))
            }
            ParameterOperation::Default { word, .. } => word.parts().iter().any(part_may_assign),
            _ => true,
        },
        PartKind::Arithmetic(_) => true,
        _ => false,
    }
}

/// Whether text begins like `name=` or `name[`.
fn is_assignment(text: &[u8]) -> bool {
    let name = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    name > 0
        && text.first().is_some_and(|byte| !byte.is_ascii_digit())
        && matches!(text.get(name), Some(b'=' | b'[') | Some(b'+'))
}
