//! What is remembered of the connections.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Connections that are remembered one by one; of those beyond, the number.
const MAX_REMEMBERED: usize = 256;

/// The protocol that a connection was asked for with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protocol {
    /// HTTP `CONNECT`.
    Connect,
    /// A plain HTTP request.
    Http,
    /// SOCKS 5.
    Socks,
}

impl Protocol {
    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Http => "http",
            Self::Socks => "socks5",
        }
    }
}

/// What became of a request for a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It is permitted and being made.
    Permitted,
    /// It was refused, and why.
    Refused(String),
    /// It was permitted and could not be made, and why.
    Failed(String),
}

/// A connection that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Connection {
    /// The protocol.
    pub protocol: Protocol,
    /// The host, as it was asked for, with what is no visible ASCII replaced.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The address that was connected to.
    pub address: Option<IpAddr>,
    /// What became of it.
    pub verdict: Verdict,
    /// Bytes from the sandbox to the host.
    pub sent: u64,
    /// Bytes from the host to the sandbox.
    pub received: u64,
}

impl Connection {
    /// Host and port as one text, an IPv6 address in brackets.
    #[must_use]
    pub fn destination(&self) -> String {
        format!("{}:{}", bracketed(&self.host), self.port)
    }
}

/// Everything that was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Seen {
    /// The first 256 connections.
    pub connections: Vec<Connection>,
    /// How many there were beyond.
    pub more: u64,
}

/// Shared by all connections of a proxy.
#[derive(Debug, Default)]
pub(crate) struct Log {
    entries: Mutex<Vec<Arc<Entry>>>,
    more: AtomicU64,
}

/// A connection that may still be going on.
#[derive(Debug)]
pub(crate) struct Entry {
    connection: Mutex<Connection>,
    pub(crate) sent: AtomicU64,
    pub(crate) received: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change is one assignment, so a thread that panicked left it whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Log {
    pub(crate) fn asked(&self, protocol: Protocol, host: &str, port: u16) -> Arc<Entry> {
        let entry = Arc::new(Entry {
            connection: Mutex::new(Connection {
                protocol,
                host: visible(host),
                port,
                address: None,
                verdict: Verdict::Permitted,
                sent: 0,
                received: 0,
            }),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
        });
        let mut entries = lock(&self.entries);
        if entries.len() < MAX_REMEMBERED {
            entries.push(entry.clone());
        } else {
            self.more.fetch_add(1, Ordering::Relaxed);
        }
        entry
    }

    pub(crate) fn seen(&self) -> Seen {
        let told = |entry: &Arc<Entry>| Connection {
            sent: entry.sent.load(Ordering::Relaxed),
            received: entry.received.load(Ordering::Relaxed),
            ..lock(&entry.connection).clone()
        };
        Seen {
            connections: lock(&self.entries).iter().map(told).collect(),
            more: self.more.load(Ordering::Relaxed),
        }
    }
}

impl Entry {
    pub(crate) fn verdict(&self, verdict: Verdict) {
        lock(&self.connection).verdict = verdict;
    }

    pub(crate) fn connected(&self, address: IpAddr) {
        lock(&self.connection).address = Some(address);
    }
}

/// A host as it stands before a port: an IPv6 address in brackets, since `::1:80` is another address.
pub(crate) fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

/// Text of the sandbox as it may stand in a message or a log.
pub(crate) fn visible(text: &str) -> String {
    text.chars().take(255).map(|c| if c.is_ascii_graphic() { c } else { '?' }).collect()
}
