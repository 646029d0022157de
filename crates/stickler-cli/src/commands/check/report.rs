//! The result of a check: plain data that all output formats render.

use stickler::{Revision, Rule, Severity};
use stickler_protocol::lint::{ExampleState, LintFinding, SchemaState, ToolSummary};

use super::live::{ProbeResult, SkippedTool};
use crate::commands::counts::Counts;

/// Result of checking a server or a file.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// Display name of the server or file.
    pub(super) name: String,
    /// File with the definitions, if any.
    pub(super) file: Option<String>,
    /// File that SARIF results refer to if the definitions are not in a file.
    pub(super) artifact: Option<String>,
    /// Name and version that the server reports.
    pub(super) server: Option<String>,
    pub(super) revision: Option<Revision>,
    pub(super) tools: Vec<ToolSummary>,
    pub(super) findings: Vec<CheckFinding>,
    /// Number of findings suppressed by the baseline.
    pub(super) known: usize,
    pub(super) probes: Vec<ProbeResult>,
    pub(super) skipped: Vec<SkippedTool>,
    /// Tools that were called with made-up arguments and may have reached the network.
    pub(super) network: Vec<String>,
}

/// A finding from the definitions, the messages or the probes.
#[derive(Debug, Clone)]
pub(super) struct CheckFinding {
    pub(super) rule: &'static Rule,
    pub(super) severity: Severity,
    pub(super) tool: Option<String>,
    /// JSON Pointer into the tool definition or the message.
    pub(super) path: String,
    pub(super) message: String,
    pub(super) fix: String,
    /// Line and column, counted from 1, if there is a file.
    pub(super) place: Option<(usize, usize)>,
}

impl From<LintFinding> for CheckFinding {
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

/// Number of tools with a schema, a description and an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Coverage {
    pub(super) tools: usize,
    pub(super) schema: usize,
    pub(super) description: usize,
    pub(super) example: usize,
    /// Examples that the definitions contain.
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

    /// Returns the findings about a tool, or those about no tool.
    pub(super) fn of_tool<'r>(
        &'r self,
        tool: Option<&'r str>,
    ) -> impl Iterator<Item = &'r CheckFinding> {
        self.findings.iter().filter(move |found| found.tool.as_deref() == tool)
    }

    /// Whether there is a finding of at least this severity.
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
