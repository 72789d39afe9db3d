//! Where a host name, address or URL leads.

use crate::effect::Endpoint;
use crate::value::{Origins, Value};

/// The endpoint that a value names: `scheme://[user@]host[:port]/…`, `[user@]host[:port]`, `[user@]host:path`.
pub(crate) fn of<'a>(value: &Value<'a>) -> Endpoint<'a> {
    let known = value.known();
    let text = known.unwrap_or_else(|| value.known_prefix());
    let (scheme, rest) = match find(text, b"://") {
        Some(at) => (text.get(..at).unwrap_or_default(), text.get(at + 3..).unwrap_or_default()),
        None => (&b""[..], text),
    };
    let end = rest.iter().position(|b| matches!(b, b'/' | b'?' | b'#'));
    // After the colon a variable of the environment is the port; what came from elsewhere may be `x@host` as well.
    let port_begun = || {
        let given = Origins::LITERAL.union(Origins::ALL_VARIABLES).contains(value.origins);
        !scheme.is_empty() && given && rest.ends_with(b":") && !rest.iter().any(|b| matches!(b, b'@' | b'['))
    };
    if end.is_none() && known.is_none() && !port_begun() {
        // The host goes on in what is not known.
        return Endpoint { scheme, ..Endpoint::UNKNOWN };
    }
    let authority = end.and_then(|at| rest.get(..at)).unwrap_or(rest);
    let authority = match authority.iter().rposition(|b| *b == b'@') {
        Some(at) => authority.get(at + 1..).unwrap_or_default(),
        None => authority,
    };
    let (host, port) = match authority {
        [b'[', inner @ ..] => match inner.iter().position(|b| *b == b']') {
            Some(at) => (inner.get(..at).unwrap_or_default(), inner.get(at + 1..).unwrap_or_default()),
            None => (inner, &b""[..]),
        },
        _ => match authority.iter().position(|b| *b == b':') {
            Some(at) => (authority.get(..at).unwrap_or_default(), authority.get(at..).unwrap_or_default()),
            None => (authority, &b""[..]),
        },
    };
    let port = port.strip_prefix(b":").and_then(number);
    if host.is_empty() {
        return Endpoint { scheme, port, ..Endpoint::UNKNOWN };
    }
    Endpoint { host: Some(host), port, scheme, loopback: is_loopback(host) }
}

/// The endpoint of a host name given apart from its port.
pub(crate) fn host<'a>(name: Option<&'a [u8]>, port: Option<u16>, scheme: &'a [u8]) -> Endpoint<'a> {
    Endpoint { host: name, port, scheme, loopback: name.is_some_and(is_loopback) }
}

/// `localhost`, `127.0.0.0/8`, `::1`, and the unspecified addresses, which Linux takes for this machine too.
pub(crate) fn is_loopback(host: &[u8]) -> bool {
    let dotted = |rest: &[u8]| !rest.is_empty() && rest.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    host.eq_ignore_ascii_case(b"localhost")
        || host.strip_prefix(b"127.").is_some_and(dotted)
        || host == b"::1"
        || is_unspecified(host)
}

/// The address that stands for every address of this machine.
pub(crate) fn is_unspecified(host: &[u8]) -> bool {
    matches!(host, b"0.0.0.0" | b"::" | b"0")
}

/// A decimal number that fits.
pub(crate) fn number(digits: &[u8]) -> Option<u16> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len()).position(|window| window == needle)
}
