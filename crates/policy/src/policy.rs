//! A policy: what its layers come to when they are laid over each other.

use crate::compiled::Compiled;
use crate::condition::Subject;
use crate::decision::Decision;
use crate::document::Document;
use crate::file::{BadPolicy, Diagnostic, Source, line_span};
use crate::profiles::{self, Profile};
use crate::reach::Reach;
use crate::rule::Rule;
use crate::rules::index::about_subject;
use crate::rules::{READ_ONLY, WORKSPACE};
use crate::settings::{Layer, Origin, Settings, Shell};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

/// The rules of what a policy lists: programs that it denies, those that it does not allow, and paths that it denies.
pub(crate) const PROGRAM_DENIED: &str = "program-denied";
pub(crate) const PROGRAM_UNLISTED: &str = "program-unlisted";
pub(crate) const PATH_DENIED: &str = "path-denied";

/// A policy.
///
/// Most policies have one part. What may only tighten (a project that nobody trusts, the environment) is a part of its
/// own: every part judges, and the strictest counts, so that no part can relax what another decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    main: Part,
    tightening: Vec<Part>,
}

/// Layers that were merged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Part {
    pub(crate) name: Cow<'static, str>,
    pub(crate) profile: Profile,
    /// Inspection only: the check of the profile `read-only` holds.
    inspection: bool,
    pub(crate) settings: Settings,
    /// Of each check of the catalogue, what is decided alone and contained; empty when no file says otherwise.
    pub(crate) decisions: Vec<(Decision, Decision)>,
    /// Of each file that has any, its rules.
    pub(crate) rules: Vec<Arc<Compiled>>,
    /// Of each file, a digest of its text.
    digests: Vec<[u8; 32]>,
    /// The keys that its files lock.
    locked: Vec<String>,
}

impl Default for Policy {
    fn default() -> Self {
        Self::new(Profile::default())
    }
}

impl Policy {
    /// The policy of a profile that is compiled in.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        match profile {
            Profile::Workspace | Profile::ReadOnly => Self::of(Part::plain(profile)),
            // A profile that ships with the program is tested with it; were it broken, the strictest would hold.
            _ => {
                Self::of_profile(profile.name()).unwrap_or_else(|_| Self::of(Part::plain(Profile::ReadOnly)))
            }
        }
    }

    fn of(main: Part) -> Self {
        Self { main, tightening: Vec::new() }
    }

    /// The policy of a profile, by its name.
    ///
    /// # Errors
    /// There is no such profile.
    pub fn of_profile(name: &str) -> Result<Self, BadPolicy> {
        Self::from_sources(Some(name), &[])
    }

    /// The policy that these files make, laid over each other in the order of their layers. `profile` is chosen on the
    /// command line and counts before what files extend.
    ///
    /// # Errors
    /// The first file that is wrong, with everything that is wrong with it.
    pub fn from_sources(profile: Option<&str>, sources: &[Source]) -> Result<Self, BadPolicy> {
        Self::from_layers(profile, sources, &[])
    }

    /// As [`from_sources`](Self::from_sources), and each of `tightening` may only tighten the result.
    ///
    /// # Errors
    /// As there.
    pub fn from_layers(
        profile: Option<&str>,
        sources: &[Source],
        tightening: &[Source],
    ) -> Result<Self, BadPolicy> {
        let read = |sources: &[Source]| sources.iter().cloned().map(Document::parse).collect();
        let documents: Result<Vec<Document>, BadPolicy> = read(sources);
        let tightening: Result<Vec<Document>, BadPolicy> = read(tightening);
        Self::from_documents(profile, &documents?, &tightening?)
    }

    /// As [`from_layers`](Self::from_layers), from files that were read.
    ///
    /// # Errors
    /// The documents do not fit together: a profile that is not known, a key that is locked.
    pub fn from_documents(
        profile: Option<&str>,
        documents: &[Document],
        tightening: &[Document],
    ) -> Result<Self, BadPolicy> {
        let mut documents: Vec<&Document> = documents.iter().collect();
        documents.sort_by_key(|document| document.source().layer);
        let mut main = Part::merge(profile, &documents)?;
        let mut parts = Vec::new();
        if let Some(base) = locked_base(profile, &documents) {
            // A profile lies below the system's files and would change what they lock without setting it.
            parts.push(std::mem::replace(&mut main, Part::merge(Some(base), &documents)?));
        }
        for document in tightening {
            // The same policy with this laid over it, judged beside the one without: it can only add denials.
            let with: Vec<&Document> = documents.iter().copied().chain([document]).collect();
            let extends = document.settings.extends.is_some();
            parts.push(Part::merge(if extends { None } else { profile }, &with)?);
        }
        Ok(Self { main, tightening: parts })
    }

    /// This policy, tightened by another: the strictest of both counts.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.tightening.push(other.main);
        self.tightening.extend(other.tightening);
        self
    }

    /// The parts, each of which judges. The first names the policy.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Part> {
        std::iter::once(&self.main).chain(&self.tightening)
    }

    fn main(&self) -> &Part {
        &self.main
    }

    /// The profile that is built on.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.main().profile
    }

    /// The name in records: that of the profile, or what a file calls itself.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.main().name
    }

    /// The settings of the main part.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.main().settings
    }

    /// The settings of every part: limits are the tightest of all of them.
    pub fn all_settings(&self) -> impl Iterator<Item = &Settings> {
        self.parts().map(|part| &part.settings)
    }

    /// Whether the system has locked a key: what it says of that holds against options, too.
    #[must_use]
    pub fn locks(&self, key: &str) -> bool {
        self.parts().any(|part| part.locked.iter().any(|locked| locked == key))
    }

    /// The hosts that contained commands may reach: what every part permits.
    #[must_use]
    pub fn reach(&self) -> Reach {
        Reach::of(self.all_settings())
    }

    /// The guarantees of the sandbox, by name, whose lack every part accepts.
    #[must_use]
    pub fn accepted_losses(&self) -> Vec<&str> {
        fn of(settings: &Settings) -> &[String] {
            settings.accept_missing.as_ref().map(|set| set.value.as_slice()).unwrap_or_default()
        }
        let everywhere = |name: &&String| self.all_settings().all(|settings| of(settings).contains(name));
        of(self.settings()).iter().filter(everywhere).map(String::as_str).collect()
    }

    /// Whether a run may be asked for that is not confined: the main part says so, and no other part denies it.
    #[must_use]
    pub fn permits_full(&self) -> bool {
        let said = |settings: &Settings| settings.full.as_ref().map(|set| set.value);
        said(self.settings()) == Some(true)
            && self.all_settings().all(|settings| said(settings) != Some(false))
    }

    /// Whether some part requires this of the machine, by name.
    #[must_use]
    pub fn requires(&self, name: &str) -> bool {
        self.all_settings()
            .filter_map(|settings| settings.require.as_ref())
            .any(|set| set.value.iter().any(|required| required == name))
    }

    /// The rules of files, of every part.
    pub fn file_rules(&self) -> impl Iterator<Item = &Compiled> {
        self.parts().flat_map(|part| &part.rules).map(|rules| &**rules)
    }

    /// The checks that hold. Those of the floor hold in every profile.
    pub fn rules(&self) -> impl Iterator<Item = &'static Rule> {
        self.main().checks().map(|(rule, _, _)| rule)
    }

    /// Every check with what it decides alone and contained, and where that was set.
    pub fn decided(&self) -> impl Iterator<Item = (&'static Rule, Decision, Decision, Option<&Origin>)> {
        let part = self.main();
        part.checks().map(move |(rule, alone, contained)| {
            let at = crate::rules::index_of(rule.id).map(|(at, _)| at);
            let set = part
                .settings
                .checks
                .iter()
                .rev()
                .find(|set| set.value.check.is_none() || set.value.check == at);
            (rule, alone, contained, set.filter(|_| !rule.is_floor()).map(|set| &set.origin))
        })
    }

    /// Whether a finding of this policy can be of this rule: a check, a rule of its files, or a list of programs or paths.
    #[must_use]
    pub fn has_rule(&self, id: &str) -> bool {
        self.decided().any(|(rule, ..)| rule.id == id)
            || [PROGRAM_DENIED, PROGRAM_UNLISTED, PATH_DENIED].contains(&id)
            || self.file_rules().flat_map(Compiled::told).any(|(own, ..)| own == id)
    }

    /// What is set besides checks and rules, with where it was set: part, key, value, origin.
    #[must_use]
    pub fn told(&self) -> Vec<(usize, &'static str, String, Origin)> {
        let parts = self.parts().enumerate();
        parts
            .flat_map(|(at, part)| part.settings.told().into_iter().map(move |(k, v, o)| (at, k, v, o)))
            .collect()
    }

    /// The policy as bytes that are the same for the same policy, to be hashed into records.
    #[must_use]
    pub fn canonical(&self) -> Vec<u8> {
        let floor = if cfg!(feature = "unrestricted") { " unrestricted" } else { "" };
        let mut out = format!("shward {}{floor}\n", env!("CARGO_PKG_VERSION")).into_bytes();
        for part in self.parts() {
            let mut text = format!("profile {} {}\n", part.profile.name(), part.name);
            for (key, value, origin) in part.settings.told() {
                let _ =
                    writeln!(text, "{key} {value} {} {}:{}", origin.layer.name(), origin.file, origin.line);
            }
            for set in &part.settings.binaries {
                let _ = writeln!(text, "{:?}", set.value);
            }
            for (alone, contained) in &part.decisions {
                let _ = writeln!(text, "{alone} {contained}");
            }
            out.extend_from_slice(text.as_bytes());
            for digest in &part.digests {
                out.extend_from_slice(digest);
            }
        }
        out
    }
}

impl Part {
    /// A profile that is its checks and nothing else.
    const fn plain(profile: Profile) -> Self {
        Self {
            name: Cow::Borrowed(profile.name()),
            profile,
            inspection: matches!(profile, Profile::ReadOnly),
            settings: Settings::EMPTY,
            decisions: Vec::new(),
            rules: Vec::new(),
            digests: Vec::new(),
            locked: Vec::new(),
        }
    }

    /// Lays documents over each other and over the profile that they build on.
    fn merge(profile: Option<&str>, documents: &[&Document]) -> Result<Self, BadPolicy> {
        let extended = documents.iter().rev().find_map(|d| Some((d.source(), d.settings.extends.as_ref()?)));
        let chosen = profile.or(extended.as_ref().map(|(_, set)| set.value.as_str()));
        let (base, profile_of, below) = profiles::chain(chosen.unwrap_or(Profile::default().name()))
            .map_err(|known| {
                let message = format!("there is no profile `{}`", chosen.unwrap_or_default());
                let (name, text, span) = match (profile, extended) {
                    (None, Some((source, set))) => {
                        let at = line_span(&source.text, set.origin.line);
                        (source.name.as_str(), source.text.as_str(), at)
                    }
                    _ => ("profile", "", 0..0),
                };
                let help = format!("profiles: {}", known.join(", "));
                BadPolicy::new(name, text, vec![Diagnostic::new("unknown-profile", span, message).help(help)])
            })?;
        let mut part = Self::plain(base);
        part.profile = profile_of;
        part.name =
            Cow::Borrowed(profiles::static_name(chosen.unwrap_or(base.name())).unwrap_or(base.name()));
        let mut locked: Vec<(String, Origin)> = Vec::new();
        for document in &below {
            part.lay(document);
        }
        for document in documents {
            refuse_locked(document, &locked)?;
            if let Some(lock) = &document.settings.lock {
                locked.extend(lock.value.iter().map(|key| (key.clone(), lock.origin.clone())));
            }
            if let Some(name) = &document.settings.name {
                part.name = Cow::Owned(name.value.clone());
            }
            part.lay(document);
        }
        part.locked = locked.into_iter().map(|(key, _)| key).collect();
        part.decide_checks();
        Ok(part)
    }

    fn lay(&mut self, document: &Document) {
        self.settings.overlay(document.settings.clone());
        self.rules.extend(document.rules().cloned());
        self.digests.push(*document.digest());
    }

    /// Works out what each check decides, if any file says something about it.
    fn decide_checks(&mut self) {
        if self.settings.checks.is_empty() {
            return;
        }
        self.decisions = crate::rules::rules().map(|rule| (rule.alone, rule.contained)).collect();
        for set in &self.settings.checks {
            for (at, (rule, decided)) in crate::rules::rules().zip(&mut self.decisions).enumerate() {
                if set.value.check.is_some_and(|check| check != at) || rule.is_floor() {
                    continue;
                }
                decided.0 = set.value.alone.unwrap_or(decided.0);
                decided.1 = set.value.contained.unwrap_or(decided.1);
            }
        }
    }

    /// The checks of this part with what they decide alone and contained.
    pub(crate) fn checks(&self) -> impl Iterator<Item = (&'static Rule, Decision, Decision)> {
        let added = if self.inspection { READ_ONLY } else { &[] };
        let decisions = self.decisions.iter().copied().map(Some).chain(std::iter::repeat(None));
        WORKSPACE.into_iter().flatten().chain(added).zip(decisions).map(|(rule, decided)| match decided {
            Some((alone, contained)) => (rule, alone, contained),
            None => (rule, rule.alone, rule.contained),
        })
    }

    /// The checks of this part that are about a subject, with what they decide alone and contained, in their order.
    pub(crate) fn checks_about(
        &self,
        subject: &Subject<'_>,
    ) -> impl Iterator<Item = (&'static Rule, Decision, Decision)> {
        about_subject(subject, self.inspection).map(|(at, rule)| {
            let (alone, contained) = self.decisions.get(at).copied().unwrap_or((rule.alone, rule.contained));
            (rule, alone, contained)
        })
    }

    /// What is accepted as a command.
    pub(crate) fn shell(&self) -> Shell {
        self.settings.shell.as_ref().map_or(Shell::Full, |set| set.value)
    }
}

/// The profile that the system's files build on, where they lock something and somebody else has chosen another.
fn locked_base<'d>(profile: Option<&str>, documents: &[&'d Document]) -> Option<&'d str> {
    let of_system = |document: &&&Document| document.source().layer <= Layer::System;
    let extends = |document: &&'d Document| Some(document.settings.extends.as_ref()?.value.as_str());
    let locks = documents.iter().filter(of_system).any(|document| document.settings.lock.is_some());
    let base = documents.iter().filter(of_system).rev().find_map(extends);
    let base = base.unwrap_or(Profile::default().name());
    let chosen = profile.or_else(|| documents.iter().rev().find_map(extends)).unwrap_or(base);
    (locks && chosen != base).then_some(base)
}

/// A layer that sets a key which an earlier one has locked is an error, not ignored: whoever wrote it thinks it holds.
fn refuse_locked(document: &Document, locked: &[(String, Origin)]) -> Result<(), BadPolicy> {
    let source = document.source();
    if source.layer <= Layer::System || locked.is_empty() {
        return Ok(());
    }
    let mut set: Vec<(&str, Origin)> = document.settings.told().into_iter().map(|(k, _, o)| (k, o)).collect();
    set.extend(document.settings.checks.iter().map(|c| ("checks", c.origin.clone())));
    set.extend(document.rules().flat_map(|rules| rules.told()).map(|(.., origin)| ("rule", origin)));
    let problems: Vec<Diagnostic> = set
        .iter()
        .filter_map(|(key, origin)| {
            let top = key.split('.').next().unwrap_or(key);
            // The times of kinds of commands are limits, too.
            let above = if top == "timeout" { "limits" } else { top };
            let (top, by) = locked.iter().find(|(name, _)| name == top || name == above)?;
            let message = format!("`{top}` is locked by {}:{}", by.file, by.line);
            Some(Diagnostic::new("locked", 0..0, message).at_line(origin.line).help("take it out"))
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(BadPolicy::new(&source.name, &source.text, problems)) }
}
