//! Requests as lines of a batch, as they nearly always are, without a look at everything that JSON may be.
//!
//! What is not written in this plain way is left to `serde_json`, which also says what is wrong with a line. So nothing
//! here may read a line in another way than it does.

use shward_syntax::{has_control, until};

/// A line whose members are strings, each once, without escapes but for those in the command. Its id may be a whole number
/// too.
///
/// Whether that is UTF-8 is not looked at but for the id, because the command has to be looked at behind its escapes, and
/// directories are mostly those of the line before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlainLine<'l> {
    /// Whose request it is, and what is around that.
    pub(super) identity: Identity<'l>,
    pub(super) cwd: Option<&'l [u8]>,
    pub(super) home: Option<&'l [u8]>,
    pub(super) workspace: Option<&'l [u8]>,
}

/// The id of a line and all else that it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity<'l> {
    /// The request's own identity, as JSON.
    pub(super) id: Option<&'l str>,
    /// What stands before the id and behind it; without an id, everything and nothing.
    pub(super) around: [&'l [u8]; 2],
}

impl<'l> Identity<'l> {
    /// Of a line that begins with its id. Nothing behind that is looked at: lines that are the same [around](Self::around)
    /// their ids are all plain or all not.
    pub(super) fn at_start(line: &'l [u8]) -> Option<Self> {
        let line = ended(line);
        let value = blank(blank(line.strip_prefix(b"{\"id\"")?).strip_prefix(b":")?);
        let (id, after) = identity(value)?;
        Some(Self { id: Some(text(id)?), around: [line.get(..line.len().checked_sub(value.len())?)?, after] })
    }
}

impl<'l> PlainLine<'l> {
    /// Reads a line that begins with this id, or with something else, and puts the bytes of its command into `command`.
    /// `None`: the line is not plain, or no request at all; then `command` holds anything.
    pub(super) fn read(line: &'l [u8], first: Option<Identity<'l>>, command: &mut Vec<u8>) -> Option<Self> {
        let line = ended(line);
        if has_control(line) {
            return None;
        }
        let mut told = first;
        let [mut cwd, mut home, mut workspace] = [None; 3];
        let mut commands = 0;
        let mut rest = match first {
            Some(Identity { around: [_, after], .. }) => behind(blank(after), b',')?,
            None => behind(line, b'{')?,
        };
        loop {
            let (name, after) = plain(behind(blank(rest), b'"')?)?;
            let value = blank(behind(blank(after), b':')?);
            let place = match name {
                b"command" => {
                    commands += 1;
                    rest = blank(unescaped(behind(value, b'"')?, command)?);
                    None
                }
                b"id" => {
                    let (id, after) = identity(value)?;
                    let around = [line.get(..line.len().checked_sub(value.len())?)?, after];
                    if told.replace(Identity { id: Some(text(id)?), around }).is_some() {
                        return None;
                    }
                    rest = blank(after);
                    None
                }
                b"cwd" => Some(&mut cwd),
                b"home" => Some(&mut home),
                b"workspace" => Some(&mut workspace),
                _ => return None,
            };
            if let Some(place) = place {
                let (member, after) = plain(behind(value, b'"')?)?;
                if place.replace(member).is_some() {
                    return None;
                }
                rest = blank(after);
            }
            match behind(rest, b',') {
                Some(more) => rest = more,
                None => break,
            }
        }
        if commands != 1 || !blank(behind(rest, b'}')?).is_empty() {
            return None;
        }
        let identity = told.unwrap_or(Identity { id: None, around: [line, &[]] });
        Some(Self { identity, cwd, home, workspace })
    }
}

fn ended(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// What follows this byte at the start of a text.
#[inline]
fn behind(text: &[u8], byte: u8) -> Option<&[u8]> {
    text.split_first().filter(|(first, _)| **first == byte).map(|(_, rest)| rest)
}

fn blank(mut text: &[u8]) -> &[u8] {
    while let [b' ', rest @ ..] = text {
        text = rest;
    }
    text
}

/// What may stand in a string: text without control characters.
fn text(bytes: &[u8]) -> Option<&str> {
    if has_control(bytes) {
        return None;
    }
    str::from_utf8(bytes).ok()
}

/// A string from behind its first quote, if nothing in it is escaped, and what follows it.
fn plain(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (string, after) = text.split_at_checked(until(text, [b'"', b'\\']))?;
    Some((string, behind(after, b'"')?))
}

/// An id with its quotes, or a whole number that is written in the one way for it, and what follows it.
fn identity(text: &[u8]) -> Option<(&[u8], &[u8])> {
    if let Some(string) = text.strip_prefix(b"\"") {
        return text.split_at_checked(plain(string)?.0.len() + 2);
    }
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, after) = text.split_at_checked(digits)?;
    (digits == 1 || !number.starts_with(b"0") && (1..=18).contains(&digits)).then_some((number, after))
}

/// What a letter behind a backslash means, if it is one byte; else zero.
#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler, where it fails instead of panicking")]
const ESCAPES: [u8; 128] = {
    let mut table = [0; 128];
    let mut pairs: &[(u8, u8)] = &[
        (b'n', b'\n'),
        (b'"', b'"'),
        (b'\\', b'\\'),
        (b't', b'\t'),
        (b'/', b'/'),
        (b'r', b'\r'),
        (b'b', 8),
        (b'f', 12),
    ];
    while let [(letter, byte), more @ ..] = pairs {
        table[*letter as usize] = *byte;
        pairs = more;
    }
    table
};

/// Puts what a string means into `into`, from behind its first quote, and gives what follows it.
///
/// In one pass, and eight bytes at a time, those behind an escape too many: a copy that is as long as the text up to it
/// calls a function that cannot foresee how long that is.
fn unescaped<'l>(text: &'l [u8], into: &mut Vec<u8>) -> Option<&'l [u8]> {
    into.clear();
    into.reserve(text.len());
    let mut rest = text;
    loop {
        while let Some((word, after)) = rest.split_first_chunk::<8>() {
            let before = into.len();
            into.extend_from_slice(word);
            let plain = until(word, [b'"', b'\\']);
            if plain < 8 {
                into.truncate(before + plain);
                rest = rest.get(plain..)?;
                break;
            }
            rest = after;
        }
        match rest {
            [b'"', after @ ..] => return Some(after),
            // Half of a character, which another half has to follow, is left to others.
            [b'\\', b'u', after @ ..] => {
                let (digits, after) = after.split_first_chunk::<4>()?;
                rest = after;
                let digits = str::from_utf8(digits).ok()?;
                let digits = Some(digits).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
                let char = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
                into.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
            }
            [b'\\', letter, after @ ..] => {
                into.push(*ESCAPES.get(usize::from(*letter)).filter(|byte| **byte != 0)?);
                rest = after;
            }
            // Near the end of the line.
            [byte, after @ ..] => {
                into.push(*byte);
                rest = after;
            }
            [] => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::Value;

    /// A line as the contract has it.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Line {
        id: Option<Value>,
        command: Option<String>,
        argv: Option<Vec<String>>,
        cwd: Option<String>,
        home: Option<String>,
        workspace: Option<String>,
    }

    /// What both readers say of a line, and of the same with another id.
    fn held_together(line: &[u8]) -> bool {
        let mut command = b"what the last line had".to_vec();
        let read = PlainLine::read(line, None, &mut command);
        let first = Identity::at_start(line);
        assert_eq!(PlainLine::read(line, first, &mut command), read, "{}", String::from_utf8_lossy(line));
        let Some(plain) = read else { return false };
        let Ok(command) = String::from_utf8(command) else { return false };
        let shown = String::from_utf8_lossy(line);
        if line.starts_with(b"{\"id\"") {
            assert_eq!(Identity::at_start(line), Some(plain.identity), "{shown}");
        }
        let directories =
            [plain.cwd, plain.home, plain.workspace].map(|told| told.map(str::from_utf8).transpose());
        let [Ok(cwd), Ok(home), Ok(workspace)] = directories else { return false };
        let whole: Line = serde_json::from_slice(line).expect(&shown);
        assert_eq!(Some(&command), whole.command.as_ref(), "{shown}");
        let Identity { id, around } = plain.identity;
        assert_eq!(id.map(|id| serde_json::from_str::<Value>(id).expect(id)), whole.id, "{shown}");
        assert_eq!(id.map(str::to_owned), whole.id.map(|id| id.to_string()), "{shown}");
        let others = [(cwd, whole.cwd), (home, whole.home), (workspace, whole.workspace)];
        for (ours, theirs) in others {
            assert_eq!(ours.map(str::to_owned), theirs, "{shown}");
        }
        assert_eq!(whole.argv, None, "{shown}");
        if id.is_some() {
            for id in ["7", "\"seven\""] {
                let renamed = around.join(id.as_bytes());
                let mut again = Vec::new();
                let other = PlainLine::read(&renamed, None, &mut again).expect(&shown);
                let expected = PlainLine { identity: Identity { id: Some(id), around }, ..plain };
                assert_eq!((other, &*again), (expected, command.as_bytes()), "{shown}");
            }
        }
        true
    }

    #[test]
    fn plain_lines_are_read() {
        for line in [
            r#"{"command":"ls"}"#,
            r#"{"id": "a", "command": "echo \"$x\"\n\tls \\ \/ \b\f\r \u00e9\u4E2d", "cwd": "/w"}"#,
            r#"{"workspace":"/w","home":"/é","cwd":"/w/x","command":"","id":""}  "#,
            r#"{"id":0,"command":"ls"}"#,
            r#"{"command":"ls","id" : 100200300400500600 }"#,
            r#"{ "command" : "a quite long command without anything that would be escaped" }"#,
        ] {
            assert!(held_together(line.as_bytes()), "{line}");
            assert!(held_together(format!("{line}\n").as_bytes()), "{line}");
        }
    }

    #[test]
    fn all_other_lines_are_left_to_others() {
        for line in [
            r#"{}"#,
            r#"{"id":01,"command":"ls"}"#,
            r#"{"id":-1,"command":"ls"}"#,
            r#"{"id":1.0,"command":"ls"}"#,
            r#"{"id":1e3,"command":"ls"}"#,
            r#"{"id":1 2,"command":"ls"}"#,
            r#"{"id":1234567890123456789,"command":"ls"}"#,
            r#"{"id":,"command":"ls"}"#,
            r#"{"id":[1],"command":"ls"}"#,
            r#"{"id":1,"id":2,"command":"ls"}"#,
            r#"{"id":"\u0041","command":"ls"}"#,
            r#"{"id":"a","argv":["ls"]}"#,
            r#"{"command":"ls","argv":["ls"]}"#,
            r#"{"command":"ls","command":"ls"}"#,
            r#"{"cwd":"/","cwd":"/","command":"ls"}"#,
            r#"{"cwd":null,"command":"ls"}"#,
            r#"{"command":"\ud83d\ude00"}"#,
            r#"{"command":"\ud83d"}"#,
            r#"{"command":"\u+041"}"#,
            r#"{"command":"\x"}"#,
            r#"{"command":"ls","surprise":"x"}"#,
            r#"{"command":"ls"} {}"#,
            r#"{"command":"ls",}"#,
            r#"{"command":"ls"#,
            "{\"command\":\"l\ts\"}",
            "{\"command\":\"ls\"}\r\n",
            "\t{\"command\":\"ls\"}",
        ] {
            assert!(!held_together(line.as_bytes()), "{line}");
        }
        assert!(!held_together(b"{\"command\":\"\xff\"}"));
    }

    #[test]
    fn no_line_is_read_in_another_way() {
        const PARTS: [&str; 36] = [
            "{",
            "{",
            "}",
            "}",
            "\"",
            "\"",
            ":",
            ",",
            " ",
            "\\",
            "\\\"",
            "\\\\",
            "\\n",
            "\\u0041",
            "\\ud800",
            "\\u00",
            "command",
            "cwd",
            "id",
            "home",
            "workspace",
            "argv",
            "[",
            "]",
            "1",
            "null",
            "é",
            "\n",
            "\r",
            "a",
            "12345678",
            "\"command\":\"",
            "\",\"id\":\"x",
            "\",\"id\":",
            "0",
            "\"}",
        ];
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 33).unwrap() % below
        };
        let mut read = 0;
        for _ in 0..200_000 {
            let mut line = ["{\"command\":\"", "{\"id\":\"x\",\"command\":\"", "{"][next(3)].to_owned();
            (0..next(12)).for_each(|_| line.push_str(PARTS[next(PARTS.len())]));
            line.push_str(["\"}", "\"}\n", ""][next(3)]);
            read += usize::from(held_together(line.as_bytes()));
        }
        assert!(read > 20_000, "{read}");
    }
}
