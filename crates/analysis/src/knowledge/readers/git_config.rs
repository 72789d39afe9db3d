//! `git config`: reading is nothing, harmless keys are configuration, every other key may hold a command that git will run.

use crate::effect::{EffectKind, WriteMode};
use crate::knowledge::apply;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::knowledge::variables::is_harmless;
use crate::value::{Field, Origins, Stream};

/// Options that only look.
const LOOKS: [&str; 9] = [
    "--get",
    "--get-all",
    "--get-regexp",
    "--get-urlmatch",
    "-l",
    "--list",
    "--get-color",
    "--get-colorbool",
    "--name-only",
];
/// Options that change, whatever the number of operands.
const CHANGES: [&str; 7] =
    ["--unset", "--unset-all", "--add", "--replace-all", "--rename-section", "--remove-section", "--append"];

/// Reads the arguments of `git config`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let output = apply::apply(run, &scan);
    if scan.info || scan.has(&LOOKS) {
        return output;
    }
    let mut operands: &[Field<'a>] = &scan.operands;
    let mut changes = scan.has(&CHANGES);
    // The subcommands of git 2.46.
    if let Some((first, rest)) = operands.split_first() {
        match first.known() {
            Some(b"get" | b"list") if !changes => return output,
            Some(b"set" | b"unset" | b"rename-section" | b"remove-section") => {
                operands = rest;
                changes = true;
            }
            Some(b"edit") => {
                run.code("terminal", None, Origins::TERMINAL, first.span);
                return output;
            }
            _ => {}
        }
    }
    if !changes && operands.len() < 2 && operands.iter().all(|o| !o.many) {
        return output;
    }
    let key = operands.first();
    let harmless = key
        .and_then(|k| k.known())
        .is_some_and(|key| scan.levels.iter().any(|level| is_harmless(level, key)));
    let span = key.map_or(run.call.span, |k| k.span);
    // What is taken out again runs nothing, unless it was what another file's setting is hidden by.
    let removes = scan.has(&["--unset", "--unset-all"])
        && key.and_then(|k| k.known()).is_some_and(|key| key.to_ascii_lowercase().starts_with(b"alias."));
    if harmless || removes {
        run.does(EffectKind::Vcs { action: "config" }, span);
    } else {
        run.does(EffectKind::Persist { what: "hook" }, span);
    }
    for file in scan.values(&["-f", "--file"]) {
        run.writes(
            &file,
            WriteMode::Modify,
            Stream { text: None, origins: Origins::LITERAL, source: Some(file.span) },
        );
    }
    output
}
