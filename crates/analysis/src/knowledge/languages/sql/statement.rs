//! Statements, by their first word, and what they call.

use super::Reader;
use super::lexer::{Client, Token};
use crate::effect::WriteMode;

/// Functions of SQLite that compute (its manual: core, aggregate, window, date, JSON and math functions), and what
/// stands before a parenthesis without being a function: types, and words of the grammar.
const COMPUTES: &[&str] = &[
    "abs",
    "acos",
    "acosh",
    "all",
    "and",
    "any",
    "as",
    "asc",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "avg",
    "between",
    "bigint",
    "blob",
    "boolean",
    "by",
    "case",
    "cast",
    "ceil",
    "ceiling",
    "changes",
    "char",
    "character",
    "check",
    "coalesce",
    "concat",
    "concat_ws",
    "conflict",
    "cos",
    "cosh",
    "count",
    "cume_dist",
    "date",
    "datetime",
    "decimal",
    "default",
    "degrees",
    "dense_rank",
    "distinct",
    "double",
    "else",
    "except",
    "exists",
    "exp",
    "filter",
    "first_value",
    "float",
    "floor",
    "format",
    "from",
    "generate_series",
    "glob",
    "group_concat",
    "having",
    "hex",
    "if",
    "ifnull",
    "iif",
    "in",
    "instr",
    "int",
    "integer",
    "intersect",
    "is",
    "join",
    "json",
    "json_array",
    "json_array_length",
    "json_each",
    "json_extract",
    "json_group_array",
    "json_group_object",
    "json_insert",
    "json_object",
    "json_patch",
    "json_pretty",
    "json_quote",
    "json_remove",
    "json_replace",
    "json_set",
    "json_tree",
    "json_type",
    "json_valid",
    "julianday",
    "key",
    "lag",
    "last_insert_rowid",
    "last_value",
    "lead",
    "length",
    "like",
    "likelihood",
    "likely",
    "limit",
    "ln",
    "log",
    "log10",
    "log2",
    "lower",
    "ltrim",
    "materialized",
    "max",
    "min",
    "mod",
    "not",
    "nth_value",
    "ntile",
    "null",
    "nullif",
    "numeric",
    "nvarchar",
    "octet_length",
    "offset",
    "on",
    "or",
    "order",
    "over",
    "partition",
    "percent_rank",
    "pi",
    "pow",
    "power",
    "printf",
    "quote",
    "radians",
    "random",
    "randomblob",
    "rank",
    "real",
    "replace",
    "round",
    "row_number",
    "rtrim",
    "select",
    "set",
    "sign",
    "sin",
    "sinh",
    "smallint",
    "soundex",
    "sqlite_version",
    "sqrt",
    "strftime",
    "string_agg",
    "substr",
    "substring",
    "sum",
    "tan",
    "tanh",
    "text",
    "then",
    "time",
    "timediff",
    "timestamp",
    "tinyint",
    "total",
    "total_changes",
    "trim",
    "trunc",
    "typeof",
    "unhex",
    "unicode",
    "union",
    "unique",
    "unixepoch",
    "unlikely",
    "upper",
    "using",
    "values",
    "varchar",
    "when",
    "where",
    "window",
    "zeroblob",
];

/// Words after which a name before a parenthesis is that of a table, an index or a column.
const NAMES: &[&str] =
    &["pragma", "into", "table", "index", "view", "references", "exists", "with", "recursive", "on", "key"];

/// Most names of a statement's own that are looked for.
const MAX_LOOKS: u32 = 32;

/// Functions by which a server leaves the database.
fn leaves(name: &[u8]) -> bool {
    const STARTS: [&[u8]; 7] = [b"pg_read", b"pg_ls_", b"lo_", b"dblink", b"xp_", b"sp_", b"sys_e"];
    const NAMES: [&[u8]; 22] = [
        b"load_file",
        b"load_extension",
        b"readfile",
        b"writefile",
        b"edit",
        b"fsdir",
        b"zipfile",
        b"fts3_tokenizer",
        b"pg_file_write",
        b"pg_reload_conf",
        b"pg_terminate_backend",
        b"pg_stat_file",
        b"query_to_xml",
        b"file",
        b"url",
        b"s3",
        b"executable",
        b"remote",
        b"hdfs",
        b"mysql",
        b"postgresql",
        b"openrowset",
    ];
    let name = name.rsplit(|b| *b == b'.').next().unwrap_or_default();
    STARTS.iter().any(|start| name.starts_with(start)) || NAMES.contains(&name)
}

impl<'a> Reader<'_, '_, 'a> {
    /// One statement.
    pub(super) fn statement(&mut self, tokens: &[Token<'a>]) {
        let words: Vec<Vec<u8>> = tokens
            .iter()
            .map(|token| match token {
                Token::Word(word) => word.to_ascii_lowercase(),
                _ => Vec::new(),
            })
            .collect();
        let word = |at: usize| words.get(at).map(Vec::as_slice).unwrap_or_default();
        let has = |name: &str| words.iter().any(|word| word == name.as_bytes());
        self.calls(tokens, &words);
        match word(0) {
            b"explain" | b"describe" | b"desc" if self.client == Client::Sqlite || !has("analyze") => {
                self.uses("read");
            }
            b"select" | b"values" | b"table" | b"show" | b"with" | b"explain" | b"describe" | b"desc"
            | b"(" => {
                let changes = ["insert", "update", "delete", "merge", "replace"].iter().any(|name| has(name));
                self.uses(if changes && word(0) != b"show" { "change" } else { "read" });
                self.selected_into(tokens, &words);
            }
            b"begin" | b"start" | b"commit" | b"end" | b"rollback" | b"savepoint" | b"release" | b"use"
            | b"help" => {
                self.uses("read");
            }
            b"set" => {
                let more =
                    ["global", "persist", "role", "authorization", "@@global"].iter().any(|name| has(name));
                self.uses(if more { "change" } else { "read" });
            }
            b"pragma" => self.pragma(tokens, &words),
            b"insert" | b"update" | b"replace" | b"merge" | b"comment" | b"grant" | b"revoke" | b"rename"
            | b"analyze" | b"reindex" | b"optimize" | b"cluster" | b"refresh" | b"lock" | b"unlock"
            | b"kill" | b"flush" | b"reset" | b"discard" => self.uses("change"),
            b"delete" => self.uses(if has("where") { "change" } else { "destroy" }),
            b"drop" | b"truncate" | b"purge" => self.uses("destroy"),
            b"alter" => {
                if has("system") {
                    self.lose();
                }
                let drops =
                    words.windows(2).any(|pair| matches!(pair, [a, b] if a == b"drop" && b == b"column"));
                self.uses(if drops { "destroy" } else { "change" });
            }
            b"create" => self.create(&words),
            b"vacuum" => {
                self.uses("change");
                // One literal, and nothing after it.
                match words.iter().position(|word| word == b"into") {
                    Some(at) if at + 2 == tokens.len() => self.place(tokens.last(), WriteMode::Replace),
                    Some(_) => self.lose(),
                    None => {}
                }
            }
            b"attach" => {
                let at = 1 + usize::from(word(1) == b"database");
                match tokens.get(at).filter(|_| word(at + 1) == b"as") {
                    Some(Token::Text(Some(b":memory:" | b""))) => {}
                    found => self.place(found, WriteMode::Modify),
                }
            }
            b"detach" => {}
            b"load" => self.load(tokens, &words),
            b"copy" => self.copy(tokens, &words),
            _ => self.lose(),
        }
    }

    /// A file that a statement names is written.
    fn place(&mut self, token: Option<&Token<'a>>, mode: WriteMode) {
        match token {
            Some(Token::Text(Some(path))) if !path.starts_with(b"file:") && !path.contains(&b'|') => {
                let path = self.report.literal(path);
                self.report.writes(Some(&path), mode);
            }
            _ => self.lose(),
        }
    }

    /// A file that a statement names is read.
    fn source(&mut self, token: Option<&Token<'a>>) {
        match token {
            Some(Token::Text(Some(path))) => {
                let path = self.report.literal(path);
                self.report.reads(Some(&path), false);
            }
            _ => self.lose(),
        }
    }

    /// The functions that a statement calls.
    fn calls(&mut self, tokens: &[Token<'a>], words: &[Vec<u8>]) {
        let local = self.client == Client::Sqlite;
        let mut looks = 0;
        for (at, token) in tokens.iter().enumerate() {
            if *token != Token::Sign(b'(') || at == 0 {
                continue;
            }
            let before =
                at.checked_sub(2).and_then(|at| words.get(at)).map(Vec::as_slice).unwrap_or_default();
            let declares = NAMES.iter().any(|name| name.as_bytes() == before);
            match tokens.get(at - 1) {
                Some(Token::Word(name)) => {
                    let name = name.to_ascii_lowercase();
                    let computes = COMPUTES.iter().any(|known| known.as_bytes() == name);
                    let number = name.first().is_some_and(u8::is_ascii_digit);
                    if leaves(&name)
                        || (local
                            && !computes
                            && !declares
                            && !number
                            && !self.is_bound(words, &name, &mut looks))
                    {
                        self.lose();
                    }
                }
                // A quoted name may be that of any function.
                Some(Token::Name) if local && !declares => self.lose(),
                Some(Token::Text(_)) if local && !declares => self.lose(),
                _ => {}
            }
        }
    }

    /// `WITH a AS (…), b(x) AS (…)`: names that the statement itself gives.
    fn is_bound(&self, words: &[Vec<u8>], name: &[u8], looks: &mut u32) -> bool {
        *looks += 1;
        if *looks > MAX_LOOKS {
            return false;
        }
        words.first().is_some_and(|first| first == b"with")
            && !leaves(name)
            && {
                // Such a name is used without a parenthesis as well.
                words.iter().filter(|word| word.as_slice() == name).count() > 1
                && words.windows(2).any(|pair| {
                    matches!(pair, [a, b] if matches!(a.as_slice(), b"from" | b"join") && b.as_slice() == name)
                })
            }
    }

    /// `SELECT … INTO OUTFILE 'file'`
    fn selected_into(&mut self, tokens: &[Token<'a>], words: &[Vec<u8>]) {
        for (at, word) in words.iter().enumerate() {
            match word.as_slice() {
                b"outfile" | b"dumpfile" => self.place(tokens.get(at + 1), WriteMode::Create),
                b"program" => self.lose(),
                _ => {}
            }
        }
    }

    /// `PRAGMA name = value`
    fn pragma(&mut self, tokens: &[Token<'a>], words: &[Vec<u8>]) {
        let name = words.get(1).map(Vec::as_slice).unwrap_or_default();
        let name = name.rsplit(|b| *b == b'.').next().unwrap_or_default();
        let known = [
            "table_info",
            "table_xinfo",
            "table_list",
            "index_list",
            "index_info",
            "index_xinfo",
            "foreign_key_list",
            "foreign_keys",
            "foreign_key_check",
            "integrity_check",
            "quick_check",
            "journal_mode",
            "synchronous",
            "user_version",
            "application_id",
            "schema_version",
            "page_size",
            "page_count",
            "cache_size",
            "encoding",
            "database_list",
            "collation_list",
            "compile_options",
            "busy_timeout",
            "auto_vacuum",
            "freelist_count",
            "wal_checkpoint",
            "optimize",
            "temp_store",
            "locking_mode",
            "mmap_size",
            "case_sensitive_like",
        ];
        if self.client == Client::Other
            || tokens.len() < 2
            || !known.iter().any(|known| known.as_bytes() == name)
        {
            self.lose();
        }
    }

    /// `CREATE …`: what the server keeps and runs later is code.
    fn create(&mut self, words: &[Vec<u8>]) {
        let kind = words.iter().skip(1).find(|word| {
            !matches!(
                word.as_slice(),
                b"or"
                    | b"replace"
                    | b"temp"
                    | b"temporary"
                    | b"unique"
                    | b"unlogged"
                    | b"global"
                    | b"local"
                    | b"if"
                    | b"materialized"
                    | b"external"
            )
        });
        match kind.map(Vec::as_slice) {
            Some(
                b"table" | b"index" | b"view" | b"database" | b"schema" | b"sequence" | b"type" | b"domain"
                | b"user" | b"role" | b"fulltext" | b"spatial",
            ) => self.uses("change"),
            Some(b"trigger") if self.client == Client::Sqlite => {}
            // Virtual tables read files (`csv`), or are modules that nobody knows.
            Some(b"virtual") if self.client == Client::Sqlite => {
                let modules: [&[u8]; 5] = [b"fts3", b"fts4", b"fts5", b"rtree", b"geopoly"];
                if !words.iter().any(|word| modules.contains(&word.as_slice())) {
                    self.lose();
                }
            }
            _ => self.lose(),
        }
    }

    /// `LOAD DATA LOCAL INFILE 'file' INTO TABLE …`, `LOAD 'library'`
    fn load(&mut self, tokens: &[Token<'a>], words: &[Vec<u8>]) {
        match words.iter().position(|word| matches!(word.as_slice(), b"infile")) {
            Some(at) if self.client == Client::Mysql => {
                self.uses("change");
                self.source(tokens.get(at + 1));
            }
            _ => self.lose(),
        }
    }

    /// `COPY table FROM 'file'`, `COPY table TO PROGRAM 'command'`
    fn copy(&mut self, tokens: &[Token<'a>], words: &[Vec<u8>]) {
        let direction = words.iter().rposition(|word| matches!(word.as_slice(), b"from" | b"to"));
        let Some(at) = direction.filter(|_| self.client == Client::Postgres) else { return self.lose() };
        let reads = words.get(at).is_some_and(|word| word == b"from");
        let last = words.iter().any(|word| word == b"program");
        self.uses(if reads { "change" } else { "read" });
        match (tokens.get(at + 1), words.get(at + 1).map(Vec::as_slice)) {
            _ if last => self.program(tokens),
            (_, Some(b"stdin" | b"stdout")) => {}
            (token, _) if reads => self.source(token),
            (token, _) => self.place(token, WriteMode::Replace),
        }
    }

    /// A command line that the server runs.
    fn program(&mut self, tokens: &[Token<'a>]) {
        let after = tokens
            .iter()
            .skip_while(|token| !matches!(token, Token::Word(word) if word.eq_ignore_ascii_case(b"program")));
        match after.skip(1).find(|token| matches!(token, Token::Text(_))) {
            Some(Token::Text(Some(command))) => {
                let command = self.report.literal(command);
                self.report.shell(Some(&command), None, None);
                self.lose();
            }
            _ => self.report.unseen_code("shell", self.report.text.origins),
        }
    }
}
