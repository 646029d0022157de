//! Generates strings from `format`, `pattern`, the length bounds, and the name and description of the field.

use serde_json::{Map, Value};

use super::MAX_TEXT_CHARS;
use super::decimal::Decimal;
use super::format;
use super::pattern::PatternCache;
use super::realistic::{Hints, common_forms};

/// Text of a string without further constraints.
pub(super) const DEFAULT_TEXT: &str = "example";

/// Returns candidates, best first, including `variety` further ones.
pub(super) fn strings(
    keywords: &Map<String, Value>,
    patterns: &[String],
    cache: &PatternCache,
    hints: Hints<'_>,
    variety: usize,
) -> Vec<String> {
    let bounds = Lengths::of(keywords);
    let mut drafts = formatted(keywords, &bounds);
    let default_text: Vec<String> =
        (0..=variety).filter_map(|number| bounds.default_text(number)).collect();
    let matches_all = |text: &String| {
        patterns.iter().all(|pattern| cache.get(pattern).is_match(text) == Some(true))
    };
    if drafts.is_empty() {
        drafts.extend(hints.texts().into_iter().filter(matches_all));
        let word = default_text.iter().filter(|text| matches_all(text)).cloned();
        // A word is more readable than the shortest match, if the pattern allows it.
        drafts.extend(word);
    }
    if drafts.is_empty() {
        drafts.extend(common_forms().filter(matches_all));
    }
    for pattern in patterns {
        drafts.extend(cache.get(pattern).samples(bounds.min, variety));
    }
    if format_name(keywords).is_none_or(|name| format::samples(name).is_empty()) {
        drafts.extend(default_text);
    }
    drafts.retain(|draft| bounds.allow(draft));
    drafts
}

fn format_name(keywords: &Map<String, Value>) -> Option<&str> {
    keywords.get("format").and_then(Value::as_str)
}

fn formatted(keywords: &Map<String, Value>, bounds: &Lengths) -> Vec<String> {
    let Some(name) = format_name(keywords) else {
        return Vec::new();
    };
    format::samples(name)
        .iter()
        .map(|sample| format::extended(name, sample, bounds.min))
        .filter(|sample| bounds.allow(sample))
        .collect()
}

struct Lengths {
    min: usize,
    max: usize,
}

impl Lengths {
    fn of(keywords: &Map<String, Value>) -> Self {
        Self {
            min: count(keywords, "minLength").unwrap_or(0),
            max: count(keywords, "maxLength").unwrap_or(usize::MAX),
        }
    }

    fn allow(&self, text: &str) -> bool {
        (self.min..=self.max).contains(&text.chars().count())
    }

    /// Returns the default text, truncated or repeated to length. Numbers above 0 add a suffix.
    fn default_text(&self, number: usize) -> Option<String> {
        if self.min > self.max || self.min > MAX_TEXT_CHARS {
            return None;
        }
        let suffix = match number {
            0 => String::new(),
            _ => (number + 1).to_string(),
        };
        let room = self.max.saturating_sub(suffix.len());
        let length = self.min.saturating_sub(suffix.len()).max(DEFAULT_TEXT.len()).min(room);
        let word: String = DEFAULT_TEXT.chars().cycle().take(length).collect();
        Some(format!("{word}{suffix}"))
    }
}

/// Returns the value of a keyword that is a count, including integral floats such as `2.0`.
pub(super) fn count(keywords: &Map<String, Value>, keyword: &str) -> Option<usize> {
    let value = keywords.get(keyword)?;
    let exact = value.as_u64().and_then(|count| usize::try_from(count).ok());
    exact.or_else(|| usize::try_from(Decimal::of(value)?.units_at(0)?).ok())
}

#[cfg(test)]
mod tests {
    use super::super::pattern::PatternCache;
    use super::super::realistic::Hints;
    use super::{count, strings};
    use serde_json::{Value, json};

    fn first(schema: &Value) -> Option<String> {
        let keywords = schema.as_object().unwrap();
        let pattern = schema["pattern"].as_str().map(str::to_owned);
        let patterns: Vec<String> = pattern.into_iter().collect();
        strings(keywords, &patterns, &PatternCache::default(), Hints::default(), 1)
            .into_iter()
            .next()
    }

    #[test]
    fn default_text_is_truncated_and_repeated_to_the_bounds() {
        for (schema, expected) in [
            (json!({}), "example"),
            (json!({"maxLength": 3}), "exa"),
            (json!({"minLength": 9}), "exampleex"),
            (json!({"minLength": 2.0, "maxLength": 2.0}), "ex"),
            (json!({"maxLength": 0}), ""),
        ] {
            assert_eq!(first(&schema).as_deref(), Some(expected), "{schema}");
        }
    }

    #[test]
    fn format_takes_precedence_over_the_default_text() {
        assert_eq!(first(&json!({"format": "date"})).as_deref(), Some("2024-01-15"));
        assert_eq!(first(&json!({"format": "phone"})).as_deref(), Some("example"));
        assert_eq!(first(&json!({"format": "email", "maxLength": 8})).as_deref(), Some("a@b.co"));
    }

    #[test]
    fn default_text_is_used_if_the_pattern_allows_it() {
        assert_eq!(first(&json!({"pattern": "^[a-z]+$"})).as_deref(), Some("example"));
        assert_eq!(first(&json!({"pattern": "^[A-Z]{5}$"})).as_deref(), Some("AAAAA"));
    }

    #[test]
    fn common_form_is_used_if_the_pattern_describes_one() {
        for (pattern, expected) in [
            ("^[A-Z]{2}$", "US"),
            ("^([01]\\d|2[0-3]):[0-5]\\d$", "09:30"),
            ("^#[0-9a-f]{6}$", "#336699"),
        ] {
            assert_eq!(first(&json!({"pattern": pattern})).as_deref(), Some(expected), "{pattern}");
        }
    }

    #[test]
    fn pattern_match_grows_to_the_minimum_length() {
        assert_eq!(first(&json!({"pattern": "^[0-9]+$", "minLength": 4})).as_deref(), Some("1111"));
    }

    #[test]
    fn contradictory_lengths_yield_nothing() {
        assert_eq!(first(&json!({"minLength": 3, "maxLength": 2})), None);
    }

    #[test]
    fn count_can_be_a_float() {
        assert_eq!(count(json!({"minItems": 3.0}).as_object().unwrap(), "minItems"), Some(3));
    }
}
