//! Exact decimal arithmetic for bounds and `multipleOf`.
//!
//! `0.3` is a multiple of `0.1` in JSON Schema but not in binary floating point, and a bound beyond
//! 2^53 loses digits as an `f64`. Therefore numbers are parsed from their text into an integer and
//! a power of ten.

use serde_json::{Number, Value};

/// Maximum number of decimal places. More would overflow the arithmetic.
const MAX_PLACES: u32 = 15;

/// `units` divided by ten to the power of `places`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    units: i128,
    places: u32,
}

impl Decimal {
    /// Returns the exact value of a JSON number; `None` for other types and extreme magnitudes.
    pub(super) fn of(value: &Value) -> Option<Self> {
        let text = value.as_number()?.to_string();
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text.as_str(), 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        let units: i128 = format!("{whole}{fraction}").parse().ok()?;
        let shift = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        let decimal = match u32::try_from(shift) {
            Ok(places) => Self { units, places },
            Err(_) => {
                Self { units: units.checked_mul(power_of_ten(shift.unsigned_abs())?)?, places: 0 }
            }
        };
        (decimal.places <= MAX_PLACES).then_some(decimal)
    }

    pub(super) const fn from_units(units: i128, places: u32) -> Self {
        Self { units, places }
    }

    pub(super) const fn places(self) -> u32 {
        self.places
    }

    /// Returns the value in units of ten to the power of minus `places`.
    pub(super) fn units_at(self, places: u32) -> Option<i128> {
        let factor = power_of_ten(places.checked_sub(self.places)?)?;
        self.units.checked_mul(factor)
    }

    pub(super) fn equals(self, other: Self) -> bool {
        aligned(self, other).is_some_and(|(a, b)| a == b)
    }

    pub(super) fn is_integer(self) -> bool {
        power_of_ten(self.places).is_some_and(|scale| self.units % scale == 0)
    }

    pub(super) fn is_multiple_of(self, step: Self) -> Option<bool> {
        let (value, step) = aligned(self, step)?;
        (step > 0).then(|| value % step == 0)
    }

    /// Returns the JSON number, as an integer if the value is integral.
    pub(super) fn to_value(self) -> Option<Value> {
        let scale = power_of_ten(self.places)?;
        if self.units % scale == 0 {
            let whole = self.units / scale;
            return i64::try_from(whole)
                .map(Value::from)
                .or_else(|_| u64::try_from(whole).map(Value::from))
                .ok();
        }
        let text = format!("{}e-{}", self.units, self.places);
        Number::from_f64(text.parse().ok()?).map(Value::Number)
    }
}

/// Whether `left < right`; `None` if one of them is not a comparable number.
pub(super) fn smaller_than(left: &Value, right: &Value) -> Option<bool> {
    let exact = Decimal::of(left).zip(Decimal::of(right)).and_then(|(a, b)| aligned(a, b));
    match exact {
        Some((a, b)) => Some(a < b),
        None => Some(left.as_f64()? < right.as_f64()?),
    }
}

/// Returns the least common multiple of two numbers.
pub(super) fn least_common_multiple(left: &Value, right: &Value) -> Option<Value> {
    let (left, right) = (Decimal::of(left)?, Decimal::of(right)?);
    let places = left.places.max(right.places);
    let (a, b) = aligned(left, right)?;
    if a <= 0 || b <= 0 {
        return None;
    }
    let units = (a / greatest_common_divisor(a, b)).checked_mul(b)?;
    Decimal { units, places }.to_value()
}

pub(super) fn greatest_common_divisor(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

pub(super) fn power_of_ten(exponent: u32) -> Option<i128> {
    10_i128.checked_pow(exponent)
}

fn aligned(left: Decimal, right: Decimal) -> Option<(i128, i128)> {
    let places = left.places.max(right.places);
    Some((left.units_at(places)?, right.units_at(places)?))
}

#[cfg(test)]
mod tests {
    use super::{Decimal, least_common_multiple, smaller_than};
    use serde_json::json;

    #[test]
    fn three_tenths_is_a_multiple_of_one_tenth() {
        let step = Decimal::of(&json!(0.1)).unwrap();
        let value = Decimal::of(&json!(0.3)).unwrap();
        assert_eq!(value.is_multiple_of(step), Some(true));
    }

    #[test]
    fn integers_beyond_the_float_range_keep_their_last_digit() {
        assert_eq!(
            smaller_than(&json!(9_007_199_254_740_992_i64), &json!(9_007_199_254_740_993_i64)),
            Some(true)
        );
    }

    #[test]
    fn positive_and_negative_exponents_are_parsed() {
        assert!(Decimal::of(&json!(1e3)).unwrap().equals(Decimal::from_units(1000, 0)));
        assert_eq!(Decimal::of(&json!(1e-3)).unwrap().to_value(), Some(json!(0.001)));
        assert_eq!(Decimal::of(&json!(1e300)), None);
    }

    #[test]
    fn common_multiple_of_fractions_is_exact() {
        assert_eq!(least_common_multiple(&json!(0.2), &json!(0.3)), Some(json!(0.6)));
    }
}
