//! Which words of an argument list are operands.

use crate::value::Field;

/// Some words of an argument list, in order. Nearly always they stand side by side there, and are not copied.
#[derive(Debug, Default)]
pub(crate) struct Chosen<'a> {
    /// The argument list from the first of them on.
    from: &'a [Field<'a>],
    /// How many stand there side by side, if all of them do.
    beside: usize,
    /// All of them, if they do not.
    apart: Vec<Field<'a>>,
}

impl<'a> Chosen<'a> {
    /// Adds the first word of what is left of the list.
    pub(super) fn push(&mut self, here: &'a [Field<'a>]) {
        if self.is_empty() {
            (self.from, self.beside) = (here, 1);
        } else if self.apart.is_empty() && self.from.len() == self.beside + here.len() {
            self.beside += 1;
        } else {
            if self.apart.is_empty() {
                self.apart = self.to_vec();
            }
            self.apart.extend(here.first());
        }
    }
}

impl<'a> std::ops::Deref for Chosen<'a> {
    type Target = [Field<'a>];

    fn deref(&self) -> &[Field<'a>] {
        if self.apart.is_empty() { self.from.get(..self.beside).unwrap_or_default() } else { &self.apart }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Origins, Value};
    use shward_syntax::Span;

    #[test]
    fn what_was_chosen_is_told_in_order_whether_side_by_side_or_not() {
        let word =
            |text| Field { value: Value::text(text, Origins::LITERAL), span: Span::new(0, 1), many: false };
        let list = [b"a", b"b", b"c", b"d"].map(|text: &[u8; 1]| word(&text[..]));
        for (places, copied) in
            [(&[][..], false), (&[1, 2, 3], false), (&[0, 2, 3], true), (&[0, 1, 3], true)]
        {
            let mut chosen = Chosen::default();
            places.iter().for_each(|at| chosen.push(&list[*at..]));
            let expected: Vec<_> = places.iter().map(|at| list[*at]).collect();
            assert_eq!(&*chosen, expected);
            assert_eq!(!chosen.apart.is_empty(), copied);
        }
    }
}
