//! Sessions: directory and variables go on from call to call, as far as they may.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

mod common;

use shward::policy::{Layer, Source};
use shward::reviewing::StateDir;
use shward::{Decision, Firewall, Outcome, Policy, Request, RunOptions, Sessions, Setting};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

struct Place {
    dir: tempfile::TempDir,
    policy: &'static str,
}

/// `None` where the kernel gives no sandbox.
fn place() -> Option<Place> {
    if !common::sandboxed() {
        return None;
    }
    let place = Place { dir: tempfile::tempdir().unwrap(), policy: "" };
    fs::create_dir_all(place.workspace().join("sub")).unwrap();
    Some(place)
}

impl Place {
    fn workspace(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("project")
    }

    fn sessions(&self) -> Sessions {
        Sessions::new(StateDir::new(self.dir.path().join("state")))
    }

    fn firewall(&self) -> Firewall {
        let source =
            Source { layer: Layer::User, name: "user.toml".to_owned(), text: self.policy.to_owned() };
        Firewall::new(Policy::from_sources(None, &[source]).unwrap()).with_sessions(self.sessions())
    }

    fn request(&self, session: &str, command: &str) -> Request {
        let mut request = Request::command(command, self.workspace(), self.dir.path());
        request.session = Some(session.to_owned());
        request
    }

    fn outcome(&self, session: &str, command: &str) -> Outcome {
        self.firewall().run(&self.request(session, command), &RunOptions::default(), &mut |_, _| {}).unwrap()
    }

    /// Runs a command in a session and returns what it printed.
    fn run(&self, session: &str, command: &str) -> String {
        let outcome = self.outcome(session, command);
        let ending = outcome.ending.as_ref().unwrap_or_else(|| panic!("{outcome:?}"));
        ending.stdout.to_text().replace(&self.workspace().display().to_string(), "WS")
    }
}

#[test]
fn directory_and_variables_go_on() {
    let Some(place) = place() else { return };
    assert_eq!(place.run("a", "cd sub; export LEVEL='two words' EMPTY=; NOT_EXPORTED=1; pwd"), "WS/sub\n");
    assert_eq!(
        place.run("a", "pwd; echo \"$LEVEL|${EMPTY-unset}|${NOT_EXPORTED-unset}\""),
        "WS/sub\ntwo words||unset\n"
    );
    // Not in another session, nor without one.
    assert_eq!(place.run("b", "pwd; echo \"${LEVEL-unset}\""), "WS\nunset\n");
    // They are changed and unset again, also by a command that fails and one that calls exit.
    let outcome = place.outcome("a", "export LEVEL=3; unset EMPTY; cd ..; exit 7");
    assert_eq!(outcome.ending.unwrap().exit_code, Some(7));
    assert_eq!(place.run("a", "pwd; echo \"$LEVEL|${EMPTY-unset}\""), "WS\n3|unset\n");
    assert_eq!(place.run("a", "unset LEVEL; false"), "");
    assert!(place.sessions().find("a").unwrap().variables.is_empty());
    assert!(place.sessions().clear("a"));
}

/// What a command says of itself is data: nothing of it leads out of the workspace or into a program.
#[test]
fn what_is_told_is_not_believed() {
    let Some(place) = place() else { return };
    assert_eq!(place.run("a", "cd /usr; pwd"), "/usr\n");
    assert_eq!(place.run("a", "pwd"), "WS\n");
    let session = place.sessions().find("a").unwrap();
    assert_eq!((session.cwd, session.variables), (place.workspace(), Vec::new()));
    // Forged in the file itself, by its name as the shell sees it.
    let forge = "trap - EXIT; f=$(ls -d /tmp/shward-*/session-*)/told; \
         printf '/etc\\0LD_PRELOAD=/x\\0PATH=/x\\0BASH_ENV=/x\\0GOOD=1\\0' > \"$f\"; exec true";
    place.run("b", "export GOOD=0");
    let outcome = place.outcome("b", forge);
    if outcome.executed {
        let session = place.sessions().find("b").unwrap();
        assert_eq!(
            (session.cwd, session.variables),
            (place.workspace(), vec![("GOOD".to_owned(), "1".to_owned())])
        );
    }
    // A directory that is gone, and one that was replaced by a link.
    assert_eq!(place.run("c", "cd sub; pwd"), "WS/sub\n");
    fs::remove_dir(place.workspace().join("sub")).unwrap();
    std::os::unix::fs::symlink("/usr", place.workspace().join("sub")).unwrap();
    assert_eq!(place.run("c", "pwd"), "WS\n");
}

/// What a command writes where its shell tells how it ends takes no room of the machine, whatever it is.
#[test]
fn what_is_told_is_bounded() {
    let Some(place) = place() else { return };
    let fill = "trap - EXIT; /usr/bin/python3 -c 'import glob, os\n\
                told = os.open(glob.glob(\"/tmp/shward-*/session-*/told\")[0], os.O_WRONLY | os.O_NONBLOCK)\n\
                written = 0\n\
                try:\n    while written < 8 << 20: written += os.write(told, bytes(65536))\n\
                except BlockingIOError: pass\n\
                print(written <= 1 << 20)'; touch /tmp/shward-*/session-*/other 2> /dev/null || echo alone";
    assert_eq!(place.run("a", &fill.replace("\\n", "\n")), "True\nalone\n");
    // Of more than is kept it is said that it is not, and the run ends.
    for (command, kept) in [
        ("cd sub; for i in {100..199}; do export V$i=1; done", 64),
        ("cd sub; export A=1 BIG=$(head -c 40000 /dev/zero | tr '\\0' x) C=1", 1),
        ("cd sub; export A=1 BIG=$(head -c 3000000 /dev/zero | tr '\\0' x) C=1", 1),
        ("cd sub; for i in {1000..1299}; do export V$i=\"$(printf %2049d 1)\"; done", 15),
    ] {
        let outcome = place.outcome("b", command);
        let ending = outcome.ending.as_ref().unwrap();
        assert_eq!((ending.exit_code, ending.timed_out), (Some(0), false), "{command}");
        assert!(ending.session_lost.as_ref().unwrap().contains("more variables than 64"), "{ending:?}");
        let session = place.sessions().find("b").unwrap();
        assert_eq!(
            (session.cwd, session.variables.len()),
            (place.workspace().join("sub"), kept),
            "{command}"
        );
        assert!(place.sessions().clear("b"));
    }
    let outcome = place.outcome("b", "export A=1");
    assert_eq!(outcome.ending.unwrap().session_lost, None);
}

/// Nothing that a command makes readonly keeps its shell from telling how it ends, and what it does not tell stays.
#[test]
fn what_is_readonly_is_told_or_stays() {
    let Some(place) = place() else { return };
    assert_eq!(place.run("a", "export FORMER=1"), "");
    for (number, readonly) in
        ["LC_ALL=C", "IFS=x", "PWD", "LC_CTYPE=C", "PATH", "name path tell"].into_iter().enumerate()
    {
        let outcome = place.outcome("a", &format!("readonly {readonly}; export Vx{number}=1"));
        assert_eq!(outcome.ending.unwrap().session_lost, None, "{readonly}");
        let kept = place.sessions().find("a").unwrap().variables;
        assert!(kept.contains(&(format!("Vx{number}"), "1".to_owned())), "{readonly}: {kept:?}");
        assert!(kept.iter().any(|(name, _)| name == "FORMER"), "{readonly}: {kept:?}");
    }
    let outcome = place.outcome("a", "cd sub; readonly REPLY; export NEW=1");
    assert!(outcome.ending.unwrap().session_lost.unwrap().contains("only a part"));
    let kept = place.sessions().find("a").unwrap();
    assert!(kept.variables.iter().any(|(name, _)| name == "FORMER"), "{kept:?}");
    assert_eq!(kept.cwd, place.workspace().join("sub"));
    // What stays is that of this workspace.
    let mut request = place.request("a", "readonly REPLY; export NEW=1");
    (request.workspace, request.cwd) = (place.workspace().join("sub"), place.workspace().join("sub"));
    let outcome = place.firewall().run(&request, &RunOptions::default(), &mut |_, _| {}).unwrap();
    assert!(outcome.ending.unwrap().session_lost.unwrap().contains("only a part"));
    let kept = place.sessions().find("a").unwrap();
    assert_eq!((kept.workspace, kept.variables), (place.workspace().join("sub"), Vec::new()));
}

/// Whoever else writes where the shell tells how it ends delays it by nothing, and it is said that the session is lost.
#[test]
fn another_writer_does_not_delay_the_end() {
    let Some(place) = place() else { return };
    assert_eq!(place.run("a", "cd sub; export FORMER=1"), "");
    let before = place.sessions().find("a");
    for command in [
        "f=$(ls -d /tmp/shward-*/session-*)/told; (while :; do head -c 60000 /dev/zero; done > $f) & sleep 0.3; exit 3",
        "f=$(ls -d /tmp/shward-*/session-*)/told; head -c 300000 /dev/zero > $f; exit 3",
    ] {
        let mut options = RunOptions::default();
        options.timeout = Some(std::time::Duration::from_secs(20));
        let outcome = place.firewall().run(&place.request("a", command), &options, &mut |_, _| {}).unwrap();
        let ending = outcome.ending.unwrap();
        assert_eq!((ending.exit_code, ending.timed_out), (Some(3), false), "{command}");
        assert!(ending.session_lost.as_ref().unwrap().contains("something else was written"), "{ending:?}");
        assert_eq!(place.sessions().find("a"), before, "{command}");
    }
}

/// The next command is judged where it will run and with what it will get.
#[test]
fn the_next_command_is_judged_as_the_session_goes_on() {
    let Some(place) = place() else { return };
    fs::write(place.workspace().join("sub/.env"), "SECRET\n").unwrap();
    assert_eq!(place.run("a", "cd sub; export FILE=.env; pwd"), "WS/sub\n");
    for command in ["cat \"$FILE\"", "cat < .env"] {
        let outcome = place.outcome("a", command);
        assert_eq!((outcome.verdict.decision, outcome.executed), (Decision::Deny, false), "{command}");
    }
    let setting = {
        let mut setting = Setting::others();
        setting.contained = true;
        setting
    };
    let checked = place.firewall().check(&place.request("a", "cat \"$FILE\""), &setting).unwrap();
    assert_eq!(checked.decision, Decision::Deny);
    // Also when somebody else is to run it, and for explanation; but not where the world is empty or a host says where it is.
    let directory = |change: fn(&mut Setting)| {
        let mut setting = Setting::others();
        setting.plan = true;
        change(&mut setting);
        let request = place.request("a", "ls");
        let checked = place.firewall().check(&request, &setting).unwrap();
        let examined = place.firewall().examine(&request, &setting).unwrap();
        let [checked, examined] =
            [checked, examined].map(|c| c.plan.unwrap().invocations.remove(0).cwd.unwrap());
        assert_eq!(checked, examined);
        checked.replace(&place.workspace().display().to_string(), "WS")
    };
    assert_eq!(directory(|_| {}), "WS/sub");
    assert_eq!(directory(|setting| setting.contained = true), "WS/sub");
    assert_eq!(directory(|setting| setting.frozen = true), "WS");
    assert_eq!(directory(|setting| setting.host = Some("claude")), "WS");
    // A request that names a directory starts there.
    let mut request = place.request("a", "pwd");
    request.cwd = place.workspace().join("sub");
    assert_eq!(place.run("a", "cd ..; pwd"), "WS\n");
    let outcome = place.firewall().run(&request, &RunOptions::default(), &mut |_, _| {}).unwrap();
    assert!(outcome.ending.unwrap().stdout.to_text().ends_with("/sub\n"));
}

#[test]
fn the_policy_of_the_environment_holds() {
    let Some(mut place) = place() else { return };
    assert_eq!(place.run("a", "export ONE=1 TWO=2"), "");
    let print = "echo \"${ONE-unset} ${TWO-unset}\"";
    for (policy, expected) in [
        ("[environment]\npolicy = 'empty'", "unset unset\n"),
        ("[environment]\npolicy = 'listed'\nallow = ['TWO']", "unset 2\n"),
        ("[environment]\nset = { ONE = 'fixed' }", "fixed 2\n"),
    ] {
        place.policy = policy;
        assert_eq!(place.run("a", print), expected, "{policy}");
        place.policy = "";
        assert_eq!(place.run("a", "export ONE=1 TWO=2"), "");
    }
}

/// Nothing is left over, and what is killed leaves the session as it was.
#[test]
fn a_run_that_is_killed_leaves_the_session_as_it_was() {
    let Some(place) = place() else { return };
    assert_eq!(place.run("a", "export LEVEL=1"), "");
    let mut options = RunOptions::default();
    options.timeout = Some(std::time::Duration::from_millis(500));
    let request = place.request("a", "export LEVEL=2; sleep 60");
    let outcome = place.firewall().run(&request, &options, &mut |_, _| {}).unwrap();
    assert!(outcome.ending.unwrap().timed_out);
    assert_eq!(place.run("a", "echo $LEVEL"), "1\n");
    let ours = format!("session-{}-", std::process::id());
    let user = fs::metadata(place.workspace()).unwrap().uid();
    let left = fs::read_dir(format!("/tmp/shward-{user}")).into_iter().flatten().flatten();
    let left = left.filter(|entry| entry.file_name().to_string_lossy().starts_with(&ours)).count();
    // Other tests of this program may be running one each.
    assert!(left < 8, "{left}");
}
