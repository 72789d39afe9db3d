//! `pending`, `approve` and `deny`: a person answers from elsewhere what an agent's command asked.

use crate::args::Args;
use crate::exit::Exit;
use crate::flags::JSON;
use crate::terminal::{self, Fail};
use crate::{setup, shown, state};
use shward::audit::{Event, Log, PersonAnswer, Record};
use shward::reviewing::{
    Approver as _, Ask, Asks, Permission, Question, Reply, State, Terminal, Unanswered, Wanted,
};
use std::fmt::Write as _;

/// The shortest beginning of an id that names a question.
const SHORTEST: usize = 4;

/// How long a person may think.
const DEADLINE: std::time::Duration = std::time::Duration::from_secs(300);

/// `pending`: lists the questions.
///
/// # Errors
/// The options are wrong, or the store cannot be relied on.
pub(crate) fn pending(args: &Args) -> Result<Exit, Fail> {
    if let Some(word) = args.operands.first() {
        return Err(Fail::usage(format!("unexpected {word:?}; `shward pending` lists everything")));
    }
    let asks = store()?.list().map_err(|e| Fail::io(e.to_string()))?;
    if args.has(&JSON) {
        terminal::line(&serde_json::json!({ "v": 1, "asks": asks }).to_string())?;
        return Ok(Exit::Allow);
    }
    let mut out = String::new();
    for ask in &asks {
        let state = match ask.state {
            State::Pending => "pending",
            State::Allowed => "allowed",
            State::Denied => "denied",
        };
        let minutes = ask.seconds_left.div_ceil(60);
        let _ = writeln!(
            out,
            "{}  {state:<7}  tier {}  {minutes:>2} min left  {}",
            ask.id,
            ask.tier,
            shown::one_line(&ask.command)
        );
    }
    if out.is_empty() {
        out.push_str("nothing waits for an answer\n");
    }
    terminal::line(&out)?;
    Ok(Exit::Allow)
}

/// `approve ID`: shows the command to the person at the terminal, and enters their answer.
///
/// # Errors
/// There is no such question, nobody can be asked, or the answer cannot be recorded.
pub(crate) fn approve(args: &Args) -> Result<Exit, Fail> {
    let person = Terminal::default().deadline(DEADLINE);
    let id = id(args)?;
    Terminal::open().map_err(unanswered)?;
    let asks = store()?;
    let ask = named(&id, &asks)?;
    let confined = ["as `shward run` confines it; it is judged again then".to_owned()];
    let question = Question {
        command: &ask.command,
        cwd: &ask.cwd,
        tier: ask.tier,
        reasoning: ask.reasoning.as_deref(),
        findings: &ask.findings,
        permission: if ask.contained { Permission::Sandbox(&confined) } else { Permission::Others },
        explanation: "",
        wanted: Wanted::default(),
    };
    let yes = person.ask(&question).map_err(unanswered)? == Reply::Yes;
    answer(args, &asks, &ask, yes, &person)
}

/// `deny ID`: enters a no. There is nothing to think about, but only a person may.
///
/// # Errors
/// As [`approve`].
pub(crate) fn deny(args: &Args) -> Result<Exit, Fail> {
    let id = id(args)?;
    Terminal::open().map_err(unanswered)?;
    let asks = store()?;
    let ask = named(&id, &asks)?;
    answer(args, &asks, &ask, false, &Terminal::default())
}

fn answer(args: &Args, asks: &Asks, ask: &Ask, yes: bool, person: &Terminal) -> Result<Exit, Fail> {
    let by = person.name();
    let about = ask.digest.parse().map_err(|_| Fail::io("the question has no sound digest"))?;
    let event = Event::Answer(PersonAnswer {
        id: ask.id.clone(),
        about,
        yes,
        by: by.clone(),
        command: ask.command.as_str().into(),
        cwd: ask.cwd.as_str().into(),
    });
    // Recorded before it can be used.
    let log = Log::open(setup::log_path(args)?).map_err(|e| Fail::io(e.to_string()))?;
    log.append(&Record { session: ask.session.clone(), call_id: None, event })
        .map_err(|e| Fail::io(format!("the answer could not be recorded, so it does not hold: {e}")))?;
    if !asks.answer(&ask.digest, yes, &by).map_err(|e| Fail::io(e.to_string()))? {
        return Err(Fail::input(format!("{}: the question is gone; have the agent ask again", ask.id)));
    }
    if args.has(&JSON) {
        let word = if yes { "allow" } else { "deny" };
        terminal::line(&serde_json::json!({ "v": 1, "id": ask.id, "answer": word, "by": by }).to_string())?;
    } else if yes {
        terminal::line(&format!("{}: allowed once, within 10 minutes, as it was shown", ask.id))?;
    } else {
        terminal::line(&format!("{}: denied", ask.id))?;
    }
    Ok(Exit::Allow)
}

/// The operand, which is the beginning of an id.
fn id(args: &Args) -> Result<String, Fail> {
    let [id] = args.operands.as_slice() else {
        return Err(Fail::usage("name one question by its id; `shward pending` lists them"));
    };
    let id = id.to_string_lossy();
    if id.len() < SHORTEST || !id.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(Fail::usage(format!(
            "{id:?} is no id, nor the first {SHORTEST} digits of one; `shward pending` lists them"
        )));
    }
    Ok(id.into_owned())
}

/// The question whose id begins so.
fn named(id: &str, asks: &Asks) -> Result<Ask, Fail> {
    let mut found: Vec<Ask> = asks
        .list()
        .map_err(|e| Fail::io(e.to_string()))?
        .into_iter()
        .filter(|ask| ask.digest.starts_with(id))
        .collect();
    match (found.pop(), found.is_empty()) {
        (Some(ask), true) => Ok(ask),
        (Some(_), false) => Err(Fail::input(format!("{id}: several questions begin so; give more of it"))),
        (None, _) => Err(Fail::input(format!("{id}: no such question; `shward pending` lists them"))),
    }
}

fn store() -> Result<Asks, Fail> {
    let directory = state::directory().ok_or_else(|| state::missing("nothing is answered from elsewhere"))?;
    Ok(Asks::new(directory))
}

fn unanswered(why: Unanswered) -> Fail {
    let message = format!("only a person at a terminal can answer, and {why}");
    Fail { exit: Exit::Refused, message }
}
