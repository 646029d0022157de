//! Reads JUnit reports, as pytest and node write them.

use roxmltree::{Document, Node};

use super::report::{TestCase, TestReport, TestStatus, message};

/// Reads a report; returns `None` if it is not one.
pub(super) fn read(xml: &str) -> Option<TestReport> {
    let document = Document::parse(xml).ok()?;
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
    Some(TestReport { cases: cases.map(|node| case(&node)).collect(), unnamed_skipped: 0 })
}

fn case(node: &Node<'_, '_>) -> TestCase {
    let child = |names: &[&str]| {
        let children = node.children().filter(Node::is_element);
        children.into_iter().find(|child| names.contains(&child.tag_name().name()))
    };
    let (status, detail) = match (child(&["failure", "error"]), child(&["skipped"])) {
        (Some(failure), _) => (TestStatus::Failed, Some(failure)),
        (None, Some(skipped)) => (TestStatus::Skipped, Some(skipped)),
        (None, None) => (TestStatus::Passed, None),
    };
    // Suites that contain a test within a file, as in node's `describe`.
    let mut suites: Vec<&str> = node
        .ancestors()
        .skip(1)
        .filter(|suite| suite.has_tag_name("testsuite"))
        .filter_map(|suite| suite.attribute("name"))
        .filter(|name| *name != "pytest")
        .collect();
    suites.reverse();
    suites.push(node.attribute("name").unwrap_or_default());
    let class = node.attribute("file").or_else(|| node.attribute("classname"));
    TestCase {
        name: suites.join(" > "),
        group: class.filter(|class| !class.is_empty() && *class != "test").map(str::to_owned),
        status,
        seconds: node.attribute("time").and_then(|time| time.parse().ok()),
        message: detail.and_then(|detail| reason(&detail)),
    }
}

/// Returns the text of a failure, which contains its `message`, or else the `message`.
fn reason(detail: &Node<'_, '_>) -> Option<String> {
    let short = detail.attribute("message").filter(|text| *text != "true");
    let long = detail.text().map(str::trim).filter(|text| !text.is_empty());
    message(long.or(short)?)
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::workspace::testing::report::TestStatus;

    #[test]
    fn reports_of_pytest_and_node_are_read() {
        let xml = r#"<?xml version="1.0"?><testsuites><testsuite name="pytest" tests="2">
            <testcase classname="test_calc" name="test_adds" time="0.001"/>
            <testcase classname="test_calc" name="test_fails" time="0.002"><failure
              message="assert 1 == 2">def test_fails():&#10;E   assert 1 == 2</failure></testcase>
            </testsuite><testsuite name="group"><testcase name="inner" classname="test"/>
            <testcase name="later" classname="test"><skipped message="true"/></testcase>
            </testsuite></testsuites>"#;
        let report = read(xml).unwrap();
        let found: Vec<(&str, TestStatus)> =
            report.cases.iter().map(|case| (case.name.as_str(), case.status)).collect();
        let expected = [
            ("test_adds", TestStatus::Passed),
            ("test_fails", TestStatus::Failed),
            ("group > inner", TestStatus::Passed),
            ("group > later", TestStatus::Skipped),
        ];
        assert_eq!(found, expected);
        assert_eq!(report.cases[0].group.as_deref(), Some("test_calc"));
        let message = report.cases[1].message.as_deref().unwrap();
        assert!(message.ends_with("E   assert 1 == 2"), "{message}");
        assert_eq!(read("no xml"), None);
    }
}
