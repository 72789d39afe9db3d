//! The JSON schema of policy files, and a template to start from; both from the table of keys.

use super::keys::{DECISIONS, Key, Kind, POLICY, SCOPES};
use crate::kinds::EFFECTS;
use shward_analysis::vocabulary::ORIGINS;
use std::fmt::Write as _;

/// The JSON schema (draft 2020-12) of a policy file.
#[must_use]
pub fn json() -> String {
    let mut out = String::from(
        "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \"title\": \"shward policy\",\n  \"v\": 1,\n",
    );
    object(POLICY, 2, &mut out);
    out.push_str("}\n");
    out
}

/// A text between quotation marks, as JSON and TOML both read it.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn texts(words: &[&str]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", ")
}

fn object(keys: &[Key], depth: usize, out: &mut String) {
    let pad = " ".repeat(depth);
    let _ = writeln!(
        out,
        "{pad}\"type\": \"object\",\n{pad}\"additionalProperties\": false,\n{pad}\"properties\": {{"
    );
    for (at, key) in keys.iter().enumerate() {
        let _ = writeln!(out, "{pad}  {}: {{", quoted(key.name));
        let _ = writeln!(out, "{pad}    \"description\": {},", quoted(key.doc));
        kind(key, depth + 4, out);
        let comma = if at + 1 < keys.len() { "," } else { "" };
        let _ = writeln!(out, "{pad}  }}{comma}");
    }
    let _ = writeln!(out, "{pad}}}");
}

fn kind(key: &Key, depth: usize, out: &mut String) {
    let pad = " ".repeat(depth);
    let _ = match key.kind {
        Kind::Text => writeln!(out, "{pad}\"type\": \"string\""),
        Kind::Texts => {
            let item = match key.name {
                "scope" => format!("{{ \"enum\": [{}] }}", texts(SCOPES)),
                "origin" => format!("{{ \"enum\": [{}] }}", texts(ORIGINS)),
                "effect" => format!(
                    "{{ \"type\": \"string\", \"pattern\": \"^({})(:[a-z-]+)?$\" }}",
                    EFFECTS.join("|")
                ),
                _ => "{ \"type\": \"string\" }".to_owned(),
            };
            writeln!(out, "{pad}\"anyOf\": [{item}, {{ \"type\": \"array\", \"items\": {item} }}]")
        }
        Kind::Switch => writeln!(out, "{pad}\"type\": \"boolean\""),
        Kind::Number(least, most) => {
            writeln!(out, "{pad}\"type\": \"integer\", \"minimum\": {least}, \"maximum\": {most}")
        }
        Kind::Word(words) => writeln!(out, "{pad}\"enum\": [{}]", texts(words)),
        Kind::Map => {
            writeln!(out, "{pad}\"type\": \"object\", \"additionalProperties\": {{ \"type\": \"string\" }}")
        }
        Kind::Checks => {
            let decisions = texts(DECISIONS);
            let both = format!(
                "{{ \"type\": \"object\", \"additionalProperties\": false, \"properties\": {{ \"alone\": {{ \"enum\": \
                 [{decisions}] }}, \"contained\": {{ \"enum\": [{decisions}] }} }} }}"
            );
            let ids: Vec<&str> = std::iter::once("default")
                .chain(crate::rules::rules().filter(|r| !r.is_floor()).map(|r| r.id))
                .collect();
            writeln!(
                out,
                "{pad}\"type\": \"object\",\n{pad}\"propertyNames\": {{ \"enum\": [{}] }},\n{pad}\"additionalProperties\": \
                 {{ \"anyOf\": [{{ \"enum\": [{decisions}] }}, {both}] }}",
                texts(&ids)
            )
        }
        Kind::Table(keys) => {
            object(keys, depth, out);
            Ok(())
        }
        Kind::Tables(keys) => {
            let _ = writeln!(out, "{pad}\"type\": \"array\",\n{pad}\"items\": {{");
            object(keys, depth + 2, out);
            writeln!(out, "{pad}}}")
        }
    };
}

/// A policy file in which every key stands as a comment with what it means.
#[must_use]
pub fn template() -> String {
    let mut out = String::from(
        "# A policy of shward. Every key stands here as a comment, with what it means; take the # away from what you want.\n\
         # `shward policy check FILE` says what is wrong with it, `shward policy show` what is in force.\n",
    );
    for key in
        POLICY.iter().filter(|key| !matches!(key.kind, Kind::Table(_) | Kind::Tables(_) | Kind::Checks))
    {
        entry(key, &mut out);
    }
    out.push_str("\n# Decisions of the built-in checks (`shward policy show` lists them):\n# [checks]\n# network = \"deny\"\n# push = { alone = \"ask\", contained = \"ask\" }\n");
    for key in POLICY {
        if let Kind::Table(keys) = key.kind {
            let _ = write!(out, "\n# {}\n# [{}]", key.doc, key.name);
            section(key.name, keys, &mut out);
        }
    }
    for key in POLICY {
        if let Kind::Tables(keys) = key.kind {
            let _ = write!(out, "\n# {}\n# [[{}]]", key.doc, key.name);
            section(key.name, keys, &mut out);
        }
    }
    out
}

fn section(name: &str, keys: &[Key], out: &mut String) {
    out.push('\n');
    for key in keys.iter().filter(|key| !matches!(key.kind, Kind::Table(_) | Kind::Tables(_))) {
        entry(key, out);
    }
    for key in keys {
        if let Kind::Tables(keys) = key.kind {
            let name = format!("{name}.{}", key.name);
            let _ = write!(out, "\n# {}\n# [[{name}]]", key.doc);
            section(&name, keys, out);
        }
    }
}

fn entry(key: &Key, out: &mut String) {
    let words = match key.kind {
        Kind::Word(words) => format!(" ({})", words.join(", ")),
        _ => String::new(),
    };
    let _ = writeln!(out, "# {} = {}\n#   {}{words}", key.name, key.example, key.doc);
}
