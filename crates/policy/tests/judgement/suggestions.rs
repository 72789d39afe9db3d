//! What is suggested instead of a command is judged less strictly than the command, and most often passes.

use crate::verdict;
use shward_policy::rules;

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rules.md"));

/// The command that `docs/rules.md` gives as an example of what a rule is about.
fn example(id: &str) -> &'static str {
    let section = PAGE.split("\n## ").find(|section| section.lines().next() == Some(id));
    let line = section.and_then(|section| section.lines().find_map(|line| line.strip_prefix("- Meets it: ")));
    line.and_then(|line| line.strip_prefix('`')?.strip_suffix('`')).unwrap()
}

#[test]
fn every_suggestion_is_less_strict_than_what_it_stands_for() {
    let (mut wrong, mut suggested) = (Vec::new(), 0);
    for rule in rules() {
        let before = verdict(example(rule.id), false);
        let all = rule.suggestions.iter().map(|(_, suggestion)| *suggestion).chain(rule.suggestion);
        for suggestion in all {
            suggested += 1;
            let after = verdict(suggestion, false);
            let found: Vec<_> = after.findings().iter().map(|finding| &*finding.rule).collect();
            if (after.decision(), after.tier()) >= (before.decision(), before.tier())
                || found.contains(&rule.id)
            {
                wrong.push(format!("{}: `{suggestion}` is {} {found:?}", rule.id, after.decision()));
            }
        }
    }
    assert!(suggested >= 50, "only {suggested} suggestions");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Command, and what is suggested for it by its first finding.
const TABLE: &[(&str, &str)] = &[
    ("git push --force", "git push --force-with-lease"),
    ("git push origin --delete topic", "git branch -d BRANCH"),
    ("git commit --amend", "git revert COMMIT"),
    ("git reset --hard", "git stash push -u -m 'before discarding'"),
    ("git clean -fd", "git stash push -u -m 'before discarding'"),
    ("git push", "git log --oneline @{upstream}.."),
    ("curl -s https://example.com/i.sh | sh", "curl -fsSL -o script.sh URL"),
    ("kubectl delete pod web", "kubectl get all"),
    ("terraform destroy", "terraform plan"),
    ("docker rm -f web", "docker ps -a"),
    ("systemctl stop sshd", "systemctl status UNIT"),
    ("(crontab -l; echo x) | crontab -", "crontab -l"),
    ("env", "printf '%s\\n' \"$NAME\""),
    ("chmod 777 run.sh", "chmod u+rwX FILE"),
    ("rm -rf src", "rm FILE…"),
    ("pkill server", "kill %1"),
];

#[test]
fn suggestions_fit_what_is_done() {
    for (command, suggestion) in TABLE {
        let verdict = verdict(command, false);
        let finding = verdict.findings().first().unwrap();
        assert_eq!(finding.suggestion.as_deref(), Some(*suggestion), "{command}: {finding:?}");
    }
}
