//! Patterns of names, hosts and places. Matching takes time linear in pattern times text, whatever the pattern.

use crate::Context;

/// Temporary directories, for `$TMP`.
const TEMPORARY: [&[u8]; 3] = [b"/tmp", b"/var/tmp", b"/dev/shm"];

/// Why a place could never be met as it is written, or would be met by every place.
pub(crate) fn fault(place: &str) -> Option<&'static str> {
    let first = place.split('/').next().unwrap_or(place);
    if place.is_empty() {
        return Some("is empty; the workspace is `$WORKSPACE`");
    }
    if place.split('/').any(|name| name == "..") {
        return Some("has `..` in it; places are compared without");
    }
    if place.split('/').any(|name| name == ".") {
        return Some("has `.` in it; the workspace is `$WORKSPACE`, and what begins with a name lies in it");
    }
    if first.starts_with('$') && !["$WORKSPACE", "$HOME", "$TMP"].contains(&first) {
        return Some(
            "begins with a variable that stands for nothing; there are `$WORKSPACE`, `$HOME` and `$TMP`",
        );
    }
    if first.starts_with('~') && first != "~" {
        return Some("begins with the name of a user; write the directory out");
    }
    None
}

/// Whether a pattern has characters that stand for others.
pub(crate) fn is_pattern(pattern: &str) -> bool {
    pattern.contains(['*', '?'])
}

/// Whether a text matches: `*` is any text, `?` any byte.
pub(crate) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match (pattern.get(p), text.get(t)) {
            (Some(b'*'), _) => {
                star = Some((p + 1, t));
                p += 1;
            }
            (Some(b'?'), Some(_)) => {
                p += 1;
                t += 1;
            }
            (Some(a), Some(b)) if a == b => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((after, at)) => {
                    star = Some((after, at + 1));
                    p = after;
                    t = at + 1;
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|b| *b == b'*'))
}

/// Whether the names of a path match those of a pattern, `**` being any number of names.
fn names_match(pattern: &[&[u8]], names: &[&[u8]]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < names.len() {
        match (pattern.get(p), names.get(n)) {
            (Some(&b"**"), _) => {
                star = Some((p + 1, n));
                p += 1;
            }
            (Some(pattern), Some(name)) if matches(pattern, name) => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((after, at)) => {
                    star = Some((after, at + 1));
                    p = after;
                    n = at + 1;
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|name| *name == b"**"))
}

/// The directories that a pattern begins with, and what follows.
fn based<'c>(pattern: &'c str, context: &Context<'c>) -> (Vec<&'c [u8]>, &'c str) {
    for (name, base) in [("$WORKSPACE", context.workspace), ("$HOME", context.home), ("~", context.home)] {
        if let Some(rest) = pattern.strip_prefix(name)
            && (rest.is_empty() || rest.starts_with('/'))
        {
            return (vec![base], rest);
        }
    }
    if let Some(rest) = pattern.strip_prefix("$TMP")
        && (rest.is_empty() || rest.starts_with('/'))
    {
        return (TEMPORARY.to_vec(), rest);
    }
    if pattern.starts_with('/') { (vec![b""], pattern) } else { (vec![context.workspace], pattern) }
}

fn split(path: &[u8]) -> Vec<&[u8]> {
    path.split(|b| *b == b'/').filter(|name| !name.is_empty()).collect()
}

/// Whether an absolute path matches a pattern of places.
pub(crate) fn place_matches(pattern: &str, path: &[u8], context: &Context<'_>) -> bool {
    let (bases, rest) = based(pattern, context);
    let rest = split(rest.as_bytes());
    bases.into_iter().any(|base| {
        is_below(path, base) && path.get(base.len()..).is_some_and(|below| names_match(&rest, &split(below)))
    })
}

/// Whether something at or below a directory may match a pattern of places.
pub(crate) fn may_match_below(pattern: &str, directory: &[u8], context: &Context<'_>) -> bool {
    let (bases, rest) = based(pattern, context);
    let fixed: Vec<&[u8]> =
        split(rest.as_bytes()).into_iter().take_while(|n| !n.contains(&b'*') && !n.contains(&b'?')).collect();
    bases.into_iter().any(|base| {
        let mut names = split(base);
        names.extend(&fixed);
        let directory = split(directory);
        names.iter().zip(&directory).all(|(a, b)| a == b)
    })
}

/// Whether a path lies in a listed directory, or matches it if it is a pattern.
pub(crate) fn listed(entry: &str, path: &[u8], context: &Context<'_>) -> bool {
    if is_pattern(entry) {
        return place_matches(entry, path, context);
    }
    let (bases, rest) = based(entry, context);
    let rest = split(rest.as_bytes());
    bases.into_iter().any(|base| {
        let mut names = split(base);
        names.extend(&rest);
        split(path).starts_with(&names)
    })
}

/// Whether a path is this directory or lies below it.
pub(crate) fn is_below(path: &[u8], directory: &[u8]) -> bool {
    let directory = directory.strip_suffix(b"/").unwrap_or(directory);
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: Context<'static> =
        Context { contained: false, cwd: b"/w/p", workspace: b"/w/p", home: b"/home/u" };

    #[test]
    fn patterns_of_names() {
        let table: [(&str, &str, bool); 9] = [
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abbd", false),
            ("?", "", false),
            ("*.example.com", "api.example.com", true),
            ("*.example.com", "example.com", false),
            ("a**b", "ab", true),
            ("*a*b*c*", "xxaxxbxxc", true),
            ("prod-*", "prod", false),
        ];
        for (pattern, text, expected) in table {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} {text}");
        }
        // Time stays bounded for the worst of patterns.
        assert!(!matches("*a".repeat(2000).as_bytes(), &[b'a'; 1999]));
    }

    #[test]
    fn patterns_of_places() {
        let table: [(&str, &str, bool); 12] = [
            ("/srv/**", "/srv", true),
            ("/srv/**", "/srv/a/b", true),
            ("/srv/**", "/srvx", false),
            ("/srv/*", "/srv/a/b", false),
            ("/srv/**/x", "/srv/a/b/x", true),
            ("$WORKSPACE/*.py", "/w/p/a.py", true),
            ("src/**", "/w/p/src/a", true),
            ("~/x", "/home/u/x", true),
            ("$HOME", "/home/u", true),
            ("$TMP/**", "/var/tmp/x", true),
            ("$HOMEX/y", "/home/u/y", false),
            ("**", "/w/p/q", true),
        ];
        for (pattern, path, expected) in table {
            assert_eq!(place_matches(pattern, path.as_bytes(), &CONTEXT), expected, "{pattern} {path}");
        }
        assert!(listed("$WORKSPACE", b"/w/p/a", &CONTEXT));
        assert!(!listed("$WORKSPACE", b"/w/pa", &CONTEXT));
        assert!(may_match_below("/srv/app/*", b"/srv", &CONTEXT));
        assert!(!may_match_below("/srv/app/*", b"/opt", &CONTEXT));
    }
}
