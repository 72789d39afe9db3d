//! `git checkout`: one command for changing branches and for throwing changes away.
//!
//! git-checkout(1): what follows `--` is a path; without it, a lone word is a branch if there is one of that name, else a
//! path; of several words the first is the tree that the others are taken from.

use super::discards;
use crate::effect::{Certainty, EffectKind};
use crate::knowledge::apply;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::value::{Field, Stream};
use crate::world::FileKind;

/// Reads the arguments of `git checkout`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let output = apply::apply(run, &scan);
    if scan.info {
        return output;
    }
    let separator = at.args.iter().position(|arg| arg.known() == Some(b"--"));
    let paths = separator.map_or(0, |at_dashes| at.args.len() - at_dashes - 1);
    let makes_branch = scan.has(&["-b", "-B", "--orphan", "--track", "-t"]);
    if paths > 0 || (separator.is_none() && scan.operands.len() > 1 && !makes_branch) {
        discards(run, Certainty::Certain);
        return output;
    }
    if makes_branch || scan.has(&["--detach", "-d"]) {
        let span = run.call.span;
        run.does(EffectKind::Vcs { action: "branch" }, span);
        return output;
    }
    if let Some(only) = scan.operands.first() {
        match is_path(run, only) {
            Some(true) => discards(run, Certainty::Certain),
            Some(false) => run.does(EffectKind::Vcs { action: "branch" }, only.span),
            None => {
                run.emit(EffectKind::Vcs { action: "branch" }, only.span, Certainty::Possible);
                discards(run, Certainty::Possible);
            }
        }
    }
    output
}

/// Whether a word is a path rather than a branch; `None` if that cannot be told.
fn is_path<'a>(run: &mut Run<'_, 'a>, word: &Field<'a>) -> Option<bool> {
    let text = word.known()?;
    if matches!(text, b"." | b"..")
        || text.ends_with(b"/")
        || text.starts_with(b"./")
        || text.starts_with(b":/")
    {
        return Some(true);
    }
    let target = run.target(&word.value, false);
    match run.session.world().kind(target.path) {
        FileKind::Missing => Some(false),
        FileKind::File | FileKind::Directory => None,
        // Without a world: the names of files have an extension of letters, those of branches and versions have not.
        _ => match text.iter().rposition(|b| *b == b'.') {
            None => Some(false),
            Some(at) => {
                let extension = text.get(at + 1..).unwrap_or_default();
                Some((1..=5).contains(&extension.len()) && extension.iter().all(u8::is_ascii_alphabetic))
            }
        },
    }
}
