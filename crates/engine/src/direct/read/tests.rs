//! Which commands need no shell.

use super::{BUILTINS, Find, read};
use shward_sandbox::script::Program;
use std::path::{Path, PathBuf};

/// Every name is a program, those with a slash only where the directory is known and nothing has run.
struct Everything;

impl Find for Everything {
    fn find(&self, name: &[u8], cwd: Option<&Path>, touched: bool) -> Option<Program> {
        let name = str::from_utf8(name).ok()?;
        if name.contains('/') && (touched || cwd.is_none()) {
            return None;
        }
        Some(Program {
            path: PathBuf::from(name),
            arguments: Vec::new(),
            variables: Vec::new(),
            identity: None,
        })
    }
}

#[test]
fn the_table_can_be_searched() {
    assert!(BUILTINS.is_sorted());
}

#[test]
fn commands_that_need_no_shell() {
    // command, how it is shown, or nothing where a shell is needed
    let table = [
        ("ls -la", "ls ls -la"),
        ("git commit -m 'a b' \"c\\\"d\" e\\ f", "git git commit -m a b c\\\"d e f"),
        ("grep '' $'a\\tb' \"\"", "grep grep  a\\tb "),
        ("cargo test --workspace # all", "cargo cargo test --workspace"),
        ("make CFLAGS=-O2", "make make CFLAGS=-O2"),
        ("\"ls\" {} ] a{b", "ls ls {} ] a{b"),
        ("ls > x", "ls ls 1>x"),
        ("ls 2>&1 >>x <y", "ls ls 2>&1 1>>x 0<y"),
        ("ls &> x", "ls ls 1>x 2>&1"),
        ("ls >& x", "ls ls 1>x 2>&1"),
        ("ls >& 2", "ls ls 1>&2"),
        ("ls 2>&-", "ls ls 2>&-"),
        ("ls 3<> x", "ls ls 3<>x"),
        ("ls | cat", "ls ls | cat cat"),
        ("ls |& cat", "ls ls 2>&1 | cat cat"),
        ("ls; ls\nls", "ls ls; ls ls; ls ls"),
        ("ls; ls && cat", "ls ls; { ls ls && cat cat; }"),
        ("ls\nls && cat", "ls ls; ls ls && cat cat"),
        ("ls && ls || cat", "ls ls && ls ls || cat cat"),
        ("! ls", "! ls ls"),
        ("(ls; cd x; ls)", "(ls ls; cd /w/x; ls ls)"),
        ("{ ls; } > x", "{ ls ls; } 1>x"),
        ("> x", "true 1>x"),
        ("A=b C= ls", "A=b C= ls ls"),
        ("echo a  'b  c'; echo -n x", "echo \"a b  c\\n\"; echo \"x\""),
        ("echo -e 'a\\tb'", "echo \"a\\tb\\n\""),
        ("printf '%s-%d\\n' a 1 b 2", "printf \"a-1\\nb-2\\n\""),
        ("cat <<'E' | cat\n$x\nE", "cat cat 0<<<\"$x\\n\" | cat cat"),
        ("cat <<E\na \\$x\nE", "cat cat 0<<<\"a $x\\n\""),
        ("cat <<< a", "cat cat 0<<<\"a\\n\""),
        ("cd sub && ls", "cd /w/sub && ls ls"),
        ("cd ../x/./y; pwd", "cd /x/y; pwd"),
        ("cd /a && cd b && ./x", "cd /a && cd /a/b && ./x ./x"),
        ("cd a && ./x", "cd /w/a && ./x ./x"),
        ("true && false || :", "true && status 1 || true"),
        // Where it runs is not known.
        ("cd a; ./x", ""),
        ("cd a; cd b", ""),
        ("cd a || ls; cd b", ""),
        ("false && cd /a; ./x", "status 1 && cd /a; ./x ./x"),
        ("cd a | ls; cd b", "cd /w/a | ls ls; cd /w/b"),
        // The program may be another by then.
        ("ls; ./x", ""),
        ("ls | ./x", ""),
        ("echo a > x; ./x", ""),
        ("echo a > /dev/null; ./x", "echo \"a\\n\" 1>/dev/null; ./x ./x"),
        ("cd a/..", ""),
        ("cd -", ""),
        ("cd", ""),
        ("cd a b", ""),
        ("pwd -P", ""),
        ("printf %5s a", ""),
        ("printf '%d' 08", ""),
        ("printf '\\u00e9'", ""),
        ("exit 1", ""),
        ("[ -f x ]", ""),
        ("ls *.rs", ""),
        ("ls a?", ""),
        ("ls [a]", ""),
        ("ls ~", ""),
        ("make prefix=~/x", ""),
        ("ls $HOME", ""),
        ("ls \"$HOME\"", ""),
        ("ls $(pwd)", ""),
        ("ls {a,b}", ""),
        ("ls > $x", ""),
        ("ls > ''", ""),
        ("ls > *.x", ""),
        ("ls > /dev/tcp/a/1", ""),
        ("ls {fd}> x", ""),
        ("ls 12> x", ""),
        ("ls >&2-", ""),
        ("ls 2>& x", ""),
        ("{ ls; } >&-", ""),
        ("cat <<E\n$x\nE", ""),
        ("cat <<< $x", ""),
        ("ls &", ""),
        ("time ls", ""),
        ("A=b", ""),
        ("A=$x ls", ""),
        ("PATH=/x ls", ""),
        ("LC_ALL=x ls", ""),
        ("SHELLOPTS=xtrace ls", ""),
        ("POSIX_PEDANTIC=1 ls", ""),
        ("A+=b ls", ""),
        ("A=b echo", ""),
        ("if", ""),
        ("if ls; then ls; fi", ""),
        ("f() { ls; }; f", ""),
        ("''", ""),
        ("", ""),
        ("# nothing", ""),
        ("diff <(ls) x", ""),
        ("ls $\"a\"", ""),
    ];
    for (command, expected) in table {
        let found = read(command.as_bytes(), Path::new("/w"), &Everything);
        let shown = found.map(|read| read.list.to_string());
        assert_eq!(shown.unwrap_or_default(), expected, "{command}");
    }
}

#[test]
fn it_is_known_when_the_shell_itself_moves() {
    let table = [("cd a", true), ("(cd a)", false), ("cd a | ls", false), ("{ cd a; }", true), ("ls", false)];
    for (command, moves) in table {
        assert_eq!(read(command.as_bytes(), Path::new("/w"), &Everything).unwrap().moves, moves, "{command}");
    }
}

#[test]
fn what_is_too_much_is_a_shells() {
    let many = |n: usize| vec!["ls"; n].join("\n");
    let deep = |n: usize| format!("{}ls{}", "( ".repeat(n), ")".repeat(n));
    for (command, fits) in [
        (many(500), true),
        (many(501), false),
        (deep(30), true),
        (deep(40), false),
        (vec!["ls"; 40].join("&&"), false),
    ] {
        assert_eq!(read(command.as_bytes(), Path::new("/w"), &Everything).is_some(), fits, "{command:.40}");
    }
}
