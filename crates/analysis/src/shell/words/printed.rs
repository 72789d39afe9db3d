//! Substitutions of which the kind of text is known, though not the text: a number, a date, a commit, the last name of a path.

use super::Interpreter;
use super::builder::{Builder, Mode};
use crate::effect::{Effect, EffectKind, Rest, Scope, WriteMode};
use crate::knowledge::{Printed, base_name_printed, locates, makes_file, notes_process, prints};
use crate::session::Session;
use crate::shell::links::below;
use crate::shell::state::{Content, Space};
use crate::value::{Field, Origins, Value};
use shward_syntax::{
    CommandKind, Descriptor, PartKind, Redirect, RedirectOperator, RedirectTarget, Script, WordPart,
};

/// A program that was started.
struct Started<'a> {
    argv: &'a [Field<'a>],
    /// It is the program that its name says.
    found: bool,
    /// It surely was; otherwise nothing may be printed.
    surely: bool,
}

impl<'a> Interpreter<'a, '_> {
    /// Puts what a script printed into the word around it, if it is a text of a known kind: the last command of its only
    /// list is a program that prints nothing else, and it was that program, not a function or an alias of its name or what
    /// the working directory has of it. False: it is not known.
    pub(super) fn printed(
        &mut self,
        script: &Script<'_>,
        before: usize,
        origins: Origins,
        quoted: bool,
        builder: &mut Builder<'a>,
    ) -> bool {
        if builder.mode() == Mode::Pattern {
            return false;
        }
        let Some(started) = self.started_last(script, before) else { return false };
        if started.found
            && makes_file(started.argv)
            && self.state.get(Space::Variable, b"TMPDIR").content == Content::Initial
        {
            builder.fresh(quoted, origins);
            return true;
        }
        if builder.lone
            && matches!(builder.mode(), Mode::Fields | Mode::Single)
            && let Some(path) = self.program_printed(&started)
        {
            // Where there is none, nothing is left of the word, or it is empty.
            match self.finds_surely(&started) {
                true => builder.value(&path, quoted),
                false if builder.mode() == Mode::Fields => builder.perhaps(&path, quoted),
                false => builder.unknown(quoted, path.origins),
            }
            return true;
        }
        if let Some((name, surely)) = base_name_printed(self.arena, started.argv) {
            match surely && started.surely {
                true => builder.value(&name, quoted),
                false => builder.word(quoted, name.origins, false, true),
            }
            return true;
        }
        if origins == Origins::FILE && self.notes_process(started.argv) {
            builder.unknown(quoted, Origins::NOTED.union(Origins::FILE));
            return true;
        }
        let Some((kind, always)) = prints(started.argv) else { return false };
        let single = builder.mode() == Mode::Single;
        match (kind, always && started.surely) {
            (Printed::Number, true) => builder.number(quoted, origins),
            (Printed::Number, false) if single => builder.trusted(origins),
            (Printed::Number | Printed::Word, surely) => builder.word(quoted, origins, surely, !surely),
            (Printed::Words, _) => builder.word(quoted, origins, false, true),
            // It is one word, whatever it says.
            (Printed::Name, _) => builder.name(quoted, origins),
        }
        true
    }

    /// The path of a program that is looked for by its name, where nothing is known of the machine where programs are on
    /// most.
    fn program_printed(&mut self, started: &Started<'a>) -> Option<Value<'a>> {
        let name = locates(started.argv).filter(|_| started.found)?;
        // Of these, something else is printed.
        let aliased = matches!(self.state.get(Space::Alias, name).content, Content::Alias { .. });
        let hashed = self.state.get(Space::Command, name).content != Content::Initial;
        if aliased || hashed || !self.functions_named(name).0.is_empty() {
            return None;
        }
        let path = match self.world.program(name) {
            Some(Some(path)) => self.arena.alloc_slice_copy(&path),
            // Whoever runs the command may find another one, or nothing: that names no file.
            Some(None) => return None,
            None => self.arena.alloc_slice_copy(&[b"/usr/bin/", name].concat()),
        };
        Some(Value::text(path, Origins::FILE))
    }

    /// Whether the machine has the program that is looked for, and the one that looks for it.
    fn finds_surely(&self, started: &Started<'a>) -> bool {
        let has = |name: &[u8]| matches!(self.world.program(name), Some(Some(_)));
        let looks = started.argv.first().and_then(Field::known);
        let looks = looks.is_some_and(|name| matches!(name, b"command" | b"type") || has(name));
        started.surely && looks && locates(started.argv).is_some_and(has)
    }

    /// Whether it shows a file of the workspace in which the number of a process is kept, by its name.
    fn notes_process(&mut self, argv: &[Field<'a>]) -> bool {
        let Some(file) = notes_process(argv) else { return false };
        let target = self.target(&file.value);
        // What is unpacked, or linked, may be it.
        if !self.budget.spend(self.effects.len()) {
            return false;
        }
        let touches = |effect: &Effect<'a>| match effect.kind {
            EffectKind::Write { target: other, mode, .. } => {
                let around = other.tree || mode == WriteMode::Below || other.rest != Rest::Exact;
                other.path == target.path || around && below(target.path, other.path).is_some()
            }
            _ => false,
        };
        target.rest == Rest::Exact
            && matches!(target.scope, Scope::Workspace | Scope::Product)
            && self.written_origins(&target).is_empty()
            && !self.effects.iter().any(touches)
    }

    /// The program that a script consists of.
    fn started_last(&self, script: &Script<'_>, before: usize) -> Option<Started<'a>> {
        let [item] = script.items else { return None };
        let ([], Some(last)) = (item.list.rest, item.list.first.stages.last()) else { return None };
        let CommandKind::Simple(simple) = last.command.kind else { return None };
        if !simple.assignments.is_empty() {
            return None;
        }
        let [WordPart { kind: PartKind::Literal(program) | PartKind::SingleQuoted(program), .. }] =
            *simple.words.first()?.parts()
        else {
            return None;
        };
        // What starts other programs would have told of them last.
        let argv = self.invocations.get(before..)?.last()?.argv;
        if argv.first()?.known() != Some(program) || simple.words.len() != argv.len() {
            return None;
        }
        let aliased = matches!(self.state.get(Space::Alias, program).content, Content::Alias { .. });
        if self.searches_workspace || aliased || !self.functions_named(program).0.is_empty() {
            return None;
        }
        // Traps that run between commands print there, too.
        if self.has_traps_between() {
            return None;
        }
        // Complaints are no part of what it prints, if they are thrown away.
        if !last.command.redirects.iter().all(|redirect| match redirect.operator {
            RedirectOperator::Input | RedirectOperator::HereDocument | RedirectOperator::HereString => true,
            RedirectOperator::Output => redirect.descriptor == Descriptor::Number(2) && is_nowhere(redirect),
            _ => false,
        }) {
            return None;
        }
        let found = self.state.get(Space::Variable, b"PATH").content == Content::Initial
            && self.state.get(Space::Command, program).content == Content::Initial;
        let found = found && !self.locked;
        Some(Started { argv, found, surely: found && last.command.redirects.is_empty() })
    }
}

/// Whether a word is one command substitution, quoted or not.
pub(super) fn is_substitution(parts: &[WordPart<'_>]) -> bool {
    let is_one =
        |parts: &[WordPart<'_>]| matches!(parts, [WordPart { kind: PartKind::CommandSubstitution(_), .. }]);
    match parts {
        [WordPart { kind: PartKind::DoubleQuoted(parts), .. }] => is_one(parts),
        parts => is_one(parts),
    }
}

/// Whether it leads to where everything is thrown away.
fn is_nowhere(redirect: &Redirect<'_>) -> bool {
    let RedirectTarget::Word(word) = &redirect.target else { return false };
    matches!(*word.parts(), [WordPart { kind: PartKind::Literal(b"/dev/null"), .. }])
}
