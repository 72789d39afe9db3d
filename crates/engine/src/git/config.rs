//! Which changes of a repository's settings start no program.
//!
//! `git remote add`, `git switch --track` and `git init` write the same file in which `core.fsmonitor` or `alias` name a program
//! that the next git command of the user starts. So the file is read, strictly: settings that are known to be harmless may come and
//! go, everything else must stand as it stood.

use super::started::{files_of, is_command};
use std::collections::BTreeMap;
use std::str::Chars;

/// Settings that only git's own work depends on (git-config(1)). `*` is any subsection.
const HARMLESS: &[&str] = &[
    "branch.*.description",
    "branch.*.merge",
    "branch.*.rebase",
    "branch.*.remote",
    "color.ui",
    "core.abbrev",
    "core.autocrlf",
    "core.bare",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.precomposeunicode",
    "core.quotepath",
    "core.repositoryformatversion",
    "core.safecrlf",
    "core.symlinks",
    "core.whitespace",
    "diff.algorithm",
    "extensions.objectformat",
    "fetch.prune",
    "gc.auto",
    "init.defaultbranch",
    "lfs.repositoryformatversion",
    "maintenance.auto",
    "merge.conflictstyle",
    "pull.ff",
    "pull.rebase",
    "push.autosetupremote",
    "push.default",
    "rebase.autosquash",
    "rebase.autostash",
    "remote.*.fetch",
    "remote.*.prune",
    "remote.*.tagopt",
    "remote.*.url",
    "submodule.*.active",
    "submodule.*.url",
    "submodule.active",
    "user.email",
    "user.name",
];

/// Settings that may be made, but not changed: they decide where the user's next push goes. What says where a remote lies does not
/// go either, or the next run could make it anew.
const ONCE: &[&str] = &["branch.*.remote", "remote.*.url", "submodule.*.url"];

/// Section, subsection and name of a setting.
type Key = (String, String, String);

/// Values of settings, in the order in which they stand: of several that contradict each other git takes the last.
type Settings<'s> = BTreeMap<&'s Key, Vec<&'s str>>;

/// Whether a change of the file starts no program and sends nothing elsewhere. `before` is `None` in a repository that is new.
pub(crate) fn is_harmless(before: Option<&[u8]>, after: &[u8]) -> bool {
    // Of a file that is not understood nobody can say what stays as it stood.
    let (Some(before), Some(after)) =
        (before.map_or_else(|| Some(None), |text| parse(text).map(Some)), parse(after))
    else {
        return false;
    };
    let is_new = before.is_none();
    let before = before.unwrap_or_default();
    // In their order, too: what an `include` brings in gives way to what stands below it, and only to that. And one that is
    // gone may have been what kept a program from being started.
    let fixed = |settings: &'_ [(Key, String)]| -> Vec<(Key, String)> {
        settings.iter().filter(|(key, _)| !is_listed(HARMLESS, key)).cloned().collect()
    };
    if fixed(&before) != fixed(&after) {
        return false;
    }
    let (old, new) = (by_key(&before), by_key(&after));
    if old.keys().any(|key| is_listed(&["remote.*.url"], key) && !new.contains_key(key)) {
        return false;
    }
    new.iter().filter(|(key, _)| is_listed(HARMLESS, key)).all(|(key, values)| {
        old.get(key) == Some(values)
            || !(is_listed(ONCE, key) && old.contains_key(key))
                && !(key.0 == "branch" && key.2 == "remote" && !(is_new || known_remotes(&old, values)))
                && values.iter().all(|value| !starts_program(value))
    })
}

/// The values of a setting, in a file of the plain form; `None` if it is of another.
pub(super) fn values_of(text: &[u8], section: &str, name: &str) -> Option<Vec<String>> {
    let is_meant = |key: &Key| key.0 == section && key.2 == name;
    Some(parse(text)?.into_iter().filter(|(key, _)| is_meant(key)).map(|(_, value)| value).collect())
}

fn by_key(settings: &[(Key, String)]) -> Settings<'_> {
    let mut found = Settings::new();
    for (key, value) in settings {
        found.entry(key).or_default().push(value);
    }
    found
}

/// A branch may follow a remote that was there before.
fn known_remotes(old: &Settings<'_>, values: &[&str]) -> bool {
    values.iter().all(|name| {
        let url = ("remote".to_owned(), (*name).to_owned(), "url".to_owned());
        *name == "." || old.contains_key(&url)
    })
}

/// `ext::` and its kind name a program (gitremote-helpers(7)); a dash would be read as an option by ssh.
fn starts_program(value: &str) -> bool {
    value.contains("::") || value.starts_with('-')
}

/// The files and directories that the settings name by `include.path`, `includeIf`, `init.templateDir` and `core.hooksPath`, as they are
/// written, the files that the commands in them name, and the submodules: what lies there is what git reads and runs. Whatever is not
/// understood is passed over.
pub(crate) fn leads_to(text: &[u8]) -> Vec<(Leads, String)> {
    let text = String::from_utf8_lossy(text).replace("\r\n", "\n");
    let (mut section, mut found) = (String::new(), Vec::new());
    let mut letters = text.strip_prefix('\u{feff}').unwrap_or(&text).chars();
    while let Some(letter) = letters.next() {
        match letter {
            // A comment ends with its line, whatever that ends with.
            '#' | ';' => letters.by_ref().take_while(|letter| *letter != '\n').for_each(drop),
            '[' => {
                let module;
                (section, module) = section_of(&mut letters);
                if section == "submodule" && !module.is_empty() {
                    found.push((Leads::Module, module));
                }
            }
            letter if letter.is_whitespace() => {}
            letter => {
                let mut ended = None;
                let rest = letters.by_ref().take_while(|letter| {
                    ended = Some(*letter).filter(|letter| matches!(letter, '=' | '\n'));
                    ended.is_none()
                });
                let name: String = std::iter::once(letter).chain(rest).collect();
                if ended != Some('=') {
                    continue;
                }
                let value = value_of(&mut letters);
                let name = name.trim().to_ascii_lowercase();
                if is_command(&section, &name) {
                    found.extend(files_of(&value).map(|file| (Leads::Started, file.to_owned())));
                    continue;
                }
                let leads = match (section.as_str(), name.as_str()) {
                    // Whose hooks and settings every new repository gets.
                    ("include" | "includeif", "path") | ("init", "templatedir") => Leads::Settings,
                    ("core", "hookspath") => Leads::Hooks,
                    ("core", "worktree") => Leads::Tree,
                    _ => continue,
                };
                if !value.is_empty() {
                    found.push((leads, value));
                }
            }
        }
    }
    found
}

/// The section that a header names, after its bracket, and its subsection, which may hold brackets as well.
fn section_of(letters: &mut Chars<'_>) -> (String, String) {
    let (mut name, mut below, mut quoted, mut named) = (String::new(), String::new(), false, false);
    while let Some(letter) = letters.next() {
        match letter {
            '\n' => break,
            ']' if !quoted => break,
            '"' => (quoted, named) = (!quoted, true),
            '\\' if quoted => below.extend(letters.next()),
            letter if quoted => below.push(letter),
            letter => {
                named |= letter == '.' || letter.is_whitespace();
                if !named {
                    name.push(letter.to_ascii_lowercase());
                }
            }
        }
    }
    (name, below)
}

/// A value as git reads it (git-config(1), "Syntax"), to the end of its line: quotes may stand anywhere, a comment begins outside of
/// them, blanks at both ends count only within them, and the line goes on after a backslash at its end, if that is no comment's.
fn value_of(letters: &mut Chars<'_>) -> String {
    let (mut value, mut kept, mut quoted) = (String::new(), 0, false);
    while let Some(letter) = letters.next() {
        match letter {
            '\n' => break,
            ' ' | '\t' | '\r' if !quoted => {
                if !value.is_empty() {
                    value.push(letter);
                }
                continue;
            }
            '#' | ';' if !quoted => {
                letters.by_ref().take_while(|letter| *letter != '\n').for_each(drop);
                break;
            }
            '"' => quoted = !quoted,
            '\\' => match letters.next() {
                Some('\n') => continue,
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some('b') => value.push('\u{8}'),
                Some(other) => value.push(other),
                None => break,
            },
            other => value.push(other),
        }
        kept = value.len();
    }
    value.truncate(kept);
    value
}

/// What a setting leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leads {
    /// More settings; the path is relative to the file that names it.
    Settings,
    /// A directory of hooks; the path is relative to the work tree.
    Hooks,
    /// What a command may start or read; the path is relative to the work tree, and may be a word that is none.
    Started,
    /// The work tree of a repository that lies elsewhere; the path is relative to the repository.
    Tree,
    /// The repository of a submodule; the path is its name, below `modules`.
    Module,
}

fn is_listed(table: &[&str], (section, subsection, name): &Key) -> bool {
    table.iter().any(|row| {
        let mut parts = row.split('.');
        match (parts.next(), parts.next(), parts.next()) {
            (Some(s), Some("*"), Some(n)) => s == section && n == name && !subsection.is_empty(),
            (Some(s), Some(n), None) => s == section && n == name && subsection.is_empty(),
            _ => false,
        }
    })
}

/// Reads the plain form that git itself writes; anything else (escapes, continued lines, an old-style subsection) is not
/// understood.
fn parse(text: &[u8]) -> Option<Vec<(Key, String)>> {
    let text = std::str::from_utf8(text).ok()?;
    let mut settings = Vec::new();
    let (mut section, mut subsection) = (None, String::new());
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if line.contains(['\\', '\0', '\r']) {
            return None;
        }
        if let Some(header) = line.strip_prefix('[') {
            let header = header.strip_suffix(']')?;
            let (name, sub) = match header.split_once(' ') {
                Some((name, sub)) => (name, sub.trim().strip_prefix('"')?.strip_suffix('"')?),
                None => (header, ""),
            };
            if name.is_empty()
                || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
                || sub.contains('"')
            {
                return None;
            }
            section = Some(name.to_ascii_lowercase());
            sub.clone_into(&mut subsection);
            continue;
        }
        // A name alone means true.
        let (name, value) = line.split_once('=').map_or((line, "true"), |(n, v)| (n.trim(), v.trim()));
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return None;
        }
        let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value);
        if value.contains(['"', '#', ';']) {
            return None;
        }
        let key = (section.clone()?, subsection.clone(), name.to_ascii_lowercase());
        settings.push((key, value.to_owned()));
    }
    Some(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n";
    const CLONED: &str = "[remote \"origin\"]\n\turl = https://example.com/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";

    #[test]
    fn harmless_settings_come_and_go() {
        let cloned = format!("{NEW}{CLONED}");
        for (before, after) in [
            (None, NEW.to_owned()),
            (None, cloned.clone()),
            (
                Some(NEW),
                format!("{NEW}[remote \"o\"]\n\turl = a\n\tfetch = +refs/heads/*:refs/remotes/o/*\n"),
            ),
            (
                Some(cloned.as_str()),
                cloned.replace("[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n", ""),
            ),
            (
                Some(cloned.as_str()),
                format!("{cloned}[branch \"x/y\"]\n\tremote = origin\n\tmerge = refs/heads/x\n"),
            ),
            (
                Some(NEW),
                format!(
                    "{NEW}[pull]\n\tff = only\n[push]\n\tautoSetupRemote = true\n[merge]\n\tconflictStyle = zdiff3\n"
                ),
            ),
            (Some(NEW), format!("{NEW}[user]\n\tname = \"A B\"\n\temail = a@example.com\n")),
            (Some("[core]\n\tfsmonitor = mine\n"), format!("{NEW}[core]\n\tfsmonitor = mine\n")),
        ] {
            assert!(is_harmless(before.map(str::as_bytes), after.as_bytes()), "{before:?} {after}");
        }
    }

    #[test]
    fn what_settings_lead_to_is_found() {
        let text = b"[core]\n\tbare = false\n\tHooksPath = .githooks ; ours\n[include] path = ../a\n\tpath = \"b #c\" # d\n\
            [includeIf \"gitdir:x\"]\n\tpath=~/c\n[remote \"path\"]\n\tpath = d\n\tpath\n\
            [init]\n\ttemplateDir = ~/t\n\tdefaultBranch = x\n\
            [submodule \"a\\\"]b\"]\n[submodule \"\"]\n[submodule]\n[other \"e\"]\n";
        let expected = [
            (Leads::Hooks, ".githooks"),
            (Leads::Settings, "../a"),
            (Leads::Settings, "b #c"),
            (Leads::Settings, "~/c"),
            (Leads::Settings, "~/t"),
            (Leads::Module, "a\"]b"),
        ];
        let found = leads_to(text);
        let found: Vec<_> = found.iter().map(|(leads, path)| (*leads, path.as_str())).collect();
        assert_eq!(found, expected);
        for (written, meant) in [
            ("my\"hooks\"", "myhooks"),
            ("\"my#hooks\"", "my#hooks"),
            ("my\\\nhooks", "myhooks"),
            ("\"a\\\\b\" # c", "a\\b"),
            (" a b  ; c", "a b"),
            ("a\\\r\nb\r", "ab"),
            ("a \\\n b", "a  b"),
            ("\"a\\\n#b\" ; c", "a#b"),
            ("a ; c:\\\n[alias]", "a"),
            ("\" a \"", " a "),
            ("a]b", "a]b"),
        ] {
            let found = leads_to(format!("[core]\n\thookspath = {written}\n").as_bytes());
            assert_eq!(found, [(Leads::Hooks, meant.to_owned())], "{written:?}");
        }
        // A comment ends with its line.
        for text in [
            "[core]\n# C:\\tools\\\nhooksPath = x\n",
            "[core]\r\n; tools\\\r\nhooksPath = x\r\n",
            "# \\\n[core] # \\\nhooksPath = x",
            "[core]\n\tbare = false # \\\n\thooksPath = x\n",
            "\u{feff}[core] hooksPath = x",
            "[a \"]\\\"\"]\nb = \\\\\n[CORE] bare\nhooksPath = x",
        ] {
            assert_eq!(leads_to(text.as_bytes()), [(Leads::Hooks, "x".to_owned())], "{text:?}");
        }
    }

    #[test]
    fn everything_else_stays_as_it_stood() {
        let cloned = format!("{NEW}{CLONED}");
        for (before, after) in [
            (NEW, format!("{NEW}[core]\n\tfsmonitor = evil\n")),
            // The user's next git would take files out of the work tree, those too by which an agent is held.
            (NEW, format!("{NEW}[core]\n\tsparseCheckout = true\n")),
            (NEW, format!("{NEW}[extensions]\n\tworktreeConfig = true\n")),
            (NEW, format!("{NEW}[core]\n\thooksPath = /tmp/x\n")),
            (NEW, format!("{NEW}[CORE]\n\tsshCommand = evil\n")),
            (NEW, format!("{NEW}[alias]\n\tst = !evil\n")),
            (NEW, format!("{NEW}[include]\n\tpath = x\n")),
            (NEW, format!("{NEW}[remote \"o\"]\n\turl = ext::sh -c evil\n")),
            (NEW, format!("{NEW}[remote \"o\"]\n\turl = a\n\tuploadpack = evil\n")),
            (NEW, format!("{NEW}[core]\n\teditor = \\\n evil\n")),
            (NEW, format!("{NEW}[core \"x\"]\n\tbare = true\n")),
            (NEW, format!("{NEW}[filter.x]\n\tclean = evil\n")),
            (NEW, format!("{NEW}[branch \"main\"]\n\tremote = elsewhere\n")),
            (NEW, cloned.clone()), // a new remote, and a branch that follows it at once
            (NEW, "pwn\n".to_owned()),
            (NEW, format!("{NEW}pwn\nevil = [\n")),
            (cloned.as_str(), cloned.replace("example.com", "evil.example")),
            (cloned.as_str(), NEW.to_owned()), // and then anew in another run
            (
                "[core]\n\tfsmonitor = false\n[credential]\n\thelper =\n",
                "[core]\n\tfsmonitor = false\n".to_owned(),
            ),
        ] {
            assert!(!is_harmless(Some(before.as_bytes()), after.as_bytes()), "{before:?} {after}");
        }
        // What was there is not understood, so it has to stay as it is.
        let aliased = format!("{cloned}[alias]\n\tl = \"log \\\"x\\\"\"\n");
        for after in [cloned.replace("example.com", "evil.example"), cloned.clone()] {
            assert!(!is_harmless(Some(aliased.as_bytes()), after.as_bytes()), "{after}");
        }
        // The last one counts, and what is included gives way to what stands below it.
        let (evil, fine) = ("[core]\n\tfsmonitor = evil\n", "[core]\n\tfsmonitor = false\n");
        let included = "[include]\n\tpath = x\n";
        for (one, other) in [(evil, fine), (included, fine)] {
            let (before, after) = (format!("{one}{other}"), format!("{other}{one}"));
            assert!(!is_harmless(Some(before.as_bytes()), after.as_bytes()), "{after}");
            assert!(is_harmless(Some(before.as_bytes()), format!("{before}{NEW}").as_bytes()));
        }
        assert!(!is_harmless(None, b"[core]\n\tfsmonitor = x\n"));
        assert!(!is_harmless(None, b"[core]\n\tbare = \xff\n"));
    }
}
