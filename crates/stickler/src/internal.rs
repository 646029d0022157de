//! Items that `stickler-protocol` uses in addition to the public API of this crate.
//!
//! They are not covered by semantic versioning.

pub use crate::arguments::{ARGUMENTS_POINTER, explain_part};
pub use crate::discovery::{ParamHeader, param_header_values};
pub use crate::render::{ReportedFinding, reported_findings};
pub use crate::schema::{Answer, Checker, CompiledSchema, SchemaRejection};
