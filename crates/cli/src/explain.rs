//! `explain`: the command with carets under what matters, its programs, effects, rules, and what would make it allowed.

use crate::args::Args;
use crate::exit::Exit;
use crate::flags::{ALLOW_EXEC, COLOR, CONTAINED, FROZEN, GATE, JSON, SANDBOX};
use crate::shown::{Shown, one_line};
use crate::terminal::{self, Fail};
use crate::{ask, check, plan, run, setup, state};
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use shward::{Checked, Decision, Firewall, Request, Sandboxed};
use std::fmt::Write as _;

/// Carries out the verb.
///
/// # Errors
/// The options or the request are wrong.
pub(crate) fn run(args: &Args) -> Result<Exit, Fail> {
    if args.has(&SANDBOX) && args.has(&FROZEN) {
        return Err(Fail::usage(
            "--sandbox shows what `run` would do on this machine, at which --frozen does not look; give one of them",
        ));
    }
    if let Some(flag) = [&GATE, &ALLOW_EXEC].into_iter().find(|flag| args.has(flag) && !args.has(&SANDBOX)) {
        return Err(Fail::usage(format!("--{} is about the sandbox; give --sandbox, too", flag.name)));
    }
    let color = match args.text(&COLOR).map_err(Fail::usage)? {
        None | Some("auto") => terminal::wants_color(),
        Some("always") => true,
        Some("never") => false,
        Some(when) => return Err(Fail::usage(format!("--color: {when:?} is not auto, always or never"))),
    };
    let request = ask::request(args)?;
    let mut firewall = Firewall::new(setup::policy(args, &request.workspace)?);
    if let Some(state) = state::directory() {
        firewall = firewall.with_sessions(shward::Sessions::new(state));
    }
    let mut setting = check::setting(args);
    setting.plan = true;
    let input = |e: shward::BadRequest| Fail::input(e.to_string());
    let checked = firewall.examine(&request, &setting).map_err(input)?;
    let sandboxed = match args.has(&SANDBOX) {
        true => Some(firewall.sandbox_plan(&request, &run::gated(args)?).map_err(check::fail)?),
        false => None,
    };
    if args.has(&JSON) {
        let mut object = serde_json::to_value(&checked).map_err(|e| Fail::io(e.to_string()))?;
        if let (Some(sandboxed), Some(fields)) = (&sandboxed, object.as_object_mut()) {
            fields.insert("sandbox".to_owned(), sandbox_as_json(sandboxed));
        }
        terminal::line(&object.to_string())?;
        return Ok(check::exit(checked.decision));
    }
    let mut other = setting;
    other.contained = !setting.contained;
    let other = firewall.examine(&request, &other).map_err(input)?;
    let mut out = headline(&firewall, &checked, &other, args.has(&CONTAINED));
    out.push_str(&findings(&request, &checked, color));
    if let Some(plan) = &checked.plan {
        out.push_str(&plan::text(plan));
    }
    if let Some(sandboxed) = &sandboxed {
        out.push_str(&sandbox(sandboxed));
    }
    for note in if args.has(&FROZEN) { Vec::new() } else { setup::untrusted(args, &request.workspace)? } {
        let _ = write!(out, "\nnote: {note}\n");
    }
    terminal::line(out.trim_end())?;
    Ok(check::exit(checked.decision))
}

fn headline(firewall: &Firewall, checked: &Checked, other: &Checked, contained: bool) -> String {
    let who = |contained: bool| if contained { "when shward runs it" } else { "when somebody else runs it" };
    let mut out = format!(
        "{} {}: tier {}, profile {}\n",
        word(checked.decision),
        who(contained),
        checked.tier,
        firewall.policy().profile().name()
    );
    if other.decision != checked.decision {
        let _ = writeln!(out, "{} {}", word(other.decision), who(!contained));
    }
    out
}

fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allowed",
        Decision::Ask => "asked",
        Decision::Deny => "denied",
    }
}

/// Each finding with carets under the part of the command that it is about.
fn findings(request: &Request, checked: &Checked, color: bool) -> String {
    let text = request.text();
    let shown = Shown::new(&text);
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut out = String::new();
    for finding in &checked.findings {
        let [start, end] = finding.span;
        let level = match finding.decision {
            Decision::Deny => Level::ERROR.with_name("deny"),
            Decision::Ask => Level::WARNING.with_name("ask"),
            Decision::Allow => Level::NOTE.with_name("note"),
        };
        let message = one_line(&finding.message);
        let suggestion = finding.suggestion.as_deref().map(one_line);
        let mut snippet = Snippet::source(shown.text())
            .fold(true)
            .annotation(AnnotationKind::Primary.span(shown.range(start, end)).label(&*finding.rule));
        if let Some([start, end]) = finding.source {
            let from = AnnotationKind::Context.span(shown.range(start, end)).label("it comes from here");
            snippet = snippet.annotation(from);
        }
        let mut group = level.primary_title(message.as_str()).element(snippet);
        if let Some(suggestion) = &suggestion {
            group = group.element(Level::HELP.with_name("instead").message(suggestion.as_str()));
        }
        let _ = write!(out, "\n{}\n", renderer.render(&[group]));
    }
    out
}

fn sandbox(sandboxed: &Sandboxed) -> String {
    match sandboxed {
        Sandboxed::Plan(plan) => format!("\nsandbox\n{plan}"),
        Sandboxed::NoProcess(script) => format!(
            "\nsandbox\n  none: shward does this itself and starts no process, since there is no code in it to confine\n    run: {script}\n"
        ),
        _ => "\nsandbox\n  none: shward would not run this\n".to_owned(),
    }
}

/// What would be built, line by line, or why nothing.
fn sandbox_as_json(sandboxed: &Sandboxed) -> serde_json::Value {
    match sandboxed {
        Sandboxed::Plan(plan) => {
            let plan = plan.to_string();
            let lines: Vec<&str> = plan.lines().collect();
            serde_json::json!({ "state": "plan", "plan": lines })
        }
        Sandboxed::NoProcess(script) => {
            serde_json::json!({ "state": "no-process", "run": script.to_string() })
        }
        _ => serde_json::json!({ "state": "not-run" }),
    }
}
