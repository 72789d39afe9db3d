//! Files with program text that are executed: those that are named, and those that a program takes up without being told
//! their names, if the same script has written them before.

use super::foreign::fetched;
use super::image::List;
use super::languages;
use super::provenance::{NOT_OF_THE_PROJECT, copy_of, is_own, linked, made_module};
use super::run::Run;
use super::scan::Scan;
use super::tables::{Item, Program};
use super::told;
use super::values;
use super::words::Role;
use super::written::{MAX_FILES, MAX_SEARCHED, Written, files, names};
use crate::effect::{Effect, EffectKind, Rest, Scope, Target, Unknown, WriteMode};
use crate::session::{Call, Reentry, Session};
use crate::value::{Field, Origins, Stream, Value};
use crate::world::FileKind;
use bumpalo::collections::Vec as BumpVec;
use shward_syntax::Span;

/// Where what is not the workspace's own comes from.
const FOREIGN: Origins = Origins::OUTSIDE.union(Origins::NETWORK).union(Origins::SECRET);

/// Of what is made of the workspace's own files.
const COPIED: Origins = Origins::WRITTEN.union(Origins::FILE);

/// Of what programs of the workspace make.
const PRINTED: Origins = COPIED.union(Origins::UNKNOWN);

/// So many effects back it is looked for the same.
const MAX_TOLD: usize = 16;

/// A script file, or `-`, is executed. The arguments are those after it.
pub(crate) fn execute<'a>(
    on: &mut Run<'_, 'a>,
    language: &'static str,
    file: &Field<'a>,
    arguments: &[Field<'a>],
) -> Stream<'a> {
    let mut all = BumpVec::with_capacity_in(arguments.len() + 1, on.arena());
    all.push(*file);
    all.extend_from_slice_copy(arguments);
    let all = all.into_bump_slice();
    // Its own name is none of the arguments that a reader counts, but what a shell calls `$0`.
    let counted = if language == "python" { all.get(1..).unwrap_or_default() } else { all };
    if file.known() == Some(b"-") {
        return languages::standard_input(on, language, counted);
    }
    let vanishes = file.many && on.session.patterns_may_vanish();
    if vanishes && on.call.stdin.origins != Origins::TERMINAL {
        // Without a name, the program is what comes from there.
        on.perhaps(|on| languages::standard_input(on, language, counted));
    }
    if language == "tex" && matches!(file.value.known_prefix().first(), Some(b'\\' | b'&' | b'|')) {
        // The text itself, a format, or a command.
        on.code(language, file.known(), file.value.origins, file.span);
        return Stream::unknown(Origins::UNKNOWN, file.span);
    }
    if fetched(on, language, file) {
        return Stream::unknown(Origins::UNKNOWN, file.span);
    }
    if let Some(path) = file.known()
        && super::described_beside(on, language, values::base_name(path), all).is_none()
        && let Some((name, program)) = super::program::packaged(path).filter(|_| !arguments.is_empty())
    {
        // What frameworks put into every project (`manage.py`) does the same everywhere, and so do installed programs.
        let call = Call { argv: all, ..on.call };
        super::perhaps_described(on.session, &call, name, program);
    }
    told::told(on.session, arguments);
    let told = on.session.effects().len();
    told::handed(on.session, arguments, told);
    let place = values::script(on.arena(), file);
    let copied = on.session.copied_from(&place);
    copy_of(on.session, file.span, copied);
    let content = on.session.script_text(&place);
    let content = Stream { origins: content.origins | moved_around(on.session, &place), ..content };
    if content.text.is_some() && content.origins.contains(Origins::WRITTEN.union(Origins::FILE)) {
        // What the command has written; or what lay there before.
        on.executes(file);
    }
    if on.session.has_made_files() && is_own(on.session, file, content.origins) {
        load_modules(on, language);
    }
    if content.text.is_some() && is_own(on.session, file, content.origins) {
        on.executes(file);
        let (stdin, program) = (on.call.stdin, on.program);
        let arguments = counted;
        on.session.follow(&mut |session| {
            follow_own(session, language, &program, content, arguments, stdin, file.span)
        });
        return Stream::unknown(Origins::UNKNOWN, file.span);
    }
    if let (Some(text), "shell") = (content.text, language)
        && !languages::is_other_shell(&on.program)
    {
        on.reads(file, false);
        if content.origins.contains(Origins::DECODED) {
            languages::hidden(on.session, language, content, file.span);
        }
        let (stdin, dialect) = (on.call.stdin, languages::dialect(&on.program));
        return on.session.run_text(text, dialect, all, stdin, languages::reentry(&on.program), file.span);
    }
    if content.text.is_some() && matches!(language, "python" | "javascript" | "perl" | "sed" | "awk" | "sql")
    {
        on.reads(file, false);
        return languages::run(on, language, content, counted, file.span);
    }
    if !vanishes && !content.origins.intersects(NOT_OF_THE_PROJECT) && is_own_pattern(on, language, file) {
        on.code("project", None, Origins::NONE, file.span);
        return Stream::unknown(Origins::UNKNOWN, file.span);
    }
    on.executes(file);
    if content.origins.intersects(NOT_OF_THE_PROJECT) {
        // What it names is told by its text; but no reader has read that, so it is not known what it does. What is taken for a library is told apart by
        // having one.
        on.streamed_code(language, content, file.span);
        if content.text.is_some() && !matches!(language, "native" | "project") {
            on.streamed_code(language, Stream { text: None, ..content }, file.span);
        }
    } else if language == "javascript"
        && content.text.is_none()
        && let Some(made) = made_module(on.session, &place)
    {
        on.streamed_code(language, made, file.span);
    }
    Stream::unknown(Origins::UNKNOWN, file.span)
}

/// Whether a word stands for scripts that lie in the workspace and match a pattern, each of them the workspace's own code: the
/// command has written nothing that may be one of them, no link among them leads out, and what it writes while they may be run is
/// judged. Of other languages nobody says that they do no more than the project's own programs; and without a directory a name may be
/// an option.
fn is_own_pattern<'a>(on: &mut Run<'_, 'a>, language: &str, file: &Field<'a>) -> bool {
    let value = file.value;
    let start = value.known_prefix();
    if !matches!(language, "shell" | "python" | "javascript" | "perl" | "ruby")
        || start.starts_with(b"-")
        || !start.contains(&b'/')
        || !value.names_what_is_there()
        || value.origins.contains(Origins::NAMES)
    {
        return false;
    }
    let place = on.target(&value, false);
    if place.scope != Scope::Workspace || place.rest != Rest::Glob {
        return false;
    }
    let told = on.session.effects().len();
    on.session.works(told);
    if on.session.effects().iter().any(|effect| effect.kind.may_change(place.path))
        || !on.session.stays_below_workspace(&value)
    {
        return false;
    }
    on.session.runs_from(place.path);
    true
}

/// Reads the workspace's own code, for what is grave in it.
fn follow_own<'a>(
    session: &mut dyn Session<'a>,
    language: &'static str,
    program: &Program,
    content: Stream<'a>,
    arguments: &'a [Field<'a>],
    stdin: Stream<'a>,
    span: Span,
) {
    match (language, content.text) {
        ("shell", Some(_)) if languages::is_other_shell(program) => {}
        ("shell", Some(text)) => {
            session.run_text(
                text,
                languages::dialect(program),
                arguments,
                stdin,
                languages::reentry(program),
                span,
            );
        }
        ("python" | "javascript" | "perl", Some(_)) => {
            languages::read(session, language, content, arguments, stdin, span);
        }
        _ => {}
    }
}

/// Where the content comes from of trees that were put where the program runs, if that is not the workspace; and how many effects
/// were searched for that.
fn trees<'a>(run: &mut Run<'_, 'a>) -> (Origins, usize) {
    let Some(here) = run.session.cwd() else { return (Origins::NONE, 0) };
    let mut origins = Origins::NONE;
    let effects = run.session.effects();
    let searched = effects.len().min(MAX_SEARCHED);
    let brought = |(at, effect): (usize, &Effect<'a>)| match effect.kind {
        EffectKind::Write { target, mode, content } if content.intersects(FOREIGN) && holds_code(&target) => {
            Some((at, target, mode, content))
        }
        _ => None,
    };
    let brought: Vec<_> = effects.iter().enumerate().rev().take(searched).filter_map(brought).collect();
    for (at, target, mode, content) in brought {
        let whole = target.tree || mode == WriteMode::Below || brings_tree(run.session, at, &target);
        let directory = target.path.strip_suffix(b"/").unwrap_or(target.path);
        let around = |outer: &[u8], inner: &[u8]| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        let near = if whole {
            around(directory, here) || around(here, directory)
        } else {
            // What is moved to where the program runs, or above, was a directory.
            target.rest == Rest::Glob && directory == here
                || target.rest == Rest::Exact && around(directory, here)
        };
        if near {
            origins = origins | content;
        }
    }
    (origins, searched)
}

/// Whether what lies there may be what a project runs: what builds make is made of that, but packages are part of it.
fn holds_code(target: &Target<'_>) -> bool {
    let mut names = target.path.split(|byte| *byte == b'/');
    let packages = |name: &[u8]| matches!(name, b"node_modules" | b"site-packages" | b"dist-packages");
    target.scope == Scope::Workspace || target.scope == Scope::Product && names.any(packages)
}

/// So many effects of one program are looked at for what it was given.
const MAX_GIVEN: usize = 64;

/// Whether a program that wrote to one place has put a directory there: it copied trees, or moved something that does not look like
/// a file. What is there already says which it is.
fn brings_tree<'a>(session: &mut dyn Session<'a>, at: usize, to: &Target<'a>) -> bool {
    let effects = session.effects();
    let Some(written) = effects.get(at).copied() else { return false };
    let own = effects.get(..at).unwrap_or_default().iter().rev().take(MAX_GIVEN);
    let own = own.take_while(|effect| effect.invocation() == written.invocation());
    let plain = !values::base_name(to.path).contains(&b'.');
    let mut moved = false;
    let mut from = None;
    for effect in own {
        match effect.kind {
            EffectKind::Delete { target, .. } => (moved, from) = (plain, Some(target)),
            EffectKind::Read { target } if target.tree => (moved, from) = (true, Some(target)),
            _ => {}
        }
    }
    let is_file =
        |from: Target<'_>| from.rest == Rest::Exact && session.world().kind(from.path) == FileKind::File;
    moved && !from.is_some_and(is_file)
}

/// Where a directory comes from that was moved to where a file lies in it, if that is not the workspace.
fn moved_around<'a>(session: &mut dyn Session<'a>, file: &Value<'a>) -> Origins {
    if !session.has_made_files() {
        return Origins::NONE;
    }
    let target = session.target(file);
    let mut searched = 0usize;
    let mut origins = Origins::NONE;
    for effect in session.effects().iter().rev().take(MAX_SEARCHED) {
        searched += 1;
        if let EffectKind::Write { target: directory, content, .. } = effect.kind
            && directory.rest == Rest::Exact
            && content.intersects(FOREIGN)
            && target.path.strip_prefix(directory.path).is_some_and(|below| below.starts_with(b"/"))
        {
            origins = origins | content | Origins::WRITTEN;
        }
    }
    session.works(searched / 4);
    origins
}

/// Executes what the script has made of such files; what lay there before is the project's own.
pub(super) fn load<'a>(
    run: &mut Run<'_, 'a>,
    written: &mut Written<'a>,
    patterns: List<&'static str>,
    language: &'static str,
) {
    if !run.session.has_made_files() {
        return;
    }
    let span = run.call.span;
    let trees = written.trees(run, trees);
    if !trees.is_empty() {
        let mut last = run.session.effects().iter().rev().take(MAX_TOLD);
        if !last.any(|effect| is_told(&effect.kind, trees)) {
            let origins = trees | Origins::WRITTEN;
            run.streamed_code("project", Stream { text: None, origins, source: None }, span);
            written.forget();
        }
    }
    let found = written.fitting(run, patterns);
    if found.is_empty() {
        return;
    }
    written.forget();
    // What is only found by its ending is loaded if something else asks for it.
    let begins = |path: &[u8]| {
        let named = |pattern: &str| !is_ending(pattern) && names(path, pattern.as_bytes());
        patterns.iter().any(named)
    };
    load_all(run, found, language, &[], &begins);
}

/// Executes text that is built, where a program that builds files with such endings is given it in another way: on its standard
/// input, if it reads that, or by a file of the script's own with another name (`gcc -x c -`).
pub(super) fn load_given<'a>(
    run: &mut Run<'_, 'a>,
    scan: &Scan<'a>,
    input: bool,
    patterns: List<&'static str>,
    language: &'static str,
) {
    let built = languages::is_searched(language) && !matches!(language, "make" | "manifest" | "settings");
    let reads = |item: Item| item.role == Role::Read;
    if !built
        || !patterns.iter().any(is_ending)
        || !scan.operands_line().is_some_and(|line| line.items.iter().any(reads))
    {
        return;
    }
    let mut given = Vec::new();
    if input {
        given.push(run.call.stdin);
    }
    run.session.works(scan.operands.len());
    for file in scan.operands.iter() {
        let Some(path) = file.known() else { continue };
        let whole = [&b"/"[..], path].concat();
        let named = patterns.iter().any(|pattern| names(&whole, pattern.as_bytes()));
        if !named && (run.session.has_made_files() || path.starts_with(b"/dev/")) {
            let content = run.session.file_text(&file.value);
            // What was built before has no text, and neither has a pipe that was read.
            given.extend((content.text.is_some() || path.starts_with(b"/dev/")).then_some(content));
        }
    }
    for content in given {
        let made = content.origins.intersects(NOT_OF_THE_PROJECT);
        let own =
            content.text.is_none_or(|text| !text.is_empty()) && content.origins.contains(Origins::LITERAL);
        if made || own {
            // Whoever gave the command wrote it.
            let origins = content.origins | Origins::WRITTEN;
            run.streamed_code(language, Stream { origins, ..content }, run.call.span);
        }
    }
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
        let file = values::field(path, Origins::LITERAL, span);
        if language == "native" {
            // A program of the project's own, by a name that others start it by.
            let argv = run.arena().alloc_slice_copy(&[file]);
            run.argv(argv, Stream::unknown(Origins::UNKNOWN, span), Reentry::New);
            continue;
        }
        let copied = run.session.copied_from(&file.value);
        copy_of(run.session, span, copied);
        let content = run.session.script_text(&file.value);
        linked(run, &file.value, content, span);
        let made = content.origins.intersects(NOT_OF_THE_PROJECT);
        match content.text {
            _ if !made => {}
            Some(_) if language == "project" => {}
            // Of programs these are data; of settings they are some.
            Some(_) if path.ends_with(b".json") && !languages::is_searched(language) => {}
            Some(_) if languages::is_searched(language) => run.streamed_code(language, content, span),
            Some(_) => {
                let followed = run.taking_up(path, &mut |run| {
                    run.perhaps(|run| execute(run, language, &file, &[]));
                });
                if !followed {
                    run.not_understood(Unknown::Budget("a script that starts itself"), span);
                }
            }
            // What is made of the project's own files is its own; what its programs print, nobody has read, and may be a module
            // of theirs.
            None if PRINTED.contains(content.origins) && !begins(path) => {}
            None if COPIED.contains(content.origins) => {}
            // Of a manifest what it names counts: to what was there before, something was added.
            None if language == "manifest" && !content.origins.intersects(FOREIGN) => {}
            None => run.streamed_code(language, content, span),
        }
    }
}

fn is_told(kind: &EffectKind<'_>, trees: Origins) -> bool {
    matches!(kind, EffectKind::Code { language: "project", origin, .. } if origin.contains(trees | Origins::WRITTEN))
}
