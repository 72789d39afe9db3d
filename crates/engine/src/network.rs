//! The hosts that a run may reach, and the proxy through which it reaches them.

use crate::options::{Containment, RunOptions};
use crate::{Error, Firewall};
use shward_analysis::{Certainty, EffectKind, Plan};
use shward_policy::{Destination, Grant, Reach};
use shward_proxy::{Gate, Limits, Proxy};
use shward_sandbox::PROXY_PORT;
use std::io;
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;

/// How many hosts are named.
const MAX_NAMED: usize = 20;

/// The hosts that a plan connects to, where no host is reached. What it possibly does counts only if the run was no success, and so
/// does what is not known by name: that may be this machine, or a directory (`git fetch "$DIR"`).
pub(crate) fn unreached(plan: &Plan<'_>, success: bool) -> Vec<String> {
    let mut hosts: Vec<String> = Vec::new();
    for effect in plan.effects {
        let host = match effect.kind {
            EffectKind::Connect { endpoint, .. } if endpoint.loopback => continue,
            EffectKind::Connect { endpoint, .. } => endpoint.host,
            // A service that the program knows.
            EffectKind::Remote { .. } => None,
            _ => continue,
        };
        if success && (host.is_none() || effect.certainty != Certainty::Certain) {
            continue;
        }
        // No host's name begins with a dot, but a path does.
        if host.is_some_and(|host| host.starts_with(b".")) {
            continue;
        }
        let host = host.map_or(UNKNOWN_HOST.into(), String::from_utf8_lossy);
        if hosts.len() < MAX_NAMED && !hosts.iter().any(|known| *known == host) {
            hosts.push(host.into_owned());
        }
    }
    hosts
}

/// A host of which no name is known.
const UNKNOWN_HOST: &str = "…";

impl Firewall {
    /// What a run may reach: of the hosts that the policy permits, those that the plan names, or with the containment
    /// `network` all; of these again, those that the caller names. `None` when there are none.
    pub(crate) fn reach(&self, grant: &Grant, options: &RunOptions) -> Result<Option<Reach>, Error> {
        let policy = self.policy().reach();
        let mut reach = match options.containment {
            Containment::Network => policy.clone(),
            Containment::Granted => policy.clone().narrowed(grant.hosts.clone()),
            Containment::ReadOnly
            | Containment::WorkspaceWrite
            | Containment::Loopback
            | Containment::Speculate
            | Containment::Full => return Ok(None),
        };
        if !options.allow_hosts.is_empty() {
            let mut wanted = Vec::new();
            for text in &options.allow_hosts {
                let destination =
                    Destination::parse(text).map_err(|why| Error::BadHost(text.clone(), why))?;
                if !policy.covers(&destination) {
                    return Err(Error::HostNotPermitted(text.clone()));
                }
                wanted.push(destination);
            }
            reach = reach.narrowed(wanted);
        }
        Ok(Some(reach).filter(|reach| !reach.is_empty()))
    }
}

/// The variables by which programs find the proxy. Programs differ in the case that they look for.
pub(crate) fn variables() -> Vec<(Vec<u8>, Vec<u8>)> {
    let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
    // What the run serves itself is reached directly.
    let own = "localhost,127.0.0.1,::1";
    let table =
        [("http_proxy", proxy.as_str()), ("https_proxy", &proxy), ("all_proxy", &proxy), ("no_proxy", own)];
    let pair = |name: String, value: &str| (name.into_bytes(), value.as_bytes().to_vec());
    let both = |(name, value): (&str, &str)| [pair(name.to_owned(), value), pair(name.to_uppercase(), value)];
    table.into_iter().flat_map(both).collect()
}

/// Serves the listening socket of a run.
pub(crate) fn serve(listener: TcpListener, reach: Reach) -> io::Result<Proxy> {
    Proxy::start(listener, Arc::new(Permitted(reach)), Limits::default())
}

struct Permitted(Reach);

impl Gate for Permitted {
    fn name(&self, host: &str, port: u16) -> Result<(), String> {
        self.0.name(host, port)
    }

    fn address(&self, host: &str, address: IpAddr, port: u16) -> Result<(), String> {
        self.0.address(host, address, port)
    }
}
