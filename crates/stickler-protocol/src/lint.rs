//! Lints tool definitions: [`stickler::lint`] with the protocol schema's definition of a tool.
//!
//! ```
//! use stickler_protocol::lint::{LintOptions, lint};
//!
//! let list = br#"{"tools":[{"name":"echo","inputSchema":{"type":"object",
//!     "properties":{"text":{"type":"strng"}},"additionalProperties":false}}]}"#;
//! let report = lint(list, &LintOptions::default()).unwrap();
//! assert_eq!(report.findings[0].rule.id, "no-description");
//! assert!(report.findings.iter().any(|one| one.rule.id == "STK-108"));
//! ```

use stickler::tape::Node;
use stickler::{Revision, ToolListError, ValidationConfig, ValidationError};

pub use stickler::lint::{
    ExampleState, LintFinding, LintOptions, LintReport, SchemaState, ToolSummary,
};

use crate::protocol::SchemaValidator;

/// Lints a `tools/list` result, a JSON-RPC response that contains one, or an array of tools.
pub fn lint(list: &[u8], options: &LintOptions) -> Result<LintReport, ToolListError> {
    stickler::lint::lint_with(list, options, &|entry| schema_errors(entry, options))
}

/// Returns the errors of a list entry against the `Tool` definition of the revision.
fn schema_errors(entry: Node<'_>, options: &LintOptions) -> Vec<ValidationError> {
    let revision = options.revision.unwrap_or(Revision::LATEST);
    let validator = SchemaValidator::built_in(revision);
    if validator.is_valid("Tool", entry) {
        return Vec::new();
    }
    let mut config = ValidationConfig::default();
    config.limits = options.limits;
    validator.explain("Tool", entry, &config)
}
