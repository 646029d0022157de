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
    /// What makes cached results outdated before that.
    pub invalidate_on: Invalidation,
}

/// The events that make cached results outdated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invalidation {
    /// The tools changed.
    pub tool_update: bool,
    /// A resource, or the list of resources, changed.
    pub resource_change: bool,
}

impl Default for Invalidation {
    fn default() -> Self {
        Self { tool_update: true, resource_change: true }
    }
}

impl Invalidation {
    /// Reads the names of the events; `None` if one is unknown, because a client cannot observe it.
    fn read(names: Option<&Value>) -> Option<Self> {
        let Some(names) = names.and_then(Value::as_array) else { return Some(Self::default()) };
        let mut events = Self { tool_update: false, resource_change: false };
        for name in names {
            match name.as_str() {
                Some("tool_update") => events.tool_update = true,
                Some("resource_change") => events.resource_change = true,
                _ => return None,
            }
        }
        Some(events)
    }

    fn names(self) -> Vec<&'static str> {
        let all = [("tool_update", self.tool_update), ("resource_change", self.resource_change)];
        all.into_iter().filter_map(|(name, is_set)| is_set.then_some(name)).collect()
    }
}

/// Time for which results are cached if a server allows caching without a time.
const DEFAULT_CACHE_SECONDS: u64 = 300;

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
            cache_seconds: Some(DEFAULT_CACHE_SECONDS),
            invalidate_on: Invalidation::default(),
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
                "invalidateOn": self.invalidate_on.names(),
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
        let caching = announced.get("caching");
        let invalidate_on = Invalidation::read(caching.and_then(|one| one.get("invalidateOn")));
        // Results that depend on the state of the server must not be cached, even if `caching` is
        // enabled.
        let is_cacheable = announced.get("cacheable") != Some(&Value::Bool(false))
            && !flag("contextAware")
            && invalidate_on.is_some();
        let cache_seconds = match caching {
            Some(caching) if caching["enabled"] == true => caching["ttl"].as_u64(),
            Some(_) => None,
            None => flag("cacheable").then_some(DEFAULT_CACHE_SECONDS),
        };
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
            cache_seconds: cache_seconds.filter(|_| is_cacheable),
            invalidate_on: invalidate_on.unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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

    #[test]
    fn caching_follows_the_announcement() {
        let read = |mut announced: serde_json::Value| {
            announced["supported"] = true.into();
            ToolValidationCapability::read(&announced).unwrap()
        };
        assert_eq!(read(json!({})).cache_seconds, None);
        assert_eq!(read(json!({ "cacheable": true })).cache_seconds, Some(300));
        let off = json!({ "cacheable": true, "caching": { "enabled": false, "ttl": 9 } });
        assert_eq!(read(off).cache_seconds, None);
        let events = |names: serde_json::Value| {
            read(json!({ "caching": { "enabled": true, "ttl": 9, "invalidateOn": names } }))
        };
        let tools = events(json!(["tool_update"]));
        assert_eq!(tools.cache_seconds, Some(9));
        assert!(tools.invalidate_on.tool_update && !tools.invalidate_on.resource_change);
        let unknown = events(json!(["tool_update", "moon_phase"]));
        assert_eq!(unknown.cache_seconds, None, "the event cannot be observed");
    }
}
