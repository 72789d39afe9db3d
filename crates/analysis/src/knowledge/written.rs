//! Files that a program takes up without being told their names, and that the same script has written before.

use super::image::List;
use super::languages::{self, NOT_OF_THE_PROJECT};
use super::run::Run;
use super::values;
use crate::effect::{Certainty, EffectKind, Rest, Scope, Unknown, WriteMode};
use crate::session::Reentry;
use crate::value::{Field, Origins, Piece, Stream, Value};
use shward_syntax::Span;

/// More effects than this are not searched for files that were written.
const MAX_SEARCHED: usize = 1024;

/// Where what is not the workspace's own comes from.
const FOREIGN: Origins = Origins::OUTSIDE.union(Origins::NETWORK).union(Origins::SECRET);

/// Of what is made of the workspace's own files.
const COPIED: Origins = Origins::WRITTEN.union(Origins::FILE);

/// Of what programs of the workspace make.
const PRINTED: Origins = COPIED.union(Origins::UNKNOWN);

/// So many effects back it is looked for the same.
const MAX_TOLD: usize = 16;

/// Most files that one program is followed into.
const MAX_FILES: usize = 16;

/// Whether the script may have written files with names that fit one of the patterns.
pub(super) fn any(run: &mut Run<'_, '_>, patterns: List<&'static str>) -> bool {
    !files(run, |name| patterns.iter().any(|pattern| names(name, pattern.as_bytes()))).is_empty()
}

/// The files with names that fit, and that the script may have written before, the last first. Where it
/// did more than is searched, what it wrote is not known: an empty path.
fn files<'a>(run: &mut Run<'_, 'a>, fits: impl Fn(&[u8]) -> bool) -> Vec<&'a [u8]> {
    let own = run.session.invocation();
    let mut found: Vec<&'a [u8]> = Vec::new();
    let mut searched = 0usize;
    for effect in run.session.effects().iter().rev() {
        if own.is_some() && effect.invocation == own {
            continue;
        }
        searched += 1;
        if let EffectKind::Write { target, .. } = effect.kind
            && fits(target.path)
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

/// A pattern that may stand for the name of a file which the script has made, and which looks like an option, is not known
/// to be a name to the program.
pub(super) fn options_by_name(run: &mut Run<'_, '_>) {
    if !run.session.has_made_files() {
        return;
    }
    let is_pattern = |word: &&Field<'_>| matches!(word.value.pieces.first(), Some(Piece::Glob(_)));
    let Some(word) = run.call.argv.iter().find(is_pattern) else { return };
    let dashed = |path: &[u8]| values::base_name(path).starts_with(b"-");
    if !files(run, dashed).is_empty() {
        run.not_understood(Unknown::Argument, word.span);
    }
}

/// Where the content comes from of trees that were put where the program runs, if that is not the workspace.
fn trees(run: &mut Run<'_, '_>) -> Origins {
    let Some(here) = run.session.cwd() else { return Origins::NONE };
    let mut searched = 0usize;
    let mut origins = Origins::NONE;
    for effect in run.session.effects().iter().rev().take(MAX_SEARCHED) {
        searched += 1;
        let EffectKind::Write { target, mode, content } = effect.kind else { continue };
        let whole = target.tree || mode == WriteMode::Below;
        let directory = target.path.strip_suffix(b"/").unwrap_or(target.path);
        let around = |outer: &[u8], inner: &[u8]| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        let near = if whole {
            around(directory, here) || around(here, directory)
        } else {
            target.rest == Rest::Glob && directory == here
        };
        if near && target.scope == Scope::Workspace && content.intersects(FOREIGN) {
            origins = origins | content;
        }
    }
    run.session.works(searched / 4);
    origins
}

/// Executes what the script has made of such files; what lay there before is the project's own.
pub(super) fn load<'a>(run: &mut Run<'_, 'a>, patterns: List<&'static str>, language: &'static str) {
    if !run.session.has_made_files() {
        return;
    }
    let span = run.call.span;
    let trees = trees(run);
    let told = run.session.effects().iter().rev().take(MAX_TOLD).any(|effect| is_told(&effect.kind, trees));
    if !trees.is_empty() && !told {
        let origins = trees | Origins::WRITTEN;
        run.streamed_code("project", Stream { text: None, origins, source: None }, span);
    }
    let found = files(run, |name| patterns.iter().any(|pattern| names(name, pattern.as_bytes())));
    // What is only found by its ending is loaded if something else asks for it.
    let begins = |path: &[u8]| {
        let named = |pattern: &str| !is_ending(pattern) && names(path, pattern.as_bytes());
        patterns.iter().any(named)
    };
    load_all(run, found, language, &[], &begins);
}

/// Whether a pattern is that of an ending alone: `*.py`.
fn is_ending(pattern: &str) -> bool {
    pattern.strip_prefix("*.").is_some_and(|ending| ending.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Executes what the script has made of a tool of the project's.
pub(super) fn load_tool<'a>(run: &mut Run<'_, 'a>, name: &'a [u8]) {
    if run.session.has_made_files() {
        let path = [b"node_modules/.bin/", name].concat();
        let found = files(run, |written| names(written, &path));
        load_all(run, found, "native", &[], &|_| true);
    }
}

/// Executes the modules that the script has made and that its own script in this language, which lies there, may load.
pub(super) fn load_modules(run: &mut Run<'_, '_>, language: &'static str) {
    let endings: &[&[u8]] = match language {
        "python" => &[b".py"],
        "javascript" => &[b".js", b".cjs", b".mjs", b".json"],
        "perl" => &[b".pm"],
        _ => return,
    };
    if run.session.has_made_files() {
        let found = files(run, |name| endings.iter().any(|ending| name.ends_with(ending)));
        if found.is_empty() {
            return;
        }
        // What the program is told to execute is executed by that.
        let words: Vec<_> = run.call.argv.iter().take(MAX_FILES).map(|word| word.value).collect();
        let named: Vec<_> = words.iter().map(|word| run.session.target(word).path).collect();
        load_all(run, found, language, &named, &|_| false);
    }
}

/// `begins`: whether a file is one with which the program begins, and not a module among others.
fn load_all<'a>(
    run: &mut Run<'_, 'a>,
    found: Vec<&'a [u8]>,
    language: &'static str,
    told: &[&'a [u8]],
    begins: &dyn Fn(&[u8]) -> bool,
) {
    let span = run.call.span;
    for path in found.into_iter().filter(|path| !told.contains(path)) {
        if path.is_empty() {
            run.not_understood(Unknown::Budget("files that were written before"), span);
            return;
        }
        let file = values::field(run.arena(), path, Origins::LITERAL, span);
        if language == "native" {
            // A program of the project's own, by a name that others start it by.
            let argv = run.arena().alloc_slice_copy(&[file]);
            run.argv(argv, Stream::unknown(Origins::UNKNOWN, span), Reentry::New);
            continue;
        }
        let copied = run.session.copied_from(&file.value);
        super::program::copy_of(run.session, span, copied);
        let content = run.session.script_text(&file.value);
        linked(run, &file.value, content, span);
        let made = content.origins.intersects(NOT_OF_THE_PROJECT);
        match content.text {
            _ if !made => {}
            Some(_) if language == "project" || path.ends_with(b".json") => {}
            Some(_) if languages::is_searched(language) => run.streamed_code(language, content, span),
            Some(_) => {
                run.perhaps(|run| languages::script(run, language, &file, &[]));
            }
            // What is made of the project's own files is its own; what its programs print, nobody has read, and may be a module
            // of theirs.
            None if PRINTED.contains(content.origins) && !begins(path) => {}
            None if COPIED.contains(content.origins) => {}
            None => run.streamed_code(language, content, span),
        }
    }
}

fn is_told(kind: &EffectKind<'_>, trees: Origins) -> bool {
    matches!(kind, EffectKind::Code { language: "project", origin, .. } if origin.contains(trees | Origins::WRITTEN))
}

/// What a name in the workspace leads to by a link is executed as that.
pub(super) fn linked<'a>(run: &mut Run<'_, 'a>, path: &Value<'a>, content: Stream<'a>, span: Span) {
    if content.text.is_some() || !run.session.has_made_files() {
        return;
    }
    let target = run.session.target(path);
    let (Some(name), here) = (path.known(), run.session.cwd()) else { return };
    let own = matches!(target.scope, Scope::Workspace | Scope::Product);
    let itself = match name.first() {
        Some(b'/') => target.path == name,
        _ => here.is_none_or(|here| {
            target.path.strip_prefix(here).is_some_and(|rest| rest.strip_prefix(b"/") == Some(name))
        }),
    };
    if !own && !itself {
        let origin = Origins::FILE;
        run.emit(EffectKind::Execute { target, origin }, span, Certainty::Possible);
    }
}
