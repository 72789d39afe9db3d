//! What the C library does before `main`, without asking the processor what it is.
//!
//! A static program of glibc executes `cpuid` some forty times before `main`, to choose among copies of `memcpy` and to
//! learn the sizes of caches. On a virtual machine the hypervisor answers each of them, in about 3.5 µs: that is a third
//! of a process that lives half a millisecond, and more than the verdict. The program is linked with
//! `--wrap=__libc_start_main` (the alias `cargo static`), so [`before_main`] stands in its place: the same steps in the
//! same order, with the features of any x86-64.
//!
//! Left out besides is `GLIBC_TUNABLES` with what it is spelt as otherwise (`MALLOC_…`): an environment that an agent may
//! have written has no say in how the firewall lies in memory.
//!
//! Put off is what only threads, and libraries that are loaded while the program runs, need: searching for the latter,
//! `LD_LIBRARY_PATH`, the vDSO, constructors. A program that comes to either calls [`complete_start`](crate::complete_start) before.
//!
//! The steps have no public name, so this holds for the one version of the library that it was written from. Every other
//! version, and a link in which one of them is missing, starts as the library itself does.
//!
//! Source: glibc 2.36, `csu/libc-start.c` (the part for static programs), `sysdeps/x86/cacheinfo.h`.

use crate::put_off::{Main, put_off};
use std::arch::{asm, global_asm};
use std::ffi::{CStr, c_char, c_int, c_long, c_void};

type Initialiser = unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char);
type Function = unsafe extern "C" fn();

/// The version whose steps these are.
const VERSION: &CStr = c"2.36";

/// Copies of so many bytes and more go past the caches: three quarters of 1 MiB, the size that the library assumes until
/// it has asked. What it computes from that size is zero until then.
const PAST_CACHES: c_long = 0xc_0000;

// Weak: in a library that lacks one of them its place is zero, and that is no error of the linker. A table of addresses,
// because the compiler takes the address of a function for one that is never zero.
global_asm!(
    ".pushsection .data.rel.ro.shward_libc, \"aw\", @progbits",
    ".balign 8",
    ".globl shward_libc_steps",
    ".hidden shward_libc_steps",
    "shward_libc_steps:",
    ".irp step, _dl_aux_init, _dl_relocate_static_pie, __libc_setup_tls, __libc_early_init, __libc_init_first, _init, \
     __environ, __libc_stack_end, _dl_random, __x86_shared_non_temporal_threshold, __x86_rep_movsb_stop_threshold, \
     __rela_iplt_start, __rela_iplt_end, __init_array_start, __init_array_end",
    ".weak \\step",
    ".quad \\step",
    ".endr",
    ".popsection",
);

/// The table, where nothing of it is missing.
#[repr(C)]
struct Steps {
    auxiliary_vector: unsafe extern "C" fn(*const usize),
    relocate: Function,
    thread_storage: Function,
    early: unsafe extern "C" fn(bool),
    first: Initialiser,
    init: Function,
    environment: *mut *const *const c_char,
    stack_end: *mut *const c_void,
    random: *const *const usize,
    copies: *mut c_long,
    moves: *mut c_long,
    choices: *const Choice,
    choices_end: *const Choice,
    initialisers: *const Initialiser,
    initialisers_end: *const Initialiser,
}

/// `Elf64_Rela` with `R_X86_64_IRELATIVE`: where the address of a function is kept, and who chooses it.
#[repr(C)]
struct Choice {
    place: *mut usize,
    kind: u64,
    choose: extern "C" fn() -> usize,
}

unsafe extern "C" {
    #[link_name = "shward_libc_steps"]
    static STEPS: [usize; size_of::<Steps>() / size_of::<usize>()];

    /// The C library's own, by the name that `--wrap` leaves it.
    fn __real___libc_start_main(
        main: Main,
        count: c_int,
        words: *const *const c_char,
        init: *const c_void,
        fini: *const c_void,
        loader_fini: *const c_void,
        stack_end: *const c_void,
    ) -> c_int;
    fn gnu_get_libc_version() -> *const c_char;
}

/// Stands in the place of `__libc_start_main`.
///
/// # Safety
/// Called by the program's first instructions, with what these give `__libc_start_main`. Until the functions of the
/// library are chosen and the thread has its storage nothing here may call into it, not even to copy memory.
// Inline: made only in a program that calls it, since others are not linked with what it calls.
#[doc(hidden)]
#[inline]
pub unsafe fn before_main(
    main: Main,
    count: c_int,
    words: *const *const c_char,
    init: *const c_void,
    fini: *const c_void,
    loader_fini: *const c_void,
    stack_end: *const c_void,
) -> c_int {
    // SAFETY: a table that the linker has filled in.
    let steps = unsafe { &STEPS };
    // SAFETY: behind the `count` words and a null lie the variables, and behind them and a null the auxiliary vector.
    let (variables, auxiliary) = unsafe {
        let variables = words.add(usize::try_from(count).unwrap_or(0) + 1);
        let mut end = variables;
        while !(*end).is_null() {
            end = end.add(1);
        }
        (variables, end.add(1).cast::<usize>())
    };
    // SAFETY: the version is a constant string of the library; the vector was just found.
    let known =
        unsafe { !steps.contains(&0) && is(gnu_get_libc_version(), VERSION) && !is_secure(auxiliary) };
    if !known {
        // SAFETY: the arguments are those that were made for it.
        return unsafe { __real___libc_start_main(main, count, words, init, fini, loader_fini, stack_end) };
    }
    // SAFETY: of the same size, and all of its addresses are there.
    let steps = unsafe { &*steps.as_ptr().cast::<Steps>() };
    // SAFETY: the steps are the library's, in its order; nothing has run before them.
    unsafe {
        *steps.environment = variables;
        *steps.stack_end = stack_end;
        (steps.auxiliary_vector)(auxiliary);
        (steps.relocate)();
        choose(steps);
        (steps.thread_storage)();
        guard(*steps.random);
        (steps.early)(true);
        put_off(rest, words);
        libc::exit(main(count, words, variables))
    }
}

/// What [`before_main`] has put off, with the program's arguments.
///
/// # Safety
/// Called once, after [`before_main`] has gone its other steps, while the process has one thread.
#[inline]
unsafe extern "C" fn rest(words: *const *const c_char) {
    // SAFETY: `before_main` saw that no step is missing. Behind the words and a null lie the variables. The steps are the
    // library's, in its order.
    unsafe {
        let steps = &*(&raw const STEPS).cast::<Steps>();
        let mut count = 0;
        while !(*words.add(count)).is_null() {
            count += 1;
        }
        let variables = words.add(count + 1);
        let count = c_int::try_from(count).unwrap_or(c_int::MAX);
        (steps.first)(count, words, variables);
        (steps.init)();
        let mut initialiser = steps.initialisers;
        while initialiser < steps.initialisers_end {
            (*initialiser)(count, words, variables);
            initialiser = initialiser.add(1);
        }
    }
}

/// Whether the kernel has given the program rights that its caller does not have (`AT_SECURE`, getauxval(3)). Then the
/// library takes care of the environment, which is left to it.
///
/// # Safety
/// `entry` is the beginning of the auxiliary vector.
#[inline]
unsafe fn is_secure(mut entry: *const usize) -> bool {
    const END: usize = 0;
    const SECURE: usize = 23;
    loop {
        // SAFETY: pairs of a kind and a value, up to one of the kind `AT_NULL`.
        let (kind, value) = unsafe { (entry.read(), entry.add(1).read()) };
        match kind {
            END => return false,
            SECURE => return value != 0,
            // SAFETY: not the last pair.
            _ => entry = unsafe { entry.add(2) },
        }
    }
}

/// Has each function that there are several of for several processors chosen. What is known of this one is nothing, so
/// these are the ones that every x86-64 can run.
///
/// # Safety
/// As [`before_main`].
#[inline]
unsafe fn choose(steps: &Steps) {
    let mut choice = steps.choices;
    while choice < steps.choices_end {
        // SAFETY: the linker made the table and its ends; the places can be written until the program has started.
        unsafe {
            (*choice).place.write(((*choice).choose)());
            choice = choice.add(1);
        }
    }
    // SAFETY: two variables of the library, which has not used them yet.
    unsafe {
        steps.copies.write(PAST_CACHES);
        steps.moves.write(PAST_CACHES);
    }
}

/// Sets what the compiler's stack protector compares (with a zero byte, where strings end) and what saved pointers are
/// mixed with, at their places in the thread's storage.
///
/// # Safety
/// `random` points to the sixteen random bytes of the auxiliary vector; the thread has its storage.
#[inline]
unsafe fn guard(random: *const usize) {
    // SAFETY: as promised; the two places are the ABI's (`fs:0x28`) and the library's (`fs:0x30`).
    unsafe {
        asm!("mov fs:[0x28], {}", in(reg) *random & !0xff, options(nostack, preserves_flags));
        asm!("mov fs:[0x30], {}", in(reg) *random.add(1), options(nostack, preserves_flags));
    }
}

/// Whether two C strings are the same: without the library, which cannot be called yet.
#[inline]
fn is(mut string: *const c_char, other: &CStr) -> bool {
    other.to_bytes_with_nul().iter().all(|byte| {
        // SAFETY: it ends at the first byte that differs, at the latest at the end of `string`.
        unsafe {
            let same = string.cast::<u8>().read() == *byte;
            string = string.add(1);
            same
        }
    })
}
