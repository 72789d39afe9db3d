//! The tokens of SQL, by the client that reads it. Clients differ in what is a comment and what ends a string, and a
//! reader that takes one for another would miss statements: what a client's rules leave open is refused.

use crate::knowledge::tables::Program;
use crate::knowledge::words::Fact;

/// Who reads the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::knowledge::languages) enum Client {
    /// `psql`.
    Postgres,
    /// `mysql`, `mariadb`.
    Mysql,
    /// `sqlite3`.
    Sqlite,
    /// Others: the rules on which all agree.
    Other,
}

impl Client {
    /// Who reads the text that this program is given.
    pub(in crate::knowledge::languages) fn of(program: &Program) -> Self {
        let known = [
            (Fact::ReadsPostgres, Self::Postgres),
            (Fact::ReadsMysql, Self::Mysql),
            (Fact::ReadsSqlite, Self::Sqlite),
        ];
        known.iter().find(|(fact, _)| program.has(*fact)).map_or(Self::Other, |(_, client)| *client)
    }
}

/// Words with which `mysql` begins a command of its own, at the start of a line.
fn is_mysql_word(word: &[u8]) -> bool {
    matches!(
        word,
        b"system"
            | b"source"
            | b"pager"
            | b"nopager"
            | b"tee"
            | b"notee"
            | b"edit"
            | b"delimiter"
            | b"prompt"
            | b"connect"
            | b"status"
            | b"rehash"
            | b"charset"
            | b"warnings"
            | b"nowarning"
            | b"go"
            | b"ego"
            | b"print"
            | b"quit"
            | b"exit"
            | b"clear"
            | b"resetconnection"
    )
}

/// A token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A word or a number.
    Word(&'a [u8]),
    /// A string literal. Its text, if nothing in it is escaped.
    Text(Option<&'a [u8]>),
    /// A quoted name.
    Name,
    /// Any other character.
    Sign(u8),
    /// `;`, or another end of a statement.
    End,
    /// A command of the client itself: the rest of its line.
    Meta(&'a [u8]),
}

/// Most tokens of one text.
const MAX_TOKENS: usize = 200_000;

/// Splits text into tokens; `None` if a client may read it in another way.
pub(super) fn tokens<'a>(text: &'a [u8], client: Client) -> Option<Vec<Token<'a>>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    // A client's own command may begin here: at the start of a line, with no statement begun.
    let mut fresh = true;
    while let Some((first, after)) = rest.split_first() {
        if tokens.len() >= MAX_TOKENS {
            return None;
        }
        let starts = text.len() == rest.len() || text.get(text.len() - rest.len() - 1) == Some(&b'\n');
        // To sqlite3 such a line ends a statement.
        if client == Client::Sqlite && starts && !fresh && is_terminator(line(rest)) {
            return None;
        }
        if fresh && let Some(length) = meta_line(rest, client) {
            // Only there it takes commands of its own; elsewhere what looks like one is SQL.
            if client == Client::Sqlite && !starts {
                return None;
            }
            let (line, after) = rest.split_at_checked(length)?;
            tokens.push(Token::Meta(line));
            tokens.push(Token::End);
            rest = after;
            continue;
        }
        if first.is_ascii_whitespace() {
            rest = after;
            continue;
        }
        if let Some(length) = comment(rest, client)? {
            rest = rest.get(length..)?;
            continue;
        }
        let (token, length) = match (first, client) {
            (b';', _) => (Token::End, 1),
            (b'\\', Client::Postgres) => (Token::Meta(line(rest)), line(rest).len()),
            (b'\\', Client::Mysql) => match after.first()? {
                b'g' | b'G' => (Token::End, 2),
                _ => (Token::Meta(line(rest)), line(rest).len()),
            },
            (b'\\', _) => return None,
            (b'\'', _) => quoted(rest, b'\'', client)?,
            (b'"', Client::Mysql | Client::Other) => quoted(rest, b'"', client)?,
            (b'"', _) => (Token::Name, quoted(rest, b'"', Client::Sqlite)?.1),
            (b'`', Client::Postgres) => return None,
            (b'`', _) => (Token::Name, quoted(rest, b'`', Client::Sqlite)?.1),
            (b'[', Client::Sqlite) => (Token::Name, rest.iter().position(|b| *b == b']')? + 1),
            (b'$', Client::Postgres | Client::Other) if !after.first().is_some_and(u8::is_ascii_digit) => {
                dollar_quoted(rest)?
            }
            // `:name` is replaced by the value of a variable; `::type` is not.
            (b':', Client::Postgres) => match after.first() {
                Some(b':') => (Token::Sign(b':'), 2),
                Some(b'=') => (Token::Sign(b':'), 2),
                _ => return None,
            },
            (byte, _) if is_word(*byte) => {
                let length = rest.iter().take_while(|b| is_word(**b)).count();
                let (word, after) = rest.split_at_checked(length)?;
                match (word, after.first(), client) {
                    // `E'…'` knows backslashes; other prefixes change what the quotes mean as well.
                    (b"E" | b"e", Some(b'\''), Client::Postgres) => {
                        let (_, inner) = quoted(after, b'\'', Client::Mysql)?;
                        (Token::Text(None), length + inner)
                    }
                    (b"U" | b"u", Some(b'&'), Client::Postgres) => return None,
                    (b"r" | b"R" | b"b" | b"B" | b"rb" | b"br", Some(b'\'' | b'"'), Client::Other) => {
                        return None;
                    }
                    _ => (Token::Word(word), length),
                }
            }
            (byte, _) => (Token::Sign(*byte), 1),
        };
        fresh = token == Token::End;
        if let Token::Meta(_) = token {
            tokens.push(Token::End);
            tokens.push(token);
            tokens.push(Token::End);
            fresh = true;
        } else {
            tokens.push(token);
        }
        rest = rest.get(length..)?;
    }
    Some(tokens)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'@') || byte >= 0x80
}

/// `go` or `/` by itself.
fn is_terminator(line: &[u8]) -> bool {
    let word = line.trim_ascii();
    word == b"/" || word.eq_ignore_ascii_case(b"go")
}

/// The rest of the line.
fn line(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|b| *b == b'\n').unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// The length of a line that is a command of the client itself.
fn meta_line(text: &[u8], client: Client) -> Option<usize> {
    let first = text.first()?;
    // Longer than any of these words.
    let word: Vec<u8> =
        text.iter().take(24).take_while(|b| b.is_ascii_alphabetic()).map(u8::to_ascii_lowercase).collect();
    let own = match client {
        Client::Sqlite => *first == b'.',
        Client::Mysql => is_mysql_word(&word),
        _ => false,
    };
    own.then(|| line(text).len())
}

/// The length of a comment that begins here. The outer `None`: it may be no comment to everyone.
fn comment(text: &[u8], client: Client) -> Option<Option<usize>> {
    match text {
        // To MySQL two dashes are a comment only before a blank.
        [b'-', b'-', after @ ..] => {
            let blank = after.first().is_none_or(u8::is_ascii_whitespace);
            if !blank && matches!(client, Client::Mysql | Client::Other) {
                return None;
            }
            // A client's own commands are seen in comments too (`-- \! id`).
            let line = line(text);
            let hidden = client == Client::Mysql && line.contains(&b'\\');
            if hidden { None } else { Some(Some(line.len())) }
        }
        [b'#', ..] if client == Client::Mysql => {
            let line = line(text);
            if line.contains(&b'\\') { None } else { Some(Some(line.len())) }
        }
        [b'#', ..] if client == Client::Other => None,
        [b'/', b'*', after @ ..] => {
            // `/*! … */` and `/*M! … */` are executed.
            if matches!(after, [b'!' | b'M', ..]) && client != Client::Sqlite && client != Client::Postgres {
                return None;
            }
            let end = after.windows(2).position(|w| w == b"*/")?;
            let inner = after.get(..end)?;
            // Some nest comments, others do not.
            if inner.windows(2).any(|w| w == b"/*") || (client == Client::Mysql && inner.contains(&b'\\')) {
                return None;
            }
            Some(Some(end + 4))
        }
        _ => Some(None),
    }
}

/// A string or name in quotes, and its length. A doubled quote stands for one.
fn quoted(text: &[u8], quote: u8, client: Client) -> Option<(Token<'_>, usize)> {
    let escapes = client == Client::Mysql;
    let mut at = 1;
    let mut plain = true;
    loop {
        match text.get(at..)? {
            [b'\\', ..] if escapes => {
                plain = false;
                at += 2;
            }
            // Not every one of the others takes a backslash for itself.
            [b'\\', ..] if client == Client::Other => return None,
            [a, b, ..] if *a == quote && *b == quote => {
                plain = false;
                at += 2;
            }
            [a, ..] if *a == quote => {
                let text = text.get(1..at)?;
                return Some((Token::Text(plain.then_some(text)), at + 1));
            }
            [_, ..] => at += 1,
            [] => return None,
        }
    }
}

/// `$tag$ … $tag$`
fn dollar_quoted(text: &[u8]) -> Option<(Token<'_>, usize)> {
    let end = text.iter().skip(1).position(|b| *b == b'$')? + 2;
    let tag = text.get(..end)?;
    if !tag.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$')) {
        return None;
    }
    let after = text.get(end..)?;
    let close = after.windows(end).position(|w| w == tag)?;
    Some((Token::Text(after.get(..close)), end + close + end))
}
