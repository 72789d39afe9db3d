//! A shell tool for an agent, with all that the command line has: this machine's policy, the log, changes that can be taken
//! back, and a person who answers with `shward approve`.
//!
//! ```sh
//! cargo run -p shward --example agent -- '{"command":"echo hi > out.txt; ls","reasoning":"to try it"}'
//! ```

#![allow(clippy::print_stdout, reason = "an example shows what came of it")]

use shward::audit::Log;
use shward::reviewing::{Asks, StateDir};
use shward::{
    Account, Firewall, PolicyPlaces, Request, Reviewers, RunOptions, Sessions, Tool, ToolCall, Undoing,
};
use std::error::Error;
use std::path::Path;

/// The firewall for a workspace. Each part can be left out: without a log nothing is recorded, without a place for layers
/// commands write straight to the workspace, and without anybody to answer what is asked is refused.
fn firewall(workspace: &Path) -> Result<Firewall, Box<dyn Error>> {
    let account = Account::of_process();
    let mut firewall = Firewall::new(PolicyPlaces::of_machine(workspace).load()?);
    if let Some(log) = account.log() {
        firewall = firewall.with_log(Log::open(&log)?);
    }
    if let Some(state) = account.state() {
        firewall = firewall
            .with_undoing(Undoing::new(state.clone()))
            .with_sessions(Sessions::new(StateDir::new(state.clone())))
            .with_reviewers(Reviewers::new().asks(Asks::new(StateDir::new(state))));
    }
    Ok(firewall)
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(arguments) = std::env::args().nth(1) else {
        println!("the tool to offer to a model: {:#}", Tool::default().schema());
        return Ok(());
    };
    let workspace = std::env::current_dir()?;
    let home = Account::of_process().home().ok_or("the account has no home")?;
    // Where commands start, and what they may change. The call brings the command.
    let base = Request::command("", &workspace, home);
    let call = ToolCall { id: "call_1", arguments: &arguments };
    let answer = firewall(&workspace)?.handle_tool_call(&call, &base, &RunOptions::default());
    println!("{answer:#}");
    Ok(())
}
