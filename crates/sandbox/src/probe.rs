//! What this kernel gives, found out by building a sandbox, not by asking for its parts.
//!
//! A probe that makes other calls than the run answers another question: namespaces may be permitted and mounts in them not.
//! So the probe is a run of the ordinary plan whose process 1 has no program to start.

use std::ffi::CString;

use crate::confinement::{Confinement, Network};
use crate::error::{SandboxError, Stage};
use crate::plan::CStrings;
use crate::run::{self, Options};
use crate::{init, landlock, prepare};

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
        kernel: prepare::kernel_release().to_string_lossy().into_owned(),
        landlock: landlock::version(),
        sandbox: attempt(&Confinement::new("/", "/")),
        loopback: attempt(&Confinement::new("/", "/").network(Network::Loopback)),
    }
}

/// Builds the sandbox with no program in it.
pub(crate) fn attempt(confinement: &Confinement) -> Result<(), SandboxError> {
    let mut plan = confinement.prepare()?;
    plan.arguments = CStrings::new(vec![init::name(), CString::default()]);
    let done = run::run(&plan, Options::default())?;
    if done.exit == run::Exit::Exited(0) {
        Ok(())
    } else {
        Err(SandboxError::kernel(Stage::Init, 0, "process 1 of the sandbox was killed"))
    }
}
