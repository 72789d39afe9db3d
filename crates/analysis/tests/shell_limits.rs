//! Hostile input: every budget ends in an `Unknown` effect, on a small stack and in bounded time and memory.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use bumpalo::Bump;
use shward_analysis::{EffectKind, Frozen, Request, Source, Unknown, analyze};
use shward_syntax::Dialect;

/// What the interpreter says of a command: whether it was refused, and which budgets were used up.
fn budgets(command: &str) -> (bool, Vec<String>) {
    let command = command.to_owned();
    // The smallest stack that a host may run it on.
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(move || {
        let arena = Bump::new();
        let request = Request {
            source: Source::Command(command.as_bytes()),
            cwd: b"/work",
            workspace: b"/work",
            home: b"/home/me",
            dialect: Dialect::Bash,
        };
        let plan = analyze(&arena, &request, &Frozen);
        let mut found = Vec::new();
        for effect in plan.effects {
            if let EffectKind::Unknown { reason: Unknown::Budget(what) | Unknown::Exhausted(what) } =
                effect.kind
            {
                found.push(what.to_owned());
            }
        }
        assert!(
            arena.allocated_bytes() < (64 << 20) + command.len() * 256,
            "{} bytes for {}",
            arena.allocated_bytes(),
            command.len()
        );
        (plan.refused.is_some(), found)
    });
    thread.unwrap().join().unwrap()
}

#[test]
fn bombs_are_cut() {
    let deep = |open: &str, close: &str, n: usize| format!("{}p{}", open.repeat(n), close.repeat(n));
    let bombs = [
        format!("p {}", "{a,b}".repeat(40)),
        "p {1..1000000}".to_owned(),
        "p {1..9223372036854775807}".to_owned(),
        format!("x=aaaaaaaaaa; {} p \"$x\"", "x=$x$x; ".repeat(40)),
        format!("x=a; {} p \"$x\"", "x=\"${x//a/aa}\"; ".repeat(40)),
        format!("{} f31", (0..31).map(|i| format!("f{}() {{ f{i}; f{i}; }};", i + 1)).collect::<String>()),
        format!("{} p {}", "for i in 1 2 3 4 5 6 7 8; do".repeat(12), "; done".repeat(12)),
        format!("x='{}'; eval \"$x\"", "eval \"$x\"".replace('\'', "")),
        format!("{} p", "eval ".repeat(400)),
    ];
    for bomb in &bombs {
        let (refused, budgets) = budgets(bomb);
        let head: String = bomb.chars().take(60).collect();
        assert!(refused || !budgets.is_empty(), "{head} was not cut");
    }
    for shape in
        [deep("$(", ")", 90), deep("( ", ")", 90), deep("{ ", "; }", 90), deep("if ", "; then p; fi", 90)]
    {
        budgets(&shape);
    }
    for shape in [deep("$((", "))", 40), deep("${x:-", "}", 90), deep("\"$(", ")\"", 45), deep("<(", ")", 90)]
    {
        budgets(&format!("p {shape}"));
    }
    for nested in ["bash -c ", "sudo ", "env ", "nice "] {
        budgets(&format!("{} p", nested.repeat(300)));
    }
    let mut quoted = "p".to_owned();
    for _ in 0..9 {
        quoted = format!("bash -c '{}'", quoted.replace('\'', "'\\''"));
    }
    budgets(&quoted);
}

#[test]
fn long_but_ordinary_input_is_not_cut() {
    let long = [
        "p a; ".repeat(5_000),
        // Of shorter names, and of parts that are shorter, fewer are followed.
        format!("p {}", "a.rs ".repeat(20_000)),
        format!("p {}", "a ".repeat(16_000)),
        format!("p '{}'", "x".repeat(1_000_000)),
        (0..3_000).map(|i| format!("v{i}={i}; p $v{i}; ")).collect::<String>(),
        "x=1 && ".repeat(2_000) + "p",
        "p | ".repeat(2_000) + "p",
        format!("cat <<E\n{}\nE\n", "line of text $x\n".repeat(10_000)),
        "if a; then b; else c; fi; ".repeat(2_000),
        "for i in 1 2 3; do p $i; done; ".repeat(1_000),
        format!("f() {{ {} }}; f", "f x; ".repeat(50)),
        format!("{} p; x=$x; {}", "while c; do x=$y; ".repeat(30), "y=$z; z=$x; done;".repeat(30)),
        format!("case x in {} esac", "a) p;; ".repeat(3_000)),
    ];
    for command in &long {
        let (refused, budgets) = budgets(command);
        let head: String = command.chars().take(40).collect();
        assert!(!refused && budgets.is_empty(), "{head}: refused {refused}, budgets {budgets:?}");
    }
}
