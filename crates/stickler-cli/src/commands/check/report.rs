//! What a check came to: plain data that all formats are printed from.

use stickler::{Revision, Rule, Severity};
use stickler_protocol::lint::{ExampleState, LintFinding, SchemaState, ToolSummary};

use super::live::{Probed, Spared};
use crate::commands::counts::Counts;

/// A server or file, checked.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// What was checked, for people.
    pub(super) name: String,
    /// The file with the definitions, where there is one.
    pub(super) file: Option<String>,
    /// What the server says that it is.
    pub(super) server: Option<String>,
    pub(super) revision: Option<Revision>,
    pub(super) tools: Vec<ToolSummary>,
    pub(super) findings: Vec<Found>,
    /// How many findings the baseline knew.
    pub(super) known: usize,
    pub(super) probes: Vec<Probed>,
    pub(super) spared: Vec<Spared>,
}

/// One finding, whatever it comes from.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) rule: &'static Rule,
    pub(super) severity: Severity,
    pub(super) tool: Option<String>,
    /// JSON Pointer within the tool's definition, or within a message.
    pub(super) path: String,
    pub(super) message: String,
    pub(super) fix: String,
    /// Line and column, counted from 1, where there is a file.
    pub(super) place: Option<(usize, usize)>,
}

impl From<LintFinding> for Found {
    fn from(finding: LintFinding) -> Self {
        Self {
            rule: finding.rule,
            severity: finding.severity,
            tool: finding.tool,
            path: finding.path,
            message: finding.message,
            fix: finding.fix,
            place: None,
        }
    }
}

/// How many tools have what every tool should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Coverage {
    pub(super) tools: usize,
    pub(super) schema: usize,
    pub(super) description: usize,
    pub(super) example: usize,
    /// Examples that the server gives itself.
    pub(super) given: usize,
}

impl Report {
    pub(super) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.findings.iter().for_each(|found| counts.add(found.severity));
        counts
    }

    pub(super) fn counts_of(&self, tool: &str) -> Counts {
        let mut counts = Counts::default();
        self.of_tool(Some(tool)).for_each(|found| counts.add(found.severity));
        counts
    }

    /// The findings about a tool, or those about none.
    pub(super) fn of_tool<'r>(&'r self, tool: Option<&'r str>) -> impl Iterator<Item = &'r Found> {
        self.findings.iter().filter(move |found| found.tool.as_deref() == tool)
    }

    /// Whether there is something at least that bad.
    pub(super) fn reaches(&self, severity: Severity) -> bool {
        self.findings.iter().any(|found| found.severity >= severity)
    }

    pub(super) fn coverage(&self) -> Coverage {
        let count =
            |has: &dyn Fn(&ToolSummary) -> bool| self.tools.iter().filter(|tool| has(tool)).count();
        Coverage {
            tools: self.tools.len(),
            schema: count(&|tool| tool.schema == SchemaState::Usable),
            description: count(&|tool| tool.described),
            example: count(&|tool| tool.example != ExampleState::Missing),
            given: count(&|tool| tool.example == ExampleState::Given),
        }
    }

    pub(super) fn tokens(&self) -> usize {
        self.tools.iter().map(|tool| tool.tokens).sum()
    }
}
