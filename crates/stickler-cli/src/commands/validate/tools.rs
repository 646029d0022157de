//! Reads tool definitions from a file.

use std::path::Path;

use stickler::{McpValidator, ToolList};

use super::SERVER;
use crate::exit::Failure;
use crate::style::print_message;

/// Size limit of the file, within the address range of a tape.
const MAX_FILE_BYTES: u64 = 1 << 28;

/// Reads a file of tool definitions.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let metadata = std::fs::metadata(path).map_err(|error| unusable(path, error))?;
    if metadata.len() >= MAX_FILE_BYTES {
        return Err(unusable(path, format!("the file is too large ({} bytes)", metadata.len())));
    }
    std::fs::read(path).map_err(|error| unusable(path, error))
}

pub(crate) fn unusable(path: &Path, reason: impl std::fmt::Display) -> Failure {
    Failure::Usage(format!("cannot use the tools in `{}`: {reason}", path.display()))
}

/// Loads the tools of a file into the validator. Problems of single tools are printed as warnings.
pub(super) fn load(validator: &McpValidator, path: &Path) -> Result<(), Failure> {
    let name = path.display();
    let bytes = read(path)?;
    let list = ToolList::read(&bytes, &validator.config().limits)
        .map_err(|error| unusable(path, error))?;
    if list.nameless > 0 {
        print_message("warning", &format!("{} tools in `{name}` have no name", list.nameless));
    }
    let discovery = validator.cache().populate(SERVER, &list.tools);
    for rejected in &validator.cache().compile_all(SERVER) {
        print_message("warning", &format!("{rejected}; its calls are not validated"));
    }
    if discovery.over_limit > 0 {
        let limit = validator.config().limits.tools_per_server;
        print_message(
            "warning",
            &format!(
                "`{name}` has more than {limit} tools; calls to the other {} are not validated",
                discovery.over_limit
            ),
        );
    }
    Ok(())
}
