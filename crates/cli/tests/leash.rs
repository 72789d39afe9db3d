//! The leash under its other names: where links with protected names lead, and other names of the same file. With the real binary and
//! real links.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod answers;
mod place;

use answers::{event_in, feed, json_of};
use place::Place;
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A home whose settings lie in a repository, and a project with settings that it shares with others.
fn settled() -> Place {
    let place = Place::new();
    let (home, project) = (place.home(), place.project());
    for directory in ["dot/claude/hooks", "dot/fish", "dot/shward", ".config/shward", "shared"] {
        fs::create_dir_all(home.join(directory)).unwrap();
    }
    for directory in ["config/claude", "src", ".cursor", "tools"] {
        fs::create_dir_all(project.join(directory)).unwrap();
    }
    let files = [
        "dot/claude/settings.json",
        "dot/bashrc",
        "dot/fish/config.fish",
        "dot/README",
        "shared/servers.json",
    ];
    for file in files.iter().map(|file| home.join(file)).chain([project.join("config/claude/settings.json")])
    {
        fs::write(file, "{}\n").unwrap();
    }
    fs::write(home.join("dot/shward/policy.toml"), "").unwrap();
    let links: [(PathBuf, PathBuf); 9] = [
        (home.join("dot/claude"), home.join(".claude")),
        ("dot/bashrc".into(), home.join(".bashrc")),
        ("../dot/fish".into(), home.join(".config/fish")),
        ("../../dot/shward/policy.toml".into(), home.join(".config/shward/policy.toml")),
        ("config/claude".into(), project.join(".claude")),
        ("../shared/servers.json".into(), project.join(".mcp.json")),
        // A way to the repository that is a link itself.
        ("dot".into(), home.join("files")),
        // Through that to what is not there yet, and in a circle.
        ("files/zshrc".into(), home.join(".zshrc")),
        (".profile".into(), home.join(".profile")),
    ];
    for (aim, link) in links {
        symlink(aim, link).unwrap();
    }
    place
}

/// What the hook of this program says about a command in a directory.
fn decision(place: &Place, program: &Path, cwd: &Path, command: &str) -> (String, String) {
    let mut hook = place.program(program.to_str().unwrap());
    hook.args(["hook", "claude"]).current_dir(cwd);
    let answer = json_of(&feed(hook, &event_in(command, cwd.to_str().unwrap())));
    let text = |name: &str| answer.pointer(name).unwrap().as_str().unwrap().to_owned();
    (text("/hookSpecificOutput/permissionDecision"), text("/hookSpecificOutput/permissionDecisionReason"))
}

fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_shward"))
}

#[test]
fn where_protected_links_lead_nothing_is_written() {
    let place = settled();
    let (home, project) = (place.home(), place.project());
    let repository = home.join("dot");
    for (cwd, expected, commands) in [
        (
            &repository,
            "deny",
            &[
                "echo x > claude/settings.json",
                "echo x > ~/dot/claude/settings.json",
                "echo x > ../files/claude/settings.json",
                "cd claude; echo x > settings.json",
                "d=claude; echo x > \"$d/settings.json\"",
                "echo x >> claude/hooks/a.sh",
                "sed -i s/a/b/ claude/*.json",
                "sed -i s/a/b/ */settings.json",
                "cp README claude/settings.json",
                "tar xf x.tar -C claude",
                "find claude -type f -exec sed -i s/a/b/ {} +",
                "find . -name settings.json -exec sed -i s/a/b/ {} +",
                "find . -name settings.json | xargs sed -i s/a/b/",
                "python3 -c \"open('claude/settings.json', 'w')\"",
                "rm -r claude",
                "mv claude c",
                "rm -rf claude/hooks",
                "echo x > bashrc",
                "echo x > zshrc",
                "sed -i s/a/b/ bash*",
                "mv bashrc old",
                "echo x > fish/config.fish",
                "echo x > shward/policy.toml",
                "rm ../.claude",
            ][..],
        ),
        (
            &repository,
            "allow",
            &[
                "echo x > README",
                "cat claude/settings.json",
                "ls -l claude",
                "echo x > claude/agents/a.md",
                "echo x > claude/CLAUDE.md",
                "sed -i s/a/b/ READ*",
                "mkdir new; echo x > new/settings.toml",
            ],
        ),
        (
            &project,
            "deny",
            &[
                "echo x > config/claude/settings.json",
                "echo x > ../shared/servers.json",
                "rm -r config",
                "mv config/claude x",
                "ln -sfn other .claude",
            ],
        ),
        (
            &project,
            "allow",
            &["echo x > config/app.json", "echo x > src/a.rs", "rm src/a.rs", "touch config/claude.md"],
        ),
    ] {
        for command in commands {
            let (found, reason) = decision(&place, binary(), cwd, command);
            assert_eq!(found, expected, "{command}: {reason}");
        }
    }
    // Both names are told.
    let (_, reason) = decision(&place, binary(), &repository, "echo x > claude/hooks/a.sh");
    for name in ["dot/claude/hooks/a.sh", ".claude/hooks/a.sh"] {
        assert!(reason.contains(&format!("`{}`", home.join(name).display())), "{name}: {reason}");
    }
    // Of what lies in a directory, that by which it is refused.
    let (_, reason) = decision(&place, binary(), &repository, "rsync -a fish/ .");
    let named = |name: &str| reason.contains(&format!("(in which is `{}`)", home.join(name).display()));
    assert!([".claude", ".config/shward/policy.toml"].into_iter().any(named), "{reason}");
}

/// A search that begins further up, or looks for a directory of settings, finds them, too.
#[test]
fn what_a_search_finds_is_protected_wherever_it_begins() {
    let place = Place::new();
    let project = place.project();
    for directory in [".git/hooks", "src/hooks"] {
        fs::create_dir_all(project.join(directory)).unwrap();
    }
    fs::write(project.join(".git/config"), "").unwrap();
    for (expected, command) in [
        ("deny", "find .. -name config -exec cp notes.txt {} \\;"),
        ("deny", "find ~ -name config -exec cp notes.txt {} \\;"),
        ("deny", "find . -name hooks -exec cp notes.txt {} \\;"),
        ("deny", "find . -name 'con*' -exec truncate -s0 {} \\;"),
        ("allow", "find . -name hooks -exec ls {} \\;"),
        ("allow", "find src -name hooks -exec cp notes.txt {} \\;"),
        ("allow", "find .. -name notes.txt -exec touch {} \\;"),
    ] {
        let (found, reason) = decision(&place, binary(), &project, command);
        assert_eq!(found, expected, "{command}: {reason}");
    }
}

/// So many links that a look at each of them for each change would take too long.
#[test]
fn what_too_many_links_lead_to_is_not_changed() {
    let place = Place::new();
    let project = place.project();
    fs::create_dir(project.join(".opencode")).unwrap();
    for (count, expected) in [(512, "allow"), (513, "deny")] {
        symlink("self", project.join(format!(".opencode/{count}"))).unwrap();
        for at in fs::read_dir(project.join(".opencode")).unwrap().count()..count {
            symlink("nothing", project.join(format!(".opencode/l{at}"))).unwrap();
        }
        for (command, expected) in [("echo x > a", expected), ("cat a", "allow")] {
            let (found, reason) = decision(&place, binary(), &project, command);
            assert_eq!(found, expected, "{count} {command}: {reason}");
        }
    }
}

#[test]
fn the_hosts_own_tools_write_no_more() {
    let place = settled();
    let home = place.home();
    fs::hard_link(home.join("dot/claude/settings.json"), home.join("dot/other.json")).unwrap();
    for (cwd, path, denied) in [
        ("dot", "claude/settings.json", true),
        ("dot", "bashrc", true),
        ("dot", "other.json", true),
        ("dot", "README", false),
        ("dot", "claude/agents/a.md", false),
        ("project", "config/claude/settings.json", true),
        ("project", ".amp/settings.json", true),
        ("project", "src/a.rs", false),
    ] {
        let cwd = home.join(cwd);
        let event = json!({
            "hook_event_name": "PreToolUse", "tool_name": "Write", "cwd": cwd,
            "tool_input": {"file_path": path, "content": "x"},
        });
        let output = place.shward(&["hook", "claude"], event.to_string().as_bytes());
        assert_eq!(answers::code(&output), if denied { 2 } else { 0 }, "{path}: {output:?}");
    }
}

/// Another name of the same file (link(2)) is no way to change it.
#[test]
fn other_names_of_the_same_file_are_protected() {
    let place = settled();
    let project = place.project();
    let guard = project.join("tools/guard");
    Place::put_binary(&guard);
    fs::create_dir_all(project.join("more/deep")).unwrap();
    for name in ["same", "more/same", "more/deep/same"] {
        fs::hard_link(&guard, project.join(name)).unwrap();
    }
    fs::write(project.join(".cursor/hooks.json"), "{}").unwrap();
    fs::hard_link(project.join(".cursor/hooks.json"), project.join("hooks")).unwrap();
    fs::write(project.join("one"), "").unwrap();
    fs::hard_link(project.join("one"), project.join("two")).unwrap();
    for (expected, commands) in [
        (
            "deny",
            &[
                "echo > same",
                "cp /bin/true same",
                "cp /bin/true more/same",
                "dd if=/dev/zero of=more/same count=1",
                "sed -i s/a/b/ more/*",
                "chmod a-x same",
                "chmod -R a-x more",
                "echo > hooks",
                "cp -rl tools t; echo > t/guard",
                "ln tools/guard t; echo > t",
                "ln tools/guard t",
                "cp -l tools/guard t",
                "find . -name guard -exec ln {} x \\;",
                "find . -name guard -exec cp -l {} x \\;",
                // It approves nothing, by whatever name.
                "tools/guard approve 1",
                "tools/../tools/guard undo",
                "tools/guard \"$x\"",
                "ln -s tools/guard x; ./x approve 1",
                "ln -s tools t; t/guard deny 1",
                "bash -c 'exec tools/guard approve 1'",
            ][..],
        ),
        // A copy under another name would not be known.
        (
            "ask",
            &[
                "echo tools/guard | cpio -pdl t",
                "echo tools/guard | cpio -pd t",
                "find tools | cpio --pass-through --link t",
                "file tools/guard",
                "cat tools/guard > x; chmod +x x; ./x approve 1",
                "cp tools/guard x && ./x approve 1",
                "python3 -c 'import shutil; shutil.copy(\"tools/guard\", \"x\")'",
            ],
        ),
        // What is removed is a name.
        (
            "allow",
            &[
                "rm same",
                "echo > two",
                "echo > new",
                "sha256sum same",
                "ls -l tools/guard",
                "tools/guard check -- ls",
                "find src -name guard -exec ln {} x \\;",
                "sed -i s/a/b/ src/*",
            ],
        ),
    ] {
        for command in commands {
            let (found, reason) = decision(&place, &guard, &project, command);
            assert_eq!(found, expected, "{command}: {reason}");
        }
    }
}

/// However often a large directory is changed, it is looked through only so often.
#[test]
fn looking_for_other_names_has_an_end() {
    let place = Place::new();
    let project = place.project();
    let guard = project.join("guard");
    Place::put_binary(&guard);
    fs::hard_link(&guard, project.join("same")).unwrap();
    fs::create_dir(project.join("many")).unwrap();
    for at in 0..1000 {
        fs::write(project.join(format!("many/{at}")), "").unwrap();
    }
    for (times, expected) in [(20, "allow"), (450, "deny")] {
        let command = vec!["chmod -R u+r many"; times].join("\n");
        let (found, reason) = decision(&place, &guard, &project, &command);
        assert_eq!(found, expected, "{times}: {reason}");
    }
}

/// What is copied or moved as a whole brings its settings along.
#[test]
fn directories_with_settings_do_not_become_the_projects() {
    let place = Place::new();
    let project = place.project();
    for directory in ["other/.claude", "plain/src", "src", "c", ".gemini"] {
        fs::create_dir_all(project.join(directory)).unwrap();
    }
    fs::write(project.join("other/.claude/settings.json"), "{}").unwrap();
    fs::write(project.join("plain/.mcp.json.example"), "{}").unwrap();
    for (expected, commands) in [
        (
            "deny",
            &[
                "cp -r other/. .",
                "cp -a other/. .",
                "cp -rT other .",
                "rsync -a other/ .",
                "cp -r c .claude",
                "cp -rT c .gemini",
                "mv c .claude",
                "mv c .claude/",
                "cp -r c .claude/",
                "mv .gemini .g; mv .g .gemini",
                "ln -s c .claude",
                "ln -s c .amp",
                "ln -s ../x/.amp",
                "ln -s ../x/.amp .",
                "ln -st . ../x/.amp",
                "git mv c .claude",
                "python3 -c \"import os; os.rename('c', '.claude')\"",
                "python3 -c \"import os; os.symlink('c', '.claude')\"",
                "node -e \"require('fs').cpSync('c', '.claude', {recursive: true})\"",
                "python3 -c \"import shutil; shutil.copytree('other', '.', dirs_exist_ok=True)\"",
                "node -e \"require('fs').cpSync('other', '.', {recursive: true})\"",
                "chmod 000 .gemini",
            ][..],
        ),
        (
            "allow",
            &[
                "cp -r plain/. .",
                "python3 -c \"import shutil; shutil.copytree('plain', '.', dirs_exist_ok=True)\"",
                "cp -r c d",
                "mv c d",
                "ln -s c d",
                "ln -s ../x/amp src",
                "mkdir -p .claude && cp -r c .claude/",
                "cp -r c .gemini/",
                "mkdir .claude",
                "mkdir -p .claude/agents; cp c/x.md .claude/agents/",
                "chmod -R u+w c",
            ],
        ),
    ] {
        for command in commands {
            let (found, reason) = decision(&place, binary(), &project, command);
            assert_eq!(found, expected, "{command}: {reason}");
        }
    }
}
