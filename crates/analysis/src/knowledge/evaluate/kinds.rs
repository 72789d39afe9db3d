//! Programs that print text of a known kind and nothing else, whatever the text is.

use crate::knowledge::tables::{self, Program};
use crate::knowledge::words::{Computed, Telling};
use crate::value::{Field, Origins, Piece, Value};
use bumpalo::Bump;

/// What kind of text a program prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Printed {
    /// A decimal number.
    Number,
    /// Letters, digits and marks that neither divide a path nor are blank, a pattern, or a dash at the beginning.
    Word,
    /// Any number of such words.
    Words,
    /// The name of a branch or tag: nothing in it is blank or a pattern.
    Name,
}

/// What a program prints with these arguments, and whether it always does.
pub(crate) fn prints(argv: &[Field<'_>]) -> Option<(Printed, bool)> {
    let (program, arguments) = argv.split_first()?;
    let telling = described(program)?.tells()?;
    let known: Vec<Option<&[u8]>> = arguments.iter().map(Field::known).collect();
    match (telling, known.as_slice()) {
        (Telling::Counts, [Some(b"-l" | b"-c" | b"-w" | b"-m" | b"-L")]) => Some((Printed::Number, true)),
        (Telling::Number, []) | (Telling::Ids, [Some(b"-u" | b"-g")]) => Some((Printed::Number, true)),
        (Telling::Machine, [] | [Some(b"-m" | b"-s" | b"-r")]) | (Telling::Word, []) => {
            Some((Printed::Word, true))
        }
        (Telling::Moment, [Some(format)]) | (Telling::Moment, [Some(b"-u" | b"--utc"), Some(format)]) => {
            Some((date(format)?, true))
        }
        (Telling::Moment, [Some(b"-d" | b"--date"), when, Some(format)]) if when.is_some() => {
            Some((date(format)?, false))
        }
        (Telling::Matches, [Some(options), rest @ ..]) => {
            let letters = options.strip_prefix(b"-")?;
            let counts =
                letters.contains(&b'c') && letters.iter().all(|letter| b"civwxsEFGP".contains(letter));
            let files = arguments.get(2..).unwrap_or_default();
            let pattern =
                rest.first().is_some_and(|pattern| pattern.is_some_and(|text| !text.starts_with(b"-")));
            (counts && pattern && files.len() <= 1 && files.iter().all(is_operand))
                .then_some((Printed::Number, false))
        }
        (Telling::Sizes, [Some(b"-c%s" | b"-c%Y" | b"--format=%s" | b"--format=%Y" | b"--printf=%s"), _]) => {
            arguments.last().is_some_and(is_operand).then_some((Printed::Number, false))
        }
        (Telling::Sizes, [Some(b"-c"), Some(b"%s" | b"%Y"), _]) => {
            arguments.last().is_some_and(is_operand).then_some((Printed::Number, false))
        }
        (Telling::Commits, [Some(sub), rest @ ..]) => git(sub, rest, arguments.get(1..).unwrap_or_default()),
        _ => None,
    }
}

/// The last name of the path that `basename` is given, as far as it is known, and whether it surely prints it.
pub(crate) fn base_name_printed<'a>(arena: &'a Bump, argv: &[Field<'a>]) -> Option<(Value<'a>, bool)> {
    let (path, suffix) = match argv {
        [_, path] => (path, &b""[..]),
        [_, path, suffix] => (path, suffix.known()?),
        _ => return None,
    };
    if argv.first().is_none_or(|program| computes(program) != Some(Computed::LastName)) {
        return None;
    }
    let value = path.value;
    let option = value.known_prefix().starts_with(b"-");
    // Where a found name lies is known, not how it is told.
    if option || value.has_unknown() || value.origins.contains(Origins::NAMES) {
        return None;
    }
    let mut pieces: Vec<Piece<'a>> = value.pieces().to_vec();
    if let Some(Piece::Text(text)) = pieces.last_mut() {
        let length = text.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
        *text = text.get(..length).unwrap_or_default();
    }
    let cut = |piece: &Piece<'a>| match piece {
        Piece::Text(text) => text.iter().rposition(|byte| *byte == b'/'),
        _ => None,
    };
    if let Some((at, end)) = pieces.iter().enumerate().rev().find_map(|(at, piece)| Some((at, cut(piece)?))) {
        pieces.drain(..at);
        if let Some(Piece::Text(text)) = pieces.first_mut() {
            *text = text.get(end + 1..).unwrap_or_default();
        }
    }
    if !suffix.is_empty() && !matches!(pieces.last(), Some(Piece::Text(_))) {
        // It may be the end of what a pattern stands for.
        return None;
    }
    let whole = pieces.len();
    if let Some(Piece::Text(text)) = pieces.last_mut().filter(|_| !suffix.is_empty()) {
        match text.strip_suffix(suffix) {
            Some(left) if whole > 1 || !left.is_empty() => *text = left,
            // What stands before it may hold the rest of it.
            None if suffix.ends_with(text) => return None,
            _ => {}
        }
    }
    pieces.retain(|piece| *piece != Piece::Text(b""));
    let surely = !path.many && matches!(value.pieces().first(), Some(Piece::Text(_)));
    let named = !pieces.is_empty();
    named.then(|| (Value::of(arena, &pieces, value.origins), surely))
}

/// The name of the program whose file is looked for where programs are, of which nothing but the path is printed, if there is
/// one (which(1), bash(1)).
pub(crate) fn locates<'a>(argv: &[Field<'a>]) -> Option<&'a [u8]> {
    let name = match argv {
        [program, name] if program.known() == Some(b"which") => name.known()?,
        [program, option, name] => match (program.known()?, option.known()?) {
            (b"type", b"-P") | (b"command", b"-v") => name.known()?,
            _ => return None,
        },
        _ => return None,
    };
    let plain = name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._+-".contains(byte));
    (plain && name.first().is_some_and(u8::is_ascii_alphanumeric)).then_some(name)
}

/// Whether `mktemp` makes a file or directory of a new name where such files lie, and prints its path (mktemp(1)).
pub(crate) fn makes_file(argv: &[Field<'_>]) -> bool {
    let Some((program, arguments)) = argv.split_first() else { return false };
    let mut beside = false;
    let mut operands = 0;
    described(program).and_then(|program| program.tells()) == Some(Telling::NewFile)
        && arguments.iter().all(|argument| match argument.known() {
            Some(b"-d" | b"--directory" | b"-q" | b"--quiet") => true,
            Some(b"-t") => {
                beside = true;
                true
            }
            Some(option) if option.starts_with(b"-") => {
                option.strip_prefix(b"--suffix=").is_some_and(is_one_word)
            }
            Some(template) => {
                operands += 1;
                let name = if beside { Some(template) } else { template.strip_prefix(b"/tmp/") };
                operands == 1
                    && name.is_some_and(|name| is_one_word(name) && name.windows(3).any(|x| x == b"XXX"))
            }
            None => false,
        })
}

/// Whether a part of a name is one word of a command wherever it is put, and nothing else of it.
fn is_one_word(name: &[u8]) -> bool {
    name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-+@%,:=".contains(byte))
}

/// What the name may be that is made from a template (mktemp(1)): in its last part, from `XXX` on, it is made up.
pub(crate) fn filled_in<'a>(arena: &'a Bump, template: &Value<'a>) -> Value<'a> {
    let mut pieces = template.pieces().to_vec();
    let Some(Piece::Text(last)) = pieces.last_mut() else { return *template };
    let name = last.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    let signs = last.get(name..).unwrap_or_default().windows(3).position(|three| three == b"XXX");
    let Some(signs) = signs else { return *template };
    *last = last.get(..name + signs).unwrap_or_default();
    pieces.retain(|piece| *piece != Piece::Text(b""));
    pieces.push(Piece::MADE_UP);
    Value::of(arena, &pieces, template.origins)
}

/// The file that is shown, if it is one in which the number of a process is kept, by its name.
pub(crate) fn notes_process<'f, 'a>(argv: &'f [Field<'a>]) -> Option<&'f Field<'a>> {
    let [program, file] = argv else { return None };
    let named = file.known().is_some_and(|name| name.ends_with(b".pid"));
    let shows = |program: Program| {
        let whole = program.computes().is_some_and(|(how, _)| how == Computed::Whole);
        whole && program.level().stdin_when_no_operands()
    };
    (named && described(program).is_some_and(shows)).then_some(file)
}

/// What is known of the program that this word starts, if it is its name alone.
fn described(word: &Field<'_>) -> Option<Program> {
    tables::program(word.known()?).map(|(_, program)| program)
}

fn computes(word: &Field<'_>) -> Option<Computed> {
    described(word)?.computes().map(|(how, _)| how)
}

/// Whether a word is one operand, and no option.
fn is_operand(field: &Field<'_>) -> bool {
    let prefix = field.value.known_prefix();
    !field.many && !prefix.is_empty() && !prefix.starts_with(b"-")
}

/// What a format of `date` gives (date(1), GNU coreutils 9.1).
fn date(format: &[u8]) -> Option<Printed> {
    let format = format.strip_prefix(b"+")?;
    if matches!(format, b"%s" | b"%N" | b"%s%N" | b"%Y" | b"%j" | b"%u") {
        return Some(Printed::Number);
    }
    let mut rest = format;
    let mut first = true;
    while let Some((byte, tail)) = rest.split_first() {
        rest = tail;
        if *byte == b'%' {
            let (directive, tail) = rest.split_first()?;
            rest = tail;
            if !b"YmdHMSFTsNjyu".contains(directive) {
                return None;
            }
        } else if !(byte.is_ascii_alphanumeric() || b"_.:-".contains(byte) && !first) {
            return None;
        }
        first = false;
    }
    (!first).then_some(Printed::Word)
}

/// What a subcommand of git prints (git(1) 2.39).
fn git(sub: &[u8], known: &[Option<&[u8]>], arguments: &[Field<'_>]) -> Option<(Printed, bool)> {
    let all = |listed: &dyn Fn(&[u8]) -> bool| known.iter().all(|word| word.is_some_and(listed));
    let has = |options: &[&[u8]]| known.iter().flatten().any(|word| options.contains(word));
    let number = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    let kind = match sub {
        // Nothing but commits, for names and what may be said of them.
        b"merge-base" => {
            let plain = |word: &[u8]| {
                matches!(word, b"-a" | b"--all" | b"--octopus" | b"--independent" | b"--fork-point")
                    || !word.starts_with(b"-")
            };
            let operands = arguments.iter().filter(|field| field.known().is_none());
            (known.iter().flatten().all(|word| plain(word)) && operands.into_iter().all(is_operand))
                .then_some(Printed::Words)?
        }
        b"rev-parse" => {
            // A name that is none is printed as it is.
            let revision = |word: &[u8]| {
                word.first().is_some_and(|first| first.is_ascii_alphanumeric() || *first == b'@')
                    && word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_~^@{}.-".contains(byte))
            };
            let option = |word: &[u8]| {
                matches!(word, b"--short" | b"--verify" | b"-q" | b"--quiet")
                    || word.strip_prefix(b"--short=").is_some_and(number)
            };
            if has(&[b"--abbrev-ref"]) {
                all(&|word| word == b"--abbrev-ref" || revision(word)).then_some(Printed::Name)?
            } else {
                all(&|word| option(word) || revision(word)).then_some(Printed::Words)?
            }
        }
        b"rev-list" | b"log" => {
            let plain = |word: &[u8]| {
                matches!(
                    word,
                    b"--no-merges"
                        | b"--merges"
                        | b"--first-parent"
                        | b"--all"
                        | b"--reverse"
                        | b"-n"
                        | b"--"
                ) || word.strip_prefix(b"-n").or(word.strip_prefix(b"--max-count=")).is_some_and(number)
                    || word.strip_prefix(b"-").is_some_and(number)
                    || !word.starts_with(b"-")
            };
            let given = [b"--format=".as_slice(), b"--pretty=format:", b"--pretty="];
            let format = |word: &[u8]| {
                let format = given.iter().find_map(|option| word.strip_prefix(*option));
                matches!(format, Some(b"%H" | b"%h" | b"%T" | b"%ct" | b"%at"))
            };
            if sub == b"log" {
                let formats = known.iter().flatten().filter(|word| format(word)).count();
                (formats == 1 && all(&|word| format(word) || plain(word))).then_some(Printed::Words)?
            } else if has(&[b"--count"]) {
                all(&|word| word == b"--count" || plain(word)).then_some(Printed::Number)?
            } else {
                all(&plain).then_some(Printed::Words)?
            }
        }
        b"describe" => {
            let option = |word: &[u8]| {
                matches!(word, b"--tags" | b"--always" | b"--long" | b"--dirty" | b"--exact-match")
                    || word.strip_prefix(b"--abbrev=").is_some_and(number)
                    || !word.starts_with(b"-")
            };
            all(&option).then_some(Printed::Name)?
        }
        b"branch" if known == [Some(b"--show-current".as_slice())] => Printed::Name,
        b"symbolic-ref" if known.len() == 2 && has(&[b"--short"]) => {
            arguments.last().is_some_and(is_operand).then_some(Printed::Name)?
        }
        _ => return None,
    };
    Some((kind, false))
}
