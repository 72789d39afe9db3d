//! What a command may reach: the description from which a [`Plan`] is made.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::error::SandboxError;
use crate::guarantee::{self, Guarantee};
use crate::overlay::Layer;
use crate::plan::Plan;
use crate::prepare;
use crate::script::Script;
use crate::sys;

/// The port of 127.0.0.1 on which the proxy of [`Network::Proxied`] listens inside.
pub const PROXY_PORT: u16 = 3128;

/// Which network the command sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Network {
    /// None: an empty network namespace, and no sockets but local ones.
    #[default]
    None,
    /// A loopback interface of its own, where its test servers and clients find each other and nobody else.
    Loopback,
    /// A loopback interface of its own with a listening socket on [`PROXY_PORT`], which is served outside: whoever is given to
    /// [`Options::on_listener`](crate::Options::on_listener) decides what can be reached through it.
    Proxied,
    /// The host's network: TCP and UDP anywhere, the host's loopback included. Choose it explicitly and record it.
    Host,
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Loopback => "loopback",
            Self::Proxied => "loopback, with a proxy",
            Self::Host => "host",
        })
    }
}

/// Resource limits (getrlimit(2)); `None` leaves the caller's own limit. A limit above the caller's hard limit is lowered to
/// it. Core dumps are always off.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of address space per process (`RLIMIT_AS`). Programs that reserve much and use little (node, go, java) need
    /// room here; [`data`](Self::data) is usually the better limit.
    pub address_space: Option<u64>,
    /// Bytes of private writable memory per process (`RLIMIT_DATA`).
    pub data: Option<u64>,
    /// Processes and threads of the whole sandbox (`RLIMIT_NPROC` of its user namespace; for real root, whom that does not bind,
    /// the numbers that its pid namespace has to give). How long a fork bomb outlives its deadline depends on it: the kernel
    /// takes a fraction of a millisecond to clear up after each process, and longer after one that was forked from a fork.
    pub processes: Option<u64>,
    /// Bytes of a single file that is written (`RLIMIT_FSIZE`).
    pub file_size: Option<u64>,
    /// Open descriptors per process (`RLIMIT_NOFILE`).
    pub open_files: Option<u64>,
    /// Seconds of processor time per process (`RLIMIT_CPU`).
    pub cpu_seconds: Option<u64>,
    /// Bytes of memory that all processes and private directories of the run use together. Takes a control group; where none is
    /// delegated it is a [`Gap`](crate::Gap).
    pub run_memory: Option<u64>,
    /// Hundredths of a processor that the run uses at once, in the mean of a tenth of a second. As above.
    pub processors: Option<u64>,
    /// Bytes that all private directories hold together; they live in memory.
    pub private_bytes: u64,
}

impl Default for Limits {
    /// 320 processes and threads where there are one or two processors, else 256 for each and at most 1024; 1 GiB in private directories,
    /// or a quarter of the memory where that is less; the rest as the caller has it.
    fn default() -> Self {
        static PROCESSORS: OnceLock<u64> = OnceLock::new();
        let processors = *PROCESSORS.get_or_init(processors);
        // Two processors clear up after so many forks of forks in 100 ms.
        let processes = if processors <= 2 { 320 } else { processors.saturating_mul(256).min(1024) };
        Self {
            address_space: None,
            data: None,
            processes: Some(processes),
            file_size: None,
            open_files: None,
            cpu_seconds: None,
            run_memory: None,
            processors: None,
            private_bytes: usual_private_bytes(),
        }
    }
}

/// What all private directories hold together unless somebody says otherwise: they lie in memory, of which there may be little.
pub(crate) fn usual_private_bytes() -> u64 {
    const MOST: u64 = 1 << 30;
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        // SAFETY: all bytes zero are a valid `sysinfo`, which the kernel then fills.
        let machine = unsafe {
            let mut machine: libc::sysinfo = std::mem::zeroed();
            libc::sysinfo(&raw mut machine);
            machine
        };
        let memory = machine.totalram.saturating_mul(u64::from(machine.mem_unit));
        // A size of 0 would mean no limit.
        MOST.min((memory / 4).max(1 << 20))
    })
}

/// How many processors we may use.
fn processors() -> u64 {
    let mut ours = sys::Processors::default();
    let known = sys::processors(0, &mut ours).is_ok();
    match ours.iter().map(|word| u64::from(word.count_ones())).sum() {
        // A control group can only give less. Where there are groups of the first version, asking takes a dozen system calls.
        few @ 1..=2 if known => few,
        _ => std::thread::available_parallelism().map_or(1, |count| count.get() as u64),
    }
}

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

    /// Builds the sandbox without these guarantees as far as this machine lacks them, and only so far: what it gives is used.
    /// Each that is left out is a [`Gap::Accepted`](crate::Gap::Accepted) of the plan. Finding out takes some milliseconds;
    /// without any accepted loss nothing is tried. What is not [dispensable](Guarantee::DISPENSABLE) cannot be accepted, and its
    /// lack stays an error.
    pub fn accept_missing(self, accepted: &[Guarantee]) -> Self {
        self.without(&guarantee::lacking(accepted))
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

    /// Resolves every path and turns the description into the list of operations that enforces it.
    ///
    /// # Errors
    /// When a path that must exist does not, when the description contradicts itself, or when the kernel has no Landlock.
    pub fn prepare(&self) -> Result<Plan, SandboxError> {
        prepare::prepare(self)
    }
}
