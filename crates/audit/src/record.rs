//! What one line of the log says.
//!
//! A caller fills in a [`Record`]; the log adds version, sequence number, time and the hash of the line before,
//! which together make an [`Entry`]. On disk an entry is one flat JSON object.

use crate::{Digest, StreamDigest, Text};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The version of the line format, in the field `v`.
pub(crate) const VERSION: u8 = 1;

/// What happened, told by the caller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The agent's session, if the host names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The agent's own id for this call, if the host names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The event and its details.
    #[serde(flatten)]
    pub event: Event,
}

/// The kind of event, in the field `event`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Event {
    /// A verdict was asked for; shward runs nothing.
    Check(Decided),
    /// An agent's hook asked for a verdict; the agent runs the command if it is allowed.
    Hook(Decided),
    /// A verdict was reached and, if it allows, shward is about to run the command.
    Run(Decided),
    /// A command that shward ran has ended, or could not be started.
    Outcome(Ended),
    /// A person answered, from elsewhere, what the policy had asked. It takes effect with the record that names its id.
    Answer(PersonAnswer),
    /// Somebody is about to take back what a run changed in its workspace.
    Undo(Undo),
    /// What became of that.
    Undone(Undone),
    /// The bytes before this line are not a record: a writer was killed or the disk was full.
    Recovered(Damage),
}

/// A request and the verdict on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decided {
    /// What was asked for.
    #[serde(flatten)]
    pub input: Input,
    /// The working directory of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Text>,
    /// The agent that asked, by the name of its wire format (`claude`, `codex`, …).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Name of the policy profile.
    pub profile: String,
    /// Digest of the whole policy in force.
    pub policy: Digest,
    /// Whether the verdict holds only because shward itself runs the command, confined.
    pub contained: bool,
    /// The verdict's decision.
    pub decision: Decision,
    /// The verdict's tier, 1 to 4.
    pub tier: u8,
    /// Ids of the rules that fired, strictest first; each once.
    pub rules: Vec<String>,
    /// Digest of the grant that the sandbox enforces; absent when nothing will be run, or no process is needed for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<Digest>,
    /// Guarantees of the sandbox that the machine lacks and the policy accepts the loss of, and limits that do not hold (`cgroup`,
    /// `run-disk`), by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The policy permits that it runs without being confined, and that was asked for.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unconfined: bool,
    /// shward carries the command out itself: it has only builtins that print or have a status. No process is started, and so there
    /// is no grant.
    #[serde(default, skip_serializing_if = "is_false")]
    pub no_process: bool,
    /// Who answered what the policy asked; the decision above is the one after that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Reviewed>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(value: &bool) -> bool {
    !value
}

/// What an agent handed over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Input {
    /// Shell text.
    Command(Text),
    /// A program and its arguments, for no shell.
    Argv(Vec<Text>),
}

/// Allow, ask or deny.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// May run.
    Allow,
    /// A model or a person has to answer first.
    Ask,
    /// Must not run.
    Deny,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// Sequence number of the `run` record that this completes.
    pub run: u64,
    /// Whether the program was started at all.
    pub executed: bool,
    /// The exit code, if the child exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal's number, if a signal ended the child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The time limit ended it.
    pub timed_out: bool,
    /// The caller ended it.
    pub cancelled: bool,
    /// Output went over its limit and some was dropped.
    pub truncated: bool,
    /// Wall-clock time in milliseconds.
    pub duration_ms: u64,
    /// Standard output; the contents are not logged.
    pub stdout: StreamDigest,
    /// Standard error; the contents are not logged.
    pub stderr: StreamDigest,
    /// The connections to hosts that it asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<Connection>,
    /// What it did to the workspace, when it ran on an overlay and did something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changed>,
    /// What else is to be known of it and is no failure of shward's: that it wrote straight to the workspace, that it was killed for
    /// its output, …
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why shward could not start or finish the run. Lines that were written before there were `changes` and `notes` have those
    /// here, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The programs that started inside, when they were watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gated>,
}

/// What a run did to its workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// How many files and directories it created.
    pub created: u64,
    /// How many it changed.
    pub changed: u64,
    /// How many it deleted.
    pub deleted: u64,
    /// Whether that is in the workspace; else it was only shown.
    pub committed: bool,
    /// The name under which it can be taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// What was not committed because it is protected: the first of these paths, relative to the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Text>,
    /// How many more were not.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_refused: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// The programs that started inside a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gated {
    /// `observe` or `enforce`.
    pub mode: String,
    /// How many were started, the command's own included.
    pub started: u64,
    /// Each in the order of its start: its file, then the arguments after the zeroth, long ones cut.
    pub commands: Vec<Vec<Text>>,
    /// How many are not listed, because the list would be too long.
    pub left_out: u64,
    /// Those that were stopped before they ran; they are among the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<Stopped>,
}

/// A program that was stopped before it ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// Its file.
    pub program: Text,
    /// Its file, then the arguments after the zeroth, long ones cut.
    pub argv: Vec<Text>,
    /// The rule that speaks against it.
    pub rule: String,
}

/// A connection that a run asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    /// Host and port, as the run asked for them.
    pub destination: String,
    /// `connect`, `http` or `socks5`.
    pub protocol: String,
    /// `permitted`, `refused` or `failed`.
    pub result: String,
    /// The address that was connected to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Bytes from the run to the host.
    pub sent: u64,
    /// Bytes from the host to the run.
    pub received: u64,
}

/// Who answered what the policy asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reviewed {
    /// `allow`, `deny` or `challenge`.
    pub answer: String,
    /// `person` or `gatekeeper`.
    pub by: String,
    /// Which.
    pub name: String,
    /// The question's id, if it was answered from elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// A person's answer from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonAnswer {
    /// The question's id.
    pub id: String,
    /// The digest of everything that the answer is about.
    pub about: Digest,
    /// Yes or no.
    pub yes: bool,
    /// Who answered.
    pub by: String,
    /// The command as it was shown.
    pub command: Text,
    /// Where it is to start.
    pub cwd: Text,
}

/// A run that is to be taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// The run's name in the store of what can be undone, as its outcome tells it.
    pub id: String,
    /// The beginning of what was run.
    pub command: Text,
    /// The workspace.
    pub workspace: Text,
    /// Who takes it back.
    pub by: String,
}

/// What became of taking a run back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undone {
    /// Sequence number of the `undo` record that this completes.
    pub undo: u64,
    /// How many paths are as they were before the run. A directory stands for everything in it.
    pub restored: u64,
    /// How many were left, because somebody has changed them since.
    pub left: u64,
    /// Digest of these paths, relative to the workspace: of each a `+` if it was restored, a `-` if it was left, the path, and a
    /// zero byte, in the order in which they were worked on.
    pub paths: Digest,
    /// Why it could not be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A stretch of bytes that is not made of records. Its digest is the `prev` of the line that holds this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// Length of the stretch, without the newline that closes it.
    pub damaged_bytes: u64,
    /// Hash of the last sound line before the stretch.
    pub after: Digest,
}

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Version of the format, 1.
    pub v: u8,
    /// Position in the chain, from 0, across rotated files.
    pub seq: u64,
    /// When it was written, RFC 3339 in UTC.
    pub time: String,
    /// SHA-256 of the line before, without its newline; [`Digest::ZERO`] for the first.
    pub prev: Digest,
    /// What happened.
    #[serde(flatten)]
    pub record: Record,
}

/// The part of an entry that makes the chain: all that appending and verifying look at.
#[derive(Debug, Deserialize)]
pub(crate) struct Link<'a> {
    v: u8,
    pub(crate) seq: u64,
    #[serde(borrow, rename = "time")]
    _time: Cow<'a, str>,
    pub(crate) prev: Digest,
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(default)]
    damaged_bytes: Option<u64>,
    #[serde(default)]
    after: Option<Digest>,
}

impl<'a> Link<'a> {
    /// Reads a line without its newline; `None` when it is not a record of this format.
    pub(crate) fn parse(line: &'a [u8]) -> Option<Link<'a>> {
        let link: Link<'a> = serde_json::from_slice(line).ok()?;
        // The writer puts nothing after the closing brace; a parser would forgive white space.
        (link.v == VERSION && line.ends_with(b"}")).then_some(link)
    }

    /// The damage that this line closes, if it is such a line.
    pub(crate) fn damage(&self) -> Option<Damage> {
        match (self.event.as_ref(), self.damaged_bytes, self.after) {
            ("recovered", Some(damaged_bytes), Some(after)) => Some(Damage { damaged_bytes, after }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The wire format is a contract: whoever reads old logs depends on each name here.
    #[test]
    fn entries_are_flat_objects_and_are_read_back() {
        let decided = Decided {
            input: Input::Argv(vec!["rm".into(), Text::from(&b"\xff"[..])]),
            cwd: Some("/work space".into()),
            host: None,
            profile: "workspace".into(),
            policy: Digest::ZERO,
            contained: false,
            decision: Decision::Ask,
            tier: 3,
            rules: vec!["delete-outside".into()],
            grant: None,
            missing: Vec::new(),
            unconfined: false,
            no_process: false,
            review: None,
        };
        let empty = StreamDigest { bytes: 0, sha256: Digest::ZERO };
        let ended = Ended {
            run: 7,
            executed: true,
            exit_code: None,
            signal: Some(9),
            timed_out: true,
            cancelled: false,
            truncated: false,
            duration_ms: 1500,
            stdout: empty,
            stderr: empty,
            connections: Vec::new(),
            changes: None,
            notes: Vec::new(),
            error: None,
            gate: None,
        };
        let zero = Digest::ZERO;
        let table = [
            (
                Event::Check(decided),
                format!(
                    r#""event":"check","argv":["rm",{{"lossy":"�","base64":"/w=="}}],"cwd":"/work space","profile":"workspace","policy":"{zero}","contained":false,"decision":"ask","tier":3,"rules":["delete-outside"]"#
                ),
            ),
            (
                Event::Outcome(ended),
                format!(
                    r#""event":"outcome","run":7,"executed":true,"signal":9,"timed_out":true,"cancelled":false,"truncated":false,"duration_ms":1500,"stdout":{{"bytes":0,"sha256":"{zero}"}},"stderr":{{"bytes":0,"sha256":"{zero}"}}"#
                ),
            ),
            (
                Event::Recovered(Damage { damaged_bytes: 5, after: zero }),
                format!(r#""event":"recovered","damaged_bytes":5,"after":"{zero}""#),
            ),
        ];
        for (event, json) in table {
            let entry = Entry {
                v: VERSION,
                seq: 8,
                time: "2024-02-29T23:59:59.000042Z".into(),
                prev: zero,
                record: Record { session: Some("s".into()), call_id: None, event },
            };
            let line = serde_json::to_string(&entry).unwrap();
            let head = format!(r#"{{"v":1,"seq":8,"time":"2024-02-29T23:59:59.000042Z","prev":"{zero}""#);
            assert_eq!(line, format!(r#"{head},"session":"s",{json}}}"#));
            assert_eq!(serde_json::from_str::<Entry>(&line).unwrap(), entry);
            let link = Link::parse(line.as_bytes()).unwrap();
            assert_eq!((link.seq, link.prev), (8, zero));
            assert_eq!(link.damage().is_some(), json.contains("recovered"));
        }
    }

    #[test]
    fn what_is_not_a_record_is_not_a_link() {
        let good = format!(r#"{{"v":1,"seq":0,"time":"t","prev":"{}","event":"check"}}"#, Digest::ZERO);
        assert!(Link::parse(good.as_bytes()).is_some());
        let table = [
            good.replace(r#""v":1"#, r#""v":2"#),
            good.replace(r#""seq":0"#, r#""seq":0,"seq":1"#),
            good.replace(r#""seq":0"#, r#""seq":-1"#),
            good.replace("event", "evint"),
            format!("{good} "),
            good.trim_end_matches('}').to_owned(),
            String::new(),
            "null".into(),
        ];
        for bad in table {
            assert!(Link::parse(bad.as_bytes()).is_none(), "{bad}");
        }
    }
}
