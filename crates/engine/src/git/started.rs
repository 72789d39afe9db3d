//! What settings of git's name that git starts without being told to by name.

/// Sections, and the settings in them whose value is a command that git runs in the course of its ordinary work (git-config(1),
/// gitattributes(5), git-lfs-config(5)). An `alias` is none of them: a person has to call it.
const COMMANDS: [(&str, &[&str]); 13] = [
    ("core", &["alternaterefscommand", "askpass", "editor", "fsmonitor", "gitproxy", "pager", "sshcommand"]),
    ("credential", &["helper"]),
    ("diff", &["command", "external", "textconv"]),
    ("filter", &["clean", "process", "smudge"]),
    ("gpg", &["defaultkeycommand", "program"]),
    ("hook", &["command"]),
    ("interactive", &["difffilter"]),
    ("lfs", &["clean", "path", "smudge"]),
    ("merge", &["driver"]),
    ("remote", &["receivepack", "uploadpack"]),
    ("sequence", &["editor"]),
    ("trailer", &["cmd", "command"]),
    ("uploadpack", &["packobjectshook"]),
];

/// Whether the value of a setting is such a command. In the section `pager` each name is that of one of git's own.
pub(super) fn is_command(section: &str, name: &str) -> bool {
    section == "pager" || COMMANDS.iter().any(|(known, names)| section == *known && names.contains(&name))
}

/// What executes a file that it is given by its name alone, whatever the name.
const INTERPRETERS: [&str; 17] = [
    "awk", "bash", "bun", "dash", "deno", "fish", "gawk", "ksh", "lua", "node", "perl", "php", "ruby", "sed",
    "sh", "tsx", "zsh",
];

/// What shows or changes a file that it is given, and executes none.
const SHOWING: [&str; 12] =
    ["bat", "cat", "code", "delta", "emacs", "less", "more", "most", "nano", "nvim", "vi", "vim"];

/// The words of a command that may name files that are started: paths, names with a suffix, and what follows an interpreter.
pub(super) fn files_of(command: &str) -> impl Iterator<Item = &str> {
    let command = command.trim_start_matches('!');
    let ends = |letter: char| letter.is_whitespace() || "'\"`;|&()<>=$".contains(letter);
    let (mut interpreted, mut shown, mut first) = (false, false, true);
    // Options, and what git puts in, are none.
    let words = command.split(ends).filter(|word| !word.is_empty() && !word.starts_with(['-', '%']));
    words.filter(move |word| {
        let named = word.contains('/') || interpreted || !first && !shown && word.contains('.');
        let program = word.rsplit('/').next().unwrap_or_default();
        interpreted |= INTERPRETERS.contains(&program) || program.starts_with("python");
        shown |= SHOWING.contains(&program);
        first = false;
        named
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_files() {
        for (command, expected) in [
            ("./tools/monitor", &["./tools/monitor"][..]),
            ("sh tools/merge.sh %O %A", &["tools/merge.sh"]),
            ("!python3 'helper.py' get", &["helper.py", "get"]),
            ("git-lfs clean -- %f", &[]),
            ("less README.md", &[]),
            ("java -jar t.jar", &["t.jar"]),
            ("make -f x.mk", &["x.mk"]),
            ("/usr/bin/env bash clean", &["/usr/bin/env", "clean"]),
            ("LANG=C tools/clean --strict %f", &["tools/clean"]),
            ("sed -f=filters/a | tools/b", &["filters/a", "tools/b"]),
            ("true", &[]),
            ("", &[]),
        ] {
            assert_eq!(files_of(command).collect::<Vec<_>>(), expected, "{command}");
        }
    }

    #[test]
    fn some_settings_are_commands() {
        for (section, name) in
            [("core", "fsmonitor"), ("filter", "clean"), ("pager", "log"), ("gpg", "program")]
        {
            assert!(is_command(section, name), "{section}.{name}");
        }
        for (section, name) in [("core", "hookspath"), ("alias", "st"), ("user", "name"), ("remote", "url")] {
            assert!(!is_command(section, name), "{section}.{name}");
        }
    }
}
