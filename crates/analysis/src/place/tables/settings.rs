//! What several directories hold that means the same in each.

use super::Row;
use crate::effect::Scope::{Own, Persistence, Secret};

/// What an agent reads as settings, starts, or signs in with, in its directory of a project or a home, whichever agent it is. What is
/// only text for its model (rules, commands, skills, descriptions of agents) is not among it.
pub(super) const AGENT: &[Row] = &[
    (".credentials.json", Secret),
    ("agent/auth.json", Secret),
    ("auth.json", Secret),
    ("credentials.json", Secret),
    ("oauth_creds.json", Secret),
    ("secrets.json", Secret),
    ("session.json", Secret),
    (".mcp.json", Own),
    ("config.json", Own),
    ("config.jsonc", Own),
    ("config.local.json", Own),
    ("config.toml", Own),
    ("config.yaml", Own),
    ("config.yml", Own),
    ("extensions/**", Own),
    ("hooks.json", Own),
    ("hooks.toml", Own),
    ("hooks.v1.json", Own),
    ("hooks/**", Own),
    ("mcp.json", Own),
    ("mcp_config.json", Own),
    ("plugins/**", Own),
    ("pre-commit.sh", Own),
    ("sandbox.bashrc", Own),
    ("sandbox.dockerfile", Own),
    ("settings.json", Own),
    ("settings.jsonc", Own),
    ("settings.local.json", Own),
    ("setup.sh", Own),
    ("tools/**", Own),
];

/// The same of Kimi's, which keeps its keys by themselves.
pub(super) const KIMI: &[Row] = &[
    ("credentials/**", Secret),
    ("*.token", Secret),
    ("config.json", Own),
    ("config.toml", Own),
    ("mcp.json", Own),
    ("plugins/**", Own),
];

/// The same of Kilo's.
pub(super) const KILO: &[Row] = &[
    ("config.json", Own),
    ("kilo.json", Own),
    ("kilo.jsonc", Own),
    ("mcp.json", Own),
    ("plugin/**", Own),
    ("plugins/**", Own),
    ("setup-script*", Own),
    ("tool/**", Own),
    ("tools/**", Own),
];

/// The scripts that Mux runs for a new work tree and around each tool, and the servers that it starts.
pub(super) const MUX: &[Row] = &[
    ("init", Own),
    ("mcp.json", Own),
    ("mcp.jsonc", Own),
    ("tool_env", Own),
    ("tool_hook", Own),
    ("tool_post", Own),
    ("tool_pre", Own),
];

/// What an editor starts programs by when it opens a project, or an agent in it.
pub(super) const EDITOR: &[Row] = &[
    ("debug.json", Persistence),
    ("extensions/**", Persistence),
    ("launch.json", Persistence),
    ("mcp.json", Persistence),
    ("run.json", Persistence),
    ("settings.json", Persistence),
    ("tasks.json", Persistence),
];

/// What the site module executes at every start of Python.
pub(super) const PYTHON_SITE: &[Row] =
    &[("*.pth", Persistence), ("sitecustomize.py", Persistence), ("usercustomize.py", Persistence)];
