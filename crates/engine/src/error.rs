//! Why a request was not judged, or a command not run.

use crate::BadRequest;

/// Why a request was not judged, or a command not run. Nothing runs after any of these.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request cannot be judged.
    #[error(transparent)]
    BadRequest(#[from] BadRequest),
    /// The record could not be written.
    #[error("the decision could not be recorded, so nothing was run: {0}")]
    Record(#[from] shward_audit::Error),
    /// There is no shell that reads commands as the analysis does.
    #[error(
        "bash is not installed; install it (Debian: apt-get install bash), or give the command as --argv"
    )]
    NoShell,
    /// The program of an argument list does not exist.
    #[error("{0}: no such program in PATH")]
    NoProgram(String),
    /// The sandbox could not be built.
    #[error(transparent)]
    Sandbox(#[from] shward_sandbox::SandboxError),
}
