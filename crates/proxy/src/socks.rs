//! SOCKS 5 (RFC 1928): `CONNECT`, without authentication, by name or address.

use crate::body::Body;
use crate::connection::{Head, Refusal, connect, is_name};
use crate::log::Protocol;
use crate::relay::relay;
use crate::shared::Shared;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, TcpStream};

/// Replies, RFC 1928 section 6.
mod reply {
    pub(super) const DONE: u8 = 0;
    pub(super) const NOT_PERMITTED: u8 = 2;
    pub(super) const HOST_UNREACHABLE: u8 = 4;
    pub(super) const REFUSED: u8 = 5;
    pub(super) const NO_SUCH_COMMAND: u8 = 7;
    pub(super) const NO_SUCH_ADDRESS_TYPE: u8 = 8;
}

pub(crate) fn serve(mut client: TcpStream, head: &mut Head, shared: &Shared) -> io::Result<()> {
    const VERSION: u8 = 5;
    const NO_AUTHENTICATION: u8 = 0;
    const NONE_OF_THESE: u8 = 0xff;
    let methods = head.byte(&mut client)?;
    let mut offered = false;
    for _ in 0..methods {
        offered |= head.byte(&mut client)? == NO_AUTHENTICATION;
    }
    if !offered {
        return client.write_all(&[VERSION, NONE_OF_THESE]);
    }
    client.write_all(&[VERSION, NO_AUTHENTICATION])?;
    let [_, command, _, kind] = head.bytes(&mut client)?;
    let host = match kind {
        1 => Ipv4Addr::from(head.bytes::<4>(&mut client)?).to_string(),
        4 => Ipv6Addr::from(head.bytes::<16>(&mut client)?).to_string(),
        3 => {
            let length = head.byte(&mut client)?;
            let mut name = Vec::with_capacity(length.into());
            for _ in 0..length {
                name.push(head.byte(&mut client)?);
            }
            match String::from_utf8(name).ok().filter(|name| is_name(name)) {
                Some(name) => name,
                None => return answer(&mut client, reply::NO_SUCH_ADDRESS_TYPE),
            }
        }
        _ => return answer(&mut client, reply::NO_SUCH_ADDRESS_TYPE),
    };
    let port = u16::from_be_bytes(head.bytes(&mut client)?);
    if command != 1 {
        return answer(&mut client, reply::NO_SUCH_COMMAND);
    }
    match connect(Protocol::Socks, &host, port, shared) {
        Ok((stream, entry)) => {
            answer(&mut client, reply::DONE)?;
            relay(&client, &stream, Body::Open, &entry, shared)
        }
        Err(Refusal::Refused { .. }) => answer(&mut client, reply::NOT_PERMITTED),
        Err(Refusal::NoAddress(_)) => answer(&mut client, reply::HOST_UNREACHABLE),
        Err(Refusal::NoAnswer(_)) => answer(&mut client, reply::REFUSED),
    }
}

/// A reply with an address that says nothing.
fn answer(client: &mut TcpStream, code: u8) -> io::Result<()> {
    client.write_all(&[5, code, 0, 1, 0, 0, 0, 0, 0, 0])
}
