//! Validation beyond the schema, implemented by the server.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::FutureExt as _;
use rmcp::RoleServer;
use rmcp::model::JsonObject;
use rmcp::service::RequestContext;
use stickler::ValidationError;
use stickler::tool_validation::ValidationLevels;

/// Checks beyond the schema.
///
/// The semantic ones run before each call; a call that they reject is answered like one that violates its schema,
/// with help. All of them run when a client validates a call without executing it, in this order. Each one runs only
/// if [`levels`](Self::levels) includes it, and only for calls that satisfy their schema. They must not have side
/// effects.
///
/// ```
/// use stickler_rmcp::{Concerns, DeepCall, DeepChecks, ValidationLevels};
///
/// struct Disk;
///
/// impl DeepChecks for Disk {
///     fn levels(&self) -> ValidationLevels {
///         ValidationLevels { runtime: true, ..ValidationLevels::default() }
///     }
///
///     async fn runtime(&self, call: DeepCall<'_>) -> Concerns {
///         match call.arguments.get("path").and_then(|path| path.as_str()) {
///             Some(path) if !std::path::Path::new(path).exists() => {
///                 Concerns::none().error(format!("`{path}` does not exist"))
///             }
///             _ => Concerns::none(),
///         }
///     }
/// }
/// ```
pub trait DeepChecks: Send + Sync + 'static {
    /// Returns the levels that are checked.
    fn levels(&self) -> ValidationLevels;

    /// Checks whether the arguments are consistent.
    fn semantic(&self, call: DeepCall<'_>) -> impl Future<Output = Concerns> + Send {
        let _ = call;
        std::future::ready(Concerns::none())
    }

    /// Checks whether the call could succeed now.
    fn runtime(&self, call: DeepCall<'_>) -> impl Future<Output = Concerns> + Send {
        let _ = call;
        std::future::ready(Concerns::none())
    }

    /// Checks whether the caller is allowed to make the call.
    fn security(&self, call: DeepCall<'_>) -> impl Future<Output = Concerns> + Send {
        let _ = call;
        std::future::ready(Concerns::none())
    }
}

/// A call to check.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct DeepCall<'a> {
    /// The name of the tool.
    pub tool: &'a str,
    /// The arguments, which satisfy the tool's schema.
    pub arguments: &'a JsonObject,
    /// The context of the request.
    pub context: &'a RequestContext<RoleServer>,
}

/// The findings of a check.
///
/// ```
/// use stickler_rmcp::Concerns;
///
/// let concerns = Concerns::none().warning("empty content will create an empty file");
/// assert!(concerns.errors.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Concerns {
    /// Reasons why the call would fail or must not be made.
    pub errors: Vec<ValidationError>,
    /// Problems that do not make the call invalid.
    pub warnings: Vec<String>,
    /// Possible improvements.
    pub suggestions: Vec<String>,
}

impl Concerns {
    /// Creates an empty list of findings.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds an error, which makes the call invalid.
    #[must_use]
    pub fn error(self, text: impl Into<String>) -> Self {
        self.problem(ValidationError::whole(text.into()))
    }

    /// Adds an error about one argument, given as a JSON Pointer such as `/path`.
    #[must_use]
    pub fn error_at(self, path: impl Into<String>, text: impl Into<String>) -> Self {
        let mut error = ValidationError::whole(text.into());
        error.path = path.into();
        self.problem(error)
    }

    /// Adds an error with all its details.
    #[must_use]
    pub fn problem(mut self, error: ValidationError) -> Self {
        self.errors.push(error);
        self
    }

    /// Adds a warning.
    #[must_use]
    pub fn warning(mut self, text: impl Into<String>) -> Self {
        self.warnings.push(text.into());
        self
    }

    /// Adds a suggestion.
    #[must_use]
    pub fn suggestion(mut self, text: impl Into<String>) -> Self {
        self.suggestions.push(text.into());
        self
    }
}

/// One level of checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Semantic,
    Runtime,
    Security,
}

impl Level {
    /// Returns the enabled levels, in the order in which they run.
    pub(super) fn of(levels: ValidationLevels) -> impl Iterator<Item = Self> {
        let all = [
            (Self::Semantic, levels.semantic),
            (Self::Runtime, levels.runtime),
            (Self::Security, levels.security),
        ];
        all.into_iter().filter_map(|(level, is_checked)| is_checked.then_some(level))
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Semantic => "semantic",
            Self::Runtime => "runtime",
            Self::Security => "security",
        }
    }
}

type ConcernsFuture<'a> = Pin<Box<dyn Future<Output = Concerns> + Send + 'a>>;

/// Object-safe version of [`DeepChecks`].
pub(super) trait ErasedChecks: Send + Sync {
    fn levels(&self) -> ValidationLevels;
    fn check<'a>(&'a self, level: Level, call: DeepCall<'a>) -> ConcernsFuture<'a>;
}

impl<C: DeepChecks> ErasedChecks for C {
    fn levels(&self) -> ValidationLevels {
        ValidationLevels { syntax: true, ..DeepChecks::levels(self) }
    }

    fn check<'a>(&'a self, level: Level, call: DeepCall<'a>) -> ConcernsFuture<'a> {
        match level {
            Level::Semantic => self.semantic(call).boxed(),
            Level::Runtime => self.runtime(call).boxed(),
            Level::Security => self.security(call).boxed(),
        }
    }
}

impl<C: DeepChecks> DeepChecks for Arc<C> {
    fn levels(&self) -> ValidationLevels {
        (**self).levels()
    }

    fn semantic(&self, call: DeepCall<'_>) -> impl Future<Output = Concerns> + Send {
        (**self).semantic(call)
    }

    fn runtime(&self, call: DeepCall<'_>) -> impl Future<Output = Concerns> + Send {
        (**self).runtime(call)
    }

    fn security(&self, call: DeepCall<'_>) -> impl Future<Output = Concerns> + Send {
        (**self).security(call)
    }
}
