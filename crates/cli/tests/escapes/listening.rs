//! Everything by which a message of an attack could come.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// A word that is nowhere else.
pub(crate) const MARK: &str = "mark-of-this-room";

/// What is sent.
const MESSAGE: &[u8] = b"hello";

/// Tries to connect until the attack has ended.
pub(crate) fn connects(port: u16, ended: &AtomicBool) -> bool {
    while !ended.load(Ordering::Relaxed) {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return true;
        }
        thread::sleep(Duration::from_millis(20));
    }
    false
}

/// Everything by which a message could come.
pub(crate) struct Listening {
    pub(crate) tcp: TcpListener,
    pub(crate) udp: UdpSocket,
    streams: [(UnixListener, &'static str); 2],
    messages: [(UnixDatagram, &'static str); 2],
    pipe: File,
}

impl Listening {
    pub(crate) fn new(place: &Path) -> Self {
        let nameless = |name: String| SocketAddr::from_abstract_name(name).unwrap();
        let listening = Self {
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            udp: UdpSocket::bind("127.0.0.1:0").unwrap(),
            streams: [
                (UnixListener::bind(place.join("server")).unwrap(), "a local socket"),
                (UnixListener::bind_addr(&nameless(MARK.to_owned())).unwrap(), "a nameless socket"),
            ],
            messages: [
                (UnixDatagram::bind(place.join("messages")).unwrap(), "a local message"),
                (
                    UnixDatagram::bind_addr(&nameless(format!("{}-messages", MARK))).unwrap(),
                    "a nameless message",
                ),
            ],
            // Open on both sides, so that whoever writes need not wait.
            pipe: OpenOptions::new().read(true).write(true).open(place.join("command-pipe")).unwrap(),
        };
        listening.tcp.set_nonblocking(true).unwrap();
        listening.udp.set_nonblocking(true).unwrap();
        listening.streams.iter().for_each(|(listener, _)| listener.set_nonblocking(true).unwrap());
        listening.messages.iter().for_each(|(socket, _)| socket.set_nonblocking(true).unwrap());
        listening
    }

    /// What has come, when nobody is there any more who could send.
    pub(crate) fn arrived(&self) -> Vec<&'static str> {
        let _ = &self.pipe;
        let mut arrived = Vec::new();
        let mut buffer = [0; 64];
        let wait = Some(Duration::from_millis(200));
        while let Ok((mut stream, _)) = self.tcp.accept() {
            stream.set_nonblocking(false).unwrap();
            stream.set_read_timeout(wait).unwrap();
            let count = stream.read(&mut buffer).unwrap_or(0);
            arrived.extend(buffer[..count].starts_with(MESSAGE).then_some("TCP"));
        }
        if self.udp.recv(&mut buffer).is_ok() {
            arrived.push("UDP");
        }
        for (listener, name) in &self.streams {
            while listener.accept().is_ok() {
                arrived.push(name);
            }
        }
        for (socket, name) in &self.messages {
            if socket.recv(&mut buffer).is_ok() {
                arrived.push(name);
            }
        }
        arrived
    }
}
