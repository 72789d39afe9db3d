//! The arithmetic of one rate and one key. Times are nanoseconds since the machine was started.

use super::Rate;
use std::time::Duration;

/// How far beyond its period a key's memory may reach: attempts that wait are entered before their time.
pub(super) const MAX_WAIT: Duration = Duration::from_secs(60);

/// When a key will be as if never used (the algorithm's "theoretical arrival time"), 0 for never used.
pub(super) type Recovery = u64;

/// What an attempt at `now` means for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// Nanoseconds until the attempt fits; 0 for now.
    pub(super) wait: u64,
    /// The recovery if the attempt is made, now or after the wait.
    pub(super) next: Recovery,
}

pub(super) fn step(rate: Rate, recovery: Recovery, now: u64) -> Step {
    let period = nanos(rate.period);
    let interval = (period / u64::from(rate.count)).max(1);
    // No sound state reaches further; a configuration that became shorter, or another time namespace, would.
    let tolerance = interval.saturating_mul(u64::from(rate.burst.saturating_sub(1)));
    let furthest = now.saturating_add(tolerance).saturating_add(interval).saturating_add(nanos(MAX_WAIT));
    let arrival = recovery.clamp(now, furthest);
    let earliest = arrival.saturating_sub(tolerance);
    Step { wait: earliest.saturating_sub(now), next: arrival.saturating_add(interval) }
}

/// A recovery from before `written_at`, told in the time of a boot that began later.
///
/// The clock starts at 0 with the machine. That it is behind the time of the last write proves that the machine was
/// started anew: then the time that is known to have passed since the write is what the clock shows now. (When it is not
/// behind, but the machine was started anew all the same, what is taken to have passed is less than what has.)
pub(super) fn after_boot(recovery: Recovery, written_at: u64) -> Recovery {
    recovery.saturating_sub(written_at)
}

pub(super) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// The attempts that are allowed among those at these times.
    fn allowed(rate: Rate, times: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let mut recovery = 0;
        let mut allowed = Vec::new();
        for now in times {
            let step = step(rate, recovery, now);
            if step.wait == 0 {
                recovery = step.next;
                allowed.push(now);
            }
        }
        allowed
    }

    #[test]
    fn a_burst_and_then_one_per_interval() {
        let rate = Rate::new(3, Duration::from_secs(9)).unwrap();
        let start = 1000 * SECOND;
        let times = allowed(rate, (0..200).map(|tenth| start + tenth * SECOND / 10));
        let tenths: Vec<u64> = times.iter().map(|t| (t - start) / (SECOND / 10)).collect();
        assert_eq!(tenths, [0, 1, 2, 30, 60, 90, 120, 150, 180]);
    }

    #[test]
    fn fewer_at_once_than_in_the_whole_time() {
        let rate = Rate::new(10, Duration::from_secs(60)).unwrap().at_once(3);
        let times = allowed(rate, (0..60).map(|second| (100 + second) * SECOND));
        let seconds: Vec<u64> = times.iter().map(|t| t / SECOND - 100).collect();
        assert_eq!(seconds, [0, 1, 2, 6, 12, 18, 24, 30, 36, 42, 48, 54]);
    }

    #[test]
    fn the_wait_that_is_told_is_exact() {
        let rate = Rate::new(7, Duration::from_secs(60)).unwrap();
        let (mut recovery, mut now) = (0, 5 * SECOND);
        for _ in 0..100 {
            let first = step(rate, recovery, now);
            if first.wait > 0 {
                assert!(step(rate, recovery, now + first.wait - 1).wait == 1);
                now += first.wait;
            }
            let second = step(rate, recovery, now);
            assert_eq!(second.wait, 0);
            recovery = second.next;
        }
    }

    #[test]
    fn no_stretch_of_time_holds_more_than_the_formula() {
        // A fixed linear congruential generator: the times are arbitrary and the same in each run.
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        for (count, seconds) in [(1, 1), (3, 10), (10, 60), (100, 7)] {
            let rate = Rate::new(count, Duration::from_secs(seconds)).unwrap();
            let mut now = SECOND;
            let times: Vec<u64> = (0..3000)
                .map(|_| {
                    now += random() % (2 * SECOND);
                    now
                })
                .collect();
            let times = allowed(rate, times);
            let interval = seconds * SECOND / u64::from(count);
            for (at, first) in times.iter().enumerate() {
                for (more, last) in times[at..].iter().enumerate() {
                    assert!((more as u64) < u64::from(count) + (last - first) / interval);
                }
            }
        }
    }

    #[test]
    fn a_new_boot_forgives_no_more_than_has_passed() {
        let rate = Rate::new(2, Duration::from_secs(20)).unwrap();
        let written_at = 5000 * SECOND;
        let mut recovery = step(rate, 0, written_at).next;
        recovery = step(rate, recovery, written_at).next;
        // Twenty seconds of debt; five seconds after the boot at most five of them are known to be over.
        let now = 5 * SECOND;
        let step = step(rate, after_boot(recovery, written_at), now);
        assert_eq!(step.wait, 5 * SECOND);
    }

    #[test]
    fn nonsense_is_bounded() {
        let rate = Rate::new(3, Duration::from_secs(10)).unwrap();
        for (recovery, now) in [(u64::MAX, 0), (u64::MAX, u64::MAX), (0, u64::MAX), (0, 0)] {
            assert!(step(rate, recovery, now).wait <= nanos(rate.period + MAX_WAIT));
        }
        assert!(Rate::new(0, Duration::from_secs(1)).is_none());
        assert!(Rate::new(2000, Duration::from_secs(1)).is_none());
        assert!(Rate::new(1, Duration::from_secs(90_000)).is_none());
    }
}
