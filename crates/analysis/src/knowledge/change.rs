//! Roles that change files, settings and processes.

use super::evaluate;
use super::flow::{Flow, Use, Uses};
use super::found;
use super::languages;
use super::overwriting;
use super::run::{Run, certainty};
use super::scan::Scan;
use super::settled::{becomes_settings, brings_settings, holds_protected, settles, takes_place};
use super::unpacked;
use super::values;
use super::variables::setting;
use super::words::{Fact, Role};
use crate::effect::{EffectKind, Rest, Scope, Target, Unknown, WriteMode};
use crate::value::{Field, Origins, Piece, Stream, Value};
use crate::world::FileKind;

/// What happens to a value or operand.
pub(super) fn change<'a>(
    run: &mut Run<'_, 'a>,
    flow: &Flow<'a>,
    scan: &Scan<'a>,
    uses: &Uses<'_, 'a>,
    each: &Use<'_, 'a>,
) {
    let Use { role, field } = each;
    let field = *field;
    match role {
        // Standard output; few take it for a file's name.
        Role::Write if field.known() == Some(b"-") && !run.program.has(Fact::WritesDash) => {}
        Role::Dest => destination(run, flow, scan, uses, field, WriteMode::Replace),
        Role::DestLink => destination(run, flow, scan, uses, field, WriteMode::Create),
        Role::Metadata("mode") => {
            let target = run.target_of(field, flow.tree);
            let given = uses.of(|role| role == Role::Mode).next();
            let what = given.map_or("mode", |u| match given_by(u.field) {
                "setuid" if gives_group(u.field) && surely_directory(field, &target) => "mode",
                what => what,
            });
            run.emit(EffectKind::Metadata { target, what }, field.span, certainty(field));
            if !uses.of(|role| role == Role::Mode).any(|u| stays_readable(u.field)) {
                run.session.lock_reading();
            }
        }
        Role::Setting => setting(run, scan, field),
        Role::Mode => {
            if !stays_readable(field) {
                run.session.lock_reading();
            }
            let changes = uses.has(|role| matches!(role, Role::Metadata(_)));
            if !changes && given_by(field) == "setuid" {
                run.does(EffectKind::Privilege { what: "setuid" }, field.span);
            }
        }
        Role::Process => {
            let what = match field.known() {
                Some(b"-1") => "all",
                Some([b'%', ..]) => "own",
                None if is_own_job(&field.value) => "own",
                Some([b'-' | b'0'..=b'9', digits @ ..]) if digits.iter().all(u8::is_ascii_digit) => "process",
                None => "process",
                Some(_) => "name",
            };
            run.does(EffectKind::Signal { what }, field.span);
        }
        Role::Subscript => {
            let active = |text: &[u8]| text.iter().any(|b| matches!(b, b'[' | b'$' | b'`'));
            if field.known().is_none_or(active) {
                run.not_understood(Unknown::Construct("subscript"), field.span);
            }
        }
        Role::Unknown => run.not_understood(Unknown::Argument, field.span),
        Role::Mount => mount(run, flow, field),
        Role::WriteBelow => {
            change_place(run, flow, *role, field);
            if !run.has(Fact::PutsFiles, scan) {
                unpacked::whatever(run, content(run, flow, WriteMode::Below), field);
            } else if flow.tree {
                unpacked::poured(run, uses, field, false, content(run, flow, WriteMode::Below));
            }
            run.session.works(uses.runs().len() / 2);
            for source in uses.of(is_source) {
                carry(run, &source, &field.value);
                put_by_name(run, flow, source.field, field);
            }
        }
        Role::WritePrefix => {
            let pieces: Vec<_> = field.value.pieces().iter().copied().chain([Piece::MADE_UP]).collect();
            let value = Value::of(run.arena(), &pieces, field.value.origins);
            change_place(run, flow, Role::Write, &Field { value, many: true, ..*field });
        }
        Role::CreateLike => {
            let value = evaluate::filled_in(run.arena(), &field.value);
            change_place(run, flow, Role::Create, &Field { value, ..*field });
        }
        Role::Member => {
            unpacked::member(run, unpacked::place(uses).as_ref(), content(run, flow, WriteMode::Below), field)
        }
        Role::ReadBeside => {
            // The file itself stays as it is.
            let made = Stream { text: None, origins: Origins::FILE, source: Some(run.call.span) };
            run.writes_found(field, WriteMode::Create, made);
        }
        Role::Create if scan.has(&["-p", "--parents"]) => {
            on_the_way(run, flow, field);
            change_place(run, flow, *role, field);
        }
        Role::Create if field.known().is_some() && run.has(Fact::MakesNew, scan) => {
            change_place(run, flow, *role, field);
            let target = run.target(&field.value, false);
            run.session.makes_new(&target);
        }
        Role::Write
            if !soaks_up_each(run)
                && is_the_same_for_all(run, flow.stdin && flow.input.is_none(), uses, field) =>
        {
            run.writes(field, WriteMode::Truncate, content(run, flow, WriteMode::Replace));
        }
        _ => change_place(run, flow, *role, field),
    }
}

/// Among more words and uses than this nobody looks for what differs.
const MOST_COMPARED: usize = 512;

/// Whether the same is put into many files that are there: nothing that the program is given beside them differs from one to
/// the next. Nothing of what was in them is left then. Of what lies outside, it is enough to know that it is written.
pub(super) fn is_the_same_for_all<'a>(
    run: &mut Run<'_, 'a>,
    fed: bool,
    uses: &Uses<'_, 'a>,
    place: &Field<'a>,
) -> bool {
    // What it reads on standard input may be made of each.
    let fed = fed && run.call.stdin.text.is_none();
    let differs = |word: &Field<'a>| word.value != place.value && word.value.known().is_none();
    let reads = |each: &Use<'_, 'a>| {
        (is_source(each.role) || each.role == Role::Modify) && each.field.value == place.value
    };
    if !place.value.names_what_is_there() || fed {
        return false;
    }
    // Each word and each use is looked at for each such place.
    let words = run.args().len() + uses.len();
    if words > MOST_COMPARED {
        return true;
    }
    run.session.works(words);
    !run.args().iter().any(|word| differs(word) && !values::ends_in(&word.value, &place.value))
        && !uses.iter().any(|each| reads(&each))
        && matches!(
            run.target(&place.value, false).scope,
            Scope::Product | Scope::Workspace | Scope::Temp | Scope::Repository | Scope::Unknown
        )
}

/// Whether a program reads all of its input before it writes, and what comes before it in the pipeline reads one of many files:
/// what is written may then be made of that one.
fn soaks_up_each(run: &mut Run<'_, '_>) -> bool {
    if !run.program.has(Fact::Soaks) || run.call.stdin.text.is_some() {
        return false;
    }
    let upstream = run.session.upstream();
    let effects = run.session.effects().len();
    run.session.works(effects.saturating_sub(upstream));
    run.session.effects().iter().skip(upstream).any(|effect| match effect.kind {
        EffectKind::Read { target } => target.rest != Rest::Exact,
        _ => false,
    })
}

/// More steps back than this in one path are not followed.
const MAX_STEPS_BACK: usize = 16;

/// With its parents, what a path leaves again is made as well: `a` of `a/../b`.
fn on_the_way<'a>(run: &mut Run<'_, 'a>, flow: &Flow<'a>, field: &Field<'a>) {
    let mut passed = 0usize;
    for (index, piece) in field.value.pieces().iter().enumerate() {
        let Piece::Text(text) = piece else { continue };
        let backs = text.windows(3).enumerate().filter(|(_, three)| *three == b"/..").map(|(at, _)| at);
        for at in backs {
            let before = text.get(..at).unwrap_or_default();
            let leads = text.get(at + 3).is_none_or(|next| *next == b'/');
            let stays = matches!(before.rsplit(|byte| *byte == b'/').next(), Some(b"" | b"." | b".."));
            if !leads || stays && !(before.is_empty() && index > 0) {
                continue;
            }
            passed += 1;
            if passed > MAX_STEPS_BACK {
                return run.not_understood(Unknown::Argument, field.span);
            }
            let mut pieces = field.value.pieces().get(..index).unwrap_or_default().to_vec();
            pieces.extend((!before.is_empty()).then_some(Piece::Text(before)));
            let value = Value::of(run.arena(), &pieces, field.value.origins);
            change_place(run, flow, Role::Create, &Field { value, ..*field });
        }
    }
}

/// A file or directory is changed.
pub(super) fn change_place<'a>(run: &mut Run<'_, 'a>, flow: &Flow<'a>, role: Role, field: &Field<'a>) {
    let mode = match role {
        Role::Write => WriteMode::Replace,
        Role::Append => WriteMode::Append,
        Role::Create => WriteMode::Create,
        Role::Modify => WriteMode::Modify,
        Role::Truncate => WriteMode::Truncate,
        Role::WriteBelow => WriteMode::Below,
        Role::Delete => return run.deletes(field, flow.tree),
        Role::DeleteTree => return run.deletes(field, true),
        Role::DeleteNamed => return deletes_named(run, flow, field),
        Role::PlainWrite(_) => WriteMode::Replace,
        Role::Metadata(what) => {
            let target = run.target_of(field, flow.tree);
            return run.emit(EffectKind::Metadata { target, what }, field.span, certainty(field));
        }
        _ => return,
    };
    let content = content(run, flow, mode);
    // The same text over many files: nothing of what was in them is in it.
    let same = mode == WriteMode::Replace && content.text.is_some() && field.value.names_what_is_there();
    run.writes(field, if same { WriteMode::Truncate } else { mode }, content);
}

/// Whether text of these origins is the number of a process that the command has started, perhaps kept in a file, or that
/// the workspace has noted.
pub(super) fn is_own_job(value: &Value<'_>) -> bool {
    let origins = value.origins;
    if value.pieces().len() != 1 {
        return false;
    }
    let job = origins.contains(Origins::JOB) && Origins::JOB.union(Origins::WRITTEN).contains(origins);
    job || origins == Origins::NOTED.union(Origins::FILE)
}

/// What a file that is written gets.
pub(super) fn content<'a>(run: &Run<'_, 'a>, flow: &Flow<'a>, mode: WriteMode) -> Stream<'a> {
    // What only copies writes nothing of its own words.
    let copied = run.program.has(Fact::PutsFiles) && !flow.origins.contains(Origins::WRITTEN);
    let origins = match flow.origins {
        origins if copied => origins.without(Origins::LITERAL).union(Origins::FILE),
        // What it changes by its own rules is no text of the command.
        origins
            if mode == WriteMode::Modify
                && Origins::LITERAL.contains(origins)
                && !flow.told.get_or_init(|| is_told_text(run)) =>
        {
            Origins::FILE
        }
        origins if origins.is_empty() => Origins::LITERAL,
        origins => origins,
    };
    let source = flow.source.or(Some(run.call.span));
    let copies = run.program.has(Fact::Copies);
    let text = match (mode, &flow.input) {
        (WriteMode::Create | WriteMode::Truncate, _) => None,
        (_, Some(input)) if copies => Some(values::concat(run.arena(), input)),
        _ => None,
    };
    Stream { text, origins, source }
}

/// Whether an argument of a program is text rather than a name, or names what does harm.
fn is_told_text(run: &Run<'_, '_>) -> bool {
    run.args().iter().any(|word| {
        let Some(text) = word.known() else { return true };
        text.iter().any(|byte| b" \n\t;|&$`\"'(".contains(byte)) || languages::names_grave_anywhere(text)
    })
}

/// The target of a copy, move or link: the place itself, or the same name below it if it is a directory.
pub(super) fn destination<'a>(
    run: &mut Run<'_, 'a>,
    flow: &Flow<'a>,
    scan: &Scan<'a>,
    uses: &Uses<'_, 'a>,
    field: &Field<'a>,
    mode: WriteMode,
) {
    run.session.works(uses.runs().len() / 2);
    let count = uses.of(is_source).count();
    let many = uses.of(is_source).any(|each| each.field.many);
    let known = field.known();
    // The place itself, and nothing in it.
    let apart = scan.has(&["-T", "--no-target-directory"]);
    let named =
        !apart && known.is_some_and(|t| t.ends_with(b"/") || matches!(values::base_name(t), b"." | b".."));
    let target = run.target_of(field, false);
    let exists =
        !apart && target.rest == Rest::Exact && run.session.world().kind(target.path) == FileKind::Directory;
    let content = content(run, flow, WriteMode::Replace);
    let links = mode == WriteMode::Create;
    if flow.tree && !links {
        unpacked::poured(run, uses, field, apart, content);
    }
    let replaces = !links || scan.has(&["-f", "--force"]);
    // Some places hold directories.
    let kept = !overwriting::names_directories(&field.value);
    // With all that is below it, directories are copied: where a file stands, none can be put.
    let directories = flow.tree && content.text.is_none() && uses.iter().any(|each| is_directory(run, &each));
    // Looking through all that was told so far comes last.
    let same = replaces
        && kept
        && !directories
        && !named
        && !many
        && count == 1
        && is_the_same_for_all(run, flow.stdin && flow.input.is_none(), uses, field)
        && (content.text.is_some() || !is_made(run, uses));
    if same && target.scope != Scope::Harmless {
        run.writes(field, WriteMode::Truncate, Stream { text: None, ..content });
        return;
    }
    if target.scope == Scope::Harmless || !(named || exists || count > 1 || many || target.rest == Rest::Glob)
    {
        let mode = if apart && flow.tree && !links { WriteMode::Below } else { mode };
        run.writes(field, mode, content);
        if mode != WriteMode::Create {
            uses.of(is_source).for_each(|source| carry(run, &source, &field.value));
        }
        return;
    }
    let place = target.covers;
    // A pattern names what is there, a directory perhaps.
    let directory = exists || target.path == b"/tmp" || place.home || place.workspace || place.system;
    if !(named || directory || count > 1) {
        // There may be only one of the many.
        run.writes(field, mode, Stream { text: None, ..content });
    }
    if named && !exists && count == 1 && !links {
        uses.of(is_source).for_each(|source| takes_place(run, source.field, field));
    }
    for source in uses.of(is_source) {
        // Each has a content of its own.
        let content = match content.text {
            Some(_) if count > 1 => {
                Stream { text: run.session.file_text(&source.field.value).text, ..content }
            }
            _ => content,
        };
        match source.field.known() {
            Some(path) => {
                let name = Value::text(values::base_name(path), source.field.value.origins);
                let slash = Value::text(b"/", Origins::LITERAL);
                let value = values::joined(run.arena(), &[field.value, slash, name]);
                // A directory whose content becomes what guards us is no single file; some programs put what is in it there.
                let puts = flow.tree && mode != WriteMode::Create;
                if puts && path.ends_with(b"/") && holds_protected(run, &field.value) {
                    run.writes(field, WriteMode::Below, content);
                }
                let mode = if puts && holds_protected(run, &value) { WriteMode::Below } else { mode };
                run.writes(&Field { value, ..*field }, mode, content);
                if mode != WriteMode::Create {
                    carry(run, &source, &value);
                }
            }
            // Of a tree, names below it; else one name in it.
            None if flow.tree => {
                run.writes(field, WriteMode::Below, content);
                carry(run, &source, &field.value);
            }
            None => {
                let slash = Value::text(b"/", Origins::LITERAL);
                let any = Value::of(run.arena(), &[Piece::Glob(b"*")], source.field.value.origins);
                let value = values::joined(run.arena(), &[field.value, slash, any]);
                run.writes(&Field { value, many: true, ..*field }, mode, content);
                carry(run, &source, &field.value);
            }
        }
    }
}

/// What is put into a directory has its own name there, which may be that of something protected.
fn put_by_name<'a>(run: &mut Run<'_, 'a>, flow: &Flow<'a>, source: &Field<'a>, directory: &Field<'a>) {
    if !run.program.has(Fact::PutsFiles) && !run.program.has(Fact::Links) {
        return;
    }
    let name = match source.known() {
        Some(path) => Value::text(values::base_name(path), source.value.origins),
        None => Value::of(run.arena(), &[Piece::Glob(b"*")], source.value.origins),
    };
    let slash = Value::text(b"/", Origins::LITERAL);
    let value = values::joined(run.arena(), &[directory.value, slash, name]);
    if run.target(&value, false).scope >= Scope::Persistence {
        let many = directory.many || source.many;
        run.writes(
            &Field { value, many, ..*directory },
            WriteMode::Replace,
            content(run, flow, WriteMode::Replace),
        );
    }
}

/// Whether what is copied is a directory: by what is there, or, where nothing is known of that, by how it is written.
fn is_directory<'a>(run: &mut Run<'_, 'a>, each: &Use<'_, 'a>) -> bool {
    let Some(text) = each.field.known().filter(|_| is_source(each.role)) else { return false };
    let target = run.target(&each.field.value, false);
    match run.session.world().kind(target.path) {
        FileKind::Directory => true,
        FileKind::Unknown if target.scope != Scope::Harmless => {
            text.ends_with(b"/") || matches!(values::base_name(text), b"." | b"..")
        }
        _ => false,
    }
}

/// Whether the command has written a file itself that is copied or moved: it may then be another for each.
fn is_made<'a>(run: &mut Run<'_, 'a>, uses: &Uses<'_, 'a>) -> bool {
    uses.of(is_source).any(|each| {
        let from = run.target(&each.field.value, false);
        overwriting::is_made_before(run.session, &from, each.role == Role::Move)
    })
}

/// What is copied, moved or linked.
const fn is_source(role: Role) -> bool {
    matches!(role, Role::Read | Role::Move | Role::List)
}

/// What is known of a file, or of the files in a directory, is true of the copy.
fn carry<'a>(run: &mut Run<'_, 'a>, source: &Use<'_, 'a>, to: &Value<'a>) {
    // Each of many sources may be carried to each of many places.
    run.session.works(8);
    if !run.session.goes_on() {
        return;
    }
    let from = run.target(&source.field.value, false);
    brings_settings(run, &from, to, source.field);
    let to = run.target(to, false);
    if becomes_settings(run.session.world(), &from, &to) {
        settles(run, to, source.field);
    }
    run.session.carried(&from, &to);
    if source.role == Role::Move {
        run.session.moved(&from, &to);
    }
}

/// Which kind of change a mode is, if it is one that gives rights away.
fn given_by(mode: &Field<'_>) -> &'static str {
    let Some(text) = mode.known() else { return "setuid" };
    if text.iter().all(u8::is_ascii_digit) {
        return of_digits(text);
    }
    let mut what = "mode";
    for clause in text.split(|b| *b == b',') {
        let Some(at) = clause.iter().position(|b| matches!(b, b'+' | b'=')) else { continue };
        let (who, given) = clause.split_at(at);
        // GNU takes digits behind the sign as well.
        let number = given.get(1..).filter(|rest| rest.first().is_some_and(u8::is_ascii_digit));
        if given.contains(&b's') || number.is_some_and(|number| of_digits(number) == "setuid") {
            return "setuid";
        }
        // What the owner or the group may is given by their letters.
        let others = who.iter().any(|b| matches!(b, b'o' | b'a'));
        if others && given.iter().any(|b| matches!(b, b'w' | b'u' | b'g'))
            || number.is_some_and(|number| of_digits(number) == "world-writable")
        {
            what = "world-writable";
        }
    }
    what
}

/// Whether a mode sets an ID of the group alone, and gives nothing else away.
fn gives_group(mode: &Field<'_>) -> bool {
    match mode.known() {
        Some(b"g+s" | b"g+rs" | b"g+ws" | b"g+xs" | b"g+rws" | b"g+rwxs" | b"g=rwxs" | b"g+srwx") => true,
        Some([b'2', rest @ ..] | [b'0', b'2', rest @ ..]) => {
            rest.len() == 3 && of_digits(rest) == "mode" && rest.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

/// Whether a place is a directory, where such an ID only says whose group new files get: a slash follows its name.
fn surely_directory(field: &Field<'_>, target: &Target<'_>) -> bool {
    target.rest == Rest::Exact && !target.tree && field.known().is_some_and(|path| path.ends_with(b"/"))
}

/// The same of a mode in digits.
fn of_digits(text: &[u8]) -> &'static str {
    let digit = |from_end: usize| {
        let digit = text.len().checked_sub(from_end).and_then(|at| text.get(at));
        digit.map_or(0, |b| b.wrapping_sub(b'0'))
    };
    match (digit(4) & 6, digit(1) & 2) {
        (0, 0) => "mode",
        (0, _) => "world-writable",
        _ => "setuid",
    }
}

/// Whether the owner of a file surely may read it after this change, if that was so before (POSIX chmod).
fn stays_readable(mode: &Field<'_>) -> bool {
    let Some(text) = mode.known() else { return false };
    if text.iter().all(u8::is_ascii_digit) {
        let owner = text.len().checked_sub(3).and_then(|at| text.get(at));
        return owner.is_some_and(|digit| matches!(digit, b'4'..=b'7'));
    }
    text.split(|b| *b == b',').all(|clause| {
        let at = clause.iter().position(|b| matches!(b, b'+' | b'-' | b'=')).unwrap_or(0);
        let (who, change) = clause.split_at(at);
        let others_only = !who.is_empty() && !who.iter().any(|b| matches!(b, b'u' | b'a'));
        let reads = change.contains(&b'r');
        others_only
            || match change {
                [b'+', given @ ..] => !given.iter().any(|b| matches!(b, b'-' | b'=')),
                [b'-', taken @ ..] => !reads && taken.iter().all(u8::is_ascii_alphabetic),
                [b'=', given @ ..] => reads && given.iter().all(u8::is_ascii_alphabetic),
                _ => false,
            }
    })
}

/// A place of this machine that a container sees: `PLACE:INSIDE[:OPTIONS]`, `type=bind,source=PLACE,…`.
pub(super) fn mount<'a>(run: &mut Run<'_, 'a>, flow: &Flow<'a>, field: &Field<'a>) {
    let arena = run.arena();
    let prefix = field.value.known_prefix();
    let listed = [&b"source="[..], b"src="].iter().find_map(|key| {
        let at = prefix.windows(key.len()).position(|w| w == *key)?;
        (at == 0 || prefix.get(at - 1) == Some(&b',')).then_some(at + key.len())
    });
    let separator = if listed.is_some() { b',' } else { b':' };
    let place = values::after(arena, &field.value, listed.unwrap_or(0));
    let place = match values::split_once(arena, &place, separator) {
        Some((path, _)) => Value::text(path, field.value.origins),
        None => place,
    };
    let named =
        place.known().is_some_and(|p| !p.starts_with(b"/") && !p.starts_with(b".") && !p.starts_with(b"~"));
    if named {
        return;
    }
    let read_only = field.known().is_some_and(|text| {
        text.split(|b| matches!(b, b':' | b','))
            .skip(1)
            .any(|o| matches!(o, b"ro" | b"readonly" | b"readonly=true"))
    });
    let place = Field { value: place, ..*field };
    if read_only {
        run.reads(&place, true);
    } else {
        let content = Stream { text: None, origins: Origins::UNKNOWN, source: flow.source };
        run.writes(&place, WriteMode::Below, content);
    }
}

/// Takes back what a program that only announces its changes does not do.
pub(super) fn take_back(run: &mut Run<'_, '_>, from: usize) {
    let effects = run.session.effects();
    let mut index = 0;
    effects.retain(|effect| {
        let own = index >= from;
        index += 1;
        !own || !matches!(
            effect.kind,
            EffectKind::Write { .. }
                | EffectKind::Delete { .. }
                | EffectKind::Metadata { .. }
                | EffectKind::Persist { .. }
                | EffectKind::Signal { .. }
                | EffectKind::System { .. }
                | EffectKind::Package { .. }
                | EffectKind::Vcs { .. }
                | EffectKind::Remote { action: "change" | "destroy", .. }
        )
    });
}

/// A path in which the program itself expands patterns, at any depth, or which says by a colon that it is none (git's
/// pathspecs).
fn deletes_named<'a>(run: &mut Run<'_, 'a>, flow: &Flow<'a>, field: &Field<'a>) {
    let Some(text) = field.known() else { return run.deletes(field, flow.tree) };
    let here = run.part(field, b".");
    if text.starts_with(b":") {
        return run.deletes(&here, true);
    }
    let Some(at) = text.iter().position(|byte| b"*?[".contains(byte)) else {
        return run.deletes(field, flow.tree);
    };
    let start = text.get(..at).and_then(|start| start.iter().rposition(|byte| *byte == b'/'));
    let directory = start.and_then(|at| text.get(..at)).map_or(here, |directory| run.part(field, directory));
    let pattern = text.get(start.map_or(0, |at| at + 1)..).unwrap_or_default();
    let place = run.target(&directory.value, false);
    let named = found::named(run, place, pattern, field.span);
    run.deletes(&named, true);
}
