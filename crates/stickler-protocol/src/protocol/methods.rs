//! The methods of a revision and the sides that may send them.

use std::collections::HashMap;

use serde_json::{Map, Value};
use stickler::tape::Node;

use super::span::{Span, entry};
use super::{Revision, document};
use crate::side::Side;

/// A method of one revision.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Method {
    /// Name, such as `tools/call`.
    pub name: String,
    /// Request or notification.
    pub kind: MethodKind,
    /// Definition of the message.
    pub definition: String,
    /// Definition of the `result`; `None` for notifications.
    pub result: Option<String>,
    /// Definition of the `result` if the request was accepted as a task.
    pub task_result: Option<String>,
    /// Definition of the `result` if the server requires input first.
    pub input_required: Option<String>,
    senders: Vec<Side>,
}

/// Kind of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MethodKind {
    /// A request, which is answered.
    Request,
    /// A notification, which is not answered.
    Notification,
}

/// Result of looking up a method that a side sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MethodLookup<'m> {
    /// The side may send it.
    Known(&'m Method),
    /// Only the other side may send it.
    WrongDirection(&'m Method),
    /// Other revisions define it.
    OtherRevisions(Vec<Revision>),
    /// No revision defines it.
    Unknown,
}

impl Method {
    /// Whether a side may send the method.
    pub fn is_sent_by(&self, side: Side) -> bool {
        self.senders.contains(&side)
    }

    /// Returns the definition that a result must satisfy. The result itself indicates that the server requires input or,
    /// if the request requested a task, that it is a task.
    pub fn result_for(&self, result: Node<'_>, requested_task: bool) -> Option<&str> {
        if let Some(definition) = &self.input_required
            && result
                .get("resultType")
                .is_some_and(|kind| kind.as_str().as_deref() == Some("input_required"))
        {
            return Some(definition);
        }
        if let Some(definition) = &self.task_result
            && requested_task
            && result.get("task").is_some()
        {
            return Some(definition);
        }
        self.result.as_deref()
    }

    /// Returns all definitions that the method needs.
    pub(super) fn definitions(&self) -> impl Iterator<Item = &str> {
        let results = [&self.result, &self.task_result, &self.input_required];
        std::iter::once(&self.definition).chain(results.into_iter().flatten()).map(String::as_str)
    }
}

/// The methods of one revision.
#[derive(Debug)]
pub(super) struct Methods {
    revision: Revision,
    by_name: HashMap<&'static str, Method>,
}

impl Methods {
    pub(super) fn of(revision: Revision) -> Self {
        let by_name = document::methods()
            .iter()
            .filter_map(|(name, row)| {
                Some((name.as_str(), method(name, row.as_object()?, revision)?))
            })
            .collect();
        Self { revision, by_name }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Method> {
        // In document order.
        document::methods().keys().filter_map(|name| self.by_name.get(name.as_str()))
    }

    pub(super) fn look_up(&self, sender: Side, name: &str) -> MethodLookup<'_> {
        match self.by_name.get(name) {
            Some(method) if method.is_sent_by(sender) => MethodLookup::Known(method),
            Some(method) => MethodLookup::WrongDirection(method),
            None => elsewhere(name, self.revision),
        }
    }
}

fn elsewhere(name: &str, here: Revision) -> MethodLookup<'static> {
    let Some(Value::Object(row)) = document::methods().get(name) else {
        return MethodLookup::Unknown;
    };
    let span = Span::of(row);
    let others = Revision::ALL.into_iter().filter(|other| *other != here && span.contains(*other));
    MethodLookup::OtherRevisions(others.collect())
}

/// Returns a method as that revision defines it.
fn method(name: &str, row: &Map<String, Value>, revision: Revision) -> Option<Method> {
    if !Span::of(row).contains(revision) {
        return None;
    }
    let named = |key: &str| {
        let value = row.get(key).and_then(|value| entry(value, "name", revision));
        value.and_then(Value::as_str).map(str::to_owned)
    };
    let (kind, definition) = match (named("request"), named("notification")) {
        (Some(definition), _) => (MethodKind::Request, definition),
        (None, notification) => (MethodKind::Notification, notification?),
    };
    let sent_by = |side: &Side| {
        let mut senders = row.get("from").and_then(Value::as_array).into_iter().flatten();
        senders.any(|sender| {
            entry(sender, "name", revision).and_then(Value::as_str) == Some(side.as_str())
        })
    };
    Some(Method {
        name: name.to_owned(),
        kind,
        definition,
        result: named("result"),
        task_result: named("taskResult"),
        input_required: named("inputRequired"),
        senders: [Side::Client, Side::Server].into_iter().filter(sent_by).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Method, MethodKind, MethodLookup, Methods};
    use crate::protocol::Revision;
    use crate::side::Side;
    use stickler::tape::TapeBuffer;

    fn known(methods: &Methods, sender: Side, name: &str) -> Method {
        match methods.look_up(sender, name) {
            MethodLookup::Known(method) => method.clone(),
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn method_is_known_for_the_sides_that_may_send_it() {
        let methods = Methods::of(Revision::V2025_11_25);
        let call = known(&methods, Side::Client, "tools/call");
        assert_eq!((call.kind, call.definition.as_str()), (MethodKind::Request, "CallToolRequest"));
        assert_eq!(
            methods.look_up(Side::Server, "tools/call"),
            MethodLookup::WrongDirection(&call)
        );
        for side in [Side::Client, Side::Server] {
            assert_eq!(known(&methods, side, "ping").result.as_deref(), Some("EmptyResult"));
        }
    }

    #[test]
    fn lookup_names_the_revisions_that_define_a_method() {
        let methods = Methods::of(Revision::V2026_07_28);
        let others = [Revision::V2025_06_18, Revision::V2025_11_25];
        let lookup = methods.look_up(Side::Server, "elicitation/create");
        assert_eq!(lookup, MethodLookup::OtherRevisions(others.to_vec()));
        assert_eq!(methods.look_up(Side::Client, "tools/cal"), MethodLookup::Unknown);
    }

    #[test]
    fn allowed_sender_can_change_between_revisions() {
        let progress = "notifications/progress";
        let before = Methods::of(Revision::V2025_11_25);
        assert!(known(&before, Side::Client, progress).is_sent_by(Side::Server));
        let after = Methods::of(Revision::V2026_07_28);
        assert!(!known(&after, Side::Server, progress).is_sent_by(Side::Client));
    }

    #[test]
    fn result_definition_depends_on_the_result() {
        let result_for = |revision: Revision, text: &str, requested_task: bool| {
            let call = known(&Methods::of(revision), Side::Client, "tools/call");
            let mut buffer = TapeBuffer::new();
            let tape = buffer.read(text.as_bytes(), 128).unwrap();
            call.result_for(tape.root(), requested_task).map(str::to_owned)
        };
        let (legacy, modern) = (Revision::V2025_11_25, Revision::V2026_07_28);
        let task = r#"{"task": {}}"#;
        assert_eq!(result_for(legacy, task, true).as_deref(), Some("CreateTaskResult"));
        assert_eq!(result_for(legacy, task, false).as_deref(), Some("CallToolResult"));
        assert_eq!(result_for(legacy, "{}", true).as_deref(), Some("CallToolResult"));
        let input = r#"{"resultType": "input_required"}"#;
        assert_eq!(result_for(modern, input, false).as_deref(), Some("InputRequiredResult"));
        assert_eq!(result_for(legacy, input, false).as_deref(), Some("CallToolResult"));
        assert_eq!(result_for(modern, "[]", true).as_deref(), Some("CallToolResult"));
    }
}
