//! Connections, by what a call names.

use super::super::report::{Sends, is_url};
use super::Reader;
use super::acts::Act;
use super::acts::Reach;
use super::arguments::Arguments;
use super::value::{Object, Val};
use crate::effect::{Scope, WriteMode};
use crate::value::Origins;

impl<'a> Reader<'_, '_, 'a> {
    /// Connections.
    pub(super) fn connect(&mut self, act: Act, arguments: &Arguments<'a>) -> Val<'a> {
        let sends = sent(arguments, usize::MAX);
        match act {
            Act::Url(at) => {
                let at = usize::from(at);
                let url = arguments.get(at, &["url", "fullurl"]).unwrap_or(Val::Data);
                let sends = sent(arguments, at + 1);
                self.connect_url(&url, sends);
                self.hand_over(arguments, Reach::Sensitive);
                Val::Data
            }
            Act::Download => {
                let url = arguments.get(0, &["url"]).unwrap_or(Val::Data);
                self.connect_url(&url, sends);
                if let Some(to) = arguments.get(1, &["filename"]) {
                    self.write_each(Some(to), WriteMode::Replace);
                }
                Val::Data
            }
            Act::Host(scheme) => {
                let first = arguments.get(0, &["host", "address"]);
                let (host, port) = match first {
                    Some(Val::Many(items)) => (items.vals.first().copied(), items.vals.get(1).copied()),
                    other => (other, arguments.get(1, &["port"])),
                };
                let port = match port {
                    Some(Val::Number(port)) => Some(port),
                    _ => None,
                };
                let hosts = host.unwrap_or(Val::Data);
                for host in hosts.alternatives().to_vec() {
                    self.report.connects_host(host.known(), port, scheme);
                }
                Val::Object(Object::Client)
            }
            Act::Listen => {
                let address = match arguments.positional.first() {
                    Some(Val::Many(items)) => (items.vals.first().copied(), items.vals.get(1).copied()),
                    first => (first.copied(), arguments.get(1, &["port"])),
                };
                let port = match address.1 {
                    Some(Val::Number(port)) => Some(port),
                    _ => None,
                };
                self.report.listens(address.0.and_then(|v| v.known()), port);
                self.hand_over(arguments, Reach::Sensitive);
                Val::Object(Object::Server)
            }
            _ => {
                let host = arguments.named(&["host", "hostname", "server"]).and_then(|v| v.known());
                self.report.connects_host(host, None, "tcp");
                self.hand_over(arguments, Reach::Sensitive);
                Val::Data
            }
        }
    }

    /// `client.get('/items')`: a route of the project's own server, no place of this machine.
    pub(super) fn asks_for_route(&mut self, name: &[u8], arguments: &Arguments<'a>) -> bool {
        const VERBS: [&[u8]; 8] =
            [b"get", b"post", b"put", b"patch", b"delete", b"head", b"options", b"request"];
        // By which a server learns what it answers.
        const ANSWERS: [&[u8]; 6] =
            [b"route", b"add_url_rule", b"add_route", b"add_api_route", b"api_route", b"websocket"];
        let Some(Val::Text(route)) = arguments.positional.iter().take(2).find(|val| is_rooted(val)) else {
            return false;
        };
        let route = *route;
        self.report.asks();
        (VERBS.contains(&name) || ANSWERS.contains(&name))
            && (route.known() == Some(b"/") || self.report.target(&route, false).scope == Scope::Elsewhere)
    }

    pub(super) fn connect_url(&mut self, url: &Val<'a>, sends: Sends) {
        match url {
            // A request that was made before.
            Val::Many(items) => {
                let urls: Vec<Val<'a>> = items.vals.iter().flat_map(|v| v.alternatives().to_vec()).collect();
                let mut found = false;
                for each in urls {
                    if let Some(value) = each.value().filter(|v| is_url(v.known_prefix())) {
                        found = true;
                        self.report.connects_to(Some(&value), Sends::All);
                    }
                }
                if !found {
                    self.report.connects_to(None, Sends::All);
                }
            }
            other => {
                for value in self.each_path(Some(*other)) {
                    let sends = if value.is_none() { Sends::All } else { sends };
                    self.report.connects_to(value.as_ref(), sends);
                }
            }
        }
    }
}

/// Arguments that say who asks.
const IDENTITY: [&str; 3] = ["headers", "auth", "cookies"];

/// Arguments of which the content is sent.
const CONTENT: [&str; 7] = ["data", "json", "files", "params", "content", "body", "fields"];

/// What a request sends, when its positional arguments from this one on are content.
pub(super) fn sent(arguments: &Arguments<'_>, content_from: usize) -> Sends {
    let positional = arguments.positional.get(content_from..).unwrap_or_default();
    let named = arguments.named.iter().filter(|(name, _)| CONTENT.iter().any(|n| n.as_bytes() == *name));
    let mut content = positional.iter().chain(named.map(|(_, val)| val)).peekable();
    if content.peek().is_some() {
        return if content.all(is_without_credentials) { Sends::Identified } else { Sends::All };
    }
    if arguments.named(&IDENTITY).is_some() { Sends::Identified } else { Sends::Nothing }
}

/// What a call of a client's method sends: whatever it is given, if its meaning is not known.
pub(super) fn sent_by_client(arguments: &Arguments<'_>) -> Sends {
    let known = |name: &[u8]| IDENTITY.iter().chain(&CONTENT).any(|n| n.as_bytes() == name);
    let other = arguments.named.iter().any(|(name, val)| !known(name) && !is_without_credentials(val));
    if other { Sends::All } else { sent(arguments, 1) }
}

/// Whether it is certain that there is no credential in it.
fn is_without_credentials(val: &Val<'_>) -> bool {
    match val {
        Val::Number(_) | Val::Count | Val::Never | Val::Nothing => true,
        Val::Text(value) => !value.origins.intersects(Origins::CREDENTIAL | Origins::UNKNOWN),
        Val::Many(items) => items.vals.iter().all(is_without_credentials),
        Val::OneOf(vals) => vals.iter().all(is_without_credentials),
        _ => false,
    }
}

fn is_rooted(val: &Val<'_>) -> bool {
    matches!(val, Val::Text(text) if text.known_prefix().starts_with(b"/"))
}
