//! A wrapper for any rmcp server.

mod announce;
mod calls;
mod deep;
mod guard;
mod handler;
mod learning;
mod startup;
mod validation_tool;

use std::fmt;
use std::sync::{Arc, Mutex};

use rmcp::ServerHandler;
use stickler::tool_validation::DEFAULT_METHOD;
use stickler::{AnswerForm, McpValidator, ValidationConfig};
use stickler_protocol::Repeats;

use deep::ErasedChecks;
pub use deep::{Concerns, DeepCall, DeepChecks};
pub use startup::{ToolCheck, ToolProblem};

use crate::RawSettings;
use crate::raw::KnownTools;

/// The tool's name where the server itself has a tool called `validate`.
const SECOND_CHOICE: &str = "stickler_validate";

/// An rmcp server whose tool calls are checked before its handler sees them.
///
/// Everything else is passed on as it is. A call that is refused is answered with a tool result
/// whose text is a help prompt ([`answer_with`](Self::answer_with) chooses another form); a tool
/// that does not exist with `-32602`. The server announces `toolValidation` and has the tool
/// `validate`, which checks calls without making them.
///
/// A clone is another session of the same server: it shares the handler and what is known of its
/// tools, but counts its own turns.
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
    /// The name of the server, under which its tools are known.
    name: String,
    validator: Arc<McpValidator>,
    /// Held while a list is learnt and the call judged that it was asked for, so that the lists of
    /// two sessions do not get in each other's way.
    learning: Arc<Mutex<()>>,
    session: Mutex<SessionState>,
    settings: Settings,
}

#[derive(Clone)]
struct Settings {
    answer: AnswerForm,
    repeat_limit: u32,
    /// The best name for the tool that validates; `None` where there is none.
    method: Option<String>,
    checks: Option<Arc<dyn ErasedChecks>>,
    reveals_internal_errors: bool,
}

/// What is remembered of one session.
#[derive(Default)]
struct SessionState {
    repeats: Repeats,
    refusals: u64,
}

impl<H: ServerHandler> Validated<H> {
    /// Wraps a handler.
    pub fn new(handler: H, config: ValidationConfig) -> Self {
        Self::over(Arc::new(handler), Arc::new(McpValidator::new(config)), Arc::default())
    }

    /// Another handler with the same settings, for servers that make one for each session. Schemas
    /// that are compiled already are not compiled again.
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
        let mut other = Self::over(Arc::new(handler), validator, Arc::clone(&self.learning));
        other.settings = self.settings.clone();
        other
    }

    fn over(handler: Arc<H>, validator: Arc<McpValidator>, learning: Arc<Mutex<()>>) -> Self {
        let info = handler.get_info();
        let method = if announce::validates(&info.capabilities) {
            None
        } else if handler.get_tool(DEFAULT_METHOD).is_some() {
            Some(SECOND_CHOICE.to_owned())
        } else {
            Some(DEFAULT_METHOD.to_owned())
        };
        Self {
            name: info.server_info.name,
            handler,
            validator,
            learning,
            session: Mutex::default(),
            settings: Settings {
                answer: AnswerForm::default(),
                repeat_limit: 5,
                method,
                checks: None,
                reveals_internal_errors: false,
            },
        }
    }

    /// What a refused call is answered with: a tool result with help, an error, or a retry
    /// observation.
    #[must_use]
    pub fn answer_with(mut self, form: AnswerForm) -> Self {
        self.settings.answer = form;
        self
    }

    /// After how many refusals of the very same call the answer becomes short; 0 for never.
    #[must_use]
    pub fn repeat_limit(mut self, limit: u32) -> Self {
        self.settings.repeat_limit = limit;
        self
    }

    /// Neither announces `toolValidation` nor has a tool for it.
    #[must_use]
    pub fn without_validation_tool(mut self) -> Self {
        self.settings.method = None;
        self
    }

    /// Lets the texts of the handler's internal errors (`-32603`) reach the caller. Without this
    /// they are logged, and the caller gets to know only that something failed.
    #[must_use]
    pub fn reveal_internal_errors(mut self) -> Self {
        self.settings.reveals_internal_errors = true;
        self
    }

    /// The handler's own deeper checks are made, too, when a caller asks to validate a call.
    #[must_use]
    pub fn with_deep_checks(self) -> Self
    where
        H: DeepChecks,
    {
        let handler = Arc::clone(&self.handler);
        self.with_checks(handler)
    }

    /// Deeper checks that somebody other than the handler makes.
    #[must_use]
    pub fn with_deep_checks_of(self, checks: impl DeepChecks) -> Self {
        self.with_checks(Arc::new(checks))
    }

    fn with_checks(mut self, checks: Arc<dyn ErasedChecks>) -> Self {
        self.settings.checks = Some(checks);
        self
    }

    /// Settings for the layer beneath, by which arguments that are no object get help, too: rmcp
    /// cannot hand those to any handler. Best after [`check_tools`](Self::check_tools), which learns
    /// the tools.
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
        RawSettings::default().with_tools(KnownTools {
            server: self.name.clone(),
            validator: Arc::clone(&self.validator),
            answer: self.settings.answer,
        })
    }

    /// The handler within.
    pub fn handler(&self) -> &H {
        &self.handler
    }

    /// What checks the calls, with the tools that are known by now.
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
            learning: Arc::clone(&self.learning),
            session: Mutex::default(),
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
