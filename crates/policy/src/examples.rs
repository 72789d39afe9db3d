//! The examples of a rule, tried whenever its file is read: a rule that misses what it was written for is an error.

use crate::Context;
use crate::compiled::{Compiled, Facts};
use crate::condition::Subject;
use crate::condition::opaque_invocations;
use crate::decision::Tier;
use crate::decision::tier_of;
use crate::file::{Diagnostic, Problems};
use crate::spec::RuleSpec;
use bumpalo::Bump;
use shward_analysis::{Frozen, Request, Source, analyze};
use shward_syntax::Dialect;

/// Where examples are tried.
const WORKSPACE: &[u8] = b"/home/user/project";
const HOME: &[u8] = b"/home/user";

/// Longest example, in bytes.
const LONGEST: usize = 64 * 1024;

/// Most text of all examples of a file, in bytes. They are analysed whenever it is read anew.
const MOST: usize = 1 << 20;

/// Every example that its rule does not answer as it says.
pub(crate) fn check(rules: &[RuleSpec<'_>], compiled: &Compiled) -> Vec<Diagnostic> {
    let mut problems = Problems::default();
    let mut length = 0;
    for (at, rule) in (0u32..).zip(rules) {
        length += rule.examples.iter().chain(&rule.counterexamples).map(|e| e.len()).sum::<usize>();
        if length > MOST {
            let message = format!("the examples of this file have more than {MOST} bytes; split it");
            problems.push(Diagnostic::new("too-large", 0..0, message).at_line(rule.line));
        }
        if length > MOST || problems.are_enough() {
            break;
        }
        let wanted =
            rule.examples.iter().map(|e| (e, true)).chain(rule.counterexamples.iter().map(|e| (e, false)));
        for (example, wanted) in wanted {
            let met =
                example.len() <= LONGEST && meets(compiled, at, rule.contained.unwrap_or(false), example);
            if met != wanted {
                let message = if wanted {
                    format!("the rule `{}` does not meet its example: {example}", rule.id)
                } else {
                    format!("the rule `{}` meets what it must not: {example}", rule.id)
                };
                problems.push(Diagnostic::new("example", 0..0, message).at_line(rule.line));
            }
        }
    }
    problems.into_vec()
}

fn meets(compiled: &Compiled, at: u32, contained: bool, command: &str) -> bool {
    let arena = Bump::new();
    let request = Request {
        source: Source::Command(command.as_bytes()),
        cwd: WORKSPACE,
        workspace: WORKSPACE,
        home: HOME,
        dialect: Dialect::Bash,
    };
    let plan = analyze(&arena, &request, &Frozen);
    let context = Context { contained, cwd: WORKSPACE, workspace: WORKSPACE, home: HOME };
    let opaque = opaque_invocations(&plan, &context);
    let effects = plan.effects.iter().enumerate().any(|(index, effect)| {
        let subject = Subject::of_effect(effect, index, &plan, &context);
        compiled.is_about_at(at, &Facts::new(&subject, tier_of(&effect.kind)))
    });
    effects
        || (0u32..).zip(plan.invocations).any(|(n, invocation)| {
            let subject = Subject::of_invocation(invocation, n, opaque.contains(&n), &plan, &context);
            compiled.is_about_at(at, &Facts::new(&subject, Tier::One))
        })
}
