//! Names by which others read what lies in a workspace.

use super::named::{
    CACHED_SHELLS, DESCRIPTIONS, GUARDED, HOOKS_IN, OF_RULES, READ_BY_ENDING, READ_BY_OTHERS, READ_BY_PATH,
    READ_IN, RUN_FROM, SERVERS, WAYS,
};
use super::{folded, is_store};
use crate::Request;
use shward_analysis::Scopes;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Whether a path, folded, is that of something by which an agent starts programs.
fn is_started(path: &Path) -> bool {
    let (Some(name), Some(above)) = (path.file_name(), path.parent().and_then(Path::file_name)) else {
        return false;
    };
    OF_RULES.iter().any(|directory| above == *directory) && DESCRIPTIONS.iter().any(|known| name == *known)
}

/// Whether something below the workspace lies in what an agent starts programs by.
pub(crate) fn lies_in_started(path: &Path) -> bool {
    folded(path).ancestors().any(is_started)
}

/// Where a workspace lies in what the names above it belong to: the work tree around it and the directories with a dot in front that this
/// lies in; or else these and the workspace's last two names. A repository that is the workspace itself ends nothing, as anybody can
/// make one. Agents keep work trees in their own directories, and what lies in these is a project's own: they have a file called `.git`,
/// which no run brings.
pub(crate) fn place_in_project(request: &Request) -> PathBuf {
    let Request { workspace, home, .. } = request;
    let git = |directory: &Path| directory.join(".git").symlink_metadata().map(|found| found.is_dir());
    let own = git(workspace).ok();
    if own == Some(false) {
        return PathBuf::new();
    }
    let around = workspace.ancestors().skip(1).filter(|directory| directory != home);
    let tree = around.map(|directory| (directory, git(directory))).find(|(_, found)| found.is_ok());
    let top = tree.as_ref().map_or(workspace.as_path(), |(tree, _)| tree);
    let names: Vec<&OsStr> =
        top.strip_prefix(home).unwrap_or(top).iter().filter(|name| *name != "/").collect();
    let is_telling = |name: &&OsStr| {
        name.as_bytes().starts_with(b".") || name.eq_ignore_ascii_case("_darcs") || is_guarded(name)
    };
    let telling = names.iter().position(is_telling).unwrap_or(names.len());
    let from = match tree {
        Some((_, Ok(false))) => names.len(),
        None if own.is_none() => telling.min(names.len().saturating_sub(2)),
        _ => telling,
    };
    let above: PathBuf = names.iter().skip(from).collect();
    above.join(workspace.strip_prefix(top).unwrap_or(workspace))
}

/// Whether a directory of this name is protected as a whole. Some file systems do not tell upper from lower case.
pub(crate) fn is_guarded(name: &OsStr) -> bool {
    GUARDED.iter().any(|guarded| name.eq_ignore_ascii_case(guarded))
}

/// Whether a file tells a program where its settings lie.
pub(crate) fn is_read_as_a_way(path: &Path) -> bool {
    let path = folded(path);
    WAYS.iter().any(|known| path.ends_with(known))
}

/// Whether a link of this name, below the workspace, would lead programs to settings: what these read lies below the name, and not one of
/// the files would be written under it.
/// `place` is where the workspace lies in its project.
pub(crate) fn leads_to_settings(request: &Request, place: &Path, path: &Path) -> bool {
    let full = request.workspace.join(folded(path));
    let path = place.join(path);
    let path = folded(&path);
    let above = |known: &str| {
        let mut above = Path::new(known).ancestors().skip(1);
        above.any(|directory| !directory.as_os_str().is_empty() && path.ends_with(directory))
    };
    if OF_RULES.iter().any(|known| path.ends_with(known))
        || READ_BY_PATH.iter().chain(&WAYS).any(|known| above(known))
        || path.ends_with(CACHED_SHELLS.0)
        || READ_IN.iter().chain(&RUN_FROM).any(|known| path.ends_with(known) || above(known))
    {
        return true;
    }
    let bytes = |path: &Path| path.as_os_str().as_bytes().to_vec();
    let (workspace, home) = (bytes(&request.workspace), bytes(&request.home));
    Scopes::new(&workspace, &home).is_above_obeyed(&bytes(&full))
}

/// Whether a file is protected by its name.
pub(crate) fn is_read_by_others(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let ending = path.extension().unwrap_or_default();
    READ_BY_OTHERS.iter().any(|known| name.eq_ignore_ascii_case(known))
        || READ_BY_ENDING.iter().any(|known| ending.eq_ignore_ascii_case(known))
        || {
            let path = folded(path);
            let above = path.parent().unwrap_or(&path);
            is_started(&path)
                || is_of_hooks(&path)
                || is_of_servers(&path)
                || READ_BY_PATH.iter().any(|known| path.ends_with(known))
                || READ_IN.iter().any(|known| above.ends_with(known))
                || (above.ends_with(CACHED_SHELLS.0) && ending == CACHED_SHELLS.1)
                || path
                    .ancestors()
                    .skip(1)
                    .take(2)
                    .any(|above| RUN_FROM.iter().any(|known| above.ends_with(known)))
        }
}

/// Whether a path, folded, is that of what a manager of hooks goes by.
fn is_of_hooks(path: &Path) -> bool {
    let (name, ending) = (path.file_stem().unwrap_or_default(), path.extension().unwrap_or_default());
    HOOKS_IN.iter().any(|(known, formats)| name == *known && formats.iter().any(|format| ending == *format))
}

/// Whether a path, folded, is that of hooks or servers of an agent.
fn is_of_servers(path: &Path) -> bool {
    let above = path.parent().and_then(Path::file_name).unwrap_or_default();
    above.as_bytes().starts_with(b".")
        && path.file_name().is_some_and(|name| SERVERS.iter().any(|known| name == *known))
}

/// Whether a name beyond ASCII is that of something protected where a file system folds it.
pub(crate) fn is_respelled(name: &OsStr) -> bool {
    if name.is_ascii() {
        return false;
    }
    let folded = folded(Path::new(name));
    let meant = folded.as_os_str();
    meant == ".git" || is_store(meant) || is_guarded(meant) || is_read_by_others(&folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an agent or an editor goes by is one list: a verdict knows of each directory that a commit refuses what in it is
    /// settings, or started.
    #[test]
    fn a_verdict_knows_the_settings_of_every_agent() {
        use shward_analysis::{Scope, scope_of};
        let settings = [
            "settings.json",
            "config.json",
            "hooks.json",
            "languages.toml",
            "runConfigurations/x",
            "hooks/x",
            "init",
        ];
        for directory in GUARDED.iter().chain(&OF_RULES) {
            let matters = |name: &&str| {
                let path = format!("/w/{directory}/{name}");
                matches!(scope_of(path.as_bytes(), b"/w", b"/home/u"), Scope::Own | Scope::Persistence)
            };
            assert!(settings.iter().any(matters), "{directory}");
        }
    }

    #[test]
    fn what_others_read_is_known_by_its_name() {
        for read in [
            ".yarnrc",
            "a/.yarnrc.yml",
            "b/.VIMRC",
            "p.code-workspace",
            "p.sublime-project",
            ".jj/repo/config.toml",
            "c/.pdbrc",
            ".RData",
            "d/hk.pkl",
            "prek.toml",
            "lefthook-local.yml",
            ".Lefthook.toml",
            ".config/lefthook.json",
            ".huskyrc.js",
            "e/.mise/conf.d/x.toml",
            "mise/config.toml",
            "f/.psysh.php",
            "g/.externalToolBuilders/x.launch",
            "_darcs/prefs/defaults",
            ".lefthook/pre-commit/x.sh",
            "h/.Lefthook-local/x",
            ".repo/repo/subcmds/x.py",
            ".bsp/sbt.json",
            ".trunk/trunk.yaml",
            ".envrc.local",
            ".tool-versions",
            "i/.yarn/releases/yarn-4.cjs",
            ".Yarn/plugins/@yarnpkg/plugin-x.cjs",
            ".pnpmfile.cjs",
            ".config/mise/config.local.toml",
            ".nova/Tasks/x.json",
            ".rovodev/mcp.json",
            "j/.Other/MCP.jsonc",
            "k/.Other/hooks.yaml",
            ".bob/mcp_settings.json",
            ".other/settings.local.json",
            "jupyter_lab_config.py",
            "n/Jupyter_server_config.json",
            "irb.rc",
            "$irbrc",
            ".joyride/scripts/workspace_activate.cljs",
            ".lsp/config.edn",
            "hie.yaml",
            ".lintstagedrc",
            "l/.lintstagedrc.mjs",
            "lint-staged.config.ts",
            ".simple-git-hooks.json",
            ".cargo-husky/hooks/pre-commit",
            ".dmux-hooks/worktree_created",
            ".beads/hooks/on_create",
            ".emdash.json",
            ".github/lsp.json",
            ".gitpod.yml",
            ".idx/dev.nix",
            ".obsidian/plugins/x/main.js",
            ".direnv/flake-profile-1.rc",
            ".shadowenv.d/500.lisp",
            "m/.Ropeproject/config.py",
            "n/rust-analyzer.toml",
        ] {
            assert!(is_read_by_others(Path::new(read)), "{read}");
        }
        for other in [
            "yarnrc",
            ".yarnrc/x",
            "exrc.md",
            "repo/config.toml",
            "code-workspace",
            "lefthook.md",
            "lefthook/x.yml",
            "config.toml",
            "conf.d/x.toml",
            "prefs/defaults",
            ".repo/manifests/default.xml",
            "lefthook/pre-commit/x.sh",
            ".trunk/out/x",
            ".envrc.example",
            ".yarn/cache/x.zip",
            ".yarn/install-state.gz",
            "releases/yarn-4.cjs",
            "tool-versions",
            ".nova/Images/x.png",
            "mcp.json",
            "src/mcp.json",
            ".rovodev/mcp/x.json",
            "src/hooks.json",
            "src/settings.local.json",
            ".storybook/hooks/use.ts",
            "hooks/on_create",
            ".beads/issues.jsonl",
            "lint-staged.md",
            ".obsidian/app.json",
            ".obsidian/themes/x/theme.css",
            ".direnv/python-3.13",
            ".direnv/python-3.13/bin/activate",
            ".ropeproject/objectdb",
            ".gitpod/README.md",
            "dev.nix",
        ] {
            assert!(!is_read_by_others(Path::new(other)), "{other}");
        }
    }

    #[test]
    fn what_agents_start_by_is_protected_as_a_whole() {
        for name in [".amp", ".Claude", ".Kilo", ".Mux", ".pi"] {
            assert!(is_guarded(OsStr::new(name)), "{name}");
        }
        for name in ["amp", ".pip", ".clinerules.md", ".agent"] {
            assert!(!is_guarded(OsStr::new(name)), "{name}");
        }
    }

    /// What is only text for a model is the project's own.
    #[test]
    fn of_rules_only_what_starts_programs_is_protected() {
        for path in [
            ".openhands/skills/x/.mcp.json",
            ".codebuddy/agents/x.md",
            ".Iflow/Commands/x.toml",
            ".openhand\u{17f}/\u{17f}kills/x",
            "a/b/.qoder/commands/x/y",
        ] {
            assert!(lies_in_started(Path::new(path)), "{path}");
        }
        for path in [
            ".clinerules/a.md",
            ".clinerules",
            ".openhands/microagents/r.md",
            ".openhands/microagents/setup.sh",
            ".qoder/rules/x.md",
            ".codebuddy/rules/x.md",
            ".iflow/IFLOW.md",
            ".devin/rules/x.md",
            "openhands/setup.sh",
            "hooks/x",
        ] {
            let path = Path::new(path);
            let guarded = path.iter().any(is_guarded);
            assert!(!guarded && !lies_in_started(path) && !is_read_by_others(path), "{path:?}");
        }
    }

    /// A link there would be read without a file being written under the name.
    #[test]
    fn links_in_the_place_of_settings() {
        let request = Request::command("true", "/home/u/w", "/home/u/w");
        let request = Request { home: "/home/u".into(), ..request };
        for path in [
            ".devcontainer",
            "a/.hg",
            "_darcs",
            "_darcs/prefs",
            ".Mise",
            ".mise/conf.d",
            ".jj",
            ".run",
            ".clinerules",
            ".iflow",
            ".openhands",
            ".tabnine/agent",
            ".github",
            ".externalToolBuilders",
        ] {
            assert!(leads_to_settings(&request, Path::new(""), Path::new(path)), "{path}");
        }
        for path in [
            "node_modules",
            ".venv",
            "venv/bin/python3",
            "dist",
            "build",
            "target",
            "latest",
            "current",
            "result",
            "bazel-bin",
            ".cache",
            "lib",
            "include",
            "vendor",
            "docs",
            "bin",
            "bin/tool",
            "src",
            "config",
            "conf.d",
            "prefs",
            "scripts",
            "hooks",
            "CLAUDE.md",
            "AGENTS.md",
            ".nvmrc",
            ".eslintrc.js",
            "node_modules/.bin/tsc",
            "node_modules/a",
            "repo",
            ".npm",
            "log",
        ] {
            assert!(!leads_to_settings(&request, Path::new(""), Path::new(path)), "{path}");
        }
        assert!(leads_to_settings(&request, Path::new("_darcs"), Path::new("prefs")));
    }

    #[test]
    fn another_spelling_is_no_way_around() {
        for name in
            [".g\u{200c}it", ".v\u{17f}code", ".\u{feff}envrc.lua\u{200b}", ".pry\u{ad}rc", ".\u{17f}hward-0"]
        {
            assert_eq!(is_respelled(OsStr::new(name)), !name.contains("envrc"), "{name:?}");
        }
        for name in [".git", ".vscode", "stra\u{df}e", "\u{fb01}le"] {
            assert!(!is_respelled(OsStr::new(name)), "{name:?}");
        }
    }
}
