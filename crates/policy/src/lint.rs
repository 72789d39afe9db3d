//! What is suspicious in a policy that is not wrong: rules that can never match, and rules that change nothing.

use crate::compiled::{Compiled, Row};
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
    for part in policy.parts() {
        let rows: Vec<(&Compiled, Row)> =
            part.rules.iter().flat_map(|rules| rules.rows().map(move |row| (&**rules, row))).collect();
        for (rules, row) in &rows {
            if let Some(message) = rules.dead_entries(row) {
                let rule = rules.text(row.id).to_owned();
                out.push(Remark { code: "never-matches", rule, message, origin: rules.origin(row) });
            }
        }
        let rows = rows.get(..COMPARED.min(rows.len())).unwrap_or_default();
        let covers = |a: &(&Compiled, Row), b: &(&Compiled, Row)| {
            Compiled::is_as_strict(&a.1, &b.1) && a.0.covers(&a.1, b.0, &b.1)
        };
        for (at, row) in rows.iter().enumerate() {
            // Of two that say the same, the later one changes nothing.
            let by = rows
                .iter()
                .enumerate()
                .find(|(other, by)| *other != at && covers(by, row) && (*other < at || !covers(row, by)));
            if let Some((_, (by_rules, by))) = by {
                let (rule, by_id) = (row.0.text(row.1.id).to_owned(), by_rules.text(by.id));
                let origin = by_rules.origin(by);
                let message = format!(
                    "`{by_id}` ({}:{}) is about the same and more, and as strict",
                    origin.file, origin.line
                );
                out.push(Remark { code: "shadowed", rule, message, origin: row.0.origin(&row.1) });
            }
        }
    }
    out
}
