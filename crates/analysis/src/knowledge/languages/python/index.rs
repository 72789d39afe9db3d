//! Modules by their names: where in a sorted table those stand that begin with a letter.

use super::modules::Module;

/// A sorted table, with how many of its modules stand before the first of each first byte.
#[derive(Debug)]
pub(super) struct Index {
    modules: &'static [Module],
    starts: [u16; 129],
}

impl Index {
    pub(super) const fn of(modules: &'static [Module]) -> Self {
        let mut starts = [0; 129];
        let mut rest: &mut [u16] = &mut starts;
        let (mut byte, mut before, mut left) = (0, 0, modules);
        while let Some((start, others)) = rest.split_first_mut() {
            while let Some((module, more)) = left.split_first()
                && let Some(first) = module.name.as_bytes().first()
                && (*first as u16) < byte
            {
                (before, left) = (before + 1, more);
            }
            *start = before;
            byte += 1;
            rest = others;
        }
        Self { modules, starts }
    }

    /// The module of this name.
    pub(super) fn find(&self, name: &[u8]) -> Option<&'static Module> {
        let first = usize::from(*name.first()?);
        let start = |at| self.starts.get(at).copied().map(usize::from);
        let modules = self.modules.get(start(first)?..start(first + 1)?)?;
        let at = modules.binary_search_by(|module| module.name.as_bytes().cmp(name)).ok()?;
        modules.get(at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::modules::{STANDARD, find};
    use super::super::packages::PACKAGES;

    #[test]
    fn every_module_is_found_by_its_name_and_no_other() {
        for module in STANDARD.iter().chain(PACKAGES) {
            assert_eq!(find(module.name.as_bytes()).map(|found| found.name), Some(module.name));
        }
        for name in ["", "o", "oss", "zzz", "~", "Zz", "\u{e9}"] {
            assert!(find(name.as_bytes()).is_none(), "{name}");
        }
    }
}
