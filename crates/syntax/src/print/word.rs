//! Words: their parts, quotations and expansions.

use super::arithmetic::Until;
use super::{Context, Printer};
use crate::chars::is_name_byte;
use crate::{
    Brace, CommandSubstitution, Parameter, ParameterName, ParameterOperation, PartKind, Replace, Subscript,
    SubstitutionForm, Word, WordPart, is_name_start,
};

/// What follows a part, as far as the part has to be written in another way because of it.
#[derive(Clone, Copy)]
struct Next {
    /// The first byte of it; 0 at the end of a word.
    byte: u8,
    /// It is a brace expansion or a quotation that bash takes away before it reads names.
    joins: bool,
}

impl Context {
    /// Somewhere inside double quotes or what the shell treats alike.
    fn is_in_quotes(self) -> bool {
        !matches!(self, Self::Word | Self::Alternative | Self::Operand)
    }

    /// Where a backslash or quotation works as it does outside quotes.
    fn is_like_word(self) -> bool {
        matches!(self, Self::Word | Self::Alternative | Self::Operand | Self::QuotedPattern)
    }
}

impl<'t> Printer<'t> {
    /// Adjacent parts; `end` is the byte that follows the last of them, 0 if it cannot belong to a part.
    pub(super) fn parts(&mut self, parts: &[WordPart<'t>], context: Context, end: u8) {
        let in_pair = self.in_pair;
        for (index, part) in parts.iter().enumerate() {
            let next = match parts.get(index + 1) {
                Some(next) => Next {
                    byte: first_byte(next, context),
                    joins: match next.kind {
                        PartKind::Brace(_) => true,
                        PartKind::DoubleQuoted(_) => context == Context::QuotedOperand,
                        _ => false,
                    },
                },
                None => {
                    Next { byte: end, joins: matches!(context, Context::Alternative | Context::InnerQuotes) }
                }
            };
            self.part(part, context, next);
        }
        self.in_pair = in_pair;
    }

    /// The parts of an expression, each piece of text in double quotes. What needs a backslash stands outside of them,
    /// because in a here-document's `${…}` there may be none inside.
    pub(super) fn in_pieces(&mut self, parts: &[WordPart<'t>]) {
        let is_text = |part: &WordPart<'_>| match part.kind {
            PartKind::Quoted(text) => !matches!(text, [b'$' | b'`' | b'\\' | b'"'] | [b'\\', _]),
            _ => false,
        };
        for (index, part) in parts.iter().enumerate() {
            if is_text(part) {
                self.put(b"\"");
                self.parts(std::slice::from_ref(part), Context::DoubleQuoted, b'"');
                self.put(b"\"");
                continue;
            }
            let byte = match parts.get(index + 1) {
                Some(next) if is_text(next) => b'"',
                Some(next) => first_byte(next, Context::Arithmetic),
                None => 0,
            };
            self.part(part, Context::Arithmetic, Next { byte, joins: false });
        }
    }

    fn part(&mut self, part: &WordPart<'t>, context: Context, next: Next) {
        match part.kind {
            PartKind::Literal(text) => self.put(text),
            PartKind::Quoted(text) if context.is_like_word() => {
                for byte in text {
                    self.put(&[b'\\', *byte]);
                }
            }
            PartKind::Quoted(text) => self.quoted(text, context, next.byte),
            PartKind::SingleQuoted(text) => {
                self.put(b"'");
                self.put(text);
                self.put(b"'");
            }
            PartKind::AnsiC(text) => self.ansi_c(text),
            PartKind::DoubleQuoted(parts) => {
                self.put(b"\"");
                let inner = match context {
                    Context::QuotedOperand => Context::InnerQuotes,
                    _ => Context::DoubleQuoted,
                };
                self.parts(parts, inner, b'"');
                self.put(b"\"");
            }
            PartKind::Locale(parts) => {
                self.put(b"$\"");
                self.parts(parts, Context::DoubleQuoted, b'"');
                self.put(b"\"");
            }
            PartKind::Glob(byte) => self.out.push(byte),
            PartKind::ExtendedGlob(glob) => {
                self.out.push(glob.operator);
                for (index, pattern) in glob.patterns.iter().enumerate() {
                    self.put(if index > 0 { b"|" } else { b"(" });
                    self.parts(&pattern.parts(), Context::Word, 0);
                }
                self.put(b")");
            }
            PartKind::Brace(Brace::List(words)) => {
                for (index, word) in words.iter().enumerate() {
                    self.put(if index > 0 { b"," } else { b"{" });
                    self.parts(&word.parts(), Context::Alternative, 0);
                }
                self.put(b"}");
            }
            PartKind::Brace(Brace::Range(range)) => {
                self.put(b"{");
                self.put(range.first);
                self.put(b"..");
                self.put(range.last);
                if let Some(step) = range.step {
                    self.put(b"..");
                    self.put(step);
                }
                self.put(b"}");
            }
            PartKind::Tilde(login) => {
                self.put(b"~");
                self.put(login);
            }
            PartKind::Parameter(parameter) => self.parameter(parameter, context, next),
            PartKind::CommandSubstitution(substitution) => self.command_substitution(substitution, context),
            PartKind::ProcessSubstitution(substitution) => {
                self.put(if substitution.output { b">(" } else { b"<(" });
                self.substitution(&substitution.script, false);
            }
            PartKind::Arithmetic(expression) if expression.brackets => {
                self.put(b"$[");
                self.expression(expression, Until::Bracket);
                self.put(b"]");
            }
            PartKind::Arithmetic(expression) => {
                self.put(b"$((");
                self.expression(expression, Until::Parenthesis);
                self.put(b"))");
            }
            PartKind::ArrayAssignment(assignment) => self.assignment(assignment),
        }
    }

    /// Text where only some characters are special. The parser makes a part of its own of each of those.
    fn quoted(&mut self, text: &[u8], context: Context, next: u8) {
        let escaped = match text {
            [b'$'] => opens_expansion(next, context),
            [b'`' | b'\\'] => true,
            [b'"'] => !matches!(context, Context::HereDocument | Context::InnerQuotes),
            [b'}'] => context == Context::QuotedOperand && !self.in_pair,
            _ => false,
        };
        if escaped {
            self.put(b"\\");
        } else if text == b"'" && matches!(context, Context::QuotedOperand | Context::Arithmetic) {
            self.in_pair = !self.in_pair;
        }
        self.put(text);
        // At the end of a text a backslash stands for itself; here something follows it.
        if !escaped && text.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1 {
            self.put(b"\\");
        }
    }

    /// `$'…'`
    fn ansi_c(&mut self, text: &[u8]) {
        self.put(b"$'");
        for byte in text {
            match byte {
                b'\'' | b'\\' => self.put(&[b'\\', *byte]),
                b'\n' if !self.without_backslash => self.put(b"\\n"),
                // bash uses these two itself, and they are refused in a text.
                0x01 => self.put(b"\\001"),
                0x7f => self.put(b"\\177"),
                _ => self.out.push(*byte),
            }
        }
        self.put(b"'");
    }

    fn command_substitution(&mut self, substitution: &CommandSubstitution<'t>, context: Context) {
        match substitution.form {
            SubstitutionForm::Dollar => {
                self.put(b"$(");
                self.substitution(&substitution.script, false);
            }
            SubstitutionForm::Current => {
                self.put(b"${");
                self.substitution(&substitution.script, true);
            }
            SubstitutionForm::Reply => {
                self.put(b"${|");
                self.substitution(&substitution.script, true);
            }
            SubstitutionForm::Backquote => {
                self.backquoted(&substitution.script, context == Context::DoubleQuoted);
            }
        }
    }

    fn parameter(&mut self, parameter: &Parameter<'t>, context: Context, next: Next) {
        let plain = !parameter.indirect()
            && parameter.subscript().is_none()
            && matches!(parameter.operation(), ParameterOperation::None);
        let needs_braces = match parameter.name {
            ParameterName::Variable(_) => next.joins || is_name_byte(next.byte),
            ParameterName::Positional(number) => number > 9,
            ParameterName::Special(b'$') => {
                let like_word = matches!(
                    context,
                    Context::Word | Context::Alternative | Context::DoubleQuoted | Context::HereDocument
                );
                matches!(next.byte, b'{' | b'(' | b'[') || (!like_word && matches!(next.byte, b'\'' | b'"'))
            }
            ParameterName::Special(_) => false,
        };
        if plain && !needs_braces {
            self.put(b"$");
            return self.parameter_name(parameter.name);
        }
        self.put(b"${");
        let names = matches!(
            parameter.operation(),
            ParameterOperation::Names { .. } | ParameterOperation::Keys { .. }
        );
        if parameter.indirect() || names {
            self.put(b"!");
        }
        if matches!(parameter.operation(), ParameterOperation::Length) {
            self.put(b"#");
        }
        self.parameter_name(parameter.name);
        match &parameter.subscript() {
            None => {}
            Some(Subscript::At) => self.put(b"[@]"),
            Some(Subscript::Star) => self.put(b"[*]"),
            Some(Subscript::Index(index)) => {
                self.put(b"[");
                self.expression(index, Until::BracketInBraces);
                self.put(b"]");
            }
        }
        self.operation(&parameter.operation(), context);
        self.put(b"}");
    }

    fn parameter_name(&mut self, name: ParameterName<'_>) {
        match name {
            ParameterName::Variable(name) => self.put(name),
            ParameterName::Positional(number) => self.put(number.to_string().as_bytes()),
            ParameterName::Special(byte) => self.out.push(byte),
        }
    }

    fn operation(&mut self, operation: &ParameterOperation<'t>, context: Context) {
        let pattern = if context.is_in_quotes() { Context::QuotedPattern } else { Context::Operand };
        let operand = match pattern {
            Context::QuotedPattern if context != Context::QuotedPattern => Context::QuotedOperand,
            _ => pattern,
        };
        match operation {
            ParameterOperation::None | ParameterOperation::Length | ParameterOperation::Keys { .. } => {}
            ParameterOperation::Default { colon, word } => self.operand(*colon, b"-", word, operand),
            ParameterOperation::Assign { colon, word } => self.operand(*colon, b"=", word, operand),
            ParameterOperation::Error { colon, word } => self.operand(*colon, b"?", word, operand),
            ParameterOperation::Alternative { colon, word } => self.operand(*colon, b"+", word, operand),
            ParameterOperation::RemovePrefix { longest, pattern: word } => {
                self.operand(false, if *longest { b"##" } else { b"#" }, word, pattern);
            }
            ParameterOperation::RemoveSuffix { longest, pattern: word } => {
                self.operand(false, if *longest { b"%%" } else { b"%" }, word, pattern);
            }
            ParameterOperation::Replace { which, pattern: word, replacement } => {
                let operator: &[u8] = match which {
                    Replace::First => b"/",
                    Replace::All => b"//",
                    Replace::Prefix => b"/#",
                    Replace::Suffix => b"/%",
                };
                self.operand(false, operator, word, pattern);
                if let Some(replacement) = replacement {
                    self.operand(false, b"/", replacement, pattern);
                }
            }
            ParameterOperation::Substring { offset, length } => {
                self.put(b":");
                match length {
                    // An offset without text may stand before a length, but not before the brace.
                    Some(_) if offset.parts.is_empty() => {}
                    _ => self.expression(offset, Until::Offset),
                }
                if let Some(length) = length {
                    self.put(b":");
                    self.expression(length, Until::Length);
                }
            }
            ParameterOperation::Case { operator, all, pattern: word } => {
                let doubled = [*operator; 2];
                self.operand(
                    false,
                    if *all { &doubled } else { doubled.get(..1).unwrap_or(&[]) },
                    word,
                    pattern,
                );
            }
            ParameterOperation::ScriptPath => {}
            ParameterOperation::Transform(letter) => self.put(&[b'@', *letter]),
            ParameterOperation::Names { separate } => self.put(if *separate { b"@" } else { b"*" }),
        }
    }

    fn operand(&mut self, colon: bool, operator: &[u8], word: &Word<'t>, context: Context) {
        self.put(if colon { b":" } else { b"" });
        self.put(operator);
        self.parts(&word.parts(), context, 0);
    }
}

/// Whether a dollar sign before the byte would begin an expansion or quotation.
fn opens_expansion(next: u8, context: Context) -> bool {
    let plain_quotes =
        matches!(context, Context::DoubleQuoted | Context::InnerQuotes | Context::HereDocument);
    match next {
        b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' | b'(' | b'{' | b'[' => true,
        b'\'' | b'"' => !plain_quotes,
        _ => is_name_start(next) || next.is_ascii_digit(),
    }
}

/// The first byte that is written for the part.
fn first_byte(part: &WordPart<'_>, context: Context) -> u8 {
    match part.kind {
        PartKind::Quoted(_) if context.is_like_word() => b'\\',
        PartKind::Literal(text) | PartKind::Quoted(text) => text.first().copied().unwrap_or(0),
        PartKind::SingleQuoted(_) => b'\'',
        PartKind::DoubleQuoted(_) => b'"',
        PartKind::AnsiC(_) | PartKind::Locale(_) | PartKind::Parameter(_) | PartKind::Arithmetic(_) => b'$',
        PartKind::Glob(byte) => byte,
        PartKind::ExtendedGlob(glob) => glob.operator,
        PartKind::Brace(_) => b'{',
        PartKind::Tilde(_) => b'~',
        PartKind::CommandSubstitution(substitution) => match substitution.form {
            SubstitutionForm::Backquote => b'`',
            _ => b'$',
        },
        PartKind::ProcessSubstitution(substitution) => match substitution.output {
            true => b'>',
            false => b'<',
        },
        PartKind::ArrayAssignment(assignment) => assignment.name.first().copied().unwrap_or(0),
    }
}
