//! Argument lists: the program resolved to the file that it is, and its arguments held against its rules.

use crate::Context;
use crate::decision::{Decision, Tier};
use crate::found::Found;
use crate::pattern::is_below;
use crate::policy::{Part, Policy};
use crate::settings::{Binary, Positional, Risky, Shell};
use crate::shape;
use shward_analysis::{FileKind, World};
use std::borrow::Cow;

/// The program of an argument list, as a file.
#[derive(Debug)]
pub(crate) struct Resolved<'w> {
    /// As it was named.
    pub(crate) named: &'w [u8],
    /// With every link resolved.
    file: Vec<u8>,
    /// Whether that file is listed.
    pub(crate) listed: bool,
}

/// Whether a part has anything to say about argument lists as such.
pub(crate) fn speaks(part: &Part) -> bool {
    part.shell() == Shell::None || !part.settings.binaries.is_empty() || part.settings.risky.is_some()
}

/// Resolves the program of an argument list, where that decides.
pub(crate) fn resolve<'w>(part: &Part, words: &[&'w [u8]], world: &dyn World) -> Option<Resolved<'w>> {
    if !speaks(part) {
        return None;
    }
    let named = words.first().copied()?;
    let file = real(named, world);
    let entries = part.settings.programs_allow.as_ref().map(|set| set.value.as_slice()).unwrap_or_default();
    let listed = entries.iter().any(|entry| entry.starts_with('/') && real(entry.as_bytes(), world) == file);
    Some(Resolved { named, file, listed })
}

fn real(path: &[u8], world: &dyn World) -> Vec<u8> {
    world.canonical(path).map_or_else(|| lexical(path), Cow::into_owned)
}

/// A path without `.`, `..` and doubled slashes.
fn lexical(path: &[u8]) -> Vec<u8> {
    let mut names: Vec<&[u8]> = Vec::new();
    for name in path.split(|b| *b == b'/') {
        match name {
            b"" | b"." => {}
            b".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    names.iter().flat_map(|name| [b"/", *name]).flatten().copied().collect()
}

/// What a program is that gives its caller more than it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Risk {
    /// Executes commands.
    Shell,
    /// Executes program text.
    Interpreter,
    /// Starts other programs.
    Spawner,
    /// Changes whose rights are used.
    Privilege,
}

impl Risk {
    /// The category's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Interpreter => "interpreter",
            Self::Spawner => "spawner",
            Self::Privilege => "privilege",
        }
    }
}

const SHELLS: &[&str] = &[
    "sh", "bash", "rbash", "zsh", "dash", "ksh", "mksh", "csh", "tcsh", "fish", "ash", "busybox", "toybox",
    "pwsh", "nu", "elvish", "xonsh",
];

const INTERPRETERS: &[&str] = &[
    "python",
    "pypy",
    "perl",
    "ruby",
    "irb",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "wish",
    "expect",
    "awk",
    "gawk",
    "nawk",
    "mawk",
    "java",
    "jshell",
    "groovy",
    "scala",
    "erl",
    "elixir",
    "guile",
    "racket",
    "julia",
    "octave",
    "Rscript",
    "osascript",
    "gdb",
    "ed",
    "ex",
    "m4",
];

const SPAWNERS: &[&str] = &[
    "env", "xargs", "parallel", "nohup", "timeout", "time", "nice", "ionice", "strace", "ltrace", "watch",
    "exec", "setsid", "stdbuf", "unshare", "nsenter", "setpriv", "flock", "chrt", "prlimit", "taskset",
    "script", "ssh", "vim", "vi", "nvim", "emacs", "go", "make", "gmake", "bwrap", "tmux", "screen", "entr",
    "perf", "numactl", "cgexec", "firejail", "proot", "socat",
];

const PRIVILEGE: &[&str] = &[
    "sudo",
    "su",
    "doas",
    "pkexec",
    "gksudo",
    "kdesudo",
    "runuser",
    "chroot",
    "capsh",
    "setcap",
    "machinectl",
    "systemd-run",
];

/// What kind of risk a program is, by the name of its file; a version at its end does not count.
#[must_use]
pub fn risk(program: &str) -> Option<Risk> {
    let name = program.rsplit('/').next().unwrap_or_default();
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let is = |list: &[&str]| list.contains(&name) || (!bare.is_empty() && list.contains(&bare));
    if is(SHELLS) {
        Some(Risk::Shell)
    } else if is(INTERPRETERS) {
        Some(Risk::Interpreter)
    } else if is(SPAWNERS) {
        Some(Risk::Spawner)
    } else if is(PRIVILEGE) {
        Some(Risk::Privilege)
    } else {
        None
    }
}

/// Judges an argument list.
pub(crate) fn judge(
    part: &Part,
    words: &[&[u8]],
    context: &Context<'_>,
    world: &dyn World,
    found: &mut Found,
) {
    let Some(resolved) = resolve(part, words, world) else { return };
    let mut deny = |rule, message: String| found.say(rule, Decision::Deny, Tier::Three, message);
    let shown = String::from_utf8_lossy(resolved.named).into_owned();
    if part.shell() == Shell::None && !resolved.named.starts_with(b"/") {
        return deny(
            "binary-not-absolute",
            format!("The program {shown} is not named by an absolute path. Name the file."),
        );
    }
    if resolved.named.starts_with(b"/") {
        let wrong = match world.kind(&resolved.file) {
            FileKind::Missing => Some(("binary-not-found", "does not exist")),
            FileKind::Directory => Some(("binary-is-directory", "is a directory")),
            FileKind::Special => Some(("binary-not-regular", "is no regular file")),
            FileKind::File if world.executable(&resolved.file) == Some(false) => {
                Some(("binary-not-executable", "cannot be executed"))
            }
            FileKind::File | FileKind::Unknown => None,
        };
        if let Some((rule, why)) = wrong {
            return deny(rule, format!("The program {shown} {why}. Name a program that can be executed."));
        }
    }
    let file = String::from_utf8_lossy(&resolved.file).into_owned();
    if let Some(risk) = risk(&file).or_else(|| risk(&shown)) {
        let message = format!(
            "The program {file} is a {}: it runs what its arguments say. Name the program that is meant.",
            risk.name()
        );
        match part.settings.risky.as_ref().map_or(Risky::Allow, |set| set.value) {
            Risky::Deny => found.say("binary-risky", Decision::Deny, Tier::Three, message),
            Risky::Warn => found.say("binary-risky", Decision::Allow, Tier::Three, message),
            Risky::Allow => {}
        }
    }
    let Some(binary) = rules_of(part, &resolved.file, world) else {
        if part.settings.rules_required.as_ref().is_some_and(|set| set.value) {
            found.say(
                "argument-rules-required",
                Decision::Deny,
                Tier::Two,
                format!("There are no argument rules for {file}. The person who keeps the policy adds a [[binary]] for it."),
            );
        }
        return;
    };
    if let Err((rule, why)) = arguments(binary, words.get(1..).unwrap_or_default(), context, world) {
        found.say(rule, Decision::Deny, Tier::Two, why);
    }
}

fn rules_of<'p>(part: &'p Part, file: &[u8], world: &dyn World) -> Option<&'p Binary> {
    let binaries = part.settings.binaries.iter().map(|set| &set.value);
    binaries.into_iter().find(|binary| real(binary.path.as_bytes(), world) == file)
}

/// What an argument is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Argument {
    Flag,
    /// A flag, and the next argument is its value.
    FlagAndNext,
    Value,
    Positional,
    Terminator,
}

/// What each argument is, as the rules of the program read it.
pub(crate) fn classify(binary: &Binary, words: &[&[u8]]) -> Vec<Argument> {
    let mut out = Vec::with_capacity(words.len());
    let mut terminated = false;
    for word in words {
        let kind = if out.last() == Some(&Argument::FlagAndNext) {
            Argument::Value
        } else if terminated || *word == b"-" || !word.starts_with(b"-") {
            Argument::Positional
        } else if *word == b"--" {
            terminated = true;
            Argument::Terminator
        } else if binary.flags_with_value.iter().any(|flag| flag.as_bytes() == *word) {
            Argument::FlagAndNext
        } else {
            Argument::Flag
        };
        out.push(kind);
    }
    out
}

fn is_accepted(binary: &Binary, word: &[u8]) -> bool {
    let is = |flag: &[u8]| binary.flags.iter().any(|known| known.as_bytes() == flag);
    if is(word) {
        return true;
    }
    let joined = binary.flags_with_value.iter().map(String::as_bytes).any(|flag| {
        let rest = word.strip_prefix(flag);
        word == flag
            || rest.is_some_and(|rest| {
                if flag.starts_with(b"--") { rest.starts_with(b"=") } else { flag.len() == 2 }
            })
    });
    joined
        || (binary.clusters
            && word.len() > 2
            && !word.starts_with(b"--")
            && word.iter().skip(1).all(|letter| is(&[b'-', *letter])))
}

/// The first rule that the arguments break.
fn arguments(
    binary: &Binary,
    words: &[&[u8]],
    context: &Context<'_>,
    world: &dyn World,
) -> Result<(), (&'static str, String)> {
    let kinds = classify(binary, words);
    let of = |wanted: &'static [Argument]| {
        words.iter().zip(&kinds).filter(move |(_, kind)| wanted.contains(kind)).map(|(word, _)| *word)
    };
    let shown = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
    let flags = of(&[Argument::Flag, Argument::FlagAndNext]).count();
    if flags > binary.max_flags {
        return Err((
            "too-many-flags",
            format!("{} takes at most {} options here, not {flags}.", binary.path, binary.max_flags),
        ));
    }
    if let Some(flag) = of(&[Argument::Flag, Argument::FlagAndNext]).find(|flag| !is_accepted(binary, flag)) {
        return Err((
            "flag-not-allowed",
            format!(
                "The option {} of {} is not allowed. Allowed: {}.",
                shown(flag),
                binary.path,
                binary.flags.join(" ")
            ),
        ));
    }
    if kinds.last() == Some(&Argument::FlagAndNext) {
        return Err(("flag-not-allowed", format!("The last option of {} has no value.", binary.path)));
    }
    let mut positionals = of(&[Argument::Positional]);
    if !binary.subcommands.is_empty() {
        let got = positionals.next();
        if !got.is_some_and(|got| binary.subcommands.iter().any(|known| known.as_bytes() == got)) {
            let got = got.map_or_else(|| "none".to_owned(), shown);
            return Err((
                "subcommand-not-allowed",
                format!(
                    "The subcommand of {} must be {}, not {got}.",
                    binary.path,
                    binary.subcommands.join(" or ")
                ),
            ));
        }
    }
    let positionals: Vec<&[u8]> = positionals.collect();
    if positionals.len() > binary.max_positionals {
        return Err((
            "too-many-positionals",
            format!(
                "{} takes at most {} arguments here, not {}.",
                binary.path,
                binary.max_positionals,
                positionals.len()
            ),
        ));
    }
    for (at, word) in positionals.iter().enumerate() {
        let last = binary.positionals.last().filter(|_| binary.repeat_last);
        let Some(rule) = binary.positionals.get(at).or(last) else { continue };
        if !fits(rule, word, context, world) {
            return Err((
                "positional-not-allowed",
                format!("The argument {} of {} is not what it must be.", shown(word), binary.path),
            ));
        }
    }
    Ok(())
}

fn fits(rule: &Positional, word: &[u8], context: &Context<'_>, world: &dyn World) -> bool {
    match rule {
        Positional::OneOf(known) => known.iter().any(|known| known.as_bytes() == word),
        Positional::Regex(regex) => std::str::from_utf8(word).is_ok_and(|word| regex.is_match(word)),
        Positional::Below(directories) => {
            let path =
                if word.starts_with(b"/") { word.to_vec() } else { [context.cwd, b"/", word].concat() };
            let path = real(&path, world);
            shape::directories(directories, context)
                .any(|directory| is_below(&path, &real(&directory, world)))
        }
    }
}

impl Policy {
    /// The argument list with `--` before the first argument that is no option, where the rules of its program say so
    /// and there is none; else as it is. To be applied before anything is judged.
    #[must_use]
    pub fn rewritten<'w>(&self, words: &[&'w [u8]], world: &dyn World) -> Vec<&'w [u8]> {
        let mut words = words.to_vec();
        for part in self.parts() {
            let Some(program) = words.first() else { break };
            let Some(binary) =
                rules_of(part, &real(program, world), world).filter(|binary| binary.double_dash)
            else {
                continue;
            };
            let kinds = classify(binary, words.get(1..).unwrap_or_default());
            if kinds.contains(&Argument::Terminator) {
                continue;
            }
            let first = kinds.iter().position(|kind| *kind == Argument::Positional);
            // The subcommand has to stay where the program looks for it.
            let first = first.map(|at| if binary.subcommands.is_empty() { at } else { at + 1 });
            if let Some(at) = first.filter(|at| *at < kinds.len()) {
                // Options after an argument would become arguments: then the list stays as it is.
                if kinds.iter().skip(at).all(|kind| *kind == Argument::Positional) {
                    words.insert(at + 1, b"--");
                }
            }
        }
        words
    }
}
