//! Answers in the forms of the systems that profiles stand for, word for word, so that a program made for one of them goes on
//! working. What was decided and what happened is the same in every form.

use crate::{Ending, FindingReport, Outcome, Request};
use serde_json::{Value, json};
use shward_policy::Decision;
use shward_sandbox::Captured;

/// Characters of a stream that the form `inspect` shows.
const INSPECT_OUTPUT: usize = 10_000;

/// What decides outside the policy's own checks and lists: its message is the whole reason.
const OF_REVIEW: [&str; 7] = [
    "gatekeeper-denied",
    "gatekeeper-challenge",
    "person-denied",
    "unanswered",
    "rate-limited",
    "store-broken",
    "changed-meanwhile",
];

/// The form of an answer to a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Shape {
    /// The whole [`Outcome`], with `success` and `denial_reason`.
    #[default]
    Whole,
    /// cmdwall's: `success`, `stdout`, `stderr`, `denial_reason`.
    Tiers,
    /// Hector's command tool's: `Content`, `Streaming`, `Error`, `Metadata`.
    CommandTool,
    /// GAIA's: `status`, `command`, `stdout`, …, or `status` and `error`, with a hint.
    Inspect,
    /// llm-tools-sandboxed-shell's: one text.
    Text,
    /// proc_jail's `Output`: `stdout`, `stderr`, `exit_code`, `success`; or `error` with the name of the violation.
    Argv,
}

impl Shape {
    /// The form of the system that a profile stands for.
    #[must_use]
    pub fn of_profile(name: &str) -> Self {
        match name {
            "tiers" => Self::Tiers,
            "command-tool" => Self::CommandTool,
            "inspect" => Self::Inspect,
            "sandboxed-shell" => Self::Text,
            "argv" => Self::Argv,
            _ => Self::Whole,
        }
    }

    /// What came of a request. `both` is what it wrote, its streams as they came.
    #[must_use]
    pub fn of_outcome(self, outcome: &Outcome, request: &Request, both: &[u8]) -> Value {
        match self {
            Self::Whole => whole(outcome),
            Self::Tiers => tiers(outcome),
            Self::CommandTool => command_tool(outcome, request, &String::from_utf8_lossy(both)),
            Self::Inspect => inspect(outcome, request),
            Self::Text => json!(outcome.to_text()),
            Self::Argv => argv(outcome),
        }
    }

    /// That nothing came of a request, or of what was to be one.
    #[must_use]
    pub fn of_error(self, error: &str, executed: bool) -> Value {
        match self {
            Self::Whole => json!({ "success": false, "error": error, "executed": executed }),
            Self::Tiers => json!({
                "success": false, "stdout": "", "stderr": format!("System Execution Error: {error}"), "denial_reason": null,
            }),
            Self::CommandTool => json!({ "Content": "", "Streaming": false, "Error": error, "Metadata": {} }),
            Self::Inspect => json!({ "status": "error", "error": error, "has_errors": true }),
            Self::Text => json!(format!("[Error executing command: {error}]")),
            Self::Argv => json!({ "error": error, "violation": "SpawnFailed" }),
        }
    }

    /// That there was no command.
    pub(crate) fn of_empty(self) -> Value {
        match self {
            Self::CommandTool => self.of_error("command is required", false),
            other => other.of_error(&crate::BadRequest::Empty.to_string(), false),
        }
    }

    /// That the arguments of a call are no request.
    #[must_use]
    pub(crate) fn of_bad_arguments(self, error: &str) -> Value {
        match self {
            Self::Tiers => json!({ "success": false, "error": error }),
            other => other.of_error(error, false),
        }
    }
}

impl Outcome {
    /// The outcome as cmdwall's `ExecutionResult`: all six fields, the gatekeeper's answer among them.
    #[must_use]
    pub fn to_execution_result(&self) -> Value {
        let mut result = tiers(self);
        let review = self.verdict.review.as_ref().filter(|review| review.by == "gatekeeper");
        let response = review.map(|review| {
            json!({
                "decision": review.answer.to_ascii_uppercase(),
                "explanation": review.explanation,
                "suggested_alternative": review.suggested_alternative,
                "required_clarification": review.required_clarification,
            })
        });
        if let Some(object) = result.as_object_mut() {
            object.insert("risk_tier".to_owned(), json!(self.verdict.tier));
            object.insert("gatekeeper_response".to_owned(), json!(response));
        }
        result
    }

    /// What spoke against it, the strictest first.
    fn against(&self) -> impl Iterator<Item = &FindingReport> {
        self.verdict.findings.iter().filter(|f| f.decision > Decision::Allow)
    }

    fn reasons(&self) -> String {
        self.against().map(|f| f.message.as_str()).collect::<Vec<_>>().join(" ")
    }
}

/// Whether it ran to its end and said that all is well.
fn success(ending: Option<&Ending>) -> bool {
    ending.is_some_and(|e| e.exit_code == Some(0) && !e.timed_out && !e.cancelled)
}

fn whole(outcome: &Outcome) -> Value {
    let mut content = serde_json::to_value(outcome).unwrap_or_else(|e| json!({ "error": e.to_string() }));
    let ended = outcome.ending.as_ref();
    let denial = match ended {
        Some(ending) if ending.timed_out => json!("Command exceeded its timeout."),
        Some(ending) if ending.output_exceeded => json!("Command exceeded its output limit."),
        Some(ending) if ending.disk_exceeded.is_some() => json!("Command exceeded its disk limit."),
        _ if outcome.executed => Value::Null,
        _ => json!(outcome.reasons()),
    };
    if let Some(object) = content.as_object_mut() {
        object.insert("success".to_owned(), json!(success(ended)));
        object.insert("denial_reason".to_owned(), denial);
        for stream in ["stdout", "stderr"] {
            object.entry(stream).or_insert_with(|| json!(""));
        }
    }
    content
}

/// The text between the first two backticks.
fn named(message: &str) -> &str {
    message.split('`').nth(1).unwrap_or("?")
}

fn tiers(outcome: &Outcome) -> Value {
    let shape = |success: bool, stdout: String, stderr: String, denial: Option<String>| json!({ "success": success, "stdout": stdout, "stderr": stderr, "denial_reason": denial });
    let cut = |captured: &Captured| match captured.truncated {
        true => String::from_utf8_lossy(&captured.head).into_owned() + "\n... [TRUNCATED]",
        false => captured.to_text(),
    };
    if let Some(ending) = &outcome.ending {
        let (stdout, mut stderr) = (cut(&ending.stdout), cut(&ending.stderr));
        let mut denial = None;
        if ending.timed_out {
            let seconds = ending.timeout.as_secs();
            if !stderr.is_empty() && !stderr.ends_with('\n') {
                stderr.push('\n');
            }
            stderr += &format!(
                "Execution timed out after {seconds} seconds.\nCommand was terminated to prevent hanging."
            );
            denial = Some(format!("Command exceeded timeout of {seconds}s"));
        }
        return shape(success(Some(ending)), stdout, stderr, denial);
    }
    let by = |rule: &str| outcome.against().find(|f| f.rule == rule);
    let (denial, stderr) = if let Some(finding) = by("path-denied") {
        let what = format!("Path access denied: {}", named(&finding.message));
        (format!("Sandbox Violation: {what}"), format!("CMDWall Blocked: {what}"))
    } else if let Some(finding) = by("program-denied") {
        let name = named(&finding.message);
        let what = format!("Command type '{name}' matches blocklist pattern: {name}");
        (format!("Config Blocked: {what}"), format!("CMDWall Blocked: {what}"))
    } else {
        const NOBODY: &str = "Configuration Error: No gatekeeper configured for high-risk command";
        match outcome.against().next() {
            Some(finding) if finding.message.starts_with(NOBODY) => (NOBODY.to_owned(), String::new()),
            Some(finding) if OF_REVIEW.contains(&&*finding.rule) => (finding.message.clone(), String::new()),
            _ if outcome.verdict.decision == Decision::Deny => (
                "Blocked Pattern: Command matches blocked pattern".to_owned(),
                format!("CMDWall Blocked: {}", outcome.reasons()),
            ),
            _ => (outcome.reasons(), String::new()),
        }
    };
    shape(false, String::new(), stderr, Some(denial))
}

fn command_tool(outcome: &Outcome, request: &Request, both: &str) -> Value {
    let mut metadata = json!({ "command": request.text(), "working_dir": request.cwd });
    let mut say = |name: &str, value: Value| {
        if let Some(object) = metadata.as_object_mut() {
            object.insert(name.to_owned(), value);
        }
    };
    let error = match &outcome.ending {
        None => {
            let refused = outcome.against().next();
            Some(match refused.map(|f| (&*f.rule, named(&f.message))) {
                Some(("program-denied", name)) => format!("command not allowed: {name} (in deny list)"),
                Some(("program-unlisted", name)) => {
                    format!("command not allowed: {name} (not in allow list)")
                }
                Some(("person-denied", _)) => {
                    "TOOL_EXECUTION_DENIED: The user rejected this call. Do not try it again in other words."
                        .to_owned()
                }
                // Its patterns are rules here.
                Some((rule, _))
                    if outcome.verdict.decision == Decision::Deny && !OF_REVIEW.contains(&rule) =>
                {
                    format!("command matches denied pattern: {rule} ({})", outcome.reasons())
                }
                _ => outcome.reasons(),
            })
        }
        Some(ending) => {
            say("duration_ms", json!(ending.duration_ms));
            say("exit_code", json!(ending.exit_code.unwrap_or(-1)));
            say("timed_out", json!(ending.timed_out));
            match (ending.exit_code, ending.signal) {
                (Some(0), _) => None,
                (Some(code), _) => Some(format!("exit status {code}")),
                (None, Some(9)) | (None, None) => Some("signal: killed".to_owned()),
                (None, Some(15)) => Some("signal: terminated".to_owned()),
                (None, Some(signal)) => Some(format!("signal: {signal}")),
            }
        }
    };
    json!({ "Content": both, "Streaming": false, "Error": error, "Metadata": metadata })
}

/// The names of proc_jail's violations, by the rules that stand for them, in the order in which it looks. What else is refused
/// has none there.
const VIOLATIONS: [(&str, &str); 13] = [
    ("binary-not-absolute", "BinNotAbsolute"),
    ("binary-not-found", "BinNotFound"),
    ("binary-is-directory", "BinIsDirectory"),
    ("binary-not-regular", "BinNotRegularFile"),
    ("binary-not-executable", "BinNotExecutable"),
    ("program-unlisted", "BinNotAllowed"),
    ("binary-risky", "BinRiskyDenied"),
    ("argument-rules-required", "ArgRulesRequired"),
    ("too-many-flags", "ArgTooManyFlags"),
    ("flag-not-allowed", "ArgFlagNotAllowed"),
    ("subcommand-not-allowed", "ArgSubcommandMismatch"),
    ("too-many-positionals", "ArgTooManyPositionals"),
    ("directory-denied", "CwdForbidden"),
];

fn argv(outcome: &Outcome) -> Value {
    let Some(ending) = &outcome.ending else {
        let known = VIOLATIONS.iter().find(|(rule, _)| outcome.against().any(|f| f.rule == *rule));
        return json!({ "error": outcome.reasons(), "violation": known.map(|(_, name)| *name) });
    };
    let (stdout, stderr) = (ending.stdout.to_text(), ending.stderr.to_text());
    let stopped = if ending.timed_out {
        let (took, limit) = (std::time::Duration::from_millis(ending.duration_ms), ending.timeout);
        Some(("Timeout", format!("process timed out after {took:?} (limit: {limit:?})")))
    } else if ending.output_exceeded {
        let (name, kind) = match ending.stdout.truncated {
            true => ("stdout", "StdoutLimitExceeded"),
            false => ("stderr", "StderrLimitExceeded"),
        };
        Some((kind, format!("{name} limit exceeded")))
    } else {
        None
    };
    match stopped {
        // What had come is not lost.
        Some((kind, error)) => {
            json!({ "error": error, "violation": kind, "stdout": stdout, "stderr": stderr })
        }
        None => json!({
            "stdout": stdout, "stderr": stderr, "exit_code": ending.exit_code, "success": success(Some(ending)),
        }),
    }
}

fn inspect(outcome: &Outcome, request: &Request) -> Value {
    let Some(ending) = &outcome.ending else { return refused(outcome) };
    let cut = |captured: &Captured, name: &str| {
        let text = captured.to_text();
        let whole = text.chars().count() <= INSPECT_OUTPUT;
        match whole {
            true => (text, captured.truncated),
            false => {
                let head: String = text.chars().take(INSPECT_OUTPUT).collect();
                (format!("{head}\n...output truncated ({name})..."), true)
            }
        }
    };
    let ((stdout, out), (stderr, err)) = (cut(&ending.stdout, "stdout"), cut(&ending.stderr, "stderr"));
    let seconds = std::time::Duration::from_millis(ending.duration_ms).as_secs_f64();
    let code = ending.exit_code.or_else(|| ending.signal.map(|signal| -signal));
    if ending.timed_out {
        let limit = ending.timeout.as_secs();
        return json!({
            "status": "error", "error": format!("Command timed out after {limit} seconds"), "has_errors": true,
            "command": request.text(), "timed_out": true, "timeout": limit, "duration_seconds": seconds,
            "cwd": request.cwd, "stdout": stdout, "stderr": stderr,
        });
    }
    json!({
        "status": "success", "command": request.text(), "stdout": stdout, "stderr": stderr, "return_code": code,
        "has_errors": code != Some(0), "duration_seconds": seconds, "timeout": ending.timeout.as_secs(),
        "cwd": request.cwd, "output_truncated": out || err,
    })
}

fn refused(outcome: &Outcome) -> Value {
    let first = outcome.against().next();
    let error = first.map_or("The command was refused.", |f| f.message.as_str());
    let mut content = json!({ "status": "error", "error": error, "has_errors": true });
    let Some(object) = content.as_object_mut() else { return content };
    if let Some(limit) = outcome.verdict.rate_limit.as_ref().filter(|limit| limit.refused) {
        let wait = std::time::Duration::from_millis(limit.wait_ms).as_secs_f64();
        object.insert("rate_limited".to_owned(), json!(true));
        object.insert("wait_time_seconds".to_owned(), json!(wait));
        object.insert("hint".to_owned(), json!(format!("Wait {wait:.1} seconds, then try again.")));
        return content;
    }
    let others: Vec<&str> = outcome.against().skip(1).map(|f| f.message.as_str()).collect();
    if !others.is_empty() {
        object.insert("hint".to_owned(), json!(others.join(" ")));
    }
    let examples: Vec<&str> = outcome.against().filter_map(|f| f.suggestion.as_deref()).collect();
    if !examples.is_empty() {
        object.insert("examples".to_owned(), json!(examples));
    }
    // Its reason names what is allowed instead.
    let git = outcome.against().find(|f| f.rule == "git-inspects").and_then(|f| f.message.split_once(": "));
    if let Some((_, names)) = git {
        let names: Vec<&str> = names.trim_end_matches('.').split(", ").collect();
        object.insert("allowed_git_commands".to_owned(), json!(names));
    }
    content
}
