//! What `stickler-protocol` needs of this crate beyond its public interface.
//!
//! Not a part of that interface: any of it can change in any version.

pub use crate::arguments::{ARGUMENTS, explain_part};
pub use crate::discovery::{Mirror, mirrored};
pub use crate::render::{Told, told};
pub use crate::schema::{Answer, Checker, CompiledSchema, Formats, SchemaRefusal};
