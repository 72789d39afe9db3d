//! Policies written in Rust are policy files, and are held to the same.

#![allow(clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod judging;

use judging::judge;
use shward_policy::{Decision, Layer, Permitted, Policy, PolicyBuilder, RuleBuilder, Source, Tier};

fn decision(policy: &Policy, command: &str) -> Decision {
    judge(policy, command, false).decision()
}

fn team() -> PolicyBuilder {
    PolicyBuilder::extending("workspace")
        .deny_program("nc")
        .deny_program("socat")
        .deny_place("~/taxes")
        .reach("pypi.org:443")
        .check("push", Decision::Deny, Decision::Deny)
        .timeout(60)
        .rule(
            RuleBuilder::deny("no-production")
                .program("kubectl")
                .operand("prod*")
                .reason("Production is changed by the \"pipeline\" only.\nUse staging.")
                .suggestion("kubectl --context staging get pods")
                .matching("kubectl delete pod prod-1")
                .not_matching("kubectl get pods"),
        )
        .rule(RuleBuilder::allow("docs", Permitted::Host("docs.example.com")).effect("connect"))
        .rule(RuleBuilder::allow("brew", Permitted::Program("brew")).subcommand("update").exact())
        .rule(RuleBuilder::ask("look").program("ls").option("-R").tier(Tier::Three).contained(false))
}

#[test]
fn what_is_built_decides_as_a_file_does() {
    let builder = team();
    let built = builder.build().unwrap_or_else(|e| panic!("{e}\n{}", builder.to_toml()));
    let source = Source { layer: Layer::User, name: "file".to_owned(), text: builder.to_toml() };
    let read = Policy::from_sources(None, &[source]).expect("it is the same file");
    for (command, expected) in [
        ("nc -l 80", Decision::Deny),
        ("socat - x", Decision::Deny),
        ("cat ~/taxes/2020", Decision::Deny),
        ("git push", Decision::Deny),
        ("kubectl delete pod prod-1", Decision::Deny),
        ("curl https://docs.example.com/x", Decision::Allow),
        ("curl https://other.example.com/x", Decision::Ask),
        ("brew update", Decision::Allow),
        ("brew update now", Decision::Ask),
        ("ls -R", Decision::Ask),
        ("ls", Decision::Allow),
    ] {
        assert_eq!(decision(&built, command), expected, "{command}");
        assert_eq!(decision(&read, command), expected, "{command}");
    }
}

#[test]
fn what_is_wrong_is_told_as_in_a_file() {
    let all = |rule: RuleBuilder| PolicyBuilder::extending("workspace").rule(rule).build();
    for (rule, code) in [
        (RuleBuilder::allow("none", Permitted::Program("")), "entry"),
        (RuleBuilder::allow("x", Permitted::Effect("everything")), "unknown-word"),
        (RuleBuilder::deny("Not An Id").program("x"), "id"),
        (RuleBuilder::deny("nothing"), "missing-key"),
        (RuleBuilder::deny("missed").program("x").matching("y"), "example"),
        (RuleBuilder::deny("exact").program("x").exact(), "exact"),
        (RuleBuilder::deny("quoted").program("x\"\nlock = [\"checks\"]\n#").option("y"), "never-matches"),
    ] {
        let error = all(rule).expect_err(code);
        assert!(error.diagnostics.iter().any(|d| d.code == code), "{code}: {error}");
    }
    assert!(PolicyBuilder::extending("nonsense").build().is_err());
    assert!(PolicyBuilder::extending("workspace").deny_program("./x").build().is_err());
}
