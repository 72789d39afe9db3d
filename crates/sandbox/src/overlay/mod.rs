//! An overlay on the directory that a command works in: its changes go to a layer of their own, are looked at when it is over,
//! and only then become part of the directory. overlayfs (kernel documentation, `filesystems/overlayfs.rst`) does the first part.
//!
//! ```text
//! Store ── begin ──► Run ── Confinement::overlaid ──► the command writes into Run's layer
//!                     │
//!                     ├─ turn              nobody else commits from here on
//!                     ├─ changes(policy)   what was created, changed, deleted; what the policy refuses
//!                     ├─ commit(changes)   moves what is accepted into the directory, keeps what was there before
//!                     └─ drop              or nothing of it ever happened
//! Store ── kept / undo ──► takes a committed run back
//! ```
//!
//! A mount can only protect what exists, and not from a renamed parent. A policy that looks at the result protects names whether
//! they existed or not, at any depth.
//!
//! # What holds whatever happens
//!
//! A commit is a list of steps, each one system call, which are written to a journal and synchronised before the first is carried
//! out. Whether a step was carried out shows on the store's side alone, which no command can reach. So a commit that was cut off at
//! any moment is finished by [`Store::recover`], and what had no journal yet never happened.
//!
//! # What it costs
//!
//! Everything is linear in what the command changed, and in what was [made movable](Run::make_movable) for it, never in what the
//! directory holds: a new or replaced directory is moved in one step, a changed file is exchanged with the old one, which is kept in
//! its place.
//!
//! # What it does not do
//!
//! A changed file is another file (inode) afterwards: who has the old one open keeps the old content, and further hard links of it
//! keep it too. A directory that was there before can only be renamed where it was [made movable](Run::make_movable); else that fails
//! with `EXDEV`, and programs copy instead. fsync(2) inside the overlay has no effect (`volatile`), because unmounting would otherwise
//! synchronise the whole file system after every command; after a power failure a committed file may be as incomplete as any file that
//! was not synchronised.

mod ajar;
mod changes;
mod commit;
mod copied;
mod error;
mod given_back;
mod journal;
mod layer;
mod movable;
mod moves;
mod parts;
mod place;
mod remove;
mod run;
mod seal;
mod spent;
mod step;
mod store;
mod tree;
mod turn;
mod undo;
mod upper;

pub use changes::{Accept, Change, ChangeKind, Changes, CommitPolicy, Content, Meaning, Refused, Sight};
pub use commit::{Committed, Failed};
pub use error::OverlayError;
pub use layer::Layer;
pub use movable::Room;
pub use place::{beside, stores};
pub use run::Run;
pub use store::{Keep, Kept, Store};
pub use tree::Kind;
pub use turn::Turn;
pub use undo::{Skipped, Undone};
