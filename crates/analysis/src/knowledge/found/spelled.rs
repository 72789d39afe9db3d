//! Names that an expression for lines spells out: `\.env$`, `(^|/)id_(rsa|ed25519)$`.
//!
//! Of each line that an expression may match, the last name of a path is told if the expression says it letter by letter. What is
//! read of expressions is what grep(1), pcre2pattern(3) and Rust's regex have in common; an expression that says more tells nothing.

use crate::knowledge::words::Syntax;

/// Any text or none, in the place of a byte.
const MANY: u8 = 0;
/// Text that is there, and is not read.
const SOME: u8 = 1;
/// The end of a line.
const END: u8 = 2;

/// Longest name, and a little more: what is longer is none.
const LONGEST: usize = 300;

/// Most ways in which one alternative is spelled.
const MOST_WAYS: usize = 64;

/// What may be done for each byte, and at least.
const WORK: usize = 96;
const LEAST_WORK: usize = 4096;

/// Longest set of bytes: looking for the end of each class in it takes the square of its length.
const LONGEST_SET: usize = 256;

/// Deepest nesting of groups.
const DEEPEST: u8 = 24;

/// The names that an expression spells out. Each of its lines is one. `any_case`: capitals are as good as small letters, and told as these
/// as well.
pub(crate) fn names(expression: &[u8], syntax: Syntax, any_case: bool) -> Vec<Vec<u8>> {
    let mut names = Vec::new();
    for line in expression.split(|byte| *byte == b'\n') {
        let mut folds = any_case;
        let ways = match syntax {
            Syntax::Fixed => {
                let mut way = Way::default();
                line.iter().for_each(|byte| way.push(*byte));
                vec![way]
            }
            _ => {
                let left = line.len().saturating_mul(WORK).saturating_add(LEAST_WORK);
                let mut reader =
                    Reader { rest: line, extended: syntax != Syntax::Basic, syntax, depth: 0, folds, left };
                let ways = reader.alternatives().filter(|_| reader.rest.is_empty());
                folds = reader.folds;
                ways.unwrap_or_default()
            }
        };
        for name in ways.iter().filter_map(Way::name) {
            if folds && name.iter().any(u8::is_ascii_uppercase) {
                names.push(name.to_ascii_lowercase());
            }
            names.push(name.to_vec());
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// One way in which what is matched is spelled, from the last slash on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Way {
    /// A slash or the beginning of the line stands before it.
    led: bool,
    text: Vec<u8>,
}

impl Way {
    fn push(&mut self, byte: u8) {
        match byte {
            b'/' => self.begin(),
            // Such bytes stand for something else here.
            0x03..0x20 => self.push(SOME),
            _ if self.text.len() >= LONGEST => {}
            MANY if self.text.last() == Some(&MANY) => {}
            _ => self.text.push(byte),
        }
    }

    fn begin(&mut self) {
        self.led = true;
        self.text.clear();
    }

    fn join(&mut self, other: &Self) {
        if other.led {
            self.begin();
        }
        other.text.iter().for_each(|byte| self.push(*byte));
    }

    /// The name, if all of it is spelled. One that is a mere word has to be all that there is between a slash and the end.
    fn name(&self) -> Option<&[u8]> {
        let many = |byte: &u8| *byte == MANY;
        let start = self.text.iter().take_while(|byte| many(byte)).count();
        let mut name = self.text.get(start..)?;
        let mut ended = false;
        while let Some((last, before)) = name.split_last().filter(|(last, _)| matches!(**last, MANY | END)) {
            ended = *last == END;
            name = before;
        }
        let told = !name.is_empty()
            && name.len() < LONGEST
            && !name.iter().any(|byte| *byte < 0x20 || b"*?[](){}|+^$\\".contains(byte));
        let whole = self.led && start == 0 && ended;
        (told && (whole || !name.iter().all(u8::is_ascii_alphanumeric))).then_some(name)
    }
}

/// A part of an expression, before it is known how often it comes.
enum Atom {
    Byte(u8),
    /// Any byte.
    Any,
    /// Nothing that takes room.
    Nothing,
    Begin,
    Group(Vec<Way>),
}

/// What the next bytes of an expression mean.
enum Token {
    Byte(u8),
    Escape(u8),
    Any,
    Set,
    Begin,
    End,
    Open,
    Close,
    Or,
    Often,
    Maybe,
    Again,
    Brace,
}

struct Reader<'p> {
    rest: &'p [u8],
    syntax: Syntax,
    extended: bool,
    depth: u8,
    folds: bool,
    /// How many bytes may still be put to the ways in which it is spelled.
    left: usize,
}

impl<'p> Reader<'p> {
    /// The next token, and what follows it.
    fn token(&self) -> Option<(Token, &'p [u8])> {
        let (sign, rest) = match self.rest {
            [b'\\', byte, rest @ ..] => {
                let token = match byte {
                    _ if self.extended => Token::Escape(*byte),
                    b'(' => Token::Open,
                    b')' => Token::Close,
                    b'|' => Token::Or,
                    b'+' => Token::Again,
                    b'?' => Token::Maybe,
                    b'{' => Token::Brace,
                    byte => Token::Escape(*byte),
                };
                return Some((token, rest));
            }
            [sign, rest @ ..] => (*sign, rest),
            [] => return None,
        };
        let token = match sign {
            b'.' => Token::Any,
            b'[' => Token::Set,
            b'^' => Token::Begin,
            b'$' => Token::End,
            b'*' => Token::Often,
            b'(' if self.extended => Token::Open,
            b')' if self.extended => Token::Close,
            b'|' if self.extended => Token::Or,
            b'+' if self.extended => Token::Again,
            b'?' if self.extended => Token::Maybe,
            b'{' if self.extended => Token::Brace,
            byte => Token::Byte(byte),
        };
        Some((token, rest))
    }

    /// All ways up to the end of the group.
    fn alternatives(&mut self) -> Option<Vec<Way>> {
        let mut all = self.chain()?;
        while let Some((Token::Or, rest)) = self.token() {
            self.rest = rest;
            all.append(&mut self.chain()?);
        }
        Some(all)
    }

    fn chain(&mut self) -> Option<Vec<Way>> {
        let mut ways = vec![Way::default()];
        while let Some((token, rest)) = self.token() {
            if matches!(token, Token::Or) || matches!(token, Token::Close) && self.depth > 0 {
                break;
            }
            self.rest = rest;
            let atom = self.atom(token)?;
            self.repeated(&mut ways, atom)?;
        }
        Some(ways)
    }

    fn atom(&mut self, token: Token) -> Option<Atom> {
        Some(match token {
            Token::Byte(byte) => Atom::Byte(byte),
            Token::Any => Atom::Any,
            Token::Begin => Atom::Begin,
            Token::End => Atom::Byte(END),
            Token::Escape(byte) => return self.escaped(byte),
            Token::Set => Atom::Byte(self.set()?),
            Token::Open => return self.group(),
            // Nothing stands before it that may be there often.
            Token::Close | Token::Or | Token::Often | Token::Maybe | Token::Again | Token::Brace => {
                return None;
            }
        })
    }

    /// What stands behind a backslash.
    fn escaped(&mut self, byte: u8) -> Option<Atom> {
        let perl = self.syntax == Syntax::Perl;
        Some(match byte {
            b'b' | b'B' => Atom::Nothing,
            b'<' | b'>' | b'`' | b'\'' if !perl => Atom::Nothing,
            b'A' if perl => Atom::Begin,
            b'z' | b'Z' if perl => Atom::Byte(END),
            b'K' | b'G' | b'E' if perl => Atom::Nothing,
            b'Q' if perl => {
                let end = self.rest.windows(2).position(|two| two == b"\\E").unwrap_or(self.rest.len());
                let (quoted, rest) = self.rest.split_at_checked(end)?;
                self.rest = rest;
                let mut way = Way::default();
                quoted.iter().for_each(|byte| way.push(*byte));
                Atom::Group(vec![way])
            }
            b'x' if perl => Atom::Byte(self.number()?),
            byte if byte.is_ascii_punctuation() => Atom::Byte(byte),
            _ => Atom::Byte(SOME),
        })
    }

    /// A byte by its number: `2e`, `{2e}`.
    fn number(&mut self) -> Option<u8> {
        let braced = self.rest.strip_prefix(b"{");
        let (digits, rest) = match braced {
            Some(rest) => {
                let end = rest.iter().position(|byte| *byte == b'}')?;
                let (digits, rest) = rest.split_at_checked(end)?;
                (digits, rest.get(1..)?)
            }
            None => self.rest.split_at_checked(2)?,
        };
        self.rest = rest;
        u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }

    /// One of some bytes: which, if there is but one, or a letter in both sizes.
    fn set(&mut self) -> Option<u8> {
        let length = crate::bracket::inside(self.rest.get(..LONGEST_SET.min(self.rest.len()))?)?;
        let (inside, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest.get(1..)?;
        Some(match inside {
            [byte] | [b'\\', byte] if byte.is_ascii_punctuation() || inside.len() == 1 => *byte,
            [one, other] if one.is_ascii_alphabetic() && one.eq_ignore_ascii_case(other) => {
                one.to_ascii_lowercase()
            }
            _ => SOME,
        })
    }

    fn group(&mut self) -> Option<Atom> {
        let mut counts = true;
        if self.syntax == Syntax::Perl && matches!(self.rest.first(), Some(b'?' | b'*')) {
            match self.special()? {
                Special::Group => {}
                Special::Look => counts = false,
                Special::Setting => return Some(Atom::Nothing),
            }
        }
        if self.depth >= DEEPEST {
            return None;
        }
        self.depth += 1;
        let ways = self.alternatives();
        self.depth -= 1;
        let (Token::Close, rest) = self.token()? else { return None };
        self.rest = rest;
        Some(if counts { Atom::Group(ways?) } else { Atom::Nothing })
    }

    /// What stands behind `(?`.
    fn special(&mut self) -> Option<Special> {
        let rest = self.rest.strip_prefix(b"?")?;
        for look in [&b"="[..], b"!", b"<=", b"<!"] {
            if let Some(rest) = rest.strip_prefix(look) {
                self.rest = rest;
                return Some(Special::Look);
            }
        }
        if let Some(remark) = rest.strip_prefix(b"#") {
            let end = remark.iter().position(|byte| *byte == b')')?;
            self.rest = remark.get(end + 1..)?;
            return Some(Special::Setting);
        }
        if let Some(rest) = rest.strip_prefix(b">").or_else(|| rest.strip_prefix(b"|")) {
            self.rest = rest;
            return Some(Special::Group);
        }
        if let Some(named) = rest.strip_prefix(b"P<").or_else(|| rest.strip_prefix(b"<")) {
            let end = named.iter().position(|byte| *byte == b'>')?;
            self.rest = named.get(end + 1..)?;
            return Some(Special::Group);
        }
        let flags = rest.iter().take_while(|byte| b"imsU-".contains(byte)).count();
        let (flags, rest) = rest.split_at_checked(flags)?;
        self.folds |= flags.contains(&b'i');
        let (sign, rest) = rest.split_first()?;
        self.rest = rest;
        match sign {
            b':' => Some(Special::Group),
            b')' if !flags.is_empty() => Some(Special::Setting),
            _ => None,
        }
    }

    /// Adds a part as often as it is said to come.
    fn repeated(&mut self, ways: &mut Vec<Way>, atom: Atom) -> Option<()> {
        let mut maybe = false;
        let mut many = false;
        let mut once = true;
        let (mut counted, mut never) = (false, false);
        while let Some((token, rest)) = self.token() {
            self.rest = match token {
                Token::Often => {
                    (once, many) = (false, true);
                    rest
                }
                Token::Again => {
                    many = true;
                    rest
                }
                Token::Maybe => {
                    maybe = true;
                    rest
                }
                Token::Brace => {
                    let end = rest.iter().position(|byte| *byte == b'}').unwrap_or(rest.len());
                    let times = rest.get(..end).unwrap_or_default();
                    let times = times.strip_suffix(b"\\").unwrap_or(times);
                    counted |= times != b"1";
                    never |= matches!(times.first(), Some(b'0' | b','));
                    rest.get(end + 1..).unwrap_or_default()
                }
                _ => break,
            };
        }
        let bytes = match &atom {
            Atom::Group(group) => group.iter().map(|way| way.text.len() + 2).sum(),
            _ => 2,
        };
        self.left = self.left.checked_sub(bytes.checked_mul(ways.len())?)?;
        let push = |ways: &mut Vec<Way>, byte| ways.iter_mut().for_each(|way| way.push(byte));
        match atom {
            Atom::Nothing => return Some(()),
            Atom::Begin => begin(ways),
            // Any text: what ends in a slash is among it.
            Atom::Any if many || counted => many = true,
            _ if !once => {}
            Atom::Group(group) if counted && (never || group.contains(&Way::default())) => push(ways, MANY),
            _ if counted => push(ways, if never { MANY } else { SOME }),
            Atom::Any => match maybe {
                true => push(ways, MANY),
                // Whoever writes it means the dot.
                false => push(ways, b'.'),
            },
            Atom::Byte(SOME) if maybe => push(ways, MANY),
            Atom::Byte(b'/') if !maybe => {
                ways.truncate(1);
                push(ways, b'/');
            }
            Atom::Byte(byte) if !maybe => push(ways, byte),
            Atom::Byte(byte) => {
                let mut way = Way::default();
                way.push(byte);
                add(ways, &[Way::default(), way]);
            }
            Atom::Group(mut group) => {
                if maybe {
                    group.push(Way::default());
                }
                add(ways, &group);
            }
        }
        if many {
            push(ways, MANY);
        }
        Some(())
    }
}

/// Whatever was told, a name begins here.
fn begin(ways: &mut Vec<Way>) {
    ways.truncate(1);
    ways.iter_mut().for_each(Way::begin);
}

/// What a group is that begins with `(?`.
enum Special {
    Group,
    /// It looks at what stands there, and takes no room.
    Look,
    /// It says how what follows is to be read, or is a remark.
    Setting,
}

/// Adds a group to each way.
fn add(ways: &mut Vec<Way>, group: &[Way]) {
    if let [only] = group {
        return ways.iter_mut().for_each(|way| way.join(only));
    }
    if ways.len().saturating_mul(group.len()) > MOST_WAYS && !is_blank(ways) {
        return ways.iter_mut().for_each(|way| way.push(SOME));
    }
    let before = std::mem::take(ways);
    for way in &before {
        for each in group {
            let mut way = way.clone();
            way.join(each);
            if ways.len() > MOST_WAYS || !ways.contains(&way) {
                ways.push(way);
            }
        }
    }
}

/// Whether nothing is told yet, so that a group adds no more than its own ways.
fn is_blank(ways: &[Way]) -> bool {
    matches!(ways, [way] if way.text.iter().all(|byte| *byte == MANY))
}

#[cfg(test)]
mod tests {
    use super::{Syntax, names};

    fn told(expression: &str, syntax: Syntax) -> Vec<String> {
        let names = names(expression.as_bytes(), syntax, false);
        names.into_iter().map(|name| String::from_utf8_lossy(&name).into_owned()).collect()
    }

    #[test]
    fn names_are_told_that_stand_there_letter_by_letter() {
        use Syntax::{Basic, Extended, Fixed, Perl};
        let rows: &[(&str, Syntax, &[&str])] = &[
            (".env", Fixed, &[".env"]),
            ("a/.env", Fixed, &[".env"]),
            ("env", Fixed, &[]),
            ("/env", Fixed, &[]),
            (r"\.env$", Fixed, &[]),
            (".env\n.pem", Fixed, &[".env", ".pem"]),
            (r"\.env$", Basic, &[".env"]),
            (r"^\./\.env$", Basic, &[".env"]),
            ("[.]env", Basic, &[".env"]),
            (r"[\.]env", Basic, &[".env"]),
            (".env", Basic, &[".env"]),
            (r"\.env.*", Basic, &[".env"]),
            (r".*/\.env", Basic, &[".env"]),
            (r".*\.env", Basic, &[".env"]),
            (r"docker/.*\.env$", Basic, &[".env"]),
            (r"docker/.*\.env", Basic, &[".env"]),
            (r"docker/\.env$", Basic, &[".env"]),
            (r"^\./.*\.env$", Basic, &[".env"]),
            (r"\<id_rsa\>", Basic, &["id_rsa"]),
            (r"\(\.env\|\.npmrc\)$", Basic, &[".env", ".npmrc"]),
            (r"\.env\|x", Basic, &[".env"]),
            (r"(\.env|\.npmrc)$", Basic, &[]),
            (r"\.env\?", Basic, &[".en", ".env"]),
            ("[eE]nv_[xy]", Basic, &[]),
            ("[.][eE][nN][vV]", Basic, &[".env"]),
            ("env", Basic, &[]),
            ("env$", Basic, &[]),
            ("/env$", Basic, &["env"]),
            ("^env$", Basic, &["env"]),
            (r"^.*/env$", Extended, &["env"]),
            (r"^.*env$", Extended, &[]),
            (r"/env.*$", Extended, &[]),
            (r"(^|/)\.env(\.local)?$", Extended, &[".env", ".env.local"]),
            (r"\.(env|pem)$", Extended, &[".env", ".pem"]),
            (
                r"\.(a|b|c|d|e|f|g|h|i|env)",
                Extended,
                &[".a", ".b", ".c", ".d", ".e", ".env", ".f", ".g", ".h", ".i"],
            ),
            (r"id_(rsa|ed25519)", Extended, &["id_ed25519", "id_rsa"]),
            (r"\.env(\..*)?$", Extended, &[".env", ".env."]),
            (r"\.env([a-z]+)?$", Extended, &[".env"]),
            (r"\.env[a-z]+$", Extended, &[]),
            (r"[a-z]\.env$", Extended, &[]),
            (r"[a-z]*\.env$", Extended, &[".env"]),
            (r".+\.env$", Extended, &[".env"]),
            (r"a.*\.env$", Extended, &[]),
            (r"x{2}\.env", Extended, &[]),
            (r".{2,9}\.env", Extended, &[".env"]),
            (r"\.env{2}", Extended, &[]),
            (r"\.env{1}$", Extended, &[".env"]),
            (r"\.env\{1\}$", Basic, &[".env"]),
            (r"\.(env){1}$", Extended, &[".env"]),
            (r"(a?){3}\.env$", Extended, &[".env"]),
            (r"a{,2}\.env$", Extended, &[".env"]),
            (r"(?>\.env)$", Perl, &[".env"]),
            (r"(?#x)\.env$", Perl, &[".env"]),
            (r"\.ssh/", Extended, &[]),
            (r"(a|(b|(\.c)))", Extended, &[".c"]),
            (r"(a|b", Extended, &[]),
            (r"a)|\.env", Extended, &[]),
            (r"*\.env", Extended, &[]),
            (r"(?:\.env|id_rsa)$", Perl, &[".env", "id_rsa"]),
            (r"\x2eenv", Perl, &[".env"]),
            (r"\x{2e}env", Perl, &[".env"]),
            (r"\Q.env\E$", Perl, &[".env"]),
            (r"\.env(?!\.example)", Perl, &[".env"]),
            (r"^(?!.*\.env).*\.ts$", Perl, &[".ts"]),
            (r"(?<n>\.env)\z", Perl, &[".env"]),
            (r"(?i)\.ENV", Perl, &[".ENV", ".env"]),
            (r"(?x) \.env", Perl, &[]),
            (r"(*UTF)\.env", Perl, &[]),
            (r"\.env*?x?", Perl, &[".en"]),
            (r"\d\.env", Perl, &[]),
            ("", Extended, &[]),
            ("\\", Extended, &["\\"]),
            (r"\.e\x01nv", Perl, &[]),
        ];
        for (expression, syntax, expected) in rows {
            let expected = expected.iter().filter(|name| **name != "\\").copied().collect::<Vec<_>>();
            assert_eq!(told(expression, *syntax), expected, "{expression} {syntax:?}");
        }
        assert_eq!(names(br"\.ENV", Basic, true), [b".ENV".to_vec(), b".env".to_vec()]);
    }

    #[test]
    fn long_expressions_are_read() {
        let many = r"\.a|".repeat(50_000) + r"\.env";
        assert_eq!(told(&many, Syntax::Extended), [".a", ".env"]);
        assert_eq!(told(&("(a|b)".repeat(20_000) + r"/\.env"), Syntax::Extended), [".env"]);
        assert_eq!(told(&("(".repeat(50_000) + r"\.env"), Syntax::Extended), Vec::<String>::new());
        assert_eq!(told(&(".".repeat(100_000) + r"\.env"), Syntax::Extended), Vec::<String>::new());
        assert_eq!(told(&(r"(\.env?".repeat(20) + &")".repeat(20)), Syntax::Extended).len(), 0);
        assert_eq!(told(&("x?".repeat(50_000) + r"\.env"), Syntax::Extended), Vec::<String>::new());
        let alternatives = format!("({}b)", (0..20_000).map(|i| format!("a{i}|")).collect::<String>());
        assert_eq!(told(&(alternatives.clone() + r"/\.env$"), Syntax::Extended), [".env"]);
        assert_eq!(told(&(alternatives + &"x".repeat(100_000)), Syntax::Extended), Vec::<String>::new());
        assert_eq!(told(&"[[:".repeat(100_000), Syntax::Extended), Vec::<String>::new());
    }
}
