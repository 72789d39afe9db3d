//! Accepts connections, a thread for each, and ends them all.

use crate::Gate;
use crate::connection;
use crate::log::{Log, Seen};
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
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

/// How long [`Proxy::stop`] waits for connections that end by themselves once their sockets are shut. One that is looking up a
/// name cannot be ended; it finds its sockets shut when the answer comes.
const PATIENCE: Duration = Duration::from_millis(200);

/// A proxy that is running. Dropping it ends it.
#[derive(Debug)]
pub struct Proxy {
    shared: Arc<Shared>,
    /// The listening socket, to end the wait for connections: shutdown(2) wakes accept(2) on Linux.
    wake: TcpStream,
    acceptor: Option<JoinHandle<()>>,
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

impl Proxy {
    /// Serves a listening socket on threads of its own.
    ///
    /// # Errors
    /// There is no thread or no descriptor left.
    pub fn start(listener: TcpListener, gate: Arc<dyn Gate>, limits: Limits) -> io::Result<Self> {
        let wake = TcpStream::from(OwnedFd::from(listener.try_clone()?));
        let shared = Arc::new(Shared {
            gate,
            limits,
            log: Log::default(),
            stopping: AtomicBool::new(false),
            next: AtomicU64::new(0),
            open: Mutex::default(),
            served: Mutex::new(0),
            changed: Condvar::new(),
        });
        let theirs = shared.clone();
        let acceptor =
            std::thread::Builder::new().name("proxy".to_owned()).spawn(move || accept(&listener, &theirs))?;
        Ok(Self { shared, wake, acceptor: Some(acceptor) })
    }

    /// What has been asked for so far.
    #[must_use]
    pub fn seen(&self) -> Seen {
        self.shared.log.seen()
    }

    /// Ends every connection and tells what was asked for.
    #[must_use]
    pub fn stop(mut self) -> Seen {
        self.end();
        self.seen()
    }

    fn end(&mut self) {
        let Some(acceptor) = self.acceptor.take() else { return };
        self.shared.stopping.store(true, Ordering::SeqCst);
        self.shared.changed.notify_all();
        let _ = self.wake.shutdown(Shutdown::Both);
        let _ = acceptor.join();
        for (_, stream) in lock(&self.shared.open).iter() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        let deadline = Instant::now() + PATIENCE;
        let mut served = lock(&self.shared.served);
        while *served > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            served = self.shared.changed.wait_timeout(served, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.end();
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    loop {
        shared.wait_for_room();
        let accepted = listener.accept();
        if shared.is_stopping() {
            return;
        }
        let stream = match accepted {
            Ok((stream, _)) => stream,
            // Out of descriptors, or the client has gone already. Not to spin on the former.
            Err(_) => {
                std::thread::sleep(Duration::from_millis(10));
                continue;
            }
        };
        let ticket = Ticket::new(shared.clone());
        let serve = move || {
            let _ = connection::serve(stream, &ticket.0);
        };
        // Without a thread the closure is dropped, and with it the connection and its ticket.
        let _ = std::thread::Builder::new().name("proxy connection".to_owned()).spawn(serve);
    }
}

/// Counts a connection as served while it lives.
struct Ticket(Arc<Shared>);

impl Ticket {
    fn new(shared: Arc<Shared>) -> Self {
        *lock(&shared.served) += 1;
        Self(shared)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        *lock(&self.0.served) -= 1;
        self.0.changed.notify_all();
    }
}

impl Shared {
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    fn wait_for_room(&self) {
        let mut served = lock(&self.served);
        while *served >= self.limits.connections && !self.is_stopping() {
            served = self.changed.wait(served).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Keeps a handle of a socket so that [`Proxy::stop`] can shut it, for as long as the value lives.
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
