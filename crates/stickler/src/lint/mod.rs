//! Linter for tool definitions: mistakes, omissions, and problems for clients and models.
//!
//! The caller passes the validation against the protocol's definition of a tool, because that
//! definition depends on the revision. `stickler_protocol::lint::lint` does so.
//!
//! Each group of rules has one file. A finding is an error only if the protocol or JSON Schema
//! forbids the definition or if the tool cannot be used; everything else is advice.

mod clients;
mod contradictions;
mod cost;
mod definition;
mod examples;
mod headers;
mod keywords;
mod names;
mod parameters;
mod patterns;
mod report;
mod schemas;
mod subject;
mod subschemas;
#[cfg(test)]
mod testing;

pub use report::{ExampleState, LintFinding, LintReport, SchemaState, ToolSummary};

use crate::arguments::ValidationError;
use crate::config::Limits;
use crate::discovery::{LIST_DEPTH, ToolList, ToolListError};
use crate::revision::Revision;
use crate::tape::{Node, TapeBuffer};
use report::Findings;
use subject::Subject;

/// Options of the linter.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LintOptions {
    /// The revision of the server, if known. It determines what is forbidden.
    pub revision: Option<Revision>,
    /// Limits for schemas and lists.
    pub limits: Limits,
}

impl LintOptions {
    /// Sets the revision of the server.
    #[must_use]
    pub fn with_revision(mut self, revision: Option<Revision>) -> Self {
        self.revision = revision;
        self
    }
}

/// Validates an entry of the list against the protocol's definition of a tool. The paths of the errors
/// are relative to the entry.
pub type ProtocolErrors<'s> = dyn Fn(Node<'_>) -> Vec<ValidationError> + 's;

/// Lints a `tools/list` result, a JSON-RPC response that contains one, or an array of tools.
///
/// ```
/// use stickler::lint::{LintOptions, lint_with};
///
/// let list = br#"{"tools":[{"name":"echo","inputSchema":{"type":"object",
///     "properties":{"text":{"type":"strng"}},"additionalProperties":false}}]}"#;
/// let report = lint_with(list, &LintOptions::default(), &|_| Vec::new()).unwrap();
/// assert_eq!(report.findings[0].rule.id, "no-description");
/// assert!(report.findings.iter().any(|one| one.rule.id == "STK-108"));
/// ```
pub fn lint_with(
    list: &[u8],
    options: &LintOptions,
    protocol_errors: &ProtocolErrors<'_>,
) -> Result<LintReport, ToolListError> {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(list, LIST_DEPTH).map_err(ToolListError::Syntax)?;
    let entries = ToolList::entries(tape.root()).ok_or(ToolListError::NoTools)?;
    let mut findings = Findings::default();
    let mut tools = Vec::new();
    let mut seen_names = names::SeenNames::default();
    for (index, entry) in entries.elements().enumerate().take(options.limits.tools_per_server) {
        let Some(subject) = Subject::read(index, entry, &options.limits) else {
            definition::report_unnamed(index, &mut findings);
            continue;
        };
        findings.begin_tool(index, &subject.definition.name);
        definition::check(&subject, entry, options.revision, protocol_errors, &mut findings);
        seen_names.check(&subject, &mut findings);
        schemas::check(&subject, &options.limits, &mut findings);
        let example = examples::check(&subject, &options.limits, &mut findings);
        for (base, schema) in subject.schemas() {
            let subschemas = subschemas::collect(schema, base);
            keywords::check(&subschemas, &mut findings);
            contradictions::check(&subschemas, &mut findings);
            patterns::check(&subschemas, &options.limits, &mut findings);
        }
        if let Some(schema) = subject.input() {
            let subschemas = subschemas::collect(schema, "/inputSchema");
            parameters::check(&subschemas, &mut findings);
            headers::check(&subschemas, &mut findings);
            clients::check(&subject, &subschemas, &mut findings);
        }
        let tokens = cost::check(&subject, &mut findings);
        tools.push(subject.summary(example, tokens));
    }
    findings.end_tool();
    cost::check_list(&tools, &mut findings);
    clients::check_list(&tools, &mut findings);
    Ok(LintReport { tools, findings: findings.list })
}
