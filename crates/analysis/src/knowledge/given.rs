//! What options a program is given, as its description asks for them.

use super::image::List;
use super::scan::{Given, Scan, Told, operands_line};
use super::tables::Operands;
use crate::value::Field;
use std::collections::BTreeMap;

/// So many options are looked through each time.
const FEW: usize = 32;

impl<'a> Scan<'a> {
    /// Whether any of these options is given (names as typed).
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        match self.told() {
            Some(told) => names.iter().any(|name| told.contains_key(name)),
            None => self.given.iter().any(|g| names.contains(&g.name)),
        }
    }

    /// As [`Scan::has`], with the names of the tables.
    pub(crate) fn has_listed(&self, names: List<&'static str>) -> bool {
        match self.told() {
            Some(told) => names.iter().any(|name| told.contains_key(&name)),
            None => names.iter().any(|name| self.given.iter().any(|g| g.name == name)),
        }
    }

    /// The value of the last of these options that is given.
    pub(crate) fn value(&self, names: &[&str]) -> Option<Field<'a>> {
        let last = match self.told() {
            Some(told) => {
                let last = names.iter().filter_map(|name| told.get(name)).max();
                last.and_then(|last| self.given.get(*last))
            }
            None => self.given.iter().rev().find(|g| names.contains(&g.name)),
        };
        last.and_then(|g| g.value).copied()
    }

    /// Where there are many options, their names: whoever has many operands may ask for each of them.
    fn told(&self) -> Option<&BTreeMap<&'static str, usize>> {
        if self.given.len() <= FEW {
            return None;
        }
        let told = self.told.get_or_init(|| Told {
            count: self.given.len(),
            last: self.given.iter().enumerate().map(|(at, given)| (given.name, at)).collect(),
        });
        (told.count == self.given.len()).then_some(&told.last)
    }

    /// The values of these options, in order.
    pub(crate) fn values<'s>(&'s self, names: &'s [&str]) -> impl Iterator<Item = Field<'a>> + 's {
        self.given.iter().filter(|g| names.contains(&g.name)).filter_map(|g| g.value).copied()
    }

    /// The options of this level alone.
    pub(crate) fn own(&self) -> &[Given<'a>] {
        self.given.get(self.inherited..).unwrap_or_default()
    }

    /// What the operands mean with these options.
    pub(crate) fn operands_line(&self) -> Option<Operands> {
        let found = || operands_line(self.levels.last()?, &self.given);
        *self.line.get_or_init(found)
    }
}
