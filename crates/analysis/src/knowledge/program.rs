//! From a command word to the program it starts.

use super::installed::is_installed;
use super::provenance::{self, copy_of};
use super::run::{Run, certainty};
use super::tables::{self, Program};
use super::values;
use super::words::{Act, Fact};
use crate::effect::{Certainty, Covers, EffectKind, Rest, Scope, Target, Unknown};
use crate::session::{Call, Reentry, Session};
use crate::value::{Field, Origins, Stream, Value};
use crate::world::FileKind;
use shward_syntax::Dialect;

/// What a command word leads to.
pub(super) enum Found<'a> {
    /// A program that the knowledge describes.
    Described(&'static str, Program),
    /// A file of the name of one, which may be it: its effects count, but what it prints is not known.
    Resembling(&'static str, Program),
    /// The same of a script of the project's own that was read: what is not understood of its arguments may be its own.
    Script(&'static str, Program),
    /// Its effects are already recorded; this is its output.
    Done(Stream<'a>),
}

/// The program of a command word. A program that is not understood is recorded as executed.
pub(super) fn find<'a>(
    session: &mut dyn Session<'a>,
    call: &Call<'a>,
    word: &Field<'a>,
    text: &'a [u8],
) -> Found<'a> {
    if let Some(argv) = apart(session, call, word, text) {
        return Found::Done(session.run_argv(argv, call.stdin, Reentry::New, word.span));
    }
    if !text.contains(&b'/') {
        return match described(text) {
            Some((name, program)) if shadowed(session, word, text) => Found::Resembling(name, program),
            Some((name, program)) => Found::Described(name, program),
            None => {
                let target = Target {
                    path: text,
                    rest: Rest::Exact,
                    scope: Scope::Unknown,
                    tree: false,
                    covers: Covers::default(),
                };
                session.emit(
                    EffectKind::Execute { target, origin: word.value.origins },
                    word.span,
                    certainty(word),
                );
                Found::Done(Stream::unknown(Origins::UNKNOWN, call.span))
            }
        };
    }
    let name = values::base_name(text);
    let described = described(name);
    let target = session.target(&word.value);
    let writable = is_written_in(target.scope);
    if let Some((name, program)) = described.filter(|_| !writable && is_installed(text, session.home())) {
        return Found::Described(name, program);
    }
    if let Some((name, program)) =
        described.filter(|(_, program)| !writable && leads_to(session, &target, text, *program))
    {
        let kind = EffectKind::Code { language: "project", text: None, origin: Origins::FILE, source: None };
        session.emit(kind, word.span, Certainty::Possible);
        return Found::Resembling(name, program);
    }
    let copied = session.copied_from(&word.value);
    let described = match copied {
        Some(from) if is_installed(from, session.home()) || names_program(from) => {
            if values::base_name(from) != name {
                // Many a program does something else by another name: bash that is called `sh`, busybox.
                let reason = Unknown::Construct("a copy of a program under another name");
                session.emit(EffectKind::Unknown { reason }, word.span, certainty(word));
            }
            self::described(values::base_name(from))
        }
        _ => described,
    };
    copy_of(session, word.span, copied);
    let file = session.script_text(&values::script(session.arena(), word));
    if let Some(script) = file.text
        && !is_binary(script)
    {
        if provenance::is_own(session, word, file.origins) {
            session.emit(
                EffectKind::Execute { target, origin: word.value.origins },
                word.span,
                certainty(word),
            );
            session.follow(&mut |session| {
                run_script(session, call, word, script, file);
            });
            // What package managers and frameworks put into a project only starts what is installed.
            let tool = described.filter(|(_, program)| is_of_projects(*program)).or_else(|| packaged(text));
            return match tool.or_else(|| of_framework(session, name)) {
                Some((name, program)) if call.argv.len() > 1 => Found::Script(name, program),
                _ => Found::Done(Stream::unknown(Origins::UNKNOWN, call.span)),
            };
        }
        if file.origins.contains(Origins::WRITTEN.union(Origins::FILE)) {
            // What the command has written; or what lay there before.
            let origin = word.value.origins;
            session.emit(EffectKind::Execute { target, origin }, word.span, Certainty::Possible);
        }
        return Found::Done(run_script(session, call, word, script, file));
    }
    session.emit(EffectKind::Execute { target, origin: word.value.origins }, word.span, certainty(word));
    let installed = copied.is_some_and(|from| is_installed(from, session.home()));
    if file.origins.intersects(provenance::NOT_OF_THE_PROJECT) && !installed {
        let Stream { text, origins: origin, source } = file;
        let language = match language_of(name) {
            "native" if text.is_none() && session.is_printed(&target) => "shell",
            other => other,
        };
        let kind = EffectKind::Code { language, text, origin, source };
        session.emit(kind, word.span, certainty(word));
    }
    match described.or_else(|| of_framework(session, name)) {
        Some((name, program)) => Found::Resembling(name, program),
        None => Found::Done(Stream::unknown(Origins::UNKNOWN, call.span)),
    }
}

/// Whether what a link leads to is installed, and is the program of the link's name (`.venv/bin/python`). What this command may have put
/// in its place is judged as any file.
fn leads_to<'a>(session: &mut dyn Session<'a>, target: &Target<'a>, link: &[u8], program: Program) -> bool {
    let installed = target.rest == Rest::Exact && is_installed(target.path, session.home());
    let found = if installed { described(values::base_name(target.path)) } else { None };
    if !found.is_some_and(|(_, found)| found.is_same(program)) {
        return false;
    }
    let place = match (link, session.cwd()) {
        ([b'/', ..], _) => link.to_vec(),
        (_, Some(cwd)) => [cwd, b"/", link.strip_prefix(b"./").unwrap_or(link)].concat(),
        _ => return false,
    };
    if place.split(|byte| *byte == b'/').any(|part| matches!(part, b".." | b".")) {
        return false;
    }
    // An interpreter loads what lies beside the link, and beside the directory that it is in.
    let mut slashes = place.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/');
    let (Some((directory, _)), Some((around, _))) = (slashes.next(), slashes.next()) else { return false };
    let (directory, around) =
        (place.get(..directory).unwrap_or_default(), place.get(..=around).unwrap_or_default());
    let named = session.arena().alloc_slice_copy(directory);
    let inside = session.target(&Value::text(named, Origins::LITERAL));
    // By another name it lies beside something else.
    let straight = session.world().canonical(named).is_some_and(|real| *real == *named);
    if !straight || !matches!(inside.scope, Scope::Workspace | Scope::Product) {
        return false;
    }
    let told = session.effects().len();
    session.works(told);
    let kinds: Vec<_> = session.effects().iter().map(|effect| effect.kind).collect();
    let world = session.world();
    // Nothing is known of the links on the way but that they were there.
    let is_on_the_way = |target: &Target<'_>| {
        target.tree
            || target.rest != Rest::Exact
            || world.kind(target.path) == FileKind::Directory
            || world.canonical(target.path).is_some_and(|real| *real != *target.path)
    };
    !kinds.iter().any(|kind| {
        let changed = match kind {
            EffectKind::Write { target, .. } | EffectKind::Delete { target, .. } => {
                target.path.starts_with(around) || is_on_the_way(target)
            }
            _ => false,
        };
        changed || [&place, target.path].iter().any(|path| kind.may_change(path) || kind.may_refill(path))
    })
}

/// Whether a program works on projects, which have a script by its name then (`./gradlew`). One of the system may have a name
/// that anybody gives to a script of their own (`./script`, `./install`).
pub(super) fn is_of_projects(program: Program) -> bool {
    program.level().effects().iter().any(|act| matches!(act, Act::Code("project") | Act::Loads(_)))
}

/// The description of a script that a framework puts into every project (`./manage.py`, `bin/console`). What Python starts
/// by the name of a module is no file of that name.
fn of_framework<'a>(session: &dyn Session<'a>, name: &[u8]) -> Option<(&'static str, Program)> {
    let languages: &[&[u8]] = if name.ends_with(b".py") { &[b"python:"] } else { &[b"php:", b"javascript:"] };
    languages.iter().find_map(|language| tables::program(values::concat(session.arena(), &[language, name])))
}

/// Whether a file has the name of a program that is described.
pub(crate) fn names_program(path: &[u8]) -> bool {
    described(values::base_name(path)).is_some()
}

/// The program that an interpreter starts by a file of it, as package managers put them into a project: one below
/// `node_modules` belongs to the package or is called as the program, and in a directory of programs each is called so.
pub(super) fn packaged(path: &[u8]) -> Option<(&'static str, Program)> {
    let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    let (name, directories) = parts.split_last()?;
    if matches!(directories.last(), Some(&(b"bin" | b".bin")))
        && let Some(found) = tables::program(name)
    {
        return Some(found);
    }
    let within = directories.iter().rposition(|part| *part == b"node_modules")?;
    let package = directories.iter().skip(within + 1).find(|part| !part.starts_with(b"@"))?;
    let stem = name.split(|byte| *byte == b'.').next().unwrap_or(name);
    tables::program(package).or_else(|| tables::program(stem))
}

/// The language of a file that is started, as its name tells: nothing that is built is called like a script.
fn language_of(name: &[u8]) -> &'static str {
    match name.rsplit(|byte| *byte == b'.').next() {
        Some(b"sh" | b"bash" | b"zsh" | b"ksh") => "shell",
        Some(b"py") => "python",
        Some(b"pl") => "perl",
        Some(b"rb") => "ruby",
        Some(b"js" | b"mjs" | b"cjs") => "javascript",
        _ => "native",
    }
}

/// Whether every shell has the program of this name in itself, so that no file of that name is run.
pub(crate) fn is_builtin(name: &[u8]) -> bool {
    matches!(name, b"echo" | b"printf" | b"test" | b"[" | b"true" | b"false" | b"pwd" | b"kill")
}

/// Records the execution of the file that a name leads to, where the search path leads into places that the agent may
/// write: a program of the project's own, or one that anybody may have put there. False if it does not. A search path that
/// the command sets itself is judged where it is set.
fn shadowed<'a>(session: &mut dyn Session<'a>, word: &Field<'a>, text: &'a [u8]) -> bool {
    if is_builtin(text) || session.variable(b"PATH").is_some() {
        return false;
    }
    let Some(Some(file)) = session.world().program(text) else { return false };
    let file = session.arena().alloc_slice_copy(&file);
    let target = session.target(&Value::text(file, Origins::LITERAL));
    let writable = is_written_in(target.scope);
    if writable {
        session.emit(EffectKind::Execute { target, origin: Origins::FILE }, word.span, certainty(word));
    }
    writable
}

/// Whether anybody may have put a program there.
fn is_written_in(scope: Scope) -> bool {
    matches!(scope, Scope::Workspace | Scope::Product | Scope::Repository | Scope::Temp)
}

/// The description for a name, without its version if it has one.
fn described(name: &[u8]) -> Option<(&'static str, Program)> {
    tables::program(name).or_else(|| {
        let digits = name.iter().rev().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
        let stem = name.get(..name.len() - digits)?;
        let stem = stem.strip_suffix(b"-").unwrap_or(stem);
        let found = if digits > 0 { tables::program(stem) } else { None };
        found.filter(|(_, program)| program.has(Fact::Versioned))
    })
}

/// The arguments of a program whose name has that of a subcommand behind it (`git-push`), with both apart. Like any other it has to be
/// installed.
fn apart<'a>(
    session: &mut dyn Session<'a>,
    call: &Call<'a>,
    word: &Field<'a>,
    text: &'a [u8],
) -> Option<&'a [Field<'a>]> {
    let name = values::base_name(text);
    let dash = name.iter().position(|byte| *byte == b'-')?;
    let (stem, sub) = (name.get(..dash)?, name.get(dash + 1..)?);
    let (_, program) = tables::program(stem).filter(|(_, program)| program.has(Fact::Dashed))?;
    if described(name).is_some() || program.level().sub(sub).is_none() {
        return None;
    }
    if !text.contains(&b'/') {
        shadowed(session, word, text);
    } else if is_written_in(session.target(&word.value).scope) || !is_installed(text, session.home()) {
        return None;
    }
    let mut argv = bumpalo::collections::Vec::new_in(session.arena());
    argv.extend([stem, sub].map(|part| values::field(part, word.value.origins, word.span)));
    argv.extend_from_slice_copy(call.argv.get(1..).unwrap_or_default());
    Some(argv.into_bump_slice())
}

/// Not a text that a shell would read.
fn is_binary(content: &[u8]) -> bool {
    content.iter().take(512).any(|b| *b == 0)
}

/// Follows a script by its first line, as `execve(2)` and the shells do.
fn run_script<'a>(
    session: &mut dyn Session<'a>,
    call: &Call<'a>,
    word: &Field<'a>,
    script: &'a [u8],
    file: Stream<'a>,
) -> Stream<'a> {
    let arguments = call.argv.split_first().map(|(_, rest)| rest).unwrap_or_default();
    let Some(line) = script.strip_prefix(b"#!").and_then(|rest| rest.split(|b| *b == b'\n').next()) else {
        return session.run_text(script, Dialect::Posix, arguments, call.stdin, Reentry::New, word.span);
    };
    let arena = session.arena();
    let mut argv = bumpalo::collections::Vec::new_in(arena);
    // The kernel makes one argument of all that stands behind the interpreter (execve(2)).
    let line = line.trim_ascii();
    let (interpreter, argument) =
        line.split_at(line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len()));
    let parts = [interpreter, argument.trim_ascii_start()].into_iter().filter(|part| !part.is_empty());
    argv.extend(parts.map(|part| values::field(part, file.origins, word.span)));
    argv.push(*word);
    argv.extend_from_slice_copy(arguments);
    // The interpreter may itself be a script; the session bounds how deep that goes.
    session.run_argv(argv.into_bump_slice(), call.stdin, Reentry::New, word.span)
}

/// The name of a program, for the effects of a description that calls itself not described.
pub(super) fn execute_itself(run: &mut Run<'_, '_>) {
    let target = Target {
        path: run.name.as_bytes(),
        rest: Rest::Exact,
        scope: Scope::Unknown,
        tree: false,
        covers: Covers::default(),
    };
    let span = run.call.span;
    run.does(EffectKind::Execute { target, origin: Origins::LITERAL }, span);
}
