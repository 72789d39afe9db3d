//! The tokens of Perl (perlop(1), perldata(1)). Where the grammar decides what a character begins, and the token before
//! it does not tell, nothing is read.

/// A token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A bare word, `::` included.
    Word(&'a [u8]),
    /// `$name`, `@name`, `%name`, `$#name`: the sigil and the name, which is empty where an expression follows.
    Variable(u8, &'a [u8]),
    Number,
    /// A string; its text if nothing in it is replaced.
    Text(Option<&'a [u8]>),
    /// `qw(…)`
    Words,
    /// A regular expression, or a substitution, and whether its replacement is code, which follows.
    Pattern,
    /// Text in backquotes.
    Command(Option<&'a [u8]>),
    /// `<NAME>`, `<$name>`, `<>`: the name.
    Input(&'a [u8]),
    /// A sign; `->` is `A`, `=>` is `F`, `::` is `N`, `..` and other operators of several characters are `O`.
    Sign(u8),
}

/// `->`
pub(super) const ARROW: Token<'static> = Token::Sign(b'A');
/// `=>`
pub(super) const COMMA: Token<'static> = Token::Sign(b'F');

/// Most tokens of one program.
const MAX_TOKENS: usize = 50_000;

/// What a program is made of.
#[derive(Debug, Default)]
pub(super) struct Tokens<'a> {
    pub(super) all: Vec<Token<'a>>,
    /// Code in substitutions (`s/…/…/e`).
    pub(super) code: Vec<&'a [u8]>,
    /// Variables that strings and patterns mention.
    pub(super) inner: Vec<(u8, &'a [u8])>,
    /// A reference is followed: what is no reference is then taken for a name.
    pub(super) follows: bool,
}

/// Words after which a value ends, so that what follows is an operator, or may be one.
fn may_end(word: &[u8]) -> bool {
    matches!(
        word,
        b"time" | b"shift" | b"pop" | b"wantarray" | b"wait" | b"times" | b"__LINE__" | b"__FILE__"
    )
}

/// Splits a program into tokens; `None` if it is not understood.
pub(super) fn tokens(text: &[u8]) -> Option<Tokens<'_>> {
    let mut found = Tokens::default();
    // For each brace that is open, whether it holds the key of an item.
    let mut braces: Vec<bool> = Vec::new();
    let mut item = false;
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        if found.all.len() >= MAX_TOKENS {
            return None;
        }
        let line_start = rest.len() == text.len() || text.get(text.len() - rest.len() - 1) == Some(&b'\n');
        let last = found.all.last().copied();
        let (token, length) = match (first, after) {
            (b' ' | b'\t' | b'\n' | b'\r', _) => {
                rest = after;
                continue;
            }
            (b'#', _) => {
                rest = rest.get(rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len())..)?;
                continue;
            }
            (b'=', [b'a'..=b'z' | b'A'..=b'Z', ..]) if line_start => return None,
            (b'\'', _) => {
                let (inner, length) = delimited(rest)?;
                (Token::Text((!inner.contains(&b'\\')).then_some(inner)), length)
            }
            (b'"', _) => {
                let (inner, length) = delimited(rest)?;
                (Token::Text(interpolated(inner, &mut found)?), length)
            }
            (b'`', _) => {
                let (inner, length) = delimited(rest)?;
                (Token::Command(interpolated(inner, &mut found)?), length)
            }
            (b'$' | b'@', _) => variable(rest)?,
            (b'%' | b'&' | b'*', _) => {
                let operator = ends_value(last, item)?;
                match (first, after.first(), operator) {
                    (_, Some(b'='), true) | (b'&', Some(b'&'), _) | (b'*', Some(b'*'), true) => {
                        (Token::Sign(b'O'), 2)
                    }
                    (_, _, true) => (Token::Sign(b'O'), 1),
                    (b'%', _, false) => variable(rest)?,
                    // A function by its name, or everything of a name.
                    _ => return None,
                }
            }
            (b'/', _) => match ends_value(last, item)? {
                true => {
                    (Token::Sign(b'O'), 1 + usize::from(after.starts_with(b"=") || after.starts_with(b"/")))
                }
                false => {
                    let (inner, length) = delimited(rest)?;
                    pattern(inner, &mut found)?;
                    (Token::Pattern, length + flags(rest.get(length..)?)?.0)
                }
            },
            (b'<', _) => match ends_value(last, item) {
                Some(true) => {
                    (Token::Sign(b'O'), 1 + after.iter().take_while(|b| b"<=>".contains(b)).count())
                }
                Some(false) => {
                    let end = after.iter().position(|b| *b == b'>')?;
                    let name = after.get(..end)?;
                    let name = name.strip_prefix(b"$").unwrap_or(name);
                    if !name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_') {
                        return None;
                    }
                    (Token::Input(name), end + 2)
                }
                None => return None,
            },
            (b'?', _) => (Token::Sign(b'?'), 1),
            (b'-', [b'>', ..]) => (ARROW, 2),
            (b'=', [b'>', ..]) => (COMMA, 2),
            (b'=', [b'~', ..]) | (b'!', [b'~', ..]) => (Token::Sign(b'~'), 2),
            (b'0'..=b'9', _) | (b'.', [b'0'..=b'9', ..]) => {
                let length =
                    rest.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_')).count();
                (Token::Number, length.max(1))
            }
            (b'A'..=b'Z' | b'a'..=b'z' | b'_', _) => word(rest, last, &mut found)?,
            (b'(' | b')' | b'[' | b']' | b'{' | b'}' | b';' | b',' | b':' | b'\\' | b'!' | b'~', _) => {
                (Token::Sign(first), 1)
            }
            (b'=', [b'=', ..]) => (Token::Sign(b'O'), 2),
            (b'=', _) => (Token::Sign(b'='), 1),
            (b'-', [letter, next, ..])
                if letter.is_ascii_alphabetic()
                    && !is_word(*next)
                    && ends_value(last, item) == Some(false) =>
            {
                // `-e $file`
                (Token::Sign(b'T'), 2)
            }
            (b'+' | b'-' | b'.' | b'|' | b'^' | b'>', _) => {
                let length = after.iter().take_while(|b| b"+-.|^>=".contains(b)).count().min(2);
                (Token::Sign(b'O'), 1 + length)
            }
            _ => return None,
        };
        let after_item = matches!(last, Some(Token::Sign(b']'))) || (last == Some(Token::Sign(b'}')) && item);
        match token {
            Token::Sign(b'{') => {
                let named = matches!(last, Some(Token::Variable(_, name)) if !name.is_empty());
                found.follows |= after_item || last == Some(ARROW);
                braces.push(named || after_item || last == Some(ARROW));
            }
            Token::Sign(b'[') => found.follows |= after_item || last == Some(ARROW),
            // A function whose reference an item holds.
            Token::Sign(b'(') if after_item || last == Some(Token::Sign(b'}')) => return None,
            // One brace more than was opened closes the loop that `-n` makes.
            Token::Sign(b'}') => item = braces.pop().unwrap_or(false),
            Token::Variable(_, b"") => found.follows = true,
            _ => {}
        }
        found.all.push(token);
        rest = rest.get(length..)?;
    }
    Some(found)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether a value ends with this token; `None` if that depends on the grammar.
fn ends_value(last: Option<Token<'_>>, item: bool) -> Option<bool> {
    match last {
        None => Some(false),
        Some(Token::Word(word)) => {
            if may_end(word) {
                None
            } else {
                Some(false)
            }
        }
        Some(Token::Sign(b'}')) => item.then_some(true),
        Some(Token::Sign(sign)) => Some(matches!(sign, b')' | b']')),
        Some(_) => Some(true),
    }
}

/// A word: quote-like operators, or a name.
fn word<'a>(text: &'a [u8], last: Option<Token<'a>>, found: &mut Tokens<'a>) -> Option<(Token<'a>, usize)> {
    let mut length = text.iter().take_while(|b| is_word(**b)).count();
    while let Some([b':', b':', next, ..]) = text.get(length..)
        && is_word(*next)
    {
        length += 2 + text.iter().skip(length + 2).take_while(|b| is_word(**b)).count();
    }
    let name = text.get(..length)?;
    if text.get(length..)?.starts_with(b"::") || matches!(name, b"__END__" | b"__DATA__" | b"format") {
        return None;
    }
    let after = text.get(length..)?;
    let blanks = after.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let next = after.get(blanks..)?;
    // `s => 1`, `{s}`, `->s`: a name like any other.
    let plain = next.starts_with(b"=>")
        || last == Some(ARROW)
        || (last == Some(Token::Sign(b'{')) && next.starts_with(b"}"));
    let quotes = matches!(name, b"q" | b"qq" | b"qw" | b"m" | b"qr" | b"s" | b"tr" | b"y" | b"qx");
    if !quotes || plain {
        return Some((Token::Word(name), length));
    }
    let delimiter = *next.first()?;
    if is_word(delimiter)
        || matches!(delimiter, b',' | b';' | b'#' | b'=' | b')')
        || !delimiter.is_ascii_graphic()
    {
        return None;
    }
    let (inner, used) = delimited(next)?;
    let mut length = length + blanks + used;
    let token = match name {
        b"q" => Token::Text((!inner.contains(&b'\\')).then_some(inner)),
        b"qq" => Token::Text(interpolated(inner, found)?),
        b"qw" => Token::Words,
        b"qx" => Token::Command(interpolated(inner, found)?),
        b"m" | b"qr" => {
            pattern(inner, found)?;
            length += flags(text.get(length..)?)?.0;
            Token::Pattern
        }
        _ => {
            // The other half, in brackets of its own or up to the same delimiter.
            let (second, used) = if closing(delimiter) == delimiter {
                let (inner, used) = delimited(text.get(length - 1..)?)?;
                (inner, used - 1)
            } else {
                let gap = text.get(length..)?.iter().take_while(|b| b.is_ascii_whitespace()).count();
                let (inner, used) = delimited(text.get(length + gap..)?)?;
                (inner, used + gap)
            };
            length += used;
            let (count, code) = flags(text.get(length..)?)?;
            length += count;
            if name == b"s" {
                pattern(inner, found)?;
                if code {
                    found.code.push(second);
                } else if delimiter != b'\'' {
                    interpolated(second, found)?;
                }
            }
            Token::Pattern
        }
    };
    Some((token, length))
}

/// The flags after a pattern: how many, and whether the replacement is code.
fn flags(text: &[u8]) -> Option<(usize, bool)> {
    let count = text.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let flags = text.get(..count)?;
    // `s/…/…/and …` is read as flags by Perl too, up to the first that is none.
    if !flags.iter().all(|b| b"msixpodualngcre".contains(b)) {
        return None;
    }
    match flags.iter().filter(|b| **b == b'e').count() {
        0 => Some((count, false)),
        1 => Some((count, true)),
        _ => None,
    }
}

const fn closing(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        other => other,
    }
}

/// What stands between delimiters, and the length with them.
fn delimited(text: &[u8]) -> Option<(&[u8], usize)> {
    let open = *text.first()?;
    let close = closing(open);
    let mut depth = 0usize;
    let mut at = 1;
    loop {
        match *text.get(at)? {
            b'\\' => at += 1,
            byte if byte == close => {
                if depth == 0 {
                    return Some((text.get(1..at)?, at + 1));
                }
                depth -= 1;
            }
            byte if byte == open => depth += 1,
            _ => {}
        }
        at += 1;
    }
}

/// A variable.
fn variable(text: &[u8]) -> Option<(Token<'_>, usize)> {
    let sigil = *text.first()?;
    let mut at = 1;
    if sigil == b'$'
        && text.get(1) == Some(&b'#')
        && text.get(2).is_some_and(|b| is_word(*b) || matches!(b, b'{' | b'$'))
    {
        at = 2;
    }
    match text.get(at..)? {
        [b'$', next, ..] if is_word(*next) || matches!(next, b'$' | b'{') => {
            Some((Token::Variable(sigil, b""), at))
        }
        // `@{…}`, `${…}`: the braces follow as tokens. A plain name in them is the name.
        [b'{', ..] => {
            let inner = text.get(at + 1..)?;
            let length = inner.iter().take_while(|b| is_word(**b)).count();
            match inner.get(length) {
                Some(b'}') if length > 0 => {
                    Some((Token::Variable(sigil, inner.get(..length)?), at + length + 2))
                }
                // `${^NAME}` and `@{[ … ]}` are not for this reader, references are.
                _ if inner.starts_with(b"$") => Some((Token::Variable(sigil, b""), at)),
                _ => None,
            }
        }
        [first, ..] if is_word(*first) => {
            let name = text.get(at..)?;
            let length = name.iter().take_while(|b| is_word(**b)).count();
            if name.get(length..)?.starts_with(b"::") || (name.get(length) == Some(&b'\'') && sigil != b'$') {
                return None;
            }
            Some((Token::Variable(sigil, name.get(..length)?), at + length))
        }
        [first, ..] if sigil == b'$' && b"/\\,;.!@&|\"0".contains(first) => {
            Some((Token::Variable(sigil, text.get(at..=at)?), at + 1))
        }
        _ => None,
    }
}

/// The text of a string in which variables are replaced: known if there are none, and no escapes.
fn interpolated<'a>(text: &'a [u8], found: &mut Tokens<'a>) -> Option<Option<&'a [u8]>> {
    let mut known = true;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => {
                known = false;
                at += 2;
            }
            b'$' | b'@' => {
                let length = mentioned(text.get(at..)?, found)?;
                known &= length == 1;
                at += length;
            }
            _ => at += 1,
        }
    }
    Some(known.then_some(text))
}

/// A variable in a string or pattern; the length of what is replaced, 1 if nothing is.
fn mentioned<'a>(text: &'a [u8], found: &mut Tokens<'a>) -> Option<usize> {
    let sigil = *text.first()?;
    let mut at = 1 + usize::from(text.starts_with(b"$#"));
    let braced = text.get(at) == Some(&b'{');
    let references = text.get(at..)?.iter().take_while(|b| **b == b'$').count();
    if references > 0 && text.get(at + references).is_some_and(|b| is_word(*b) || *b == b'{') {
        return None;
    }
    let start = at + usize::from(braced);
    let length = text.get(start..)?.iter().take_while(|b| is_word(**b)).count();
    if length == 0 {
        // `$)` and `$|` in patterns, `@` in addresses; any other is refused.
        return match text.get(1) {
            None
            | Some(
                b')' | b'|' | b' ' | b'.' | b',' | b'/' | b'"' | b'\\' | b'%' | b'<' | b'>' | b'*' | b'+',
            ) => Some(1),
            Some(b'!' | b'&' | b'@' | b';') if sigil == b'$' => Some(2),
            _ => None,
        };
    }
    let name = text.get(start..start + length)?;
    at = start + length;
    if braced {
        if text.get(at) != Some(&b'}') {
            return None;
        }
        at += 1;
    }
    if text.get(at..)?.starts_with(b"::") {
        return None;
    }
    // Subscripts are code: only plain ones.
    let mut again = false;
    loop {
        let arrow = if text.get(at..)?.starts_with(b"->") { 2 } else { 0 };
        let close = match text.get(at + arrow) {
            Some(b'[') => b']',
            Some(b'{') => b'}',
            _ => break,
        };
        let inner = text.get(at + arrow + 1..)?;
        let end = inner.iter().position(|b| *b == close)?;
        let subscript = inner.get(..end)?;
        let odd = |b: &u8| {
            !(is_word(*b) || matches!(b, b'$' | b'-' | b'\'' | b'"' | b' ' | b',' | b'+' | b'^' | b'.'))
        };
        if subscript.iter().any(odd) || subscript.windows(2).any(|w| w == b"$$") {
            return None;
        }
        // In a pattern a bracket may be a class: then it holds no name of a function either way, unless bare.
        let bare = subscript.first().is_some_and(u8::is_ascii_alphabetic);
        if bare && close == b']' {
            return None;
        }
        found.follows |= arrow > 0 || again;
        again = true;
        at += arrow + end + 2;
    }
    let subscripted = matches!(text.get(start + length + usize::from(braced)), Some(b'{'));
    found.inner.push((if subscripted { b'%' } else { sigil }, name));
    Some(at)
}

/// A pattern: variables in it are replaced, and code may stand in it.
fn pattern<'a>(text: &'a [u8], found: &mut Tokens<'a>) -> Option<()> {
    if text.windows(3).any(|w| matches!(w, b"(?{" | b"(*{")) || text.windows(4).any(|w| w == b"(??{") {
        return None;
    }
    interpolated(text, found)?;
    Some(())
}
