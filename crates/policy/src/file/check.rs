//! Holds a parsed file against the table of keys: unknown keys, wrong types, words that mean nothing.

use super::diagnostic::{Diagnostic, Problems};
use super::keys::{DECISIONS, Key, Kind};
use crate::toml::{Inner, Span, Table, Value};

/// Every problem of a table.
pub(crate) fn table(table: &Table<'_>, keys: &[Key], out: &mut Problems) {
    for (key, found) in table.iter() {
        if out.are_enough() {
            return;
        }
        match keys.iter().find(|k| k.name == key.name) {
            Some(known) => value(found, known, out),
            None => out.push(unknown(&key.name, key.span, keys.iter().map(|k| k.name))),
        }
    }
}

/// The problem of a name that is not among those that are known.
pub(crate) fn unknown<'k>(
    name: &str,
    span: Span,
    known: impl Iterator<Item = &'k str> + Clone,
) -> Diagnostic {
    let near = known.clone().filter_map(|k| Some((distance(name, k)?, k))).min();
    let help = match near {
        Some((_, near)) => format!("did you mean `{near}`?"),
        None => format!("known here: {}", known.collect::<Vec<_>>().join(", ")),
    };
    Diagnostic::new("unknown-key", span, format!("unknown key `{}`", shown(name))).help(help)
}

pub(super) fn shown(name: &str) -> String {
    name.chars().take(80).flat_map(char::escape_debug).collect()
}

/// How many letters differ or changed places, if few did.
fn distance(a: &str, b: &str) -> Option<usize> {
    if a.len() > 40 {
        return None;
    }
    Some(strsim::osa_distance(a, b)).filter(|d| *d <= 2.min(a.len() / 2))
}

fn value(found: &Value<'_>, key: &Key, out: &mut Problems) {
    let span = found.span;
    let mut wrong = |wanted: &str| {
        let is = found.type_name();
        let help = if key.example.is_empty() {
            format!("write [{}]", key.name)
        } else {
            format!("as in: {} = {}", key.name, key.example)
        };
        out.push(
            Diagnostic::new("wrong-type", span, format!("`{}` is {wanted}, not {}", key.name, article(is)))
                .help(help),
        );
    };
    match (key.kind, &found.inner) {
        (Kind::Text, Inner::Text(_)) | (Kind::Switch, Inner::Switch(_)) => {}
        (Kind::Texts, Inner::Text(_)) => {}
        (Kind::Texts, Inner::List(items)) => {
            for item in items.iter().filter(|item| item.as_str().is_none()) {
                out.push(
                    Diagnostic::new("wrong-type", item.span, format!("`{}` is a list of texts", key.name))
                        .help(format!("as in: {} = {}", key.name, key.example)),
                );
            }
        }
        (Kind::Number(least, most), Inner::Whole(n)) => {
            if !(least..=most).contains(n) {
                out.push(Diagnostic::new(
                    "out-of-range",
                    span,
                    format!("`{}` is a whole number from {least} to {most}", key.name),
                ));
            }
        }
        (Kind::Word(words), Inner::Text(word)) => {
            if !words.contains(&&**word) {
                out.push(bad_word(word, span, words));
            }
        }
        (Kind::Table(keys), Inner::Table(inner)) => table(inner, keys, out),
        (Kind::Tables(keys), Inner::List(items)) => {
            for item in items {
                match item.as_table() {
                    Some(inner) => table(inner, keys, out),
                    None => out.push(
                        Diagnostic::new(
                            "wrong-type",
                            item.span,
                            format!("`{}` is a list of tables", key.name),
                        )
                        .help(format!("write [[{}]]", key.name)),
                    ),
                }
            }
        }
        (Kind::Map, Inner::Table(inner)) => {
            for item in inner.iter().map(|(_, item)| item).filter(|item| item.as_str().is_none()) {
                out.push(Diagnostic::new("wrong-type", item.span, format!("`{}` holds texts", key.name)));
            }
        }
        (Kind::Checks, Inner::Table(inner)) => checks(inner, out),
        (Kind::Text, _) => wrong("a text"),
        (Kind::Texts, _) => wrong("a list of texts"),
        (Kind::Switch, _) => wrong("true or false"),
        (Kind::Number(..), _) => wrong("a whole number"),
        (Kind::Word(_), _) => wrong("a word"),
        (Kind::Table(_) | Kind::Map | Kind::Checks, _) => wrong("a table"),
        (Kind::Tables(_), _) => wrong("a list of tables"),
    }
}

pub(crate) fn bad_word(word: &str, span: Span, words: &[&str]) -> Diagnostic {
    Diagnostic::new("unknown-word", span, format!("`{}` is not known here", shown(word)))
        .help(format!("one of: {}", words.join(", ")))
}

fn article(kind: &str) -> String {
    let vowel = kind.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {kind}", if vowel { "an" } else { "a" })
}

/// The decisions of checks: words, or one for each of alone and contained.
fn checks(inner: &Table<'_>, out: &mut Problems) {
    for (key, found) in inner.iter() {
        if out.are_enough() {
            return;
        }
        if key.name != "default" {
            match crate::rules::index_of(&key.name) {
                None => out.push(unknown(&key.name, key.span, crate::rules::rules().map(|r| r.id))),
                Some((_, check)) if check.is_floor() => out.push(
                    Diagnostic::new(
                        "floor",
                        key.span,
                        format!("`{}` belongs to the floor, which no policy changes", key.name),
                    )
                    .help("take the line out"),
                ),
                Some(_) => {}
            }
        }
        match &found.inner {
            Inner::Text(word) if DECISIONS.contains(&&**word) => {}
            Inner::Text(word) => out.push(bad_word(word, found.span, DECISIONS)),
            Inner::Table(both) => {
                const BOTH: &[Key] = &[
                    Key { name: "alone", kind: Kind::Word(DECISIONS), doc: "", example: r#""ask""# },
                    Key { name: "contained", kind: Kind::Word(DECISIONS), doc: "", example: r#""allow""# },
                ];
                table(both, BOTH, out);
            }
            _ => out.push(
                Diagnostic::new("wrong-type", found.span, "a check is decided by a word")
                    .help(r#"as in: network = "ask", or { alone = "ask", contained = "allow" }"#),
            ),
        }
    }
}
