//! sed scripts: what they read and write beside their input, and what they execute.
//!
//! sed(1), GNU sed 4.9; POSIX.1-2024 `sed`. The whole language is read; a script that is not certain to be read as sed
//! would is not understood.

use std::ops::Range;

/// Something that a script does beyond editing text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action<'t> {
    /// `r`, `R`.
    Read(&'t [u8]),
    /// `w`, `W`, `s///w`.
    Write(&'t [u8]),
    /// `e COMMAND`.
    Run(&'t [u8]),
    /// `e` alone and `s///e`: the text being edited is executed.
    RunInput,
}

/// What a script does; `None` if it is not understood.
pub(crate) fn actions(script: &[u8]) -> Option<Vec<Action<'_>>> {
    let mut reader = Reader { text: script, at: 0, labelled: 0, found: Vec::new(), commands: Vec::new() };
    reader.script()?;
    Some(reader.found)
}

/// Whether nothing of a text is left once a script has gone over it: it prints none of its lines (`quiet`: with `-n`), or the
/// first thing that it does with every line is to take it away.
pub(crate) fn keeps_nothing(script: &[u8], quiet: bool) -> bool {
    let mut reader = Reader { text: script, at: 0, labelled: 0, found: Vec::new(), commands: Vec::new() };
    if reader.script().is_none() {
        return false;
    }
    let prints = |text: &[u8]| match text.first() {
        Some(b'p' | b'P' | b'i' | b'a' | b'c' | b'r' | b'R' | b'=' | b'l' | b'e' | b'F') => true,
        // `w /dev/stdout`
        Some(b'w' | b'W') => true,
        Some(b's') => {
            let flags = text.rsplit(|byte| !byte.is_ascii_alphanumeric()).next().unwrap_or_default();
            flags.contains(&b'p') || flags.contains(&b'w') || flags.contains(&b'e')
        }
        _ => false,
    };
    let texts = || {
        reader.commands.iter().map(|(every, range)| (*every, script.get(range.clone()).unwrap_or_default()))
    };
    if quiet || script.starts_with(b"#n\n") {
        return !texts().any(|(_, text)| prints(text));
    }
    match texts().next() {
        Some((true, [b'z' | b'c' | b'Q' | b'q', ..])) => return true,
        Some((true, [b's', mark, rest @ ..])) => {
            let mut parts = rest.split(|byte| byte == mark);
            let (pattern, with) = (parts.next().unwrap_or_default(), parts.next());
            let flags = parts.next().unwrap_or_default();
            let each = flags.iter().take_while(|byte| byte.is_ascii_alphanumeric()).any(|byte| *byte == b'g');
            if matches_all(pattern, each)
                && with.is_some_and(|with| !with.iter().any(|byte| matches!(byte, b'&' | b'\\')))
            {
                return true;
            }
        }
        _ => {}
    }
    // What comes before it prints nothing, and nothing goes past it.
    let passes = |text: &[u8]| {
        prints(text) || matches!(text.first(), Some(b'n' | b'b' | b't' | b'T' | b'D' | b':' | b'{' | b'}'))
    };
    texts()
        .take_while(|(_, text)| !passes(text))
        .any(|(every, text)| every && matches!(text.first(), Some(b'd' | b'Q')))
}

/// Whether a pattern is for all of a line, whatever is in it; `each`: for every part of it that matches.
fn matches_all(pattern: &[u8], each: bool) -> bool {
    let inner = pattern.strip_prefix(b"^").unwrap_or(pattern);
    let inner = inner.strip_suffix(b"$").unwrap_or(inner);
    let group =
        |open: &[u8], close: &[u8]| inner.strip_prefix(open).and_then(|text| text.strip_suffix(close));
    let inner = group(b"\\(", b"\\)").or_else(|| group(b"(", b")")).unwrap_or(inner);
    match inner {
        b".*" | b".+" | b".\\+" | b"..*" => true,
        // All but one sign.
        b"." => each && inner.len() == pattern.len(),
        [b'[', b'^', sign, b']', rest @ ..] => {
            each && *sign != b'[' && matches!(rest, b"" | b"*" | b"+" | b"\\+")
        }
        _ => false,
    }
}

/// Addresses of every line, of all but the first, or of all that hold something.
const EVERY: [&[u8]; 9] = [b"", b"1,$", b"2,$", b"0~1", b"1~1", b"/./", b"/.*/", b"/^/", b"/$/"];

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    /// The end of a line with a label, which to some seds is all label: a command that begins there ends there, too.
    labelled: usize,
    found: Vec<Action<'t>>,
    /// Where each command stands, and whether it is for every line.
    commands: Vec<(bool, Range<usize>)>,
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip(&mut self, among: &[u8]) {
        while self.peek().is_some_and(|b| among.contains(&b)) {
            self.at += 1;
        }
    }

    fn script(&mut self) -> Option<()> {
        loop {
            self.skip(b" \t\n;");
            let Some(first) = self.peek() else { return Some(()) };
            let start = self.at;
            if first == b'#' {
                self.line();
                continue;
            }
            if self.address()? {
                self.skip(b" \t");
                if self.peek() == Some(b',') {
                    self.at += 1;
                    self.skip(b" \t");
                    if matches!(self.peek(), Some(b'+' | b'~')) {
                        self.at += 1;
                    }
                    if !self.address()? {
                        return None;
                    }
                }
            }
            let address = self.text.get(start..self.at).unwrap_or_default().trim_ascii();
            // Of all but one line no more is left, and of those that are not empty nothing that counts.
            let every = match self.peek() {
                Some(b'!') => matches!(address, b"1" | b"$"),
                _ => EVERY.contains(&address),
            };
            self.skip(b" \t!");
            let command = self.peek()?;
            let begins = self.at;
            self.at += 1;
            self.command(command)?;
            self.commands.push((every, begins..self.at));
            if start < self.labelled && self.at > self.labelled {
                return None;
            }
        }
    }

    /// An address, if one stands here.
    fn address(&mut self) -> Option<bool> {
        match self.peek() {
            Some(b'0'..=b'9') => {
                self.skip(b"0123456789");
                if self.peek() == Some(b'~') {
                    self.at += 1;
                    self.skip(b"0123456789");
                }
            }
            Some(b'$') => self.at += 1,
            Some(b'/') => {
                self.at += 1;
                self.delimited(b'/', true)?;
                self.skip(b"IM");
            }
            Some(b'\\') => {
                self.at += 1;
                let delimiter = self.peek().filter(|b| *b != b'\n' && *b != b'\\')?;
                self.at += 1;
                self.delimited(delimiter, true)?;
                self.skip(b"IM");
            }
            _ => return Some(false),
        }
        Some(true)
    }

    /// Text up to a delimiter. In a regular expression a bracket expression hides it.
    fn delimited(&mut self, delimiter: u8, expression: bool) -> Option<&'t [u8]> {
        let start = self.at;
        loop {
            let byte = self.peek()?;
            if byte == delimiter {
                let text = self.text.get(start..self.at);
                self.at += 1;
                return text;
            }
            match byte {
                b'\\' => self.at += 2,
                b'\n' if expression => return None,
                b'[' if expression && delimiter != b'[' => self.bracket()?,
                _ => self.at += 1,
            }
        }
    }

    /// `[…]`: a `]` first in it is a member, and classes hold brackets of their own.
    fn bracket(&mut self) -> Option<()> {
        self.at += 1;
        if self.peek() == Some(b'^') {
            self.at += 1;
        }
        if self.peek() == Some(b']') {
            self.at += 1;
        }
        loop {
            match self.peek()? {
                b']' => {
                    self.at += 1;
                    return Some(());
                }
                b'[' if matches!(self.text.get(self.at + 1), Some(b':' | b'.' | b'=')) => {
                    let kind = *self.text.get(self.at + 1)?;
                    self.at += 2;
                    let rest = self.text.get(self.at..)?;
                    let end = rest.windows(2).position(|w| w == [kind, b']'])?;
                    self.at += end + 2;
                }
                b'\n' => return None,
                _ => self.at += 1,
            }
        }
    }

    /// The rest of the line.
    fn line(&mut self) -> &'t [u8] {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    /// A file name: everything to the end of the line.
    fn file(&mut self) -> Option<&'t [u8]> {
        self.skip(b" \t");
        Some(self.line()).filter(|name| !name.is_empty())
    }

    /// A label, or a version: GNU sed goes on with the next command at a blank, too.
    fn label(&mut self) {
        let start = self.at;
        // The line of the label before ends where this one's does.
        if self.labelled <= start {
            self.line();
            self.labelled = self.at;
            self.at = start;
        }
        self.skip(b" \t");
        while self.peek().is_some_and(|b| !matches!(b, b'\n' | b' ' | b'\t' | b';' | b'}')) {
            self.at += 1;
        }
    }

    /// Nothing more may belong to the command.
    fn end(&mut self) -> Option<()> {
        self.skip(b" \t");
        match self.peek() {
            None | Some(b'\n' | b';') => Some(()),
            // A closing brace or a comment begins on its own.
            Some(b'}' | b'#') => Some(()),
            _ => None,
        }
    }

    fn command(&mut self, command: u8) -> Option<()> {
        match command {
            b'{' => Some(()),
            b'}' | b'=' | b'd' | b'D' | b'g' | b'G' | b'h' | b'H' | b'n' | b'N' | b'p' | b'P' | b'x'
            | b'z' | b'F' => self.end(),
            b'l' | b'L' | b'q' | b'Q' => {
                self.skip(b" \t");
                self.skip(b"0123456789");
                self.end()
            }
            b'a' | b'i' | b'c' => {
                self.appended();
                Some(())
            }
            b':' | b'b' | b't' | b'T' | b'v' => {
                self.label();
                Some(())
            }
            b'r' | b'R' => {
                let file = self.file()?;
                self.found.push(Action::Read(file));
                Some(())
            }
            b'w' | b'W' => {
                let file = self.file()?;
                self.found.push(Action::Write(file));
                Some(())
            }
            b'e' => {
                self.skip(b" \t");
                let line = self.line();
                // It is read like the text of `a`: backslashes go, `\n` is a newline, and a line may be carried on.
                if line.contains(&b'\\') {
                    return None;
                }
                self.found.push(if line.is_empty() { Action::RunInput } else { Action::Run(line) });
                Some(())
            }
            b'y' => {
                let delimiter = self.delimiter()?;
                self.delimited(delimiter, false)?;
                self.delimited(delimiter, false)?;
                self.end()
            }
            b's' => self.substitute(),
            _ => None,
        }
    }

    fn delimiter(&mut self) -> Option<u8> {
        let delimiter = self.peek().filter(|b| *b != b'\n' && *b != b'\\')?;
        self.at += 1;
        Some(delimiter)
    }

    /// The text of `a`, `i` and `c`: to the end of the line, which a backslash carries on.
    fn appended(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => self.at += 2,
                b'\n' => return,
                _ => self.at += 1,
            }
        }
    }

    fn substitute(&mut self) -> Option<()> {
        let delimiter = self.delimiter()?;
        self.delimited(delimiter, true)?;
        self.delimited(delimiter, false)?;
        loop {
            match self.peek() {
                Some(b'g' | b'p' | b'i' | b'I' | b'm' | b'M' | b'0'..=b'9') => self.at += 1,
                Some(b'e') => {
                    self.at += 1;
                    self.found.push(Action::RunInput);
                }
                Some(b'w') => {
                    self.at += 1;
                    let file = self.file()?;
                    self.found.push(Action::Write(file));
                    return Some(());
                }
                _ => return self.end(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Action, actions, keeps_nothing};

    #[test]
    fn harmless_scripts_do_nothing_else() {
        let scripts: [&str; 30] = [
            "s/a/b/",
            "s/a/b/g;s|x|y|2p",
            "1,5p",
            "$d",
            "/re/,/x/d",
            "2q",
            "/a[/]b/d",
            "s/[]/]/x/",
            "s,/usr,/opt,g",
            "/^#/!s/x/y/",
            "y/abc/xyz/",
            "1~2d",
            "/x/{s/a/b/;p}",
            ":a;N;$!ba;s/\\n/ /g",
            "a\\\nwrite this; e rm",
            "i hello",
            "0,/re/s//x/",
            "\\,re,d",
            "n;d",
            "s/a/e w x/",
            "/e/p",
            "# e rm\np",
            "$!N;P;D",
            "s/[[:space:]]*$//",
            "5,+3d",
            "/start/I,/end/{//!d}",
            ": a; N; t a; s/x/y/",
            "/x/{:a;n;ba}",
            "v 4.2\ns/a/b/",
            ":a\ns/a/b/\nta",
        ];
        for script in scripts {
            assert_eq!(actions(script.as_bytes()), Some(vec![]), "{script}");
        }
    }

    #[test]
    fn what_reaches_further_is_found() {
        let cases: [(&str, Action<'_>); 16] = [
            ("1e rm -rf x", Action::Run(b"rm -rf x")),
            ("e", Action::RunInput),
            ("s/x/rm y/e", Action::RunInput),
            ("s/x/y/ge", Action::RunInput),
            ("w out", Action::Write(b"out")),
            ("s/a/b/w out;p", Action::Write(b"out;p")),
            ("/x/W out", Action::Write(b"out")),
            ("r /etc/passwd", Action::Read(b"/etc/passwd")),
            ("$R f", Action::Read(b"f")),
            ("p;p\n1!e id", Action::Run(b"id")),
            ("s/[/]/x/;e id", Action::Run(b"id")),
            (":a;w out", Action::Write(b"out")),
            (":a w out", Action::Write(b"out")),
            ("ba w out", Action::Write(b"out")),
            ("v 4.2;e id", Action::Run(b"id")),
            (":a;N;$!ba;r f", Action::Read(b"f")),
        ];
        for (script, action) in cases {
            assert_eq!(actions(script.as_bytes()), Some(vec![action]), "{script}");
        }
    }

    #[test]
    fn scripts_that_take_every_line_away_are_told() {
        for (script, quiet, expect) in [
            ("d", false, true),
            (" 1,$ d", false, true),
            ("1,$!d", false, false),
            ("!d", false, false),
            ("1!d", false, true),
            ("$!d", false, true),
            ("2,$d", false, true),
            ("/./d", false, true),
            ("2!d", false, false),
            ("/^$/d", false, false),
            ("1d", false, false),
            ("s/.*//", false, true),
            ("s/.+//", false, true),
            ("s/\\(.*\\)/x/", false, true),
            ("s/\\(.*\\)/\\1x/", false, false),
            ("s/./x/g", false, true),
            ("s/./x/", false, false),
            ("s/[^x]//g", false, true),
            ("s/[^x]//", false, false),
            ("s/[^a-z]//g", false, false),
            ("q", false, true),
            ("2q", false, false),
            ("N;d", false, true),
            ("0,/x/d;d", false, true),
            ("s/a/b/;d", false, true),
            ("/x/b;d", false, false),
            ("/x/{d}", false, false),
            ("p;d;d", false, false),
            ("s|^.*$|x|g", false, true),
            ("s/.*/&x/", false, false),
            ("s/.*/\\0/", false, false),
            ("s/a.*//", false, false),
            ("/x/d", false, false),
            ("$d", false, false),
            ("p;d", false, false),
            ("z", false, true),
            ("c new", false, true),
            ("", true, true),
            ("", false, false),
            ("s/a/b/", true, true),
            ("s/a/b/p", true, false),
            ("/x/,/y/p", true, false),
            ("n;d", true, true),
            ("#n\ns/a/b/", false, true),
        ] {
            assert_eq!(keeps_nothing(script.as_bytes(), quiet), expect, "{script} {quiet}");
        }
    }

    #[test]
    fn what_is_not_sed_is_not_understood() {
        for script in ["s/a/b", "k", "s/a/b/k", "/a", "p x", "1,", "y/a/b/e", "s/a[/b/", ":a;s/x/\nw f/"] {
            assert_eq!(actions(script.as_bytes()), None, "{script}");
        }
    }
}
