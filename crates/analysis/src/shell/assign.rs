//! Assignments: to variables, array elements and whole arrays, with the attributes that change what is assigned.

use super::carriers::is_prompt;
use super::filling::{Filling, before};
use super::flow::Opt;
use super::lines::is_some_text;
use super::simple::{part_may_assign, part_runs_commands};
use super::state::{Content, Element, Flags, Slot, Space, is_decimal, join_slots};
use super::words::{Got, Known};
use super::{Interpreter, spare};
use crate::effect::Unknown;
use crate::value::{Field, Origins, Piece, Value};
use shward_syntax::{
    Arithmetic, ArrayElement, Assignment, AssignmentValue, Dialect, PartKind, Span, WordPart,
};

/// Elements of an array beyond which setting one costs more for each.
const USUAL_ELEMENTS: usize = 64;

impl<'a> Interpreter<'a, '_> {
    /// Performs an assignment that stands in the script.
    pub(super) fn assignment(&mut self, assignment: &Assignment<'_>) {
        if !self.budget.spend(4) || !self.budget.repeats(1) {
            return;
        }
        let (name, span) = (self.lasting(assignment.name), assignment.span);
        match (&assignment.value, &assignment.subscript) {
            (AssignmentValue::Scalar(word), None) => {
                let given_back = !assignment.append && is_prompt(name) && self.is_prompt_given_back(word);
                let (value, kind) = self.value_and_kind(word);
                if assignment.append {
                    self.append(name, value, span);
                } else {
                    self.gives_prompt_back = given_back;
                    self.assign(name, value, kind == Known::Number, span);
                    self.gives_prompt_back = false;
                }
                if kind == Known::Trusted && !assignment.append {
                    self.trust(name);
                }
            }
            (AssignmentValue::Scalar(word), Some(subscript)) => {
                let value = self.value(word);
                self.note_alias_array(name, subscript, value, span);
                let key = self.key_to_assign(name, subscript);
                if assignment.append {
                    self.assign_element(name, key, Value::unknown(value.origins), span);
                } else {
                    self.assign_element(name, key, value, span);
                }
            }
            (AssignmentValue::Array(elements), None) => {
                self.assign_array(name, elements, assignment.append, span);
            }
            (AssignmentValue::Array(elements), Some(_)) => {
                // An element holds no list: bash complains, and leaves the line.
                let items = self.compound_items(name, elements, span);
                let origins =
                    items.iter().fold(Origins::NONE, |all, item| all.union(item.field.value.origins));
                self.may_end_line();
                self.assign_element(name, None, Value::unknown(origins), span);
            }
        }
    }

    /// `name=value`. `number`: what is not known of the value is a number.
    pub(super) fn assign(&mut self, name: &'a [u8], value: Value<'a>, number: bool, span: Span) {
        let Some(name) = self.dereference(name, span) else {
            // Any variable may have got the value.
            self.unpredictable("an assignment to a variable that is not known", span);
            return;
        };
        let slot = self.state.get(Space::Variable, name);
        let (mut value, mut number) = (value, number);
        if slot.flags.has(Flags::REFERENCE) && !value.known().is_some_and(super::words::is_name) {
            // It gets what it refers to.
            self.may_end_line();
        }
        let plain = number || value.known().is_some_and(is_decimal);
        if slot.flags.has(Flags::INTEGER) || is_integer_by_nature(name) {
            let result = self.arithmetic_value(&value, number, span);
            // One that was unset, or is local, is no number any more, and takes text as it is.
            let sure = plain || slot.flags.has(Flags::INTEGER);
            value = match result.value {
                Some(result) if sure => self.decimal(result),
                _ => Value::unknown(value.origins.union(result.origins)),
            };
            number = sure;
        }
        value = recased(value, slot.flags);
        self.judge_read_only(slot.flags, span);
        if self.dialect == Dialect::Bash && is_read_only_by_nature(name) {
            self.judge_read_only(Flags::READ_ONLY, span);
        }
        let kept = self.is_kept(name);
        if self.unsure > 0 || is_read_only_by_nature(name) || kept {
            number |= plain && is_size(name);
            value = Value::unknown(value.origins);
        }
        let (all, some) =
            (self.state.flow.options.is(Opt::AllExport), self.state.flow.options.may(Opt::AllExport));
        let exported = slot.flags.has(Flags::EXPORTED) || some;
        self.judge_variable(name, &value, span);
        if name == b"IFS"
            && value.known().is_some_and(|text| text.iter().any(|byte| b"*?[\\~".contains(byte)))
        {
            // With `IFS='a**'` bash takes a quoted `*` for a pattern, with `IFS='~'` it divides `~$#` before the `~`.
            self.unpredictable("separators that are characters of patterns, or tildes", span);
        }
        if matches!(name, b"PWD" | b"OLDPWD") {
            // `cd -` goes there, and `..` counts from there.
            self.unpredictable("an assignment to the name of the working directory", span);
        }
        let mut flags = slot.flags.without(Flags::GUESSED);
        if exported {
            let sure = all || slot.flags.has(Flags::EXPORTED);
            flags = flags.with(if sure { Flags::EXPORTED } else { Flags::EXPORTED.with(Flags::MAYBE) });
        }
        if number || value.known().is_some_and(is_decimal) {
            flags = flags.with(Flags::NUMBER);
        }
        if kept {
            // The shell gives it another value, or takes it away.
            let content = Content::Unknown(slot.origins().union(value.origins));
            self.state.set(Space::Variable, name, Slot { content, flags });
            return;
        }
        if let Content::Array(elements) = slot.content {
            let content = Content::Array(self.with_element(elements, b"0", value));
            self.state.set(Space::Variable, name, Slot { content, flags });
            return;
        }
        if flags.has(Flags::ASSOCIATIVE) || flags.has(Flags::INDEXED) {
            let content = match slot.content {
                Content::Unknown(origins) => Content::Unknown(origins.union(value.origins)),
                _ => Content::Array(self.with_element(&[], b"0", value)),
            };
            self.state.set(Space::Variable, name, Slot { content, flags });
            return;
        }
        // A variable that is wholly unknown may still only be set.
        self.state.set(Space::Variable, name, Slot { content: Content::Scalar(value), flags });
    }

    /// `name+=value`
    pub(super) fn append(&mut self, name: &'a [u8], value: Value<'a>, span: Span) {
        let Some(name) = self.dereference(name, span) else {
            self.unpredictable("an assignment to a variable that is not known", span);
            return;
        };
        let adds = self.state.get(Space::Variable, name).flags.has(Flags::INTEGER);
        let joined = match self.lookup(name, span) {
            Got::Unset if !adds => value,
            Got::One(old, _) if !adds => self.concatenated(&old, &value),
            Got::Any(origins, _) if !adds => self.concatenated(&Value::unknown(origins), &value),
            Got::Unset => self.added(Origins::NONE, &value, span),
            Got::One(old, _) => self.added(old.origins, &value, span),
            Got::Any(origins, _) => self.added(origins, &value, span),
        };
        if !adds && is_integer_by_nature(name) {
            self.append_to_number(name, joined, value, span);
        } else {
            self.assign(name, joined, adds, span);
        }
    }

    /// `+=` on a variable that is a number as long as it was neither unset nor made local: then it adds, else it appends.
    fn append_to_number(&mut self, name: &'a [u8], joined: Value<'a>, value: Value<'a>, span: Span) {
        let number = value.known().is_some_and(is_decimal);
        self.arithmetic_value(&value, false, span);
        self.assign(name, Value::unknown(joined.origins), number, span);
    }

    /// What comes of adding a number to another one.
    fn added(&mut self, old: Origins, value: &Value<'a>, span: Span) -> Value<'a> {
        self.arithmetic_value(value, false, span);
        Value::unknown(old.union(value.origins))
    }

    /// Where a variable that is read-only would be assigned, the rest of the line is not run.
    pub(super) fn judge_read_only(&mut self, flags: Flags, span: Span) {
        if flags.has(Flags::READ_ONLY) {
            self.unpredictable("an assignment to a read-only variable", span);
        }
        if flags.has(Flags::MAYBE) && (flags.has(Flags::INTEGER) || flags.has(Flags::ASSOCIATIVE)) {
            self.unpredictable("an assignment to a variable whose attributes are not known", span);
        }
    }

    /// One value after the other.
    pub(super) fn concatenated(&mut self, first: &Value<'a>, second: &Value<'a>) -> Value<'a> {
        let both = first.origins.union(second.origins);
        // Behind a found name, which may be `.`, another one may lead anywhere.
        let led = first.origins.contains(Origins::NAMES) && second.origins.contains(Origins::NAMES);
        let origins = if led { both.union(Origins::UNKNOWN) } else { both };
        let mut pieces = first.pieces().to_vec();
        for piece in second.pieces().iter() {
            match (pieces.last_mut(), piece) {
                (Some(Piece::Text(end)), Piece::Text(more)) => {
                    if !self.budget.produce(end.len() + more.len()) {
                        return Value::unknown(origins);
                    }
                    *end = self.arena.alloc_slice_copy(&[*end, *more].concat());
                }
                (Some(Piece::Unknown), Piece::Unknown) => {}
                _ => pieces.push(*piece),
            }
        }
        Value::of(self.arena, &pieces, origins)
    }

    /// `name[key]=value`; `None` for a key that is not known.
    pub(super) fn assign_element(
        &mut self,
        name: &'a [u8],
        key: Option<&'a [u8]>,
        value: Value<'a>,
        span: Span,
    ) {
        let Some(name) = self.dereference(name, span) else {
            self.unpredictable("an assignment to a variable that is not known", span);
            return;
        };
        let slot = self.state.get(Space::Variable, name);
        let mut value = value;
        if slot.flags.has(Flags::INTEGER) {
            let result = self.arithmetic_value(&value, false, span);
            value = match result.value {
                Some(result) => self.decimal(result),
                None => Value::unknown(value.origins.union(result.origins)),
            };
        }
        value = recased(value, slot.flags);
        self.judge_read_only(slot.flags, span);
        self.judge_variable(name, &value, span);
        let elements = self.elements(name, span);
        let content = match (key, elements) {
            (Some(key), Some(elements))
                if !key.starts_with(b"-") && self.unsure == 0 && !self.is_kept(name) =>
            {
                Content::Array(self.with_element(&elements, key, value))
            }
            _ => Content::Unknown(slot.origins().union(value.origins)),
        };
        let mut flags = slot.flags.without(Flags::GUESSED);
        if !flags.has(Flags::ASSOCIATIVE) {
            flags = flags.with(Flags::INDEXED);
        }
        self.state.set(Space::Variable, name, Slot { content, flags });
    }

    /// Elements with one more, or one replaced, in the order of their indices.
    fn with_element(
        &mut self,
        elements: &[Element<'a>],
        key: &'a [u8],
        value: Value<'a>,
    ) -> &'a [Element<'a>] {
        // They are copied, and a copy of many takes memory for as long as the analysis lasts.
        self.budget.spend(2 * elements.len() + 8 * elements.len().saturating_sub(USUAL_ELEMENTS));
        let mut all = elements.to_vec();
        match all.iter_mut().find(|element| element.key == key) {
            Some(element) => element.value = value,
            None => {
                let place = all.partition_point(|element| before(element.key, key));
                all.insert(place, Element { key, value });
            }
        }
        self.arena.alloc_slice_copy(&all)
    }

    /// `name=(…)`
    pub(super) fn assign_array<'t>(
        &mut self,
        name: &'a [u8],
        elements: &'t [ArrayElement<'t>],
        append: bool,
        span: Span,
    ) {
        let Some(name) = self.dereference(name, span) else {
            self.unpredictable("an assignment to a variable that is not known", span);
            return;
        };
        let slot = self.state.get(Space::Variable, name);
        let old = if append { self.elements(name, span) } else { Some(Vec::new()) };
        let mut array = Filling::new(old, if append { slot.origins() } else { Origins::NONE });
        let is_plain = |element: &ArrayElement<'_>| element.subscript().is_none();
        if elements.iter().all(is_plain) && !slot.flags.has(Flags::INTEGER) {
            // Nothing is evaluated behind the expansions, so that each may go into the array at once.
            let mut fields = Vec::new();
            for element in elements {
                self.expand(&element.value(), &mut fields);
                spare::each(&mut fields, |field| {
                    array.put(Some(array.next_key(self.arena)), &field);
                    self.budget.spend(array.all.len() / 64);
                });
            }
        } else {
            let items = self.compound_items(name, elements, span);
            if elements.iter().any(is_counted) {
                // Meanwhile it holds what of it has been assigned.
                let content = Content::Unknown(
                    items.iter().fold(slot.origins(), |all, item| all.union(item.field.value.origins)),
                );
                self.state.set(Space::Variable, name, Slot { content, ..slot });
            }
            for Item { element, key, field } in items {
                let key = match element.subscript() {
                    // There is no element without a key.
                    Some(subscript) if self.may_be_empty(subscript) => {
                        self.key(name, subscript);
                        None
                    }
                    Some(subscript) => key.or_else(|| self.key(name, subscript)),
                    None => Some(array.next_key(self.arena)),
                };
                if slot.flags.has(Flags::INTEGER) {
                    self.arithmetic_value(&field.value, false, span);
                    array.known = false;
                }
                array.put(key.filter(|_| !element.append()), &field);
                self.budget.spend(array.all.len() / 64);
            }
        }
        let Filling { mut all, mut known, origins, .. } = array;
        if slot.flags.has(Flags::RECASED) {
            for element in &mut all {
                element.value = recased(element.value, slot.flags);
            }
        }
        self.judge_read_only(slot.flags, span);
        if slot.flags.has(Flags::ASSOCIATIVE) && elements.iter().any(is_plain) {
            known = false;
        }
        let value = Value::unknown(origins);
        self.judge_variable(name, all.first().map_or(&value, |element| &element.value), span);
        let content = if known && self.unsure == 0 && !self.is_kept(name) {
            Content::Array(spare::settled(self.arena, all).0)
        } else {
            Content::Unknown(origins)
        };
        let flags = slot.flags.without(Flags::GUESSED).with(Flags::INDEXED);
        self.state.set(Space::Variable, name, Slot { content, flags });
    }

    /// A builtin makes a variable an array that holds this (`mapfile`, `read -a`).
    pub(super) fn fill_array(&mut self, name: &'a [u8], content: Content<'a>, span: Span) {
        let slot = self.state.get(Space::Variable, name);
        if slot.flags.has(Flags::INTEGER) || is_integer_by_nature(name) {
            self.unpredictable("an array of numbers that a builtin fills", span);
        }
        if matches!(name, b"PWD" | b"OLDPWD" | b"IFS") {
            self.unpredictable("an array where the shell looks for text", span);
        }
        self.judge_read_only(slot.flags, span);
        let unknown = Value::unknown(Slot::of(content).origins());
        let first = match content {
            Content::Array(elements) => elements.first().map_or(Value::EMPTY, |element| element.value),
            _ => unknown,
        };
        self.judge_variable(name, &first, span);
        let content = if self.is_kept(name) { Content::Unknown(unknown.origins) } else { content };
        let flags = slot.flags.without(Flags::GUESSED).with(Flags::INDEXED);
        self.state.set(Space::Variable, name, Slot { content, flags });
    }

    /// Whether a subscript may expand to nothing.
    fn may_be_empty(&mut self, subscript: &Arithmetic<'_>) -> bool {
        let is_number = |part: &WordPart<'_>| matches!(part.kind, PartKind::Arithmetic(_));
        if subscript.parts.iter().any(|part| is_some_text(part) || is_number(part)) {
            return false;
        }
        subscript.parts.iter().any(part_may_assign)
            || self.value_of(subscript.parts, subscript.span).known().is_none_or(<[u8]>::is_empty)
    }

    /// What stands between the parentheses of a compound assignment, expanded. bash does so before it evaluates any
    /// subscript; the keys of an associative array it expands on the way.
    fn compound_items<'t>(
        &mut self,
        name: &'a [u8],
        elements: &'t [ArrayElement<'t>],
        span: Span,
    ) -> Vec<Item<'t, 'a>> {
        let associative = self.state.get(Space::Variable, name).flags.has(Flags::ASSOCIATIVE);
        let mut items = Vec::with_capacity(elements.len());
        for element in elements {
            let Some(subscript) = element.subscript() else {
                let mut fields = Vec::new();
                self.expand(&element.value(), &mut fields);
                items.extend(fields.into_iter().map(|field| Item { element, key: None, field }));
                continue;
            };
            let key = if associative { self.key(name, subscript) } else { None };
            if !associative && subscript.parts.iter().any(part_runs_commands) {
                self.unpredictable("a subscript that is expanded among the values of an array", span);
            }
            let value = self.value(&element.value());
            self.note_alias_array(name, subscript, value, span);
            items.push(Item { element, key, field: Field { value, span, many: false } });
        }
        items
    }

    /// Whether the shell gives a variable values of its own.
    pub(super) fn is_kept(&self, name: &[u8]) -> bool {
        is_kept(name) || self.coprocesses.as_ref().is_some_and(|names| names.contains(name))
    }

    /// The shell itself gives a variable a value, whatever the script has made of it.
    pub(super) fn set_by_shell(&mut self, name: &'a [u8], origins: Origins) {
        let change = |slot: &Slot<'a>| {
            let content = Content::Unknown(slot.origins().union(origins));
            Slot { content, flags: slot.flags.without(Flags::GUESSED).with(Flags::INDEXED) }
        };
        // bash may look behind what functions have made local.
        for (local, outside, _) in self.frames.iter_mut().flat_map(|frame| &mut frame.locals) {
            if *local == name {
                *outside = change(outside);
            }
        }
        let slot = change(&self.state.get(Space::Variable, name));
        self.state.set(Space::Variable, name, slot);
    }

    /// `coproc name`: its descriptors and its process, which are gone again when that ends.
    pub(super) fn set_coprocess(&mut self, name: &'a [u8]) {
        let process = &*self.arena.alloc_slice_copy(&[name, b"_PID"].concat());
        for name in [name, process] {
            self.set_by_shell(name, Origins::LITERAL);
            self.coprocesses.get_or_insert_default().insert(name);
        }
    }

    /// The variable gets a value that is not known.
    pub(super) fn assign_unknown(&mut self, name: &'a [u8], origins: Origins, span: Span) {
        self.assign(name, Value::unknown(origins), false, span);
    }

    /// A variable that was assigned has that value, or none, and then no attributes either.
    pub(super) fn may_be_unset(&mut self, name: &'a [u8]) {
        let Some(name) = self.dereference(name, Span::default()) else { return };
        let slot = self.state.get(Space::Variable, name);
        let joined = join_slots(self.arena, slot, Slot::of(Content::Unset));
        self.state.set(Space::Variable, name, joined);
    }

    /// What a variable was assigned, arithmetic may evaluate without harm.
    fn trust(&mut self, name: &'a [u8]) {
        let Some(name) = self.dereference(name, Span::default()) else { return };
        let slot = self.state.get(Space::Variable, name);
        if let Content::Scalar(value) = slot.content {
            let content = Content::Unknown(value.origins);
            self.state.set(Space::Variable, name, Slot { content, flags: slot.flags.with(Flags::TRUSTED) });
        }
    }

    /// The variable gets a number that is not known.
    pub(super) fn assign_some_number(&mut self, name: &'a [u8], span: Span) {
        self.assign(name, Value::unknown(Origins::LITERAL), true, span);
    }

    /// A variable whose name stands in the arguments of a builtin gets a value. The name may have a subscript, which is
    /// evaluated; a name that is not known may be any variable.
    pub(super) fn assign_named(&mut self, name: &Value<'a>, value: Value<'a>, number: bool, span: Span) {
        let Some(text) = name.known() else {
            self.unpredictable("a builtin assigns to a variable whose name is not known", span);
            return;
        };
        if super::words::is_name(text) {
            self.assign(text, value, number, span);
            return;
        }
        // What is neither a name nor an element is refused by the builtin.
        if let Some((name, subscript)) = split_subscript(text) {
            let key = self.key_of_text(name, subscript, span);
            self.assign_element(name, key, value, span);
        }
    }

    /// `BASH_ALIASES[name]=text` defines an alias, `BASH_CMDS[name]=path` says what a command name runs.
    fn note_alias_array(&mut self, name: &'a [u8], key: &Arithmetic<'_>, value: Value<'a>, span: Span) {
        if !matches!(name, b"BASH_ALIASES" | b"BASH_CMDS") {
            return;
        }
        let key = self.value_of(key.parts, key.span).known();
        match (name, key) {
            (b"BASH_ALIASES", Some(key)) => {
                let span = self.span(span);
                self.define_alias(key, value.known(), span);
            }
            (b"BASH_CMDS", Some(key)) => {
                self.state.set(Space::Command, key, Slot::of(Content::Command(Some(value))));
            }
            _ => {
                let span = self.span(span);
                self.unknown(Unknown::Variable(name), span);
            }
        }
    }
}

/// One word of what is assigned to an array.
struct Item<'t, 'a> {
    element: &'t ArrayElement<'t>,
    /// The key in an associative array, if it is known.
    key: Option<&'a [u8]>,
    field: Field<'a>,
}

/// Whether evaluating the subscript of an element may read or change variables.
fn is_counted(element: &ArrayElement<'_>) -> bool {
    element.subscript().is_some_and(|subscript| {
        !matches!(subscript.parts, [WordPart { kind: PartKind::Literal(text), .. }] if is_decimal(text))
    })
}

/// What a variable with these attributes holds when this is assigned to it: `declare -u` and its kin change letters.
fn recased<'a>(value: Value<'a>, flags: Flags) -> Value<'a> {
    let letters = || value.known().is_none_or(|text| text.iter().any(|byte| !byte.is_ascii_digit()));
    if flags.has(Flags::RECASED) && letters() { Value::unknown(value.origins) } else { value }
}

/// Variables that bash makes read-only: an assignment fails, and the rest of the line is not run.
fn is_read_only_by_nature(name: &[u8]) -> bool {
    matches!(name, b"BASHOPTS" | b"BASH_VERSINFO" | b"EUID" | b"PPID" | b"SHELLOPTS" | b"UID")
}

/// Variables that hold a size as long as the shell gives them values.
fn is_size(name: &[u8]) -> bool {
    matches!(name, b"COLUMNS" | b"LINES")
}

/// Variables that the shell gives values of its own.
fn is_kept(name: &[u8]) -> bool {
    matches!(
        name,
        b"_" | b"BASHPID"
            | b"BASH_ARGC"
            | b"BASH_ARGV"
            | b"BASH_COMMAND"
            | b"BASH_LINENO"
            | b"BASH_SOURCE"
            | b"BASH_SUBSHELL"
            | b"COLUMNS"
            | b"DIRSTACK"
            | b"EPOCHREALTIME"
            | b"EPOCHSECONDS"
            | b"FUNCNAME"
            | b"GROUPS"
            | b"HISTCMD"
            | b"IGNOREEOF"
            | b"LINENO"
            | b"LINES"
            | b"PIPESTATUS"
            | b"RANDOM"
            | b"SECONDS"
            | b"SRANDOM"
            | b"ignoreeof"
    )
}

/// Variables that bash evaluates as arithmetic whenever they are assigned.
fn is_integer_by_nature(name: &[u8]) -> bool {
    matches!(name, b"RANDOM" | b"SRANDOM" | b"SECONDS" | b"LINENO" | b"OPTIND" | b"HISTCMD" | b"BASHPID")
}

/// The name and subscript of `name[subscript]`.
pub(super) fn split_subscript(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let open = text.iter().position(|byte| *byte == b'[')?;
    let inside = text.get(open + 1..)?.strip_suffix(b"]")?;
    let name = text.get(..open)?;
    super::words::is_name(name).then_some((name, inside))
}
