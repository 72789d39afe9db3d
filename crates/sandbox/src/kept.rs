//! Network namespaces that are used again.
//!
//! A network namespace takes the kernel longer to make than everything else of a sandbox, and about as long again to take apart. One
//! that a run without a network has left is as good as new: with the run's last process its last socket has gone, and nobody in
//! the run had the power to change anything of it. So it is kept, with the user namespace that it belongs to, for the next run
//! of this process. No two runs have it at the same time, and before each a helper looks whether there is a socket in it all the same
//! ([`is_empty`]): a descriptor can be handed to a process outside.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use crate::sys;

/// How many are kept: as many as there are runs at the same time, if there are no more than a few.
const MOST: usize = 4;

static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// A network namespace that is nobody's, and the user namespace that owns it.
#[derive(Debug)]
pub(crate) struct Kept {
    user: OwnedFd,
    network: OwnedFd,
    /// Its user and group are mapped (`uid_map` can be written once).
    pub(crate) mapped: bool,
    /// Whose it is: the process, its user and its group.
    of: (u32, u32, u32),
}

impl Kept {
    /// What a helper has opened.
    ///
    /// # Safety
    /// Both descriptors must be open, and belong to nobody else; negative ones are none.
    pub(crate) unsafe fn new([user, network]: [RawFd; 2]) -> Option<Self> {
        // SAFETY: the caller vouches for it.
        let own = |fd: RawFd| (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) });
        let (user, network) = (own(user), own(network));
        Some(Self { user: user?, network: network?, mapped: false, of: ourselves() })
    }

    /// One that was kept, if there is one for who we are now.
    pub(crate) fn take() -> Option<Self> {
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let ourselves = ourselves();
        // What a fork(2) has copied is the parent's, too.
        kept.retain(|kept| kept.of == ourselves);
        kept.pop()
    }

    /// Keeps it for the next run, in which nothing of the last one may be left.
    pub(crate) fn keep(self) {
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MOST && self.of == ourselves() {
            kept.push(self);
        }
    }

    /// The descriptors of both namespaces.
    pub(crate) fn as_raw_fds(&self) -> [RawFd; 2] {
        [self.user.as_raw_fd(), self.network.as_raw_fd()]
    }
}

fn ourselves() -> (u32, u32, u32) {
    // SAFETY: these two calls have no preconditions and cannot fail.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    (std::process::id(), user, group)
}

/// Descriptors of the calling process' namespaces; negative if there is no such thing.
pub(crate) fn opened() -> [RawFd; 2] {
    [c"/proc/self/ns/user", c"/proc/self/ns/net"]
        .map(|path| sys::open(path, libc::O_RDONLY | libc::O_CLOEXEC).unwrap_or(-1))
}

/// Makes the calling process, which must share nothing but memory and descriptors with any other, one of both namespaces.
///
/// `own` is its directory in proc.
pub(crate) fn enter([user, network]: [RawFd; 2], own: RawFd) -> bool {
    sys::enter_namespace(user, libc::CLONE_NEWUSER).is_ok()
        && sys::enter_namespace(network, libc::CLONE_NEWNET).is_ok()
        && is_empty(own)
}

/// Whether there is no socket in the network namespace of the calling process. A run without a network can make local ones only; their
/// list then is its heading.
fn is_empty(own: RawFd) -> bool {
    let Ok(list) = sys::open_at(own, c"net/unix", libc::O_RDONLY | libc::O_CLOEXEC) else { return false };
    let mut text = [0; 256];
    let read = sys::read(list, &mut text);
    sys::close(list);
    read.is_ok_and(|length| text.iter().take(length).filter(|byte| **byte == b'\n').count() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ahead;
    use crate::perform::own_directory;
    use std::io;

    /// What a process of its own says, which may call nothing but the kernel.
    fn in_child(work: impl FnOnce() -> bool) -> io::Result<libc::pid_t> {
        // SAFETY: the child makes system calls and ends.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                sys::exit_now(i32::from(!work()));
                Err(io::ErrorKind::Other.into())
            }
            child => Ok(child),
        }
    }

    fn said(child: libc::pid_t) -> bool {
        let mut status = -1;
        // SAFETY: waits for our own child.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        status == 0
    }

    #[test]
    fn a_namespace_with_a_socket_in_it_is_not_entered() {
        drop(Ahead::start());
        let Some(kept) = Kept::take() else {
            println!("skipped: no namespaces here");
            return;
        };
        let namespaces = kept.as_raw_fds();
        let entered = || own_directory().is_ok_and(|own| enter(namespaces, own));
        let enters = || said(in_child(entered).unwrap());
        assert!(enters() && enters());
        let (mut ours, mut theirs) = ([0; 2], [0; 2]);
        // SAFETY: two descriptors each are written.
        unsafe { assert!(libc::pipe(ours.as_mut_ptr()) == 0 && libc::pipe(theirs.as_mut_ptr()) == 0) };
        let holder = in_child(|| {
            sys::close(theirs[1]); // ends with us
            // SAFETY: takes numbers.
            let made = entered() && unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_DGRAM, 0) } >= 0;
            made && sys::write(ours[1], b"x").is_ok() && sys::read(theirs[0], &mut [0]) == Ok(0)
        });
        sys::close(ours[1]);
        assert_eq!(sys::read(ours[0], &mut [0]), Ok(1));
        assert!(!enters(), "somebody else has a socket there");
        sys::close(theirs[1]);
        assert!(said(holder.unwrap()));
        assert!(enters(), "it has gone");
        sys::close(ours[0]);
        sys::close(theirs[0]);
    }
}
