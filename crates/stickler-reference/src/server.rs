//! MCP server for one suite.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use stickler_rmcp::{Concerns, DeepCall, DeepChecks, ValidationLevels};

use super::tool::Tool;
use super::tool_failure::Level;
use super::workspace::{Caller, Stop, Workspace};
use super::{Suite, history};

/// A suite that works in a workspace. Its calls have been validated against their schemas.
#[derive(Clone)]
pub(crate) struct ReferenceServer {
    suite: Suite,
    tools: Arc<Vec<Tool>>,
    workspace: Arc<Workspace>,
}

impl ReferenceServer {
    pub(crate) fn new(suite: Suite, workspace: Arc<Workspace>) -> Self {
        Self { suite, tools: Arc::new(suite.tools()), workspace }
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.tools.iter().position(|tool| tool.name == name)
    }

    /// Runs `work` with a tool on a blocking thread.
    async fn run_blocking<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce(&Tool, &Workspace) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let position = self
            .position(name)
            .ok_or_else(|| ErrorData::invalid_params(format!("Unknown tool: {name}"), None))?;
        let (tools, workspace) = (Arc::clone(&self.tools), Arc::clone(&self.workspace));
        let done = tokio::task::spawn_blocking(move || work(&tools[position], &workspace)).await;
        done.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    async fn concerns(&self, call: DeepCall<'_>, level: Level) -> Concerns {
        let arguments = call.arguments.clone();
        let caller = Caller::of(call.context);
        let checked = self.run_blocking(call.tool, move |tool, workspace| {
            tool.check(&workspace.for_call(caller, Stop::default()), arguments)
        });
        match checked.await {
            Ok(Ok(warnings)) if level == Level::Runtime => {
                warnings.into_iter().fold(Concerns::none(), Concerns::warning)
            }
            Ok(Err(failure)) if failure.level == level => {
                let concerns = Concerns::none().error(failure.message);
                failure.suggestions.into_iter().fold(concerns, Concerns::suggestion)
            }
            _ => Concerns::none(),
        }
    }
}

impl ServerHandler for ReferenceServer {
    fn get_info(&self) -> ServerConfig {
        let name = format!("stickler-{}", self.suite.name());
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(name, env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.iter().map(Tool::listed).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        self.position(name).map(|position| self.tools[position].listed())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let stop = Stop::default();
        // Cancellation drops this future but not the blocking task, which must be stopped.
        let _waiting = stop.set_when_dropped();
        let caller = Caller::of(&context);
        let run = move |tool: &Tool, workspace: &Workspace| {
            history::run(tool, &workspace.for_call(caller, stop), arguments)
        };
        let outcome = tokio::select! {
            outcome = self.run_blocking(&request.name, run) => outcome?,
            () = context.ct.cancelled() => {
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
        };
        let result: CallToolResult = match outcome {
            Ok(answer) => answer.into(),
            Err(failure) => failure.into(),
        };
        Ok(result.into())
    }
}

/// The `validate` tool reports the results of the tools' own checks.
impl DeepChecks for ReferenceServer {
    fn levels(&self) -> ValidationLevels {
        ValidationLevels { semantic: true, runtime: true, security: true, ..Default::default() }
    }

    async fn semantic(&self, call: DeepCall<'_>) -> Concerns {
        self.concerns(call, Level::Semantic).await
    }

    async fn runtime(&self, call: DeepCall<'_>) -> Concerns {
        self.concerns(call, Level::Runtime).await
    }

    async fn security(&self, call: DeepCall<'_>) -> Concerns {
        self.concerns(call, Level::Security).await
    }
}
