//! Which rules can be about a subject at all: by what kind of effect it is, whether it is understood, the scope of the place
//! that it touches, and whether anything important lies there.
//!
//! Made by the compiler from the tables, so that a verdict tries the few rules that may hold and not all of them. It
//! only leaves out what [`Condition::holds`](crate::condition::Condition::holds) would refuse for the same kind and scope.

use super::{READ_ONLY, WORKSPACE, code};
use crate::condition::Subject;
use crate::kinds::Kinds;
use crate::rule::Rule;
use shward_analysis::Scope;

/// How many rules there are.
const COUNT: usize = WORKSPACE[0].len() + WORKSPACE[1].len() + WORKSPACE[2].len() + READ_ONLY.len();

/// One bit for each rule, in the order of the catalogue.
type Set = u128;

const _: () = assert!(COUNT <= Set::BITS as usize, "there are more rules than bits");

/// One for what touches no place, and one for each scope.
const COLUMNS: usize = Scope::Own as usize + 2;

/// The rules of the catalogue, in its order.
static RULES: [&Rule; COUNT] = catalogue();

/// For each kind and scope, the rules that may hold.
type About = [[Set; COLUMNS]; Kinds::COUNT];

/// Of one that is understood.
static ABOUT: About = about(false, false);

/// Of one that is not.
static ABOUT_OPAQUE: About = about(true, false);

/// Of either, at or below which nothing important lies. So it is of nearly all.
static ABOUT_BARE: About = about(false, true);
static ABOUT_OPAQUE_BARE: About = about(true, true);

/// The rules that hold in the profile `workspace`; those after them are for inspection only.
const ALWAYS: Set = (1 << (COUNT - READ_ONLY.len())) - 1;

#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler only: an index out of bounds does not compile"
)]
const fn catalogue() -> [&'static Rule; COUNT] {
    let tables = [WORKSPACE[0], WORKSPACE[1], WORKSPACE[2], READ_ONLY];
    let mut all = [&WORKSPACE[0][0]; COUNT];
    let (mut table, mut row, mut at) = (0, 0, 0);
    while at < COUNT {
        if row == tables[table].len() {
            (table, row) = (table + 1, 0);
            continue;
        }
        all[at] = &tables[table][row];
        (row, at) = (row + 1, at + 1);
    }
    all
}

#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler only: an index out of bounds does not compile"
)]
const fn about(opaque: bool, bare: bool) -> About {
    let rules = catalogue();
    let mut sets = [[0; COLUMNS]; Kinds::COUNT];
    let mut at = 0;
    while at < COUNT {
        let mut conditions = rules[at].when;
        while let Some((condition, rest)) = conditions.split_first() {
            let mut kind = 0;
            while kind < Kinds::COUNT {
                let mut column = 0;
                while column < COLUMNS {
                    if condition.may_hold(1 << kind, column.checked_sub(1), opaque, bare) {
                        sets[kind][column] |= 1 << at;
                    }
                    column += 1;
                }
                kind += 1;
            }
            conditions = rest;
        }
        at += 1;
    }
    sets
}

/// The rules that are about a subject, each with its place in the catalogue, in that order. `inspection`: those of the
/// profile `read-only` too.
pub(crate) fn about_subject(
    subject: &Subject<'_>,
    inspection: bool,
) -> impl Iterator<Item = (usize, &'static Rule)> {
    // What nearly all programs do is seen in their effects.
    let opaque = subject.is_opaque();
    let of_nobody = subject.kinds == Kinds::INVOCATION && !opaque && !code::is_named(subject.program());
    let column = subject.target().map_or(0, |target| target.scope as usize + 1);
    let about = match (opaque, subject.is_bare()) {
        (false, false) => &ABOUT,
        (true, false) => &ABOUT_OPAQUE,
        (false, true) => &ABOUT_BARE,
        (true, true) => &ABOUT_OPAQUE_BARE,
    };
    let mut left = (about.get(subject.kinds.index()))
        .and_then(|columns| columns.get(column))
        .map_or(Set::MAX, |set| if inspection { *set } else { set & ALWAYS });
    if of_nobody {
        left = 0;
    }
    let next = move || {
        let at = left.trailing_zeros() as usize;
        left &= left.wrapping_sub(1);
        Some((at, *RULES.get(at)?))
    };
    std::iter::from_fn(next).filter(|(_, rule)| rule.is_about(subject))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::rules;
    use shward_analysis::Covers;

    #[test]
    fn the_index_lists_the_catalogue() {
        assert_eq!(rules().count(), COUNT);
        assert!(rules().zip(RULES).all(|(one, other)| one.id == other.id));
        let read_only = rules().filter(|rule| READ_ONLY.iter().any(|other| other.id == rule.id)).count();
        assert_eq!(ALWAYS.count_ones() as usize, COUNT - read_only);
    }

    #[test]
    fn rules_about_understood_invocations_are_about_named_programs() {
        let columns = ABOUT.get(Kinds::INVOCATION.index()).unwrap();
        let about: Vec<&str> = RULES
            .iter()
            .enumerate()
            .filter(|(at, _)| columns[0] & 1 << at != 0)
            .map(|(_, rule)| rule.id)
            .collect();
        // Whoever adds one names its programs in `is_named`.
        assert_eq!(about, ["firewall-controlled", "terminal-code", "miner"]);
        for program in ["shward", "bash", "fish", "xmrig", "XMRig", "T-Rex"] {
            assert!(code::is_named(program.as_bytes()), "{program}");
        }
        assert!(!code::is_named(b"ls") && !code::is_named(b""));
    }

    #[test]
    fn what_covers_nothing_is_told_by_no_rule_about_what_something_covers() {
        for condition in rules().flat_map(|rule| rule.when) {
            assert!(!condition.is_covered(&Covers::default()), "{condition:?}");
        }
    }

    #[test]
    fn every_rule_can_be_found_and_few_are_tried() {
        let found = ABOUT_OPAQUE.iter().flatten().fold(0, |all, set| all | set);
        assert_eq!(found.count_ones() as usize, COUNT);
        let tried = |kind: Kinds, scope: Scope| {
            ABOUT
                .get(kind.index())
                .and_then(|c| c.get(scope as usize + 1))
                .map(|set| (set & ALWAYS).count_ones())
        };
        assert_eq!(tried(Kinds::LIST, Scope::Workspace), Some(0));
        assert!(tried(Kinds::READ, Scope::Workspace) < Some(4));
        let programs =
            |about: &About| about.get(Kinds::INVOCATION.index()).map(|columns| columns[0].count_ones());
        assert!(programs(&ABOUT) < Some(5) && programs(&ABOUT_OPAQUE) > programs(&ABOUT));
        for (few, all) in
            [(&ABOUT, &ABOUT_OPAQUE), (&ABOUT_BARE, &ABOUT), (&ABOUT_OPAQUE_BARE, &ABOUT_OPAQUE)]
        {
            assert!(few.iter().flatten().zip(all.iter().flatten()).all(|(few, all)| few & !all == 0));
        }
        assert_eq!(ABOUT_BARE[Kinds::READ.index()][Scope::Workspace as usize + 1], 0);
        assert!(tried(Kinds::READ, Scope::Secret) > tried(Kinds::READ, Scope::Workspace));
    }
}
