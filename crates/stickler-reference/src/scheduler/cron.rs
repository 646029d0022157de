//! Cron expressions: five fields, in UTC.

use std::ops::RangeInclusive;

const MINUTE: i64 = 60;
const DAY: i64 = 24 * 60 * MINUTE;

/// Days within which every valid date recurs, including 29 February around 2100.
const HORIZON_DAYS: i64 = 366 * 9;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A schedule, with one bit for each minute, hour, day, month and weekday.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cron {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// If both day fields are restricted, a match of either one is sufficient.
    either_day: bool,
}

/// One of the five fields.
struct Field {
    name: &'static str,
    range: RangeInclusive<u32>,
    names: &'static [&'static str],
    /// The number of the first name.
    first: u32,
}

const FIELDS: [Field; 5] = [
    Field { name: "minute", range: 0..=59, names: &[], first: 0 },
    Field { name: "hour", range: 0..=23, names: &[], first: 0 },
    Field { name: "day of the month", range: 1..=31, names: &[], first: 0 },
    Field { name: "month", range: 1..=12, names: &MONTHS, first: 1 },
    Field { name: "day of the week", range: 0..=7, names: &WEEKDAYS, first: 0 },
];

impl Cron {
    /// Parses an expression. The error names the invalid field and the reason.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let expanded = match text.trim() {
            "@hourly" => "0 * * * *",
            "@daily" | "@midnight" => "0 0 * * *",
            "@weekly" => "0 0 * * 0",
            "@monthly" => "0 0 1 * *",
            other => other,
        };
        let words: Vec<&str> = expanded.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = words[..] else {
            return Err(format!(
                "it has {} fields instead of the five `minute hour day month weekday`, such as \
                 `0 9 * * 1-5`",
                words.len()
            ));
        };
        let [minutes, hours, days, months, weekdays] = FIELDS;
        let weekdays = weekdays.parse(weekday)?;
        let cron = Self {
            minutes: minutes.parse(minute)?,
            hours: hours.parse(hour)?,
            days: days.parse(day)?,
            months: months.parse(month)?,
            // Sunday is both 0 and 7.
            weekdays: weekdays | (weekdays >> 7 & 1),
            either_day: !day.starts_with('*') && !weekday.starts_with('*'),
        };
        cron.next_after(0).ok_or("it names a date that never occurs")?;
        Ok(cron)
    }

    /// Returns the next time after `now`, both in Unix seconds.
    pub(super) fn next_after(&self, now: i64) -> Option<i64> {
        let from = now.div_euclid(MINUTE) * MINUTE + MINUTE;
        let first_day = from.div_euclid(DAY);
        for day in first_day..first_day + HORIZON_DAYS {
            if !self.has_day(day) {
                continue;
            }
            let start = if day == first_day { from.rem_euclid(DAY) / MINUTE } else { 0 };
            let minute = (start..24 * 60)
                .find(|minute| has(self.hours, minute / 60) && has(self.minutes, minute % 60));
            if let Some(minute) = minute {
                return Some(day * DAY + minute * MINUTE);
            }
        }
        None
    }

    fn has_day(&self, day: i64) -> bool {
        let (month, day_of_month) = civil(day);
        // 1 January 1970 was a Thursday.
        let weekday = (day + 4).rem_euclid(7);
        let (by_day, by_weekday) = (has(self.days, day_of_month), has(self.weekdays, weekday));
        let fits = if self.either_day { by_day || by_weekday } else { by_day && by_weekday };
        has(self.months, month) && fits
    }
}

impl Field {
    fn parse(&self, text: &str) -> Result<u64, String> {
        text.split(',').try_fold(0, |bits, part| Ok(bits | self.part(part)?))
    }

    /// Parses `*`, `5` or `1-5`, each with an optional step such as `/2`.
    fn part(&self, text: &str) -> Result<u64, String> {
        let (span, step) = match text.split_once('/') {
            Some((span, step)) => (span, step.parse().ok().filter(|step| *step > 0)),
            None => (text, Some(1)),
        };
        let step = step.ok_or_else(|| self.invalid(text))?;
        let (first, last) = match span.split_once('-') {
            _ if span == "*" => (*self.range.start(), *self.range.end()),
            Some((first, last)) => (self.number(first)?, self.number(last)?),
            None if text.contains('/') => (self.number(span)?, *self.range.end()),
            None => (self.number(span)?, self.number(span)?),
        };
        if first > last {
            return Err(self.invalid(text));
        }
        Ok((first..=last).step_by(step).fold(0, |bits, number| bits | 1 << number))
    }

    fn number(&self, text: &str) -> Result<u32, String> {
        let named = self.names.iter().zip(self.first..);
        let named = named.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        let number = named.map(|(_, number)| number).or_else(|| text.parse().ok());
        number.filter(|number| self.range.contains(number)).ok_or_else(|| self.invalid(text))
    }

    fn invalid(&self, text: &str) -> String {
        let (first, last) = (self.range.start(), self.range.end());
        format!("`{text}` is not a valid {}: use {first} to {last}", self.name)
    }
}

fn has(bits: u64, number: i64) -> bool {
    u32::try_from(number).is_ok_and(|number| bits.checked_shr(number).unwrap_or(0) & 1 == 1)
}

/// Converts days since 1970 to month and day. Years start in March, so that leap days come last.
fn civil(day: i64) -> (i64, i64) {
    let shifted = day + 719_468;
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day_of_month = of_year - (153 * month + 2) / 5 + 1;
    (if month < 10 { month + 3 } else { month - 9 }, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::{Cron, civil};

    /// 2026-11-16 04:30:00, a Monday.
    const NOW: i64 = 1_794_803_400;

    fn next(text: &str) -> i64 {
        Cron::parse(text).unwrap().next_after(NOW).unwrap() - NOW
    }

    #[test]
    fn next_time_matches_the_expression() {
        assert_eq!(next("* * * * *"), 60);
        assert_eq!(next("*/15 * * * *"), 15 * 60);
        assert_eq!(next("0 9 * * 1-5"), 4 * 3600 + 1800);
        assert_eq!(next("30 4 * * *"), 24 * 3600);
        assert_eq!(next("@hourly"), 1800);
        assert_eq!(next("0 0 * * sun"), next("0 0 * * 7"));
        assert_eq!(next("0 0 * * 0"), 6 * 24 * 3600 - 4 * 3600 - 1800);
        assert_eq!(next("0 0 1 dec *"), 15 * 24 * 3600 - 4 * 3600 - 1800);
    }

    #[test]
    fn either_day_field_may_match() {
        assert_eq!(next("0 5 20 * 1"), 1800);
        assert_eq!(next("0 5 16 * 5"), 1800);
    }

    #[test]
    fn leap_days_occur_in_leap_years() {
        let leap = Cron::parse("0 0 29 2 *").unwrap().next_after(NOW).unwrap();
        assert_eq!(civil(leap / 86_400), (2, 29));
        assert_eq!(civil(0), (1, 1));
        assert_eq!(civil(NOW / 86_400), (11, 16));
    }

    #[test]
    fn parse_errors_name_the_invalid_field() {
        for (text, part) in [
            ("every day", "2 fields"),
            ("60 * * * *", "`60` is not a valid minute: use 0 to 59"),
            ("0 25 * * *", "not a valid hour"),
            ("0 0 0 * *", "not a valid day of the month"),
            ("0 0 * foo *", "`foo` is not a valid month"),
            ("*/0 * * * *", "not a valid minute"),
            ("5-1 * * * *", "not a valid minute"),
            ("0 0 30 2 *", "never occurs"),
        ] {
            let error = Cron::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
