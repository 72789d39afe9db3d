//! Commands that need no shell: one program with words that are all known from the text.
//!
//! Such a command runs from the syntax tree that was judged, so that nothing reads its text a second time and nobody has to agree with
//! anybody about quotes. Everything else (expansions, lists, redirections, builtins, files that only a shell would run) is read by
//! the pinned bash. What the program gets is what bash would give it, down to the variables that bash exports by itself.

use crate::confine::is_executable;
use bumpalo::Bump;
use shward_syntax::{CommandKind, Options, PartKind, Word, WordPart, is_reserved, parse};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Words that bash carries out itself (bash(1), Shell Builtin Commands), in order.
const BUILTINS: [&str; 61] = [
    ".",
    ":",
    "[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "echo",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

/// Directories that every sandbox has for itself, so that what the host has there is not what runs.
const PRIVATE: [&str; 4] = ["/tmp", "/var/tmp", "/dev", "/run"];

/// A program that is started without a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Direct {
    /// Its file.
    pub(crate) program: PathBuf,
    /// Its argument list, the command word first.
    pub(crate) arguments: Vec<OsString>,
}

impl Direct {
    /// The program of a command that needs no shell.
    pub(crate) fn new(text: &str, cwd: &Path, workspace: &Path, search: &[u8]) -> Option<Self> {
        let words = words(text.as_bytes())?;
        let name = words.first()?;
        let program = file(name, cwd, search)?;
        let real = fs::canonicalize(&program).ok()?;
        let elsewhere =
            PRIVATE.iter().any(|private| real.starts_with(private) || program.starts_with(private));
        if elsewhere && !real.starts_with(workspace) {
            return None;
        }
        match loaded_by_the_kernel(&real)? {
            Loaded::Program => {}
            // A script is told the path that it was called by, and only an absolute one is the same for us.
            Loaded::Script if name.starts_with(b"/") || !name.contains(&b'/') => {}
            Loaded::Script => return None,
        }
        let arguments = words.into_iter().map(OsString::from_vec).collect();
        Some(Self { program, arguments })
    }

    /// What bash exports besides, when it ends by becoming this program.
    pub(crate) fn variables(&self, cwd: &Path) -> [(&'static str, OsString); 3] {
        let called = self.arguments.first().filter(|name| name.as_bytes().contains(&b'/'));
        let called = called.map_or(self.program.as_os_str(), OsString::as_os_str);
        [("PWD", cwd.as_os_str().to_owned()), ("SHLVL", "0".into()), ("_", called.to_owned())]
    }
}

/// The words of a command that is one simple command without assignments and redirections, and whose words need no expansion.
fn words(text: &[u8]) -> Option<Vec<Vec<u8>>> {
    let arena = Bump::new();
    let script = parse(&arena, text, &Options::default()).ok()?.script;
    let [item] = script.items else { return None };
    let pipeline = &item.list.first;
    let [stage] = pipeline.stages else { return None };
    if item.background || !item.list.rest.is_empty() || pipeline.negated || pipeline.timed {
        return None;
    }
    let CommandKind::Simple(simple) = &stage.command.kind else { return None };
    if !stage.command.redirects.is_empty() || !simple.assignments.is_empty() {
        return None;
    }
    let words: Vec<Vec<u8>> = simple.words.iter().map(known).collect::<Option<_>>()?;
    let name = words.first()?;
    let shells = |name: &[u8]| str::from_utf8(name).is_ok_and(|name| BUILTINS.binary_search(&name).is_ok());
    (!name.is_empty() && !shells(name) && !is_reserved(name)).then_some(words)
}

/// The text of a word that is the same whatever the shell's state is.
fn known(word: &Word<'_>) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    append(word.parts, &mut text)?;
    Some(text)
}

fn append(parts: &[WordPart<'_>], text: &mut Vec<u8>) -> Option<()> {
    for part in parts {
        match part.kind {
            PartKind::Literal(t) | PartKind::Quoted(t) | PartKind::SingleQuoted(t) | PartKind::AnsiC(t) => {
                text.extend_from_slice(t);
            }
            PartKind::DoubleQuoted(parts) => append(parts, text)?,
            _ => return None,
        }
    }
    Some(())
}

/// The file that bash would run, if that is beyond doubt: everybody may execute the first that anybody may execute.
fn file(name: &[u8], cwd: &Path, search: &[u8]) -> Option<PathBuf> {
    let name = OsStr::from_bytes(name);
    let found = if name.as_bytes().contains(&b'/') {
        Some(cwd.join(name)).filter(|path| is_executable(path))
    } else {
        let directories = search.split(|&b| b == b':').map(|d| Path::new(OsStr::from_bytes(d)));
        directories.map(|d| d.join(name)).find(|path| is_executable(path))
    }?;
    let mode = fs::metadata(&found).ok()?.permissions().mode();
    (found.is_absolute() && mode & 0o111 == 0o111).then_some(found)
}

/// What execve(2) takes.
enum Loaded {
    Program,
    Script,
}

/// How execve(2) takes the file; bash runs others itself, as scripts.
fn loaded_by_the_kernel(path: &Path) -> Option<Loaded> {
    let mut start = [0; 128];
    let length = File::open(path).and_then(|mut file| file.read(&mut start)).ok()?;
    let start = start.get(..length)?;
    if start.starts_with(b"\x7fELF") {
        return Some(Loaded::Program);
    }
    // Of a script, the interpreter has to be there, or bash has a word to say.
    let line = start.strip_prefix(b"#!")?.split(|&b| b == b'\n').next()?;
    let interpreter = line.trim_ascii().split(|b| matches!(b, b' ' | b'\t')).next()?;
    let interpreter = Path::new(OsStr::from_bytes(interpreter));
    let elsewhere = PRIVATE.iter().any(|private| interpreter.starts_with(private));
    (interpreter.is_absolute() && !elsewhere && is_executable(interpreter)).then_some(Loaded::Script)
}

#[cfg(test)]
mod tests {
    use super::{BUILTINS, words};

    #[test]
    fn the_table_can_be_searched() {
        assert!(BUILTINS.is_sorted());
    }

    #[test]
    fn words_that_need_no_shell() {
        // command, its words joined by `|`, or nothing where a shell is needed
        let table = [
            ("ls -la", "ls|-la"),
            ("git commit -m 'a b' \"c\\\"d\" e\\ f", "git|commit|-m|a b|c\"d|e f"),
            ("grep '' $'a\\tb' \"\"", "grep||a\tb|"),
            ("cargo test --workspace # all", "cargo|test|--workspace"),
            ("make CFLAGS=-O2", "make|CFLAGS=-O2"),
            ("\"ls\" {} ] a{b", "ls|{}|]|a{b"),
            ("echo a", ""),
            ("cd x", ""),
            ("[ -f x ]", ""),
            ("ls *.rs", ""),
            ("ls a?", ""),
            ("ls [a]", ""),
            ("ls ~", ""),
            ("make prefix=~/x", ""),
            ("ls $HOME", ""),
            ("ls \"$HOME\"", ""),
            ("ls $(pwd)", ""),
            ("ls {a,b}", ""),
            ("ls > x", ""),
            ("ls 2>&1", ""),
            ("ls | cat", ""),
            ("ls; ls", ""),
            ("ls && ls", ""),
            ("ls &", ""),
            ("! ls", ""),
            ("time ls", ""),
            ("(ls)", ""),
            ("A=b ls", ""),
            ("A=b", ""),
            ("if", ""),
            ("''", ""),
            ("", ""),
            ("# nothing", ""),
            ("diff <(ls) x", ""),
            ("ls $\"a\"", ""),
        ];
        for (command, expected) in table {
            let found = words(command.as_bytes()).map(|w| String::from_utf8(w.join(&b'|')).unwrap());
            assert_eq!(found.unwrap_or_default(), expected, "{command}");
        }
    }
}
