//! `declare`, `local`, `export`, `readonly`, `unset`: variables and their attributes.

use super::Given;
use crate::effect::{Certainty, EffectKind};
use crate::shell::Interpreter;
use crate::shell::carriers::is_prompt;
use crate::shell::flow::Opt;
use crate::shell::functions::{Frame, FrameKind};
use crate::shell::simple::Expanded;
use crate::shell::state::{Content, Flags, Slot, Space};
use crate::shell::words::{Got, is_name};
use crate::value::{Field, Origins, Piece, Value};
use shward_syntax::{Assignment, AssignmentValue, Dialect, Span};

/// What a declaration asks for.
#[derive(Debug, Clone, Copy, Default)]
struct Wanted {
    add: Flags,
    remove: Flags,
    global: bool,
    local: bool,
    functions: bool,
    prints: bool,
    read_only: bool,
}

impl<'a> Interpreter<'a, '_> {
    /// `declare`, `typeset`, `local`, `export`, `readonly`
    pub(super) fn declare(&mut self, name: &[u8], command: &Expanded<'_, 'a>) {
        let mut wanted = Wanted::default();
        let frames = self.frames.get(self.outer_frames..).unwrap_or_default();
        if name == b"local" && !frames.iter().any(|frame| matches!(frame.kind, FrameKind::Function(_))) {
            // Outside of functions it fails, after its words were expanded.
            if !command.arrays.is_empty() {
                self.not_understood(
                    "an array assignment as an argument of local outside of a function",
                    command.span,
                );
            }
            return;
        }
        match name {
            b"export" => wanted.add = Flags::EXPORTED,
            b"readonly" => wanted.read_only = true,
            _ => wanted.local = true,
        }
        if self.dialect == Dialect::Posix && wanted.local && name != b"local" {
            // Where it is no builtin, what follows assigns to other variables than those it would have made.
            self.unpredictable("a declaration that not every shell has", command.here);
        }
        let mut arguments = command.argv.get(1..).unwrap_or_default();
        while let Some((field, rest)) = arguments.split_first() {
            let Some(text) = field.known() else { break };
            let (letters, on) = match text {
                b"--" => {
                    arguments = rest;
                    break;
                }
                [b'-', letters @ ..] if !letters.is_empty() => (letters, true),
                [b'+', letters @ ..] if !letters.is_empty() => (letters, false),
                _ => break,
            };
            let permitted: &[u8] = match name {
                b"export" => b"fnp",
                b"readonly" => b"aAfp",
                _ => b"aAcfFgiIlnprtux",
            };
            if letters.iter().any(|letter| !permitted.contains(letter))
                || !on && matches!(name, b"export" | b"readonly")
            {
                self.argument_unknown(field.span);
            }
            for letter in letters {
                let flag = match letter {
                    b'x' => Flags::EXPORTED,
                    b'i' => Flags::INTEGER,
                    b'n' if name == b"export" => {
                        wanted.add = wanted.add.without(Flags::EXPORTED);
                        wanted.remove = wanted.remove.with(Flags::EXPORTED);
                        continue;
                    }
                    b'n' => Flags::REFERENCE,
                    b'A' => Flags::ASSOCIATIVE,
                    b'a' => Flags::INDEXED,
                    b'l' | b'u' | b'c' => Flags::RECASED,
                    b'g' => {
                        wanted.global = true;
                        continue;
                    }
                    b'f' | b'F' => {
                        wanted.functions = true;
                        continue;
                    }
                    b'p' => {
                        wanted.prints = true;
                        continue;
                    }
                    b'r' => {
                        wanted.read_only |= on;
                        continue;
                    }
                    b'I' => {
                        self.not_understood("local -I takes over the value outside", field.span);
                        continue;
                    }
                    b't' => continue,
                    _ => {
                        self.argument_unknown(field.span);
                        continue;
                    }
                };
                if on {
                    wanted.add = wanted.add.with(flag);
                } else {
                    // `+u` leaves what `-l` gave.
                    wanted.remove = wanted.remove.with(flag.without(Flags::RECASED));
                }
            }
            arguments = rest;
        }
        if arguments.is_empty() && command.arrays.is_empty() {
            if wanted.functions {
                self.prints(Origins::LITERAL, command.span);
            } else {
                self.prints_environment(command.span);
            }
            return;
        }
        if wanted.prints {
            if arguments.iter().any(|field| self.holds_credential(field)) {
                self.shows_environment(command.span);
            }
            self.prints(Origins::ALL_VARIABLES, command.span);
            if wanted.local {
                // It declares nothing then, and takes an assignment for a name that there is not.
                let assigns = |field: &Field<'a>| field.known().is_none_or(|text| text.contains(&b'='));
                if !command.arrays.is_empty() || arguments.iter().any(assigns) {
                    self.argument_unknown(command.span);
                }
                return;
            }
        }
        if wanted.functions {
            self.prints(Origins::LITERAL, command.span);
        }
        for assignment in &command.arrays {
            let name = self.lasting(assignment.name);
            self.judge_global(name, wanted, assignment.span);
            self.declare_array(name, assignment, wanted);
            self.protect(name, wanted);
        }
        for field in arguments {
            self.declare_one(field, wanted, command.here);
            if let Some((name, ..)) = self.split_assignment(&field.value) {
                let name = crate::shell::assign::split_subscript(name).map_or(name, |(base, _)| base);
                self.protect(name, wanted);
            }
        }
    }

    /// Whether a word is, or may be, the name of a variable in which a credential is.
    fn holds_credential(&self, field: &Field<'a>) -> bool {
        let Some(name) = field.known() else { return true };
        let slot = self.state.get(Space::Variable, name);
        let kept = matches!(slot.content, Content::Initial);
        slot.origins().contains(Origins::CREDENTIAL)
            || kept && Origins::of_variable(name).contains(Origins::CREDENTIAL)
    }

    /// Makes a variable read-only, if that was asked for.
    fn protect(&mut self, name: &'a [u8], wanted: Wanted) {
        if wanted.read_only && !wanted.functions {
            let slot = self.state.get(Space::Variable, name);
            self.state.set(Space::Variable, name, Slot { flags: slot.flags.with(Flags::READ_ONLY), ..slot });
        }
    }

    /// `declare -g` where the global variable is not the one that is seen.
    fn judge_global(&mut self, name: &[u8], wanted: Wanted, here: Span) {
        if wanted.global && (self.is_given(name) || self.is_local(name, 0)) {
            self.unpredictable("a global variable behind another one", here);
        }
    }

    fn declare_array<'t>(&mut self, name: &'a [u8], assignment: &Assignment<'t>, wanted: Wanted) {
        self.shape(name, wanted, true, assignment.span);
        if let AssignmentValue::Array(elements) = assignment.value {
            self.assign_array(name, elements, assignment.append, assignment.span);
        } else {
            self.assignment(assignment);
        }
    }

    fn declare_one(&mut self, field: &Field<'a>, wanted: Wanted, here: Span) {
        if wanted.functions {
            if let Some(name) = field.known() {
                let slot = self.state.get(Space::Function, name);
                let added = if wanted.read_only { wanted.add.with(Flags::READ_ONLY) } else { wanted.add };
                let flags = slot.flags.with(added).without(wanted.remove);
                self.state.set(Space::Function, name, Slot { flags, ..slot });
            }
            return;
        }
        let Some((name, append, value)) = self.split_assignment(&field.value) else {
            self.argument_unknown(field.span);
            if field.value.known().is_none() {
                self.unpredictable("a builtin assigns to a variable whose name is not known", here);
            }
            return;
        };
        if field.many && field.value.has_unknown() {
            // More words may follow that are assignments of their own.
            self.unpredictable("a builtin assigns to variables whose names are not known", here);
        }
        if wanted.add.has(Flags::EXPORTED) && matches!(name, b"SHELLOPTS" | b"BASHOPTS") {
            self.unpredictable("options that every shell takes over that is started", here);
        }
        if !is_name(name) {
            if !wanted.local {
                // `export` and `readonly` take no elements.
                self.argument_unknown(field.span);
                return;
            }
            if name == b"-" {
                self.unpredictable("local - brings options back", here);
            }
            if let Some((base, subscript)) = crate::shell::assign::split_subscript(name) {
                self.shape(base, wanted, true, here);
                let Some(value) = value else {
                    // It becomes an array, and what it holds stays.
                    self.key_of_text(base, subscript, here);
                    let Slot { content, flags } = self.state.get(Space::Variable, base);
                    if !matches!(content, Content::Array(_)) {
                        let content = Content::Unknown(self.state.get(Space::Variable, base).origins());
                        self.state.set(Space::Variable, base, Slot { content, flags });
                    }
                    return;
                };
                self.assign_named(&Value::text(name, Origins::LITERAL), value, false, here);
            }
            return;
        }
        self.judge_global(name, wanted, here);
        if wanted.add.has(Flags::REFERENCE)
            && matches!(
                self.state.get(Space::Variable, name).content,
                Content::Array(_) | Content::Unknown(_)
            )
        {
            // An array does not become one, and goes on to be what it was.
            self.unpredictable("a reference made of what may be an array", here);
        }
        self.shape(name, wanted, value.is_some(), here);
        match value {
            Some(value) if wanted.add.has(Flags::REFERENCE) => {
                let flags = self.state.get(Space::Variable, name).flags;
                self.state.set(Space::Variable, name, Slot { content: Content::Scalar(value), flags });
            }
            Some(value) => {
                // `declare a='(1 2)'` on an array is evaluated as a compound assignment.
                let slot = self.state.get(Space::Variable, name);
                let array = [Flags::INDEXED, Flags::ASSOCIATIVE].iter().any(|kind| slot.flags.has(*kind))
                    || matches!(slot.content, Content::Array(_) | Content::Unknown(_));
                if array && value.known().is_none_or(|text| text.starts_with(b"(")) {
                    self.unpredictable("a compound assignment in quoted text", here);
                    self.assign_unknown(name, value.origins, here);
                } else if append {
                    self.append(name, value, here);
                } else {
                    self.assign(name, value, false, here);
                    if wanted.add.has(Flags::EXPORTED) {
                        let span = self.span(here);
                        self.judge_given(name, &value, span);
                    }
                }
            }
            None if wanted.add.has(Flags::EXPORTED) => {
                let value = match self.lookup(name, here) {
                    Got::One(value, _) => value,
                    // What the environment held is exported already.
                    Got::Unset | Got::Any(Origins::ENVIRONMENT, _) => return,
                    Got::Any(origins, _) => Value::unknown(origins),
                };
                // As a prompt it was judged when it got its value.
                if !is_prompt(name) {
                    self.judge_variable(name, &value, here);
                }
                let span = self.span(here);
                self.judge_given(name, &value, span);
            }
            None => {}
        }
    }

    /// Gives a variable its attributes, in the scope that the declaration asks for.
    fn shape(&mut self, name: &'a [u8], wanted: Wanted, assigned: bool, here: Span) {
        let mut slot = self.state.get(Space::Variable, name);
        let hidden = |frame: &Frame<'a>| frame.locals.iter().any(|(local, ..)| *local == name);
        if wanted.global && self.frames.iter().any(hidden) {
            // It is not the one that is seen here.
            self.unpredictable("a global variable that a local one hides", here);
        }
        let doubt = self.doubt_now();
        if wanted.local {
            self.budget.spend(self.frames.iter().map(|frame| frame.locals.len()).sum::<usize>() / 2);
        }
        let own = self.frames.get_mut(self.outer_frames..).unwrap_or_default();
        let function = own.iter().rposition(|frame| matches!(frame.kind, FrameKind::Function(_)));
        if wanted.local
            && !wanted.global
            && let Some(inner) = function.and_then(|index| own.get_mut(index..))
            && let new = !inner.iter().flat_map(|frame| &frame.locals).any(|(local, ..)| *local == name)
            // What a subshell inside of the function makes local ends with the subshell.
            && let Some(frame) =
                inner.iter_mut().rfind(|frame| !matches!(frame.kind, FrameKind::Loop | FrameKind::Source))
        {
            if new {
                // Where it may not have been reached, another value may be one outside.
                let sure = frame.doubt == doubt;
                let inside = self.environment.get(frame.environment..).unwrap_or_default();
                let outside = if inside.iter().any(|(given, _)| *given == name) {
                    // `x=1 local x`: what is seen now is not what is behind the local variable.
                    let given = self.environment.get(..frame.environment).unwrap_or_default();
                    let given = given.iter().any(|(given, _)| *given == name);
                    let flags = if given { slot.flags } else { slot.flags.without(Flags::TEMPORARY) };
                    Slot { content: Content::Unknown(slot.origins().union(Origins::UNKNOWN)), flags }
                } else {
                    slot
                };
                frame.locals.push((name, outside, sure));
            }
            if new && self.dialect == Dialect::Posix {
                // In dash it keeps its value, in the shell of busybox it starts unset.
                slot.content = Content::Unknown(slot.origins());
                slot.flags = slot.flags.without(Flags::GUESSED);
            }
            // A local variable starts unset, unless it is one already.
            if new && self.dialect == Dialect::Bash {
                // It has no attribute of the one outside but that it is exported, and that this one may be read-only. One
                // that was given before the call hands its value on.
                let given = slot.flags.has(Flags::TEMPORARY);
                let content = if given { Content::Unknown(slot.origins()) } else { Content::Unset };
                let kept =
                    [Flags::EXPORTED, Flags::READ_ONLY].into_iter().filter(|flag| slot.flags.has(*flag));
                slot = Slot { content, flags: kept.fold(Flags::NONE, Flags::with) };
            }
        }
        if slot.flags.has(Flags::REFERENCE) && !wanted.add.has(Flags::REFERENCE) {
            // Some attributes are given to what it stands for.
            self.unpredictable("a declaration of what is a reference", here);
        }
        let flags = slot.flags.with(wanted.add);
        if flags.has(Flags::REFERENCE)
            && ([Flags::RECASED, Flags::INTEGER, Flags::INDEXED, Flags::ASSOCIATIVE]
                .into_iter()
                .any(|kind| flags.has(kind))
                || matches!(slot.content, Content::Array(_)))
        {
            // It changes the name, or is refused.
            self.unpredictable("a reference with other attributes", here);
        }
        let arrays = [Flags::INDEXED, Flags::ASSOCIATIVE];
        if arrays.iter().any(|kind| wanted.remove.has(*kind))
            || arrays.iter().all(|kind| slot.flags.with(wanted.add).has(*kind))
        {
            // It fails, and the variable goes on to be what it was.
            self.unpredictable("an array that would be made something else", here);
        }
        if wanted.local
            && arrays.iter().any(|kind| wanted.add.has(*kind) && !slot.flags.has(*kind))
            && matches!(slot.content, Content::Scalar(_))
        {
            // bash forgets what the local variable held.
            slot.content = Content::Unknown(slot.origins());
        }
        slot.flags = slot.flags.with(wanted.add).without(wanted.remove).without(Flags::TEMPORARY);
        if wanted.add.has(Flags::EXPORTED)
            && ![Flags::INTEGER, Flags::ASSOCIATIVE].iter().any(|kind| slot.flags.has(*kind))
        {
            slot.flags = slot.flags.without(Flags::MAYBE);
        }
        if slot.content == Content::Unset && !assigned {
            slot.flags = slot.flags.with(Flags::DECLARED);
        }
        if wanted.local && !wanted.global && slot.content == Content::Unset && self.is_given(name) {
            // What stands before the call, and whatever was assigned to it since, is taken over.
            slot.content = Content::Unknown(Origins::UNKNOWN);
            slot.flags = slot.flags.without(Flags::DECLARED);
        }
        if wanted.add.has(Flags::EXPORTED) || wanted.read_only || self.state.flow.options.may(Opt::AllExport)
        {
            // One that stands before the call of the function gives its value to that outside of it then.
            for (_, outside, _) in self
                .frames
                .iter_mut()
                .flat_map(|frame| &mut frame.locals)
                .filter(|(local, ..)| *local == name)
            {
                outside.flags = outside.flags.without(Flags::TEMPORARY);
            }
        }
        self.state.set(Space::Variable, name, slot);
    }

    /// The name, `+` and value of an argument `name=value` or `name`.
    fn split_assignment(&mut self, argument: &Value<'a>) -> Option<(&'a [u8], bool, Option<Value<'a>>)> {
        let text = argument.known_prefix();
        let from = match text.iter().position(|byte| matches!(byte, b'[' | b'=')) {
            Some(at) if text.get(at) == Some(&b'[') => {
                at + text
                    .get(at..)?
                    .windows(2)
                    .position(|pair| matches!(pair, b"]=" | b"]+"))
                    .map_or(text.len(), |i| i + 1)
            }
            _ => 0,
        };
        let equals = text.get(from..).and_then(|rest| rest.iter().position(|byte| *byte == b'='));
        let Some(equals) = equals.map(|at| at + from) else {
            return argument.known().map(|name| (name, false, None));
        };
        let (name, append) = match text.get(..equals)? {
            [name @ .., b'+'] => (name, true),
            name => (name, false),
        };
        let after = text.get(equals + 1..)?;
        let mut pieces = Vec::with_capacity(argument.pieces().len());
        if !after.is_empty() {
            pieces.push(Piece::Text(after));
        }
        pieces.extend_from_slice(argument.pieces().get(1..).unwrap_or_default());
        let value = Value::of(self.arena, &pieces, argument.origins);
        Some((name, append, Some(value)))
    }

    /// `unset`
    pub(super) fn unset(&mut self, command: &Expanded<'_, 'a>) {
        let given = Given::read(command.argv, b"", b"fnv");
        if !given.sure {
            self.argument_unknown(command.span);
        }
        if given.has(b'f') && (given.has(b'v') || given.has(b'n')) {
            // It unsets nothing then.
            self.argument_unknown(command.span);
        }
        for field in given.operands {
            let Some(name) = field.known() else {
                self.argument_unknown(field.span);
                self.forget_variables();
                continue;
            };
            if given.has(b'f') {
                let slot = self.state.get(Space::Function, name);
                let kept = matches!(slot.content, Content::Functions(_)) && slot.flags.has(Flags::READ_ONLY);
                let left = Slot { flags: slot.flags.with(Flags::MAYBE), ..slot };
                self.state.set(Space::Function, name, if kept { left } else { Slot::INITIAL });
                continue;
            }
            if let Some((base, subscript)) = crate::shell::assign::split_subscript(name) {
                self.key_of_text(base, subscript, command.here);
                let origins = self.state.get(Space::Variable, base).origins();
                let flags = self.state.get(Space::Variable, base).flags;
                self.state.set(Space::Variable, base, Slot { content: Content::Unknown(origins), flags });
                continue;
            }
            if matches!(name, b"HISTFILE" | b"HISTSIZE" | b"HISTFILESIZE") {
                self.emit_here(EffectKind::System { what: "audit" }, field.span, Certainty::Certain);
            }
            if matches!(name, b"PWD" | b"OLDPWD") {
                self.unpredictable("the name of the working directory is unset", command.here);
            }
            if name == b"PATH" {
                // The shell then looks in the working directory.
                self.judge_variable(name, &Value::EMPTY, command.here);
            }
            if given.has(b'n') && !self.state.get(Space::Variable, name).flags.has(Flags::REFERENCE) {
                // It unsets references only.
                continue;
            }
            let target = if given.has(b'n') { Some(name) } else { self.dereference(name, command.here) };
            if let Some(target) = target {
                if self.hides(target) {
                    self.unpredictable("what is unset hides another variable of its name", command.here);
                }
                // Without `-v` a function of this name goes when there is no variable.
                let was = self.state.get(Space::Variable, target);
                // The shell may give it a value again.
                let kept = self.is_kept(target);
                let content = if kept { Content::Unknown(Origins::LITERAL) } else { Content::Unset };
                self.state.set(Space::Variable, target, Slot::of(content));
                if !given.has(b'v')
                    && matches!(was.content, Content::Initial | Content::Unset | Content::Unknown(_))
                {
                    let function = self.state.get(Space::Function, name);
                    if let Content::Functions(_) = function.content {
                        let flags = function.flags.with(Flags::MAYBE);
                        self.state.set(Space::Function, name, Slot { flags, ..function });
                    }
                }
            }
        }
    }
}
