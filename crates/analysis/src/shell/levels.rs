//! What is noted for each of several things that are being run, one inside of the other.

/// One of a kind for each of them, innermost last. Of most nothing is noted, and then nothing is made for them.
#[derive(Debug)]
pub(super) struct Levels<T> {
    /// So many are being run.
    depth: u32,
    /// What was noted, with how deep it was noted.
    noted: Vec<(u32, T)>,
}

impl<T> Default for Levels<T> {
    fn default() -> Self {
        Self { depth: 0, noted: Vec::new() }
    }
}

impl<T: Default> Levels<T> {
    /// Something else is run from here on.
    pub(super) const fn begin(&mut self) {
        self.depth += 1;
    }

    /// It is through. Gives what was noted for it.
    pub(super) fn end(&mut self) -> Option<T> {
        let ended = self.noted.pop_if(|(depth, _)| *depth == self.depth);
        self.depth = self.depth.saturating_sub(1);
        ended.map(|(_, noted)| noted)
    }

    /// What is noted for the innermost, if anything is being run.
    pub(super) fn innermost(&mut self) -> Option<&mut T> {
        if self.depth == 0 {
            return None;
        }
        if self.noted.last().is_none_or(|(depth, _)| *depth < self.depth) {
            self.noted.push((self.depth, T::default()));
        }
        self.noted.last_mut().map(|(_, noted)| noted)
    }

    /// Everything that is noted, outermost first.
    pub(super) fn all(&self) -> impl Iterator<Item = &T> {
        self.noted.iter().map(|(_, noted)| noted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_belongs_to_the_innermost() {
        let mut levels = Levels::<Vec<u8>>::default();
        assert!(levels.innermost().is_none() && levels.end().is_none(), "nothing is being run");
        let note = |levels: &mut Levels<Vec<u8>>, number| levels.innermost().unwrap().push(number);
        levels.begin();
        levels.begin();
        note(&mut levels, 1);
        note(&mut levels, 2);
        levels.begin();
        assert_eq!(levels.end(), None, "nothing was noted for it");
        levels.begin();
        note(&mut levels, 3);
        assert_eq!(levels.all().flatten().collect::<Vec<_>>(), [&1, &2, &3]);
        assert_eq!(levels.end(), Some(vec![3]));
        assert_eq!(levels.end(), Some(vec![1, 2]));
        note(&mut levels, 4);
        assert_eq!(levels.end(), Some(vec![4]));
        assert!(levels.innermost().is_none(), "nothing is being run any more");
    }
}
