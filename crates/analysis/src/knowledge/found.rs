//! Names that a search finds: each is or lies below a known place, but which they are is not known.

pub(crate) mod filtered;
pub(crate) mod hidden;
pub(crate) mod listed;
pub(crate) mod picked;
mod root;
mod sought;
mod spelled;

use super::run::{Run, certainty};
use super::tables;
use super::values;
use crate::effect::{Covers, EffectKind, Rest, Scope, Target, Unknown, WriteMode};
use crate::place;
use crate::session::{Call, Session};
use crate::value::{Field, Origins, Piece, Stream, Value};
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use hidden::{bare, follows_links};
use listed::listed_since;
pub(crate) use root::Root;
use root::{MOST_WORDS, NAME};
use shward_syntax::{Span, same};

/// File name endings of source code and prose, which hold no secrets worth a look.
pub(super) const ORDINARY: [&[u8]; 44] = [
    b"py", b"pyi", b"pyc", b"pyo", b"js", b"mjs", b"cjs", b"jsx", b"ts", b"tsx", b"rs", b"go", b"c", b"h",
    b"cc", b"cpp", b"hpp", b"cxx", b"java", b"kt", b"scala", b"rb", b"php", b"cs", b"swift", b"lua", b"pl",
    b"sh", b"md", b"rst", b"txt", b"html", b"css", b"scss", b"vue", b"o", b"a", b"so", b"log", b"tmp",
    b"bak", b"orig", b"rej", b"ipynb",
];

impl<'a> Root<'a> {
    /// The names of a pattern below a place.
    const fn of(target: Target<'a>, pattern: &'a [u8], span: Span) -> Self {
        let pattern = Some(pattern);
        Self {
            target,
            pattern,
            within: None,
            itself: false,
            filtered: true,
            sought: None,
            led: false,
            hidden: false,
            picked: false,
            again: false,
            span,
        }
    }

    /// A word that stands for what is found.
    pub(crate) fn field(&self, arena: &'a Bump) -> Field<'a> {
        let mut pieces = BumpVec::new_in(arena);
        let path = self.target.path;
        let start = if path.ends_with(b"/") { path } else { values::concat(arena, &[path, b"/"]) };
        pieces.push(Piece::Text(start));
        let mut text = self.pattern.unwrap_or(b"*");
        if self.pattern.is_none() && self.hidden && self.looks_everywhere() {
            pieces.push(Piece::FOUND);
            text = b"";
        }
        while !text.is_empty() {
            let plain = text.iter().position(|b| matches!(b, b'*' | b'?' | b'[')).unwrap_or(text.len());
            let (head, tail) = text.split_at(plain);
            if !head.is_empty() {
                match pieces.last_mut() {
                    Some(Piece::Text(last)) => *last = values::concat(arena, &[last, head]),
                    _ => pieces.push(Piece::Text(head)),
                }
            }
            let Some((_, rest)) = tail.split_first() else { break };
            // A class is as good as any one character here.
            pieces.push(Piece::Glob(b"*"));
            text = match tail
                .strip_prefix(b"[")
                .and_then(|t| t.iter().position(|b| *b == b']').map(|at| (t, at)))
            {
                Some((class, at)) => class.get(at + 1..).unwrap_or_default(),
                None => rest,
            };
        }
        let value = Value::of_lasting(arena, pieces.into_bump_slice(), Origins::NAMES);
        Field { value, span: self.span, many: true }
    }

    /// The same inside of a longer word, where it counts letter by letter: even one name may stand at any depth, and be told
    /// relative to where the search began.
    pub(super) fn part(&self, arena: &'a Bump) -> Value<'a> {
        let value = self.field(arena).value;
        let path = self.target.path;
        let Some(text) = value.known() else { return value };
        let name = text.strip_prefix(path).unwrap_or_default();
        let name = name.strip_prefix(b"/").unwrap_or(name);
        let start = text.len().saturating_sub(name.len());
        let start = text.get(..start).unwrap_or_default();
        let pieces = [Piece::Text(start), Piece::Glob(b"*"), Piece::Text(name)];
        Value::of(arena, &pieces, value.origins)
    }

    /// Whether it looks through all of the workspace, and not beyond it.
    fn looks_everywhere(&self) -> bool {
        let Covers { workspace, home, root, .. } = self.target.covers;
        workspace && !home && !root
    }

    /// Whether a file that nobody may change may be among what is found.
    pub(super) fn guards(&self, run: &Run<'_, 'a>) -> bool {
        self.target.covers.own && run.session.guards_below(self.target.path, self.pattern.map_or(b"", end_of))
    }

    /// What may be among what is found for its name alone, in a directory beside what the project keeps: the settings of an agent,
    /// of an editor or of a repository.
    fn protected(&self, run: &Run<'_, 'a>) -> Option<Scope> {
        let within = self.within.and_then(|pattern| protected(run, &self.target, pattern));
        match (self.pattern, self.sought) {
            // Where a path is told it says more.
            (Some(_), _) if self.within.is_some_and(|within| within.contains(&b'/')) => within,
            (Some(name), _) => protected(run, &self.target, name).max(within),
            (None, Some((words, names))) => sought(run, &self.target, words, names),
            (None, None) => within,
        }
    }

    /// What is found, if builds make everything of that name, and make it again.
    pub(super) fn product(&self, run: &mut Run<'_, 'a>) -> Option<Target<'a>> {
        self.pattern.filter(|_| matches!(self.target.scope, Scope::Workspace | Scope::Product))?;
        if self.guards(run) {
            return None;
        }
        let value = self.field(run.arena()).value;
        let named = run.target(&value, false);
        (named.scope == Scope::Product).then(|| Target {
            path: self.target.path,
            rest: Rest::Below,
            covers: Covers::default(),
            ..named
        })
    }

    /// Whether a name that is found, with this behind it, may lie beside where the search began.
    fn lies_beside(&self, after: &[u8]) -> bool {
        if !self.itself || after.is_empty() || after.starts_with(b"/") {
            return false;
        }
        let began = values::base_name(self.target.path);
        self.pattern.is_none_or(|pattern| {
            let end = end_of(pattern);
            if end.len() == pattern.len() { began == pattern } else { began.ends_with(end) }
        })
    }

    /// Whether what is found has nothing but ordinary names.
    fn ordinary(&self) -> bool {
        let extension =
            self.pattern.and_then(|p| p.rsplit(|b| *b == b'.').next().filter(|e| e.len() < p.len()));
        extension.is_some_and(|e| ORDINARY.contains(&e))
    }
}

/// What is protected under a name, or fits a pattern, where everything is looked through.
fn protected(run: &Run<'_, '_>, place: &Target<'_>, name: &[u8]) -> Option<Scope> {
    let Covers { workspace, home, .. } = place.covers;
    if !(workspace || home) {
        return None;
    }
    let whole = end_of(name).len() == name.len() && !name.contains(&b'/');
    let exactly = if whole { run.session.protected_by_name(place.path, name) } else { None };
    exactly.or_else(|| run.session.protected_by_pattern(place.path, name))
}

/// Options whose value says which names are meant.
pub(super) const CHOOSING: [&[u8]; 4] = [b"-g", b"--glob", b"--iglob", b"--include"];

/// What a program looks for by name, if that is protected. What reads is given the text to look for as well: of it the names that belong
/// to options count. What is left out is not looked for.
fn sought(run: &Run<'_, '_>, place: &Target<'_>, words: &[Field<'_>], names: bool) -> Option<Scope> {
    let known = |at: Option<usize>| at.and_then(|at| words.get(at)).and_then(|word| word.known());
    let is_left_out = |at: usize| {
        matches!(known(at.checked_sub(2)), Some(b"!" | b"-not")) || known(Some(at + 1)) == Some(b"-prune")
    };
    let named = |(at, word): (usize, &Field<'_>)| {
        let word = word.known()?;
        if word.starts_with(b"--exclude") || word.starts_with(b"--ignore") || is_left_out(at) {
            return None;
        }
        let before = known(at.checked_sub(1)).unwrap_or_default();
        let value = word.iter().position(|byte| *byte == b'=').and_then(|at| word.get(at + 1..));
        let value = value.filter(|_| word.starts_with(b"-"));
        let chosen = names || CHOOSING.contains(&before);
        let word = value.or(chosen.then_some(word))?;
        let is_path = before.ends_with(b"path") || before.ends_with(b"wholename");
        // Of an expression the words at its beginning and end are those of a pattern.
        let word = if before.ends_with(b"regex") { bare(word) } else { word };
        let word = if is_path { word } else { values::base_name(word) };
        protected(run, place, word)
    };
    words.iter().enumerate().skip(1).take(MOST_WORDS).filter_map(named).max()
}

/// Whether an effect changes nothing.
const fn is_look(kind: &EffectKind<'_>) -> bool {
    matches!(kind, EffectKind::Read { .. } | EffectKind::List { .. })
}

/// What names that match a pattern surely end in.
fn end_of(pattern: &[u8]) -> &[u8] {
    pattern.rsplit(|byte| b"*?[]".contains(byte)).next().unwrap_or_default()
}

/// What stands for a name that is found, where other text of a word stands before it: it is told relative to where the search
/// began, at any depth. A divider begins another word of a script, and behind the root alone it may lie in the workspace.
pub(super) fn behind<'a>(arena: &'a Bump, before: &[u8], name: Value<'a>) -> Value<'a> {
    let Some((Piece::Text(start), rest)) = name.split_first() else { return name };
    if before == b"/"
        || before.last().is_none_or(divides)
        || name.origins.without(Origins::FOUND) != Origins::NAMES
    {
        return name;
    }
    let end = start.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let mut pieces = vec![Piece::Glob(b"*")];
    pieces.extend((!end.is_empty()).then_some(Piece::Text(end)));
    pieces.extend_from_slice(rest);
    Value::of(arena, &pieces, name.origins)
}

/// Whether a byte stands between the words of a script, or before the value of an option.
fn divides(byte: &u8) -> bool {
    byte.is_ascii_whitespace() || b"'\"=():;|&<>,@`".contains(byte)
}

/// The names of a pattern at a place.
pub(crate) fn named<'a>(run: &Run<'_, 'a>, place: Target<'a>, pattern: &'a [u8], span: Span) -> Field<'a> {
    Root::of(place, pattern, span).field(run.arena())
}

/// The names of a pattern, at a place or below it, if they are those of secrets, or of what is protected as much; the pattern may
/// begin with directories. What is looked for by the end of its name alone is not meant to be a secret.
pub(crate) fn secret<'a>(
    run: &mut Run<'_, 'a>,
    place: Target<'a>,
    pattern: &'a [u8],
    span: Span,
) -> Option<Root<'a>> {
    let name = values::base_name(pattern);
    if name.starts_with(b"*") {
        return None;
    }
    let root = Root::of(place, name, span);
    let value = root.field(run.arena()).value;
    // Nobody keeps settings where what is built lies, or among temporary files.
    let settled = place.rest == Rest::Exact && !matches!(place.scope, Scope::Product | Scope::Temp);
    match run.target(&value, false).scope {
        Scope::Secret => return Some(root),
        Scope::Own if settled => return Some(root),
        _ => {}
    }
    // What each process has under this name. Nearly everything that is searched is known to hold none.
    let top = place.path.split(|byte| *byte == b'/').nth(1).unwrap_or_default();
    if place.rest == Rest::Exact && !place.covers.processes && !matches!(top, b"" | b"proc" | b"private") {
        return None;
    }
    let mut pieces = value.pieces().to_vec();
    if let Some(Piece::Text(start)) = pieces.first().copied() {
        let above = place.path.len() + usize::from(!place.path.ends_with(b"/"));
        let (above, name) = start.split_at_checked(above)?;
        pieces.splice(
            ..1,
            [Piece::Text(above), Piece::Glob(b"*"), Piece::Text(values::concat(run.arena(), &[b"/", name]))],
        );
    }
    let below = run.target(&Value::of(run.arena(), &pieces, value.origins), false);
    let environment = below.scope == Scope::Environment;
    environment.then_some(Root { target: Target { scope: Scope::Environment, ..place }, ..root })
}

/// Starts programs with found names among their arguments, and makes their effects on these names mean everything that
/// may be found.
pub(super) fn with<'a>(run: &mut Run<'_, 'a>, roots: &[Root<'a>], inner: &mut dyn FnMut(&mut Run<'_, 'a>)) {
    let from = run.session.effects().len();
    let departures = run.session.departures();
    // What is done to a name may change what it leads to: a link is put there.
    let mut before = Vec::with_capacity(roots.len());
    for root in roots {
        let value = root.field(run.arena()).value;
        before.push(run.target(&value, false));
    }
    inner(run);
    if run.session.departures() != departures {
        // What is found relative to here would mean something else there.
        run.not_understood(Unknown::Argument, run.call.span);
    }
    let mut expected = Vec::with_capacity(roots.len());
    for root in roots {
        let value = root.field(run.arena()).value;
        let product = root.product(run);
        expected.push((run.target(&value, false), root, product));
    }
    let changes = run.session.effects().iter().skip(from).any(|effect| !is_look(&effect.kind));
    // To read them is everyday work.
    let protected = |root: &Root<'a>| if changes { root.protected(run) } else { None };
    let guards: Vec<_> = roots.iter().map(|root| (root.guards(run), protected(root))).collect();
    for effect in run.session.effects().iter_mut().skip(from) {
        let reads = is_look(&effect.kind);
        let target = match &mut effect.kind {
            EffectKind::Read { target }
            | EffectKind::List { target }
            | EffectKind::Write { target, .. }
            | EffectKind::Delete { target, .. }
            | EffectKind::Metadata { target, .. } => target,
            _ => continue,
        };
        // What may be anywhere is no less for what was found.
        let is = |e: &Target<'a>| e.path == target.path && e.rest == target.rest && !e.path.is_empty();
        let known = expected.iter().zip(&guards).zip(&before);
        let Some((((_, root, product), (guards, protected)), _)) =
            known.into_iter().find(|(((e, ..), _), before)| is(e) || is(before))
        else {
            continue;
        };
        // What was moved there is none of it.
        if let Some(product) = product.filter(|_| !reads && target.scope == Scope::Product) {
            *target = Target { tree: target.tree, ..product };
            continue;
        }
        let protected = protected.filter(|_| !reads).unwrap_or(target.scope);
        let scope = target.scope.max(root.target.scope).max(protected);
        let few = root.filtered && (!reads || root.ordinary());
        let tree = target.tree || !few;
        // What processes keep is judged by the name that is looked for.
        let processes = root.target.covers.processes && root.pattern.is_none();
        let covers = Covers { guarded: *guards, processes, ..root.target.covers };
        *target = Target { path: root.target.path, rest: Rest::Below, scope, tree, covers };
    }
}

/// Whether a name that is put in place of `marker` may lead anywhere else than below where it was found, because of what
/// stands around it: `/{}` does if names are relative, `{}/..` always. Or whether it may become one of the names that matter wherever they
/// lie: `{}git/config`, `{}/pre-commit`.
pub(super) fn is_led_elsewhere(
    run: &Run<'_, '_>,
    roots: &[Root<'_>],
    word: &Field<'_>,
    marker: &[u8],
) -> bool {
    let here = run.session.cwd();
    let below_here = |root: &Root<'_>| {
        let rest = here.and_then(|here| root.target.path.strip_prefix(here));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || here == Some(b"/"))
    };
    // All were searched for the same names.
    let found = roots.first().and_then(|root| root.pattern).map_or(&b""[..], end_of);
    let mut before: &[u8] = b"";
    for piece in word.value.pieces().iter() {
        let Piece::Text(mut text) = *piece else {
            before = b"?";
            continue;
        };
        while let Some(at) = text.windows(marker.len()).position(|w| same(w, marker)) {
            let (head, tail) =
                (text.get(..at).unwrap_or_default(), text.get(at + marker.len()..).unwrap_or_default());
            let path = head.rsplit(divides).next().unwrap_or_default();
            let path = if head.is_empty() { before } else { path };
            let last = path.rsplit(|b| *b == b'/').next().unwrap_or_default();
            let after = tail.split(divides).next().unwrap_or_default();
            let dots = |part: &[u8]| part.starts_with(b"..");
            if path.starts_with(b"/")
                || path == b"?"
                || (!last.is_empty() && last.iter().all(|b| *b == b'.'))
                || path.split(|b| *b == b'/').chain(after.split(|b| *b == b'/')).any(dots)
                || (path.contains(&b'/') && path != b"./" && !roots.iter().all(below_here))
                || roots.iter().any(|root| root.lies_beside(after))
                || !after.is_empty() && place::may_end_in(found, after)
            {
                return true;
            }
            (before, text) = (b"", tail);
        }
        if !text.is_empty() {
            before = b"?";
        }
    }
    false
}

/// The places at or below which a word lies that is a name which a search has found. `None`: it is no such name, or may be
/// another.
fn found<'a>(run: &mut Run<'_, 'a>, file: &Field<'a>) -> Option<Vec<Root<'a>>> {
    if file.value != NAME {
        return None;
    }
    let told = run.session.effects().len();
    run.session.works(told.saturating_mul(4));
    let torn = run.session.effects().iter().any(|effect| match effect.kind {
        EffectKind::Write { target, .. } => target.path.iter().any(u8::is_ascii_whitespace),
        _ => false,
    });
    let (roots, elsewhere) = listed_since(run, 0, file.span);
    (!torn && !elsewhere && !roots.is_empty()).then_some(roots)
}

/// Where text comes from that is a value of the shell: what a search has printed is names, each whole again.
pub(crate) fn names_of(value: &Value<'_>) -> Origins {
    if *value == NAME { Origins::NAMES } else { value.origins }
}

/// A redirection reads a name which a search has found, as `cat` would.
pub(crate) fn reads_found<'a>(
    session: &mut dyn Session<'a>,
    path: &Value<'a>,
    span: Span,
) -> Option<Stream<'a>> {
    let (name, program) = tables::program(b"cat").filter(|_| *path == NAME)?;
    let call = Call { argv: &[], stdin: Stream::EMPTY, piped: false, span };
    let mut run = Run { session, call, name, program };
    let file = Field { value: *path, span, many: false };
    found(&mut run, &file)?;
    let origins = run.reads(&file, false);
    Some(Stream::unknown(origins, span))
}

/// The only word of an argument list that is a name which a search has found (`for f in $(find src)`), and the places at or below
/// which it lies.
pub(super) fn word<'a>(run: &mut Run<'_, 'a>) -> Option<(usize, Vec<Root<'a>>)> {
    let argv = run.call.argv;
    let mut words =
        argv.iter().enumerate().skip(1).filter(|(_, word)| word.value.origins.contains(Origins::FOUND));
    let ((at, word), None) = (words.next()?, words.next()) else { return None };
    let roots = found(run, word)?;
    let everywhere = roots.iter().any(|root| root.sought.is_some_and(|(words, _)| follows_links(words)));
    (!everywhere).then_some((at, roots))
}

/// Interprets an argument list in which what may be found stands for that word, as if it had been handed on by `xargs`: what
/// the program does with it, it does below where the command has looked.
pub(super) fn standing<'a>(
    run: &mut Run<'_, 'a>,
    at: usize,
    roots: &[Root<'a>],
    inner: &mut dyn FnMut(&mut Run<'_, 'a>) -> Stream<'a>,
) -> Stream<'a> {
    let argv = run.call.argv;
    let Some((before, [word, after @ ..])) = argv.split_at_checked(at) else { return inner(run) };
    let mut output = Stream::unknown(Origins::NONE, run.call.span);
    with(run, roots, &mut |run| {
        let here = run.session.cwd();
        for roots in picked::apart(roots, |root| root.picked) {
            let mut all: Vec<Field<'a>> = Vec::with_capacity(roots.len());
            for root in &roots {
                let mut name = Field { span: word.span, ..root.field(run.arena()) };
                if here.is_none_or(|here| here == root.target.path) && !root.led {
                    // It may be told without a directory before it, and look like an option.
                    name.value.origins = name.value.origins | Origins::FOUND;
                }
                all.push(name);
            }
            // One at a time, unless the word stands for several.
            for some in all.chunks(if word.many { all.len().max(1) } else { 1 }) {
                let mut words = BumpVec::with_capacity_in(argv.len() + some.len(), run.arena());
                words.extend_from_slice_copy(before);
                words.extend(some.iter().map(|name| Field { many: word.many, ..*name }));
                words.extend_from_slice_copy(after);
                run.call.argv = words.into_bump_slice();
                output.origins = output.origins | inner(run).origins;
            }
        }
        run.call.argv = argv;
    });
    output
}

impl<'a> Run<'_, 'a> {
    /// A file is read; where its content comes from.
    pub(crate) fn reads(&mut self, file: &Field<'a>, tree: bool) -> Origins {
        if let Some(roots) = found(self, file) {
            let mut origins = Origins::NONE;
            with(self, &roots, &mut |run| {
                for root in &roots {
                    let name = root.field(run.arena());
                    origins = origins | run.reads(&name, tree);
                }
            });
            return origins;
        }
        let target = self.target(&file.value, tree);
        self.emit(EffectKind::Read { target }, file.span, certainty(file));
        let fetched = if self.reaches(file, Origins::NONE) { Origins::NETWORK } else { Origins::NONE };
        self.session.read_origins(&target) | fetched
    }

    /// A file is written; if it is one that a search has found, whatever lies below where the command has looked.
    pub(super) fn writes_found(&mut self, file: &Field<'a>, mode: WriteMode, content: Stream<'a>) {
        let Some(roots) = found(self, file) else { return self.writes(file, mode, content) };
        with(self, &roots, &mut |run| {
            for root in &roots {
                let name = root.field(run.arena());
                run.writes(&name, mode, content);
            }
        });
    }
}
