//! HTTP/1.1 as a proxy speaks it (RFC 9112, RFC 9110): `CONNECT`, and requests with absolute addresses.

use crate::body::{Body, Chunks};
use crate::connection::{Head, Refusal, connect, is_name};
use crate::log::{Protocol, bracketed, visible};
use crate::relay::relay;
use crate::shared::Shared;
use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpStream};

/// Longest accepted head of a request, in bytes.
const MAX_HEAD: usize = 16 * 1024;

/// Fields that are about the connection to the proxy, or that are set anew.
const DROPPED: [&str; 6] =
    ["connection", "host", "keep-alive", "proxy-authorization", "proxy-connection", "upgrade"];

/// Fields without which a message would end elsewhere; no other field can have them dropped.
const FRAMING: [&str; 2] = ["content-length", "transfer-encoding"];

pub(crate) fn serve(mut client: TcpStream, first: u8, head: &mut Head, shared: &Shared) -> io::Result<()> {
    let mut bytes = vec![first];
    let mut piece = [0; 2048];
    let mut searched = 0;
    let end = loop {
        // Only what is new is searched, and what an end may have begun with.
        if let Some(end) = bytes.get(searched..).and_then(|new| new.windows(4).position(|w| w == b"\r\n\r\n"))
        {
            break searched + end + 4;
        }
        searched = bytes.len().saturating_sub(3);
        if bytes.len() >= MAX_HEAD {
            return say(
                &mut client,
                "431 Request Header Fields Too Large",
                "The head of the request is too long.",
            );
        }
        let count = head.read(&mut client, &mut piece)?;
        bytes.extend(piece.iter().take(count));
    };
    let (text, rest) = bytes.split_at(end);
    let Some(request) = std::str::from_utf8(text).ok().and_then(Request::parse) else {
        return no_request(&mut client);
    };
    let protocol = if request.path.is_none() { Protocol::Connect } else { Protocol::Http };
    let (host, entry) = match connect(protocol, request.host, request.port, shared) {
        Ok(connected) => connected,
        Err(refusal) => return refused(&mut client, &request, &refusal),
    };
    // What leaves the sandbox in a head counts as what leaves it in a body does.
    let send = |bytes: &[u8]| {
        entry.sent.fetch_add(bytes.len() as u64, std::sync::atomic::Ordering::Relaxed);
        (&host).write_all(bytes)
    };
    let mut body = match (request.path, request.body) {
        (None, _) => {
            client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
            Body::Open
        }
        (Some(path), length) => {
            send(request.forwarded(path).as_bytes())?;
            length.map_or_else(|| Body::Chunked(Chunks::default()), Body::Length)
        }
    };
    send(rest.get(..body.take(rest)).unwrap_or_default())?;
    relay(&client, &host, body, &entry, shared)
}

/// The head of a request.
struct Request<'h> {
    method: &'h str,
    host: &'h str,
    port: u16,
    /// Where the request is for an address; `None` for `CONNECT`.
    path: Option<&'h str>,
    fields: Vec<(&'h str, &'h str)>,
    /// The length of its body; `None` where only the end of the connection or of its pieces tells.
    body: Option<u64>,
}

impl<'h> Request<'h> {
    fn parse(head: &'h str) -> Option<Self> {
        let mut lines = head.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        let token = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic() && b != b':');
        // A line break in the address would begin lines of its own, a field `Host` among them.
        let plain = target.bytes().all(|b| b.is_ascii_graphic());
        if words.next().is_some() || !token(method) || !plain || !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
            return None;
        }
        let mut fields = Vec::new();
        for line in lines.take_while(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':')?;
            // A name with a blank, or a folded line, is how requests are smuggled (RFC 9112 section 5).
            if !token(name) || value.bytes().any(|b| b.is_ascii_control() && b != b'\t') {
                return None;
            }
            fields.push((name, value.trim_matches([' ', '\t'])));
        }
        let (authority, path, default) = if method == "CONNECT" {
            (target, None, None)
        } else {
            let rest = target.strip_prefix("http://")?;
            let at = rest.find(['/', '?']).unwrap_or(rest.len());
            let (authority, path) = rest.split_at_checked(at)?;
            (authority, Some(path), Some(80))
        };
        let (host, port) = split(authority, default)?;
        let body = body(&fields)?;
        Some(Self { method, host, port, path, fields, body })
    }

    /// The request as the host gets it: for one answer, addressed to the host that was judged.
    fn forwarded(&self, path: &str) -> String {
        let slash = if path.starts_with('/') { "" } else { "/" };
        let host = bracketed(self.host);
        let port = if self.port == 80 { String::new() } else { format!(":{}", self.port) };
        let mut out = format!("{} {slash}{path} HTTP/1.1\r\nHost: {host}{port}\r\n", self.method);
        // What `Connection` names is about the connection to the proxy, too (RFC 9110 section 7.6.1).
        let of_connection = self.fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("connection"));
        let named: Vec<&str> = of_connection
            .flat_map(|(_, value)| value.split(','))
            .map(str::trim)
            .filter(|named| !FRAMING.iter().any(|framing| named.eq_ignore_ascii_case(framing)))
            .collect();
        for (name, value) in &self.fields {
            if !DROPPED.iter().chain(&named).any(|dropped| name.eq_ignore_ascii_case(dropped)) {
                out.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        out.push_str("Connection: close\r\n\r\n");
        out
    }
}

/// Host and port of an authority. User names are no part of either.
fn split(authority: &str, default: Option<u16>) -> Option<(&str, u16)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (address, after) = rest.split_once(']')?;
            (address, after.strip_prefix(':').or(if after.is_empty() { Some("") } else { None })?)
        }
        None => authority.rsplit_once(':').unwrap_or((authority, "")),
    };
    if !is_name(host) && host.parse::<std::net::Ipv6Addr>().is_err() {
        return None;
    }
    // Digits and nothing else: `parse` takes a sign, too.
    let port = match port {
        "" => default?,
        port if port.bytes().all(|b| b.is_ascii_digit()) => port.parse().ok()?,
        _ => return None,
    };
    Some((host, port))
}

/// The length of the body: `Some(None)` when it is sent in pieces, `None` when the fields contradict each other.
#[expect(clippy::option_option, reason = "whether it is sound, and whether it is known")]
fn body(fields: &[(&str, &str)]) -> Option<Option<u64>> {
    let of = |wanted: &str| -> Vec<&str> {
        fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| *value).collect()
    };
    match (of("content-length").as_slice(), of("transfer-encoding").as_slice()) {
        ([], []) => Some(Some(0)),
        // Digits and nothing else: another reader takes a sign for something else.
        ([length], []) if length.bytes().all(|b| b.is_ascii_digit()) => length.parse().ok().map(Some),
        // Whoever does not know another coding would look for the end elsewhere.
        ([], [coding]) if coding.eq_ignore_ascii_case("chunked") => Some(None),
        _ => None,
    }
}

fn refused(client: &mut TcpStream, request: &Request<'_>, refusal: &Refusal) -> io::Result<()> {
    let place = visible(&format!("{}:{}", bracketed(request.host), request.port));
    match refusal {
        Refusal::Refused { why, address } => {
            // Where the name is permitted and its address is not, the name would be permitted in vain.
            let permit =
                address.map_or_else(|| place.clone(), |to| SocketAddr::new(to, request.port).to_string());
            let message = format!(
                "shward: {}. Do not try again or another way: work without it, or tell the person what it is needed for. \
                 They can permit it in their policy: [network] allow = [\"{permit}\"]",
                visible_text(why)
            );
            say(client, &format!("403 shward does not permit {place}"), &message)
        }
        Refusal::NoAddress(why) | Refusal::NoAnswer(why) => {
            say(client, "502 Bad Gateway", &format!("shward: {}", visible_text(why)))
        }
    }
}

/// Tells what this is to whoever speaks another protocol.
pub(crate) fn no_request(client: &mut TcpStream) -> io::Result<()> {
    let message = "This is a proxy for HTTP and SOCKS 5: give it CONNECT host:port, or an http:// address.";
    say(client, "400 Bad Request", message)
}

fn visible_text(text: &str) -> String {
    text.split(' ').map(visible).collect::<Vec<_>>().join(" ")
}

fn say(client: &mut TcpStream, status: &str, message: &str) -> io::Result<()> {
    let length = message.len() + 1;
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{message}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_request() {
        // head, host, port, path, body; `None` is refused
        type Row<'a> = (&'a str, Option<(&'a str, u16, Option<&'a str>, Option<u64>)>);
        let table: &[Row<'_>] = &[
            ("CONNECT a.org:443 HTTP/1.1\r\n\r\n", Some(("a.org", 443, None, Some(0)))),
            ("CONNECT [::1]:443 HTTP/1.1\r\n\r\n", Some(("::1", 443, None, Some(0)))),
            ("CONNECT a.org HTTP/1.1\r\n\r\n", None),
            ("CONNECT a.org:+443 HTTP/1.1\r\n\r\n", None),
            ("GET http://a.org:+80/ HTTP/1.1\r\n\r\n", None),
            ("CONNECT user@a.org:443 HTTP/1.1\r\n\r\n", None),
            ("GET http://a.org HTTP/1.1\r\n\r\n", Some(("a.org", 80, Some(""), Some(0)))),
            ("GET http://a.org:81/x?y HTTP/1.0\r\n\r\n", Some(("a.org", 81, Some("/x?y"), Some(0)))),
            ("GET http://a.org?y HTTP/1.1\r\n\r\n", Some(("a.org", 80, Some("?y"), Some(0)))),
            (
                "POST http://a.org/ HTTP/1.1\r\nContent-Length: 5\r\n\r\n",
                Some(("a.org", 80, Some("/"), Some(5))),
            ),
            (
                "POST http://a.org/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
                Some(("a.org", 80, Some("/"), None)),
            ),
            ("POST http://a.org/ HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", None),
            ("POST http://a.org/ HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", None),
            ("GET / HTTP/1.1\r\nHost: a.org\r\n\r\n", None),
            ("GET https://a.org/ HTTP/1.1\r\n\r\n", None),
            ("GET http://u:p@a.org/ HTTP/1.1\r\n\r\n", None),
            ("GET http://a.org/ HTTP/2\r\n\r\n", None),
            ("GET http://a.org/ x HTTP/1.1\r\n\r\n", None),
            ("GET http://a.org/ HTTP/1.1 x\r\n\r\n", None),
            (" http://a.org/ HTTP/1.1\r\n\r\n", None),
            ("G\tT http://a.org/ HTTP/1.1\r\n\r\n", None),
            ("GET http://[::1]/ HTTP/1.1\r\n\r\n", Some(("::1", 80, Some("/"), Some(0)))),
            ("GET http://[::1]a/ HTTP/1.1\r\n\r\n", None),
            ("GET http://a.org/ HTTP/1.1\r\nA : b\r\n\r\n", None),
            ("GET http://a.org/ HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", None),
            ("GET http://a.org/ HTTP/1.1\r\n: b\r\n\r\n", None),
            ("GET http://a.org/ HTTP/1.1\r\nA: b\nHost: evil.org\r\n\r\n", None),
            ("GET http://a.org/ HTTP/1.1\r\nA: b\rHost: evil.org\r\n\r\n", None),
            ("GET http://a.org/ HTTP/1.1\r\nA: b\0\r\n\r\n", None),
            ("GET http://a.org/ HTTP/1.1\r\nA: b\tc\r\n\r\n", Some(("a.org", 80, Some("/"), Some(0)))),
            ("GET http://a\u{e4}.org/ HTTP/1.1\r\n\r\n", None),
            ("GET http://a.org/\nHost:evil.org HTTP/1.1\r\n\r\n", None),
            ("GET http://a.org/\tHTTP/1.1\nHost:evil.org\n\n HTTP/1.1\r\n\r\n", None),
            ("GET http://a.org/\r HTTP/1.1\r\n\r\n", None),
            ("POST http://a.org/ HTTP/1.1\r\nContent-Length: +5\r\n\r\n", None),
            ("POST http://a.org/ HTTP/1.1\r\nContent-Length: \r\n\r\n", None),
            ("POST http://a.org/ HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n", None),
            ("", None),
        ];
        for (head, expected) in table {
            let got = Request::parse(head);
            let got = got.as_ref().map(|r| (r.host, r.port, r.path, r.body));
            assert_eq!(got, *expected, "{head:?}");
        }
    }

    #[test]
    fn what_is_forwarded_is_addressed_to_the_host_that_was_judged() {
        let head = "GET http://a.org:81?y HTTP/1.1\r\nHost: evil.org\r\nProxy-Connection: keep-alive\r\nX: 1\r\n\r\n";
        let request = Request::parse(head).unwrap();
        let expected = "GET /?y HTTP/1.1\r\nHost: a.org:81\r\nX: 1\r\nConnection: close\r\n\r\n";
        assert_eq!(request.forwarded("?y"), expected);
        // What is about the connection to the proxy stays there; what tells where the body ends goes on.
        let head = "POST http://a.org/ HTTP/1.1\r\nUpgrade: h2c\r\nKeep-Alive: x\r\nProxy-Authorization: x\r\n\
                    Connection: a, Transfer-Encoding\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n";
        let expected =
            "POST / HTTP/1.1\r\nHost: a.org\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
        assert_eq!(Request::parse(head).unwrap().forwarded("/"), expected);
    }
}
