//! What programs print when everything they read is known, and of which kind it is where that is not.
//!
//! Only what is exact: an option or a byte that a program might treat otherwise makes the output unknown. This is what
//! lets `echo cm0gLXJm | base64 -d | sh` be read as the command that it is.

mod coding;
mod filters;
mod kinds;
mod printing;

pub(crate) use self::kinds::{
    Printed, base_name_printed, filled_in, locates, makes_file, notes_process, prints,
};

use super::run::Run;
use super::scan::Scan;
use super::words::{Computed, Fact};
use crate::value::Origins;
use shward_syntax::Dialect;

/// The longest text that is made.
const MAX_OUTPUT: usize = 1 << 20;

/// Where process substitutions lie.
const DESCRIPTORS: &[u8] = b"/dev/fd/";

/// Whether the texts that a program reads should be gathered.
pub(crate) fn wants(run: &Run<'_, '_>, scan: &Scan<'_>) -> bool {
    run.program.computes().is_some_and(|(how, _)| !is_of_arguments(how)) || run.has(Fact::Copies, scan)
}

/// Whether it is the arguments of a program that what it prints is made of, and not what it reads.
const fn is_of_arguments(how: Computed) -> bool {
    matches!(
        how,
        Computed::Words
            | Computed::Formatted
            | Computed::Numbers
            | Computed::LastName
            | Computed::Parent
            | Computed::Here
            | Computed::Nothing
    )
}

/// What bash's `echo` or `printf` prints for these arguments; `None` if that is not certain.
#[must_use]
pub fn printed(builtin: &[u8], arguments: &[&[u8]]) -> Option<Vec<u8>> {
    let printed = match builtin {
        b"echo" => printing::echo(arguments),
        b"printf" => printing::printf(arguments),
        _ => None,
    };
    printed.filter(|text| text.len() <= MAX_OUTPUT)
}

/// The output, from the texts that were read or from the arguments.
pub(crate) fn output<'a>(run: &Run<'_, 'a>, scan: &Scan<'a>, input: Option<&[&[u8]]>) -> Option<&'a [u8]> {
    let (how, known) = run.program.computes()?;
    let made = if is_of_arguments(how) {
        let posix = run.session.dialect() == Dialect::Posix;
        let mut words = Vec::with_capacity(run.args().len());
        for field in run.args() {
            words.push(field.known()?);
        }
        match how {
            // The shells agree only where no escapes are, and no option but one `-n`.
            Computed::Words if posix && !is_plain_echo(&words) => None,
            Computed::Formatted
                if posix
                    && words.iter().any(|w| {
                        w.windows(2).any(|e| matches!(e, [b'\\', b'x' | b'u' | b'U' | b'e' | b'"']))
                    }) =>
            {
                None
            }
            Computed::Words => printing::echo(&words),
            Computed::Formatted => printing::printf(&words),
            Computed::Here if words.is_empty() => run.session.cwd().map(|cwd| [cwd, b"\n"].concat()),
            Computed::Numbers => return printing::seq(run.arena(), &words),
            Computed::LastName => printing::basename(&words),
            Computed::Parent => printing::dirname(&words),
            Computed::Nothing => Some(Vec::new()),
            _ => None,
        }
    } else {
        let parts = input?;
        if parts.iter().map(|p| p.len()).sum::<usize>() > MAX_OUTPUT || !scan.allows(&known) {
            return None;
        }
        let text = parts.concat();
        if how != Computed::Whole && text.windows(DESCRIPTORS.len()).any(|part| part == DESCRIPTORS) {
            // Only the shell knows the numbers of the descriptors behind process substitutions.
            return None;
        }
        match how {
            Computed::Whole => Some(text),
            Computed::Base64 => coding::base64(scan, &text),
            Computed::Base32 => coding::base32(scan, &text),
            Computed::Hex => coding::xxd(scan, &text),
            Computed::Mapped => filters::tr(scan, &text),
            Computed::Mirrored => filters::rev(&text),
            Computed::Backwards => Some(filters::tac(&text)),
            Computed::FirstLines => filters::head(scan, &text, parts.len()),
            Computed::LastLines => filters::tail(scan, &text, parts.len()),
            Computed::Columns => filters::cut(scan, &text),
            Computed::Sorted => filters::sort(scan, &text),
            _ => None,
        }
    };
    let made = made.filter(|text| text.len() <= MAX_OUTPUT)?;
    Some(run.arena().alloc_slice_copy(&made))
}

/// Whether a program turns encoded text into what it stands for, so that nobody has seen what comes out. `read`: where
/// the text comes from.
pub(crate) fn decodes(run: &Run<'_, '_>, scan: &Scan<'_>, read: Origins) -> bool {
    // The last line first: another program than that which lies there, but the same list of names.
    run.has(Fact::Decodes, scan) || run.has(Fact::Reorders, scan) && !read.contains(Origins::NAMES)
}

/// Whether every shell's `echo` prints the same for these words.
fn is_plain_echo(words: &[&[u8]]) -> bool {
    let text = words.strip_prefix(&[&b"-n"[..]]).unwrap_or(words);
    !text.first().is_some_and(|first| first.starts_with(b"-"))
        && !text.iter().any(|word| word.contains(&b'\\'))
}

/// Whether no other options than these are given.
fn only(scan: &Scan<'_>, names: &[&str]) -> bool {
    scan.own().iter().all(|given| names.contains(&given.name))
}
