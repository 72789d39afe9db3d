//! Operations that are done before there is a plan.
//!
//! Every plan begins much the same. The helper that makes the namespaces ahead ([`Ahead`](crate::Ahead)) has time until the plan
//! is there, so it carries out what plans usually want and what depends on nothing else of them. The child then looks for each of
//! its operations whether just that has been done. What the plan wants otherwise the child does, so the plan stays the truth.

use std::ffi::CString;
use std::os::fd::RawFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use crate::limits::usual_private_bytes;
use crate::operation::Operation;
use crate::overlay::Layer;
use crate::perform::perform_ahead;
use crate::prepare::{DEVICES, map_ids, scratch_options, take_device, usual_scratch};
use crate::sys;

/// What became of an operation from which no descriptor came: nothing yet, or it is done.
const NOT_DONE: i32 = -1;
const DONE: i32 = 0;

/// An operation that may have been done.
#[derive(Debug)]
struct Early {
    operation: Operation,
    /// Or the descriptor that came of it, above all that a plan gives a place.
    result: AtomicI32,
    /// The child has it.
    used: AtomicBool,
}

impl Early {
    fn new(operation: Operation) -> Self {
        Self { operation, result: AtomicI32::new(NOT_DONE), used: AtomicBool::new(false) }
    }

    fn perform(&self, own: RawFd, scratch: RawFd) {
        let result = perform_ahead(&self.operation, own, scratch).map_or(NOT_DONE, |fd| fd.unwrap_or(DONE));
        self.result.store(result, Ordering::Release);
    }

    fn is_done(&self) -> bool {
        self.result.load(Ordering::Acquire) != NOT_DONE
    }

    fn close(&self) {
        let fd = self.result.load(Ordering::Acquire);
        if fd > DONE {
            self.result.store(NOT_DONE, Ordering::Release);
            sys::close(fd);
        }
    }
}

/// What is done ahead, by the helper ([`Begun::perform`], [`Begun::mount`]), and used by the child ([`Begun::take`]): these neither
/// allocate nor lock nor panic.
#[derive(Debug)]
pub(crate) struct Begun {
    usual: Vec<Early>,
    /// The overlay of the run, once somebody has said which.
    overlay: OnceLock<(Early, Layer)>,
}

impl Begun {
    /// What nearly every plan wants, where user and group are mapped or not.
    pub(crate) fn usual(mapped: bool) -> Self {
        let scratch = Operation::MountScratch {
            path: CString::default(),
            options: scratch_options(usual_private_bytes()),
            slot: 0,
        };
        let devices = DEVICES.iter().map(|path| take_device(path, 0));
        let first = [Operation::IsolateMounts, Operation::ResetSignals, Operation::BoundCapabilities];
        let map = (!mapped).then(map_ids);
        let last = usual_scratch().chain([Operation::MountTerminals]);
        let usual = first.into_iter().chain(map).chain(devices).chain([scratch]).chain(last);
        let usual = usual.map(Early::new).collect();
        Self { usual, overlay: OnceLock::new() }
    }

    /// Says which overlay [`Begun::mount`] is to mount: once, and none that devices lie in, which are taken before.
    pub(crate) fn wants(&self, overlay: Operation, layer: Layer) -> bool {
        let Operation::MountOverlay { path, .. } = &overlay else { return false };
        let apart = DEVICES.iter().all(|device| !device.to_bytes().starts_with(path.to_bytes()));
        apart && self.overlay.set((Early::new(overlay), layer)).is_ok()
    }

    /// Whether what cannot be left unused, the overlay, is among these.
    pub(crate) fn is_wanted(&self, operations: &[Operation]) -> bool {
        self.overlay.get().is_none_or(|(overlay, _)| operations.contains(&overlay.operation))
    }

    /// Nothing is mounted before mounts are cut off from the host's. `own` is the helper's directory in the host's proc.
    pub(crate) fn perform(&self, own: RawFd) {
        let Some((isolate, others)) = self.usual.split_first() else { return };
        isolate.perform(own, -1);
        if isolate.is_done() {
            // Modes are meant as they are.
            let umask = sys::set_umask(0);
            others.iter().for_each(|early| early.perform(own, self.scratch().unwrap_or(-1)));
            sys::set_umask(umask);
        }
    }

    /// The scratch file system, once it was made.
    fn scratch(&self) -> Option<RawFd> {
        Some(self.mounted_scratch()?.result.load(Ordering::Acquire)).filter(|fd| *fd > DONE)
    }

    fn mounted_scratch(&self) -> Option<&Early> {
        self.usual.iter().find(|early| matches!(early.operation, Operation::MountScratch { .. }))
    }

    /// The overlay, if it is known and not mounted yet.
    pub(crate) fn mount(&self) {
        let is_isolated = self.usual.first().is_some_and(Early::is_done);
        if let Some((overlay, _)) =
            self.overlay.get().filter(|(overlay, _)| is_isolated && !overlay.is_done())
        {
            overlay.perform(-1, -1);
        }
    }

    /// Whether user and group are mapped.
    pub(crate) fn has_mapped(&self) -> bool {
        let mut all = self.usual.iter();
        all.any(|early| matches!(early.operation, Operation::MapIds { .. }) && early.is_done())
    }

    /// Whether the work of an operation has been done, with the descriptor that came of it. It is done once.
    pub(crate) fn take(&self, wanted: &Operation) -> Option<Option<RawFd>> {
        // Most operations of a plan are none of these, and need not be compared with each.
        if !wanted.may_be_early() {
            return None;
        }
        // What is in the scratch file system is of use to who has that.
        if wanted.is_in_scratch() && !self.mounted_scratch()?.used.load(Ordering::Acquire) {
            return None;
        }
        let all = self.usual.iter().chain(self.overlay.get().map(|(overlay, _)| overlay));
        let mut fitting = all.filter(|early| early.is_done() && early.operation.is_same_work(wanted));
        let early = fitting.find(|early| !early.used.swap(true, Ordering::AcqRel))?;
        let fd = early.result.load(Ordering::Acquire);
        Some((fd > DONE).then_some(fd))
    }

    /// Closes what is open, after the helper has ended. The child has copies of the descriptors.
    pub(crate) fn close(&self) {
        self.usual.iter().for_each(Early::close);
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.close();
        // Nobody can mount it once more with what overlayfs has left there.
        if let Some((overlay, layer)) = self.overlay.get()
            && overlay.is_done()
            && !overlay.used.load(Ordering::Acquire)
        {
            layer.renew();
        }
    }
}
