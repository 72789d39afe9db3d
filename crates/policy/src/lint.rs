//! What is suspicious in a policy that is not wrong: rules that can never match, rules that change nothing, and hosts that are more
//! than they look like.

use crate::compiled::{Compiled, Row};
use crate::policy::Policy;
use crate::settings::Origin;

/// Something suspicious.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// `never-matches`, `shadowed` or `wide`.
    pub code: &'static str,
    /// The rule, or the key of a list.
    pub rule: String,
    /// What is suspicious.
    pub message: String,
    /// Where the rule stands.
    pub origin: Origin,
}

/// Rules beyond this many are not compared with each other, since that takes time with the square of their number.
const COMPARED: usize = 2000;

/// What else meets a pattern of hosts, where its author hardly meant it: `*` stands for any text, dots among it.
fn wide(host: &str) -> Option<String> {
    let name = host.split(':').next().unwrap_or(host);
    if let Some(rest) =
        name.strip_prefix('*').filter(|rest| !rest.is_empty() && !rest.starts_with(['.', '*']))
    {
        return Some(format!("`{host}` is met by `evil{rest}`, too; write `{rest}` and `*.{rest}`"));
    }
    let (before, last) = name.rsplit_once('.')?;
    last.contains('*').then(|| {
        let example = before.replace('*', "a");
        format!("`{host}` is met by `{example}.evil.example`, too; write the whole of each name")
    })
}

/// What is suspicious in the rules and lists of a policy's files.
#[must_use]
pub fn remarks(policy: &Policy) -> Vec<Remark> {
    let mut out = Vec::new();
    for part in policy.parts() {
        if let Some(hosts) = &part.settings.network_allow {
            for message in hosts.value.iter().filter_map(|host| wide(host)) {
                let (rule, origin) = ("network.allow".to_owned(), hosts.origin.clone());
                out.push(Remark { code: "wide", rule, message, origin });
            }
        }
        let rows: Vec<(&Compiled, Row)> =
            part.rules.iter().flat_map(|rules| rules.rows().map(move |row| (&**rules, row))).collect();
        for (rules, row) in &rows {
            if let Some(message) = rules.dead_entries(row) {
                let rule = rules.text(row.id).to_owned();
                out.push(Remark { code: "never-matches", rule, message, origin: rules.origin(row) });
            }
            for message in rules.allowed_hosts(row).filter_map(wide) {
                let rule = rules.text(row.id).to_owned();
                out.push(Remark { code: "wide", rule, message, origin: rules.origin(row) });
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
