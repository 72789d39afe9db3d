//! Which hosts a contained command may reach: the lists of `[network]`, and what an address has to be to be reached.
//!
//! A name says nothing about where it leads. So a connection is judged twice: by the name and port that were asked for, and by
//! the address that the name turned out to have. Addresses that belong to this machine, to a private network or to a cloud's
//! own services are reached only if the policy names the address itself.

// Of `core`: addresses only, no sockets.
use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::collections::BTreeSet;

use crate::pattern;
use crate::settings::Settings;
use shward_analysis::{EffectKind, Plan};

/// A host with a port, a pattern of hosts, an address, or a range of addresses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Destination {
    host: Host,
    /// `None` stands for every port.
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Host {
    /// A name in small letters, without the dot at the end; `*` stands for any text.
    Name(String),
    /// Addresses of which the first so many bits are these.
    Range(IpAddr, u8),
}

impl Destination {
    /// Reads `host`, `host:port`, `*.example.com:443`, `*`, `192.0.2.7:5432`, `10.0.0.0/8`, `[2001:db8::1]:443`.
    ///
    /// # Errors
    /// What is wrong with it, and what would be right.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const FORM: &str =
            "a destination is written host, host:port, address, range/bits or [IPv6 address]:port";
        let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, "")) => (address, None),
            Some((address, rest)) => (address, Some(rest.strip_prefix(':').ok_or(FORM)?)),
            // An IPv6 address without brackets has no port.
            None if text.matches(':').count() > 1 => (text, None),
            None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
        };
        let port = match port {
            None => None,
            // Digits and nothing else: `parse` takes a sign, too.
            Some(port) => {
                let number = port.bytes().all(|b| b.is_ascii_digit()).then(|| port.parse::<u16>().ok());
                let number = number.flatten().filter(|n| *n != 0);
                Some(number.ok_or("a port is a number from 1 to 65535")?)
            }
        };
        let (address, bits) = host.split_once('/').map_or((host, None), |(a, b)| (a, Some(b)));
        let host = match (address.parse::<IpAddr>(), bits) {
            // Its bits would be counted through an address that is none of IPv6.
            (Ok(address), Some(_)) if plain(address) != address => {
                return Err(
                    "IPv4 addresses inside IPv6 are IPv4 addresses: write their range so, as in 10.0.0.0/8",
                );
            }
            (Ok(address), bits) => {
                let address = plain(address);
                let all = if address.is_ipv4() { 32 } else { 128 };
                let bits = match bits {
                    None => all,
                    Some(bits) => {
                        let bits: u8 = bits.parse().map_err(|_| FORM)?;
                        Some(bits).filter(|b| *b <= all).ok_or("a range has at most 32 or 128 bits")?
                    }
                };
                Host::Range(address, bits)
            }
            (Err(_), Some(_)) => return Err(FORM),
            (Err(_), None) => {
                let name = canonical(host);
                let fits = |b: u8| b.is_ascii_alphanumeric() || b"-_.*".contains(&b);
                if name.is_empty() || name.len() > 253 || !name.bytes().all(fits) {
                    return Err(FORM);
                }
                if name.split('.').any(str::is_empty) {
                    return Err("a name has no empty part; what lies below a name is written *.example.com");
                }
                if in_numbers(&name).is_some() || is_of_digits(&name) {
                    return Err(
                        "an address is written in four decimal numbers, and several as a range: 10.0.0.0/8",
                    );
                }
                Host::Name(name)
            }
        };
        Ok(Self { host, port })
    }

    fn is_port(&self, port: u16) -> bool {
        self.port.is_none_or(|own| own == port)
    }

    fn names(&self, host: &str, port: u16) -> bool {
        let meant = match (&self.host, host.parse::<IpAddr>()) {
            (Host::Range(base, bits), Ok(address)) => within(*base, *bits, plain(address)),
            (Host::Range(..), Err(_)) => false,
            // `*` stands for every host, an address among them; a pattern of names does not.
            (Host::Name(name), Ok(_)) => name == "*",
            (Host::Name(name), Err(_)) => pattern::matches(name.as_bytes(), canonical(host).as_bytes()),
        };
        meant && self.is_port(port)
    }

    fn holds(&self, address: IpAddr, port: u16) -> bool {
        matches!(self.host, Host::Range(base, bits) if within(base, bits, address)) && self.is_port(port)
    }

    fn is_exactly(&self, address: IpAddr, port: u16) -> bool {
        let bits = if address.is_ipv4() { 32 } else { 128 };
        self.host == Host::Range(address, bits) && self.is_port(port)
    }
}

/// Names are compared without regard to case and to the dot of the root.
fn canonical(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

/// An IPv4 address that is written as IPv6 is the IPv4 address: mapped, translated (RFC 2765), NAT64 (RFC 6052), 6to4 (RFC 3056).
fn plain(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else { return address };
    let [a, b, c, .., g, h] = v6.segments();
    let above = v6.to_bits() >> 32;
    let embedded = |high: u16, low: u16| {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        IpAddr::V4(Ipv4Addr::new(a, b, c, d))
    };
    match v6.to_ipv4_mapped() {
        Some(v4) => IpAddr::V4(v4),
        // Of the prefix for local use (64:ff9b:1::/48, RFC 8215) nobody knows where the address stands.
        None if above == 0x0064_ff9b << 64 || above == 0xffff << 16 => embedded(g, h),
        None if a == 0x2002 => embedded(b, c),
        None => address,
    }
}

fn within(base: IpAddr, bits: u8, address: IpAddr) -> bool {
    let (base, address, width) = match (base, address) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (u128::from(a.to_bits()), u128::from(b.to_bits()), 32u32),
        (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits(), b.to_bits(), 128),
        _ => return false,
    };
    let ignored = width.saturating_sub(u32::from(bits));
    base.checked_shr(ignored) == address.checked_shr(ignored)
}

const METADATA_SERVICE: &str = "a cloud's metadata service";
const LINK_LOCAL: &str = "a link-local address";

/// What is special about an address that belongs to no public host (IANA's special-purpose registries).
fn special(address: IpAddr) -> Option<&'static str> {
    let v4 = |a: Ipv4Addr| {
        let [first, second, third, _] = a.octets();
        match (first, second, third) {
            _ if METADATA.contains(&IpAddr::V4(a)) => Some(METADATA_SERVICE),
            (0, ..) => Some("this machine"),
            (127, ..) => Some("this machine's loopback"),
            (10, ..) | (192, 168, _) => Some("a private network"),
            (172, 16..=31, _) => Some("a private network"),
            (169, 254, _) => Some(LINK_LOCAL),
            (100, 64..=127, _) => Some("a provider's shared network"),
            (192, 0, 0) | (192, 0, 2) | (198, 51, 100) | (203, 0, 113) => Some("a reserved address"),
            (198, 18 | 19, _) => Some("a benchmark network"),
            (224..=255, ..) => Some("no single host"),
            _ => None,
        }
    };
    let v6 = |a: Ipv6Addr| match a.segments() {
        _ if METADATA.contains(&IpAddr::V6(a)) => Some(METADATA_SERVICE),
        [0, 0, 0, 0, 0, 0, 0, 0..=1] => Some("this machine's loopback"),
        // IPv4-compatible addresses are long out of use.
        [0, 0, 0, 0, 0, 0, ..] => Some("a reserved address"),
        // Documentation, Teredo (which tunnels to any IPv4 address) and other protocols of the IETF.
        [0x2001, 0xdb8 | 0..=0x1ff, ..] | [0x3fff, 0..=0xfff, ..] => Some("a reserved address"),
        [0xfc00..=0xfdff, ..] => Some("a private network"),
        [0xfe80..=0xfebf, ..] => Some(LINK_LOCAL),
        [0xfec0..=0xfeff, ..] => Some("a private network"),
        [0xff00..=0xffff, ..] => Some("no single host"),
        [0x64, 0xff9b, ..] => Some("a private network"),
        [0x2000..=0x3fff, ..] => None,
        // No other address is given to public hosts (IANA's IPv6 address space).
        _ => Some("a reserved address"),
    };
    match address {
        IpAddr::V4(address) => v4(address),
        IpAddr::V6(address) => v6(address),
    }
}

/// Where clouds hand out the credentials and the settings of the machine.
const METADATA: [IpAddr; 9] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    // Azure's, and Oracle's of before: the former looks like any public host.
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    // Amazon's, for machines and for pods; Google's; Scaleway's.
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42)),
];

/// Whether a host is where a cloud hands out the credentials of the machine, however its address is written.
pub(crate) fn is_metadata_service(host: &[u8]) -> bool {
    const NAMES: [&str; 4] =
        ["metadata.google.internal", "metadata", "instance-data", "instance-data.ec2.internal"];
    let Ok(host) = std::str::from_utf8(host) else { return false };
    let host = canonical(host);
    match address_of(&host) {
        Some(address) => METADATA.contains(&address),
        None => NAMES.contains(&host.as_str()),
    }
}

/// Whether a text means addresses, which a pattern of names is never met by: `10.*`. No name ends in a number.
fn is_of_digits(name: &str) -> bool {
    let numbers = |text: &str, besides: &[u8]| {
        text.bytes().any(|b| b.is_ascii_digit())
            && text.bytes().all(|b| b.is_ascii_digit() || besides.contains(&b))
    };
    numbers(name.rsplit('.').next().unwrap_or(name), b"") || (name.contains('.') && numbers(name, b".*"))
}

/// The address that a host is, however it is written.
pub(crate) fn address_of(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    bare.parse().ok().or_else(|| in_numbers(bare).map(IpAddr::V4)).map(plain)
}

/// An IPv4 address in fewer than four numbers, or in octal or hexadecimal ones (inet_aton(3)).
fn in_numbers(host: &str) -> Option<Ipv4Addr> {
    let number = |text: &str| {
        let (digits, radix) = match text.strip_prefix("0x") {
            Some(digits) => (digits, 16),
            None if text.len() > 1 && text.starts_with('0') => (text, 8),
            None => (text, 10),
        };
        let plain = digits.bytes().all(|b| b.is_ascii_hexdigit());
        plain.then(|| u32::from_str_radix(digits, radix).ok()).flatten()
    };
    let numbers: Vec<u32> = host.split('.').map(number).collect::<Option<_>>()?;
    let (last, first) = numbers.split_last().filter(|(_, first)| first.len() <= 3)?;
    let mut bits = 0u32;
    for byte in first {
        bits = bits << 8 | u32::from(u8::try_from(*byte).ok()?);
    }
    let room = 32u32.checked_sub(8 * u32::try_from(first.len()).ok()?)?;
    let fits = last.checked_shr(room).unwrap_or(0) == 0;
    fits.then(|| Ipv4Addr::from_bits(bits.checked_shl(room).unwrap_or(0) | last))
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.host, self.port) {
            (Host::Name(name), _) => f.write_str(name)?,
            (Host::Range(address, 32), _) if address.is_ipv4() => write!(f, "{address}")?,
            (Host::Range(address, 128), None) => write!(f, "{address}")?,
            (Host::Range(address, 128), Some(_)) => write!(f, "[{address}]")?,
            (Host::Range(address, bits), _) => write!(f, "{address}/{bits}")?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// The shortest of the lists of what is permitted, for people: nothing beyond it is reached.
impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        let list = self.lists().min_by_key(|list| list.len()).unwrap_or_default();
        for (at, destination) in list.iter().take(SHOWN).enumerate() {
            write!(f, "{}{destination}", if at == 0 { "" } else { ", " })?;
        }
        match list.len().checked_sub(SHOWN) {
            Some(more @ 1..) => write!(f, " and {more} more"),
            _ => Ok(()),
        }
    }
}

/// What may be reached: every part of the policy has to permit it, and whatever narrows that.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reach {
    parts: Vec<Lists>,
    narrowed: Vec<Vec<Destination>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Lists {
    allow: Vec<Destination>,
    deny: Vec<Destination>,
}

impl Reach {
    /// What these settings permit, each list by itself.
    pub(crate) fn of<'s>(settings: impl Iterator<Item = &'s Settings>) -> Self {
        // What does not parse was refused when the file was read.
        let destinations = |texts: &mut dyn Iterator<Item = &String>| -> Vec<Destination> {
            texts.filter_map(|text| Destination::parse(text).ok()).collect()
        };
        let lists = settings.map(|settings| Lists {
            allow: destinations(&mut settings.network_allow.iter().flat_map(|set| &set.value)),
            deny: destinations(&mut settings.network_deny.iter().map(|set| &set.value)),
        });
        Self { parts: lists.collect(), narrowed: Vec::new() }
    }

    /// Every list of what is permitted.
    fn lists(&self) -> impl Iterator<Item = &[Destination]> {
        self.parts.iter().map(|part| &part.allow).chain(&self.narrowed).map(Vec::as_slice)
    }

    /// Nothing can be reached.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() || self.lists().any(<[_]>::is_empty)
    }

    /// The same, and only what is among these.
    #[must_use]
    pub fn narrowed(mut self, to: Vec<Destination>) -> Self {
        self.narrowed.push(to);
        self
    }

    /// Whether a destination that somebody asks for lies within what is permitted. A pattern has to be permitted as it is
    /// written, or by a wider one.
    #[must_use]
    pub fn covers(&self, wanted: &Destination) -> bool {
        let within_one = |entry: &Destination| {
            let host = match (&entry.host, &wanted.host) {
                (Host::Range(base, bits), Host::Range(address, narrower)) => {
                    narrower >= bits && within(*base, *bits, *address)
                }
                (Host::Name(name), Host::Name(wanted)) => {
                    pattern::matches(name.as_bytes(), wanted.as_bytes())
                }
                (Host::Name(name), Host::Range(..)) => name == "*",
                (Host::Range(..), Host::Name(_)) => false,
            };
            host && (entry.port.is_none() || entry.port == wanted.port)
        };
        !self.parts.is_empty() && self.lists().all(|list| list.iter().any(within_one))
    }

    /// Whether a host may be asked for by this name or address.
    ///
    /// # Errors
    /// Why not, for the one who asked.
    pub fn name(&self, host: &str, port: u16) -> Result<(), String> {
        let named = |list: &[Destination]| list.iter().any(|d| d.names(host, port));
        let permitted = !self.parts.is_empty() && self.lists().all(named);
        if permitted && !self.parts.iter().any(|part| named(&part.deny)) {
            Ok(())
        } else {
            // An IPv6 address before a port stands in brackets, or it would be another address.
            let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
            Err(format!("{host}:{port} is not among the hosts that this run may reach"))
        }
    }

    /// Whether the address that a permitted name turned out to have may be connected to.
    ///
    /// # Errors
    /// Why not, for the one who asked.
    pub fn address(&self, host: &str, address: IpAddr, port: u16) -> Result<(), String> {
        let address = plain(address);
        let special = special(address);
        let one_by_one = matches!(special, Some(METADATA_SERVICE | LINK_LOCAL));
        for part in &self.parts {
            if part.deny.iter().any(|d| d.holds(address, port)) {
                return Err(format!("{host} is {address}, which the policy denies"));
            }
            let Some(what) = special else { continue };
            let named = |d: &Destination| {
                if one_by_one { d.is_exactly(address, port) } else { d.holds(address, port) }
            };
            if !part.allow.iter().any(named) {
                return Err(format!(
                    "{host} is {address}, {what}, which is reached only if the policy names the address"
                ));
            }
        }
        Ok(())
    }
}

/// The hosts that a plan is certain or likely to connect to, as far as they are written out, each once.
pub(crate) fn named_hosts(plan: &Plan<'_>) -> Vec<Destination> {
    let (mut found, mut known) = (Vec::new(), BTreeSet::new());
    for effect in plan.effects {
        let EffectKind::Connect { endpoint, .. } = &effect.kind else { continue };
        let Some(host) = endpoint.host.and_then(|host| std::str::from_utf8(host).ok()) else { continue };
        if endpoint.loopback || host.contains('*') {
            continue;
        }
        let port = endpoint.port.or(match endpoint.scheme {
            b"https" => Some(443),
            b"http" => Some(80),
            b"ssh" => Some(22),
            _ => None,
        });
        let text = match (host.contains(':'), port) {
            (true, Some(port)) => format!("[{host}]:{port}"),
            (false, Some(port)) => format!("{host}:{port}"),
            (_, None) => host.to_owned(),
        };
        if let Ok(destination) = Destination::parse(&text)
            && known.insert(destination.clone())
        {
            found.push(destination);
        }
    }
    found
}

#[cfg(test)]
mod tests;
