//! Renders a rejected call as something the caller can act on: a help prompt, a retry observation,
//! a JSON-RPC error or a tool result.
//!
//! The only inputs are the validation result and the tool's schema; the same input always gives the
//! same bytes.

mod detail;
mod fields;
mod help;
mod observation;
mod record;
mod rejection;
mod reported_finding;
mod tokens;
mod unknown_tool;

pub(crate) use help::CLOSING;
pub use help::HelpPrompt;
pub use observation::{ObservedError, RetryObservation};
pub use record::{CallRecord, CorrectedRecord, EditRecord, ErrorRecord};
pub(crate) use rejection::VALIDATION_KEY;
pub use rejection::{AnswerForm, CallAnswer, CallRejection};
pub use reported_finding::{ReportedFinding, reported_findings};
pub(crate) use tokens::cut as cut_to_tokens;
pub use tokens::estimate as estimate_tokens;
