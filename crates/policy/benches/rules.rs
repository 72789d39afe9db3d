//! What rules of files cost: reading them from TOML, taking them up as they were kept, and what they add to a verdict.
//! `cargo bench -p shward-policy`.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a bench prints what it measures")]

use bumpalo::Bump;
use shward_analysis::{Frozen, Request, Source as Input, analyze};
use shward_policy::{Context, Document, Layer, Policy, Source, decide};
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
    let kept = Document::parse(source.clone()).ok().and_then(|d| d.keep()).expect("it has rules");
    // The copies that are used up are made outside: a process reads both from files.
    let mut copies = vec![(source, kept.clone()); 500].into_iter();
    let from_kept = shortest(500, || {
        let (source, bytes) = copies.next().expect("there is one for each time");
        let document = Document::kept(source, bytes).expect("it is of this file");
        black_box(Policy::from_documents(None, std::slice::from_ref(&document), &[]).is_ok());
        // Its memory is given back outside, too.
        std::mem::forget(document);
    });
    println!("1000 rules from what was kept ({} bytes): {from_kept:?}", kept.len());
    let none = verdict(&Policy::default());
    println!("a verdict without rules of files: {none:?}");
    let mut few = Duration::ZERO;
    for count in [10, 1000, 10_000] {
        let cost = verdict(&policy(count));
        if count == 10 {
            few = cost;
        }
        let ratio = cost.as_secs_f64() / few.as_secs_f64();
        println!(
            "a verdict with {count} rules: {cost:?}, adds {:?}, {ratio:.2} x that of 10",
            cost.saturating_sub(none)
        );
    }
}
