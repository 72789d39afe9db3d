//! Which scope and which covers each kind of path has.

#![allow(
    clippy::string_slice,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a panic is how a test fails"
)]

mod hostile;
mod rows;

use super::Places;
use crate::effect::{Covers, Rest, Scope, Target};
use crate::value::{Origins, Piece, Value};
use crate::world::{Frozen, World};
use crate::{Request, Source};
use bumpalo::Bump;
use shward_syntax::Dialect;
use std::borrow::Cow;

const W: &str = "/home/u/proj";
const H: &str = "/home/u";

/// `*`, `?` and `[…]` are patterns, `$` is unknown text; everything else is known.
fn value<'a>(arena: &'a Bump, text: &'a str) -> Value<'a> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['*', '?', '[', '$']) {
        if at > 0 {
            pieces.push(Piece::Text(&rest.as_bytes()[..at]));
        }
        let end = if rest[at..].starts_with('[') { at + rest[at..].find(']').unwrap() + 1 } else { at + 1 };
        let special = &rest[at..end];
        pieces.push(if special == "$" { Piece::Unknown } else { Piece::Glob(special.as_bytes()) });
        rest = &rest[end..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.as_bytes()));
    }
    Value::of(arena, &pieces, Origins::LITERAL)
}

fn request<'a>(workspace: &'a str, home: &'a str) -> Request<'a> {
    Request {
        source: Source::Command(b""),
        cwd: workspace.as_bytes(),
        workspace: workspace.as_bytes(),
        home: home.as_bytes(),
        dialect: Dialect::Bash,
    }
}

fn look<'a>(
    arena: &'a Bump,
    world: &dyn World,
    workspace: &'a str,
    home: &'a str,
    cwd: Option<&'a str>,
    path: &'a str,
) -> Target<'a> {
    let places = Places::new(arena, &request(workspace, home), world);
    places.target(world, cwd.map(str::as_bytes), &value(arena, path))
}

fn here(path: &str) -> Scope {
    look(&Bump::new(), &Frozen, W, H, Some(W), path).scope
}

fn covers(path: &str) -> Covers {
    look(&Bump::new(), &Frozen, W, H, Some(W), path).covers
}

#[test]
fn known_paths_have_the_scope_of_their_place() {
    use Scope::*;
    let table: &[(Scope, &[&str])] = &[
        (
            Workspace,
            &[
                ".",
                "",
                "src/main.rs",
                "./a/../b",
                "/home/u/proj/x",
                "//home//u/proj/./x",
                "server.key",
                "etc/shadow",
                "targets",
                "x.pth",
            ],
        ),
        (
            Workspace,
            &[
                "CLAUDE.md",
                ".env.example",
                ".env.local.sample",
                ".claude/commands/x.md",
                ".npmrc",
                ".bashrc",
                ".github/workflows/ci.yml",
                ".gitignore",
                ".vscode/extensions.json",
                "id_rsa.pub",
            ],
        ),
        (
            Product,
            &[
                "target",
                "target/debug/x",
                "node_modules/",
                "sub/dist",
                "a/__pycache__",
                "x.pyc",
                "lib/x.o",
                "foo.egg-info",
                "cmake-build-debug",
                "./build/",
            ],
        ),
        (Repository, &[".git", ".git/index", "sub/.git/objects/ab"]),
        (Temp, &["/tmp", "/tmp/x", "/var/tmp/x", "/dev/shm/x", "/tmp/../tmp/x", "../../../tmp/y"]),
        (Elsewhere, &["/data/x", "/mnt/x", "/app/x", "/app/id_rsa.pub"]),
        (
            Home,
            &[
                "/home/u",
                "/home/u/other",
                "..",
                "../x",
                "/home/v/x",
                "/root",
                "/root/x",
                "/home/u/.cache/x",
                "/home/u/.ssh/id_rsa.pub",
                "/home/u/.ssh/known_hosts",
                "/home/u/.codex/AGENTS.md",
                "/home/u/.kube/cache/x",
            ],
        ),
        (
            System,
            &[
                "/",
                "/etc",
                "/etc/hosts",
                "/usr/bin/ls",
                "/bin",
                "/var/log/syslog",
                "/opt/x",
                "/etc/ssh/ssh_host_rsa_key.pub",
                "/usr/share/x.pem",
                "/proc/cpuinfo",
                "/proc/1/cmdline",
                "/dev",
                "/sys",
                "/home",
                "/etc/ssl/certs/ca.pem",
            ],
        ),
        (
            Harmless,
            &[
                "/dev/null",
                "/dev/zero",
                "/dev/urandom",
                "/dev/stdout",
                "/dev/fd/3",
                "/dev/tty",
                "/proc/self/fd/2",
            ],
        ),
        (
            Device,
            &[
                "/dev/sda",
                "/dev/nvme0n1p1",
                "/dev/mem",
                "/dev/pts/3",
                "/proc/sys/kernel/core_pattern",
                "/proc/sysrq-trigger",
                "/sys/power/state",
                "/var/run/docker.sock",
                "/run/docker.sock",
            ],
        ),
        (
            Environment,
            &[
                "/proc/self/environ",
                "/proc/1/environ",
                "/proc/123/mem",
                "/proc/kcore",
                "/proc/12/fd/4",
                "/proc/1/task/1/environ",
            ],
        ),
        (
            Secret,
            &[
                ".env",
                "sub/.env.production",
                ".env~",
                "sub/..env.swp",
                "#.env.local#",
                "id_rsa",
                "deploy/id_ed25519",
                "/home/u/.ssh",
                "/home/u/.ssh/id_rsa",
                "/home/u/.ssh/work_key",
                "/root/.ssh/id_rsa",
                "/home/v/.aws/credentials",
                "/etc/shadow",
                "/mnt/etc/shadow",
                "/etc/ssl/private/x.pem",
                "/etc/ssh/ssh_host_rsa_key",
                "/home/u/.netrc",
                "/home/u/.config/gcloud/x",
                "/home/u/.kube/config",
                "/home/u/.docker/config.json",
                "/home/u/.gnupg",
                "/home/u/.mozilla/firefox/x/logins.json",
                "/home/u/.config/google-chrome/Default/Cookies",
                "/home/u/.bash_history",
                "/home/u/x.pem",
                "/data/server.key",
                "/run/secrets/db",
                "/var/run/secrets/kubernetes.io/token",
                "/home/u/.claude/.credentials.json",
                "/home/u/.codex/auth.json",
                "/proc/self/root/etc/shadow",
                "/proc/42/root/home/u/.ssh/id_rsa",
                "backup/.ssh/id_x",
            ],
        ),
        (
            Persistence,
            &[
                "/home/u/.bashrc",
                "/root/.profile",
                "/home/u/.zshrc",
                "/home/u/.config/fish/config.fish",
                "/home/u/.config/autostart/x.desktop",
                "/home/u/.config/systemd/user/x.service",
                "/etc/profile",
                "/etc/profile.d/x.sh",
                "/etc/crontab",
                "/host/etc/crontab",
                "/mnt/disk/etc/cron.d/x",
                "/etc/cron.d/x",
                "/var/spool/cron/crontabs/root",
                "/etc/systemd/system/x.service",
                "/lib/systemd/system/x.service",
                "/home/u/.ssh/authorized_keys",
                "/home/u/.ssh/config",
                "/home/u/.ssh/rc",
                ".git/hooks/pre-commit",
                ".git/config",
                "/git/server.git/hooks/post-receive",
                "/home/u/.gitconfig",
                "/etc/sudoers",
                "/etc/sudoers.d/x",
                "/etc/passwd",
                "/etc/pam.d/su",
                "/etc/ld.so.preload",
                "/etc/udev/rules.d/1.rules",
                ".vscode/tasks.json",
                ".husky/pre-commit",
                ".sl/config",
                ".envrc",
                "/home/u/.vimrc",
                "/usr/lib/python3/dist-packages/x.pth",
                ".venv/lib/python3.12/site-packages/x.pth",
                "sitecustomize.py",
                "/Library/LaunchDaemons/x.plist",
                "/etc/apt/apt.conf.d/99x",
            ],
        ),
        (
            Own,
            &[
                "/home/u/.config/shward/policy.toml",
                "/etc/shward/policy.d/x.toml",
                "/home/u/.local/state/shward/log",
                ".shward.toml",
                "/run/user/1000/shward/s",
                "/home/u/.claude/settings.json",
                ".claude/settings.local.json",
                ".claude/hooks/x.sh",
                "/home/u/.codex/config.toml",
                ".cursor/hooks.json",
                ".mcp.json",
                ".crush.json",
                "crush.json",
                ".factory/settings.json",
                ".factory/hooks.json",
                "/home/u/.gemini/settings.json",
                ".github/hooks/x.json",
            ],
        ),
    ];
    for (scope, paths) in table {
        for path in *paths {
            assert_eq!(here(path), *scope, "{path}");
        }
    }
}

#[test]
fn patterns_have_the_worst_scope_that_they_can_match() {
    use Scope::*;
    for (path, scope) in [
        ("*", Workspace),
        ("*.py", Workspace),
        ("src/*/x.rs", Workspace),
        ("*.json", Workspace),
        ("*.pyc", Product),
        ("sub/*.o", Product),
        ("target/*", Product),
        ("*/target", Product),
        (".e*", Secret),
        (".*", Own),
        (".[a-z]*", Own),
        ("*_rsa", Secret),
        ("?d_rs[a-z]", Secret),
        ("id_*", Secret),
        ("/home/u/*", Home),
        ("/home/u/D*", Home),
        ("../*", Home),
        ("/home/u/.ssh/*", Secret),
        ("/home/u/.ssh/*.pub", Home),
        ("/home/u/.s*/id_*", Secret),
        ("/home/u/.b*", Secret),
        ("/home/*/.ssh/id_rsa", Secret),
        ("/etc/sh*dow", Secret),
        ("/etc/*-release", Persistence),
        ("/etc/o*-release", System),
        ("/etc/*.conf", Persistence),
        ("/*/shadow", Secret),
        ("/???/shadow", Secret),
        ("/tmp/*", Temp),
        ("/t*/x", Elsewhere),
        ("/dev/sd*", Device),
        ("/dev/tty*", Device),
        ("/dev/fd/*", Harmless),
        ("/proc/*/environ", Environment),
        ("/proc/[0-9]*/cmdline", System),
        ("/proc/*/root/etc/shadow", Secret),
        ("/*", System),
        (".git/hooks/*", Persistence),
        (".claude/*.json", Own),
    ] {
        assert_eq!(here(path), scope, "{path}");
    }
}

#[test]
fn unknown_text_may_lead_anywhere() {
    use Scope::*;
    for (path, scope) in [
        ("$", Unknown),
        ("/tmp/$", Unknown),
        ("src/$.rs", Unknown),
        ("$/x", Unknown),
        ("/etc/$", Unknown),
        ("/home/u/.ssh/$", Secret),
        ("$/.ssh/id_rsa", Secret),
        ("$/.env", Secret),
        ("$/.bashrc", Persistence),
        ("$/etc/shadow", Secret),
        ("$etc/shadow", Secret),
        ("$/.git/hooks/pre-commit", Persistence),
        ("/home/u/.config/shward/$", Own),
        ("$/../../etc/shadow", Secret),
    ] {
        let arena = Bump::new();
        let target = look(&arena, &Frozen, W, H, Some(W), path);
        assert_eq!(target.scope, scope, "{path}");
        assert_eq!(target.rest, Rest::Unknown, "{path}");
    }
}

#[test]
fn an_unknown_working_directory_leaves_names() {
    let arena = Bump::new();
    for (path, scope) in [
        ("x", Scope::Unknown),
        ("*.py", Scope::Unknown),
        (".env", Scope::Secret),
        (".ssh/id_rsa", Scope::Secret),
        ("etc/shadow", Scope::Secret),
        ("../.bashrc", Scope::Persistence),
        ("/tmp/x", Scope::Temp),
    ] {
        assert_eq!(look(&arena, &Frozen, W, H, None, path).scope, scope, "{path}");
    }
    let target = look(&arena, &Frozen, W, H, None, "x");
    assert_eq!((target.path, target.rest), (b"" as &[u8], Rest::Unknown));
}

#[test]
fn paths_are_normal_and_patterns_name_their_directory() {
    let arena = Bump::new();
    for (path, expect, rest) in [
        ("a/./b/../c", "/home/u/proj/a/c", Rest::Exact),
        ("/..//x/", "/x", Rest::Exact),
        ("/", "/", Rest::Exact),
        ("src/*.rs", "/home/u/proj/src", Rest::Glob),
        ("/*", "/", Rest::Glob),
        ("src/$/x", "/home/u/proj/src", Rest::Unknown),
        ("*/../x", "/home/u/proj/x", Rest::Glob),
        ("$", "", Rest::Unknown),
        ("$/x", "", Rest::Unknown),
        ("x$", "/home/u/proj", Rest::Unknown),
    ] {
        let target = look(&arena, &Frozen, W, H, Some(W), path);
        assert_eq!((std::str::from_utf8(target.path).unwrap(), target.rest), (expect, rest), "{path}");
    }
}

#[test]
fn covers_name_what_would_be_lost() {
    let names = |c: Covers| {
        [
            (c.root, "root"),
            (c.home, "home"),
            (c.workspace, "workspace"),
            (c.repository, "repository"),
            (c.system, "system"),
            (c.secrets, "secrets"),
            (c.own, "own"),
        ]
        .iter()
        .filter_map(|(is, name)| is.then_some(*name))
        .collect::<Vec<_>>()
        .join(" ")
    };
    for (path, expect) in [
        ("/", "root home workspace repository system secrets own"),
        ("/*", "root home workspace repository system secrets own"),
        ("/home", "home workspace repository secrets own"),
        ("/home/u", "home workspace repository secrets own"),
        ("/home/u/*", "home workspace repository secrets own"),
        ("/home/u/p*", "workspace repository"),
        ("/home/u/X*", ""),
        ("/root", "home secrets own"),
        (".", "workspace repository"),
        ("*", "workspace"),
        ("*.py", ""),
        (".git", "repository"),
        ("sub/.git", "repository"),
        ("src", ""),
        ("/etc", "system secrets own"),
        ("/etc/ssh", "secrets"),
        ("/usr", "system own"),
        ("/tmp", ""),
        ("/home/u/.config", "secrets own"),
        ("/home/u/.claude", "secrets own"),
        ("/home/u/other", ""),
        ("/home/u/$", "home workspace repository secrets own"),
        ("$/*", "root home workspace repository system secrets own"),
        ("$", ""),
        ("..", "home workspace repository secrets own"),
    ] {
        assert_eq!(names(covers(path)), expect, "{path}");
    }
    assert!(covers(".*").repository && covers(".*").home);
}

#[test]
fn the_workspace_may_be_anywhere() {
    use Scope::*;
    let arena = Bump::new();
    for (workspace, home, path, scope) in [
        ("/app", "/root", "/app/x", Workspace),
        ("/app", "/root", "/app/target", Product),
        ("/app", "/root", "/root/x", Home),
        ("/tmp/w", "/home/u", "/tmp/w/x", Workspace),
        ("/tmp/w", "/home/u", "/tmp/x", Temp),
        ("/tmp", "/home/u", "/tmp/x", Workspace),
        ("/root/p", "/root", "/root/p/x", Workspace),
        ("/opt/app", "/root", "/opt/app/x", Workspace),
        ("/opt", "/root", "/opt/x", Workspace),
        ("/var/www", "/root", "/var/www/x", Workspace),
        ("/etc/nginx", "/root", "/etc/nginx/x", Workspace),
        ("/etc/cron.d", "/root", "/etc/cron.d/x", Persistence),
        ("/dev/shm/w", "/root", "/dev/shm/w/x", Workspace),
        // Too broad to be a workspace.
        ("/", "/root", "/x", Elsewhere),
        ("/", "/root", "/etc/x", System),
        ("/", "/root", "/tmp/x", Temp),
        ("/etc", "/root", "/etc/x", System),
        ("/usr", "/root", "/usr/x", System),
        ("/home", "/home/u", "/home/u/x", Home),
        // The home itself: hidden files are not the project's.
        ("/home/u", "/home/u", "/home/u/x", Workspace),
        ("/home/u", "/home/u", "/home/u/.cache/x", Home),
        ("/home/u", "/home/u", "/home/u/.bashrc", Persistence),
        ("/home/u", "/home/u", "/home/u/.ssh/id_rsa", Secret),
        ("/root", "/root", "/root/x", Workspace),
        ("/data", "/data/u", "/data/u/x", Home),
        ("/data", "/data/u", "/data/x", Workspace),
        ("/data/u/p", "/data/u", "/data/u/x", Home),
        ("/data/u/p", "/data/u", "/data/u/.bashrc", Persistence),
        // A workspace below a directory that is named like a build product.
        ("/build/app", "/root", "/build/app/x", Workspace),
    ] {
        assert_eq!(
            look(&arena, &Frozen, workspace, home, Some(workspace), path).scope,
            scope,
            "{workspace} {home} {path}"
        );
    }
    assert!(look(&arena, &Frozen, "/home/u", "/home/u", Some("/home/u"), "*").covers.home);
}

/// A world in which some directories are links.
struct Links(&'static [(&'static str, &'static str)]);

impl World for Links {
    fn variable(&self, name: &[u8]) -> Option<Option<Cow<'_, [u8]>>> {
        match name {
            b"XDG_CONFIG_HOME" => Some(Some(Cow::Borrowed(b"/data/config"))),
            b"TMPDIR" => Some(Some(Cow::Borrowed(b"/scratch/t"))),
            _ => Some(None),
        }
    }

    fn canonical(&self, path: &[u8]) -> Option<Cow<'_, [u8]>> {
        let found = self.0.iter().find_map(|(from, to)| {
            let rest = path.strip_prefix(from.as_bytes())?;
            (rest.is_empty() || rest.starts_with(b"/")).then(|| [to.as_bytes(), rest].concat())
        });
        Some(found.map_or_else(|| Cow::Owned(path.to_vec()), Cow::Owned))
    }
}

#[test]
fn links_count_where_they_lead_if_that_is_worse() {
    let arena = Bump::new();
    let world = Links(&[
        ("/home/u/proj/notes", "/home/u/.ssh/id_rsa"),
        ("/home/u/proj/out", "/etc"),
        ("/home/u/proj/target", "/home/u/proj/src"),
        ("/w", "/home/u/proj"),
        ("/home/u/proj/a/..", "/etc"),
    ]);
    for (path, scope) in [
        ("notes", Scope::Secret),
        ("out/x", Scope::System),
        ("out/shad*", Scope::Secret),
        ("out/$", Scope::Unknown),
        ("target", Scope::Workspace),
        ("src", Scope::Workspace),
        ("a/../shadow", Scope::Secret),
        ("/data/config/shward/policy.toml", Scope::Own),
        ("/scratch/t/x", Scope::Temp),
    ] {
        assert_eq!(look(&arena, &world, W, H, Some(W), path).scope, scope, "{path}");
    }
    assert_eq!(look(&arena, &world, W, H, Some(W), "notes").path, b"/home/u/.ssh/id_rsa");
    // A workspace that is reached through a link.
    for path in ["/w/x", "/home/u/proj/x", "x"] {
        assert_eq!(look(&arena, &world, "/w", H, Some("/w"), path).scope, Scope::Workspace, "{path}");
    }
}

#[test]
fn reading_tells_what_kind_of_text_it_gives() {
    let arena = Bump::new();
    let places = Places::new(&arena, &request(W, H), &Frozen);
    for (path, origins) in [
        ("x", Origins::FILE),
        (".env", Origins::SECRET),
        ("/proc/self/environ", Origins::ENVIRONMENT),
        ("$", Origins::FILE | Origins::OUTSIDE),
        ("/tmp/x", Origins::FILE | Origins::OUTSIDE),
    ] {
        let target = places.target(&Frozen, Some(W.as_bytes()), &value(&arena, path));
        assert_eq!(places.read_origins(&target), origins, "{path}");
    }
    let home = places.target(&Frozen, Some(W.as_bytes()), &value(&arena, ".."));
    assert_eq!(places.read_origins(&home), Origins::FILE | Origins::OUTSIDE);
    assert!(places.read_origins(&Target { tree: true, ..home }).contains(Origins::SECRET));
}
