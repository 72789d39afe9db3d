//! The law of inclusion: what was observed lies within what was predicted.
//!
//! Works on the JSON of `shward check --plan`, where `null` is what is not known. An unknown covers what it says it
//! covers: an unknown option what its program does, a construct that was not understood everything.

use super::protocol::{Act, Event, Seen};
use crate::plan::{Effect, Invocation, Plan};
use std::borrow::Cow;

/// Programs that start others of their own accord, which no command names.
const HELPERS: &[(&str, &[&str])] = &[
    ("tar", &["/bin/sh", "gzip", "bzip2", "xz", "zstd", "lzma", "lzop", "lzip", "compress"]),
    ("zcat", &["gzip"]),
    ("gunzip", &["gzip"]),
    ("bzcat", &["bzip2"]),
    ("which", &["/bin/sh"]),
    // What they are told to run in a shell is predicted, but not that shell.
    ("flock", &["/bin/sh"]),
    ("split", &["sh", "/bin/sh"]),
    ("script", &["sh", "/bin/sh"]),
    ("awk", &["sh", "/bin/sh"]),
    ("gawk", &["sh", "/bin/sh"]),
    ("mawk", &["sh", "/bin/sh"]),
    ("sed", &["sh", "/bin/sh"]),
    ("python3", &["sh", "/bin/sh"]),
    ("perl", &["sh", "/bin/sh"]),
    ("egrep", &["grep"]),
    ("fgrep", &["grep"]),
    // They compress their temporary files with it only if they are told to; the rest they do themselves.
    ("diff", &["pr"]),
];

/// Programs that make the directories above what they write.
const MAKES_PARENTS: &[&str] = &["mkdir", "install", "cp", "tar", "busybox", "patch", "python3", "unzip"];

/// Programs that write below what was named, if that is a directory: their prediction names the directory.
const WRITES_INTO: &[&str] = &["cp", "mv", "ln", "install", "link", "python3"];

/// So many names of one path are looked at.
const MOST_NAMES: usize = 16;

/// Names that programs give to files of their own, which they remove again: the directory is that of the result.
const TEMPORARY: &[(&str, &str)] = &[
    ("sed", "sed"),
    ("sort", "sort"),
    ("patch", "p"),
    ("shuf", "shuf"),
    ("tac", "tac"),
    ("cp", "Cu"),
    ("ln", "Cu"),
    ("tee", "tee"),
    ("zip", "zi"),
    ("perl", "XX"),
    ("python3", "__db."),
    // Its here-documents.
    ("zsh", "zsh"),
];

/// How a plan names all that `mktemp` makes by a name which there was not.
const MADE: &str = "/tmp/tmp.XXXXXXXXXX";

/// What programs put behind the name of a file that they were given, for another one beside it: an ending that names of
/// archives have, what was there before, what could not be done, and a journal that goes when the change is whole.
const BESIDE: &[(&str, &str)] = &[
    ("zip", ".zip"),
    ("patch", ".orig"),
    ("patch", ".rej"),
    ("python3", ".bak"),
    ("python3", "-journal"),
    ("python3", ".dat"),
    ("python3", ".db"),
    ("python3", ".dir"),
];

impl Plan {
    /// Whether anything at all would be within the prediction.
    pub(crate) fn is_open(&self) -> bool {
        self.effects.iter().any(|effect| self.covers_everything(effect))
    }

    fn covers_everything(&self, effect: &Effect) -> bool {
        let detail = effect.detail.as_deref().unwrap_or_default();
        match effect.kind.as_str() {
            // A file that the shell itself reads may do anything in it.
            "code" => detail == "shell" || self.around(effect).any(|it| it.builtin),
            "execute" => effect.path.is_none(),
            // Where no process can be started any more, bash goes on without it: `prog >(f)` has no argument then.
            "system" => detail == "limits",
            "unknown" => match detail.split(' ').next() {
                // What it does is the program's doing; of a builtin it is the shell's.
                Some("option" | "subcommand" | "argument") => {
                    let mut around = self.around(effect).peekable();
                    around.peek().is_none()
                        || around.any(|invocation| invocation.builtin || invocation.program.is_none())
                }
                _ => true,
            },
            _ => false,
        }
    }

    /// Whether the result depends on what an interpreter prints that is not `there`: what is printed by code that was read is
    /// predicted, and a word in its place proves nothing.
    pub(crate) fn needs_interpreter(&self, there: impl Fn(&str) -> bool) -> bool {
        const INTERPRETERS: &[&str] = &["python", "perl", "ruby", "node", "php", "lua", "jq"];
        let programs = self.invocations.iter().filter_map(|invocation| invocation.program.as_deref());
        programs
            .map(base)
            .any(|name| INTERPRETERS.iter().any(|interpreter| name.starts_with(interpreter)) && !there(name))
    }

    /// Whether a program with these very words was predicted.
    pub(crate) fn names_exactly(&self, argv: &[String]) -> bool {
        self.invocations.iter().any(|it| {
            it.argv.len() == argv.len()
                && it
                    .argv
                    .iter()
                    .zip(argv)
                    .all(|(word, seen)| word.as_ref().is_some_and(|word| same(word, seen)))
        })
    }

    /// The invocations that an effect belongs to: of those that stand around it the innermost, for what a program does
    /// that a shell starts says nothing about the shell.
    fn around(&self, effect: &Effect) -> impl Iterator<Item = &Invocation> {
        let [start, end] = effect.span;
        let length = |it: &Invocation| it.span[1].saturating_sub(it.span[0]);
        let stands = move |it: &&Invocation| it.span[0] <= start && end <= it.span[1];
        let least = self.invocations.iter().filter(stands).map(length).min();
        self.invocations.iter().filter(stands).filter(move |it| Some(length(it)) == least)
    }

    /// What happened although it was not predicted.
    pub(crate) fn violations<'a>(&self, seen: &'a Seen) -> Vec<&'a Event> {
        if self.is_open() {
            return Vec::new();
        }
        let mut others: Vec<(&str, &str)> = seen.events.iter().filter_map(link).collect();
        others.extend(seen.events.windows(2).filter_map(renamed));
        others.extend(seen.events.iter().filter_map(made));
        seen.events.iter().filter(|event| !self.covers(event, &others)).collect()
    }

    /// `others`: names that the command itself gave to what is predicted under another one, each behind that.
    fn covers(&self, event: &Event, others: &[(&str, &str)]) -> bool {
        self.effects.iter().any(|effect| self.answers_for(effect, &event.by))
            || match &event.act {
                Act::Exec { program, argv, cwd } => {
                    helper(&event.by, program)
                        || names(cwd, others).iter().any(|cwd| {
                            self.invocations.iter().any(|it| {
                                it.is(program, argv, cwd, event.by.iter().any(|by| by == "python3"))
                                    && (self.leads_here() || it.is_found(program))
                            })
                        })
                }
                Act::Write { path, .. } => self.reaches_by(path, others, event, &["write"]),
                Act::Delete { path } => self.reaches_by(path, others, event, &["delete", "write"]),
                Act::Metadata { path } => self.reaches_by(path, others, event, &["metadata", "write"]),
            }
    }

    /// Whether a search path may lead into the workspace: a name may then mean the project's own program.
    fn leads_here(&self) -> bool {
        self.effects.iter().any(|effect| effect.kind == "code" && effect.detail.as_deref() == Some("project"))
    }

    /// Whether a path is reached under its own name, or under the one that the command replaced: what a link leads to is
    /// predicted where it lies in another scope than the link, and else the link's name stands for it; what is moved was
    /// written under its new name, and keeps its old one for whoever was there before.
    fn reaches_by(&self, path: &str, others: &[(&str, &str)], event: &Event, kinds: &[&str]) -> bool {
        names(path, others).iter().any(|path| self.reaches(path, event, kinds))
    }

    /// Whether this effect says that a program does what is not known, and the program is among those that did it.
    fn answers_for(&self, effect: &Effect, by: &[String]) -> bool {
        let did = |program: &str| by.iter().any(|name| name == base(program));
        match effect.kind.as_str() {
            // A script is run by the interpreter that it was given to.
            "execute" => {
                effect.path.as_deref().is_some_and(did)
                    || self.around(effect).any(|it| it.program.as_deref().is_some_and(did))
            }
            // What is read from a here-document stands outside of who reads it.
            "code"
                if effect
                    .detail
                    .as_deref()
                    .is_some_and(|language| by.iter().any(|it| it.starts_with(language))) =>
            {
                true
            }
            "code" | "package" | "vcs" | "unknown" => {
                self.around(effect).any(|it| it.program.as_deref().is_some_and(did))
            }
            _ => false,
        }
    }

    fn reaches(&self, path: &str, event: &Event, kinds: &[&str]) -> bool {
        let by = event.by.last().map_or("", String::as_str);
        let temporary =
            TEMPORARY.iter().any(|(program, prefix)| *program == by && base(path).starts_with(prefix));
        let directory = parent(path);
        let beside = BESIDE.iter().filter(|(program, _)| *program == by);
        let mut named: Vec<&str> = beside.filter_map(|(_, end)| path.strip_suffix(end)).collect();
        // `FILE.oXXXXXX`, in which what becomes of a file is made.
        named.extend(path.rsplit_once('.').filter(|_| by == "patch").map(|(path, _)| path));
        self.effects.iter().filter(|effect| kinds.contains(&effect.kind.as_str())).any(|effect| {
            let target = effect.path.as_deref().unwrap_or_default();
            effect.reaches(path)
                || named.iter().any(|path| effect.reaches(path))
                || (WRITES_INTO.contains(&by) && (is_below(path, target) || parent(target) == path))
                || (MAKES_PARENTS.contains(&by) && is_below(target, path))
                || (temporary && (is_below(target, directory) || directory == "/tmp"))
        }) || (temporary && directory == "/tmp")
    }
}

impl Invocation {
    /// Whether this is the program that was executed. A `null` stands for any number of words.
    fn is(&self, program: &str, argv: &[String], cwd: &str, python: bool) -> bool {
        if self.cwd.as_deref().is_some_and(|predicted| predicted != cwd) {
            return false;
        }
        let same = |predicted: &str, seen: &str| {
            same(predicted, seen) || python && is_one_place(predicted, seen, cwd)
        };
        let matches = |pattern: &[Option<String>], words: &[String]| matches(pattern, words, same);
        let whole = matches(&self.argv, argv);
        // `exec -a` and the like give it another name, and without a search path it lies in the working directory.
        let here = program.strip_prefix(cwd).and_then(|rest| rest.strip_prefix('/'));
        // `sys.executable` is predicted where programs lie, and is here among the tools.
        let named = |name: &str| {
            name == program || here == Some(name) || name.strip_prefix("/usr/bin/") == Some(program)
        };
        let renamed = self.program.as_deref().is_some_and(named)
            && matches(self.argv.get(1..).unwrap_or_default(), argv.get(1..).unwrap_or_default());
        whole || renamed
    }

    /// Whether the file that was executed was called by its path, or lies where only installing puts programs: where a search
    /// path leads to what commands write themselves, that is predicted as the project's own code.
    fn is_found(&self, program: &str) -> bool {
        let called = self.program.as_deref().is_none_or(|name| name.contains('/'));
        let written = ["/workspace/", "/tmp/", "/var/tmp/", "/dev/", "/home/"]
            .iter()
            .any(|place| program.starts_with(place));
        called || (!written && program.starts_with('/')) || !program.contains('/')
    }
}

impl Effect {
    fn reaches(&self, path: &str) -> bool {
        let target = self.path.as_deref().unwrap_or_default();
        match self.rest.as_deref() {
            // Of a text that may go up again only the beginning is known, and where it leads is not.
            Some("unknown") => path.starts_with(target) || self.scope.as_deref() == Some("unknown"),
            Some(_) => target.is_empty() || path == target || is_below(path, target),
            None => {
                same(target, path)
                    || ((self.tree || self.detail.as_deref() == Some("below")) && is_below(path, target))
            }
        }
    }
}

/// A path, and what the command itself knows it by, through links in links.
fn names<'n>(path: &'n str, others: &[(&str, &str)]) -> Vec<Cow<'n, str>> {
    let mut names = vec![Cow::Borrowed(path)];
    let mut next = 0;
    while let Some(path) = names.get(next).cloned().filter(|_| next < MOST_NAMES) {
        next += 1;
        for (name, aim) in others {
            let rest = path.strip_prefix(aim).filter(|rest| rest.is_empty() || rest.starts_with('/'));
            let Some(other) = rest.map(|rest| Cow::Owned(format!("{name}{rest}"))) else { continue };
            if !names.contains(&other) {
                names.push(other);
            }
        }
    }
    names
}

/// The old and the new name of what was moved.
fn renamed(events: &[Event]) -> Option<(&str, &str)> {
    match events {
        [
            Event { act: Act::Delete { path: old }, by },
            Event { act: Act::Write { path: new, .. }, by: same },
        ] if by == same && by.last().is_some_and(|program| program == "mv") => Some((old, new)),
        _ => None,
    }
}

/// The name of a symbolic link that was made, and what it leads to.
fn link(event: &Event) -> Option<(&str, &str)> {
    match &event.act {
        Act::Write { path, link: Some(aim) } => Some((path, aim)),
        _ => None,
    }
}

/// What stands for the path that `mktemp` makes up, and that path.
fn made(event: &Event) -> Option<(&str, &str)> {
    match &event.act {
        Act::Write { path, .. } if event.by.last().is_some_and(|program| program == "mktemp") => {
            Some((MADE, path))
        }
        _ => None,
    }
}

fn helper(by: &[String], program: &str) -> bool {
    HELPERS.iter().any(|(name, started)| by.iter().any(|by| by == name) && started.contains(&program))
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", name)) if !name.is_empty() => "/",
        Some((directory, _)) => directory,
        None => "",
    }
}

fn is_below(path: &str, directory: &str) -> bool {
    match directory.strip_suffix('/').unwrap_or(directory) {
        "" => !directory.is_empty(),
        directory => path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/')),
    }
}

/// Whether a word is the predicted one. Of the descriptors behind process substitutions only the shell knows the numbers.
fn same(predicted: &str, seen: &str) -> bool {
    const PLACE: &str = "/dev/fd/";
    predicted == seen || {
        let mut parts = [predicted, seen].map(|word| word.split(PLACE));
        let [predicted, seen] = &mut parts;
        let rest = |part: &str| part.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
        predicted.next() == seen.next() && predicted.map(rest).eq(seen.map(rest))
    }
}

/// Whether two words are names of one place, however Python has put them together: it may leave out what leads back again.
fn is_one_place(predicted: &str, seen: &str, cwd: &str) -> bool {
    let normal = |word: &str| {
        let whole = if word.starts_with('/') { word.to_owned() } else { format!("{cwd}/{word}") };
        let mut parts: Vec<String> = Vec::new();
        for part in whole.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part.to_owned()),
            }
        }
        parts
    };
    predicted.contains("./")
        && predicted.starts_with('/') == seen.starts_with('/')
        && normal(predicted) == normal(seen)
}

/// Whether words fit a pattern in which `None` is any number of words. Linear in their product.
fn matches(pattern: &[Option<String>], words: &[String], same: impl Fn(&str, &str) -> bool) -> bool {
    // `fits` says of how many of the words the pattern so far may be the beginning.
    let mut fits = vec![false; words.len() + 1];
    if let Some(first) = fits.first_mut() {
        *first = true;
    }
    for part in pattern {
        let mut next = vec![false; words.len() + 1];
        match part {
            None => {
                let mut any = false;
                for (after, before) in next.iter_mut().zip(&fits) {
                    any |= *before;
                    *after = any;
                }
            }
            Some(word) => {
                for ((after, before), seen) in next.iter_mut().skip(1).zip(&fits).zip(words) {
                    *after = *before && same(word, seen);
                }
            }
        }
        fits = next;
    }
    fits.last().copied().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(json: &serde_json::Value) -> Plan {
        serde_json::from_value(json.clone()).unwrap()
    }

    fn covered(plan: &Plan, event: serde_json::Value) -> bool {
        let seen = Seen { events: vec![serde_json::from_value(event).unwrap()], limit: None };
        plan.violations(&seen).is_empty()
    }

    #[test]
    fn words_fit_patterns() {
        type Row = (&'static [Option<&'static str>], &'static [&'static str], bool);
        let table: &[Row] = &[
            (&[], &[], true),
            (&[None], &[], true),
            (&[None], &["a", "b"], true),
            (&[Some("a")], &["a"], true),
            (&[Some("a")], &["b"], false),
            (&[Some("a")], &["a", "b"], false),
            (&[Some("a"), None, Some("c")], &["a", "x", "y", "c"], true),
            (&[Some("a"), None, Some("c")], &["a", "x", "y"], false),
        ];
        for (pattern, words, expected) in table {
            let pattern: Vec<_> = pattern.iter().map(|part| part.map(str::to_owned)).collect();
            let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(matches(&pattern, &words, same), *expected, "{pattern:?} {words:?}");
        }
    }

    #[test]
    fn what_is_not_predicted_is_a_violation() {
        let plan = plan(&serde_json::json!({
            "invocations": [
                {"program": "cp", "argv": ["cp", "a", null], "cwd": "/w", "builtin": false, "span": [0, 6]},
                {"program": "xyz", "argv": ["xyz"], "cwd": null, "builtin": false, "span": [8, 11]},
            ],
            "effects": [
                {"kind": "write", "span": [5, 6], "path": "/w/b"},
                {"kind": "delete", "span": [5, 6], "path": "/w/d", "tree": true},
                {"kind": "execute", "span": [8, 11], "path": "xyz"},
            ],
        }));
        let exec = |program: &str, argv: &[&str], cwd: &str, by: &[&str]| serde_json::json!({"act": "exec", "program": program, "argv": argv, "cwd": cwd, "by": by});
        let file =
            |act: &str, path: &str, by: &[&str]| serde_json::json!({"act": act, "path": path, "by": by});
        for (event, expected) in [
            (exec("cp", &["cp", "a", "b"], "/w", &[]), true),
            (exec("cp", &["cp", "a", "b"], "/v", &[]), false),
            (exec("cp", &["cp", "x", "b"], "/w", &[]), false),
            (exec("/usr/bin/cp", &["cp", "a", "b"], "/w", &[]), true),
            (exec("/x/cp", &["cp", "a", "b"], "/w", &[]), true),
            (exec("/tmp/cp", &["cp", "a", "b"], "/w", &[]), false),
            (exec("/workspace/cp", &["cp", "a", "b"], "/w", &[]), false),
            (exec("rm", &["rm"], "/w", &[]), false),
            (exec("rm", &["rm"], "/w", &["xyz"]), true),
            (file("write", "/w/b", &["cp"]), true),
            (file("write", "/w/b/a", &["cp"]), true),
            (file("write", "/w/b/a", &[]), false),
            (file("write", "/w/c", &["cp"]), false),
            (file("delete", "/w/d/e/f", &["rm"]), true),
            (file("delete", "/w/dd", &["rm"]), false),
            (file("metadata", "/w/d", &["chmod"]), false),
            (file("delete", "/", &["bash", "xyz"]), true),
        ] {
            assert_eq!(covered(&plan, event.clone()), expected, "{event}");
        }
    }

    #[test]
    fn an_unknown_covers_what_it_says() {
        let with = |kind: &str, detail: &str, builtin: bool| {
            plan(&serde_json::json!({
                "invocations": [
                    {"program": "cp", "argv": ["cp", null], "cwd": "/w", "builtin": builtin, "span": [0, 6]},
                ],
                "effects": [{"kind": kind, "span": [3, 6], "detail": detail}],
            }))
        };
        let by = |by: &[&str]| serde_json::json!({"act": "delete", "path": "/x", "by": by});
        for (kind, detail, builtin, by_cp, by_other) in [
            ("unknown", "option --zzz", false, true, false),
            ("unknown", "argument", false, true, false),
            ("unknown", "argument", true, true, true),
            ("unknown", "program", false, true, true),
            ("unknown", "construct eval", false, true, true),
            ("code", "shell", false, true, true),
            ("write", "replace", false, false, false),
        ] {
            let plan = with(kind, detail, builtin);
            let seen = [covered(&plan, by(&["cp"])), covered(&plan, by(&["mv"]))];
            assert_eq!(seen, [by_cp, by_other], "{kind} {detail}");
        }
    }
}
