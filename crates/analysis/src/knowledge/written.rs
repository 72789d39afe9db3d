//! Files that a program takes up without being told their names, and that the same script has written before.

use super::image::List;
use super::languages::{self, NOT_OF_THE_PROJECT};
use super::run::Run;
use super::values;
use crate::effect::EffectKind;
use crate::session::Author;
use crate::value::Origins;

/// More effects than this are not searched for files that were written.
const MAX_SEARCHED: usize = 1024;

/// Most files that one program is followed into.
const MAX_FILES: usize = 16;

/// The files with names that fit one of the patterns and that the script may have written before, the last first. Where it
/// did more than is searched, what it wrote is not known: an empty path.
pub(super) fn files<'a>(run: &mut Run<'_, 'a>, patterns: List<&'static str>) -> Vec<&'a [u8]> {
    let own = run.session.invocation();
    let mut found: Vec<&'a [u8]> = Vec::new();
    let others =
        run.session.effects().iter().rev().filter(|effect| own.is_none() || effect.invocation != own);
    for (searched, effect) in others.enumerate() {
        if searched >= MAX_SEARCHED || found.len() > MAX_FILES {
            return vec![b""];
        }
        if let EffectKind::Write { target, .. } = effect.kind
            && patterns.iter().any(|pattern| names(target.path, pattern.as_bytes()))
            && !found.contains(&target.path)
        {
            found.push(target.path);
        }
    }
    found
}

/// Whether the end of a path, of as many names as the pattern has, fits it.
fn names(path: &[u8], pattern: &[u8]) -> bool {
    let slashes = pattern.iter().filter(|byte| **byte == b'/').count();
    let start = path.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/').nth(slashes);
    let end = start.and_then(|(at, _)| path.get(at + 1..));
    end.is_some_and(|end| values::fits(end, pattern))
}

/// Follows what the script has made of such files, and tells where it is not known what they hold. What lay there before is
/// the project's own.
pub(super) fn load<'a>(run: &mut Run<'_, 'a>, patterns: List<&'static str>, language: &'static str) {
    let span = run.call.span;
    for path in files(run, patterns) {
        if path.is_empty() {
            run.code(language, None, Origins::WRITTEN, span);
            return;
        }
        let file = values::field(run.arena(), path, Origins::LITERAL, span);
        let copied = run.session.copied_from(&file.value);
        super::program::copy_of(run.session, span, copied);
        let content = run.session.script_text(&file.value);
        if content.text.is_some() {
            let (name, stdin) = (run.name, run.call.stdin);
            run.session.follow(Author::Command, &mut |session| {
                languages::follow_own(session, language, name, content, &[], stdin, span);
            });
        } else if content.origins.intersects(NOT_OF_THE_PROJECT.without(Origins::WRITTEN)) {
            run.streamed_code(language, content, span);
        }
    }
}
