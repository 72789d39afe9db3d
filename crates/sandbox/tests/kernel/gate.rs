//! The exec gate: what it sees, what it stops, and that it cannot be raced or gone around.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use shward_sandbox::{
    Confinement, Exec, Exit, Judge, Options, Ruling, RunResult, SandboxError, Stage, Withdrawn, run,
};

use crate::roles;
use crate::support::{Place, confinement, need_sandbox, stdout};

type Answer = dyn Fn(&Exec, Withdrawn<'_>) -> bool + Sync;

/// Decides by a function, and remembers everything.
struct Watcher<F> {
    rule: F,
    answer: Box<Answer>,
    seen: Mutex<Vec<Exec>>,
}

impl<F: Fn(&Exec) -> Ruling + Sync> Watcher<F> {
    fn new(rule: F) -> Self {
        Self { rule, answer: Box::new(|_, _| false), seen: Mutex::default() }
    }

    fn try_run(&self, confinement: &Confinement, timeout: Duration) -> Result<RunResult, SandboxError> {
        let mut options = Options::default();
        options.judge = Some(self);
        options.timeout = Some(timeout);
        run(&confinement.clone().gated().prepare().unwrap(), options)
    }

    fn run(&self, confinement: &Confinement) -> RunResult {
        self.try_run(confinement, Duration::from_secs(120)).unwrap()
    }

    /// Program and arguments of everything that came after the command itself.
    fn programs(&self) -> Vec<(String, Vec<OsString>)> {
        let seen = self.seen.lock().unwrap();
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        seen.iter().skip(1).map(|exec| (name(&exec.program), exec.arguments.clone())).collect()
    }
}

impl<F: Fn(&Exec) -> Ruling + Sync> Judge for Watcher<F> {
    fn judge(&self, exec: &Exec) -> Ruling {
        self.seen.lock().unwrap().push(exec.clone());
        (self.rule)(exec)
    }

    fn answer(&self, exec: &Exec, withdrawn: Withdrawn<'_>) -> bool {
        (self.answer)(exec, withdrawn)
    }
}

fn observe() -> Watcher<fn(&Exec) -> Ruling> {
    Watcher::new(|_| Ruling::Allow)
}

/// Denies programs whose canonical path ends so.
fn without(end: &'static str) -> Watcher<impl Fn(&Exec) -> Ruling + Sync> {
    Watcher::new(move |exec| {
        let denied = exec.nameless || exec.program.as_os_str().as_bytes().ends_with(end.as_bytes());
        if denied { Ruling::Deny } else { Ruling::Allow }
    })
}

const LOADER: &str = "$(ls /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 2>/dev/null | head -n 1)";

#[test]
fn every_program_is_seen_as_it_is() {
    need_sandbox!();
    // script, program that must have been seen last, its arguments
    #[rustfmt::skip]
    let table: &[(&str, &str, &[&str])] = &[
        ("/usr/bin/id -u", "id", &["/usr/bin/id", "-u"]),
        ("exec -a liar /usr/bin/id -u", "id", &["liar", "-u"]),
        ("bash -c 'bash -c \"/usr/bin/id -g; :\"; :'", "id", &["/usr/bin/id", "-g"]),
        ("exec 5< /usr/bin/id; /proc/self/fd/5 -u", "id", &["/proc/self/fd/5", "-u"]),
        ("/proc/self/root/usr/bin/id -u", "id", &["/proc/self/root/usr/bin/id", "-u"]),
        ("ln -s /usr/bin/id ls; ./ls -u", "id", &["./ls", "-u"]),
        ("cp /usr/bin/id ls; ./ls -u", "ls", &["./ls", "-u"]),
        ("printf '#!/usr/bin/env -S id -u\\n' > s; chmod +x s; ./s", "id", &["id", "-u", "./s"]),
        ("printf '#!/bin/cat -v\\n' > s; chmod +x s; ./s x 2> /dev/null", "cat", &["/bin/cat", "-v", "./s", "x"]),
        ("(setsid sh -c 'sleep 0.1; exec id -u > s' &) ; until [ -s s ]; do sleep 0.1; done", "id", &["id", "-u"]),
        ("find /etc/passwd -exec id -u ';'", "id", &["id", "-u"]),
        ("/usr/bin/id '' 'a b' $'c\\n' 2> /dev/null", "id", &["/usr/bin/id", "", "a b", "c\n"]),
    ];
    for (script, program, arguments) in table {
        let (place, watcher) = (Place::new(), observe());
        watcher.run(&place.shell(script));
        let seen = watcher.programs();
        let last = seen.iter().rev().find(|(name, _)| name == program);
        assert_eq!(
            last.map(|(_, seen)| seen.as_slice()),
            Some(arguments.map_os().as_slice()),
            "{script}: {seen:?}"
        );
    }
}

trait MapOs {
    fn map_os(&self) -> Vec<OsString>;
}

impl MapOs for &[&str] {
    fn map_os(&self) -> Vec<OsString> {
        self.iter().map(OsString::from).collect()
    }
}

#[test]
fn the_environment_the_directory_and_the_parent_are_seen() {
    need_sandbox!();
    let (place, parent) = (Place::new(), Mutex::new(None));
    let watcher = Watcher::new(|exec| {
        if exec.program.ends_with("id") {
            *parent.lock().unwrap() = exec.parent();
        }
        Ruling::Allow
    });
    watcher.run(&place.shell("mkdir sub; cd sub; LD_PRELOAD=/ws/x.so EMPTY= id; :"));
    let seen = watcher.seen.lock().unwrap();
    let id = seen.last().unwrap();
    assert_eq!(id.variable("LD_PRELOAD"), Some(b"/ws/x.so".as_slice()));
    assert_eq!((id.variable("EMPTY"), id.variable("LD")), (Some(b"".as_slice()), None));
    assert_eq!(id.cwd, place.workspace().join("sub"));
    assert_eq!(*parent.lock().unwrap(), fs::canonicalize("/bin/bash").ok());
}

/// They are taken from the stack. `/proc` tells the same, also of more than is looked at there.
#[test]
fn arguments_and_environment_are_those_of_proc() {
    need_sandbox!();
    let differ = Mutex::new(Vec::new());
    let watcher = Watcher::new(|exec| {
        let told = |name: &str| fs::read(format!("/proc/{}/{name}", exec.pid)).unwrap();
        let ours =
            |list: &[OsString]| list.iter().flat_map(|s| [s.as_bytes(), b"\0"].concat()).collect::<Vec<_>>();
        if ours(&exec.arguments) != told("cmdline") || ours(&exec.environment) != told("environ") {
            differ.lock().unwrap().push(exec.arguments.clone());
        }
        Ruling::Allow
    });
    let script = "id; id '' ''; env -i id; env -i A= =B C id 2>&1; X=$(seq 5000) id -u; X=$(seq 8000) id; \
                  id $(seq 4000) 2>&1; id $(seq 9000) 2>&1; exec -a '' id";
    watcher.run(&Place::new().shell(script));
    assert_eq!(*differ.lock().unwrap(), Vec::<Vec<OsString>>::new());
    let seen = watcher.seen.lock().unwrap();
    let length = |list: &[OsString]| list.iter().map(|text| text.len()).sum::<usize>();
    let most = |list: fn(&Exec) -> &[OsString]| seen.iter().map(|exec| length(list(exec))).max().unwrap();
    assert!(most(|exec| &exec.arguments) > 32 << 10 && most(|exec| &exec.environment) > 32 << 10);
    assert!(seen.iter().any(|exec| exec.environment.is_empty()) && seen.len() >= 10, "{}", seen.len());
}

#[test]
fn what_is_denied_never_runs() {
    need_sandbox!();
    // Each ends in an execution of id, whatever it is called.
    let scripts = [
        "/usr/bin/id > ran",
        "exec -a true id > ran",
        "exec 5< /usr/bin/id; /proc/self/fd/5 > ran",
        "ln -s /usr/bin/id true; ./true > ran",
        "env -i id > ran",
        "python3 -c 'import os; os.execv(\"/usr/bin/id\", [\"true\"])' > ran",
        "python3 -c 'import subprocess; subprocess.run([\"id\"])' > ran",
        "printf '#!/usr/bin/id root\\n' > s; chmod +x s; ./s > ran",
        "timeout 5 xargs -n 1 id < /dev/null > ran",
    ];
    for script in scripts {
        let place = Place::new();
        let plain = place.run(&format!("{script}; test -s ran"));
        assert_eq!(plain.exit, Exit::Exited(0), "{script} proves nothing: {}", plain.stderr.to_text());
        let (place, watcher) = (Place::new(), without("/id"));
        let result = watcher.run(&place.shell(script));
        let ran = fs::read(place.workspace().join("ran")).unwrap_or_default();
        assert!(ran.is_empty(), "{script}: {result:?}");
        assert!(watcher.programs().iter().any(|(name, _)| name == "id"), "{script}");
    }
}

#[test]
fn the_rest_goes_on_when_one_program_is_denied() {
    need_sandbox!();
    let place = Place::new();
    let script = "id; echo $?; /does/not/exist; echo $?; ls -d . | cat; id | wc -c; echo end";
    let result = without("/id").run(&place.shell(script));
    assert_eq!((stdout(&result).as_str(), result.exit), ("137\n127\n.\n0\nend\n", Exit::Exited(0)));
}

#[test]
fn the_command_itself_is_judged() {
    need_sandbox!();
    let place = Place::new();
    let watcher = without("/bash");
    let result = watcher.run(&place.shell("echo ran"));
    assert_eq!((stdout(&result).as_str(), result.exit), ("", Exit::Signaled(9)));
    assert_eq!(watcher.seen.lock().unwrap().len(), 1);
    // What cannot be started at all is told as without a gate.
    let missing = observe().try_run(&confinement("/does/not/exist", "/"), Duration::from_secs(9));
    assert_eq!(missing.map_err(|error| (error.stage, error.errno)), Err((Stage::Execute, libc::ENOENT)));
}

#[test]
fn a_race_for_the_path_is_lost() {
    need_sandbox!();
    for (role, denied) in [("race-path", "/bbbbbbb"), ("race-argument", "exit 4")] {
        let place = Place::new();
        for (name, program) in [("aaaaaaa", "/bin/true"), ("bbbbbbb", "/bin/false")] {
            fs::copy(program, place.workspace().join(name)).unwrap();
        }
        let base = roles::playing(&place.shell(""), role, place.workspace());
        // Without a gate both run, so the race is a real one.
        let free = roles::inside(&place.shell(""), role, place.workspace());
        assert!(!free.starts_with("denied ran 0 "), "{role} proves nothing: {free}");
        let watcher = Watcher::new(|exec: &Exec| {
            let named = exec.program.as_os_str().as_bytes().ends_with(denied.as_bytes());
            let said = exec.arguments.iter().any(|argument| argument == denied);
            if named || said { Ruling::Deny } else { Ruling::Allow }
        });
        let said = roles::said(watcher.run(&base));
        assert!(said.starts_with("denied ran 0 ") && !said.contains("killed 0"), "{role}: {said}");
        assert!(!said.contains("allowed ran 0"), "{role}: {said}");
    }
}

/// A page that is shared with a process that writes one of two words into it, again and again.
fn flickering(words: [[u8; 8]; 2]) -> (*mut u64, libc::pid_t) {
    let [one, other] = words.map(u64::from_ne_bytes);
    // SAFETY: a new mapping; the child only writes into it until it is killed.
    unsafe {
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        let page = libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        let word = page.cast::<u64>();
        word.write_volatile(one);
        let child = libc::fork();
        if child == 0 {
            loop {
                for value in [one, other] {
                    for _ in 0..100 {
                        word.write_volatile(value);
                    }
                }
            }
        }
        (word, child)
    }
}

/// Starts `count` programs and counts how they end.
fn race(count: usize, flicker: libc::pid_t, exec: impl Fn()) -> String {
    let (mut denied, mut allowed, mut killed) = (0, 0, 0);
    for _ in 0..count {
        // SAFETY: the child calls execve or exits; this process has one other thread, which waits.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                exec();
                libc::_exit(77);
            }
            let mut status = 0;
            libc::waitpid(child, &raw mut status, 0);
            match (libc::WIFEXITED(status), libc::WEXITSTATUS(status)) {
                (true, 1 | 4) => denied += 1,
                (true, 0 | 3) => allowed += 1,
                _ => killed += 1,
            }
        }
    }
    // SAFETY: our own child.
    unsafe { libc::kill(flicker, libc::SIGKILL) };
    format!("denied ran {denied} allowed ran {allowed} killed {killed}")
}

/// The path that is executed changes all the time between one that is permitted and one that is not.
pub(crate) fn race_path(workspace: &Path) -> String {
    std::env::set_current_dir(workspace).unwrap();
    let (page, flicker) = flickering([*b"aaaaaaa\0", *b"bbbbbbb\0"]);
    let argv = [page.cast::<libc::c_char>().cast_const(), std::ptr::null()];
    // SAFETY: the page holds a string that always ends; the vector ends with null.
    race(400, flicker, || unsafe {
        libc::execv(page.cast(), argv.as_ptr());
    })
}

/// The same with an argument.
pub(crate) fn race_argument(_: &Path) -> String {
    let (page, flicker) = flickering([*b"exit 3\0\0", *b"exit 4\0\0"]);
    let argv = [c"sh".as_ptr(), c"-c".as_ptr(), page.cast::<libc::c_char>().cast_const(), std::ptr::null()];
    // SAFETY: as above.
    race(400, flicker, || unsafe {
        libc::execv(c"/bin/sh".as_ptr(), argv.as_ptr());
    })
}

/// Ways into execve that need a program of their own. Each runs `/usr/bin/id`, or says what kept it from that.
pub(crate) fn exec_as(way: &str) -> String {
    let bytes = || fs::read("/usr/bin/id").unwrap();
    let execute = |fd: i32| {
        let argv = [c"id".as_ptr(), std::ptr::null()];
        let environment: [*const libc::c_char; 1] = [std::ptr::null()];
        // SAFETY: strings and vectors end as they must.
        unsafe {
            let flags = libc::AT_EMPTY_PATH;
            libc::syscall(libc::SYS_execveat, fd, c"".as_ptr(), argv.as_ptr(), environment.as_ptr(), flags);
        }
    };
    // SAFETY: plain calls with valid strings.
    unsafe {
        match way {
            "memory" => {
                let fd = libc::memfd_create(c"true".as_ptr(), 0);
                let bytes = bytes();
                libc::write(fd, bytes.as_ptr().cast(), bytes.len());
                execute(fd);
            }
            "deleted" => {
                fs::copy("/usr/bin/id", "/tmp/true").unwrap();
                let fd = libc::open(c"/tmp/true".as_ptr(), libc::O_PATH);
                fs::remove_file("/tmp/true").unwrap();
                execute(fd);
            }
            "thread" => {
                std::thread::scope(|scope| {
                    scope.spawn(|| execute(libc::open(c"/usr/bin/id".as_ptr(), libc::O_PATH)));
                });
            }
            "undumpable" => {
                libc::prctl(libc::PR_SET_DUMPABLE, 0);
                execute(libc::open(c"/usr/bin/id".as_ptr(), libc::O_PATH));
            }
            "listener" => {
                // A filter of its own that would answer for the gate.
                let filter = [libc::sock_filter { code: 6, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW }];
                let program = libc::sock_fprog { len: 1, filter: filter.as_ptr().cast_mut() };
                let made = libc::syscall(libc::SYS_seccomp, 1, 8, &raw const program);
                return format!("{made} {}", std::io::Error::last_os_error());
            }
            other => panic!("{other}"),
        }
    }
    format!("not executed: {}", std::io::Error::last_os_error())
}

#[test]
fn no_way_into_execve_is_unseen() {
    need_sandbox!();
    for (way, nameless) in [("memory", true), ("deleted", true), ("thread", false), ("undumpable", false)] {
        let place = Place::new();
        let base = roles::playing(&place.shell(""), "exec-as", way);
        let watcher = observe();
        let result = watcher.run(&base);
        assert!(stdout(&result).contains("uid="), "{way} proves nothing: {result:?}");
        let seen = watcher.seen.lock().unwrap();
        assert_eq!(seen.last().map(|exec| exec.nameless), Some(nameless), "{way}: {seen:?}");
        assert_eq!(seen.last().map(|exec| exec.program.ends_with("id")), Some(!nameless), "{way}: {seen:?}");
        let result = without("/id").run(&base);
        assert!(!stdout(&result).contains("uid="), "{way}: {result:?}");
    }
    let place = Place::new();
    let said = roles::said(observe().run(&roles::playing(&place.shell(""), "exec-as", "listener")));
    assert_eq!(said, "-1 Device or resource busy (os error 16)");
}

#[test]
fn what_is_asked_about_waits_alone() {
    need_sandbox!();
    for (answer, expected) in [(true, "other\nuid\n0\n"), (false, "other\n137\n")] {
        let place = Place::new();
        let passed = place.workspace().join("passed");
        let mut watcher =
            Watcher::new(|exec| if exec.program.ends_with("id") { Ruling::Ask } else { Ruling::Allow });
        watcher.answer = Box::new(move |_, withdrawn| {
            // The rest of the sandbox goes on, other programs included, while this one waits.
            let patience = Instant::now() + Duration::from_secs(60);
            while !passed.exists() && Instant::now() < patience {
                std::thread::sleep(Duration::from_millis(5));
            }
            passed.exists() && answer && !withdrawn()
        });
        let script = "(sleep 0.1; echo other; touch passed) & id | cut -c 1-3 > out; wait; cat out; \
                      bash -c 'id > /dev/null'; echo $?";
        let script =
            if answer { script } else { "(sleep 0.1; echo other; touch passed) & id; r=$?; wait; echo $r" };
        let result = watcher.run(&place.shell(script));
        assert_eq!(stdout(&result), expected, "{result:?}");
    }
}

#[test]
fn what_waits_for_an_answer_dies_with_the_run() {
    need_sandbox!();
    let (place, done) = (Place::new(), Instant::now());
    let mut watcher =
        Watcher::new(|exec| if exec.program.ends_with("id") { Ruling::Ask } else { Ruling::Allow });
    watcher.answer = Box::new(|_, _| {
        std::thread::sleep(Duration::from_secs(1));
        true
    });
    let result = watcher.try_run(&place.shell("id & id & echo x; wait"), Duration::from_millis(300)).unwrap();
    assert!(result.timed_out, "{result:?}");
    assert_eq!(stdout(&result), "x\n", "an answer came after the end");
    assert!(done.elapsed() < Duration::from_secs(60));
}

/// A question ends with the program that it is about, and with the run, whoever is asked.
#[test]
fn what_nobody_waits_for_is_withdrawn() {
    need_sandbox!();
    // The script, whether the run ends by its deadline.
    for (script, late) in
        [("id & sleep 0.2; kill -9 $!; wait; echo x", false), ("id & id & echo x; wait", true)]
    {
        let (place, begun) = (Place::new(), Instant::now());
        let mut watcher =
            Watcher::new(|exec| if exec.program.ends_with("id") { Ruling::Ask } else { Ruling::Allow });
        watcher.answer = Box::new(|_, withdrawn| {
            let patience = Instant::now() + Duration::from_secs(100);
            while !withdrawn() && Instant::now() < patience {
                std::thread::sleep(Duration::from_millis(5));
            }
            true
        });
        let timeout = if late { Duration::from_millis(500) } else { Duration::from_secs(120) };
        let result = watcher.try_run(&place.shell(script), timeout).unwrap();
        assert_eq!((stdout(&result).as_str(), result.timed_out), ("x\n", late), "{script}: {result:?}");
        assert!(begun.elapsed() < Duration::from_secs(60), "{script}");
    }
}

#[test]
fn many_programs_at_once_are_all_seen() {
    need_sandbox!();
    let (place, watcher) = (Place::new(), observe());
    let script =
        "for i in $(seq 8); do (for j in $(seq 25); do /bin/true $i $j; done) & done; wait; echo end";
    let result = watcher.run(&place.shell(script));
    assert_eq!(stdout(&result), "end\n", "{result:?}");
    assert_eq!(watcher.programs().iter().filter(|(name, _)| name == "true").count(), 200);
}

/// A search along `PATH` is one failing call right after the other. Each must fail for its own reason, however late the gate gets
/// to interrupt the one before.
#[test]
fn calls_that_fail_in_a_row_fail_as_without_the_gate() {
    need_sandbox!();
    let (place, watcher) = (Place::new(), observe());
    let script = "for i in 1 2 3 4; do (for j in $(seq 25); do \
                  said=$(env PATH=/a:/b:/c:/d:/e:/f:/g:/h nosuch 2>&1); echo $said; done) & done | \
                  sort | uniq -c | sed 's/^ *//'; wait";
    let result = watcher.run(&place.shell(script));
    assert_eq!(
        stdout(&result).replace(['\u{2018}', '\u{2019}'], "'"),
        "100 env: 'nosuch': No such file or directory\n",
        "{result:?}"
    );
}

#[test]
fn a_judge_that_fails_ends_the_run() {
    need_sandbox!();
    let place = Place::new();
    let watcher = Watcher::new(|exec| {
        assert!(!exec.program.ends_with("id"), "a defect");
        Ruling::Allow
    });
    let result = watcher.try_run(&place.shell("id > ran; sleep 100; id > ran"), Duration::from_secs(60));
    assert_eq!(result.map_err(|error| error.stage), Err(Stage::Gate));
    assert!(fs::read(place.workspace().join("ran")).is_ok_and(|ran| ran.is_empty()));
}

#[test]
fn a_judge_without_a_gate_is_refused() {
    let watcher = observe();
    let mut options = Options::default();
    options.judge = Some(&watcher);
    let error = run(&confinement("/bin/true", "/").prepare().unwrap(), options).unwrap_err();
    assert_eq!(error.stage, Stage::Request);
}

/// Only these may be executed.
fn listed(place: &Place, script: &str) -> Confinement {
    let real = |path: &str| fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    ["/bin/bash", "/bin/cp", "/bin/chmod", "/bin/grep", "/usr/bin/python3"]
        .iter()
        .fold(place.shell(script), |shell, path| shell.allow_exec(real(path)))
}

#[test]
fn nothing_but_the_list_is_executed() {
    need_sandbox!();
    let scripts = [
        "/usr/bin/id".to_owned(),
        "cp /usr/bin/id ./bash; chmod +x bash; ./bash".to_owned(),
        "cp /usr/bin/id /tmp/bash; /tmp/bash".to_owned(),
        "cp /usr/bin/id /dev/shm/bash; /dev/shm/bash".to_owned(),
        "exec 5< /usr/bin/id; /proc/self/fd/5".to_owned(),
        "printf '#!/usr/bin/id root\\n' > s; chmod +x s; ./s".to_owned(),
        "exec -a bash id".to_owned(),
        "python3 -c 'import os; os.execv(\"/usr/bin/id\", [\"bash\"])'".to_owned(),
        "python3 -c 'import os; f = os.memfd_create(\"bash\", 0); os.write(f, open(\"/usr/bin/id\", \"rb\").read()); \
         os.execve(f, [\"bash\"], {})'"
            .to_owned(),
        format!("L={LOADER}; $L /usr/bin/id"),
        format!("L={LOADER}; cp /usr/bin/id bash; $L ./bash"),
    ];
    for script in &scripts {
        let place = Place::new();
        // The loader's path is found by programs that are not on the list.
        let script = script
            .replace(LOADER, &String::from_utf8_lossy(&place.run(&format!("echo -n {LOADER}")).stdout.head));
        let plain = place.run(&script);
        assert!(stdout(&plain).contains("uid="), "{script} proves nothing: {}", plain.stderr.to_text());
        let place = Place::new();
        let result = run(&listed(&place, &script).prepare().unwrap(), Options::default()).unwrap();
        assert!(!stdout(&result).contains("uid="), "{script}: {result:?}");
    }
}

#[test]
fn what_is_on_the_list_works_and_loads_nothing_brought_along() {
    need_sandbox!();
    let place = Place::new();
    let script = "cp /etc/passwd copy && grep -c root copy > /dev/null && python3 -c 'print(6*7)' && bash -c 'echo nested'";
    let result = run(&listed(&place, script).prepare().unwrap(), Options::default()).unwrap();
    assert_eq!(stdout(&result), "42\nnested\n", "{result:?}");
    let library = "f=(/usr/lib/*/libm.so.6 /lib64/libm.so.6); for l in \"${f[@]}\"; do [ -e $l ] && break; done; \
                   cp $l ./p.so; LD_PRELOAD=$PWD/p.so bash -c \"grep -c $PWD/p.so /proc/self/maps\"; :";
    assert_ne!(stdout(&place.run(library)).trim(), "0", "proves nothing");
    let result = run(&listed(&place, library).prepare().unwrap(), Options::default()).unwrap();
    assert!(matches!(stdout(&result).trim(), "0" | ""), "{result:?}");
}

#[test]
fn a_program_that_could_be_replaced_is_not_listed() {
    let place = Place::new();
    fs::copy("/bin/true", place.workspace().join("tool")).unwrap();
    let error = place.shell("").allow_exec(place.workspace().join("tool")).prepare().unwrap_err();
    assert_eq!(error.stage, Stage::Request, "{error}");
    let error = place.shell("").allow_exec("/does/not/exist").prepare().unwrap_err();
    assert_eq!(error.stage, Stage::Path, "{error}");
}
