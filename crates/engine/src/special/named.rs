//! The tables of those names.

/// Directories in the workspace in which a new file could instruct an agent, an editor or git: protected as a whole. What in them is read
/// as settings, or started, stands in the tables of the analysis, so that a verdict knows it as well.
pub(super) const GUARDED: [&str; 27] = [
    ".agents",
    ".amp",
    ".antigravity",
    ".augment",
    ".claude",
    ".cline",
    ".codex",
    ".copilot",
    ".cursor",
    ".fleet",
    ".gemini",
    ".goose",
    ".helix",
    ".husky",
    ".idea",
    ".junie",
    ".kilo",
    ".kilocode",
    ".mux",
    ".omp",
    ".opencode",
    ".pi",
    ".roo",
    ".theia",
    ".trae",
    ".vscode",
    ".windsurf",
];

/// Files that a shell, git, a terminal, an agent, an interpreter, a debugger or a manager of hooks or tools reads when somebody next starts it
/// there. To write them is a project's ordinary work, which a verdict lets be: it is the commit of a run that nobody has looked at before.
pub(super) const READ_BY_OTHERS: [&str; 111] = [
    "$irbrc",
    ".arcconfig",
    ".autoenv",
    ".autoenv.leave",
    ".autoenv.zsh",
    ".autoenv_leave.zsh",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".byebugrc",
    ".cshrc",
    ".devfile.yaml",
    ".emdash.json",
    ".envrc.local",
    ".envrc.private",
    ".erlang",
    ".gdbinit",
    ".ghci",
    ".gitconfig",
    ".gitmodules",
    ".gitpod.yml",
    ".gtrconfig",
    ".gvimrc",
    ".hie-bios",
    ".huskyrc",
    ".iex.exs",
    ".inputrc",
    ".irbrc",
    ".jdbrc",
    ".kateproject",
    ".kode.json",
    ".kshrc",
    ".lfsconfig",
    ".lintstagedrc",
    ".lite_project.lua",
    ".lldbinit",
    ".login",
    ".logout",
    ".lsp.json",
    ".mcphost.json",
    ".mcphost.yml",
    ".merlin",
    ".mise.local.toml",
    ".mise.toml",
    ".neoconf.json",
    ".ocamlinit",
    ".octaverc",
    ".overcommit.yml",
    ".p4config",
    ".pdbrc",
    ".perldb",
    ".phpactor.json",
    ".phpactor.yml",
    ".phpdbginit",
    ".pnpmfile.cjs",
    ".pnpmfile.mjs",
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    ".profile",
    ".prototools",
    ".pryrc",
    ".psysh.php",
    ".rdata",
    ".rdbgrc",
    ".rdbgrc.rb",
    ".renviron",
    ".replit",
    ".rprofile",
    ".rust-analyzer.toml",
    ".rusty-hook.toml",
    ".rvmrc",
    ".scilab",
    ".stackblitzrc",
    ".tcshrc",
    ".tmux.conf",
    ".tool-versions",
    ".vimrc",
    ".workmux.yaml",
    ".wtp.yml",
    ".yarnrc",
    ".yarnrc.yml",
    ".ycm_extra_conf.py",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "_irbrc",
    "autoexec.sas",
    "captainhook.json",
    "devfile.yaml",
    "firebender.json",
    "grumphp.yml",
    "hie.yaml",
    "hk.pkl",
    "husky.config.js",
    "irb.rc",
    "irbrc",
    "jdb.ini",
    "kilo.json",
    "kilo.jsonc",
    "mise.local.toml",
    "mise.toml",
    "prek.toml",
    "profile.do",
    "rust-analyzer.toml",
    "rusty-hook.toml",
    "scilab.ini",
    "startup.m",
    "uzi.yaml",
];

/// The endings of files that an editor goes by once somebody opens them.
pub(super) const READ_BY_ENDING: [&str; 3] = ["code-workspace", "sublime-project", "sublime-workspace"];

/// Managers of hooks, and what else reads a file of such a name where it starts, in any of several formats.
pub(super) const HOOKS_IN: [(&str, &[&str]); 18] = [
    (".huskyrc", &["js", "json", "yaml", "yml"]),
    (".lefthook", FORMATS),
    (".lefthook-local", FORMATS),
    (".lintstagedrc", SCRIPTS),
    (".nano-staged", SCRIPTS),
    (".simple-git-hooks", SCRIPTS),
    ("jupyter_config", OF_JUPYTER),
    ("jupyter_console_config", OF_JUPYTER),
    ("jupyter_lab_config", OF_JUPYTER),
    ("jupyter_nbconvert_config", OF_JUPYTER),
    ("jupyter_notebook_config", OF_JUPYTER),
    ("jupyter_qtconsole_config", OF_JUPYTER),
    ("jupyter_server_config", OF_JUPYTER),
    ("lefthook", FORMATS),
    ("lefthook-local", FORMATS),
    ("lint-staged.config", SCRIPTS),
    ("nano-staged", SCRIPTS),
    ("simple-git-hooks", SCRIPTS),
];
const FORMATS: &[&str] = &["json", "jsonc", "toml", "yaml", "yml"];
const OF_JUPYTER: &[&str] = &["json", "py"];
const SCRIPTS: &[&str] = &["cjs", "cts", "js", "json", "mjs", "mts", "ts", "yaml", "yml"];

/// Such files by the ends of their paths.
pub(super) const READ_BY_PATH: [&str; 24] = [
    ".blackboxcli/settings.json",
    ".cmux/init",
    ".codesandbox/tasks.json",
    ".config/wt.toml",
    ".container-use/environment.json",
    ".github/lsp.json",
    ".gitpod/automations.yaml",
    ".idx/dev.nix",
    ".jj/repo/config.toml",
    ".jj/workspace-config.toml",
    ".kode/settings.json",
    ".lapce/run.toml",
    ".lapce/settings.toml",
    ".lsp/config.edn",
    ".mise/config.local.toml",
    ".mise/config.toml",
    ".obsidian/community-plugins.json",
    ".ona/automations.yaml",
    ".ropeproject/config.py",
    ".trunk/trunk.yaml",
    ".trunk/user.yaml",
    "_darcs/prefs/defaults",
    "mise/config.local.toml",
    "mise/config.toml",
];

/// Names under which agents, also those that no table knows, keep hooks and the servers that they start, in a directory of their own with a
/// dot in front.
pub(super) const SERVERS: [&str; 15] = [
    "hooks.json",
    "hooks.jsonc",
    "hooks.toml",
    "hooks.v1.json",
    "hooks.yaml",
    "hooks.yml",
    "mcp-config.json",
    "mcp-servers.json",
    "mcp-settings.json",
    "mcp.json",
    "mcp.jsonc",
    "mcp_config.json",
    "mcp_servers.json",
    "mcp_settings.json",
    "settings.local.json",
];

/// Directories, by the ends of their paths, of whose files each is read.
pub(super) const READ_IN: [&str; 7] = [
    ".bsp",
    ".externaltoolbuilders",
    ".mise/conf.d",
    ".nlsp-settings",
    ".nova/tasks",
    ".shadowenv.d",
    "mise/conf.d",
];

/// Of a directory, files with an ending: what a shell of Nix was when it was last made, which direnv evaluates without a question.
pub(super) const CACHED_SHELLS: (&str, &str) = (".direnv", "rc");

/// Directories, by the ends of their paths, of programs that are run without anybody naming them: scripts of hooks by what they lie
/// for (lefthook, of work trees and issues of agents), what the `repo` of Android's sources starts, plugins of a vault of notes, scripts of an
/// editor, and yarn itself with its plugins, which each call of it runs. They lie in it or in a directory of it.
pub(super) const RUN_FROM: [&str; 11] = [
    ".aider-desk/hooks",
    ".beads/hooks",
    ".cargo-husky/hooks",
    ".dmux-hooks",
    ".joyride/scripts",
    ".lefthook",
    ".lefthook-local",
    ".obsidian/plugins",
    ".repo/repo",
    ".yarn/plugins",
    ".yarn/releases",
];

/// Files, by the ends of their paths, that lead a program to settings in another place, where the usual thing is a directory.
pub(super) const WAYS: [&str; 2] = [".jj/repo", ".sl/sharedpath"];

/// Directories of agents that hold rules for a model, which a project tracks as its own text. As a whole they would keep git from
/// checking out the rules; what is settings in them, or started, the tables of the analysis know.
pub(super) const OF_RULES: [&str; 8] =
    [".codebuddy", ".devin", ".eca", ".iflow", ".openhands", ".qoder", ".snow", ".zcode"];

/// What in these may name programs that an agent then starts.
pub(super) const DESCRIPTIONS: [&str; 3] = ["agents", "commands", "skills"];
