//! What a Perl program is given besides its text: the options and operands of the command line (perlrun(1)).

use crate::value::{Field, Value};

/// A command line of `perl`, taken apart.
#[derive(Debug, Default)]
pub(super) struct Line<'a> {
    /// The texts of `-e` and `-E`, which are one program, a line each.
    pub(super) codes: Vec<&'a [u8]>,
    /// The words of options that stand for themselves.
    options: Vec<&'a [u8]>,
    /// The names of files, where there is a text; a script's arguments.
    operands: &'a [Field<'a>],
    /// What `-F` gives.
    separators: Vec<&'a [u8]>,
    /// The program runs over the lines of the operands.
    pub(super) loops: bool,
    /// It prints each line when it is done with it.
    prints: bool,
    /// Files are opened as they are named.
    in_place: bool,
    /// `-I`: modules are taken from elsewhere first.
    pub(super) libraries: bool,
    /// Something was not understood.
    odd: bool,
}

/// Programs that leave nothing of any line, but for blanks.
const EMPTYING: [&[u8]; 22] = [
    b"$_=\"\"",
    b"$_=''",
    b"$_=q()",
    b"$_=q{}",
    b"$_=qq()",
    b"$_=qq{}",
    b"undef$_",
    b"undef($_)",
    b"$_=undef",
    b"s/.*//",
    b"s/.*//s",
    b"s/.+//s",
    b"s/^.*$//",
    b"s/.*//gs",
    b"s/.*//g",
    b"s/.+//",
    b"s/.+//g",
    b"s/.//g",
    b"s/(.*)//",
    // The lines that follow are not reached.
    b"last",
    b"exit",
    b"exit0",
];

/// The same in Ruby, which takes such options from Perl.
const EMPTYING_IN_RUBY: [&[u8]; 14] = [
    b"$_=\"\"",
    b"$_=''",
    b"$_=nil",
    b"$_.clear",
    b"$_.replace\"\"",
    b"$_.replace(\"\")",
    b"sub(/.*/,\"\")",
    b"sub(/.+/,\"\")",
    b"gsub(/.*/,\"\")",
    b"gsub(/.+/,\"\")",
    b"gsub(/./,\"\")",
    b"break",
    b"exit",
    b"exit!",
];

/// Words without which nothing is printed.
const PRINTING: [&[u8]; 6] = [b"print", b"printf", b"say", b"write", b"syswrite", b"ARGVOUT"];

const PRINTING_IN_RUBY: [&[u8]; 12] = [
    b"print",
    b"printf",
    b"puts",
    b"p",
    b"pp",
    b"putc",
    b"write",
    b"syswrite",
    b"display",
    b"stdout",
    b"STDOUT",
    b"ARGF",
];

impl<'a> Line<'a> {
    /// Takes an argument list apart.
    pub(super) fn of(argv: &'a [Field<'a>]) -> Self {
        let mut line = Self::default();
        let mut rest = argv.get(1..).unwrap_or_default();
        while let Some((field, after)) = rest.split_first() {
            let Some(word) = field.known() else { break };
            let [b'-', letters @ ..] = word else { break };
            if letters.is_empty() {
                break;
            }
            rest = after;
            if word == b"--" {
                break;
            }
            line.options.push(word);
            if word.starts_with(b"--") {
                continue;
            }
            if line.cluster(letters, after.first()) {
                rest = after.get(1..).unwrap_or_default();
            }
        }
        line.operands = rest;
        line
    }

    /// Letters behind one dash. Whether they take the next argument as well.
    fn cluster(&mut self, letters: &'a [u8], next: Option<&'a Field<'a>>) -> bool {
        let mut letters = letters;
        while let Some((letter, after)) = letters.split_first() {
            letters = after;
            match letter {
                b'n' => self.loops = true,
                b'p' => (self.loops, self.prints) = (true, true),
                b'a' => self.loops = true,
                b'c' | b'f' | b's' | b't' | b'T' | b'u' | b'U' | b'w' | b'W' | b'X' | b'S' | b'g' => {}
                b'0' | b'l' => {
                    // `-0xHHH`, `-0777`, `-l012`: only so many digits, and what follows them are letters again.
                    let hexadecimal = *letter == b'0' && matches!(after.first(), Some(b'x' | b'X'));
                    let is_digit =
                        |b: &&u8| if hexadecimal { b.is_ascii_hexdigit() } else { matches!(b, b'0'..=b'7') };
                    let from = usize::from(hexadecimal);
                    let count = after.iter().skip(from).take_while(is_digit).count();
                    letters = after.get(from + count..).unwrap_or_default();
                    self.odd |= count > 3 || letters.first().is_some_and(u8::is_ascii_digit);
                }
                b'F' => {
                    self.loops = true;
                    self.separators.push(after);
                    return false;
                }
                b'i' => {
                    self.in_place = true;
                    return false;
                }
                b'e' | b'E' => {
                    let code = if after.is_empty() { next.and_then(Field::known) } else { Some(after) };
                    match code {
                        Some(code) => self.codes.push(code),
                        None => self.odd = true,
                    }
                    return after.is_empty();
                }
                b'I' => {
                    self.libraries = true;
                    return after.is_empty();
                }
                b'm' | b'M' | b'x' | b'C' | b'd' | b'D' | b'V' | b'v' | b'h' => return false,
                _ => self.odd = true,
            }
        }
        false
    }

    /// Whether an option stands there by itself.
    pub(super) fn has(&self, option: &[u8]) -> bool {
        self.options.contains(&option)
    }

    /// Whether what the options say runs no code by itself.
    pub(super) fn is_plain(&self) -> bool {
        !self.odd && self.separators.iter().all(|text| is_plain_separator(text))
    }

    /// The files of which nothing is left: they are written in place, and the program prints nothing.
    pub(super) fn emptied(&self, text: &[u8]) -> &'a [Field<'a>] {
        self.emptied_by(text, &EMPTYING, &PRINTING)
    }

    /// The same of a command line of `ruby`.
    pub(super) fn emptied_by_ruby(&self, text: &[u8]) -> &'a [Field<'a>] {
        // `$>` is standard output.
        if text.windows(2).any(|two| two == b"$>") {
            return &[];
        }
        self.emptied_by(text, &EMPTYING_IN_RUBY, &PRINTING_IN_RUBY)
    }

    fn emptied_by(&self, text: &[u8], emptying: &[&[u8]], printing: &[&[u8]]) -> &'a [Field<'a>] {
        let mut words = text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        let bare: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        // What is read at once is no other.
        let whole =
            [&b"BEGIN{undef$/}"[..], b"BEGIN{$/=undef}", b"BEGIN{undef$/;}", b"undef$/;", b"$/=undef;"];
        let bare = whole.iter().find_map(|first| bare.strip_prefix(*first)).unwrap_or(&bare);
        let bare = bare.strip_prefix(b";").unwrap_or(bare);
        let nothing = match self.prints {
            true => {
                let bare = bare.strip_suffix(b";").unwrap_or(bare);
                emptying.contains(&bare) || is_constant(bare)
            }
            false => {
                let never = matches!(bare.strip_suffix(b";").unwrap_or(bare), b"printif0" | b"printunless1");
                self.loops && (never || !words.any(|word| printing.contains(&word)))
            }
        };
        if nothing && self.in_place { self.operands } else { &[] }
    }

    /// Whether opening an operand as `open` with two arguments does only opens it. `made`: the command may have made
    /// files, under names that a pattern finds.
    pub(super) fn opens_plainly(&self, made: bool) -> bool {
        self.operands.iter().all(|field| match field.known() {
            None => self.in_place || !made,
            Some(_) => is_plain_name(&field.value),
        })
    }
}

/// Whether a program makes each line the same text.
fn is_constant(bare: &[u8]) -> bool {
    let text = bare.strip_prefix(b"$_=").unwrap_or_default();
    let inner = match text {
        [quote @ (b'"' | b'\''), inner @ .., last] if quote == last => inner,
        _ => return false,
    };
    !inner.iter().any(|byte| matches!(byte, b'"' | b'\'' | b'$' | b'@' | b'#'))
}

/// Whether opening a file of this name does nothing but open it.
fn is_plain_name(value: &Value<'_>) -> bool {
    let Some(text) = value.known() else { return false };
    // Perl counts the vertical tab as a blank.
    let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
    let first = text.iter().find(|byte| !blank(byte));
    let last = text.iter().rev().find(|byte| !blank(byte));
    !matches!(first, Some(b'|' | b'>' | b'<' | b'+')) && last != Some(&b'|')
}

/// Whether a separator of fields is a pattern: one between quotes or slashes stands in the program as it is written.
fn is_plain_separator(text: &[u8]) -> bool {
    let quoted = match text {
        [quote @ (b'/' | b'"' | b'\''), inner @ ..] => {
            inner.iter().position(|b| b == quote) == inner.len().checked_sub(1)
        }
        _ => true,
    };
    let bare = matches!(text, [b'/' | b'"' | b'\''] | []);
    (quoted || bare) && !text.iter().any(|b| b"{$@".contains(b))
}
