//! What a finding says: a rule's message with the effect's own names in it.

use crate::condition::Subject;
use shward_analysis::{EffectKind, Plan, Rest, Scope, Target, Unknown};
use std::borrow::Cow;

/// Longest name that is shown whole, in characters.
const LONGEST: usize = 160;

/// The message of a rule, filled in. `from` stands for where what flows comes from.
pub(crate) fn fill(template: &str, subject: &Subject<'_>, from: &str) -> String {
    let mut out = String::with_capacity(template.len() + 64);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let Some((name, after)) = after.split_once('}') else {
            out.push('{');
            rest = after;
            continue;
        };
        match name {
            "place" => out.push_str(&place(subject)),
            "what" => out.push_str(&what(subject)),
            "host" => out.push_str(&host(subject)),
            "program" => out.push_str(&program(subject)),
            "from" => out.push_str(from),
            other => {
                out.push('{');
                out.push_str(other);
                out.push('}');
            }
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Text from the command as it may be shown: no control or invisible characters, not longer than fits.
pub(crate) fn shown(text: &[u8]) -> String {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~');
    let whole = text.len() <= LONGEST && text.iter().all(is_plain);
    let text = String::from_utf8_lossy(text);
    if whole {
        return text.into_owned();
    }
    let mut out = String::new();
    for (at, c) in text.chars().enumerate() {
        if at == LONGEST {
            out.push('…');
            break;
        }
        let plain = c == ' ' || (c.is_ascii_graphic()) || (!c.is_ascii() && c.is_alphanumeric());
        if plain { out.push(c) } else { out.extend(c.escape_unicode()) }
    }
    out
}

fn place(subject: &Subject<'_>) -> String {
    let Some(target) = subject.target() else { return "a place".to_owned() };
    let mut place = place_of(target);
    if let Some((relation, name)) = led(subject.plan, target) {
        place.push_str(" (");
        place.push_str(relation);
        place.push_str(" `");
        place.push_str(&shown(&name));
        place.push_str("`)");
    }
    place
}

/// The name that matters and leads to a place, if one does.
fn led(plan: &Plan<'_>, target: &Target<'_>) -> Option<(&'static str, Vec<u8>)> {
    let below = |path: &[u8], place: &[u8]| {
        let rest = path.strip_prefix(place.strip_suffix(b"/").unwrap_or(place))?;
        (rest.is_empty() || rest.starts_with(b"/")).then(|| rest.to_vec())
    };
    let lies_in = plan.led.iter().filter_map(|(name, place)| Some((name, below(target.path, place)?)));
    // The nearest says most.
    if let Some((name, rest)) = lies_in.min_by_key(|(_, rest)| rest.len()) {
        return Some(("which is", [name, rest.as_slice()].concat()));
    }
    let holds = |(_, place): &&(&[u8], &[u8])| target.covers.own && below(place, target.path).is_some();
    plan.led.iter().find(holds).map(|(name, _)| ("in which is", name.to_vec()))
}

/// A place in words.
pub(crate) fn place_of(target: &Target<'_>) -> String {
    if target.path.is_empty() {
        let unknown =
            if target.scope == Scope::Environment { "the environment" } else { "a path that is not known" };
        return unknown.to_owned();
    }
    let path = shown(target.path);
    match target.rest {
        Rest::Exact if target.tree => format!("`{path}` and everything below it"),
        Rest::Exact => format!("`{path}`"),
        Rest::Glob if target.tree => {
            format!("names in `{path}` that match a pattern, and everything below them")
        }
        Rest::Glob => format!("names in `{path}` that match a pattern"),
        Rest::Below => format!("any name below `{path}`"),
        Rest::Unknown => format!("a path that is not known, perhaps below `{path}`"),
    }
}

fn what(subject: &Subject<'_>) -> Cow<'static, str> {
    match subject.effect.map(|effect| &effect.kind) {
        Some(EffectKind::Unknown { reason }) => match reason {
            Unknown::Option(text) => format!("the option `{}`", shown(text)).into(),
            Unknown::Subcommand(text) => format!("the subcommand `{}`", shown(text)).into(),
            Unknown::Variable(text) => format!("the variable `{}`", shown(text)).into(),
            Unknown::Construct(text) | Unknown::Budget(text) | Unknown::Exhausted(text) => (*text).into(),
            Unknown::Argument => "an argument that is not known could be an option".into(),
            Unknown::Program => "the program is not known".into(),
            Unknown::Syntax => match subject.plan.refused {
                Some(error) => error.to_string().into(),
                None => "text that no shell can read for certain".into(),
            },
            _ => "not understood".into(),
        },
        Some(EffectKind::Remote { service, .. }) => (*service).into(),
        _ => subject.detail().to_owned().into(),
    }
}

fn host(subject: &Subject<'_>) -> String {
    match subject.effect.map(|effect| &effect.kind) {
        Some(EffectKind::Connect { endpoint, .. }) => match endpoint.host {
            Some(host) => format!("`{}`", shown(host)),
            None => "a host that is not known".to_owned(),
        },
        _ => "a host".to_owned(),
    }
}

fn program(subject: &Subject<'_>) -> String {
    match subject.program() {
        b"" => "a program".to_owned(),
        name => format!("`{}`", shown(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_text_has_no_surprises() {
        assert_eq!(shown("a b/é.txt".as_bytes()), "a b/é.txt");
        assert_eq!(shown("a\u{1b}[2J\u{202e}\n".as_bytes()), "a\\u{1b}[2J\\u{202e}\\u{a}");
        assert_eq!(shown(&[b'x'; 1000]).chars().count(), LONGEST + 1);
        assert_eq!(shown(&[b'~'; LONGEST]), "~".repeat(LONGEST));
        assert_eq!(shown(b"a\x7fb"), "a\\u{7f}b");
    }
}
