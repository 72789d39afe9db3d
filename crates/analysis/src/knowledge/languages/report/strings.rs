//! Strings that name a place.

use super::super::super::values;

/// Whether a string begins as a URL that leads elsewhere.
pub(in super::super) fn is_url(text: &[u8]) -> bool {
    // Where the colon of one of them may stand.
    if !text.get(2..text.len().min(6)).is_some_and(|colon| colon.contains(&b':')) {
        return false;
    }
    [
        &b"http://"[..],
        b"https://",
        b"ftp://",
        b"ws://",
        b"wss://",
        b"tcp://",
        b"ssh://",
        b"git://",
        b"s3://",
        b"gs://",
    ]
    .iter()
    .any(|scheme| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}

/// Whether a string is written as a path that leads out of the working directory, or is known by its name.
pub(in super::super) fn looks_like_path(text: &[u8]) -> bool {
    if text.is_empty() || text.len() > 512 {
        return false;
    }
    // Most have no slash in them.
    let named = matches!(text, [b'.', ..] | [b'i', b'd', b'_', ..]);
    if !named && !text.contains(&b'/') || text.iter().any(|b| b.is_ascii_control()) {
        return false;
    }
    let rooted = match text {
        [b'/', next, ..] => !next.is_ascii_whitespace() && *next != b'/',
        [b'~', b'/', ..] => true,
        _ => text.starts_with(b"../") || text.windows(4).any(|w| w == b"/../"),
    };
    if text.contains(&b' ') {
        return false;
    }
    let name = values::base_name(text);
    rooted || (name.starts_with(b".") && name.len() > 2) || name.starts_with(b"id_") || text.contains(&b'/')
}
