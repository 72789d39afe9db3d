//! The `shward` command.
//!
//! `hook` is answered before anything else is looked at: it is a whole process per command of an agent.

mod args;
mod ask;
mod audit;
mod batch;
mod check;
mod exit;
mod explain;
mod flags;
mod help;
mod hook;
mod install;
mod run;
mod setup;
mod shown;
mod terminal;

use crate::args::Args;
use crate::exit::Exit;
use crate::flags::{HELP, JSON};
use crate::install::Change;
use crate::terminal::Fail;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let verb = words.next();
    if verb.as_deref() == Some("hook".as_ref()) {
        return hook::run(words).into();
    }
    dispatch(verb, words).into()
}

fn dispatch(verb: Option<OsString>, words: impl Iterator<Item = OsString>) -> Exit {
    let Some(verb) = verb else {
        terminal::error(help::program().trim_end());
        return Exit::Usage;
    };
    let name = verb.to_string_lossy();
    match name.as_ref() {
        "--help" | "-h" | "help" => {
            match words.into_iter().next().and_then(|w| flags::verb(&w.to_string_lossy())) {
                Some(verb) => terminal::line(&help::verb(verb)),
                None => terminal::line(&help::program()),
            }
            return Exit::Allow;
        }
        "--version" | "-V" => {
            terminal::line(concat!("shward ", env!("CARGO_PKG_VERSION")));
            return Exit::Allow;
        }
        _ => {}
    }
    let Some(verb) = flags::verb(&name) else {
        let known: Vec<&str> = flags::VERBS.iter().map(|v| v.name).collect();
        Fail::usage(format!("unknown verb {name:?}; verbs: {}; `shward --help` tells more", known.join(" ")))
            .tell(false);
        return Exit::Usage;
    };
    let args = match Args::parse(verb, words) {
        Ok(args) => args,
        Err(message) => {
            Fail::usage(message).tell(false);
            return Exit::Usage;
        }
    };
    if args.has(&HELP) {
        terminal::line(&help::verb(verb));
        return Exit::Allow;
    }
    let done = match verb.name {
        "check" => check::run(&args),
        "explain" => explain::run(&args),
        "run" => run::run(&args),
        "install" => install::run(Change::Install, &args),
        "uninstall" => install::run(Change::Uninstall, &args),
        "audit" => audit::run(&args),
        other => Err(Fail::usage(format!("{other} cannot be used here"))),
    };
    done.unwrap_or_else(|fail| {
        fail.tell(args.has(&JSON));
        fail.exit
    })
}
