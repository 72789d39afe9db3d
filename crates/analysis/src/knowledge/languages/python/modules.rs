//! What is known of Python's standard library and of packages that execute, connect or change things.
//!
//! A module that is not here belongs to the project, or is a package that the project has installed. A public name
//! that a module's row does not list does what `rest` says; a name that is itself a known module is that module
//! (`shutil.os`); names with a leading underscore are never believed. Sources: the library reference of Python 3.13
//! and the packages' own manuals.

use super::acts::Act::{
    self, Code, Copy, Delete, Fold, Is, Look, Make, Metadata, Open, Read, Rename, Start, Write,
};
use super::acts::Arguments::{Following, Whole};
use super::acts::Fold as F;
use super::builtins::BUILTINS;
use super::index::Index;
use super::members::{
    ASYNCIO, INSPECT, MULTIPROCESSING, OPERATOR, PYDOC, SOCKETSERVER, SUBPROCESS, SYS, URLLIB_REQUEST,
};
use super::os::{OS, OS_PATH};
use super::packages::PACKAGES;
use super::value::Object as O;
use crate::effect::WriteMode as W;
use shward_syntax::order;

/// A module.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Module {
    pub(super) name: &'static str,
    /// What public names do that are not listed.
    pub(super) rest: Act,
    /// Names, sorted.
    pub(super) members: &'static [(&'static str, Act)],
}

pub(super) const fn module(name: &'static str, rest: Act, members: &'static [(&'static str, Act)]) -> Module {
    Module { name, rest, members }
}

/// A module that only computes.
pub(super) const fn pure(name: &'static str) -> Module {
    Module { name, rest: Act::Inert, members: &[] }
}

const UNKNOWN: Act = Code("python");

/// The module of this name.
pub(super) fn find(name: &[u8]) -> Option<&'static Module> {
    IN_STANDARD.find(name).or_else(|| IN_PACKAGES.find(name))
}

static IN_STANDARD: Index<Module> = Index::of(STANDARD);
static IN_PACKAGES: Index<Module> = Index::of(PACKAGES);

/// Whether other modules are parts of the one of this name.
pub(super) fn is_package(name: &[u8]) -> bool {
    let part_of =
        |m: &&Module| m.name.as_bytes().strip_prefix(name).is_some_and(|rest| rest.starts_with(b"."));
    let from = STANDARD.partition_point(|m| m.name.as_bytes() <= name);
    STANDARD.get(from).filter(part_of).is_some()
}

/// What a member of a module does, if it is listed.
pub(super) fn member(module: &Module, name: &[u8]) -> Option<Act> {
    let at = module.members.binary_search_by(|(n, _)| order(n.as_bytes(), name)).ok()?;
    module.members.get(at).map(|(_, act)| *act)
}

pub(super) static STANDARD: &[Module] = &[
    module("SimpleHTTPServer", Act::Inert, &[("test", Act::Listen)]),
    module("SocketServer", Act::Listen, &[]),
    pure("__future__"),
    module("__main__", UNKNOWN, &[]),
    module("_ctypes", UNKNOWN, &[]),
    module(
        "_io",
        UNKNOWN,
        &[("BytesIO", Act::Inert), ("FileIO", Open), ("StringIO", Act::Inert), ("open", Open)],
    ),
    module("_posixsubprocess", UNKNOWN, &[]),
    module("_socket", UNKNOWN, &[]),
    module("_thread", Act::Inert, &[("start_new", UNKNOWN), ("start_new_thread", UNKNOWN)]),
    pure("abc"),
    module("annotationlib", UNKNOWN, &[]),
    module("argparse", Act::Inert, &[("ArgumentParser", Act::Parser), ("FileType", Act::FileType)]),
    pure("array"),
    pure("ast"),
    module("asyncio", Act::Inert, ASYNCIO),
    module(
        "asyncio.subprocess",
        Act::Inert,
        &[("create_subprocess_exec", Start(0, Following)), ("create_subprocess_shell", Act::Shell)],
    ),
    pure("atexit"),
    module(
        "base64",
        Act::Inert,
        &[
            ("a85decode", Act::Decode),
            ("b16decode", Fold(F::Hex)),
            ("b32decode", Act::Decode),
            ("b64decode", Fold(F::Base64)),
            ("b85decode", Act::Decode),
            ("decode", UNKNOWN),
            ("decodebytes", Fold(F::Base64)),
            ("decodestring", Fold(F::Base64)),
            ("encode", UNKNOWN),
            ("standard_b64decode", Fold(F::Base64)),
            ("urlsafe_b64decode", Fold(F::Base64)),
        ],
    ),
    module("bdb", UNKNOWN, &[]),
    module(
        "binascii",
        Act::Inert,
        &[
            ("a2b_base64", Fold(F::Base64)),
            ("a2b_hex", Fold(F::Hex)),
            ("a2b_uu", Act::Decode),
            ("unhexlify", Fold(F::Hex)),
        ],
    ),
    module(
        "bisect",
        Act::Inert,
        &[("insort", Act::Mutate), ("insort_left", Act::Mutate), ("insort_right", Act::Mutate)],
    ),
    module("builtins", UNKNOWN, BUILTINS),
    module(
        "bz2",
        Act::Inert,
        &[("BZ2File", Act::Archive), ("decompress", Act::Decode), ("open", Act::Archive)],
    ),
    pure("calendar"),
    pure("chunk"),
    pure("cmath"),
    module("cmd", UNKNOWN, &[]),
    module("code", Act::Terminal, &[]),
    module("codecs", Act::Inert, &[("decode", Act::Decode), ("getdecoder", UNKNOWN), ("open", Open)]),
    module("codeop", UNKNOWN, &[]),
    pure("collections"),
    pure("collections.abc"),
    pure("colorsys"),
    module("commands", Act::Shell, &[]),
    module(
        "compileall",
        UNKNOWN,
        &[("compile_dir", Write(0, W::Below)), ("compile_file", Write(0, W::Replace))],
    ),
    module("concurrent", Act::Inert, &[("interpreters", UNKNOWN)]),
    module("concurrent.futures", Act::Inert, &[("InterpreterPoolExecutor", UNKNOWN)]),
    pure("configparser"),
    module("contextlib", Act::Inert, &[("chdir", Act::ChdirWithin)]),
    pure("contextvars"),
    pure("copy"),
    pure("copyreg"),
    pure("crypt"),
    module("csv", Act::Items, &[]),
    module(
        "ctypes",
        UNKNOWN,
        &[
            ("CDLL", Act::Load),
            ("PyDLL", Act::Load),
            ("c_char_p", Act::Inert),
            ("c_double", Act::Inert),
            ("c_float", Act::Inert),
            ("c_int", Act::Inert),
            ("c_long", Act::Inert),
            ("c_size_t", Act::Inert),
            ("c_uint", Act::Inert),
            ("c_ulong", Act::Inert),
            ("c_void_p", Act::Inert),
            ("cdll", Is(O::Native)),
            ("sizeof", Act::Inert),
            ("windll", Is(O::Native)),
        ],
    ),
    module("ctypes.util", Act::Inert, &[]),
    module("curses", Act::Inert, &[]),
    pure("dataclasses"),
    pure("datetime"),
    module("dbm", Act::Database, &[]),
    pure("decimal"),
    pure("difflib"),
    module("dis", Act::Inert, &[("dis", Act::Opaque)]),
    module("distutils", UNKNOWN, &[]),
    module("distutils.core", UNKNOWN, &[("Extension", Act::Inert), ("setup", Act::Project)]),
    pure("distutils.errors"),
    pure("distutils.log"),
    module("distutils.spawn", UNKNOWN, &[("find_executable", Act::Inert)]),
    module(
        "distutils.sysconfig",
        UNKNOWN,
        &[
            ("get_config_var", Act::Inert),
            ("get_config_vars", Act::Inert),
            ("get_python_inc", Act::Inert),
            ("get_python_lib", Act::Inert),
        ],
    ),
    module("distutils.util", UNKNOWN, &[("get_platform", Act::Inert), ("strtobool", Act::Inert)]),
    pure("distutils.version"),
    module("doctest", UNKNOWN, &[]),
    pure("email"),
    pure("encodings"),
    module("ensurepip", Act::Install, &[]),
    pure("enum"),
    pure("errno"),
    module("faulthandler", Act::Inert, &[]),
    module("fcntl", Act::Inert, &[("fcntl", Act::Duplicate), ("ioctl", Act::Control)]),
    module("filecmp", Act::Inert, &[("cmp", Read(0)), ("cmpfiles", UNKNOWN), ("dircmp", UNKNOWN)]),
    module(
        "fileinput",
        Act::Inert,
        &[("FileInput", Act::ReadInPlace), ("hook_compressed", Read(0)), ("input", Act::ReadInPlace)],
    ),
    pure("fnmatch"),
    pure("fractions"),
    module("ftplib", Act::Network, &[("FTP", Act::Host("ftp")), ("FTP_TLS", Act::Host("ftps"))]),
    module("functools", Act::Items, &[("lru_cache", Act::Items), ("reduce", Act::Apply)]),
    module(
        "gc",
        UNKNOWN,
        &[("collect", Act::Inert), ("disable", Act::Inert), ("enable", Act::Inert), ("freeze", Act::Inert)],
    ),
    pure("genericpath"),
    pure("getopt"),
    module("getpass", Act::Inert, &[]),
    pure("gettext"),
    module("glob", Act::Glob, &[("escape", Act::Inert)]),
    pure("graphlib"),
    module("grp", Act::Inert, &[]),
    module(
        "gzip",
        Act::Inert,
        &[("GzipFile", Act::Archive), ("decompress", Act::Decode), ("open", Act::Archive)],
    ),
    pure("hashlib"),
    module(
        "heapq",
        Act::Mutate,
        &[("merge", Act::Items), ("nlargest", Act::Items), ("nsmallest", Act::Items)],
    ),
    pure("hmac"),
    pure("html"),
    pure("html.entities"),
    pure("html.parser"),
    pure("http"),
    module(
        "http.client",
        Act::Inert,
        &[("HTTPConnection", Act::Host("http")), ("HTTPSConnection", Act::Host("https"))],
    ),
    module(
        "http.cookiejar",
        Act::Inert,
        &[
            ("LWPCookieJar", Act::WriteAlso(0, "filename", W::Replace)),
            ("MozillaCookieJar", Act::WriteAlso(0, "filename", W::Replace)),
        ],
    ),
    pure("http.cookies"),
    module(
        "http.server",
        Act::Inert,
        &[("HTTPServer", Act::Listen), ("ThreadingHTTPServer", Act::Listen), ("test", Act::Listen)],
    ),
    module(
        "httplib",
        Act::Network,
        &[("HTTPConnection", Act::Host("http")), ("HTTPSConnection", Act::Host("https"))],
    ),
    module("imaplib", Act::Network, &[]),
    module("imp", UNKNOWN, &[]),
    module(
        "importlib",
        UNKNOWN,
        &[("import_module", Act::Import), ("invalidate_caches", Act::Inert), ("reload", Act::Project)],
    ),
    module("importlib.abc", Act::Inert, &[]),
    module(
        "importlib.machinery",
        Act::Project,
        &[
            ("ExtensionFileLoader", UNKNOWN),
            ("SourceFileLoader", Act::RunModule),
            ("SourcelessFileLoader", UNKNOWN),
        ],
    ),
    module(
        "importlib.metadata",
        Act::Inert,
        &[
            ("Distribution", UNKNOWN),
            ("EntryPoint", UNKNOWN),
            ("EntryPoints", UNKNOWN),
            ("PathDistribution", UNKNOWN),
        ],
    ),
    module("importlib.resources", Act::Inert, &[]),
    module(
        "importlib.util",
        UNKNOWN,
        &[
            ("find_spec", Act::Inert),
            ("module_from_spec", Act::Project),
            ("spec_from_file_location", Act::RunModule),
            ("spec_from_loader", Act::Project),
        ],
    ),
    module("inspect", Act::Inert, INSPECT),
    module("io", Act::Inert, &[("FileIO", Open), ("open", Open), ("open_code", Open)]),
    pure("ipaddress"),
    module("itertools", Act::Items, &[("starmap", Act::Apply)]),
    module("json", Act::Inert, &[]),
    module("json.tool", UNKNOWN, &[]),
    pure("keyword"),
    module("linecache", Act::Inert, &[("getline", Read(0)), ("getlines", Read(0)), ("updatecache", Read(0))]),
    pure("locale"),
    module(
        "logging",
        Act::Inert,
        &[
            ("FileHandler", Write(0, W::Append)),
            ("basicConfig", Act::WriteAlso(u8::MAX, "filename", W::Append)),
        ],
    ),
    module("logging.config", UNKNOWN, &[]),
    module("logging.handlers", Act::Network, &[("RotatingFileHandler", Write(0, W::Append))]),
    module(
        "lzma",
        Act::Inert,
        &[("LZMAFile", Act::Archive), ("decompress", Act::Decode), ("open", Act::Archive)],
    ),
    module("marshal", Act::Inert, &[("load", Act::Decode), ("loads", Act::Decode)]),
    pure("math"),
    module("mimetypes", Act::Inert, &[("read_mime_types", Read(0))]),
    module("mmap", Act::Inert, &[]),
    module("modulefinder", UNKNOWN, &[]),
    module("multiprocessing", Act::Inert, MULTIPROCESSING),
    module("multiprocessing.connection", Act::Network, &[("wait", Act::Inert)]),
    module("netrc", Read(0), &[]),
    module("nntplib", Act::Network, &[]),
    pure("ntpath"),
    pure("numbers"),
    pure("opcode"),
    module("operator", Act::Inert, OPERATOR),
    pure("optparse"),
    module("os", UNKNOWN, OS),
    module("os.path", Act::Inert, OS_PATH),
    module(
        "pathlib",
        Act::Inert,
        &[
            ("Path", Act::PathOf),
            ("PosixPath", Act::PathOf),
            ("PurePath", Act::PathOf),
            ("PurePosixPath", Act::PathOf),
            ("WindowsPath", Act::PathOf),
        ],
    ),
    module("pdb", Act::Terminal, &[]),
    module(
        "pickle",
        Act::Inert,
        &[("Unpickler", Act::Unpickle), ("load", Act::Unpickle), ("loads", Act::Unpickle)],
    ),
    pure("pickletools"),
    module("pipes", Act::Shell, &[("quote", Fold(F::Quote))]),
    module(
        "pkgutil",
        UNKNOWN,
        &[
            ("extend_path", Act::Inert),
            ("get_data", Act::Project),
            ("iter_modules", Act::Inert),
            ("walk_packages", Act::Project),
        ],
    ),
    module("platform", Act::Inert, &[("popen", Act::Shell)]),
    pure("plistlib"),
    module("popen2", Act::Shell, &[]),
    module("poplib", Act::Network, &[]),
    module("posix", UNKNOWN, OS),
    pure("posixpath"),
    module("pprint", Act::Items, &[]),
    module("profile", UNKNOWN, &[]),
    module("pty", UNKNOWN, &[("fork", Act::Project), ("openpty", Act::Inert), ("spawn", Start(0, Whole))]),
    module("pwd", Act::Inert, &[]),
    module("py_compile", Act::Inert, &[("compile", Act::WriteAlso(1, "cfile", W::Replace))]),
    module("pydoc", UNKNOWN, PYDOC),
    pure("queue"),
    pure("quopri"),
    module("random", Act::Inert, &[("shuffle", Act::Mutate)]),
    pure("re"),
    module(
        "readline",
        Act::Inert,
        &[
            ("append_history_file", Write(1, W::Append)),
            ("read_history_file", Read(0)),
            ("read_init_file", Read(0)),
            ("write_history_file", Write(0, W::Replace)),
        ],
    ),
    pure("reprlib"),
    module("resource", Act::Inert, &[]),
    pure("rlcompleter"),
    module("runpy", Act::RunModule, &[]),
    module("sched", Act::Apply, &[]),
    pure("secrets"),
    pure("select"),
    pure("selectors"),
    module("shelve", Act::Inert, &[("DbfilenameShelf", Act::Unpickle), ("open", Act::Unpickle)]),
    module("shlex", Act::Opaque, &[("quote", Fold(F::Quote)), ("shlex", Act::Inert)]),
    module(
        "shutil",
        UNKNOWN,
        &[
            ("Error", Act::Keep),
            ("SameFileError", Act::Keep),
            ("chown", Metadata("owner")),
            ("copy", Copy(false)),
            ("copy2", Copy(false)),
            ("copyfile", Copy(false)),
            ("copyfileobj", Act::Inert),
            ("copymode", Copy(false)),
            ("copystat", Copy(false)),
            ("copytree", Copy(true)),
            ("disk_usage", Look(0)),
            ("get_archive_formats", Act::Inert),
            ("get_terminal_size", Act::Inert),
            ("ignore_patterns", Act::Inert),
            ("make_archive", Act::Pack),
            ("move", Rename),
            ("rmtree", Delete(0, true)),
            ("unpack_archive", Act::Unpack(0, 1)),
            ("which", Act::Inert),
        ],
    ),
    module("signal", Act::Inert, &[("pidfd_send_signal", Act::Kill), ("pthread_kill", Act::Kill)]),
    module(
        "site",
        UNKNOWN,
        &[("getsitepackages", Act::Inert), ("getuserbase", Act::Inert), ("getusersitepackages", Act::Inert)],
    ),
    module("smtpd", Act::Listen, &[]),
    module(
        "smtplib",
        Act::Network,
        &[("SMTP", Act::Host("smtp")), ("SMTPException", Act::Keep), ("SMTP_SSL", Act::Host("smtps"))],
    ),
    pure("sndhdr"),
    module(
        "socket",
        Act::Inert,
        &[
            ("SocketType", Make(O::Socket)),
            ("create_connection", Act::Host("tcp")),
            ("create_server", Act::Listen),
            ("fromfd", Make(O::Socket)),
            ("getaddrinfo", Act::Host("dns")),
            ("gethostbyaddr", Act::Host("dns")),
            ("gethostbyname", Act::Host("dns")),
            ("gethostbyname_ex", Act::Host("dns")),
            ("getnameinfo", Act::Host("dns")),
            ("sethostname", UNKNOWN),
            ("socket", Make(O::Socket)),
            ("socketpair", Make(O::Socket)),
        ],
    ),
    module("socketserver", Act::Inert, SOCKETSERVER),
    module(
        "sqlite3",
        Act::Inert,
        &[("Connection", Act::Database), ("connect", Act::Database), ("dbapi2", UNKNOWN)],
    ),
    pure("sre_compile"),
    pure("sre_constants"),
    pure("sre_parse"),
    module("ssl", Act::Inert, &[("get_server_certificate", Act::Host("tls")), ("wrap_socket", Act::Items)]),
    pure("stat"),
    pure("statistics"),
    pure("string"),
    pure("stringprep"),
    pure("struct"),
    module("subprocess", UNKNOWN, SUBPROCESS),
    pure("symtable"),
    module("sys", Act::Inert, SYS),
    module("sysconfig", Act::Inert, &[]),
    module("syslog", Act::Inert, &[]),
    module(
        "tarfile",
        Act::Inert,
        &[("TarFile", Act::Archive), ("bltn_open", Open), ("is_tarfile", Look(0)), ("open", Act::Archive)],
    ),
    module("telnetlib", Act::Network, &[("Telnet", Act::Host("telnet"))]),
    module("tempfile", Act::Temporary, &[("gettempdir", Act::Place("/tmp")), ("gettempprefix", Act::Inert)]),
    module("termios", Act::Inert, &[("TIOCSTI", UNKNOWN)]),
    module("test.support", UNKNOWN, &[]),
    pure("textwrap"),
    module("this", Act::Inert, &[]),
    module("threading", Act::Inert, &[("setprofile", UNKNOWN), ("settrace", UNKNOWN)]),
    pure("time"),
    module("timeit", Act::Eval, &[("default_timer", Act::Inert)]),
    pure("token"),
    module("tokenize", Act::Inert, &[("open", Read(0))]),
    pure("tomllib"),
    module("trace", UNKNOWN, &[]),
    module(
        "traceback",
        Act::Inert,
        &[("FrameSummary", Read(0)), ("walk_stack", UNKNOWN), ("walk_tb", UNKNOWN)],
    ),
    module("tracemalloc", Act::Inert, &[("Snapshot", UNKNOWN)]),
    module("tty", Act::Inert, &[]),
    module(
        "types",
        Act::Items,
        &[
            ("CodeType", UNKNOWN),
            ("FunctionType", UNKNOWN),
            ("LambdaType", UNKNOWN),
            ("MethodType", Act::Items),
        ],
    ),
    module(
        "typing",
        Act::Inert,
        &[("ForwardRef", UNKNOWN), ("evaluate_forward_ref", UNKNOWN), ("get_type_hints", UNKNOWN)],
    ),
    pure("unicodedata"),
    module("unittest", Act::Inert, &[("defaultTestLoader", Act::Loader)]),
    module("unittest.mock", Act::Items, &[("patch", Act::Patch)]),
    pure("urllib"),
    pure("urllib.error"),
    pure("urllib.parse"),
    module("urllib.request", Act::Inert, URLLIB_REQUEST),
    module("urllib.robotparser", Act::Network, &[]),
    module(
        "urllib2",
        Act::Url(0),
        &[
            ("HTTPError", Act::Keep),
            ("Request", Act::Items),
            ("URLError", Act::Keep),
            ("build_opener", Make(O::Client)),
        ],
    ),
    pure("uuid"),
    module("venv", UNKNOWN, &[]),
    pure("warnings"),
    module(
        "wave",
        Act::Inert,
        &[
            ("Wave_read", Act::Archive),
            ("Wave_write", Act::WriteAlso(0, "f", W::Replace)),
            ("open", Act::Archive),
        ],
    ),
    pure("weakref"),
    module("webbrowser", Act::Url(0), &[]),
    module("wsgiref", Act::Listen, &[]),
    module("wsgiref.simple_server", Act::Listen, &[]),
    pure("xml"),
    pure("xml.dom"),
    module("xml.dom.minidom", Act::Inert, &[("parse", Read(0))]),
    module("xml.dom.pulldom", Act::Inert, &[("parse", Act::Source)]),
    pure("xml.etree"),
    module("xml.etree.ElementInclude", UNKNOWN, &[("default_loader", Read(0))]),
    module(
        "xml.etree.ElementTree",
        Act::Inert,
        &[
            ("ElementTree", Make(O::Document)),
            ("canonicalize", UNKNOWN),
            ("iterparse", Read(0)),
            ("parse", Act::ReadDocument),
        ],
    ),
    module("xml.sax", Act::Inert, &[("parse", Act::Source)]),
    module("xmlrpc", Act::Network, &[]),
    module("xmlrpc.client", Act::Network, &[]),
    module("xmlrpc.server", Act::Listen, &[]),
    module("zipapp", UNKNOWN, &[]),
    module(
        "zipfile",
        Act::Inert,
        &[("PyZipFile", Act::Archive), ("ZipFile", Act::Archive), ("is_zipfile", Look(0))],
    ),
    module("zipimport", UNKNOWN, &[]),
    module("zlib", Act::Inert, &[("decompress", Act::Decode)]),
    pure("zoneinfo"),
];
