//! Connections, by what a call names.

use super::Reader;
use super::acts::Act;
use super::calls::Reach;
use super::expressions::Arguments;
use super::value::{Object, Val};
use crate::effect::WriteMode;

impl<'a> Reader<'_, '_, 'a> {
    /// Connections.
    pub(super) fn connect(&mut self, act: Act, arguments: &Arguments<'a>) -> Val<'a> {
        let given = |names: &[&str]| arguments.named(names).is_some();
        let sends = given(&[
            "data", "json", "files", "params", "headers", "auth", "content", "cookies", "body", "fields",
        ]);
        match act {
            Act::Url(at) => {
                let at = usize::from(at);
                let url = arguments.get(at, &["url", "fullurl"]).unwrap_or(Val::Data);
                let sends = sends || arguments.positional.len() > at + 1;
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

    pub(super) fn connect_url(&mut self, url: &Val<'a>, sends: bool) {
        match url {
            // A request that was made before.
            Val::Many(items) => {
                let urls: Vec<Val<'a>> = items.vals.iter().flat_map(|v| v.alternatives().to_vec()).collect();
                let mut found = false;
                for each in urls {
                    if let Some(value) =
                        each.value().filter(|v| super::super::report::is_url(v.known_prefix()))
                    {
                        found = true;
                        self.report.connects_to(Some(&value), true);
                    }
                }
                if !found {
                    self.report.connects_to(None, true);
                }
            }
            other => {
                for value in self.each_path(Some(*other)) {
                    self.report.connects_to(value.as_ref(), sends || value.is_none());
                }
            }
        }
    }
}
