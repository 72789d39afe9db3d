//! Entries of a policy that nothing, or everything, would meet: a list refuses them, and of a rule it is told.

#![allow(clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

use shward_policy::{Layer, Policy, Source, remarks};

fn load(text: &str) -> Result<Policy, shward_policy::BadPolicy> {
    Policy::from_sources(
        None,
        &[Source { layer: Layer::User, name: "user.toml".to_owned(), text: text.to_owned() }],
    )
}

/// File, the code of its first problem, and a part of what is told.
const BAD: &[(&str, &str, &str)] = &[
    ("[network]\ndeny = '.example.com'", "destination", "*.example.com"),
    ("[network]\ndeny = '10.*'", "destination", "10.0.0.0/8"),
    ("[network]\nallow = '2002::/16'", "destination", "are IPv4 addresses"),
    ("[paths]\nallow = ''", "place", "is empty"),
    ("[paths]\nallow = ['$WORKSPACE', '']", "place", "is empty"),
    ("[paths]\ndeny = '$HOEM/x'", "place", "stands for nothing"),
    ("[paths]\ndeny = '$WORKSPACEx'", "place", "stands for nothing"),
    ("[paths]\ndeny = '~root/x'", "place", "the name of a user"),
    ("[paths]\ndeny = '$WORKSPACE/../x'", "place", "has `..` in it"),
    ("[paths]\ndeny = './x'", "place", "has `.` in it"),
    ("[directory]\npolicy = 'below'\npaths = '$HOMEX'", "place", "stands for nothing"),
    ("[[binary]]\npath = '/bin/x'\n[[binary.positional]]\nbelow = ''", "place", "is empty"),
    ("[programs]\ndeny = 'git push'", "program-name", "`subcommand`"),
    ("[programs]\ndeny = ['ls', 'nc ']", "program-name", "`subcommand`"),
    ("[programs]\ndeny = ['ls', ' nc']", "program-name", "`subcommand`"),
];

#[test]
fn a_list_that_would_not_do_what_it_says_is_refused() {
    for (text, code, told) in BAD {
        let error = load(text).expect_err(text);
        assert_eq!(error.diagnostics.first().map(|d| d.code), Some(*code), "{text}\n{error}");
        assert!(error.to_string().contains(told), "{text}\n{error}");
    }
    for text in [
        "[paths]\nallow = ['$WORKSPACE', '$TMP', '$HOME/x', '~', '~/y', '/srv', 'src', '*.pem', '**/x', '.git', '..x']",
        "[paths]\nallow = []",
        "[programs]\nallow = 'my program'\ndeny = '/opt/my tool/x'",
        "[directory]\npolicy = 'below'\npaths = ['$WORKSPACE', '$HOME/x', '/srv']",
        "[network]\nallow = ['*', '*.example.com:443', '10.0.0.0/8', '::1', '[2001:db8::1]:443']",
    ] {
        load(text).expect(text);
    }
}

/// A host is allowed that hardly anybody meant.
#[test]
fn a_pattern_that_is_wider_than_it_looks_is_told() {
    for (host, told) in [
        ("*github.com", Some("`evilgithub.com`")),
        ("*github.com:443", Some("`evilgithub.com`")),
        ("github.*", Some("`github.evil.example`")),
        ("*.github.*", Some("`a.github.evil.example`")),
        ("*.github.com", None),
        ("api*.github.com", None),
        ("*", None),
        ("::1", None),
    ] {
        for (text, wide) in [
            (format!("[network]\nallow = '{host}'"), told),
            (format!("[network]\ndeny = '{host}'"), None),
            (
                format!("[[rule]]\nid = 'a'\ndecision = 'allow'\nhost = '{host}'"),
                told.filter(|_| !host.contains(":4")),
            ),
            (format!("[[rule]]\nid = 'a'\ndecision = 'ask'\nhost = '{host}'"), None),
        ] {
            let found = remarks(&load(&text).expect(&text));
            let met = found.iter().filter(|remark| remark.code == "wide");
            let messages: Vec<&str> = met.map(|remark| remark.message.as_str()).collect();
            match (wide, messages.as_slice()) {
                (None, []) => {}
                (Some(part), [one]) => assert!(one.contains(part), "{text}: {one}"),
                // A rule's host has no port, which is another remark.
                (None, [_]) if host.contains(":4") => {}
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}

/// A rule of which an entry can never match is told by `policy check`.
#[test]
fn a_rule_that_nothing_meets_is_told() {
    for (entry, told) in [
        ("path = '../x'", "has `..` in it"),
        ("path = './x'", "has `.` in it"),
        ("path = '$HOEM/x'", "stands for nothing"),
        ("path = '~root/x'", "the name of a user"),
        ("host = 'https://example.com'", "is a URL"),
        ("host = 'example.com:443'", "has a port"),
        ("host = '.example.com'", "`*.example.com`"),
        ("program = 'git push'", "has a blank in it"),
        ("program = 'git'\nsubcommand = 'push --force'", "has an option in it"),
    ] {
        let policy = load(&format!("[[rule]]\nid = 'a'\ndecision = 'deny'\n{entry}")).expect(entry);
        let found = remarks(&policy);
        let messages: Vec<&str> = found.iter().map(|remark| remark.message.as_str()).collect();
        assert!(matches!(messages.as_slice(), [one] if one.contains(told)), "{entry}: {messages:?}");
    }
    for entry in [
        "path = '~/x'",
        "path = '.env'",
        "host = '::1'",
        "host = 'example.com.'",
        "program = 'git'\nsubcommand = 'push'",
    ] {
        let policy = load(&format!("[[rule]]\nid = 'a'\ndecision = 'deny'\n{entry}")).expect(entry);
        assert_eq!(remarks(&policy), [], "{entry}");
    }
}
