//! The places that matter, by the names that people know them by.
//!
//! A row is a path relative to where its table is anchored, and the scope of what it names. `*` stands for any text
//! within a name, `**` at the end for a directory and everything below it. The first row that fits decides, so that
//! exceptions stand before what they except. [`ORDINARY`] says "not special": the region decides.

mod filter;
mod home;
mod index;
mod root;
mod settings;

pub(super) use home::HOME;
pub(super) use root::{ROOT, Top, WORKSPACE_TOPS};

use super::letters::letters;
use crate::effect::Scope::{self, Harmless, Own, Persistence, Secret};
pub(super) use filter::Affix;
use filter::{Ends, Exact, filter, spelled};
use settings::{AGENT, EDITOR, KILO, KIMI, MUX, PYTHON_SITE};

/// A row: which place, and what it is.
pub(super) type Row = (&'static str, Scope);

/// The scope of a row that takes its place out of a later row's reach.
pub(super) const ORDINARY: Scope = Harmless;

/// Directories that mean the same wherever they lie, with what matters in them. Sorted by name. What an agent's start reads is here: a
/// verdict and the commit of a run both go by these rows. A commit refuses more, which starts nothing by itself but may steer an
/// agent, or is a project's own work (`shward`, `special/names.rs`).
pub(super) const INSIDE: &[(&str, &[Row])] = &[
    (".agents", AGENT),
    (".amazonq", &[("mcp.json", Own), ("cli-agents/**", Own)]),
    (".amp", AGENT),
    (".antigravity", AGENT),
    (".augment", AGENT),
    (".aws", &[("**", Secret)]),
    (".azure", &[("**", Secret)]),
    (
        ".claude",
        &[
            ("settings.json", Own),
            ("settings.local.json", Own),
            ("managed-settings.json", Own),
            ("hooks/**", Own),
            ("plugins/**", Own),
            (".credentials.json", Secret),
        ],
    ),
    (".cline", AGENT),
    (".clinerules", &[("hooks/**", Own)]),
    (".codebuddy", AGENT),
    (".codeium", &[("config.json", Secret), ("windsurf/hooks.json", Own), ("windsurf/mcp_config.json", Own)]),
    (
        ".codex",
        &[
            ("auth.json", Secret),
            ("*.md", ORDINARY),
            ("prompts/**", ORDINARY),
            ("skills/**", ORDINARY),
            ("sessions/**", ORDINARY),
            ("log/**", ORDINARY),
            ("**", Own),
        ],
    ),
    (
        ".continue",
        &[
            ("config.json", Own),
            ("config.yaml", Own),
            ("config.yml", Own),
            ("config.ts", Own),
            ("mcpServers/**", Own),
        ],
    ),
    (
        ".copilot",
        &[
            ("config.json", Own),
            ("lsp-config.json", Own),
            ("mcp-config.json", Own),
            ("settings.json", Own),
            ("extensions/**", Own),
            ("hooks/**", Own),
        ],
    ),
    (
        ".cursor",
        &[
            ("auth.json", Secret),
            ("hooks.json", Own),
            ("hooks/**", Own),
            ("mcp.json", Own),
            ("cli.json", Own),
            ("cli-config.json", Own),
            ("environment.json", Own),
            ("permissions.json", Own),
            ("sandbox.json", Own),
            ("worktrees.json", Own),
        ],
    ),
    (".devcontainer", &[("devcontainer.json", Persistence), ("*/devcontainer.json", Persistence)]),
    (".devin", AGENT),
    (".docker", &[("config.json", Secret), ("cli-plugins/**", Persistence)]),
    (".eca", AGENT),
    (
        ".factory",
        &[
            ("auth.*", Secret),
            ("settings.json", Own),
            ("hooks.json", Own),
            ("hooks/**", Own),
            ("mcp.json", Own),
        ],
    ),
    (".fleet", EDITOR),
    (
        ".gemini",
        &[
            ("settings.json", Own),
            ("trustedFolders.json", Own),
            ("policies/**", Own),
            ("hooks/**", Own),
            ("extensions/**", Own),
            ("sandbox*", Own),
            ("oauth_creds.json", Secret),
            ("google_accounts.json", Secret),
        ],
    ),
    (
        ".git",
        &[
            ("hooks/**", Persistence),
            ("config", Persistence),
            ("config.worktree", Persistence),
            ("info/attributes", Persistence),
            ("branches/*", Persistence),
            ("remotes/*", Persistence),
            ("modules/*/hooks/**", Persistence),
            ("modules/*/config", Persistence),
            ("worktrees/*/config.worktree", Persistence),
        ],
    ),
    (".githooks", &[("**", Persistence)]),
    (
        ".github",
        &[
            ("copilot/settings.json", Own),
            ("copilot/settings.local.json", Own),
            ("extensions/**", Own),
            ("hooks/**", Own),
        ],
    ),
    (".gnupg", &[("**", Secret)]),
    (".goose", AGENT),
    (".grok", AGENT),
    (".helix", &[("config.toml", Persistence), ("languages.toml", Persistence)]),
    (".hermes", AGENT),
    (".hg", &[("hgrc", Persistence), ("hgrc-not-shared", Persistence), ("sharedpath", Persistence)]),
    (".husky", &[("**", Persistence)]),
    (
        ".idea",
        &[
            ("runConfigurations/**", Persistence),
            ("watcherTasks.xml", Persistence),
            ("workspace.xml", Persistence),
        ],
    ),
    (".iflow", AGENT),
    (".junie", &[("mcp/**", Own), ("hooks/**", Own), ("settings.json", Own), ("config.json", Own)]),
    (".kilo", KILO),
    (".kilocode", AGENT),
    (".kimi", KIMI),
    (".kimi-code", KIMI),
    (".kiro", &[("agents/**", Own), ("hooks/**", Own), ("settings/**", Own)]),
    (".kube", &[("cache/**", ORDINARY), ("**", Secret)]),
    (".letta", AGENT),
    (".mcphub", &[("servers.json", Own)]),
    (".mux", MUX),
    (".neovate", AGENT),
    (".omp", AGENT),
    (
        ".openclaw",
        &[
            ("openclaw.json", Own),
            ("extensions/**", Own),
            ("hooks/**", Own),
            ("credentials/**", Secret),
            ("agents/*/agent/auth-profiles.json", Secret),
        ],
    ),
    (".opencode", &[("**", Own)]),
    (".openhands", AGENT),
    (".password-store", &[("**", Secret)]),
    (".pi", AGENT),
    (".pijul", &[("config", Persistence)]),
    (".pochi", AGENT),
    (".qoder", AGENT),
    (
        ".qwen",
        &[
            ("oauth_creds.json", Secret),
            ("settings.json", Own),
            ("extensions/**", Own),
            ("hooks/**", Own),
            ("sandbox*", Own),
        ],
    ),
    (".refact", &[("integrations.d/**", Own)]),
    (".roo", AGENT),
    (".run", &[("*.run.xml", Persistence)]),
    (".sl", &[("config", Persistence), ("sharedpath", Persistence)]),
    (".snow", AGENT),
    (
        ".ssh",
        &[
            ("*.pub", ORDINARY),
            ("known_hosts*", ORDINARY),
            ("authorized_keys*", Persistence),
            ("config", Persistence),
            ("config.d/**", Persistence),
            ("rc", Persistence),
            ("environment", Persistence),
            ("**", Secret),
        ],
    ),
    (".streamlit", &[("secrets.toml", Secret)]),
    (".superset", AGENT),
    (".tabnine", &[("agent/settings.json", Own), ("mcp_servers.json", Own)]),
    (".terraform.d", &[("credentials.tfrc.json", Secret), ("plugins/**", Persistence)]),
    (".theia", EDITOR),
    (".trae", AGENT),
    (".vagrant", &[("machines/*/*/private_key", Secret)]),
    (".vibe", AGENT),
    (".vim", &[("coc-settings.json", Persistence)]),
    (".vs", &[("launch.vs.json", Persistence), ("mcp.json", Persistence), ("tasks.vs.json", Persistence)]),
    (".vscode", EDITOR),
    (".windsurf", &[("hooks.json", Own), ("hooks/**", Own), ("mcp_config.json", Own)]),
    (".zcode", AGENT),
    (".zed", EDITOR),
    ("dist-packages", PYTHON_SITE),
    ("site-packages", PYTHON_SITE),
];

/// File names that mean the same in every directory. Sorted by name.
pub(super) const NAMES: &[Row] = &[
    (".ICEauthority", Secret),
    (".Xauthority", Secret),
    (".aider.conf.yml", Own),
    (".authinfo", Secret),
    (".bash_history", Secret),
    (".boto", Secret),
    (".cecli.conf.yml", Own),
    (".continuerc.json", Own),
    (".crush.json", Own),
    (".cvspass", Secret),
    (".dev.vars", Secret),
    (".devcontainer.json", Persistence),
    (".dir-locals-2.el", Persistence),
    (".dir-locals.el", Persistence),
    (".dockercfg", Secret),
    (".edgerc", Secret),
    (".env", Secret),
    (".envrc", Persistence),
    (".erlang.cookie", Secret),
    (".exrc", Persistence),
    (".git-credentials", Secret),
    (".google_authenticator", Secret),
    (".histfile", Secret),
    (".history", Secret),
    (".lazy.lua", Persistence),
    (".local.vimrc", Persistence),
    (".lvimrc", Persistence),
    (".mcp.json", Own),
    (".my.cnf", Secret),
    (".mylogin.cnf", Secret),
    (".mysql_history", Secret),
    (".netrc", Secret),
    (".node_repl_history", Secret),
    (".nvim.lua", Persistence),
    (".nvimrc", Persistence),
    (".opencode.json", Own),
    (".passwd-s3fs", Secret),
    (".pgpass", Secret),
    (".psql_history", Secret),
    (".pypirc", Secret),
    (".python_history", Secret),
    (".rediscli_history", Secret),
    (".s3cfg", Secret),
    (".sentryclirc", Secret),
    (".sh_history", Secret),
    (".shward.toml", Own),
    (".smbcredentials", Secret),
    (".sqlite_history", Secret),
    (".vast_api_key", Secret),
    (".vault-token", Secret),
    (".vault_pass", Secret),
    (".vimspector.json", Persistence),
    (".zhistory", Secret),
    (".zsh_history", Secret),
    ("Login Data", Secret),
    ("_netrc", Secret),
    ("application_default_credentials.json", Secret),
    ("authorized_keys", Persistence),
    ("authorized_keys2", Persistence),
    ("cookies.sqlite", Secret),
    ("crush.json", Own),
    ("gptme.toml", Own),
    ("id_dsa", Secret),
    ("id_ecdsa", Secret),
    ("id_ecdsa_sk", Secret),
    ("id_ed25519", Secret),
    ("id_ed25519_sk", Secret),
    ("id_rsa", Secret),
    ("key3.db", Secret),
    ("key4.db", Secret),
    ("krb5.keytab", Secret),
    ("kubeconfig", Secret),
    ("logins.json", Secret),
    ("master.key", Secret),
    ("opencode.json", Own),
    ("opencode.jsonc", Own),
    ("secrets.env", Secret),
    ("sitecustomize.py", Persistence),
    ("usercustomize.py", Persistence),
    ("vtcode.toml", Own),
    ("wallet.dat", Secret),
];

/// Families of file names that mean the same in every directory.
pub(super) const FAMILIES: &[Row] = &[
    ("*.pub", ORDINARY),
    (".env*.example", ORDINARY),
    (".env*.sample", ORDINARY),
    (".env*.template", ORDINARY),
    (".env*.dist", ORDINARY),
    (".env*.defaults", ORDINARY),
    (".env*.schema", ORDINARY),
    (".env.*", Secret),
    // What editors keep of one while it is changed, and of what it was before: Vim, Emacs.
    (".env~*", Secret),
    ("..env.*", Secret),
    ("#.env*#", Secret),
    ("id_rsa*", Secret),
    ("id_dsa*", Secret),
    ("id_ecdsa*", Secret),
    ("id_ed25519*", Secret),
    ("*.kdbx", Secret),
    ("*.ppk", Secret),
];

/// Families that are keys in a home or elsewhere. In the workspace they are material that the agent works with (test
/// certificates, a server's own key), in system directories they are mostly public.
pub(super) const KEY_FAMILIES: &[Row] = &[
    ("cacert*.pem", ORDINARY),
    ("ca-*.pem", ORDINARY),
    ("cert*.pem", ORDINARY),
    ("chain*.pem", ORDINARY),
    ("fullchain*.pem", ORDINARY),
    ("pub*.pem", ORDINARY),
    ("*.pem", Secret),
    ("*.key", Secret),
    ("*.p12", Secret),
    ("*.pfx", Secret),
    ("*.jks", Secret),
    ("*.keystore", Secret),
];

/// Directories that builds, tests and package managers fill, and fill again.
pub(super) const PRODUCTS: &[&str] = &[
    ".angular",
    ".cache",
    ".dart_tool",
    ".eggs",
    ".gradle",
    ".hypothesis",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".next",
    ".nox",
    ".nuxt",
    ".nyc_output",
    ".output",
    ".parcel-cache",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".sass-cache",
    ".stack-work",
    ".svelte-kit",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    ".vite",
    ".zig-cache",
    "CMakeFiles",
    "DerivedData",
    "__pycache__",
    "_build",
    "_site",
    "build",
    "coverage",
    "dist",
    "dist-newstyle",
    "elm-stuff",
    "htmlcov",
    "node_modules",
    "obj",
    "out",
    "storybook-static",
    "target",
    "venv",
    "zig-cache",
    "zig-out",
];

/// Families of such directories.
pub(super) const PRODUCT_FAMILIES: &[&str] = &["*.egg-info", "*.dist-info", "cmake-build-*", "bazel-*"];

/// Files that compilers and test runs leave.
pub(super) const PRODUCT_FILES: &[&str] = &[
    ".pyc",
    ".pyo",
    ".o",
    ".obj",
    ".class",
    ".gcda",
    ".gcno",
    ".rlib",
    ".rmeta",
    ".d.ts.map",
    ".tsbuildinfo",
];

/// Version control data.
pub(super) const REPOSITORIES: &[&str] = &[".git", ".hg", ".jj", ".svn"];

/// What may be the last name of a row about what lies in a directory.
pub(super) static IN_LAST: Exact = {
    let mut filter = Exact::NONE;
    let mut directories: &[(&str, &[Row])] = INSIDE;
    while let Some(((_, rows), others)) = directories.split_first() {
        let mut rest: &[Row] = rows;
        while let Some(((row, _), more)) = rest.split_first() {
            filter = filter.with_bytes(last(row.as_bytes()));
            rest = more;
        }
        directories = others;
    }
    filter
};

/// What the names of protected files end in that are such in a directory.
pub(super) static PROTECTED_ENDS: Ends = {
    let mut filter = Ends::NONE;
    let mut directories: &[(&str, &[Row])] = INSIDE;
    while let Some(((_, rows), others)) = directories.split_first() {
        let mut rest: &[Row] = rows;
        while let Some(((row, scope), more)) = rest.split_first() {
            if matches!(scope, Own | Persistence) {
                filter = filter.with_bytes(last(row.as_bytes()));
            }
            rest = more;
        }
        directories = others;
    }
    filter
};

/// The letters, small ones, in which the rows of each directory end that name what is protected.
#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler only: an index out of bounds does not compile"
)]
pub(super) static LAST_LETTERS_OF_INSIDE: [u64; INSIDE.len()] = {
    let mut all = [0; INSIDE.len()];
    let mut at = 0;
    while at < INSIDE.len() {
        let mut rest: &[Row] = INSIDE[at].1;
        while let Some(((row, scope), more)) = rest.split_first() {
            if let (Own | Persistence, Some(last)) = (scope, row.as_bytes().last()) {
                all[at] |= letters(&[last.to_ascii_lowercase()]);
            }
            rest = more;
        }
        at += 1;
    }
    all
};

/// The last name of a row: of a directory with all that is in it the directory's.
const fn last(row: &[u8]) -> &[u8] {
    let row = match row {
        [place @ .., b'/', b'*', b'*'] => place,
        row => row,
    };
    let (mut last, mut rest) = (row, row);
    while let Some((byte, others)) = rest.split_first() {
        if *byte == b'/' {
            last = others;
        }
        rest = others;
    }
    last
}

/// What may be in each of these tables.
pub(super) static IN_ROOT: Exact = filter!(Exact, ROOT, |top| top.name);
pub(super) static IN_INSIDE: Exact = filter!(Exact, INSIDE, |row| row.0);
pub(super) static IN_NAMES: Exact = filter!(Exact, NAMES, |row| row.0);
pub(super) static IN_PRODUCTS: Exact = filter!(Exact, PRODUCTS, |name| name);
pub(super) static IN_REPOSITORIES: Exact = filter!(Exact, REPOSITORIES, |name| name);
pub(super) static IN_FAMILIES: Affix = filter!(Affix, FAMILIES, |row| row.0);
pub(super) static IN_KEY_FAMILIES: Affix = filter!(Affix, KEY_FAMILIES, |row| row.0);
pub(super) static IN_PRODUCT_FAMILIES: Affix = filter!(Affix, PRODUCT_FAMILIES, |name| name);

/// The letters of the names in these tables.
pub(super) static LETTERS_OF_INSIDE: [u64; INSIDE.len()] = spelled!(INSIDE, |row| row.0);
pub(super) static LETTERS_OF_NAMES: [u64; NAMES.len()] = spelled!(NAMES, |row| row.0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyed_tables_are_sorted() {
        assert!(ROOT.is_sorted_by(|a, b| a.name < b.name));
        assert!(INSIDE.is_sorted_by(|a, b| a.0 < b.0));
        assert!(NAMES.is_sorted_by(|a, b| a.0 < b.0));
        assert!(PRODUCTS.is_sorted());
    }

    #[test]
    fn rows_can_match() {
        let rows = ROOT
            .iter()
            .flat_map(|t| t.rows.rows())
            .chain(HOME.rows())
            .chain(INSIDE.iter().flat_map(|(_, rows)| *rows));
        for (row, _) in rows.chain(NAMES).chain(FAMILIES).chain(KEY_FAMILIES) {
            assert!(!row.starts_with('/') && !row.ends_with('/') && !row.contains("//"), "{row}");
            assert!(row.split('/').rev().skip(1).all(|name| name != "**"), "** ends a row: {row}");
            assert!(
                row.split('/').all(|name| name == "**" || name.matches('*').count() <= 1),
                "one *: {row}"
            );
            assert!(row.split('/').all(|name| name.len() <= 62 && !name.contains('?')), "{row}");
        }
    }
}
