//! The words by which effects are told apart: what the command knowledge may say of a program, what stands in a plan, and what
//! a rule of a policy may name. The knowledge's compiler reads this file too, so that there is one list of each.

/// Of [`Metadata`](crate::EffectKind::Metadata): what changes.
pub const METADATA: &[&str] = &["mode", "owner", "times", "attributes", "setuid", "world-writable"];

/// Of [`Code`](crate::EffectKind::Code): the language. `project` is what the workspace's own build and test files say, `terminal`
/// what is typed.
pub const LANGUAGES: &[&str] = &[
    "shell",
    "python",
    "javascript",
    "perl",
    "perl-module",
    "ruby-module",
    "ruby",
    "php",
    "lua",
    "awk",
    "sed",
    "sql",
    "native",
    "project",
    "settings",
    "terminal",
    "debugger",
    "jq",
    "r",
    "java",
    "groovy",
    "kotlin",
    "scala",
    "go",
    "rust",
    "tcl",
    "expect",
    "lisp",
    "scheme",
    "haskell",
    "julia",
    "octave",
    "powershell",
    "vim",
    "emacs",
    "gdb",
    "make",
    "manifest",
    "m4",
    "postscript",
    "tex",
    "gnuplot",
    "swift",
    "fsharp",
    "dart",
    "elixir",
    "ed",
    "erlang",
    "clojure",
    "ocaml",
    "typescript",
    "c",
    "bc",
    "starlark",
    "source",
    "nix",
    "cypher",
    "mongo",
    "redis",
    "xslt",
];

/// Of [`Signal`](crate::EffectKind::Signal): who gets it.
pub const SIGNALS: &[&str] = &["own", "process", "name", "all"];

/// Of [`Privilege`](crate::EffectKind::Privilege): what gives the rights.
pub const PRIVILEGES: &[&str] =
    &["sudo", "user", "setuid", "capability", "container", "account", "namespace"];

/// Of [`Persist`](crate::EffectKind::Persist): what runs it later.
pub const PERSISTENCE: &[&str] = &["cron", "at", "service", "login", "hook", "kernel", "autostart"];

/// Of [`System`](crate::EffectKind::System): what of the machine changes. `process-limits` is a script that starts copies of itself
/// without end.
pub const SYSTEMS: &[&str] = &[
    "service",
    "power",
    "kernel",
    "clock",
    "mount",
    "network",
    "firewall",
    "disk",
    "account",
    "audit",
    "limits",
    "display",
    "process-limits",
];

/// Of [`Package`](crate::EffectKind::Package): what is done with packages.
pub const PACKAGES: &[&str] = &["install", "remove", "update", "publish", "configure"];

/// Of [`Vcs`](crate::EffectKind::Vcs): what is done with version control.
pub const VCS: &[&str] = &[
    "stage",
    "commit",
    "branch",
    "tag",
    "merge",
    "rewrite",
    "discard",
    "fetch",
    "push",
    "force-push",
    "config",
    "delete",
    "stash",
    "init",
    "pack",
];

/// Of [`Remote`](crate::EffectKind::Remote): what is done elsewhere.
pub const REMOTE: &[&str] = &["read", "change", "destroy"];

/// Where text comes from, in the order of the bits of [`Origins`](crate::Origins).
pub const ORIGINS: &[&str] = &[
    "literal",
    "file",
    "secret",
    "environment",
    "network",
    "decoded",
    "terminal",
    "written",
    "unknown",
    "names",
    "credential",
    "outside",
    "job",
    "found",
    "noted",
    "told",
];
