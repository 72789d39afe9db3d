//! The structure of a text: keys, headers, lists and tables.

use super::table::{Table, Written};
use super::{Error, Inner, Key, Span, Value};
use std::ops::Range;

/// Deepest nesting of lists and tables in braces. A policy needs three.
const MAX_DEPTH: usize = 16;

/// Most parts of a key with dots.
const MAX_PARTS: usize = 8;

/// Most keys and values: a file of a few bytes for each must not become a hundred times as large in memory. Ten thousand rules
/// have half as many.
const MAX_ITEMS: usize = 1 << 19;

/// Reads a text, but for the parts of it that are known already, each from one header to another.
///
/// # Errors
/// The first place at which it is not TOML.
pub(crate) fn parse<'t>(text: &'t str, known: &[Range<usize>]) -> Result<Table<'t>, Error> {
    let mut parser = Parser { text, bytes: text.as_bytes(), at: 0, depth: 0, items: 0 };
    if text.starts_with('\u{feff}') {
        parser.at = '\u{feff}'.len_utf8();
    }
    let mut known = known.iter();
    let mut next = known.next();
    let mut root = Table::default();
    root.written = Written::Header;
    let mut headers = Vec::new();
    let mut table = &mut root;
    loop {
        parser.skip_lines()?;
        if let Some(range) = next.filter(|range| range.start == parser.at && !range.is_empty()) {
            parser.at = range.end;
            next = known.next();
            continue;
        }
        match parser.peek() {
            None => break,
            Some(b'[') => {
                headers.push(parser.at);
                let header = parser.header()?;
                table = parser.open(&mut root, header)?;
            }
            Some(_) => {
                parser.entry(table)?;
                parser.end_of_line()?;
            }
        }
    }
    root.set_headers(headers);
    Ok(root)
}

/// A header: `[a.b]`, or `[[a.b]]`.
struct Header<'t> {
    keys: Vec<Key<'t>>,
    /// Of a list of tables.
    item: bool,
    span: Span,
}

pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) at: usize,
    depth: usize,
    /// How many keys and values there were.
    items: usize,
}

fn table_at(span: Span, written: Written) -> Value<'static> {
    let mut table = Table::default();
    table.written = written;
    Value { inner: Inner::Table(table), span }
}

impl<'t> Parser<'t> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// Goes on over this byte, if it is the next.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let is = self.peek() == Some(byte);
        self.at += usize::from(is);
        is
    }

    pub(super) fn error<T>(span: Span, message: impl Into<String>) -> Result<T, Error> {
        Err(Error { code: "syntax", message: message.into(), span })
    }

    /// That something else was to come here.
    pub(super) fn expected<T>(&self, wanted: &str) -> Result<T, Error> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let (found, width) = match rest.chars().next() {
            None => ("the end of the file".to_owned(), 0),
            Some('\n' | '\r') => ("the end of the line".to_owned(), 1),
            Some(c) => (format!("`{}`", c.escape_debug()), c.len_utf8()),
        };
        Self::error(Span::new(self.at, self.at + width), format!("expected {wanted}, found {found}"))
    }

    /// One key or value more.
    fn count(&mut self) -> Result<(), Error> {
        self.items += 1;
        if self.items <= MAX_ITEMS {
            return Ok(());
        }
        let message = format!("more than {MAX_ITEMS} keys and values; split the rules over several files");
        Err(Error { code: "too-large", message, span: Span::new(self.at, self.at) })
    }

    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Over the end of a line, if this is one.
    pub(super) fn eat_line_end(&mut self) -> bool {
        if self.peek() == Some(b'\r') && self.peek_at(1) == Some(b'\n') {
            self.at += 2;
            return true;
        }
        self.eat(b'\n')
    }

    fn skip_comment(&mut self) -> Result<(), Error> {
        if self.peek() != Some(b'#') {
            return Ok(());
        }
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => break,
                b'\r' if self.peek_at(1) == Some(b'\n') => break,
                b'\t' | b' '..=b'~' | 0x80.. => self.at += 1,
                _ => return self.expected("no control character in a comment"),
            }
        }
        Ok(())
    }

    /// Over blanks, comments and ends of lines.
    fn skip_lines(&mut self) -> Result<(), Error> {
        loop {
            self.skip_blanks();
            self.skip_comment()?;
            if !self.eat_line_end() {
                return Ok(());
            }
        }
    }

    fn end_of_line(&mut self) -> Result<(), Error> {
        self.skip_blanks();
        self.skip_comment()?;
        match self.peek() {
            None => Ok(()),
            Some(_) if self.eat_line_end() => Ok(()),
            Some(_) => self.expected("the end of the line"),
        }
    }

    fn header(&mut self) -> Result<Header<'t>, Error> {
        let start = self.at;
        self.at += 1;
        let item = self.eat(b'[');
        self.skip_blanks();
        let keys = self.keys()?;
        if !self.eat(b']') || (item && !self.eat(b']')) {
            return self.expected(if item { "`]]`" } else { "`]`" });
        }
        let span = Span::new(start, self.at);
        self.end_of_line()?;
        Ok(Header { keys, item, span })
    }

    /// A key and what it is made of between dots.
    fn keys(&mut self) -> Result<Vec<Key<'t>>, Error> {
        let mut keys = Vec::with_capacity(1);
        loop {
            self.count()?;
            let start = self.at;
            let name = match self.peek() {
                Some(b'"') if !self.bytes.get(start..).is_some_and(|r| r.starts_with(b"\"\"\"")) => {
                    self.quoted()?
                }
                Some(b'\'') if !self.bytes.get(start..).is_some_and(|r| r.starts_with(b"'''")) => {
                    self.literal()?
                }
                _ => {
                    while matches!(self.peek(), Some(b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-')) {
                        self.at += 1;
                    }
                    if self.at == start {
                        return self.expected("a key");
                    }
                    self.text.get(start..self.at).unwrap_or_default().into()
                }
            };
            keys.push(Key { name, span: Span::new(start, self.at) });
            self.skip_blanks();
            if !self.eat(b'.') {
                return Ok(keys);
            }
            if keys.len() == MAX_PARTS {
                let message = "too many dots in one key".to_owned();
                return Err(Error { code: "too-deep", message, span: Span::new(start, self.at) });
            }
            self.skip_blanks();
        }
    }

    /// The table that a header opens, below the root.
    fn open<'r>(&self, root: &'r mut Table<'t>, header: Header<'t>) -> Result<&'r mut Table<'t>, Error> {
        let Header { mut keys, item, span } = header;
        let Some(last) = keys.pop() else { return self.expected("a key") };
        let mut table = root;
        for key in keys {
            table = match step(table, &key, Written::Implied) {
                Some(Inner::Table(inner)) if inner.written != Written::Inline => inner,
                Some(Inner::List(items)) => match items.last_mut().map(|value| &mut value.inner) {
                    Some(Inner::Table(inner)) if inner.written == Written::Header => inner,
                    _ => return Self::error(key.span, format!("`{}` is no list of tables", shown(&key))),
                },
                _ => return Self::error(key.span, format!("`{}` is no table to add to", shown(&key))),
            };
        }
        let at = table.position(&last.name);
        let fresh = table_at(span, Written::Header);
        match at {
            None if item => {
                let value = Value { inner: Inner::List(vec![fresh]), span };
                let at = table.add(last, value);
                last_item(table, at).ok_or_else(lost)
            }
            None => {
                let at = table.add(last, fresh);
                inner_table(table, at).ok_or_else(lost)
            }
            Some(at) => {
                let twice = self.twice(table, at, &last);
                let Some(value) = table.at_mut(at) else { return Err(lost()) };
                match &mut value.inner {
                    // A list in brackets is whole; one of headers goes on.
                    Inner::List(items) if item && is_of_headers(items) => items.push(fresh),
                    Inner::Table(inner) if !item && inner.written == Written::Implied => {
                        inner.written = Written::Header;
                        value.span = span;
                    }
                    _ => return Self::error(last.span, twice),
                }
                if item { last_item(table, at) } else { inner_table(table, at) }.ok_or_else(lost)
            }
        }
    }

    /// `key = value`, into a table.
    fn entry(&mut self, table: &mut Table<'t>) -> Result<(), Error> {
        let mut keys = self.keys()?;
        if !self.eat(b'=') {
            return self.expected("`=`");
        }
        self.skip_blanks();
        let value = self.value()?;
        let Some(last) = keys.pop() else { return self.expected("a key") };
        let mut table = table;
        for key in keys {
            table = match step(table, &key, Written::Dotted) {
                Some(Inner::Table(inner)) if inner.written == Written::Dotted => inner,
                _ => return Self::error(key.span, format!("`{}` is no table to add to", shown(&key))),
            };
        }
        if let Some(at) = table.position(&last.name) {
            return Self::error(last.span, self.twice(table, at, &last));
        }
        table.add(last, value);
        Ok(())
    }

    fn value(&mut self) -> Result<Value<'t>, Error> {
        self.count()?;
        let start = self.at;
        let inner = match self.peek() {
            Some(b'"' | b'\'') => return self.string(),
            Some(b'[') => self.nested(Self::list)?,
            Some(b'{') => self.nested(Self::braces)?,
            _ => self.bare()?,
        };
        Ok(Value { inner, span: Span::new(start, self.at) })
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Inner<'t>, Error>) -> Result<Inner<'t>, Error> {
        if self.depth == MAX_DEPTH {
            let message = "too many brackets inside each other".to_owned();
            return Err(Error { code: "too-deep", message, span: Span::new(self.at, self.at + 1) });
        }
        self.depth += 1;
        self.at += 1;
        let inner = read(self)?;
        self.depth -= 1;
        Ok(inner)
    }

    fn list(&mut self) -> Result<Inner<'t>, Error> {
        let mut items = Vec::new();
        loop {
            self.skip_lines()?;
            if self.eat(b']') {
                return Ok(Inner::List(items));
            }
            items.push(self.value()?);
            self.skip_lines()?;
            if !self.eat(b',') && self.peek() != Some(b']') {
                return self.expected("`,` or `]`");
            }
        }
    }

    fn braces(&mut self) -> Result<Inner<'t>, Error> {
        let mut table = Table::default();
        self.skip_blanks();
        if !self.eat(b'}') {
            loop {
                self.skip_blanks();
                self.entry(&mut table)?;
                self.skip_blanks();
                if self.eat(b'}') {
                    break;
                }
                if !self.eat(b',') {
                    return self.expected("`,` or `}`");
                }
            }
        }
        table.written = Written::Inline;
        Ok(Inner::Table(table))
    }

    /// That a name stands in a table already.
    fn twice(&self, table: &Table<'_>, at: usize, key: &Key<'_>) -> String {
        let start = table.key_at(at).map_or(0, |key| key.span.start);
        let line = self.bytes.iter().take(start).filter(|b| **b == b'\n').count() + 1;
        format!("`{}` is there already, in line {line}", shown(key))
    }
}

/// What a key leads to; a new table, if it leads nowhere yet.
fn step<'r, 't>(table: &'r mut Table<'t>, key: &Key<'t>, new: Written) -> Option<&'r mut Inner<'t>> {
    let at = match table.position(&key.name) {
        Some(at) => at,
        None => table.add(key.clone(), table_at(key.span, new)),
    };
    table.at_mut(at).map(|value| &mut value.inner)
}

fn is_of_headers(items: &[Value<'_>]) -> bool {
    items.last().and_then(Value::as_table).is_some_and(|table| table.written == Written::Header)
}

fn inner_table<'r, 't>(table: &'r mut Table<'t>, at: usize) -> Option<&'r mut Table<'t>> {
    match &mut table.at_mut(at)?.inner {
        Inner::Table(inner) => Some(inner),
        _ => None,
    }
}

fn last_item<'r, 't>(table: &'r mut Table<'t>, at: usize) -> Option<&'r mut Table<'t>> {
    match &mut table.at_mut(at)?.inner {
        Inner::List(items) => match &mut items.last_mut()?.inner {
            Inner::Table(inner) => Some(inner),
            _ => None,
        },
        _ => None,
    }
}

/// For what cannot happen: what was just added is there. It is an error and not a panic all the same.
fn lost() -> Error {
    Error { code: "syntax", message: "the table cannot be opened".to_owned(), span: Span::default() }
}

/// A key as a message shows it.
fn shown(key: &Key<'_>) -> String {
    key.name.chars().take(80).flat_map(char::escape_debug).collect()
}
