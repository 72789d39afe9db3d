//! Which hosts and addresses are reached.

use super::*;

fn list(texts: &[&str]) -> Vec<Destination> {
    texts.iter().map(|text| Destination::parse(text).unwrap()).collect()
}

fn reach(allow: &[&str], deny: &[&str]) -> Reach {
    Reach { parts: vec![Lists { allow: list(allow), deny: list(deny) }], narrowed: Vec::new() }
}

#[test]
fn what_is_a_destination() {
    for text in ["example.com", "*.example.com:443", "*", "10.0.0.0/8", "[2001:db8::1]:443", "::1", "a:1"] {
        assert!(Destination::parse(text).is_ok(), "{text}");
    }
    for text in
        ["", "a b", "a:0", "a:x", "a:70000", "10.0.0.0/33", "a/8", "http://a", "[::1", "[::1]x", "a\n"]
    {
        assert!(Destination::parse(text).is_err(), "{text}");
    }
    // What would be met by nothing, or by something else than it says.
    for text in [
        "a:+80",
        "a..b",
        ".example.com",
        ".",
        "example.com..",
        "127.1",
        "2130706433",
        "0x7f.1",
        "010.0.0.1",
        "256.1.1.1",
        "1.2.3.4.5",
        "10.*",
        "192.168.*.*",
        "*.8",
        "2002::/16",
        "::ffff:10.0.0.0/24",
        "64:ff9b::/96",
    ] {
        assert!(Destination::parse(text).is_err(), "{text}");
    }
    for text in
        ["a1", "1a.example", "*.1a", "8.example.com", "*1.example.com", "web*1", "*1", "::ffff:10.0.0.1"]
    {
        assert!(Destination::parse(text).is_ok(), "{text}");
    }
}

#[test]
fn names_are_permitted_by_lists() {
    // allowed, denied, host, port, permitted
    type Row<'a> = (&'a [&'a str], &'a [&'a str], &'a str, u16, bool);
    let table: &[Row<'_>] = &[
        (&["example.com"], &[], "example.com", 443, true),
        (&["example.com"], &[], "EXAMPLE.com.", 443, true),
        (&["example.com"], &[], "example.com.evil.org", 443, false),
        (&["example.com"], &[], "notexample.com", 443, false),
        (&["example.com:443"], &[], "example.com", 80, false),
        (&["*.example.com"], &[], "a.b.example.com", 1, true),
        (&["*.example.com"], &[], "example.com", 1, false),
        (&["*"], &["*.example.com"], "a.example.com", 1, false),
        (&["*"], &["example.com:80"], "example.com", 443, true),
        (&["*"], &[], "192.0.43.8", 1, true),
        (&["*.example"], &[], "192.0.43.8", 1, false),
        (&["192.0.32.0/20"], &[], "192.0.43.8", 1, true),
        (&["192.0.32.0/20"], &[], "::ffff:192.0.43.8", 1, true),
        (&[], &[], "example.com", 443, false),
    ];
    for (allow, deny, host, port, permitted) in table {
        assert_eq!(reach(allow, deny).name(host, *port).is_ok(), *permitted, "{allow:?} {host}:{port}");
    }
    assert!(Reach::default().name("example.com", 443).is_err());
    let told = |host| Reach::default().name(host, 443).unwrap_err();
    assert!(told("example.com").starts_with("example.com:443 is not"), "{}", told("example.com"));
    assert!(told("::1").starts_with("[::1]:443 is not"), "{}", told("::1"));
}

#[test]
fn addresses_that_are_not_public_have_to_be_named() {
    // allowed, address, permitted
    let table: &[(&[&str], &str, bool)] = &[
        (&["*"], "93.184.216.34", true),
        (&["*"], "127.0.0.1", false),
        (&["*"], "0.0.0.0", false),
        (&["*"], "10.1.2.3", false),
        (&["*"], "172.31.0.1", false),
        (&["*"], "172.32.0.1", true),
        (&["*"], "192.168.0.1", false),
        (&["*"], "100.64.0.1", false),
        (&["*"], "169.254.169.254", false),
        (&["*"], "224.0.0.1", false),
        (&["*"], "255.255.255.255", false),
        (&["*"], "::1", false),
        (&["*"], "::", false),
        (&["*"], "::ffff:127.0.0.1", false),
        (&["*"], "64:ff9b::a01:203", false),
        (&["*"], "2002:7f00:1::", false),
        (&["*"], "fd00::1", false),
        (&["*"], "fe80::1", false),
        (&["*"], "fd00:ec2::254", false),
        (&["*"], "2606:4700::1111", true),
        (&["*"], "168.63.129.16", false),
        (&["168.63.0.0/16"], "168.63.129.16", false),
        (&["168.63.129.16"], "168.63.129.16", true),
        (&["fd00::/8"], "fd20:ce::254", false),
        (&["fd00::/8"], "fd00:ec2::23", false),
        (&["*"], "::ffff:0:127.0.0.1", false),
        (&["*"], "::ffff:0:8.8.8.8", true),
        (&["*"], "64:ff9b::8.8.8.8", true),
        (&["*"], "64:ff9b:1:a01:203::808:808", false),
        (&["*"], "64:ff9b:0:1::808:808", false),
        (&["*"], "2001:0:4136:e378::1", false),
        (&["*"], "3fff::1", false),
        (&["*"], "5f00::1", false),
        (&["*"], "4000::1", false),
        (&["*"], "2001:4860:4860::8888", true),
        (&["h", "10.0.0.0/8"], "10.1.2.3", true),
        (&["h", "10.0.0.0/8:80"], "10.1.2.3", false),
        (&["h", "127.0.0.1"], "127.0.0.1", true),
        (&["h", "127.0.0.1"], "127.0.0.2", false),
        (&["h", "169.254.0.0/16"], "169.254.169.254", false),
        (&["h", "169.254.169.254"], "169.254.169.254", true),
        (&["h", "169.254.169.254:80"], "169.254.169.254", false),
        (&["h", "100.64.0.0/10"], "100.100.100.200", false),
        (&["h", "fe80::/10"], "fe80::1", false),
    ];
    for (allow, address, permitted) in table {
        let allow: Vec<&str> = allow.iter().filter(|t| Destination::parse(t).is_ok()).copied().collect();
        let got = reach(&allow, &[]).address("h", address.parse().unwrap(), 443);
        assert_eq!(got.is_ok(), *permitted, "{allow:?} {address} {got:?}");
    }
    assert!(reach(&["*"], &["93.184.0.0/16"]).address("h", "93.184.216.34".parse().unwrap(), 1).is_err());
}

#[test]
fn a_metadata_service_has_many_spellings() {
    for host in [
        "169.254.169.254",
        "169.254.169.254.",
        "2852039166",
        "0xa9fea9fe",
        "0xA9.0xFE.0xa9.0xfe",
        "169.254.43518",
        "0251.0376.0251.0376",
        "169.16689662",
        "::ffff:169.254.169.254",
        "::ffff:a9fe:a9fe",
        "64:ff9b::a9fe:a9fe",
        "fd00:ec2:0::254",
        "fd20:ce::254",
        "168.63.129.16",
        "169.254.170.2",
        "METADATA",
        "metadata.google.internal.",
    ] {
        assert!(is_metadata_service(host.as_bytes()), "{host}");
    }
    for host in [
        "",
        "169.254.169.253",
        "1.2.3.4.5",
        "256.1",
        "0x",
        "0x1ffffffff",
        "+1",
        "08",
        "example.com",
        "a.1",
        "1..1",
    ] {
        assert!(!is_metadata_service(host.as_bytes()), "{host}");
    }
}

#[test]
fn narrowing_never_widens() {
    let wide = reach(&["*.example.com:443", "10.0.0.5"], &[]);
    let narrow = wide.clone().narrowed(list(&["a.example.com", "evil.org", "10.0.0.5:80"]));
    assert!(narrow.name("a.example.com", 443).is_ok());
    assert!(narrow.name("a.example.com", 80).is_err());
    assert!(narrow.name("b.example.com", 443).is_err());
    assert!(narrow.name("evil.org", 443).is_err());
    assert!(narrow.name("10.0.0.5", 80).is_ok());
    assert!(narrow.address("10.0.0.5", "10.0.0.5".parse().unwrap(), 80).is_ok());
    assert!(wide.clone().narrowed(list(&["*"])).address("a", "10.0.0.6".parse().unwrap(), 80).is_err());
    let named = reach(&["db.corp", "10.0.0.5"], &[]).narrowed(list(&["db.corp"]));
    assert!(named.address("db.corp", "10.0.0.5".parse().unwrap(), 80).is_ok());
    for (wanted, covered) in
        [("a.example.com:443", true), ("*.a.example.com:443", true), ("a.example.com", false), ("*", false)]
    {
        assert_eq!(wide.covers(&Destination::parse(wanted).unwrap()), covered, "{wanted}");
    }
    assert!(wide.narrowed(Vec::new()).is_empty());
}
