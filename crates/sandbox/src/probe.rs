//! What this kernel gives, found out by building a sandbox, not by asking for its parts.
//!
//! A probe that makes other calls than the run answers another question: namespaces may be permitted and mounts in them not.
//! So the probe is a run of the ordinary plan whose process 1 has no program to start.

use std::ffi::CString;

use crate::confinement::Confinement;
use crate::error::{SandboxError, Stage};
use crate::gate::{Exec, Judge, Ruling};
use crate::network::Network;
use crate::operation::CStrings;
use crate::overlay::Store;
use crate::run::{self, Options};
use crate::{init, kernel, landlock};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What was found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Probe {
    /// Release of the kernel, as `uname -r` gives it.
    pub kernel: String,
    /// ABI version of Landlock, or why there is none.
    pub landlock: Result<u32, SandboxError>,
    /// Whether a sandbox without network can be built here by this user, or what stands in the way.
    pub sandbox: Result<(), SandboxError>,
    /// The same with a loopback interface.
    pub loopback: Result<(), SandboxError>,
}

impl Probe {
    /// Whether commands can be confined.
    pub fn works(&self) -> bool {
        self.landlock.is_ok() && self.sandbox.is_ok()
    }
}

/// Builds a sandbox with nothing in it, twice, and says how it went. Takes a few milliseconds.
pub fn probe() -> Probe {
    Probe {
        kernel: kernel::kernel_release().to_string_lossy().into_owned(),
        landlock: landlock::version(),
        sandbox: attempt(&Confinement::new("/", "/")),
        loopback: attempt(&Confinement::new("/", "/").network(Network::Loopback)),
    }
}

/// Builds the sandbox with no program in it.
pub(crate) fn attempt(confinement: &Confinement) -> Result<(), SandboxError> {
    let mut plan = confinement.prepare()?;
    plan.arguments = CStrings::new(vec![init::name(false), CString::default()]);
    let done = run::run(&plan, Options::default())?;
    if done.exit == run::Exit::Exited(0) {
        Ok(())
    } else {
        Err(SandboxError::kernel(Stage::Init, 0, "process 1 of the sandbox was killed"))
    }
}

/// Has a program judged by the exec gate, as every program of a gated run is.
pub(crate) fn gate() -> Result<(), SandboxError> {
    const PROGRAMS: [&str; 3] = ["/bin/true", "/usr/bin/true", "/bin/sh"];
    struct Counting(AtomicUsize);
    impl Judge for Counting {
        fn judge(&self, _: &Exec) -> Ruling {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ruling::Allow
        }
    }
    let program = PROGRAMS.into_iter().find(|path| Path::new(path).exists()).unwrap_or("/bin/sh");
    let judge = Counting(AtomicUsize::new(0));
    let options = Options { judge: Some(&judge), ..Options::default() };
    let done = run::run(&Confinement::new(program, "/").gated().prepare()?, options)?;
    match (done.exit, judge.0.into_inner()) {
        (run::Exit::Exited(0), 1..) => Ok(()),
        _ => Err(SandboxError::kernel(Stage::Supervise, 0, "a program was not judged")),
    }
}

/// Mounts an overlay in a sandbox, on the file system of temporary files.
pub(crate) fn overlay() -> Result<(), String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let place = std::env::temp_dir().join(format!("shward-probe-{}", std::process::id()));
    // Fails if it is there: nobody else can have prepared it.
    let made = std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), 0o700).create(&place);
    made.map_err(|error| said(&error))?;
    let tried = || {
        let workspace = place.join("workspace");
        std::fs::create_dir(&workspace).map_err(|error| said(&error))?;
        let store = Store::for_workspace(&place.join("state"), &workspace).map_err(|error| said(&error))?;
        let layer = store.begin().map_err(|error| said(&error))?;
        let confinement = Confinement::new("/", "/").overlaid(&workspace, layer.layer().clone());
        attempt(&confinement).map_err(|error| said(&error))
    };
    let result = tried();
    let _ = std::fs::remove_dir_all(&place);
    result
}
