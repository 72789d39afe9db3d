//! A reader of SQL: what statements read, change and destroy, and by which of them a client or a server leaves the
//! database: files, programs, extensions.
//!
//! Sources: the PostgreSQL 15, MySQL 8.0 and SQLite 3.40 manuals. Of a database elsewhere only the kind of use matters
//! (`Remote`), since it is judged anyway; of a local one every function that is called must be known.

mod client;
mod lexer;
mod statement;

use super::report::Report;
use crate::effect::EffectKind;
pub(super) use lexer::Client;
use lexer::Token;

/// The longest text that is read, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// Deepest nesting of files that read files.
const MAX_FILES: u32 = 4;

/// A reader at work.
struct Reader<'r, 's, 'a> {
    report: &'r mut Report<'s, 'a>,
    client: Client,
    files: u32,
}

/// Reads the text that a client gets, as an argument or on its input. What cannot be vouched for is recorded
/// as code.
pub(super) fn read<'a>(report: &mut Report<'_, 'a>, client: Client, text: &'a [u8], is_argument: bool) {
    report.printed = None;
    let mut reader = Reader { report, client, files: 0 };
    // An argument that begins with a dot is one command, whatever lines it has.
    if is_argument && client == Client::Sqlite && text.starts_with(b".") && text.contains(&b'\n') {
        return reader.lose();
    }
    reader.text(text);
}

impl<'a> Reader<'_, '_, 'a> {
    /// Reads a whole text.
    fn text(&mut self, text: &'a [u8]) {
        let tokens = (text.len() <= MAX_TEXT).then(|| lexer::tokens(text, self.client)).flatten();
        let Some(tokens) = tokens else { return self.lose() };
        if self.client == Client::Sqlite && names_file_table(text) {
            self.lose();
        }
        for statement in tokens.split(|token| *token == Token::End) {
            match statement {
                [] => {}
                [Token::Meta(line)] => self.command(line),
                statement => self.statement(statement),
            }
        }
    }

    /// Something was not understood.
    fn lose(&mut self) {
        self.report.unseen_code("sql", self.report.text.origins);
    }

    /// A use of the database, if it is elsewhere: what a local one holds is its file.
    fn uses(&mut self, action: &'static str) {
        if self.client != Client::Sqlite {
            self.report.once(EffectKind::Remote { action, service: "sql" });
        }
    }
}

/// Whether a table is named that holds files: it needs no parenthesis, and may stand in any kind of quotes.
fn names_file_table(text: &[u8]) -> bool {
    [&b"fsdir"[..], b"zipfile"]
        .iter()
        .any(|name| text.windows(name.len()).any(|part| part.eq_ignore_ascii_case(name)))
}
