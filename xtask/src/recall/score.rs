//! Compares the results with the key.

use serde_json::Value;
use stickler::{ValidationErrorKind, ValidationResult};

use super::case::Case;

/// The figures of one run.
#[derive(Debug, Default)]
pub(super) struct Score {
    calls: usize,
    detected: usize,
    names: usize,
    first: usize,
    among: usize,
    correctable: usize,
    corrected: usize,
    offered: usize,
    wrong: usize,
    missed_names: Vec<String>,
    missed_calls: Vec<String>,
    wrong_calls: Vec<String>,
}

impl Score {
    pub(super) fn add(&mut self, case: &Case, result: &ValidationResult) {
        self.calls += 1;
        self.detected += usize::from(!result.is_valid);
        if case.key.sure {
            self.add_names(case, result);
            self.add_correction(case, result);
        }
    }

    /// Scores the suggestions. Fields that belong elsewhere are judged by the corrected call.
    fn add_names(&mut self, case: &Case, result: &ValidationResult) {
        for (path, name) in &case.key.renames {
            let Some(name) = name.as_ref().filter(|name| !name.contains('/')) else { continue };
            let suggestions = result.errors.iter().find_map(|error| match &error.kind {
                ValidationErrorKind::UnknownField { suggestions, .. } if error.path == *path => {
                    Some(suggestions.as_slice())
                }
                _ => None,
            });
            let suggestions = suggestions.unwrap_or_default();
            self.names += 1;
            self.among += usize::from(suggestions.contains(name));
            if suggestions.first() == Some(name) {
                self.first += 1;
            } else {
                self.missed_names.push(format!(
                    "{}/{}: {path} means {name}, suggested {suggestions:?}",
                    case.server, case.tool
                ));
            }
        }
    }

    fn add_correction(&mut self, case: &Case, result: &ValidationResult) {
        let corrected: Option<Value> = result
            .corrected
            .as_ref()
            .and_then(|call| serde_json::from_str(call.arguments.get()).ok());
        let right = (!case.key.right.is_null()).then(|| normalized(&case.key.right));
        let is_right = corrected.is_some() && corrected.as_ref().map(normalized) == right;
        let loses = case.loses_meaning();
        let shown = |text: &str| format!("{}/{}: {} {text}", case.server, case.tool, case.guess);
        if right.is_some() && !loses {
            self.correctable += 1;
            self.corrected += usize::from(is_right);
            if corrected.is_none() {
                self.missed_calls.push(shown(&format!("means {}", case.key.right)));
            }
        }
        if let Some(corrected) = corrected {
            self.offered += 1;
            if loses || !is_right {
                self.wrong += 1;
                let right = &case.key.right;
                self.wrong_calls.push(shown(&format!("means {right}, corrected to {corrected}")));
            }
        }
    }

    pub(super) fn first(&self) -> f64 {
        percent(self.first, self.names)
    }

    pub(super) fn corrected(&self) -> f64 {
        percent(self.corrected, self.correctable)
    }

    pub(super) fn wrong(&self) -> f64 {
        percent(self.wrong, self.offered)
    }

    pub(super) fn line(&self, label: &str) -> String {
        format!(
            "recall, {label}: {} calls; detected {:.1} %; right name first {:.1} % (among three {:.1} %) of {}; corrected {:.1} % of {}; wrong {:.1} % of {} offered",
            self.calls,
            percent(self.detected, self.calls),
            self.first(),
            percent(self.among, self.names),
            self.names,
            self.corrected(),
            self.correctable,
            self.wrong(),
            self.offered,
        )
    }

    pub(super) fn row(&self, label: &str) -> String {
        format!(
            "| {label} | {:.1} % | {:.1} % | {:.1} % of {} |",
            self.first(),
            self.corrected(),
            self.wrong(),
            self.offered
        )
    }

    /// Returns what was missed, at most `count` lines of each kind.
    pub(super) fn missed(&self, count: usize) -> Vec<String> {
        let lists = [
            ("name missed", &self.missed_names),
            ("not corrected", &self.missed_calls),
            ("wrongly corrected", &self.wrong_calls),
        ];
        let mut lines = Vec::new();
        for (label, list) in lists {
            lines.extend(list.iter().take(count).map(|line| format!("{label}: {line}")));
            if list.len() > count {
                lines.push(format!("{label}: … and {} more", list.len() - count));
            }
        }
        lines
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    100.0 * number(part) / number(whole.max(1))
}

/// Returns the value with JSON texts in strings parsed: their whitespace is not a difference.
fn normalized(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), normalized(value))).collect()
        }
        Value::Array(items) => items.iter().map(normalized).collect(),
        Value::String(text) if text.starts_with(['[', '{']) => serde_json::from_str(text)
            .map_or_else(
                |_| value.clone(),
                |inner: Value| Value::Array(vec!["json".into(), inner]),
            ),
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Score, normalized, percent};

    #[test]
    fn json_in_strings_is_compared_without_whitespace() {
        assert_eq!(normalized(&json!({"a": "[1, 2]"})), normalized(&json!({"a": "[1,2]"})));
        assert_ne!(normalized(&json!({"a": "[1]"})), normalized(&json!({"a": [1]})));
        assert_eq!(normalized(&json!("[text")), json!("[text"));
    }

    #[test]
    fn figures_of_no_calls_are_zero() {
        assert!(percent(0, 0) == 0.0 && Score::default().wrong() == 0.0);
    }
}
