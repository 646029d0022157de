//! Numbers: scanning during parsing, and conversion on access.

use std::borrow::Cow;

use jsonschema::json::JsonNumber;
use serde_json::Number;

/// Scans the number that begins at `start`. Returns the offset after it and whether it has a fraction or
/// an exponent. The error is the offset of the first invalid character.
pub(super) fn scan(bytes: &[u8], start: usize) -> Result<(usize, bool), usize> {
    let mut position = start;
    if bytes.get(position) == Some(&b'-') {
        position += 1;
    }
    match bytes.get(position) {
        Some(b'0') => position += 1,
        Some(b'1'..=b'9') => position = digits(bytes, position)?,
        _ => return Err(position),
    }
    // A leading zero must not be followed by a digit: `01`.
    if matches!(bytes.get(position), Some(b'0'..=b'9')) {
        return Err(position);
    }
    let mut fractional = false;
    if bytes.get(position) == Some(&b'.') {
        fractional = true;
        position = digits(bytes, position + 1)?;
    }
    if matches!(bytes.get(position), Some(b'e' | b'E')) {
        fractional = true;
        position += 1;
        if matches!(bytes.get(position), Some(b'+' | b'-')) {
            position += 1;
        }
        position = digits(bytes, position)?;
    }
    Ok((position, fractional))
}

/// Whether the number is outside the range of `f64`, which most JSON parsers use.
pub(super) fn overflows(bytes: &[u8], start: usize, end: usize, fractional: bool) -> bool {
    // The largest `f64` has 309 digits; a shorter number overflows only with an exponent.
    if !fractional && end - start < 309 {
        return false;
    }
    let text = bytes.get(start..end).and_then(|text| std::str::from_utf8(text).ok());
    text.and_then(|text| text.parse::<f64>().ok()).is_some_and(f64::is_infinite)
}

/// Skips one or more digits.
fn digits(bytes: &[u8], start: usize) -> Result<usize, usize> {
    let run = bytes.get(start..).unwrap_or_default();
    match run.iter().take_while(|byte| byte.is_ascii_digit()).count() {
        0 => Err(start),
        count => Ok(start + count),
    }
}

/// A number in its text form, converted when the engine reads it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TapeNumber<'t> {
    pub(super) text: &'t str,
    pub(super) fractional: bool,
}

impl TapeNumber<'_> {
    /// Whether the numbers are equal, regardless of notation.
    pub(super) fn equals(&self, other: &Number) -> bool {
        if let (Some(a), Some(b)) = (self.as_i64(), other.as_i64()) {
            return a == b;
        }
        if let (Some(a), Some(b)) = (self.as_u64(), other.as_u64()) {
            return a == b;
        }
        match (self.exact_integer(), exact_integer(other)) {
            (Some(a), Some(b)) => a == b,
            (None, None) => self.as_f64().is_some_and(|a| other.as_f64() == Some(a)),
            _ => false,
        }
    }

    fn exact_integer(&self) -> Option<i128> {
        if !self.fractional
            && let Some(integer) =
                self.as_i64().map(i128::from).or_else(|| self.as_u64().map(i128::from))
        {
            return Some(integer);
        }
        whole(self.as_f64()?)
    }
}

fn exact_integer(number: &Number) -> Option<i128> {
    let integer = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    integer.or_else(|| number.as_f64().and_then(whole))
}

/// Converts a float without a fraction, if it is small enough for an exact conversion.
#[allow(clippy::cast_possible_truncation)]
fn whole(value: f64) -> Option<i128> {
    (value.fract() == 0.0 && value.abs() < 1e38).then_some(value as i128)
}

impl JsonNumber for TapeNumber<'_> {
    fn as_u64(&self) -> Option<u64> {
        if self.fractional { None } else { self.text.parse().ok() }
    }

    fn as_i64(&self) -> Option<i64> {
        if self.fractional { None } else { self.text.parse().ok() }
    }

    /// Returns `None` outside the range of `f64`; the engine then skips comparisons.
    fn as_f64(&self) -> Option<f64> {
        self.text.parse().ok().filter(|value: &f64| value.is_finite())
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.text)
    }

    fn to_number(&self) -> Cow<'_, Number> {
        let integer = self.as_u64().map(Number::from).or_else(|| self.as_i64().map(Number::from));
        // Only a float can represent the sign of `-0`.
        let integer = integer.filter(|_| self.text != "-0");
        let number = integer.or_else(|| Number::from_f64(self.as_f64()?));
        // Only the messages of the engine show this, and they are not used.
        Cow::Owned(number.unwrap_or_else(|| {
            let limit = if self.text.starts_with('-') { f64::MIN } else { f64::MAX };
            Number::from_f64(limit).unwrap_or_else(|| Number::from(0))
        }))
    }

    fn is_integer(&self) -> bool {
        // In practice every number outside the range of `f64` is an integer.
        !self.fractional || self.as_f64().is_none_or(|value| value.fract() == 0.0)
    }
}
