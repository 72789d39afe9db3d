//! Counting decisions.

use super::Decision;
use crate::corpus::Label;

/// How often each decision was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub(crate) allow: usize,
    pub(crate) ask: usize,
    pub(crate) deny: usize,
}

impl Counts {
    pub(crate) fn add(&mut self, decision: Decision) {
        match decision {
            Decision::Allow => self.allow += 1,
            Decision::Ask => self.ask += 1,
            Decision::Deny => self.deny += 1,
        }
    }

    pub(crate) fn total(self) -> usize {
        self.allow + self.ask + self.deny
    }

    /// Asked or denied: caught if dangerous, interrupted if benign.
    pub(crate) fn stopped(self) -> usize {
        self.ask + self.deny
    }
}

/// Counts per label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    pub(crate) dangerous: Counts,
    pub(crate) benign: Counts,
    pub(crate) dual: Counts,
}

impl Tally {
    pub(crate) fn of(decisions: impl Iterator<Item = (Label, Decision)>) -> Tally {
        let mut tally = Tally::default();
        for (label, decision) in decisions {
            match label {
                Label::Dangerous => tally.dangerous.add(decision),
                Label::Benign => tally.benign.add(decision),
                Label::Dual => tally.dual.add(decision),
            }
        }
        tally
    }
}

/// `part` of `whole` in per cent with one decimal; rounded so that neither 0 nor 100 is shown if it is not exactly so.
pub(crate) fn percent(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let exact = part as f64 * 100.0 / whole as f64;
    let shown = if part > 0 && part < whole { exact.clamp(0.1, 99.9) } else { exact };
    format!("{shown:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_never_rounded_to_perfection() {
        let table = [
            (0, 0, "–"),
            (0, 5, "0.0"),
            (5, 5, "100.0"),
            (1, 3, "33.3"),
            (9999, 10_000, "99.9"),
            (1, 10_000, "0.1"),
        ];
        for (part, whole, text) in table {
            assert_eq!(percent(part, whole), text);
        }
    }

    #[test]
    fn each_label_is_counted_apart() {
        let judged = [
            (Label::Dangerous, Decision::Ask),
            (Label::Dangerous, Decision::Allow),
            (Label::Benign, Decision::Deny),
            (Label::Dual, Decision::Allow),
        ];
        let tally = Tally::of(judged.into_iter());
        assert_eq!((tally.dangerous.stopped(), tally.dangerous.total()), (1, 2));
        assert_eq!((tally.benign.deny, tally.benign.total()), (1, 1));
        assert_eq!(tally.dual, Counts { allow: 1, ask: 0, deny: 0 });
    }
}
