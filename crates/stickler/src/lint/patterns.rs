//! Reports regular expressions that are costly or not portable.

use regex_syntax::hir::{Hir, HirKind};
use serde_json::Value;

use super::report::Findings;
use super::subschemas::Subschema;
use crate::arguments::cut;
use crate::config::Limits;
use crate::example::to_regex_syntax;
use crate::rules::tools;
use crate::schema::is_too_large;
use crate::tape::escape_segment;

/// Maximum length of a pattern in a message, in characters.
const MAX_SHOWN_CHARS: usize = 80;

pub(super) fn check(subschemas: &[Subschema<'_>], limits: &Limits, findings: &mut Findings) {
    for subschema in subschemas {
        let mut check_pattern = |pattern: &str, path: String| {
            if let Some(problem) = problem(pattern, limits) {
                let message = format!("the pattern `{}` {problem}", cut(pattern, MAX_SHOWN_CHARS));
                findings.add(&tools::COSTLY_PATTERN, path, message);
            }
        };
        if let Some(Value::String(pattern)) = subschema.get("pattern") {
            check_pattern(pattern, format!("{}/pattern", subschema.pointer));
        }
        if let Some(Value::Object(patterns)) = subschema.get("patternProperties") {
            for pattern in patterns.keys() {
                let key = escape_segment(pattern);
                check_pattern(pattern, format!("{}/patternProperties/{key}", subschema.pointer));
            }
        }
    }
}

fn problem(pattern: &str, limits: &Limits) -> Option<String> {
    if let Some(feature) = backtracking_feature(pattern) {
        return Some(format!("uses {feature}"));
    }
    if is_too_large(pattern, limits) {
        let limit = limits.pattern_bytes;
        return Some(format!("needs more than {limit} bytes when compiled"));
    }
    let hir = regex_syntax::Parser::new().parse(&to_regex_syntax(pattern)).ok()?;
    has_nested_repetition(&hir).then(|| {
        "has a nested repetition, which takes exponential time in backtracking engines".to_owned()
    })
}

/// Returns the first use of lookaround or a backreference outside of character classes.
fn backtracking_feature(pattern: &str) -> Option<&'static str> {
    let mut rest = pattern;
    let mut in_class = false;
    loop {
        let first = rest.chars().next()?;
        let escaped = rest.strip_prefix('\\').and_then(|rest| rest.chars().next());
        match (first, escaped) {
            ('\\', Some('1'..='9' | 'k')) if !in_class => return Some("a backreference"),
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

/// Whether the pattern contains a directly nested repetition such as `(a+)+`, which can split the
/// same text in exponentially many ways.
fn has_nested_repetition(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Repetition(outer) => {
            let inner = strip_captures(&outer.sub);
            let is_nested = matches!(inner.kind(), HirKind::Repetition(one) if one.max.is_none());
            (outer.max.is_none() && is_nested) || has_nested_repetition(&outer.sub)
        }
        HirKind::Capture(group) => has_nested_repetition(&group.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().any(has_nested_repetition)
        }
        _ => false,
    }
}

fn strip_captures(hir: &Hir) -> &Hir {
    match hir.kind() {
        HirKind::Capture(group) => strip_captures(&group.sub),
        _ => hir,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{single, tool_findings, with_parameter};
    use super::problem;
    use crate::config::Limits;
    use serde_json::json;

    #[test]
    fn costly_patterns_are_reported() {
        for (pattern, expected) in [
            ("^(?!x).*$", "lookaround"),
            ("(?<=a)b", "lookaround"),
            (r"(a)\1", "backreference"),
            ("^(a+)+$", "nested repetition"),
            ("^((?:[a-z]*))*$", "nested repetition"),
            ("^(((a{1,1000}){1,1000}){1,1000})$", "when compiled"),
        ] {
            let problem = problem(pattern, &Limits::default());
            assert!(
                problem.as_ref().is_some_and(|one| one.contains(expected)),
                "{pattern} {problem:?}"
            );
        }
        let tool = with_parameter(json!({ "type": "string", "pattern": "^(?!x)" }));
        let path = "/inputSchema/properties/a/pattern";
        assert_eq!(tool_findings(tool), single("costly-pattern", "warning", path));
    }

    #[test]
    fn cheap_patterns_are_accepted() {
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
