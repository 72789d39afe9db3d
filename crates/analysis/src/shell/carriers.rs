//! Variables that carry execution: what it means that a variable gets a value.
//!
//! Many programs take the name of a program, a library, a search path or whole commands from their environment, so an
//! assignment can be as good as a command line. The table below is an allow-list within the families that do so: every
//! name of a family that is not listed is taken to carry execution, whatever its value. Names that belong to no family
//! are configuration of the program that is run and inert; the command knowledge tells of those that a described
//! program obeys (`env NAME ROLE`).
//!
//! An assignment without `export` is judged the same way, because a variable that came from the environment stays
//! exported when it gets a new value, and what is in the environment is not known.

use super::Interpreter;
use super::state::Space;
use crate::effect::{Certainty, EffectKind, Scope, Unknown};
use crate::session::Reentry;
use crate::value::{Origins, Piece, Stream, Value};
use shward_syntax::{Dialect, Span};

/// What the value of a variable does.
#[derive(Debug, Clone, Copy)]
enum Rule {
    /// Nothing.
    Inert,
    /// Anything: code, or configuration that can hold code.
    Carrier,
    /// Directories, separated by colons, in which programs or modules are looked up.
    Search,
    /// A place for files that are no code: inert in the workspace and temporary directories, and what is home already.
    Place,
    /// A shell command that is run.
    Run,
    /// Options, of which those that begin like one of these are inert.
    Flags(&'static [&'static str]),
    /// Inert if it is one of these words.
    Words(&'static [&'static str]),
    /// The name of a program that does what its name says, if it is no path and ends like one of these.
    Tool(&'static [&'static str]),
    /// It says what the shell's history keeps.
    History,
    /// A prompt, which is expanded like a word.
    Prompt,
    /// Where connections go instead.
    Proxy,
}

use Rule::{Carrier, Flags, History, Inert, Place, Prompt, Proxy, Run, Search, Tool, Words};

const SWITCH: Rule = Words(&["", "0", "1", "2", "true", "false", "yes", "no", "on", "off"]);
const COMPILER: Rule =
    Tool(&["cc", "gcc", "g++", "c++", "clang", "clang++", "ld", "ar", "as", "nm", "ranlib", "strip"]);
const COMPILE: Rule = Flags(&[
    "-O",
    "-g",
    "-D",
    "-U",
    "-I",
    "-L",
    "-l",
    "-m",
    "-std=",
    "-W",
    "-w",
    "-pipe",
    "-pthread",
    "-fPIC",
    "-fpic",
    "-fno-",
    "-fsanitize=",
    "-fstack",
    "-fcommon",
    "-fopenmp",
    "-fprofile",
    "-ftest-coverage",
    "-coverage",
    "--coverage",
    "-fvisibility",
    "-funroll",
    "-ffast-math",
    "-fPIE",
    "-pie",
    "-static",
    "-shared",
    "-s",
    "-pedantic",
    "-isystem",
    "-fpermissive",
    "-fdiagnostics",
]);
const JVM: Rule = Flags(&[
    "-Xm",
    "-Xs",
    "-XX:Max",
    "-XX:+Use",
    "-XX:Reserved",
    "-Dfile.encoding",
    "-Djava.awt.headless",
    "-ea",
]);

/// Names whose meaning is known, in the order of bytes.
static NAMES: &[(&str, Rule)] = &[
    ("AR", COMPILER),
    ("AS", COMPILER),
    ("AWS_ACCESS_KEY_ID", Inert),
    ("AWS_DEFAULT_OUTPUT", Inert),
    ("AWS_DEFAULT_REGION", Inert),
    ("AWS_PAGER", Run),
    ("AWS_PROFILE", Inert),
    ("AWS_REGION", Inert),
    ("AWS_SECRET_ACCESS_KEY", Inert),
    ("AWS_SESSION_TOKEN", Inert),
    ("BASH_ARGV0", Inert),
    ("BASH_REMATCH", Inert),
    ("BASH_XTRACEFD", Inert),
    ("BROWSER", Run),
    ("BUNDLE_FROZEN", Inert),
    ("BUNDLE_GEMFILE", Place),
    ("BUNDLE_JOBS", Inert),
    ("BUNDLE_PATH", Place),
    ("BUNDLE_RETRY", Inert),
    ("BUNDLE_WITHOUT", Inert),
    ("CARGO_BUILD_JOBS", Inert),
    ("CARGO_INCREMENTAL", Inert),
    ("CARGO_NET_OFFLINE", Inert),
    ("CARGO_PROFILE_RELEASE_DEBUG", Inert),
    ("CARGO_TARGET_DIR", Place),
    ("CARGO_TERM_COLOR", Inert),
    ("CARGO_TERM_PROGRESS_WHEN", Inert),
    ("CARGO_TERM_QUIET", Inert),
    ("CARGO_TERM_VERBOSE", Inert),
    ("CC", COMPILER),
    ("CDPATH", Carrier),
    ("CFLAGS", COMPILE),
    ("CLASSPATH", Search),
    ("CMAKE_BUILD_PARALLEL_LEVEL", Inert),
    ("CMAKE_BUILD_TYPE", Inert),
    ("CMAKE_INSTALL_PREFIX", Place),
    ("CMAKE_POLICY_VERSION_MINIMUM", Inert),
    ("CMAKE_PREFIX_PATH", Search),
    ("COMPOSER_HOME", Carrier),
    ("CONDA_DEFAULT_ENV", Inert),
    ("CPATH", Search),
    ("CPLUS_INCLUDE_PATH", Search),
    ("CPP", COMPILER),
    ("CPPFLAGS", COMPILE),
    ("CURL_HOME", Carrier),
    ("CXX", COMPILER),
    ("CXXFLAGS", COMPILE),
    ("C_INCLUDE_PATH", Search),
    ("DOCKER_BUILDKIT", Inert),
    ("DOCKER_CLI_HINTS", Inert),
    ("DOCKER_DEFAULT_PLATFORM", Inert),
    ("ENV", Carrier),
    ("EXECIGNORE", Carrier),
    ("EXINIT", Carrier),
    ("FCFLAGS", COMPILE),
    ("FFLAGS", COMPILE),
    ("FIGNORE", Inert),
    ("GCC_EXEC_PREFIX", Carrier),
    ("GEM_HOME", Search),
    ("GEM_PATH", Search),
    ("GIT_ADVICE", Inert),
    ("GIT_AUTHOR_DATE", Inert),
    ("GIT_AUTHOR_EMAIL", Inert),
    ("GIT_AUTHOR_NAME", Inert),
    ("GIT_CEILING_DIRECTORIES", Inert),
    ("GIT_COMMITTER_DATE", Inert),
    ("GIT_COMMITTER_EMAIL", Inert),
    ("GIT_COMMITTER_NAME", Inert),
    ("GIT_CONFIG_GLOBAL", Words(&["/dev/null"])),
    ("GIT_CONFIG_NOSYSTEM", Inert),
    ("GIT_CONFIG_SYSTEM", Words(&["/dev/null"])),
    ("GIT_DIR", Place),
    ("GIT_DISCOVERY_ACROSS_FILESYSTEM", Inert),
    ("GIT_FLUSH", Inert),
    ("GIT_INDEX_FILE", Place),
    ("GIT_LFS_SKIP_SMUDGE", Inert),
    ("GIT_LITERAL_PATHSPECS", Inert),
    ("GIT_MERGE_AUTOEDIT", Inert),
    ("GIT_OPTIONAL_LOCKS", Inert),
    ("GIT_PROGRESS_DELAY", Inert),
    ("GIT_REFLOG_ACTION", Inert),
    ("GIT_TERMINAL_PROMPT", Inert),
    ("GIT_TRACE", SWITCH),
    ("GIT_TRACE_CURL", SWITCH),
    ("GIT_TRACE_PACKET", SWITCH),
    ("GIT_TRACE_PERFORMANCE", SWITCH),
    ("GIT_TRACE_SETUP", SWITCH),
    ("GIT_WORK_TREE", Place),
    ("GLOBIGNORE", Carrier),
    ("GO111MODULE", Inert),
    ("GOFLAGS", Flags(&["-mod=", "-count=", "-v", "-race", "-tags=", "-p=", "-trimpath", "-buildvcs="])),
    ("GOROOT", Carrier),
    ("GREP_COLOR", Inert),
    ("GREP_COLORS", Inert),
    ("HISTCONTROL", History),
    ("HISTFILE", History),
    ("HISTFILESIZE", History),
    ("HISTIGNORE", History),
    ("HISTSIZE", History),
    ("HOME", Carrier),
    ("HOSTALIASES", Carrier),
    ("INPUTRC", Carrier),
    ("JAVA_HOME", Search),
    ("JAVA_OPTS", JVM),
    ("JAVA_TOOL_OPTIONS", JVM),
    ("JDK_JAVA_OPTIONS", JVM),
    ("KUBECONFIG", Carrier),
    ("LD", COMPILER),
    ("LDFLAGS", COMPILE),
    ("LDLIBS", COMPILE),
    ("LD_BIND_NOW", Inert),
    ("LD_DEBUG", Inert),
    ("LD_LIBRARY_PATH", Search),
    ("LESS", Flags(&["-R", "-F", "-X", "-S", "-i", "-M", "-N", "R", "F", "X", "S"])),
    ("LESSCHARSET", Inert),
    ("LIBRARY_PATH", Search),
    ("LOCPATH", Carrier),
    ("LUA_CPATH", Search),
    ("LUA_PATH", Search),
    ("MAKE", Tool(&["make"])),
    ("MAKEFLAGS", Flags(&["-j", "-s", "-k", "--no-print-directory", "--silent", "-n"])),
    ("MAVEN_OPTS", JVM),
    ("MFLAGS", Flags(&["-j", "-s", "-k"])),
    ("MPLBACKEND", Tool(&["Agg", "agg", "svg", "pdf", "ps", "template"])),
    ("NLSPATH", Carrier),
    ("NM", COMPILER),
    ("NODE_DISABLE_COLORS", Inert),
    ("NODE_ENV", Inert),
    ("NODE_EXTRA_CA_CERTS", Carrier),
    ("NODE_NO_WARNINGS", Inert),
    (
        "NODE_OPTIONS",
        Flags(&[
            "--max-old-space-size",
            "--max_old_space_size",
            "--experimental-vm-modules",
            "--no-warnings",
            "--openssl-legacy-provider",
            "--trace-warnings",
            "--unhandled-rejections=",
            "--no-deprecation",
            "--stack-trace-limit=",
            "--enable-source-maps",
            "--preserve-symlinks",
            "--dns-result-order=",
            "--max-http-header-size",
            "--trace-deprecation",
            "--no-experimental-fetch",
            "--experimental-specifier-resolution=",
            "--experimental-json-modules",
            "--experimental-strip-types",
        ]),
    ),
    ("NODE_PATH", Search),
    ("NODE_TLS_REJECT_UNAUTHORIZED", Inert),
    ("NO_PROXY", Inert),
    ("PATH", Search),
    ("PERL5LIB", Search),
    ("PERLLIB", Search),
    ("PERL_MM_USE_DEFAULT", Inert),
    ("PERL_UNICODE", Inert),
    ("PIP_BREAK_SYSTEM_PACKAGES", Inert),
    ("PIP_CACHE_DIR", Place),
    ("PIP_DEFAULT_TIMEOUT", Inert),
    ("PIP_DISABLE_PIP_VERSION_CHECK", Inert),
    ("PIP_NO_CACHE_DIR", Inert),
    ("PIP_NO_COLOR", Inert),
    ("PIP_NO_INPUT", Inert),
    ("PIP_PROGRESS_BAR", Inert),
    ("PIP_QUIET", Inert),
    ("PIP_REQUIRE_VIRTUALENV", Inert),
    ("PIP_ROOT_USER_ACTION", Inert),
    ("PKG_CONFIG_PATH", Search),
    ("POSIXLY_CORRECT", Carrier),
    ("PS0", Prompt),
    ("PS1", Prompt),
    ("PS2", Prompt),
    ("PS3", Inert),
    ("PS4", Prompt),
    ("PYTEST_CURRENT_TEST", Inert),
    ("PYTEST_DISABLE_PLUGIN_AUTOLOAD", Inert),
    ("PYTHONASYNCIODEBUG", Inert),
    ("PYTHONBREAKPOINT", Words(&["", "0"])),
    ("PYTHONDEVMODE", Inert),
    ("PYTHONDONTWRITEBYTECODE", Inert),
    ("PYTHONFAULTHANDLER", Inert),
    ("PYTHONHASHSEED", Inert),
    ("PYTHONIOENCODING", Inert),
    ("PYTHONMALLOC", Inert),
    ("PYTHONNOUSERSITE", Inert),
    ("PYTHONOPTIMIZE", Inert),
    ("PYTHONPATH", Search),
    ("PYTHONPYCACHEPREFIX", Place),
    ("PYTHONSAFEPATH", Inert),
    ("PYTHONTRACEMALLOC", Inert),
    ("PYTHONUNBUFFERED", Inert),
    ("PYTHONUTF8", Inert),
    ("PYTHONVERBOSE", Inert),
    ("PYTHONWARNDEFAULTENCODING", Inert),
    ("PYTHONWARNINGS", Tool(&["ignore", "default", "error", "always", "once", "all", "module"])),
    ("QT_PLUGIN_PATH", Carrier),
    ("QT_QPA_PLATFORM_PLUGIN_PATH", Carrier),
    ("RANLIB", COMPILER),
    ("RUBYLIB", Search),
    ("RUBYOPT", Words(&["", "-W0", "-W:no-deprecated", "-w"])),
    ("RUSTC_BOOTSTRAP", Inert),
    ("RUSTDOCFLAGS", Flags(&["-D", "-A", "-W", "--cfg"])),
    (
        "RUSTFLAGS",
        Flags(&[
            "-D",
            "-A",
            "-W",
            "-Ctarget-cpu=",
            "-Copt-level",
            "-Cdebuginfo",
            "-Awarnings",
            "-g",
            "--cfg",
        ]),
    ),
    ("SHELL", Words(&["/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash", "/usr/bin/zsh", "bash", "sh"])),
    ("SHELLOPTS", Carrier),
    ("SSH_AUTH_SOCK", Inert),
    ("STRIP", COMPILER),
    ("TEMP", Place),
    ("TERMINFO", Carrier),
    ("TEXTDOMAIN", Carrier),
    ("TEXTDOMAINDIR", Carrier),
    ("TMP", Place),
    ("TMPDIR", Place),
    ("UV_CACHE_DIR", Place),
    ("UV_LINK_MODE", Inert),
    ("UV_NO_CACHE", Inert),
    ("UV_NO_PROGRESS", Inert),
    ("UV_OFFLINE", Inert),
    ("UV_PROJECT_ENVIRONMENT", Place),
    ("UV_SYSTEM_PYTHON", Inert),
    ("VIMINIT", Carrier),
    ("VIRTUAL_ENV", Search),
    ("WGETRC", Carrier),
    ("XDG_CACHE_HOME", Place),
    ("XZ_OPT", Flags(&["-0", "-1", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9", "-T", "-e"])),
    ("_JAVA_OPTIONS", JVM),
    ("histchars", Carrier),
    ("no_proxy", Inert),
];

/// Families, by how names begin: a name that is not listed above carries execution.
static FAMILIES: &[&str] = &[
    "ANSIBLE_",
    "AWS_",
    "BASHOPTS",
    "BASH_",
    "BUNDLE_",
    "CARGO_",
    "CCACHE_",
    "CMAKE_",
    "CONDA_",
    "CVS_",
    "DOCKER_",
    "DYLD_",
    "EMACS",
    "ERL_",
    "GCONV_",
    "GDB",
    "GEM_",
    "GIO_",
    "GIT_",
    "GLIBC_",
    "GTK_",
    "GUILE_",
    "HELM_",
    "HGRC",
    "JAVA_",
    "JDK_",
    "JULIA_",
    "KUBE",
    "LD_",
    "LESS",
    "LUA_INIT",
    "MAKE",
    "MYSQL_",
    "NODE_",
    "NPM_CONFIG_",
    "NVIM",
    "OPENSSL_",
    "PERL",
    "PHPRC",
    "PHP_INI",
    "PIP_",
    "PSQL",
    "PYTHON",
    "RIPGREP_CONFIG",
    "RSYNC_",
    "RUBY",
    "RUSTC",
    "R_PROFILE",
    "R_ENVIRON",
    "SSH_",
    "SUDO_",
    "TAR_",
    "TCL",
    "TF_CLI",
    "UV_",
    "VIM",
    "XDG_",
    "npm_config_",
];

/// Settings of npm that carry nothing, after `npm_config_`.
static NPM: &[&str] =
    &["loglevel", "yes", "fund", "audit", "progress", "update_notifier", "color", "legacy_peer_deps"];

/// Families, by how names end.
static ENDINGS: &[(&str, Rule)] = &[
    ("PAGER", Run),
    ("EDITOR", Run),
    ("VISUAL", Run),
    ("ASKPASS", Run),
    ("_COMMAND", Run),
    ("_WRAPPER", Run),
    ("_RSH", Run),
    ("_SSH", Run),
    ("_OPTIONS", Carrier),
    ("_PRELOAD", Carrier),
    ("_PROXY", Proxy),
    ("_proxy", Proxy),
];

fn rule(name: &[u8]) -> Rule {
    if let Ok(index) = NAMES.binary_search_by(|(known, _)| known.as_bytes().cmp(name)) {
        return NAMES.get(index).map_or(Carrier, |(_, rule)| *rule);
    }
    if let Some((_, rule)) = ENDINGS.iter().find(|(end, _)| name.ends_with(end.as_bytes())) {
        return *rule;
    }
    let lower = name.to_ascii_lowercase();
    if let Some(setting) = lower.strip_prefix(b"npm_config_") {
        return if NPM.iter().any(|known| known.as_bytes() == setting) { Inert } else { Carrier };
    }
    if FAMILIES.iter().any(|family| name.starts_with(family.as_bytes())) { Carrier } else { Inert }
}

/// Commands that do nothing with what a pager or editor is given.
const IDLE: [&[u8]; 7] = [b"", b"cat", b"true", b":", b"false", b"/bin/cat", b"/bin/true"];

impl<'a> Interpreter<'a, '_> {
    /// A variable gets a value: records what that means for the programs that will see it. `span` is in the text being
    /// run.
    pub(super) fn judge_variable(&mut self, name: &'a [u8], value: &Value<'a>, span: Span) {
        let span = self.span(span);
        self.judge_environment(name, value, span);
    }

    /// The same with a span in the command that was asked about.
    pub(super) fn judge_environment(&mut self, name: &'a [u8], value: &Value<'a>, span: Span) {
        // Names in lower case are the script's own, but for a few.
        if name.first().is_some_and(u8::is_ascii_lowercase) && !name.contains(&b'_') && name != b"histchars" {
            return;
        }
        let known = value.known();
        let text = |list: &[&str]| known.is_some_and(|text| list.iter().any(|word| word.as_bytes() == text));
        let inert = match rule(name) {
            Inert => true,
            Carrier if name == b"HOME" => known == Some(self.request.home),
            Carrier => false,
            Words(words) => text(words),
            Tool(names) => known.is_some_and(|text| {
                text.iter()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'_' | b'.'))
                    && names.iter().any(|name| {
                        let name = name.as_bytes();
                        text.strip_suffix(name)
                            .is_some_and(|before| before.is_empty() || before.ends_with(b"-"))
                            || text.strip_prefix(name).is_some_and(|after| {
                                after.starts_with(b"-") && after.iter().skip(1).all(u8::is_ascii_digit)
                            })
                    })
            }),
            Flags(prefixes) => known.is_some_and(|text| {
                let words = text.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
                let mut all = true;
                for word in words {
                    let plain = prefixes.iter().any(|prefix| word.starts_with(prefix.as_bytes()));
                    // `-C` and `-D` of rustc take their value as the next word.
                    let value = !word.starts_with(b"-") && !word.starts_with(b"@") && !word.contains(&b'/');
                    let opaque = word.starts_with(b"-Wl,-plugin")
                        || word.starts_with(b"-Wa")
                        || word.starts_with(b"-Wp");
                    all &= (plain || value) && !opaque;
                }
                all
            }),
            Prompt => known.is_some_and(|text| {
                !text.windows(2).any(|w| w == b"$(") && !text.contains(&b'`') && !text.contains(&b'[')
            }),
            Proxy => known.is_some_and(|text| {
                text.is_empty()
                    || [b"127.0.0.1".as_slice(), b"localhost"].iter().any(|host| {
                        text.split(|byte| *byte == b'/').any(|part| {
                            part == *host
                                || part.strip_prefix(*host).is_some_and(|rest| rest.starts_with(b":"))
                        })
                    })
            }),
            Place => matches!(
                self.place_of(value),
                Scope::Workspace | Scope::Product | Scope::Temp | Scope::Harmless | Scope::Repository
            ),
            Search => self.search_path(value, span),
            Run => {
                match known {
                    Some(text) if !IDLE.contains(&text) => {
                        // It is run with arguments of the program's choosing.
                        self.doubtful(|shell| {
                            shell.run_shell(text, Dialect::Posix, &[], Stream::EMPTY, Reentry::New, span);
                        });
                        true
                    }
                    Some(_) => true,
                    None => false,
                }
            }
            History => {
                self.emit_here(EffectKind::System { what: "audit" }, span, Certainty::Certain);
                true
            }
        };
        if !inert {
            self.unknown(Unknown::Variable(name), span);
        }
    }

    fn place_of(&mut self, value: &Value<'a>) -> Scope {
        use crate::session::Session;
        self.target(value).scope
    }

    /// Judges the directories of a search path. False if one of them is not understood.
    fn search_path(&mut self, value: &Value<'a>, span: Span) -> bool {
        let mut entries: Vec<Vec<Piece<'a>>> = vec![Vec::new()];
        for piece in value.pieces {
            match piece {
                Piece::Text(text) => {
                    for (index, part) in text.split(|byte| *byte == b':').enumerate() {
                        if index > 0 {
                            entries.push(Vec::new());
                        }
                        if let (false, Some(entry)) = (part.is_empty(), entries.last_mut()) {
                            entry.push(Piece::Text(part));
                        }
                    }
                }
                other => {
                    if let Some(entry) = entries.last_mut() {
                        entry.push(*other);
                    }
                }
            }
        }
        let from_environment = Origins::LITERAL.union(Origins::ENVIRONMENT).contains(value.origins);
        let mut project = false;
        let count = entries.len();
        for (index, entry) in entries.iter().enumerate() {
            let scope = match entry.as_slice() {
                // An empty entry is the working directory, but `$VAR:x` with an empty variable is what everybody writes.
                [] if count == 1 || index + 1 == count => continue,
                // What the environment held before, or a directory that it names.
                [Piece::Unknown, rest @ ..] if from_environment && !rest.contains(&Piece::Unknown) => {
                    continue;
                }
                [Piece::Text(text)] if text.starts_with(b"/") || !text.starts_with(b"-") => self
                    .place_of(&Value { pieces: self.arena.alloc_slice_copy(entry), origins: value.origins }),
                [] => self.place_of(&Value::text(self.arena, b".", Origins::LITERAL)),
                _ => return false,
            };
            match scope {
                Scope::System | Scope::Home | Scope::Elsewhere => {}
                Scope::Workspace | Scope::Product => project = true,
                _ => return false,
            }
        }
        if project {
            if self.state.touched(Space::File).next().is_some() {
                // The script may have put a program there.
                return false;
            }
            let effect =
                EffectKind::Code { language: "project", text: None, origin: Origins::FILE, source: None };
            self.emit_here(effect, span, Certainty::Possible);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::NAMES;

    #[test]
    fn names_are_sorted() {
        assert!(NAMES.windows(2).all(|pair| pair[0].0 < pair[1].0), "binary search needs sorted names");
    }
}
