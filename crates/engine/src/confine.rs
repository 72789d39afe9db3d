//! From a grant to a confinement: what of this machine's file system is writable, hidden and protected.

use crate::run::Containment;
use crate::{Action, Error, Request};
use shward_analysis::{Scope, scope_of};
use shward_policy::{Grant, Network};
use shward_sandbox::Confinement;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// How many directory entries are looked at for secrets and protected files. What lies beyond is as deep as generated
/// trees are; the analysis denies a command that names a secret there.
const MAX_ENTRIES: usize = 20_000;

/// How deep below the home directory and the workspace.
const MAX_DEPTH: usize = 6;

/// System files that hold secrets, besides what the permissions of an ordinary user hide already.
const SYSTEM_SECRETS: [&str; 7] =
    ["/etc/gshadow", "/etc/gshadow-", "/etc/shadow", "/etc/shadow-", "/etc/ssh", "/root", "/run/secrets"];

/// Directories that hold nothing of the user's own and may be huge.
const SKIPPED: [&str; 6] =
    ["node_modules", "target", "__pycache__", "site-packages", "dist-packages", "objects"];

/// The shell that reads commands: pinned, because the analysis read the command as this shell does.
#[derive(Debug, Clone)]
pub(crate) struct Shell(PathBuf);

impl Shell {
    /// Finds bash where distributions put it.
    pub(crate) fn find() -> Result<Self, Error> {
        ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"]
            .map(PathBuf::from)
            .into_iter()
            .find(|p| is_executable(p))
            .map(Self)
            .ok_or(Error::NoShell)
    }
}

/// What the sandbox permits for a granted request.
///
/// # Errors
/// The program of an argument list is not found.
pub(crate) fn confinement(
    request: &Request,
    grant: &Grant,
    containment: Containment,
    environment: &[(Vec<u8>, Vec<u8>)],
    shell: &Shell,
) -> Result<Confinement, Error> {
    let mut confinement = match &request.action {
        // `--` because a command that begins with a dash would be read as options.
        Action::Command(text) => Confinement::new(&shell.0, &request.cwd).arguments([
            "bash",
            "--norc",
            "--noprofile",
            "-c",
            "--",
            text,
        ]),
        Action::Argv(argv) => {
            Confinement::new(program(argv, request, environment)?, &request.cwd).arguments(argv)
        }
    };
    for (name, value) in environment {
        confinement =
            confinement.variable(OsString::from_vec(name.clone()), OsString::from_vec(value.clone()));
    }
    let writable = grant.workspace && containment != Containment::ReadOnly;
    confinement = if writable {
        confinement.writable(&request.workspace)
    } else {
        // Visible even where a private directory would cover it.
        confinement.read_only(&request.workspace)
    };
    confinement = confinement.network(match (grant.network, containment) {
        (Network::Loopback, _) | (_, Containment::Loopback) => shward_sandbox::Network::Loopback,
        (Network::None, _) => shward_sandbox::Network::None,
    });
    let special = special(request);
    for path in special.hidden {
        confinement = confinement.hidden(path);
    }
    if writable {
        for path in special.protected {
            confinement = confinement.read_only(path);
        }
    }
    Ok(confinement)
}

/// Existing paths that a command must not see, and those in the workspace that it must not change.
struct Special {
    hidden: Vec<PathBuf>,
    protected: Vec<PathBuf>,
}

fn special(request: &Request) -> Special {
    let mut special = Special { hidden: Vec::new(), protected: Vec::new() };
    for path in SYSTEM_SECRETS.map(Path::new) {
        // A workspace or home below it is looked at file by file instead.
        if path.exists()
            && ![&request.workspace, &request.home, &request.cwd].iter().any(|p| p.starts_with(path))
        {
            special.hidden.push(path.to_owned());
        }
    }
    let mut budget = MAX_ENTRIES;
    special.walk(&request.workspace, request, &mut budget);
    if !request.home.starts_with(&request.workspace) {
        special.walk(&request.home, request, &mut budget);
    }
    special
}

impl Special {
    /// Looks breadth first, so that a budget which ends leaves out what is deepest.
    fn walk(&mut self, root: &Path, request: &Request, budget: &mut usize) {
        let in_home = root == request.home;
        let mut queue = VecDeque::from([(root.to_owned(), 0)]);
        while let Some((directory, depth)) = queue.pop_front() {
            let Ok(entries) = fs::read_dir(&directory) else { continue };
            for entry in entries.flatten() {
                let Some(left) = budget.checked_sub(1) else { return };
                *budget = left;
                let path = entry.path();
                if in_home && path == request.workspace {
                    continue;
                }
                let scope = scope_of(
                    path.as_os_str().as_bytes(),
                    request.workspace.as_os_str().as_bytes(),
                    request.home.as_os_str().as_bytes(),
                );
                match scope {
                    Scope::Secret => self.hidden.push(path),
                    Scope::Own | Scope::Persistence if path.starts_with(&request.workspace) => {
                        self.protected.push(path)
                    }
                    _ => {
                        let name = entry.file_name();
                        // In a home, what is kept for programs lies in dot directories; the rest is the user's work.
                        let looked_at = !in_home || depth > 0 || name.as_bytes().starts_with(b".");
                        let skipped = SKIPPED.iter().any(|s| name == *s);
                        if looked_at
                            && !skipped
                            && depth < MAX_DEPTH
                            && entry.file_type().is_ok_and(|t| t.is_dir())
                        {
                            queue.push_back((path, depth + 1));
                        }
                    }
                }
            }
        }
    }
}

/// The file that an argument list's first word names: a path, or a name looked up in `PATH`.
fn program(argv: &[String], request: &Request, environment: &[(Vec<u8>, Vec<u8>)]) -> Result<PathBuf, Error> {
    let name = argv.first().map(String::as_str).unwrap_or_default();
    if name.contains('/') {
        return Ok(request.cwd.join(name));
    }
    let search =
        environment.iter().find(|(n, _)| n == b"PATH").map(|(_, v)| v.as_slice()).unwrap_or_default();
    search
        .split(|&b| b == b':')
        .map(|d| Path::new(std::ffi::OsStr::from_bytes(d)).join(name))
        .find(|p| is_executable(p))
        .ok_or_else(|| Error::NoProgram(name.to_owned()))
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}
