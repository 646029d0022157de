//! Regular expressions that are costly or not portable.

use regex_syntax::hir::{Hir, HirKind};
use serde_json::Value;

use super::places::Place;
use super::report::Findings;
use crate::arguments::cut;
use crate::config::Limits;
use crate::example::to_regex_syntax;
use crate::rules::tools;
use crate::schema::is_too_large;
use crate::tape::escape_segment;

/// Longest pattern that is repeated in a message.
const SHOWN: usize = 80;

pub(super) fn check(places: &[Place<'_>], limits: &Limits, findings: &mut Findings) {
    for place in places {
        let mut tell = |pattern: &str, path: String| {
            if let Some(problem) = problem(pattern, limits) {
                let message = format!("the pattern `{}` {problem}", cut(pattern, SHOWN));
                findings.add(&tools::COSTLY_PATTERN, path, message);
            }
        };
        if let Some(Value::String(pattern)) = place.get("pattern") {
            tell(pattern, format!("{}/pattern", place.pointer));
        }
        if let Some(Value::Object(patterns)) = place.get("patternProperties") {
            for pattern in patterns.keys() {
                let key = escape_segment(pattern);
                tell(pattern, format!("{}/patternProperties/{key}", place.pointer));
            }
        }
    }
}

fn problem(pattern: &str, limits: &Limits) -> Option<String> {
    if let Some(feature) = special(pattern) {
        return Some(format!("uses {feature}"));
    }
    if is_too_large(pattern, limits) {
        let limit = limits.pattern_bytes;
        return Some(format!("takes more than {limit} bytes once it is compiled"));
    }
    let hir = regex_syntax::Parser::new().parse(&to_regex_syntax(pattern)).ok()?;
    repeats_repetition(&hir).then(|| {
        "repeats a repetition, which takes exponential time in engines that backtrack".to_owned()
    })
}

/// Lookaround and back references, wherever they are no part of a character class.
fn special(pattern: &str) -> Option<&'static str> {
    let mut rest = pattern;
    let mut in_class = false;
    loop {
        let first = rest.chars().next()?;
        let escaped = rest.strip_prefix('\\').and_then(|rest| rest.chars().next());
        match (first, escaped) {
            ('\\', Some('1'..='9' | 'k')) if !in_class => return Some("a back reference"),
            ('[', _) => in_class = true,
            (']', _) => in_class = false,
            ('(', _) if !in_class => {
                let openings = ["(?=", "(?!", "(?<=", "(?<!"];
                if openings.iter().any(|opening| rest.starts_with(opening)) {
                    return Some("lookaround");
                }
            }
            _ => {}
        }
        let length = first.len_utf8() + escaped.map_or(0, char::len_utf8);
        rest = rest.get(length..)?;
    }
}

/// `(a+)+`: without anything in between, the same text can be divided in very many ways.
fn repeats_repetition(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Repetition(outer) => {
            let inner = bare(&outer.sub);
            let is_nested = matches!(inner.kind(), HirKind::Repetition(one) if one.max.is_none());
            (outer.max.is_none() && is_nested) || repeats_repetition(&outer.sub)
        }
        HirKind::Capture(group) => repeats_repetition(&group.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().any(repeats_repetition)
        }
        _ => false,
    }
}

fn bare(hir: &Hir) -> &Hir {
    match hir.kind() {
        HirKind::Capture(group) => bare(&group.sub),
        _ => hir,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{found, one, with_parameter};
    use super::problem;
    use crate::config::Limits;
    use serde_json::json;

    #[test]
    fn costly_patterns() {
        for (pattern, said) in [
            ("^(?!x).*$", "lookaround"),
            ("(?<=a)b", "lookaround"),
            (r"(a)\1", "back reference"),
            ("^(a+)+$", "repeats a repetition"),
            ("^((?:[a-z]*))*$", "repeats a repetition"),
            ("^(((a{1,1000}){1,1000}){1,1000})$", "once it is compiled"),
        ] {
            let problem = problem(pattern, &Limits::default());
            assert!(
                problem.as_ref().is_some_and(|one| one.contains(said)),
                "{pattern} {problem:?}"
            );
        }
        let tool = with_parameter(json!({ "type": "string", "pattern": "^(?!x)" }));
        let path = "/inputSchema/properties/a/pattern";
        assert_eq!(found(tool), one("costly-pattern", "warning", path));
    }

    #[test]
    fn plain_patterns() {
        for pattern in [
            r"^\d{4}-\d{2}$",
            "[(?=]",
            r"\\1",
            "^([a-z]+,)*[a-z]+$",
            "^(a+)?$",
            "a(?:b|c)",
            "(",
            "",
        ] {
            assert_eq!(problem(pattern, &Limits::default()), None, "{pattern}");
        }
    }
}
