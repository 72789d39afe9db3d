//! Commands of the clients themselves: `.shell` of sqlite3, `\!` of psql and mysql. What is not listed is code.

use super::Reader;
use super::lexer::Client;
use crate::effect::WriteMode;
use crate::knowledge::provenance::NOT_OF_THE_PROJECT;
use crate::knowledge::values;
use crate::value::Origins;

impl<'a> Reader<'_, '_, 'a> {
    /// A command of the client.
    pub(super) fn command(&mut self, line: &'a [u8]) {
        let line = line.trim_ascii();
        // psql runs what stands in backquotes.
        if self.client == Client::Postgres && line.contains(&b'`') {
            return self.report.unseen_code("shell", self.report.text.origins);
        }
        let (name, rest) = match (self.client, line) {
            (Client::Mysql, [b'\\', letter, rest @ ..]) => (std::slice::from_ref(letter), rest),
            (_, [b'\\', b'!', rest @ ..]) => (&b"!"[..], rest),
            _ => {
                let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
                line.split_at_checked(end).unwrap_or((line, b""))
            }
        };
        let rest = rest.trim_ascii();
        match self.client {
            Client::Sqlite => self.dot_command(name, rest),
            Client::Postgres => self.backslash_command(name, rest),
            _ => self.mysql_command(&name.to_ascii_lowercase(), rest),
        }
    }

    fn dot_command(&mut self, name: &[u8], rest: &'a [u8]) {
        match name {
            b".tables" | b".schema" | b".header" | b".headers" | b".mode" | b".width" | b".databases"
            | b".indexes" | b".indices" | b".dump" | b".stats" | b".timer" | b".echo" | b".help"
            | b".version" | b".show" | b".nullvalue" | b".separator" | b".print" | b".quit" | b".exit"
            | b".eqp" | b".explain" | b".changes" | b".bail" | b".fullschema" | b".timeout" | b".limit"
            | b".dbinfo" | b".sha3sum" | b".prompt" => {}
            b".shell" | b".system" if rest.is_empty() => self.lose(),
            b".shell" | b".system" => self.shell_line(rest),
            b".load" => self.report.code("native", Origins::UNKNOWN),
            b".output" | b".once" | b".log" => match self.file(rest) {
                Some(b"stdout" | b"stderr" | b"off" | b"") => {}
                Some(path) => self.writes(path, WriteMode::Replace),
                None => self.lose(),
            },
            b".save" | b".backup" => self.changed(rest, WriteMode::Replace),
            b".open" => self.changed(rest, WriteMode::Modify),
            b".import" => {
                let words: Vec<&[u8]> = values::words(rest).filter(|word| !word.starts_with(b"--")).collect();
                match words.as_slice() {
                    [file, _] => self.reads(file),
                    _ => self.lose(),
                }
            }
            b".restore" => self.reads(rest),
            b".read" => self.included(rest),
            _ => self.lose(),
        }
    }

    fn backslash_command(&mut self, name: &[u8], rest: &'a [u8]) {
        match name {
            b"!" => self.shell_line(rest),
            // `\echo hi \! ls`: a backslash begins another command on the same line.
            _ if name != b"\\copy" && begins_another(rest) => self.lose(),
            b"\\q" | b"\\x" | b"\\timing" | b"\\echo" | b"\\qecho" | b"\\warn" | b"\\a" | b"\\t" | b"\\H"
            | b"\\h" | b"\\?" | b"\\encoding" | b"\\pset" | b"\\f" | b"\\C" | b"\\errverbose" | b"\\p"
            | b"\\r" => {}
            b"\\g" | b"\\gx" | b"\\watch" if rest.is_empty() => {}
            b"\\l" | b"\\l+" | b"\\list" | b"\\conninfo" | b"\\z" | b"\\sf" | b"\\sv" => self.uses("read"),
            [b'\\', b'd', kind @ ..]
                if kind.iter().all(|b| b.is_ascii_alphabetic() || matches!(b, b'+' | b'S')) =>
            {
                self.uses("read");
            }
            b"\\o" | b"\\w" => match self.file(rest) {
                Some(b"") => {}
                Some(path) => self.writes(path, WriteMode::Replace),
                None => self.lose(),
            },
            b"\\i" | b"\\include" | b"\\ir" => self.included(rest),
            b"\\copy" => self.copied(rest),
            _ => self.lose(),
        }
    }

    fn mysql_command(&mut self, name: &[u8], rest: &'a [u8]) {
        match name {
            b"!" | b"system" => self.shell_line(rest.strip_suffix(b";").unwrap_or(rest)),
            b"." | b"source" => self.included(rest.strip_suffix(b";").unwrap_or(rest)),
            b"pager" => self.shell_line(rest),
            b"tee" => self.changed(rest, WriteMode::Append),
            b"nopager" | b"notee" | b"status" | b"rehash" | b"warnings" | b"nowarning" | b"quit"
            | b"exit" | b"prompt" | b"clear" | b"s" | b"h" | b"c" | b"q" | b"w" | b"n" | b"t" => {
                if !rest.is_empty() && name != b"prompt" {
                    self.lose();
                }
            }
            _ => self.lose(),
        }
    }

    /// A command line of the shell.
    fn shell_line(&mut self, line: &'a [u8]) {
        let line = self.report.literal(line);
        self.report.shell(Some(&line), None, None);
    }

    /// A file's name, quotes taken off. `None`: it is no plain name.
    fn file(&mut self, text: &'a [u8]) -> Option<&'a [u8]> {
        let inner = match text {
            [b'\'', inner @ .., b'\''] | [b'"', inner @ .., b'"'] => inner,
            bare if bare.iter().any(u8::is_ascii_whitespace) => return None,
            bare => bare,
        };
        let odd = |b: &u8| matches!(b, b'\'' | b'"' | b'\\' | b'|' | b'`' | b':');
        (!inner.iter().any(odd) && !inner.starts_with(b"-")).then_some(inner)
    }

    fn writes(&mut self, path: &'a [u8], mode: WriteMode) {
        let path = self.report.literal(path);
        self.report.writes(Some(&path), mode);
    }

    fn changed(&mut self, text: &'a [u8], mode: WriteMode) {
        match self.file(text) {
            Some(b":memory:" | b"") => {}
            Some(path) => self.writes(path, mode),
            None => self.lose(),
        }
    }

    fn reads(&mut self, text: &'a [u8]) {
        match self.file(text) {
            Some(path) => {
                let path = self.report.literal(path);
                self.report.reads(Some(&path), false);
            }
            None => self.lose(),
        }
    }

    /// Another file is executed: what is known of it is read.
    fn included(&mut self, text: &'a [u8]) {
        let Some(path) = self.file(text) else {
            return match text.strip_prefix(b"|") {
                Some(command) => {
                    self.shell_line(command);
                    self.lose();
                }
                None => self.lose(),
            };
        };
        let path = self.report.literal(path);
        let content = self.report.file_text(&path);
        match content.text.filter(|_| self.files < super::MAX_FILES) {
            Some(text) => {
                self.report.reads(Some(&path), false);
                self.files += 1;
                self.text(text);
                self.files -= 1;
            }
            None => {
                self.report.executes(&path);
                if content.origins.intersects(NOT_OF_THE_PROJECT) {
                    self.lose();
                }
            }
        }
    }

    /// `\copy table from 'file'`, `\copy (query) to program 'command'`
    fn copied(&mut self, text: &'a [u8]) {
        let words: Vec<&[u8]> = values::words(text).collect();
        let direction =
            words.iter().rposition(|w| w.eq_ignore_ascii_case(b"from") || w.eq_ignore_ascii_case(b"to"));
        let Some((at, word)) = direction.and_then(|at| Some((at, words.get(at)?))) else {
            return self.lose();
        };
        let reads = word.eq_ignore_ascii_case(b"from");
        self.uses(if reads { "change" } else { "read" });
        match words.get(at + 1) {
            Some(word)
                if [&b"stdin"[..], b"stdout", b"pstdin", b"pstdout"]
                    .iter()
                    .any(|w| w.eq_ignore_ascii_case(word)) => {}
            Some(word) if word.eq_ignore_ascii_case(b"program") => {
                self.report.unseen_code("shell", self.report.text.origins)
            }
            Some(file) if reads => self.reads(file),
            Some(file) => self.changed(file, WriteMode::Replace),
            None => self.lose(),
        }
    }
}

/// Whether a backslash among the arguments of a command of psql may begin another command: all do but those by which
/// strings in quotes name characters.
fn begins_another(text: &[u8]) -> bool {
    let mut quoted = false;
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after) {
            (b'\'', _) => quoted = !quoted,
            (b'\\', [b'n' | b't' | b'r' | b'b' | b'f' | b'0'..=b'7', more @ ..]) if quoted => rest = more,
            (b'\\', _) => return true,
            _ => {}
        }
    }
    false
}
