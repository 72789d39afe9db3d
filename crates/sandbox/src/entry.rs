//! Starting a short-lived program quickly.
//!
//! Before `main`, Rust's runtime reads `/proc/self/maps` to find the main thread's stack guard and installs handlers that
//! explain a stack overflow. In a process that lives half a millisecond that is a fifth of its time. [`entry!`] keeps
//! what is needed for safety (descriptors 0 to 2 are open, `SIGPIPE` is ignored), has `SIGXFSZ` ignored, too, so that a record that
//! is too long for `ulimit -f` is an error like a full disk, and leaves the rest: a stack overflow
//! still meets the kernel's guard gap and kills the process, only without a message.
//!
//! [`entry!`]: crate::entry!

#[cfg(not(all(target_arch = "x86_64", target_env = "gnu")))]
use std::ffi::c_void;
use std::ffi::{CStr, OsString, c_char, c_int};
use std::io::Write as _;
use std::os::unix::ffi::OsStringExt;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Makes a function from arguments to an exit status the program's entry point.
///
/// To be used once, in a binary that says `#![no_main]`. The function gets the arguments with the program's name first.
///
/// ```
/// # #![no_main]
/// shward_sandbox::entry!(start);
///
/// fn start(arguments: Vec<std::ffi::OsString>) -> u8 {
///     u8::from(arguments.len() != 1)
/// }
/// ```
#[macro_export]
macro_rules! entry {
    ($main:path) => {
        // SAFETY: this is the one function of the program that the C runtime calls by this name.
        #[unsafe(no_mangle)]
        extern "C" fn main(
            count: ::std::ffi::c_int,
            words: *const *const ::std::ffi::c_char,
        ) -> ::std::ffi::c_int {
            // SAFETY: the C runtime passes the argument vector of the process, unchanged.
            unsafe { $crate::start(count, words, $main) }
        }

        // Called in the place of the C library's own where the linker is told `--wrap=__libc_start_main`.
        #[cfg(target_feature = "crt-static")]
        // SAFETY: a name that nothing else has, called by the program's first instructions alone.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn __wrap___libc_start_main(
            main: $crate::Main,
            count: ::std::ffi::c_int,
            words: *const *const ::std::ffi::c_char,
            init: *const ::std::ffi::c_void,
            fini: *const ::std::ffi::c_void,
            loader_fini: *const ::std::ffi::c_void,
            stack_end: *const ::std::ffi::c_void,
        ) -> ::std::ffi::c_int {
            // SAFETY: handed on as they came.
            unsafe { $crate::before_main(main, count, words, init, fini, loader_fini, stack_end) }
        }
    };
}

/// What [`entry!`](crate::entry!) calls: prepares the process, runs `main` and ends the process with its status.
///
/// # Safety
/// `words` points to `count` pointers to C strings that live as long as the process.
#[doc(hidden)]
pub unsafe fn start(count: c_int, words: *const *const c_char, main: fn(Vec<OsString>) -> u8) -> c_int {
    open_standard_descriptors();
    for signal in [libc::SIGPIPE, libc::SIGXFSZ] {
        // SAFETY: changes the disposition of one signal; no other thread exists.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let count = usize::try_from(count).unwrap_or(0);
    let arguments: Vec<OsString> = (0..count)
        .map(|index| {
            // SAFETY: the caller vouches for `count` pointers to strings.
            let word = unsafe { CStr::from_ptr(*words.add(index)) };
            OsString::from_vec(word.to_bytes().to_vec())
        })
        .collect();
    let stack: u8 = 0;
    ask_for_pages((&raw const stack).addr().saturating_sub(STACK), STACK);
    // The first allocation lies at the beginning of the heap.
    let heap = arguments.as_ptr().addr();
    ask_for_pages(heap, HEAP);
    MORE.store(heap + HEAP, Ordering::Relaxed);
    let status = main(arguments);
    // What standard output still buffers is written out; nothing else waits for the end, so the C library's own clearing
    // up, which touches half a dozen pages, is left out.
    let _ = std::io::stdout().flush();
    // A program that counts what it runs writes its counts down then (`cargo xtask profile`).
    #[cfg(shward_counts)]
    std::process::exit(i32::from(status));
    // SAFETY: ends the process.
    #[cfg(not(shward_counts))]
    unsafe {
        libc::_exit(c_int::from(status))
    }
}

/// Stands in the place of `__libc_start_main` where nothing can be spared.
///
/// # Safety
/// Called by the program's first instructions, with what these give `__libc_start_main`.
#[cfg(not(all(target_arch = "x86_64", target_env = "gnu")))]
#[doc(hidden)]
#[inline]
pub unsafe fn before_main(
    main: crate::Main,
    count: c_int,
    words: *const *const c_char,
    init: *const c_void,
    fini: *const c_void,
    loader_fini: *const c_void,
    stack_end: *const c_void,
) -> c_int {
    unsafe extern "C" {
        fn __real___libc_start_main(
            main: crate::Main,
            count: c_int,
            words: *const *const c_char,
            init: *const c_void,
            fini: *const c_void,
            loader_fini: *const c_void,
            stack_end: *const c_void,
        ) -> c_int;
    }
    // SAFETY: the arguments are those that were made for it.
    unsafe { __real___libc_start_main(main, count, words, init, fini, loader_fini, stack_end) }
}

/// Asks, once, for what a process touches of the heap that prepares a sandbox, if it was started by [`entry!`](crate::entry!).
pub(crate) fn ask_for_more() {
    let more = MORE.swap(0, Ordering::Relaxed);
    if more != 0 {
        ask_for_pages(more, HEAP_OF_LONGER_RUNS - HEAP);
    }
}

/// Where the rest of the heap begins.
static MORE: AtomicUsize = AtomicUsize::new(0);

/// What even the shortest run touches of stack and heap, in bytes.
const STACK: usize = 28 << 10;
const HEAP: usize = 32 << 10;

/// What a run touches of the heap. It is no larger before it grows for the first time.
const HEAP_OF_LONGER_RUNS: usize = 128 << 10;

/// Has the kernel give the pages of a range in one call, which costs half of what a fault for each costs. Where there is
/// nothing, or the kernel is older than Linux 5.14, nothing happens.
fn ask_for_pages(from: usize, length: usize) {
    const PAGE: usize = 4096;
    let start = from & !(PAGE - 1);
    // SAFETY: no content changes: pages that are there stay as they are, others are filled with zeros, as at a fault.
    unsafe { libc::madvise(ptr::without_provenance_mut(start), length, libc::MADV_POPULATE_WRITE) };
}

/// A program that is started with descriptor 0, 1 or 2 closed would get the next file that it opens under that number,
/// and write its messages into it. An answer that nobody gets must not look like one that was given, so a standard output
/// that was closed is one that cannot be written (full(4)).
fn open_standard_descriptors() {
    let entry = |fd| libc::pollfd { fd, events: 0, revents: 0 };
    let mut three = [entry(0), entry(1), entry(2)];
    // SAFETY: three valid entries; a timeout of zero returns at once.
    let found = unsafe { libc::poll(three.as_mut_ptr(), 3, 0) };
    for each in three {
        if found < 0 || each.revents & libc::POLLNVAL != 0 {
            // The lowest free descriptor is the one that is closed, because they are looked at in order.
            let device = if each.fd == 1 { c"/dev/full" } else { c"/dev/null" };
            // SAFETY: a constant C string; an open descriptor is made.
            let fd = unsafe { libc::open(device.as_ptr(), libc::O_RDWR) };
            if fd > 2 {
                // SAFETY: closes the descriptor just made, which was not needed.
                unsafe { libc::close(fd) };
            }
        }
    }
}
