//! Passes bytes both ways until both sides have ended.

use crate::log::Entry;
use crate::server::Shared;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const PIECE: usize = 32 * 1024;

/// Relays until both directions have ended, or nothing has moved for as long as the limits say. From the client, at most
/// `from_client` bytes are passed on.
pub(crate) fn relay(
    client: &TcpStream,
    host: &TcpStream,
    from_client: u64,
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
        let up = || pass(client, host, from_client, &entry.sent, &clock);
        match std::thread::Builder::new().name("proxy up".to_owned()).spawn_scoped(scope, up) {
            Ok(_) => pass(host, client, u64::MAX, &entry.received, &clock),
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
fn pass(mut from: &TcpStream, mut to: &TcpStream, most: u64, count: &AtomicU64, clock: &Clock) {
    let mut buffer = vec![0; PIECE];
    let mut left = most;
    while left > 0 {
        let room = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
        let read = match from.read(buffer.get_mut(..room).unwrap_or_default()) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => continue,
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut if !clock.is_over() => continue,
                _ => break,
            },
        };
        clock.tick();
        if to.write_all(buffer.get(..read).unwrap_or_default()).is_err() {
            break;
        }
        count.fetch_add(read as u64, Ordering::Relaxed);
        left -= read as u64;
    }
    // Of a request whose body has been passed on whole, the host learns the end by its length.
    if left > 0 {
        let _ = to.shutdown(Shutdown::Write);
    }
}
