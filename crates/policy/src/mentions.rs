//! What is named in words and program text that the analysis does not understand.
//!
//! What an unknown program does with its arguments, or unread code with its strings, is not known. But a key file that
//! is named there is named for a reason, and so is a shell.

use crate::condition::Subject;
use shward_analysis::{EffectKind, Piece, Scope, scope_of};

/// Longest text that is looked through. What is longer counts as naming something protected.
const LONGEST: usize = 64 * 1024;

/// Longest path that a file system accepts (`PATH_MAX`).
const PATH_MAX: usize = 4096;

/// The most dangerous scope of the paths that are named, if any is.
pub(crate) fn scope(subject: &Subject<'_>) -> Option<Scope> {
    let named = texts(subject).flat_map(paths).filter_map(|path| scope_of_path(path, subject)).max();
    if texts(subject).any(is_too_long) { named.max(Some(Scope::Persistence)) } else { named }
}

/// Shells, as they are named where no `PATH` is searched.
const SHELLS: [&[u8]; 8] =
    [b"/bin/sh", b"/bin/bash", b"/bin/dash", b"/bin/zsh", b"/bin/ksh", b"/bin/csh", b"/bin/ash", b"cmd.exe"];

/// Whether a shell is named.
pub(crate) fn shell(subject: &Subject<'_>) -> bool {
    texts(subject).any(|text| has_any(text, &SHELLS))
}

/// Whether a shell is named as something to be started without commands: at the end of a word or a string, or before
/// options and redirections.
pub(crate) fn bare_shell(subject: &Subject<'_>) -> bool {
    texts(subject)
        .any(|text| has_any(text, &SHELLS) && SHELLS.iter().any(|shell| places_of(text, shell).any(is_bare)))
}

fn is_bare((before, after): (&[u8], &[u8])) -> bool {
    // The first line of a script, and Python's way of saying which shell runs a command line.
    if before.ends_with(b"!")
        || before.trim_ascii_end().ends_with(b"executable=")
        || before.ends_with(b"executable='")
    {
        return false;
    }
    match after {
        [] | [b'\'' | b'"' | b'`' | b')' | b';' | b']' | b'}' | b'&' | b'|' | b'<' | b'>', ..] => true,
        [b' ', b'0'..=b'9' | b'<' | b'>' | b'&' | b'|' | b'}', ..] => true,
        [b' ', b'-', option, ..] => *option != b'c',
        _ => false,
    }
}

/// Whether unread code that connects and starts programs looks as if it hands a shell over the connection.
pub(crate) fn handed_over(subject: &Subject<'_>) -> bool {
    const SIGNS: [&[u8]; 15] = [
        b"/bin/sh",
        b"/bin/bash",
        b"bash -i",
        b"sh -i",
        b"dup2",
        b"pty",
        b"<&",
        b">&",
        b"cmd.exe",
        b"\"sh",
        b"'sh",
        b"\"bash",
        b"'bash",
        b"`sh",
        b"`bash",
    ];
    texts(subject).any(|text| has_any(text, &SIGNS))
}

/// Whether a network connection is named.
pub(crate) fn network(subject: &Subject<'_>) -> bool {
    const WORDS: [&[u8]; 9] = [
        b"socket",
        b"fsockopen",
        b"Socket",
        b"/dev/tcp/",
        b"/dev/udp/",
        b"net.connect",
        b"connect(",
        b"/inet/",
        b"listen(",
    ];
    texts(subject).any(|text| has_any(text, &WORDS))
}

/// Whether other programs are started.
pub(crate) fn spawning(subject: &Subject<'_>) -> bool {
    const WORDS: [&[u8]; 11] = [
        b"exec",
        b"spawn",
        b"system",
        b"popen",
        b"subprocess",
        b"passthru",
        b"child_process",
        b"dup2",
        b"Process",
        b"<&",
        b"run(",
    ];
    texts(subject).any(|text| has_any(text, &WORDS))
}

/// The words after the program's name, or the text of code.
fn texts<'s>(subject: &Subject<'s>) -> impl Iterator<Item = &'s [u8]> {
    let words = match (subject.effect, subject.invocation) {
        (None, Some(invocation)) => invocation.argv,
        _ => &[],
    };
    let words = words.iter().skip(1).flat_map(|word| word.value.pieces).filter_map(|piece| match piece {
        Piece::Text(text) => Some(*text),
        _ => None,
    });
    let code = match subject.effect.map(|effect| &effect.kind) {
        Some(EffectKind::Code { text, .. }) => *text,
        _ => None,
    };
    words.chain(code)
}

fn is_too_long(text: &[u8]) -> bool {
    text.len() > LONGEST
}

/// Whether any of these words stands in a text. One pass: at most bytes none of them can begin.
fn has_any(text: &[u8], words: &[&[u8]]) -> bool {
    if is_too_long(text) {
        return false;
    }
    let begins = words.iter().filter_map(|word| word.first()).fold(0, |all, byte| all | bit(*byte));
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        if begins & bit(*byte) != 0 && words.iter().any(|word| rest.starts_with(word)) {
            return true;
        }
        rest = after;
    }
    false
}

/// The bit of an ASCII character; all other bytes share that of DEL.
const fn bit(byte: u8) -> u128 {
    if byte < 127 { 1 << byte } else { 1 << 127 }
}

/// The ASCII characters that paths are made of.
const OF_PATHS: u128 = {
    let mut all = 0;
    let mut byte = 0u8;
    while byte < 128 {
        if byte.is_ascii_alphanumeric()
            || matches!(byte, b'/' | b'.' | b'_' | b'~' | b'-' | b'+' | b'@' | b'%')
        {
            all |= bit(byte);
        }
        byte += 1;
    }
    all
};

/// What stands before and after each place at which a word occurs, in a text that is not too long.
fn places_of<'t>(text: &'t [u8], word: &'t [u8]) -> impl Iterator<Item = (&'t [u8], &'t [u8])> {
    let places = text.windows(word.len()).enumerate().filter(move |(_, window)| *window == word);
    places.filter_map(move |(at, _)| Some((text.get(..at)?, text.get(at + word.len()..)?)))
}

/// What looks like a path: a run of characters that paths are made of, with a slash in it or a dot before it.
fn paths(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = if is_too_long(text) { b"" } else { text };
    text.split(|b| b.is_ascii() && OF_PATHS & bit(*b) == 0)
        .map(|token| token.strip_prefix(b"@").unwrap_or(token))
        .filter(|token| {
            (token.contains(&b'/') || token.starts_with(b".") || token.starts_with(b"id_"))
                && token.len() <= PATH_MAX
        })
}

fn scope_of_path(path: &[u8], subject: &Subject<'_>) -> Option<Scope> {
    let context = subject.context;
    let cwd = subject.invocation.and_then(|invocation| invocation.cwd).unwrap_or(context.cwd);
    let (base, rest): (&[u8], &[u8]) = match path.strip_prefix(b"~/") {
        Some(rest) => (context.home, rest),
        None if path.starts_with(b"/") => (b"", path),
        None => (cwd, path),
    };
    let full = [base, if base.is_empty() { b"" } else { b"/" }, rest].concat();
    Some(scope_of(&full, context.workspace, context.home)).filter(|scope| *scope > Scope::Unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_wherever_they_stand() {
        let words: [&[u8]; 3] = [b"bash -i", b"sh -i", "\u{e9}t\u{e9}".as_bytes()];
        for (text, expect) in [
            ("bash -i", true),
            ("exec zsh -i", true),
            ("un \u{e9}t\u{e9}", true),
            ("\u{e9}t", false),
            ("bash  -i", false),
            ("sh", false),
            ("", false),
            ("bash bash -", false),
        ] {
            assert_eq!(has_any(text.as_bytes(), &words), expect, "{text}");
        }
        assert!(!has_any(&b"sh -i ".repeat(LONGEST), &words), "what is too long is not looked through");
    }

    #[test]
    fn paths_are_runs_of_their_characters() {
        let found =
            |text: &'static str| paths(text.as_bytes()).map(String::from_utf8_lossy).collect::<Vec<_>>();
        assert_eq!(found("open('/etc/passwd', \"x\") .env @/a/b c"), ["/etc/passwd", ".env", "/a/b"]);
        assert_eq!(found("cat \u{e9}/\u{e9}|id_rsa"), ["\u{e9}/\u{e9}", "id_rsa"]);
    }
}
