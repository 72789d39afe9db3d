//! A run that is not confined: in order, limited, and gone when it is over.

use std::ffi::CStr;

use super::Builder;
use crate::confinement::Confinement;
use crate::error::SandboxError;
use crate::gap::Gap;
use crate::guarantee::Guarantee;
use crate::operation::Operation;

/// A pid namespace, with which everything ends, and a mount namespace for its `/proc`. Who is not root makes them in a user namespace;
/// root's powers would end at one.
pub(super) fn clone_flags() -> i32 {
    let user = if is_root() { 0 } else { libc::CLONE_NEWUSER };
    user | libc::CLONE_NEWPID | libc::CLONE_NEWNS
}

fn is_root() -> bool {
    // SAFETY: cannot fail, no preconditions.
    unsafe { libc::geteuid() == 0 }
}

impl Builder {
    /// Everything that an unconfined run gets.
    pub(super) fn open(
        &mut self,
        wanted: &Confinement,
        cwd: &CStr,
        grouped: bool,
        gaps: &mut Vec<Gap>,
    ) -> Result<(), SandboxError> {
        let asked = [
            (wanted.gated, "judges what it starts"),
            (wanted.terminal, "has a terminal of its own"),
            (!wanted.overlays.is_empty(), "writes to a layer"),
            (
                !(wanted.hidden.is_empty() && wanted.unreadable.is_empty() && wanted.emptied.is_empty()),
                "does not see everything",
            ),
        ];
        if let Some((_, what)) = asked.into_iter().find(|(asked, _)| *asked) {
            return Err(SandboxError::request(
                format!("a run that is not confined and {what}"),
                "ask for one of the two",
            ));
        }
        self.begin(grouped && !wanted.left_out.contains(&Guarantee::CgroupNamespace));
        self.operations.retain(|operation| match operation {
            Operation::BoundCapabilities => false,
            Operation::MapIds { .. } => !is_root(),
            _ => true,
        });
        if !wanted.left_out.contains(&Guarantee::FreshProc) {
            self.proc(wanted, gaps)?;
            self.operations.retain(|operation| *operation != Operation::SealProc);
        }
        self.push(Operation::ChangeDirectory { path: cwd.to_owned() });
        self.limits(wanted);
        self.push(Operation::NoNewPrivileges);
        Ok(())
    }
}
