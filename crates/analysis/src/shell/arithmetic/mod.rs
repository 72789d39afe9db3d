//! Arithmetic: `$(( ))`, `(( ))`, `let`, subscripts, and every other place where the shell evaluates text.
//!
//! Evaluation is a way for data to become code: the value of a variable is evaluated in turn, and the subscript of an
//! array element is expanded, so that `x='a[$(id)]'; echo $((x))` runs `id` (bash(1), ARITHMETIC EVALUATION). What is
//! not known and may hold such text is therefore an `Unknown` effect.

mod evaluate;
mod lexer;

use super::Interpreter;
use super::state::{Content, Flags, Space};
use super::words::{Got, Mode};
use crate::value::{Origins, Value};
use shward_syntax::{Arithmetic, Dialect, Span, Word};

/// The result of an evaluation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evaluated {
    /// The number, if known.
    pub(super) value: Option<i64>,
    /// Where the numbers in it come from.
    pub(super) origins: Origins,
}

impl Evaluated {
    const UNKNOWN: Self = Self { value: None, origins: Origins::UNKNOWN };
}

impl<'a> Interpreter<'a, '_> {
    /// Expands and evaluates an expression.
    pub(super) fn arithmetic(&mut self, expression: &Arithmetic<'_>) -> Evaluated {
        self.arithmetic_parts(expression.parts, expression.span)
    }

    /// Expands a word and evaluates it (`[[ x -eq y ]]`, `let`, integer variables).
    pub(super) fn arithmetic_word(&mut self, word: &Word<'_>) -> Evaluated {
        self.arithmetic_parts(&word.parts(), word.span())
    }

    fn arithmetic_parts(&mut self, parts: &[shward_syntax::WordPart<'_>], span: Span) -> Evaluated {
        if !self.budget.enter() {
            return Evaluated::UNKNOWN;
        }
        if self.dialect == Dialect::Posix {
            // dash knows less of it than bash (`x++`), and is ended by what it does not.
            self.shell_may_end();
        }
        let (text, value, knowable) = self.build(Mode::Single, parts, Span::default(), |shell, builder| {
            let text = &*shell.arena.alloc_slice_copy(builder.arithmetic_text());
            (text, builder.finish_value(), !builder.has_unknown_text())
        });
        let result = if knowable {
            self.evaluate(text, value.origins, span)
        } else {
            self.unpredictable("arithmetic on text that is not known", span);
            Evaluated { value: None, origins: value.origins }
        };
        self.budget.leave();
        result
    }

    /// Evaluates a value that some builtin or attribute evaluates.
    pub(super) fn arithmetic_value(&mut self, value: &Value<'a>, number: bool, span: Span) -> Evaluated {
        match value.known() {
            Some(text) => self.evaluate(text, value.origins, span),
            None if number => Evaluated { value: None, origins: value.origins },
            None => {
                self.unpredictable("arithmetic on text that is not known", span);
                Evaluated { value: None, origins: value.origins }
            }
        }
    }

    /// Evaluates text in which a NUL stands for a number that is not known.
    fn evaluate(&mut self, text: &'a [u8], origins: Origins, span: Span) -> Evaluated {
        if !self.budget.spend(text.len() / 4 + 1) || !self.budget.repeats(3) || !self.budget.enter() {
            return Evaluated::UNKNOWN;
        }
        let mut evaluation = evaluate::Evaluation::new(self, text, origins, span);
        let result = evaluation.run();
        self.budget.leave();
        result
    }

    /// The number that a variable stands for in an expression.
    fn number_of(&mut self, name: &'a [u8], span: Span) -> Evaluated {
        match self.lookup(name, span) {
            Got::Unset => Evaluated { value: Some(0), origins: Origins::LITERAL },
            Got::One(value, number) => self.arithmetic_value(&value, number, span),
            Got::Any(origins, true) => Evaluated { value: None, origins },
            Got::Any(origins, false) => {
                self.unpredictable("arithmetic on a variable that is not known", span);
                Evaluated { value: None, origins }
            }
        }
    }

    /// The number that an array element stands for in an expression.
    fn number_of_element(&mut self, name: &'a [u8], subscript: &'a [u8], span: Span) -> Evaluated {
        let origins = self.state.get(Space::Variable, name).origins();
        if subscript.is_empty() {
            // An error is told, and the value is 0.
            return Evaluated { value: None, origins };
        }
        let key = self.key_of_text(name, subscript, span);
        let elements = self.elements(name, span);
        match (key, elements) {
            (Some(key), Some(elements)) => match elements.iter().find(|element| element.key == key) {
                Some(element) => self.arithmetic_value(&element.value, false, span),
                // It counts from the end.
                None if key.starts_with(b"-") => {
                    for element in &elements {
                        self.arithmetic_value(&element.value, false, span);
                    }
                    Evaluated { value: None, origins }
                }
                None => Evaluated { value: Some(0), origins },
            },
            (_, Some(elements)) => {
                // It is one of them.
                for element in &elements {
                    self.arithmetic_value(&element.value, false, span);
                }
                Evaluated { value: None, origins }
            }
            (_, None) => {
                let slot = self.state.get(Space::Variable, name);
                if !slot.flags.has(Flags::NUMBER) && slot.content != Content::Initial {
                    self.unpredictable("arithmetic on an array that is not known", span);
                }
                Evaluated { value: None, origins }
            }
        }
    }

    /// Gives a variable a number.
    fn assign_number(&mut self, name: &'a [u8], number: Evaluated, span: Span) {
        let value = match number.value {
            Some(number) if self.unsure == 0 => self.decimal(number),
            _ => Value::unknown(number.origins),
        };
        self.assign(name, value, true, span);
    }

    /// A number as text.
    pub(super) fn decimal(&self, number: i64) -> Value<'a> {
        Value::text(self.arena.alloc_str(&number.to_string()).as_bytes(), Origins::LITERAL)
    }

    /// The key that a subscript stands for: a decimal index, or a text for associative arrays. `None`: not known.
    pub(super) fn key(&mut self, name: &'a [u8], subscript: &Arithmetic<'_>) -> Option<&'a [u8]> {
        if subscript.parts.is_empty() {
            self.may_end_line();
        }
        let name = self.dereference(name, subscript.span)?;
        if self.state.get(Space::Variable, name).flags.has(Flags::ASSOCIATIVE) {
            let key = self.value_of(subscript.parts, subscript.span).known()?;
            // Single quotes and backslashes are taken away from what is written there.
            let is_quoting = |byte: &u8| matches!(byte, b'\'' | b'\\');
            let written = self.text.get(subscript.span.start as usize..subscript.span.end as usize);
            return match key {
                [b'\'', inner @ .., b'\''] if written == Some(key) && !inner.iter().any(is_quoting) => {
                    Some(inner)
                }
                _ => (!key.iter().any(is_quoting)).then_some(key),
            };
        }
        let index = self.arithmetic(subscript).value?;
        Some(self.arena.alloc_str(&index.to_string()).as_bytes())
    }

    /// The same for a subscript inside text that is evaluated, which is expanded once more.
    pub(super) fn key_of_text(
        &mut self,
        name: &'a [u8],
        subscript: &'a [u8],
        span: Span,
    ) -> Option<&'a [u8]> {
        if subscript.iter().any(|byte| matches!(byte, b'$' | b'`' | b'\\' | b'\'' | b'"' | 0)) {
            if subscript.iter().any(|byte| matches!(byte, b'$' | b'`')) {
                self.unpredictable("a subscript that is expanded when it is evaluated", span);
            }
            return None;
        }
        if self.state.get(Space::Variable, name).flags.has(Flags::ASSOCIATIVE) {
            return Some(subscript);
        }
        let index = self.evaluate(subscript, Origins::LITERAL, span).value?;
        Some(self.arena.alloc_str(&index.to_string()).as_bytes())
    }
}
