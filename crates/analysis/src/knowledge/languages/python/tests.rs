//! The tables are searched by halving: they must be sorted.

use super::value::{Val, any_of, join};
use super::{builtins, modules, os, packages, repeats};
use crate::value::{Origins, Value};
use crate::{Frozen, Request, Source, analyze};
use bumpalo::Bump;
use shward_syntax::Dialect;

fn assert_sorted<'n>(names: impl Iterator<Item = &'n str>) {
    let names: Vec<&str> = names.collect();
    for pair in names.windows(2) {
        assert!(pair[0] < pair[1], "{} stands before {}", pair[0], pair[1]);
    }
}

#[test]
fn tables_are_sorted() {
    assert_sorted(builtins::BUILTINS.iter().map(|(name, _)| *name));
    assert_sorted(os::OS.iter().map(|(name, _)| *name));
    assert_sorted(os::OS_PATH.iter().map(|(name, _)| *name));
    for table in [modules::STANDARD, packages::PACKAGES] {
        assert_sorted(table.iter().map(|module| module.name));
        for module in table {
            assert_sorted(module.members.iter().map(|(name, _)| *name));
        }
    }
}

/// Lines of programs, of which many depend on what others do.
const LINES: [&str; 87] = [
    "import os, subprocess, sys",
    "import requests as r",
    "from os import *",
    "from tools import *",
    "def f(a, b=None):",
    "def g(a):",
    "async def h(*a, **b):",
    "class C(dict):",
    "    def __init__(self, a):",
    "    def m(self, a):",
    "        self.a = a",
    "        os.remove(self.a)",
    "    @staticmethod",
    "@f",
    "    global x, y",
    "    return a",
    "    x = a",
    "    y = a + '/z'",
    "    open(a, 'w').write(b)",
    "    g(b)",
    "    f(a, x)",
    "    subprocess.run(a)",
    "    subprocess.Popen(x, stdin=y)",
    "    os.chdir(a)",
    "    if a:",
    "    for a in x:",
    "    while y:",
    "    x.append(a)",
    "    y[a] = b",
    "    x = x + a",
    "    x += [a]",
    "    os.system(x)",
    "    return lambda q: os.unlink(q)",
    "f('/etc/passwd')",
    "f(y, x)",
    "g(open)",
    "g(['rm', '-r', x])",
    "h(x, b=y)",
    "C(x).m(y)",
    "c = C('/srv/c')",
    "c.a = x",
    "c.m(print)",
    "c.a = '/srv/a'",
    "x = c.a",
    "x = [z for z in y]",
    "x = y[0]",
    "os.remove(x)",
    "x = os.path.abspath('a')",
    "open('b', 'w')",
    "x = '/tmp/x'",
    "x = ['ls', '/srv']",
    "x = os.path.join(x, y)",
    "x = y = {}",
    "y = input()",
    "y = [y, x]",
    "x, y = y, x",
    "x = f",
    "y = x",
    "y = f'{x}/{y}'",
    "x += y",
    "x += ['a']",
    "x.append('/var/x')",
    "x.sort()",
    "y.update(x)",
    "del x[0]",
    "print(x); os.remove(y)",
    "for x in y: os.remove(x)",
    "if x: y = '/srv/y'",
    "os.chdir(x)",
    "os.environ['HOME'] = x",
    "subprocess.run(x)",
    "subprocess.run(y, stdin=open(x))",
    "exec('y = x')",
    "exec(x)",
    "with open(x) as y: pass",
    "open('made.py', 'w').write('import os'); import made",
    "r.post(x, data=y)",
    "z = sys.stdout, requests.Session(), r",
    "import unknown; unknown.use(x, z); unknown.get('/items')",
    "for file in y:",
    "with open(x) as file:",
    "def k(file):",
    "    class D:",
    "        file = x",
    "        file(x, 'w')",
    "exec('del file')",
    "g(file)",
];

/// What a program does, with or without repetitions.
fn plan(program: &str, never: bool) -> String {
    repeats::NEVER.set(never);
    let command = format!("cat > other.py; python3 - <<'END'\n{program}\nEND\n");
    let arena = Bump::new();
    let request = Request {
        source: Source::Command(command.as_bytes()),
        cwd: b"/home/u/w",
        workspace: b"/home/u/w",
        home: b"/home/u",
        dialect: Dialect::Bash,
    };
    let plan = format!("{:?}", analyze(&arena, &request, &Frozen));
    repeats::NEVER.set(false);
    plan
}

/// Numbers below others, the same in each run.
fn numbers() -> impl FnMut(usize) -> usize {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % below
    }
}

#[test]
fn what_is_repeated_is_what_would_be_read() {
    let mut next = numbers();
    for _ in 0..16_000 {
        let program: Vec<&str> = (0..4 + next(30)).map(|_| LINES[next(LINES.len())]).collect();
        let program = program.join("\n");
        assert_eq!(plan(&program, false), plan(&program, true), "{program}");
    }
}

#[test]
fn what_is_no_longer_told_apart_is_learnt_again() {
    // Each with another text: more of them than are told apart.
    const MORE: [&str; 9] = [
        "x = '/srv/#'",
        "    x = '/srv/#'",
        "y = x, '/srv/#'",
        "f('/srv/#', x)",
        "g(#)",
        "x.append('/srv/#')",
        "    y.append(['/srv/#', x])",
        "c.a = '/srv/#'",
        "    y = y + ['/srv/#']",
    ];
    let mut next = numbers();
    for _ in 0..400 {
        let lines = (0..40 + next(40)).map(|at| match next(3) {
            0 => LINES[next(LINES.len())].to_owned(),
            _ => MORE[next(MORE.len())].replace('#', &at.to_string()),
        });
        let program = lines.collect::<Vec<_>>().join("\n");
        assert_eq!(plan(&program, false), plan(&program, true), "{program}");
    }
}

#[test]
fn what_is_put_into_printed_text_counts() {
    for (printed, effects) in [
        ("print(f'{os.remove(x)}')", &["Delete"][..]),
        ("print(f'a {1:{os.remove(x)}} b', end='')", &["Delete"]),
        ("print('a', f'{os.environ}')", &["Environment"]),
        ("print(f'{(z := \"/srv/z\")}'); open(z, 'w')", &["/srv/z"]),
        ("print(f'{y}', file=open('/srv/f', 'w'))", &["/srv/f"]),
        ("print(*y, f'/home/u/.ssh/id_{x}')", &["/home/u/.ssh"]),
        ("print(f'{x}' + exec(y))", &["Code"]),
        ("print(f'{exec(y)}' 'z')", &["Code"]),
        ("show = print; show(f'{exec(y)}')", &["Code"]),
        ("print = os.system; print(f'rm /srv/z')", &["Delete", "/srv/z"]),
    ] {
        for lead in ["for x in y: ", "def f(x):\n    ", "unknown()\n"] {
            let plan = plan(&format!("import os\n{lead}{printed}\nf(1)\n"), false);
            for effect in effects {
                // A kind of effect, or bytes.
                let bytes = format!("{:?}", effect.as_bytes());
                let told = plan.contains(effect) || plan.contains(bytes.trim_matches(['[', ']']));
                assert!(told, "{lead}{printed}: {effect}: {plan}");
            }
        }
    }
}

#[test]
fn what_is_in_many_containers_is_not_looked_at_again_and_again() {
    for last in
        ["unknown.use(x)", "print(x)", "g(x)", "x.sort()", "return x", "@x", "os.system(x)", "y.update(x)"]
    {
        let nested = "x = [x, x, x, x, x, x, x, x]\n".repeat(10);
        let program = format!("import unknown, os\ny = {{}}\nx = ['a']\n{nested}{last}\n");
        let began = std::time::Instant::now();
        plan(&program, false);
        assert!(began.elapsed().as_secs() < 5, "{last}");
    }
    let unread = plan(&format!("import u\nx = 1\n{}u.f(x)", "x = [x, x, x, x, x]\n".repeat(9)), false);
    assert!(unread.contains("Code"), "{unread}");
}

/// What is too much to be told apart has something that stands for it, and what acts is never lost among the rest.
#[test]
fn what_there_is_no_room_for_has_something_that_stands_for_it() {
    let arena = Bump::new();
    let text =
        |n: usize| Val::Text(Value::text(arena.alloc_slice_copy(n.to_string().as_bytes()), Origins::NONE));
    let many = any_of(&arena, (0..40).map(text)).unwrap();
    assert!(!many.acts() && many.alternatives().len() < 20);
    assert!(join(&arena, many, Val::Local(3)).acts());
    let counted = join(&arena, many, Val::Number(3));
    assert!(counted.alternatives().iter().any(|one| matches!(one, Val::Count)));
    // One more text is among them already, so that nothing is made.
    let (Val::OneOf(more), Val::OneOf(all)) = (join(&arena, many, text(41)), many) else { panic!() };
    assert!(std::ptr::eq(more, all));
}

/// A program has one of these for every four bytes, and each is looked at many times.
#[test]
fn tokens_are_small() {
    assert_eq!(size_of::<super::tokens::Token<'_>>(), 16);
}
