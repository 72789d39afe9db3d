//! From a plan to a verdict.

use crate::Context;
use crate::argv;
use crate::compiled::{Compiled, Facts, Row, is_of_system};
use crate::condition::{Subject, opaque_invocations};
use crate::decision::{DEFAULT_TIER, Decision, Tier, tier_of};
use crate::flow;
use crate::found::{About, Found};
use crate::grant::grant;
use crate::kinds::Kinds;
use crate::mentions::Seen;
use crate::message::fill;
use crate::pattern;
use crate::policy::{PATH_DENIED, PROGRAM_DENIED, PROGRAM_UNLISTED, Part, Policy};
use crate::program::{File, normalised};
use crate::rule::Rule;
use crate::ruled::Ruled;
use crate::settings::{NameMatch, Origin, Set, Skips, Unlisted};
use crate::shape;
use crate::verdict::{Finding, Verdict};
use crate::word_paths;
use shward_analysis::{EffectKind, Plan, Rest, Scope, Source, Unknown, World};
use shward_syntax::Span;
use std::borrow::Cow;

/// Decides about everything that a script may do.
///
/// Every rule of the policy is tried on every effect and on every program that is started. The strictest answer of all
/// counts; no rule relaxes what another decides, but for an allowance in a file that answers a question.
#[must_use]
pub fn decide(policy: &Policy, plan: &Plan<'_>, context: &Context<'_>) -> Verdict {
    decided(policy, plan, context, None)
}

/// As [`decide`], and also judges the form in which the command was asked for: whether a shell is to read it, whether its
/// text matches patterns, whether an argument list keeps the rules of its program.
#[must_use]
pub fn decide_request(
    policy: &Policy,
    plan: &Plan<'_>,
    context: &Context<'_>,
    source: &Source<'_>,
    world: &dyn World,
) -> Verdict {
    decided(policy, plan, context, Some((source, world)))
}

fn decided(
    policy: &Policy,
    plan: &Plan<'_>,
    context: &Context<'_>,
    asked: Option<(&Source<'_>, &dyn World)>,
) -> Verdict {
    let mut found = Found::new();
    let files = files(policy, plan, context, asked.map(|(_, world)| world));
    for part in policy.parts() {
        judge_part(part, plan, &files, context, asked, &mut found);
    }
    conclude(policy, &mut found);
    found.verdict(grant(plan))
}

/// The files of a plan's programs, one for each invocation; none where the policy names no program.
fn files(policy: &Policy, plan: &Plan<'_>, context: &Context<'_>, world: Option<&dyn World>) -> Vec<File> {
    let named = policy.parts().any(|part| !part.rules.is_empty() || !part.settings.programs_deny.is_empty());
    let invocations = if named { plan.invocations } else { &[] };
    invocations.iter().map(|invocation| File::of(invocation, context, world)).collect()
}

fn judge_part(
    part: &Part,
    plan: &Plan<'_>,
    files: &[File],
    context: &Context<'_>,
    asked: Option<(&Source<'_>, &dyn World)>,
    found: &mut Found,
) {
    let opaque = opaque_invocations(plan, context);
    let resolved = match asked {
        Some((Source::Argv(words), world)) => argv::resolve(part, words, world),
        _ => None,
    };
    let ruled = Ruled::new(&part.rules, plan, files);
    let mut judge = Judge { part, found, highest: Tier::One, named: Tier::One, resolved, ruled, files };
    let seen = Seen::default();
    for (index, effect) in plan.effects.iter().enumerate() {
        let subject = Subject::of_effect(effect, index, plan, context).with_seen(&seen);
        judge.subject(&subject, tier_of(&effect.kind), effect.span);
    }
    for (at, invocation) in (0u32..).zip(plan.invocations) {
        let is_opaque = opaque.binary_search(&at).is_ok();
        let subject = Subject::of_invocation(invocation, at, is_opaque, plan, context).with_seen(&seen);
        judge.subject(&subject, Tier::One, invocation.span);
        judge.lists(&subject, is_opaque, invocation.span);
        if is_opaque {
            judge.words(&subject, invocation.span);
        }
    }
    let (mut highest, mut named) = (judge.highest, judge.named);
    let by_tiers = part.settings.by_tier.as_ref().is_some_and(|set| set.value);
    if let Some((source, world)) = asked {
        if let Source::Command(text) = source {
            for set in &part.settings.patterns {
                if set.value.regex.is_match(&String::from_utf8_lossy(text)) {
                    (highest, named) = (highest.max(set.value.tier), named.max(set.value.tier));
                }
            }
        }
        shape::judge(part, source, found);
        shape::judge_directory(part, context, world, found);
        if let Source::Argv(words) = source {
            argv::judge(part, words, context, world, found);
        }
    }
    found.tier = found.tier.max(highest);
    if by_tiers {
        conclude_by_tier(highest, found);
    } else if named == Tier::Four && found.strictest() < Decision::Deny {
        found.say("tier", Decision::Deny, Tier::Four, TIER_FOUR);
    }
}

/// Who gives a command this tier, by a rule or a pattern, says that it is never run, whatever else decides.
const TIER_FOUR: &str = "A command of tier 4 is never run. Do it another way.";

/// What a part decides about the command as a whole by its tier.
fn conclude_by_tier(highest: Tier, found: &mut Found) {
    let decision = by_tier(highest);
    if decision > found.strictest() {
        let message = match decision {
            Decision::Deny => TIER_FOUR.to_owned(),
            _ => format!(
                "A command of tier {} needs an answer. Say what it is for: a request without a reason is denied.",
                highest.get()
            ),
        };
        found.say("tier", decision, highest, message);
    }
}

/// What is decided about the command as a whole, after all parts: whoever they are, in whatever order, nobody is asked
/// what one of them denies to be asked.
fn conclude(policy: &Policy, found: &mut Found) {
    let any = |set: fn(&Part) -> &Option<Set<bool>>| {
        policy.parts().any(|part| set(part).as_ref().is_some_and(|set| set.value))
    };
    if any(|part| &part.settings.deny_asked) {
        for finding in &mut found.findings {
            if finding.decision == Decision::Ask {
                finding.decision = Decision::Deny;
            }
        }
    }
    // After that: what the rules would ask is refused before a person is asked about the rest.
    if any(|part| &part.settings.approve_all) && found.strictest() < Decision::Ask {
        found.say(
            "approval",
            Decision::Ask,
            Tier::One,
            "This policy lets a person approve every command. Wait for the answer, and do not ask again.",
        );
    }
}

/// What a tier decides where tiers decide.
fn by_tier(tier: Tier) -> Decision {
    match tier {
        Tier::One => Decision::Allow,
        Tier::Two | Tier::Three => Decision::Ask,
        Tier::Four => Decision::Deny,
    }
}

struct Judge<'p> {
    part: &'p Part,
    found: &'p mut Found,
    /// The highest tier that counts in this part.
    highest: Tier,
    /// The highest that rules of files have named.
    named: Tier,
    /// The program of an argument list, and whether the file that it resolves to is listed.
    resolved: Option<argv::Resolved<'p>>,
    /// The rules of files that may be about this plan.
    ruled: Ruled<'p>,
    /// The file of each invocation's program; none where no list and no rule names one.
    files: &'p [File],
}

/// What is said of a place that `[paths]` keeps a command from.
const DENIED_PLACE: &str = "lies in a place that is denied";
const UNLISTED_PLACE: &str = "lies outside the places that are allowed";

/// The strictest of what speaks about one subject.
enum Strictest<'p> {
    Check(&'static Rule),
    Rule(&'p Compiled, Row),
}

impl Judge<'_> {
    /// Tries every rule on one subject.
    fn subject(&mut self, subject: &Subject<'_>, least: Tier, span: Span) {
        let part = self.part;
        let contained = subject.context.contained;
        let by_tiers = part.settings.by_tier.as_ref().is_some_and(|set| set.value);
        let mut tier = least;
        let mut decision = Decision::Allow;
        let mut strictest: Option<Strictest<'_>> = None;
        for (rule, alone, inside) in part.checks_about(subject) {
            tier = tier.max(rule.tier);
            let decided = match (by_tiers && !rule.is_floor(), contained) {
                (true, _) => by_tier(rule.tier),
                (false, true) => inside,
                (false, false) => alone,
            };
            if decided > decision || strictest.is_none() {
                decision = decision.max(decided);
                strictest = Some(Strictest::Check(rule));
            }
        }
        if by_tiers && subject.is_opaque() {
            tier = tier.max(part.settings.default_tier.as_ref().map_or(DEFAULT_TIER, |set| set.value));
        }
        let mut skipped = false;
        if !self.ruled.is_idle() {
            let facts = Facts::new(subject, tier).with(self.file(subject));
            let mut allowed = false;
            let mut asked_by_rule = false;
            let mut named = Tier::One;
            for (rules, row) in self.ruled.about(&facts, subject) {
                named = named.max(row.tier.unwrap_or(Tier::One));
                match row.decision {
                    Some(Decision::Allow) => allowed = true,
                    Some(decided) => {
                        asked_by_rule |= decided == Decision::Ask;
                        if decided > decision
                            || (decided == decision && matches!(strictest, Some(Strictest::Check(_))))
                        {
                            decision = decided;
                            strictest = Some(Strictest::Rule(rules, row));
                        }
                    }
                    None => {}
                }
            }
            (tier, self.named) = (tier.max(named), self.named.max(named));
            skipped = allowed && !asked_by_rule && decision <= Decision::Ask;
        }
        // Also where a rule allows it: an allowance must not cost what being listed spares.
        if decision <= Decision::Ask && self.spares(subject) {
            skipped = skipped || !matches!(strictest, Some(Strictest::Rule(..)));
            if skipped && self.part.settings.skips.as_ref().is_some_and(|set| set.value == Skips::Risk) {
                tier = Tier::One;
            }
        }
        if skipped && decision == Decision::Ask {
            // The question is answered; in a policy of tiers, with its tier.
            if by_tiers {
                tier = Tier::One;
            }
            decision = Decision::Allow;
        }
        self.highest = self.highest.max(tier);
        self.places(subject, span);
        if decision == Decision::Allow {
            return;
        }
        match strictest {
            Some(Strictest::Check(rule)) => self.check(rule, decision, subject, span),
            Some(Strictest::Rule(rules, row)) => {
                self.found.tell(Finding {
                    rule: Cow::Owned(rules.text(row.id).to_owned()),
                    decision,
                    tier: row.tier.unwrap_or(tier),
                    message: fill(rules.reason(&row), subject, ""),
                    span,
                    source: None,
                    suggestion: rules.suggestion(&row).map(str::to_owned),
                    origin: Some(rules.origin(&row)),
                });
            }
            None => {}
        }
    }

    /// Tells what a check finds, with both ends of what flows.
    fn check(&mut self, rule: &Rule, decision: Decision, subject: &Subject<'_>, span: Span) {
        self.found.rises_to(rule.tier);
        if self.found.has_enough_of(rule.id, decision) {
            return;
        }
        let flow = flow::of(rule, subject);
        let span = flow.as_ref().map_or(span, |flow| flow.span);
        // Before it is put into words, which takes longer.
        if self.found.has_told(rule.id, decision, span) {
            return;
        }
        let about = About {
            effect: subject.effect.map(|_| subject.index),
            end: flow.as_ref().and_then(|flow| flow.end),
            argument: matches!(subject.reason(), Some(Unknown::Argument)),
        };
        let finding = Finding {
            rule: Cow::Borrowed(rule.id),
            decision,
            tier: rule.tier,
            message: fill(rule.message, subject, flow.as_ref().map_or("", |flow| &flow.from)),
            span,
            source: flow.as_ref().and_then(|flow| flow.source),
            suggestion: rule.suggestion_for(subject).map(str::to_owned),
            origin: None,
        };
        self.found.tell_about(finding, about);
    }

    fn file(&self, subject: &Subject<'_>) -> &'_ File {
        subject.place.and_then(|place| self.files.get(place)).unwrap_or(File::NONE)
    }

    /// Whether being listed spares this subject's program a question.
    fn spares(&self, subject: &Subject<'_>) -> bool {
        let settings = &self.part.settings;
        let spares = settings.skips.as_ref().is_some_and(|set| set.value != Skips::Nothing);
        spares
            && !subject.kinds.intersects(Kinds::UNKNOWN.or(Kinds::CODE))
            && subject
                .invocation
                .and_then(|i| i.program)
                .is_some_and(|program| self.is_listed(program, subject))
    }

    fn is_listed(&self, program: &[u8], subject: &Subject<'_>) -> bool {
        if let Some(resolved) = self.resolved.as_ref().filter(|r| r.named == program) {
            return resolved.listed;
        }
        let Some(list) = &self.part.settings.programs_allow else { return false };
        let how = self.part.settings.name_match.as_ref().map_or(NameMatch::System, |set| set.value);
        let cwd = subject.invocation.and_then(|i| i.cwd).unwrap_or(subject.context.cwd);
        let path = normalised(program, cwd);
        let name = path.rsplit(|b| *b == b'/').next().unwrap_or_default();
        let path_given = program.contains(&b'/');
        list.value.iter().any(|entry| {
            let entry = entry.as_bytes();
            if entry.contains(&b'/') {
                return path_given && *path == *normalised(entry, cwd);
            }
            if !path_given {
                return entry == program;
            }
            match how {
                NameMatch::Exact => false,
                NameMatch::System => entry == name && is_of_system(&path),
                NameMatch::Any => entry == name,
            }
        })
    }

    /// What the lists of programs say about one that is started.
    fn lists(&mut self, subject: &Subject<'_>, opaque: bool, span: Span) {
        let settings = &self.part.settings;
        let program = subject.invocation.and_then(|i| i.program);
        if let Some(name) = program {
            let base = name.rsplit(|b| *b == b'/').next().unwrap_or_default();
            let file = self.file(subject);
            let denied = settings.programs_deny.iter().find(|set| file.is_meant(set.value.as_bytes(), name));
            if let Some(set) = denied {
                let message = format!(
                    "The program `{}`{} is on the list of programs that are denied. Use another, or ask the person who keeps the list.",
                    String::from_utf8_lossy(base),
                    match file.real_name().filter(|real| *real != base) {
                        Some(real) => format!(", which is `{}`,", String::from_utf8_lossy(real)),
                        None => String::new(),
                    }
                );
                self.found.tell(Finding {
                    rule: Cow::Borrowed(PROGRAM_DENIED),
                    decision: Decision::Deny,
                    tier: if settings.by_tier.as_ref().is_some_and(|s| s.value) {
                        Tier::Four
                    } else {
                        Tier::Three
                    },
                    message,
                    span,
                    source: None,
                    suggestion: None,
                    origin: Some(set.origin.clone()),
                });
            }
        }
        let decision = match settings.unlisted.as_ref().map(|set| set.value) {
            None | Some(Unlisted::Rules) => return,
            Some(Unlisted::Ask) => Decision::Ask,
            Some(Unlisted::Deny) => Decision::Deny,
        };
        let listed = program.is_some_and(|program| self.is_listed(program, subject));
        let by_rule = !opaque && self.is_allowed_by_rule(subject);
        if listed || by_rule {
            return;
        }
        let mut names = settings.programs_allow.as_ref().map(|set| set.value.join(", ")).unwrap_or_default();
        if names.len() > 300 {
            names.truncate(names.char_indices().take(300).last().map_or(0, |(at, _)| at));
            names.push('…');
        }
        let name = program
            .map_or_else(|| "that is not known".into(), |p| format!("`{}`", String::from_utf8_lossy(p)));
        self.found.tell(Finding {
            rule: Cow::Borrowed(PROGRAM_UNLISTED),
            decision,
            tier: Tier::Two,
            message: match names.as_str() {
                "" => format!("The program {name} is not allowed: no program is. A person lists some in `[programs] allow`."),
                _ => format!("The program {name} is not in the allowed list: {names}. Use one of these."),
            },
            span,
            source: None,
            suggestion: None,
            origin: settings.unlisted.as_ref().map(|set| set.origin.clone()),
        });
    }

    /// Whether an allowance in a file names this program.
    fn is_allowed_by_rule(&self, subject: &Subject<'_>) -> bool {
        if self.ruled.is_idle() {
            return false;
        }
        let facts = Facts::new(subject, Tier::One).with(self.file(subject));
        self.ruled.about(&facts, subject).any(|(_, row)| row.decision == Some(Decision::Allow))
    }

    /// What the lists of places say about an effect.
    fn places(&mut self, subject: &Subject<'_>, span: Span) {
        let settings = &self.part.settings;
        if settings.paths_deny.is_empty() && settings.paths_allow.is_none() {
            return;
        }
        let Some(target) = subject.target().filter(|t| t.scope != Scope::Harmless) else { return };
        let context = subject.context;
        if matches!(subject.effect.map(|e| &e.kind), Some(EffectKind::Execute { .. }))
            && !target.path.contains(&b'/')
        {
            return;
        }
        let whole = target.rest == Rest::Exact;
        let denied = settings.paths_deny.iter().find(|set| {
            pattern::listed(&set.value, target.path, context)
                || ((target.tree || !whole) && pattern::may_match_below(&set.value, target.path, context))
        });
        let outside = settings.paths_allow.as_ref().filter(|set| {
            target.path.is_empty()
                || target.rest == Rest::Unknown
                || !set.value.iter().any(|entry| pattern::listed(entry, target.path, context))
        });
        let (origin, what) = match (denied, outside) {
            (Some(set), _) => (&set.origin, DENIED_PLACE),
            (None, Some(set)) => (&set.origin, UNLISTED_PLACE),
            (None, None) => return,
        };
        let message = fill(
            &format!("{{place}} {what}. Work in the allowed places, or ask the person who keeps the list."),
            subject,
            "",
        );
        self.path_denied(message, origin.clone(), span);
    }

    fn path_denied(&mut self, message: String, origin: Origin, span: Span) {
        let by_tiers = self.part.settings.by_tier.as_ref().is_some_and(|set| set.value);
        self.found.tell(Finding {
            rule: Cow::Borrowed(PATH_DENIED),
            decision: Decision::Deny,
            tier: if by_tiers { Tier::Four } else { Tier::Three },
            message,
            span,
            source: None,
            suggestion: None,
            origin: Some(origin),
        });
    }

    /// What the lists of places say about the words of a program that is not understood: whatever in them may be a path.
    fn words(&mut self, subject: &Subject<'_>, span: Span) {
        let settings = &self.part.settings;
        if settings.paths_deny.is_empty() && settings.paths_allow.is_none() {
            return;
        }
        let context = subject.context;
        let cwd = subject.invocation.and_then(|i| i.cwd).unwrap_or(context.cwd);
        let words = subject.invocation.and_then(|i| i.argv.get(1..)).unwrap_or_default();
        for word in words.iter().filter_map(shward_analysis::Field::known) {
            for tail in word_paths::in_word(word) {
                let path = normalised(tail, cwd);
                let denied = settings.paths_deny.iter().find(|set| {
                    pattern::listed(&set.value, &path, context)
                        || tail == b"/" && pattern::may_match_below(&set.value, &path, context)
                });
                let outside = settings
                    .paths_allow
                    .as_ref()
                    .filter(|set| !set.value.iter().any(|entry| pattern::listed(entry, &path, context)));
                let (origin, what) = match (denied, outside) {
                    (Some(set), _) => (&set.origin, DENIED_PLACE),
                    (None, Some(set)) => (&set.origin, UNLISTED_PLACE),
                    (None, None) => continue,
                };
                let shown = String::from_utf8_lossy(&path);
                let message = format!(
                    "A program that is not known names `{shown}`, which {what}. Work in the allowed places, or ask the person who \
                     keeps the list."
                );
                let origin = origin.clone();
                self.path_denied(message, origin, span);
                return;
            }
        }
    }
}
