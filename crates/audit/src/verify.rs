//! Verifying: the whole chain is walked in constant memory, and the first place where it breaks is told.

use crate::reader::{Line, Lines, ReadError};
use crate::record::{Damage, Link};
use crate::{Digest, Receipt, StreamHasher};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Recoveries that are told one by one; the rest is counted.
const RECOVERIES_TOLD: usize = 16;

/// What to demand of a log.
#[derive(Debug, Clone, Default)]
pub struct Verification {
    anchor: Option<Receipt>,
    partial: bool,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Report {
    /// Sound records, up to the end or to the break.
    pub records: u64,
    /// The last of them. Kept elsewhere, it anchors the log: see [`Verification::anchor`].
    pub head: Option<Receipt>,
    /// How often a writer found damage and recorded it.
    pub recoveries: u64,
    /// Where: the first 16 of them.
    pub recovered: Vec<Recovery>,
    /// The first place where the chain does not hold.
    pub broken: Option<Break>,
}

/// A damaged stretch that a `recovered` record accounts for: a writer was killed, the disk was full, or the machine
/// lost power.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recovery {
    /// The file.
    pub path: PathBuf,
    /// Line of the `recovered` record, from 1. The damage is right before it.
    pub line: u64,
    /// Length of the damage.
    pub bytes: u64,
}

/// A place where the chain does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{}, line {line}: {fault}", path.display())]
pub struct Break {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: u64,
    /// What is wrong there.
    pub fault: Fault,
}

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[non_exhaustive]
pub enum Fault {
    /// The line is not a record, and no later record accounts for it.
    #[error("this is not a record, and no record accounts for the damage")]
    NotARecord,
    /// The line does not hold the hash of the line before it.
    #[error("the hash of the line before does not fit: this line or the one before was changed")]
    Hash,
    /// The line follows the one before it, but its number does not.
    #[error("record {found} stands where {expected} should: the number was changed")]
    Number {
        /// The number that would follow.
        expected: u64,
        /// The number in the line.
        found: u64,
    },
    /// Records are gone.
    #[error("records {expected} to {} are missing", found.saturating_sub(1))]
    Missing {
        /// The first that is gone.
        expected: u64,
        /// The record after the gap.
        found: u64,
    },
    /// Lines were moved or repeated.
    #[error("record {found} stands where {expected} should: lines were moved or repeated")]
    Reordered {
        /// The number that would follow.
        expected: u64,
        /// The number in the line.
        found: u64,
    },
    /// The last line is not whole.
    #[error("the last line is not whole: a writer was killed here, or the end was cut off")]
    Torn,
    /// The log ends before the anchor.
    #[error("the log ends before record {anchor}, to which it is anchored: its end was cut off")]
    Cut {
        /// Number of the anchor.
        anchor: u64,
    },
    /// The record at the anchor is another one.
    #[error("record {anchor} is not the one that the log is anchored to: it, or one before it, was replaced")]
    Anchor {
        /// Number of the anchor.
        anchor: u64,
    },
}

/// The log could not be read to its end, so nothing is known about it.
pub type VerifyError = ReadError;

impl Verification {
    /// Demands a whole chain, from record 0.
    #[must_use]
    pub fn new() -> Verification {
        Verification::default()
    }

    /// Also demands that the record with the receipt's number has the receipt's hash.
    #[must_use]
    pub fn anchor(mut self, receipt: Receipt) -> Verification {
        self.anchor = Some(receipt);
        self
    }

    /// The chain may begin anywhere: older files were archived. An anchor may then be the last archived record.
    #[must_use]
    pub fn partial(mut self, partial: bool) -> Verification {
        self.partial = partial;
        self
    }

    /// Verifies the log at `path` together with its rotated files. Others may append meanwhile.
    ///
    /// # Errors
    ///
    /// A file cannot be read. A broken chain is not an error but [`Report::broken`].
    pub fn log(&self, path: &Path) -> Result<Report, VerifyError> {
        self.walk(Lines::of_log(path)?, path)
    }

    /// Verifies these files as one chain, in this order.
    ///
    /// # Errors
    ///
    /// A file cannot be read. A broken chain is not an error but [`Report::broken`].
    pub fn files(&self, paths: &[PathBuf]) -> Result<Report, VerifyError> {
        let last = paths.last().cloned().unwrap_or_default();
        self.walk(Lines::of_files(paths), &last)
    }

    fn walk(&self, mut lines: Lines, last_path: &Path) -> Result<Report, VerifyError> {
        let mut walk = Walk { demand: self, report: Report::default(), stretch: None };
        let mut last = (last_path.to_owned(), 0);
        while let Some(line) = lines.next()? {
            if last.0 != line.path {
                last.0 = line.path.to_owned();
            }
            last.1 = line.number;
            if let Err(broken) = walk.line(&line) {
                walk.report.broken = Some(reordered_or_missing(broken, lines)?);
                return Ok(walk.report);
            }
        }
        walk.report.broken = walk.end(last.0, last.1).err();
        Ok(walk.report)
    }
}

/// Where the walk stands.
struct Walk<'a> {
    demand: &'a Verification,
    report: Report,
    /// The lines since the last sound one that are not records.
    stretch: Option<Stretch>,
}

struct Stretch {
    path: PathBuf,
    line: u64,
    hasher: StreamHasher,
}

impl Walk<'_> {
    fn line(&mut self, line: &Line<'_>) -> Result<(), Break> {
        if self.stretch.as_ref().is_some_and(|stretch| stretch.path != line.path) {
            // Damage is recorded in the file that it is in.
            return Err(self
                .unaccounted(Fault::NotARecord)
                .unwrap_or_else(|| line.broken(Fault::NotARecord)));
        }
        let Some(link) = Link::parse(line.bytes) else {
            let first =
                || Stretch { path: line.path.to_owned(), line: line.number, hasher: StreamHasher::new() };
            match &mut self.stretch {
                Some(stretch) => stretch.hasher.update(b"\n"),
                none => *none = Some(first()),
            }
            self.stretch.iter_mut().for_each(|stretch| stretch.hasher.update(line.bytes));
            return Ok(());
        };
        match self.stretch.take() {
            Some(stretch) => self.recovery(stretch, &link, line)?,
            None => self.follows(&link).map_err(|fault| line.broken(fault))?,
        }
        let here = Receipt { seq: link.seq, hash: Digest::of(line.bytes) };
        if let Some(anchor) = self.demand.anchor
            && anchor.seq == here.seq
            && anchor.hash != here.hash
        {
            return Err(line.broken(Fault::Anchor { anchor: anchor.seq }));
        }
        self.report.records += 1;
        self.report.head = Some(here);
        Ok(())
    }

    /// Whether the record comes right after the last one.
    fn follows(&self, link: &Link<'_>) -> Result<(), Fault> {
        let (expected, prev) = match (self.report.head, self.demand.anchor) {
            (Some(head), _) => (head.seq.saturating_add(1), head.hash),
            (None, _) if !self.demand.partial => (0, Digest::ZERO),
            // The first line of a partial log.
            (None, Some(anchor)) if anchor.seq < link.seq => {
                let expected = anchor.seq.saturating_add(1);
                if link.seq == expected && link.prev != anchor.hash {
                    return Err(Fault::Anchor { anchor: anchor.seq });
                }
                (expected, anchor.hash)
            }
            (None, _) => return Ok(()),
        };
        let found = link.seq;
        match (link.prev == prev, found == expected) {
            (true, true) => Ok(()),
            (false, true) => Err(Fault::Hash),
            (true, false) => Err(Fault::Number { expected, found }),
            (false, false) if found > expected => Err(Fault::Missing { expected, found }),
            (false, false) => Err(Fault::Reordered { expected, found }),
        }
    }

    /// Whether the record accounts for exactly the damage before it.
    fn recovery(&mut self, stretch: Stretch, link: &Link<'_>, line: &Line<'_>) -> Result<(), Break> {
        let damage = stretch.hasher.finish();
        let (expected, after) = match (self.report.head, self.demand.anchor) {
            (Some(head), _) => (head.seq.saturating_add(1), head.hash),
            (None, _) if !self.demand.partial => (0, Digest::ZERO),
            // The first line of a partial log: what comes after the anchor comes right after it.
            (None, Some(anchor)) if anchor.seq < link.seq => (anchor.seq.saturating_add(1), anchor.hash),
            (None, _) => (link.seq, link.damage().map_or(Digest::ZERO, |told| told.after)),
        };
        let told = Damage { damaged_bytes: damage.bytes, after };
        if link.damage() != Some(told) || link.prev != damage.sha256 || link.seq != expected {
            return Err(Break { path: stretch.path, line: stretch.line, fault: Fault::NotARecord });
        }
        self.report.recoveries += 1;
        if self.report.recovered.len() < RECOVERIES_TOLD {
            let (path, line) = (stretch.path, line.number);
            self.report.recovered.push(Recovery { path, line, bytes: damage.bytes });
        }
        Ok(())
    }

    fn end(&mut self, path: PathBuf, line: u64) -> Result<(), Break> {
        if let Some(broken) = self.unaccounted(Fault::Torn) {
            return Err(broken);
        }
        match (self.demand.anchor, self.report.head) {
            (Some(anchor), head) if head.is_none_or(|head| head.seq < anchor.seq) => {
                Err(Break { path, line, fault: Fault::Cut { anchor: anchor.seq } })
            }
            _ => Ok(()),
        }
    }

    fn unaccounted(&mut self, fault: Fault) -> Option<Break> {
        let Stretch { path, line, .. } = self.stretch.take()?;
        Some(Break { path, line, fault })
    }
}

impl Line<'_> {
    fn broken(&self, fault: Fault) -> Break {
        Break { path: self.path.to_owned(), line: self.number, fault }
    }
}

/// A gap is only a gap if what belongs in it does not come later.
fn reordered_or_missing(broken: Break, mut lines: Lines) -> Result<Break, VerifyError> {
    let Fault::Missing { expected, found } = broken.fault else { return Ok(broken) };
    while let Some(line) = lines.next()? {
        if Link::parse(line.bytes).is_some_and(|link| link.seq == expected) {
            return Ok(Break { fault: Fault::Reordered { expected, found }, ..broken });
        }
    }
    Ok(broken)
}
