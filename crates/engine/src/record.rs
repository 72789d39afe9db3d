//! Verdicts and endings as audit records.

use crate::outcome::{ChangesReport, ConnectionReport, Ending, MAX_NAMED};
use crate::{Action, Checked, Request};
use shward_audit::{Decided, Digest, Ended, Event, Input, Record, Reviewed, StreamDigest, Text};
use shward_policy::{Decision, Policy};
use std::os::unix::ffi::OsStrExt as _;

/// What is recorded of a verdict.
pub(crate) struct Judgement<'a> {
    pub(crate) request: &'a Request,
    pub(crate) policy: &'a Policy,
    /// With what limits and answers made of it.
    pub(crate) checked: &'a Checked,
    pub(crate) contained: bool,
    pub(crate) host: Option<&'static str>,
    pub(crate) grant: Option<Digest>,
}

impl Judgement<'_> {
    /// The record, as the kind of event that `event` makes of it.
    pub(crate) fn record(&self, event: impl FnOnce(Decided) -> Event) -> Record {
        let mut rules: Vec<String> = Vec::new();
        for finding in &self.checked.findings {
            if !rules.contains(&finding.rule) {
                rules.push(finding.rule.clone());
            }
        }
        let decided = Decided {
            input: match &self.request.action {
                Action::Command(text) => Input::Command(text.as_str().into()),
                Action::Argv(argv) => Input::Argv(argv.iter().map(|a| a.as_str().into()).collect()),
            },
            cwd: Some(Text::from(self.request.cwd.as_os_str().as_bytes())),
            host: self.host.map(str::to_owned),
            profile: if shward_policy::UNRESTRICTED {
                format!("{} (unrestricted)", self.policy.name())
            } else {
                self.policy.name().to_owned()
            },
            policy: Digest::of(&self.policy.canonical()),
            contained: self.contained,
            decision: match self.checked.decision {
                Decision::Allow => shward_audit::Decision::Allow,
                Decision::Ask => shward_audit::Decision::Ask,
                Decision::Deny => shward_audit::Decision::Deny,
            },
            tier: self.checked.tier,
            rules,
            grant: self.grant,
            missing: Vec::new(),
            unconfined: false,
            no_process: false,
            review: self.checked.review.as_ref().map(|review| Reviewed {
                answer: review.answer.to_owned(),
                by: review.by.to_owned(),
                name: review.name.clone(),
                id: review.id.clone(),
            }),
        };
        record(self.request, event(decided))
    }
}

/// The record of how run number `run` ended.
pub(crate) fn ended(request: &Request, run: u64, ending: &Ending, streams: [StreamDigest; 2]) -> Record {
    let [stdout, stderr] = streams;
    let ended = Ended {
        run,
        executed: true,
        exit_code: ending.exit_code,
        signal: ending.signal,
        timed_out: ending.timed_out,
        cancelled: ending.cancelled,
        truncated: ending.truncated,
        duration_ms: ending.duration_ms,
        stdout,
        stderr,
        connections: ending.connections.iter().map(connection).collect(),
        changes: ending.changes.as_ref().and_then(ChangesReport::record),
        notes: notes(ending),
        error: failures(ending),
        gate: ending.gate.as_ref().map(crate::GateReport::record),
    };
    record(request, Event::Outcome(ended))
}

fn connection(report: &ConnectionReport) -> shward_audit::Connection {
    shward_audit::Connection {
        destination: report.destination.clone(),
        protocol: report.protocol.to_owned(),
        result: report.result.to_owned(),
        address: report.address.map(|address| address.to_string()),
        sent: report.sent,
        received: report.received,
    }
}

/// What the fields of a record do not say about an end, and is no failure.
fn notes(ending: &Ending) -> Vec<String> {
    let mut notes = Vec::new();
    if ending.more_connections > 0 {
        notes.push(format!("asked for {} connections more", ending.more_connections));
    }
    if ending.output_exceeded {
        notes.push("killed for writing more than the policy lets it".to_owned());
    }
    if let Some(used) = ending.disk_exceeded {
        notes.push(format!("killed, because {}", used.message()));
    }
    if ending.out_of_memory {
        notes.push("something in it was killed, because the memory of the run was used up".to_owned());
    }
    if !ending.moved_aside.is_empty() {
        notes.push(format!("created where it must not, and moved aside: {:?}", ending.moved_aside));
    }
    if let Some(reason) = &ending.live {
        notes.push(format!("wrote straight to the workspace: {reason}"));
    }
    notes
}

/// What shward could not do after the command had ended.
fn failures(ending: &Ending) -> Option<String> {
    let lost =
        ending.session_lost.iter().map(|why| format!("the session is not remembered as it ended: {why}"));
    let failed = ending.changes.iter().flat_map(|changes| changes.failed.iter().take(MAX_NAMED));
    let parts: Vec<String> = lost.chain(failed.map(|failed| format!("not committed: {failed}"))).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The record that run number `run` could not be started.
pub(crate) fn not_started(request: &Request, run: u64, error: String) -> Record {
    let nothing = StreamDigest { bytes: 0, sha256: Digest::of(b"") };
    let ended = Ended {
        run,
        executed: false,
        exit_code: None,
        signal: None,
        timed_out: false,
        cancelled: false,
        truncated: false,
        duration_ms: 0,
        stdout: nothing,
        stderr: nothing,
        connections: Vec::new(),
        changes: None,
        notes: Vec::new(),
        error: Some(error),
        gate: None,
    };
    record(request, Event::Outcome(ended))
}

fn record(request: &Request, event: Event) -> Record {
    Record { session: request.session.clone(), call_id: request.call_id.clone(), event }
}
