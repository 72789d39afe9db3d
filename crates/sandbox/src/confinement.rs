//! What a command may reach: the description from which a [`Plan`](crate::Plan) is made.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::guarantee::Guarantee;
use crate::limits::Limits;
use crate::network::Network;
use crate::overlay::Layer;
use crate::script::Script;

/// Directories that every sandbox has for itself, where they exist. Message queues are among them because a queue of the host
/// can be emptied by who may only read it (mq_overview(7)).
const PRIVATE: [&str; 5] = ["/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run"];

/// One command and what it may reach.
///
/// The base is fixed: the whole file system is there to read (as far as the caller may) and nothing of it to write; `/tmp`,
/// `/var/tmp`, `/dev/shm`, `/dev/mqueue` and `/run` are private and empty; of the devices only null, zero, full, random and urandom and
/// new pseudo-terminals work; sockets that other programs listen on are masked. The methods widen or narrow that.
///
/// ```
/// use shward_sandbox::Confinement;
///
/// let plan = Confinement::new("/bin/sh", "/usr")
///     .arguments(["sh", "-c", "echo \"$GREETING\""])
///     .variable("GREETING", "hello")
///     .prepare()?;
/// println!("{plan}");
/// # Ok::<(), shward_sandbox::SandboxError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Confinement {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) script: Option<Script>,
    pub(crate) cwd: PathBuf,
    pub(crate) writable: Vec<PathBuf>,
    pub(crate) read_only: Vec<PathBuf>,
    pub(crate) overlays: Vec<(PathBuf, Layer)>,
    pub(crate) private: Vec<PathBuf>,
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) emptied: Vec<PathBuf>,
    pub(crate) unreadable: Vec<PathBuf>,
    pub(crate) network: Network,
    pub(crate) limits: Limits,
    pub(crate) group_required: bool,
    /// Nothing is confined.
    pub(crate) open: bool,
    pub(crate) gated: bool,
    pub(crate) terminal: bool,
    pub(crate) only: Vec<PathBuf>,
    /// What the sandbox is built without.
    pub(crate) left_out: Vec<Guarantee>,
}

impl Confinement {
    /// A command by the absolute path of its program (nothing is searched in `PATH`) and its working directory. The
    /// argument vector is the program's path, the environment is empty, there is no network.
    pub fn new(program: impl Into<PathBuf>, cwd: impl Into<PathBuf>) -> Self {
        let program = program.into();
        Self {
            arguments: vec![program.clone().into_os_string()],
            program,
            environment: Vec::new(),
            script: None,
            cwd: cwd.into(),
            writable: Vec::new(),
            read_only: Vec::new(),
            overlays: Vec::new(),
            private: PRIVATE.map(PathBuf::from).to_vec(),
            hidden: Vec::new(),
            emptied: Vec::new(),
            unreadable: Vec::new(),
            network: Network::None,
            limits: Limits::default(),
            group_required: false,
            open: false,
            gated: false,
            terminal: false,
            only: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Another program than the one given to [`new`](Self::new); the argument vector stays.
    pub fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    /// Several commands that run without a shell, instead of the program. The variables `PWD`, `OLDPWD`, `SHLVL` and `_` are theirs to
    /// set.
    pub fn script(mut self, script: Script) -> Self {
        self.script = Some(script);
        self
    }

    /// Standard input, output and error are a pseudo-terminal of the sandbox's own, which also is the controlling terminal of the
    /// command's session ([`Options::pty`](crate::Options::pty)). Both outputs are then one, that of
    /// [`Stream::Stdout`](crate::Stream::Stdout).
    pub fn terminal(mut self) -> Self {
        self.terminal = true;
        self
    }

    /// The whole argument vector, the zeroth argument included.
    pub fn arguments<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments = arguments.into_iter().map(|a| a.as_ref().to_owned()).collect();
        self
    }

    /// Adds one environment variable. Nothing is inherited.
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// A directory or file that the command may change. It must exist, and is seen at the same path, wherever that is.
    pub fn writable(mut self, path: impl Into<PathBuf>) -> Self {
        self.writable.push(path.into());
        self
    }

    /// A directory that the command may change and whose changes go to a layer of their own: the directory itself stays as it
    /// is until they are committed ([`overlay`](crate::overlay)). What holds the layers is hidden from the command.
    pub fn overlaid(mut self, path: impl Into<PathBuf>, layer: Layer) -> Self {
        let path = path.into();
        self.hidden.push(layer.store().to_owned());
        self.writable.push(path.clone());
        self.overlays.push((path, layer));
        self
    }

    /// Whether changes of a writable root go to a layer; the root is canonical.
    pub(crate) fn is_overlaid(&self, root: &Path) -> bool {
        self.overlays
            .iter()
            .any(|(path, _)| path == root || path.canonicalize().is_ok_and(|real| real == root))
    }

    /// A path that the command sees but cannot change: inside a writable root it is protected (and no directory between the
    /// root and it can be renamed); inside a private directory it is made visible. Elsewhere it is so anyway.
    pub fn read_only(mut self, path: impl Into<PathBuf>) -> Self {
        self.read_only.push(path.into());
        self
    }

    /// One more directory that is private and empty, like `/tmp`; made if it would lie inside another one (so a runtime
    /// directory below `/run` is there). Private directories vanish with the command.
    pub fn private(mut self, path: impl Into<PathBuf>) -> Self {
        self.private.push(path.into());
        self
    }

    /// A directory that holds nothing but what else is given in it: directories that are writable, read-only or private. It cannot
    /// be changed. A path that does not exist is ignored.
    pub fn emptied(mut self, path: impl Into<PathBuf>) -> Self {
        self.emptied.push(path.into());
        self
    }

    /// A file or directory whose content the command must not see: it is empty inside, and cannot be changed. (Unreadable
    /// would be more telling, but `grep -r`, npm and git stop at what they may not read.) A path that does not exist has
    /// nothing to hide and is ignored.
    pub fn hidden(mut self, path: impl Into<PathBuf>) -> Self {
        self.hidden.push(path.into());
        self
    }

    /// The same, and it is an error to read it: for what a program would otherwise take for empty and carry on with, as git does
    /// when it commits a file that it tracks.
    pub fn unreadable(mut self, path: impl Into<PathBuf>) -> Self {
        self.unreadable.push(path.into());
        self
    }

    /// Which network the command sees; none by default.
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Resource limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The command is not confined: it may do what the caller may, but gain rights (`no_new_privs`). What is left is order: the environment,
    /// descriptors and signals are those given, it has a session and process numbers of its own, the [limits](Self::limits) hold, and
    /// everything it started ends with it. What was said of paths and network does not matter. Choose it explicitly and record it.
    pub fn unconfined(mut self) -> Self {
        self.open = true;
        self.network = Network::Host;
        self
    }

    /// The run has a control group of its own, or none can be prepared: what [`Limits`] says of the whole run holds.
    pub fn require_group(mut self) -> Self {
        self.group_required = true;
        self
    }

    /// Every program that starts inside is judged, by the [`Judge`](crate::Judge) that is given to [`run`](crate::run). Linux
    /// 5.19 or later.
    pub fn gated(mut self) -> Self {
        self.gated = true;
        self
    }

    /// One of the programs that alone may be executed, at any depth; of a script, its interpreter. Anything else is refused by
    /// Landlock, and what Landlock does not see (a program given to the dynamic loader, a memory file) is killed by the
    /// [gate](Self::gated), which this turns on. Files in writable and private directories cannot be executed or mapped as
    /// code at all, and a program for which somebody inside has set `LD_PRELOAD`, `LD_AUDIT` or `LD_LIBRARY_PATH` is killed. The command's own program has to be
    /// among them.
    pub fn allow_exec(mut self, program: impl Into<PathBuf>) -> Self {
        self.only.push(program.into());
        self.gated = true;
        self
    }

    /// The same with what [`lacking`](crate::lacking) has found out. What is not dispensable is not left out.
    pub fn without(self, lacking: &[Guarantee]) -> Self {
        let dispensable = lacking.iter().filter(|guarantee| Guarantee::DISPENSABLE.contains(guarantee));
        dispensable.fold(self, |confinement, guarantee| confinement.leaving_out(*guarantee))
    }

    /// The same without a guarantee, whether the machine gives it or not.
    pub(crate) fn leaving_out(mut self, guarantee: Guarantee) -> Self {
        self.left_out.push(guarantee);
        self
    }
}
