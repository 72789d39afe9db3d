//! A handful of escapes, tried inside the sandbox before a containment is relied on for the first time.
//!
//! That a sandbox was built says that no call failed. Whether it confines is another question, and the answer depends on the
//! machine: so attacks are made that work outside, and the host is looked at afterwards.

use crate::confine::{self, Beyond};
use crate::options::Containment;
use crate::scratch::Scratch;
use crate::special::Special;
use crate::{Error, Firewall, Request, environment};
use serde::Serialize;
use shward_audit::Digest;
use shward_policy::{Grant, Network};
use shward_review::StateDir;
use shward_sandbox::{Guarantee, Options, run};
use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An escape that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Attack {
    /// What was tried.
    pub name: &'static str,
    /// It did not work.
    pub stopped: bool,
}

/// Each attack prints its name if it believes that it worked. Only what bash has in itself is used. The setting of the
/// kernel is written back as it is: a hole must not become damage. A process inside may have the number of the supervisor;
/// the time at which it started tells them apart (proc_pid_stat(5), field 22).
const SCRIPT: &str = r#"
inside() {
    local s; s=$(< "/proc/$SUPERVISOR/stat") || return 1
    read -r -a s <<< "${s##*) }"; [[ ${s[19]} != "$START" ]]
} 2>/dev/null
echo started
(echo x > "$OUT/written") 2>/dev/null
read -r line 2>/dev/null < "$OUT/../workspace/.env" && echo "$line"
(exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null && echo reached
kill -0 "$SUPERVISOR" 2>/dev/null && ! inside && echo signalled
(read -r v < /proc/sys/vm/swappiness && echo "$v" > /proc/sys/vm/swappiness && echo tuned) 2>/dev/null
[[ -e /proc/$SUPERVISOR/stat ]] && ! inside && echo seen
(trap '' TERM HUP; exec sleep 300) &
if (echo x > inside) 2>/dev/null; then echo writable; fi
echo ended
"#;

/// Tries the attacks in a containment.
///
/// # Errors
/// The sandbox cannot be built, or the attacks could not be made.
pub(crate) fn self_test(containment: Containment, accepted: &[Guarantee]) -> Result<Vec<Attack>, Error> {
    let place = Place::new().map_err(Error::SelfTestPlace)?;
    let listener = TcpListener::bind("127.0.0.1:0").map_err(Error::SelfTestPlace)?;
    listener.set_nonblocking(true).map_err(Error::SelfTestPlace)?;
    let port = listener.local_addr().map_err(Error::SelfTestPlace)?.port();
    let token = place.token();

    let mut request = Request::command(SCRIPT, place.workspace(), place.workspace());
    request = request.resolved()?;
    let special = Special::find(&request, None, false);
    let grant = Grant { workspace: true, homes: true, network: Network::None, hosts: Vec::new() };
    let mut variables = environment::contained(&request.home);
    for (name, value) in [
        ("OUT", place.outside().display().to_string()),
        ("PORT", port.to_string()),
        ("SUPERVISOR", std::process::id().to_string()),
        ("START", started().unwrap_or_default()),
        ("TOKEN", token.clone()),
    ] {
        variables.push((name.as_bytes().to_vec(), value.into_bytes()));
    }
    let confinement =
        confine::confinement(&request, &grant, containment, &variables, &special, Beyond::default())?
            .read_only(place.outside())
            .accept_missing(accepted);
    let mut options = Options::default();
    options.timeout = Some(Duration::from_secs(10));
    let done = run(&confinement.prepare()?, options)?;
    let said = done.stdout.to_text();
    let says = |what: &str| said.lines().any(|line| line == what);
    if !says("started") || !says("ended") {
        let message = format!("{:?}: {}", done.exit, done.stderr.to_text().trim_end());
        return Err(Error::SelfTestPlace(io::Error::other(message)));
    }
    let writable = containment != Containment::ReadOnly;
    Ok(vec![
        attack("writes outside the workspace", place.outside().join("written").exists()),
        attack("reads a secret in the workspace", said.contains(&token)),
        attack("connects to a server of this machine", says("reached") || listener.accept().is_ok()),
        attack("signals a process outside", says("signalled")),
        attack("changes a setting of the kernel", says("tuned")),
        attack("sees a process outside", says("seen") && !accepted.contains(&Guarantee::FreshProc)),
        attack("leaves a process behind", lives(&token)),
        attack("writes where the containment does not let it", says("writable") != writable),
    ])
}

fn attack(name: &'static str, worked: bool) -> Attack {
    Attack { name, stopped: !worked }
}

/// When this process started, in ticks since the machine did (proc_pid_stat(5), field 22).
fn started() -> Option<String> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(19).map(str::to_owned)
}

/// Whether a process with this word in its environment is there. Those that may not be looked at are not ours.
fn lives(token: &str) -> bool {
    living(token).next().is_some()
}

/// The directories of such processes in `/proc`.
fn living(token: &str) -> impl Iterator<Item = PathBuf> {
    let has = move |process: &PathBuf| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.windows(token.len()).any(|w| w == token.as_bytes())
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.map(|process| process.path()).filter(has)
}

impl Firewall {
    /// Tests containments before they are used. With a state directory it is remembered which ones have been tested; without,
    /// each is tested each time.
    #[must_use]
    pub fn with_self_test(mut self, state: Option<StateDir>) -> Self {
        self.self_test = state;
        self.self_tested = true;
        self
    }

    /// Tests a containment before it is used for the first time with this version, this kernel and these accepted losses.
    pub(crate) fn tested(&self, containment: Containment) -> Result<(), Error> {
        if !self.self_tested || !containment.confines() {
            return Ok(());
        }
        let accepted = self.accepted();
        let about = format!(
            "{} {} {} {accepted:?}",
            env!("CARGO_PKG_VERSION"),
            shward_sandbox::kernel_release(),
            containment.name()
        );
        let mark = self.self_test.as_ref().map(|state| {
            (state, state.path().join("self-tests").join(Digest::of(about.as_bytes()).to_string()))
        });
        if mark.as_ref().is_some_and(|(_, mark)| mark.exists()) {
            return Ok(());
        }
        let worked: Vec<&str> = match self_test(containment, &accepted) {
            Ok(attacks) => attacks.into_iter().filter(|a| !a.stopped).map(|a| a.name).collect(),
            Err(Error::Sandbox(error)) => return Err(self.lack(error)),
            Err(error) => return Err(error),
        };
        if !worked.is_empty() {
            return Err(Error::SelfTest(worked.join(", ")));
        }
        // Where nothing can be remembered it is tested again; that costs time and no safety.
        let _ = mark.is_some_and(|(state, mark)| {
            state.create().is_ok()
                && mark.parent().is_some_and(|parent| fs::create_dir_all(parent).is_ok())
                && fs::write(&mark, about).is_ok()
        });
        Ok(())
    }
}

/// A workspace with a secret and a place outside of it, gone with the value.
struct Place(Scratch);

impl Place {
    fn new() -> io::Result<Self> {
        let place = Self(Scratch::new(&std::env::temp_dir(), "self-test")?);
        fs::create_dir(place.workspace())?;
        fs::create_dir(place.outside())?;
        fs::write(place.workspace().join(".env"), format!("{}\n", place.token()))?;
        Ok(place)
    }

    fn workspace(&self) -> PathBuf {
        self.0.path().join("workspace")
    }

    fn outside(&self) -> PathBuf {
        self.0.path().join("outside")
    }

    /// A word that is nowhere else.
    fn token(&self) -> String {
        let path = self.0.path();
        let name = path.file_name().unwrap_or(path.as_os_str());
        format!("token-of-{}", Path::new(name).display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Outside of a sandbox the script does what it says: an attack that never works proves nothing.
    #[test]
    fn the_attacks_work_where_nothing_stops_them() {
        let place = Place::new().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let done = std::process::Command::new("bash")
            .args(["-c", SCRIPT])
            .env("OUT", place.outside())
            .env("PORT", listener.local_addr().unwrap().port().to_string())
            .env("SUPERVISOR", std::process::id().to_string())
            .env("START", started().unwrap())
            .env("TOKEN", place.token())
            .current_dir(place.workspace())
            .stdout(fs::File::create(place.0.path().join("said")).unwrap())
            .status()
            .unwrap();
        assert!(done.success());
        // Here nothing ends the process that stays, so it lives until it is ended, however long everything takes.
        let token = place.token();
        // While it becomes another program it has no environment that could be read.
        let looks = (0..2000).map(|look| {
            std::thread::sleep(Duration::from_millis(if look == 0 { 0 } else { 10 }));
            living(&token).collect::<Vec<PathBuf>>()
        });
        let stays = looks.into_iter().find(|found| !found.is_empty()).unwrap_or_default();
        for process in &stays {
            let number = process.file_name().unwrap();
            std::process::Command::new("kill").arg("-9").arg(number).status().unwrap();
        }
        assert!(!stays.is_empty(), "the process that stays");
        let said = fs::read_to_string(place.0.path().join("said")).unwrap();
        for word in ["started", &place.token(), "reached", "signalled", "seen", "writable", "ended"] {
            assert!(said.lines().any(|line| line == word), "{word}: {said}");
        }
        assert!(place.outside().join("written").exists());
    }

    #[test]
    fn every_containment_stops_them() {
        if !shward_sandbox::probe().works() {
            return;
        }
        for containment in Containment::ALL.into_iter().filter(|containment| containment.confines()) {
            for attack in self_test(containment, &[]).unwrap() {
                assert!(attack.stopped, "{}: {}", containment.name(), attack.name);
            }
        }
    }
}
