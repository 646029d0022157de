//! The capability as a server announces it, and its conversion from and to JSON.

use serde_json::{Value, json};

use super::{DEFAULT_METHOD, MAX_BATCH_SIZE};

/// The `toolValidation` capability, version 1.0.
///
/// ```
/// use serde_json::json;
/// use stickler::ToolValidationCapability;
///
/// let minimal = ToolValidationCapability::read(&json!({ "supported": true })).unwrap();
/// assert_eq!(minimal.method, "validate");
/// assert!(!minimal.batch);
/// assert!(ToolValidationCapability::read(&json!({ "supported": false })).is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolValidationCapability {
    /// Name of the validation tool.
    pub method: String,
    /// Validation may take a long time.
    pub is_async: bool,
    /// The outcome may depend on the state of the server.
    pub context_aware: bool,
    /// The supported levels of validation.
    pub levels: ValidationLevels,
    /// Several calls can be validated with one request.
    pub batch: bool,
    /// Maximum number of calls per request.
    pub max_batch_size: usize,
    /// Time in seconds for which a result may be cached; `None` if it must not be cached.
    pub cache_seconds: Option<u64>,
}

/// Levels of validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "four switches, as in the capability")]
pub struct ValidationLevels {
    /// The arguments satisfy the schema.
    pub syntax: bool,
    /// The arguments are consistent with each other.
    pub semantic: bool,
    /// The call could succeed in the current state of the server.
    pub runtime: bool,
    /// The call is permitted.
    pub security: bool,
}

impl Default for ValidationLevels {
    fn default() -> Self {
        Self { syntax: true, semantic: false, runtime: false, security: false }
    }
}

impl ValidationLevels {
    /// Whether validation goes beyond the schema.
    pub fn is_deep(self) -> bool {
        self.semantic || self.runtime || self.security
    }
}

impl ToolValidationCapability {
    /// The version of the capability that Stickler announces.
    pub const VERSION: &'static str = "1.0";

    /// Creates the capability of a server that validates calls against its schemas. `method` is the
    /// name of the validation tool.
    pub fn new(method: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            is_async: false,
            context_aware: false,
            levels: ValidationLevels::default(),
            batch: true,
            max_batch_size: MAX_BATCH_SIZE,
            cache_seconds: Some(300),
        }
    }

    /// Sets the levels. Results that depend on the state of the server must not be cached.
    #[must_use]
    pub fn with_levels(mut self, levels: ValidationLevels) -> Self {
        self.levels = levels;
        self.is_async = levels.is_deep();
        self.context_aware = levels.runtime || levels.security;
        self.cache_seconds = self.cache_seconds.filter(|_| !self.context_aware);
        self
    }

    /// Returns the JSON form that a server announces.
    pub fn to_value(&self) -> Value {
        let ValidationLevels { syntax, semantic, runtime, security } = self.levels;
        json!({
            "supported": true,
            "version": Self::VERSION,
            "async": self.is_async,
            "streaming": false,
            "contextAware": self.context_aware,
            "cacheable": self.cache_seconds.is_some(),
            "levels": {
                "syntax": syntax, "semantic": semantic, "runtime": runtime, "security": security
            },
            "batchValidation": self.batch,
            "maxBatchSize": self.max_batch_size,
            "caching": {
                "enabled": self.cache_seconds.is_some(),
                "ttl": self.cache_seconds.unwrap_or_default(),
                "invalidateOn": ["tool_update", "resource_change"],
            },
            // This member comes last, because some parsers treat a message with an early `method`
            // member as a request.
            "method": self.method,
        })
    }

    /// Parses the capability that a server announced under `experimental.toolValidation`; `None` if
    /// it is not supported.
    pub fn read(announced: &Value) -> Option<Self> {
        let flag = |name: &str| announced.get(name).and_then(Value::as_bool) == Some(true);
        if !flag("supported") {
            return None;
        }
        let levels = announced.get("levels");
        let level = |name: &str| levels.and_then(|levels| levels.get(name)?.as_bool());
        let method = announced.get("method").and_then(Value::as_str);
        // Results that depend on the state of the server must not be cached, even if `caching` is
        // enabled.
        let is_cacheable =
            announced.get("cacheable") != Some(&Value::Bool(false)) && !flag("contextAware");
        let caching = announced.get("caching").filter(|caching| caching["enabled"] == true);
        let caching = caching.filter(|_| is_cacheable);
        let max_batch_size = announced.get("maxBatchSize").and_then(Value::as_u64);
        Some(Self {
            method: method.unwrap_or(DEFAULT_METHOD).to_owned(),
            is_async: flag("async"),
            context_aware: flag("contextAware"),
            levels: ValidationLevels {
                syntax: level("syntax").unwrap_or(true),
                semantic: level("semantic").unwrap_or(false),
                runtime: level("runtime").unwrap_or(false),
                security: level("security").unwrap_or(false),
            },
            batch: flag("batchValidation"),
            max_batch_size: max_batch_size.and_then(|size| usize::try_from(size).ok()).unwrap_or(1),
            cache_seconds: caching.and_then(|caching| caching.get("ttl")?.as_u64()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{ToolValidationCapability, ValidationLevels};

    #[test]
    fn capability_round_trips_through_json() {
        let plain = ToolValidationCapability::new("validate");
        assert_eq!(ToolValidationCapability::read(&plain.to_value()).as_ref(), Some(&plain));
        let levels = ValidationLevels { runtime: true, ..ValidationLevels::default() };
        let deep = plain.with_levels(levels);
        assert!(deep.is_async && deep.context_aware);
        assert_eq!(deep.cache_seconds, None);
        assert_eq!(deep.to_value()["cacheable"], false);
        assert_eq!(ToolValidationCapability::read(&deep.to_value()), Some(deep));
    }
}
