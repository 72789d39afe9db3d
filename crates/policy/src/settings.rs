//! The settings of a policy, each with the place that it comes from.

use crate::decision::{Decision, Tier};
use std::sync::Arc;

/// Where a layer comes from. Later layers stand above earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Compiled into the program: profiles.
    BuiltIn,
    /// Of the machine.
    System,
    /// Of the person.
    User,
    /// Of the project that is worked on.
    Project,
    /// Of the environment; can only tighten.
    Environment,
    /// Named on the command line.
    Explicit,
}

impl Layer {
    /// The name, for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::System => "system",
            Self::User => "user",
            Self::Project => "project",
            Self::Environment => "environment",
            Self::Explicit => "explicit",
        }
    }
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The layer.
    pub layer: Layer,
    /// The file's name.
    pub file: Arc<str>,
    /// The line in it, from 1.
    pub line: u32,
}

/// A value with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set<T> {
    /// The value.
    pub value: T,
    /// Where it was set.
    pub origin: Origin,
}

/// What is accepted as a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// All of the shell's language.
    Full,
    /// Simple commands joined by pipes and operators: no compound commands, substitutions, redirects to files, jobs.
    Chain,
    /// Simple commands joined by pipes.
    Pipeline,
    /// One literal command.
    Simple,
    /// Argument lists only.
    None,
}

/// How the path of a program meets a listed name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameMatch {
    /// In a system directory.
    System,
    /// Never: a name is a name and a path is a path.
    Exact,
    /// Wherever it lies.
    Any,
}

/// What a program gets that is not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unlisted {
    /// What the rules say.
    Rules,
    /// A question.
    Ask,
    /// A denial.
    Deny,
}

/// What being listed spares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skips {
    /// Nothing.
    Nothing,
    /// Questions about what is understood.
    Questions,
    /// Questions, and the tier with them.
    Risk,
}

/// What becomes of risky programs in argument lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Risky {
    /// Denied, even when listed.
    Deny,
    /// Allowed, with a finding.
    Warn,
    /// Allowed.
    Allow,
}

/// What environment a run gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvironmentPolicy {
    /// A few harmless variables.
    Basic,
    /// None.
    Empty,
    /// The locale.
    Locale,
    /// Those that are listed.
    Listed,
}

/// Where a command may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectoryPolicy {
    /// Anywhere.
    Any,
    /// Always in the first directory of the list.
    Fixed,
    /// In one of the list or below it.
    Below,
    /// In one of the list.
    Listed,
}

/// What becomes of the programs that start inside a run. The later the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ExecGate {
    /// Nobody looks at them; the sandbox alone holds them.
    #[default]
    Off,
    /// They are recorded.
    Observe,
    /// They are recorded, and each is judged by the policy on what it really is, before it runs.
    Enforce,
}

impl ExecGate {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::Off, Self::Observe, Self::Enforce];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Observe => "observe",
            Self::Enforce => "enforce",
        }
    }

    /// The mode of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// Whether a run may write straight to the workspace, where nothing can be undone. The later the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Live {
    /// When it is asked for, and where there is no overlay.
    #[default]
    Allow,
    /// Only where there is no overlay.
    Fallback,
    /// Never: such a run is refused.
    Deny,
}

impl Live {
    /// Every word.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Fallback, Self::Deny];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Fallback => "fallback",
            Self::Deny => "deny",
        }
    }
}

/// The decision of a built-in check, as a file sets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckSetting {
    /// The check, by its place in the catalogue; `None` stands for all that are not named.
    pub(crate) check: Option<usize>,
    /// When somebody else runs the command.
    pub(crate) alone: Option<Decision>,
    /// When shward runs it.
    pub(crate) contained: Option<Decision>,
}

/// A pattern that raises the tier of commands by their text.
#[derive(Debug, Clone)]
pub struct TierPattern {
    /// The tier.
    pub(crate) tier: Tier,
    /// The expression, compiled.
    pub(crate) regex: regex_lite::Regex,
}

impl PartialEq for TierPattern {
    fn eq(&self, other: &Self) -> bool {
        self.tier == other.tier && self.regex.as_str() == other.regex.as_str()
    }
}

impl Eq for TierPattern {}

/// What an argument has to be.
#[derive(Debug, Clone)]
pub(crate) enum Positional {
    /// A path in or below one of these directories.
    Below(Vec<String>),
    /// The whole argument matches.
    Regex(regex_lite::Regex),
    /// One of these.
    OneOf(Vec<String>),
}

impl PartialEq for Positional {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Below(a), Self::Below(b)) | (Self::OneOf(a), Self::OneOf(b)) => a == b,
            (Self::Regex(a), Self::Regex(b)) => a.as_str() == b.as_str(),
            _ => false,
        }
    }
}

impl Eq for Positional {}

/// What one program's argument list may be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Binary {
    pub(crate) path: String,
    pub(crate) subcommands: Vec<String>,
    pub(crate) flags: Vec<String>,
    pub(crate) flags_with_value: Vec<String>,
    pub(crate) clusters: bool,
    pub(crate) max_flags: usize,
    pub(crate) max_positionals: usize,
    pub(crate) double_dash: bool,
    pub(crate) positionals: Vec<Positional>,
    pub(crate) repeat_last: bool,
}

/// What is counted together by a rate limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RatePer {
    /// One session of an agent.
    Session,
    /// One program.
    Program,
    /// One tier.
    Tier,
    /// Everything.
    All,
}

/// A limit on how many commands are accepted in which time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// What is counted together.
    pub per: RatePer,
    /// How many may come at once.
    pub burst: u32,
    /// How many are accepted in `seconds`, for ever.
    pub count: u32,
    /// The time for `count`, in seconds.
    pub seconds: u32,
    /// Wait rather than refuse, at most so many seconds.
    pub wait: Option<u32>,
}

/// The time that commands of a kind get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeoutClass {
    /// Its name, for people.
    pub class: String,
    /// Which commands: a program, and perhaps the words that have to follow it.
    pub commands: Vec<String>,
    /// Seconds until a run is killed.
    pub seconds: u32,
}

macro_rules! settings {
    ($($(#[doc = $doc:literal])* $field:ident: $kind:ty, $key:literal;)*) => {
        /// The settings of a layer, or of several merged. `None` is not set.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct Settings {
            $($(#[doc = $doc])* pub $field: Option<Set<$kind>>,)*
            /// Programs that are denied.
            pub programs_deny: Vec<Set<String>>,
            /// Places that are denied.
            pub paths_deny: Vec<Set<String>>,
            /// Hosts that are denied.
            pub network_deny: Vec<Set<String>>,
            /// Decisions of built-in checks, the later the stronger.
            pub checks: Vec<Set<CheckSetting>>,
            /// Tiers by patterns.
            pub patterns: Vec<Set<TierPattern>>,
            /// Argument rules of programs.
            pub binaries: Vec<Set<Binary>>,
            /// Rate limits.
            pub rates: Vec<Set<Rate>>,
            /// Times of kinds of commands. Those of a layer replace those of the same name below.
            pub timeouts: Vec<Set<TimeoutClass>>,
        }

        impl Settings {
            /// Nothing set.
            pub(crate) const EMPTY: Self = Self {
                $($field: None,)*
                programs_deny: Vec::new(),
                paths_deny: Vec::new(),
                network_deny: Vec::new(),
                checks: Vec::new(),
                patterns: Vec::new(),
                binaries: Vec::new(),
                rates: Vec::new(),
                timeouts: Vec::new(),
            };

            /// Lays `above` over these settings: its values replace, its lists of denials, patterns and limits are added.
            pub(crate) fn overlay(&mut self, above: Self) {
                $(if above.$field.is_some() { self.$field = above.$field; })*
                self.programs_deny.extend(above.programs_deny);
                self.paths_deny.extend(above.paths_deny);
                self.network_deny.extend(above.network_deny);
                self.checks.extend(above.checks);
                self.patterns.extend(above.patterns);
                self.binaries.retain(|old| !above.binaries.iter().any(|new| new.value.path == old.value.path));
                self.binaries.extend(above.binaries);
                self.rates.extend(above.rates);
                self.timeouts.retain(|old| !above.timeouts.iter().any(|new| new.value.class == old.value.class));
                self.timeouts.extend(above.timeouts);
            }

            /// The keys that are set, with their values in short and where they come from.
            pub(crate) fn told(&self) -> Vec<(&'static str, String, Origin)> {
                let mut out = Vec::new();
                $(if let Some(set) = &self.$field {
                    out.push(($key, format!("{:?}", set.value), set.origin.clone()));
                })*
                for set in &self.programs_deny {
                    out.push(("programs.deny", format!("{:?}", set.value), set.origin.clone()));
                }
                for set in &self.paths_deny {
                    out.push(("paths.deny", format!("{:?}", set.value), set.origin.clone()));
                }
                for set in &self.network_deny {
                    out.push(("network.deny", format!("{:?}", set.value), set.origin.clone()));
                }
                for set in &self.patterns {
                    let pattern = format!("tier {} for {:?}", set.value.tier.get(), set.value.regex.as_str());
                    out.push(("tiers.pattern", pattern, set.origin.clone()));
                }
                for set in &self.binaries {
                    out.push(("binary", format!("{:?}", set.value.path), set.origin.clone()));
                }
                for set in &self.rates {
                    out.push(("rate", format!("{:?}", set.value), set.origin.clone()));
                }
                for set in &self.timeouts {
                    let TimeoutClass { class, commands, seconds } = &set.value;
                    out.push(("timeout", format!("{class} {seconds} s {commands:?}"), set.origin.clone()));
                }
                out
            }
        }
    };
}

settings! {
    /// The profile that is built on.
    extends: String, "extends";
    /// The name of this profile.
    name: String, "name";
    /// Keys that later layers must not set.
    lock: Vec<String>, "lock";
    /// What is accepted as a command.
    shell: Shell, "shell";
    /// Refuse glob characters in simple commands.
    block_globs: bool, "block-globs";
    /// Refuse control, invisible and bidirectional characters.
    refuse_controls: bool, "control-characters";
    /// Deny what would be asked.
    deny_asked: bool, "asked";
    /// Ask whatever is not denied.
    approve_all: bool, "approval";
    /// Checks decide by their tier.
    by_tier: bool, "decide-by";
    /// Programs that are listed.
    programs_allow: Vec<String>, "programs.allow";
    /// What an unlisted program gets.
    unlisted: Unlisted, "programs.unlisted";
    /// How paths meet listed names.
    name_match: NameMatch, "programs.match";
    /// What being listed spares.
    skips: Skips, "programs.skips";
    /// Places outside which nothing may be touched.
    paths_allow: Vec<String>, "paths.allow";
    /// The least tier of what is not understood.
    default_tier: Tier, "tiers.default";
    /// Seconds until a run is killed.
    timeout: u32, "limits.timeout";
    /// The longest timeout that may be asked for, in seconds.
    timeout_ceiling: u32, "limits.timeout-ceiling";
    /// Bytes of each stream that are kept.
    max_output: u64, "limits.max-output";
    /// Kill a run that writes more.
    kill_on_output: bool, "limits.on-output-limit";
    /// Bytes of private memory of each process of a run.
    memory: u64, "limits.memory";
    /// Processes and threads of a run.
    processes: u64, "limits.processes";
    /// Bytes of memory of a run as a whole.
    run_memory: u64, "limits.run-memory";
    /// Hundredths of a processor.
    processors: u64, "limits.processors";
    /// Bytes that the changes of a run may take.
    run_disk: u64, "limits.run-disk";
    /// Bytes that a run leaves free.
    disk_reserve: u64, "limits.disk-reserve";
    /// Bytes of private directories of a run.
    private: u64, "limits.private";
    /// Hosts that contained commands may reach.
    network_allow: Vec<String>, "network.allow";
    /// Guarantees of the sandbox that a run may be without where the machine lacks them.
    accept_missing: Vec<String>, "sandbox.accept-missing";
    /// What is refused where the machine lacks it.
    require: Vec<String>, "sandbox.require";
    /// Whether a run may be asked for that is not confined.
    full: bool, "sandbox.full";
    /// Whether a run may write straight to the workspace.
    live: Live, "sandbox.live";
    /// How many runs are kept to be undone.
    undo_runs: u32, "undo.runs";
    /// How many bytes of old files are kept for that.
    undo_size: u64, "undo.size";
    /// How many seconds they are kept.
    undo_age: u32, "undo.age";
    /// Runs change nothing but their private temporary directories.
    read_only: bool, "sandbox.read-only";
    /// What becomes of the programs that start inside a run.
    exec_gate: ExecGate, "limits.exec-gate";
    /// The program that is asked about what is asked.
    gatekeeper_program: String, "gatekeeper.program";
    /// Its arguments.
    gatekeeper_arguments: Vec<String>, "gatekeeper.arguments";
    /// Where a model is asked instead.
    gatekeeper_address: String, "gatekeeper.address";
    /// The model's name.
    gatekeeper_model: String, "gatekeeper.model";
    /// The variable of the environment that holds the key.
    gatekeeper_key: String, "gatekeeper.key-variable";
    /// Seconds after which no answer is a denial.
    gatekeeper_timeout: u32, "gatekeeper.timeout";
    /// Without a gatekeeper, what is asked is denied.
    gatekeeper_required: bool, "gatekeeper.required";
    /// What environment a run gets.
    environment: EnvironmentPolicy, "environment.policy";
    /// The variables that pass when they are listed.
    environment_allow: Vec<String>, "environment.allow";
    /// Variables with fixed values.
    environment_set: Vec<(String, String)>, "environment.set";
    /// Where a command may start.
    directory: DirectoryPolicy, "directory.policy";
    /// The directories of that.
    directory_paths: Vec<String>, "directory.paths";
    /// What becomes of risky programs in argument lists.
    risky: Risky, "argv.risky";
    /// A program without argument rules is denied.
    rules_required: bool, "argv.rules-required";
}
