//! What a run asked for over the network.

use serde::Serialize;
use shward_proxy::{Seen, Verdict};
use std::net::IpAddr;

/// A connection that a run asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ConnectionReport {
    /// Host and port, as the run asked for them.
    pub destination: String,
    /// `connect`, `http` or `socks5`.
    pub protocol: &'static str,
    /// `permitted`, `refused` or `failed`.
    pub result: &'static str,
    /// The address that was connected to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// Why it was refused, or how it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Bytes from the run to the host.
    pub sent: u64,
    /// Bytes from the host to the run.
    pub received: u64,
}

impl ConnectionReport {
    /// What a proxy has seen; of connections beyond those it remembers, their number.
    pub(crate) fn of(seen: Seen) -> (Vec<Self>, u64) {
        let reports = seen.connections.into_iter().map(|connection| {
            let destination = connection.destination();
            let (result, why) = match connection.verdict {
                Verdict::Refused(why) => ("refused", Some(why)),
                Verdict::Failed(why) => ("failed", Some(why)),
                _ => ("permitted", None),
            };
            Self {
                destination,
                protocol: connection.protocol.name(),
                result,
                address: connection.address,
                why,
                sent: connection.sent,
                received: connection.received,
            }
        });
        (reports.collect(), seen.more)
    }
}
