//! Validation of tool-call arguments against the tool's `inputSchema`, before the call is made.
//!
//! [`McpValidator`] returns a [`ValidationResult`]. A valid call takes the fast path in `verdict`;
//! only a rejected call is explained (`explain`, `closest_branch`, `wording`).

mod accepted;
mod closed;
mod closest_branch;
mod comparison_budgets;
#[cfg(test)]
mod complexity;
mod describe;
mod error;
mod explain;
mod field_candidates;
mod field_matches;
mod json_defects;
mod location;
mod phrases;
mod problem;
mod result;
mod selected_branches;
mod unexpected_fields;
mod unknown_fields;
mod unknown_tool;
mod validator;
mod verdict;
mod wording;

pub(crate) use accepted::Accepted;
pub(crate) use comparison_budgets::ComparisonBudgets;
pub(crate) use describe::{members, names, required_fields, type_of};
pub use error::{ValidationError, ValidationErrorKind};
pub(crate) use explain::Explanation;
pub use explain::explain_part;
pub(crate) use field_matches::Place;
pub(crate) use location::join;
pub(crate) use phrases::{cut, literal};
pub use result::{ARGUMENTS_POINTER, CorrectedCall, ValidationResult};
pub use validator::McpValidator;
pub(crate) use verdict::Verdict;
