//! The `shward` command.
//!
//! `hook` is answered before anything else is looked at: it is a whole process per command of an agent. For the same
//! reason the program starts without the set-up of Rust's runtime (see `shward::entry!`).

#![no_main]

mod approvals;
mod args;
mod ask;
mod audit;
mod batch;
mod check;
mod completions;
mod diff;
mod doctor;
mod exit;
mod explain;
mod flags;
mod help;
mod hook;
mod install;
mod man;
mod plan;
mod policy;
mod preview;
mod reviewers;
mod run;
mod session;
mod setup;
mod state;
mod terminal;
mod undo;

use crate::args::Args;
use crate::exit::Exit;
use crate::flags::{HELP, JSON, Verb};
use crate::install::Change;
use crate::terminal::Fail;
use shward::reviewing as shown;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _};

shward::entry!(start);

#[global_allocator]
static MEMORY: shward::LargePages = shward::LargePages;

fn start(arguments: Vec<OsString>) -> u8 {
    let mut words = arguments.into_iter().skip(1);
    let verb = words.next();
    if verb.as_deref() == Some("hook".as_ref()) {
        return hook::run(words).code();
    }
    // `check` starts no thread, unless a gatekeeper is asked, and `run` none before its command has started, but for what says so.
    if !["check", "run"].iter().any(|late| verb.as_deref() == Some(late.as_ref())) {
        shward::complete_start();
    }
    dispatch(verb, words).code()
}

fn dispatch(verb: Option<OsString>, words: impl Iterator<Item = OsString>) -> Exit {
    let Some(verb) = verb else {
        terminal::error(help::program().trim_end());
        // A host that knows no arguments of hooks starts the program alone, and runs the command on any other code than 2.
        return if io::stdin().is_terminal() { Exit::Usage } else { Exit::Deny };
    };
    let words: Vec<OsString> = words.collect();
    // Looked for in the words, because a command line that is wrong has no parsed options.
    let json = JSON.is_in(&words);
    carry_out(&verb.to_string_lossy(), words).unwrap_or_else(|fail| {
        fail.tell(json);
        fail.exit
    })
}

fn carry_out(name: &str, words: Vec<OsString>) -> Result<Exit, Fail> {
    match name {
        "--help" | "-h" | "help" => {
            let text = match words.first() {
                Some(verb) => help::verb(known(&verb.to_string_lossy())?),
                None => help::program(),
            };
            return terminal::line(&text).map(|()| Exit::Allow);
        }
        "--version" | "-V" | "version" => {
            let floor = if shward::policy::UNRESTRICTED { " (unrestricted: without the floor)" } else { "" };
            let test = if shward::TEST_BUILD { " (for tests: a variable says whose home it is)" } else { "" };
            return terminal::line(&format!("shward {}{floor}{test}", env!("CARGO_PKG_VERSION")))
                .map(|()| Exit::Allow);
        }
        _ => {}
    }
    let verb = known(name)?;
    let args = Args::parse(verb, words).map_err(Fail::usage)?;
    if args.has(&HELP) {
        return terminal::line(&help::verb(verb)).map(|()| Exit::Allow);
    }
    match verb.name {
        "check" => check::run(&args),
        "explain" => explain::run(&args),
        "run" => run::run(&args),
        "undo" => undo::run(&args),
        "install" => install::run(Change::Install, &args),
        "uninstall" => install::run(Change::Uninstall, &args),
        "policy" => policy::run(&args),
        "doctor" => doctor::run(&args),
        "session" => session::run(&args),
        "init" => policy::init(&args),
        "schema" => policy::schema(&args),
        "audit" => audit::run(&args),
        "pending" => approvals::pending(&args),
        "approve" => approvals::approve(&args),
        "deny" => approvals::deny(&args),
        "completions" => completions::run(&args),
        "man" => man::run(&args),
        other => Err(Fail::usage(format!("{other} cannot be used here"))),
    }
}

fn known(name: &str) -> Result<&'static Verb, Fail> {
    flags::verb(name).ok_or_else(|| {
        let verbs = || flags::VERBS.iter().map(|verb| verb.name);
        Fail::usage(match args::nearest(name, verbs()) {
            Some(near) => format!("unknown verb {name:?}; did you mean {near}?"),
            None => {
                let verbs: Vec<&str> = verbs().collect();
                format!("unknown verb {name:?}; verbs: {}; `shward --help` tells more", verbs.join(" "))
            }
        })
    })
}
