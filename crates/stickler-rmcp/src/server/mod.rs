//! Wrapper that adds validation to any rmcp server handler.

mod announce;
mod calls;
mod deep;
mod guard;
mod handler;
mod semantics;
mod session;
mod startup;
mod tool_discovery;
mod validation_tool;

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use rmcp::ServerHandler;
use stickler::tool_validation::DEFAULT_METHOD;
use stickler::{AnswerForm, McpValidator, Mode, ValidationConfig};
use stickler_protocol::Policy;

pub(crate) use calls::TURN_KEY;
use deep::ErasedChecks;
pub use deep::{Concerns, DeepCall, DeepChecks};
pub(crate) use session::{Occurrence, SessionState};
pub use startup::{ToolCheck, ToolProblem};

use crate::RawSettings;
use crate::raw::KnownTools;
use crate::schema_store;

/// The name of the validation tool if the handler has a tool called `validate`.
const FALLBACK_METHOD: &str = "stickler_validate";

/// An rmcp server handler that validates tool calls before the wrapped handler runs.
///
/// Everything else is forwarded unchanged. A rejected call is answered with a tool result that
/// contains a help prompt ([`answer_with`](Self::answer_with) selects another form), and so is a call to an
/// unknown tool. The server announces `toolValidation` and offers the tool
/// `validate`, which validates calls without executing them.
///
/// A clone is another session of the same server: it shares the handler and the cached tools, but
/// counts turns separately.
///
/// ```no_run
/// use rmcp::{ServerHandler, ServiceExt};
/// use stickler_rmcp::{ValidationConfig, Validated};
///
/// # #[derive(Clone)] struct MyServer;
/// # impl ServerHandler for MyServer {}
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Validated::new(MyServer, ValidationConfig::default());
/// server.check_tools().await?.require_all()?;
/// server.serve(rmcp::transport::stdio()).await?.waiting().await?;
/// # Ok(())
/// # }
/// ```
pub struct Validated<H> {
    handler: Arc<H>,
    /// The name of the server, which is the key of its tools in the cache.
    name: String,
    validator: Arc<McpValidator>,
    /// Held while a list is cached and the call that requested it is validated, so that the lists
    /// of concurrent sessions do not interfere.
    discovery_lock: Arc<Mutex<()>>,
    session: Arc<Mutex<SessionState>>,
    /// Whether unusable schemas have been logged; shared by all sessions.
    has_warned: Arc<AtomicBool>,
    settings: Settings,
}

#[derive(Clone)]
struct Settings {
    mode: Mode,
    answer: AnswerForm,
    repeat_limit: u32,
    /// The preferred name of the validation tool; `None` if there is no such tool.
    method: Option<String>,
    checks: Option<Arc<dyn ErasedChecks>>,
    reveals_internal_errors: bool,
}

impl<H: ServerHandler> Validated<H> {
    /// Wraps a handler.
    pub fn new(handler: H, config: ValidationConfig) -> Self {
        Self::over(Arc::new(handler), schema_store::validator(config), Arc::default())
    }

    /// Wraps a handler in a mode. [`Mode::Observe`] logs what it would have rejected, and announces nothing.
    pub fn in_mode(handler: H, mode: Mode) -> Self {
        Self::new(handler, ValidationConfig::in_mode(mode)).with_mode(mode)
    }

    /// Sets what happens to invalid calls. The configuration stays as it is: [`in_mode`](Self::in_mode) also applies
    /// the defaults of the mode.
    #[must_use]
    pub fn with_mode(mut self, mode: Mode) -> Self {
        self.settings.mode = mode;
        if mode == Mode::Observe {
            self.settings.method = None;
        }
        self
    }

    /// Wraps another handler with the same settings, for servers that create one handler for each
    /// session. Schemas that are already compiled are reused.
    ///
    /// ```
    /// # use rmcp::ServerHandler;
    /// # use stickler_rmcp::{ValidationConfig, Validated};
    /// # struct MyServer;
    /// # impl ServerHandler for MyServer {}
    /// let first = Validated::new(MyServer, ValidationConfig::default());
    /// let for_another_session = first.around(MyServer);
    /// ```
    #[must_use]
    pub fn around(&self, handler: H) -> Self {
        let validator = Arc::clone(&self.validator);
        let mut other = Self::over(Arc::new(handler), validator, Arc::clone(&self.discovery_lock));
        other.settings = self.settings.clone();
        other.has_warned = Arc::clone(&self.has_warned);
        other
    }

    fn over(handler: Arc<H>, validator: Arc<McpValidator>, discovery_lock: Arc<Mutex<()>>) -> Self {
        let info = handler.get_info();
        let method = if announce::validates(&info.capabilities) {
            None
        } else if handler.get_tool(DEFAULT_METHOD).is_some() {
            Some(FALLBACK_METHOD.to_owned())
        } else {
            Some(DEFAULT_METHOD.to_owned())
        };
        Self {
            name: info.server_info.name,
            handler,
            validator,
            discovery_lock,
            session: Arc::default(),
            has_warned: Arc::default(),
            settings: Settings {
                mode: Mode::default(),
                answer: AnswerForm::default(),
                repeat_limit: 5,
                method,
                checks: None,
                reveals_internal_errors: false,
            },
        }
    }

    /// Sets the form of the response to a rejected call: a tool result with help, an error, or a
    /// retry observation.
    #[must_use]
    pub fn answer_with(mut self, form: AnswerForm) -> Self {
        self.settings.answer = form;
        self
    }

    /// Sets after how many identical rejected calls the response becomes short; 0 for never.
    #[must_use]
    pub fn repeat_limit(mut self, limit: u32) -> Self {
        self.settings.repeat_limit = limit;
        self
    }

    /// Disables the `toolValidation` announcement and the validation tool.
    #[must_use]
    pub fn without_validation_tool(mut self) -> Self {
        self.settings.method = None;
        self
    }

    /// Includes the texts of the handler's internal errors (`-32603`) in responses. By default they
    /// are only logged, and the caller receives a generic error.
    #[must_use]
    pub fn reveal_internal_errors(mut self) -> Self {
        self.settings.reveals_internal_errors = true;
        self
    }

    /// Runs the handler's [`DeepChecks`], too: the semantic ones before each call, all of them when a client
    /// validates a call.
    #[must_use]
    pub fn with_deep_checks(self) -> Self
    where
        H: DeepChecks,
    {
        let handler = Arc::clone(&self.handler);
        self.with_checks(handler)
    }

    /// Runs deep checks that are implemented outside the handler.
    #[must_use]
    pub fn with_deep_checks_of(self, checks: impl DeepChecks) -> Self {
        self.with_checks(Arc::new(checks))
    }

    fn with_checks(mut self, checks: Arc<dyn ErasedChecks>) -> Self {
        self.settings.checks = Some(checks);
        self
    }

    /// Returns settings for the layer below rmcp that add help for arguments that are not an object,
    /// which rmcp cannot pass to a handler. Best called after [`check_tools`](Self::check_tools),
    /// which caches the tools.
    ///
    /// ```no_run
    /// # use rmcp::{ServerHandler, ServiceExt};
    /// # use stickler_rmcp::{RawTransport, ValidationConfig, Validated};
    /// # struct MyServer;
    /// # impl ServerHandler for MyServer {}
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Validated::new(MyServer, ValidationConfig::default());
    /// server.check_tools().await?;
    /// let transport = RawTransport::stdio(&server.raw_settings());
    /// server.serve(transport).await?.waiting().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn raw_settings(&self) -> RawSettings {
        let tools = KnownTools {
            server: self.name.clone(),
            validator: Arc::clone(&self.validator),
            answer: self.settings.answer,
            repeat_limit: self.settings.repeat_limit,
            session: Some(Arc::clone(&self.session)),
        };
        RawSettings::default().with_policy(Policy::in_mode(self.settings.mode)).with_tools(tools)
    }

    /// Returns the wrapped handler.
    pub fn handler(&self) -> &H {
        &self.handler
    }

    /// Returns the validator, with the tools that are cached so far.
    pub fn validator(&self) -> &McpValidator {
        &self.validator
    }
}

impl<H> Clone for Validated<H> {
    fn clone(&self) -> Self {
        Self {
            handler: Arc::clone(&self.handler),
            name: self.name.clone(),
            validator: Arc::clone(&self.validator),
            discovery_lock: Arc::clone(&self.discovery_lock),
            session: Arc::default(),
            has_warned: Arc::clone(&self.has_warned),
            settings: self.settings.clone(),
        }
    }
}

impl<H> fmt::Debug for Validated<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validated")
            .field("server", &self.name)
            .field("tools", &self.validator.cache().stats())
            .finish_non_exhaustive()
    }
}
