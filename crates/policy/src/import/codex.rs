//! Codex `.rules`: a file in Starlark that calls `prefix_rule` with literal words.

use super::{Imported, list, prefix_rule};
use crate::file::schema::quoted;

/// Most prefixes that one rule may stand for, with every choice of its alternatives.
const MOST: usize = 64;

/// Codex `.rules`: `prefix_rule(pattern = ["git", "push"], decision = "prompt")` calls. Comments are none, and whatever is not such
/// a call with literal words is reported.
#[must_use]
pub fn codex_rules(text: &str) -> Imported {
    let mut imported = Imported::default();
    let tokens = match tokens(text) {
        Ok(tokens) => tokens,
        Err(why) => {
            imported.notes.push(format!("nothing is carried over: {why}"));
            return imported;
        }
    };
    // What is more than calls may keep a call from being made, and then it allows nothing.
    let plain = is_plain(&tokens);
    if !plain {
        imported
            .notes
            .push("there is more in it than calls, so that no allowance is carried over".to_owned());
    }
    let mut rest = tokens.as_slice();
    let mut number = 0;
    while let Some((token, after)) = rest.split_first() {
        rest = after;
        match (token, after.first()) {
            (Token::Name("prefix_rule"), Some(Token::Mark('('))) => {
                number += 1;
                let (call, behind) = arguments(after.get(1..).unwrap_or_default());
                rest = behind;
                match call {
                    Some(call) => rule(&mut imported, number, &call, plain),
                    None => imported
                        .notes
                        .push(format!("rule {number}: left out, because not all of it is literal")),
                }
            }
            (Token::Name(name), Some(Token::Mark('('))) => {
                imported.notes.push(format!("{name}(…): not known here"));
                rest = arguments(after.get(1..).unwrap_or_default()).1;
            }
            (Token::Name(name), _) => imported.notes.push(format!("{name}: not known here")),
            _ => {}
        }
    }
    if number == 0 && imported.notes.is_empty() {
        imported.notes.push("there is no prefix_rule in it".to_owned());
    }
    imported
}

/// Whether it is nothing but calls, one behind the other.
fn is_plain(tokens: &[Token<'_>]) -> bool {
    let mut rest = tokens;
    while let [first, after @ ..] = rest {
        let (Token::Name(_), [Token::Mark('('), after @ ..]) = (first, after) else { return false };
        rest = behind(after);
    }
    true
}

/// What follows the bracket that closes an open one; nothing if none does.
fn behind<'a, 't>(tokens: &'a [Token<'t>]) -> &'a [Token<'t>] {
    let close = close(tokens);
    close.and_then(|at| tokens.get(at + 1..)).unwrap_or_default()
}

/// Where the bracket stands that closes an open one.
fn close(tokens: &[Token<'_>]) -> Option<usize> {
    let mut depth = 1usize;
    tokens.iter().position(|token| {
        match token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

/// A token of Starlark, as far as it is literal.
#[derive(Debug, Clone, PartialEq)]
enum Token<'t> {
    Name(&'t str),
    Text(String),
    Mark(char),
}

fn tokens(text: &str) -> Result<Vec<Token<'_>>, &'static str> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let tail = rest.get(c.len_utf8()..).unwrap_or_default();
        rest = match c {
            '#' => tail.find('\n').and_then(|at| tail.get(at..)).unwrap_or_default(),
            '"' | '\'' => {
                if tail.starts_with([c; 2].iter().collect::<String>().as_str()) {
                    return Err("a text between three quotation marks is in it");
                }
                let (word, behind) = literal(tail, c)?;
                out.push(Token::Text(word));
                behind
            }
            c if c.is_alphanumeric() || c == '_' => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                let (name, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
                out.push(Token::Name(name));
                behind
            }
            c => {
                if !c.is_whitespace() {
                    out.push(Token::Mark(c));
                }
                tail
            }
        };
    }
    Ok(out)
}

/// A text up to its closing mark, and what follows.
fn literal(text: &str, mark: char) -> Result<(String, &str), &'static str> {
    let mut word = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some((_, c @ ('"' | '\'' | '\\'))) => word.push(c),
                _ => return Err("a text with an escape is in it"),
            },
            '\n' => break,
            c if c == mark => return Ok((word, text.get(at + c.len_utf8()..).unwrap_or_default())),
            c => word.push(c),
        }
    }
    Err("a text has no end")
}

/// A value: a text, or a list of values.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Text(String),
    List(Vec<Value>),
}

type Arguments<'t> = Vec<(&'t str, Value)>;

/// The arguments of a call whose parenthesis is open, if all are names with literal values; and what follows the call.
fn arguments<'a, 't>(tokens: &'a [Token<'t>]) -> (Option<Arguments<'t>>, &'a [Token<'t>]) {
    let behind = behind(tokens);
    let Some(mut inner) = close(tokens).and_then(|at| tokens.get(..at)) else { return (None, behind) };
    let mut out = Vec::new();
    while !inner.is_empty() {
        let [Token::Name(name), Token::Mark('='), after @ ..] = inner else { return (None, behind) };
        let Some((value, after)) = value(after, 0) else { return (None, behind) };
        out.push((*name, value));
        inner = match after {
            [] => &[],
            [Token::Mark(','), after @ ..] => after,
            _ => return (None, behind),
        };
    }
    (Some(out), behind)
}

fn value<'a, 't>(tokens: &'a [Token<'t>], depth: usize) -> Option<(Value, &'a [Token<'t>])> {
    match tokens {
        [Token::Text(text), rest @ ..] => Some((Value::Text(text.clone()), rest)),
        [Token::Mark('['), rest @ ..] if depth < 3 => {
            let mut items = Vec::new();
            let mut rest = rest;
            loop {
                if let [Token::Mark(']'), after @ ..] = rest {
                    return Some((Value::List(items), after));
                }
                let (item, after) = value(rest, depth + 1)?;
                items.push(item);
                rest = match after {
                    [Token::Mark(','), after @ ..] => after,
                    [Token::Mark(']'), ..] => after,
                    _ => return None,
                };
            }
        }
        _ => None,
    }
}

fn rule(imported: &mut Imported, number: usize, call: &Arguments<'_>, plain: bool) {
    let mut note = |what: &str| imported.notes.push(format!("rule {number}: {what}"));
    let get = |name: &str| call.iter().find(|(known, _)| *known == name).map(|(_, value)| value);
    if let Some((name, _)) = call
        .iter()
        .find(|(name, _)| !["pattern", "decision", "match", "not_match", "justification"].contains(name))
    {
        note(&format!("left out, because `{name}` is not known"));
        return;
    }
    if call.iter().enumerate().any(|(at, (name, _))| call.iter().take(at).any(|(before, _)| before == name)) {
        return note("left out, because an argument is in it twice");
    }
    let decision = match get("decision") {
        None => "allow",
        Some(Value::Text(word)) if word == "allow" => "allow",
        Some(Value::Text(word)) if word == "prompt" => "ask",
        Some(Value::Text(word)) if word == "forbidden" => "deny",
        Some(_) => return note("left out, because its decision is not known"),
    };
    if decision == "allow" && !plain {
        return note("left out, because it may not be called");
    }
    let Some(Value::List(positions)) = get("pattern") else {
        return note("left out, because it has no pattern");
    };
    // Alternatives in one position become one rule each.
    let mut prefixes: Vec<Vec<&str>> = vec![Vec::new()];
    for position in positions {
        let words: Option<Vec<&str>> = match position {
            Value::Text(word) => Some(vec![word.as_str()]),
            Value::List(items) => items
                .iter()
                .map(|item| if let Value::Text(word) = item { Some(word.as_str()) } else { None })
                .collect(),
        };
        let Some(words) = words else { return note("left out, because of lists inside each other") };
        prefixes = prefixes
            .iter()
            .flat_map(|prefix| words.iter().map(|word| prefix.iter().copied().chain([*word]).collect()))
            .collect();
        if prefixes.len() > MOST {
            return note("left out, because it stands for too many commands; split it");
        }
    }
    if get("match").is_some() || get("not_match").is_some() {
        note("its examples are not carried over; add them as `match` and `not-match`");
    }
    let reason = match get("justification") {
        Some(Value::Text(reason)) => format!("reason = {}\n", quoted(reason)),
        _ => String::new(),
    };
    for (at, prefix) in prefixes.iter().enumerate() {
        let told =
            format!("rule {number}, {}", list(&prefix.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>()));
        prefix_rule(imported, &format!("codex-{}-{at}", number - 1), decision, prefix, &told, &reason);
    }
}
