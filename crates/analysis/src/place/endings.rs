//! Names of which only the end is known: what was found, and something behind it.

use super::tables::{INSIDE, NAMES, ORDINARY};

/// The hooks that git runs (githooks(5)).
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// Whether a path that ends in one text and then another, behind something that is not known, may be one that means the same wherever it
/// lies. Of directories in which every name counts, only hooks are looked for where the end is a single name: whoever
/// makes one file in each directory makes one there, too.
pub(crate) fn may_end_in(found: &[u8], after: &[u8]) -> bool {
    let end = [found, after];
    let Some(last) = after.last().or(found.last()) else { return true };
    // Most names differ in the last byte.
    let may_end = |name: &str| name.as_bytes().last() == Some(last);
    // No such place has a longer name.
    let starts =
        (usize::from(found.is_empty())..after.len().min(64)).filter(|at| after.get(*at) == Some(&b'/'));
    let starts: Vec<&[u8]> = starts.filter_map(|at| after.get(..=at)).collect();
    let hook = found.is_empty() && after.strip_prefix(b"/").is_some_and(is_hook);
    let inside = INSIDE.iter().any(|(directory, rows)| {
        rows.iter().filter(|(_, scope)| *scope != ORDINARY).any(|(row, _)| match row.strip_suffix("**") {
            Some(place) if hook => place.ends_with("hooks/") || directory.ends_with("hooks"),
            Some(place) => starts.iter().any(|start| ends([directory, "/", place], [found, start])),
            None => may_end(row) && ends([directory, "/", row], end),
        })
    });
    inside || NAMES.iter().any(|(name, _)| may_end(name) && ends(["", "", name], end))
}

fn is_hook(name: &[u8]) -> bool {
    HOOKS.iter().any(|hook| hook.as_bytes() == name)
}

/// Whether the text of these parts ends in that of others.
fn ends(text: [&str; 3], end: [&[u8]; 2]) -> bool {
    let mut text = text.iter().rev().flat_map(|part| part.bytes().rev());
    end.iter().rev().flat_map(|part| part.iter().rev()).all(|byte| text.next() == Some(*byte))
}

#[cfg(test)]
mod tests {
    use super::may_end_in;

    #[test]
    fn ends_of_what_matters_everywhere() {
        let matters = [
            "git/hooks/pre-commit",
            "t/config",
            "/config",
            "/pre-commit",
            "hooks/pre-push",
            "/settings.json",
            "e/settings.json",
            "v",
            "nv",
            "uthorized_keys",
            "sh/authorized_keys",
        ];
        let ordinary = [
            ".bak",
            "~",
            ".orig",
            ".txt",
            "/__init__.py",
            "/README.md",
            ".gz",
            "/Makefile",
            "/.gitkeep",
            "/index.js",
            ".tmp/x",
        ];
        for end in matters {
            assert!(may_end_in(b"", end.as_bytes()), "{end}");
        }
        for end in ordinary {
            assert!(!may_end_in(b"", end.as_bytes()), "{end}");
        }
        assert!(
            may_end_in(b"hooks", b"/pre-commit")
                && may_end_in(b".gi", b"t/config")
                && !may_end_in(b".py", b".bak")
        );
    }
}
