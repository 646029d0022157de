//! Generates numbers within bounds that satisfy `multipleOf`.
//!
//! Small natural numbers are the most readable, so 1 is tried before the bounds, and fractions are
//! used only if no integer is valid.

use serde_json::{Map, Value};

use super::decimal::{Decimal, greatest_common_divisor, power_of_ten};

/// Additional decimal places, to find a value between two close bounds.
const EXTRA_PLACES: u32 = 2;

/// Returns candidates, best first, including `variety` further ones.
pub(super) fn numbers(keywords: &Map<String, Value>, integer: bool, variety: usize) -> Vec<Value> {
    let mut found = on_grid(keywords, 0, variety);
    if !integer {
        for places in fraction_places(keywords) {
            found.extend(on_grid(keywords, places, variety));
        }
    }
    let mut distinct: Vec<Value> = Vec::new();
    for value in found {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}

/// Returns the decimal places of the bounds and steps, and a finer grid.
fn fraction_places(keywords: &Map<String, Value>) -> [u32; 2] {
    let coarse = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]
        .into_iter()
        .filter_map(|keyword| keywords.get(keyword).and_then(Decimal::of))
        .map(Decimal::places)
        .max()
        .unwrap_or(0)
        .max(1);
    [coarse, coarse + EXTRA_PLACES]
}

/// Returns candidates among the multiples of ten to the power of minus `places`.
fn on_grid(keywords: &Map<String, Value>, places: u32, variety: usize) -> Vec<Value> {
    let Some(step) = grid_step(keywords, places) else {
        return Vec::new();
    };
    let low = lower_bound(keywords, places).map(|low| round_up(low, step));
    let high = upper_bound(keywords, places).map(|high| round_down(high, step));
    let one = power_of_ten(places).map(|one| round_up(one, step));
    let further = i128::try_from(variety).unwrap_or(0);
    let start = match (one, low, high) {
        (Some(one), low, high) if in_range(one, low, high) => one,
        (_, Some(low), high) if in_range(low, None, high) => low,
        (_, None, Some(high)) => high,
        _ => return Vec::new(),
    };
    let ascending = (0..=further).map(|index| start.saturating_add(step.saturating_mul(index)));
    let descending = (1..=further).map(|index| start.saturating_sub(step.saturating_mul(index)));
    ascending
        .chain(descending)
        .chain([0])
        .chain(low)
        .chain(high)
        .filter(|&units| in_range(units, low, high))
        .filter_map(|units| Decimal::from_units(units, places).to_value())
        .collect()
}

fn in_range(units: i128, low: Option<i128>, high: Option<i128>) -> bool {
    low.is_none_or(|low| low <= units) && high.is_none_or(|high| units <= high)
}

/// Returns the distance between allowed values, in units of `places`.
fn grid_step(keywords: &Map<String, Value>, places: u32) -> Option<i128> {
    let Some(multiple) = keywords.get("multipleOf") else {
        return Some(1);
    };
    let multiple = Decimal::of(multiple)?;
    let finest = places.max(multiple.places());
    let step = multiple.units_at(finest)?;
    let unit = power_of_ten(finest - places)?;
    if step <= 0 {
        return None;
    }
    // The least common multiple of the step and the grid, in units of the grid.
    Some(step / greatest_common_divisor(step, unit))
}

fn lower_bound(keywords: &Map<String, Value>, places: u32) -> Option<i128> {
    let inclusive = bound(keywords, "minimum").and_then(|low| ceiling(low, places));
    let exclusive =
        bound(keywords, "exclusiveMinimum").and_then(|low| floor(low, places)?.checked_add(1));
    inclusive.max(exclusive)
}

fn upper_bound(keywords: &Map<String, Value>, places: u32) -> Option<i128> {
    let inclusive = bound(keywords, "maximum").and_then(|high| floor(high, places));
    let exclusive =
        bound(keywords, "exclusiveMaximum").and_then(|high| ceiling(high, places)?.checked_sub(1));
    match (inclusive, exclusive) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (only, None) | (None, only) => only,
    }
}

/// Returns a bound. Bounds beyond exact arithmetic, such as `1.7e308`, are ignored.
fn bound(keywords: &Map<String, Value>, keyword: &str) -> Option<Decimal> {
    keywords.get(keyword).and_then(Decimal::of)
}

fn floor(value: Decimal, places: u32) -> Option<i128> {
    let finest = places.max(value.places());
    let unit = power_of_ten(finest - places)?;
    Some(value.units_at(finest)?.div_euclid(unit))
}

fn ceiling(value: Decimal, places: u32) -> Option<i128> {
    let finest = places.max(value.places());
    let unit = power_of_ten(finest - places)?;
    Some(round_up(value.units_at(finest)?, unit) / unit)
}

fn round_down(value: i128, step: i128) -> i128 {
    value.saturating_sub(value.rem_euclid(step))
}

fn round_up(value: i128, step: i128) -> i128 {
    let over = value.rem_euclid(step);
    if over == 0 { value } else { value.saturating_add(step - over) }
}

#[cfg(test)]
mod tests {
    use super::numbers;
    use serde_json::{Value, json};

    fn first(schema: &Value, integer: bool) -> Option<Value> {
        numbers(schema.as_object().unwrap(), integer, 1).into_iter().next()
    }

    #[test]
    fn one_is_preferred_over_the_bounds() {
        for (schema, expected) in [
            (json!({}), json!(1)),
            (json!({"minimum": 0, "maximum": 100}), json!(1)),
            (json!({"minimum": 5}), json!(5)),
            (json!({"exclusiveMinimum": 5}), json!(6)),
            (json!({"maximum": -3}), json!(-3)),
            (json!({"exclusiveMaximum": -3}), json!(-4)),
            (json!({"multipleOf": 7, "minimum": 8}), json!(14)),
            (json!({"minimum": -9, "maximum": -2, "multipleOf": 4}), json!(-8)),
            (json!({"multipleOf": 0.4}), json!(2)),
        ] {
            assert_eq!(first(&schema, true), Some(expected), "{schema}");
        }
    }

    #[test]
    fn fractions_are_used_if_no_integer_is_valid() {
        for (schema, expected) in [
            (json!({"minimum": 0.1, "maximum": 0.5}), json!(0.1)),
            (json!({"exclusiveMinimum": 0, "exclusiveMaximum": 1}), json!(0.1)),
            (json!({"exclusiveMinimum": 0, "maximum": 0.5, "multipleOf": 0.25}), json!(0.25)),
            (json!({"exclusiveMinimum": 0.1, "exclusiveMaximum": 0.2}), json!(0.101)),
        ] {
            assert_eq!(first(&schema, false), Some(expected), "{schema}");
        }
    }

    #[test]
    fn bounds_beyond_the_float_range_stay_exact() {
        assert_eq!(
            first(&json!({"minimum": 9_007_199_254_740_993_i64}), true),
            Some(json!(9_007_199_254_740_993_i64))
        );
    }

    #[test]
    fn empty_ranges_and_invalid_steps_yield_nothing() {
        for schema in [
            json!({"minimum": 2, "maximum": 1}),
            json!({"multipleOf": 0}),
            json!({"multipleOf": -1}),
            json!({"exclusiveMinimum": 1, "exclusiveMaximum": 2}),
        ] {
            assert_eq!(first(&schema, true), None, "{schema}");
        }
    }

    #[test]
    fn further_values_are_distinct() {
        assert!(numbers(json!({"minimum": 3}).as_object().unwrap(), true, 5).len() >= 5);
    }
}
