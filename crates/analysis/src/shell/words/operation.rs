//! What a parameter expansion does with the value: defaults, removal, replacement, substrings, case.

use super::Known;
use super::builder::{Builder, Mode};
use super::lookup::Got;
use super::parameter::{changed, is_text_and_globs};
use super::prompt::is_plain_prompt;
use super::transform;
use crate::shell::Interpreter;
use crate::shell::flow::Opt;
use crate::shell::state::{Flags, Mark, Space, is_decimal};
use crate::value::{Origins, Piece, Value, contains};
use shward_syntax::{
    Parameter, ParameterName, ParameterOperation, PartKind, Replace, Span, Subscript, Word, WordPart,
};

impl<'a> Interpreter<'a, '_> {
    /// Expands a parameter that holds `got` into the word around it.
    pub(super) fn operate(
        &mut self,
        parameter: &Parameter<'_>,
        got: Got<'a>,
        span: Span,
        quoted: bool,
        builder: &mut Builder<'a>,
    ) {
        match parameter.operation() {
            ParameterOperation::None | ParameterOperation::Names { .. } | ParameterOperation::Keys { .. } => {
                put(got, quoted, builder);
            }
            ParameterOperation::Length => {
                let length = match got {
                    Got::One(value, _) if !self.budget.repeat(value.extent()) => None,
                    Got::One(value, _) => value
                        .known()
                        .filter(|text| text.is_ascii() && !value.origins.contains(Origins::NAMES))
                        .map(<[u8]>::len),
                    Got::Unset => Some(0),
                    Got::Any(..) => None,
                };
                match length {
                    Some(length) => {
                        let text = self.arena.alloc_str(&length.to_string()).as_bytes();
                        builder.value(&Value::text(text, Origins::LITERAL), quoted);
                    }
                    None => builder.number(quoted, Origins::LITERAL),
                }
            }
            ParameterOperation::Default { colon, word } => match choice(&got, colon) {
                Choice::Value => put(got, quoted, builder),
                Choice::Word => {
                    self.operand(&word.parts(), quoted, builder);
                    if quoted && parameter.name == ParameterName::Special(b'@') {
                        builder.stay();
                    }
                }
                Choice::Either => {
                    let (origins, number) = self.either(&word);
                    let origins = origins.union(origins_of(&got));
                    if number && matches!(got, Got::Any(_, true)) && builder.mode() == Mode::Single {
                        builder.trusted(origins);
                    } else {
                        builder.unknown(quoted, origins);
                    }
                }
            },
            ParameterOperation::Assign { colon, word } => {
                let choice = choice(&got, colon);
                if choice == Choice::Value {
                    put(got, quoted, builder);
                    return;
                }
                let (value, kind) = match choice {
                    Choice::Word => self.value_and_kind(&word),
                    _ => (Value::unknown(self.either(&word).0.union(origins_of(&got))), Known::Text),
                };
                self.assign_by_expansion(parameter, value, kind == Known::Number, span);
                if self.changes_what_it_is_given(parameter) {
                    builder.unknown(quoted, value.origins);
                } else {
                    builder.value(&value, quoted);
                }
            }
            ParameterOperation::Error { colon, word } => match choice(&got, colon) {
                Choice::Value => put(got, quoted, builder),
                choice => {
                    self.either(&word);
                    // Where it goes on at all, it is set.
                    let origins = origins_of(&got);
                    builder.unknown(quoted, origins);
                    if choice == Choice::Either {
                        self.state.flow.may_have_ended = true;
                    } else {
                        self.state.flow.ended = true;
                    }
                }
            },
            ParameterOperation::Alternative { colon, word } => match choice(&got, colon) {
                Choice::Value => self.operand(&word.parts(), quoted, builder),
                // An element that is null is a field all the same.
                Choice::Word if quoted && matches!(got, Got::One(..)) => builder.stay(),
                Choice::Word => {}
                Choice::Either => {
                    let (origins, _) = self.either(&word);
                    builder.unknown(quoted, origins);
                }
            },
            _ => match got {
                Got::One(value, _) => {
                    // bash does not expand every operand where there is no text to apply it to.
                    let there = value.pieces().iter().any(|piece| matches!(piece, Piece::Text(_)));
                    let transformed = if there {
                        self.transformed(parameter, &value, span)
                    } else {
                        self.perhaps(|shell| shell.transformed(parameter, &value, span))
                    };
                    match transformed {
                        Some(value) => builder.value(&value, quoted),
                        None => builder.unknown(quoted, changed(value.origins)),
                    }
                }
                Got::Unset => {
                    // For what the operands may do. What is not set stays so: not even `@Q` makes quotes of it, and no
                    // pattern matches it. Only its attributes can be told.
                    self.perhaps(|shell| shell.transformed(parameter, &Value::EMPTY, span));
                    if matches!(parameter.operation(), ParameterOperation::Transform(b'a' | b'A')) {
                        builder.unknown(quoted, Origins::LITERAL);
                    } else {
                        builder.value(&Value::EMPTY, quoted);
                    }
                }
                Got::Any(origins, _) => {
                    self.perhaps(|shell| shell.transformed(parameter, &Value::unknown(origins), span));
                    builder.unknown(quoted, changed(origins));
                }
            },
        }
    }

    /// Expands an operand that may not be expanded, for what that does, and tells where its text comes from. The flag: it
    /// is a number.
    fn either(&mut self, word: &Word<'_>) -> (Origins, bool) {
        let value = self.perhaps(|shell| shell.value(word));
        let digits = value.known().is_some_and(|text| is_decimal(text) && !text.starts_with(b"-"));
        if digits && value.origins == Origins::LITERAL {
            // A number is harmless wherever one is expected, but in a search path it is a directory that lies here.
            self.loops_over_names = true;
            return (value.origins, true);
        }
        // Text that may stand in the place of a variable is more than what the environment held.
        let only_more = value.known_prefix().iter().all(|byte| *byte == b':');
        (if only_more { value.origins } else { value.origins.union(Origins::UNKNOWN) }, false)
    }

    /// Expands what may not be expanded.
    pub(in crate::shell) fn perhaps<R>(&mut self, inner: impl FnOnce(&mut Self) -> R) -> R {
        let mark = self.state.mark();
        let result = self.doubtful(inner);
        self.perhaps_since(&mark);
        result
    }

    /// What has changed since may not have.
    pub(in crate::shell) fn perhaps_since(&mut self, mark: &Mark<'a>) {
        if self.state.changes(mark.moment()) > 0 || self.state.flow != *mark.flow() {
            let branch = self.state.branch(mark);
            self.state.rewind(mark);
            self.state.join(mark, &branch);
        }
    }

    fn assign_by_expansion(&mut self, parameter: &Parameter<'_>, value: Value<'a>, number: bool, span: Span) {
        if let ParameterName::Variable(name) = parameter.name {
            let name = self.lasting(name);
            match parameter.subscript() {
                None => self.assign(name, value, number, span),
                Some(Subscript::Index(index)) => {
                    let key = self.key_to_assign(name, index);
                    self.assign_element(name, key, value, span);
                }
                Some(_) => self.unpredictable("an assignment to all elements of an array", span),
            }
        } else {
            // Arguments cannot be assigned to: the rest of the line is not run.
            self.unpredictable("an assignment to what cannot be assigned", span);
        }
    }

    /// Whether a variable has attributes by which it holds something else than what it is assigned.
    fn changes_what_it_is_given(&self, parameter: &Parameter<'_>) -> bool {
        let ParameterName::Variable(name) = parameter.name else { return false };
        let flags = self.state.get(Space::Variable, name).flags;
        [Flags::INTEGER, Flags::RECASED, Flags::REFERENCE].iter().any(|flag| flags.has(*flag))
    }

    /// Removal, replacement, substring, case and `@` operations. `None`: the result is not known.
    pub(super) fn transformed(
        &mut self,
        parameter: &Parameter<'_>,
        value: &Value<'a>,
        span: Span,
    ) -> Option<Value<'a>> {
        let extended = self.state.flow.options.may(Opt::ExtGlob);
        if !self.budget.repeat(value.extent()) {
            return None;
        }
        // Only the shell knows the numbers of the descriptors behind process substitutions.
        let unknown = Value::unknown(value.origins);
        // And the names that a search finds are kept as where they lie, not as they are told.
        let told_otherwise = value.pieces().contains(&Piece::Made)
            || value.origins.contains(Origins::NAMES) && !is_base_name(&parameter.operation())
            || value.known().is_some_and(|text| contains(text, b"/dev/fd/"));
        let value = if told_otherwise { &unknown } else { value };
        let known = value.known().filter(|_| !self.state.flow.options.may(Opt::OtherMatching));
        let arena = self.arena;
        let text = |text: &[u8]| Value::text(arena.alloc_slice_copy(text), value.origins);
        match parameter.operation() {
            ParameterOperation::RemovePrefix { longest, pattern } => {
                let pattern = self.operand_pattern(&pattern)?;
                match known {
                    Some(known) => {
                        let left = transform::without_prefix(known, pattern, longest, extended)?;
                        Some(Value::text(left, value.origins))
                    }
                    None => self.without_known_prefix(value, pattern, longest),
                }
            }
            ParameterOperation::RemoveSuffix { longest, pattern } => {
                let pattern = self.operand_pattern(&pattern)?;
                match known {
                    Some(known) => {
                        let left = transform::without_suffix(known, pattern, longest, extended)?;
                        Some(Value::text(left, value.origins))
                    }
                    None => self.without_known_suffix(value, pattern, longest, extended),
                }
            }
            ParameterOperation::Replace { which, pattern, replacement } => {
                let pattern = self.operand_pattern(pattern);
                let replacement = match &replacement {
                    Some(word) => self.value(word),
                    None => Value::EMPTY,
                };
                let (pattern, new, known) = (pattern?, replacement.known()?, known?);
                if new.iter().any(|byte| matches!(byte, b'&' | b'\\')) {
                    // With `patsub_replacement` these are special.
                    return None;
                }
                if !self.budget.produce(known.len()) {
                    return None;
                }
                // bash looks for these in what the pattern expands to; in quotes they are escaped by now.
                let (which, pattern) = match (which, pattern) {
                    (Replace::First, [b'#', rest @ ..]) => (Replace::Prefix, rest),
                    (Replace::First, [b'%', rest @ ..]) => (Replace::Suffix, rest),
                    (Replace::First, [b'/', rest @ ..]) => (Replace::All, rest),
                    same => same,
                };
                let most = known.len().saturating_mul(4).saturating_add(1024);
                let replaced = transform::replace(known, pattern, new, which, extended, most)?;
                let mut value = text(&replaced);
                value.origins = value.origins.union(replacement.origins);
                Some(value)
            }
            ParameterOperation::Substring { offset, length } => {
                let first = self.arithmetic(offset).value;
                // Only where text begins at the offset is the length looked at.
                let count =
                    length.as_ref().map(|length| self.perhaps(|shell| shell.arithmetic(length).value));
                let (first, known) = (first?, known?);
                let length = match count {
                    None => None,
                    Some(count) => Some(count?),
                };
                let Some(left) = transform::substring(known, first, length) else {
                    if length.is_some_and(|length| length < 0) {
                        self.unpredictable("a substring that ends before it begins", span);
                    }
                    return None;
                };
                Some(Value::text(left, value.origins))
            }
            ParameterOperation::Case { operator, all, pattern } => {
                let pattern = self.operand_pattern(&pattern)?;
                Some(text(&transform::recase(known?, operator, all, pattern, extended)?))
            }
            ParameterOperation::Transform(letter) => match letter {
                b'U' => Some(text(&transform::recase(known?, b'^', true, b"", false)?)),
                b'u' => Some(text(&transform::recase(known?, b'^', false, b"", false)?)),
                b'L' => Some(text(&transform::recase(known?, b',', true, b"", false)?)),
                b'Q' => Some(text(&transform::quote(known?)?)),
                b'P' => {
                    // What a prompt holds is expanded like a word in double quotes.
                    if known.is_none_or(|text| text.contains(&b'$') || !is_plain_prompt(text)) {
                        self.unpredictable("prompt expansion of a value", span);
                    }
                    None
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// A pattern with which a value is changed, if it is known what it means: parentheses do so where it is known whether
    /// `extglob` is on.
    fn operand_pattern(&mut self, word: &Word<'_>) -> Option<&'a [u8]> {
        let pattern = self.pattern(word)?;
        let options = self.state.flow.options;
        let sure = options.is(Opt::ExtGlob) || !options.may(Opt::ExtGlob);
        (sure || !pattern.contains(&b'(')).then_some(pattern)
    }

    /// `${x##*/}` and literal prefixes of a value that is known in parts.
    fn without_known_prefix(
        &mut self,
        value: &Value<'a>,
        pattern: &[u8],
        longest: bool,
    ) -> Option<Value<'a>> {
        if !is_text_and_globs(value) {
            return None;
        }
        if pattern == b"*/" && longest {
            // What a pattern stands for holds no slash: the last one is in the known text.
            let slash =
                value.pieces().iter().rposition(|piece| matches!(piece, Piece::Text(t) if t.contains(&b'/')));
            let Some(index) = slash else { return Some(*value) };
            let pieces = value.pieces();
            let (Some(Piece::Text(text)), Some(after)) = (pieces.get(index), pieces.get(index + 1..)) else {
                return None;
            };
            let cut = text.iter().rposition(|byte| *byte == b'/')? + 1;
            return self.with_first(text.get(cut..)?, after, value.origins);
        }
        match (transform::literal(pattern)?, value.split_first()) {
            (literal, Some((Piece::Text(text), rest))) if text.len() >= literal.len() => {
                let left = text.strip_prefix(literal.as_slice()).unwrap_or(text);
                self.with_first(left, rest, value.origins)
            }
            _ => None,
        }
    }

    /// `${x%.*}` and literal suffixes of a value that is known in parts, if the match lies within its known end.
    fn without_known_suffix(
        &mut self,
        value: &Value<'a>,
        pattern: &[u8],
        longest: bool,
        extended: bool,
    ) -> Option<Value<'a>> {
        let Some((Piece::Text(text), rest)) = value.split_last() else { return None };
        let left = match transform::literal(pattern) {
            Some(literal) if text.len() >= literal.len() => {
                text.strip_suffix(literal.as_slice()).unwrap_or(text)
            }
            Some(_) => return None,
            None if longest => return None,
            None => {
                let left = transform::without_suffix(text, pattern, false, extended)?;
                if left.len() == text.len() {
                    return None;
                }
                left
            }
        };
        let mut pieces = rest.to_vec();
        if !left.is_empty() {
            pieces.push(Piece::Text(left));
        }
        Some(Value::of(self.arena, &pieces, value.origins))
    }

    fn with_first(&self, text: &'a [u8], rest: &[Piece<'a>], origins: Origins) -> Option<Value<'a>> {
        let mut pieces = Vec::with_capacity(rest.len() + 1);
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
        pieces.extend_from_slice(rest);
        Some(Value::of(self.arena, &pieces, origins))
    }
}

/// `${x##*/}`
fn is_base_name(operation: &ParameterOperation<'_>) -> bool {
    let ParameterOperation::RemovePrefix { longest: true, pattern } = operation else { return false };
    matches!(
        *pattern.parts(),
        [WordPart { kind: PartKind::Glob(b'*'), .. }, WordPart { kind: PartKind::Literal(b"/"), .. }]
    )
}

/// Puts a value into a word.
fn put<'a>(got: Got<'a>, quoted: bool, builder: &mut Builder<'a>) {
    match got {
        Got::One(value, true) if value.known().is_none() => builder.number(quoted, value.origins),
        Got::One(value, _) => builder.value(&value, quoted),
        Got::Unset if quoted => builder.begin(),
        Got::Unset => {}
        Got::Any(origins, true) if builder.mode() == Mode::Single => {
            builder.trusted(origins);
        }
        Got::Any(origins, _) => builder.any(quoted, origins),
    }
}

const fn origins_of(got: &Got<'_>) -> Origins {
    match got {
        Got::One(value, _) => value.origins,
        Got::Unset => Origins::NONE,
        Got::Any(origins, _) => *origins,
    }
}

/// Whether an expansion with a default uses the value or the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Value,
    Word,
    Either,
}

fn choice(got: &Got<'_>, colon: bool) -> Choice {
    match got {
        Got::Unset => Choice::Word,
        Got::Any(..) => Choice::Either,
        Got::One(..) if !colon => Choice::Value,
        Got::One(_, true) => Choice::Value,
        Got::One(value, false) => match value.known() {
            Some(b"") => Choice::Word,
            Some(_) => Choice::Value,
            None if value.pieces().iter().any(|piece| matches!(piece, Piece::Text(_))) => Choice::Value,
            None => Choice::Either,
        },
    }
}
