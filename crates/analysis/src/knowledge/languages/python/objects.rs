//! Methods of things that act: sockets, processes, clients, the environment.

use super::Reader;
use super::acts::Act;
use super::acts::Reach;
use super::arguments::Arguments;
use super::value::{Object, Val, join};
use crate::effect::{EffectKind, WriteMode};
use crate::knowledge::values;
use crate::value::{Origins, Value};

impl<'a> Reader<'_, '_, 'a> {
    pub(super) fn object_method(
        &mut self,
        object: Object,
        name: &[u8],
        arguments: &Arguments<'a>,
    ) -> Val<'a> {
        self.hand_over_acting(arguments);
        let first = arguments.positional.first().copied();
        match object {
            Object::Socket => match name {
                b"connect" | b"connect_ex" => self.perform(Act::Host("tcp"), arguments),
                b"sendto" | b"sendmsg" => {
                    let mut to = self.no_arguments(false);
                    to.positional.extend(arguments.positional.last().copied());
                    self.perform(Act::Host("udp"), &to)
                }
                // A path, where it is no pair of host and port.
                b"bind" if first.is_some_and(|to| to.value().is_some()) => {
                    self.perform(Act::Write(0, WriteMode::Create), arguments)
                }
                b"listen" => self.perform(Act::Listen, &self.no_arguments(false)),
                b"accept" => {
                    let vals = self.report.arena.alloc_slice_copy(&[Val::Object(Object::Socket), Val::Data]);
                    self.container(self.at, false, vals)
                }
                b"dup" | b"makefile" => Val::Object(Object::Socket),
                _ => Val::Data,
            },
            Object::Process => {
                if matches!(name, b"kill" | b"terminate" | b"send_signal" | b"suspend") {
                    self.report.does(EffectKind::Signal { what: "process" });
                }
                // What `psutil` tells of a process holds its variables.
                if matches!(name, b"environ" | b"as_dict") {
                    self.report.environment();
                }
                if matches!(name, b"nice" | b"ionice" | b"rlimit" | b"cpu_affinity") && first.is_some() {
                    self.report.does(EffectKind::System { what: "limits" });
                }
                Val::Object(Object::Process)
            }
            Object::Client => {
                let at = usize::from(matches!(name, b"request" | b"stream" | b"open" | b"ws_connect"));
                let url = arguments.get(at, &["url"]).or(first);
                let quiet = matches!(
                    name,
                    b"close"
                        | b"aclose"
                        | b"mount"
                        | b"update"
                        | b"json"
                        | b"raise_for_status"
                        | b"text"
                        | b"read"
                        | b"add_header"
                        | b"getheader"
                        | b"getheaders"
                        | b"set_proxy"
                        | b"set_debuglevel"
                );
                if !quiet {
                    let value = url.and_then(|v| v.value());
                    let whole = value.filter(|v| super::super::report::is_url(v.known_prefix()));
                    self.report.connects_to(whole.as_ref(), super::network::sent_by_client(arguments));
                }
                self.hand_over(arguments, Reach::Sensitive);
                Val::Object(Object::Client)
            }
            Object::Server => match name {
                b"create_connection"
                | b"open_connection"
                | b"create_datagram_endpoint"
                | b"create_unix_connection"
                | b"sock_connect"
                | b"sock_sendto" => self.perform(Act::Network, arguments),
                b"get_loop" | b"get_event_loop" | b"new_event_loop" | b"__enter__" => {
                    Val::Object(Object::Server)
                }
                b"create_server" | b"start_server" => self.perform(Act::Listen, arguments),
                b"create_unix_server" => self.perform(Act::ListenAt(1, "path"), arguments),
                b"subprocess_shell" => {
                    self.report.unseen_code("shell", Origins::UNKNOWN);
                    Val::Data
                }
                b"subprocess_exec" => {
                    self.report.unseen_code("shell", Origins::UNKNOWN);
                    Val::Data
                }
                _ => {
                    self.hand_over(arguments, Reach::Sensitive);
                    Val::Data
                }
            },
            Object::Environment => match name {
                b"get" | b"pop" => {
                    let own = self.variable(first.as_ref());
                    match arguments.positional.get(1) {
                        Some(default) => join(self.report.arena, own, *default),
                        None => own,
                    }
                }
                b"copy" => Val::Object(Object::Environment),
                b"setdefault" => self.perform(Act::SetVariable, arguments),
                b"update" => {
                    if let Some(first) = first {
                        self.set_variables(&first);
                    }
                    if arguments.open {
                        self.report.unseen_code("shell", Origins::UNKNOWN);
                    }
                    for (name, val) in &arguments.named {
                        let key = Val::Text(self.report.literal(name));
                        self.set_variable_to(&key, val);
                    }
                    Val::Data
                }
                _ => {
                    self.report.environment();
                    Val::Data
                }
            },
            Object::SearchPath => {
                if let Some(path) = arguments.positional.last() {
                    self.search_path(path);
                }
                Val::Data
            }
            Object::Stdin => {
                self.report.reads_stdin = true;
                match (name, self.report.stdin.text) {
                    (b"read", Some(text)) => Val::Text(Value::text(text, self.report.stdin.origins)),
                    _ => Val::Text(Value::unknown(self.report.stdin.origins)),
                }
            }
            Object::Stdout => {
                let text = first.and_then(|v| v.known()).filter(|_| self.is_plain() && name == b"write");
                if !matches!(name, b"flush" | b"isatty" | b"fileno") {
                    self.report.prints(text);
                }
                Val::Data
            }
            Object::Stderr => {
                // It may be the same place.
                self.report.prints(None);
                Val::Data
            }
            Object::Archive => match name {
                b"extractall" | b"extract" => {
                    self.extract(name, arguments);
                    Val::Data
                }
                // What is unpacked by that name lies outside of where it is unpacked.
                b"add" if leads_out(arguments.get(1, &["arcname"])) => {
                    self.lose();
                    Val::Data
                }
                b"write" | b"add" if matches!(first, Some(Val::Text(_) | Val::Path(_))) => {
                    for path in self.each_path(first) {
                        self.report.reads(path.as_ref(), name == b"add");
                    }
                    Val::Data
                }
                _ => Val::Data,
            },
            Object::Document => {
                if name == b"write" && !matches!(first, Some(Val::File(_) | Val::Object(_))) {
                    self.write_each(arguments.get(0, &["file_or_filename"]), WriteMode::Replace);
                }
                Val::Data
            }
            Object::Database => match name {
                b"execute" | b"executemany" | b"executescript" | b"sql" | b"query" => {
                    self.executes_sql(name, arguments);
                    Val::Object(Object::Database)
                }
                b"enable_load_extension" | b"load_extension" => {
                    self.report.code("native", Origins::UNKNOWN);
                    Val::Data
                }
                b"write_csv" | b"to_csv" | b"write_parquet" | b"to_parquet" => {
                    self.write_each(arguments.get(0, &["file_name"]), WriteMode::Replace)
                }
                _ => Val::Object(Object::Database),
            },
            Object::Native => {
                for path in self.each_path(first).iter().flatten() {
                    self.report.mention(path, false);
                }
                self.report.code("native", Origins::NONE);
                Val::Object(Object::Native)
            }
            Object::Modules => match name {
                b"get" | b"pop" | b"setdefault" => match first.and_then(|v| v.known()) {
                    Some(name) => self.module(name),
                    None => {
                        self.lose();
                        Val::Data
                    }
                },
                b"keys" | b"clear" | b"__contains__" => Val::Data,
                _ => {
                    self.lose();
                    Val::Data
                }
            },
            Object::Arguments => Val::Data,
        }
    }

    pub(super) fn extract(&mut self, name: &[u8], arguments: &Arguments<'a>) {
        let at = usize::from(name == b"extract");
        let to = arguments.get(at, &["path"]).unwrap_or(Val::Text(self.report.literal(b".")));
        if at == 0 {
            self.unpack_to(to);
            return;
        }
        self.write_each(Some(to), WriteMode::Below);
        // What is named comes to lie there, a directory with all that is in it.
        let member = arguments.get(0, &["member"]);
        if let Some((directory, member)) = to.known().zip(member.and_then(|member| member.known())) {
            let path = values::concat(self.report.arena, &[directory, b"/", member]);
            self.write_each(Some(Val::Text(self.report.literal(path))), WriteMode::Below);
        }
    }

    /// `psutil.process_iter(attributes)`: all of them.
    pub(super) fn processes(&mut self, arguments: &Arguments<'a>) -> Val<'a> {
        // `process_iter(["environ"])`
        if arguments.all().any(|val| val.alternatives().iter().any(Self::asks_for_environment)) {
            self.report.environment();
        }
        self.hand_over_acting(arguments);
        let vals = self.report.arena.alloc_slice_copy(&[Val::Object(Object::Process)]);
        self.bag(self.at, vals)
    }

    fn asks_for_environment(val: &Val<'a>) -> bool {
        match val {
            Val::Many(items) => items.vals.iter().any(|each| each.known() == Some(b"environ")),
            _ => false,
        }
    }
}

/// Whether something is surely a path that counts from the root or leads back.
fn leads_out(name: Option<Val<'_>>) -> bool {
    name.is_some_and(|name| {
        name.alternatives()
            .iter()
            .filter_map(Val::known)
            .any(|text| text.starts_with(b"/") || text.split(|byte| *byte == b'/').any(|part| part == b".."))
    })
}
