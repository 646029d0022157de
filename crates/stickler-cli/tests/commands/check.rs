//! `stickler check` on files of tool definitions: findings, output formats and exit codes.

use crate::support::command::{Run, Scratch, fixture, stickler};
use serde_json::{Value, json};

fn lines(run: &Run) -> Vec<Value> {
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Tool, rule, severity, path and line of every finding.
fn findings(run: &Run) -> Vec<(String, String, String, String, u64)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let lines = lines(run);
    let found = lines.iter().filter(|line| line.get("summary").is_none());
    found
        .map(|one| {
            let line = one["line"].as_u64().unwrap_or_default();
            let [tool, rule, severity, path] =
                ["tool", "rule", "severity", "path"].map(|key| text(&one[key]));
            (tool, rule, severity, path, line)
        })
        .collect()
}

fn check(options: &[&str]) -> Run {
    let file = fixture("check.tools.json");
    let mut arguments = vec!["check", "--tools", &file];
    arguments.extend(options);
    stickler(&arguments)
}

/// A tool list without findings.
fn clean_list() -> Scratch {
    let tool = json!([{
        "name": "clean", "description": "Does nothing.",
        "inputSchema": { "type": "object", "properties": {}, "additionalProperties": false },
    }]);
    Scratch::new(&format!("clean-{:?}", std::thread::current().id()), tool.to_string().as_bytes())
}

#[test]
fn tool_list_without_findings_exits_with_0() {
    let file = clean_list();
    let run = stickler(&["check", "--deny", "note", "--tools", file.path()]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.ends_with("1 tool: no findings\n"), "{}", run.stdout);
}

#[test]
fn every_finding_has_a_path_and_a_line() {
    let run = check(&["--format", "json"]);
    assert_eq!(run.status, 1);
    let found = findings(&run);
    let has = |tool: &str, rule: &str, severity: &str, path: &str, line: u64| {
        let [tool, rule, severity, path] = [tool, rule, severity, path].map(str::to_owned);
        let expected = (tool, rule, severity, path, line);
        assert!(found.contains(&expected), "{expected:?} is not among {found:#?}");
    };
    has("write note", "no-description", "warning", "/description", 15);
    has("write note", "tool-name", "warning", "/name", 16);
    has("write note", "client-array-items", "warning", "/inputSchema/properties/tags", 21);
    let keyword = "/inputSchema/properties/tags/maxitems";
    has("write note", "unknown-keyword", "warning", keyword, 21);
    has("write note", "bad-default", "warning", "/inputSchema/properties/size/default", 22);
    has("write note", "required-not-listed", "warning", "/inputSchema/required/1", 24);
    has("write note", "open-object", "note", "/inputSchema", 17);
    has("find", "STK-108", "error", "/inputSchema", 30);
    has("find", "unresolvable-ref", "error", "/inputSchema/properties/where/$ref", 32);
    assert!(found.iter().all(|(tool, ..)| tool != "read_note"), "{found:#?}");
}

#[test]
fn json_output_ends_with_the_summary() {
    let run = check(&["--format", "json"]);
    let lines = lines(&run);
    let summary = &lines.last().unwrap()["summary"];
    let coverage = json!({
        "tools": 3, "schema": 2, "description": 2, "example": 1, "example_given": 1,
    });
    assert_eq!(summary["coverage"], coverage);
    let count = |severity: &str| findings(&run).iter().filter(|one| one.2 == severity).count();
    for (key, severity) in [("errors", "error"), ("warnings", "warning"), ("notes", "note")] {
        assert_eq!(summary[key], count(severity), "{key}");
    }
    let examples: Vec<&Value> =
        summary["tools"].as_array().unwrap().iter().map(|tool| &tool["example"]).collect();
    assert_eq!(examples, ["given", "none", "none"]);
}

#[test]
fn every_reported_rule_has_an_explanation() {
    for (_, rule, ..) in findings(&check(&["--format", "json"])) {
        assert_eq!(stickler(&["explain", &rule]).status, 0, "{rule}");
    }
}

#[test]
fn text_output_matches_the_snapshot() {
    let run = check(&[]);
    let text = run.stdout.replace(&fixture("check.tools.json"), "check.tools.json");
    insta::assert_snapshot!("findings_as_text", text);
}

#[test]
fn deny_option_sets_the_severity_that_fails_the_check() {
    let warning = json!([{ "name": "a", "inputSchema": { "type": "object", "properties": {} } }]);
    let warning = Scratch::new("deny.json", warning.to_string().as_bytes());
    let status =
        |deny: &str| stickler(&["check", "--deny", deny, "--tools", warning.path()]).status;
    assert_eq!([status("error"), status("warning"), status("note")], [0, 1, 1]);
    assert_eq!(stickler(&["check", "--tools", warning.path()]).status, 0);
}

#[test]
fn sarif_output_has_the_required_members() {
    let run = check(&["--format", "sarif"]);
    assert_eq!(run.status, 1);
    let log: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().contains("sarif-2.1.0"));
    let run = &log["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "stickler");
    let rules = driver["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    assert!(results.len() > 8);
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let location = &result["locations"][0];
        let physical = &location["physicalLocation"];
        assert!(
            physical["artifactLocation"]["uri"].as_str().unwrap().ends_with("check.tools.json")
        );
        assert!(physical["region"]["startLine"].as_u64().unwrap() >= 1);
        assert!(location["logicalLocations"][0]["fullyQualifiedName"].is_string());
        assert!(result["partialFingerprints"].is_object());
    }
    for rule in rules {
        assert!(rule["shortDescription"]["text"].is_string() && rule["help"]["text"].is_string());
    }
}

#[test]
fn junit_output_has_a_case_per_tool_and_escapes_names() {
    let special = json!([{ "name": "<a & \"b\">\u{1b}", "description": "d" }]);
    let special = Scratch::new("special.json", special.to_string().as_bytes());
    let run = stickler(&["check", "--format", "junit", "--tools", special.path()]);
    assert_eq!(run.status, 1);
    let xml = &run.stdout;
    assert!(xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites"));
    assert!(xml.contains("tests=\"2\" failures=\"1\""), "{xml}");
    assert!(xml.contains("name=\"&lt;a &amp; &quot;b&quot;&gt;\u{fffd}\""), "{xml}");
    assert!(xml.contains("<failure type=\"no-input-schema\""), "{xml}");
    for tag in ["testsuites", "testsuite", "testcase", "failure", "system-out"] {
        let open =
            xml.matches(&format!("<{tag}>")).count() + xml.matches(&format!("<{tag} ")).count();
        let closed = xml.matches(&format!("</{tag}>")).count();
        let empty =
            xml.lines().filter(|line| line.contains(&format!("<{tag} ")) && line.ends_with("/>"));
        assert_eq!(open, closed + empty.count(), "{tag} in {xml}");
    }
}

#[test]
fn baseline_suppresses_known_findings() {
    let baseline = Scratch::new("baseline.json", b"");
    let with = |extra: &[&str]| {
        let mut options = vec!["--format", "json", "--baseline", baseline.path()];
        options.extend(extra);
        check(&options)
    };
    assert_eq!(with(&[]).status, 2, "an empty file is not a baseline");
    let written = with(&["--write-baseline"]);
    assert_eq!((written.status, written.stdout.as_str()), (0, ""));
    let run = with(&["--deny", "note"]);
    assert_eq!((run.status, findings(&run).len()), (0, 0));
    assert_ne!(lines(&run)[0]["summary"]["known"], 0);
    // A new finding is reported, and so is a baseline entry without a finding.
    let text = std::fs::read_to_string(baseline.path()).unwrap();
    std::fs::write(baseline.path(), text.replace("no-description", "no-example")).unwrap();
    let run = with(&["--deny", "warning"]);
    let rules: Vec<String> = findings(&run).into_iter().map(|one| one.1).collect();
    assert_eq!((run.status, rules), (1, vec!["no-description".to_owned()]));
    assert!(run.stderr.contains("no longer found"), "{}", run.stderr);
}

#[test]
fn unreadable_input_or_invalid_option_exits_with_2() {
    let none = Scratch::new("no-tools.json", b"{}");
    let truncated = Scratch::new("truncated.json", b"[{\"name\":");
    for arguments in [
        vec!["check"],
        vec!["check", "--tools", "/nowhere/tools.json"],
        vec!["check", "--tools", none.path()],
        vec!["check", "--tools", truncated.path()],
        vec!["check", "--tools", none.path(), "--", "server"],
        vec!["check", "--url", "ftp://example.com"],
        vec!["check", "--deny", "everything", "--tools", none.path()],
        vec!["check", "--write-baseline", "--tools", none.path()],
    ] {
        let run = stickler(&arguments);
        assert_eq!(run.status, 2, "{arguments:?}: {}", run.stderr);
        assert!(!run.stderr.is_empty() && run.stdout.is_empty());
    }
}
