//! What program text that no reader understood as a whole names: the words of each language with which programs are
//! started, files removed or given other rights, connections opened, text evaluated, and secrets found.
//!
//! A reader says of a part only that it did not understand it. Of text that a command writes and then runs, that alone is
//! too little to be asked about, since most of what people test calls something that is not known here; that it names one
//! of these words is enough.
//!
//! Words that stand there in pieces are put together before (`glued`).
//!
//! An entry is a word, which is found as a whole. Around it may stand: `.` before it, behind a dot only; `^` before it,
//! not behind one, nor behind an arrow; `/` before it, at the beginning of a path; `(` behind it, where it is called; `(?` behind it, where it is
//! called with something else than a text; `'` behind it, at the end of a string; `>` behind it, where the name of a tag ends with
//! it; `=` behind it, where that follows; `!` behind it, unless what follows makes it harmless (`is_taken_back`). An entry without letters is found
//! anywhere.

use super::glued::glued;

/// What every language may name: places of the user and of the machine, and what hides words.
const EVERYWHERE: &str = r#"
    /etc HOME USERPROFILE authorized_keys b64decode base64 bashrc crontab curl expanduser fromhex homedir
    id_rsa netcat sudo unhexlify wget
"#;

const PYTHON: &str = r#"
    Popen __builtins__ __class__ __import__ __loader__ __subclasses__ aiohttp boto3 builtins check_call
    check_output chmod chown chr( ^compile( create_connection ctypes ^eval( ^exec( execl execv execve execvp
    fork ftplib getoutput httpx importlib keyring kill killpg marshal os.remove paramiko pickle popen pty removedirs
    requests rmdir rmtree runpy smtplib socket spawnl spawnv subprocess system( telnetlib unlink urllib
    urllib3 urlopen
"#;

const JAVASCRIPT: &str = r#"
    Deno ^Function( Reflect WebSocket XMLHttpRequest atob axios binding child_process chmod chmodSync chown
    chownSync .constructor dgram dlopen ^eval( execFile execFileSync execSync execa fetch( fromCharCode
    fromCodePoint getBuiltinModule globalThis http' http2' https' import(? inspector' linkSync mainModule net'
    require(? rimraf .rm( rmSync rmdir rmdirSync shelljs spawn spawnSync symlinkSync tls' truncateSync unlink unlinkSync vm'
    worker_threads
"#;

const PERL: &str = r#"
    ` ENV LWP HTTP IPC Socket chmod chown exec fork kill pack qx remove_tree rmdir rmtree socket syscall
    system unlink unpack
"#;

const AWK: &str = r#"
    | @ ENVIRON getline inet system
"#;

const SQL: &str = r#"
    \! .shell .system attach copy delete drop dumpfile edit( install load_extension( load_file( lo_export
    lo_import outfile program truncate writefile(
"#;

/// Of lines of Makefiles, and of what programs that edit text put into files.
const SHELL: &str = r#"
    (file (guile <Delete <Exec <RemoveDir <UsingTask esyscmd local-exec m4_esyscmd m4_syscmd syscmd file(REMOVE REMOVE_RECURSE local-plugins printenv ^push ^publish commandLine delete execute_process run_command /tmp ` ~/ ^bash chmod chown dd eval ^exec kill killall mkfs nc ncat netcat pkill rm rmdir
    rsync scp ^sh shred ssh su systemctl truncate unlink ^zsh
"#;

const C: &str = r#"
    asm chmod( chown( connect( dlopen( execl( execle( execlp( execv( execve( execvp( fork( getenv( kill(
    popen( posix_spawn ptrace( remove( remove_all( rmdir( setuid( socket( syscall( system( unlink( unlinkat( incbin
"#;

const GO: &str = r#"
    "C" Chmod( Chown( Getenv( generate exec' net' http' rpc' plugin' Remove( RemoveAll( syscall' unix' unsafe'
    StartProcess( Truncate(
"#;

const RUST: &str = r#"
    Command TcpListener TcpStream UdpSocket asm env! hyper libc remove_dir remove_dir_all remove_file reqwest
    set_permissions ureq include_str include_bytes env::var
"#;

const JAVA: &str = r#"
    ClassLoader Files.delete HttpClient ProcessBuilder Runtime ScriptEngine Socket URL delete( deleteIfExists(
    deleteOnExit( forName( getenv( loadLibrary(
"#;

const RUBY: &str = r#"
    ` %x FileUtils IO.popen Kernel Net Open3 Socket TCPSocket File.delete Dir.rmdir class_eval ^eval ^exec fork instance_eval
    open3 popen rm_r rm_rf rmtree ^sh socket spawn syscall ^system unlink URI.open
"#;

const PHP: &str = r#"
    ` ^assert( ^exec( base64_decode call_user_func chgrp( chmod( chown( create_function curl_exec curl_init ^eval( fsockopen
    getenv( hex2bin ^mail( passthru pcntl_exec pfsockopen popen posix_kill proc_open putenv rmdir shell_exec str_rot13
    stream_socket_client symlink ^system( unlink
"#;

/// Of languages that are built, or run by a tool of theirs, and have no table of their own.
const SOURCE: &str = r#"
    (subprocess (system .ffi( SYSTEM' delete-directory delete-file java.shell output-channel run-shell-command
    Code.eval_string DllImport Directory.Delete File.Delete File.rm File.rm_rf HttpClient Port.open Process( Process.Start
    Process.run Process.start ProcessBuilder System.Process Sys.command Sys.remove System.cmd System.shell
    URLSession WebClient addSystemCommand callCommand callProcess createProcess create_process del_dir_r deleteFile
    deleteRecursively deleteSync deleteTree download.file execCmd execCmdEx execProcess execShellCmd execv execve execvp
    file.remove file:delete getRuntime httpclient os.proc os.remove os:cmd open_port open_process open_process_in osproc
    popen process.Child rawSystem readProcess removeDir removeDirectoryRecursive removeFile removeItem
    removePathForcibly rm_r rm_rf rmdir sys.process system( system2( unlink unsafePerformIO
"#;

/// Of files of settings: what names plugins and other code to be loaded.
const SETTINGS: &str = r#"
    -p! <Delete <Exec <RemoveDir <UsingTask PostBuildEvent PreBuildEvent auto_append_file auto_prepend_file
    backend-path bootstrapFiles hooks! init-hook preload require! run_under shell_executable workspace_status_command /tmp
    <!ENTITY <apply> <attrib> <chgrp> <chmod> <chown> <componentdef> <delete> <deltree> <exec> <execon> <ftp> <get> <import> <java> <mail>
    <patch> <rexec> <scp> <script> <scriptdef> <sql> <sshexec> <symlink> <taskdef> <telnet> <typedef> ant:current antlib
    executable= user.home
"#;

/// Of files that say which packages, plugins and projects belong to one: places where anybody may have put them.
const MANIFEST: &str = r#"
    /dev/shm /tmp /var/tmp
"#;

/// The tables as they are searched, each with what every language may name.
mod tables {
    use super::{Table, count};

    pub(super) static PYTHON: Table<{ count(&[super::EVERYWHERE, super::PYTHON]) }> =
        Table::of(&[super::EVERYWHERE, super::PYTHON]);
    pub(super) static JAVASCRIPT: Table<{ count(&[super::EVERYWHERE, super::JAVASCRIPT]) }> =
        Table::of(&[super::EVERYWHERE, super::JAVASCRIPT]);
    pub(super) static PERL: Table<{ count(&[super::EVERYWHERE, super::PERL]) }> =
        Table::of(&[super::EVERYWHERE, super::PERL]);
    pub(super) static AWK: Table<{ count(&[super::EVERYWHERE, super::AWK]) }> =
        Table::of(&[super::EVERYWHERE, super::AWK]);
    pub(super) static SQL: Table<{ count(&[super::EVERYWHERE, super::SQL]) }> =
        Table::of(&[super::EVERYWHERE, super::SQL]);
    pub(super) static SHELL: Table<{ count(&[super::EVERYWHERE, super::SHELL]) }> =
        Table::of(&[super::EVERYWHERE, super::SHELL]);
    pub(super) static C: Table<{ count(&[super::EVERYWHERE, super::C]) }> =
        Table::of(&[super::EVERYWHERE, super::C]);
    pub(super) static GO: Table<{ count(&[super::EVERYWHERE, super::GO]) }> =
        Table::of(&[super::EVERYWHERE, super::GO]);
    pub(super) static RUST: Table<{ count(&[super::EVERYWHERE, super::RUST]) }> =
        Table::of(&[super::EVERYWHERE, super::RUST]);
    pub(super) static JAVA: Table<{ count(&[super::EVERYWHERE, super::JAVA]) }> =
        Table::of(&[super::EVERYWHERE, super::JAVA]);

    pub(super) static RUBY: Table<{ count(&[super::EVERYWHERE, super::RUBY]) }> =
        Table::of(&[super::EVERYWHERE, super::RUBY]);

    pub(super) static PHP: Table<{ count(&[super::EVERYWHERE, super::PHP]) }> =
        Table::of(&[super::EVERYWHERE, super::PHP]);
    pub(super) static SOURCE: Table<{ count(&[super::EVERYWHERE, super::SOURCE]) }> =
        Table::of(&[super::EVERYWHERE, super::SOURCE]);
    pub(super) static SETTINGS: Table<{ count(&[super::EVERYWHERE, super::SETTINGS]) }> =
        Table::of(&[super::EVERYWHERE, super::SETTINGS]);

    pub(super) static MANIFEST: Table<{ count(&[super::MANIFEST]) }> = Table::of(&[super::MANIFEST]);

    const ALL: &[&str] = &[
        super::EVERYWHERE,
        super::SHELL,
        super::PYTHON,
        super::JAVASCRIPT,
        super::PERL,
        super::C,
        super::RUST,
        super::GO,
        super::JAVA,
    ];
    /// What may be in any of those that texts are edited in.
    pub(super) static ANY: Table<{ count(ALL) }> = Table::of(ALL);
}

/// Whether text in a language names what starts programs, removes, connects, evaluates or leads to secrets. One pass.
#[must_use]
pub fn names_grave(language: &str, text: &[u8]) -> bool {
    let Some(own) = words_of(language) else { return false };
    let named = |text: &[u8]| names_one_of(own, text, language == "sql");
    named(text) || glued(text).is_some_and(|glued| glued.names || named(&glued.text))
}

/// Whether it is known of a language which words in it are grave, or a reader says all that its text does. Of text in another
/// one nothing is known, though it is seen.
#[must_use]
pub fn is_known_language(language: &str) -> bool {
    words_of(language).is_some() || matches!(language, "shell" | "sed" | "jq" | "native" | "project")
}

fn words_of(language: &str) -> Option<&'static dyn Words> {
    Some(match language {
        "python" => &tables::PYTHON,
        "javascript" | "typescript" => &tables::JAVASCRIPT,
        "perl" => &tables::PERL,
        "awk" => &tables::AWK,
        "sql" => &tables::SQL,
        "make" => &tables::SHELL,
        "c" => &tables::C,
        "go" => &tables::GO,
        "rust" => &tables::RUST,
        "java" => &tables::JAVA,
        "php" => &tables::PHP,
        "ruby" => &tables::RUBY,
        "source" => &tables::SOURCE,
        "settings" => &tables::SETTINGS,
        "manifest" => &tables::MANIFEST,
        _ => return None,
    })
}

/// The same of text in no language that is known.
pub(crate) fn names_grave_anywhere(text: &[u8]) -> bool {
    names_one_of(&tables::ANY, text, false)
}

fn names_one_of(table: &dyn Words, text: &[u8], in_any_case: bool) -> bool {
    let mut at = 0;
    while let Some((before, rest)) = text.split_at_checked(at) {
        let Some(first) = rest.first() else { break };
        let length = rest.iter().take_while(|byte| is_of_words(**byte)).count();
        let (token, after) = rest.split_at_checked(length.max(1)).unwrap_or((rest, &[]));
        let first = if in_any_case { first.to_ascii_lowercase() } else { *first };
        let named = table.with(first).iter().any(|entry| {
            if entry.word.is_empty() {
                return length == 0 && rest.starts_with(entry.lead);
            }
            let is_it =
                if in_any_case { token.eq_ignore_ascii_case(entry.word) } else { token == entry.word };
            is_it && stands(entry, before, after)
        });
        if named {
            return true;
        }
        at += length.max(1);
    }
    false
}

const fn is_of_words(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// An entry, taken apart: what stands before the word, the word, and what stands behind it. Without a word, all of it
/// stands before.
#[derive(Clone, Copy)]
struct Entry {
    lead: &'static [u8],
    word: &'static [u8],
    tail: &'static [u8],
}

impl Entry {
    const EMPTY: Self = Self { lead: &[], word: &[], tail: &[] };

    #[allow(
        clippy::indexing_slicing,
        reason = "evaluated by the compiler only: an index out of bounds does not compile"
    )]
    const fn of(entry: &'static [u8]) -> Self {
        let (mut lead, mut rest): (&'static [u8], &'static [u8]) = (&[], entry);
        // The word is the last one: `os.remove`.
        let (mut at, mut within) = (0, false);
        while at < entry.len() {
            if is_of_words(entry[at]) && !within {
                (lead, rest) = entry.split_at(at);
            }
            within = is_of_words(entry[at]);
            at += 1;
        }
        let mut length = 0;
        while length < rest.len() && is_of_words(rest[length]) {
            length += 1;
        }
        if length == 0 {
            return Self { lead: entry, word: &[], tail: &[] };
        }
        let (word, tail) = rest.split_at(length);
        Self { lead, word, tail }
    }

    /// The character by which it is found.
    const fn first(&self) -> u8 {
        let begins = if self.word.is_empty() { self.lead } else { self.word };
        match begins {
            [first, ..] if *first < 128 => *first,
            _ => 127,
        }
    }
}

/// How many words texts have.
#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler only: an index out of bounds does not compile"
)]
const fn count(texts: &[&str]) -> usize {
    let (mut words, mut left) = (0, texts);
    while let Some((text, more)) = left.split_first() {
        let (text, mut at) = (text.as_bytes(), 0);
        while at < text.len() {
            if !text[at].is_ascii_whitespace() && (at == 0 || text[at - 1].is_ascii_whitespace()) {
                words += 1;
            }
            at += 1;
        }
        left = more;
    }
    words
}

/// Entries in the order of the characters by which they are found, and where those of each character begin.
struct Table<const N: usize> {
    entries: [Entry; N],
    starts: [u16; 129],
}

impl<const N: usize> Table<N> {
    #[allow(
        clippy::indexing_slicing,
        clippy::cast_possible_truncation,
        reason = "evaluated by the compiler only: an index out of bounds does not compile"
    )]
    const fn of(texts: &[&'static str]) -> Self {
        let (mut all, mut firsts, mut read) = ([Entry::EMPTY; N], [0; N], 0);
        let mut left = texts;
        while let Some((text, others)) = left.split_first() {
            let mut rest = text.as_bytes().trim_ascii_start();
            while !rest.is_empty() {
                let mut length = 0;
                while length < rest.len() && !rest[length].is_ascii_whitespace() {
                    length += 1;
                }
                let (word, more) = rest.split_at(length);
                all[read] = Entry::of(word);
                firsts[read] = all[read].first();
                read += 1;
                rest = more.trim_ascii_start();
            }
            left = others;
        }
        assert!(read == N && N < 1024);
        let mut table = Self { entries: all, starts: [0; 129] };
        let (mut filled, mut byte) = (0, 0);
        while byte < 128 {
            table.starts[byte as usize] = filled as u16;
            let mut at = 0;
            while at < N {
                if firsts[at] == byte {
                    table.entries[filled] = all[at];
                    filled += 1;
                }
                at += 1;
            }
            byte += 1;
        }
        table.starts[128] = filled as u16;
        table
    }
}

/// A table, however long.
trait Words: Sync {
    /// The entries that are found by this character.
    fn with(&self, first: u8) -> &[Entry];
}

impl<const N: usize> Words for Table<N> {
    fn with(&self, first: u8) -> &[Entry] {
        let at = usize::from(first.min(127));
        let (start, end) = (self.starts.get(at).copied(), self.starts.get(at + 1).copied());
        let range = usize::from(start.unwrap_or_default())..usize::from(end.unwrap_or_default());
        self.entries.get(range).unwrap_or_default()
    }
}

/// Whether what has to stand around the word does.
fn stands(entry: &Entry, before: &[u8], after: &[u8]) -> bool {
    let led = match entry.lead {
        b"^" => !before.ends_with(b".") && !before.ends_with(b"->"),
        b"/" => before.strip_suffix(b"/").is_some_and(|rest| {
            !rest.last().is_some_and(|byte| is_of_words(*byte) || b"/.~*$}".contains(byte))
        }),
        lead => before.ends_with(lead),
    };
    let called = || after.trim_ascii_start().strip_prefix(b"(").map(<[u8]>::trim_ascii_start);
    led && match entry.tail {
        b"(" => called().is_some(),
        b"(?" => called().is_some_and(|rest| !matches!(rest.first(), Some(b'"' | b'\'' | b'`' | b')'))),
        b"'" => matches!(after.first(), Some(b'"' | b'\'' | b'`')),
        b">" => !matches!(after.first(), Some(b'.' | b'-' | b':')),
        b"=" => after.trim_ascii_start().starts_with(b"="),
        b"!" => !is_taken_back(entry.word, after),
        _ => true,
    }
}

/// Whether what follows a word of settings says that nothing is loaded: a plugin that is left out (pytest), a page that is called
/// so; or that it comes from what is installed: an extension of RuboCop by its name, which is searched for where libraries are.
fn is_taken_back(word: &[u8], after: &[u8]) -> bool {
    match word {
        b"p" => after.trim_ascii_start().starts_with(b"no:"),
        b"hooks" => after.starts_with(b".md"),
        b"require" => after.strip_prefix(b":").is_some_and(names_extensions),
        _ => false,
    }
}

/// Whether a value is one extension of RuboCop, or a list of such and nothing else.
fn names_extensions(value: &[u8]) -> bool {
    let is_one = |name: &[u8]| {
        name.starts_with(b"rubocop-") && name.iter().all(|byte| is_of_words(*byte) || *byte == b'-')
    };
    let mut lines = value.split(|byte| *byte == b'\n');
    let own = lines.next().unwrap_or_default().trim_ascii();
    if !own.is_empty() {
        // What is further in would go on with it.
        return is_one(own) && lines.next().is_none_or(|line| !matches!(line.first(), Some(b' ' | b'\t')));
    }
    let mut names = 0;
    for line in lines {
        match line.trim_ascii().strip_prefix(b"- ") {
            Some(name) if is_one(name.trim_ascii()) => names += 1,
            // The next key ends it.
            None if line.trim_ascii().is_empty() => {}
            None if line.first().is_some_and(u8::is_ascii_alphabetic) => break,
            _ => return false,
        }
    }
    names > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_where_they_mean_something() {
        for (language, text, expect) in [
            ("python", "re.compile('x')", false),
            ("python", "compile (x)", true),
            ("python", "import os\nos.remove(x)", true),
            ("python", "xs.remove(x)", false),
            ("python", "mysubprocess = subprocesses", false),
            ("python", "from subprocess import run", true),
            ("python", "open('/etc/x')", true),
            ("python", "open('x/etc/x')", false),
            ("python", "", false),
            ("javascript", "/x/.exec(y)", false),
            ("javascript", "require('node:https')", true),
            ("javascript", "get('https://localhost')", false),
            ("javascript", "require('x'); import('y')", false),
            ("javascript", "require (a+b)", true),
            ("javascript", "new Function('x')", true),
            ("javascript", "constructor(x) {}", false),
            ("javascript", "a.constructor", true),
            ("javascript", "a['unl' + 'inkSync'](x)", true),
            ("javascript", "f('unl' + 'inkSync')", true),
            ("javascript", "a['re' + 'move'](x)", true),
            ("javascript", "log('re' + 'move')", false),
            ("typescript", "fs.rmSync(x)", true),
            ("perl", "print `id`", true),
            ("perl", "print 'id'", false),
            ("awk", "{ print | \"sh\" }", true),
            ("sql", "select Load_Extension ('x')", true),
            ("sql", "select \u{e9} 1; \\! id", true),
            ("ruby", "system('id')", true),
            ("ruby", "sh %x(id)", true),
            ("ruby", "expect(user.delete).to be(true)", false),
            ("tcl", "exec id", false),
            ("manifest", "replace x => /tmp/x", true),
            ("manifest", "x = { path = \"/var/tmp/x\" }", true),
            ("manifest", "x = { path = \"../tmp/x\" }\nexec = \"1\"", false),
            ("settings", "addopts = -p no:cacheprovider", false),
            ("settings", "addopts = -p no:a -p evil", true),
            ("settings", "require: rubocop-rails\nAllCops:\n  A: b", false),
            ("settings", "require:\n  - rubocop-rails\n  - rubocop-rspec\n\nAllCops:\n", false),
            ("settings", "require:\n  - rubocop-rails\n\n  - ./evil\n", true),
            ("settings", "require:\n  - rubocop-rails\n  - evil\n", true),
            ("settings", "require: rubocop-x\n  /evil", true),
            ("settings", "require: ./evil", true),
            ("settings", "nav:\n  - Hooks: hooks.md", false),
            ("settings", "hooks: [hooks.md]", true),
            ("settings", "<java.version>17</java.version>", false),
            ("settings", "<java fork='true'/>", true),
            ("settings", "<executable>x</executable>", false),
        ] {
            assert_eq!(names_grave(language, text.as_bytes()), expect, "{language}: {text}");
        }
    }

    #[test]
    fn every_entry_is_found() {
        for entry in EVERYWHERE.split_whitespace().chain(JAVASCRIPT.split_whitespace()) {
            let text = entry.replace('^', " ").replace("(?", "(x)");
            assert!(names_grave("javascript", text.as_bytes()), "{entry}");
        }
    }
}
