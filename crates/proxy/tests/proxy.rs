//! Real clients and servers on this machine's loopback.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

use shward_proxy::{Gate, Limits, Protocol, Proxy, Seen, Verdict};
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Permits names, and addresses unless they are said to be private.
struct Names(&'static [&'static str], bool);

impl Gate for Names {
    fn name(&self, host: &str, port: u16) -> Result<(), String> {
        if self.0.contains(&host) { Ok(()) } else { Err(format!("{host}:{port} is not among the hosts")) }
    }

    fn address(&self, host: &str, address: IpAddr, _: u16) -> Result<(), String> {
        if self.1 { Ok(()) } else { Err(format!("{host} is {address}, which is private")) }
    }
}

struct Served {
    proxy: Proxy,
    address: SocketAddr,
}

fn serve_with(names: &'static [&'static str], addresses: bool, limits: Limits) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let proxy = Proxy::start(listener, Arc::new(Names(names, addresses)), limits).unwrap();
    Served { proxy, address }
}

fn serve(names: &'static [&'static str]) -> Served {
    serve_with(names, true, Limits::default())
}

impl Served {
    fn client(&self) -> TcpStream {
        let client = TcpStream::connect(self.address).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        client
    }

    /// Sends this, and returns everything that comes until the end.
    fn ask(&self, request: impl AsRef<[u8]>) -> String {
        let mut client = self.client();
        client.write_all(request.as_ref()).unwrap();
        let mut answer = Vec::new();
        let _ = client.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }
}

/// A server that answers each connection with what it got until `until`, in square brackets, and ends it.
fn echo(until: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut client = client;
                let (mut got, mut byte) = (Vec::new(), [0]);
                while !got.ends_with(until) && client.read(&mut byte).unwrap_or(0) == 1 {
                    got.push(byte[0]);
                }
                let _ = client.write_all(&[b"[", got.as_slice(), b"]"].concat());
            });
        }
    });
    port
}

fn only(seen: &Seen) -> &shward_proxy::Connection {
    assert_eq!((seen.connections.len(), seen.more), (1, 0), "{seen:?}");
    seen.connections.first().unwrap()
}

#[test]
fn connect_reaches_a_permitted_host() {
    let served = serve(&["localhost"]);
    let port = echo(b".");
    let answer = served.ask(format!("CONNECT localhost:{port} HTTP/1.1\r\nA: b\r\n\r\nhello."));
    assert_eq!(answer, "HTTP/1.1 200 Connection established\r\n\r\n[hello.]");
    let seen = served.proxy.stop();
    let one = only(&seen);
    assert_eq!((one.host.as_str(), one.port, one.protocol), ("localhost", port, Protocol::Connect));
    assert_eq!((one.sent, one.received, &one.verdict), (6, 8, &Verdict::Permitted));
    assert!(one.address.unwrap().is_loopback());
}

#[test]
fn what_is_not_permitted_is_told_so_that_a_model_understands() {
    let served = serve(&["localhost"]);
    let port = echo(b".");
    for request in [
        format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n"),
        format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n"),
    ] {
        let answer = served.ask(request);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 403 shward does not permit 127.0.0.1:{port}\r\n")),
            "{answer}"
        );
        assert!(answer.contains("Do not try again") && answer.contains("[network] allow"), "{answer}");
    }
    let seen = served.proxy.stop();
    assert!(seen.connections.iter().all(|c| matches!(c.verdict, Verdict::Refused(_)) && c.address.is_none()));
}

#[test]
fn a_permitted_name_with_a_forbidden_address_is_refused() {
    let served = serve_with(&["localhost"], false, Limits::default());
    let port = echo(b".");
    let answer = served.ask(format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\n"));
    assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains("which is private"), "{answer}");
}

/// What a person is told to permit is what would permit it.
#[test]
fn a_refusal_names_what_would_have_to_be_permitted() {
    let told = |served: &Served, request: &str| served.ask(format!("{request} HTTP/1.1\r\n\r\n"));
    let served = serve(&[]);
    let answer = told(&served, "CONNECT [::1]:5");
    assert!(answer.starts_with("HTTP/1.1 403 shward does not permit [::1]:5\r\n"), "{answer}");
    assert!(answer.contains("allow = [\"[::1]:5\"]"), "{answer}");
    let destinations: Vec<String> = served.proxy.stop().connections.iter().map(|c| c.destination()).collect();
    assert_eq!(destinations, ["[::1]:5"]);
    let served = serve_with(&["127.1"], false, Limits::default());
    let answer = told(&served, "GET http://127.1/");
    assert!(answer.contains("allow = [\"127.0.0.1:80\"]"), "{answer}");
}

#[test]
fn all_that_leaves_is_counted_and_nothing_else() {
    let served = serve(&["localhost"]);
    let port = echo(b"END");
    let head = format!(
        "POST /x HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: 3\r\nConnection: close\r\n\r\n"
    );
    let request = format!(
        "POST http://localhost:{port}/x HTTP/1.1\r\nContent-Length: 3\r\n\r\nENDGET / HTTP/1.1\r\n\r\n"
    );
    assert_eq!(served.ask(request), format!("[{head}END]"));
    let seen = served.proxy.stop();
    assert_eq!(only(&seen).sent, head.len() as u64 + 3);
}

/// After a body in pieces, too, nothing is passed on that would be another request.
#[test]
fn a_body_in_pieces_ends_where_its_last_piece_does() {
    let head = |port: u16| {
        format!(
            "POST / HTTP/1.1\r\nHost: localhost:{port}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        )
    };
    let body = "3\r\nabc\r\n0\r\nA: b\r\n\r\n";
    let other = "GET /2 HTTP/1.1\r\nHost: evil\r\n\r\n";
    for pause in [false, true] {
        let served = serve(&["localhost"]);
        let port = echo(b"A: b\r\n\r\n");
        let mut client = served.client();
        let request = format!(
            "POST http://localhost:{port}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{body}{other}"
        );
        for piece in request.as_bytes().chunks(if pause { 7 } else { request.len() }) {
            if client.write_all(piece).is_err() {
                break;
            }
        }
        let mut answer = String::new();
        let _ = client.read_to_string(&mut answer);
        assert_eq!(answer, format!("[{}{body}]", head(port)));
        assert_eq!(only(&served.proxy.stop()).sent, (head(port).len() + body.len()) as u64);
    }
}

#[test]
fn what_is_about_the_connection_to_the_proxy_stays_here() {
    let served = serve(&["localhost"]);
    let port = echo(b"END");
    let answer = served.ask(format!(
        "POST http://localhost:{port}/ HTTP/1.1\r\nConnection: x-own, Content-Length\r\nX-Own: 1\r\nX-Other: 2\r\nContent-Length: 3\r\n\r\nEND"
    ));
    let expected = format!(
        "[POST / HTTP/1.1\r\nHost: localhost:{port}\r\nX-Other: 2\r\nContent-Length: 3\r\nConnection: close\r\n\r\nEND]"
    );
    assert_eq!(answer, expected);
}

#[test]
fn another_protocol_is_answered_at_once() {
    let served = serve(&["localhost"]);
    for hello in [&b"\x04\x01\x1f\x91\x7f\0\0\x01\0"[..], b"\x16\x03\x01", b"\0"] {
        let start = Instant::now();
        assert!(served.ask(hello).starts_with("HTTP/1.1 400 "), "{hello:?}");
        assert!(start.elapsed() < Duration::from_secs(5), "{hello:?}");
    }
}

#[test]
fn plain_http_is_forwarded_for_one_request() {
    let served = serve(&["localhost"]);
    let port = echo(b"END");
    let request = format!(
        "POST http://localhost:{port}/x HTTP/1.1\r\nHost: evil\r\nContent-Length: 6\r\nProxy-Authorization: secret\r\n\r\nabcENDGET http://localhost:1/ HTTP/1.1\r\n\r\n"
    );
    let answer = served.ask(request);
    let expected = format!(
        "[POST /x HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: 6\r\nConnection: close\r\n\r\nabcEND]"
    );
    assert_eq!(answer, expected);
}

#[test]
fn socks_reaches_names_and_addresses() {
    let served = serve(&["localhost", "127.0.0.1"]);
    let port = echo(b".");
    let name = [&[5, 1, 0, 5, 1, 0, 3, 9][..], b"localhost", &port.to_be_bytes(), b"hi."].concat();
    let address = [&[5, 2, 2, 0, 5, 1, 0, 1, 127, 0, 0, 1][..], &port.to_be_bytes(), b"hi."].concat();
    for request in [name, address] {
        let mut client = served.client();
        client.write_all(&request).unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).unwrap();
        assert_eq!(answer, [&[5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], b"[hi.]"].concat());
    }
    assert_eq!(served.proxy.stop().connections.len(), 2);
}

#[test]
fn socks_refuses() {
    let served = serve(&["localhost"]);
    // request, answer
    let table: &[(&[u8], &[u8])] = &[
        (&[5, 1, 2], &[5, 255]),                                      // only with a password
        (&[5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, 0, 80], &[5, 0, 5, 2]), // not permitted
        (&[5, 1, 0, 5, 1, 0, 3, 3, b'a', b'.', b'b', 0, 80], &[5, 0, 5, 2]), // not permitted
        (&[5, 1, 0, 5, 2, 0, 1, 127, 0, 0, 1, 0, 80], &[5, 0, 5, 7]), // BIND
        (&[5, 1, 0, 5, 3, 0, 1, 127, 0, 0, 1, 0, 80], &[5, 0, 5, 7]), // UDP
        (&[5, 1, 0, 5, 1, 0, 9], &[5, 0, 5, 8]),                      // no such kind of address
        (&[5, 1, 0, 5, 1, 0, 3, 0, 0, 80], &[5, 0, 5, 8]),            // no name
        (b"\x05\x01\0\x05\x01\0\x03\x131.2.3.4 .localhost\0\0\x50", &[5, 0, 5, 8]), // an address to some resolvers
        (b"\x05\x01\0\x05\x01\0\x03\x0clocalhost\0.x\0\x50", &[5, 0, 5, 8]),        // ends elsewhere to some
    ];
    for (request, expected) in table {
        let mut client = served.client();
        client.write_all(request).unwrap();
        let mut answer = Vec::new();
        let _ = client.read_to_end(&mut answer);
        assert!(answer.starts_with(expected), "{request:?}: {answer:?}");
    }
}

#[test]
fn faults_are_answered() {
    let served = serve(&["localhost", "no-such-name.invalid"]);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (request, expected) in [
        (format!("CONNECT localhost:{closed} HTTP/1.1\r\n\r\n"), "HTTP/1.1 502 "),
        ("CONNECT no-such-name.invalid:1 HTTP/1.1\r\n\r\n".to_owned(), "HTTP/1.1 502 "),
        ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(), "HTTP/1.1 400 "),
        ("\u{16}\u{3}\u{1} a hello of TLS\r\n\r\n".to_owned(), "HTTP/1.1 400 "),
        (format!("GET http://localhost/ HTTP/1.1\r\nA: {}", "x".repeat(20_000)), "HTTP/1.1 431 "),
    ] {
        // Of what was not read, the kernel may say so before the answer is read.
        let started = Instant::now();
        let answer = served.ask(&request);
        assert!(started.elapsed() < Limits::default().request, "{request:.80}");
        assert!(
            answer.starts_with(expected) || answer.is_empty() && expected.contains("431"),
            "{request:.80}: {answer}"
        );
    }
}

#[test]
fn a_slow_request_is_cut_off() {
    let mut limits = Limits::default();
    limits.request = Duration::from_millis(200);
    let served = serve_with(&["localhost"], true, limits);
    let mut client = served.client();
    let started = Instant::now();
    // A byte now and then does not help.
    while client.write_all(b"C").is_ok() && started.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn an_idle_connection_is_cut_off_and_a_busy_one_is_not() {
    let mut limits = Limits::default();
    limits.idle = Duration::from_millis(400);
    let served = serve_with(&["localhost"], true, limits);
    let port = echo(b".");
    let connect = |client: &mut TcpStream| {
        client.write_all(format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
        let mut answer = [0; 39];
        client.read_exact(&mut answer).unwrap();
    };
    let (mut idle, mut busy) = (served.client(), served.client());
    connect(&mut busy);
    for _ in 0..12 {
        busy.write_all(b"x").unwrap();
        std::thread::sleep(Duration::from_millis(100));
    }
    busy.write_all(b".").unwrap();
    let mut answer = String::new();
    busy.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "[xxxxxxxxxxxx.]");
    connect(&mut idle);
    let started = Instant::now();
    // The server learns of the end and says its last word.
    let mut answer = String::new();
    idle.read_to_string(&mut answer).unwrap();
    assert!(started.elapsed() < Duration::from_secs(10) && answer.len() <= 2, "{answer}");
}

#[test]
fn more_connections_than_the_limit_wait() {
    let mut limits = Limits::default();
    limits.connections = 2;
    let served = serve_with(&["localhost"], true, limits);
    let port = echo(b".");
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                let answer = served.ask(format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\nhello."));
                assert!(answer.ends_with("[hello.]"), "{answer}");
            });
        }
    });
    assert_eq!(served.proxy.stop().connections.len(), 20);
}

#[test]
fn who_is_over_the_limit_is_served_when_another_has_gone() {
    let mut limits = Limits::default();
    limits.connections = 1;
    let served = serve_with(&[], true, limits);
    let (mut first, mut second) = (served.client(), served.client());
    first.write_all(b"CONN").unwrap();
    std::thread::sleep(Duration::from_millis(100));
    second.write_all(b"CONNECT a:1 HTTP/1.1\r\n\r\n").unwrap();
    second.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    assert!(second.read(&mut [0]).is_err(), "served beside the first");
    drop(first);
    second.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert_eq!(second.read(&mut [0]).unwrap(), 1);
}

#[test]
fn stopping_ends_everything() {
    let served = serve(&["localhost"]);
    let port = echo(b".");
    let (mut waiting, mut asking) = (served.client(), served.client());
    waiting.write_all(format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
    let mut answer = [0; 39];
    waiting.read_exact(&mut answer).unwrap();
    asking.write_all(b"CONN").unwrap();
    let address = served.address;
    let seen = served.proxy.stop();
    assert_eq!(seen.connections.len(), 1);
    assert_eq!(waiting.read(&mut answer).unwrap_or(0), 0);
    assert_eq!(asking.read(&mut answer).unwrap_or(0), 0);
    assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
    let served = serve(&["localhost"]);
    drop(served.proxy);
    assert!(TcpStream::connect(served.address).is_err(), "dropping it ends it as well");
}

#[test]
fn what_is_remembered_is_bounded() {
    let served = serve(&[]);
    for _ in 0..300 {
        assert!(served.ask("CONNECT a:1 HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 403 "));
    }
    let seen = served.proxy.stop();
    assert_eq!((seen.connections.len(), seen.more), (256, 44));
}

/// 64 MiB down while nothing goes up, and the ends are passed on in both directions.
#[test]
fn large_transfers_and_half_closed_connections() {
    const SIZE: usize = 64 << 20;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut got = Vec::new();
        client.read_to_end(&mut got).unwrap();
        client.write_all(&vec![7; SIZE]).unwrap();
        got
    });
    let served = serve(&["localhost"]);
    let mut client = served.client();
    client.write_all(format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\nquestion").as_bytes()).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).unwrap();
    assert_eq!(answer.len(), 39 + SIZE);
    assert_eq!(server.join().unwrap(), b"question");
    let seen = served.proxy.stop();
    assert_eq!((only(&seen).sent, only(&seen).received), (8, SIZE as u64));
}
