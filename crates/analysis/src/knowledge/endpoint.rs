//! Where a host name, address or URL leads.

use crate::effect::Endpoint;
use crate::value::{Origins, Value};
use shward_syntax::{OneOf, until};

/// The endpoint that a value names: `scheme://[user@]host[:port]/…`, `[user@]host[:port]`, `[user@]host:path`.
pub(crate) fn of<'a>(value: &Value<'a>) -> Endpoint<'a> {
    let known = value.known();
    let text = known.unwrap_or_else(|| value.known_prefix());
    let (scheme, rest) = match end_of_scheme(text).and_then(|at| text.split_at_checked(at)) {
        Some((scheme, rest)) if is_scheme(scheme) => (scheme, rest.get(3..).unwrap_or_default()),
        _ => (&b""[..], text),
    };
    if !scheme.is_empty() && !is_known(scheme) {
        return Endpoint { scheme, ..Endpoint::UNKNOWN };
    }
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
        // One program ends the host where another one goes on with the name of a user.
        Some(at) if authority.iter().take(at).any(|b| is_ambiguous(*b) || b"@[]".contains(b)) => &b""[..],
        Some(at) => authority.get(at + 1..).unwrap_or_default(),
        None => authority,
    };
    let (host, port) = match authority {
        [b'[', inner @ ..] => match inner.iter().position(|b| *b == b']') {
            Some(at) => match inner.get(at + 1..).unwrap_or_default() {
                port @ ([] | [b':', ..]) => (inner.get(..at).unwrap_or_default(), port),
                _ => (&b""[..], &b""[..]),
            },
            None => (&b""[..], &b""[..]),
        },
        _ => match authority.iter().position(|b| *b == b':') {
            Some(at) => (authority.get(..at).unwrap_or_default(), authority.get(at..).unwrap_or_default()),
            None => (authority, &b""[..]),
        },
    };
    let port = port.strip_prefix(b":").and_then(number);
    if host.is_empty() || host.iter().any(|b| is_ambiguous(*b)) {
        return Endpoint { scheme, port, ..Endpoint::UNKNOWN };
    }
    Endpoint { host: Some(host), port, scheme, loopback: is_own_server(host, port, scheme) }
}

/// Bytes of an authority that programs read differently: `\` is a slash to browsers and `fetch` (WHATWG URL), `;` ends a host for
/// some, and what is no visible character is taken out by others.
fn is_ambiguous(byte: u8) -> bool {
    byte == b'\\' || byte == b';' || byte <= b' ' || byte == 0x7f
}

/// Whether this is what a scheme looks like, and not a host with a path or a query in which `://` stands. Dots, which RFC 3986
/// would accept, are part of a host's name.
fn is_scheme(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_alphabetic)
        && text.iter().all(|b| b.is_ascii_alphanumeric() || b"+-:".contains(b))
}

/// Whether after this scheme a host stands. What is written so with another word may be a host's name and a path (scp(1)), or
/// mean whatever a helper makes of it.
fn is_known(scheme: &[u8]) -> bool {
    if matches!(scheme, b"http" | b"https") {
        return true;
    }
    let mut parts = scheme.split(|b| matches!(b, b'+' | b':'));
    parts.all(|part| SCHEMES.has_in_any_case(part))
}

/// Schemes, and what is put before or after one.
static SCHEMES: OneOf<97> = OneOf::new([
    "amqp",
    "amqps",
    "bolt",
    "bzr",
    "clickhouse",
    "consul",
    "dav",
    "davs",
    "dict",
    "docker",
    "etcd",
    "file",
    "ftp",
    "ftps",
    "git",
    "gopher",
    "gophers",
    "grpc",
    "grpcs",
    "gs",
    "hdfs",
    "hg",
    "hkp",
    "hkps",
    "http",
    "https",
    "imap",
    "imaps",
    "ipp",
    "ipps",
    "irc",
    "ircs",
    "jdbc",
    "kafka",
    "ldap",
    "ldapi",
    "ldaps",
    "mariadb",
    "memcached",
    "mongodb",
    "mqtt",
    "mqtts",
    "mssql",
    "mysql",
    "mysqlx",
    "nats",
    "neo4j",
    "nfs",
    "oci",
    "oracle",
    "pop3",
    "pop3s",
    "postgres",
    "postgresql",
    "psql",
    "pulsar",
    "qemu",
    "redis",
    "rediss",
    "rest",
    "rsync",
    "rtmp",
    "rtmps",
    "rtsp",
    "rtsps",
    "s3",
    "scp",
    "sftp",
    "smb",
    "smbs",
    "smtp",
    "smtps",
    "socks",
    "socks4",
    "socks4a",
    "socks5",
    "socks5h",
    "sparse",
    "sqlserver",
    "srv",
    "ssh",
    "ssl",
    "stomp",
    "svn",
    "swift",
    "tcp",
    "telnet",
    "tftp",
    "tls",
    "udp",
    "unix",
    "vnc",
    "webdav",
    "webdavs",
    "ws",
    "wss",
    "xmpp",
]);

/// The endpoint of a host name given apart from its port.
pub(crate) fn host<'a>(name: Option<&'a [u8]>, port: Option<u16>, scheme: &'a [u8]) -> Endpoint<'a> {
    Endpoint {
        host: name,
        port,
        scheme,
        loopback: name.is_some_and(|name| is_own_server(name, port, scheme)),
    }
}

/// Ports at which this machine's container engine (2375, 2376), the agent of a cluster (10250, 10255) and the cluster's store (2379)
/// take orders: whoever reaches them rules the machine.
const RULING_PORTS: [u16; 5] = [2375, 2376, 2379, 10250, 10255];

/// Schemes by which files of this machine's users are read and written.
const SCHEMES_OF_ACCOUNTS: [&[u8]; 4] = [b"scp", b"sftp", b"smb", b"smbs"];

/// Whether what listens there can be a server that the workspace has started.
fn is_own_server(host: &[u8], port: Option<u16>, scheme: &[u8]) -> bool {
    is_loopback(host)
        && !port.is_some_and(|port| RULING_PORTS.contains(&port))
        && !SCHEMES_OF_ACCOUNTS.iter().any(|of_accounts| scheme.eq_ignore_ascii_case(of_accounts))
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

/// Where a scheme ends.
fn end_of_scheme(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let rest = text.get(from..)?;
        from += until(rest, [b':']);
        match text.get(from..)? {
            [] => return None,
            [b':', b'/', b'/', ..] => return Some(from),
            _ => from += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_where_the_host_does() {
        // text, host, port, loopback
        type Row<'a> = (&'a str, Option<&'a str>, Option<u16>, bool);
        let table: &[Row<'_>] = &[
            ("http://example.com:81/x", Some("example.com"), Some(81), false),
            ("user@example.com:path", Some("example.com"), None, false),
            ("http://u:p@localhost:80/", Some("localhost"), Some(80), true),
            ("git+ssh://localhost/x", Some("localhost"), None, true),
            ("http://[::1]:80/", Some("::1"), Some(80), true),
            ("http://localhost:2375/containers/json", Some("localhost"), Some(2375), false),
            ("127.0.0.1:10250", Some("127.0.0.1"), Some(10250), false),
            ("SFTP://localhost/home/x", Some("localhost"), None, false),
            ("http://127.evil.example/", Some("127.evil.example"), None, false),
            ("http://localhost/?u=http://example.com", Some("localhost"), None, true),
            // A scheme further on is none.
            ("example.com/?u=http://localhost", Some("example.com"), None, false),
            ("example.com#://localhost", Some("example.com"), None, false),
            ("example.com://localhost", Some("example.com"), None, false),
            ("u@example.com://localhost", Some("example.com"), None, false),
            ("http:example.com/?://localhost", Some("http"), None, false),
            ("://localhost", None, None, false),
            // Nor is a word that nobody knows: it may be a host.
            ("db1://localhost/x", None, None, false),
            ("db1:80://localhost/x", None, None, false),
            // Where one program sees the name of a user another one sees the host.
            ("http://example.com\\@localhost/", None, None, false),
            ("http://example.com;@localhost/", None, None, false),
            ("http://example.com@x@localhost/", None, None, false),
            ("http://example.com\t@localhost/", None, None, false),
            ("http://example.com\\.localhost/", None, None, false),
            ("http://[::1].example.com/", None, None, false),
            ("http://[::1", None, None, false),
        ];
        for (text, host, port, loopback) in table {
            let got = of(&Value::text(text.as_bytes(), Origins::LITERAL));
            let got_host = got.host.map(|host| std::str::from_utf8(host).unwrap());
            assert_eq!((got_host, got.port, got.loopback), (*host, *port, *loopback), "{text}");
        }
    }
}
