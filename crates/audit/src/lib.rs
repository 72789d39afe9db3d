//! A log of JSON lines in which each line holds the hash of the line before, so that tampering shows.
//!
//! Every check and every run is recorded before anything runs. [`Log::append`] returns a [`Receipt`] when the
//! record is in the file, and an [`Error`] otherwise; after an error the caller runs nothing.
//!
//! ```
//! use shward_audit::{Decided, Decision, Digest, Event, Input, Log, Record, Verification};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("audit.jsonl");
//! let log = Log::open(&path)?;
//! let receipt = log.append(&Record {
//!     session: None,
//!     call_id: None,
//!     event: Event::Check(Decided {
//!         input: Input::Command("ls -l".into()),
//!         cwd: Some("/workspace".into()),
//!         host: None,
//!         profile: "workspace".into(),
//!         policy: Digest::of(b"the policy's text"),
//!         contained: false,
//!         decision: Decision::Allow,
//!         tier: 1,
//!         rules: vec![],
//!         grant: None,
//!         missing: Vec::new(),
//!         unconfined: false,
//!         no_process: false,
//!         review: None,
//!     }),
//! })?;
//!
//! let report = Verification::new().log(&path)?;
//! assert!(report.broken.is_none());
//! assert_eq!(report.head, Some(receipt));
//! # Ok(())
//! # }
//! ```
//!
//! # The chain
//!
//! A line is one [`Entry`]. Its `prev` is the SHA-256 of the bytes of the line before, without the newline, and
//! its `seq` is one more than that line's. The first has `seq` 0 and 64 zeros. The chain runs on across rotated
//! files. `sha256sum` and `head` are enough to check it by hand.
//!
//! A writer that is killed can leave a line that is not whole. The next writer leaves those bytes alone, closes
//! them with a newline and writes a `recovered` record: its `prev` is the hash of the damaged bytes, its `after`
//! the hash of the last sound line, and its `seq` follows that line's. Then comes the record it was called for.
//! All of this is one `write`, so being killed again adds to the damage but loses nothing that was sound.
//!
//! # What the chain cannot show
//!
//! It has no secret: whoever may write the file can write a whole new chain, or cut off its end. Keep a
//! [`Receipt`] where the writer of the log cannot reach it, and hand it to [`Verification::anchor`]: everything up to it
//! is then fixed.

mod digest;
mod error;
mod files;
mod log;
mod reader;
mod record;
mod tail;
mod text;
mod time;
mod verify;

pub use digest::{Digest, NotADigest, StreamDigest, StreamHasher};
pub use error::Error;
pub use files::rotated_files;
pub use log::{Log, Settings};
pub use reader::{Entries, ReadError};
pub use record::{
    Changed, Connection, Damage, Decided, Decision, Ended, Entry, Event, Gated, Input, PersonAnswer, Record,
    Reviewed, Stopped, Undo, Undone,
};
pub use tail::Receipt;
pub use text::Text;
pub use verify::{Break, Fault, Recovery, Report, Verification, VerifyError};

/// The most bytes that one line may have, without its newline: 16 MiB.
pub const MAX_LINE: usize = 16 << 20;
