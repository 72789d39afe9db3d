//! `${…}`: parameters and what is done with their values (POSIX 2.6.2, and bash's own operators).

use super::expansion::Context;
use super::operand::Operand;
use super::{Parser, Result};
use crate::ast::More;
use crate::chars::is_name_start;
use crate::cursor::END;
use crate::{
    ErrorCode, NoteKind, Parameter, ParameterName, ParameterOperation, PartKind, Replace, Span, Subscript,
};

/// The transformations that bash 5.2 knows: `${x@Q}` and so on.
const TRANSFORMATIONS: &[u8] = b"QEPAKakUuL";

/// How zsh and ksh say where the script lies that they read. What is written for any of them has it in a branch of its own.
const SCRIPT_PATHS: [&[u8]; 3] = [b"(%):-%x", b"(%):-%N", b".sh.file"];

/// A parameter expansion as far as it has been read.
struct Draft<'a> {
    name: ParameterName<'a>,
    more: More<'a>,
}

impl<'a> Parser<'a> {
    /// A braced parameter expansion, after the brace.
    pub(super) fn braced_parameter(&mut self, start: usize, context: Context) -> Result<()> {
        let opener = self.cursor.span_from(start);
        if matches!(self.cursor.peek(), b' ' | b'\t' | b'\n' | b'|') {
            return self.current_shell_substitution(start, context);
        }
        self.enter()?;
        let quoted = context.is_quoted();
        let mut parameter = Draft {
            name: ParameterName::Special(b'#'),
            more: More { subscript: None, indirect: false, operation: ParameterOperation::None },
        };
        if quoted && let Some(text) = self.script_path() {
            parameter.name = ParameterName::Variable(text);
            parameter.more.operation = ParameterOperation::ScriptPath;
            return self.end_of_parameter(parameter, start, opener, quoted);
        }
        let length = self.parameter_prefix(start, &mut parameter)?;
        if self.cursor.peek() == b'[' && matches!(parameter.name, ParameterName::Variable(_)) {
            self.require_bash(start, "several variables, or \"$@\"")?;
            parameter.more.subscript = Some(self.parameter_subscript()?);
        }
        if length {
            parameter.more.operation = ParameterOperation::Length;
        } else {
            let outer = self.in_document_operand;
            let word = matches!(self.cursor.peek(), b'-' | b'=' | b'?' | b'+')
                || (self.cursor.peek() == b':'
                    && matches!(self.cursor.peek_second(), b'-' | b'=' | b'?' | b'+'));
            self.in_document_operand |= context == Context::HereDocument && !word;
            parameter.more.operation = self.parameter_operation(start, &mut parameter, context, opener)?;
            self.in_document_operand = outer;
        }
        self.end_of_parameter(parameter, start, opener, quoted)
    }

    /// What is written for other shells than bash, up to the brace.
    fn script_path(&mut self) -> Option<&'a [u8]> {
        let rest = self.cursor.rest();
        let closed = |path: &&&[u8]| rest.strip_prefix(**path).is_some_and(|rest| rest.starts_with(b"}"));
        let text = rest.get(..SCRIPT_PATHS.iter().find(closed)?.len())?;
        self.cursor.advance(text.len());
        Some(text)
    }

    /// The brace behind a parameter.
    fn end_of_parameter(
        &mut self,
        parameter: Draft<'a>,
        start: usize,
        opener: Span,
        quoted: bool,
    ) -> Result<()> {
        match self.cursor.peek() {
            b'}' => self.cursor.advance(1),
            END => return self.unterminated(ErrorCode::UnterminatedParameter, opener, "`}`"),
            _ => return self.bad_substitution(start),
        }
        self.leave();
        if !quoted {
            self.note(NoteKind::ZshDiffers, start);
        }
        let Draft { name, more } = parameter;
        let more = match more {
            More { subscript: None, indirect: false, operation: ParameterOperation::None } => None,
            more => Some(&*self.arena.alloc(more)),
        };
        self.push(PartKind::Parameter(self.arena.alloc(Parameter { name, quoted, more })), start);
        Ok(())
    }

    fn bad_substitution<T>(&mut self, start: usize) -> Result<T> {
        self.fail_from(start, ErrorCode::BadSubstitution, "")
    }

    /// `#` for the length, `!` for indirection, and the parameter's name. True if the length is wanted.
    fn parameter_prefix(&mut self, start: usize, parameter: &mut Draft<'a>) -> Result<bool> {
        let first = self.cursor.peek();
        let second = self.cursor.peek_second();
        let mut ahead = self.cursor;
        ahead.advance(1);
        ahead.peek();
        let third = ahead.peek_second();
        let mut length = false;
        match first {
            b'#' => {
                let of_special =
                    matches!(second, b'@' | b'*' | b'?' | b'-' | b'#' | b'!' | b'$') && third == b'}';
                length = is_name_start(second) || second.is_ascii_digit() || of_special;
                if !length {
                    // These are errors rather than `$#` with an empty operand.
                    if matches!(second, b'%' | b':' | b'=' | b'+' | b'/') && third == b'}' {
                        return self.bad_substitution(start);
                    }
                    self.cursor.advance(1);
                    parameter.name = ParameterName::Special(b'#');
                    return Ok(false);
                }
                self.cursor.advance(1);
            }
            b'!' => {
                let of_special = matches!(second, b'@' | b'*' | b'#' | b'?')
                    && matches!(third, b'#' | b'%' | b':' | b'-' | b'=' | b'?' | b'+' | b'/' | b'@' | b'}');
                parameter.more.indirect = is_name_start(second) || second.is_ascii_digit() || of_special;
                if !parameter.more.indirect && matches!(second, b'@' | b'*' | b'#' | b'?') {
                    return self.bad_substitution(start);
                }
                if parameter.more.indirect {
                    self.require_bash(start, "eval, or case")?;
                    self.cursor.advance(1);
                }
            }
            _ => {}
        }
        parameter.name = self.parameter_name(start)?;
        Ok(length)
    }

    fn parameter_name(&mut self, start: usize) -> Result<ParameterName<'a>> {
        let first = self.cursor.peek();
        if is_name_start(first) {
            return Ok(ParameterName::Variable(self.name()));
        }
        if first.is_ascii_digit() {
            let mut number: u32 = 0;
            while let digit @ b'0'..=b'9' = self.cursor.peek() {
                number = match number.checked_mul(10).and_then(|n| n.checked_add(u32::from(digit - b'0'))) {
                    Some(number) => number,
                    None => return self.bad_substitution(start),
                };
                self.cursor.advance(1);
            }
            return Ok(match number {
                0 => ParameterName::Special(b'0'),
                _ => ParameterName::Positional(number),
            });
        }
        match first {
            b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' => {
                self.cursor.advance(1);
                Ok(ParameterName::Special(first))
            }
            END => {
                let opener = self.cursor.span_from(start);
                self.unterminated(ErrorCode::UnterminatedParameter, opener, "a parameter")
            }
            _ => self.bad_substitution(start),
        }
    }

    /// `[…]` after a name in `${…}`.
    fn parameter_subscript(&mut self) -> Result<Subscript<'a>> {
        let which = self.cursor.peek_second();
        if matches!(which, b'@' | b'*') {
            let mut ahead = self.cursor;
            ahead.advance(1);
            ahead.eat(which);
            if ahead.eat(b']') {
                self.cursor = ahead;
                return Ok(if which == b'@' { Subscript::At } else { Subscript::Star });
            }
        }
        let index = self.subscript_in_braces()?;
        Ok(Subscript::Index(self.arena.alloc(index)))
    }

    /// What follows the name, up to the closing brace.
    fn parameter_operation(
        &mut self,
        start: usize,
        parameter: &mut Draft<'a>,
        context: Context,
        opener: Span,
    ) -> Result<ParameterOperation<'a>> {
        let operator = self.cursor.peek();
        let next = self.cursor.peek_second();
        if parameter.more.indirect && next == b'}' && parameter.more.subscript.is_none() {
            let separate = operator == b'@';
            if (separate || operator == b'*') && matches!(parameter.name, ParameterName::Variable(_)) {
                parameter.more.indirect = false;
                self.cursor.advance(1);
                return Ok(ParameterOperation::Names { separate });
            }
        }
        match operator {
            b'}' => {
                if parameter.more.indirect
                    && matches!(parameter.more.subscript, Some(Subscript::At | Subscript::Star))
                {
                    parameter.more.indirect = false;
                    let separate = matches!(parameter.more.subscript, Some(Subscript::At));
                    return Ok(ParameterOperation::Keys { separate });
                }
                Ok(ParameterOperation::None)
            }
            b':' if matches!(next, b'-' | b'=' | b'?' | b'+') => {
                self.cursor.advance(1);
                self.conditional_operation(true, context, opener)
            }
            b':' if next == b'}' => self.bad_substitution(start),
            b':' => {
                self.cursor.advance(1);
                self.require_bash(start, "cut, or ${x#…} and ${x%…}")?;
                let offset = self.substring_expression(opener)?;
                let offset = &*self.arena.alloc(offset);
                let length = match self.cursor.eat(b':') {
                    true => {
                        let length = self.substring_expression(opener)?;
                        Some(&*self.arena.alloc(length))
                    }
                    false => None,
                };
                Ok(ParameterOperation::Substring { offset, length })
            }
            b'-' | b'=' | b'?' | b'+' => self.conditional_operation(false, context, opener),
            b'#' | b'%' => {
                self.cursor.advance(1);
                let longest = self.cursor.eat(operator);
                let pattern = self.operand(Operand::Pattern, context, opener)?;
                Ok(if operator == b'#' {
                    ParameterOperation::RemovePrefix { longest, pattern }
                } else {
                    ParameterOperation::RemoveSuffix { longest, pattern }
                })
            }
            b'/' => {
                self.cursor.advance(1);
                self.require_bash(start, "sed, or ${x#…} and ${x%…}")?;
                self.replacement(context, opener)
            }
            b'^' | b',' | b'~' if matches!(parameter.name, ParameterName::Special(b'-' | b'?' | b'#')) => {
                self.bad_substitution(start)
            }
            b'^' | b',' | b'~' => {
                self.cursor.advance(1);
                self.require_bash(start, "tr")?;
                let all = self.cursor.eat(operator);
                let pattern = self.operand(Operand::Pattern, context, opener)?;
                Ok(ParameterOperation::Case { operator, all, pattern })
            }
            b'@' if TRANSFORMATIONS.contains(&next) => {
                self.skip_two();
                self.require_bash(start, "")?;
                Ok(ParameterOperation::Transform(next))
            }
            END => self.unterminated(ErrorCode::UnterminatedParameter, opener, "`}`"),
            _ => self.bad_substitution(start),
        }
    }

    /// `-`, `=`, `?` or `+` and the word.
    fn conditional_operation(
        &mut self,
        colon: bool,
        context: Context,
        opener: Span,
    ) -> Result<ParameterOperation<'a>> {
        let operator = self.cursor.peek();
        self.cursor.advance(1);
        let word = self.operand(Operand::Word, context, opener)?;
        Ok(match operator {
            b'-' => ParameterOperation::Default { colon, word },
            b'=' => ParameterOperation::Assign { colon, word },
            b'?' => ParameterOperation::Error { colon, word },
            _ => ParameterOperation::Alternative { colon, word },
        })
    }

    /// After `${x/`.
    fn replacement(&mut self, context: Context, opener: Span) -> Result<ParameterOperation<'a>> {
        let which = match self.cursor.peek() {
            b'/' => Replace::All,
            b'#' => Replace::Prefix,
            b'%' => Replace::Suffix,
            _ => Replace::First,
        };
        if which != Replace::First {
            self.cursor.advance(1);
        }
        let kind = if which == Replace::All { Operand::GlobalPattern } else { Operand::SearchPattern };
        let pattern = self.operand(kind, context, opener)?;
        let pattern = &*self.arena.alloc(pattern);
        let replacement = match self.cursor.eat(b'/') {
            true => {
                let replacement = self.operand(Operand::Pattern, context, opener)?;
                Some(&*self.arena.alloc(replacement))
            }
            false => None,
        };
        Ok(ParameterOperation::Replace { which, pattern, replacement })
    }
}
