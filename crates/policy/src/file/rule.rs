//! Reads `[[rule]]`, and refuses rules that could never apply.

use super::diagnostic::Diagnostic;
use super::keys::SCOPES;
use super::read::{Reader, decision, tables, texts, tier};
use super::{MAX_FILE, check};
use crate::decision::Decision;
use crate::kinds::EFFECTS;
use crate::kinds::Kinds;
use crate::spec::{RuleSpec, Text, details};
use crate::toml::{Span, Table, Value};
use shward_analysis::vocabulary::ORIGINS;
use std::borrow::Cow;
use std::collections::HashSet;

/// Longest list in one rule.
const MAX_LIST: usize = 10_000;

/// Longest pattern, in bytes.
const MAX_PATTERN: usize = 4096;

/// The keys that say what a rule is about, by lists.
const CONDITIONS: [&str; 9] =
    ["program", "subcommand", "option", "operand", "path", "host", "effect", "scope", "origin"];

/// Longest id.
const MAX_ID: usize = 80;

const _: () = assert!(MAX_FILE < u32::MAX as usize, "offsets into a file fit 32 bits");

impl Reader<'_> {
    pub(super) fn rules<'t>(&mut self, table: &Table<'t>) -> Vec<RuleSpec<'t>> {
        let found = table.get("rule").and_then(Value::as_array).unwrap_or_default();
        let mut ids = HashSet::with_capacity(found.len());
        let mut out = Vec::with_capacity(found.len());
        for (item, span) in tables(table.get("rule")) {
            if self.problems.are_enough() {
                break;
            }
            let Some(rule) = self.rule(item, span) else { continue };
            // Those of lists alone, so that no copy of an id is made.
            let id = item.get("id").and_then(Value::as_str).unwrap_or_default();
            if !ids.insert(id) {
                let message = format!("there are two rules `{}`", rule.id);
                self.problems.push(Diagnostic::new("duplicate-id", span_of(item, "id", span), message));
            }
            out.push(rule);
        }
        out
    }

    fn rule<'t>(&mut self, item: &Table<'t>, span: Span) -> Option<RuleSpec<'t>> {
        let before = self.problems.len();
        let text = |name: &str| item.get(name).and_then(Value::as_text).cloned().unwrap_or_default();
        let id = text("id");
        let id_span = span_of(item, "id", span);
        if id.is_empty() {
            self.problems.push(
                Diagnostic::new("missing-key", id_span, "a rule needs an `id`")
                    .help(r#"as in: id = "no-production""#),
            );
        } else if id.len() > MAX_ID || !is_kebab(&id) {
            self.problems.push(Diagnostic::new(
                "id",
                id_span,
                "an id is made of small letters, digits and dashes",
            ));
        }
        if crate::rules::index_of(&id).is_some() {
            self.problems.push(
                Diagnostic::new("id", id_span, format!("`{id}` is the id of a built-in check"))
                    .help("name it otherwise, or decide the check in [checks]"),
            );
        }
        let (plain, kinds, detailed) = self.effects(item);
        let mut rule = RuleSpec {
            decision: item.get("decision").and_then(Value::as_str).and_then(decision),
            tier: item.get("tier").and_then(Value::as_integer).map(tier),
            reason: text("reason"),
            suggestion: text("suggestion"),
            programs: self.list(item, "program"),
            subcommands: self.list(item, "subcommand"),
            options: self.list(item, "option"),
            operands: self.list(item, "operand"),
            paths: self.list(item, "path"),
            hosts: self.list(item, "host"),
            plain,
            kinds,
            details: detailed,
            scopes: self.bits(item, "scope", SCOPES),
            origins: self.bits(item, "origin", ORIGINS),
            min_tier: item.get("min-tier").and_then(Value::as_integer).map(tier),
            contained: item.get("contained").and_then(Value::as_bool),
            exact: item.get("exact").and_then(Value::as_bool).unwrap_or(false),
            examples: self.list(item, "match"),
            counterexamples: self.list(item, "not-match"),
            line: self.line(span),
            id,
        };
        self.options(&rule, item, span);
        self.purpose(&rule, item, span);
        if rule.kinds.is_none() {
            rule.kinds = implied(&rule);
            rule.plain = rule.kinds;
        }
        (self.problems.len() == before).then_some(rule)
    }

    fn list<'t>(&mut self, item: &Table<'t>, name: &str) -> Vec<Text<'t>> {
        let Some(value) = item.get(name) else { return Vec::new() };
        let found: Vec<Text<'t>> = texts(Some(value)).map(|(text, _)| text.clone()).collect();
        if found.is_empty() {
            self.empty(name, value.span);
        }
        if found.len() > MAX_LIST {
            let message = format!("`{name}` has more than {MAX_LIST} entries; split the rule");
            self.problems.push(Diagnostic::new("too-large", value.span, message));
        }
        for (text, span) in texts(Some(value)) {
            if text.is_empty() || text.len() > MAX_PATTERN || text.contains('\0') {
                let message = format!("an entry of `{name}` has 1 to {MAX_PATTERN} bytes, and no NUL");
                self.problems.push(Diagnostic::new("entry", span, message));
            }
        }
        found
    }

    /// An empty list of conditions would silently mean "any".
    fn empty(&mut self, name: &str, span: Span) {
        self.problems.push(
            Diagnostic::new("empty-list", span, format!("`{name}` is empty")).help("take the line out"),
        );
    }

    /// The words of a list of which each is one bit or kind.
    fn words<'v>(
        &mut self,
        item: &'v Table<'_>,
        name: &str,
    ) -> impl Iterator<Item = (&'v str, Span)> + use<'v> {
        if let Some(value) = item.get(name).filter(|value| texts(Some(value)).next().is_none()) {
            self.empty(name, value.span);
        }
        texts(item.get(name)).map(|(text, span)| (&**text, span))
    }

    fn bits(&mut self, item: &Table<'_>, name: &str, words: &[&str]) -> u16 {
        let mut bits = 0;
        for (text, span) in self.words(item, name) {
            match words.iter().position(|word| *word == text) {
                Some(at) => bits |= 1 << at,
                None => self.problems.push(check::bad_word(text, span, words)),
            }
        }
        bits
    }

    fn effects<'t>(&mut self, item: &Table<'t>) -> (Kinds, Kinds, Vec<Text<'t>>) {
        let (mut plain, mut kinds, mut detailed) = (Kinds::NONE, Kinds::NONE, Vec::new());
        for (text, span) in self.words(item, "effect") {
            let (name, detail) = text.split_once(':').map_or((text, None), |(n, d)| (n, Some(d)));
            let Some(kind) = Kinds::from_name(name) else {
                self.problems.push(check::bad_word(name, span, EFFECTS));
                continue;
            };
            kinds = kinds.or(kind);
            match detail {
                None => plain = plain.or(kind),
                Some(detail) if details(name).contains(&detail) => detailed.push(Cow::Owned(text.to_owned())),
                Some(detail) if details(name).is_empty() => self.problems.push(
                    Diagnostic::new(
                        "unknown-word",
                        span,
                        format!("`{name}` has no details such as `{detail}`"),
                    )
                    .help(format!("write effect = [\"{name}\"]")),
                ),
                Some(detail) => self.problems.push(check::bad_word(detail, span, details(name))),
            }
        }
        (plain, kinds, detailed)
    }

    /// Options that could never match.
    fn options(&mut self, rule: &RuleSpec<'_>, item: &Table<'_>, span: Span) {
        if let Some(bad) = rule.options.iter().find(|o| !o.starts_with(['-', '+'])) {
            self.problems.push(
                Diagnostic::new(
                    "never-matches",
                    span_of(item, "option", span),
                    format!("`{bad}` is not an option"),
                )
                .help("options begin with a dash; other arguments are `operand` or `subcommand`"),
            );
        }
    }

    /// A rule that does nothing, or could never match.
    fn purpose(&mut self, rule: &RuleSpec<'_>, item: &Table<'_>, span: Span) {
        if rule.decision.is_none() && rule.tier.is_none() {
            self.problems.push(
                Diagnostic::new("missing-key", span, "the rule decides nothing")
                    .help(r#"add: decision = "deny""#),
            );
        }
        let of_words = !(rule.programs.is_empty()
            && rule.subcommands.is_empty()
            && rule.options.is_empty()
            && rule.operands.is_empty());
        // An empty list has its own problem.
        let empty = |name: &&str| item.get(name).is_some_and(|v| texts(Some(v)).next().is_none());
        let of_words = of_words || CONDITIONS.iter().any(empty);
        let matches_nothing_yet = !of_words
            && rule.kinds.is_none()
            && rule.paths.is_empty()
            && rule.hosts.is_empty()
            && rule.scopes == 0
            && rule.origins == 0
            && rule.min_tier.is_none();
        if matches_nothing_yet {
            self.problems.push(
                Diagnostic::new("missing-key", span, "the rule says of nothing what it is about")
                    .help("add one of: program, effect, path, host, scope, origin, min-tier"),
            );
        }
        let named = !(rule.programs.is_empty()
            && rule.kinds.is_none()
            && rule.paths.is_empty()
            && rule.hosts.is_empty()
            && rule.scopes == 0);
        if rule.decision == Some(Decision::Allow) && !named && !matches_nothing_yet {
            self.problems.push(
                Diagnostic::new(
                    "too-wide",
                    span,
                    "an allowance says which program, effect, path, scope or host it is for",
                )
                .help("add one of them, or take the rule out"),
            );
        }
        if rule.exact && (rule.decision != Some(Decision::Allow) || rule.programs.is_empty()) {
            self.problems.push(
                Diagnostic::new(
                    "exact",
                    span_of(item, "exact", span),
                    "only an allowance of a program is exact: one argument more must not lift a denial",
                )
                .help("take the line out"),
            );
        }
        let mut never = |name: &str, message: &str| {
            self.problems.push(Diagnostic::new("never-matches", span_of(item, name, span), message));
        };
        if !rule.kinds.is_none() {
            if (!rule.paths.is_empty() || rule.scopes != 0) && !rule.kinds.intersects(Kinds::PLACED) {
                never("effect", "these effects have no place, so that `path` and `scope` can never match");
            }
            if !rule.hosts.is_empty() && !rule.kinds.intersects(Kinds::CONNECT) {
                never("effect", "these effects have no host; `host` goes with `connect`");
            }
            if rule.origins != 0 && !rule.kinds.intersects(Kinds::CARRYING) {
                never(
                    "effect",
                    "these effects carry no text; `origin` goes with write, execute, code and connect",
                );
            }
        }
        if !rule.hosts.is_empty() && (!rule.paths.is_empty() || rule.scopes != 0) {
            never("host", "no effect has both a host and a place");
        }
    }
}

/// The kinds that a rule is about when it names none.
fn implied(rule: &RuleSpec<'_>) -> Kinds {
    if !rule.paths.is_empty() || rule.scopes != 0 {
        return Kinds::PLACED;
    }
    if !rule.hosts.is_empty() {
        return Kinds::CONNECT;
    }
    if rule.origins != 0 {
        return Kinds::CARRYING;
    }
    let of_words = !(rule.programs.is_empty()
        && rule.subcommands.is_empty()
        && rule.options.is_empty()
        && rule.operands.is_empty());
    match (rule.decision, of_words) {
        // What was not understood is allowed only where the rule says so in words.
        (Some(Decision::Allow), _) => {
            Kinds::EFFECT.or(Kinds::INVOCATION).without(Kinds::UNKNOWN.or(Kinds::CODE))
        }
        (_, true) => Kinds::INVOCATION,
        (_, false) => Kinds::EFFECT,
    }
}

fn span_of(item: &Table<'_>, name: &str, otherwise: Span) -> Span {
    item.get(name).map_or(otherwise, |value| value.span)
}

fn is_kebab(id: &str) -> bool {
    id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !id.starts_with('-')
        && !id.ends_with('-')
}
