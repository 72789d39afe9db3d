//! `curl`: data options whose value may be text or, after `@` or `<`, a file; and URLs of files.

use crate::effect::{Endpoint, Unknown};
use crate::knowledge::apply;
use crate::knowledge::endpoint;
use crate::knowledge::flow::{Use, Uses};
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::knowledge::values;
use crate::knowledge::words::Role;
use crate::value::{Field, Stream, Value};

/// Schemes whose URL is text that any service of the host gets: a command for a database as well.
const PLAIN: [&[u8]; 4] = [b"gopher", b"gophers", b"dict", b"telnet"];

/// Reads the arguments of `curl`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let mut uses = Uses::default();
    let forms: Vec<Field<'a>> = scan.values(&["-F", "--form"]).collect();
    // These take `@` literally.
    let literal: Vec<Field<'a>> = scan.values(&["--data-raw", "--form-string"]).collect();
    let fetches = scan.has(&["-o", "--output", "-O", "--remote-name", "--remote-name-all", "-I", "--head"]);
    for each in apply::uses(run, &scan).iter() {
        uses.push(match each.role {
            Role::Send if literal.contains(each.field) => each,
            Role::Send if forms.contains(each.field) => form(run, &each),
            Role::Send | Role::Identify if each.field.value.known_prefix().starts_with(b"@") => {
                Use { role: Role::Upload, ..each }
            }
            // `name@file` of --data-urlencode.
            Role::Download => {
                let scheme = endpoint::of(&each.field.value).scheme;
                if PLAIN.iter().any(|plain| scheme.eq_ignore_ascii_case(plain)) {
                    run.not_understood(Unknown::Construct("text for any service"), each.field.span);
                }
                local(run, &each)
            }
            _ => each,
        });
    }
    for encoded in scan.values(&["--data-urlencode", "--url-query"]) {
        let prefix = encoded.value.known_prefix();
        let at = prefix.iter().position(|b| matches!(b, b'=' | b'@'));
        if let Some(at) = at.filter(|at| *at > 0 && prefix.get(*at) == Some(&b'@')) {
            let value = values::after(run.arena(), &encoded.value, at);
            uses.push(Use { role: Role::Upload, field: run.arena().alloc(Field { value, ..encoded }) });
        }
    }
    for cookie in scan.values(&["-b", "--cookie"]) {
        // Without `=` it names a file of them.
        if !cookie.value.known_prefix().contains(&b'=') && cookie.known() != Some(b"") {
            uses.push(Use { role: Role::Read, field: run.arena().alloc(cookie) });
        }
    }
    for format in scan.values(&["-w", "--write-out"]) {
        let prefix = format.value.known_prefix();
        if prefix.starts_with(b"@") {
            let value = values::after(run.arena(), &format.value, 1);
            uses.push(Use { role: Role::Read, field: run.arena().alloc(Field { value, ..format }) });
        } else if prefix.windows(8).any(|window| window == b"%output{") {
            // Since 8.3 it names a file.
            run.not_understood(Unknown::Construct("%output"), format.span);
        }
    }
    // `HOST:PORT:ADDRESS`, `HOST:PORT:HOST:PORT`: another place than the URL says.
    for route in scan.values(&["--resolve", "--connect-to"]) {
        let colon = |value: &Value<'a>| values::split_once(run.arena(), value, b':').map(|(_, rest)| rest);
        if let Some(value) = colon(&route.value).as_ref().and_then(colon) {
            uses.push(Use { role: Role::Connect, field: run.arena().alloc(Field { value, ..route }) });
        }
    }
    for servers in scan.values(&["--dns-servers"]) {
        uses.push(Use { role: Role::Connect, field: run.arena().alloc(servers) });
    }
    let output = apply::apply_as(run, &scan, &uses);
    // What goes into files does not come out.
    if fetches { Stream { text: None, ..output } } else { output }
}

/// `name=@file`, `name=<file`, `name=text`; what follows a `;` is about the part's type.
fn form<'s, 'a: 's>(run: &Run<'_, 'a>, each: &Use<'s, 'a>) -> Use<'s, 'a> {
    let Some((_, content)) = values::split_once(run.arena(), &each.field.value, b'=') else { return *each };
    if !matches!(content.known_prefix().first(), Some(b'@' | b'<')) {
        return *each;
    }
    let file = values::after(run.arena(), &content, 1);
    let file = match values::split_once(run.arena(), &file, b';') {
        Some((file, _)) => {
            return Use { role: Role::Upload, field: run.arena().alloc(run.part(each.field, file)) };
        }
        None => file,
    };
    Use { role: Role::Upload, field: run.arena().alloc(Field { value: file, ..*each.field }) }
}

/// A `file:` URL reads a file of this machine.
fn local<'s, 'a: 's>(run: &Run<'_, 'a>, each: &Use<'s, 'a>) -> Use<'s, 'a> {
    let endpoint: Endpoint<'_> = endpoint::of(&each.field.value);
    if !endpoint.scheme.eq_ignore_ascii_case(b"file") {
        return *each;
    }
    let prefix = each.field.value.known_prefix();
    let authority = "file://".len();
    let path = prefix.get(authority..).and_then(|rest| rest.iter().position(|b| *b == b'/')).unwrap_or(0);
    let value = values::after(run.arena(), &each.field.value, authority + path);
    Use { role: Role::Read, field: run.arena().alloc(Field { value, ..*each.field }) }
}
