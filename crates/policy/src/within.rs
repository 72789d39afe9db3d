//! Attenuation: whether a policy permits no more than another.
//!
//! The answer is about the form of the two policies. A child that is accepted permits no more than its parent whatever the
//! command; a child that is refused may be harmless, and is told in which point it is not certainly so.

use crate::argv;
use crate::compiled::{Compiled, Row};
use crate::decision::{DEFAULT_TIER, Decision};
use crate::policy::{Part, Policy};
use crate::settings::{
    Binary, ExecGate, Live, NameMatch, Risky, Set, Settings, Shell, Skips, TimeoutClass, Unlisted,
};
use crate::timeout::DEFAULT_TIMEOUT;
use std::collections::HashSet;
use std::sync::Arc;

/// Bytes of each stream that are kept without `limits.max-output`.
const DEFAULT_OUTPUT: u64 = 1_000_000;

/// Processes that a run may have on the smallest machine, without `limits.processes`.
const LEAST_PROCESSES: u64 = 320;

/// Bytes of private directories on a small machine, without `limits.private`.
const LEAST_PRIVATE: u64 = 64 << 20;

/// Bytes that are left of a large disk, without `limits.disk-reserve`.
const MOST_RESERVED: u64 = 512 << 20;

/// A point in which a policy may permit more than its parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wider {
    /// The key, check or rule.
    pub what: String,
    /// In what it is wider.
    pub message: String,
}

/// The points in which `child` may permit more than `parent`; none means that it permits no more.
#[must_use]
pub fn exceeds(child: &Policy, parent: &Policy) -> Vec<Wider> {
    // Every part of the parent has to be kept by some part of the child: parts can only tighten.
    let mut out = Vec::new();
    for parent in parent.parts() {
        let mut best: Option<Vec<Wider>> = None;
        for child in child.parts() {
            let found = part_exceeds(child, parent);
            if best.as_ref().is_none_or(|best| found.len() < best.len()) {
                best = Some(found);
            }
        }
        out.extend(best.unwrap_or_default());
    }
    let mut c = Comparison { out };
    of_main(&mut c, child.settings(), parent.settings());
    c.out
}

/// What only the main part of a policy says: no other part of the child makes up for it.
fn of_main(c: &mut Comparison, a: &Settings, b: &Settings) {
    let same_environment = a.environment.as_ref().map(|s| s.value) == b.environment.as_ref().map(|s| s.value)
        && a.environment_set.as_ref().map(|s| &s.value) == b.environment_set.as_ref().map(|s| &s.value);
    if !same_environment {
        c.wider("environment", "is not the parent's");
    }
    c.subset(
        "environment.allow",
        &listed(a.environment_allow.as_ref()),
        &listed(b.environment_allow.as_ref()),
    );
    // Who answers what is asked may allow it. Without one, a person is asked.
    let gatekeeper = |s: &Settings| {
        let texts = [&s.gatekeeper_program, &s.gatekeeper_address, &s.gatekeeper_model, &s.gatekeeper_key];
        let texts = texts.map(|set| set.as_ref().map(|set| set.value.clone()));
        (texts, listed(s.gatekeeper_arguments.as_ref()))
    };
    let has_one = a.gatekeeper_program.is_some() || a.gatekeeper_address.is_some();
    if has_one && gatekeeper(a) != gatekeeper(b) {
        c.wider("gatekeeper", "is another than the parent's, and may allow what that one denies");
    }
}

struct Comparison {
    out: Vec<Wider>,
}

impl Comparison {
    fn wider(&mut self, what: impl Into<String>, message: impl Into<String>) {
        self.out.push(Wider { what: what.into(), message: message.into() });
    }

    /// A value whose order says how wide it is.
    fn at_most<T: PartialOrd>(&mut self, what: &str, child: T, parent: T, message: &str) {
        if child > parent {
            self.wider(what, message);
        }
    }

    /// A list that has to lie within another.
    fn subset(&mut self, what: &str, child: &[String], parent: &[String]) {
        let known: HashSet<&str> = parent.iter().map(String::as_str).collect();
        if let Some(more) = child.iter().find(|entry| !known.contains(entry.as_str())) {
            self.wider(what, format!("`{more}` is not in the parent's list"));
        }
    }

    /// A list that has to hold all of another.
    fn superset(&mut self, what: &str, child: &[String], parent: &[String]) {
        let kept: HashSet<&str> = child.iter().map(String::as_str).collect();
        if let Some(missing) = parent.iter().find(|entry| !kept.contains(entry.as_str())) {
            self.wider(what, format!("the parent's `{missing}` is missing"));
        }
    }
}

fn value<T: Copy>(set: Option<&Set<T>>, otherwise: T) -> T {
    set.map_or(otherwise, |set| set.value)
}

fn listed(set: Option<&Set<Vec<String>>>) -> Vec<String> {
    set.map(|set| set.value.clone()).unwrap_or_default()
}

fn texts(set: &[Set<String>]) -> Vec<String> {
    set.iter().map(|set| set.value.clone()).collect()
}

fn part_exceeds(child: &Part, parent: &Part) -> Vec<Wider> {
    let mut c = Comparison { out: Vec::new() };
    checks(&mut c, child, parent);
    let (a, b) = (&child.settings, &parent.settings);
    let shell = |shell| match shell {
        Shell::Full => 4,
        Shell::Chain => 3,
        Shell::Pipeline => 2,
        Shell::Simple => 1,
        Shell::None => 0,
    };
    c.at_most("shell", shell(child.shell()), shell(parent.shell()), "accepts more of the shell's language");
    switches(&mut c, a, b);
    let gate = |set: Option<&Set<ExecGate>>| std::cmp::Reverse(value(set, ExecGate::Off));
    c.at_most(
        "limits.exec-gate",
        gate(a.exec_gate.as_ref()),
        gate(b.exec_gate.as_ref()),
        "is stricter in the parent",
    );
    if value(a.by_tier.as_ref(), false) != value(b.by_tier.as_ref(), false) {
        c.wider("decide-by", "decides by another measure than the parent");
    }
    programs(&mut c, child, parent);
    c.superset("paths.deny", &texts(&a.paths_deny), &texts(&b.paths_deny));
    places(&mut c, a, b);
    for pattern in &b.patterns {
        if !a.patterns.iter().any(|own| own.value == pattern.value) {
            c.wider("tiers.pattern", format!("the parent's {:?} is missing", pattern.value.regex.as_str()));
        }
    }
    let least = |settings: &Settings| value(settings.default_tier.as_ref(), DEFAULT_TIER);
    if least(a) < least(b) && value(b.by_tier.as_ref(), false) {
        c.wider("tiers.default", "is lower than the parent's");
    }
    times(&mut c, a, b);
    limits(&mut c, a, b);
    c.superset("sandbox.require", &listed(a.require.as_ref()), &listed(b.require.as_ref()));
    for rate in &b.rates {
        if !a.rates.iter().any(|own| own.value == rate.value) {
            c.wider("rate", "a limit of the parent is missing");
        }
    }
    c.subset("network.allow", &listed(a.network_allow.as_ref()), &listed(b.network_allow.as_ref()));
    c.superset("network.deny", &texts(&a.network_deny), &texts(&b.network_deny));
    c.subset(
        "sandbox.accept-missing",
        &listed(a.accept_missing.as_ref()),
        &listed(b.accept_missing.as_ref()),
    );
    if value(a.full.as_ref(), false) && !value(b.full.as_ref(), false) {
        c.wider("sandbox.full", "permits runs that are not confined");
    }
    let straight = |set: Option<&Set<Live>>| value(set, Live::default());
    if straight(a.live.as_ref()) < straight(b.live.as_ref()) {
        c.wider("sandbox.live", "lets more write straight to the workspace than the parent");
    }
    if b.directory.is_some()
        && (a.directory.as_ref().map(|s| s.value) != b.directory.as_ref().map(|s| s.value)
            || a.directory_paths.as_ref().map(|s| &s.value) != b.directory_paths.as_ref().map(|s| &s.value))
    {
        c.wider("directory", "is not the parent's");
    }
    binaries(&mut c, child, parent);
    rules(&mut c, child, parent);
    c.out
}

/// What is either on or off, and stricter when it is on.
fn switches(c: &mut Comparison, a: &Settings, b: &Settings) {
    for (what, child, parent) in [
        ("block-globs", value(a.block_globs.as_ref(), false), value(b.block_globs.as_ref(), false)),
        (
            "control-characters",
            value(a.refuse_controls.as_ref(), false),
            value(b.refuse_controls.as_ref(), false),
        ),
        ("asked", value(a.deny_asked.as_ref(), false), value(b.deny_asked.as_ref(), false)),
        ("approval", value(a.approve_all.as_ref(), false), value(b.approve_all.as_ref(), false)),
        (
            "gatekeeper.required",
            value(a.gatekeeper_required.as_ref(), false),
            value(b.gatekeeper_required.as_ref(), false),
        ),
        (
            "argv.rules-required",
            value(a.rules_required.as_ref(), false),
            value(b.rules_required.as_ref(), false),
        ),
        ("sandbox.read-only", value(a.read_only.as_ref(), false), value(b.read_only.as_ref(), false)),
        (
            "limits.on-output-limit",
            value(a.kill_on_output.as_ref(), false),
            value(b.kill_on_output.as_ref(), false),
        ),
    ] {
        c.at_most(what, !child, !parent, "is stricter in the parent");
    }
}

/// The places that are allowed.
fn places(c: &mut Comparison, a: &Settings, b: &Settings) {
    match (&a.paths_allow, &b.paths_allow) {
        (_, None) => {}
        (None, Some(_)) => c.wider("paths.allow", "the parent allows some places only, the child all"),
        (Some(child), Some(parent)) => {
            let within = |entry: &String| {
                parent.value.iter().any(|p| {
                    entry == p
                        || entry
                            .strip_prefix(p.as_str())
                            .is_some_and(|r| r.starts_with('/') && !r.contains("..") && !p.contains('*'))
                })
            };
            if let Some(entry) = child.value.iter().find(|entry| !within(entry)) {
                c.wider("paths.allow", format!("`{entry}` does not lie in a place that the parent allows"));
            }
        }
    }
}

/// What a run may use up.
fn limits(c: &mut Comparison, a: &Settings, b: &Settings) {
    let number = |set: &Option<Set<u64>>, otherwise| set.as_ref().map_or(otherwise, |set| set.value);
    for (what, own, parent, otherwise) in [
        ("limits.max-output", &a.max_output, &b.max_output, DEFAULT_OUTPUT),
        ("limits.memory", &a.memory, &b.memory, u64::MAX),
        ("limits.run-memory", &a.run_memory, &b.run_memory, u64::MAX),
        ("limits.processors", &a.processors, &b.processors, u64::MAX),
        ("limits.run-disk", &a.run_disk, &b.run_disk, u64::MAX),
        ("limits.private", &a.private, &b.private, LEAST_PRIVATE),
        ("limits.processes", &a.processes, &b.processes, LEAST_PROCESSES),
    ] {
        // A limit that a policy does not name may be higher than the one that is certain.
        if own.is_some() || parent.is_some() {
            let own = if parent.is_some() { number(own, u64::MAX) } else { number(own, otherwise) };
            c.at_most(what, own, number(parent, otherwise), "is more than the parent's");
        }
    }
    // What is not named may be less.
    let left = |own: Option<u64>, parent: Option<u64>| match (own, parent) {
        (Some(own), parent) => own >= parent.unwrap_or(MOST_RESERVED),
        // A parent that wants nothing left is not stricter than what is usual.
        (None, parent) => parent.is_none_or(|parent| parent == 0),
    };
    let given = |set: &Option<Set<u64>>| set.as_ref().map(|set| set.value);
    if !left(given(&a.disk_reserve), given(&b.disk_reserve)) {
        c.wider("limits.disk-reserve", "is less than the parent's");
    }
}

fn checks(c: &mut Comparison, child: &Part, parent: &Part) {
    for (rule, alone, contained) in parent.checks() {
        let own = child.checks().find(|(own, ..)| own.id == rule.id);
        let (own_alone, own_contained) = own.map_or((Decision::Allow, Decision::Allow), |(_, a, b)| (a, b));
        if own_alone < alone || own_contained < contained {
            c.wider(format!("checks.{}", rule.id), format!("decides {own_alone}, contained {own_contained}; the parent {alone}, contained {contained}"));
        }
    }
}

fn programs(c: &mut Comparison, child: &Part, parent: &Part) {
    let (a, b) = (&child.settings, &parent.settings);
    let unlisted = |u| match u {
        Unlisted::Rules => 2,
        Unlisted::Ask => 1,
        Unlisted::Deny => 0,
    };
    let unlisted_parent = value(b.unlisted.as_ref(), Unlisted::Rules);
    c.at_most(
        "programs.unlisted",
        unlisted(value(a.unlisted.as_ref(), Unlisted::Rules)),
        unlisted(unlisted_parent),
        "is stricter in the parent",
    );
    let matching = |m| match m {
        NameMatch::Exact => 0,
        NameMatch::System => 1,
        NameMatch::Any => 2,
    };
    c.at_most(
        "programs.match",
        matching(value(a.name_match.as_ref(), NameMatch::System)),
        matching(value(b.name_match.as_ref(), NameMatch::System)),
        "lets more files count as a listed program",
    );
    let skips = |s| match s {
        Skips::Nothing => 0,
        Skips::Questions => 1,
        Skips::Risk => 2,
    };
    let own_skips = skips(value(a.skips.as_ref(), Skips::Nothing));
    c.at_most(
        "programs.skips",
        own_skips,
        skips(value(b.skips.as_ref(), Skips::Nothing)),
        "spares more questions",
    );
    let lists_count = unlisted_parent != Unlisted::Rules || own_skips > 0;
    match (argv::speaks(child), argv::speaks(parent)) {
        (false, true) => {
            c.wider("argv", "does not judge argument lists by the files that they start; the parent does")
        }
        (true, false) if lists_count => c.wider(
            "argv",
            "lists the programs of argument lists by the files that they start; the parent by their names",
        ),
        _ => {}
    }
    if lists_count {
        c.subset("programs.allow", &listed(a.programs_allow.as_ref()), &listed(b.programs_allow.as_ref()));
    }
    c.superset("programs.deny", &texts(&a.programs_deny), &texts(&b.programs_deny));
    let risky = |r| match r {
        Risky::Deny => 0,
        Risky::Warn => 1,
        Risky::Allow => 2,
    };
    c.at_most(
        "argv.risky",
        risky(value(a.risky.as_ref(), Risky::Allow)),
        risky(value(b.risky.as_ref(), Risky::Allow)),
        "is stricter in the parent",
    );
}

fn binaries(c: &mut Comparison, child: &Part, parent: &Part) {
    for set in &child.settings.binaries {
        let own = &set.value;
        match parent.settings.binaries.iter().map(|set| &set.value).find(|p| p.path == own.path) {
            Some(parent) if is_narrower(own, parent) => {}
            Some(_) => {
                c.wider(format!("binary {}", own.path), "accepts arguments that the parent's rules do not")
            }
            None if value(parent.settings.rules_required.as_ref(), false) => {
                c.wider(format!("binary {}", own.path), "the parent has no rules for this program");
            }
            None => {}
        }
    }
    for set in &parent.settings.binaries {
        let kept = child.settings.binaries.iter().any(|own| own.value.path == set.value.path);
        if !kept && !value(child.settings.rules_required.as_ref(), false) {
            c.wider(format!("binary {}", set.value.path), "the parent's argument rules are missing");
        }
    }
}

fn is_narrower(own: &Binary, parent: &Binary) -> bool {
    let subset = |a: &[String], b: &[String]| a.iter().all(|entry| b.contains(entry));
    subset(&own.flags, &parent.flags)
        && own.flags_with_value == parent.flags_with_value
        && (parent.subcommands.is_empty() && own.subcommands.is_empty()
            || !own.subcommands.is_empty() && subset(&own.subcommands, &parent.subcommands))
        && own.max_flags <= parent.max_flags
        && own.max_positionals <= parent.max_positionals
        && (!own.clusters || parent.clusters)
        && own.double_dash == parent.double_dash
        && own.positionals == parent.positionals
        && own.repeat_last == parent.repeat_last
}

fn rules(c: &mut Comparison, child: &Part, parent: &Part) {
    let all = |part: &Part| -> Vec<(Arc<Compiled>, Row)> {
        part.rules.iter().flat_map(|rules| rules.rows().map(|row| (rules.clone(), row))).collect()
    };
    let (all_own, all_theirs) = (all(child), all(parent));
    for (own, row) in all_own.iter().filter(|(_, row)| row.decision == Some(Decision::Allow)) {
        let covered = all_theirs
            .iter()
            .any(|(theirs, p)| p.decision == Some(Decision::Allow) && theirs.covers(p, own, row));
        if !covered {
            let origin = own.origin(row);
            c.wider(
                own.text(row.id),
                format!("allows what no rule of the parent allows ({}:{})", origin.file, origin.line),
            );
        }
    }
    for (theirs, row) in all_theirs.iter().filter(|(_, row)| row.decision != Some(Decision::Allow)) {
        let kept =
            all_own.iter().any(|(own, o)| Compiled::is_as_strict(o, row) && own.covers(o, theirs, row));
        if !kept {
            c.wider(theirs.text(row.id), "a rule of the parent is missing, or less strict");
        }
    }
}

/// How long commands may run.
fn times(c: &mut Comparison, a: &Settings, b: &Settings) {
    let longer = "is longer than the parent's";
    let (own, general) =
        (value(a.timeout.as_ref(), DEFAULT_TIMEOUT), value(b.timeout.as_ref(), DEFAULT_TIMEOUT));
    c.at_most("limits.timeout", own, general, longer);
    let in_class =
        |settings: &Settings| -> Vec<u32> { settings.timeouts.iter().map(|s| s.value.seconds).collect() };
    // Without a ceiling, nobody may ask for more than the policy gives.
    let ceiling = b
        .timeout_ceiling
        .as_ref()
        .map_or_else(|| in_class(b).into_iter().fold(general, u32::min), |set| set.value);
    let asked = if b.timeout_ceiling.is_some() { u32::MAX } else { 0 };
    c.at_most("limits.timeout-ceiling", value(a.timeout_ceiling.as_ref(), asked), ceiling, longer);
    // A class of the child alone may only be shorter than what there is without it; one of the parent may only be missing where
    // the child gives nothing longer. So the shortest class of every program is kept.
    let is_in = |class: &Set<TimeoutClass>, settings: &Settings| {
        settings.timeouts.iter().any(|s| s.value == class.value)
    };
    for class in a.timeouts.iter().filter(|class| !is_in(class, b)) {
        c.at_most(&format!("timeout.{}", class.value.class), class.value.seconds, general, longer);
    }
    let longest = in_class(a).into_iter().fold(own, u32::max);
    for class in b.timeouts.iter().filter(|class| !is_in(class, a) && class.value.seconds < longest) {
        c.wider(format!("timeout.{}", class.value.class), "a shorter time of the parent is missing");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::keys::{Key, Kind, POLICY};
    use crate::{Layer, Source};

    /// What says nothing about what is permitted, or is compared by what it leads to.
    const NOT_COMPARED: &[&str] = &[
        "extends",
        "name",
        "lock",
        "undo.runs",
        "undo.size",
        "undo.age",
        "gatekeeper.timeout",
        "gatekeeper.arguments",
        "gatekeeper.model",
        "gatekeeper.key-variable",
        "programs.match",
        "directory.paths",
        "tiers.default",
    ];

    /// Keys whose example is what holds without it, or that count with another one only.
    const OTHERWISE: &[(&str, &str)] = &[
        ("shell", "shell = 'simple'"),
        ("block-globs", "block-globs = true"),
        ("control-characters", "control-characters = 'refuse'"),
        ("asked", "asked = 'deny'"),
        ("approval", "approval = 'always'"),
        ("decide-by", "decide-by = 'tier'"),
        ("checks", "checks.network = 'allow'"),
        ("programs.allow", "programs = { allow = 'x', skips = 'questions' }"),
        ("programs.unlisted", "programs.unlisted = 'deny'"),
        ("programs.skips", "programs.skips = 'risk'"),
        ("limits.timeout", "limits.timeout = 5"),
        ("limits.on-output-limit", "limits.on-output-limit = 'kill'"),
        ("limits.max-output", "limits.max-output = 5"),
        ("sandbox.read-only", "sandbox.read-only = true"),
        ("sandbox.live", "sandbox.live = 'deny'"),
        ("environment.policy", "environment.policy = 'listed'"),
        ("directory.policy", "directory.policy = 'fixed'\ndirectory.paths = '$WORKSPACE'"),
        ("tiers.pattern", "tiers.pattern = [{ tier = 4, regex = 'x' }]"),
        ("binary", "binary = [{ path = '/x' }]"),
        ("rate", "rate = [{ per = 'all', count = 1, seconds = 1 }]"),
        ("timeout", "timeout = [{ class = 't', commands = 'make', seconds = 900 }]"),
        ("rule", "rule = [{ id = 'r', decision = 'deny', program = 'x' }]"),
    ];

    fn policy(text: &str) -> Policy {
        let source = Source { layer: Layer::System, name: "p".to_owned(), text: text.to_owned() };
        Policy::from_sources(None, &[source]).unwrap_or_else(|e| panic!("{e}"))
    }

    /// A key that somebody adds and forgets here would let a child permit more.
    #[test]
    fn every_key_is_compared() {
        fn keys(table: &[Key], above: &str, out: &mut Vec<(String, String)>) {
            for key in table {
                let name = format!("{above}{}", key.name);
                match key.kind {
                    Kind::Table(inner) => keys(inner, &format!("{name}."), out),
                    _ => out.push((name.clone(), format!("{name} = {}", key.example))),
                }
            }
        }
        let mut all = Vec::new();
        keys(POLICY, "", &mut all);
        let without = policy("");
        for (name, text) in all {
            if NOT_COMPARED.contains(&name.as_str()) {
                continue;
            }
            let text = OTHERWISE
                .iter()
                .find(|(known, _)| *known == name)
                .map_or(text, |(_, text)| (*text).to_owned());
            let with = policy(&text);
            let found = [exceeds(&with, &without), exceeds(&without, &with)].concat();
            assert!(!found.is_empty(), "{name}: {text}");
            assert!(exceeds(&with, &with).is_empty(), "{text}");
        }
    }
}
