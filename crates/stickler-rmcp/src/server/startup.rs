//! A look at the tools before the server starts.

use std::fmt;

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ListToolsRequest, PaginatedRequestParams, RequestId,
    ServerJsonRpcMessage, ServerResult, Tool,
};
use rmcp::service::serve_directly;
use rmcp::transport::OneshotTransport;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use stickler::rules::Code;

use super::Validated;
use super::learning::MOST_PAGES;
use crate::Error;

/// Keywords that say nothing about which arguments there are.
const SAYS_NOTHING: [&str; 6] = ["type", "$schema", "title", "description", "$id", "$comment"];

/// What was found out about a server's tools.
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
    /// How many tools have a schema by which their calls can be checked.
    pub usable: usize,
    /// The tools whose calls cannot be checked.
    pub problems: Vec<ToolProblem>,
}

/// A tool whose calls cannot be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolProblem {
    /// The tool.
    pub tool: String,
    /// Why not.
    pub reason: String,
}

impl ToolCheck {
    /// An error when there is a tool whose calls cannot be checked: for servers that would rather
    /// not start than run unchecked.
    pub fn require_all(self) -> Result<Self, Error> {
        if self.problems.is_empty() {
            return Ok(self);
        }
        let problems: Vec<String> = self.problems.iter().map(ToString::to_string).collect();
        Err(Error::new(Code::UnusableSchema, problems.join("; ")))
    }
}

impl<H: ServerHandler> Validated<H> {
    /// Asks the handler for its tools, and warns in the log about each whose calls cannot be
    /// checked. The error is for a handler that does not list its tools.
    ///
    /// ```no_run
    /// # use rmcp::ServerHandler;
    /// # use stickler_rmcp::{Error, ValidationConfig, Validated};
    /// # struct MyServer;
    /// # impl ServerHandler for MyServer {}
    /// # async fn start() -> Result<(), Error> {
    /// let server = Validated::new(MyServer, ValidationConfig::default());
    /// let check = server.check_tools().await?; // warns
    /// check.require_all()?; // refuses
    /// # Ok(())
    /// # }
    /// ```
    pub async fn check_tools(&self) -> Result<ToolCheck, Error> {
        let tools = self.list_without_a_client().await?;
        let discovery = self.learn(tools.clone(), None);
        let quarantined = self.validator.cache().compile_all(&self.name);
        let found = quarantined.len().saturating_sub(discovery.quarantined.len());
        let mut problems: Vec<ToolProblem> = quarantined
            .into_iter()
            .map(|error| ToolProblem { tool: error.tool, reason: error.reason })
            .collect();
        problems.extend(tools.iter().filter(|tool| says_nothing(tool)).map(|tool| ToolProblem {
            tool: tool.name.to_string(),
            reason: "its schema says nothing about the arguments; give it `properties`".to_owned(),
        }));
        let own = usize::from(self.own_tool(&tools).is_some());
        for problem in &problems {
            tracing::warn!(server = self.name, tool = problem.tool, "{problem}");
        }
        Ok(ToolCheck { usable: discovery.usable.saturating_sub(own + found), problems })
    }

    /// The handler's tools, asked for as a client would that is connected already.
    async fn list_without_a_client(&self) -> Result<Vec<Tool>, Error> {
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor.take());
            let request = ListToolsRequest { params: Some(params), ..ListToolsRequest::default() };
            let request = ClientRequest::ListToolsRequest(request);
            let message = ClientJsonRpcMessage::request(request, RequestId::Number(1));
            let (transport, mut answers) = OneshotTransport::<RoleServer>::new(message);
            let running = serve_directly(self.clone(), transport, None);
            let page = loop {
                match answers.recv().await {
                    Some(ServerJsonRpcMessage::Response(response)) => match response.result {
                        ServerResult::ListToolsResult(page) => break page,
                        _ => return Err(unlisted("the answer is no tool list")),
                    },
                    Some(ServerJsonRpcMessage::Error(error)) => {
                        return Err(unlisted(&error.error.message));
                    }
                    Some(_) => {}
                    None => return Err(unlisted("there was no answer")),
                }
            };
            let _ = running.cancel().await;
            tools.extend(page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() {
                tools.retain(|tool| !self.is_our_entry(tool));
                return Ok(tools);
            }
        }
        Err(unlisted("the list does not end"))
    }
}

/// Whether a schema leaves everything open.
fn says_nothing(tool: &Tool) -> bool {
    let is_silent = |(name, value): (&String, &Value)| {
        SAYS_NOTHING.contains(&name.as_str()) || value == &Value::Bool(true)
    };
    tool.input_schema.iter().all(is_silent)
}

fn unlisted(reason: &str) -> Error {
    Error::new(Code::UnusableSchema, format!("the tools could not be listed: {reason}"))
}

impl fmt::Display for ToolProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "calls of `{}` cannot be checked: {}", self.tool, self.reason)
    }
}
