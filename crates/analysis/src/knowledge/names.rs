//! Which programs print names of files, and which pass such a list on unchanged.
//!
//! A list whose origin is [`Origins::NAMES`] alone lets `find … | xargs rm` be judged by where `find` looked.

use super::found::filtered;
use super::run::Run;
use super::scan::Scan;
use super::words::{Fact, Output};
use crate::value::{Field, Origins, Piece};

/// Whether a program prints names alone, each of which lies at or below the working directory: all that it is given does, and of
/// a directory it prints the names that lie in it, without it. One that is named by itself most likely is a directory.
pub(super) fn lists_here(run: &Run<'_, '_>, scan: &Scan<'_>) -> bool {
    let leaves = |piece: &Piece<'_>| match piece {
        Piece::Text(text) => text.windows(2).any(|two| two == b".."),
        Piece::Glob(_) => false,
        Piece::Unknown | Piece::Made => true,
    };
    let is_below = |field: &Field<'_>| {
        !field.value.known_prefix().starts_with(b"/") && !field.value.pieces().iter().any(leaves)
    };
    run.has(Fact::NamesHere, scan)
        && !scan.unlisted
        && scan.operands.iter().all(is_below)
        && (scan.has(&["-d", "--directory"]) || scan.operands.iter().all(|operand| operand.value.has_glob()))
}

/// The origins of a program's output, in which names stay names only if the program does not touch them.
pub(super) fn kept<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>, origins: Origins) -> Origins {
    let described = scan
        .levels
        .iter()
        .any(|level| matches!(level.output(), Output::Origins(names) if names.contains(&"names")));
    // What an option does that is not described, it may do to what is printed.
    if !scan.unlisted && (described || run.has(Fact::PrintsNames, scan)) {
        // What it is told on its command line does not get into them.
        let places = Origins::FILE | Origins::OUTSIDE | Origins::LITERAL;
        let handed = run.call.stdin.origins.contains(Origins::UNKNOWN);
        let told = if handed { places } else { places | Origins::UNKNOWN };
        return origins.without(told) | Origins::NAMES;
    }
    if !origins.contains(Origins::NAMES) {
        return origins;
    }
    let passes = !scan.unlisted && run.has(Fact::SameLines, scan);
    if passes && !run.call.piped {
        // Names that were kept in a variable may have been printed in another directory.
        return origins.without(Origins::NAMES) | Origins::FILE | Origins::TOLD;
    }
    if passes {
        filtered::choose(run, scan);
        // What it is told chooses among the lines, and does not get into them either.
        let told = run.call.stdin.origins.contains(Origins::LITERAL);
        return if told { origins } else { origins.without(Origins::LITERAL) };
    }
    origins.without(Origins::NAMES) | Origins::FILE | Origins::TOLD
}
