//! A proxy for one sandbox: it connects to the hosts that a [`Gate`] permits, and to nothing else.
//!
//! The sandbox has no network but a loopback interface of its own, on which this proxy listens (the socket is made inside and
//! served outside). One port speaks HTTP `CONNECT`, plain HTTP with absolute addresses (RFC 9112) and SOCKS 5 with names (RFC
//! 1928). Names are resolved here, outside; the address that was judged is the one that is connected to, so a name cannot lead
//! elsewhere the second time.
//!
//! Everything is bounded: connections, the length and duration of a request, idle time, what is remembered.
//!
//! ```
//! use shward_proxy::{Gate, Limits, Proxy};
//! use std::net::{IpAddr, TcpListener};
//! use std::sync::Arc;
//!
//! struct Nothing;
//! impl Gate for Nothing {
//!     fn name(&self, host: &str, _: u16) -> Result<(), String> {
//!         Err(format!("{host} is not permitted"))
//!     }
//!     fn address(&self, _: &str, _: IpAddr, _: u16) -> Result<(), String> {
//!         Ok(())
//!     }
//! }
//!
//! let proxy = Proxy::start(TcpListener::bind("127.0.0.1:0")?, Arc::new(Nothing), Limits::default())?;
//! let seen = proxy.stop();
//! assert!(seen.connections.is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```

mod body;
mod connection;
mod http;
mod log;
mod relay;
mod server;
mod shared;
mod socks;

pub use log::{Connection, Protocol, Seen, Verdict};
pub use server::Proxy;
pub use shared::Limits;

use std::net::IpAddr;

/// Says what may be reached. Asked once by the name, and again by each address that the name has.
pub trait Gate: Send + Sync {
    /// Whether a host may be asked for by this name or address.
    ///
    /// # Errors
    /// Why not: one sentence for the one who asked.
    fn name(&self, host: &str, port: u16) -> Result<(), String>;

    /// Whether the address that a permitted name turned out to have may be connected to.
    ///
    /// # Errors
    /// Why not: one sentence for the one who asked.
    fn address(&self, host: &str, address: IpAddr, port: u16) -> Result<(), String>;
}
