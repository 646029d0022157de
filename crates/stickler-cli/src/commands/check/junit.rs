//! Renders a report as JUnit XML, with one test case per tool and one for the server.

use std::fmt::Write as _;

use stickler::Severity;

use super::report::{CheckFinding, Report};

pub(super) fn print(report: &Report, deny: Severity) -> String {
    let mut cases = vec![case(report, None, deny)];
    cases.extend(report.tools.iter().map(|tool| case(report, Some(&tool.name), deny)));
    let failures = cases.iter().filter(|(_, failed)| *failed).count();
    let body: String = cases.iter().map(|(text, _)| text.as_str()).collect();
    let name = escape(&report.name);
    let totals = format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\"", cases.len());
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"stickler check\" {totals}>\n  \
         <testsuite name=\"{name}\" {totals} skipped=\"0\">\n\
         {body}  </testsuite>\n</testsuites>\n"
    )
}

/// Renders one test case and returns whether it failed.
fn case(report: &Report, tool: Option<&str>, deny: Severity) -> (String, bool) {
    let found: Vec<&CheckFinding> = report.of_tool(tool).collect();
    let denied: Vec<&CheckFinding> =
        found.iter().copied().filter(|one| one.severity >= deny).collect();
    let name = tool.unwrap_or(if report.file.is_some() { "the list" } else { "the server" });
    let mut text =
        format!("    <testcase classname=\"{}\" name=\"{}\"", escape(&report.name), escape(name));
    if found.is_empty() {
        text.push_str("/>\n");
        return (text, false);
    }
    text.push_str(">\n");
    if let Some(worst) = denied.iter().max_by_key(|one| one.severity) {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "      <failure type=\"{}\" message=\"{}\">{}</failure>",
            escape(worst.rule.id),
            escape(&worst.message),
            escape(&listing(&denied)),
        );
    }
    let rest: Vec<&CheckFinding> = found.into_iter().filter(|one| one.severity < deny).collect();
    if !rest.is_empty() {
        let _ = writeln!(text, "      <system-out>{}</system-out>", escape(&listing(&rest)));
    }
    text.push_str("    </testcase>\n");
    (text, !denied.is_empty())
}

fn listing(found: &[&CheckFinding]) -> String {
    let mut text = String::new();
    for one in found {
        let at = if one.path.is_empty() { String::new() } else { format!(" at {}", one.path) };
        let _ = writeln!(
            text,
            "{}[{}]{at}: {}\n  fix: {}",
            one.severity, one.rule.id, one.message, one.fix
        );
    }
    text
}

/// Escapes text for XML 1.0, which does not allow most control characters.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(character),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            control if control.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn characters_not_allowed_in_xml_are_replaced() {
        assert_eq!(
            escape("<a & \"b\">\u{1b}\u{0}\n"),
            "&lt;a &amp; &quot;b&quot;&gt;\u{fffd}\u{fffd}\n"
        );
    }
}
