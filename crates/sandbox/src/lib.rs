//! Confines one command on Linux.
//!
//! Describe what the command may reach ([`Confinement`]), turn that into an immutable list of primitive operations
//! ([`Plan`]), run it ([`run`]). A plan can be shown before anything happens, hashed into a log, and run more than once.
//!
//! ```
//! use shward_sandbox::{Confinement, Exit, Options, run};
//!
//! let plan = Confinement::new("/bin/sh", "/usr").arguments(["sh", "-c", "echo hello; exit 3"]).prepare()?;
//! match run(&plan, Options::default()) {
//!     Ok(done) => {
//!         assert_eq!(done.exit, Exit::Exited(3));
//!         assert_eq!(done.stdout.head, b"hello\n");
//!     }
//!     // Where the kernel gives no sandbox, nothing has run, and the error says what to change.
//!     Err(error) => println!("{error}"),
//! }
//! # Ok::<(), shward_sandbox::SandboxError>(())
//! ```
//!
//! # Layers
//!
//! 1. A mount view of its own: everything read-only, writable roots attached again, private directories, masks.
//! 2. Landlock: the same rules by another mechanism, plus devices, TCP, abstract sockets and signals.
//! 3. A seccomp filter: the parts of the kernel that an ordinary program does not need.
//! 4. Namespaces for pids, network, IPC, host name, cgroups; no capabilities; `no_new_privs`.
//! 5. Resource limits, and a process 1 with which the whole tree dies.
//!
//! 6. On request an exec gate: every program that starts is judged on what it really is, before its first instruction
//!    ([`Confinement::gated`], [`Judge`]), and a list of the only programs that may be executed
//!    ([`Confinement::allow_exec`]).
//!
//! A layer that the kernel cannot give is an error, never a weaker sandbox. It works for root and for ordinary users.
//!
//! # How the child is made
//!
//! `fork` copies the page tables of the caller, which takes milliseconds in a large process. So the child is made with
//! `CLONE_VM | CLONE_VFORK` directly into its namespaces: it borrows the caller's memory, carries out the plan with raw
//! system calls and no allocation, and is gone from that memory when it calls execve. The calling thread waits until then.
//!
//! Its namespaces can be made by another process meanwhile ([`Ahead`]), since that takes the kernel longest.
//!
//! The sandbox dies with the *thread* that started it (prctl(2), `PR_SET_PDEATHSIG`).

#[cfg(not(target_os = "linux"))]
compile_error!("this crate confines commands with Linux namespaces, Landlock and seccomp");

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("process 1 of the sandbox and the seccomp table are written for x86-64 and aarch64");

mod ahead;
#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
mod before_main;
mod begun;
mod bpf;
mod bubblewrap;
mod cancel;
mod capture;
mod cgroup;
mod child;
mod confinement;
mod deadline;
mod descriptor;
mod elsewhere;
mod entry;
mod error;
mod features;
mod filter;
mod gap;
mod gate;
mod guarantee;
mod helper;
mod init;
mod interrupt;
mod kept;
mod kernel;
mod landlock;
mod layout;
mod limits;
mod memory;
mod network;
mod operation;
pub mod overlay;
mod passing;
mod paths;
mod perform;
mod plan;
mod prepare;
mod probe;
mod pty;
mod put_off;
mod run;
pub mod script;
mod sockets;
mod space;
mod spawn;
mod stack;
mod sys;
mod variables;
mod watchdog;

pub use ahead::{Ahead, spread};
#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
pub use before_main::before_main;
pub use cancel::Cancel;
pub use capture::Captured;
pub use confinement::Confinement;
pub use deadline::{deadline, withdraw_deadline};
#[cfg(not(all(target_arch = "x86_64", target_env = "gnu")))]
pub use entry::before_main;
pub use entry::start;
pub use error::{SandboxError, Stage};
pub use features::{Features, Presence, features, guarantees, kernel_release, lacking, settings};
pub use gap::{ADVICE as CGROUP_ADVICE, Gap};
pub use gate::{Exec, Identity, Judge, Ruling, Withdrawn};
pub use guarantee::Guarantee;
pub use interrupt::{Interrupts, end_by};
pub use limits::Limits;
pub use memory::LargePages;
pub use network::{Network, PROXY_PORT};
pub use plan::Plan;
pub use probe::{Probe, probe};
pub use pty::Pty;
pub use put_off::{Main, complete_start, put_off};
pub use run::{Exit, OnListener, OnOutput, Options, Output, Rest, RunResult, Stdin, Stream, run};
pub use script::Script;
pub use space::{Reserve, Space, Used};
pub use variables::variables;
