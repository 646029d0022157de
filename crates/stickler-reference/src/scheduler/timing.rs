//! When a job runs: at the times of a cron expression, or once.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

use super::cron::Cron;

/// A schedule in a time zone.
#[derive(Debug, Clone)]
pub(super) struct Timing {
    rule: Rule,
    zone: TimeZone,
}

#[derive(Debug, Clone)]
enum Rule {
    Recurring { cron: Cron, text: String },
    Once(Timestamp),
}

impl Timing {
    /// Parses a cron expression, a date and time, or `in` and a duration. The error says how to
    /// correct the text.
    pub(super) fn parse(text: &str, zone: &str, now: Timestamp) -> Result<Self, String> {
        let zone = TimeZone::get(zone).map_err(|_| {
            format!("`{zone}` is not a time zone; use an IANA name such as `Europe/Berlin`")
        })?;
        let text = text.trim();
        let rule = if let Some(duration) = text.strip_prefix("in ") {
            Rule::Once(after(now, duration)?)
        } else if let Some(time) = time(text, &zone) {
            Rule::Once(time)
        } else {
            let cron = Cron::parse(text)
                .map_err(|reason| format!("`{text}` is not a cron expression: {reason}"))?;
            Rule::Recurring { cron, text: text.to_owned() }
        };
        Ok(Self { rule, zone })
    }

    /// Returns the first time after `now`; `None` if there is none.
    pub(super) fn next_after(&self, now: Timestamp) -> Option<Timestamp> {
        match &self.rule {
            Rule::Recurring { cron, .. } => cron.next_after(now, &self.zone),
            Rule::Once(at) => (*at > now).then_some(*at),
        }
    }

    /// Counts the times after `due` up to `now`, at most `limit`.
    pub(super) fn count_between(&self, due: Timestamp, now: Timestamp, limit: u32) -> u32 {
        let mut last = due;
        let mut count = 0;
        while count < limit
            && let Some(next) = self.next_after(last).filter(|next| *next <= now)
        {
            last = next;
            count += 1;
        }
        count
    }

    /// Returns the text to store, which does not depend on the current time.
    pub(super) fn text(&self) -> String {
        match &self.rule {
            Rule::Recurring { text, .. } => text.clone(),
            Rule::Once(at) => self.local(*at),
        }
    }

    /// Formats a time in the time zone of the job.
    pub(super) fn local(&self, at: Timestamp) -> String {
        local(at, &self.zone)
    }
}

/// Formats a time as in `2026-12-24T18:00:00+01:00`.
fn local(at: Timestamp, zone: &TimeZone) -> String {
    Zoned::new(at, zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// Reads a date and time with an offset, or in the time zone of the job. Returns `None` for
/// another kind of text.
fn time(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time);
    }
    let local: DateTime = text.parse().ok()?;
    zone.to_timestamp(local).ok()
}

/// Reads a duration such as `10 minutes`, `1h 30m` or `PT10M`.
fn after(now: Timestamp, duration: &str) -> Result<Timestamp, String> {
    let parsed: Option<SignedDuration> = duration.trim().parse().ok();
    let later = parsed.filter(SignedDuration::is_positive);
    let later = later.and_then(|duration| now.checked_add(duration).ok());
    later.ok_or_else(|| {
        format!("`in {duration}` is not a duration; use one such as `in 10 minutes` or `in 2h`")
    })
}

#[cfg(test)]
mod tests {
    use super::Timing;
    use jiff::Timestamp;

    fn once(text: &str, zone: &str) -> Result<String, String> {
        let now: Timestamp = "2026-11-16T04:30:00Z".parse().unwrap();
        let timing = Timing::parse(text, zone, now)?;
        // The stored text means the same at any later time.
        let stored = Timing::parse(&timing.text(), zone, Timestamp::MAX).unwrap();
        assert_eq!(stored.next_after(now), timing.next_after(now));
        Ok(timing.next_after(now).unwrap().to_string())
    }

    #[test]
    fn single_times_are_local_unless_they_have_an_offset() {
        let berlin = "Europe/Berlin";
        assert_eq!(once("2026-12-24T18:00", berlin).unwrap(), "2026-12-24T17:00:00Z");
        assert_eq!(once("2026-12-24 18:00:30", berlin).unwrap(), "2026-12-24T17:00:30Z");
        assert_eq!(once("2026-12-24T18:00:00Z", berlin).unwrap(), "2026-12-24T18:00:00Z");
        assert_eq!(once("2026-12-24T18:00:00-05:00", "UTC").unwrap(), "2026-12-24T23:00:00Z");
        assert_eq!(once("in 10 minutes", berlin).unwrap(), "2026-11-16T04:40:00Z");
        assert_eq!(once("in 1h 30m", "UTC").unwrap(), "2026-11-16T06:00:00Z");
        assert_eq!(once("@daily", berlin).unwrap(), "2026-11-16T23:00:00Z");
    }

    #[test]
    fn errors_say_how_to_correct_the_text() {
        assert!(once("in a while", "UTC").unwrap_err().contains("`in 10 minutes`"));
        assert!(once("in -5 minutes", "UTC").unwrap_err().contains("is not a duration"));
        assert!(once("@daily", "Mars/Base").unwrap_err().contains("is not a time zone"));
        assert!(once("every day", "UTC").unwrap_err().contains("is not a cron expression"));
    }

    #[test]
    fn occurrences_that_have_passed_are_counted() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let timing = Timing::parse("0 * * * *", "UTC", at("2026-11-16T00:00:00Z")).unwrap();
        let (due, now) = (at("2026-11-16T01:00:00Z"), at("2026-11-16T04:30:00Z"));
        assert_eq!(timing.count_between(due, now, 100), 3);
        assert_eq!(timing.count_between(due, now, 2), 2);
    }
}
