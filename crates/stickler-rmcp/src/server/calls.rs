//! Calls, before the handler sees them and after.

use std::sync::PoisonError;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, JsonObject,
    ResultType,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use stickler::{CallAnswer, CallRefusal, ErrorEnhancer, ValidationResult};

use super::Validated;
use crate::problems::Problems;

/// The member of `_meta` by which an agent numbers its turns.
const TURN_KEY: &str = "dev.stickler/turn_index";

/// The client that makes a call, where it has said who it is.
fn client(context: &RequestContext<RoleServer>) -> Option<String> {
    let info = context.peer.peer_info()?;
    Some(format!("{} {}", info.client_info.name, info.client_info.version))
}

/// What came of looking at a call.
pub(super) enum Admission {
    /// The handler is to be called, with these arguments if they were repaired.
    Admitted(Option<JsonObject>),
    /// The caller gets this.
    Refused(Result<CallToolResponse, ErrorData>),
}

impl<H: ServerHandler> Validated<H> {
    /// Judges a call. Only a list that was asked for just now is a reason to refuse: a call that
    /// fails by what is known is judged again by what the handler lists to this very caller.
    pub(super) async fn admit(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Admission {
        if !self.validator.config().pre_validate {
            return Admission::Admitted(None);
        }
        let arguments = request.arguments.as_ref().map(written);
        if self.knows(&request.name) {
            let result = self.judge(&request.name, arguments.as_deref());
            if result.is_valid {
                return self.admitted(&request.name, &result);
            }
        }
        let tools = match self.ask_for_tools(context).await {
            Ok(tools) => tools,
            Err(reason) => {
                tracing::warn!(tool = %request.name, %reason, "the call goes on unchecked");
                return Admission::Admitted(None);
            }
        };
        let _alone = self.learning.lock().unwrap_or_else(PoisonError::into_inner);
        self.learn(tools, Some(&request.name));
        let result = self.judge(&request.name, arguments.as_deref());
        if result.is_valid {
            return self.admitted(&request.name, &result);
        }
        Admission::Refused(self.refuse(&request.name, arguments.as_deref(), &result, context))
    }

    fn judge(&self, tool: &str, arguments: Option<&str>) -> ValidationResult {
        let arguments = arguments.map(str::as_bytes);
        // Only nesting can be wrong with what rmcp has read already; the handler may judge it.
        self.validator.validate_text(&self.name, tool, arguments).unwrap_or_else(|error| {
            tracing::warn!(tool, %error, "the call goes on unchecked");
            ValidationResult::valid()
        })
    }

    fn admitted(&self, tool: &str, result: &ValidationResult) -> Admission {
        if let Some(reason) = &result.unchecked {
            tracing::warn!(server = self.name, tool, reason, "the call goes on unchecked");
        }
        let Some(arguments) = result.arguments() else { return Admission::Admitted(None) };
        let edits: Vec<String> = result.edits.iter().map(|edit| edit.path.clone()).collect();
        tracing::info!(server = self.name, tool, places = edits.join(" "), "the call was repaired");
        Admission::Admitted(serde_json::from_str(arguments.get()).ok())
    }

    fn refuse(
        &self,
        tool: &str,
        arguments: Option<&str>,
        result: &ValidationResult,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let turn = context.meta.get(TURN_KEY).and_then(serde_json::Value::as_u64);
        let (count, turn) = {
            let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            let count = session.repeats.count(tool, arguments.unwrap_or_default());
            let turn = turn.unwrap_or_else(|| {
                session.refusals += 1;
                session.refusals
            });
            (count, turn)
        };
        let refusal = CallRefusal::new(&self.validator, &self.name, tool, result)
            .repeated(count, self.settings.repeat_limit)
            .in_turn(turn);
        let problems = Problems(refusal.findings());
        tracing::warn!(
            server = self.name,
            client = client(context),
            request_id = %context.id,
            tool,
            rule = problems.rule(),
            "call of `{tool}` rejected: {problems}"
        );
        on_the_wire(refusal.answer(self.settings.answer))
    }

    /// The handler's own complaint about the arguments, with what the schema adds to it.
    pub(super) fn enhance(
        &self,
        tool: &str,
        outcome: Result<CallToolResponse, ErrorData>,
    ) -> Result<CallToolResponse, ErrorData> {
        let enhancer = ErrorEnhancer::of(&self.validator);
        match outcome {
            Ok(CallToolResponse::Complete(mut result)) if result.is_error == Some(true) => {
                let texts = result.content.iter().filter_map(|piece| piece.as_text());
                let texts: Vec<&str> = texts.map(|piece| piece.text.as_str()).collect();
                let addition = enhancer.addition(&self.name, tool, &texts.join("\n"));
                result.content.extend(addition.map(ContentBlock::text));
                Ok(result.into())
            }
            Err(mut error) if error.code == ErrorCode::INVALID_PARAMS => {
                let message = enhancer.enhance_text(&self.name, tool, &error.message).into_owned();
                error.message = message.into();
                Err(error)
            }
            outcome => outcome,
        }
    }
}

/// An answer of the core's in rmcp's types.
fn on_the_wire(answer: CallAnswer) -> Result<CallToolResponse, ErrorData> {
    match answer {
        CallAnswer::Result(result) => Ok(tool_result(result)?.into()),
        CallAnswer::Error { code, message, data } => {
            Err(ErrorData::new(ErrorCode(code), message, Some(data)))
        }
    }
}

/// A tool result of the core's in rmcp's types. rmcp takes its type away where the peer is older.
pub(super) fn tool_result(result: serde_json::Value) -> Result<CallToolResult, ErrorData> {
    let mut result: CallToolResult = serde_json::from_value(result)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    result.result_type = Some(ResultType::COMPLETE);
    Ok(result)
}

/// A map of JSON can always be written.
pub(super) fn written(arguments: &JsonObject) -> String {
    serde_json::to_string(arguments).unwrap_or_default()
}
