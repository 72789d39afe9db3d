//! Policies of other systems: what is carried over decides no more loosely than it did there, and the rest is told.

#![allow(clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod judging;

use judging::judge;
use shward_policy::import::{
    Imported, allowed_programs, claude_permissions, cmdwall_env, cmdwall_env_in_place, codex_rules,
};
use shward_policy::{Decision, Layer, Policy, Source};

fn decision(imported: &Imported, command: &str) -> Decision {
    let source = Source { layer: Layer::User, name: "imported.toml".to_owned(), text: imported.toml.clone() };
    let policy = Policy::from_sources(None, &[source]).unwrap_or_else(|e| panic!("{e}\n{}", imported.toml));
    judge(&policy, command, false).decision()
}

fn told(imported: &Imported, part: &str) -> bool {
    imported.notes.iter().any(|note| note.contains(part))
}

#[test]
fn codex_rules_are_read_as_starlark() {
    use Decision::{Allow, Ask, Deny};
    let text = r#"
# prefix_rule(pattern = ["git", "push"], decision = "allow")
prefix_rule(
    pattern = ["kubectl", ["delete", "drain"]],  # two rules
    decision = "forbidden",
    justification = "Ask the ops (team).",
    match = [["kubectl", "delete", "pod"], "kubectl drain x"],
    not_match = ["kubectl get pods"],
)
prefix_rule(pattern = ['ls'], decision = 'prompt')
prefix_rule(pattern = ["npm", "install"])
prefix_rule(pattern = ["echo", ")"], decision = "forbidden")
prefix_rule(pattern = words, decision = "allow")
prefix_rule(pattern = ["rm"] + more, decision = "allow")
prefix_rule(pattern = ["make"], decision = "maybe")
prefix_rule(pattern = ["make"], when = "always")
host_executable(name = "git", paths = ["/usr/bin/git"])
"#;
    let imported = codex_rules(text);
    for (command, expected) in [
        ("git push", Ask),
        ("kubectl delete pod x", Deny),
        ("kubectl drain x", Deny),
        ("ls", Ask),
        ("npm install", Allow),
        ("rm -rf x", Ask),
    ] {
        assert_eq!(decision(&imported, command), expected, "{command}\n{}", imported.toml);
    }
    assert!(imported.toml.contains("reason = \"Ask the ops (team).\""), "{}", imported.toml);
    for part in [
        "rule 1: its examples are not carried over",
        "shell text is in it",
        "rule 5: left out, because not all of it is literal",
        "rule 6: left out, because not all of it is literal",
        "rule 7: left out, because its decision is not known",
        "rule 8: left out, because `when` is not known",
        "host_executable(…): not known here",
    ] {
        assert!(told(&imported, part), "{part}: {:?}", imported.notes);
    }
    for text in [
        "",
        "x = 1",
        "prefix_rule(",
        "prefix_rule(pattern = [\"a",
        "prefix_rule(pattern = [[[[\"a\"]]]])",
        "\"\"\"x\"\"\"",
    ] {
        let imported = codex_rules(text);
        assert!(imported.toml.is_empty() && !imported.notes.is_empty(), "{text}");
    }
}

#[test]
fn permissions_of_claude_code_allow_no_more_than_there() {
    use Decision::{Allow, Ask, Deny};
    let imported = claude_permissions(&[
        ("allow", "Bash(git push:*)"),
        ("allow", "Bash(npm publish --dry-run --tag beta:*)"),
        ("allow", "Bash(cargo install *)"),
        ("allow", "Bash(npm*)"),
        ("allow", "Bash(git * main)"),
        ("allow", "Bash(pip install requests)"),
        ("allow", "Bash(brew update)"),
        ("deny", "Bash(A=1 make:*)"),
        ("ask", "Bash(ls:*)"),
        ("deny", "Bash(wc -l -c:*)"),
        ("deny", "Bash(cat secret.txt)"),
        ("deny", "Read(./.env)"),
        ("allow", "Bash"),
    ]);
    for (command, expected) in [
        ("git push", Allow),
        ("git push --force", Allow),
        ("git fetch", Ask),
        ("npm publish --tag beta", Ask),
        ("npm publish --dry-run --tag beta", Allow),
        (
            "npm publish --tag beta --dry-run",
            decision(&Imported::default(), "npm publish --tag beta --dry-run"),
        ),
        ("cargo install x", Allow),
        ("npm install x", Ask),
        ("git checkout main", decision(&Imported::default(), "git checkout main")),
        ("pip install requests", Allow),
        ("pip install requests evil", Ask),
        ("pip install", Ask),
        ("brew update", Allow),
        ("brew update now", Ask),
        ("ls", Ask),
        ("wc -l x", Deny),
        ("cat secret.txt", Deny),
        ("cat other.txt", Allow),
    ] {
        assert_eq!(decision(&imported, command), expected, "{command}\n{}", imported.toml);
    }
    for part in [
        "Bash(A=1 make:*): left out",
        "Bash(npm*): left out",
        "Bash(git * main): left out",
        "any one of its options is enough",
        "Read(./.env): not about commands",
        "Bash without a pattern",
    ] {
        assert!(told(&imported, part), "{part}: {:?}", imported.notes);
    }
}

/// A call that is not made allows nothing, whatever keeps it from being made.
#[test]
fn an_allowance_that_may_not_be_called_is_none() {
    let allowed = "prefix_rule(pattern = [\"curl\"])\n";
    for text in [
        format!("if False:\n    {allowed}"),
        format!("def never():\n    {allowed}"),
        format!("x = [{allowed}]"),
        format!("{allowed}fail"),
        "prefix_rule(pattern = [\"curl\"], decision = \"allow\", decision = \"forbidden\")".to_owned(),
    ] {
        let imported = codex_rules(&text);
        assert_eq!(
            decision(&imported, "curl https://example.com"),
            Decision::Ask,
            "{text}\n{}",
            imported.toml
        );
        assert!(!imported.notes.is_empty(), "{text}");
    }
    let denied = "if x:\n    prefix_rule(pattern = [\"curl\"], decision = \"forbidden\")";
    assert_eq!(decision(&codex_rules(denied), "curl https://example.com"), Decision::Deny);
}

/// Lines of an `.env` file as its readers take them: a comment behind a value is none of its names.
#[test]
fn a_list_of_denied_programs_loses_no_name() {
    for text in [
        "CMDWALL_BLOCKLIST=nc,socat # not these",
        "CMDWALL_BLOCKLIST='[\"nc\", \"socat\"]' # not these",
        "CMDWALL_BLOCKLIST=\"nc, socat\"#",
        "CMDWALL_BLOCKLIST=[\"nc\",\"socat\"]",
        "CMDWALL_BLOCKLIST=\"nc\",\"socat\"",
        "export CMDWALL_BLOCKLIST = nc , socat",
        "cmdwall_blocklist=nc,socat",
    ] {
        let imported = cmdwall_env(text);
        for command in ["nc -l 80", "socat - x"] {
            assert_eq!(decision(&imported, command), Decision::Deny, "{text}\n{}", imported.toml);
        }
    }
    // A value over several lines is not read; then the file is wrong, and not a list with fewer names.
    let imported = cmdwall_env("CMDWALL_BLOCKLIST='[\"nc\",\n\"socat\"]'\n");
    let source = Source { layer: Layer::User, name: "x".to_owned(), text: imported.toml };
    assert!(Policy::from_sources(None, &[source]).is_err());
}

/// Where a value comes from, and where a mistake is, is told by the line of the `.env` file.
#[test]
fn settings_stay_in_their_lines() {
    let text = "# first\nCMDWALL_ALLOWLIST=ls\n\nA=1\nCMDWALL_BLOCKLIST=nc\nCMDWALL_MAX_OUTPUT_BYTES=many\n";
    let text = cmdwall_env_in_place(text);
    let lines: Vec<&str> = text.lines().collect();
    let expected = [
        "",
        "programs.allow = [\"ls\"]",
        "",
        "",
        "programs.deny = [\"nc\"]",
        "limits.max-output = \"many\"",
        "programs.skips = \"questions\"",
    ];
    assert_eq!(lines, expected);
    let source = Source { layer: Layer::Explicit, name: "x.env".to_owned(), text };
    let error = Policy::from_sources(None, &[source]).expect_err("it is no number").to_string();
    assert!(error.starts_with("x.env:6: `max-output` is a whole number"), "{error}");
}

#[test]
fn lists_of_cmdwall_and_of_programs() {
    use Decision::{Allow, Ask, Deny};
    let imported = cmdwall_env(
        "# comment\nexport CMDWALL_BLOCKLIST='[\"nc\", \"socat\"]'\nCMDWALL_ALLOWLIST=curl, ls\nCMDWALL_PROVIDER=openai\nPATH=/bin\nnonsense\n",
    );
    for (command, expected) in
        [("nc -l 1", Deny), ("socat x", Deny), ("curl https://example.com", Allow), ("git push", Ask)]
    {
        assert_eq!(decision(&imported, command), expected, "{command}\n{}", imported.toml);
    }
    assert!(told(&imported, "CMDWALL_PROVIDER") && told(&imported, "nonsense") && !told(&imported, "PATH"));
    let wrong = cmdwall_env("CMDWALL_DEFAULT_TIMEOUT_SECONDS=soon");
    let source = Source { layer: Layer::User, name: "x".to_owned(), text: wrong.toml };
    assert!(Policy::from_sources(None, &[source]).is_err(), "a wrong value is no silent default");
    let imported = allowed_programs("# list\nls, cat\ngrep\n");
    for (command, expected) in [("ls", Allow), ("grep -r x .", Allow), ("find .", Deny), ("ls > x", Deny)] {
        assert_eq!(decision(&imported, command), expected, "{command}\n{}", imported.toml);
    }
}
