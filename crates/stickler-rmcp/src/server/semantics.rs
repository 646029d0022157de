//! Runs the semantic checks of the server before a call.

use rmcp::ServerHandler;
use rmcp::model::{CallToolRequestParams, CallToolResponse, JsonObject};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use stickler::ValidationResult;

use super::Validated;
use super::calls::to_json;
use super::deep::{DeepCall, Level};

impl<H: ServerHandler> Validated<H> {
    /// Checks a call that satisfies its schema. Returns the response to a call that the semantic checks reject, with
    /// the same help as for a violation of the schema. A check that panics rejects nothing.
    pub(super) async fn semantic_rejection(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<CallToolResponse, ErrorData>> {
        let checks = self.settings.checks.as_ref().filter(|checks| checks.levels().semantic)?;
        if !self.validator.config().pre_validate {
            return None;
        }
        let none = JsonObject::new();
        let arguments = request.arguments.as_ref().unwrap_or(&none);
        let call = DeepCall { tool: &request.name, arguments, context };
        let check = || async { Ok(checks.check(Level::Semantic, call).await) };
        let concerns = self.guard("tools/call", check).await.ok()?;
        if concerns.errors.is_empty() {
            return None;
        }
        let result = ValidationResult::from_errors(concerns.errors);
        self.rejection(&request.name, Some(&to_json(arguments)), &result, context)
    }
}
