//! Evaluation by precedence climbing, with the operators of C plus `**` (bash(1), ARITHMETIC EVALUATION).

use super::Evaluated;
use super::lexer::{Token, token};
use crate::shell::Interpreter;
use crate::value::Origins;
use shward_syntax::{Dialect, Span};

/// One evaluation.
pub(super) struct Evaluation<'e, 'a, 'w> {
    shell: &'e mut Interpreter<'a, 'w>,
    text: &'a [u8],
    index: usize,
    next: Token<'a>,
    origins: Origins,
    span: Span,
    failed: bool,
    /// The operand is skipped by `&&`, `||` or `?:`: nothing is read or assigned.
    skipping: u32,
}

type Number = Option<i64>;

/// The precedence of the binary operators, loosest first (bash's own table).
fn precedence(operator: &str) -> Option<u8> {
    Some(match operator {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        "**" => 11,
        _ => return None,
    })
}

/// What an assignment operator computes.
fn assigning(operator: &str) -> Option<&'static str> {
    Some(match operator {
        "=" => "",
        "+=" => "+",
        "-=" => "-",
        "*=" => "*",
        "/=" => "/",
        "%=" => "%",
        "&=" => "&",
        "^=" => "^",
        "|=" => "|",
        "<<=" => "<<",
        ">>=" => ">>",
        _ => return None,
    })
}

impl<'e, 'a, 'w> Evaluation<'e, 'a, 'w> {
    pub(super) fn new(
        shell: &'e mut Interpreter<'a, 'w>,
        text: &'a [u8],
        origins: Origins,
        span: Span,
    ) -> Self {
        let (next, index) = token(text, 0, Token::End);
        Self { shell, text, index, next, origins, span, failed: false, skipping: 0 }
    }

    pub(super) fn run(&mut self) -> Evaluated {
        let value = if self.next == Token::End { Some(0) } else { self.comma() };
        if self.next != Token::End {
            self.failed = true;
        }
        if self.failed {
            // What is not arithmetic is an error and ends the command, but what was evaluated until then may have had
            // an effect, and the shell's idea of an error may be another one.
            self.shell.unpredictable("an arithmetic expression that is not understood", self.span);
        }
        Evaluated { value: if self.failed { None } else { value }, origins: self.origins }
    }

    fn advance(&mut self) -> Token<'a> {
        let current = self.next;
        let (next, index) = token(self.text, self.index, current);
        self.index = index;
        self.next = next;
        if current == Token::Bad {
            self.failed = true;
        }
        current
    }

    fn accept(&mut self, operator: &str) -> bool {
        let found = matches!(self.next, Token::Operator(next) if next == operator);
        if found {
            self.advance();
        }
        found
    }

    fn fail(&mut self) -> Number {
        self.failed = true;
        None
    }

    fn comma(&mut self) -> Number {
        let mut value = self.assignment();
        while !self.failed && self.accept(",") {
            value = self.assignment();
        }
        value
    }

    fn assignment(&mut self) -> Number {
        if self.failed || !self.shell.budget.spend(1) || !self.shell.budget.enter() {
            return self.fail();
        }
        let value = self.assignment_inner();
        self.shell.budget.leave();
        value
    }

    fn assignment_inner(&mut self) -> Number {
        if let Token::Name(_) | Token::Element(..) = self.next {
            let place = self.next;
            let (after, _) = token(self.text, self.index, place);
            if let Token::Operator(operator) = after
                && let Some(binary) = assigning(operator)
            {
                self.advance();
                self.advance();
                let old = if binary.is_empty() { Some(0) } else { self.read(place) };
                let new = self.assignment();
                let value = if binary.is_empty() { new } else { self.apply(binary, old, new) };
                self.write(place, value);
                return value;
            }
        }
        self.ternary()
    }

    fn ternary(&mut self) -> Number {
        let condition = self.binary(1);
        if self.failed || !self.accept("?") {
            return condition;
        }
        let yes = self.guarded(condition.map(|c| c != 0), Self::comma);
        if !self.accept(":") {
            return self.fail();
        }
        // An assignment behind the colon is an error: what stands there takes in no `=`.
        let no = self.guarded(condition.map(|c| c == 0), Self::nested_ternary);
        match condition {
            Some(0) => no,
            Some(_) => yes,
            None => None,
        }
    }

    fn nested_ternary(&mut self) -> Number {
        if self.failed || !self.shell.budget.spend(1) || !self.shell.budget.enter() {
            return self.fail();
        }
        let value = self.ternary();
        self.shell.budget.leave();
        value
    }

    /// Evaluates an operand that is evaluated only under a condition.
    fn guarded(&mut self, condition: Option<bool>, operand: impl FnOnce(&mut Self) -> Number) -> Number {
        match condition {
            Some(true) => operand(self),
            Some(false) => {
                self.skipping += 1;
                let value = operand(self);
                self.skipping -= 1;
                value
            }
            None => {
                let mark = self.shell.state.mark();
                self.shell.unsure += 1;
                let value = operand(self);
                self.shell.unsure -= 1;
                self.shell.perhaps_since(&mark);
                value
            }
        }
    }

    fn binary(&mut self, least: u8) -> Number {
        if !self.shell.budget.spend(1) || !self.shell.budget.enter() {
            return self.fail();
        }
        let mut left = self.unary();
        while let Token::Operator(operator) = self.next {
            let Some(level) = precedence(operator).filter(|level| *level >= least) else { break };
            if self.failed {
                break;
            }
            self.advance();
            left = match operator {
                "&&" => {
                    let right = self.guarded(left.map(|l| l != 0), |e| e.binary(level + 1));
                    match (left, right) {
                        (Some(0), _) => Some(0),
                        (Some(_), Some(r)) => Some(i64::from(r != 0)),
                        _ => None,
                    }
                }
                "||" => {
                    let right = self.guarded(left.map(|l| l == 0), |e| e.binary(level + 1));
                    match (left, right) {
                        (Some(l), _) if l != 0 => Some(1),
                        (Some(_), Some(r)) => Some(i64::from(r != 0)),
                        _ => None,
                    }
                }
                // `**` binds from the right.
                "**" => {
                    let right = self.binary(level);
                    self.apply("**", left, right)
                }
                _ => {
                    let right = self.binary(level + 1);
                    self.apply(operator, left, right)
                }
            };
        }
        self.shell.budget.leave();
        left
    }

    fn unary(&mut self) -> Number {
        if !self.shell.budget.spend(1) || !self.shell.budget.enter() {
            return self.fail();
        }
        let value = match self.advance() {
            Token::Operator("!") => self.unary().map(|v| i64::from(v == 0)),
            Token::Operator("~") => self.unary().map(|v| !v),
            Token::Operator("-") => self.unary().map(i64::wrapping_neg),
            Token::Operator("+") => self.unary(),
            // For dash they are two signs.
            Token::Operator("++" | "--") if self.shell.dialect == Dialect::Posix => self.fail(),
            Token::Operator(step @ ("++" | "--")) => match self.next {
                place @ (Token::Name(_) | Token::Element(..)) => {
                    self.advance();
                    let value = self.read(place).map(|v| stepped(v, step));
                    self.write(place, value);
                    value
                }
                // Two signs.
                _ => self.unary(),
            },
            Token::Operator("(") => {
                let value = self.comma();
                if !self.accept(")") {
                    self.fail();
                }
                value
            }
            Token::Number(number) => number,
            place @ (Token::Name(_) | Token::Element(..)) => {
                let value = self.read(place);
                if let Token::Operator(step @ ("++" | "--")) = self.next {
                    if self.shell.dialect == Dialect::Posix {
                        return self.fail();
                    }
                    self.advance();
                    self.write(place, value.map(|v| stepped(v, step)));
                }
                value
            }
            Token::End | Token::Operator(_) | Token::Bad => self.fail(),
        };
        self.shell.budget.leave();
        value
    }

    fn read(&mut self, place: Token<'a>) -> Number {
        if self.skipping > 0 {
            return None;
        }
        let result = match place {
            Token::Name(name) => self.shell.number_of(name, self.span),
            Token::Element(name, subscript) => self.shell.number_of_element(name, subscript, self.span),
            _ => Evaluated::UNKNOWN,
        };
        self.origins = self.origins.union(result.origins);
        result.value
    }

    fn write(&mut self, place: Token<'a>, value: Number) {
        if self.skipping > 0 || self.failed {
            return;
        }
        let number = Evaluated { value, origins: self.origins };
        match place {
            Token::Name(name) => self.shell.assign_number(name, number, self.span),
            Token::Element(name, subscript) => {
                let key = self.shell.key_of_text(name, subscript, self.span);
                let value = match number.value {
                    Some(number) => self.shell.decimal(number),
                    None => crate::value::Value::unknown(number.origins),
                };
                self.shell.assign_element(name, key, value, self.span);
            }
            _ => {}
        }
    }

    fn apply(&mut self, operator: &str, left: Number, right: Number) -> Number {
        let (Some(l), Some(r)) = (left, right) else {
            let fails = match operator {
                "/" | "%" => right.is_none_or(|r| r == 0),
                "**" => right.is_none_or(|r| r < 0),
                _ => false,
            };
            if fails && self.skipping == 0 {
                self.shell.may_end_line();
            }
            return None;
        };
        Some(match operator {
            "+" => l.wrapping_add(r),
            "-" => l.wrapping_sub(r),
            "*" => l.wrapping_mul(r),
            "/" | "%" if r == 0 => return if self.skipping > 0 { None } else { self.fail() },
            "/" => l.wrapping_div(r),
            "%" => l.wrapping_rem(r),
            "**" => match u32::try_from(r) {
                Ok(r) => l.wrapping_pow(r),
                Err(_) => return if self.skipping > 0 { None } else { self.fail() },
            },
            "<<" => l.wrapping_shl(u32::try_from(r & 63).unwrap_or(0)),
            ">>" => l.wrapping_shr(u32::try_from(r & 63).unwrap_or(0)),
            "&" => l & r,
            "|" => l | r,
            "^" => l ^ r,
            "==" => i64::from(l == r),
            "!=" => i64::from(l != r),
            "<" => i64::from(l < r),
            ">" => i64::from(l > r),
            "<=" => i64::from(l <= r),
            ">=" => i64::from(l >= r),
            _ => return None,
        })
    }
}

const fn stepped(value: i64, step: &str) -> i64 {
    match step.as_bytes() {
        [b'+', ..] => value.wrapping_add(1),
        _ => value.wrapping_sub(1),
    }
}
