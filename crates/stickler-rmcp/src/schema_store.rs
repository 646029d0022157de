//! The compiled schemas of a process: sessions and clients of one program list the same tools.

use std::sync::{Arc, LazyLock};

use stickler::{McpValidator, SchemaStore, ValidationConfig};

static SCHEMAS: LazyLock<SchemaStore> = LazyLock::new(SchemaStore::new);

/// Creates a validator that shares compiled schemas with all others of the process.
pub(crate) fn validator(config: ValidationConfig) -> Arc<McpValidator> {
    Arc::new(McpValidator::new(config).with_schema_store(&SCHEMAS))
}
