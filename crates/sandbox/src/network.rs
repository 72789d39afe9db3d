//! Which network a command sees.

use std::fmt;

/// The port of 127.0.0.1 on which the proxy of [`Network::Proxied`] listens inside.
pub const PROXY_PORT: u16 = 3128;

/// Which network the command sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Network {
    /// None: an empty network namespace, and no sockets but local ones.
    #[default]
    None,
    /// A loopback interface of its own, where its test servers and clients find each other and nobody else.
    Loopback,
    /// A loopback interface of its own with a listening socket on [`PROXY_PORT`], which is served outside: whoever is given to
    /// [`Options::on_listener`](crate::Options::on_listener) decides what can be reached through it.
    Proxied,
    /// The host's network: TCP and UDP anywhere, the host's loopback included. Choose it explicitly and record it.
    Host,
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Loopback => "loopback",
            Self::Proxied => "loopback, with a proxy",
            Self::Host => "host",
        })
    }
}
