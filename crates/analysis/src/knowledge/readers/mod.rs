//! Typed readers for argument lists that the tables cannot describe alone.

pub(crate) mod awk;
pub(crate) mod compress;
pub(crate) mod curl;
pub(crate) mod env;
pub(crate) mod fd;
pub(crate) mod find;
pub(crate) mod flock;
pub(crate) mod git_apply;
pub(crate) mod git_checkout;
pub(crate) mod git_config;
pub(crate) mod git_diff;
pub(crate) mod git_grep;
pub(crate) mod git_push;
pub(crate) mod git_restore;
pub(crate) mod git_show;
pub(crate) mod handed;
pub(crate) mod includes;
pub(crate) mod jq;
pub(crate) mod kill;
pub(crate) mod ln;
pub(crate) mod media;
pub(crate) mod netcat;
pub(crate) mod parallel;
pub(crate) mod patch;
pub(crate) mod perl;
pub(crate) mod printenv;
pub(crate) mod project_tool;
pub(crate) mod python;
pub(crate) mod remote_copy;
pub(crate) mod rsync;
pub(crate) mod sed;
pub(crate) mod shell;
pub(crate) mod ssh;
pub(crate) mod tar;
pub(crate) mod xargs;
pub(crate) mod yq;

use super::run::Run;
use super::scan::At;
use super::tables::Level;
use crate::effect::{Certainty, EffectKind};
use crate::value::Stream;

/// Interprets the arguments after `At` and returns standard output.
pub(crate) type Reader = for<'r, 's, 'p, 'a> fn(&'r mut Run<'s, 'a>, &'p At<'a>) -> Stream<'a>;

/// The reader of a program or subcommand, if its description names one.
pub(crate) fn of(level: Level) -> Option<Reader> {
    READERS.get(level.reader().wrapping_sub(1)).copied()
}

// In the order of the numbers that the image has for them.
include!(concat!(env!("OUT_DIR"), "/knowledge_readers.rs"));

/// Changes of the working tree that are not committed are lost.
fn discards(run: &mut Run<'_, '_>, certainty: Certainty) {
    let span = run.call.span;
    run.emit(EffectKind::Vcs { action: "discard" }, span, certainty);
}
