//! What is suspicious in a policy that is not wrong: rules that can never match, and rules that change nothing.

use crate::compiled::Compiled;
use crate::policy::Policy;
use crate::settings::Origin;

/// Something suspicious.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// `never-matches` or `shadowed`.
    pub code: &'static str,
    /// The rule.
    pub rule: String,
    /// What is suspicious.
    pub message: String,
    /// Where the rule stands.
    pub origin: Origin,
}

/// Rules beyond this many are not compared with each other, since that takes time with the square of their number.
const COMPARED: usize = 2000;

/// What is suspicious in the rules of a policy's files.
#[must_use]
pub fn remarks(policy: &Policy) -> Vec<Remark> {
    let mut out = Vec::new();
    for rules in policy.file_rules() {
        for row in rules.rows() {
            if let Some(message) = rules.dead_entries(row) {
                let rule = rules.text(row.id).to_owned();
                out.push(Remark { code: "never-matches", rule, message, origin: rules.origin(row) });
            }
        }
        let rows = rules.rows().get(..COMPARED.min(rules.len())).unwrap_or_default();
        for (at, row) in rows.iter().enumerate() {
            let by = rows.iter().enumerate().find(|(other, by)| {
                let first = *other < at || !rules.covers(row, rules, by) || !Compiled::is_as_strict(row, by);
                *other != at && first && Compiled::is_as_strict(by, row) && rules.covers(by, rules, row)
            });
            if let Some((_, by)) = by {
                let (rule, by_id) = (rules.text(row.id).to_owned(), rules.text(by.id));
                let origin = rules.origin(by);
                let message = format!(
                    "`{by_id}` ({}:{}) is about the same and more, and as strict",
                    origin.file, origin.line
                );
                out.push(Remark { code: "shadowed", rule, message, origin: rules.origin(row) });
            }
        }
    }
    out
}
