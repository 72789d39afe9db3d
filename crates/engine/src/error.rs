//! Why a request was not judged, or a command not run.

use crate::{BadRequest, Outcome};
use shward_sandbox::Guarantee;

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
    #[error("{0}: no such program; name a file that can be executed, or a program in PATH")]
    NoProgram(String),
    /// The command ran; how it ended could not be recorded.
    #[error("the command ran, but how it ended could not be recorded: {error}")]
    Unrecorded {
        /// What became of it.
        outcome: Box<Outcome>,
        /// Why there is no record.
        error: shward_audit::Error,
    },
    /// A longer time was asked for than the policy lets callers ask for.
    #[error("a longer time was asked for than the policy's ceiling of {ceiling} s; ask for less")]
    TimeoutAboveCeiling {
        /// The ceiling, in seconds.
        ceiling: u32,
    },
    /// The waiting is longer, or tries more often or less often, than is accepted.
    #[error("a command is waited for at most 600 s, with 1 to 60 s between attempts; ask for less")]
    BadWaiting,
    /// Something that has to be protected from the command cannot be.
    #[error(
        "nothing was run, because what has to be protected cannot be where changes go straight to the workspace: {0}; run it without `--live`, where an overlay can be had (`shward doctor`), or put a file in the place of the link"
    )]
    Unprotected(String),
    /// The machine lacks something that the sandbox rests on, and the policy does not accept that.
    #[error("{error}; this machine lacks {guarantee}, so nothing is run{}; `shward doctor` tells more", acceptable(*guarantee))]
    MissingGuarantee {
        /// What is missing.
        guarantee: Guarantee,
        /// How it failed, and what would mend it.
        error: shward_sandbox::SandboxError,
    },
    /// An escape worked in the sandbox, so nothing is run in it.
    #[error(
        "the self-test of the sandbox found holes, so nothing is run: {0}; please report this with the output of `shward doctor --self-test`"
    )]
    SelfTest(String),
    /// The self-test could not be made.
    #[error("the self-test of the sandbox could not be made, so nothing is run: {0}")]
    SelfTestPlace(std::io::Error),
    /// It would write straight to a workspace that cannot be looked at as a whole.
    #[error(
        "nothing was run, because its changes would go straight to {0:?}, which holds directories that cannot be read or more than 1,000,000 files, so that not everything in it can be protected; work in a directory below it, or where an overlay can be had (`shward doctor`)"
    )]
    TooMuch(std::path::PathBuf),
    /// What has to be hidden in a workspace cannot be told.
    #[error(
        "nothing was run, because {0:?} cannot be read, or holds more than 1,000,000 files or places that git's settings lead to, or settings of git that are longer than 1 MiB or closed to you, whose they are, so that not everything in it that is secret or that git obeys can be told; work in a directory below it"
    )]
    NotSeen(std::path::PathBuf),
    /// The same, because of this directory in it.
    #[error(
        "nothing was run, because the directory {0:?} of the workspace could not be read, so that not everything in it that is secret can be told; try again, or work in a directory that does not hold it"
    )]
    NotRead(std::path::PathBuf),
    /// Nothing would keep what a run without an overlay creates there from being run.
    #[error(
        "nothing was run, because changes would go straight to {0:?}, and whatever comes there git or other programs run or obey; name the work tree with --workspace"
    )]
    OfGit(std::path::PathBuf),
    /// The workspace would show what no command sees.
    #[error(
        "nothing was run, because {0:?} lies where shward keeps its records, or what can be undone, which no command sees; work in another directory"
    )]
    OfOurs(std::path::PathBuf),
    /// There is too little room on the disk for a run that writes.
    #[error(
        "nothing was run, because only {1} bytes are free where {0:?} lies, and a run has to leave some; make room, or a person can permit less with [limits] disk-reserve"
    )]
    DiskFull(std::path::PathBuf, u64),
    /// What the command does was to be shown before it is committed, and that takes an overlay.
    #[error("nothing was run, because its changes cannot be held back: {0}")]
    NoOverlay(String),
    /// It would write straight to the workspace, which the policy does not let it.
    #[error(
        "nothing was run, because its changes would go straight to the workspace, where nothing can be undone, and the policy forbids that: {0}; a person can permit it with [sandbox] live = {1:?}"
    )]
    Straight(String, &'static str),
    /// What was asked for is no host.
    #[error("{0:?} is no host that could be reached: {1}")]
    BadHost(String, &'static str),
    /// A host was asked for that the policy does not let commands reach.
    #[error("the policy does not let commands reach {0}; a person can permit it: [network] allow = [{0:?}]")]
    HostNotPermitted(String),
    /// A run that is not confined was asked for, and the policy does not permit such runs, or something else that was asked for takes a
    /// sandbox.
    #[error("nothing was run, because it would not be confined: {0}")]
    NotConfined(&'static str),
    /// There is no place for what the shell of a session tells.
    #[error(
        "the session cannot be continued, so nothing is run: {0}; make room in the directory for temporary files"
    )]
    Session(std::io::Error),
    /// There is no such run to be taken back, or what is kept cannot be used.
    #[error(transparent)]
    Kept(#[from] shward_sandbox::overlay::OverlayError),
    /// A run was taken back, and that could not be recorded.
    #[error("the run was taken back, but that could not be recorded: {error}")]
    UnrecordedUndo {
        /// What became of it.
        report: Box<crate::UndoReport>,
        /// Why there is no record.
        error: shward_audit::Error,
    },
    /// There is no thread for it.
    #[error("no thread could be started for the run: {0}")]
    NoThread(std::io::Error),
    /// The sandbox could not be built.
    #[error(transparent)]
    Sandbox(#[from] shward_sandbox::SandboxError),
}

/// How a person could do without it.
fn acceptable(guarantee: Guarantee) -> String {
    if Guarantee::DISPENSABLE.contains(&guarantee) {
        let name = guarantee.name();
        format!(
            "; a person can mend that, or accept the loss in their policy with [sandbox] accept-missing = [\"{name}\"] ({})",
            guarantee.loss()
        )
    } else {
        "; a person has to mend that: without it nothing can be confined".to_owned()
    }
}
