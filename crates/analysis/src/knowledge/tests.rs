//! The engine by itself: a session that records effects and starts what it is told to, without a shell.

#[path = "../../tests/short/mod.rs"]
mod short;

mod made_up;

pub(super) use made_up::MADE_UP;

use super::invoke;
use crate::effect::{Certainty, Effect, EffectKind, Endpoint, Rest, Scope, Target, WriteMode};
use crate::place::Places;
use crate::session::{Call, Reentry, Session};
use crate::value::{Field, Origins, Piece, Stream, Value};
use crate::world::{Frozen, World};
use crate::{Request, Source};
use bumpalo::Bump;
use shward_syntax::{Dialect, Span};

const DEEPEST: usize = 8;

pub(super) struct Recorder<'a> {
    arena: &'a Bump,
    places: Places<'a>,
    effects: Vec<Effect<'a>>,
    /// What was started, as `how: words`.
    started: Vec<String>,
    cwd: Vec<&'a [u8]>,
    files: Vec<(&'a [u8], Stream<'a>)>,
    depth: usize,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(arena: &'a Bump) -> Self {
        let request = Request {
            source: Source::Command(b""),
            cwd: short::CWD.as_bytes(),
            workspace: short::CWD.as_bytes(),
            home: short::HOME.as_bytes(),
            dialect: Dialect::Bash,
        };
        let places = Places::new(arena, &request, &Frozen);
        let cwd = vec![short::CWD.as_bytes()];
        Self { arena, places, effects: Vec::new(), started: Vec::new(), cwd, files: Vec::new(), depth: 0 }
    }

    fn run(&mut self, argv: &'a [Field<'a>], stdin: Stream<'a>) -> Stream<'a> {
        invoke(self, &Call { argv, stdin, piped: false, span: Span::new(0, 1) })
    }
}

impl<'a> Session<'a> for Recorder<'a> {
    fn taking_up(&mut self, _: &'a [u8], inner: &mut dyn FnMut(&mut dyn Session<'a>)) -> bool {
        inner(self);
        true
    }

    fn arena(&self) -> &'a Bump {
        self.arena
    }

    fn world(&self) -> &dyn World {
        &Frozen
    }

    fn lock_reading(&mut self) {}

    fn emit(&mut self, kind: EffectKind<'a>, span: Span, certainty: Certainty) {
        self.effects.push(Effect::new(kind, certainty, span, None));
    }

    fn effects(&mut self) -> &mut Vec<Effect<'a>> {
        &mut self.effects
    }

    fn target(&mut self, path: &Value<'a>) -> Target<'a> {
        self.places.target(&Frozen, self.cwd.last().copied(), path)
    }

    fn home(&self) -> &'a [u8] {
        short::HOME.as_bytes()
    }

    fn cwd(&self) -> Option<&'a [u8]> {
        self.cwd.last().copied()
    }

    fn without_variables(&mut self, _: Option<&[&'a [u8]]>, inner: &mut dyn FnMut(&mut dyn Session<'a>)) {
        inner(self);
    }

    fn in_directory(&mut self, directory: &Value<'a>, inner: &mut dyn FnMut(&mut dyn Session<'a>)) {
        let target = self.target(directory);
        self.cwd.push(target.path);
        inner(self);
        self.cwd.pop();
    }

    fn file_text(&mut self, path: &Value<'a>) -> Stream<'a> {
        let target = self.target(path);
        let found = self.files.iter().rev().find(|(name, _)| *name == target.path).map(|(_, stream)| *stream);
        found.unwrap_or(Stream { text: None, origins: self.places.read_origins(&target), source: None })
    }

    fn perhaps(&mut self, inner: &mut dyn FnMut(&mut dyn Session<'a>)) {
        inner(self);
    }

    fn beside(&mut self, inner: &mut dyn FnMut(&mut dyn Session<'a>)) {
        inner(self);
    }

    fn run_argv(&mut self, argv: &'a [Field<'a>], stdin: Stream<'a>, how: Reentry, span: Span) -> Stream<'a> {
        let words: Vec<String> = argv
            .iter()
            .map(|f| f.known().map_or("?".to_owned(), |t| String::from_utf8_lossy(t).into_owned()))
            .collect();
        self.started.push(format!("{how:?}: {}", words.join(" ")));
        if self.depth >= DEEPEST || how == Reentry::Elsewhere {
            return Stream::unknown(Origins::UNKNOWN, span);
        }
        self.depth += 1;
        let output = self.run(argv, stdin);
        self.depth -= 1;
        output
    }

    fn run_text(
        &mut self,
        text: &'a [u8],
        _: Dialect,
        _: &'a [Field<'a>],
        _: Stream<'a>,
        how: Reentry,
        span: Span,
    ) -> Stream<'a> {
        self.started.push(format!("{how:?} text: {}", String::from_utf8_lossy(text)));
        Stream::unknown(Origins::UNKNOWN, span)
    }

    fn with_variable(&mut self, name: &'a [u8], _: &Field<'a>, inner: &mut dyn FnMut(&mut dyn Session<'a>)) {
        self.started.push(format!("variable {}", String::from_utf8_lossy(name)));
        inner(self);
    }

    fn wrote(&mut self, target: Target<'a>, _: WriteMode, content: Stream<'a>) {
        self.files.push((target.path, Stream { origins: content.origins | Origins::WRITTEN, ..content }));
    }

    fn read_origins(&mut self, target: &Target<'a>) -> Origins {
        self.places.read_origins(target)
    }
}

/// The words of a line: blanks separate, quotes join; `?` is an unknown word, a trailing `?` an unknown ending.
fn argv<'a>(arena: &'a Bump, line: &'a str) -> &'a [Field<'a>] {
    let mut fields = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    for byte in line.bytes().chain([b' ']) {
        match (quote, byte) {
            (Some(open), close) if open == close => quote = None,
            (None, b'\'' | b'"') => {
                quote = Some(byte);
                word.get_or_insert_with(Vec::new);
            }
            (None, b' ') => {
                let Some(done) = word.take() else { continue };
                let text: &'a [u8] = arena.alloc_slice_copy(&done);
                let value = match text {
                    b"?" => Value::unknown(Origins::UNKNOWN),
                    [start @ .., b'?'] => {
                        let pieces = [Piece::Text(start), Piece::Unknown];
                        Value::of(arena, &pieces, Origins::LITERAL | Origins::UNKNOWN)
                    }
                    _ => Value::text(text, Origins::LITERAL),
                };
                fields.push(Field { value, span: Span::new(0, 1), many: false });
            }
            _ => word.get_or_insert_with(Vec::new).push(byte),
        }
    }
    arena.alloc_slice_copy(&fields)
}

/// Runs a line; its effects in the short form, then what it started.
fn run(line: &str, stdin: Option<&str>) -> (Vec<String>, Vec<String>, Option<String>) {
    let arena = Bump::new();
    let mut session = Recorder::new(&arena);
    let line = arena.alloc_str(line);
    let stdin = match stdin {
        Some(text) => Stream::known(arena.alloc_str(text).as_bytes(), Origins::LITERAL, Span::new(0, 1)),
        None => Stream::TERMINAL,
    };
    let output = session.run(argv(&arena, line), stdin);
    let text = output.text.map(|t| String::from_utf8_lossy(t).into_owned());
    (short::short(&session.effects), session.started.clone(), text)
}

fn effects(line: &str) -> String {
    let (effects, _, _) = run(line, None);
    effects.join(" ")
}

fn started(line: &str) -> String {
    let (_, started, _) = run(line, None);
    started.join(" | ")
}

#[test]
fn wrappers_start_what_they_wrap() {
    let cases = [
        ("timeout 5 rm -rf x", "New: rm -rf x"),
        ("timeout -k 3 -s KILL 5 rm -rf x", "New: rm -rf x"),
        ("timeout --signal=KILL -- 5 rm x", "New: rm x"),
        ("nice -n 5 rm x", "New: rm x"),
        ("nice -5 rm x", "New: rm x"),
        (
            "nohup nice timeout 1 rm -r x",
            "New: nice timeout 1 rm -r x | New: timeout 1 rm -r x | New: rm -r x",
        ),
        ("env A=1 B=2 rm x", "variable A | variable B | New: rm x"),
        ("env -i -u X rm x", "New: rm x"),
        ("env -S 'rm -rf x' y", "New: env rm -rf x y | New: rm -rf x y"),
        ("env -C sub rm x", "New: rm x"),
    ];
    for (line, expected) in cases {
        assert_eq!(started(line), expected, "{line}");
    }
    assert_eq!(effects("env -C sub rm x"), "delete:sub/x");
    assert_eq!(effects("env"), "environment");
    assert_eq!(effects("timeout -x 5 ls"), "list:. unknown:option");
    assert_eq!(effects("env -S 'rm ${X}'"), "unknown:program");
}

#[test]
fn names_and_places_of_programs() {
    let cases = [
        ("/bin/rm x", "delete:x"),
        ("/usr/../bin/./rm x", "delete:x"),
        ("/usr/bin/rm x", "delete:x"),
        ("./rm x", "delete:x exec:./rm"),
        ("/tmp/rm x", "delete:x exec:/tmp/rm"),
        ("/tmp/l/../../bin/rm x", "delete:x exec:/bin/rm"),
        ("nosuchprogram x", "exec:nosuchprogram"),
        ("? x", "unknown:program"),
        ("./nosuchprogram", "exec:./nosuchprogram"),
    ];
    for (line, expected) in cases {
        assert_eq!(effects(line), expected, "{line}");
    }
}

#[test]
fn arguments_that_are_not_known() {
    let cases = [
        ("rm ?", "delete:* unknown:argument"),
        ("rm -- ?", "delete:*"),
        ("rm ./?", "delete:*"),
        ("cat ?", "read:*"),
        ("sort -?", "unknown:argument"),
        ("sort --outp=x in", "read:in write:x"),
        ("sort -ox in", "read:in write:x"),
        ("sort -o? in", "read:in write:*"),
        ("sort -no x in", "read:in write:x"),
        ("sort --o", ""),
        ("sort --nosuch in", "read:in unknown:option"),
        ("sort -Y in", "read:in unknown:option"),
        ("rm --help", ""),
        ("rm x --help", "delete:x"),
        ("rm ? --help", "delete:* unknown:argument"),
    ];
    for (line, expected) in cases {
        let found = effects(line);
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn copies_and_links_land_where_they_land() {
    let cases = [
        ("cp a b", "read:a write:b"),
        ("cp a b/", "read:a write:b/a"),
        ("cp a b c", "read:a read:b write:c/a write:c/b"),
        ("cp a ~/", "read:a write:~/a"),
        ("cp .bashrc /home/u/", "read:.bashrc write:~/.bashrc"),
        ("mv a.c /tmp/", "delete:a.c read:a.c write:/tmp/a.c"),
        ("mv a /tmp/", "delete-tree:a read:a write:/tmp/a"),
    ];
    for (line, expected) in cases {
        assert_eq!(
            effects(line),
            expected.replace("~/a", if line.contains("~/") { "~/a" } else { "a" }),
            "{line}"
        );
    }
}

#[test]
fn known_text_is_evaluated() {
    let cases = [
        ("echo -n a b", None, "a b"),
        ("echo -e 'a\\x41\\n'", None, "aA\n\n"),
        ("printf '%s-%03d\\n' x 7", None, "x-007\n"),
        ("printf '\\162\\155'", None, "rm"),
        ("base64 -d", Some("cm0gLXJm"), "rm -rf"),
        ("base64", Some("rm -rf"), "cm0gLXJm\n"),
        ("base32 -d", Some("OJWSALLSMY======"), "rm -rf"),
        ("xxd -r -p", Some("726d"), "rm"),
        ("xxd -p", Some("rm"), "726d\n"),
        ("tr a-z b-za", Some("ql"), "rm"),
        ("tr -d x", Some("rxm"), "rm"),
        ("rev", Some("mr\n"), "rm\n"),
        ("cut -d, -f2", Some("a,rm,c\n"), "rm\n"),
        ("head -n1", Some("a\nb\n"), "a\n"),
        ("head -c 2", Some("abc"), "ab"),
        ("tail -n +2", Some("a\nb\n"), "b\n"),
        ("seq 3", None, "1\n2\n3\n"),
        ("seq 0 1", None, "0\n1\n"),
        ("seq 98 101", None, "98\n99\n100\n101\n"),
        ("seq -1 1", None, "-1\n0\n1\n"),
        ("seq 9 10", None, "9\n10\n"),
        ("seq 999998 999999", None, "999998\n999999\n"),
        ("seq 7 7", None, "7\n"),
        ("seq 999999 1000001", None, "999999\n1000000\n1000001\n"),
        ("seq 5 -2 1", None, "5\n3\n1\n"),
        ("seq 2 1", None, ""),
        ("basename /a/b.c .c", None, "b\n"),
        ("dirname /a/b/c", None, "/a/b\n"),
        ("cat", Some("x"), "x"),
    ];
    for (line, stdin, expected) in cases {
        let (_, _, text) = run(line, stdin);
        assert_eq!(text.as_deref(), Some(expected), "{line}");
    }
    for (line, stdin) in
        [("cat -n", "x"), ("tr -s a b", "x"), ("base64 -d", "*"), ("head x", ""), ("sort -n", "B\na\n")]
    {
        let (_, _, text) = run(line, Some(stdin));
        assert_eq!(text, None, "{line}");
    }
}
