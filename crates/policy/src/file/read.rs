//! From a checked table to settings. Types and words have been checked, so what is not there is not set.

use super::diagnostic::{Diagnostic, Problems};
use super::{Source, check};
use crate::decision::{Decision, Tier};
use crate::pattern;
use crate::reach::Destination;
use crate::settings::{
    Binary, CheckSetting, DirectoryPolicy, EnvironmentPolicy, ExecGate, Layer, Live, NameMatch, Origin,
    Positional, Rate, RatePer, Risky, Set, Settings, Shell, Skips, TierPattern, TimeoutClass, Unlisted,
};
use crate::toml::{Inner, Span, Table, Value};
use regex_lite::{Regex, RegexBuilder};
use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

/// Longest regular expression, in bytes. Matching is linear in the text, and in this.
const MAX_REGEX: usize = 4096;

/// Most bytes that a compiled expression may take.
const MAX_COMPILED: usize = 1 << 18;

/// Most regular expressions of a file: each is compiled whenever the file is read, and a hook reads it for each command.
const MAX_REGEXES: usize = 256;

/// Reads tables, and collects what is wrong beyond types.
pub(super) struct Reader<'s> {
    pub(super) source: &'s Source,
    file: Arc<str>,
    /// Where a line was asked for last, and its number: the next is counted from there.
    last: Cell<(usize, u32)>,
    /// How many regular expressions there were.
    regexes: usize,
    pub(super) problems: Problems,
}

/// The decision of this word.
pub(super) fn decision(word: &str) -> Option<Decision> {
    [Decision::Allow, Decision::Ask, Decision::Deny].into_iter().find(|d| d.as_str() == word)
}

/// The tier of this number.
pub(super) fn tier(number: i64) -> Tier {
    match number {
        ..=1 => Tier::One,
        2 => Tier::Two,
        3 => Tier::Three,
        _ => Tier::Four,
    }
}

/// The texts of a value: one, or a list.
pub(super) fn texts<'v, 't>(
    value: Option<&'v Value<'t>>,
) -> impl Iterator<Item = (&'v Cow<'t, str>, Span)> + use<'v, 't> {
    let items = match value.map(|v| &v.inner) {
        Some(Inner::Text(_)) => value.map_or(&[][..], std::slice::from_ref),
        Some(Inner::List(items)) => items.as_slice(),
        _ => &[],
    };
    items.iter().filter_map(|item| Some((item.as_text()?, item.span)))
}

fn owned(value: Option<&Value<'_>>) -> Vec<String> {
    texts(value).map(|(text, _)| text.clone().into_owned()).collect()
}

impl<'s> Reader<'s> {
    pub(super) fn new(source: &'s Source) -> Self {
        let file = source.name.as_str().into();
        Self { source, file, last: Cell::new((0, 1)), regexes: 0, problems: Problems::default() }
    }

    /// The line of a place, from 1.
    pub(super) fn line(&self, span: Span) -> u32 {
        let (from, number) = self.last.get();
        let breaks = |from: usize, to: usize| {
            let bytes = self.source.text.as_bytes().get(from..to).unwrap_or_default();
            u32::try_from(bytes.iter().filter(|b| **b == b'\n').count()).unwrap_or(u32::MAX)
        };
        let line = if span.start >= from {
            number.saturating_add(breaks(from, span.start))
        } else {
            number.saturating_sub(breaks(span.start, from))
        };
        self.last.set((span.start, line));
        line
    }

    fn origin(&self, span: Span) -> Origin {
        Origin { layer: self.source.layer, file: self.file.clone(), line: self.line(span) }
    }

    fn set<T>(&self, span: Span, value: T) -> Set<T> {
        Set { value, origin: self.origin(span) }
    }

    fn map<T>(&self, value: Option<&Value<'_>>, f: impl Fn(&Value<'_>) -> Option<T>) -> Option<Set<T>> {
        let value = value?;
        Some(self.set(value.span, f(value)?))
    }

    fn word<T: Copy>(&self, value: Option<&Value<'_>>, words: &[(&str, T)]) -> Option<Set<T>> {
        self.map(value, |v| words.iter().find(|(word, _)| v.as_str() == Some(word)).map(|(_, t)| *t))
    }

    fn text_list(&self, value: Option<&Value<'_>>) -> Option<Set<Vec<String>>> {
        self.map(value, |v| Some(owned(Some(v))))
    }

    fn each(&self, value: Option<&Value<'_>>) -> Vec<Set<String>> {
        texts(value).map(|(text, span)| self.set(span, text.clone().into_owned())).collect()
    }

    fn number<T: TryFrom<i64>>(&self, value: Option<&Value<'_>>) -> Option<Set<T>> {
        self.map(value, |v| T::try_from(v.as_integer()?).ok())
    }

    pub(super) fn regex(&mut self, text: &str, span: Span, whole: bool) -> Option<Regex> {
        if text.len() > MAX_REGEX {
            self.problems.push(Diagnostic::new("regex", span, format!("longer than {MAX_REGEX} bytes")));
            return None;
        }
        self.regexes += 1;
        if self.regexes > MAX_REGEXES {
            let message = format!("more than {MAX_REGEXES} regular expressions; join some with `|`");
            self.problems.push(Diagnostic::new("too-large", span, message));
            return None;
        }
        let text = if whole { format!("^(?:{text})$") } else { text.to_owned() };
        match RegexBuilder::new(&text).size_limit(MAX_COMPILED).build() {
            Ok(regex) => Some(regex),
            Err(error) => {
                let message = format!("not a regular expression: {error}");
                self.problems.push(
                    Diagnostic::new("regex", span, message)
                        .help(r"letters stand for themselves; escape the rest with a backslash, in '…'"),
                );
                None
            }
        }
    }

    pub(super) fn settings(&mut self, table: &Table<'_>) -> Settings {
        let get = |name: &str| table.get(name);
        let inner = |name: &str, key: &str| within(table, name, key);
        let mut settings = Settings {
            extends: self.map(get("extends"), |v| v.as_str().map(str::to_owned)),
            name: self.map(get("name"), |v| v.as_str().map(str::to_owned)),
            lock: self.text_list(get("lock")),
            shell: self.word(
                get("shell"),
                &[
                    ("full", Shell::Full),
                    ("chain", Shell::Chain),
                    ("pipeline", Shell::Pipeline),
                    ("simple", Shell::Simple),
                    ("none", Shell::None),
                ],
            ),
            block_globs: self.map(get("block-globs"), |v| v.as_bool()),
            refuse_controls: self.word(get("control-characters"), &[("accept", false), ("refuse", true)]),
            deny_asked: self.word(get("asked"), &[("ask", false), ("deny", true)]),
            approve_all: self.word(get("approval"), &[("as-decided", false), ("always", true)]),
            by_tier: self.word(get("decide-by"), &[("checks", false), ("tier", true)]),
            programs_allow: self.text_list(inner("programs", "allow")),
            unlisted: self.word(
                inner("programs", "unlisted"),
                &[("rules", Unlisted::Rules), ("ask", Unlisted::Ask), ("deny", Unlisted::Deny)],
            ),
            name_match: self.word(
                inner("programs", "match"),
                &[("system", NameMatch::System), ("exact", NameMatch::Exact), ("any", NameMatch::Any)],
            ),
            skips: self.word(
                inner("programs", "skips"),
                &[("nothing", Skips::Nothing), ("questions", Skips::Questions), ("risk", Skips::Risk)],
            ),
            paths_allow: self.text_list(inner("paths", "allow")),
            default_tier: self.map(inner("tiers", "default"), |v| v.as_integer().map(tier)),
            timeout: self.number(inner("limits", "timeout")),
            timeout_ceiling: self.number(inner("limits", "timeout-ceiling")),
            max_output: self.number(inner("limits", "max-output")),
            kill_on_output: self
                .word(inner("limits", "on-output-limit"), &[("truncate", false), ("kill", true)]),
            memory: self.number(inner("limits", "memory")),
            processes: self.number(inner("limits", "processes")),
            run_memory: self.number(inner("limits", "run-memory")),
            processors: self.number(inner("limits", "processors")),
            run_disk: self.number(inner("limits", "run-disk")),
            disk_reserve: self.number(inner("limits", "disk-reserve")),
            private: self.number(inner("limits", "private")),
            network_allow: self.text_list(inner("network", "allow")),
            accept_missing: self.text_list(inner("sandbox", "accept-missing")),
            require: self.text_list(inner("sandbox", "require")),
            full: self.map(inner("sandbox", "full"), |v| v.as_bool()),
            live: self.word(inner("sandbox", "live"), &Live::ALL.map(|live| (live.name(), live))),
            undo_runs: self.number(inner("undo", "runs")),
            undo_size: self.number(inner("undo", "size")),
            undo_age: self.number(inner("undo", "age")),
            read_only: self.map(inner("sandbox", "read-only"), |v| v.as_bool()),
            exec_gate: self
                .word(inner("limits", "exec-gate"), &ExecGate::ALL.map(|mode| (mode.name(), mode))),
            gatekeeper_program: self.map(inner("gatekeeper", "program"), |v| v.as_str().map(str::to_owned)),
            gatekeeper_arguments: self.text_list(inner("gatekeeper", "arguments")),
            gatekeeper_address: self.map(inner("gatekeeper", "address"), |v| v.as_str().map(str::to_owned)),
            gatekeeper_model: self.map(inner("gatekeeper", "model"), |v| v.as_str().map(str::to_owned)),
            gatekeeper_key: self.map(inner("gatekeeper", "key-variable"), |v| v.as_str().map(str::to_owned)),
            gatekeeper_timeout: self.number(inner("gatekeeper", "timeout")),
            gatekeeper_required: self.map(inner("gatekeeper", "required"), |v| v.as_bool()),
            environment: self.word(
                inner("environment", "policy"),
                &[
                    ("basic", EnvironmentPolicy::Basic),
                    ("empty", EnvironmentPolicy::Empty),
                    ("locale", EnvironmentPolicy::Locale),
                    ("listed", EnvironmentPolicy::Listed),
                ],
            ),
            environment_allow: self.text_list(inner("environment", "allow")),
            environment_set: self.map(inner("environment", "set"), |v| {
                let pairs = v.as_table()?.iter();
                Some(
                    pairs
                        .filter_map(|(k, v)| Some((k.name.clone().into_owned(), v.as_str()?.to_owned())))
                        .collect(),
                )
            }),
            directory: self.word(
                inner("directory", "policy"),
                &[
                    ("any", DirectoryPolicy::Any),
                    ("fixed", DirectoryPolicy::Fixed),
                    ("below", DirectoryPolicy::Below),
                    ("listed", DirectoryPolicy::Listed),
                ],
            ),
            directory_paths: self.text_list(inner("directory", "paths")),
            risky: self.word(
                inner("argv", "risky"),
                &[("deny", Risky::Deny), ("warn", Risky::Warn), ("allow", Risky::Allow)],
            ),
            rules_required: self.map(inner("argv", "rules-required"), |v| v.as_bool()),
            programs_deny: self.each(inner("programs", "deny")),
            paths_deny: self.each(inner("paths", "deny")),
            network_deny: self.each(inner("network", "deny")),
            checks: self.checks(get("checks")),
            ..Settings::default()
        };
        self.entries(&mut settings, table);
        self.look_over(&settings, table);
        settings
    }

    /// What may stand several times, each with keys of its own.
    fn entries(&mut self, settings: &mut Settings, table: &Table<'_>) {
        let get = |name: &str| table.get(name);
        for (item, span) in tables(within(table, "tiers", "pattern")) {
            let Some(text) = item.get("regex") else {
                self.missing(span, "regex");
                continue;
            };
            let regex = self.regex(text.as_str().unwrap_or_default(), text.span, false);
            let level = item.get("tier").and_then(Value::as_integer);
            if level.is_none() {
                self.missing(span, "tier");
            }
            if let (Some(regex), Some(level)) = (regex, level) {
                settings.patterns.push(self.set(span, TierPattern { tier: tier(level), regex }));
            }
        }
        for (item, span) in tables(get("binary")) {
            if let Some(binary) = self.binary(item, span) {
                settings.binaries.push(self.set(span, binary));
            }
        }
        for (item, span) in tables(get("rate")) {
            if let Some(rate) = self.rate(item, span) {
                settings.rates.push(self.set(span, rate));
            }
        }
        for (item, span) in tables(get("timeout")) {
            if let Some(class) = self.timeout_class(item, span) {
                settings.timeouts.push(self.set(span, class));
            }
        }
    }

    /// What is wrong with values that are each of the right kind.
    fn look_over(&mut self, settings: &Settings, table: &Table<'_>) {
        self.locks(settings, table.get("lock"));
        self.undoing(table.get("undo"));
        self.program_names(within(table, "programs", "allow"));
        self.program_names(within(table, "programs", "deny"));
        self.denied_names(within(table, "programs", "deny"));
        self.destinations(within(table, "network", "allow"));
        self.destinations(within(table, "network", "deny"));
        self.places(within(table, "paths", "allow"));
        self.places(within(table, "paths", "deny"));
        self.places(within(table, "directory", "paths"));
        for (name, span) in texts(within(table, "sandbox", "accept-missing")) {
            if !super::keys::DISPENSABLE.contains(&&**name) {
                let message =
                    format!("a sandbox cannot be built without {name:?}, or there is no such guarantee");
                let known = super::keys::DISPENSABLE.join(", ");
                self.problems.push(
                    Diagnostic::new("unknown-guarantee", span, message).help(format!("known here: {known}")),
                );
            }
        }
        for (name, span) in texts(within(table, "sandbox", "require")) {
            if !super::keys::REQUIRABLE.contains(&&**name) {
                let known = super::keys::REQUIRABLE.join(", ");
                let message = format!("there is nothing called {name:?} to require");
                self.problems.push(
                    Diagnostic::new("unknown-requirement", span, message)
                        .help(format!("known here: {known}")),
                );
            }
        }
        if let (Some(set), Some(value)) = (&settings.programs_allow, within(table, "programs", "allow"))
            && set.value.is_empty()
        {
            self.problems.push(
                Diagnostic::new("empty-list", value.span, "a list of allowed programs needs at least one")
                    .help("take the line out: without a list no program is listed"),
            );
        }
        if let (Some(set), Some(value)) = (&settings.directory, within(table, "directory", "policy"))
            && set.value != DirectoryPolicy::Any
            && settings.directory_paths.as_ref().is_none_or(|p| p.value.is_empty())
        {
            self.problems.push(
                Diagnostic::new("missing-key", value.span, "this policy needs `paths`")
                    .help(r#"add: paths = ["$WORKSPACE"]"#),
            );
        }
    }

    fn destinations(&mut self, value: Option<&Value<'_>>) {
        for (text, span) in texts(value) {
            if let Err(message) = Destination::parse(text) {
                let help = r#"as in: "pypi.org:443", "*.example.com", "10.0.0.0/8", "[2001:db8::1]:443""#;
                self.problems.push(Diagnostic::new("destination", span, message).help(help));
            }
        }
    }

    /// A place that is met by none would deny nothing, and an empty one allow everything.
    fn places(&mut self, value: Option<&Value<'_>>) {
        for (text, span) in texts(value) {
            if let Some(why) = pattern::fault(text) {
                let help = r#"as in: "$WORKSPACE/private", "/srv", "$HOME/notes/**""#;
                let message = format!("the place `{}` {why}", check::shown(text));
                self.problems.push(Diagnostic::new("place", span, message).help(help));
            }
        }
    }

    /// Names that no program can be called by.
    fn program_names(&mut self, value: Option<&Value<'_>>) {
        for (name, span) in texts(value) {
            self.program_name(name, span);
        }
    }

    fn program_name(&mut self, name: &str, span: Span) {
        let relative = name.contains('/') && !name.starts_with('/');
        if name.is_empty() || relative || name.starts_with('-') || name.contains(['\\', '\0', '"', '\'', ','])
        {
            self.problems.push(
                Diagnostic::new(
                    "program-name",
                    span,
                    "a program is listed by its name or by an absolute path",
                )
                .help(r#"as in: allow = ["git", "/usr/bin/make"]"#),
            );
        }
    }

    /// Hardly any program has a blank in its name, so that `git push` would deny nothing.
    fn denied_names(&mut self, value: Option<&Value<'_>>) {
        for (_, span) in texts(value).filter(|(n, _)| !n.contains('/') && n.contains(char::is_whitespace)) {
            self.problems.push(
                Diagnostic::new(
                    "program-name",
                    span,
                    "a program is denied by its name alone, or by an absolute path",
                )
                .help(
                    "what it must not be called with stands in a [[rule]], with `program` and `subcommand`",
                ),
            );
        }
    }

    fn missing(&mut self, span: Span, key: &str) {
        self.problems.push(Diagnostic::new("missing-key", span, format!("`{key}` is missing here")));
    }

    /// What is kept is the way back from what a project's commands have done, and that of other projects beside it.
    fn undoing(&mut self, value: Option<&Value<'_>>) {
        if let Some(value) =
            value.filter(|_| matches!(self.source.layer, Layer::Project | Layer::Environment))
        {
            let message = "only the policy of the system or the user says what is kept to be undone";
            self.problems.push(Diagnostic::new("undo", value.span, message).help("take the table out"));
        }
    }

    fn locks(&mut self, settings: &Settings, value: Option<&Value<'_>>) {
        let (Some(lock), Some(value)) = (&settings.lock, value) else { return };
        let span = value.span;
        if self.source.layer > Layer::System {
            self.problems.push(
                Diagnostic::new("lock", span, "only the system's policy can lock keys")
                    .help("take the line out; `shward policy check --system` reads a file as it counts in /etc/shward/policy.d"),
            );
        }
        for name in &lock.value {
            if !super::keys::POLICY.iter().any(|key| key.name == name) {
                self.problems.push(check::unknown(name, span, super::keys::POLICY.iter().map(|k| k.name)));
            }
        }
    }

    fn checks(&self, value: Option<&Value<'_>>) -> Vec<Set<CheckSetting>> {
        let Some(table) = value.and_then(Value::as_table) else { return Vec::new() };
        let mut out: Vec<Set<CheckSetting>> = table
            .iter()
            .map(|(key, value)| {
                let named =
                    |name: &str| value.as_table().and_then(|t| t.get(name)?.as_str()).and_then(decision);
                let both = value.as_str().and_then(decision);
                let setting = CheckSetting {
                    check: crate::rules::index_of(&key.name).map(|(at, _)| at),
                    alone: both.or_else(|| named("alone")),
                    contained: both.or_else(|| named("contained")),
                };
                self.set(key.span, setting)
            })
            .collect();
        // The default first, so that what is named is stronger.
        out.sort_by_key(|set| set.value.check.is_some());
        out
    }

    fn binary(&mut self, item: &Table<'_>, span: Span) -> Option<Binary> {
        let Some(path) = item.get("path") else {
            self.missing(span, "path");
            return None;
        };
        let text = path.as_str().unwrap_or_default();
        if !text.starts_with('/') {
            self.problems.push(
                Diagnostic::new("not-absolute", path.span, "the path of a program is absolute")
                    .help(r#"as in: path = "/usr/bin/git""#),
            );
            return None;
        }
        let count = |name: &str| {
            item.get(name).and_then(Value::as_integer).and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
        };
        let mut binary = Binary {
            path: text.to_owned(),
            subcommands: owned(item.get("subcommand")),
            flags: owned(item.get("flags")),
            flags_with_value: owned(item.get("flags-with-value")),
            clusters: item.get("clusters").and_then(Value::as_bool).unwrap_or(false),
            max_flags: count("max-flags"),
            max_positionals: count("max-positionals"),
            double_dash: item.get("double-dash").and_then(Value::as_str) == Some("after-flags"),
            positionals: Vec::new(),
            repeat_last: false,
        };
        for (positional, span) in tables(item.get("positional")) {
            let mut kinds = Vec::new();
            if let Some(value) = positional.get("below") {
                self.places(Some(value));
                kinds.push(Positional::Below(owned(Some(value))));
            }
            if let Some(value) = positional.get("one-of") {
                kinds.push(Positional::OneOf(owned(Some(value))));
            }
            if let Some(value) = positional.get("regex") {
                kinds.extend(
                    self.regex(value.as_str().unwrap_or_default(), value.span, true).map(Positional::Regex),
                );
            }
            binary.repeat_last = positional.get("repeat").and_then(Value::as_bool).unwrap_or(false);
            match (kinds.pop(), kinds.is_empty()) {
                (Some(kind), true) => binary.positionals.push(kind),
                _ => self.problems.push(Diagnostic::new(
                    "positional",
                    span,
                    "a positional is said by one of `below`, `regex` and `one-of`",
                )),
            }
        }
        Some(binary)
    }

    fn timeout_class(&mut self, item: &Table<'_>, span: Span) -> Option<TimeoutClass> {
        let class = item.get("class").and_then(Value::as_str);
        let seconds = item.get("seconds").and_then(Value::as_integer).and_then(|n| u32::try_from(n).ok());
        let commands = owned(item.get("commands"));
        let (Some(class), Some(seconds)) = (class, seconds) else {
            self.missing(span, if class.is_none() { "class" } else { "seconds" });
            return None;
        };
        if commands.iter().all(|command| command.trim().is_empty()) {
            self.missing(span, "commands");
            return None;
        }
        let first = |command: &str| command.split(' ').find(|w| !w.is_empty()).unwrap_or_default().to_owned();
        for (command, span) in texts(item.get("commands")) {
            self.program_name(&first(command), span);
        }
        Some(TimeoutClass { class: class.to_owned(), commands, seconds })
    }

    fn rate(&mut self, item: &Table<'_>, span: Span) -> Option<Rate> {
        let number =
            |name: &str| item.get(name).and_then(Value::as_integer).and_then(|n| u32::try_from(n).ok());
        let [Some(count), Some(seconds)] = [number("count"), number("seconds")] else {
            self.missing(span, if number("count").is_none() { "count" } else { "seconds" });
            return None;
        };
        let word = |name: &str| item.get(name).and_then(Value::as_str);
        Some(Rate {
            per: match word("per") {
                Some("program") => RatePer::Program,
                Some("tier") => RatePer::Tier,
                Some("all") => RatePer::All,
                _ => RatePer::Session,
            },
            burst: number("burst").unwrap_or(count),
            count,
            seconds,
            wait: (word("on-exceed") == Some("wait")).then(|| number("max-wait").unwrap_or(60)),
        })
    }
}

/// The tables of a list, with where they stand.
pub(super) fn tables<'v, 't>(
    value: Option<&'v Value<'t>>,
) -> impl Iterator<Item = (&'v Table<'t>, Span)> + use<'v, 't> {
    let items = value.and_then(Value::as_array).unwrap_or_default();
    items.iter().filter_map(|item| Some((item.as_table()?, item.span)))
}

/// The value of a key in a table of a table.
fn within<'t, 'a>(table: &'t Table<'a>, name: &str, key: &str) -> Option<&'t Value<'a>> {
    table.get(name).and_then(Value::as_table).and_then(|inner| inner.get(key))
}
