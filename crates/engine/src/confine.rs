//! From a grant to a confinement: what of this machine's file system is writable, hidden and protected.

use crate::direct::Direct;
use crate::options::Containment;
use crate::paths::is_executable;
use crate::sessions::Telling;
use crate::special::Special;
use crate::{Action, Error, Request, network};
use shward_policy::{Grant, Network};
use shward_sandbox::Confinement;
use shward_sandbox::overlay::Layer;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// The shell that reads commands: pinned, because the analysis read the command as this shell does.
#[derive(Debug, Clone)]
struct Shell(PathBuf);

impl Shell {
    /// Finds bash where distributions put it.
    fn find() -> Result<Self, Error> {
        ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"]
            .map(PathBuf::from)
            .into_iter()
            .find(|p| is_executable(p))
            .map(Self)
            .ok_or(Error::NoShell)
    }
}

/// What a run gets beyond its grant.
#[derive(Debug, Default)]
pub(crate) struct Beyond<'a> {
    /// Where its changes go instead of the workspace.
    pub(crate) layer: Option<Layer>,
    /// It reaches hosts through a proxy.
    pub(crate) proxied: bool,
    /// The file into which the shell of a session tells how it ends.
    pub(crate) telling: Option<&'a Telling>,
    /// What it runs without a shell.
    pub(crate) direct: Option<Direct>,
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
    special: &Special,
    beyond: Beyond<'_>,
) -> Result<Confinement, Error> {
    let Beyond { layer, proxied, telling, direct } = beyond;
    let telling = telling.filter(|_| direct.is_none());
    let program = match (&request.action, &direct) {
        (Action::Command(_), Some(_)) => PathBuf::from("/"), // there is none
        (Action::Command(_), None) => Shell::find()?.0,
        (Action::Argv(argv), _) => named(argv, request, environment)?,
    };
    let mut confinement = Confinement::new(program, &request.cwd);
    confinement = match (&request.action, direct) {
        (Action::Command(_), Some(direct)) => confinement.script(direct.script),
        // `--` because a command that begins with a dash would be read as options.
        (Action::Command(text), None) => {
            let text = telling.map_or_else(|| text.clone(), |telling| telling.script(text));
            confinement.arguments(["bash", "--norc", "--noprofile", "-c", "--", &text])
        }
        (Action::Argv(argv), _) => confinement.arguments(argv),
    };
    let proxy = if proxied { network::variables() } else { Vec::new() };
    let own = environment.iter().filter(|(name, _)| !proxy.iter().any(|(set, _)| set == name));
    for (name, value) in own.chain(&proxy) {
        confinement =
            confinement.variable(OsString::from_vec(name.clone()), OsString::from_vec(value.clone()));
    }
    if let Some(telling) = telling {
        confinement = confinement.writable(telling.path());
    }
    let writable = is_writable(grant, containment);
    confinement = match layer {
        Some(layer) => confinement.overlaid(&request.workspace, layer),
        None if writable => confinement.writable(&request.workspace),
        // Visible even where a private directory would cover it.
        None => confinement.read_only(&request.workspace),
    };
    confinement = confinement.network(match (grant.network, containment) {
        _ if proxied => shward_sandbox::Network::Proxied,
        (Network::Loopback, _) | (_, Containment::Loopback | Containment::Network) => {
            shward_sandbox::Network::Loopback
        }
        (Network::None, _) => shward_sandbox::Network::None,
    });
    confinement = special.emptied.iter().fold(confinement, Confinement::emptied);
    for path in &special.hidden {
        confinement = match special.unreadable.contains(path) {
            true => confinement.unreadable(path),
            false => confinement.hidden(path),
        };
    }
    if writable {
        for path in &special.protected {
            confinement = confinement.read_only(path);
        }
    }
    Ok(confinement)
}

/// Whether the workspace can be written.
pub(crate) fn is_writable(grant: &Grant, containment: Containment) -> bool {
    grant.workspace && containment != Containment::ReadOnly || !containment.confines()
}

/// What a command runs that needs no shell. Of a session, a shell tells what has changed.
pub(crate) fn direct(request: &Request, environment: &[(Vec<u8>, Vec<u8>)], told: bool) -> Option<Direct> {
    let Action::Command(text) = &request.action else { return None };
    let direct = Direct::new(text, &request.cwd, &request.workspace, environment, search(environment))?;
    (!told || !direct.moves).then_some(direct)
}

/// Where programs are looked up.
fn search(environment: &[(Vec<u8>, Vec<u8>)]) -> &[u8] {
    environment.iter().find(|(n, _)| n == b"PATH").map(|(_, v)| v.as_slice()).unwrap_or_default()
}

/// What is the first to be executed.
#[derive(Debug)]
pub(crate) enum First {
    /// This program, which the verdict is about.
    Program(PathBuf),
    /// One of several, each of which is judged.
    OneOfSeveral,
}

/// What a request begins with: its only program, the shell, or one of the programs that run without one.
///
/// # Errors
/// There is no such program.
pub(crate) fn first(
    request: &Request,
    environment: &[(Vec<u8>, Vec<u8>)],
    told: bool,
) -> Result<First, Error> {
    match &request.action {
        Action::Argv(argv) => named(argv, request, environment).map(First::Program),
        Action::Command(_) => match direct(request, environment, told) {
            None => Ok(First::Program(Shell::find()?.0)),
            Some(direct) => Ok(direct
                .program()
                .map_or(First::OneOfSeveral, |program| First::Program(request.cwd.join(program)))),
        },
    }
}

/// The file that an argument list's first word names, a path or a name looked up in `PATH`.
///
/// # Errors
/// There is none.
fn named(argv: &[String], request: &Request, environment: &[(Vec<u8>, Vec<u8>)]) -> Result<PathBuf, Error> {
    let name = argv.first().map(String::as_str).unwrap_or_default();
    if name.contains('/') {
        let file = request.cwd.join(name);
        return if is_executable(&file) { Ok(file) } else { Err(Error::NoProgram(name.to_owned())) };
    }
    search(environment)
        .split(|&b| b == b':')
        .map(|d| Path::new(std::ffi::OsStr::from_bytes(d)).join(name))
        .find(|p| is_executable(p))
        .ok_or_else(|| Error::NoProgram(name.to_owned()))
}
