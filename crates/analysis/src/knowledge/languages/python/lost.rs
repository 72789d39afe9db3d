//! Objects that were lost from sight: what is called on something unknown may be called on one of them. And what a local
//! database is told.

use super::super::report::is_url;
use super::super::sql;
use super::arguments::Arguments;
use super::repeats::Common;
use super::value::{Object, Val};
use super::{Pass, Reader};
use crate::value::Origins;

/// Statements by which SQLite keeps to the file that was opened.
const KEEPING: [&[u8]; 12] = [
    b"alter",
    b"begin",
    b"commit",
    b"create",
    b"delete",
    b"drop",
    b"insert",
    b"pragma",
    b"replace",
    b"rollback",
    b"select",
    b"update",
];

impl<'a> Reader<'_, '_, 'a> {
    /// An object goes where it is not followed.
    pub(super) fn lose_object(&mut self, object: Object) {
        if object == Object::Stdout {
            self.report.prints(None);
        }
        if self.lost_objects.contains(&object) {
            return;
        }
        self.lost_objects.push(object);
        self.repeats.common_changes(Common::Lost);
        (self.changed, self.learnt, self.unsettled) = (true, true, true);
        if self.pass == Pass::Recording {
            // What was read before did not know of this.
            self.lose();
        }
    }

    /// A list that is not known was changed, and it may be the one by which modules are found.
    pub(super) fn changes_lost_path(&self) -> bool {
        self.leaks_change && self.lost_objects.contains(&Object::SearchPath)
    }

    /// A method of something unknown: it may be one of what was lost from sight.
    pub(super) fn lost_method(&mut self, name: &[u8], arguments: &Arguments<'a>) {
        self.repeats.looks_at(Common::Lost);
        for at in 0..self.lost_objects.len() {
            let Some(object) = self.lost_objects.get(at).copied() else { return };
            if is_of(object, name, arguments) {
                self.object_method(object, name, arguments);
            }
        }
    }

    /// A method of something unknown that is named without being called: it may be called with anything.
    pub(super) fn lost_reference(&mut self, val: &Val<'a>, name: &[u8]) {
        if val.alternatives().iter().any(|each| matches!(each, Val::Data | Val::Local(_))) {
            let arguments = self.no_arguments(true);
            self.lost_method(name, &arguments);
        }
    }

    /// `ConfigParser().read(paths)`; a file's own takes a number.
    pub(super) fn read_by_name(&mut self, arguments: &Arguments<'a>) {
        let Some(first) = arguments.get(0, &["filenames"]) else { return };
        let mut paths = self.no_arguments(false);
        paths.positional.push(if matches!(first, Val::Many(_)) { self.elements(&first) } else { first });
        self.loaded(&paths);
    }

    /// `TestLoader().discover(directory)`: runs what it finds below it.
    pub(super) fn discover(&mut self, arguments: &Arguments<'a>) {
        for val in arguments.all().flat_map(|val| val.alternatives().to_vec()) {
            if let Some(directory) = val.value() {
                self.report.loads_below(&directory);
            }
        }
        self.report.project();
    }

    /// `database.execute(sql)`: a local database leaves its file by `ATTACH` and `VACUUM INTO`.
    pub(super) fn executes_sql(&mut self, name: &[u8], arguments: &Arguments<'a>) {
        let Some(first) = arguments.get(0, &["sql", "sql_script"]) else {
            if arguments.open {
                self.report.unseen_code("sql", Origins::UNKNOWN);
            }
            return;
        };
        for each in first.alternatives().to_vec() {
            match each {
                Val::Text(value) => match value.known() {
                    Some(text) if may_leave(text) => sql::read(self.report, sql::Client::Sqlite, text, false),
                    Some(_) => {}
                    None if name != b"executescript" && keeps(value.known_prefix()) => {}
                    None => self.report.unseen_code("sql", value.origins),
                },
                // The project's own file.
                Val::File(_) | Val::Never => {}
                _ => self.report.unseen_code("sql", Origins::UNKNOWN),
            }
        }
    }
}

/// Whether a method of something unknown may be one by which an object acts.
fn is_of(object: Object, name: &[u8], arguments: &Arguments<'_>) -> bool {
    let url = |val: &Val<'_>| val.value().is_some_and(|v| is_url(v.known_prefix()));
    // Dictionaries have some of these names too.
    let common = matches!(name, b"get" | b"delete" | b"head" | b"options" | b"open");
    acts_by(object, name)
        && (object != Object::Client || !common || arguments.open || arguments.all().any(url))
}

/// Whether a method of this name is one by which an object acts.
pub(super) fn acts_by(object: Object, name: &[u8]) -> bool {
    match object {
        Object::Socket => matches!(name, b"connect" | b"connect_ex" | b"sendto" | b"sendmsg" | b"listen"),
        Object::Client => matches!(
            name,
            b"delete"
                | b"get"
                | b"head"
                | b"open"
                | b"options"
                | b"patch"
                | b"post"
                | b"put"
                | b"request"
                | b"stream"
                | b"ws_connect"
        ),
        Object::Server => matches!(
            name,
            b"create_connection"
                | b"create_datagram_endpoint"
                | b"create_unix_connection"
                | b"sock_connect"
                | b"sock_sendto"
                | b"subprocess_exec"
                | b"subprocess_shell"
        ),
        Object::Database => {
            matches!(
                name,
                b"execute" | b"executemany" | b"executescript" | b"load_extension" | b"enable_load_extension"
            )
        }
        _ => false,
    }
}

/// Whether a text holds a word by which SQLite or DuckDB leaves the file that was opened.
fn may_leave(text: &[u8]) -> bool {
    const WORDS: [&[u8]; 9] =
        [b"attach", b"vacuum", b"copy", b"export", b"import", b"install", b"load", b"read_", b"://"];
    WORDS.iter().any(|word| text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word)))
}

/// Whether one statement that begins so keeps to the file that was opened.
fn keeps(prefix: &[u8]) -> bool {
    let text = prefix.trim_ascii_start();
    let Some(end) = text.iter().position(|b| !b.is_ascii_alphabetic()) else { return false };
    let word = text.get(..end).unwrap_or_default();
    KEEPING.iter().any(|known| known.eq_ignore_ascii_case(word))
}
