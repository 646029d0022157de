//! Lenient checks of dates and times.
//!
//! A date is `YYYY-MM-DD` and exists in the calendar. A time is `HH:MM`, with optional seconds, fraction and zone.
//! Between them stands `T`, a space or `_`, which pydantic accepts, too.

/// Returns whether a text is a date, with an optional time and zone.
pub(super) fn is_date_time(text: &str) -> bool {
    match date(text) {
        Some("") => true,
        Some(rest) => rest.strip_prefix(['T', 't', ' ', '_']).is_some_and(is_time),
        None => false,
    }
}

/// Returns whether a text is a date.
pub(super) fn is_date(text: &str) -> bool {
    date(text) == Some("")
}

/// Returns whether a text is a time, with an optional zone.
pub(super) fn is_time(text: &str) -> bool {
    time(text).is_some_and(is_zone)
}

/// Parses a date and returns the rest.
fn date(text: &str) -> Option<&str> {
    let (year, rest) = number(text, 4)?;
    let (month, rest) = number(rest.strip_prefix('-')?, 2)?;
    let (day, rest) = number(rest.strip_prefix('-')?, 2)?;
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => return None,
    };
    (1..=days).contains(&day).then_some(rest)
}

/// Parses a time without its zone and returns the rest.
fn time(text: &str) -> Option<&str> {
    let (hour, rest) = number(text, 2)?;
    let (minute, rest) = number(rest.strip_prefix(':')?, 2)?;
    if hour > 23 || minute > 59 {
        return None;
    }
    let Some(seconds) = rest.strip_prefix(':') else { return Some(rest) };
    let (second, rest) = number(seconds, 2)?;
    // 60 is a leap second.
    if second > 60 {
        return None;
    }
    match rest.strip_prefix(['.', ',']) {
        Some(fraction) => {
            let rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            (rest.len() < fraction.len()).then_some(rest)
        }
        None => Some(rest),
    }
}

/// Returns whether a text is empty, `Z`, or an offset such as `+02:00`, `+0200` or `+02`.
fn is_zone(text: &str) -> bool {
    if matches!(text, "" | "Z" | "z") {
        return true;
    }
    let Some((hours, rest)) = text.strip_prefix(['+', '-']).and_then(|offset| number(offset, 2))
    else {
        return false;
    };
    let minutes = rest.strip_prefix(':').unwrap_or(rest);
    let has_minutes =
        || number(minutes, 2).is_some_and(|(minutes, rest)| minutes <= 59 && rest.is_empty());
    hours <= 23 && (rest.is_empty() || has_minutes())
}

/// Parses a number of exactly that many digits and returns the rest.
fn number(text: &str, digits: usize) -> Option<(u32, &str)> {
    let (number, rest) = text.split_at_checked(digits)?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    Some((number.parse().ok().filter(|_| is_number)?, rest))
}
