//! Names of modules of the standard library that have many (library reference of Python 3.13).

use super::acts::Act::{self, Code, Fold, Is, Make, Run, Start};
use super::acts::Arguments::Following;
use super::acts::{Fold as F, Fresh, Object as O};

const UNKNOWN: Act = Code("python");

/// Names of `inspect`, sorted.
pub(super) static INSPECT: &[(&str, Act)] = &[
    ("currentframe", UNKNOWN),
    ("get_annotations", UNKNOWN),
    ("getattr_static", UNKNOWN),
    ("getclosurevars", UNKNOWN),
    ("getdoc", Act::Opaque),
    ("getfile", Act::Opaque),
    ("getframeinfo", UNKNOWN),
    ("getinnerframes", UNKNOWN),
    ("getmembers", UNKNOWN),
    ("getmembers_static", UNKNOWN),
    ("getmodule", UNKNOWN),
    ("getouterframes", UNKNOWN),
    ("getsource", Act::Opaque),
    ("getsourcefile", Act::Opaque),
    ("getsourcelines", Act::Opaque),
    ("isclass", Act::Opaque),
    ("iscoroutinefunction", Act::Opaque),
    ("isfunction", Act::Opaque),
    ("ismethod", Act::Opaque),
    ("ismodule", Act::Opaque),
    ("signature", Act::Opaque),
    ("stack", UNKNOWN),
    ("trace", UNKNOWN),
    ("unwrap", UNKNOWN),
];

/// Names of `operator`, sorted.
pub(super) static OPERATOR: &[(&str, Act)] = &[
    ("attrgetter", Act::Getter),
    ("call", UNKNOWN),
    ("delitem", Act::Mutate),
    ("getitem", Act::Items),
    ("iadd", Act::Mutate),
    ("iand", Act::Mutate),
    ("iconcat", Act::Mutate),
    ("imul", Act::Mutate),
    ("ior", Act::Mutate),
    ("isub", Act::Mutate),
    ("itemgetter", Act::Items),
    ("ixor", Act::Mutate),
    ("methodcaller", Act::Caller),
    ("setitem", Act::Mutate),
];

/// Names of `sys`, sorted.
pub(super) static SYS: &[(&str, Act)] = &[
    ("_MEIPASS", Act::Inert),
    ("__stderr__", Is(O::Stderr)),
    ("__stdin__", Is(O::Stdin)),
    ("__stdout__", Is(O::Stdout)),
    ("_getframe", UNKNOWN),
    ("_getframemodulename", UNKNOWN),
    ("argv", Is(O::Arguments)),
    ("breakpointhook", UNKNOWN),
    ("call_tracing", UNKNOWN),
    ("exc_info", UNKNOWN),
    ("exception", UNKNOWN),
    ("executable", Act::Place("/usr/bin/python3")),
    ("exit", Act::Inert),
    ("getrefcount", Act::Opaque),
    ("getsizeof", Act::Opaque),
    ("meta_path", UNKNOWN),
    ("modules", Is(O::Modules)),
    ("orig_argv", Is(O::Arguments)),
    ("path", Is(O::SearchPath)),
    ("path_hooks", UNKNOWN),
    ("path_importer_cache", UNKNOWN),
    ("remote_exec", UNKNOWN),
    ("setprofile", UNKNOWN),
    ("settrace", UNKNOWN),
    ("stderr", Is(O::Stderr)),
    ("stdin", Is(O::Stdin)),
    ("stdout", Is(O::Stdout)),
];

/// Names of `subprocess`, sorted.
pub(super) static SUBPROCESS: &[(&str, Act)] = &[
    ("CalledProcessError", Act::Keep),
    ("CompletedProcess", Act::Keep),
    ("DEVNULL", Act::Inert),
    ("PIPE", Act::Inert),
    ("Popen", Run),
    ("STDOUT", Act::Inert),
    ("SubprocessError", Act::Keep),
    ("TimeoutExpired", Act::Keep),
    ("call", Run),
    ("check_call", Run),
    ("check_output", Run),
    ("getoutput", Act::Shell),
    ("getstatusoutput", Act::Shell),
    ("list2cmdline", Act::Inert),
    ("run", Run),
];

/// Names of `asyncio`, sorted.
pub(super) static ASYNCIO: &[(&str, Act)] = &[
    ("AbstractEventLoop", Make(O::Server)),
    ("BaseEventLoop", Make(O::Server)),
    ("DefaultEventLoopPolicy", Make(O::Server)),
    ("EventLoop", Make(O::Server)),
    ("Runner", Make(O::Server)),
    ("SelectorEventLoop", Make(O::Server)),
    ("base_events", UNKNOWN),
    ("base_subprocess", UNKNOWN),
    ("create_server", Act::Listen),
    ("create_subprocess_exec", Start(0, Following)),
    ("create_subprocess_shell", Act::Shell),
    ("events", UNKNOWN),
    ("get_event_loop", Make(O::Server)),
    ("get_event_loop_policy", Make(O::Server)),
    ("get_running_loop", Make(O::Server)),
    ("new_event_loop", Make(O::Server)),
    ("open_connection", Act::Host("tcp")),
    ("open_unix_connection", Act::Network),
    ("run", Act::Items),
    ("runners", UNKNOWN),
    ("selector_events", UNKNOWN),
    ("start_server", Act::Listen),
    ("start_unix_server", Act::ListenAt(1, "path")),
    ("streams", UNKNOWN),
    ("tools", UNKNOWN),
    ("unix_events", UNKNOWN),
];

/// Names of `multiprocessing`, sorted: its parts that start processes, or speak with others.
pub(super) static MULTIPROCESSING: &[(&str, Act)] = &[
    ("forkserver", UNKNOWN),
    ("managers", UNKNOWN),
    ("popen_fork", UNKNOWN),
    ("popen_forkserver", UNKNOWN),
    ("popen_spawn_posix", UNKNOWN),
    ("reduction", UNKNOWN),
    ("resource_sharer", UNKNOWN),
    ("resource_tracker", UNKNOWN),
    ("set_executable", UNKNOWN),
    ("spawn", UNKNOWN),
    ("util", UNKNOWN),
];

/// Names of `pydoc`, sorted.
pub(super) static PYDOC: &[(&str, Act)] = &[
    ("doc", Act::Help),
    ("getdoc", Act::Opaque),
    ("help", Act::Help),
    ("importfile", Act::RunModule),
    ("locate", Act::Import),
    ("plain", Act::Inert),
    ("plaintext", Act::Inert),
    ("render_doc", Act::Help),
    ("resolve", Act::Help),
    ("safeimport", Act::Import),
    ("writedoc", Act::Help),
];

/// Names of `socketserver`, sorted.
pub(super) static SOCKETSERVER: &[(&str, Act)] = &[
    ("ForkingTCPServer", Act::Listen),
    ("ForkingUDPServer", Act::Listen),
    ("ForkingUnixDatagramServer", Act::ListenAt(0, "server_address")),
    ("ForkingUnixStreamServer", Act::ListenAt(0, "server_address")),
    ("TCPServer", Act::Listen),
    ("ThreadingTCPServer", Act::Listen),
    ("ThreadingUDPServer", Act::Listen),
    ("ThreadingUnixDatagramServer", Act::ListenAt(0, "server_address")),
    ("ThreadingUnixStreamServer", Act::ListenAt(0, "server_address")),
    ("UDPServer", Act::Listen),
    ("UnixDatagramServer", Act::ListenAt(0, "server_address")),
    ("UnixStreamServer", Act::ListenAt(0, "server_address")),
];

/// Names of `urllib.request`, sorted.
pub(super) static URLLIB_REQUEST: &[(&str, Act)] = &[
    ("CacheFTPHandler", Act::Network),
    ("FTPHandler", Act::Network),
    ("FancyURLopener", Make(O::Client)),
    ("FileHandler", UNKNOWN),
    ("OpenerDirector", Make(O::Client)),
    ("Request", Act::Items),
    ("URLopener", Make(O::Client)),
    ("build_opener", Make(O::Client)),
    ("ftpwrapper", Act::Network),
    ("urlopen", Act::Url(0)),
    ("urlretrieve", Act::Download),
];

/// Members of `hashlib`.
pub(super) static HASHLIB: &[(&str, Act)] = &[
    ("blake2b", Act::Count),
    ("blake2s", Act::Count),
    ("file_digest", Act::Count),
    ("md5", Act::Count),
    ("new", Act::Count),
    ("sha1", Act::Count),
    ("sha224", Act::Count),
    ("sha256", Act::Count),
    ("sha384", Act::Count),
    ("sha512", Act::Count),
];

/// Members of `random`.
pub(super) static RANDOM: &[(&str, Act)] = &[
    ("getrandbits", Act::Count),
    ("randint", Act::Count),
    ("random", Act::Count),
    ("randrange", Act::Count),
    ("shuffle", Act::Mutate),
    ("uniform", Act::Count),
];

/// Members of `tempfile`.
pub(super) static TEMPFILE: &[(&str, Act)] = &[
    ("NamedTemporaryFile", Act::Fresh(Fresh::File)),
    ("TemporaryDirectory", Act::Fresh(Fresh::Directory)),
    ("gettempdir", Act::Place("/tmp")),
    ("gettempprefix", Act::Inert),
    ("mkdtemp", Act::Fresh(Fresh::Directory)),
    ("mkstemp", Act::Fresh(Fresh::Descriptor)),
];

/// Members of `time`.
pub(super) static TIME: &[(&str, Act)] = &[
    ("monotonic", Act::Count),
    ("perf_counter", Act::Count),
    ("strftime", Fold(F::Date)),
    ("time", Act::Count),
    ("time_ns", Act::Count),
];
