//! What is TOML and what it means, from the language's specification (toml.io, version 1.0.0).

use super::{Inner, Table, Value, parse};
use std::fmt::Write as _;

/// A value in one form, whatever way it was written.
fn plain(value: &Value<'_>, out: &mut String) {
    match &value.inner {
        Inner::Text(text) => {
            let _ = write!(out, "{text:?}");
        }
        Inner::Whole(number) => {
            let _ = write!(out, "{number}");
        }
        Inner::Fraction => out.push_str("fraction"),
        Inner::Switch(switch) => {
            let _ = write!(out, "{switch}");
        }
        Inner::List(items) => {
            out.push('[');
            for item in items {
                plain(item, out);
                out.push(' ');
            }
            out.push(']');
        }
        Inner::Table(table) => plain_table(table, out),
    }
}

fn plain_table(table: &Table<'_>, out: &mut String) {
    out.push('{');
    for (key, value) in table.iter() {
        let _ = write!(out, "{}=", key.name);
        plain(value, out);
        out.push(' ');
    }
    out.push('}');
}

fn read(text: &str) -> Result<String, String> {
    let table = parse(text, &[]).map_err(|e| e.message)?;
    let mut out = String::new();
    plain_table(&table, &mut out);
    Ok(out)
}

#[test]
fn what_is_written_is_read() {
    let table: &[(&str, &str)] = &[
        ("", "{}"),
        ("\u{feff}a = 1", "{a=1 }"),
        ("# only\n\t # comments\r\n", "{}"),
        ("a = 1 # one\nb=2", "{a=1 b=2 }"),
        ("'a b' = 1\n\"c\\td\" = 2\n3 = 4\n\"\" = 5", "{a b=1 c\td=2 3=4 =5 }"),
        ("a.b . c = 1\na.d = 2", "{a={b={c=1 } d=2 } }"),
        ("a = true\nb = false", "{a=true b=false }"),
        (
            "a = +1\nb = -1\nc = 1_000\nd = 0xfF\ne = 0o17\nf = 0b1_0\ng = -0",
            "{a=1 b=-1 c=1000 d=255 e=15 f=2 g=0 }",
        ),
        (
            "a = -9223372036854775808\nb = 9223372036854775807",
            "{a=-9223372036854775808 b=9223372036854775807 }",
        ),
        (
            "a = 1.5\nb = -0.1\nc = 1e6\nd = 6.02E-3\ne = inf\nf = +nan",
            "{a=fraction b=fraction c=fraction d=fraction e=fraction f=fraction }",
        ),
        (r#"a = "q\"\\\n\u00e9\U0001F600""#, "{a=\"q\\\"\\\\\\né😀\" }"),
        (r"a = 'C:\x'", "{a=\"C:\\\\x\" }"),
        ("a = \"\"\"\r\none\r\ntwo \\\n\n   three\"\"\"\"\"", "{a=\"one\\ntwo three\\\"\\\"\" }"),
        ("a = '''\n\\n''x'''", "{a=\"\\\\n''x\" }"),
        ("a = \"\"\"\"\"\"", "{a=\"\" }"),
        ("a = []\nb = [1, [2], 'x',]\nc = [ # list\n 1,\n\n 2\n]", "{a=[] b=[1 [2 ] \"x\" ] c=[1 2 ] }"),
        ("a = {}\nb = { c = 1, d.e = 2 }", "{a={} b={c=1 d={e=2 } } }"),
        ("[a]\nb = 1\n[a.c]\nd = 2\n[e]", "{a={b=1 c={d=2 } } e={} }"),
        ("[a.b]\nc = 1\n[a]\nd = 2", "{a={b={c=1 } d=2 } }"),
        ("[[a]]\nb = 1\n[[a]]\n[a.c]\nd = 2\n[[a.e]]\n[[a.e]]", "{a=[{b=1 } {c={d=2 } e=[{} {} ] } ] }"),
        ("[a]\nb.c = 1\n[a.b.d]\ne = 2", "{a={b={c=1 d={e=2 } } } }"),
        ("[ a . 'b' ]\n", "{a={b={} } }"),
    ];
    for (text, expected) in table {
        assert_eq!(read(text).as_deref(), Ok(*expected), "{text:?}");
    }
}

#[test]
fn what_is_not_toml_is_refused_where_it_is_wrong() {
    // The text, a part of what is told, and the offset that it is told of.
    let table: &[(&str, &str, usize)] = &[
        ("a", "expected `=`, found the end of the file", 1),
        ("a = ", "expected a value, found the end of the file", 4),
        ("a = \n", "found the end of the line", 4),
        ("a = 1 b = 2", "expected the end of the line, found `b`", 6),
        ("= 1", "expected a key", 0),
        ("a. = 1", "expected a key", 3),
        ("a = 1\na = 2", "`a` is there already, in line 1", 6),
        ("a = 1\na.b = 2", "`a` is no table to add to", 6),
        ("[a]\n[a]", "`a` is there already, in line 1", 5),
        ("a.b = 1\n[a]", "`a` is there already", 9),
        ("a = {}\n[a.b]", "`a` is no table to add to", 8),
        ("a = []\n[[a]]", "`a` is there already", 9),
        ("a = [{}]\n[a.b]", "`a` is no list of tables", 10),
        ("[a]\n[[a]]", "`a` is there already", 6),
        ("[[a]]\n[a]", "`a` is there already", 7),
        ("[a.b.c]\nz = 9\n[a]\nb.c.t = 1", "`b` is no table to add to", 18),
        ("a = { b = 1 }\na.c = 2", "`a` is no table to add to", 14),
        ("[a", "expected `]`", 2),
        ("[[a]", "expected `]]`", 4),
        ("[a] b", "expected the end of the line", 4),
        ("a = {b = 1,}", "expected a key", 11),
        ("a = [1 2]", "expected `,` or `]`", 7),
        ("a = \"x", "the text has no end", 5),
        ("a = 'x\n'", "the text has no end", 5),
        ("a = '''x", "the text has no end", 7),
        ("a = \"\\x\"", "no escape begins like this", 5),
        ("a = \"\\ud800\"", "no character's number", 5),
        ("a = \"\\u+123\"", "no character's number", 5),
        ("a = \"\u{7}\"", "control character", 5),
        ("# \u{0}", "control character", 2),
        ("a = 01", "no number", 4),
        ("a = 1__0", "no number", 4),
        ("a = 9223372036854775808", "too large", 4),
        ("a = 1.", "no number", 4),
        ("a = 1979-05-27", "dates and times are not used", 4),
        ("a = 07:32:00", "dates and times are not used", 4),
        ("a = yes", "between quotation marks", 4),
        ("a\u{e9} = 1", "expected `=`, found `é`", 1),
        ("\"\"\"a\"\"\" = 1", "expected a key", 0),
    ];
    for (text, told, at) in table {
        let error = parse(text, &[]).expect_err(text);
        assert!(error.message.contains(told), "{text:?}: {}", error.message);
        assert_eq!((error.code, error.span.start), ("syntax", *at), "{text:?}: {}", error.message);
    }
    for text in [format!("a = {}", "[".repeat(17)), format!("{} = 1", ["a"; 9].join("."))] {
        assert_eq!(parse(&text, &[]).expect_err("it is too deep").code, "too-deep", "{text}");
    }
    assert!(parse(&format!("a = {}{}", "[".repeat(16), "]".repeat(16)), &[]).is_ok());
}

#[test]
fn a_short_text_does_not_become_large_in_memory() {
    let most = 1 << 19;
    for text in [
        format!("a = [{}]", "0,".repeat(most)),
        "[[a]]\n".repeat(most + 1),
        (0..most / 4).map(|n| format!("a{n}.b.c.d=1\n")).collect(),
    ] {
        let error = parse(&text, &[]).expect_err("it has too many");
        assert_eq!(error.code, "too-large", "{}", error.message);
    }
    assert!(parse(&format!("a = [{}]", "0,".repeat(most - 2)), &[]).is_ok());
}

/// Every prefix of a text with everything in it is read or refused, and so is every text with one byte less or another one.
#[test]
fn no_text_does_anything_else() {
    let text = "# c\nk = \"a\\u00e9\" # x\n[t.'u']\nl = [1, 'x', \"\"\"m\n\"\"\", {a = true, b.c = -1_0}]\n[[r]]\nx = 0x1f\r\n[[r]]\n";
    assert!(parse(text, &[]).is_ok());
    for at in 0..text.len() {
        let _ = text.get(..at).map(|text| parse(text, &[]));
        for byte in [b'\n', b'"', b'\'', b'[', b']', b'{', b'.', b'=', b'\\', 0, b'a', b' '] {
            let mut changed = text.as_bytes().to_vec();
            changed[at] = byte;
            if let Ok(changed) = String::from_utf8(changed) {
                let _ = parse(&changed, &[]);
            }
        }
    }
}

#[test]
fn many_keys_do_not_cost_their_square() {
    let text: String = (0..60_000).map(|n| format!("k{n} = {n}\n")).collect();
    let table = parse(&text, &[]).expect("it is TOML");
    assert_eq!(table.get("k59999").and_then(Value::as_integer), Some(59_999));
    assert_eq!(
        parse(&format!("{text}k7 = 1"), &[]).expect_err("twice").message,
        "`k7` is there already, in line 8"
    );
    // Each opens the same table again, by a path of its own.
    let text: String = (0..60_000).map(|n| format!("[a.b{n}]\n")).collect();
    assert!(parse(&text, &[]).is_ok());
}

#[test]
fn known_parts_are_not_looked_at() {
    let text = "a = 1\n[[r]]\nx = 1\n  [[r]]\ny = ?\n[b]\nc = 2\n[[r]]\nz";
    let start = |n: usize| text.match_indices("[[r]]").nth(n).expect("there are three").0;
    let known = [start(0)..text.find("[b]").expect("it is there"), start(2)..text.len()];
    let mut out = String::new();
    plain_table(&parse(text, &known).expect("what is left is TOML"), &mut out);
    assert_eq!(out, "{a=1 b={c=2 } }");
}
