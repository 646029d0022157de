//! Tool definitions, examined: what is wrong with them, what is missing, what will trouble clients
//! and models.
//!
//! What the protocol's own definition of a tool has against an entry is asked of the caller, because
//! that definition depends on the revision: `stickler_protocol::lint::lint` gives the answer.
//!
//! One file a family of rules. A finding is an error only where the protocol or JSON Schema forbids
//! something or where a tool cannot be used; everything else is advice.

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
mod places;
mod report;
mod schemas;
mod subject;
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

/// How a list is examined.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LintOptions {
    /// The revision that the server speaks, where it is known: it decides what is forbidden.
    pub revision: Option<Revision>,
    /// How much is too much.
    pub limits: Limits,
}

impl LintOptions {
    /// For a server that speaks a revision.
    #[must_use]
    pub fn with_revision(mut self, revision: Option<Revision>) -> Self {
        self.revision = revision;
        self
    }
}

/// What the protocol's definition of a tool has against an entry of the list, with paths from the
/// entry on.
pub type Shape<'s> = dyn Fn(Node<'_>) -> Vec<ValidationError> + 's;

/// Examines a `tools/list` result, a JSON-RPC response with one, or an array of tools.
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
    shape: &Shape<'_>,
) -> Result<LintReport, ToolListError> {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(list, LIST_DEPTH).map_err(ToolListError::Syntax)?;
    let entries = ToolList::entries(tape.root()).ok_or(ToolListError::NoTools)?;
    let mut findings = Findings::default();
    let mut tools = Vec::new();
    let mut known = names::Known::default();
    for (index, entry) in entries.elements().enumerate().take(options.limits.tools_per_server) {
        let Some(subject) = Subject::read(index, entry, &options.limits) else {
            definition::nameless(index, &mut findings);
            continue;
        };
        findings.begin(index, &subject.definition.name);
        definition::check(&subject, entry, options.revision, shape, &mut findings);
        known.check(&subject, &mut findings);
        schemas::check(&subject, &options.limits, &mut findings);
        let example = examples::check(&subject, &options.limits, &mut findings);
        for (base, schema) in subject.schemas() {
            let places = places::of(schema, base);
            keywords::check(&places, &mut findings);
            contradictions::check(&places, &mut findings);
            patterns::check(&places, &options.limits, &mut findings);
        }
        if let Some(schema) = subject.input() {
            let places = places::of(schema, "/inputSchema");
            parameters::check(&places, &mut findings);
            headers::check(&places, &mut findings);
            clients::check(&subject, &places, &mut findings);
        }
        let tokens = cost::check(&subject, &mut findings);
        tools.push(subject.summary(example, tokens));
    }
    findings.end();
    cost::check_list(&tools, &mut findings);
    clients::check_list(&tools, &mut findings);
    Ok(LintReport { tools, findings: findings.list })
}
