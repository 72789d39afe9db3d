//! `[[ ]]`.

use super::Interpreter;
use super::assign::split_subscript;
use super::state::Space;
use crate::value::Value;
use shward_syntax::{Span, Test};

impl<'a> Interpreter<'a, '_> {
    /// Evaluates a conditional expression for what its words do.
    pub(super) fn test(&mut self, expression: &Test<'_>) {
        if !self.budget.spend(1) || !self.budget.enter() {
            return;
        }
        match expression {
            Test::And(left, right) | Test::Or(left, right) => {
                self.test(left);
                self.perhaps(|shell| shell.test(right));
            }
            Test::Not(inner) | Test::Group(inner) => self.test(inner),
            Test::Unary(operator, word) => {
                let value = self.value(word);
                if matches!(*operator, b"-v" | b"-R") {
                    self.tested_variable(&value, word.span());
                }
            }
            Test::Binary(b"-eq" | b"-ne" | b"-lt" | b"-le" | b"-gt" | b"-ge", left, right) => {
                self.arithmetic_word(left);
                self.arithmetic_word(right);
            }
            Test::Binary(b"=~", left, right) => {
                let subject = self.value(left);
                self.value(right);
                // What it held is gone even where nothing matches.
                if self.state.find(Space::Variable, b"BASH_REMATCH").is_some() {
                    self.set_by_shell(b"BASH_REMATCH", subject.origins);
                }
            }
            Test::Binary(_, left, right) => {
                self.value(left);
                self.value(right);
            }
            Test::Word(word) => {
                self.value(word);
            }
        }
        self.budget.leave();
    }

    /// `-v name`: a subscript in the name is evaluated.
    pub(super) fn tested_variable(&mut self, name: &Value<'a>, span: Span) {
        match name.known() {
            Some(text) => {
                if let Some((name, subscript)) = split_subscript(text)
                    && !matches!(subscript, b"@" | b"*")
                {
                    self.key_of_text(name, subscript, span);
                }
            }
            None => self.unpredictable("a test of a variable whose name is not known", span),
        }
    }
}
