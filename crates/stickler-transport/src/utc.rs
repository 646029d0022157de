//! Dates and times in UTC as text: RFC 3339 for logs and recordings, and a form without separators for file names.

use std::time::{SystemTime, UNIX_EPOCH};

struct Utc {
    date: (i64, u64, u64),
    time: (u64, u64, u64),
    milliseconds: u32,
}

/// Formats a time as `2026-11-18T14:37:00.123Z`.
pub fn rfc3339(time: SystemTime) -> String {
    let Utc { date: (year, month, day), time: (hour, minute, second), milliseconds } = split(time);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

/// Formats a time as `20261118T143700Z`.
pub fn compact(time: SystemTime) -> String {
    let Utc { date: (year, month, day), time: (hour, minute, second), .. } = split(time);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

/// Splits a time by the proleptic Gregorian calendar; times before 1970 count as its beginning.
fn split(time: SystemTime) -> Utc {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    // Eras of 400 years that begin on 1 March, so that a leap day is the last day of a year.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    Utc {
        date: (i64::try_from(year).unwrap_or(i64::MAX), month, day),
        time: (second / 3600, second / 60 % 60, second % 60),
        milliseconds: since.subsec_millis(),
    }
}

#[cfg(test)]
mod tests {
    use super::{compact, rfc3339};
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn dates_are_those_of_the_calendar() {
        let at = |seconds, millis| {
            UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_millis(millis)
        };
        for (seconds, millis, expected) in [
            (0, 0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, 0, "2000-02-28T23:59:59.000Z"),
            (951_782_400, 7, "2000-02-29T00:00:00.007Z"),
            (4_107_542_399, 0, "2100-02-28T23:59:59.000Z"),
            (4_107_542_400, 0, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(rfc3339(at(seconds, millis)), expected);
        }
        assert_eq!(compact(at(1_795_012_620, 0)), "20261118T143700Z");
    }
}
