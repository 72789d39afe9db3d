//! `kill`: the first argument may be a signal; every other word with a dash is then a process group.

use crate::knowledge::apply;
use crate::knowledge::change::is_own_job;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::value::{Field, Origins, Stream};
use bumpalo::collections::Vec as BumpVec;

/// Reads the arguments of `kill`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let mut rest = at.args;
    if let Some((first, after)) = at.args.split_first()
        && let Some(signal) = first.known().and_then(signal)
    {
        if signal == b"0" {
            // Only asks whether the process is there (kill(2)).
            return Stream::unknown(Origins::LITERAL, run.call.span);
        }
        rest = after;
        if rest.first().and_then(Field::known) == Some(b"--") {
            rest = rest.get(1..).unwrap_or_default();
        }
        let mut args = BumpVec::with_capacity_in(rest.len() + 1, run.arena());
        args.push(run.part(first, b"--"));
        args.extend_from_slice_copy(rest);
        rest = args.into_bump_slice();
    } else if let Some(first) = at.args.first().filter(|first| is_own_job(&first.value)) {
        // A number, and no option.
        let args = [run.part(first, b"--")].into_iter().chain(at.args.iter().copied());
        rest = BumpVec::from_iter_in(args, run.arena()).into_bump_slice();
    }
    let scan = run.scan(&At { args: rest, ..*at });
    apply::apply(run, &scan)
}

/// The signal of `-9`, `-KILL`, `-SIGKILL`, `-RTMIN+1`; `None` for options.
fn signal(word: &[u8]) -> Option<&[u8]> {
    let name = word.strip_prefix(b"-")?;
    let digits = name.iter().all(u8::is_ascii_digit);
    let letters =
        name.len() > 1 && name.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-'));
    let starts = name.first().is_some_and(u8::is_ascii_alphanumeric);
    (starts && (digits || letters)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::signal;

    #[test]
    fn signals_and_options() {
        for word in ["-9", "-15", "-KILL", "-sigterm", "-RTMIN+1", "-0"] {
            assert!(signal(word.as_bytes()).is_some(), "{word}");
        }
        for word in ["-l", "-s", "-L", "--", "--list", "-", "9", "%1"] {
            assert!(signal(word.as_bytes()).is_none(), "{word}");
        }
    }
}
