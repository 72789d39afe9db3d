//! What a start leaves for later.

use std::ffi::{c_char, c_int};
use std::mem::transmute;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A program's `main`, as the C library calls it.
#[doc(hidden)]
pub type Main = unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char) -> c_int;

/// What the start has put off, and the argument vector for it.
static PUT_OFF: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());
static WORDS: AtomicPtr<*const c_char> = AtomicPtr::new(ptr::null_mut());

/// Keeps for [`complete_start`] what to call with the argument vector.
///
/// # Safety
/// `rest` can be called once, with `words`, at any later time at which the process has one thread.
#[doc(hidden)]
pub unsafe fn put_off(rest: unsafe extern "C" fn(*const *const c_char), words: *const *const c_char) {
    WORDS.store(words.cast_mut(), Ordering::Relaxed);
    PUT_OFF.store(rest as *mut (), Ordering::Relaxed);
}

/// Does what a program that starts by [`entry!`](crate::entry!) may have put off because short runs do not need it. To be
/// called while the process has one thread, before it starts another one, looks up a name of the network or of an
/// account, or reads [`std::env::args`]. Where nothing was put off, and a second time, nothing happens.
pub fn complete_start() {
    let rest = PUT_OFF.swap(ptr::null_mut(), Ordering::Relaxed);
    if !rest.is_null() {
        // SAFETY: only `put_off` writes here, what it was given.
        let rest = unsafe { transmute::<*mut (), unsafe extern "C" fn(*const *const c_char)>(rest) };
        // SAFETY: whoever put it off promised that it can be called, and `swap` gives it to one caller.
        unsafe { rest(WORDS.load(Ordering::Relaxed)) };
    }
}
