//! Words to argument lists: what the interpreter says a command is started with.

use bumpalo::Bump;
use shward_analysis::{Frozen, Request, Source, analyze};
use shward_syntax::Dialect;

/// The argument lists of all programs and builtins that a command starts, in order. `?` is an argument that is not
/// known, `…` any number of them.
fn argument_lists(command: &str, dialect: Dialect) -> Vec<String> {
    let arena = Bump::new();
    let request = Request {
        source: Source::Command(command.as_bytes()),
        cwd: b"/work",
        workspace: b"/work",
        home: b"/home/me",
        dialect,
    };
    let plan = analyze(&arena, &request, &Frozen);
    assert_eq!(plan.refused, None, "{command}");
    let shown = |argv: &[shward_analysis::Field<'_>]| {
        let words = argv.iter().map(|field| match field.known() {
            Some(text) => String::from_utf8_lossy(text).into_owned(),
            None if field.many => "…".to_owned(),
            None => "?".to_owned(),
        });
        words.collect::<Vec<_>>().join("|")
    };
    plan.invocations.iter().map(|invocation| shown(invocation.argv)).collect()
}

fn check(rows: &[(&str, &[&str])], dialect: Dialect) {
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|(command, expected)| {
            let found = argument_lists(command, dialect);
            (found != *expected).then(|| format!("{command}\n  expected {expected:?}\n  found    {found:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn quoting_and_splitting() {
    check(
        &[
            ("p a'b'\"c\"\\d", &["p|abcd"]),
            ("p $'a\\tb' '' \"\"", &["p|a\tb||"]),
            ("x='a b'; p $x \"$x\"", &["p|a|b|a b"]),
            ("x=' a '; p -$x-", &["p|-|a|-"]),
            ("IFS=:; x=a::b:; p $x", &["p|a||b"]),
            ("e=; p $e \"$e\" $e$e", &["p|"]),
            ("p \"$@\"", &["p"]),
            ("set -- 'a b' c; p $* \"$*\" \"$@\" x\"$@\"y", &["set|--|a b|c", "p|a|b|c|a b c|a b|c|xa b|cy"]),
            ("set -- a b; IFS=,; p \"$*\"", &["set|--|a|b", "p|a,b"]),
            ("p *.rs a[bc]", &["p|…|…"]),
            ("set -f; p *.rs", &["set|-f", "p|*.rs"]),
            ("p a[", &["p|a["]),
            ("p $UNKNOWN \"$UNKNOWN\" a$UNKNOWN", &["p|…|?|…"]),
            ("p ~ ~/x ~+ \"~\"", &["p|/home/me|/home/me/x|/work|~"]),
        ],
        Dialect::Bash,
    );
}

#[test]
fn parameter_expansion() {
    check(
        &[
            ("x=abc; p ${x:1} ${x: -1} ${x:0:2} ${#x}", &["p|bc|c|ab|3"]),
            ("f=a/b.tar.gz; p ${f##*/} ${f%.*} ${f%%.*} ${f#*/}", &["p|b.tar.gz|a/b.tar|a/b|b.tar.gz"]),
            ("x=aXbX; p ${x/X/-} ${x//X/-} ${x/%X} ${x^^} ${x,,}", &["p|a-bX|a-b-|aXb|AXBX|axbx"]),
            ("unset x; p ${x:-d} ${x-d} ${x:+s} ${x:=n} $x", &["unset|x", "p|d|d|n|n"]),
            ("p ${HOME}/x ${PWD}", &["p|/home/me/x|/work"]),
            ("p ${UNSET_OR_NOT:-d}", &["p|…"]),
            ("a=(x 'y z'); a[3]=w; p ${a[1]} \"${a[@]}\" ${#a[@]} ${!a[@]}", &["p|y|z|x|y z|w|3|0|1|3"]),
            ("declare -A m=([k]=v); p ${m[k]}", &["declare|-A", "p|v"]),
            ("v=x; x=1; p ${!v}", &["p|1"]),
            ("set -- a b c; p ${@:2} ${*:1:1} $# ${!#}", &["set|--|a|b|c", "p|b|c|a|3|c"]),
            ("for f in *.txt; do p \"${f%.txt}.md\"; done", &["p|?"]),
            ("x=a; x+=b; p $x", &["p|ab"]),
            ("declare -n r=x; x=1; p $r; r=2; p $x", &["declare|-n|r=x", "p|1", "p|2"]),
        ],
        Dialect::Bash,
    );
}

#[test]
fn arithmetic() {
    check(
        &[
            ("p $((1+2*3)) $((2**10)) $((7/2)) $((-7%3)) $((1<<4|1))", &["p|7|1024|3|-1|17"]),
            ("n=3; p $((n+1)) $((n++)) $n $((n=5, n*2))", &["p|4|3|4|10"]),
            ("x=y; y=4; p $((x))", &["p|4"]),
            ("p $((0x1f)) $((010)) $((2#101)) $((1?2:3))", &["p|31|8|5|2"]),
            ("((n=2)); let m=n+1; p $n $m", &["let|m=n+1", "p|2|3"]),
            ("p $((RANDOM % 2)) f$RANDOM", &["p|?|?"]),
            ("a=(1 2); p $((a[1]+1))", &["p|3"]),
        ],
        Dialect::Bash,
    );
}

#[test]
fn braces_and_substitution() {
    check(
        &[
            ("p {a,b}{1,2}", &["p|a1|a2|b1|b2"]),
            ("p {1..3} {c..a} {01..3} x{,y}", &["p|1|2|3|c|b|a|01|02|03|x|xy"]),
            ("x=q; p ${x}{1,2}", &["p|q1|q2"]),
            ("p $(echo a b) \"$(echo 'a  b')\"", &["echo|a|b", "echo|a  b", "p|a|b|a  b"]),
            ("p `echo x`$(printf '%s-' 1 2)", &["echo|x", "printf|%s-|1|2", "p|x1-2-"]),
            ("p $(cat f)", &["cat|f", "p|…"]),
            ("p <(echo a)", &["echo|a", "p|/dev/fd/63"]),
            ("p $(pwd -P; x=1)$x", &["pwd|-P", "p|…"]),
        ],
        Dialect::Bash,
    );
}

#[test]
fn state_flows_through_lists_and_branches() {
    check(
        &[
            ("x=1; if c; then x=2; fi; p $x", &["c", "p|?"]),
            ("x=1; if c; then x=1; else x=1; fi; p $x", &["c", "p|1"]),
            ("x=1; (x=2); p $x", &["p|1"]),
            ("x=1 && p $x && x=2 && p $x", &["p|1", "p|2"]),
            ("x=1; c || exit; p $x", &["c", "exit", "p|1"]),
            ("c || { x=2; exit 1; }; p \"${x-unset}\"", &["c", "exit|1", "p|?"]),
            ("for i in a b; do p $i; done; p $i", &["p|a", "p|b", "p|b"]),
            ("for i in a b; do p $i; c && break; done", &["p|a", "c", "break", "p|b", "c", "break"]),
            ("while c; do x=1; done; p \"$x\"", &["c", "c", "p|?"]),
            ("f() { local x=2; p $x $1; }; x=1; f a; p $x", &["f|a", "local|x=2", "p|2|a", "p|1"]),
            ("f() { return; p a; }; f; p b", &["f", "return", "p|a", "p|b"]),
            ("case a in a) x=1;; *) x=1;; esac; p $x", &["p|1"]),
            ("echo a | { read x; p $x; }; p ${x-}", &["echo|a", "read|x", "p|a", "p|…"]),
            ("x=1 eval 'p $x'", &["eval|p $x", "p|1"]),
            ("eval 'x=3'; p $x", &["eval|x=3", "p|3"]),
            ("read x y <<< 'a b c'; p \"$x\" \"$y\"", &["read|x|y", "p|a|b c"]),
            ("printf -v x %s-%s a b; p $x", &["printf|-v|x|%s-%s|a|b", "p|a-b"]),
            ("bash -c 'p $0 $1' a b", &["bash|-c|p $0 $1|a|b", "p|a|b"]),
            ("x=1; export y=2; bash -c 'p ${x-} $y'", &["export|y=2", "bash|-c|p ${x-} $y", "p|…|2"]),
            ("trap 'p $x' EXIT; x=1", &["trap|p $x|EXIT", "p|…"]),
            ("x=1; trap 'p $x' EXIT", &["trap|p $x|EXIT", "p|1"]),
        ],
        Dialect::Bash,
    );
}

#[test]
fn dash_differs() {
    check(
        &[
            ("alias l='p -l'\nl x", &["alias|l=p -l", "p|-l|x", "l|x"]),
            ("x=1 :; p $x", &[":", "p|1"]),
            ("p {a,b}", &["p|{a,b}"]),
        ],
        Dialect::Posix,
    );
}
