//! Words to values: brace, tilde, parameter, command and arithmetic expansion, splitting, patterns, quote removal, in
//! the shell's order (POSIX XCU 2.6, bash(1) EXPANSION).

mod brace;
mod builder;
mod lookup;
mod operation;
mod parameter;
mod pattern;
mod pieces;
mod printed;
mod prompt;
mod substitution;
mod transform;
mod wide;

pub(super) use builder::{Builder, Mode, Separators};
pub(super) use lookup::{Got, SOME_SHELL, is_name, is_set_anew};
pub(super) use prompt::is_plain_prompt;

use self::printed::is_substitution;
use super::Interpreter;
use super::flow::Opt;
use super::state::{Content, Space};
use crate::effect::Unknown;
use crate::value::{Field, Origins, Value};
use shward_syntax::{Dialect, PartKind, Span, Word, WordPart};

/// A word of more parts is not followed in any case.
const LONG: usize = 4096;

/// What is known of a value besides its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// Nothing.
    Text,
    /// It is a number.
    Number,
    /// Whatever it is, or if it is nothing: arithmetic may evaluate it without harm.
    Trusted,
}

impl<'a> Interpreter<'a, '_> {
    /// Expands words to an argument list.
    pub(super) fn fields(&mut self, words: &[Word<'_>]) -> Vec<Field<'a>> {
        if !self.budget.follows(words.len()) {
            return Vec::new();
        }
        let mut out = Vec::with_capacity(words.len());
        for word in words {
            self.expand(word, &mut out);
        }
        out
    }

    /// Expands one word to any number of fields.
    pub(super) fn expand(&mut self, word: &Word<'_>, out: &mut Vec<Field<'a>>) {
        if !self.budget.spend(1) {
            return;
        }
        let span = self.span(word.span());
        match &*word.parts() {
            // Most words are one literal.
            [
                WordPart {
                    kind: PartKind::Literal(text) | PartKind::SingleQuoted(text) | PartKind::Quoted(text),
                    ..
                },
            ]
            | [
                WordPart {
                    kind: PartKind::DoubleQuoted([WordPart { kind: PartKind::Quoted(text), .. }]),
                    ..
                },
            ] => {
                let value = Value::text(self.lasting(text), Origins::LITERAL);
                out.push(Field { value, span, many: false });
            }
            parts if parts.len() > LONG && !self.budget.follows_parts(parts.len()) => {}
            parts if parts.iter().any(|part| matches!(part.kind, PartKind::Brace(_))) => {
                for alternative in self.braces(word.parts(), span, out) {
                    self.expand_parts(span, out, |shell, builder| {
                        alternative
                            .iter()
                            .for_each(|part| part.with(|part| shell.part(part, false, builder)));
                    });
                }
            }
            parts => self.expand_parts(span, out, |shell, builder| {
                builder.lone = is_substitution(parts);
                parts.iter().for_each(|part| shell.part(part, false, builder));
            }),
        }
    }

    fn expand_parts(
        &mut self,
        span: Span,
        out: &mut Vec<Field<'a>>,
        put: impl FnOnce(&mut Self, &mut Builder<'a>),
    ) {
        let before = out.len();
        self.build_of(Mode::Fields, span, put, |_, builder| builder.finish_fields(out));
        let options = self.state.flow.options;
        if out.iter().skip(before).any(|field| wide::means_more(&field.value, options)) {
            // What is known of the word stays, so that an option never relaxes; what it means besides is not followed.
            self.unknown(Unknown::Construct("a pattern that means more names by an option"), span);
        }
        self.budget.divide(out.len().saturating_sub(before));
        if out.len() > LONG {
            self.budget.follows(out.len());
        }
    }

    /// Expands a word to exactly one value, without splitting and globs: assignments, `case`, here-strings.
    pub(super) fn value(&mut self, word: &Word<'_>) -> Value<'a> {
        self.value_of(&word.parts(), word.span())
    }

    /// Expands parts to one value.
    pub(super) fn value_of(&mut self, parts: &[WordPart<'_>], span: Span) -> Value<'a> {
        let span = self.span(span);
        self.build(Mode::Single, parts, span, |_, builder| builder.finish_value())
    }

    /// Expands a word to one value, and tells what is known of it when its text is not.
    pub(super) fn value_and_kind(&mut self, word: &Word<'_>) -> (Value<'a>, Known) {
        let span = self.span(word.span());
        self.build(Mode::Single, &word.parts(), span, |_, builder| {
            let kind = match () {
                () if builder.is_number() => Known::Number,
                () if builder.is_trusted() => Known::Trusted,
                () => Known::Text,
            };
            (builder.finish_value(), kind)
        })
    }

    /// Expands a word to a pattern; `None` if it is not wholly known.
    pub(super) fn pattern(&mut self, word: &Word<'_>) -> Option<&'a [u8]> {
        let pattern = match &*word.parts() {
            [] => return Some(b""),
            [WordPart { kind: PartKind::Literal(text), .. }] if !text.contains(&b'\\') => {
                Some(self.lasting(text))
            }
            parts => {
                let span = self.span(word.span());
                self.build(Mode::Pattern, parts, span, |_, builder| builder.finish_pattern())
            }
        };
        // Whether `[^` negates is left open by POSIX (XBD 9.3.5); in dash it does not.
        pattern.filter(|text| self.dialect == Dialect::Bash || !text.windows(2).any(|pair| pair == b"[^"))
    }

    /// Expands parts into a builder of its own and takes the result from it.
    pub(super) fn build<R>(
        &mut self,
        mode: Mode,
        parts: &[WordPart<'_>],
        span: Span,
        take: impl FnOnce(&mut Self, &mut Builder<'a>) -> R,
    ) -> R {
        let followed = parts.len() <= LONG || self.budget.follows_parts(parts.len());
        let put = |shell: &mut Self, builder: &mut Builder<'a>| match followed {
            true => {
                builder.lone = is_substitution(parts);
                parts.iter().for_each(|part| shell.part(part, false, builder));
            }
            false => builder.unknown(true, Origins::UNKNOWN),
        };
        self.build_of(mode, span, put, take)
    }

    /// The same of what `put` puts into the builder.
    fn build_of<R>(
        &mut self,
        mode: Mode,
        span: Span,
        put: impl FnOnce(&mut Self, &mut Builder<'a>),
        take: impl FnOnce(&mut Self, &mut Builder<'a>) -> R,
    ) -> R {
        let mut builder = self.spare.pop().unwrap_or_else(|| Builder::new(self.arena));
        let options = self.state.flow.options;
        builder.start(mode, self.separators(), !options.is(Opt::NoGlob), options.may(Opt::ExtGlob), span);
        put(self, &mut builder);
        match builder.referred() {
            Some(text) => self.budget.repeat(text.len()),
            None => self.budget.produce(builder.made()),
        };
        if options.may(Opt::FailGlob) {
            self.may_end_line();
        }
        let result = take(self, &mut builder);
        if !builder.is_large() {
            self.spare.push(builder);
        }
        result
    }

    /// Whether characters are written in UTF-8 (locale(7)). A locale that nothing is known of is believed to say so.
    fn is_in_utf8(&mut self) -> bool {
        for name in [&b"LC_ALL"[..], b"LC_CTYPE", b"LANG"] {
            let initial = self.state.get(Space::Variable, name).content == Content::Initial;
            match self.lookup(name, Span::default()) {
                Got::Unset => {}
                Got::One(value, _) if value.known() == Some(b"") => {}
                Got::One(value, _) => {
                    let name = value.known().unwrap_or_default().to_ascii_lowercase();
                    return name.ends_with(b".utf-8") || name.ends_with(b".utf8");
                }
                Got::Any(..) => return initial,
            }
        }
        false
    }

    /// The field separators in force.
    fn separators(&mut self) -> Separators<'a> {
        match self.state.get(Space::Variable, b"IFS").content {
            Content::Initial | Content::Unset => Separators::DEFAULT,
            // What one character is depends on the locale.
            Content::Scalar(value) => {
                value.known().filter(|text| text.is_ascii()).map_or(Separators::Unknown, Separators::Known)
            }
            _ => Separators::Unknown,
        }
    }

    /// Expands the parts of an operand (`${x:-operand}`) into the word around it.
    fn operand(&mut self, parts: &[WordPart<'_>], quoted: bool, builder: &mut Builder<'a>) {
        let outer = builder.operand;
        builder.operand = true;
        for part in parts {
            match part.kind {
                // In a command substitution, bash forgets these quotes.
                PartKind::AnsiC(text) if !quoted && !text.iter().all(is_plain) => {
                    builder.unknown(false, Origins::LITERAL);
                }
                _ => self.part(part, quoted, builder),
            }
        }
        builder.operand = outer;
    }

    /// Expands one part of a word.
    pub(super) fn part(&mut self, part: &WordPart<'_>, quoted: bool, builder: &mut Builder<'a>) {
        if !self.budget.spend(1) || !self.budget.holds(builder.made(), builder.fields()) {
            builder.unknown(quoted, Origins::UNKNOWN);
            return;
        }
        match part.kind {
            PartKind::Literal(text) if quoted => builder.quoted(text),
            PartKind::Literal(text) => builder.literal(text),
            // The bytes of a character that is told by its number depend on the locale.
            PartKind::AnsiC(text) if !text.is_ascii() && !self.is_in_utf8() => {
                builder.unknown(true, Origins::LITERAL);
            }
            PartKind::Quoted(text) | PartKind::SingleQuoted(text) | PartKind::AnsiC(text) => {
                builder.quoted(text)
            }
            PartKind::DoubleQuoted(parts) | PartKind::Locale(parts) => self.double_quoted(parts, builder),
            PartKind::Glob(byte) if quoted => builder.quoted(&[byte]),
            PartKind::Glob(byte) => builder.glob(byte),
            PartKind::ExtendedGlob(pattern) => {
                let mut text = vec![pattern.operator, b'('];
                let mut known = true;
                for (index, alternative) in pattern.patterns.iter().enumerate() {
                    if index > 0 {
                        text.push(b'|');
                    }
                    match self.pattern(alternative) {
                        Some(alternative) => text.extend_from_slice(alternative),
                        None => known = false,
                    }
                }
                text.push(b')');
                if known {
                    builder.extended_pattern(&text);
                } else {
                    builder.unknown(quoted, Origins::UNKNOWN);
                }
            }
            PartKind::Brace(brace) => self.nested_brace(brace, quoted, builder),
            PartKind::Tilde(name) => self.tilde(name, builder),
            PartKind::Parameter(parameter) => {
                if self.budget.enter() {
                    self.parameter(parameter, part.span, quoted || parameter.quoted, builder);
                    self.budget.leave();
                }
            }
            PartKind::CommandSubstitution(substitution) => {
                self.command_substitution(substitution, part.span, quoted || substitution.quoted, builder);
            }
            PartKind::ProcessSubstitution(substitution) => {
                // `<()` is nothing.
                if !substitution.script.items.is_empty() {
                    let plain = match self.lookup(b"IFS", Span::default()) {
                        Got::One(value, _) => value.known().is_some_and(|text| !text.iter().any(is_of_path)),
                        Got::Unset => true,
                        Got::Any(..) => false,
                    };
                    if !plain {
                        self.unpredictable("a path of a descriptor under other separators", part.span);
                    }
                    let name = self.process_substitution(substitution);
                    builder.quoted(name);
                }
            }
            PartKind::Arithmetic(expression) => {
                let result = self.arithmetic(expression);
                match result.value {
                    Some(number) => {
                        let text = self.arena.alloc_str(&number.to_string()).as_bytes();
                        builder.value(&Value::text(text, result.origins), quoted);
                    }
                    None => builder.number(quoted, result.origins),
                }
            }
            PartKind::ArrayAssignment(assignment) => {
                // bash assigns before `alias` and the like see that they cannot use it.
                self.assignment(assignment);
                self.unpredictable("an array for a builtin that takes none", part.span);
                builder.quoted(assignment.name);
                builder.quoted(b"=");
                builder.unknown(true, Origins::LITERAL);
            }
        }
    }

    /// `"…"`: exists even if empty, unless a list without elements is in it: bash then takes all of it for nothing.
    fn double_quoted(&mut self, parts: &[WordPart<'_>], builder: &mut Builder<'a>) {
        let list = parts.iter().any(parameter::is_list);
        if !list {
            builder.begin();
        }
        // Beside a list bash divides such text at quotes and some other characters, quoted or not.
        let divided = list && parts.len() > 1 && builder.divides_quoted();
        if divided {
            builder.unknown(false, Origins::UNKNOWN);
        }
        let before = builder.position();
        for part in parts {
            match part.kind {
                PartKind::Literal(text) => builder.quoted(text),
                _ => self.part(part, true, builder),
            }
            if list && parameter::is_changed_star(part) {
                // Beside a list, `${*%x}` is one as well.
                builder.unknown(false, Origins::UNKNOWN);
            }
        }
        if divided {
            builder.unknown(false, Origins::UNKNOWN);
        }
        if list && builder.vanish(&before) && parts.len() > 1 && self.dialect == Dialect::Posix {
            // In dash what stands beside the list is a field all the same.
            builder.unknown(false, Origins::LITERAL);
        }
    }

    /// A tilde prefix.
    fn tilde(&mut self, name: &[u8], builder: &mut Builder<'a>) {
        let value = match name {
            b"" => match self.lookup(b"HOME", Span::default()) {
                Got::One(value, _) => value,
                // dash leaves the tilde as it is, bash asks the list of accounts.
                Got::Unset if self.dialect == Dialect::Posix => Value::unknown(Origins::FILE),
                Got::Unset => Value::text(self.request.home, Origins::LITERAL),
                Got::Any(origins, _) => Value::unknown(origins),
            },
            // dash takes these two for names of users.
            b"+" | b"-" if self.dialect == Dialect::Posix => Value::unknown(Origins::FILE),
            b"+" => match self.lookup(b"PWD", Span::default()) {
                Got::One(value, _) => value,
                Got::Unset => Value::text(b"~+", Origins::LITERAL),
                Got::Any(origins, _) => Value::unknown(origins),
            },
            b"-" => match self.lookup(b"OLDPWD", Span::default()) {
                Got::One(value, _) => value,
                Got::Unset | Got::Any(..) => Value::unknown(Origins::FILE),
            },
            b"root" => Value::text(b"/root", Origins::LITERAL),
            _ => Value::unknown(Origins::FILE),
        };
        builder.value(&value, true);
    }

    /// `$PWD`.
    pub(super) fn working_directory(&self) -> Value<'a> {
        match self.state.flow.places.only() {
            Some(place) => Value::text(place, Origins::LITERAL),
            None => Value::unknown(Origins::FILE),
        }
    }

    /// A name that is known only when the script runs is used where the shell would evaluate what it holds.
    pub(super) fn unpredictable(&mut self, what: &'static str, span: Span) {
        let span = self.span(span);
        self.unknown(Unknown::Construct(what), span);
    }
}

/// Whether a byte means itself, with quotes and without.
const fn is_plain(byte: &u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'/')
}

/// Whether a byte may stand in `/dev/fd/63`, which bash divides as any text beside other expansions.
const fn is_of_path(byte: &u8) -> bool {
    matches!(byte, b'/' | b'd' | b'e' | b'v' | b'f' | b'0'..=b'9')
}
