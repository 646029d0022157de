//! What comes of examining a list.

use crate::rules::{Rule, Severity};

/// A list of tools, examined.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LintReport {
    /// The tools that have a name, in the order of the list.
    pub tools: Vec<ToolSummary>,
    /// What there is to say, tool by tool; what concerns the whole list comes last.
    pub findings: Vec<LintFinding>,
}

/// One tool in a line.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolSummary {
    /// Its place in the list.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Whether calls can be checked.
    pub schema: SchemaState,
    /// Whether it has a description.
    pub described: bool,
    /// Whether there is a valid call to show.
    pub example: ExampleState,
    /// What name, description and input schema cost a model, as an upper estimate.
    pub tokens: usize,
}

/// What there is of a tool's input schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaState {
    /// It compiles.
    Usable,
    /// It is there and cannot be used.
    Unusable,
    /// There is none.
    Missing,
}

/// Where a valid call to show comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExampleState {
    /// The server gives one, and it is valid.
    Given,
    /// One was made from the schema.
    Made,
    /// There is none.
    Missing,
}

/// One thing there is to say about a tool or about the list.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LintFinding {
    /// The rule.
    pub rule: &'static Rule,
    /// How bad it is here.
    pub severity: Severity,
    /// The tool's place in the list; `None` for the list itself.
    pub index: Option<usize>,
    /// The tool's name, where it has one.
    pub tool: Option<String>,
    /// JSON Pointer within the tool's definition; empty for the whole.
    pub path: String,
    /// A sentence for whoever can mend it.
    pub message: String,
    /// What to do.
    pub fix: String,
}

/// Findings as they come.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) list: Vec<LintFinding>,
    tool: Option<(usize, String)>,
}

impl Findings {
    /// What follows is about a tool.
    pub(super) fn begin(&mut self, index: usize, name: &str) {
        self.tool = Some((index, name.to_owned()));
    }

    /// What follows is about the list.
    pub(super) fn end(&mut self) {
        self.tool = None;
    }

    /// Adds a finding with the rule's own severity and fix, which the caller can change.
    pub(super) fn add(
        &mut self,
        rule: &'static Rule,
        path: impl Into<String>,
        message: impl Into<String>,
    ) -> Added<'_> {
        self.list.push(LintFinding {
            rule,
            severity: rule.severity,
            index: self.tool.as_ref().map(|(index, _)| *index),
            tool: self.tool.as_ref().map(|(_, name)| name.clone()),
            path: path.into(),
            message: message.into(),
            fix: rule.mend.to_owned(),
        });
        Added(self.list.last_mut())
    }
}

/// A finding that was just added.
pub(super) struct Added<'f>(Option<&'f mut LintFinding>);

impl Added<'_> {
    pub(super) fn severity(mut self, severity: Severity) -> Self {
        if let Some(finding) = &mut self.0 {
            finding.severity = severity;
        }
        self
    }

    pub(super) fn fix(mut self, fix: impl Into<String>) -> Self {
        if let Some(finding) = &mut self.0 {
            finding.fix = fix.into();
        }
        self
    }

    /// Of an entry that has no name.
    pub(super) fn index(mut self, index: usize) -> Self {
        if let Some(finding) = &mut self.0 {
            finding.index = Some(index);
        }
        self
    }
}
