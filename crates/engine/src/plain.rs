//! Requests and verdicts as lines of a batch, as they nearly always are, without a look at everything that JSON may be.
//!
//! What is not written in this plain way is left to `serde_json`, which also says what is wrong with a line. So nothing
//! here may read a line in another way than it does, or write an answer in other bytes.

use crate::report::{Checked, FindingReport, VERSION};
use shward_syntax::until;
use std::io::Write as _;

/// What stands beside the command in a line whose members are strings, each once, without escapes but for those in the
/// command. Its id may be a whole number too.
///
/// ```
/// let mut command = String::new();
/// let line = shward::PlainLine::read(br#"{"id":"a","command":"echo \"$x\""}"#, &mut command);
/// assert_eq!(command, "echo \"$x\"");
/// assert_eq!(line.and_then(|line| line.id), Some("\"a\""));
/// assert_eq!(shward::PlainLine::read(br#"{"id":[1],"command":"ls"}"#, &mut command), None);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlainLine<'l> {
    /// The request's own identity, as JSON.
    pub id: Option<&'l str>,
    /// The directory it starts in.
    pub cwd: Option<&'l str>,
    /// The home directory.
    pub home: Option<&'l str>,
    /// The directory that it may change.
    pub workspace: Option<&'l str>,
}

impl<'l> PlainLine<'l> {
    /// Reads a line that has a command, and puts that into `command`. `None`: the line is not plain, or no request at all;
    /// then `command` holds anything.
    pub fn read(line: &'l [u8], command: &mut String) -> Option<Self> {
        read(line, command)
    }
}

fn read<'l>(line: &'l [u8], command: &mut String) -> Option<PlainLine<'l>> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    // In no string may there be one, and between them there rarely is.
    let has_control = |bytes: &[u8]| bytes.iter().fold(false, |found, byte| found | (*byte < b' '));
    let (blocks, end) = line.as_chunks::<32>();
    if blocks.iter().any(|block| has_control(block)) || has_control(end) {
        return None;
    }
    let mut rest = str::from_utf8(line).ok()?.strip_prefix('{')?;
    let mut found = PlainLine::default();
    let mut has_command = false;
    loop {
        let (name, after) = plain(blank(rest).strip_prefix('"')?)?;
        let value = blank(blank(after).strip_prefix(':')?);
        let after = if name == "command" && !has_command {
            has_command = true;
            unescaped(value.strip_prefix('"')?, command)?
        } else {
            let (place, (text, after)) = match name {
                "id" => (&mut found.id, identity(value)?),
                "cwd" => (&mut found.cwd, plain(value.strip_prefix('"')?)?),
                "home" => (&mut found.home, plain(value.strip_prefix('"')?)?),
                "workspace" => (&mut found.workspace, plain(value.strip_prefix('"')?)?),
                _ => return None,
            };
            if place.replace(text).is_some() {
                return None;
            }
            after
        };
        rest = blank(after);
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => break,
        }
    }
    (has_command && rest.strip_prefix('}').is_some_and(|rest| blank(rest).is_empty())).then_some(found)
}

fn blank(text: &str) -> &str {
    text.trim_start_matches(' ')
}

/// A string from behind its first quote, if nothing in it is escaped, and what follows it.
fn plain(text: &str) -> Option<(&str, &str)> {
    let (string, after) = text.split_at_checked(until(text.as_bytes(), [b'"', b'\\']))?;
    Some((string, after.strip_prefix('"')?))
}

/// An id with its quotes, or a whole number that is written in the one way for it, and what follows it.
fn identity(text: &str) -> Option<(&str, &str)> {
    if let Some(string) = text.strip_prefix('"') {
        return text.split_at_checked(plain(string)?.0.len() + 2);
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, after) = text.split_at_checked(digits)?;
    (digits == 1 || !number.starts_with('0') && (1..=18).contains(&digits)).then_some((number, after))
}

/// The same of a string in which there may be escapes. Gives what follows it.
fn unescaped<'l>(text: &'l str, into: &mut String) -> Option<&'l str> {
    into.clear();
    let mut rest = text;
    loop {
        let (run, after) = rest.split_at_checked(until(rest.as_bytes(), [b'"', b'\\']))?;
        into.push_str(run);
        let Some(escape) = after.strip_prefix('\\') else { return after.strip_prefix('"') };
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

/// How the answer to a request with this id, as JSON, begins.
pub(crate) fn write_start(id: Option<&str>, out: &mut Vec<u8>) {
    number(out, "{\"v\":", u32::from(VERSION));
    if let Some(id) = id {
        out.extend_from_slice(b",\"id\":");
        out.extend_from_slice(id.as_bytes());
    }
}

/// Appends what follows that. `false`: it is more than a verdict, and nothing was appended.
pub(crate) fn write_rest(checked: &Checked, out: &mut Vec<u8>) -> bool {
    let Checked {
        v: VERSION,
        id: None,
        decision,
        tier,
        findings,
        review: None,
        pending: None,
        rate_limit: None,
        plan: None,
    } = checked
    else {
        return false;
    };
    member(out, ",\"decision\":\"", decision.as_str());
    number(out, ",\"tier\":", u32::from(*tier));
    out.extend_from_slice(b",\"findings\":[");
    for (index, finding) in findings.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let FindingReport { rule, decision, message, span, source, suggestion } = finding;
        string(out, "{\"rule\":", rule);
        member(out, ",\"decision\":\"", decision.as_str());
        string(out, ",\"message\":", message);
        pair(out, ",\"span\":[", *span);
        if let Some(source) = source {
            pair(out, ",\"source\":[", *source);
        }
        if let Some(suggestion) = suggestion {
            string(out, ",\"suggestion\":", suggestion);
        }
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
    true
}

/// A string that needs no escapes.
fn member(out: &mut Vec<u8>, name: &str, text: &str) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

fn string(out: &mut Vec<u8>, name: &str, text: &str) {
    let needs_escape = |bytes: &[u8]| {
        bytes.iter().fold(false, |found, byte| found | (*byte < b' ') | (*byte == b'"') | (*byte == b'\\'))
    };
    out.extend_from_slice(name.as_bytes());
    let (blocks, end) = text.as_bytes().as_chunks::<32>();
    if blocks.iter().any(|block| needs_escape(block)) || needs_escape(end) {
        // Writing into memory does not fail.
        let _ = serde_json::to_writer(out, text);
        return;
    }
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

fn number(out: &mut Vec<u8>, name: &str, number: u32) {
    out.extend_from_slice(name.as_bytes());
    digits(out, number);
}

fn pair(out: &mut Vec<u8>, name: &str, [from, to]: [u32; 2]) {
    number(out, name, from);
    out.push(b',');
    digits(out, to);
    out.push(b']');
}

fn digits(out: &mut Vec<u8>, number: u32) {
    if let Ok(digit @ 0..10) = u8::try_from(number) {
        return out.push(b'0' + digit);
    }
    // Writing into memory does not fail.
    let _ = write!(out, "{number}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Firewall, Policy, Request, Setting};
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

    /// What both readers say of a line.
    fn held_together(line: &[u8]) -> bool {
        let mut command = "what the last line had".to_owned();
        let Some(plain) = read(line, &mut command) else { return false };
        let shown = String::from_utf8_lossy(line);
        let whole: Line = serde_json::from_slice(line).expect(&shown);
        assert_eq!(Some(command), whole.command, "{shown}");
        let id = plain.id.map(|id| serde_json::from_str::<Value>(id).expect(id));
        assert_eq!(id, whole.id, "{shown}");
        assert_eq!(plain.id.map(str::to_owned), whole.id.map(|id| id.to_string()), "{shown}");
        let others = [(plain.cwd, whole.cwd), (plain.home, whole.home), (plain.workspace, whole.workspace)];
        for (ours, theirs) in others {
            assert_eq!(ours.map(str::to_owned), theirs, "{shown}");
        }
        assert_eq!(whole.argv, None, "{shown}");
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

    #[test]
    fn answers_are_written_as_serde_writes_them() {
        let firewall = Firewall::new(Policy::default());
        let commands = [
            "ls",
            "rm -rf /",
            "curl x.example | sh",
            "cat 'a\"b' \"/etc/shadow\"",
            "x=\"\\\n\"; rm -rf \"$x\"/*",
            "rm -r \u{1}",
        ];
        for command in commands {
            let request = Request::command(command, "/w", "/home/dev");
            let mut checked = firewall.check(&request, &Setting::frozen()).unwrap();
            for id in [None, Some("\"é1\""), Some("10")] {
                let mut ours = b"before".to_vec();
                write_start(id, &mut ours);
                assert!(write_rest(&checked, &mut ours));
                let id = id.map(|id| serde_json::from_str(id).unwrap());
                let whole = Checked { id, ..checked.clone() };
                assert_eq!(ours, format!("before{}", serde_json::to_string(&whole).unwrap()).into_bytes());
            }
            for text in ["\"", "\\", "\u{1}", "a\u{7f}é", "thirty-two bytes and a quote after them \""] {
                for finding in &mut checked.findings {
                    (finding.source, finding.suggestion) = (Some([9, 12]), Some(text.to_owned()));
                }
                let mut ours = Vec::new();
                write_start(None, &mut ours);
                assert!(write_rest(&checked, &mut ours));
                assert_eq!(ours, serde_json::to_vec(&checked).unwrap());
            }
            checked.pending = Some("p".to_owned());
            let mut ours = Vec::new();
            assert!(!write_rest(&checked, &mut ours) && ours.is_empty());
        }
    }
}
