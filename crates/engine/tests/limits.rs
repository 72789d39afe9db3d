//! Every limit of parser and analysis, from both sides: what just fits is judged like the plain command, and what is one
//! too many is never allowed.

use shward::{Decision, Firewall, Policy, Request, Setting};

/// A limit: what it bounds, a command that takes up so much of it, and how much fits. Each
/// does something harmless.
type Row = (&'static str, fn(usize) -> String, usize);

fn nested(open: &str, inner: &str, close: &str, n: usize) -> String {
    format!("{}{inner}{}", open.repeat(n), close.repeat(n))
}

fn numbered(n: usize, part: impl Fn(usize) -> String) -> String {
    (0..n).map(part).collect::<Vec<_>>().join("; ")
}

fn called(n: usize) -> String {
    let define = |i: usize| match i {
        0 => "f0() { ls; }".to_owned(),
        _ => format!("f{i}() {{ f{}; }}", i - 1),
    };
    format!("{}; f{}", numbered(n, define), n - 1)
}

fn references(n: usize) -> String {
    format!("a0=ls; {}; $a{n}", numbered(n, |i| format!("declare -n a{}=a{i}", i + 1)))
}

fn python(program: &str) -> String {
    format!("python3 -c '{program}'")
}

/// So many lines, each with its number.
fn lines(n: usize, line: &str) -> String {
    (0..n).map(|i| line.replace("{}", &i.to_string())).collect()
}

const LIMITS: &[Row] = &[
    ("here-documents of a line", |n| format!("cat{}\n{}", " <<E".repeat(n), "E\n".repeat(n)), 16),
    ("subshells", |n| nested("( ", "ls", " )", n), 49),
    ("groups", |n| nested("{ ", "ls;", " }", n), 49),
    ("substitutions", |n| format!("echo {}", nested("$(echo ", "a", ")", n)), 49),
    ("if", |n| nested("if true; then ", "ls", "; fi", n), 49),
    ("while", |n| nested("while false; do ", "ls", "; done", n), 49),
    ("for", |n| nested("for i in a; do ", "ls", "; done", n), 49),
    ("case", |n| nested("case a in a) ", "ls", ";; esac", n), 49),
    ("negations in a test", |n| format!("[[ {} ]]", nested("! ", "a", "", n)), 96),
    ("parameters", |n| format!("echo {}", nested("${a:-", "x", "}", n)), 99),
    ("arithmetic", |n| format!("echo $(({}))", nested("(", "1", ")", n)), 48),
    ("braces in braces", |n| format!("echo {}", nested("{a,", "b", "}", n)), 98),
    ("words of a brace expansion", |n| format!("echo {{1..{n}}}"), 4096),
    ("text evaluated by text", |n| nested("eval ", "ls", "", n), 49),
    ("programs started by programs", |n| nested("env ", "ls", "", n), 148),
    ("functions called by functions", called, 37),
    ("text that doubles", |n| format!("x=a; {}echo $x", "x=$x$x; ".repeat(n)), 16),
    ("lists that double", |n| format!("set -- a; {}echo", "set -- $@ $@; ".repeat(n)), 13),
    ("open descriptors", |n| numbered(n, |i| format!("exec {}</dev/null", i + 3)), 64),
    ("redirections of a command", |n| format!("ls{}", " >a".repeat(n)), 4096),
    ("words of a command", |n| format!("echo{}", " a".repeat(n)), 22_340),
    ("parts of a word", |n| format!("ls {}", "a*".repeat(n)), 11_946),
    ("options of a program", |n| format!("ls -{}", "l".repeat(n)), 16 << 10),
    ("pipelines of a list", |n| format!("true{}", " && true".repeat(n)), 16 << 10),
    ("commands of a pipeline", |n| format!("true{}", " | true".repeat(n)), (16 << 10) - 1),
    ("programs and effects", |n| ":;".repeat(n), 43_690),
    ("patterns in arguments", |n| format!("ls{}", " *".repeat(n)), 6553),
    ("links that are kept in mind", |n| numbered(n, |i| format!("ln -s /etc/passwd l{i}")), 31),
    ("programs that xargs starts", |n| format!("printf '{}' | xargs -I% ls %", "a\\n".repeat(n)), 64),
    ("programs that parallel starts", |n| format!("parallel touch :::{}", " a".repeat(n)), 64),
    ("words of what find starts", |n| format!("find . -exec cat{} \\;", " a".repeat(n - 1)), 16 << 10),
    ("places that fd searches", |n| format!("fd x{} -x touch {{}}", " src".repeat(n)), 64),
    ("operators of find in operators", |n| format!("find . {}", nested("\\( ", "-name a", " \\)", n)), 50),
    ("turns of a loop", |n| format!("for i in{}; do x=$i; done; touch f$x", " a".repeat(n)), 64),
    ("references to references", references, 7),
    ("candidates of a pattern", |n| format!("x={}; touch f${{x//*a*a*a*b/c}}", "a".repeat(n)), 256),
    (
        "values of a Python name",
        |n| python(&format!("{}open(x, \"w\")", lines(n, "if a{}: x = \"f{}\"\n"))),
        16,
    ),
    ("files of a Python program", |n| python(&lines(n, "open(\"f{}\", \"w\")\n")), 2000),
    ("packages around a Python module", |n| format!("echo 1 > b.py; python3 -m a{}", ".a".repeat(n - 1)), 16),
    ("names of a Python program", |n| python(&lines(n, "x{} = 1\n")), 4096),
    ("brackets of a Python program", |n| python(&nested("[", "1", "]", n)), 79),
    ("a Perl program", |n| format!("perl -e '{}'", "$x = 1; ".repeat(n)), 12_499),
    ("a JavaScript program", |n| format!("node -e '{}'", "x = 1; ".repeat(n)), 12_499),
    (
        "programs that are read again",
        |n| format!("cat > a <<E\n{}E\n{}", "x = 1\n".repeat(1000), "python3 a\n".repeat(n)),
        88,
    ),
    (
        "starts in a loop of a short command",
        |n| format!("f() {{ {}}}; for i in {{1..64}}; do f; done", "ls; ".repeat(n)),
        172,
    ),
    (
        "sums in a loop of a short command",
        |n| format!("for i in {{1..64}}; do {}done", "((x++)); ".repeat(n)),
        57,
    ),
    (
        "programs that a loop reads again",
        |n| {
            let file = "x = 1\n".repeat(500);
            format!("cat > a <<E\n{file}E\nfor i in {{1..64}}; do {}done", "python3 a; ".repeat(n))
        },
        1,
    ),
    (
        "files that a test runner loads",
        |n| format!("{}; pytest", numbered(n, |i| format!("echo 1 > a{i}.py"))),
        16,
    ),
    (
        "what is done before a test runner",
        |n| format!("{}; pytest", numbered(n, |i| format!("echo 1 > f{i}"))),
        1024,
    ),
    ("an SQL script", |n| format!("sqlite3 a.db '{}'", "select 1; ".repeat(n)), 66_666),
    ("an awk program", |n| format!("awk '{{{}}}' a", "x=1;".repeat(n)), 4999),
    ("files that a file includes", |n| format!("gcc -E - <<E\n{}E", lines(n, "#include \"a{}\"\n")), 64),
    ("files of a patch", |n| format!("patch -p0 <<E\n{}E", lines(n, "+++ src/f{}\n")), 512),
    (
        "places that the actions of find look at",
        |n| format!("find{} -exec ls {{}} +", " src".repeat(n)),
        2048,
    ),
];

/// What people do to many files at once; that takes time, and no purse.
const MANY: &[fn(usize) -> String] = &[
    |i| format!("rm src/f{i}"),
    |i| format!("echo a > f{i}"),
    |i| format!("echo a >> f{i}; cat f{i}"),
    |i| format!("cat > f{i} <<E\na\nE\n"),
    |i| format!("echo a | tee f{i}"),
    |i| format!("mkdir -p d{i} && touch d{i}/a && cp d{i}/a d{i}/b && mv d{i}/b d{i}/c"),
    |i| format!("if [ -f f{i} ]; then echo b > f{i}; fi"),
    |i| format!("( cd d{i}; touch a )"),
    |i| format!("v{i}=1; echo $v{i} > f{i}"),
    |i| format!("sh -c 'echo a > f{i}'"),
    |i| format!("f{i}() {{ ls; }}; f{i}"),
];

#[test]
fn many_files_are_no_limit() {
    let firewall = Firewall::new(Policy::default());
    let decide = |command: String| {
        let request = Request::command(command, "/workspace", "/home/dev");
        firewall.examine(&request, &Setting::frozen()).map(|checked| checked.decision)
    };
    for n in [10, 6000] {
        for one in MANY {
            let command = (0..n).map(one).collect::<Vec<_>>().join("\n");
            assert!(matches!(decide(command), Ok(Decision::Allow)), "{n} times {}", one(1));
        }
        for program in ["rm", "git add", "touch", "wc -l", "chmod +x"] {
            let names: String = (0..n).map(|i| format!(" src/f{i}.txt")).collect();
            assert!(
                matches!(decide(format!("{program}{names}")), Ok(Decision::Allow)),
                "{program}, {n} files"
            );
        }
        let names: String = (0..n).map(|i| format!(" {i}")).collect();
        assert!(
            matches!(decide(format!("for i in{names}; do echo a > f$i; done")), Ok(Decision::Allow)),
            "a loop over {n}"
        );
    }
}

#[test]
fn what_is_over_a_limit_is_never_allowed() {
    let firewall = Firewall::new(Policy::default());
    let decide = |command: &str| {
        let request = Request::command(command, "/workspace", "/home/dev");
        firewall.examine(&request, &Setting::frozen()).map(|checked| checked.decision)
    };
    let mut wrong = Vec::new();
    for (name, command, most) in LIMITS {
        for n in [1, *most] {
            if !matches!(decide(&command(n)), Ok(Decision::Allow)) {
                wrong.push(format!("{name}: {n} is not allowed"));
            }
        }
        for n in [most + 1, most * 2, most * 100] {
            if matches!(decide(&command(n)), Ok(Decision::Allow)) {
                wrong.push(format!("{name}: {n} is allowed"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
