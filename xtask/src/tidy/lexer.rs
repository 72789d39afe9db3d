//! Rust source as tokens: enough to tell code from comments and text, and tests from the rest.

/// A piece of Rust source that is not white space and not a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// Line, from 1.
    pub(crate) line: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier or keyword, without a raw identifier's `r#`.
    Word(String),
    /// Contents of a string of any sort, escapes as written.
    Text(String),
    /// A number, character or lifetime.
    Other,
    /// One character of punctuation.
    Mark(char),
}

impl Token {
    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(&self.kind, Kind::Word(own) if own == word)
    }

    pub(crate) fn is_mark(&self, mark: char) -> bool {
        self.kind == Kind::Mark(mark)
    }

    pub(crate) fn word(&self) -> Option<&str> {
        match &self.kind {
            Kind::Word(word) => Some(word),
            Kind::Text(_) | Kind::Other | Kind::Mark(_) => None,
        }
    }
}

/// The tokens of `source`. Source that does not compile gives some tokens.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let mut reader = Reader { rest: source, line: 1 };
    let mut tokens = Vec::new();
    loop {
        reader.skip_blanks_and_comments();
        let line = reader.line;
        let Some(kind) = reader.token() else { return tokens };
        tokens.push(Token { kind, line });
    }
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Reader<'a> {
    /// Takes the first `length` bytes.
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn take_while(&mut self, test: impl Fn(char) -> bool) -> &'a str {
        self.take(self.rest.find(|letter| !test(letter)).unwrap_or(self.rest.len()))
    }

    fn skip_blanks_and_comments(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            if self.rest.starts_with("//") {
                self.take_while(|letter| letter != '\n');
            } else if self.rest.starts_with("/*") {
                self.skip_block_comment();
            } else {
                return;
            }
        }
    }

    fn skip_block_comment(&mut self) {
        let mut depth = 0usize;
        loop {
            let step = if self.rest.starts_with("/*") {
                depth += 1;
                2
            } else if self.rest.starts_with("*/") {
                depth -= 1;
                2
            } else {
                self.rest.chars().next().map_or(0, char::len_utf8)
            };
            self.take(step);
            if depth == 0 || self.rest.is_empty() {
                return;
            }
        }
    }

    fn token(&mut self) -> Option<Kind> {
        let first = self.rest.chars().next()?;
        if let Some(text) = self.string() {
            return Some(Kind::Text(text.to_owned()));
        }
        if first.is_alphabetic() || first == '_' {
            let word = self.take_while(is_word_letter);
            if word == "r" && self.rest.starts_with('#') {
                self.take(1);
                return Some(Kind::Word(self.take_while(is_word_letter).to_owned()));
            }
            return Some(Kind::Word(word.to_owned()));
        }
        if first.is_ascii_digit() {
            self.take_while(is_word_letter);
            return Some(Kind::Other);
        }
        if first == '\'' {
            self.character_or_lifetime();
            return Some(Kind::Other);
        }
        self.take(first.len_utf8());
        Some(Kind::Mark(first))
    }

    /// A string with any prefix (`b`, `c`, `r`, `br`, `cr`) and any number of `#`.
    fn string(&mut self) -> Option<&'a str> {
        let prefix = self.rest.find(|letter| !matches!(letter, 'b' | 'c' | 'r' | '#'))?;
        let (before, _) = self.rest.split_at_checked(prefix).filter(|(_, rest)| rest.starts_with('"'))?;
        let letters = before.trim_end_matches('#');
        let hashes = before.len() - letters.len();
        let raw = letters.ends_with('r');
        if !matches!(letters, "" | "b" | "c" | "r" | "br" | "cr") || (hashes > 0 && !raw) {
            return None;
        }
        self.take(prefix + 1);
        let end = format!("\"{}", "#".repeat(hashes));
        let mut length = 0;
        let mut escaped = false;
        for (at, letter) in self.rest.char_indices() {
            length = at;
            let from_here = self.rest.get(at..).unwrap_or_default();
            if !escaped && from_here.starts_with(&end) {
                break;
            }
            escaped = !raw && !escaped && letter == '\\';
            length = at + letter.len_utf8();
        }
        let text = self.take(length);
        self.take(end.len());
        Some(text)
    }

    fn character_or_lifetime(&mut self) {
        self.take(1);
        let mut letters = self.rest.chars();
        match (letters.next(), letters.next()) {
            (Some('\\'), Some(escaped)) => {
                self.take(1 + escaped.len_utf8());
                self.take_while(|letter| letter != '\'');
                self.take(1);
            }
            (Some(letter), Some('\'')) => drop(self.take(letter.len_utf8() + 1)),
            _ => drop(self.take_while(is_word_letter)),
        }
    }
}

fn is_word_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// `tokens` without the items under `#[cfg(test)]`, and the names of modules `mod name;` among these items.
pub(crate) fn without_tests(tokens: &[Token]) -> (Vec<Token>, Vec<String>) {
    let (mut kept, mut test_modules) = (Vec::new(), Vec::new());
    let mut rest = tokens;
    while let Some((first, after)) = rest.split_first() {
        match test_attribute(rest) {
            Some(length) => {
                let item = rest.get(length..).unwrap_or_default();
                let length = item_length(item);
                let (item, after) = item.split_at_checked(length).unwrap_or((item, &[]));
                test_modules.extend(declared_module(item).map(str::to_owned));
                rest = after;
            }
            None => {
                kept.push(first.clone());
                rest = after;
            }
        }
    }
    (kept, test_modules)
}

/// The name in `[pub] mod name;`.
fn declared_module(item: &[Token]) -> Option<&str> {
    let at = item.iter().position(|token| token.is_word("mod"))?;
    let [name, end] = item.get(at + 1..)? else { return None };
    if end.is_mark(';') { name.word() } else { None }
}

/// Length of an attribute `#[cfg(test)]` or `#[cfg(all(test, …))]` at the start of `tokens`. Under `any` or `not`
/// the item is compiled without tests too.
fn test_attribute(tokens: &[Token]) -> Option<usize> {
    let [hash, open, cfg, ..] = tokens else { return None };
    if !(hash.is_mark('#') && open.is_mark('[') && cfg.is_word("cfg")) {
        return None;
    }
    let length = 1 + group_length(tokens.get(1..)?);
    let attribute = tokens.get(..length)?;
    let has = |word| attribute.iter().any(|token| token.is_word(word));
    (has("test") && !has("not") && !has("any")).then_some(length)
}

/// Length of the item at the start of `tokens`, its further attributes included: up to `;` or a closing `}`.
fn item_length(tokens: &[Token]) -> usize {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if token.is_mark(';') {
            return at + 1;
        }
        if token.is_mark('{') {
            return at + group_length(tokens.get(at..).unwrap_or_default());
        }
        if token.is_mark('(') || token.is_mark('[') {
            at += group_length(tokens.get(at..).unwrap_or_default());
        } else {
            at += 1;
        }
    }
    tokens.len()
}

/// Length of the bracketed group that `tokens` starts with.
pub(crate) fn group_length(tokens: &[Token]) -> usize {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Mark('(' | '[' | '{') => depth += 1,
            Kind::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Kind::Mark(_) | Kind::Word(_) | Kind::Text(_) | Kind::Other => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(source: &str) -> String {
        let spell = |token: Token| match token.kind {
            Kind::Word(word) => word,
            Kind::Text(text) => format!("<{text}>"),
            Kind::Other => "_".into(),
            Kind::Mark(mark) => mark.to_string(),
        };
        tokens(source).into_iter().map(spell).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_texts_are_no_words() {
        let table = [
            ("a // b\nc", "a c"),
            ("a /* b /* c */ d */ e", "a e"),
            ("/** doc */ //! doc\na", "a"),
            (r#"f("a \" b", 'c', '\'', '\u{7f}')"#, r#"f ( <a \" b> , _ , _ , _ )"#),
            ("r#\"a \" b\"# br##\"c\"# d\"## b\"e\"", "<a \" b> <c\"# d> <e>"),
            ("r#\"\\\"# a", "<\\> a"),
            ("fn f<'a>(x: &'a str) {}", "fn f < _ > ( x : & _ str ) { }"),
            ("let r#type = 1_000u32;", "let type = _ ;"),
            ("'\"' // \"", "_"),
            ("\"open", "<open>"),
            ("/* open", ""),
        ];
        for (source, expected) in table {
            assert_eq!(spelled(source), expected, "{source}");
        }
        assert_eq!(tokens("\"\n\"\n/*\n*/ a").last().unwrap().line, 4);
    }

    #[test]
    fn items_for_tests_are_left_out() {
        let table = [
            ("a #[cfg(test)] mod tests { b { c } } d", "a d", ""),
            ("#[cfg(test)] mod more; a", "a", "more"),
            ("#[cfg(all(test, unix))] #[derive(X)] fn f([a]: B) { c } d", "d", ""),
            ("#[cfg(test)] use b; a", "a", ""),
            ("#[cfg(not(test))] a", "# [ cfg ( not ( test ) ) ] a", ""),
            ("#[cfg(any(test, x))] a", "# [ cfg ( any ( test , x ) ) ] a", ""),
        ];
        for (source, expected, modules) in table {
            let (kept, test_modules) = without_tests(&tokens(source));
            assert_eq!(kept, without_lines(&tokens(expected), &kept), "{source}");
            assert_eq!(test_modules.join(" "), modules, "{source}");
        }
    }

    /// The same tokens on the other's lines, so that only kinds are compared.
    fn without_lines(tokens: &[Token], other: &[Token]) -> Vec<Token> {
        assert_eq!(tokens.len(), other.len());
        tokens.iter().zip(other).map(|(token, other)| Token { line: other.line, ..token.clone() }).collect()
    }
}
