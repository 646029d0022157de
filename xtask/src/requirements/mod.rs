//! Checks that the code named in `docs/requirements.md` exists and that the tests named there pass.
//!
//! Whether a test proves its requirement is left to review.

mod check;
mod execute;
mod page;
mod source;

use std::collections::BTreeSet;
use std::fs;

use clap::Args;

use crate::Outcome;
use crate::paths;
use check::Checker;
use page::{Requirement, Status};

/// The page of the requirements.
const PAGE: &str = "docs/requirements.md";

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Check and print only this tag, id or source document
    #[arg(long, value_name = "TAG_OR_ID")]
    req: Option<String>,
    /// Check only that the tests exist; do not run them
    #[arg(long)]
    names_only: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let root = paths::root();
    let text = fs::read_to_string(root.join(PAGE))
        .map_err(|error| format!("cannot read {PAGE}: {error}"))?;
    let page = page::read(&text);
    // An unreadable row may belong to any tag or section.
    fail_on(&page.problems)?;
    let rows = match &options.req {
        None => page.requirements.iter().collect(),
        Some(name) => matching(name, &page.requirements),
    };
    let mut checker = Checker::new(&root);
    let mut problems: Vec<String> = rows.iter().flat_map(|row| checker.check(row)).collect();
    if problems.is_empty() && !options.names_only {
        let (failed, count) = execute::run(&root, &rows);
        print(&[format!("{count} tests named by {} requirements were run", rows.len())]);
        problems.extend(failed);
    }
    match &options.req {
        None => print(&all(&page.requirements, &problems)),
        Some(name) => print(&one(name, &rows, &problems)?),
    }
    fail_on(&problems)
}

/// Returns one line for each source document and each tag.
fn all(requirements: &[Requirement], problems: &[String]) -> Vec<String> {
    let sections: BTreeSet<&str> = requirements.iter().map(Requirement::section).collect();
    let tags: BTreeSet<&str> =
        requirements.iter().filter_map(|requirement| requirement.tag.as_deref()).collect();
    let names = sections.into_iter().chain(tags);
    names.map(|name| summary(name, &matching(name, requirements), problems)).collect()
}

/// Returns the summary of a document, tag or id, followed by its rows.
fn one(name: &str, rows: &[&Requirement], problems: &[String]) -> Result<Vec<String>, String> {
    if rows.is_empty() {
        return Err(format!("no requirement in {PAGE} has the tag, id or section `{name}`"));
    }
    let mut lines = vec![summary(name, rows, problems)];
    lines.extend(rows.iter().map(|row| format!("  {} {}: {}", row.id, row.status, row.text)));
    Ok(lines)
}

fn matching<'r>(name: &str, requirements: &'r [Requirement]) -> Vec<&'r Requirement> {
    requirements.iter().filter(|requirement| requirement.matches(name)).collect()
}

fn summary(name: &str, rows: &[&Requirement], problems: &[String]) -> String {
    let later = rows.iter().filter(|row| row.status == Status::Later).count();
    let broken = |row: &&&Requirement| {
        problems.iter().any(|problem| problem.starts_with(&format!("{}:", row.id)))
    };
    let verdict = match rows.iter().filter(broken).count() {
        0 if later == rows.len() => "LATER",
        0 => "COVERED",
        _ => "NOT COVERED",
    };
    let noun = if rows.len() == 1 { "requirement" } else { "requirements" };
    format!("{name}: {verdict} ({} {noun}, {later} later)", rows.len())
}

fn fail_on(problems: &[String]) -> Outcome {
    if problems.is_empty() {
        return Ok(());
    }
    Err(format!("{PAGE} has errors:\n  {}", problems.join("\n  ")))
}

#[allow(clippy::print_stdout)]
fn print(lines: &[String]) {
    for line in lines {
        println!("{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::page::{Requirement, read};
    use super::{Options, all, fail_on, matching, one, run};

    const PAGE: &str = "\
## 000: first
| id | requirement | where | test | status |
| --- | --- | --- | --- | --- |
| 000-01 | a | `x.rs` | `t.rs::t` | covered |
| 000-02 | b | | | later |
## 001: second
| id | tag | requirement | where | test | status |
| --- | --- | --- | --- | --- | --- |
| 001-01 | RISK | c | | | later |
";

    fn requirements() -> Vec<Requirement> {
        let page = read(PAGE);
        assert_eq!(page.problems, [""; 0]);
        page.requirements
    }

    #[test]
    fn every_document_and_tag_has_a_line() {
        let lines = all(&requirements(), &[]);
        assert_eq!(
            lines,
            [
                "000: COVERED (2 requirements, 1 later)",
                "001: LATER (1 requirement, 1 later)",
                "RISK: LATER (1 requirement, 1 later)"
            ]
        );
    }

    #[test]
    fn problem_affects_only_the_line_of_its_document() {
        let lines = all(&requirements(), &["000-01: there is no file `x.rs`".to_owned()]);
        assert_eq!(lines[0], "000: NOT COVERED (2 requirements, 1 later)");
        assert_eq!(lines[1], "001: LATER (1 requirement, 1 later)");
    }

    #[test]
    fn requirements_are_found_by_tag_id_and_document() {
        for name in ["RISK", "001-01", "001"] {
            let lines = one(name, &matching(name, &requirements()), &[]).unwrap();
            assert_eq!(lines[0], format!("{name}: LATER (1 requirement, 1 later)"));
            assert_eq!(lines[1], "  001-01 later: c");
        }
    }

    #[test]
    fn unknown_name_is_an_error() {
        let error =
            run(&Options { req: Some("no-such-tag".to_owned()), names_only: true }).unwrap_err();
        assert!(error.contains("`no-such-tag`"), "{error}");
        assert!(matching("00", &requirements()).is_empty(), "no prefixes");
    }

    #[test]
    fn all_problems_are_reported() {
        let error = fail_on(&["a: one".to_owned(), "b: two".to_owned()]).unwrap_err();
        assert!(error.contains("a: one\n  b: two"), "{error}");
        assert_eq!(fail_on(&[]), Ok(()));
    }

    #[test]
    fn requirements_page_is_valid() {
        assert_eq!(run(&Options { req: None, names_only: true }), Ok(()));
    }
}
