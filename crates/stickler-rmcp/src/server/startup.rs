//! Checks the schemas of the handler's tools before the server starts.

use std::fmt;
use std::sync::atomic::Ordering;

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ListToolsRequest, PaginatedRequestParams, RequestId,
    ServerJsonRpcMessage, ServerResult, Tool,
};
use rmcp::service::serve_directly;
use rmcp::transport::OneshotTransport;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use stickler::ListPages;
use stickler::rules::Code;

use super::Validated;
use crate::Error;

/// Keywords that do not constrain the arguments.
const ANNOTATION_KEYWORDS: [&str; 6] =
    ["type", "$schema", "title", "description", "$id", "$comment"];

/// The outcome of checking a server's tools.
///
/// ```no_run
/// # async fn look<H: rmcp::ServerHandler>(
/// #     server: stickler_rmcp::Validated<H>,
/// # ) -> Result<(), stickler_rmcp::Error> {
/// let check = server.check_tools().await?;
/// for problem in &check.problems {
///     println!("{}: {}", problem.tool, problem.reason);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolCheck {
    /// The number of tools with a usable schema.
    pub usable: usize,
    /// The tools that cannot be validated.
    pub problems: Vec<ToolProblem>,
}

/// A tool that cannot be validated.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolProblem {
    /// The name of the tool.
    pub tool: String,
    /// Why its calls cannot be validated.
    pub reason: String,
}

impl ToolCheck {
    /// Fails if there is a tool that cannot be validated, for servers that must not run without
    /// validation.
    pub fn require_all(self) -> Result<Self, Error> {
        if self.problems.is_empty() {
            return Ok(self);
        }
        let problems: Vec<String> = self.problems.iter().map(ToString::to_string).collect();
        Err(Error::new(Code::UnusableSchema, problems.join("; ")))
    }
}

impl<H: ServerHandler> Validated<H> {
    /// Lists the handler's tools and logs a warning for each one that cannot be validated. Fails if
    /// the handler cannot list its tools.
    ///
    /// ```no_run
    /// # use rmcp::ServerHandler;
    /// # use stickler_rmcp::{Error, ValidationConfig, Validated};
    /// # struct MyServer;
    /// # impl ServerHandler for MyServer {}
    /// # async fn start() -> Result<(), Error> {
    /// let server = Validated::new(MyServer, ValidationConfig::default());
    /// let check = server.check_tools().await?; // logs warnings
    /// check.require_all()?; // fails if a tool cannot be validated
    /// # Ok(())
    /// # }
    /// ```
    pub async fn check_tools(&self) -> Result<ToolCheck, Error> {
        let tools = self.list_handler_tools().await?;
        // The warnings are logged below, also if they were logged when the tools were first listed.
        self.has_warned.store(true, Ordering::Release);
        let discovery = self.cache_tools(tools.clone(), None);
        let problems = self.tool_problems(&tools);
        self.warn_about(&problems);
        let quarantined = self.validator.cache().compile_all(&self.name).len();
        let found = quarantined.saturating_sub(discovery.quarantined.len());
        let is_offered = usize::from(self.validation_tool_name(&tools).is_some());
        Ok(ToolCheck { usable: discovery.usable.saturating_sub(is_offered + found), problems })
    }

    /// Returns the cached tools whose calls cannot be validated.
    pub(super) fn tool_problems(&self, tools: &[Tool]) -> Vec<ToolProblem> {
        let quarantined = self.validator.cache().compile_all(&self.name).into_iter();
        let mut problems: Vec<ToolProblem> = quarantined
            .map(|error| ToolProblem { tool: error.tool, reason: error.reason })
            .collect();
        problems.extend(tools.iter().filter(|tool| is_unconstrained(tool)).map(|tool| {
            ToolProblem {
                tool: tool.name.to_string(),
                reason: "its schema does not constrain the arguments; add `properties`".to_owned(),
            }
        }));
        problems
    }

    /// Logs a warning for each tool whose calls cannot be validated.
    pub(super) fn warn_about(&self, problems: &[ToolProblem]) {
        for problem in problems {
            tracing::warn!(server = self.name, tool = problem.tool, "{problem}");
        }
    }

    /// Lists the handler's tools through an internal connection.
    async fn list_handler_tools(&self) -> Result<Vec<Tool>, Error> {
        let mut tools = Vec::new();
        let mut pages = ListPages::default();
        loop {
            let cursor = pages.cursor().map(str::to_owned);
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let request = ListToolsRequest { params: Some(params), ..ListToolsRequest::default() };
            let request = ClientRequest::ListToolsRequest(request);
            let message = ClientJsonRpcMessage::request(request, RequestId::Number(1));
            let (transport, mut answers) = OneshotTransport::<RoleServer>::new(message);
            let running = serve_directly(self.clone(), transport, None);
            let page = loop {
                match answers.recv().await {
                    Some(ServerJsonRpcMessage::Response(response)) => match response.result {
                        ServerResult::ListToolsResult(page) => break page,
                        _ => return Err(listing_error("the response is not a tool list")),
                    },
                    Some(ServerJsonRpcMessage::Error(error)) => {
                        return Err(listing_error(&error.error.message));
                    }
                    Some(_) => {}
                    None => return Err(listing_error("there was no response")),
                }
            };
            let _ = running.cancel().await;
            tools.extend(page.tools);
            let has_more = pages.follow(page.next_cursor);
            if !has_more.map_err(|reason| listing_error(&format!("it does not end: {reason}")))? {
                tools.retain(|tool| !self.is_validation_entry(tool));
                return Ok(tools);
            }
        }
    }
}

/// Returns whether a schema accepts any arguments.
fn is_unconstrained(tool: &Tool) -> bool {
    let is_annotation = |(name, value): (&String, &Value)| {
        ANNOTATION_KEYWORDS.contains(&name.as_str()) || value == &Value::Bool(true)
    };
    tool.input_schema.iter().all(is_annotation)
}

fn listing_error(reason: &str) -> Error {
    Error::new(Code::UnusableSchema, format!("the tools could not be listed: {reason}"))
}

impl fmt::Display for ToolProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "calls of `{}` cannot be checked: {}", self.tool, self.reason)
    }
}
