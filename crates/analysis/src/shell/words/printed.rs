//! Programs that print one word of a known kind and nothing else: a number, a date, a commit, the last name of a path.

use super::Interpreter;
use super::builder::{Builder, Mode};
use crate::effect::{Rest, Scope};
use crate::session::Session;
use crate::shell::state::{Content, Space};
use crate::value::{Field, Origins, Piece, Value};
use bumpalo::Bump;
use shward_syntax::{CommandKind, Descriptor, PartKind, RedirectOperator, Script, WordPart};

/// What a program prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A decimal number.
    Number,
    /// Letters, digits and marks that neither divide a path nor are blank, a pattern, or a dash at the beginning.
    Word,
    /// Any number of such words.
    Words,
    /// The name of a branch or tag: nothing in it is blank or a pattern.
    Name,
}

/// A program that was started.
struct Started<'a> {
    argv: &'a [Field<'a>],
    /// It is the program that its name says.
    found: bool,
    /// It surely was; otherwise nothing may be printed.
    surely: bool,
}

impl<'a> Interpreter<'a, '_> {
    /// Puts what a script printed into the word around it, if it is a text of a known kind: the last command of its only
    /// list is a program that prints nothing else, and it was that program, not a function or an alias of its name or what
    /// the working directory has of it. False: it is not known.
    pub(super) fn printed(
        &mut self,
        script: &Script<'_>,
        before: usize,
        origins: Origins,
        quoted: bool,
        builder: &mut Builder<'a>,
    ) -> bool {
        if builder.mode() == Mode::Pattern {
            return false;
        }
        let Some(started) = self.started_last(script, before) else { return false };
        if started.found
            && makes_file(started.argv)
            && self.state.get(Space::Variable, b"TMPDIR").content == Content::Initial
        {
            builder.fresh(quoted, origins);
            return true;
        }
        if let Some((name, surely)) = base_name(self.arena, started.argv) {
            match surely && started.surely {
                true => builder.value(&name, quoted),
                false => builder.word(quoted, name.origins, false, true),
            }
            return true;
        }
        if origins == Origins::FILE && self.notes_process(started.argv) {
            builder.unknown(quoted, Origins::NOTED.union(Origins::FILE));
            return true;
        }
        let Some((kind, always)) = prints(started.argv) else { return false };
        let single = builder.mode() == Mode::Single;
        match (kind, always && started.surely) {
            (Kind::Number, true) => builder.number(quoted, origins),
            (Kind::Number, false) if single => builder.trusted(origins),
            (Kind::Number | Kind::Word, surely) => builder.word(quoted, origins, surely, !surely),
            (Kind::Words, _) => builder.word(quoted, origins, false, true),
            // It is one word, whatever it says.
            (Kind::Name, _) => builder.name(quoted, origins),
        }
        true
    }

    /// Whether it shows a file of the workspace in which the number of a process is kept, by its name.
    fn notes_process(&mut self, argv: &[Field<'a>]) -> bool {
        let [program, file] = argv else { return false };
        let named =
            program.known() == Some(b"cat") && file.known().is_some_and(|name| name.ends_with(b".pid"));
        named && {
            let target = self.target(&file.value);
            target.rest == Rest::Exact && matches!(target.scope, Scope::Workspace | Scope::Product)
        }
    }

    /// The program that a script consists of.
    fn started_last(&self, script: &Script<'_>, before: usize) -> Option<Started<'a>> {
        let [item] = script.items else { return None };
        let ([], Some(last)) = (item.list.rest, item.list.first.stages.last()) else { return None };
        let CommandKind::Simple(simple) = last.command.kind else { return None };
        if !simple.assignments.is_empty() {
            return None;
        }
        let [WordPart { kind: PartKind::Literal(program) | PartKind::SingleQuoted(program), .. }] =
            simple.words.first()?.parts
        else {
            return None;
        };
        // What starts other programs would have told of them last.
        let argv = self.invocations.get(before..)?.last()?.argv;
        if argv.first()?.known() != Some(program) || simple.words.len() != argv.len() {
            return None;
        }
        if self.searches_workspace || !self.functions_named(program).0.is_empty() {
            return None;
        }
        // Complaints are no part of what it prints.
        if !last.command.redirects.iter().all(|redirect| match redirect.operator {
            RedirectOperator::Input | RedirectOperator::HereDocument | RedirectOperator::HereString => true,
            RedirectOperator::Output => redirect.descriptor == Descriptor::Number(2),
            _ => false,
        }) {
            return None;
        }
        let found = self.state.get(Space::Variable, b"PATH").content == Content::Initial
            && self.state.get(Space::Command, program).content == Content::Initial;
        let found = found && !self.locked;
        Some(Started { argv, found, surely: found && last.command.redirects.is_empty() })
    }
}

/// What a program prints with these arguments, and whether it always does.
fn prints(argv: &[Field<'_>]) -> Option<(Kind, bool)> {
    let (program, arguments) = argv.split_first()?;
    let program = program.known()?;
    let known: Vec<Option<&[u8]>> = arguments.iter().map(Field::known).collect();
    match (program, known.as_slice()) {
        (b"wc", [Some(b"-l" | b"-c" | b"-w" | b"-m" | b"-L")]) => Some((Kind::Number, true)),
        (b"nproc", []) | (b"id", [Some(b"-u" | b"-g")]) => Some((Kind::Number, true)),
        (b"uname", [] | [Some(b"-m" | b"-s" | b"-r")]) | (b"arch", []) => Some((Kind::Word, true)),
        (b"date", [Some(format)]) | (b"date", [Some(b"-u" | b"--utc"), Some(format)]) => {
            Some((date(format)?, true))
        }
        (b"date", [Some(b"-d" | b"--date"), when, Some(format)]) if when.is_some() => {
            Some((date(format)?, false))
        }
        (b"grep", [Some(options), rest @ ..]) => {
            let letters = options.strip_prefix(b"-")?;
            let counts =
                letters.contains(&b'c') && letters.iter().all(|letter| b"civwxsEFGP".contains(letter));
            let files = arguments.get(2..).unwrap_or_default();
            let pattern =
                rest.first().is_some_and(|pattern| pattern.is_some_and(|text| !text.starts_with(b"-")));
            (counts && pattern && files.len() <= 1 && files.iter().all(is_operand))
                .then_some((Kind::Number, false))
        }
        (b"stat", [Some(b"-c%s" | b"-c%Y" | b"--format=%s" | b"--format=%Y" | b"--printf=%s"), _]) => {
            arguments.last().is_some_and(is_operand).then_some((Kind::Number, false))
        }
        (b"stat", [Some(b"-c"), Some(b"%s" | b"%Y"), _]) => {
            arguments.last().is_some_and(is_operand).then_some((Kind::Number, false))
        }
        (b"git", [Some(sub), rest @ ..]) => git(sub, rest, arguments.get(1..).unwrap_or_default()),
        _ => None,
    }
}

/// The last name of the path that `basename` is given, as far as it is known, and whether it surely prints it.
fn base_name<'a>(arena: &'a Bump, argv: &[Field<'a>]) -> Option<(Value<'a>, bool)> {
    let (path, suffix) = match argv {
        [program, path] if program.known()? == b"basename" => (path, &b""[..]),
        [program, path, suffix] if program.known()? == b"basename" => (path, suffix.known()?),
        _ => return None,
    };
    let value = path.value;
    let option = value.known_prefix().starts_with(b"-");
    // Where a found name lies is known, not how it is told.
    if option || value.has_unknown() || value.origins.contains(Origins::NAMES) {
        return None;
    }
    let mut pieces: Vec<Piece<'a>> = value.pieces.to_vec();
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
    let surely = !path.many && matches!(value.pieces.first(), Some(Piece::Text(_)));
    let named = !pieces.is_empty();
    named.then(|| (Value { pieces: arena.alloc_slice_copy(&pieces), origins: value.origins }, surely))
}

/// Whether `mktemp` makes a file or directory of a new name where such files lie, and prints its path (mktemp(1)).
fn makes_file(argv: &[Field<'_>]) -> bool {
    let Some((program, arguments)) = argv.split_first() else { return false };
    let mut beside = false;
    let mut operands = 0;
    program.known() == Some(b"mktemp")
        && arguments.iter().all(|argument| match argument.known() {
            Some(b"-d" | b"--directory" | b"-q" | b"--quiet") => true,
            Some(b"-t") => {
                beside = true;
                true
            }
            Some(option) if option.starts_with(b"-") => {
                option.strip_prefix(b"--suffix=").is_some_and(|suffix| !suffix.contains(&b'/'))
            }
            Some(template) => {
                operands += 1;
                let name = if beside { Some(template) } else { template.strip_prefix(b"/tmp/") };
                operands == 1
                    && name.is_some_and(|name| !name.contains(&b'/') && name.windows(3).any(|x| x == b"XXX"))
            }
            None => false,
        })
}

/// Whether a word is one operand, and no option.
fn is_operand(field: &Field<'_>) -> bool {
    let prefix = field.value.known_prefix();
    !field.many && !prefix.is_empty() && !prefix.starts_with(b"-")
}

/// What a format of `date` gives (date(1), GNU coreutils 9.1).
fn date(format: &[u8]) -> Option<Kind> {
    let format = format.strip_prefix(b"+")?;
    if matches!(format, b"%s" | b"%N" | b"%s%N" | b"%Y" | b"%j" | b"%u") {
        return Some(Kind::Number);
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
    (!first).then_some(Kind::Word)
}

/// What a subcommand of git prints (git(1) 2.39).
fn git(sub: &[u8], known: &[Option<&[u8]>], arguments: &[Field<'_>]) -> Option<(Kind, bool)> {
    let all = |listed: &dyn Fn(&[u8]) -> bool| known.iter().all(|word| word.is_some_and(listed));
    let has = |options: &[&[u8]]| known.iter().flatten().any(|word| options.contains(word));
    let number = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    let kind = match sub {
        // Nothing but commits, whatever it is given.
        b"merge-base" => Kind::Words,
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
                all(&|word| word == b"--abbrev-ref" || revision(word)).then_some(Kind::Name)?
            } else {
                all(&|word| option(word) || revision(word)).then_some(Kind::Words)?
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
                (formats == 1 && all(&|word| format(word) || plain(word))).then_some(Kind::Words)?
            } else if has(&[b"--count"]) {
                all(&|word| word == b"--count" || plain(word)).then_some(Kind::Number)?
            } else {
                all(&plain).then_some(Kind::Words)?
            }
        }
        b"describe" => {
            let option = |word: &[u8]| {
                matches!(word, b"--tags" | b"--always" | b"--long" | b"--dirty" | b"--exact-match")
                    || word.strip_prefix(b"--abbrev=").is_some_and(number)
                    || !word.starts_with(b"-")
            };
            all(&option).then_some(Kind::Name)?
        }
        b"branch" if known == [Some(b"--show-current".as_slice())] => Kind::Name,
        b"symbolic-ref" if known.len() == 2 && has(&[b"--short"]) => {
            arguments.last().is_some_and(is_operand).then_some(Kind::Name)?
        }
        _ => return None,
    };
    Some((kind, false))
}
