//! What the threads of a proxy share: the gate, the bounds, and the connections that are open.

use crate::Gate;
use crate::log::Log;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bounds of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Connections at once; more wait.
    pub connections: usize,
    /// How long a request may take to arrive.
    pub request: Duration,
    /// How long connecting to one address may take.
    pub connect: Duration,
    /// How long a connection may be without any byte in either direction.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 128,
            request: Duration::from_secs(10),
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(300),
        }
    }
}

/// What all threads of a proxy share.
pub(crate) struct Shared {
    pub(crate) gate: Arc<dyn Gate>,
    pub(crate) limits: Limits,
    pub(crate) log: Log,
    stopping: AtomicBool,
    next: AtomicU64,
    open: Mutex<Vec<(u64, TcpStream)>>,
    /// How many connections are served.
    served: Mutex<usize>,
    changed: Condvar,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("limits", &self.limits).field("log", &self.log).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(crate) fn new(gate: Arc<dyn Gate>, limits: Limits) -> Self {
        Self {
            gate,
            limits,
            log: Log::default(),
            stopping: AtomicBool::new(false),
            next: AtomicU64::new(0),
            open: Mutex::default(),
            served: Mutex::new(0),
            changed: Condvar::new(),
        }
    }

    /// Nothing new is begun from here on.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.changed.notify_all();
    }

    /// Shuts every connection, and waits until they have ended, but no longer than that.
    pub(crate) fn shut(&self, patience: Duration) {
        for (_, stream) in lock(&self.open).iter() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        let deadline = Instant::now() + patience;
        let mut served = lock(&self.served);
        while *served > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            served = self.changed.wait_timeout(served, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    pub(crate) fn wait_for_room(&self) {
        let mut served = lock(&self.served);
        while *served >= self.limits.connections && !self.is_stopping() {
            served = self.changed.wait(served).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Keeps a handle of a socket so that [`Shared::shut`] can shut it, for as long as the value lives.
    pub(crate) fn watch(&self, stream: &TcpStream) -> io::Result<Watched<'_>> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.open).push((id, stream.try_clone()?));
        // Stopping may have gone through the list before this one was on it.
        if self.is_stopping() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        Ok(Watched { shared: self, id })
    }
}

/// A socket on the list.
pub(crate) struct Watched<'s> {
    shared: &'s Shared,
    id: u64,
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        lock(&self.shared.open).retain(|(id, _)| *id != self.id);
    }
}

/// Counts a connection as served while it lives.
pub(crate) struct Ticket(Arc<Shared>);

impl Ticket {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        *lock(&shared.served) += 1;
        Self(shared)
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        *lock(&self.0.served) -= 1;
        self.0.changed.notify_all();
    }
}
