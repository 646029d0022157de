//! Report of the linter: a summary of each tool, and the findings.

use crate::rules::{Rule, Severity};

/// The result of linting a tool list.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LintReport {
    /// The tools with a name, in the order of the list.
    pub tools: Vec<ToolSummary>,
    /// The findings by tool, followed by those about the whole list.
    pub findings: Vec<LintFinding>,
}

/// Summary of a tool.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolSummary {
    /// Index in the list.
    pub index: usize,
    /// Name of the tool.
    pub name: String,
    /// Whether calls can be validated.
    pub schema: SchemaState,
    /// Whether the tool has a description.
    pub described: bool,
    /// Whether there is a valid example call.
    pub example: ExampleState,
    /// Upper estimate of the tokens of name, description and input schema.
    pub tokens: usize,
}

/// State of a tool's input schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaState {
    /// The schema compiles.
    Usable,
    /// The schema cannot be used.
    Unusable,
    /// The tool does not have a schema.
    Missing,
}

/// Origin of the example call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExampleState {
    /// The server provides a valid example.
    Given,
    /// Stickler generated the example from the schema.
    Made,
    /// There is no valid example.
    Missing,
}

/// A finding about a tool or about the list.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LintFinding {
    /// The rule.
    pub rule: &'static Rule,
    /// The severity in this case.
    pub severity: Severity,
    /// Index of the tool; `None` for findings about the list.
    pub index: Option<usize>,
    /// Name of the tool, if it has one.
    pub tool: Option<String>,
    /// JSON Pointer into the tool's definition; empty for the whole definition.
    pub path: String,
    /// Description of the problem, for the author of the server.
    pub message: String,
    /// How to fix it.
    pub fix: String,
}

/// Collects findings.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) list: Vec<LintFinding>,
    tool: Option<(usize, String)>,
}

impl Findings {
    /// Attributes the following findings to a tool.
    pub(super) fn begin_tool(&mut self, index: usize, name: &str) {
        self.tool = Some((index, name.to_owned()));
    }

    /// Attributes the following findings to the list.
    pub(super) fn end_tool(&mut self) {
        self.tool = None;
    }

    /// Adds a finding with the default severity and fix of the rule, which the caller can override.
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
            fix: rule.fix.to_owned(),
        });
        Added(self.list.last_mut())
    }
}

/// Overrides parts of the finding that was just added.
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

    /// Sets the index for an entry without a name.
    pub(super) fn index(mut self, index: usize) -> Self {
        if let Some(finding) = &mut self.0 {
            finding.index = Some(index);
        }
        self
    }
}
