//! Names that a search has printed, where the shell takes them up: `for f in $(find …)`, `git ls-files | while read f`.
//!
//! What such a name is, is not known, but where it lies is: at or below what was searched. That holds only as long as the
//! shell stands where the search stood, and as long as nobody has torn the name apart or put anything to it; then it is as
//! unknown as any other text.

use super::Interpreter;
use super::builtins::Given;
use super::words::Separators;
use crate::effect::{EffectKind, Rest};
use crate::session::Session as _;
use crate::value::{Found, Origins, Piece, Stream, Value};

impl<'a> Interpreter<'a, '_> {
    /// Where the names lie that were printed since there were so many effects, if all that was printed are such names.
    /// `ended`: each is taken up to the NUL behind it; `by_line`: to the end of the line.
    pub(super) fn found_since(
        &mut self,
        output: &Stream<'a>,
        effects: usize,
        ended: bool,
        by_line: bool,
    ) -> Option<&'a Found<'a>> {
        if output.origins != Origins::NAMES || output.text.is_some() || !self.links.is_empty() {
            return None;
        }
        let from = self.cwd()?;
        if !self.budget.plan(self.effects.len().saturating_add(self.invocations.len())) {
            return None;
        }
        // Through a pipe that ends here, what was found before it may come as well.
        let first = self.upstream.map_or(effects, |upstream| upstream.min(effects));
        if !ended
            && self
                .invocations
                .iter()
                .any(|started| started.argv.iter().any(|field| ends_with_nul(&field.value)))
        {
            // The shell drops NULs: the end of one name joins the beginning of the next.
            return None;
        }
        // Where blanks divide names, what stands behind one begins with anything; else only a name that is told without the
        // place where it was looked for does, which `find` always tells.
        let mut dashed = !ended && !by_line;
        let mut below: Option<&'a [u8]> = None;
        for (at, effect) in self.effects.iter().enumerate() {
            let (target, entries) = match effect.kind {
                // What the script names itself it may have named so that it is torn apart.
                EffectKind::Write { target, .. } if target.path.iter().any(tears) => return None,
                EffectKind::List { target } => (target, !target.tree && target.rest != Rest::Below),
                EffectKind::Read { target } => (target, false),
                _ => continue,
            };
            if at < first || by_line && at >= self.downstream {
                continue;
            }
            if target.rest == Rest::Unknown
                || target.path.is_empty()
                || self.worked_in(effect.invocation) != Some(from)
            {
                return None;
            }
            // Who lists a directory may print what is in it without the directory's name.
            let place = match within(target.path, from) {
                false if entries => return None,
                true if entries => from,
                _ => target.path,
            };
            let tells_all = effect.invocation.is_some_and(|number| {
                let started = usize::try_from(number).ok().and_then(|at| self.invocations.get(at));
                started.is_some_and(|started| started.program == Some(b"find"))
            });
            dashed |=
                entries || !tells_all || place.split(|byte| *byte == b'/').any(|name| name.starts_with(b"-"));
            below = Some(match below {
                None => place,
                Some(other) if within(place, other) => other,
                Some(other) if within(other, place) => place,
                Some(other) if within(other, from) && within(place, from) => from,
                Some(_) => return None,
            });
        }
        Some(self.arena.alloc(Found { below: below?, from, dashed }))
    }

    /// What `read` gives to its one variable, if that is a name from the pipe.
    pub(super) fn found_by_reading(&mut self, given: &Given<'a>, stream: &Stream<'a>) -> Option<Value<'a>> {
        let upstream = self.upstream?;
        let whole = given.options.iter().all(|(letter, _)| matches!(letter, b'r' | b'd' | b'p' | b's'));
        let ended = match given.value(b'd') {
            None => false,
            Some(end) if end.known() == Some(b"") => true,
            Some(_) => return None,
        };
        if !whole || !self.is_piped() || !self.separators().are_blanks() {
            return None;
        }
        let found = self.found_since(stream, upstream, ended, true)?;
        Some(Value { pieces: self.arena.alloc([Piece::Found(found)]), origins: stream.origins })
    }
}

impl Separators<'_> {
    /// Whether nothing but blanks separates fields: in names of files these are rare, and lead nowhere else.
    pub(super) fn are_blanks(self) -> bool {
        matches!(self, Separators::Known(list) if list.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\n')))
    }
}

/// Whether a path is a directory, or lies below it.
fn within(path: &[u8], directory: &[u8]) -> bool {
    directory == b"/" || path.strip_prefix(directory).is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
}

/// Whether an argument makes a program end names with NUL (`-print0`, `-z`, `-lZ`), as far as can be told without knowing
/// the program.
fn ends_with_nul(argument: &Value<'_>) -> bool {
    match argument.known() {
        Some(
            b"-print0" | b"-0" | b"--null" | b"--null-data" | b"--zero" | b"--zero-terminated" | b"--print0",
        ) => true,
        Some([b'-', letters @ ..]) if letters.len() <= 3 => {
            letters.iter().any(|byte| matches!(byte, b'z' | b'Z' | b'0'))
        }
        Some(_) => false,
        None => false,
    }
}

/// Whether a name that holds this byte is divided, or read as another one, where the shell takes names from text.
const fn tears(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\t' | b' ' | b'\\')
}
