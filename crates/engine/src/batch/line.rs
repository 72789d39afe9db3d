//! Requests as lines of a batch, as they nearly always are, without a look at everything that JSON may be.
//!
//! What is not written in this plain way is left to `serde_json`, which also says what is wrong with a line. So nothing
//! here may read a line in another way than it does.

use shward_syntax::until;

/// A line whose members are strings, each once, without escapes but for those in the command. Its id may be a whole number
/// too.
///
/// It is known where its members stand, and that the id is sound; whether the rest is, [`read`](Self::read) says, which has
/// to be asked only once for all lines that are the same [around](Self::around) their ids.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlainLine<'l> {
    /// The request's own identity, as JSON.
    pub(super) id: Option<&'l str>,
    /// What stands before the id and behind it; without an id, everything and nothing.
    pub(super) around: [&'l [u8]; 2],
    command: &'l [u8],
    cwd: Option<&'l [u8]>,
    home: Option<&'l [u8]>,
    workspace: Option<&'l [u8]>,
}

/// The directories that a line tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Told<'l> {
    pub(super) cwd: Option<&'l str>,
    pub(super) home: Option<&'l str>,
    pub(super) workspace: Option<&'l str>,
}

impl<'l> PlainLine<'l> {
    /// Finds the members of a line that has a command. `None`: the line is not plain, or no request at all.
    pub(super) fn find(line: &'l [u8]) -> Option<Self> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let mut around = [line, &[]];
        let [mut id, mut command, mut cwd, mut home, mut workspace] = [None; 5];
        let mut rest = line.strip_prefix(b"{")?;
        loop {
            let (name, after) = plain(blank(rest).strip_prefix(b"\"")?)?;
            let value = blank(blank(after).strip_prefix(b":")?);
            let (place, (member, after)) = match name {
                b"id" => {
                    let (member, after) = identity(value)?;
                    around = [line.get(..line.len().checked_sub(value.len())?)?, after];
                    (&mut id, (member, after))
                }
                b"command" => (&mut command, escaped(value.strip_prefix(b"\"")?)?),
                b"cwd" => (&mut cwd, plain(value.strip_prefix(b"\"")?)?),
                b"home" => (&mut home, plain(value.strip_prefix(b"\"")?)?),
                b"workspace" => (&mut workspace, plain(value.strip_prefix(b"\"")?)?),
                _ => return None,
            };
            if place.replace(member).is_some() {
                return None;
            }
            rest = blank(after);
            match rest.strip_prefix(b",") {
                Some(more) => rest = more,
                None => break,
            }
        }
        if !blank(rest.strip_prefix(b"}")?).is_empty() {
            return None;
        }
        let id = match id {
            Some(id) => Some(text(id)?),
            None => None,
        };
        Some(Self { id, around, command: command?, cwd, home, workspace })
    }

    /// Puts the command into `command`. `None`: the line is not plain after all; then `command` holds anything.
    pub(super) fn read(&self, command: &mut String) -> Option<Told<'l>> {
        unescaped(text(self.command)?, command)?;
        let told = |member: Option<&'l [u8]>| match member {
            Some(member) => text(member).map(Some),
            None => Some(None),
        };
        Some(Told { cwd: told(self.cwd)?, home: told(self.home)?, workspace: told(self.workspace)? })
    }
}

fn blank(mut text: &[u8]) -> &[u8] {
    while let Some(rest) = text.strip_prefix(b" ") {
        text = rest;
    }
    text
}

/// What may stand in a string: text without control characters.
fn text(bytes: &[u8]) -> Option<&str> {
    let has_control = |bytes: &[u8]| bytes.iter().fold(false, |found, byte| found | (*byte < b' '));
    let (blocks, end) = bytes.as_chunks::<32>();
    if blocks.iter().any(|block| has_control(block)) || has_control(end) {
        return None;
    }
    str::from_utf8(bytes).ok()
}

/// A string from behind its first quote, if nothing in it is escaped, and what follows it.
fn plain(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (string, after) = text.split_at_checked(until(text, [b'"', b'\\']))?;
    Some((string, after.strip_prefix(b"\"")?))
}

/// The same of a string in which there may be escapes.
fn escaped(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = text;
    loop {
        let at = rest.get(until(rest, [b'"', b'\\'])..)?;
        match at {
            [b'"', after @ ..] => {
                let length = text.len().checked_sub(at.len())?;
                return Some((text.get(..length)?, after));
            }
            [_, _, after @ ..] => rest = after,
            _ => return None,
        }
    }
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

/// What a string means.
fn unescaped(text: &str, into: &mut String) -> Option<()> {
    into.clear();
    let mut rest = text;
    loop {
        let (run, after) = rest.split_at_checked(until(rest.as_bytes(), [b'\\']))?;
        into.push_str(run);
        let Some(escape) = after.strip_prefix('\\') else { return Some(()) };
        let (letter, after) = escape.split_at_checked(1)?;
        rest = after;
        into.push(match letter {
            "n" => '\n',
            "\"" => '"',
            "\\" => '\\',
            "t" => '\t',
            "/" => '/',
            "r" => '\r',
            "b" => '\u{8}',
            "f" => '\u{c}',
            // Half of a character, which another half has to follow, is left to others.
            "u" => {
                let (digits, after) = rest.split_at_checked(4)?;
                rest = after;
                let digits = Some(digits).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
                char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
            }
            _ => return None,
        });
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
        let mut command = "what the last line had".to_owned();
        let Some(plain) = PlainLine::find(line) else { return false };
        let Some(told) = plain.read(&mut command) else { return false };
        let shown = String::from_utf8_lossy(line);
        let whole: Line = serde_json::from_slice(line).expect(&shown);
        assert_eq!(Some(&command), whole.command.as_ref(), "{shown}");
        let id = plain.id.map(|id| serde_json::from_str::<Value>(id).expect(id));
        assert_eq!(id, whole.id, "{shown}");
        assert_eq!(plain.id.map(str::to_owned), whole.id.map(|id| id.to_string()), "{shown}");
        let others = [(told.cwd, whole.cwd), (told.home, whole.home), (told.workspace, whole.workspace)];
        for (ours, theirs) in others {
            assert_eq!(ours.map(str::to_owned), theirs, "{shown}");
        }
        assert_eq!(whole.argv, None, "{shown}");
        if plain.id.is_some() {
            for id in ["7", "\"seven\""] {
                let renamed = plain.around.join(id.as_bytes());
                let other = PlainLine::find(&renamed).expect(&shown);
                assert_eq!((other.id, other.around), (Some(id), plain.around), "{shown}");
                let mut again = String::new();
                assert_eq!((other.read(&mut again), again), (Some(told), command.clone()), "{shown}");
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
