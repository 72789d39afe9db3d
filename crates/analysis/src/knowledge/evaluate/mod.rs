//! What programs print when everything they read is known, and of which kind it is where that is not.
//!
//! Only what is exact: an option or a byte that a program might treat otherwise makes the output unknown. This is what
//! lets `echo cm0gLXJm | base64 -d | sh` be read as the command that it is.

mod coding;
mod filters;
mod kinds;
mod printing;

pub(crate) use self::kinds::{Printed, base_name_printed, makes_file, notes_process, prints};

use super::run::Run;
use super::scan::Scan;
use crate::value::Origins;
use shward_syntax::{Dialect, OneOf};

/// The longest text that is made.
const MAX_OUTPUT: usize = 1 << 20;

/// Where process substitutions lie.
const DESCRIPTORS: &[u8] = b"/dev/fd/";

/// Programs whose output is made from the texts that they read.
static FROM_INPUT: OneOf<18> = OneOf::new([
    "cat", "tee", "base64", "base32", "basenc", "xxd", "tr", "rev", "tac", "head", "tail", "cut", "sort",
    "cp", "mv", "install", "dd", "sponge",
]);

/// Programs whose output is made from their arguments.
static FROM_ARGUMENTS: OneOf<7> = OneOf::new(["echo", "printf", "seq", "basename", "dirname", "true", "pwd"]);

/// Whether the texts that a program reads should be gathered.
pub(crate) fn wants(program: &str, scan: &Scan<'_>) -> bool {
    // dd may leave out, turn round or pad.
    FROM_INPUT.has(program.as_bytes()) && (program != "dd" || only(scan, &["if=", "of=", "bs=", "status="]))
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
    let name = run.name;
    let made = if FROM_ARGUMENTS.has(name.as_bytes()) {
        let posix = run.session.dialect() == Dialect::Posix;
        let mut words = Vec::with_capacity(run.args().len());
        for field in run.args() {
            words.push(field.known()?);
        }
        match name {
            // The shells agree only where no escapes are, and no option but one `-n`.
            "echo" if posix && !is_plain_echo(&words) => None,
            "printf"
                if posix
                    && words.iter().any(|w| {
                        w.windows(2).any(|e| matches!(e, [b'\\', b'x' | b'u' | b'U' | b'e' | b'"']))
                    }) =>
            {
                None
            }
            "echo" => printing::echo(&words),
            "printf" => printing::printf(&words),
            "pwd" if words.is_empty() => run.session.cwd().map(|cwd| [cwd, b"\n"].concat()),
            "pwd" => None,
            "seq" => return printing::seq(run.arena(), &words),
            "basename" => printing::basename(&words),
            "dirname" => printing::dirname(&words),
            _ => Some(Vec::new()),
        }
    } else if FROM_INPUT.has(name.as_bytes()) {
        let parts = input?;
        if parts.iter().map(|p| p.len()).sum::<usize>() > MAX_OUTPUT {
            return None;
        }
        let text = parts.concat();
        if !matches!(name, "cat" | "tee") && text.windows(DESCRIPTORS.len()).any(|part| part == DESCRIPTORS) {
            // Only the shell knows the numbers of the descriptors behind process substitutions.
            return None;
        }
        match name {
            "cat" => (scan.own().is_empty() || only(scan, &["-u", "--"])).then_some(text),
            "tee" => Some(text),
            "base64" => coding::base64(scan, &text),
            "base32" => coding::base32(scan, &text),
            "xxd" => coding::xxd(scan, &text),
            "tr" => filters::tr(scan, &text),
            "rev" => scan.own().is_empty().then(|| filters::rev(&text)).flatten(),
            "tac" => scan.own().is_empty().then(|| filters::tac(&text)),
            "head" => filters::head(scan, &text, parts.len()),
            "tail" => filters::tail(scan, &text, parts.len()),
            "cut" => filters::cut(scan, &text),
            "sort" => filters::sort(scan, &text),
            _ => None,
        }
    } else {
        None
    };
    let made = made.filter(|text| text.len() <= MAX_OUTPUT)?;
    Some(run.arena().alloc_slice_copy(&made))
}

/// Whether a program turns encoded text into what it stands for, so that nobody has seen what comes out. `read`: where
/// the text comes from.
pub(crate) fn decodes(program: &str, scan: &Scan<'_>, read: Origins) -> bool {
    match program {
        // The last line first: another program than that which lies there, but the same list of names.
        "tac" => !read.contains(Origins::NAMES),
        "base64" | "base32" | "basenc" => scan.has(&["-d", "-D", "--decode"]),
        "xxd" => scan.has(&["-r", "-revert"]),
        "openssl" => scan.has(&["-d", "-decrypt"]),
        _ => false,
    }
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
