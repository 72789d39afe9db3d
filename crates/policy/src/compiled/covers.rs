//! Whether one rule is about everything that another is about.

use super::{Compiled, List, Row};
use crate::decision::{Decision, Tier};
use crate::pattern;

impl Compiled {
    /// Whether `a` is certainly about whatever `b` (of `other`) is about. `false` says nothing.
    pub(crate) fn covers(&self, a: &Row, other: &Self, b: &Row) -> bool {
        let bits = |a: u16, b: u16| a == 0 || (b != 0 && a & b == b);
        let list = |of: fn(&Row) -> List, patterns: bool| self.list_covers(of(a), other, of(b), patterns);
        // An allowance reads words more narrowly than a denial does, so that the two compare only one way.
        (a.decision != Some(Decision::Allow) || b.decision == Some(Decision::Allow))
            && a.kinds.bits() & b.kinds.bits() == b.kinds.bits()
            && (a.plain.bits() & b.kinds.bits() == b.kinds.bits()
                || list(|r| r.details, false) && a.plain.bits() & b.plain.bits() == b.plain.bits())
            && bits(a.scopes, b.scopes)
            && bits(a.origins, b.origins)
            && (!a.exact || (b.exact && a.subcommands.is_empty() == b.subcommands.is_empty()))
            && (a.contained.is_none() || a.contained == b.contained)
            && a.min_tier.is_none_or(|tier| b.min_tier.is_some_and(|other| other >= tier))
            && list(|r| r.programs, true)
            && list(|r| r.subcommands, false)
            && list(|r| r.options, false)
            && list(|r| r.operands, false)
            && list(|r| r.paths, true)
            && list(|r| r.hosts, true)
    }

    /// Whether every entry of one list is among those of another; an empty list is any entry.
    fn list_covers(&self, a: List, other: &Self, b: List, patterns: bool) -> bool {
        if a.is_empty() {
            return true;
        }
        !b.is_empty()
            && other.list(b).all(|wanted| {
                self.list(a).any(|entry| {
                    entry == wanted
                        || (patterns
                            && !pattern::is_pattern(wanted)
                            && !entry.contains('/')
                            && pattern::matches(entry.as_bytes(), wanted.as_bytes()))
                        || entry.strip_suffix("/**").is_some_and(|base| {
                            wanted
                                .strip_prefix(base)
                                .is_some_and(|rest| rest.starts_with('/') && !rest.contains(".."))
                        })
                })
            })
    }

    /// Whether a rule decides at least as strictly as another.
    pub(crate) fn is_as_strict(a: &Row, b: &Row) -> bool {
        a.decision.unwrap_or(Decision::Allow) >= b.decision.unwrap_or(Decision::Allow)
            && a.tier.unwrap_or(Tier::One) >= b.tier.unwrap_or(Tier::One)
    }

    /// The hosts that a rule allows.
    pub(crate) fn allowed_hosts(&self, row: &Row) -> impl Iterator<Item = &str> {
        self.list(row.hosts).filter(|_| row.decision == Some(Decision::Allow))
    }

    /// Entries by which a rule can never match, with why.
    pub(crate) fn dead_entries(&self, row: &Row) -> Option<String> {
        if let Some((path, why)) = self.list(row.paths).find_map(|path| Some((path, pattern::fault(path)?))) {
            return Some(format!("the path `{path}` {why}"));
        }
        if let Some(host) = self.list(row.hosts).find(|h| h.contains("://") || h.contains('/')) {
            return Some(format!("the host `{host}` is a URL; write the host's name alone"));
        }
        // More than one colon is an IPv6 address.
        if let Some(host) = self.list(row.hosts).find(|h| h.matches(':').count() == 1) {
            return Some(format!(
                "the host `{host}` has a port; a rule's host is the name alone, with any port"
            ));
        }
        if let Some(host) = self.list(row.hosts).find(|h| h.starts_with('.')) {
            return Some(format!("the host `{host}` is none; what lies below a name is written `*{host}`"));
        }
        if let Some(program) = self.list(row.programs).find(|p| p.contains(' ') && !p.contains('/')) {
            return Some(format!(
                "the program `{program}` has a blank in it; `subcommand` is a key of its own"
            ));
        }
        // What follows an allowed program is compared word for word, its options among them.
        self.list(row.subcommands)
            .find(|s| s.split(' ').any(|word| word.starts_with('-')) && row.decision != Some(Decision::Allow))
            .map(|sub| format!("the subcommand `{sub}` has an option in it; `option` is a key of its own"))
    }
}
