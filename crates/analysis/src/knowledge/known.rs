//! What is known of a program as a whole, beside the options that are given.

use super::run::Run;
use super::scan::Scan;
use super::tables::Known;
use super::words::{Beside, Fact};

impl Scan<'_> {
    /// Whether what is known of a program is true beside these options.
    pub(crate) fn allows(&self, known: &Known) -> bool {
        match known.beside {
            Beside::All => true,
            Beside::With => self.own().iter().all(|given| known.options.contains(&given.name)),
            Beside::When => self.has_listed(known.options),
            Beside::Unless => !self.has_listed(known.options),
        }
    }
}

impl Run<'_, '_> {
    /// Whether something is known of the program, and is true beside the options that are given.
    pub(crate) fn has(&self, fact: Fact, scan: &Scan<'_>) -> bool {
        self.program.known(fact).is_some_and(|known| scan.allows(&known))
    }
}
