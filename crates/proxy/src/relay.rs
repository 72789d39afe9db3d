//! Passes bytes both ways until both sides have ended.

use crate::body::Body;
use crate::log::Entry;
use crate::shared::Shared;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const PIECE: usize = 32 * 1024;

/// Relays until both directions have ended, or nothing has moved for as long as the limits say. From the client, only the body is
/// passed on.
pub(crate) fn relay(
    client: &TcpStream,
    host: &TcpStream,
    body: Body,
    entry: &Entry,
    shared: &Shared,
) -> io::Result<()> {
    let _watched = shared.watch(host)?;
    host.set_nodelay(true)?;
    let idle = shared.limits.idle;
    // Woken more often than that, to see whether the other direction moves.
    let nap = (idle / 4).max(Duration::from_millis(1));
    for stream in [client, host] {
        stream.set_read_timeout(Some(nap))?;
        stream.set_write_timeout(Some(idle))?;
    }
    let clock = Clock { start: Instant::now(), last: AtomicU64::new(0), idle };
    std::thread::scope(|scope| {
        let up = || pass(client, host, body, &entry.sent, &clock);
        match std::thread::Builder::new().name("proxy up".to_owned()).spawn_scoped(scope, up) {
            Ok(_) => pass(host, client, Body::Open, &entry.received, &clock),
            Err(_) => [client, host].iter().for_each(|stream| drop(stream.shutdown(Shutdown::Both))),
        }
        // Once the host has said everything there is nothing more to tell it.
        let _ = client.shutdown(Shutdown::Both);
        let _ = host.shutdown(Shutdown::Both);
    });
    Ok(())
}

/// When something moved last, in either direction.
struct Clock {
    start: Instant,
    last: AtomicU64,
    idle: Duration,
}

impl Clock {
    fn tick(&self) {
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(now, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        let last = Duration::from_millis(self.last.load(Ordering::Relaxed));
        self.start.elapsed().saturating_sub(last) >= self.idle
    }
}

/// Copies one direction to its end, and tells the other side that it has ended.
fn pass(mut from: &TcpStream, mut to: &TcpStream, mut body: Body, count: &AtomicU64, clock: &Clock) {
    let mut buffer = vec![0; PIECE];
    while !body.is_over() {
        let read = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => continue,
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut if !clock.is_over() => continue,
                _ => break,
            },
        };
        clock.tick();
        let read = buffer.get(..read).unwrap_or_default();
        let read = read.get(..body.take(read)).unwrap_or_default();
        if to.write_all(read).is_err() {
            break;
        }
        count.fetch_add(read.len() as u64, Ordering::Relaxed);
    }
    // Of a request whose body has been passed on whole, the host learns the end by its length.
    if !body.is_whole() {
        let _ = to.shutdown(Shutdown::Write);
    }
}
