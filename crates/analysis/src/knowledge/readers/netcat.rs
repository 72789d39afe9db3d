//! `nc`, `ncat`: a connection or a listener, with standard input sent and, with `-e` or `-c`, a program behind it.

use crate::effect::{EffectKind, Endpoint};
use crate::knowledge::apply;
use crate::knowledge::endpoint;
use crate::knowledge::flow::{Use, Uses};
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::knowledge::words::Role;
use crate::value::{Origins, Stream};

/// Reads the arguments of netcat's variants.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let span = run.call.span;
    let listens = scan.has(&["-l", "--listen"]);
    let runs = scan.has(&["-e", "--exec", "-c", "--sh-exec", "--lua-exec"]);
    if !scan.info {
        let host = scan.operands.first().filter(|_| !listens).and_then(|h| h.known());
        let port = scan.operands.get(1).and_then(|p| p.known()).and_then(endpoint::number);
        if listens {
            run.does(EffectKind::Listen { endpoint: Endpoint { port, ..Endpoint::UNKNOWN } }, span);
        } else {
            let scans = scan.has(&["-z"]);
            let (origins, source) = if scans || run.call.stdin.origins == Origins::TERMINAL {
                (Origins::NONE, None)
            } else {
                (run.call.stdin.origins, run.call.stdin.source)
            };
            let sends = origins.without(Origins::LITERAL);
            let endpoint = endpoint::host(host, port, b"tcp");
            run.does(EffectKind::Connect { endpoint, sends, source }, span);
        }
        if runs {
            // Whoever is at the other end types what the program is told.
            run.code("shell", None, Origins::NETWORK, span);
        }
    }
    let uses = apply::uses(run, &scan);
    let uses = uses.iter().map(|each| {
        let executes = matches!(each.role, Role::Program | Role::Run);
        Use { role: if executes { Role::Text } else { each.role }, ..each }
    });
    let uses: Uses<'_, 'a> = uses.collect();
    apply::apply_as(run, &scan, &uses);
    Stream::unknown(Origins::NETWORK, span)
}
