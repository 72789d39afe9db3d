//! One connection: what is asked for, whether it may be, and the connection to it.

use crate::log::{Entry, Protocol, Verdict};
use crate::shared::Shared;
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Instant;

/// Reads a request, all of it before one deadline, so that nobody holds a place by sending a byte now and then.
pub(crate) struct Head {
    deadline: Instant,
}

impl Head {
    /// A request that has to be there before the deadline.
    pub(crate) fn before(deadline: Instant) -> Self {
        Self { deadline }
    }

    pub(crate) fn read(&mut self, client: &mut TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        client.set_read_timeout(Some(left))?;
        match client.read(buffer)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }

    pub(crate) fn byte(&mut self, client: &mut TcpStream) -> io::Result<u8> {
        let [byte] = self.bytes(client)?;
        Ok(byte)
    }

    pub(crate) fn bytes<const N: usize>(&mut self, client: &mut TcpStream) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            filled += self.read(client, rest)?;
        }
        Ok(bytes)
    }
}

/// Why there is no connection.
pub(crate) enum Refusal {
    /// It is not permitted; and, where the name is, the address that it has and that is not.
    Refused { why: String, address: Option<IpAddr> },
    /// The name has no address.
    NoAddress(String),
    /// No address answered.
    NoAnswer(String),
}

/// Whether a host is written as names are. Resolvers have taken an address with a blank and anything else after it for that address,
/// whatever name the rest would match.
pub(crate) fn is_name(host: &str) -> bool {
    !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
}

/// Connects to a host if the gate permits it, by name and by address.
pub(crate) fn connect(
    protocol: Protocol,
    host: &str,
    port: u16,
    shared: &Shared,
) -> Result<(TcpStream, Arc<Entry>), Refusal> {
    let entry = shared.log.asked(protocol, host, port);
    let result = attempt(host, port, shared, &entry);
    match &result {
        Ok(_) => {}
        Err(Refusal::Refused { why, .. }) => entry.verdict(Verdict::Refused(why.clone())),
        Err(Refusal::NoAddress(why) | Refusal::NoAnswer(why)) => entry.verdict(Verdict::Failed(why.clone())),
    }
    result.map(|stream| (stream, entry))
}

fn attempt(host: &str, port: u16, shared: &Shared, entry: &Entry) -> Result<TcpStream, Refusal> {
    shared.gate.name(host, port).map_err(|why| Refusal::Refused { why, address: None })?;
    let addresses: Vec<SocketAddr> = (host, port)
        .to_socket_addrs()
        .map_err(|error| Refusal::NoAddress(format!("{host} has no address: {error}")))?
        .collect();
    let mut refusal = Refusal::NoAddress(format!("{host} has no address"));
    for address in addresses {
        if shared.is_stopping() {
            return Err(Refusal::NoAnswer("the run is over".to_owned()));
        }
        // A permitted address among others that are not must not become the way to those.
        if let Err(why) = shared.gate.address(host, address.ip(), port) {
            if !matches!(refusal, Refusal::NoAnswer(_)) {
                refusal = Refusal::Refused { why, address: Some(address.ip()) };
            }
            continue;
        }
        match TcpStream::connect_timeout(&address, shared.limits.connect) {
            Ok(stream) => {
                entry.connected(address.ip());
                return Ok(stream);
            }
            Err(error) => refusal = Refusal::NoAnswer(format!("{host} ({address}) does not answer: {error}")),
        }
    }
    Err(refusal)
}
