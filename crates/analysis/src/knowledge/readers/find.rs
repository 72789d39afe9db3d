//! `find`: starting points, then an expression whose actions read, delete, write or run.
//!
//! find(1), GNU findutils 4.9. Every action counts, wherever it stands: a branch of the expression that is not taken is
//! not something that the names alone would tell.

mod primaries;

use crate::effect::{Certainty, EffectKind, Rest, Unknown, WriteMode};
use crate::knowledge::found::filtered;
use crate::knowledge::found::hidden;
use crate::knowledge::found::{self, Root};
use crate::knowledge::run::{Run, certainty};
use crate::knowledge::scan::At;
use crate::knowledge::values;
use crate::knowledge::words::Syntax;
use crate::session::Reentry;
use crate::value::{Field, Origins, Piece, Stream, Value};
use crate::world::FileKind;
use bumpalo::collections::Vec as BumpVec;
use primaries::{ALONE, FILTERS, NAMING, WITH_ARGUMENT};
use shward_syntax::Span;

/// Deepest nesting of parentheses.
const MAX_DEPTH: usize = 50;

/// Most actions times starting points.
const MAX_WORK: usize = 2048;

/// Most words of a command that it starts.
const MOST_WORDS: usize = 16 << 10;

/// Reads the arguments of `find`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let span = run.call.span;
    let mut args = at.args;
    let mut roots = BumpVec::new_in(run.arena());
    while let Some((arg, rest)) = args.split_first() {
        let text = arg.value.known_prefix();
        match text {
            b"-H" | b"-L" | b"-P" | b"-E" | b"-X" | b"-x" | b"-s" | b"-O0" | b"-O1" | b"-O2" | b"-O3"
                if roots.is_empty() => {}
            b"-D" if roots.is_empty() => {
                args = rest.split_first().map(|(_, rest)| rest).unwrap_or_default();
                continue;
            }
            b"--help" | b"-help" | b"--version" | b"-version" => {
                return Stream::unknown(Origins::LITERAL, span);
            }
            b"--" if arg.known().is_some() => {}
            [b'-', _, ..] | b"(" | b"!" | b"," => break,
            _ => {
                let open =
                    text.is_empty() && !matches!(arg.value.pieces().first(), None | Some(Piece::Glob(_)));
                if open || text == b"-" && arg.known().is_none() {
                    // Whatever it is, it may as well be `-delete`.
                    run.emit(
                        EffectKind::Unknown { reason: Unknown::Argument },
                        arg.span,
                        Certainty::Possible,
                    );
                }
                roots.push(*arg);
            }
        }
        args = rest;
    }
    if roots.is_empty() {
        roots.push(values::field(b".", Origins::LITERAL, span));
    }
    let mut expression = Expression {
        run,
        roots: roots.into_bump_slice(),
        args,
        output: Stream { text: None, origins: Origins::NAMES, source: Some(span) },
        filtered_everywhere: true,
        acts: false,
        secrets: Vec::new(),
        others: 0,
        work: 0,
        looked: 0,
    };
    expression.alternatives(Guard::default(), 0);
    if !expression.args.is_empty() {
        // A closing parenthesis too many: find refuses to start.
        expression.args = &[];
    }
    expression.list_secrets();
    let Expression { output, filtered_everywhere, acts, roots, run, .. } = expression;
    let filtered = filtered_everywhere && !acts;
    for root in roots {
        let mut target = run.target(&root.value, true);
        if filtered && target.rest == Rest::Exact {
            target.rest = Rest::Below;
        }
        run.emit(EffectKind::List { target }, root.span, certainty(root));
    }
    output
}

/// What the tests before an action leave over.
#[derive(Debug, Clone, Copy, Default)]
struct Guard<'a> {
    filtered: bool,
    pattern: Option<&'a [u8]>,
    /// What else is said of the name or the path, as a pattern.
    within: Option<&'a [u8]>,
}

struct Expression<'r, 's, 'a> {
    run: &'r mut Run<'s, 'a>,
    roots: &'a [Field<'a>],
    args: &'a [Field<'a>],
    output: Stream<'a>,
    /// Every way to the end leads through a test that leaves only some names.
    filtered_everywhere: bool,
    /// There is an action beside printing.
    acts: bool,
    /// Secrets that it is told to look for by name, but for what it is told not to descend into.
    secrets: Vec<Root<'a>>,
    /// How many of them other alternatives look for.
    others: usize,
    /// How many times something was done to a starting point.
    work: usize,
    /// How often a name was looked for below one.
    looked: usize,
}

/// Whether a format of `-printf` says words of its own, beside what it tells of files.
fn says_words(format: &Field<'_>) -> bool {
    let Some(text) = format.known() else { return true };
    let mut bytes = text.iter();
    let mut letters = 0;
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => {
                let directive = bytes.find(|byte| !(byte.is_ascii_digit() || b"-+ #0.".contains(byte)));
                if matches!(directive, Some(b'A' | b'B' | b'C' | b'T')) {
                    bytes.next();
                }
            }
            // A character by its number may be a letter.
            b'\\' if bytes.next().is_some_and(u8::is_ascii_digit) => return true,
            b'\\' => {}
            byte if byte.is_ascii_alphabetic() => letters += 1,
            _ => letters = 0,
        }
        if letters > 1 {
            return true;
        }
    }
    false
}

impl<'a> Expression<'_, '_, 'a> {
    fn next(&mut self) -> Option<Field<'a>> {
        let (first, rest) = self.args.split_first()?;
        self.args = rest;
        Some(*first)
    }

    /// Chains separated by `-o`; gives what holds of a name that passes.
    fn alternatives(&mut self, before: Guard<'a>, depth: usize) -> Guard<'a> {
        if depth > MAX_DEPTH {
            self.args = &[];
            let span = self.run.call.span;
            self.run.not_understood(Unknown::Budget("find expression"), span);
            return Guard::default();
        }
        let mut all: Option<Guard<'a>> = None;
        loop {
            let passed = self.chain(before, depth);
            let filtered = passed.filtered && all.is_none_or(|others| others.filtered);
            // Several patterns are none.
            let pattern = if all.is_none() { passed.pattern } else { None };
            let within = all.map_or(passed.within, |others| others.within.or(passed.within));
            all = Some(Guard { filtered, pattern, within });
            match self.args.first().and_then(|arg| arg.known()) {
                Some(b"-o" | b"-or") => {
                    self.args = self.args.split_first().map(|(_, rest)| rest).unwrap_or_default();
                }
                _ => {
                    if depth == 0 {
                        self.filtered_everywhere = filtered;
                    }
                    return Guard { filtered, pattern, within };
                }
            }
        }
    }

    /// Tests and actions that all must hold.
    fn chain(&mut self, before: Guard<'a>, depth: usize) -> Guard<'a> {
        let mut guard = before;
        let mut negated = false;
        let secrets = self.secrets.len();
        if depth == 0 {
            self.others = secrets;
        }
        while let Some(word) = self.args.first().copied() {
            let Some(text) = word.known() else {
                self.next();
                self.run.not_understood(Unknown::Argument, word.span);
                continue;
            };
            match text {
                b"-o" | b"-or" | b")" => return guard,
                b"!" | b"-not" => {
                    self.next();
                    negated = !negated;
                    continue;
                }
                b"(" => {
                    self.next();
                    let passed = self.alternatives(guard, depth + 1);
                    if self.args.first().and_then(|arg| arg.known()) == Some(b")") {
                        self.next();
                    }
                    if !negated {
                        guard = passed;
                    }
                }
                _ => {
                    self.next();
                    self.primary(text, &word, &mut guard, negated);
                    if text == b"-prune" {
                        self.secrets.truncate(secrets);
                    }
                }
            }
            negated = false;
        }
        guard
    }

    fn primary(&mut self, text: &'a [u8], word: &Field<'a>, guard: &mut Guard<'a>, negated: bool) {
        let names = Origins::FILE | Origins::TOLD;
        let stream = Stream { text: None, origins: names, source: Some(word.span) };
        match text {
            b"-delete" => {
                self.acts = true;
                self.delete(word, *guard);
            }
            b"-exec" | b"-execdir" | b"-ok" | b"-okdir" => {
                self.acts = true;
                self.exec(word, *guard, matches!(text, b"-execdir" | b"-okdir"));
            }
            b"-fprint" | b"-fprint0" | b"-fls" => {
                if let Some(file) = self.next() {
                    self.run.writes(&file, WriteMode::Replace, stream);
                }
            }
            b"-fprintf" => {
                let file = self.next();
                let told = self.next().is_none_or(|format| says_words(&format));
                let origins = if told { stream.origins | Origins::LITERAL } else { stream.origins };
                if let Some(file) = file {
                    self.run.writes(&file, WriteMode::Replace, Stream { origins, ..stream });
                }
            }
            b"-files0-from" => {
                if let Some(file) = self.next() {
                    self.run.reads(&file, false);
                    self.run.not_understood(Unknown::Argument, file.span);
                }
            }
            b"-printf" => {
                // Other text than names.
                let told = self.next().is_none_or(|format| says_words(&format));
                self.output.origins = if told { names | Origins::LITERAL } else { names };
            }
            b"-ls" => self.output.origins = names,
            b"-depth" => {}
            _ if ALONE.has(text) => {}
            _ if WITH_ARGUMENT.has(text) || (text.starts_with(b"-newer") && text.len() == 8) => {
                let value = self.next();
                let filters = FILTERS.has(text) || text.starts_with(b"-newer");
                let everything = value.is_some_and(|v| matches!(v.known(), Some(b"*" | b"**" | b"./*")));
                let everything =
                    everything || text.ends_with(b"regex") && value.is_some_and(|v| v.known() == Some(b".*"));
                if filters && !negated && !everything {
                    guard.filtered = true;
                    let told = value.and_then(|value| value.known());
                    let expression = value.filter(|_| text.ends_with(b"regex"));
                    let told = match expression {
                        Some(_) => told.map(|told| glob_of(self.run, told)),
                        None => told,
                    };
                    if text == b"-name" {
                        guard.pattern = told;
                    } else if NAMING.has(text) && text != b"-samefile" {
                        guard.within = told;
                    }
                    if let Some(told) = told.filter(|_| NAMING.has(text)) {
                        self.look_for_secrets(told, text.starts_with(b"-i"), word.span);
                    }
                    // Which of them it is, another word says.
                    let syntaxes = [Syntax::Basic, Syntax::Extended];
                    let any_case = text.starts_with(b"-i");
                    let spelled = |value| filtered::spelled_in(self.run, &value, &syntaxes, any_case);
                    for name in expression.map(spelled).unwrap_or_default() {
                        self.look_for_secrets(name, false, word.span);
                    }
                }
            }
            _ => self.run.not_understood(Unknown::Option(text), word.span),
        }
    }

    /// Notes the secrets that a pattern for names may mean.
    fn look_for_secrets(&mut self, pattern: &'a [u8], any_case: bool, span: Span) {
        let folds = any_case && pattern.iter().any(u8::is_ascii_uppercase);
        let lower = folds.then(|| &*self.run.arena().alloc_slice_copy(&pattern.to_ascii_lowercase()));
        // What is done with what is found has a count of its own.
        self.looked += self.roots.len();
        if self.looked > MAX_WORK {
            return self.run.not_understood(Unknown::Budget("find names"), span);
        }
        for root in self.roots {
            let place = self.run.target(&root.value, false);
            let written = found::secret(self.run, place, pattern, root.span);
            let secret = written.or_else(|| found::secret(self.run, place, lower?, root.span));
            self.secrets.extend(secret);
        }
    }

    /// Secrets that are looked for by their names are listed as such: who reads the list and opens what it names opens them.
    fn list_secrets(&mut self) {
        for secret in std::mem::take(&mut self.secrets) {
            filtered::list(self.run, &secret);
        }
    }

    fn delete(&mut self, word: &Field<'a>, guard: Guard<'a>) {
        for secret in self.secrets.get(self.others..).unwrap_or_default().to_vec() {
            let named = secret.field(self.run.arena());
            let target = self.run.target(&named.value, false);
            self.run.emit(EffectKind::Delete { target, kept: false }, word.span, Certainty::Possible);
        }
        for root in self.found(guard) {
            if let Some(target) = root.product(self.run) {
                self.run.emit(EffectKind::Delete { target, kept: false }, word.span, Certainty::Possible);
                continue;
            }
            let mut target = root.target;
            if root.filtered {
                target.rest = Rest::Below;
            }
            target.tree = !root.filtered;
            target.covers.guarded |= root.guards(self.run);
            self.run.emit(EffectKind::Delete { target, kept: false }, word.span, Certainty::Possible);
        }
    }

    /// What is found, and what of it is a secret by a name that is said in another way than as a pattern for names.
    fn found_with_secrets(&mut self, guard: Guard<'a>) -> Vec<Root<'a>> {
        let mut roots = self.found(guard);
        let secrets = self.secrets.get(self.others..).unwrap_or_default();
        for root in &mut roots {
            let same =
                |secret: &&Root<'a>| secret.pattern == root.pattern && secret.target.path == root.target.path;
            let worst = secrets.iter().filter(same).map(|secret| secret.target.scope).max();
            root.target.scope = root.target.scope.max(worst.unwrap_or(root.target.scope));
        }
        roots.extend(secrets.iter().filter(|secret| secret.pattern != guard.pattern));
        self.work += secrets.len();
        roots
    }

    fn found(&mut self, guard: Guard<'a>) -> Vec<Root<'a>> {
        self.work += self.roots.len();
        if self.work > MAX_WORK {
            let span = self.run.call.span;
            self.run.not_understood(Unknown::Budget("find actions"), span);
            return Vec::new();
        }
        let mut found = Vec::with_capacity(self.roots.len());
        let words = self.run.session.words_of(self.run.session.invocation());
        // What a pattern names is told by the pattern.
        let hidden = guard.pattern.is_none() && hidden::finds_any(words);
        for root in self.roots {
            let target = self.run.target(&root.value, false);
            let Guard { pattern, filtered, within } = guard;
            let within = within.map(|within| composed(self.run, within, pattern));
            let world = self.run.session.world();
            let itself =
                root.known() != Some(b".") && !(filtered && world.kind(target.path) == FileKind::Directory);
            found.push(Root {
                target,
                pattern,
                within,
                itself,
                filtered,
                sought: None,
                led: false,
                hidden,
                picked: false,
                again: false,
                span: root.span,
            });
        }
        found
    }

    /// `-exec COMMAND… ;` and `-exec COMMAND… {} +`. `there`: in the directory of what is found.
    fn exec(&mut self, word: &Field<'a>, guard: Guard<'a>, there: bool) {
        let roots = self.found_with_secrets(guard);
        let mut words: Vec<Field<'a>> = Vec::new();
        while let Some(arg) = self.next() {
            let after_braces = words.last().is_some_and(|last| last.known() == Some(b"{}"));
            match arg.known() {
                Some(b";") => break,
                Some(b"+") if after_braces => break,
                _ => words.push(arg),
            }
        }
        if words.is_empty() {
            self.run.not_understood(Unknown::Argument, word.span);
            return;
        }
        if words.len() > MOST_WORDS {
            self.run.not_understood(Unknown::Budget("words of find -exec"), word.span);
            words.truncate(MOST_WORDS);
        }
        if words.iter().any(|word| found::is_led_elsewhere(self.run, &roots, word, b"{}")) {
            self.run.not_understood(Unknown::Argument, word.span);
        }
        let mut origins = Origins::FILE;
        let place = Field { value: Value::unknown(Origins::NAMES), span: word.span, many: false };
        let places = if there { std::slice::from_ref(&place) } else { &[] };
        found::with(self.run, &roots, &mut |run| {
            for root in &roots {
                let name = root.field(run.arena());
                let part = root.part(run.arena());
                let argv = words.iter().map(|word| filled(run, word, &name, part));
                let argv = BumpVec::from_iter_in(argv, run.arena()).into_bump_slice();
                run.within(places, &mut |run| {
                    let output = run.argv(argv, run.call.stdin, Reentry::New);
                    origins = origins | output.origins;
                });
            }
        });
        self.output.origins = origins;
    }
}

/// A regular expression as a pattern, as far as its beginning and end go.
fn glob_of<'a>(run: &Run<'_, 'a>, expression: &[u8]) -> &'a [u8] {
    let mut glob = Vec::with_capacity(expression.len());
    let mut rest = expression;
    while let Some((byte, after)) = rest.split_first() {
        rest = match (byte, after) {
            (b'\\', [escaped, after @ ..]) => {
                glob.push(*escaped);
                after
            }
            (b'.', [b'*' | b'+', after @ ..]) => {
                glob.push(b'*');
                after
            }
            (b'^' | b'$', _) => after,
            _ => {
                glob.push(if b".()|{}+".contains(byte) { b'*' } else { *byte });
                after
            }
        };
    }
    run.arena().alloc_slice_copy(&glob)
}

/// A pattern for a path, with that for the name in it.
fn composed<'a>(run: &Run<'_, 'a>, within: &'a [u8], name: Option<&'a [u8]>) -> &'a [u8] {
    let last = values::base_name(within);
    match (name, within.strip_suffix(last)) {
        (Some(name), Some(above)) if last.iter().all(|byte| *byte == b'*') && !above.is_empty() => {
            values::concat(run.arena(), &[above, name])
        }
        _ => within,
    }
}

/// A word with every `{}` in it replaced by what is found: by `name` if it is nothing else, by `part` inside of more.
fn filled<'a>(run: &Run<'_, 'a>, word: &Field<'a>, name: &Field<'a>, part: Value<'a>) -> Field<'a> {
    if word.known() == Some(b"{}") {
        return Field { span: word.span, ..*name };
    }
    let (arena, origins) = (run.arena(), word.value.origins);
    let mut parts = Vec::new();
    let mut any = false;
    for piece in word.value.pieces().iter() {
        let Piece::Text(mut text) = *piece else {
            parts.push(Value::of(arena, std::slice::from_ref(piece), origins));
            continue;
        };
        while let Some(at) = text.windows(2).position(|w| w == b"{}") {
            let before = text.get(..at).unwrap_or_default();
            if !before.is_empty() {
                parts.push(Value::text(before, origins));
            }
            parts.push(found::behind(arena, before, part));
            any = true;
            text = text.get(at + 2..).unwrap_or_default();
        }
        if !text.is_empty() {
            parts.push(Value::text(text, origins));
        }
    }
    if !any {
        return *word;
    }
    let value = values::joined(arena, &parts);
    Field { value: value.from_origins(value.origins | origins), ..*word }
}
