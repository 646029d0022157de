//! Cron expressions: five fields, in the local time of a time zone.
//!
//! When clocks change, a job with fixed hours runs once: at the first of two equal local times, or
//! later by the size of the gap if its local time is skipped. A job with `*` for the hour follows
//! elapsed time: it runs in both of two equal hours, and not in a skipped one.

use std::ops::RangeInclusive;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::{AmbiguousOffset, TimeZone};

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
    every_hour: bool,
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
            every_hour: hour.starts_with('*'),
        };
        cron.next_after(Timestamp::UNIX_EPOCH, &TimeZone::UTC)
            .ok_or("it names a date that never occurs")?;
        Ok(cron)
    }

    /// Returns the next time after `now`.
    pub(super) fn next_after(&self, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let mut date = now.to_zoned(zone.clone()).date();
        for _ in 0..HORIZON_DAYS {
            if self.has_day(date) {
                let mut times = Vec::new();
                for hour in (0..24).filter(|hour| has(self.hours, *hour)) {
                    for minute in (0..60).filter(|minute| has(self.minutes, *minute)) {
                        self.times_at(date, hour, minute, zone, &mut times);
                    }
                }
                let next = times.into_iter().filter(|time| *time > now).min();
                if next.is_some() {
                    return next;
                }
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    /// Adds the times at which a local time occurs.
    fn times_at(
        &self,
        date: Date,
        hour: i8,
        minute: i8,
        zone: &TimeZone,
        times: &mut Vec<Timestamp>,
    ) {
        let local = zone.to_ambiguous_timestamp(date.at(hour, minute, 0, 0));
        let found = match local.offset() {
            AmbiguousOffset::Gap { .. } if self.every_hour => [None, None],
            AmbiguousOffset::Fold { .. } if self.every_hour => {
                [local.earlier().ok(), local.later().ok()]
            }
            _ => [local.compatible().ok(), None],
        };
        times.extend(found.into_iter().flatten());
    }

    fn has_day(&self, date: Date) -> bool {
        let weekday = date.weekday().to_sunday_zero_offset();
        let (by_day, by_weekday) = (has(self.days, date.day()), has(self.weekdays, weekday));
        let fits = if self.either_day { by_day || by_weekday } else { by_day && by_weekday };
        has(self.months, date.month()) && fits
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

fn has(bits: u64, number: i8) -> bool {
    u32::try_from(number).is_ok_and(|number| bits.checked_shr(number).unwrap_or(0) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::Cron;
    use jiff::Timestamp;
    use jiff::tz::TimeZone;

    fn times(text: &str, zone: &str, start: &str, count: usize) -> Vec<String> {
        let cron = Cron::parse(text).unwrap();
        let zone = TimeZone::get(zone).unwrap();
        let mut now: Timestamp = start.parse().unwrap();
        let next = || {
            now = cron.next_after(now, &zone)?;
            Some(now.to_string())
        };
        std::iter::from_fn(next).take(count).collect()
    }

    /// The time after 2026-11-16 04:30:00 UTC, a Monday.
    fn next(text: &str) -> String {
        times(text, "UTC", "2026-11-16T04:30:00Z", 1).remove(0)
    }

    #[test]
    fn next_time_matches_the_expression() {
        assert_eq!(next("* * * * *"), "2026-11-16T04:31:00Z");
        assert_eq!(next("*/15 * * * *"), "2026-11-16T04:45:00Z");
        assert_eq!(next("0 9 * * 1-5"), "2026-11-16T09:00:00Z");
        assert_eq!(next("30 4 * * *"), "2026-11-17T04:30:00Z");
        assert_eq!(next("@hourly"), "2026-11-16T05:00:00Z");
        assert_eq!(next("0 0 * * sun"), "2026-11-22T00:00:00Z");
        assert_eq!(next("0 0 * * 7"), "2026-11-22T00:00:00Z");
        assert_eq!(next("0 0 1 dec *"), "2026-12-01T00:00:00Z");
        assert_eq!(next("0 0 29 2 *"), "2028-02-29T00:00:00Z");
    }

    #[test]
    fn either_day_field_may_match() {
        assert_eq!(next("0 5 20 * 1"), "2026-11-16T05:00:00Z");
        assert_eq!(next("0 5 16 * 5"), "2026-11-16T05:00:00Z");
    }

    #[test]
    fn local_time_follows_the_time_zone() {
        let nine = times("0 9 * * *", "America/New_York", "2026-10-31T00:00:00Z", 3);
        // Clocks go back on 1 November.
        let expected = ["2026-10-31T13:00:00Z", "2026-11-01T14:00:00Z", "2026-11-02T14:00:00Z"];
        assert_eq!(nine, expected);
    }

    #[test]
    fn fixed_hour_runs_once_when_clocks_change() {
        // In Berlin, 02:30 occurs twice on 25 October 2026 and not at all on 28 March 2027.
        let back = times("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2);
        assert_eq!(back, ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]);
        let forward = times("30 2 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z", 2);
        assert_eq!(forward, ["2027-03-28T01:30:00Z", "2027-03-29T00:30:00Z"]);
    }

    #[test]
    fn every_hour_follows_elapsed_time_when_clocks_change() {
        let back = times("0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", 3);
        assert_eq!(back, ["2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"]);
        let forward = times("0 * * * *", "Europe/Berlin", "2027-03-28T00:30:00Z", 2);
        assert_eq!(forward, ["2027-03-28T01:00:00Z", "2027-03-28T02:00:00Z"]);
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
