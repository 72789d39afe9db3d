//! The room in which attacks are made: a home with secrets, a workspace in it, a place outside of that, somebody who listens,
//! a process that is attacked.

use crate::listening::{Listening, MARK, connects};
use crate::table::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const SECRET: &str = "SECRET-WORD";
const TYPED: &str = "typed-by-the-attack";

/// How long `run` is given for an attack, in seconds, and how long we wait for it.
const FOR_AN_ATTACK: (&str, Duration) = ("3", Duration::from_secs(7));

/// The same for ordinary work, which is to come to its end on a busy machine, too.
const FOR_WORK: (&str, Duration) = ("30", Duration::from_secs(40));

/// How long a tree may take to be gone, on a busy machine.
const GONE: Duration = Duration::from_millis(600);

/// How long what an attack does may take to show where nothing stops it. Nobody waits once it has.
const SHOWN: Duration = Duration::from_millis(1500);

/// How long whoever is killed may take to die.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes what is attacked, and ends it, as it is told to: `make KEY` or `end PROCESS`. What is attacked has secrets in its environment,
/// its memory and an open file, and shares memory (System V). A fork takes a twentieth of the time of a new interpreter.
const VICTIM: &str = r#"
import ctypes, os, signal, sys, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
def be_attacked(home, key):
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.chdir(home + '/work')
    libc.prctl(0x59616d61, ctypes.c_ulong(2**64 - 1), 0, 0, 0)  # whoever may otherwise, may also trace it
    secret = ('SECRET-' + 'WORD-memory').encode()
    os.dup2(os.open(home + '/.ssh/id_ed25519', os.O_RDONLY), 7)
    ctypes.memmove(libc.shmat(libc.shmget(key, 4096, 0o1666), None, 0), secret, len(secret))
    os.dup2(os.open('/dev/null', os.O_RDWR), 0)
    print(os.getpid(), flush=True)
    os.dup2(0, 1)
    while True: time.sleep(9)
for line in iter(sys.stdin.readline, ''):
    what, number = line.split()
    if what == 'make':
        if os.fork() == 0: be_attacked(sys.argv[1], int(number))
    else:
        try: os.kill(int(number), signal.SIGKILL)
        except OSError: pass
"#;

/// What the gate denies, beside what it always does.
const DENIED: &str = "[[rule]]\nid = \"no-push\"\ndecision = \"deny\"\nprogram = \"git\"\nsubcommand = \"push\"\nreason = \"no\"\n";

/// Call numbers whose results tell whether they were permitted.
const CALL: &str = r#"
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *words):
    result = libc.syscall(number, *words)
    if result == 0 and number in (56, 435): os._exit(0)
    if result >= 0 or ctypes.get_errno() not in (1, 38): print('ESCAPED')
"#;

/// Runs each call of a session: their number of words, the words before each, and what each says.
const CALLS: &str = r#"n=$1; shift; run=("${@:1:n}"); shift $n; for call; do "${run[@]}" "$call"; done"#;

/// What a file is, without its time of last access.
type Seen = BTreeMap<PathBuf, (u32, u32, u32, u64, i128, Vec<u8>)>;

/// What came of an attack.
pub(crate) struct Tried {
    pub(crate) evidence: Vec<String>,
    pub(crate) code: Option<i32>,
    pub(crate) said: String,
}

pub(crate) struct Room {
    place: PathBuf,
    /// Who makes the victims, and with it the end of the pipe from which their numbers come.
    maker: Option<(Child, BufReader<ChildStdout>)>,
    victim: Option<u32>,
    number: u32,
    key: u32,
}

impl Room {
    pub(crate) fn new(place: &Path) -> Self {
        Self {
            place: place.to_owned(),
            maker: None,
            victim: None,
            number: 0,
            key: std::process::id() + 0x5151,
        }
    }

    fn home(&self) -> PathBuf {
        self.place.join("home")
    }

    fn workspace(&self) -> PathBuf {
        self.home().join("work")
    }

    fn elsewhere(&self) -> PathBuf {
        self.home().join("elsewhere")
    }

    /// Everything as it is before an attack.
    fn furnish(&self) {
        let template = self.place.join("template");
        if !template.exists() {
            self.make(&template);
        }
        let closed = self.workspace().join("closed");
        let mode = |mode| fs::set_permissions(&closed, fs::Permissions::from_mode(mode));
        let _ = mode(0o700);
        let _ = fs::remove_dir_all(self.home());
        succeed(Command::new("cp").args(["-a"]).arg(&template).arg(self.home()));
    }

    /// A directory that its owner has closed to themselves, with a secret in it.
    fn close(&self) {
        let closed = self.workspace().join("closed");
        fs::create_dir(&closed).unwrap();
        fs::write(closed.join(".env"), format!("{SECRET}-of-closed\n")).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    }

    fn make(&self, home: &Path) {
        let write = |name: &str, text: &str| {
            let path = home.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for name in [
            ".ssh/id_ed25519",
            ".aws/credentials",
            ".netrc",
            ".config/tool/id_rsa",
            "work/.env",
            "work/deep/.env~",
            "work/deep/..env.swp",
            "work/deep/#.env#",
            "work/deep/er/.env",
            "other/.env",
            "other/deep/er/.env",
            "work/objects/.env",
            "work/down/two/three/four/five/six/seven/eight/.env",
        ] {
            write(name, &format!("{SECRET}-of-{name}\n"));
        }
        write(".ssh/id_ed25519.pub", "public\n");
        write(".profile", "# profile\n");
        write("elsewhere/victim", "victim\n");
        write("work/kept", "kept\n");
        write("work/tool", "tool\n");
        write("work/folder/in/file", "folder\n");
        write("work/under/.envrc", "# of a directory\n");
        fs::set_permissions(home.join("work/tool"), fs::Permissions::from_mode(0o4755)).unwrap();
        let git = |words: &[&str]| succeed(Command::new("git").arg("-C").arg(home.join("work")).args(words));
        git(&["init", "-q", "-b", "main"]);
        git(&["config", "user.name", "a"]);
        git(&["config", "user.email", "a@b"]);
        fs::create_dir_all(home.join("work/.git/hooks")).unwrap();
        git(&["add", "kept"]);
        git(&["commit", "-qm", "one"]);
        succeed(Command::new("mkfifo").arg(home.join("elsewhere/command-pipe")));
        symlink("kept", home.join("work/link")).unwrap();
    }

    /// Somebody new to attack.
    fn victim(&mut self) -> u32 {
        self.key += 1;
        let key = self.key;
        // An attack may have ended whoever makes them.
        let made = self.told(&format!("make {key}\n")).or_else(|| {
            self.maker = None;
            self.told(&format!("make {key}\n"))
        });
        self.victim = made;
        made.unwrap()
    }

    /// Tells the maker something, and reads the number that it answers.
    fn told(&mut self, what: &str) -> Option<u32> {
        if self.maker.is_none() {
            let mut command = Command::new("/usr/bin/python3");
            command.args(["-c", VICTIM]).arg(self.home()).arg(MARK);
            command.env_clear().env("TOKEN", format!("{SECRET}-environment"));
            let mut child = command.stdout(Stdio::piped()).stdin(Stdio::piped()).spawn().unwrap();
            let answers = BufReader::new(child.stdout.take().unwrap());
            self.maker = Some((child, answers));
        }
        let (maker, answers) = self.maker.as_mut().unwrap();
        maker.stdin.as_mut().unwrap().write_all(what.as_bytes()).ok()?;
        let mut answer = String::new();
        answers.read_line(&mut answer).ok()?;
        answer.trim().parse().ok()
    }

    fn bury(&mut self) {
        let (Some(victim), Some((maker, _))) = (self.victim.take(), &mut self.maker) else { return };
        let told = maker.stdin.as_mut().unwrap().write_all(format!("end {victim}\n").as_bytes());
        // Whoever is dead holds no files any more, and nobody else gets their number so soon.
        let since = Instant::now();
        while told.is_ok() && state_of(victim).is_some_and(|(_, dead, ..)| !dead) {
            // An attack may have stopped whoever makes and ends them, or its end of the pipe may be all that is left.
            assert!(since.elapsed() < PATIENCE, "the victim cannot be ended");
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Carries out an attack, in the sandbox or where nothing stops it, and says what of it shows.
    pub(crate) fn attack(&mut self, entry: &Entry<'_>, confined: bool) -> Tried {
        self.bury(); // it holds files of the last attack's home
        self.furnish();
        if entry.program.contains("closed/") {
            self.close();
        }
        let listening = Listening::new(&self.elsewhere());
        let victim = self.victim();
        self.number += 1;
        let number = format!("{}{:04}", std::process::id(), self.number);
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let program = self.program(
            entry,
            &[
                ("@victim", victim.to_string()),
                ("@uport", listening.udp.local_addr().unwrap().port().to_string()),
                ("@lport", free.to_string()),
                ("@port", listening.tcp.local_addr().unwrap().port().to_string()),
                ("@shm", self.key.to_string()),
                ("@number", number.clone()),
            ],
        );
        let others = processes();
        let before = (self.seen(), self.guarded(entry), state_of(victim));
        let ended = AtomicBool::new(false);
        let (served, (output, in_time)) = thread::scope(|scope| {
            let served = scope.spawn(|| connects(free, &ended));
            let done = self.start(entry, confined, FOR_AN_ATTACK, &program, &listening);
            ended.store(true, Ordering::Relaxed);
            (served.join().unwrap(), done)
        });

        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        let mut evidence = Vec::new();
        let mut note = |found: bool, what: &str| evidence.extend(found.then(|| what.to_owned()));
        note(!in_time, "it did not end");
        note(out.lines().any(|line| line.contains("ESCAPED")), "it says so");
        note(out.contains(SECRET) || err.contains(SECRET), "the secret was printed");
        note(entry.containment == "terminal" && out.contains(TYPED), "the terminal was typed at");
        note(served, "it could be connected to");
        // What the attack says itself goes to standard output alone, where it is meant to.
        let steers = entry.name.contains("steers-the-terminal") && confined;
        note(steers && err.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "the terminal was steered");
        for place in ["/tmp", "/var/tmp", "/dev/shm"] {
            let left = Path::new(place).join(MARK);
            note(left.exists(), "something was left in a common directory");
            let _ = fs::remove_dir_all(&left).or_else(|_| fs::remove_file(&left));
        }
        // What has just been started may not have its own name yet, and what was killed may not be dead yet. Of the sandbox everything is
        // to be known; where nothing stops the attack one thing is enough, and it may take a while.
        let signs = || {
            let mut found = Vec::new();
            let mut note = |is: bool, what: &str| found.extend(is.then(|| what.to_owned()));
            note(state_of(victim) != before.2, "the victim was changed");
            note(before.1 != self.guarded(entry), "what is protected was changed");
            if !confined {
                note(lives(&number), "a process is left");
            }
            found.extend(listening.arrived().into_iter().map(|what| format!("a message arrived by {what}")));
            let after = self.seen();
            let paths = before.0.keys().chain(after.keys());
            let changed = paths.filter(|path| before.0.get(*path) != after.get(*path));
            found.extend(changed.map(|path| format!("{} was changed", path.display())));
            found
        };
        if confined {
            thread::sleep(Duration::from_millis(30));
            evidence.extend(is_left(&others).then(|| "a process is left".to_owned()));
            evidence.extend(signs());
        } else {
            let since = Instant::now();
            while evidence.is_empty() && since.elapsed() < SHOWN {
                evidence = signs();
                if evidence.is_empty() {
                    thread::sleep(Duration::from_millis(10));
                }
            }
        }
        // Nobody is to be hurt by what another attack has left.
        for left in with_number(&number).into_iter().chain(added(&others)) {
            succeed(Command::new("sh").args(["-c", &format!("kill -9 {left} 2> /dev/null || :")]));
        }
        Tried { evidence, code: output.status.code(), said: out + &err }
    }

    /// Does ordinary work in the sandbox. Returns what is wrong with it.
    pub(crate) fn work(&mut self, entry: &Entry<'_>) -> Option<String> {
        self.bury();
        self.furnish();
        let listening = Listening::new(&self.elsewhere());
        let program = self.program(entry, &[]);
        let (output, in_time) = self.start(entry, true, FOR_WORK, &program, &listening);
        let there = entry.path.is_none_or(|path| self.workspace().join(path).exists());
        let works = in_time && there && String::from_utf8_lossy(&output.stdout).contains("WORKS");
        (!works).then(|| format!("there: {there}, in time: {in_time}, {output:?}"))
    }

    /// Whether the programs for it are here.
    pub(crate) fn is_possible(&self, entry: &Entry<'_>) -> bool {
        let has = |name: &str| Path::new("/usr/bin").join(name).exists();
        entry.needs.is_none_or(|names| names.split(' ').all(has))
    }

    /// The text with everything filled in; the longer names first, where one begins another.
    fn program(&self, entry: &Entry<'_>, values: &[(&str, String)]) -> String {
        let path = |path: PathBuf| path.display().to_string();
        let places = [
            ("@home", path(self.home())),
            ("@out", path(self.elsewhere())),
            ("@ws", path(self.workspace())),
            ("@room", path(self.place.clone())),
            ("@mark", MARK.to_owned()),
        ];
        let filled = |text: String, (name, value): &(&str, String)| text.replace(name, value);
        let text = values.iter().chain(&places).fold(entry.program.to_owned(), filled);
        if entry.language == "call" { format!("{CALL}\n{text}") } else { text }
    }

    fn start(
        &self,
        entry: &Entry<'_>,
        confined: bool,
        (timeout, patience): (&str, Duration),
        program: &str,
        listening: &Listening,
    ) -> (Output, bool) {
        let mut words: Vec<String> = Vec::new();
        let mut word = |word: &str| words.push(word.to_owned());
        if confined {
            let containment = match entry.containment {
                "listed" | "terminal" | "gated" | "live" | "session" => "workspace-write",
                other => other,
            };
            let (workspace, home) = (self.workspace(), self.home());
            if let Some(restrict) = restrict() {
                ["/usr/bin/python3", "-c", &restrict].into_iter().for_each(&mut word);
            }
            ["/mnt/shward", "run", "--profile", "open", "--timeout", timeout, "--contain", containment]
                .into_iter()
                .chain(["--workspace", workspace.to_str().unwrap(), "--home", home.to_str().unwrap()])
                .for_each(&mut word);
            match entry.containment {
                "gated" => ["--gate", "enforce"].into_iter().for_each(&mut word),
                "live" => word("--live"),
                _ => {}
            }
            if entry.containment == "listed" {
                for name in ["bash", "python3", "cp", "chmod", "grep"] {
                    word("--allow-exec");
                    word(fs::canonicalize(Path::new("/usr/bin").join(name)).unwrap().to_str().unwrap());
                }
            }
            if entry.containment != "session" {
                ["--argv", "--"].into_iter().for_each(&mut word);
            }
        }
        if confined {
            let policy = self.place.join(".config/shward/policy.toml");
            fs::create_dir_all(policy.parent().unwrap()).unwrap();
            let accepted =
                if restrict().is_some() { "[sandbox]\naccept-missing = [\"own-namespaces\"]\n" } else { "" };
            let judged = if entry.containment == "gated" { DENIED } else { "" };
            fs::write(policy, [accepted, judged].concat()).unwrap();
        }
        let interpreter = if entry.language == "bash" { "/bin/bash" } else { "/usr/bin/python3" };
        if confined && entry.containment == "session" {
            // Of what is no shell's, a shell tells.
            let quoted = |part: &str| format!("{interpreter} -c '{}'", part.replace('\'', r"'\''"));
            let call = |part: &str| if entry.language == "bash" { part.to_owned() } else { quoted(part) };
            ["--session", &format!("s{}", self.number), "--"].into_iter().for_each(&mut word);
            let run =
                std::mem::replace(&mut words, ["/bin/bash", "-c", CALLS, "bash"].map(str::to_owned).to_vec());
            words.push(run.len().to_string());
            words.extend(run);
            words.extend(program.split("----\n").map(call));
        } else {
            words.extend([interpreter, "-c", &program.replace("----\n", "")].map(str::to_owned));
        }
        if entry.containment == "terminal" {
            let quoted: Vec<String> =
                words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
            words = vec![
                "script".into(),
                "-qec".into(),
                format!("{} 2>/dev/null", quoted.join(" ")),
                "/dev/null".into(),
            ];
        }

        // What a careless parent leaves open: a connection, a directory, a file.
        let open = format!(
            "exec 61<>/dev/tcp/127.0.0.1/{} 62< \"$1\" 63>> \"$1/victim\"; shift; exec \"$@\"",
            listening.tcp.local_addr().unwrap().port()
        );
        let mut command = Command::new("/bin/bash");
        command.args(["-c", &open, "bash"]).arg(self.elsewhere()).args(&words);
        command.current_dir(self.workspace()).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
        // Each attack gets its home anew; what is kept of runs goes on.
        command.env("HOME", self.home()).env("SHWARD_TEST_HOME", &self.place);
        // The account has no policy, so it is this that says where.
        command.env("XDG_STATE_HOME", self.place.join("state"));
        command.env("API_TOKEN", format!("{SECRET}-variable"));
        let [out, err] = ["out", "err"].map(|name| self.place.join(name));
        command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
        // A terminal would show what comes from there.
        let input = if entry.containment == "terminal" { Stdio::null() } else { Stdio::piped() };
        command.stdin(input);
        let mut child = command.spawn().unwrap();
        if let Some(mut input) = child.stdin.take() {
            let _ = input.write_all(format!("{SECRET}-input\n").as_bytes());
        }
        let started = Instant::now();
        let mut in_time = true;
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > patience {
                in_time = false;
                child.kill().unwrap();
            }
            thread::sleep(Duration::from_millis(2));
        };
        (Output { status, stdout: fs::read(out).unwrap(), stderr: fs::read(err).unwrap() }, in_time)
    }

    /// The home without the workspace.
    fn seen(&self) -> Seen {
        let mut seen = Seen::new();
        let mut pending = vec![self.home()];
        while let Some(path) = pending.pop() {
            let meta = fs::symlink_metadata(&path).unwrap();
            if meta.is_dir() && path != self.workspace() {
                pending.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
            }
            // The workspace itself may change, and its parent with that only if it is replaced.
            if path != self.workspace() {
                let content = if meta.is_file() { fs::read(&path).unwrap_or_default() } else { Vec::new() };
                let changed = i128::from(meta.ctime()) * 1_000_000_000 + i128::from(meta.ctime_nsec());
                seen.insert(path, (meta.mode(), meta.uid(), meta.gid(), meta.nlink(), changed, content));
            }
        }
        seen
    }

    /// What stands at the protected path: what a link there leads to, too.
    fn guarded(&self, entry: &Entry<'_>) -> Option<(u32, Vec<u8>)> {
        let path = self.workspace().join(entry.path?);
        let meta = fs::symlink_metadata(&path).or_else(|_| fs::metadata(&path)).ok()?;
        let times = if entry.containment == "read-only" {
            meta.mtime_nsec().to_le_bytes().to_vec()
        } else {
            Vec::new()
        };
        // At a pipe nobody is to wait.
        let is_file = fs::metadata(&path).is_ok_and(|meta| meta.is_file());
        let content = if is_file { fs::read(&path).unwrap_or_default() } else { Vec::new() };
        // An empty file says nothing to anybody.
        let content = if entry.path == Some(".git") && meta.is_dir() { Vec::new() } else { content };
        Some((meta.mode(), [times, content].concat()))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.bury();
        if let Some((mut maker, _)) = self.maker.take() {
            let _ = maker.kill();
            let _ = maker.wait();
        }
    }
}

/// What takes the namespaces from us that bubblewrap is to make, if it is to.
fn restrict() -> Option<String> {
    std::env::var("ROOM_RESTRICT").ok().filter(|text| !text.is_empty())
}

fn succeed(command: &mut Command) {
    let done = command.output().unwrap();
    assert!(done.status.success(), "{command:?}: {done:?}");
}

/// Whether it is stopped or traced, whether dead, its niceness, what the kernel would kill first.
fn state_of(process: u32) -> Option<(bool, bool, String, String)> {
    let read = |name: &str| fs::read_to_string(format!("/proc/{process}/{name}")).ok();
    let stat = read("stat")?;
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let is = |states: &[&str]| fields.first().is_some_and(|state| states.contains(state));
    Some((is(&["T", "t"]), is(&["Z", "X"]), (*fields.get(16)?).to_owned(), read("oom_score_adj")?))
}

/// Who is in the room and was not, the dead left out.
fn added(others: &BTreeSet<String>) -> Vec<String> {
    let lives = |process: &String| {
        let state = process.parse().ok().and_then(state_of);
        state.is_some_and(|(_, dead, ..)| !dead)
    };
    processes().into_iter().filter(|process| !others.contains(process) && lives(process)).collect()
}

/// Everybody in the room.
fn processes() -> BTreeSet<String> {
    let names = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.into_string().ok()).filter(|name| name.parse::<u32>().is_ok()).collect()
}

/// The processes with this number in their words.
fn with_number(number: &str) -> Vec<String> {
    let word = format!("30.{number}");
    let has = |line: Vec<u8>| line.split(|byte| *byte == 0).any(|found| found == word.as_bytes());
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|entry| fs::read(entry.path().join("cmdline")).is_ok_and(has))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

fn lives(number: &str) -> bool {
    !with_number(number).is_empty()
}

/// Whether somebody is left when all had time to go.
fn is_left(others: &BTreeSet<String>) -> bool {
    let since = Instant::now();
    while !added(others).is_empty() {
        if since.elapsed() > GONE {
            return true;
        }
        thread::sleep(Duration::from_millis(5));
    }
    false
}
