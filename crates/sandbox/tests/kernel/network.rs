//! Who can be reached, and by what kind of socket.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use shward_sandbox::{Network, Options, PROXY_PORT, Stage, run};

use crate::roles;
use crate::support::{Place, need_sandbox, succeed};

#[test]
fn the_host_is_reached_only_with_its_network() {
    need_sandbox!();
    let place = Place::new();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    for (role, address) in [("tcp", tcp.local_addr().unwrap()), ("udp", udp.local_addr().unwrap())] {
        let address = address.to_string();
        assert_eq!(roles::outside(role, &address), "done");
        for network in [Network::None, Network::Loopback] {
            let got = roles::inside(&place.shell("").network(network), role, &address);
            // A datagram to a port where nobody listens is sent all the same.
            let sent = role == "udp" && network == Network::Loopback;
            assert!(got.starts_with("refused") || sent, "{role} {network}: {got}");
        }
        assert_eq!(roles::inside(&place.shell("").network(Network::Host), role, &address), "done", "{role}");
    }
    assert!(
        tcp.accept().is_ok() && tcp.accept().is_ok() && tcp.accept().is_err(),
        "outside, and with the network"
    );
    let mut buffer = [0; 9];
    assert!(udp.recv(&mut buffer).is_ok() && udp.recv(&mut buffer).is_ok() && udp.recv(&mut buffer).is_err());
}

#[test]
fn loopback_is_its_own() {
    need_sandbox!();
    let place = Place::new();
    assert_eq!(roles::inside(&place.shell("").network(Network::Loopback), "tcp-own", ""), "done");
    assert!(roles::inside(&place.shell("").network(Network::None), "tcp-own", "").starts_with("refused"));
}

#[test]
fn interfaces_are_those_of_the_choice() {
    need_sandbox!();
    let place = Place::new();
    let interfaces = "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '";
    for network in [Network::None, Network::Loopback] {
        assert_eq!(succeed(&place.shell(interfaces).network(network)), "lo\n");
    }
}

#[test]
fn abstract_sockets_of_the_host_cannot_be_reached() {
    need_sandbox!();
    let place = Place::new();
    let name = place.workspace();
    let address = SocketAddr::from_abstract_name(name.as_os_str().as_encoded_bytes()).unwrap();
    let listener = UnixListener::bind_addr(&address).unwrap();
    listener.set_nonblocking(true).unwrap();
    assert_eq!(roles::outside("unix-abstract", &name), "done");
    let mut networks = vec![Network::None, Network::Loopback];
    if shward_sandbox::probe().landlock.is_ok_and(|version| version >= 6) {
        networks.push(Network::Host);
    }
    for network in networks {
        let got = roles::inside(&place.shell("").network(network), "unix-abstract", &name);
        assert!(got.starts_with("refused"), "{network}: {got}");
    }
    assert!(listener.accept().is_ok() && listener.accept().is_err());
}

/// The socket that is made inside is served outside; nothing else of the host is reached.
#[test]
fn a_proxy_outside_serves_the_socket_inside() {
    need_sandbox!();
    let place = Place::new();
    let host = TcpListener::bind("127.0.0.1:0").unwrap();
    host.set_nonblocking(true).unwrap();
    let port = host.local_addr().unwrap().port();
    let script = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{PROXY_PORT}; echo asked >&3; read -r answer <&3; echo \"$answer\"\n\
         (exec 4<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo reached; true"
    );
    let plan = place.shell(&script).network(Network::Proxied).prepare().unwrap();
    for _ in 0..3 {
        let mut served = None;
        let mut options = Options::default();
        options.on_listener = Some(Box::new(|listener: TcpListener| {
            served = Some(std::thread::spawn(move || {
                let mut client = BufReader::new(listener.accept().unwrap().0);
                let mut line = String::new();
                client.read_line(&mut line).unwrap();
                client.get_mut().write_all(b"answered\n").unwrap();
                line
            }));
            Ok(())
        }));
        let done = run(&plan, options).unwrap();
        assert_eq!(done.stdout.to_text(), "answered\n", "{}", done.stderr.to_text());
        assert_eq!(served.unwrap().join().unwrap(), "asked\n");
    }
    assert!(host.accept().is_err());
}

#[test]
fn a_proxy_that_nobody_serves_is_an_error_and_nothing_runs() {
    need_sandbox!();
    let place = Place::new();
    let plan = place.shell("sleep 1; echo ran > ran").network(Network::Proxied).prepare().unwrap();
    assert_eq!(run(&plan, Options::default()).unwrap_err().stage, Stage::Request);
    let mut options = Options::default();
    options.on_listener = Some(Box::new(|_| Err(std::io::Error::from_raw_os_error(libc::EMFILE))));
    assert_eq!(run(&plan, options).unwrap_err().stage, Stage::Supervise);
    assert!(!place.workspace().join("ran").exists());
}
