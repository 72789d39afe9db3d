//! The file: one open, one lock, one read, one write.
//!
//! It holds two copies of the table. Each write goes over the older, so a process that is killed while it writes leaves the
//! newer whole; what it lost is an attempt that nobody was told could go on. Both damaged is no accident of ours: then every
//! attempt is refused until a person has looked.

use super::gcra::{self, MAX_WAIT};
use super::table::{CAPACITY, SLOT, Table};
use super::{Key, Limit, Rate};
use crate::store::{Locked, StateDir, StoreError, boottime};
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

/// The file's name in the state directory.
const FILE: &str = "limits";

/// Limits that are kept; more are a mistake, and the attempt is refused.
const MAX_LIMITS: usize = 16;

/// Keeps count of attempts in a file.
#[derive(Debug, Clone)]
pub struct Limiter {
    directory: StateDir,
    limits: Vec<Limit>,
}

/// What an attempt may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// Go on.
    Now,
    /// Go on after this time. The attempt has been counted for then.
    After(Duration),
    /// It is over a limit.
    Refused(Refusal),
}

/// The limit that an attempt is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What is limited, in words.
    pub what: String,
    /// The rate.
    pub rate: Rate,
    /// An attempt after this time fits, if there is none in between.
    pub wait: Duration,
}

impl Refusal {
    /// The wait in whole milliseconds, rounded up.
    #[must_use]
    pub fn wait_ms(&self) -> u64 {
        u64::try_from(self.wait.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }

    /// For the model: what, why, and what to do instead.
    #[must_use]
    pub fn message(&self) -> String {
        let tenths = self.wait_ms().div_ceil(100);
        format!(
            "Too many commands: {} are limited to {}. Wait {}.{} s before the next one; do more in one command instead \
             of trying again at once.",
            self.what,
            self.rate,
            tenths / 10,
            tenths % 10,
        )
    }
}

impl Limiter {
    /// Keeps these limits in this directory.
    #[must_use]
    pub fn new(directory: StateDir, limits: Vec<Limit>) -> Self {
        Self { directory, limits }
    }

    /// Where they are kept.
    #[must_use]
    pub fn directory(&self) -> &StateDir {
        &self.directory
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> &[Limit] {
        &self.limits
    }

    /// Counts an attempt, if it fits all limits of all keys; else counts nothing. Does not wait itself.
    ///
    /// # Errors
    /// The store cannot be relied on. The caller refuses the attempt.
    pub fn attempt(&self, keys: &[Key<'_>]) -> Result<Turn, StoreError> {
        self.attempt_at(keys, boottime)
    }

    /// The clock is read after the lock is held, so that times in the file only grow.
    fn attempt_at(&self, keys: &[Key<'_>], clock: impl Fn() -> u64) -> Result<Turn, StoreError> {
        let mut keys: Vec<Key<'_>> = keys.to_vec();
        keys.sort_unstable();
        // Every one of them: were some left out, other programs beside it would hide one that is over its limit. Those for which
        // the table has no room share an entry.
        keys.dedup();
        let limited: Vec<(&Key<'_>, &Limit)> = self
            .limits
            .iter()
            .flat_map(|limit| keys.iter().filter(|key| limit.per.is_for(key)).map(move |key| (key, limit)))
            .collect();
        if limited.is_empty() {
            return Ok(Turn::Now);
        }
        if self.limits.len() > MAX_LIMITS {
            return Err(StoreError::Full { path: self.directory.path().join(FILE) });
        }

        let file = self.directory.lock(FILE)?;
        let (mut table, slot) = read(&file)?;
        let now = clock();
        table.settle(now);

        let mut wait = 0;
        let mut refusal: Option<Refusal> = None;
        for (key, limit) in limited {
            let at = table.find(key, limit.rate);
            let Some(entry) = table.entries.get_mut(at) else { continue };
            let step = gcra::step(limit.rate, entry.recovery, now);
            entry.recovery = step.next;
            wait = wait.max(step.wait);
            let told = refusal.as_ref().map_or(0, |r| gcra::nanos(r.wait));
            if step.wait > gcra::nanos(limit.wait.min(MAX_WAIT)) && step.wait > told {
                let wait = Duration::from_nanos(step.wait);
                refusal = Some(Refusal { what: key.describe(), rate: limit.rate, wait });
            }
        }
        if let Some(refusal) = refusal {
            return Ok(Turn::Refused(refusal));
        }
        if table.entries.len() > CAPACITY {
            return Err(StoreError::Full { path: file.path });
        }
        table.generation = table.generation.saturating_add(1);
        let at = if slot == 0 { SLOT as u64 } else { 0 };
        file.file.write_all_at(&table.write(), at).map_err(|e| file.io(e))?;
        Ok(if wait == 0 { Turn::Now } else { Turn::After(Duration::from_nanos(wait)) })
    }
}

/// The newest whole copy and which of the two it is. A file that never got its first copy is new: nobody was told to go
/// on because of it.
fn read(file: &Locked) -> Result<(Table, usize), StoreError> {
    if file.length < SLOT as u64 {
        // The first copy goes to the front.
        return Ok((Table::default(), 1));
    }
    let length = usize::try_from(file.length).unwrap_or(usize::MAX).min(2 * SLOT);
    let mut bytes = vec![0; length];
    file.file.read_exact_at(&mut bytes, 0).map_err(|e| file.io(e))?;
    let (first, second) = bytes.split_at_checked(SLOT).unwrap_or((&bytes, &[]));
    let newer_second = Table::claimed_generation(second) > Table::claimed_generation(first);
    let mut copies = [(first, 0), (second, 1)];
    if newer_second {
        copies.reverse();
    }
    copies
        .into_iter()
        .find_map(|(copy, slot)| Table::read(copy).map(|table| (table, slot)))
        .ok_or_else(|| file.damaged())
}

#[cfg(test)]
mod tests {
    use super::super::Per;
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn limiter(directory: &std::path::Path, limits: &[Limit]) -> Limiter {
        Limiter::new(StateDir::new(directory.join("state")), limits.to_vec())
    }

    fn limit(per: Per, count: u32, seconds: u64) -> Limit {
        Limit::new(per, Rate::new(count, Duration::from_secs(seconds)).unwrap())
    }

    fn waits(limiter: &Limiter, keys: &[Key<'_>], now: u64) -> Option<u64> {
        match limiter.attempt_at(keys, || now).unwrap() {
            Turn::Now => None,
            Turn::Refused(refusal) => Some(refusal.wait_ms()),
            Turn::After(_) => panic!("it does not wait"),
        }
    }

    #[test]
    fn burst_and_sustained_hold_together_over_time() {
        let directory = tempfile::tempdir().unwrap();
        let limiter = limiter(directory.path(), &[limit(Per::Session, 3, 10), limit(Per::Session, 10, 60)]);
        let keys = [Key::Session("s")];
        let start = 100 * SECOND;
        assert_eq!([(); 4].map(|()| waits(&limiter, &keys, start)), [None, None, None, Some(3334)]);
        // One every 3.4 s fits the burst, and after ten in all the sustained rate of one every 6 s is what counts.
        let allowed =
            (1..60u64).filter(|n| waits(&limiter, &keys, start + n * 3_400_000_000).is_none()).count();
        assert!((33..=43).contains(&allowed), "{allowed} in {} s", 59.0 * 3.4);
        assert_eq!(waits(&limiter, &[Key::Session("other")], start + 60 * 3_400_000_000), None);
    }

    #[test]
    fn all_keys_have_to_fit_and_a_refusal_counts_for_none() {
        let directory = tempfile::tempdir().unwrap();
        let limits = [limit(Per::Program, 2, 20), limit(Per::Tier(Some(3)), 1, 30)];
        let limiter = limiter(directory.path(), &limits);
        let now = 50 * SECOND;
        let rm = [Key::Program("rm"), Key::Tier(3)];
        assert_eq!(waits(&limiter, &rm, now), None);
        assert_eq!(waits(&limiter, &rm, now), Some(30_000), "the tier's");
        assert_eq!(
            waits(&limiter, &[Key::Program("rm"), Key::Tier(1)], now),
            None,
            "the program has one left"
        );
        assert_eq!(waits(&limiter, &[Key::Program("rm")], now), Some(10_000));
        assert_eq!(waits(&limiter, &[Key::Session("x"), Key::Global], now), None, "not limited");
    }

    #[test]
    fn other_programs_beside_it_hide_none_that_is_over_its_limit() {
        let directory = tempfile::tempdir().unwrap();
        let limiter = limiter(directory.path(), &[limit(Per::Program, 2, 20)]);
        let names: Vec<String> = (0..1000).map(|n| format!("a{n:03}")).collect();
        let (rm, now) = (Key::Program("rm"), 50 * SECOND);
        assert_eq!([(); 2].map(|()| waits(&limiter, &[rm], now)), [None, None]);
        for count in [0, 1, 32, 100, 1000] {
            let others = names.iter().take(count).map(|name| Key::Program(name));
            let keys: Vec<Key<'_>> = others.chain([rm]).collect();
            assert!(waits(&limiter, &keys, now).is_some(), "{count} others");
        }
    }

    #[test]
    fn who_waits_has_a_place_in_the_queue() {
        let directory = tempfile::tempdir().unwrap();
        let patient = Limit { wait: Duration::from_secs(25), ..limit(Per::Global, 1, 10) };
        let limiter = limiter(directory.path(), &[patient]);
        let turns = [(); 5].map(|()| limiter.attempt_at(&[Key::Global], || SECOND).unwrap());
        let seconds = |n| Turn::After(Duration::from_secs(n));
        assert_eq!(turns[..3], [Turn::Now, seconds(10), seconds(20)]);
        assert!(matches!(&turns[3], Turn::Refused(r) if r.wait == Duration::from_secs(30)));
        assert!(matches!(&turns[4], Turn::Refused(r) if r.wait == Duration::from_secs(30)), "not counted");
    }

    #[test]
    fn a_torn_write_costs_one_attempt_and_two_damaged_copies_refuse_all() {
        let directory = tempfile::tempdir().unwrap();
        let limiter = limiter(directory.path(), &[limit(Per::Session, 5, 3600)]);
        let keys = [Key::Session("s")];
        for _ in 0..3 {
            assert_eq!(limiter.attempt(&keys).unwrap(), Turn::Now);
        }
        let path = directory.path().join("state/limits");
        let whole = std::fs::read(&path).unwrap();
        assert_eq!(whole.len(), 2 * SLOT);
        // Every length at which the next write, into the second copy, can stop.
        for torn in [0, 1, 8, 31, 32, 63, 64, 100, SLOT / 2] {
            let mut bytes = whole.clone();
            bytes[SLOT..SLOT + torn].fill(0xa5);
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(limiter.attempt(&keys).unwrap(), Turn::Now, "torn at {torn}");
            assert_eq!(limiter.attempt(&keys).unwrap(), Turn::Now, "torn at {torn}");
            assert!(matches!(limiter.attempt(&keys).unwrap(), Turn::Refused(_)), "torn at {torn}");
        }
        std::fs::write(&path, vec![0xa5; 2 * SLOT]).unwrap();
        assert!(matches!(limiter.attempt(&keys), Err(StoreError::Damaged { .. })));
        std::fs::write(&path, vec![0; 2 * SLOT]).unwrap();
        assert!(matches!(limiter.attempt(&keys), Err(StoreError::Damaged { .. })));
        std::fs::write(&path, &whole[..100]).unwrap();
        assert_eq!(limiter.attempt(&keys).unwrap(), Turn::Now, "its first write was never finished");
    }

    #[test]
    fn more_limits_than_are_kept_refuse() {
        let directory = tempfile::tempdir().unwrap();
        let limits: Vec<Limit> = (1..=17).map(|count| limit(Per::Tier(None), count, 60)).collect();
        let attempt = |limits: &[Limit]| limiter(directory.path(), limits).attempt(&[Key::Tier(1)]);
        assert!(matches!(attempt(&limits), Err(StoreError::Full { .. })));
        assert_eq!(attempt(&limits[1..]).unwrap(), Turn::Now);
    }

    #[test]
    fn a_restart_of_the_machine_forgives_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let limiter = limiter(directory.path(), &[limit(Per::Session, 2, 100)]);
        let keys = [Key::Session("s")];
        let before = 90_000 * SECOND;
        assert_eq!([(); 3].map(|()| waits(&limiter, &keys, before)), [None, None, Some(50_000)]);
        assert_eq!(waits(&limiter, &keys, 10 * SECOND), Some(40_000), "ten seconds after the boot");
        assert_eq!(waits(&limiter, &keys, 49 * SECOND), Some(1000), "the refusal wrote nothing");
        assert_eq!(waits(&limiter, &keys, 51 * SECOND), None);
    }
}
