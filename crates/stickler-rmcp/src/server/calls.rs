//! Validates calls before the handler runs and enhances the errors that it returns.

use std::sync::PoisonError;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, JsonObject,
    ResultType,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};
use stickler::{
    CallAnswer, CallRejection, ENHANCED_KEY, ErrorEnhancer, Mode, ValidationResult, is_enhanced,
};

use super::Validated;
use crate::problems::Problems;

/// The member of `_meta` in which an agent sends its turn number.
pub(crate) const TURN_KEY: &str = "dev.stickler/turn_index";

/// Returns the name and version of the client, if it has sent them.
fn client(context: &RequestContext<RoleServer>) -> Option<String> {
    let info = context.peer.peer_info()?;
    Some(format!("{} {}", info.client_info.name, info.client_info.version))
}

/// The outcome of validating a call.
pub(super) enum Admission {
    /// The handler runs, with these arguments if they were repaired.
    Admitted(Option<JsonObject>),
    /// The caller receives this response.
    Rejected(Result<CallToolResponse, ErrorData>),
}

impl<H: ServerHandler> Validated<H> {
    /// Validates a call. A call that is invalid according to the cache is validated again with the
    /// tools that the handler lists for this caller now; only that rejects it.
    pub(super) async fn admit(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Admission {
        if !self.validator.config().pre_validate {
            return Admission::Admitted(None);
        }
        let arguments = request.arguments.as_ref().map(to_json);
        if self.has_current_schema(&request.name) {
            let result = self.validate_arguments(&request.name, arguments.as_deref());
            if result.is_valid {
                return self.admitted(&request.name, &result);
            }
        }
        let tools = match self.list_all_tools(context).await {
            Ok(tools) => tools,
            Err(reason) => {
                tracing::warn!(tool = %request.name, %reason, "call forwarded without validation");
                return Admission::Admitted(None);
            }
        };
        let _guard = self.discovery_lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.cache_tools(tools, Some(&request.name));
        let result = self.validate_arguments(&request.name, arguments.as_deref());
        if result.is_valid {
            return self.admitted(&request.name, &result);
        }
        let rejection = self.rejection(&request.name, arguments.as_deref(), &result, context);
        rejection.map_or(Admission::Admitted(None), Admission::Rejected)
    }

    /// Returns the response to an invalid call; `None` if the mode only reports it.
    pub(super) fn rejection(
        &self,
        tool: &str,
        arguments: Option<&str>,
        result: &ValidationResult,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<CallToolResponse, ErrorData>> {
        if self.settings.mode != Mode::Observe {
            return Some(self.reject(tool, arguments, result, context));
        }
        let findings = result.findings();
        let problems = Problems(&findings);
        let rule = problems.rule();
        tracing::warn!(
            server = self.name,
            tool,
            rule,
            "call of `{tool}` would be rejected: {problems}"
        );
        None
    }

    fn validate_arguments(&self, tool: &str, arguments: Option<&str>) -> ValidationResult {
        let arguments = arguments.map(str::as_bytes);
        // rmcp has parsed the arguments, so only their nesting depth can exceed a limit.
        self.validator.validate_text(&self.name, tool, arguments).unwrap_or_else(|error| {
            tracing::warn!(tool, %error, "call forwarded without validation");
            ValidationResult::valid()
        })
    }

    fn admitted(&self, tool: &str, result: &ValidationResult) -> Admission {
        if let Some(reason) = &result.unchecked {
            tracing::warn!(server = self.name, tool, reason, "call forwarded without validation");
        }
        if !result.tolerated().is_empty() {
            let findings = result.findings();
            let problems = Problems(&findings);
            let rule = problems.rule();
            tracing::warn!(server = self.name, tool, rule, "call of `{tool}` accepted: {problems}");
        }
        let Some(arguments) = result.arguments() else { return Admission::Admitted(None) };
        let edits: Vec<String> = result.edits.iter().map(|edit| edit.path.clone()).collect();
        tracing::info!(server = self.name, tool, places = edits.join(" "), "call repaired");
        Admission::Admitted(serde_json::from_str(arguments.get()).ok())
    }

    fn reject(
        &self,
        tool: &str,
        arguments: Option<&str>,
        result: &ValidationResult,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let turn = context.meta.get(TURN_KEY).and_then(serde_json::Value::as_u64);
        let occurrence = {
            let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            session.reject(tool, arguments.unwrap_or_default(), turn)
        };
        let rejection = CallRejection::new(&self.validator, &self.name, tool, result)
            .repeated(occurrence.count, self.settings.repeat_limit)
            .in_turn(occurrence.turn);
        let problems = Problems(rejection.findings());
        tracing::warn!(
            server = self.name,
            client = client(context),
            request_id = %context.id,
            tool,
            rule = problems.rule(),
            "call of `{tool}` rejected: {problems}"
        );
        into_rmcp_response(rejection.answer(self.settings.answer))
    }

    /// Enhances an error of the handler with details from the tool's schema.
    pub(super) fn enhance(
        &self,
        tool: &str,
        outcome: Result<CallToolResponse, ErrorData>,
    ) -> Result<CallToolResponse, ErrorData> {
        let enhancer = ErrorEnhancer::of(&self.validator);
        match outcome {
            Ok(CallToolResponse::Complete(mut result))
                if result.is_error == Some(true) && !is_marked(result.meta.as_ref()) =>
            {
                let texts = result.content.iter().filter_map(|piece| piece.as_text());
                let texts: Vec<&str> = texts.map(|piece| piece.text.as_str()).collect();
                if let Some(addition) = enhancer.addition(&self.name, tool, &texts.join("\n")) {
                    result.content.push(ContentBlock::text(addition));
                    let meta = result.meta.get_or_insert_default();
                    meta.insert(ENHANCED_KEY.to_owned(), true.into());
                }
                Ok(result.into())
            }
            Err(mut error) if !error.data.as_ref().is_some_and(is_enhanced) => {
                if let Some(addition) = enhancer.addition(&self.name, tool, &error.message) {
                    error.message = format!("{}\n\n{addition}", error.message).into();
                    if let Value::Object(data) = error.data.get_or_insert_with(|| json!({})) {
                        data.insert(ENHANCED_KEY.to_owned(), true.into());
                    }
                }
                Err(error)
            }
            outcome => outcome,
        }
    }
}

/// Returns whether a Stickler between the handler and this one has extended or written the result.
fn is_marked(meta: Option<&impl serde::Serialize>) -> bool {
    meta.and_then(|meta| serde_json::to_value(meta).ok()).is_some_and(|meta| is_enhanced(&meta))
}

/// Converts a response to a call into rmcp's types.
fn into_rmcp_response(answer: CallAnswer) -> Result<CallToolResponse, ErrorData> {
    match answer {
        CallAnswer::Result(result) => Ok(tool_result(result)?.into()),
        CallAnswer::Error { code, message, data } => {
            Err(ErrorData::new(ErrorCode(code), message, Some(data)))
        }
    }
}

/// Converts a tool result into rmcp's type. rmcp removes `resultType` for legacy peers.
pub(super) fn tool_result(result: serde_json::Value) -> Result<CallToolResult, ErrorData> {
    let mut result: CallToolResult = serde_json::from_value(result)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    result.result_type = Some(ResultType::COMPLETE);
    Ok(result)
}

/// Serializes arguments; a JSON map always serializes.
pub(super) fn to_json(arguments: &JsonObject) -> String {
    serde_json::to_string(arguments).unwrap_or_default()
}
