//! Accepts connections, a thread for each, and ends them all.

use crate::connection::Head;
use crate::log::Seen;
use crate::shared::{Limits, Shared, Ticket};
use crate::{Gate, http, socks};
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

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

impl Proxy {
    /// Serves a listening socket on threads of its own.
    ///
    /// # Errors
    /// There is no thread or no descriptor left.
    pub fn start(listener: TcpListener, gate: Arc<dyn Gate>, limits: Limits) -> io::Result<Self> {
        let wake = TcpStream::from(OwnedFd::from(listener.try_clone()?));
        let shared = Arc::new(Shared::new(gate, limits));
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
        self.shared.stop();
        let _ = self.wake.shutdown(Shutdown::Both);
        let _ = acceptor.join();
        self.shared.shut(PATIENCE);
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
        let served = move || {
            let _ = serve(stream, ticket.shared());
        };
        // Without a thread the closure is dropped, and with it the connection and its ticket.
        let _ = std::thread::Builder::new().name("proxy connection".to_owned()).spawn(served);
    }
}

/// The first byte of SOCKS 5. No request line begins with it.
const SOCKS: u8 = 5;

/// Serves one client to its end.
fn serve(mut client: TcpStream, shared: &Shared) -> io::Result<()> {
    let _watched = shared.watch(&client)?;
    client.set_nodelay(true)?;
    client.set_write_timeout(Some(shared.limits.idle))?;
    let mut head = Head::before(Instant::now() + shared.limits.request);
    match head.byte(&mut client)? {
        SOCKS => socks::serve(client, &mut head, shared),
        // SOCKS 4, TLS or anything else: nobody has to wait until it does not go on.
        first if first.is_ascii_control() && !matches!(first, b'\r' | b'\n') => http::no_request(&mut client),
        first => http::serve(client, first, &mut head, shared),
    }
}
