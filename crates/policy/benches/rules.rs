//! What rules of files cost: reading them from TOML, loading them from their cache, and what they add to a verdict.
//! `cargo bench -p shward-policy`.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a bench prints what it measures")]

use bumpalo::Bump;
use shward_analysis::{Frozen, Request, Source as Input, analyze};
use shward_policy::{Compiled, Context, Layer, Policy, Source, decide};
use shward_syntax::Dialect;
use std::hint::black_box;
use std::time::{Duration, Instant};

const WORKSPACE: &[u8] = b"/home/user/project";

/// So many rules of the usual kinds.
fn policy_text(count: usize) -> String {
    (0..count)
        .map(|n| match n % 4 {
            0 => format!("[[rule]]\nid = \"r{n}\"\ndecision = \"deny\"\nprogram = [\"tool{n}\", \"other{n}\"]\nreason = \"Not here.\"\n"),
            1 => format!("[[rule]]\nid = \"r{n}\"\ndecision = \"ask\"\nprogram = \"p{n}\"\nsubcommand = \"push\"\noption = \"--force\"\n"),
            2 => format!("[[rule]]\nid = \"r{n}\"\ntier = 3\nprogram = \"q{n}\"\nreason = \"It matters.\"\n"),
            _ => format!("[[rule]]\nid = \"r{n}\"\ndecision = \"allow\"\nprogram = \"s{n}\"\neffect = [\"connect\", \"read\"]\nhost = \"h{n}.example.com\"\n"),
        })
        .collect()
}

/// The shortest of many runs: what else happens on the machine only adds.
fn shortest(times: usize, mut f: impl FnMut()) -> Duration {
    (0..times)
        .map(|_| {
            let start = Instant::now();
            f();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

fn policy(count: usize) -> Policy {
    let source = Source { layer: Layer::User, name: "bench".to_owned(), text: policy_text(count) };
    Policy::from_sources(None, &[source]).expect("it is a policy")
}

fn verdict(policy: &Policy) -> Duration {
    let arena = Bump::new();
    let command =
        b"git status && ls -la src | head -20 && cat README.md && curl https://example.com/x > out.txt";
    let source = Input::Command(command);
    let request =
        Request { source, cwd: WORKSPACE, workspace: WORKSPACE, home: b"/home/user", dialect: Dialect::Bash };
    let plan = analyze(&arena, &request, &Frozen);
    let context = Context { contained: false, cwd: WORKSPACE, workspace: WORKSPACE, home: b"/home/user" };
    shortest(3000, || {
        black_box(decide(policy, &plan, &context));
    })
}

fn main() {
    let text = policy_text(1000);
    let source = Source { layer: Layer::User, name: "bench".to_owned(), text };
    let toml = shortest(200, || {
        black_box(Policy::from_sources(None, std::slice::from_ref(&source)).is_ok());
    });
    println!("1000 rules from TOML ({} bytes): {toml:?}", source.text.len());
    let with = policy(1000);
    let bytes = with.file_rules().next().map(Compiled::encode).unwrap_or_default();
    let cache = shortest(2000, || {
        black_box(Compiled::decode(&bytes));
    });
    println!("1000 rules from their cache ({} bytes): {cache:?}", bytes.len());
    let none = verdict(&Policy::default());
    println!("a verdict without rules of files: {none:?}");
    for count in [10, 1000, 10_000] {
        let cost = verdict(&policy(count));
        println!("a verdict with {count} rules: {cost:?}, adds {:?}", cost.saturating_sub(none));
    }
}
