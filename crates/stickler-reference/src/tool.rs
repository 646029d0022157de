//! A tool: what it is told to be, what it looks at before it acts, and what it does.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::trouble::Trouble;
use super::workspace::Workspace;

/// What a look before the call gives: warnings, or the reason why the call would fail.
pub(crate) type Check = Result<Vec<String>, Trouble>;

/// What a call gives.
pub(crate) type Outcome = Result<Answer, Trouble>;

type Checking = dyn Fn(&Workspace, Value) -> Check + Send + Sync;
type Running = dyn Fn(&Workspace, Value) -> Outcome + Send + Sync;

/// One tool of a suite.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    description: &'static str,
    schema: Arc<JsonObject>,
    effect: Effect,
    checking: Box<Checking>,
    running: Box<Running>,
}

/// What a call does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing is changed.
    Reads,
    /// Something is added, nothing is lost.
    Adds,
    /// Something may be replaced or removed, within the root.
    Changes,
    /// A program runs, which may do anything.
    Runs,
}

impl Tool {
    /// `schema` is the strict one of [`strict`]; `C` is what its arguments are read as.
    pub(crate) fn new<C: DeserializeOwned + 'static>(
        name: &'static str,
        description: &'static str,
        effect: Effect,
        schema: Value,
        check: fn(&Workspace, &C) -> Check,
        run: fn(&Workspace, &C) -> Outcome,
    ) -> Self {
        let schema = if let Value::Object(schema) = schema { schema } else { JsonObject::new() };
        Self {
            name,
            description,
            schema: Arc::new(schema),
            effect,
            checking: Box::new(move |workspace, arguments| check(workspace, &read(arguments)?)),
            running: Box::new(move |workspace, arguments| {
                let call = read(arguments)?;
                check(workspace, &call)?;
                run(workspace, &call)
            }),
        }
    }

    /// Looks whether a call could succeed, without making it.
    pub(crate) fn check(&self, workspace: &Workspace, arguments: JsonObject) -> Check {
        (self.checking)(workspace, Value::Object(arguments))
    }

    pub(crate) fn run(&self, workspace: &Workspace, arguments: JsonObject) -> Outcome {
        (self.running)(workspace, Value::Object(arguments))
    }

    /// The JSON Schema of the arguments.
    pub(crate) fn schema(&self) -> &JsonObject {
        &self.schema
    }

    /// As it is listed.
    pub(crate) fn listed(&self) -> rmcp::model::Tool {
        let annotations = ToolAnnotations::new()
            .read_only(self.effect == Effect::Reads)
            .destructive(matches!(self.effect, Effect::Changes | Effect::Runs))
            .idempotent(self.effect == Effect::Reads)
            .open_world(self.effect == Effect::Runs);
        rmcp::model::Tool::new(
            Cow::Borrowed(self.name),
            Cow::Borrowed(self.description),
            Arc::clone(&self.schema),
        )
        .with_annotations(annotations)
    }
}

/// The schema has been satisfied, so that this fails only where a type of ours is narrower.
fn read<C: DeserializeOwned>(arguments: Value) -> Result<C, Trouble> {
    serde_json::from_value(arguments).map_err(|error| Trouble::semantic(error.to_string()))
}

/// A strict schema: an object with these properties and no others, and a call that it accepts.
pub(crate) fn strict(properties: Value, required: &[&str], example: Value) -> Value {
    let members = [
        ("type", "object".into()),
        ("properties", properties),
        ("required", required.into()),
        ("additionalProperties", false.into()),
        ("examples", vec![example].into()),
    ];
    members.into_iter().map(|(name, value): (&str, Value)| (name.to_owned(), value)).collect()
}

/// Nothing to look at beforehand.
#[allow(clippy::unnecessary_wraps, reason = "it stands where checks stand")]
pub(crate) fn no_check<C>(_: &Workspace, _: &C) -> Check {
    Ok(Vec::new())
}

/// What a tool answers.
#[derive(Debug)]
pub(crate) struct Answer {
    text: String,
    data: Option<Value>,
}

impl Answer {
    /// For reading.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), data: None }
    }

    /// An object, for programs; its JSON is the text.
    pub(crate) fn data(data: Value) -> Self {
        Self { text: format!("{data:#}"), data: Some(data) }
    }

    /// The same for both, in the words of each.
    pub(crate) fn both(text: impl Into<String>, data: Value) -> Self {
        Self { text: text.into(), data: Some(data) }
    }

    /// Short enough for a record.
    pub(crate) fn summary(&self) -> &str {
        let line = self.text.lines().next().unwrap_or_default();
        super::workspace::clip(line, 200)
    }
}

impl From<Answer> for CallToolResult {
    fn from(answer: Answer) -> Self {
        let mut result = Self::success(vec![ContentBlock::text(answer.text)]);
        result.structured_content = answer.data;
        result
    }
}
