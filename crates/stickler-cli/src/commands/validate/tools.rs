//! The file of tool definitions.

use std::path::Path;

use stickler::{McpValidator, ToolList};

use super::SERVER;
use crate::exit::Failure;
use crate::style::complain;

/// Larger than any list anyone has, and what a tape can address.
const LARGEST_FILE: u64 = 1 << 28;

/// A file of tool definitions, as it is.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let metadata = std::fs::metadata(path).map_err(|error| unusable(path, error))?;
    if metadata.len() >= LARGEST_FILE {
        return Err(unusable(path, format!("{} bytes are too many", metadata.len())));
    }
    std::fs::read(path).map_err(|error| unusable(path, error))
}

pub(crate) fn unusable(path: &Path, reason: impl std::fmt::Display) -> Failure {
    Failure::Usage(format!("cannot use the tools in `{}`: {reason}", path.display()))
}

/// Learns the tools of a file. What is odd about single tools is said and does not stop anything.
pub(super) fn learn(validator: &McpValidator, path: &Path) -> Result<(), Failure> {
    let name = path.display();
    let bytes = read(path)?;
    let list = ToolList::read(&bytes, &validator.config().limits)
        .map_err(|error| unusable(path, error))?;
    if list.nameless > 0 {
        complain("warning", &format!("{} entries of `{name}` have no name", list.nameless));
    }
    let discovery = validator.cache().populate(SERVER, &list.tools);
    for refused in &validator.cache().compile_all(SERVER) {
        complain("warning", &format!("{refused}; its calls are not checked"));
    }
    if discovery.over_limit > 0 {
        let limit = validator.config().limits.tools_per_server;
        complain(
            "warning",
            &format!(
                "`{name}` has more than {limit} tools; calls of the other {} are not checked",
                discovery.over_limit
            ),
        );
    }
    Ok(())
}
