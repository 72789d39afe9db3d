//! The names that a JavaScript program may use: what only computes, and what acts and how (ECMA-262; Node.js 20 API).

/// What a function of a known module does with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Computes,
    Read,
    List,
    Write,
    Append,
    Create,
    Delete,
    DeleteTree,
    Copy,
    Rename,
    /// A shell command line.
    Shell,
    /// A program and its arguments.
    Start,
    /// A URL.
    Connect,
}

/// What a member of a module does; `None` if it is not known.
pub(super) fn member(module: &[u8], name: &[u8]) -> Option<Act> {
    let module = module.strip_prefix(b"node:").unwrap_or(module);
    if leads_out(name) && !is_accessor(name) {
        return None;
    }
    Some(match (module, name) {
        (b"path" | b"url" | b"querystring" | b"assert" | b"string_decoder", name)
            if !name.starts_with(b"_") =>
        {
            Act::Computes
        }
        (b"os", b"userInfo" | b"setPriority") => return None,
        (b"os", name) if !name.starts_with(b"_") => Act::Computes,
        (b"util", b"inspect" | b"format" | b"isDeepStrictEqual" | b"types" | b"stripVTControlCharacters") => {
            Act::Computes
        }
        (
            b"crypto",
            b"createHash" | b"createHmac" | b"randomBytes" | b"randomUUID" | b"randomInt" | b"getHashes"
            | b"hash" | b"timingSafeEqual",
        ) => Act::Computes,
        (b"fs", name) => match name {
            b"readFileSync" | b"createReadStream" | b"readFile" => Act::Read,
            b"existsSync" | b"statSync" | b"lstatSync" | b"readdirSync" | b"accessSync" | b"realpathSync"
            | b"readlinkSync" | b"access" | b"stat" | b"readdir" => Act::List,
            b"writeFileSync" | b"createWriteStream" | b"writeFile" => Act::Write,
            b"appendFileSync" | b"appendFile" => Act::Append,
            b"mkdirSync" | b"mkdir" => Act::Create,
            b"unlinkSync" | b"unlink" => Act::Delete,
            // `rmdirSync(path, {recursive: true})`
            b"rmSync" | b"rm" | b"rmdirSync" => Act::DeleteTree,
            b"copyFileSync" | b"cpSync" | b"copyFile" => Act::Copy,
            b"renameSync" | b"rename" => Act::Rename,
            b"constants" => Act::Computes,
            _ => return None,
        },
        (b"fs/promises", name) => match name {
            b"readFile" => Act::Read,
            b"stat" | b"readdir" | b"access" => Act::List,
            b"writeFile" => Act::Write,
            b"appendFile" => Act::Append,
            b"mkdir" => Act::Create,
            b"unlink" => Act::Delete,
            b"rm" => Act::DeleteTree,
            _ => return None,
        },
        (b"child_process", b"execSync" | b"exec") => Act::Shell,
        (b"child_process", b"spawnSync" | b"spawn" | b"execFileSync" | b"execFile") => Act::Start,
        (b"http" | b"https", b"get" | b"request") => Act::Connect,
        _ => return None,
    })
}

/// Modules whose members remove, start, connect or evaluate.
pub(super) fn is_acting_module(name: &[u8]) -> bool {
    matches!(
        name.strip_prefix(b"node:").unwrap_or(name),
        b"child_process"
            | b"cluster"
            | b"dgram"
            | b"fs"
            | b"fs/promises"
            | b"http"
            | b"http2"
            | b"https"
            | b"inspector"
            | b"module"
            | b"net"
            | b"process"
            | b"tls"
            | b"vm"
            | b"worker_threads"
    )
}

/// Modules that come with Node, and are also there as globals when a program is given by `-e`.
pub(super) fn is_builtin_module(name: &[u8]) -> bool {
    matches!(
        name.strip_prefix(b"node:").unwrap_or(name),
        b"assert"
            | b"async_hooks"
            | b"buffer"
            | b"child_process"
            | b"cluster"
            | b"console"
            | b"constants"
            | b"crypto"
            | b"dgram"
            | b"diagnostics_channel"
            | b"dns"
            | b"domain"
            | b"events"
            | b"fs"
            | b"fs/promises"
            | b"http"
            | b"http2"
            | b"https"
            | b"inspector"
            | b"module"
            | b"net"
            | b"os"
            | b"path"
            | b"perf_hooks"
            | b"process"
            | b"punycode"
            | b"querystring"
            | b"readline"
            | b"repl"
            | b"stream"
            | b"string_decoder"
            | b"sys"
            | b"timers"
            | b"tls"
            | b"trace_events"
            | b"tty"
            | b"url"
            | b"util"
            | b"v8"
            | b"vm"
            | b"wasi"
            | b"worker_threads"
            | b"zlib"
            | b"sqlite"
            | b"sea"
            | b"test"
    )
}

/// Packages, and modules of other runtimes, whose functions start programs, remove files or run the text that they are given.
pub(super) fn is_acting_package(name: &[u8]) -> bool {
    let mut parts = name.split(|b| *b == b'/');
    matches!(
        parts.next().unwrap_or_default(),
        b"bun"
            | b"child-process-promise"
            | b"cpx"
            | b"cpy"
            | b"cross-spawn"
            | b"del"
            | b"ejs"
            | b"execa"
            | b"fs-extra"
            | b"fs-jetpack"
            | b"graceful-fs"
            | b"move-file"
            | b"mv"
            | b"nano-spawn"
            | b"ncp"
            | b"node-pty"
            | b"open"
            | b"rimraf"
            | b"safe-eval"
            | b"shelljs"
            | b"sudo-prompt"
            | b"tinyexec"
            | b"trash"
            | b"vm2"
            | b"write-file-atomic"
            | b"zx"
    ) || name.starts_with(b"bun:")
}

/// Names that lead from data to code, wherever they stand.
pub(super) fn leads_out(name: &[u8]) -> bool {
    name.starts_with(b"__")
        || name.starts_with(b"_")
        || matches!(
            name,
            b"constructor"
                | b"prototype"
                | b"eval"
                | b"Function"
                | b"arguments"
                | b"callee"
                | b"caller"
                | b"import"
                | b"with"
                | b"globalThis"
                | b"global"
                | b"window"
                | b"self"
                | b"this"
                | b"super"
                | b"Reflect"
                | b"Proxy"
                | b"Symbol"
                | b"WebAssembly"
                | b"module"
                | b"exports"
                | b"mainModule"
                | b"binding"
                | b"dlopen"
                | b"class"
                | b"extends"
                | b"apply"
                | b"call"
                | b"bind"
                | b"getPrototypeOf"
                | b"setPrototypeOf"
                | b"defineProperty"
                | b"defineProperties"
                | b"getOwnPropertyDescriptor"
                | b"getOwnPropertyDescriptors"
                | b"getBuiltinModule"
                | b"Worker"
                | b"SharedArrayBuffer"
                | b"Deno"
                | b"Bun"
                | b"get"
                | b"set"
                | b"debugger"
                | b"enum"
                | b"FinalizationRegistry"
                | b"ShadowRealm"
                | b"export"
        )
}

/// Names as `leads_out` has them that are methods of collections too.
pub(super) fn is_accessor(name: &[u8]) -> bool {
    matches!(name, b"get" | b"set")
}

/// Methods of strings, numbers, collections, dates, buffers, streams and promises that only compute or print.
pub(super) fn is_method(name: &[u8]) -> bool {
    const NAMES: &[&str] = &[
        "add",
        "at",
        "charAt",
        "charCodeAt",
        "codePointAt",
        "concat",
        "copyWithin",
        "delete",
        "digest",
        "endsWith",
        "entries",
        "equals",
        "every",
        "fill",
        "filter",
        "find",
        "findIndex",
        "findLast",
        "findLastIndex",
        "flat",
        "flatMap",
        "forEach",
        "get",
        "getDate",
        "getDay",
        "getFullYear",
        "getHours",
        "getMilliseconds",
        "getMinutes",
        "getMonth",
        "getSeconds",
        "getTime",
        "has",
        "hasOwnProperty",
        "includes",
        "indexOf",
        "isArray",
        "join",
        "keys",
        "lastIndexOf",
        "localeCompare",
        "map",
        "match",
        "matchAll",
        "normalize",
        "padEnd",
        "padStart",
        "parse",
        "pop",
        "push",
        "readUInt8",
        "reduce",
        "reduceRight",
        "repeat",
        "replace",
        "replaceAll",
        "reverse",
        "search",
        "set",
        "setEncoding",
        "shift",
        "slice",
        "some",
        "sort",
        "split",
        "splice",
        "startsWith",
        "stringify",
        "subarray",
        "substr",
        "substring",
        "test",
        "then",
        "catch",
        "finally",
        "toFixed",
        "toISOString",
        "toJSON",
        "toLocaleDateString",
        "toLocaleString",
        "toLocaleTimeString",
        "toLowerCase",
        "toPrecision",
        "toReversed",
        "toSorted",
        "toString",
        "toUTCString",
        "toUpperCase",
        "trim",
        "trimEnd",
        "trimStart",
        "unshift",
        "update",
        "values",
        "isDirectory",
        "isFile",
        "isSymbolicLink",
    ];
    NAMES.iter().any(|known| known.as_bytes() == name)
}

/// Names that objects of the program may not have for what it does not spell out as a function: calls of a method would
/// reach it.
pub(super) fn is_reached(name: &[u8]) -> bool {
    is_method(name) || matches!(name, b"valueOf" | b"inspect" | b"on")
}

/// Members of global objects that only compute or print.
pub(super) fn is_static(object: &[u8], name: &[u8]) -> bool {
    match object {
        b"console" => matches!(
            name,
            b"log"
                | b"error"
                | b"warn"
                | b"info"
                | b"debug"
                | b"table"
                | b"dir"
                | b"time"
                | b"timeEnd"
                | b"timeLog"
                | b"group"
                | b"groupEnd"
                | b"count"
                | b"assert"
                | b"trace"
        ),
        b"Math" | b"Number" | b"Date" | b"BigInt" => name.iter().all(u8::is_ascii_alphanumeric),
        b"JSON" => matches!(name, b"parse" | b"stringify"),
        b"String" => matches!(name, b"fromCharCode" | b"fromCodePoint" | b"raw"),
        b"Array" => matches!(name, b"from" | b"isArray" | b"of"),
        b"Object" => matches!(
            name,
            b"keys"
                | b"values"
                | b"entries"
                | b"freeze"
                | b"is"
                | b"fromEntries"
                | b"assign"
                | b"hasOwn"
                | b"groupBy"
        ),
        b"Promise" => matches!(name, b"all" | b"resolve" | b"reject" | b"allSettled" | b"race"),
        b"Buffer" => {
            matches!(name, b"from" | b"alloc" | b"byteLength" | b"concat" | b"isBuffer" | b"compare")
        }
        b"performance" => matches!(name, b"now"),
        b"Intl" => matches!(name, b"NumberFormat" | b"DateTimeFormat"),
        b"URL" => matches!(name, b"canParse"),
        b"process" => matches!(
            name,
            b"argv"
                | b"exit"
                | b"exitCode"
                | b"cwd"
                | b"version"
                | b"versions"
                | b"platform"
                | b"arch"
                | b"pid"
                | b"ppid"
                | b"uptime"
                | b"memoryUsage"
                | b"hrtime"
                | b"release"
                | b"stdout"
                | b"stderr"
                | b"stdin"
                | b"nextTick"
                | b"execPath"
                | b"title"
                | b"features"
        ),
        _ => false,
    }
}

/// Globals that may be called, or made with `new`.
pub(super) fn is_function(name: &[u8]) -> bool {
    matches!(
        name,
        b"String"
            | b"Number"
            | b"Boolean"
            | b"BigInt"
            | b"parseInt"
            | b"parseFloat"
            | b"isNaN"
            | b"isFinite"
            | b"encodeURIComponent"
            | b"decodeURIComponent"
            | b"encodeURI"
            | b"decodeURI"
            | b"escape"
            | b"unescape"
            | b"Array"
            | b"Object"
            | b"Date"
            | b"RegExp"
            | b"Error"
            | b"TypeError"
            | b"RangeError"
            | b"Map"
            | b"Set"
            | b"WeakMap"
            | b"WeakSet"
            | b"Promise"
            | b"URL"
            | b"URLSearchParams"
            | b"TextEncoder"
            | b"TextDecoder"
            | b"Uint8Array"
            | b"Uint16Array"
            | b"Uint32Array"
            | b"Int8Array"
            | b"Int32Array"
            | b"Float32Array"
            | b"Float64Array"
            | b"ArrayBuffer"
            | b"DataView"
            | b"structuredClone"
            | b"setTimeout"
            | b"setInterval"
            | b"setImmediate"
            | b"clearTimeout"
            | b"clearInterval"
            | b"queueMicrotask"
            | b"atob"
            | b"btoa"
    ) || is_of_tests(name)
}

/// What test runners give to the files that they load (Jest "Globals", Mocha "Interfaces"): it calls what it is given.
fn is_of_tests(name: &[u8]) -> bool {
    matches!(
        name,
        b"after"
            | b"afterAll"
            | b"afterEach"
            | b"before"
            | b"beforeAll"
            | b"beforeEach"
            | b"describe"
            | b"it"
            | b"setup"
            | b"suite"
            | b"teardown"
            | b"test"
    )
}

/// Other globals that hold no way to anything.
pub(super) fn is_constant(name: &[u8]) -> bool {
    matches!(
        name,
        b"undefined"
            | b"NaN"
            | b"Infinity"
            | b"null"
            | b"true"
            | b"false"
            | b"Math"
            | b"JSON"
            | b"console"
            | b"Buffer"
            | b"performance"
            | b"Intl"
            | b"process"
            | b"__dirname"
            | b"__filename"
    )
}

/// Words of the language.
pub(super) fn is_keyword(name: &[u8]) -> bool {
    matches!(
        name,
        b"const"
            | b"let"
            | b"var"
            | b"function"
            | b"async"
            | b"await"
            | b"return"
            | b"if"
            | b"else"
            | b"for"
            | b"while"
            | b"do"
            | b"of"
            | b"in"
            | b"switch"
            | b"case"
            | b"default"
            | b"break"
            | b"continue"
            | b"try"
            | b"catch"
            | b"finally"
            | b"throw"
            | b"new"
            | b"typeof"
            | b"instanceof"
            | b"void"
            | b"delete"
            | b"yield"
    )
}
