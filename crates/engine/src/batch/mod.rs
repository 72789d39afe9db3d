//! Many requests, one after the other: a line of JSON each, and a line of JSON for each answer.

mod line;
mod memo;
mod window;
mod written;

use crate::report::Checked;
use crate::{Action, Firewall, MAX_COMMAND, Request, Setting};
use line::{Identity, PlainLine};
use memo::{Key, Memo};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Judges requests that come as lines of JSON, each with either `command` or `argv`, and with `id`, `cwd`, `home` and
/// `workspace` if it likes.
///
/// In the frozen world an answer depends on the request and the policy alone, so there what was asked already is not judged
/// again, as long as it is remembered, which takes some megabytes at most.
///
/// ```
/// use shward::{Batch, Firewall, Policy, Setting};
///
/// let firewall = Firewall::new(Policy::default());
/// let mut batch = Batch::new(&firewall, Setting::frozen(), "/w", "/home/u");
/// let mut answer = Vec::new();
/// assert!(batch.answer(br#"{"id":7,"command":"ls"}"#, &mut answer));
/// assert_eq!(answer, br#"{"v":1,"id":7,"decision":"allow","tier":1,"findings":[]}"#);
///
/// answer.clear();
/// assert!(!batch.answer(br#"{"id":8}"#, &mut answer));
/// assert_eq!(answer, br#"{"v":1,"id":8,"error":"a request has either \"command\" or \"argv\""}"#);
/// ```
#[derive(Debug)]
pub struct Batch<'f> {
    firewall: &'f Firewall,
    setting: Setting,
    cwd: PathBuf,
    home: PathBuf,
    workspace: Option<PathBuf>,
    /// One request after the other, in the same memory.
    request: Request,
    /// Whether its directories were told: where it runs, the workspace, the home.
    told: [bool; 3],
    /// The command of the line that is read, before it is known to be a request's.
    command: Vec<u8>,
    memo: Option<Memo>,
    window: window::Window,
}

/// Text that stays where it was read, if nothing in it is escaped.
#[derive(Deserialize)]
struct Text<'l>(#[serde(borrow)] Cow<'l, str>);

/// Any line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'l> {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default, borrow)]
    command: Option<Text<'l>>,
    #[serde(default)]
    argv: Option<Vec<String>>,
    #[serde(default, borrow)]
    cwd: Option<Text<'l>>,
    #[serde(default, borrow)]
    home: Option<Text<'l>>,
    #[serde(default, borrow)]
    workspace: Option<Text<'l>>,
}

/// Whose request it was, if that could be read, and why it was not judged.
type Refused = (Option<Value>, String);

impl<'f> Batch<'f> {
    /// Longest line that is a request, in bytes: a command of the greatest length with every byte escaped, and room for
    /// the rest.
    pub const MAX_LINE: usize = 6 * MAX_COMMAND + (64 << 10);

    /// Of lines that say nothing else, requests start in `cwd`, may change what lies in it, and their home is `home`.
    #[must_use]
    pub fn new(
        firewall: &'f Firewall,
        setting: Setting,
        cwd: impl Into<PathBuf>,
        home: impl Into<PathBuf>,
    ) -> Self {
        Self {
            firewall,
            setting,
            cwd: cwd.into(),
            home: home.into(),
            workspace: None,
            request: Request::command("", "", ""),
            told: [false; 3],
            command: Vec::new(),
            memo: (setting.frozen && !setting.plan).then(Memo::default),
            window: window::Window::default(),
        }
    }

    /// Requests may change what lies in this directory, wherever they start.
    #[must_use]
    pub fn with_workspace(mut self, workspace: impl Into<PathBuf>) -> Self {
        self.workspace = Some(workspace.into());
        self
    }

    /// Appends the answer to a line: a verdict ([`Checked`]), or an object with `error`, and no end of line. Says whether it
    /// is a verdict.
    pub fn answer(&mut self, line: &[u8], out: &mut Vec<u8>) -> bool {
        let start = out.len();
        match self.judged(line, out) {
            Ok(()) => true,
            Err((id, error)) => {
                out.truncate(start);
                let mut object = serde_json::Map::new();
                object.insert("v".to_owned(), 1.into());
                object.extend(id.map(|id| ("id".to_owned(), id)));
                object.insert("error".to_owned(), error.into());
                // Writing into memory does not fail.
                let _ = serde_json::to_writer(out, &object);
                false
            }
        }
    }

    fn judged(&mut self, line: &[u8], out: &mut Vec<u8>) -> Result<(), Refused> {
        if line.len() > Self::MAX_LINE {
            return Err((None, format!("the line has more than {} bytes", Self::MAX_LINE)));
        }
        let first = Identity::at_start(line);
        let mut key = first.and_then(|identity| self.memo.as_ref()?.key(identity.around));
        if self.recalled(first, key.as_ref(), out) {
            return Ok(());
        }
        let plain = PlainLine::read(line, first, &mut self.command);
        if first.is_none() {
            let identity = plain.map(|plain| plain.identity);
            key = identity.and_then(|identity| self.memo.as_ref()?.key(identity.around));
            if self.recalled(identity, key.as_ref(), out) {
                return Ok(());
            }
        }
        let plain = plain.filter(|plain| self.take_plain(plain).is_some());
        let id = match plain {
            Some(plain) => plain.identity.id.map(Cow::Borrowed),
            None => self.take(line)?.map(|id| Cow::Owned(id.to_string())),
        };
        let checked = self
            .firewall
            .check(&self.request, &self.setting)
            .map_err(|e| (value(id.as_deref()), e.to_string()))?;
        let start = out.len();
        written::start(id.as_deref(), out);
        let rest = out.len();
        if !written::rest(&checked, out) {
            out.truncate(start);
            // Writing into memory does not fail.
            let _ = serde_json::to_writer(out, &Checked { id: value(id.as_deref()), ..checked });
        } else if let (Some(_), Some(key), Some(memo)) = (plain, key, &mut self.memo) {
            memo.keep(&key, out.get(rest..).unwrap_or_default());
        }
        Ok(())
    }

    /// Appends the answer to a line that came before but for its id.
    fn recalled(&mut self, line: Option<Identity<'_>>, key: Option<&Key<'_>>, out: &mut Vec<u8>) -> bool {
        let (Some(line), Some(key), Some(memo)) = (line, key, &mut self.memo) else { return false };
        memo.recall(key, |answer| {
            written::start(line.id, out);
            out.extend_from_slice(answer);
        })
    }

    /// Makes a plain line and the command that was read from it the request. `None`: it is not UTF-8.
    fn take_plain(&mut self, line: &PlainLine<'_>) -> Option<()> {
        let command = String::from_utf8(std::mem::take(&mut self.command)).ok()?;
        let last = std::mem::replace(&mut self.request.action, Action::Command(command));
        if let Action::Command(last) = last {
            self.command = last.into_bytes();
        }
        self.complete([line.cwd, line.home, line.workspace])
    }

    /// Makes any line the request, and gives its id.
    fn take(&mut self, line: &[u8]) -> Result<Option<Value>, Refused> {
        // Or a list would be read as the members in their order.
        if !line.trim_ascii_start().starts_with(b"{") {
            return Err((None, "not a request: each line is one JSON object".to_owned()));
        }
        let line: Line<'_> =
            serde_json::from_slice(line).map_err(|e| (identity(line), format!("not a request: {e}")))?;
        self.request.action = match (line.command, line.argv) {
            (Some(Text(command)), None) => Action::Command(command.into_owned()),
            (None, Some(argv)) => Action::Argv(argv),
            _ => return Err((line.id, "a request has either \"command\" or \"argv\"".to_owned())),
        };
        let told = [&line.cwd, &line.home, &line.workspace];
        // They are text.
        let _ = self.complete(told.map(|told| told.as_ref().map(|Text(text)| text.as_bytes())));
        Ok(line.id)
    }

    /// Puts the directories that a line tells into the request, and the others. `None`: one of them is not UTF-8.
    fn complete(&mut self, [cwd, home, workspace]: [Option<&[u8]>; 3]) -> Option<()> {
        let request = &mut self.request;
        let [cwd_told, workspace_told, home_told] = &mut self.told;
        set(&mut request.cwd, cwd_told, cwd, &self.cwd)?;
        let otherwise = self.workspace.as_ref().unwrap_or(&request.cwd);
        set(&mut request.workspace, workspace_told, workspace, otherwise)?;
        set(&mut request.home, home_told, home, &self.home)
    }
}

/// The id of a line that is no request, so that whoever sent it knows which it was.
fn identity(line: &[u8]) -> Option<Value> {
    #[derive(Deserialize)]
    struct Identity {
        id: Option<Value>,
    }
    serde_json::from_slice::<Identity>(line).ok()?.id
}

/// An id from its JSON.
fn value(id: Option<&str>) -> Option<Value> {
    id.and_then(|id| serde_json::from_str(id).ok())
}

/// Puts a path into the memory of the last one, which it mostly is. `was_told`: that one was, and so is text; what is meant
/// where none is told may be no text, and then nobody tells it. `None`: it is not UTF-8.
fn set(path: &mut PathBuf, was_told: &mut bool, told: Option<&[u8]>, otherwise: &Path) -> Option<()> {
    let wanted = match told {
        Some(told) if *was_told && told == path.as_os_str().as_encoded_bytes() => return Some(()),
        Some(told) => OsStr::new(str::from_utf8(told).ok()?),
        None => otherwise.as_os_str(),
    };
    *was_told = told.is_some();
    let text = path.as_mut_os_string();
    text.clear();
    text.push(wanted);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;
    use std::os::unix::ffi::OsStrExt as _;

    fn answer(batch: &mut Batch<'_>, line: &str) -> String {
        let mut out = b"before".to_vec();
        batch.answer(line.as_bytes(), &mut out);
        String::from_utf8(out).unwrap().strip_prefix("before").unwrap().to_owned()
    }

    /// Requests that differ in one thing each, and lines that are none.
    fn lines() -> Vec<String> {
        let mut lines = Vec::new();
        for (cwd, home) in [("/w", "/home/u"), ("/", "/home/u"), ("/w", "/w"), ("/w/home", "/u")] {
            for command in
                ["rm -rf x", "rm -rf /w", "cat ~/x", "curl x.example", "ls", "rm -rf ~", "l\\u0073"]
            {
                let words = command.split(' ').collect::<Vec<_>>().join("\",\"");
                for action in [
                    format!("\"command\":\"{command}\""),
                    format!("\"argv\":[\"{words}\"]"),
                    format!("\"argv\":[\"{command}\"]"),
                ] {
                    lines.push(format!("{{{action},\"cwd\":\"{cwd}\",\"home\":\"{home}\"}}"));
                    lines.push(format!(
                        "{{\"cwd\":\"{cwd}\",\"workspace\":\"/e\",{action},\"home\":\"{home}\"}}"
                    ));
                }
            }
        }
        for refused in [r#"{}"#, r#"{"command":"\x"}"#, r#"{"command":"a\u0000"}"#, "{\"command\":\"\t\"}"] {
            lines.push(refused.to_owned());
        }
        lines
    }

    /// The line with this id, at its beginning and at its end.
    fn with_id(line: &str, id: &str) -> [String; 2] {
        let inner = line.strip_prefix('{').unwrap().strip_suffix('}').unwrap();
        let comma = if inner.is_empty() { "" } else { "," };
        [format!("{{\"id\":{id}{comma}{inner}}}"), format!("{{{inner}{comma}\"id\": {id} }}")]
    }

    #[test]
    fn what_is_remembered_is_what_would_be_judged() {
        for contained in [false, true] {
            let mut setting = Setting::frozen();
            setting.contained = contained;
            let firewall = Firewall::new(Policy::default());
            let mut remembering = Batch::new(&firewall, setting, "/d", "/home/d");
            for id in ["7", "\"a\"", "\"a\"", "[7]", "\"\\u0041\"", "07"] {
                for line in
                    lines().iter().flat_map(|line| with_id(line, id).into_iter().chain([line.clone()]))
                {
                    let mut fresh = Batch::new(&firewall, setting, "/d", "/home/d");
                    assert_eq!(answer(&mut remembering, &line), answer(&mut fresh, &line), "{line}");
                }
            }
        }
    }

    #[test]
    fn a_directory_that_is_no_text_is_told_by_nobody() {
        let firewall = Firewall::new(Policy::default());
        let odd = OsStr::from_bytes(b"/w\xff");
        let mut batch = Batch::new(&firewall, Setting::frozen(), odd, "/home/u");
        for (line, start) in [
            (&b"{\"command\":\"ls\"}"[..], r#"{"v":1,"decision":"allow""#),
            (b"{\"command\":\"ls\",\"cwd\":\"/w\xff\"}", r#"{"v":1,"error":"not a request: invalid"#),
        ] {
            let mut out = Vec::new();
            batch.answer(line, &mut out);
            let told = String::from_utf8(out).unwrap();
            assert!(told.starts_with(start), "{}: {told}", line.escape_ascii());
        }
    }

    #[test]
    fn what_is_no_request_is_answered_under_its_id() {
        let firewall = Firewall::new(Policy::default());
        let mut batch = Batch::new(&firewall, Setting::frozen(), "/w", "/home/u");
        for (line, start) in [
            (
                r#"{"id":5,"command":"ls","surprise":1}"#,
                r#"{"v":1,"id":5,"error":"not a request: unknown field"#,
            ),
            (r#"{"id":"a","command":7}"#, r#"{"v":1,"id":"a","error":"not a request: invalid type"#),
            (r#"{"id":[1],"argv":"ls"}"#, r#"{"v":1,"id":[1],"error":"not a request: invalid type"#),
            (r#" [5,"ls"]"#, r#"{"v":1,"error":"not a request: each line is one JSON object"}"#),
            (r#"[5,null,["ls"],null,null,null]"#, r#"{"v":1,"error":"not a request: each line is one"#),
            (r#""ls""#, r#"{"v":1,"error":"not a request: each line is one JSON object"}"#),
            (r#"{"id":5,"command":"ls""#, r#"{"v":1,"error":"not a request: EOF"#),
        ] {
            let told = answer(&mut batch, line);
            assert!(told.starts_with(start), "{line}: {told}");
        }
    }

    #[test]
    fn what_was_asked_is_recalled_whatever_its_id() {
        let firewall = Firewall::new(Policy::default());
        for [first, again] in [
            [r#"{"id":1,"command":"ls"}"#, r#"{"id":"b","command":"ls"}"#],
            [r#"{"command":"ls", "id":1}"#, r#"{"command":"ls", "id":2}"#],
            [r#"{"command":"ls"}"#, r#"{"command":"ls"}"#],
        ] {
            let mut batch = Batch::new(&firewall, Setting::frozen(), "/w", "/home/u");
            answer(&mut batch, first);
            batch.request.action = Action::Command("untouched".into());
            assert!(answer(&mut batch, again).ends_with(r#""decision":"allow","tier":1,"findings":[]}"#));
            assert_eq!(batch.request.action, Action::Command("untouched".into()), "{again} is judged again");
        }
        let mut setting = Setting::frozen();
        setting.plan = true;
        assert!(Batch::new(&firewall, setting, "/w", "/home/u").memo.is_none());
        assert!(Batch::new(&firewall, Setting::others(), "/w", "/home/u").memo.is_none());
    }
}
