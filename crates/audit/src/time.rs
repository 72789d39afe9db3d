//! A moment as RFC 3339 text in UTC with microseconds, such as `2024-02-29T23:59:59.000042Z`.
//!
//! The log needs this one conversion of a date library and no other.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const SECONDS_PER_DAY: u64 = 86_400;

/// Days from 0000-03-01 to 1970-01-01 in the proleptic Gregorian calendar. Counting years from March puts the
/// leap day at the end of a year, where it moves no other date.
const DAYS_TO_UNIX_EPOCH: u64 = 719_468;

/// Days in 400 years, after which the calendar repeats.
const DAYS_PER_ERA: u64 = 146_097;

/// `time` as RFC 3339. A clock before 1970 is written as 1970: such a clock is wrong, and order comes from `seq`.
pub(crate) fn rfc3339(time: SystemTime) -> String {
    let since_epoch = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let seconds = since_epoch.as_secs();
    let (year, month, day) = civil_date(seconds / SECONDS_PER_DAY);
    let second_of_day = seconds % SECONDS_PER_DAY;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:06}Z",
        second_of_day / 3600,
        second_of_day / 60 % 60,
        second_of_day % 60,
        since_epoch.subsec_micros(),
    )
}

/// Year, month and day of the day that is `days` after 1970-01-01.
fn civil_date(days: u64) -> (u64, u64, u64) {
    let days = days.saturating_add(DAYS_TO_UNIX_EPOCH);
    let day_of_era = days % DAYS_PER_ERA;
    // 1460, 36524 and 146096 are the last days of the spans in which a leap day is added, dropped, added again.
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // From March on, five months always have 153 days.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let (month, next_year) =
        if month_from_march < 10 { (month_from_march + 3, 0) } else { (month_from_march - 9, 1) };
    (days / DAYS_PER_ERA * 400 + year_of_era + next_year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        let table = [
            (0, 0, "1970-01-01T00:00:00.000000Z"),
            (951_782_399, 999_999_999, "2000-02-28T23:59:59.999999Z"),
            (951_782_400, 0, "2000-02-29T00:00:00.000000Z"),
            (1_709_251_199, 42_000, "2024-02-29T23:59:59.000042Z"),
            (4_107_542_400, 0, "2100-03-01T00:00:00.000000Z"),
            (253_402_300_799, 0, "9999-12-31T23:59:59.000000Z"),
        ];
        for (seconds, nanos, text) in table {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::new(seconds, nanos)), text);
        }
        assert_eq!(rfc3339(UNIX_EPOCH - Duration::from_secs(1)), "1970-01-01T00:00:00.000000Z");
    }

    #[test]
    fn each_day_of_four_centuries_follows_the_one_before() {
        let mut previous = civil_date(0);
        for day in 1..DAYS_PER_ERA {
            let (year, month, day_of_month) = civil_date(day);
            let leap = previous.0.is_multiple_of(4)
                && (!previous.0.is_multiple_of(100) || previous.0.is_multiple_of(400));
            let length = match previous.1 {
                2 => 28 + u64::from(leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            let next = match previous {
                (y, 12, 31) => (y + 1, 1, 1),
                (y, m, d) if d == length => (y, m + 1, 1),
                (y, m, d) => (y, m, d + 1),
            };
            assert_eq!((year, month, day_of_month), next);
            previous = next;
        }
    }
}
