//! Parses the requirements page: one table per section, one requirement per row.

use std::collections::{HashMap, HashSet};
use std::fmt;

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Requirement {
    pub(super) id: String,
    pub(super) tag: Option<String>,
    pub(super) text: String,
    pub(super) places: Vec<Reference>,
    pub(super) tests: Vec<Reference>,
    pub(super) status: Status,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Covered,
    Later,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Covered => "covered",
            Self::Later => "later",
        })
    }
}

/// A reference in backticks: `path`, `path::Item` or `path::Item::inner`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) path: String,
    pub(super) items: Vec<String>,
}

/// The requirements of a page, and the errors in its format.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) requirements: Vec<Requirement>,
    pub(super) problems: Vec<String>,
}

impl Requirement {
    /// The source document: the part of the id before the dash.
    pub(super) fn section(&self) -> &str {
        self.id.split('-').next().unwrap_or_default()
    }

    /// Returns whether the name is the id, section or tag of this requirement.
    pub(super) fn matches(&self, name: &str) -> bool {
        self.id == name || self.section() == name || self.tag.as_deref() == Some(name)
    }
}

pub(super) fn read(text: &str) -> Page {
    let mut page = Page::default();
    let mut section = "";
    let mut header: Option<Header> = None;
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title.split(':').next().unwrap_or_default().trim();
            header = None;
        }
        let Some(cells) = cells(line) else {
            header = None;
            continue;
        };
        match &header {
            None => header = Some(Header::new(&cells)),
            Some(_) if cells.iter().all(|cell| is_separator(cell)) => {}
            Some(header) => match header.requirement(section, &cells) {
                Ok(requirement) => page.requirements.push(requirement),
                Err(problem) => page.problems.push(problem),
            },
        }
    }
    page.problems.extend(repeated(&page.requirements));
    if page.requirements.is_empty() {
        page.problems.push("there is no requirement on the page".to_owned());
    }
    page
}

fn repeated(requirements: &[Requirement]) -> Vec<String> {
    let mut seen = HashSet::new();
    let again = requirements.iter().filter(|requirement| !seen.insert(&requirement.id));
    again.map(|requirement| format!("{}: the id is given twice", requirement.id)).collect()
}

/// Returns the cells of a row; `\|` is an escaped bar within a cell.
fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?.replace("\\|", "\0");
    Some(inner.split('|').map(|cell| cell.replace('\0', "|").trim().to_owned()).collect())
}

fn is_separator(cell: &str) -> bool {
    cell.contains('-') && cell.chars().all(|c| matches!(c, '-' | ':'))
}

/// The index of each column.
struct Header {
    columns: HashMap<String, usize>,
}

impl Header {
    fn new(cells: &[String]) -> Self {
        let columns = cells.iter().enumerate().map(|(index, name)| (name.clone(), index));
        Self { columns: columns.collect() }
    }

    fn requirement(&self, section: &str, cells: &[String]) -> Result<Requirement, String> {
        let cell = |name: &str| self.columns.get(name).and_then(|index| cells.get(*index));
        let id = cell("id").cloned().unwrap_or_default();
        let required = |name: &str| {
            let problem = || format!("{id}: the row has no column `{name}`");
            cell(name).map(String::as_str).ok_or_else(problem)
        };
        if !is_id_of(section, &id) {
            return Err(format!("{id}: not an id of section `{section}` (`{section}-01`)"));
        }
        if cells.len() != self.columns.len() {
            let (found, expected) = (cells.len(), self.columns.len());
            return Err(format!("{id}: the row has {found} cells, its table {expected} columns"));
        }
        Ok(Requirement {
            tag: cell("tag").filter(|tag| !tag.is_empty()).cloned(),
            text: required("requirement")?.to_owned(),
            places: references(&id, required("where")?)?,
            tests: references(&id, required("test")?)?,
            status: status(&id, required("status")?)?,
            id,
        })
    }
}

fn is_id_of(section: &str, id: &str) -> bool {
    let number = id.strip_prefix(section).and_then(|rest| rest.strip_prefix('-'));
    let is_number = |text: &str| text.len() >= 2 && text.bytes().all(|b| b.is_ascii_digit());
    !section.is_empty() && number.is_some_and(is_number)
}

fn status(id: &str, cell: &str) -> Result<Status, String> {
    match cell {
        "covered" => Ok(Status::Covered),
        "later" => Ok(Status::Later),
        other => Err(format!("{id}: the status `{other}` is neither `covered` nor `later`")),
    }
}

/// Returns the references of a cell, which are in backticks and separated by commas.
fn references(id: &str, cell: &str) -> Result<Vec<Reference>, String> {
    let mut found = Vec::new();
    for (index, part) in cell.split('`').enumerate() {
        if index % 2 == 1 {
            let mut names = part.split("::").map(str::to_owned);
            let path = names.next().unwrap_or_default();
            found.push(Reference { path, items: names.collect() });
        } else if !part.chars().all(|c| c == ',' || c.is_whitespace()) {
            return Err(format!("{id}: `{}` is not in backticks", part.trim()));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{Reference, Status, read};

    const HEADER: &str = "## 000: title\n\n| id | tag | requirement | where | test | status |\n\
                          | --- | --- | --- | :-- | --- | --- |\n";

    fn problem(row: &str) -> String {
        let page = read(&format!("{HEADER}| 000-99 | | fine | | | later |\n{row}\n"));
        let [problem] = page.problems.as_slice() else { panic!("{:?}", page.problems) };
        problem.clone()
    }

    #[test]
    fn all_cells_of_a_row_are_read() {
        let row = "| 000-01 | R-1 | yes \\| no | `a.rs`, `b.rs::B::c` | `t.rs::t` | covered |";
        let page = read(&format!("{HEADER}{row}\n"));
        assert_eq!(page.problems, [""; 0]);
        let requirement = &page.requirements[0];
        assert_eq!(requirement.id, "000-01");
        assert_eq!(requirement.tag.as_deref(), Some("R-1"));
        assert_eq!(requirement.text, "yes | no");
        assert_eq!(requirement.status, Status::Covered);
        let inner = Reference { path: "b.rs".into(), items: vec!["B".into(), "c".into()] };
        assert_eq!(requirement.places[1], inner);
        assert_eq!(requirement.tests.len(), 1);
    }

    #[test]
    fn columns_are_found_by_their_names() {
        let page = read(
            "## 7: x\n| status | test | where | requirement | id |\n|--|--|--|--|--|\n\
             | later | | | words | 7-01 |",
        );
        assert_eq!(page.requirements[0].text, "words");
        assert_eq!(page.requirements[0].tag, None);
    }

    #[test]
    fn duplicate_id_is_reported() {
        assert_eq!(problem("| 000-99 | | again | | | later |"), "000-99: the id is given twice");
    }

    #[test]
    fn id_of_another_section_is_reported() {
        assert!(problem("| 001-01 | | x | | | later |").contains("not an id of section `000`"));
        assert!(problem("| 000-1 | | x | | | later |").contains("not an id"));
    }

    #[test]
    fn unknown_status_is_reported() {
        assert!(problem("| 000-02 | | x | | | done |").contains("the status `done`"));
    }

    #[test]
    fn row_with_too_few_cells_is_reported() {
        assert!(problem("| 000-02 | x | | later |").contains("4 cells"));
    }

    #[test]
    fn text_in_a_reference_cell_is_reported() {
        assert!(
            problem("| 000-02 | | x | a.rs | | later |").contains("`a.rs` is not in backticks")
        );
    }

    #[test]
    fn page_without_requirements_is_reported() {
        assert_eq!(read("# Nothing here\n").problems.len(), 1);
    }
}
