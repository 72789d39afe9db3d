//! What a finding says: a rule's message with the effect's own names in it.

use crate::condition::Subject;
use shward_analysis::{EffectKind, Plan, Rest, Scope, Target, Unknown};
use shward_syntax::until;

/// Longest name that is shown whole, in characters.
const LONGEST: usize = 160;

/// The message of a rule, filled in. `from` stands for where what flows comes from.
pub(crate) fn fill(template: &str, subject: &Subject<'_>, from: &str) -> String {
    let mut out = String::with_capacity(template.len() + 64);
    let mut rest = template;
    while let Some((before, after)) = rest.split_at_checked(until(rest.as_bytes(), [b'{'])) {
        out.push_str(before);
        let Some((name, after)) = after.strip_prefix('{').and_then(|name| name.split_once('}')) else {
            out.push_str(after);
            break;
        };
        match name {
            "place" => place(&mut out, subject),
            "what" => what(&mut out, subject),
            "host" => host(&mut out, subject),
            "program" => program(&mut out, subject),
            "from" => out.push_str(from),
            other => out.extend(["{", other, "}"]),
        }
        rest = after;
    }
    out
}

/// Text from the command as it may be shown: no control or invisible characters, not longer than fits.
pub(crate) fn shown(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len().min(LONGEST));
    show(&mut out, text);
    out
}

/// Appends it.
fn show(out: &mut String, text: &[u8]) {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~');
    let whole = text.len() <= LONGEST && text.iter().all(is_plain);
    if let (true, Ok(text)) = (whole, str::from_utf8(text)) {
        return out.push_str(text);
    }
    for (at, c) in String::from_utf8_lossy(text).chars().enumerate() {
        if at == LONGEST {
            out.push('…');
            break;
        }
        let plain = c == ' ' || (c.is_ascii_graphic()) || (!c.is_ascii() && c.is_alphanumeric());
        if plain { out.push(c) } else { out.extend(c.escape_unicode()) }
    }
}

/// Appends it between two texts.
fn show_in(out: &mut String, before: &str, text: &[u8], after: &str) {
    out.push_str(before);
    show(out, text);
    out.push_str(after);
}

fn place(out: &mut String, subject: &Subject<'_>) {
    let Some(target) = subject.target() else { return out.push_str("a place") };
    place_in(out, target);
    if let Some((relation, name)) = led(subject.plan, target) {
        out.extend([" (", relation]);
        show_in(out, " `", &name, "`)");
    }
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
    let mut out = String::new();
    place_in(&mut out, target);
    out
}

fn place_in(out: &mut String, target: &Target<'_>) {
    if target.path.is_empty() {
        out.push_str(match target.scope {
            Scope::Environment => "the environment",
            _ => "a path that is not known",
        });
        return;
    }
    let (before, after) = match target.rest {
        Rest::Exact if target.tree => ("`", "` and everything below it"),
        Rest::Exact => ("`", "`"),
        Rest::Glob if target.tree => ("names in `", "` that match a pattern, and everything below them"),
        Rest::Glob => ("names in `", "` that match a pattern"),
        Rest::Below => ("any name below `", "`"),
        Rest::Unknown => ("a path that is not known, perhaps below `", "`"),
    };
    show_in(out, before, target.path, after);
}

fn what(out: &mut String, subject: &Subject<'_>) {
    match subject.effect.map(|effect| &effect.kind) {
        Some(EffectKind::Unknown { reason }) => match reason {
            Unknown::Option(text) => show_in(out, "the option `", text, "`"),
            Unknown::Subcommand(text) => show_in(out, "the subcommand `", text, "`"),
            Unknown::Variable(text) => show_in(out, "the variable `", text, "`"),
            Unknown::Construct(text) | Unknown::Budget(text) | Unknown::Exhausted(text) => out.push_str(text),
            Unknown::Argument => out.push_str("an argument that is not known could be an option"),
            Unknown::Program => out.push_str("the program is not known"),
            Unknown::Syntax => match subject.plan.refused {
                Some(error) => out.push_str(&error.to_string()),
                None => out.push_str("text that no shell can read for certain"),
            },
            _ => out.push_str("not understood"),
        },
        Some(EffectKind::Remote { service, .. }) => out.push_str(service),
        _ => out.push_str(subject.detail()),
    }
}

fn host(out: &mut String, subject: &Subject<'_>) {
    match subject.effect.map(|effect| &effect.kind) {
        Some(EffectKind::Connect { endpoint, .. }) => match endpoint.host {
            Some(host) => show_in(out, "`", host, "`"),
            None => out.push_str("a host that is not known"),
        },
        _ => out.push_str("a host"),
    }
}

fn program(out: &mut String, subject: &Subject<'_>) {
    match subject.program() {
        b"" => out.push_str("a program"),
        name => show_in(out, "`", name, "`"),
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
