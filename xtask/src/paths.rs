//! Paths of the repository and of reference data.

use std::path::{Path, PathBuf};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Optional reference data in a folder next to the checkout; it is not part of the repository.
pub(crate) fn shared(name: &str) -> PathBuf {
    root().join("../shared").join(name)
}
