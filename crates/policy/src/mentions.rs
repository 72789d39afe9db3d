//! What is named in words and program text that the analysis does not understand.
//!
//! What an unknown program does with its arguments, or unread code with its strings, is not known. But a key file that
//! is named there is named for a reason, and so is a shell.

use crate::Context;
use shward_analysis::{Effect, EffectKind, Invocation, Scope, Scopes};
use shward_syntax::until;
use std::cell::RefCell;

/// Longest text that is looked through.
const LONGEST: usize = 64 * 1024;

/// Longest path that a file system accepts (`PATH_MAX`).
const PATH_MAX: usize = 4096;

/// Where the texts of a subject stand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Said<'s> {
    pub(crate) effect: Option<&'s Effect<'s>>,
    pub(crate) invocation: Option<&'s Invocation<'s>>,
    pub(crate) context: &'s Context<'s>,
}

/// The places that are named in the words or the text of one subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Mentions {
    /// The most dangerous scope of the paths that are named, if any is.
    pub(crate) scope: Option<Scope>,
    /// A place in the home directory, or of the system, is named; programs of the system are not meant.
    pub(crate) outside: bool,
    /// A text is too long to be looked through.
    pub(crate) too_long: bool,
}

/// What the words in them are signs of. Of the project's own code nobody asks that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signs(u8);

/// A shell, as it is named where no `PATH` is searched.
const SHELL: u8 = 1;
/// One that is to be started without commands.
const BARE: u8 = 1 << 1;
/// What hands a shell over a connection.
const HANDED: u8 = 1 << 2;
/// A network connection.
const NETWORK: u8 = 1 << 3;
/// Other programs are started.
const SPAWNING: u8 = 1 << 4;

/// Words that say what code does, each with all that it is a sign of.
const SIGNS: [(&[u8], u8); 38] = [
    (b"/bin/sh", SHELL | HANDED),
    (b"/bin/bash", SHELL | HANDED),
    (b"/bin/dash", SHELL),
    (b"/bin/zsh", SHELL),
    (b"/bin/ksh", SHELL),
    (b"/bin/csh", SHELL),
    (b"/bin/ash", SHELL),
    (b"cmd.exe", SHELL | HANDED),
    (b"bash -i", HANDED),
    (b"sh -i", HANDED),
    (b"dup2", HANDED | SPAWNING),
    (b"pty", HANDED),
    (b"<&", HANDED | SPAWNING),
    (b">&", HANDED),
    (b"\"sh", HANDED),
    (b"'sh", HANDED),
    (b"\"bash", HANDED),
    (b"'bash", HANDED),
    (b"`sh", HANDED),
    (b"`bash", HANDED),
    (b"socket", NETWORK),
    (b"fsockopen", NETWORK),
    (b"Socket", NETWORK),
    (b"/dev/tcp/", NETWORK),
    (b"/dev/udp/", NETWORK),
    (b"net.connect", NETWORK),
    (b"connect(", NETWORK),
    (b"/inet/", NETWORK),
    (b"listen(", NETWORK),
    (b"exec", SPAWNING),
    (b"spawn", SPAWNING),
    (b"system", SPAWNING),
    (b"popen", SPAWNING),
    (b"subprocess", SPAWNING),
    (b"passthru", SPAWNING),
    (b"child_process", SPAWNING),
    (b"Process", SPAWNING),
    (b"run(", SPAWNING),
];

impl Mentions {
    /// Looks through all texts of a subject, each once.
    pub(crate) fn of(subject: &Said<'_>, seen: Option<&Seen>) -> Self {
        let mut all = Self::default();
        for text in texts(subject) {
            if is_too_long(text) {
                all.too_long = true;
                continue;
            }
            // As an argument it may be in another language.
            let places = match seen.filter(|_| text.len() >= LONG && comments(text, subject) == 0) {
                Some(seen) => {
                    seen.find(text, directory(subject), |known| &mut known.places, || places(text, subject))
                }
                None => places(text, subject),
            };
            all.scope = all.scope.max(places.scope);
            all.outside |= places.outside;
        }
        all
    }
}

impl Signs {
    /// Looks through all texts of a subject that are not too long, each once.
    pub(crate) fn of(subject: &Said<'_>, seen: Option<&Seen>) -> Self {
        let mut all = 0;
        for text in texts(subject).filter(|text| !is_too_long(text)) {
            all |= match seen.filter(|_| text.len() >= LONG) {
                Some(seen) => {
                    seen.find(text, directory(subject), |known| &mut known.signs, || signs_in(text))
                }
                None => signs_in(text),
            };
        }
        Self(all)
    }

    const fn has(self, sign: u8) -> bool {
        self.0 & sign != 0
    }

    /// Whether a shell is named.
    pub(crate) const fn shell(self) -> bool {
        self.has(SHELL)
    }

    /// Whether a shell is named as something to be started without commands: at the end of a word or a string, or before
    /// options and redirections.
    pub(crate) const fn bare_shell(self) -> bool {
        self.has(BARE)
    }

    /// Whether unread code that connects and starts programs looks as if it hands a shell over the connection.
    pub(crate) const fn handed_over(self) -> bool {
        self.has(HANDED)
    }

    /// Whether a network connection is named.
    pub(crate) const fn network(self) -> bool {
        self.has(NETWORK)
    }

    /// Whether other programs are started.
    pub(crate) const fn spawning(self) -> bool {
        self.has(SPAWNING)
    }
}

fn is_bare(before: &[u8], after: &[u8]) -> bool {
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

/// The words after the program's name, or the text of code.
fn texts<'s>(subject: &Said<'s>) -> impl Iterator<Item = &'s [u8]> {
    let words = match (subject.effect, subject.invocation) {
        (None, Some(invocation)) => invocation.argv,
        _ => &[],
    };
    let words = words.iter().skip(1).flat_map(|word| word.value.texts());
    let code = match subject.effect.map(|effect| &effect.kind) {
        Some(EffectKind::Code { text, .. }) => *text,
        _ => None,
    };
    words.chain(code)
}

fn is_too_long(text: &[u8]) -> bool {
    text.len() > LONGEST
}

/// For each byte, the words of [`SIGNS`] that have it at this place, or are shorter, as bits.
#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler only: an index out of bounds does not compile"
)]
const fn words_with(place: usize) -> [u64; 256] {
    let mut table = [0; 256];
    let mut words: &[(&[u8], u8)] = &SIGNS;
    let mut at = 0;
    while let Some(((word, _), rest)) = words.split_first() {
        let mut byte = 0;
        while byte < 256 {
            if place >= word.len() || word[place] as usize == byte {
                table[byte] |= 1 << at;
            }
            byte += 1;
        }
        at += 1;
        words = rest;
    }
    table
}

/// The words that begin with a byte, and those that have it second.
static FIRST_AND_SECOND: [[u64; 2]; 256] = {
    let mut both = [[0; 2]; 256];
    let (first, second) = (words_with(0), words_with(1));
    let mut rest: (&mut [[u64; 2]], &[u64], &[u64]) = (&mut both, &first, &second);
    while let (Some((each, others)), Some((first, firsts)), Some((second, seconds))) =
        (rest.0.split_first_mut(), rest.1.split_first(), rest.2.split_first())
    {
        *each = [*first, *second];
        rest = (others, firsts, seconds);
    }
    both
};
static THIRD: [u64; 256] = words_with(2);

/// All that the words in a text are signs of. One pass: at most places no word begins.
fn signs_in(text: &[u8]) -> u8 {
    let (mut signs, mut begun) = (0, 0);
    for (at, byte) in text.iter().enumerate() {
        let [first, second] = FIRST_AND_SECOND.get(usize::from(*byte)).copied().unwrap_or_default();
        let left = begun & second;
        begun = first;
        if left != 0 {
            signs |= signs_at(text, at.wrapping_sub(1), left, signs & BARE == 0);
        }
    }
    signs
}

/// What those of these words are signs of that stand at this place; whether a shell is bare only if that is asked.
fn signs_at(text: &[u8], at: usize, mut left: u64, bare: bool) -> u8 {
    let mut signs = 0;
    if let Some(third) = text.get(at + 2) {
        left &= THIRD.get(usize::from(*third)).copied().unwrap_or_default();
    }
    while left != 0 {
        if let Some((word, means)) = SIGNS.get(left.trailing_zeros() as usize)
            && let Some((before, here)) = text.split_at_checked(at)
            && let Some(after) = here.strip_prefix(*word)
        {
            signs |= means;
            if bare && means & SHELL != 0 && is_bare(before, after) {
                signs |= BARE;
            }
        }
        left &= left - 1;
    }
    signs
}

/// Whether paths are made of each byte. All that is not ASCII may be in one.
static IN_PATHS: [bool; 256] = {
    let mut all = [true; 256];
    let mut rest: &mut [bool] = &mut all;
    let mut byte = 0u8;
    while let Some((of_path, others)) = rest.split_first_mut() {
        *of_path = byte >= 128
            || byte.is_ascii_alphanumeric()
            || matches!(byte, b'/' | b'.' | b'_' | b'~' | b'-' | b'+' | b'@' | b'%');
        byte = byte.wrapping_add(1);
        rest = others;
    }
    all
};

fn is_of_path(byte: u8) -> bool {
    IN_PATHS.get(usize::from(byte)).copied().unwrap_or_default()
}

/// What looks like a path: a run of characters that paths are made of, with a slash in it or a dot before it. An `@` before
/// it is none of it.
fn paths(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    // Where the last run ended that was given, and where the next one is looked for.
    let (mut done, mut at) = (0, 0);
    std::iter::from_fn(move || {
        loop {
            // Most runs are words without any of these.
            at += until(text.get(at..)?, [b'/', b'.', b'_']);
            let (here, before) = (text.get(at..)?, text.get(done..at)?);
            let told = match here.first()? {
                b'.' => ends_in_run(before, b"") || ends_in_run(before, b"@"),
                b'_' => ends_in_run(before, b"id") || ends_in_run(before, b"@id"),
                _ => true,
            };
            if !told {
                at += 1;
                continue;
            }
            let from = at - before.iter().rev().take_while(|byte| is_of_path(**byte)).count();
            at += here.iter().take_while(|byte| is_of_path(**byte)).count();
            done = at;
            let path = text.get(from..at)?;
            let path = path.strip_prefix(b"@").unwrap_or(path);
            // What stands below the names of a pattern is no place below the root.
            let path = match path.strip_prefix(b"/") {
                Some(b"") if is_pattern(text.get(..from)?) => continue,
                Some(below) if is_pattern(text.get(..from)?) => below,
                _ => path,
            };
            if path.len() <= PATH_MAX {
                return Some(path);
            }
        }
    })
}

/// Whether a text ends in a part of a path that is a star or two: `*`, `src/**`. So do comments that end here.
fn is_pattern(text: &[u8]) -> bool {
    let Some(before) = text.strip_suffix(b"*") else { return false };
    let before = before.strip_suffix(b"*").unwrap_or(before);
    before
        .last()
        .is_none_or(|byte| matches!(byte, b'/' | b'\'' | b'"' | b'`' | b'!') || byte.is_ascii_whitespace())
}

/// Whether a text ends in a run that is just this so far.
fn ends_in_run(text: &[u8], run: &[u8]) -> bool {
    text.strip_suffix(run).is_some_and(|before| before.last().is_none_or(|byte| !is_of_path(*byte)))
}

/// Long texts that were looked through for one plan: code is often an argument as well.
#[derive(Debug, Default)]
pub(crate) struct Seen(RefCell<Vec<Text>>);

/// Address and length.
type Place = (usize, usize);

fn place(text: &[u8]) -> Place {
    (text.as_ptr().addr(), text.len())
}

/// The places that a text names.
#[derive(Debug, Clone, Copy)]
struct Places {
    /// The most dangerous scope of the paths in it.
    scope: Option<Scope>,
    /// Whether it names a place of the system or the home that is no program.
    outside: bool,
}

/// A text, and what was found in it so far.
#[derive(Debug, Clone, Copy)]
struct Text {
    /// Where it lies, and where the directory lies that its paths begin in: all live as long as the plan.
    text: Place,
    cwd: Place,
    places: Option<Places>,
    /// All that its words are signs of.
    signs: Option<u8>,
}

/// Shorter texts are looked through again sooner than they are found.
const LONG: usize = 128;

/// Most texts that are kept.
const MOST: usize = 8;

fn places(text: &[u8], subject: &Said<'_>) -> Places {
    let mut places = Places { scope: None, outside: false };
    let mut paths = paths(text).peekable();
    if paths.peek().is_none() {
        return places;
    }
    let mut scopes = Scopes::new(subject.context.workspace, subject.context.home);
    let comments = comments(text, subject);
    for path in paths {
        let named = scope_of_path(path, subject, &mut scopes);
        let outside = matches!(named, Scope::Home | Scope::System) && !is_program(path);
        let at = path.as_ptr().addr().wrapping_sub(text.as_ptr().addr());
        let mark = at < comments && path.iter().all(|byte| *byte == b'/');
        places.outside |= outside && !is_route(text, path) && !mark;
        places.scope = places.scope.max(Some(named).filter(|scope| *scope > Scope::Unknown));
    }
    places
}

/// Whether `/` is what a server answers: `app.get("/", …)`. Nothing of that name acts on files.
fn is_route(text: &[u8], path: &[u8]) -> bool {
    let at = path.as_ptr().addr().wrapping_sub(text.as_ptr().addr());
    if path != b"/" {
        return false;
    }
    let Some((call, [b'(', b'"' | b'\'' | b'`'])) =
        text.get(..at).and_then(|before| before.split_last_chunk::<2>())
    else {
        return false;
    };
    let name = call.rsplit(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
    call.get(..call.len() - name.len()).is_some_and(|before| before.ends_with(b"."))
        && matches!(name, b"get" | b"post" | b"put" | b"patch" | b"all" | b"use" | b"route")
}

/// How much of a subject's text, from its beginning on, is nothing but comments: if it is JavaScript or TypeScript. Before any code no
/// string is open.
fn comments(text: &[u8], subject: &Said<'_>) -> usize {
    match subject.effect.map(|effect| &effect.kind) {
        Some(EffectKind::Code { language: "javascript" | "typescript", .. }) => first_comments(text),
        _ => 0,
    }
}

/// The length of the comments that a text begins with.
fn first_comments(text: &[u8]) -> usize {
    let mut rest = text;
    loop {
        rest = rest.trim_ascii_start();
        let after = match rest {
            [b'/', b'/', line @ ..] => {
                let end = line.iter().position(|byte| !matches!(byte, b'\t' | b' '..=b'~'));
                end.and_then(|end| line.get(end..)).unwrap_or_default()
            }
            [b'/', b'*', inner @ ..] => match inner.windows(2).position(|two| two == b"*/") {
                Some(end) => inner.get(end + 2..).unwrap_or_default(),
                None => return text.len() - rest.len(),
            },
            _ => return text.len() - rest.len(),
        };
        rest = after;
    }
}

impl Seen {
    /// What is found in a text, by looking through it unless that was done.
    fn find<T: Copy>(
        &self,
        text: &[u8],
        cwd: &[u8],
        part: impl Fn(&mut Text) -> &mut Option<T>,
        look: impl FnOnce() -> T,
    ) -> T {
        let (text, cwd) = (place(text), place(cwd));
        let mut seen = self.0.borrow_mut();
        if let Some(known) = seen.iter_mut().find(|known| (known.text, known.cwd) == (text, cwd)) {
            return *part(known).get_or_insert_with(look);
        }
        let found = look();
        if seen.len() < MOST {
            let mut new = Text { text, cwd, places: None, signs: None };
            *part(&mut new) = Some(found);
            seen.push(new);
        }
        found
    }
}

/// The directory that paths of a subject begin in.
fn directory<'s>(subject: &Said<'s>) -> &'s [u8] {
    subject.invocation.and_then(|invocation| invocation.cwd).unwrap_or(subject.context.cwd)
}

/// Whether a path is that of an installed program: the interpreter in the first line of a script.
fn is_program(path: &[u8]) -> bool {
    let mut names = path.rsplit(|byte| *byte == b'/');
    names.next();
    names.next() == Some(b"bin")
}

fn scope_of_path(path: &[u8], subject: &Said<'_>, scopes: &mut Scopes<'_>) -> Scope {
    match path.strip_prefix(b"~/") {
        // `~//x` is below the home directory too.
        Some(rest) => {
            let slashes = rest.iter().take_while(|byte| **byte == b'/').count();
            scopes.of(subject.context.home, rest.get(slashes..).unwrap_or_default())
        }
        None => scopes.of(directory(subject), path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_wherever_they_stand() {
        for (text, expect) in [
            ("bash -i", HANDED),
            ("exec zsh -i", HANDED | SPAWNING),
            ("bash  -i", 0),
            ("sh", 0),
            ("", 0),
            ("<", 0),
            ("bash bash -", 0),
            ("2>&1", HANDED),
            ("\u{e9}dup2", HANDED | SPAWNING),
            ("x('/bin/sh')", SHELL | BARE | HANDED),
            ("/bin/dash -c 'ls'", SHELL),
            ("#!/bin/zsh", SHELL),
            ("#!/bin/zsh\n/bin/zsh", SHELL | BARE),
        ] {
            assert_eq!(signs_in(text.as_bytes()), expect, "{text}");
        }
        for (word, means) in SIGNS {
            let text = [b"x ", word, b" x"].concat();
            assert_eq!(signs_in(&text) & means, means, "{}", String::from_utf8_lossy(word));
        }
    }

    #[test]
    fn what_a_server_answers_is_no_place() {
        for (text, expect) in [
            ("app.get('/', f)", true),
            ("router.use(\"/\", f)", true),
            ("get('/', f)", false),
            ("app.delete('/', f)", false),
            ("remove('/')", false),
            ("app.get( '/')", false),
        ] {
            let path = paths(text.as_bytes()).find(|path| *path == b"/").unwrap_or_default();
            assert_eq!(is_route(text.as_bytes(), path), expect, "{text}");
        }
    }

    #[test]
    fn a_program_begins_with_its_comments() {
        for (text, expect) in [
            ("/* a */", 7),
            ("/** @type {import('vite').UserConfig} */\nexport default {}", 41),
            ("// a\n\n// b\nc // d", 11),
            ("// a", 4),
            ("/* a", 0),
            ("// a\r'/'", 5),
            ("// a\u{2028}'/'", 4),
            ("a // b", 0),
            ("a\n/* b */", 0),
            ("`\n//\n`", 0),
            ("/a/", 0),
            ("#!/bin/node\n// a", 0),
            ("", 0),
        ] {
            assert_eq!(first_comments(text.as_bytes()), expect, "{text}");
        }
    }

    #[test]
    fn paths_are_runs_of_their_characters() {
        let found =
            |text: &'static str| paths(text.as_bytes()).map(String::from_utf8_lossy).collect::<Vec<_>>();
        assert_eq!(found("open('/etc/passwd', \"x\") .env @/a/b c"), ["/etc/passwd", ".env", "/a/b"]);
        assert_eq!(found("cat \u{e9}/\u{e9}|id_rsa"), ["\u{e9}/\u{e9}", "id_rsa"]);
        assert_eq!(
            found("'**/*.js' \"src/**/a/b\" */.ssh/x /* a */ q*/etc/passwd*"),
            [".js", "src/", "a/b", ".ssh/x", "/", "/etc/passwd"]
        );
        // Every text of a few of these, beside what the words above say.
        let parts = ["/", ".", "_", "@", "i", "id", "x", " ", "'"];
        let told = |run: &str| {
            let run = run.strip_prefix('@').unwrap_or(run);
            run.contains('/') || run.starts_with('.') || run.starts_with("id_")
        };
        for number in 0..parts.len().pow(5) {
            let text: String = (0..5).map(|at| parts[number / parts.len().pow(at) % parts.len()]).collect();
            let runs = text.split([' ', '\'']).filter(|run| told(run));
            let expect: Vec<&str> = runs.map(|run| run.strip_prefix('@').unwrap_or(run)).collect();
            let found: Vec<_> = paths(text.as_bytes()).map(String::from_utf8_lossy).collect();
            assert_eq!(found, expect, "{text}");
        }
    }
}
