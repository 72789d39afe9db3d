//! Brace expansion: one word to several, before anything else is expanded.

use super::Builder;
use crate::effect::Unknown;
use crate::shell::Interpreter;
use crate::value::{Field, Origins, Value};
use shward_syntax::{Brace, BraceRange, Parameter, ParameterName, PartKind, Parts, Span, Word, WordPart};

/// The most words that one word may become.
const MOST: usize = 4096;

/// A part of a word that a brace was replaced in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part<'t, 'a> {
    /// As it is written.
    Written(&'t WordPart<'t>),
    /// The same of one that is literal.
    Literal(&'t [u8], Span),
    /// Literal text that was made.
    Text(&'a [u8], Span),
    /// `$name`, whose name goes on behind a brace, and whether it is quoted.
    Name(&'a [u8], Span, bool),
}

impl<'a> Interpreter<'a, '_> {
    /// The words that a word with braces stands for. When there are too many, one field that stands for them all is
    /// added to `out`.
    pub(super) fn braces<'t>(
        &mut self,
        parts: Parts<'t>,
        span: Span,
        out: &mut Vec<Field<'a>>,
    ) -> Vec<Vec<Part<'t, 'a>>> {
        let mut words = vec![Vec::new()];
        if self.alternatives(parts, &mut words) {
            return words;
        }
        out.push(Field { value: Value::unknown(Origins::LITERAL), span, many: true });
        self.unknown(Unknown::Budget("brace"), span);
        // What is substituted inside still runs.
        vec![without_braces(parts)]
    }

    /// Appends the alternatives of `parts` to each of the words. False when there are too many.
    fn alternatives<'t>(&mut self, parts: Parts<'t>, words: &mut Vec<Vec<Part<'t, 'a>>>) -> bool {
        let parts = match parts {
            Parts::All(parts) => parts,
            Parts::One([part]) => {
                if !self.budget.spend(words.len()) {
                    return false;
                }
                if let Some(part) = written(&part) {
                    words.iter_mut().for_each(|word| self.append_part(word, part));
                }
                return true;
            }
        };
        for part in parts {
            if !self.budget.spend(words.len()) {
                return false;
            }
            match part.kind {
                PartKind::Brace(brace) => {
                    let tails = match self.tails(brace, part.span) {
                        Some(tails) if tails.len() * words.len() <= MOST => tails,
                        _ => return false,
                    };
                    let size: usize = tails.iter().map(Vec::len).sum::<usize>() + tails.len();
                    let heads: usize = words.iter().map(Vec::len).sum::<usize>() + words.len();
                    if !self
                        .budget
                        .produce(size.saturating_mul(words.len()) + heads.saturating_mul(tails.len()))
                    {
                        return false;
                    }
                    let mut product = Vec::with_capacity(words.len() * tails.len());
                    for head in words.iter() {
                        for tail in &tails {
                            let mut word = head.clone();
                            for part in tail {
                                self.append_part(&mut word, *part);
                            }
                            product.push(word);
                        }
                    }
                    *words = product;
                }
                _ => words.iter_mut().for_each(|word| self.append_part(word, Part::Written(part))),
            }
        }
        true
    }

    /// Appends a part to a word. The shell expands braces before it reads parameters, so that in `$x{1,2}` the digit
    /// belongs to the name.
    fn append_part<'t>(&self, word: &mut Vec<Part<'t, 'a>>, part: Part<'t, 'a>) {
        let grown = match (word.last().and_then(Part::open_name), part.text()) {
            (Some((name, span, quoted)), Some((text, at))) => {
                let more = text.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
                text.split_at_checked(more).filter(|(more, _)| !more.is_empty()).map(|(more, rest)| {
                    let name = self.arena.alloc_slice_copy(&[name, more].concat());
                    (Part::Name(name, span, quoted), rest, at)
                })
            }
            _ => None,
        };
        match grown {
            Some((parameter, rest, at)) => {
                word.pop();
                word.push(parameter);
                if !rest.is_empty() {
                    word.push(Part::Text(self.lasting(rest), at));
                }
            }
            None => word.push(part),
        }
    }

    /// What a brace may be replaced by.
    fn tails<'t>(&mut self, brace: &'t Brace<'t>, span: Span) -> Option<Vec<Vec<Part<'t, 'a>>>> {
        match brace {
            // Each is a word at least.
            Brace::List(alternatives) if alternatives.len() > MOST => None,
            Brace::List(alternatives) => {
                if !self.budget.enter() {
                    return None;
                }
                let mut all = Vec::new();
                for word in *alternatives {
                    let mut words = vec![Vec::new()];
                    if !self.alternatives(word.parts(), &mut words) {
                        self.budget.leave();
                        return None;
                    }
                    all.append(&mut words);
                }
                self.budget.leave();
                (all.len() <= MOST).then_some(all)
            }
            Brace::Range(range) => {
                let texts = elements(range)?;
                self.budget.spend(texts.len()).then_some(())?;
                let part = |text: String| vec![Part::Text(self.arena.alloc_str(&text).as_bytes(), span)];
                Some(texts.into_iter().map(part).collect())
            }
        }
    }

    /// A brace where the shell does not expand it, or not in a way that is modelled.
    pub(super) fn nested_brace(&mut self, brace: &Brace<'_>, quoted: bool, builder: &mut Builder<'a>) {
        if let Brace::List(words) = brace {
            for word in *words {
                self.value(word);
            }
        }
        builder.unknown(quoted, Origins::LITERAL);
    }
}

impl<'t, 'a> Part<'t, 'a> {
    /// The name, the place and the quotes of a parameter that is written without braces and whose name may go on.
    fn open_name(&self) -> Option<(&'t [u8], Span, bool)> {
        let Self::Written(WordPart { kind: PartKind::Parameter(parameter), span }) = self else {
            return None;
        };
        match parameter.name {
            ParameterName::Variable(name) if (span.end - span.start) as usize == name.len() + 1 => {
                Some((name, *span, parameter.quoted))
            }
            _ => None,
        }
    }

    /// Literal text, and where it stands.
    fn text(&self) -> Option<(&[u8], Span)> {
        match self {
            Self::Written(WordPart { kind: PartKind::Literal(text), span }) => Some((text, *span)),
            Self::Literal(text, span) => Some((text, *span)),
            Self::Text(text, span) => Some((text, *span)),
            _ => None,
        }
    }

    /// Gives it as a part of the tree.
    pub(super) fn with<R>(&self, take: impl FnOnce(&WordPart<'_>) -> R) -> R {
        match *self {
            Self::Written(part) => take(part),
            Self::Literal(text, span) => take(&WordPart { kind: PartKind::Literal(text), span }),
            Self::Text(text, span) => take(&WordPart { kind: PartKind::Literal(text), span }),
            Self::Name(name, span, quoted) => {
                let parameter = Parameter::plain(ParameterName::Variable(name), quoted);
                take(&WordPart { kind: PartKind::Parameter(&parameter), span })
            }
        }
    }
}

/// The parts of a word, those inside its braces included, of which the last alternative comes first.
fn without_braces<'t, 'a>(parts: Parts<'t>) -> Vec<Part<'t, 'a>> {
    enum Open<'t> {
        Parts(std::slice::Iter<'t, WordPart<'t>>),
        Words(&'t [Word<'t>]),
    }
    let mut flat = Vec::new();
    let mut open: Vec<Open<'t>> = Vec::new();
    let mut next = Some(parts);
    loop {
        match next.take() {
            Some(Parts::All(parts)) => open.push(Open::Parts(parts.iter())),
            Some(Parts::One([part])) => flat.extend(written(&part)),
            None => {}
        }
        match open.last_mut() {
            None => return flat,
            Some(Open::Words(words)) => match words.split_last() {
                Some((last, before)) => {
                    *words = before;
                    next = Some(last.parts());
                }
                None => {
                    open.pop();
                }
            },
            Some(Open::Parts(parts)) => match parts.next() {
                Some(WordPart { kind: PartKind::Brace(Brace::List(words)), .. }) => {
                    open.push(Open::Words(words));
                }
                Some(WordPart { kind: PartKind::Brace(Brace::Range(_)), .. }) => {}
                Some(part) => flat.push(Part::Written(part)),
                None => {
                    open.pop();
                }
            },
        }
    }
}

/// A literal that has no part of its own.
fn written<'t, 'a>(part: &WordPart<'t>) -> Option<Part<'t, 'a>> {
    match part.kind {
        PartKind::Literal(text) => Some(Part::Literal(text, part.span)),
        _ => None,
    }
}

/// The elements of `{first..last..step}`.
fn elements(range: &BraceRange<'_>) -> Option<Vec<String>> {
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<i64>().ok();
    let step = match range.step {
        None => 1,
        Some(text) => number(text)?.checked_abs()?.max(1),
    };
    let (first, last, width) = match (number(range.first), number(range.last)) {
        (Some(first), Some(last)) => {
            let padded = |text: &[u8]| {
                let digits = text.strip_prefix(b"-").unwrap_or(text);
                digits.len() > 1 && digits.starts_with(b"0")
            };
            let wide = padded(range.first) || padded(range.last);
            (first, last, if wide { range.first.len().max(range.last.len()) } else { 0 })
        }
        _ => match (range.first, range.last) {
            ([first], [last]) => return Some(letters(*first, *last, step)),
            _ => return None,
        },
    };
    let distance = last.checked_sub(first)?.checked_abs()?;
    let count = usize::try_from(distance / step).ok()?.checked_add(1)?;
    if count > MOST {
        return None;
    }
    let step = if last < first { -step } else { step };
    let mut all = Vec::with_capacity(count);
    let mut at = first;
    for _ in 0..count {
        all.push(if at < 0 && width > 0 {
            format!("-{:0>1$}", at.unsigned_abs(), width - 1)
        } else {
            format!("{at:0>width$}")
        });
        at = at.saturating_add(step);
    }
    Some(all)
}

fn letters(first: u8, last: u8, step: i64) -> Vec<String> {
    let step = usize::try_from(step).unwrap_or(usize::MAX);
    if first <= last {
        (first..=last).step_by(step).map(|b| char::from(b).to_string()).collect()
    } else {
        (last..=first).rev().step_by(step).map(|b| char::from(b).to_string()).collect()
    }
}
