//! Files that a program takes up without being told their names, and that the same script has written before.

use super::image::List;
use super::languages::{self, NOT_OF_THE_PROJECT};
use super::run::Run;
use super::values;
use crate::effect::{EffectKind, Unknown};
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
    let mut searched = 0usize;
    for effect in run.session.effects().iter().rev() {
        if own.is_some() && effect.invocation == own {
            continue;
        }
        searched += 1;
        if let EffectKind::Write { target, .. } = effect.kind
            && patterns.iter().any(|pattern| names(target.path, pattern.as_bytes()))
            && !found.contains(&target.path)
        {
            found.push(target.path);
        }
        if searched > MAX_SEARCHED || found.len() > MAX_FILES {
            found = vec![b""];
            break;
        }
    }
    run.session.works(searched / 4);
    found
}

/// Whether the end of a path, of as many names as the pattern has, fits it.
fn names(path: &[u8], pattern: &[u8]) -> bool {
    let slashes = pattern.iter().filter(|byte| **byte == b'/').count();
    let start = path.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/').nth(slashes);
    let end = start.and_then(|(at, _)| path.get(at + 1..));
    end.is_some_and(|end| values::fits(end, pattern))
}

/// Executes what the script has made of such files; what lay there before is the project's own.
pub(super) fn load<'a>(run: &mut Run<'_, 'a>, patterns: List<&'static str>, language: &'static str) {
    let span = run.call.span;
    for path in files(run, patterns) {
        if path.is_empty() {
            run.not_understood(Unknown::Budget("files that were written before"), span);
            return;
        }
        let file = values::field(run.arena(), path, Origins::LITERAL, span);
        let copied = run.session.copied_from(&file.value);
        super::program::copy_of(run.session, span, copied);
        let content = run.session.script_text(&file.value);
        if content.text.is_some() && content.origins.intersects(NOT_OF_THE_PROJECT) && language != "project" {
            run.perhaps(|run| languages::script(run, language, &file, &[]));
        } else if content.text.is_none()
            && content.origins.intersects(NOT_OF_THE_PROJECT.without(Origins::WRITTEN))
        {
            run.streamed_code(language, content, span);
        }
    }
}
