//! What the settings of agents, editors and direnv start unasked: hooks, servers, what sets up a work tree or a shell. The settings themselves are protected by
//! their names; the files of the workspace that their commands name are run with them, wherever they lie.

use super::Special;
use super::git_targets::Reading;
use crate::Request;
use crate::git::files_of;
use crate::reading;
use shward_analysis::{Scope, scope_of};
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The longest file of settings, in bytes: where one is longer, nothing is run.
const MAX_LENGTH: u64 = 1 << 20;

/// The formats that are read. Of TOML and JSON with comments, as of JSON, nothing counts but keys and the text behind them.
const FORMATS: [&str; 3] = ["json", "jsonc", "toml"];

/// Settings of the project that the workspace is a part of.
const ABOVE: [&str; 3] = [".claude/settings.json", ".claude/settings.local.json", ".mcp.json"];

/// What a shell evaluates where it enters a directory, without a question as long as it says the same; and how it has other files evaluated.
const ENVIRONMENT: &str = ".envrc";
const SOURCING: [&str; 6] =
    [".", "dotenv", "dotenv_if_exists", "source", "source_env", "source_env_if_exists"];

/// What an editor starts when a person chooses it, which may be any file that is worked on; and when a folder is opened, if that is said.
const CHOSEN: [&str; 7] = [
    ".devcontainer.json",
    "debug.json",
    "devcontainer.json",
    "launch.json",
    "launch.vs.json",
    "tasks.json",
    "tasks.vs.json",
];
const UNASKED: &str = "\"folderOpen\"";

/// Keys in small letters whose text is a command or a part of one, beside those that end so.
const COMMANDS: [&str; 8] =
    ["archive", "args", "awsauthrefresh", "awscredentialexport", "bash", "notify", "setup", "teardown"];
const ENDINGS: [&str; 4] = ["command", "commands", "helper", "script"];

/// Suffixes of what an interpreter executes. Of what else a command names, only what may be executed by itself is started by it.
const PROGRAMS: [&str; 22] = [
    "bash", "cjs", "cts", "fish", "jar", "js", "jsx", "ksh", "lua", "mjs", "mts", "php", "pl", "ps1", "py",
    "pyw", "rb", "sh", "ts", "tsx", "wasm", "zsh",
];

impl Special {
    /// What settings lead to: those of git, and of agents and editors. `None`: there is more than is looked at.
    pub(crate) fn led_to(&self, request: &Request) -> Option<Vec<PathBuf>> {
        let mut found = self.git_targets(request)?;
        found.extend(self.agent_targets(request)?);
        Some(found)
    }

    /// The files that settings of agents and editors name in their commands. `None`: there is more than is looked at.
    fn agent_targets(&self, request: &Request) -> Option<Vec<PathBuf>> {
        let mut reading = Reading::new(request);
        let inside = self.protected.iter().map(|file| (file.clone(), project_of(file, &request.workspace)));
        let above = request.workspace.ancestors().skip(1);
        let above = above.flat_map(|above| ABOVE.map(|name| (above.join(name), above)));
        for (file, project) in inside.chain(above) {
            let format = file.extension().is_some_and(|ending| FORMATS.iter().any(|known| ending == *known));
            let sources = file.ends_with(ENVIRONMENT);
            let Some(text) = (format || sources).then(|| text(&file)).flatten() else { continue };
            let text = text?;
            if CHOSEN.iter().any(|known| file.ends_with(known)) && !text.contains(UNASKED) {
                continue;
            }
            let words: Vec<String> = if sources {
                sourced(&text).map(in_project).collect()
            } else {
                let commands = commands(&text).into_iter().map(|command| in_project(&command));
                let named = |command: String| files_of(&command).map(str::to_owned).collect::<Vec<_>>();
                commands.flat_map(named).filter(|word| is_program(Path::new(word))).collect()
            };
            for word in words {
                let below = word.strip_prefix("~/").map(|below| request.home.join(below));
                let word = below.unwrap_or_else(|| word.into());
                // An agent works in the workspace, wherever its settings lie.
                for base in [Some(project), (!sources).then_some(&*request.workspace)].into_iter().flatten() {
                    let path = base.join(&word);
                    if (sources || is_started(&path)) && !is_made(request, &path) {
                        reading.start(base, &word)?;
                    }
                }
            }
        }
        Some(reading.into_found())
    }
}

/// What a file says, if it can be read; inside that nothing, if it is too long.
#[expect(clippy::option_option, reason = "whether it can be read, and whether it is read as a whole")]
fn text(file: &Path) -> Option<Option<String>> {
    let mut bytes = Vec::new();
    reading::open(file).ok()?.take(MAX_LENGTH + 1).read_to_end(&mut bytes).ok()?;
    let fits = u64::try_from(bytes.len()).is_ok_and(|length| length <= MAX_LENGTH);
    Some(fits.then(|| String::from_utf8_lossy(&bytes).into_owned()))
}

/// The directory that settings are about: the one in which their own directory lies, with a dot in front, or they themselves.
fn project_of<'f>(file: &'f Path, workspace: &Path) -> &'f Path {
    let inside = file.ancestors().skip(1).take(2).take_while(|above| *above != workspace);
    let own = inside.filter(|above| above.file_name().is_some_and(|name| name.as_bytes().starts_with(b".")));
    own.last().unwrap_or(file).parent().unwrap_or(file)
}

/// Whether something of this name is executed by what it is given to, or by itself.
fn is_program(path: &Path) -> bool {
    path.extension().is_none_or(|ending| PROGRAMS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Whether a build brings it, which nobody could do any more in a run; a server that is worked on is started from there.
fn is_made(request: &Request, path: &Path) -> bool {
    let bytes = |path: &Path| path.as_os_str().as_bytes().to_vec();
    scope_of(&bytes(path), &bytes(&request.workspace), &bytes(&request.home)) == Scope::Product
}

/// Whether a file is executed by what is given it, or by itself: one without a suffix that nobody may execute is data.
fn is_started(path: &Path) -> bool {
    path.extension().is_some()
        || fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

/// The files that a text for a shell has evaluated.
fn sourced(text: &str) -> impl Iterator<Item = &str> {
    let commands = text.lines().flat_map(|line| line.split([';', '&', '|']));
    commands.filter_map(|command| {
        let mut words =
            command.split_whitespace().skip_while(|word| ["then", "do", "{", "else"].contains(word));
        words.next().filter(|word| SOURCING.contains(word))?;
        words.find(|word| !word.starts_with('-'))
    })
}

/// The commands in a text: of each key that has one, what is written behind it up to the next key, its parts with blanks between them.
fn commands(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_command = false;
    // Of each object around, whether all in it are commands by names of their own.
    let mut named: Vec<bool> = Vec::new();
    // A word of TOML before its `=`.
    let mut bare = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let mut after = rest.get(letter.len_utf8()..).unwrap_or_default();
        let mut key = None;
        match letter {
            '#' => after = after.split_once('\n').map_or("", |(_, next)| next),
            '/' if after.starts_with('/') => after = after.split_once('\n').map_or("", |(_, next)| next),
            '"' | '\'' => {
                let (value, next) = quoted(after, letter);
                after = next;
                bare.clear();
                if next.trim_start().starts_with([':', '=']) {
                    key = Some(value);
                } else if is_command && let Some(line) = found.last_mut() {
                    line.push(' ');
                    line.push_str(&value);
                }
            }
            '=' if !bare.is_empty() => key = Some(std::mem::take(&mut bare)),
            '{' => named.push(is_command),
            '}' => {
                named.pop();
                is_command = false;
            }
            ' ' | '\t' => {}
            letter if letter.is_alphanumeric() || "-_.".contains(letter) => bare.push(letter),
            _ => bare.clear(),
        }
        if let Some(key) = key {
            let start = start_of(&key).or(named.last().is_some_and(|named| *named).then_some(""));
            is_command = start.is_some();
            found.extend(start.map(str::to_owned));
        }
        rest = after;
    }
    found
}

/// How a command begins that follows a key, if one does. Arguments belong to a program that stands elsewhere, and may execute any of them.
fn start_of(key: &str) -> Option<&'static str> {
    let key = key.to_ascii_lowercase();
    let name = key.rsplit('.').next().unwrap_or_default();
    let is = COMMANDS.contains(&name) || ENDINGS.iter().any(|ending| name.ends_with(ending));
    is.then_some(if name == "args" { "sh" } else { "" })
}

/// A quoted text without its quotes, and what follows it.
fn quoted(text: &str, quote: char) -> (String, &str) {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' if quote == '"' => match letters.next() {
                Some((_, 'n' | 't' | 'r')) => value.push(' '),
                Some((_, escaped)) => value.push(escaped),
                None => {}
            },
            letter if letter == quote => {
                return (value, text.get(at + letter.len_utf8()..).unwrap_or_default());
            }
            letter => value.push(letter),
        }
    }
    (value, "")
}

/// A command with the project's directory for each variable and each command that prints something, since these stand before a path to
/// say where the project lies (`"$CLAUDE_PROJECT_DIR"/x`, `${workspaceFolder}/x`, `$(git rev-parse --show-toplevel)/x`).
fn in_project(command: &str) -> String {
    let mut out = String::new();
    let mut letters = command.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' | '\'' => {}
            '$' => {
                let end = match letters.peek() {
                    Some('{') => Some('}'),
                    Some('(') => Some(')'),
                    _ => None,
                };
                match end {
                    Some(end) => while letters.next().is_some_and(|letter| letter != end) {},
                    None => {
                        while letters
                            .next_if(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
                            .is_some()
                        {}
                    }
                }
                out.push('.');
            }
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_in_settings() {
        for (text, expected) in [
            (
                r#"{"hooks": {"Stop": [{"type": "command", "command": "./a.sh \"x y\""}]}}"#,
                &[" ./a.sh \"x y\""][..],
            ),
            (
                r#"{"command": "node", "args": ["./s.js", "-v"], "env": {"A": "./b.sh"}}"#,
                &[" node", "sh ./s.js -v"],
            ),
            (r#"{"permissions": {"allow": ["Read(./a.py)"]}, "statusLine": {"command": "b"}}"#, &[" b"]),
            ("{\n// \"command\": \"x\"\n\"postStartCommand\": \"y\",}", &[" y"]),
            (
                "notify = [\"python3\", 'n.py']\n[mcp_servers.x]\ncommand = \"node\"\nmodel = \"m\"\n",
                &[" python3 n.py", " node"],
            ),
            ("# command = \"x\"\n\"apiKeyHelper\" = \"h\"", &[" h"]),
            (r#"{"command": "unfinished"#, &[" unfinished"]),
            (
                r#"{"postCreateCommand": {"a": "./x.sh", "b": ["y", "z"]}, "name": "n"}"#,
                &["", " ./x.sh", " y z"],
            ),
            ("", &[]),
        ] {
            assert_eq!(commands(text), expected, "{text}");
        }
    }

    #[test]
    fn where_the_project_lies_is_said_in_many_ways() {
        for command in [
            "\"$CLAUDE_PROJECT_DIR\"/tools/a.sh",
            "$CLAUDE_PROJECT_DIR/tools/a.sh",
            "\"${workspaceFolder}/tools/a.sh\"",
            "$(git rev-parse --show-toplevel)/tools/a.sh",
        ] {
            assert_eq!(in_project(command), "./tools/a.sh");
        }
        for (file, project) in [
            ("/.w/.claude/settings.json", "/.w"),
            ("/.w/a/.github/copilot/settings.json", "/.w/a"),
            ("/.w/.mcp.json", "/.w"),
            ("/.w/conductor.json", "/.w"),
            ("/.w/.claude/worktrees/x/.mcp.json", "/.w/.claude/worktrees/x"),
        ] {
            assert_eq!(project_of(Path::new(file), Path::new("/.w")), Path::new(project), "{file}");
        }
        for (name, program) in
            [("a.sh", true), ("tool", true), ("a.PY", true), ("t.db", false), ("a.json", false)]
        {
            assert_eq!(is_program(Path::new(name)), program, "{name}");
        }
    }

    /// What is started unasked, and what only may be.
    #[test]
    fn files_that_settings_start() {
        let place = tempfile::tempdir().unwrap();
        let workspace = place.path().canonicalize().unwrap();
        let write = |name: &str, text: &str| {
            let path = workspace.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        for name in [
            "t/a.sh",
            "t/b.py",
            "t/s.mjs",
            "t/data.db",
            "t/task.py",
            "dist/index.js",
            "main.py",
            "t/plain",
            "r/x",
        ] {
            write(name, "");
        }
        let protected = vec![
            write(
                ".claude/settings.json",
                r#"{"permissions": {"allow": ["Read(./main.py)"]}, "hooks": {"Stop": [{"hooks": [
                    {"command": "\"$CLAUDE_PROJECT_DIR\"/t/a.sh && python3 b.py"}]}]}}"#,
            ),
            write(
                ".mcp.json",
                r#"{"mcpServers": {"a": {"command": "node", "args": ["./t/s.mjs", "--db", "./t/data.db", "./t/plain"]},
                    "b": {"command": "node", "args": ["dist/index.js"]}, "c": {"command": "npx", "args": ["x/y"]},
                    "d": {"command": "node", "args": ["./node_modules/m/m.js", "./t/later.js"]}}}"#,
            ),
            write(
                "r/.envrc",
                "dotenv_if_exists\nsource_env ./e.sh\nif [ -f x ]; then . \"$PWD/x\"; fi\nsource .venv/bin/activate\nPATH_add bin\n",
            ),
            write("p/.codex/config.toml", "notify = [\"python3\", \"n.py\"]\n"),
            write("p/n.py", ""),
            write(".vscode/tasks.json", r#"{"tasks": [{"command": "python3", "args": ["main.py"]}]}"#),
            write(
                "q/.vscode/tasks.json",
                r#"{"tasks": [{"command": "python3 ../t/task.py", "runOptions": {"runOn": "folderOpen"}}]}"#,
            ),
        ];
        let request = Request::command("true", &workspace, &workspace);
        let special = Special { protected, ..Special::default() };
        let found = special.agent_targets(&request).unwrap();
        let found: Vec<&Path> = found.iter().map(|path| path.strip_prefix(&workspace).unwrap()).collect();
        let expected = ["p/n.py", "r/e.sh", "r/x", "t/a.sh", "t/later.js", "t/s.mjs", "t/task.py"];
        assert_eq!(found, expected.map(Path::new));
    }
}
