//! Parameter expansion.

use super::Builder;
use super::lookup::{Got, is_name};
use crate::shell::Interpreter;
use crate::shell::state::{Element, Flags, Space};
use crate::shell::words::builder::Mode;
use crate::value::{Field, Origins, Piece, Value};
use shward_syntax::{
    Arithmetic, Dialect, Parameter, ParameterName, ParameterOperation, PartKind, Span, Subscript, WordPart,
};

/// Whether a part, in double quotes, may expand to no field at all.
pub(super) fn is_list(part: &WordPart<'_>) -> bool {
    match part.kind {
        PartKind::Parameter(parameter) => {
            let separate = matches!(parameter.name, ParameterName::Special(b'@'))
                || matches!(parameter.subscript(), Some(Subscript::At));
            match parameter.operation() {
                ParameterOperation::Length => false,
                ParameterOperation::Names { separate } | ParameterOperation::Keys { separate } => separate,
                _ => separate || parameter.indirect(),
            }
        }
        _ => false,
    }
}

/// Whether a part is `${*…}` or `${a[*]…}` with an operation.
pub(super) fn is_changed_star(part: &WordPart<'_>) -> bool {
    match part.kind {
        PartKind::Parameter(parameter) => {
            let star = matches!(parameter.name, ParameterName::Special(b'*'))
                || matches!(parameter.subscript(), Some(Subscript::Star));
            star && !matches!(parameter.operation(), ParameterOperation::None | ParameterOperation::Length)
        }
        _ => false,
    }
}

impl<'a> Interpreter<'a, '_> {
    /// Expands a parameter into the word around it.
    pub(super) fn parameter(
        &mut self,
        parameter: &Parameter<'_>,
        span: Span,
        quoted: bool,
        builder: &mut Builder<'a>,
    ) {
        if !matches!(parameter.operation(), ParameterOperation::None) {
            self.budget.repeats(2);
        }
        match (parameter.operation(), parameter.name) {
            (ParameterOperation::ScriptPath, _) => {
                // bash refuses it, and leaves the line.
                self.may_end_line();
                builder.unknown(quoted, Origins::UNKNOWN);
                return;
            }
            (ParameterOperation::Names { .. }, _) => {
                builder.unknown(false, Origins::LITERAL);
                return;
            }
            (ParameterOperation::Keys { separate }, ParameterName::Variable(name)) => {
                self.keys(self.lasting(name), separate, span, quoted, builder);
                return;
            }
            _ => {}
        }
        if parameter.indirect() {
            self.indirect(parameter, span, quoted, builder);
            return;
        }
        if !matches!(parameter.name, ParameterName::Variable(_)) {
            self.budget.spend(self.state.flow.arguments.len() / 8);
        }
        match (parameter.name, parameter.subscript()) {
            (ParameterName::Special(special @ (b'@' | b'*')), _) => {
                let elements = self.state.flow.arguments.to_vec();
                self.list(parameter, special == b'*', Some(elements), span, quoted, builder);
            }
            (ParameterName::Variable(name), Some(subscript @ (Subscript::At | Subscript::Star))) => {
                let span_here = self.span(span);
                let elements = self.elements_in_order(self.lasting(name), span).map(|elements| {
                    let field = |e: Element<'a>| Field { value: e.value, span: span_here, many: false };
                    elements.into_iter().map(field).collect()
                });
                self.list(parameter, matches!(subscript, Subscript::Star), elements, span, quoted, builder);
            }
            (ParameterName::Variable(name), Some(Subscript::Index(index))) => {
                let got = self.element(self.lasting(name), index, span);
                self.operate(parameter, got, span, quoted, builder);
            }
            (ParameterName::Variable(name), None) => {
                let got = self.lookup(self.lasting(name), span);
                self.operate(parameter, got, span, quoted, builder);
            }
            (ParameterName::Positional(number), _) => {
                let got = self.positional(number);
                self.operate(parameter, got, span, quoted, builder);
            }
            (ParameterName::Special(byte), _) => {
                let got = self.special(byte);
                self.operate(parameter, got, span, quoted, builder);
            }
        }
    }

    /// `${name[subscript]}`.
    fn element(&mut self, name: &'a [u8], index: &Arithmetic<'_>, span: Span) -> Got<'a> {
        let Some(name) = self.dereference(name, span) else { return Got::Any(Origins::UNKNOWN, false) };
        let origins = self.state.get(Space::Variable, name).origins();
        let key = self.key(name, index);
        match (self.elements(name, span), key) {
            (Some(elements), Some(key)) => match elements.iter().find(|element| element.key == key) {
                Some(element) => Got::One(element.value, false),
                None if key.starts_with(b"-") => Got::Any(origins, false),
                None => Got::Unset,
            },
            _ => Got::Any(origins, false),
        }
    }

    /// The elements of a list, with the parameter's operation done to each.
    fn list(
        &mut self,
        parameter: &Parameter<'_>,
        joined: bool,
        elements: Option<Vec<Field<'a>>>,
        span: Span,
        quoted: bool,
        builder: &mut Builder<'a>,
    ) {
        let size = elements.as_ref().map_or(0, Vec::len);
        if !matches!(parameter.operation(), ParameterOperation::None) && !self.budget.spend(size) {
            // They are looked through, however little comes of it.
            builder.unknown(false, Origins::UNKNOWN);
            return;
        }
        let origins = match (&elements, parameter.name) {
            (Some(elements), _) => elements.iter().fold(Origins::NONE, |all, e| all.union(e.value.origins)),
            (None, ParameterName::Variable(name)) => self.state.get(Space::Variable, name).origins(),
            (None, _) => Origins::UNKNOWN,
        };
        let alike = matches!(
            parameter.operation(),
            ParameterOperation::None
                | ParameterOperation::Length
                | ParameterOperation::Default { .. }
                | ParameterOperation::Alternative { .. }
        );
        if self.dialect == Dialect::Posix && !alike {
            // dash does it to all of them together.
            self.unpredictable("an operation on all arguments in another shell than bash", span);
        }
        let elements = elements.map(|all| (all.iter().all(|e| !e.many), all));
        match (parameter.operation(), elements) {
            (ParameterOperation::None, Some((_, elements))) => {
                self.put_list(&elements, joined, quoted, builder);
            }
            // dash counts the letters.
            (ParameterOperation::Length, Some((true, elements))) if self.dialect == Dialect::Bash => {
                let text = self.arena.alloc_str(&elements.len().to_string()).as_bytes();
                builder.value(&Value::text(text, Origins::LITERAL), quoted);
            }
            (ParameterOperation::Length, _) => builder.number(quoted, Origins::LITERAL),
            (ParameterOperation::Substring { offset, length }, elements) => {
                let first = self.perhaps(|shell| shell.arithmetic(offset).value);
                let count =
                    length.as_ref().map(|length| self.perhaps(|shell| shell.arithmetic(length).value));
                if count.flatten().is_some_and(|count| count < 0) {
                    self.unpredictable("a list of less than no elements", span);
                }
                let zero_based = matches!(parameter.name, ParameterName::Variable(_));
                let elements = elements.and_then(|(sure, elements)| sure.then_some(elements));
                let plain = match (parameter.name, &elements) {
                    (ParameterName::Variable(name), Some(elements)) => {
                        !elements.is_empty() && !self.is_dense(self.lasting(name), span)
                    }
                    _ => false,
                };
                let slice = match (&elements, first, count) {
                    // Of a variable that is no array it takes characters, and it counts by index, not by place.
                    _ if plain => None,
                    (Some(elements), Some(first), None | Some(Some(_))) => {
                        slice_of(elements, first, count.flatten(), zero_based)
                    }
                    _ => None,
                };
                match slice {
                    Some(slice) => self.put_list(slice, joined, quoted, builder),
                    None if elements.is_none() => self.put_unknown(joined, quoted, origins, builder),
                    None => builder.unknown(false, origins),
                }
            }
            (
                ParameterOperation::Default { .. }
                | ParameterOperation::Assign { .. }
                | ParameterOperation::Error { .. }
                | ParameterOperation::Alternative { .. },
                elements,
            ) => {
                let got = match elements {
                    // To dash, no arguments are set all the same.
                    Some((true, elements)) if elements.is_empty() && self.dialect == Dialect::Posix => {
                        Got::Any(Origins::LITERAL, false)
                    }
                    Some((true, elements)) if elements.is_empty() => Got::Unset,
                    Some((true, elements)) => match elements.as_slice() {
                        [only] => Got::One(only.value, false),
                        all if self.may_join_to_nothing(all) => Got::Any(origins, false),
                        _ => {
                            if let ParameterOperation::Alternative { .. } = parameter.operation() {
                                Got::One(Value::text(b"x", origins), false)
                            } else {
                                self.put_list(&elements, joined, quoted, builder);
                                return;
                            }
                        }
                    },
                    _ => Got::Any(origins, false),
                };
                self.operate(parameter, got, span, quoted, builder);
                if matches!(got, Got::Any(..)) {
                    // Quoted or not, it may be any number of fields.
                    builder.unknown(false, origins);
                }
            }
            (_, Some((true, elements))) => {
                let mut operated = Vec::with_capacity(elements.len());
                for element in &elements {
                    // The operand is expanded once for all elements.
                    let value = self.perhaps(|shell| shell.transformed(parameter, &element.value, span));
                    let value = value.unwrap_or_else(|| Value::unknown(changed(origins)));
                    operated.push(Field { value, ..*element });
                }
                self.put_list(&operated, joined, quoted, builder);
            }
            (_, elements) => {
                let plain = matches!(parameter.operation(), ParameterOperation::None);
                if elements.is_none() || !plain {
                    self.perhaps(|shell| shell.transformed(parameter, &Value::unknown(origins), span));
                }
                let origins = if plain { origins } else { changed(origins) };
                self.put_unknown(joined, quoted, origins, builder);
            }
        }
    }

    /// Whether elements may be the null string when they are joined.
    fn may_join_to_nothing(&mut self, elements: &[Field<'a>]) -> bool {
        let may_be_null = |element: &Field<'a>| {
            !element.value.pieces().iter().any(|piece| matches!(piece, Piece::Text(text) if !text.is_empty()))
        };
        elements.iter().all(may_be_null) && self.first_separator().is_none_or(<[u8]>::is_empty)
    }

    /// Puts a list into the word of which nothing is known.
    fn put_unknown(&self, joined: bool, quoted: bool, origins: Origins, builder: &mut Builder<'a>) {
        let one = joined && quoted || builder.mode() != Mode::Fields;
        if quoted {
            builder.unknown(one, origins);
        } else {
            builder.any(false, origins);
        }
    }

    /// Puts the elements of a list into the word: `"$*"` joins them, `"$@"` makes each a field.
    fn put_list(&mut self, elements: &[Field<'a>], star: bool, quoted: bool, builder: &mut Builder<'a>) {
        let single = builder.mode() != Mode::Fields;
        if !(single || star && quoted) {
            builder.list(elements, quoted);
            return;
        }
        // Some shells, and bash where something is done to the elements, put the first separator between those of `$@`, too.
        let separator = self.first_separator().filter(|first| star || *first == b" ");
        builder.begin();
        let may_be_none = |element: &Field<'a>| element.many && !element.value.has_glob();
        for (index, element) in elements.iter().enumerate() {
            if may_be_none(element) {
                // Then there is no separator either.
                builder.unknown(true, element.value.origins);
                continue;
            }
            let before = index.checked_sub(1).and_then(|before| elements.get(before));
            if before.is_some_and(|before| !may_be_none(before)) {
                match separator {
                    Some(separator) => builder.value(&Value::text(separator, Origins::LITERAL), true),
                    None => builder.unknown(true, Origins::LITERAL),
                }
            }
            builder.value(&element.value, true);
            if element.many {
                builder.unknown(true, element.value.origins);
            }
        }
    }

    /// What `"$*"` puts between its elements.
    fn first_separator(&mut self) -> Option<&'a [u8]> {
        match self.lookup(b"IFS", Span::default()) {
            Got::One(value, _) => {
                value.known().filter(|text| text.is_ascii()).map(|text| text.get(..1).unwrap_or_default())
            }
            Got::Unset => Some(b" "),
            Got::Any(..) => None,
        }
    }

    /// `${!array[@]}`.
    fn keys(&mut self, name: &'a [u8], separate: bool, span: Span, quoted: bool, builder: &mut Builder<'a>) {
        match self.elements_in_order(self.lasting(name), span) {
            Some(elements) => {
                let span = self.span(span);
                let field = |element: &Element<'a>| Field {
                    value: Value::text(element.key, element.value.origins),
                    span,
                    many: false,
                };
                let keys: Vec<Field<'a>> = elements.iter().map(field).collect();
                self.put_list(&keys, !separate, quoted, builder);
            }
            None => {
                let origins = self.state.get(Space::Variable, name).origins();
                builder.unknown(quoted && !separate, origins);
            }
        }
    }

    /// `${!name}`: the value is the name of what is expanded.
    fn indirect(&mut self, parameter: &Parameter<'_>, span: Span, quoted: bool, builder: &mut Builder<'a>) {
        if let (ParameterName::Variable(name), None) = (parameter.name, parameter.subscript())
            && let slot = self.state.get(Space::Variable, name)
            && slot.flags.has(Flags::REFERENCE)
        {
            // Of a reference it is the name that it leads to.
            let aim = self.dereference(self.lasting(name), span).filter(|aim| *aim != name);
            let got = match aim {
                Some(aim) if !slot.flags.has(Flags::MAYBE) => {
                    Got::One(Value::text(aim, Origins::LITERAL), false)
                }
                _ => {
                    self.unpredictable("a reference that may lead nowhere", span);
                    Got::Any(Origins::UNKNOWN, false)
                }
            };
            self.operate(parameter, got, span, quoted, builder);
            if quoted && !matches!(got, Got::Any(..)) {
                builder.stay();
            }
            return;
        }
        let pointer = match (parameter.name, parameter.subscript()) {
            (ParameterName::Variable(name), None) => self.lookup(self.lasting(name), span),
            (ParameterName::Positional(number), None) => self.positional(number),
            (ParameterName::Special(b'#'), None) => {
                // The last positional parameter.
                let got = match self.state.flow.arguments {
                    all if self.argument_count().is_none() => {
                        let _ = all;
                        Got::Any(self.argument_origins(), false)
                    }
                    [.., last] => Got::One(last.value, false),
                    [] => self.positional(0),
                };
                self.operate(parameter, got, span, quoted, builder);
                if quoted && !matches!(got, Got::Any(..)) {
                    builder.stay();
                }
                return;
            }
            (ParameterName::Variable(name), Some(Subscript::Index(index))) => {
                self.element(self.lasting(name), index, span)
            }
            (ParameterName::Special(b'@' | b'*'), None) if self.argument_count() == Some(0) => Got::Unset,
            _ => Got::Any(Origins::UNKNOWN, false),
        };
        let got = match pointer {
            Got::One(value, _) => match value.known() {
                Some(name) if is_name(name) => self.lookup(name, span),
                Some(digits) if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
                    let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
                    self.positional(number.unwrap_or(u32::MAX))
                }
                _ => {
                    self.unpredictable("an indirect expansion of what is not a plain name", span);
                    Got::Any(Origins::UNKNOWN, false)
                }
            },
            Got::Unset => {
                if matches!(parameter.name, ParameterName::Variable(_)) {
                    self.unpredictable("an indirect expansion of what is not set", span);
                }
                Got::Unset
            }
            Got::Any(..) => {
                self.unpredictable("an indirect expansion of a name that is not known", span);
                Got::Any(Origins::UNKNOWN, false)
            }
        };
        self.operate(parameter, got, span, quoted, builder);
        if quoted && !matches!(got, Got::Any(..)) {
            // What it names is no list.
            builder.stay();
        }
        if matches!(got, Got::Any(..)) && builder.mode() == Mode::Fields {
            // `${!x}` with x='a[@]' is a list.
            builder.unknown(false, Origins::NONE);
        }
    }
}

/// `${list:first:count}`; positional parameters count from 1, with `$0` before them.
fn slice_of<'f, 'a>(
    elements: &'f [Field<'a>],
    first: i64,
    count: Option<i64>,
    zero_based: bool,
) -> Option<&'f [Field<'a>]> {
    let size = i64::try_from(elements.len()).ok()?;
    let start = match (zero_based, first) {
        (true, first) if first >= 0 => first,
        (false, first) if first > 0 => first - 1,
        // Counted from behind it may be `$0`.
        (false, first) if first.checked_add(size) == Some(-1) => return None,
        (_, first) if first < 0 => size.checked_add(first)?,
        _ => return None,
    };
    if count.is_some_and(|count| count < 0) {
        return None;
    }
    if start < 0 || start > size {
        return Some(&[]);
    }
    let end = count.map_or(size, |count| start.saturating_add(count).min(size));
    elements.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

/// Whether a value is made of known text and names that patterns matched.
pub(super) fn is_text_and_globs(value: &Value<'_>) -> bool {
    !value.has_unknown()
}

/// Where text comes from of which an operation has left a part: that of a process's number is another number, and that of a
/// name another place.
pub(super) fn changed(origins: Origins) -> Origins {
    if origins.intersects(Origins::JOB.union(Origins::NOTED).union(Origins::FOUND)) {
        origins.union(Origins::UNKNOWN)
    } else {
        origins
    }
}
