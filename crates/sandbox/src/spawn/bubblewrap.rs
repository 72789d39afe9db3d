//! Starts bubblewrap and waits for what process 1 says.

use std::ffi::{CStr, c_char};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use crate::bubblewrap::{Outer, number};
use crate::cgroup::Group;
use crate::child::Progress;
use crate::error::{SandboxError, Stage};
use crate::operation::Operation;
use crate::passing::{self, Told};
use crate::plan::Plan;
use crate::spawn::{Sandbox, Sockets};
use crate::stack::{Stack, make_child};
use crate::{descriptor, init, sys};

/// How long bubblewrap may take, in milliseconds. It takes a few; this is for a machine on which nothing moves.
const PATIENCE: i32 = 30_000;

/// Where the program of process 1 lies, seen inside. It is the name of process 1, too, which begins with its table because of that.
const IMAGE: &CStr = c"/proc/self/fd/11";

const _: () = assert!(number::IMAGE == 11 && number::ARGUMENTS == 10);

/// What the child needs that becomes bubblewrap; the supervisor waits meanwhile.
struct Context<'a> {
    operations: &'a [Operation],
    /// Which descriptor goes where. None of the former is among the latter.
    places: &'a [(RawFd, RawFd)],
    program: &'a CStr,
    arguments: &'a [*const c_char],
    progress: &'a Progress,
}

/// Starts the plan with these descriptors as standard input, output, error and status pipe.
pub(crate) fn start(
    plan: &Plan,
    outer: &Outer,
    descriptors: [RawFd; 4],
    sockets: Sockets,
) -> Result<Sandbox, SandboxError> {
    let table = plan.table.as_deref().unwrap_or_default();
    let image = init::image_with(table)?;
    let arguments = arguments(outer).map_err(failed)?;
    let nothing = File::open("/dev/null").map_err(failed)?;
    let (says, says_end) = descriptor::pipe()?;
    let (ours, theirs) = passing::sockets().map_err(failed)?;

    let [stdin, stdout, stderr, status] = descriptors;
    let [first, second, third] = number::STANDARD;
    let given = [
        Some((nothing.as_raw_fd(), 0)),
        Some((nothing.as_raw_fd(), 1)),
        Some((says_end.as_raw_fd(), 2)),
        Some((status, descriptor::STATUS_FD)),
        Some((stdin, first)),
        Some((stdout, second)),
        Some((stderr, third)),
        Some((theirs.as_raw_fd(), number::REPORT)),
        sockets.gate.map(|socket| (socket, number::GATE)),
        sockets.proxy.map(|socket| (socket, number::PROXY)),
        Some((arguments.as_raw_fd(), number::ARGUMENTS)),
        Some((image.as_raw_fd(), number::IMAGE)),
    ];
    let above = number::EMPTY.saturating_add(i32::try_from(outer.empty).unwrap_or(i32::MAX));
    // A copy of each that lies above all places, so that the order does not matter.
    let mut copies: Vec<OwnedFd> = Vec::new();
    let mut copy = |fd: RawFd| -> Result<RawFd, SandboxError> {
        let copied = copy_above(fd, above)?;
        copies.push(copied);
        Ok(copies.last().map_or(-1, AsRawFd::as_raw_fd))
    };
    let mut places = Vec::with_capacity(given.len() + outer.empty);
    for (fd, place) in given.into_iter().flatten() {
        places.push((copy(fd)?, place));
    }
    let empty = copy(nothing.as_raw_fd())?;
    places.extend((number::EMPTY..above).map(|place| (empty, place)));

    // Process 1 takes its words from its table; how many it has says whether there is a command at all.
    let bubblewrap = [c"bwrap", c"--args", c"10", c"--", IMAGE].into_iter();
    let words = plan.arguments.strings.iter().skip(1).map(|_| c"").take(2);
    let arguments: Vec<*const c_char> =
        bubblewrap.chain(words).map(CStr::as_ptr).chain([ptr::null()]).collect();
    let progress = Progress::default();
    let mut context = Context {
        operations: &plan.operations,
        places: &places,
        program: &outer.program,
        arguments: &arguments,
        progress: &progress,
    };
    let stack = Stack::for_child()?;
    let group = plan.group.as_ref().map(Group::new).transpose()?;
    let into = group.as_ref().map_or(-1, Group::as_raw_fd);
    // SAFETY: `enter` expects the context, which nobody else uses meanwhile.
    let pidfd = unsafe { make_child(0, enter, (&raw mut context).cast(), &stack, into) }?;
    let sandbox = Sandbox::of_bubblewrap(pidfd, group);
    drop(copies);
    drop((theirs, says_end)); // or the wait would never end
    if let Some((index, errno)) = progress.failure() {
        return Err(match plan.operations.get(index) {
            Some(operation) => SandboxError::kernel(operation.stage(), errno, operation.to_string()),
            None => SandboxError::kernel(Stage::Bubblewrap, errno, "starting bubblewrap"),
        });
    }
    answered(sandbox, outer, ours, says)
}

/// Waits until the sandbox is made, and lets process 1 go on.
fn answered(mut sandbox: Sandbox, outer: &Outer, ours: OwnedFd, says: File) -> Result<Sandbox, SandboxError> {
    match passing::told(&ours, PATIENCE).map_err(failed)? {
        Told::Descriptor(first) => {
            // From here on process 1 dies with bubblewrap, and bubblewrap with this thread, if it still lives.
            if sandbox.has_ended() {
                return Err(SandboxError::kernel(Stage::Bubblewrap, libc::ESRCH, "bubblewrap was killed"));
            }
            sandbox.is_whole(first);
            let mut socket = File::from(ours);
            socket.write_all(&[1]).map_err(failed)?;
            Ok(sandbox)
        }
        Told::Failed(step, errno) => {
            let step = usize::try_from(step).ok().and_then(|step| outer.steps.get(step));
            let (stage, what) =
                step.map_or((Stage::Bubblewrap, String::new()), |step| (step.stage(), step.to_string()));
            Err(SandboxError::kernel(stage, errno, what))
        }
        Told::Nothing => {
            drop(sandbox); // nothing more is written then
            Err(SandboxError {
                stage: Stage::Bubblewrap,
                errno: 0,
                subject: format!("bubblewrap has not made the sandbox: {}", message(says)),
                advice: String::new(),
            })
        }
    }
}

fn failed(error: io::Error) -> SandboxError {
    let errno = error.raw_os_error().unwrap_or(libc::EIO);
    SandboxError::kernel(Stage::Resources, errno, "starting bubblewrap")
}

/// bubblewrap's arguments as it reads them from a descriptor.
fn arguments(outer: &Outer) -> io::Result<File> {
    let mut file = descriptor::memory_file(c"bubblewrap-arguments", libc::MFD_NOEXEC_SEAL)?;
    let text: Vec<u8> = outer.arguments.iter().flat_map(|text| text.to_bytes_with_nul()).copied().collect();
    file.write_all(&text)?;
    descriptor::seal(&file)?;
    io::Seek::rewind(&mut file)?;
    Ok(file)
}

fn copy_above(fd: RawFd, above: i32) -> Result<OwnedFd, SandboxError> {
    // SAFETY: takes numbers.
    let copied = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, above) };
    if copied < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL) {
        // Above the limit. Each hidden file takes a descriptor.
        return Err(SandboxError::kernel(
            Stage::Resources,
            libc::EMFILE,
            "a descriptor for each hidden file, with which bubblewrap makes it empty",
        ));
    }
    if copied < 0 {
        return Err(SandboxError::last(Stage::Resources, "copying a descriptor for bubblewrap"));
    }
    // SAFETY: the descriptor was just made and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(copied) })
}

/// What bubblewrap has said, as far as it fits.
fn message(mut says: File) -> String {
    let mut text = [0; 1024];
    let count = says.read(&mut text).unwrap_or(0);
    let said = String::from_utf8_lossy(text.get(..count).unwrap_or_default()).trim().to_owned();
    if said.is_empty() { "it says nothing".to_owned() } else { said }
}

/// The child. No allocation, no locks, no panics: it shares the supervisor's memory.
extern "C" fn enter(context: *mut libc::c_void) -> i32 {
    // SAFETY: `start` passes its context and is suspended (CLONE_VFORK) while the child uses it.
    let context = unsafe { &*context.cast::<Context<'_>>() };
    let mut index: u32 = 0;
    let fail = |index, errno| {
        context.progress.fail(index, errno);
        sys::exit_now(1);
        1
    };
    for operation in context.operations {
        let done = match operation {
            Operation::ResetSignals => sys::reset_signals(),
            Operation::NewSession => sys::new_session(),
            Operation::PlaceDescriptors => place(context.places),
            _ => Err(libc::EINVAL),
        };
        if let Err(errno) = done {
            return fail(index, errno);
        }
        index = index.saturating_add(1);
    }
    let environment = [ptr::null()];
    // SAFETY: both arrays are null-terminated and outlive the call.
    let errno = unsafe {
        sys::execute(libc::AT_FDCWD, context.program, context.arguments.as_ptr(), environment.as_ptr())
    };
    fail(index, errno)
}

/// Everything closes at execve but what is put to its place.
fn place(places: &[(RawFd, RawFd)]) -> Result<(), sys::Errno> {
    sys::close_on_exec_from(0)?;
    for (from, to) in places {
        sys::place_descriptor(*from, *to)?;
    }
    Ok(())
}
