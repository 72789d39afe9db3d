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

/// Whether a shell is named as a program to be started.
pub(crate) fn shell(subject: &Subject<'_>) -> bool {
    const SHELLS: [&str; 9] = [
        "/bin/sh",
        "/bin/bash",
        "/bin/dash",
        "/bin/zsh",
        "/bin/ksh",
        "/bin/csh",
        "bash -i",
        "sh -i",
        "cmd.exe",
    ];
    texts(subject).any(|text| SHELLS.iter().any(|shell| has(text, shell)))
}

/// Whether a network connection is named.
pub(crate) fn network(subject: &Subject<'_>) -> bool {
    const WORDS: [&str; 8] =
        ["socket", "fsockopen", "Socket", "/dev/tcp/", "net.connect", "connect(", "/inet/", "listen("];
    texts(subject).any(|text| WORDS.iter().any(|word| has(text, word)))
}

/// Whether other programs are started.
pub(crate) fn spawning(subject: &Subject<'_>) -> bool {
    const WORDS: [&str; 9] =
        ["exec", "spawn", "system", "popen", "subprocess", "passthru", "child_process", "dup2", "Process"];
    texts(subject).any(|text| WORDS.iter().any(|word| has(text, word)))
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

fn has(text: &[u8], word: &str) -> bool {
    !is_too_long(text) && text.windows(word.len()).any(|window| window == word.as_bytes())
}

/// What looks like a path: a run of characters that paths are made of, with a slash in it or a dot before it.
fn paths(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = if is_too_long(text) { b"" } else { text };
    text.split(|b| !(b.is_ascii_alphanumeric() || b"/._~-+@%".contains(b) || !b.is_ascii()))
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
