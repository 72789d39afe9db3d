//! What the parts of one program's interpretation hand to each other: its values and operands with their roles, and what
//! was read, which is what it writes, sends and prints.

use super::words::Role;
use crate::value::{Field, Origins};
use bumpalo::collections::Vec as BumpVec;
use shward_syntax::Span;
use std::cell::OnceCell;

/// A value or operand and what it means.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use<'s, 'a> {
    pub(crate) role: Role,
    pub(crate) field: &'s Field<'a>,
}

/// Values and operands with their roles, in order. Those that stand side by side and mean the same are told as one.
#[derive(Debug, Default)]
pub(crate) struct Uses<'s, 'a>(Vec<(Role, &'s [Field<'a>])>);

impl<'s, 'a> Uses<'s, 'a> {
    /// With room for so many that do not stand side by side.
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self(Vec::with_capacity(count))
    }

    /// Adds one.
    pub(crate) fn push(&mut self, each: Use<'s, 'a>) {
        self.0.push((each.role, std::slice::from_ref(each.field)));
    }

    /// Adds some that mean the same.
    pub(crate) fn push_all(&mut self, role: Role, fields: &'s [Field<'a>]) {
        self.0.push((role, fields));
    }

    /// All of them.
    pub(crate) fn iter(&self) -> Each<'_, 's, 'a> {
        Each { rest: self.0.iter(), role: Role::Text, fields: [].iter() }
    }

    /// Those with such a role, in order. Others that stand side by side are passed over at once: for each of many operands it
    /// may be asked what the others are.
    pub(crate) fn of(&self, is_meant: impl Fn(Role) -> bool) -> impl Iterator<Item = Use<'s, 'a>> {
        let meant = self.0.iter().filter(move |(role, _)| is_meant(*role));
        meant.flat_map(|(role, fields)| fields.iter().map(|field| Use { role: *role, field }))
    }

    /// All of them, those with one role together as far as they stand side by side.
    pub(crate) fn runs(&self) -> &[(Role, &'s [Field<'a>])] {
        &self.0
    }

    /// Those with such a role, and how many come before each.
    pub(crate) fn numbered(
        &self,
        is_meant: fn(Role) -> bool,
    ) -> impl Iterator<Item = (usize, Use<'s, 'a>)> + '_ {
        let mut before = 0;
        let meant = self.0.iter().filter_map(move |(role, fields)| {
            let first = before;
            before += fields.len();
            is_meant(*role).then_some((first, *role, *fields))
        });
        meant.flat_map(|(first, role, fields)| {
            (first..).zip(fields).map(move |(at, field)| (at, Use { role, field }))
        })
    }

    /// Whether any has such a role.
    pub(crate) fn has(&self, is_meant: impl Fn(Role) -> bool) -> bool {
        self.0.iter().any(|(role, fields)| is_meant(*role) && !fields.is_empty())
    }

    /// Keeps those of which this is true.
    pub(crate) fn retain(&mut self, keep: impl Fn(&Use<'s, 'a>) -> bool) {
        for (role, fields) in std::mem::take(&mut self.0) {
            if fields.iter().all(|field| keep(&Use { role, field })) {
                self.push_all(role, fields);
            } else {
                let kept = fields.iter().map(|field| Use { role, field }).filter(|each| keep(each));
                kept.for_each(|each| self.push(each));
            }
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|(_, fields)| fields.len()).sum()
    }
}

/// Uses, one by one.
#[derive(Debug, Clone)]
pub(crate) struct Each<'u, 's, 'a> {
    rest: std::slice::Iter<'u, (Role, &'s [Field<'a>])>,
    role: Role,
    fields: std::slice::Iter<'s, Field<'a>>,
}

impl<'s, 'a> Iterator for Each<'_, 's, 'a> {
    type Item = Use<'s, 'a>;

    #[inline]
    fn next(&mut self) -> Option<Use<'s, 'a>> {
        loop {
            if let Some(field) = self.fields.next() {
                return Some(Use { role: self.role, field });
            }
            let (role, fields) = self.rest.next()?;
            (self.role, self.fields) = (*role, fields.iter());
        }
    }
}

impl<'s, 'a> FromIterator<Use<'s, 'a>> for Uses<'s, 'a> {
    fn from_iter<I: IntoIterator<Item = Use<'s, 'a>>>(all: I) -> Self {
        Self(all.into_iter().map(|each| (each.role, std::slice::from_ref(each.field))).collect())
    }
}

/// What the parts of a program hand to each other.
#[derive(Debug)]
pub(crate) struct Flow<'a> {
    /// Where everything that was read comes from, arguments included.
    pub(crate) origins: Origins,
    /// Where that was produced, if by another part of the command.
    pub(crate) source: Option<Span>,
    /// What is sent out.
    pub(crate) sent: Origins,
    /// The texts that were read, if all are known.
    pub(crate) input: Option<BumpVec<'a, &'a [u8]>>,
    /// Standard input is read.
    pub(crate) stdin: bool,
    /// What the operands name is meant with everything below it.
    pub(crate) tree: bool,
    /// Files are written below the working directory, whatever the arguments say.
    pub(crate) here: bool,
    /// Whether an argument is text rather than a name, where that was asked.
    pub(crate) told: OnceCell<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    fn told<'a>(uses: &Uses<'_, 'a>) -> Vec<(Role, Option<&'a [u8]>)> {
        uses.iter().map(|each| (each.role, each.field.known())).collect()
    }

    #[test]
    fn what_stands_side_by_side_is_told_one_by_one_in_order() {
        let word =
            |text| Field { value: Value::text(text, Origins::LITERAL), span: Span::new(0, 1), many: false };
        let words = [b"a", b"b", b"c", b"d"].map(|text: &[u8; 1]| word(&text[..]));
        let [a, rest @ ..] = &words;
        let mut uses = Uses::default();
        uses.push(Use { role: Role::Read, field: a });
        uses.push_all(Role::List, &[]);
        uses.push_all(Role::Text, rest);
        let all: Vec<_> = words.iter().map(Field::known).collect();
        assert_eq!(told(&uses).iter().map(|(_, text)| *text).collect::<Vec<_>>(), all);
        assert_eq!((uses.len(), uses.runs().len()), (4, 3));
        assert!(uses.has(|role| role == Role::Text) && !uses.has(|role| role == Role::List));
        uses.retain(|each| each.field.known() != Some(b"c"));
        let left = [(Role::Read, all[0]), (Role::Text, all[1]), (Role::Text, all[3])];
        assert_eq!(told(&uses), left);
        uses.retain(|each| each.role == Role::Text);
        assert_eq!(told(&uses), left[1..]);
    }
}
