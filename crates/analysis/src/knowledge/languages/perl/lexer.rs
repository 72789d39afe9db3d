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
    /// `<NAME>`, `<$name>`, `<>`: what stands between.
    Input(&'a [u8]),
    /// A sign; `->` is `A`, `=>` is `F`, `||` is `|`, `..` and other operators of several characters are `O`.
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

/// Words after which a value begins. After any other it depends on whether the word takes one (`time / 2`, a constant, a
/// method, a function with a prototype).
fn begins_value(word: &[u8]) -> bool {
    const WORDS: &[&str] = &[
        "my", "our", "local", "state", "for", "foreach", "print", "printf", "say", "join", "split", "map",
        "grep", "sort", "push", "unshift", "splice", "reverse", "sprintf", "die", "warn", "return", "if",
        "elsif", "unless", "while", "until", "and", "or", "not", "xor", "eq", "ne", "lt", "gt", "le", "ge",
        "cmp", "keys", "values", "each", "defined", "delete", "exists", "scalar", "index", "rindex",
        "substr", "pack", "unpack",
    ];
    WORDS.iter().any(|known| known.as_bytes() == word)
}

/// Whether a sign after `$name` could begin a value: then a bare word before the variable takes it for a file handle
/// (`print $file /x/`). Perl looks at the blanks.
fn may_begin_value(tokens: &[Token<'_>], text: &[u8], rest: &[u8]) -> bool {
    let [.., Token::Word(_), Token::Variable(b'$', _)] = tokens else { return false };
    let blank = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_whitespace);
    let before = (text.len() - rest.len()).checked_sub(1).and_then(|at| text.get(at));
    blank(before) && !blank(rest.get(1)) && rest.first().is_some_and(|sign| b"/%&*<-+.?".contains(sign))
}

/// Splits a program into tokens; `None` if it is not understood.
pub(super) fn tokens(text: &[u8]) -> Option<Tokens<'_>> {
    let mut found = Tokens::default();
    // For each brace that is open, whether it holds the key of an item.
    let mut braces: Vec<bool> = Vec::new();
    let mut item = false;
    if !is_plain_first_line(text) {
        return None;
    }
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        if found.all.len() >= MAX_TOKENS {
            return None;
        }
        let line_start = rest.len() == text.len() || text.get(text.len() - rest.len() - 1) == Some(&b'\n');
        let last = found.all.last().copied();
        if may_begin_value(&found.all, text, rest) {
            return None;
        }
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
                escapes(inner, b'"', false)?;
                (Token::Text(interpolated(inner, &mut found)?), length)
            }
            (b'`', _) => {
                let (inner, length) = delimited(rest)?;
                escapes(inner, b'`', false)?;
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
                    escapes(inner, b'/', true)?;
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
                    if !name
                        .strip_prefix(b"$")
                        .unwrap_or(name)
                        .iter()
                        .all(|b| b.is_ascii_alphanumeric() || *b == b'_')
                    {
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
            (b'0'..=b'9', _) | (b'.', [b'0'..=b'9', ..]) => (Token::Number, number(rest)?),
            (b'A'..=b'Z' | b'a'..=b'z' | b'_', _) => {
                word(rest, last, braces.last() == Some(&true), &mut found)?
            }
            (b'(' | b')' | b'[' | b']' | b'{' | b'}' | b';' | b',' | b':' | b'\\' | b'!' | b'~', _) => {
                (Token::Sign(first), 1)
            }
            (b'=', [b'=', ..]) => (Token::Sign(b'O'), 2),
            (b'=', _) => (Token::Sign(b'='), 1),
            (b'-', [letter, next, ..])
                if letter.is_ascii_alphabetic()
                    && !is_word(*next)
                    && ends_value(last, item) != Some(true) =>
            {
                // `-e $file`
                if ends_value(last, item).is_none() || !b"rwxoRWXOezsfdlpSugkbctTBMAC".contains(letter) {
                    return None;
                }
                (Token::Sign(b'T'), 2)
            }
            (b'|', [b'|', ..]) => (Token::Sign(b'|'), 2 + usize::from(after.get(1) == Some(&b'='))),
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

/// Whether the first line names no program and no options that Perl would obey.
fn is_plain_first_line(text: &[u8]) -> bool {
    let line = text.split(|b| *b == b'\n').next().unwrap_or_default().trim_ascii();
    let Some(line) = line.strip_prefix(b":").unwrap_or(line).trim_ascii().strip_prefix(b"#!") else {
        return true;
    };
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let named = words.by_ref().find(|word| !word.ends_with(b"/env"));
    named.is_some_and(|name| name.ends_with(b"perl")) && words.all(|word| matches!(word, b"-w" | b"-W"))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether a value ends with this token; `None` if that depends on the grammar.
fn ends_value(last: Option<Token<'_>>, item: bool) -> Option<bool> {
    match last {
        None => Some(false),
        Some(Token::Word(word)) => begins_value(word).then_some(false),
        Some(Token::Sign(b'}')) => item.then_some(true),
        Some(Token::Sign(sign)) => Some(matches!(sign, b')' | b']')),
        Some(_) => Some(true),
    }
}

/// The length of a number. What begins a word right behind it (`1x/…/`) is not for this reader.
fn number(text: &[u8]) -> Option<usize> {
    let digits = |text: &[u8], is: fn(&u8) -> bool| text.iter().take_while(|b| is(b) || **b == b'_').count();
    let length = match text {
        [b'0', b'x' | b'X', rest @ ..] => 2 + digits(rest, u8::is_ascii_hexdigit),
        [b'0', b'b' | b'B' | b'o', rest @ ..] => 2 + digits(rest, u8::is_ascii_digit),
        _ => {
            let mut length = digits(text, u8::is_ascii_digit);
            // `1..5` is a range.
            if let [b'.', next, ..] = text.get(length..)?
                && *next != b'.'
            {
                length += 1 + digits(text.get(length + 1..)?, u8::is_ascii_digit);
            }
            if let [b'e' | b'E', rest @ ..] = text.get(length..)? {
                let sign = usize::from(matches!(rest.first(), Some(b'+' | b'-')));
                let power = digits(rest.get(sign..)?, u8::is_ascii_digit);
                length += if power > 0 { 1 + sign + power } else { 0 };
            }
            length
        }
    };
    (length > 0 && !text.get(length).is_some_and(|byte| is_word(*byte))).then_some(length)
}

/// A word: quote-like operators, a name, or a string (`word => …`, `{word}` behind a variable: `key`).
fn word<'a>(
    text: &'a [u8],
    last: Option<Token<'a>>,
    key: bool,
    found: &mut Tokens<'a>,
) -> Option<(Token<'a>, usize)> {
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
    // `s => 1`, `$h{s}`: a name like any other.
    if next.starts_with(b"=>") || (key && last == Some(Token::Sign(b'{')) && next.starts_with(b"}")) {
        return Some((Token::Text(Some(name)), length));
    }
    let quotes = matches!(name, b"q" | b"qq" | b"qw" | b"m" | b"qr" | b"s" | b"tr" | b"y" | b"qx");
    if !quotes || last == Some(ARROW) {
        // `f'a` is `f::a`.
        return (!after.starts_with(b"'")).then_some((Token::Word(name), length));
    }
    // The name of a function.
    if last == Some(Token::Word(b"sub")) {
        return None;
    }
    let delimiter = *next.first()?;
    if is_word(delimiter)
        || matches!(delimiter, b',' | b';' | b'#' | b'=' | b')')
        || !delimiter.is_ascii_graphic()
    {
        return None;
    }
    let (inner, used) = delimited(next)?;
    if !matches!(name, b"q" | b"qw" | b"tr" | b"y") {
        escapes(inner, delimiter, !matches!(name, b"qq" | b"qx"))?;
    }
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
            let mut opened = delimiter;
            let (second, used) = if closing(delimiter) == delimiter {
                let (inner, used) = delimited(text.get(length - 1..)?)?;
                (inner, used - 1)
            } else {
                let gap = text.get(length..)?.iter().take_while(|b| b.is_ascii_whitespace()).count();
                // A comment, if there is a blank before it.
                if text.get(length + gap) == Some(&b'#') {
                    return None;
                }
                let half = text.get(length + gap..)?;
                opened = *half.first()?;
                let (inner, used) = delimited(half)?;
                (inner, used + gap)
            };
            length += used;
            let (count, code) = flags(text.get(length..)?)?;
            length += count;
            if name == b"s" {
                pattern(inner, found)?;
                escapes(second, opened, true)?;
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

/// Whether what stands between delimiters is the same where Perl takes away the backslash before a delimiter: that may
/// make a variable, a subscript or code of what looked like text.
fn escapes(text: &[u8], open: u8, pattern: bool) -> Option<()> {
    let close = closing(open);
    let mut before = None;
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        if *byte != b'\\' {
            before = Some(*byte);
            rest = after;
            continue;
        }
        let (escaped, more) = after.split_first()?;
        if *escaped == open || *escaped == close {
            let plain = match open {
                b'/' | b'"' | b'`' => !matches!(before, Some(b'$' | b'@')),
                b'|' | b'!' | b':' => pattern && !matches!(before, Some(b'$' | b'@')),
                b'{' => {
                    let code = |pair: &[u8]| matches!(pair, [b'(', b'?' | b'*']);
                    pattern && !text.iter().any(|b| matches!(b, b'$' | b'@')) && !text.windows(2).any(code)
                }
                _ => false,
            };
            if !plain {
                return None;
            }
        }
        before = None;
        rest = more;
    }
    Some(())
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
            // `$a'b` is `$a::b`.
            if name.get(length..)?.starts_with(b"::") || name.get(length) == Some(&b'\'') {
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
    replaced(text, found, false)
}

/// As [`interpolated`], of a string or of a pattern.
fn replaced<'a>(text: &'a [u8], found: &mut Tokens<'a>, pattern: bool) -> Option<Option<&'a [u8]>> {
    let mut known = true;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => {
                known = false;
                at += 2;
            }
            b'$' | b'@' => {
                let length = mentioned(text.get(at..)?, found, pattern)?;
                known &= length == 1;
                at += length;
            }
            _ => at += 1,
        }
    }
    Some(known.then_some(text))
}

/// A variable in a string or pattern; the length of what is replaced, 1 if nothing is.
fn mentioned<'a>(text: &'a [u8], found: &mut Tokens<'a>, pattern: bool) -> Option<usize> {
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
        // Variables of signs have items as well, and subscripts are code. In a pattern `$)` and `$|` are none.
        let sign = text.get(1);
        let subscript = match text.get(2..).unwrap_or_default() {
            [b'[' | b'{', ..] => true,
            [b'-', b'>', rest @ ..] => matches!(rest.first(), Some(b'[' | b'{' | b'@' | b'$' | b'%')),
            _ => false,
        };
        if subscript && !(pattern && matches!(sign, Some(b')' | b'|'))) {
            return None;
        }
        // `$)` and `$|` in patterns, `@` in addresses; any other is refused.
        return match text.get(1) {
            // `"$ name[…]"` is an item of `@name`; in patterns it is none.
            Some(b' ') if sigil == b'$' && !pattern => None,
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
            // `$name->@[…]`
            Some(b'@' | b'$' | b'%' | b'&' | b'*') if arrow > 0 => return None,
            _ => break,
        };
        let inner = text.get(at + arrow + 1..)?;
        let end = inner.iter().position(|b| *b == close)?;
        let subscript = inner.get(..end)?;
        if !is_plain_subscript(subscript) {
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

/// Whether a subscript in a string calls nothing: a name, a quoted string, or variables and numbers with signs between.
fn is_plain_subscript(text: &[u8]) -> bool {
    let word = |text: &[u8]| text.iter().all(|b| is_word(*b));
    match text.trim_ascii() {
        [quote @ (b'\'' | b'"'), inner @ .., end] => {
            quote == end && inner.iter().all(|b| is_word(*b) || b" -.,:/".contains(b))
        }
        [b'-', name @ ..] if word(name) => true,
        name if word(name) => true,
        // `^` and `-` stand in classes of patterns.
        parts => parts.split(|b| b" +-^,.".contains(b)).all(|part| match part {
            [b'$', b'#', name @ ..] | [b'$', name @ ..] => !name.is_empty() && word(name),
            part => part.iter().all(u8::is_ascii_digit),
        }),
    }
}

/// A pattern: variables in it are replaced, and code may stand in it.
fn pattern<'a>(text: &'a [u8], found: &mut Tokens<'a>) -> Option<()> {
    if text.windows(3).any(|w| matches!(w, b"(?{" | b"(*{")) || text.windows(4).any(|w| w == b"(??{") {
        return None;
    }
    replaced(text, found, true)?;
    Some(())
}
