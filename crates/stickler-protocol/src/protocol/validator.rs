//! Validates values against the definitions of one revision.

use std::sync::{Arc, OnceLock};

use serde_json::Value;
use stickler::internal::Answer;
use stickler::internal::explain_part;
use stickler::tape::{Node, TapeBuffer};
use stickler::{Limits, ValidationConfig, ValidationError};

use super::definitions::Definitions;
use super::methods::Methods;
use super::{Method, MethodLookup, Revision};
use crate::side::Side;

/// The methods and definitions of one revision. Cheap to clone; each definition is compiled on first use.
#[derive(Debug, Clone)]
pub struct SchemaValidator(pub(super) Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) revision: Revision,
    pub(super) methods: Methods,
    pub(super) definitions: Definitions,
}

impl SchemaValidator {
    /// Returns the built-in validator of a revision.
    pub fn built_in(revision: Revision) -> Self {
        static BUILT: [OnceLock<SchemaValidator>; Revision::ALL.len()] =
            [const { OnceLock::new() }; Revision::ALL.len()];
        let build = || Self::new(revision, Definitions::built_in(revision));
        match BUILT.get(revision as usize) {
            Some(kept) => kept.get_or_init(build).clone(),
            None => build(),
        }
    }

    pub(super) fn new(revision: Revision, definitions: Definitions) -> Self {
        Self(Arc::new(Inner { revision, methods: Methods::of(revision), definitions }))
    }

    /// Returns the revision.
    pub fn revision(&self) -> Revision {
        self.0.revision
    }

    /// Looks up a method that a side sends.
    pub fn method(&self, sender: Side, name: &str) -> MethodLookup<'_> {
        self.0.methods.look_up(sender, name)
    }

    /// Returns all methods of the revision.
    pub fn methods(&self) -> impl Iterator<Item = &Method> {
        self.0.methods.iter()
    }

    /// Returns the names of all definitions.
    pub fn definition_names(&self) -> impl Iterator<Item = &str> {
        self.0.definitions.names()
    }

    /// Returns the definition names nearest to an unknown one, best first.
    pub fn nearest_definitions(&self, name: &str) -> Vec<&str> {
        stickler::nearest_names(name, self.definition_names())
    }

    /// Returns the whole schema of the revision.
    pub fn schema(&self) -> Value {
        self.0.definitions.document()
    }

    /// Returns a definition with everything it refers to as a standalone schema.
    pub fn definition_schema(&self, name: &str) -> Option<Value> {
        self.0.definitions.standalone(name)
    }

    /// Validates a message, or a part of one. `message_type` is the name of a method, whose request or notification
    /// the text must be, or the name of a definition such as `CallToolResult`. A text that is not JSON and a name that
    /// the revision does not define are errors, too.
    ///
    /// ```
    /// use stickler_protocol::{Revision, SchemaValidator};
    ///
    /// let validator = SchemaValidator::built_in(Revision::V2025_11_25);
    /// let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#;
    /// let errors = validator.validate("tools/call", call).unwrap_err();
    /// assert_eq!(errors[0].path, "/params/name");
    /// ```
    pub fn validate(&self, message_type: &str, text: &[u8]) -> Result<(), Vec<ValidationError>> {
        let method = self.methods().find(|method| method.name == message_type);
        let definition = method.map_or(message_type, |method| method.definition.as_str());
        if !self.0.definitions.contains(definition) {
            return Err(vec![ValidationError::whole(self.unknown_type(message_type))]);
        }
        let config = ValidationConfig::default();
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(text, config.limits.message_depth).map_err(|error| {
            vec![ValidationError::whole(format!("the message is not JSON: {error}"))]
        })?;
        if self.check(definition, tape.root(), &config.limits) == Answer::Valid {
            return Ok(());
        }
        let errors = self.explain(definition, tape.root(), &config);
        if errors.is_empty() {
            let message = format!("the message does not satisfy `{definition}`");
            return Err(vec![ValidationError::whole(message)]);
        }
        Err(errors)
    }

    fn unknown_type(&self, name: &str) -> String {
        let methods = self.methods().map(|method| &*method.name);
        let known = methods.chain(self.definition_names());
        let nearest = stickler::nearest_names(name, known);
        let hint =
            nearest.first().map_or_else(String::new, |best| format!("; did you mean `{best}`?"));
        format!("{} has no method or definition `{name}`{hint}", self.revision())
    }

    /// Whether a value satisfies a definition; false if the revision does not define it.
    pub fn is_valid(&self, definition: &str, node: Node<'_>) -> bool {
        self.check(definition, node, &Limits::default()) == Answer::Valid
    }

    /// Like [`is_valid`](Self::is_valid), within the limits of the caller.
    pub(crate) fn check(&self, definition: &str, node: Node<'_>, limits: &Limits) -> Answer {
        match self.0.definitions.checker(definition) {
            Some(Ok(checker)) => checker.check(node, limits.verdict_steps),
            _ => Answer::Invalid,
        }
    }

    /// Explains why a value does not satisfy a definition, with paths relative to the value. Slow: for values that
    /// [`is_valid`](Self::is_valid) rejects.
    pub fn explain(
        &self,
        definition: &str,
        node: Node<'_>,
        config: &ValidationConfig,
    ) -> Vec<ValidationError> {
        self.explain_part(definition, node, "", config)
    }

    /// Like [`explain`](Self::explain) for a part of a message; the sentences name its location in the message.
    pub(crate) fn explain_part(
        &self,
        definition: &str,
        node: Node<'_>,
        place: &'static str,
        config: &ValidationConfig,
    ) -> Vec<ValidationError> {
        match self.0.definitions.compiled(definition) {
            Some(Ok(schema)) => explain_part(schema, node, place, config),
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Revision, SchemaValidator};
    use stickler::internal::Answer;
    use stickler::tape::TapeBuffer;
    use stickler::{Limits, ValidationConfig};

    fn explain(revision: Revision, definition: &str, value: &Value) -> Vec<(String, String)> {
        let validator = SchemaValidator::built_in(revision);
        let text = value.to_string();
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(text.as_bytes(), 128).unwrap();
        let limits = Limits::default();
        assert_eq!(validator.check(definition, tape.root(), &limits), Answer::Invalid, "{text}");
        let errors = validator.explain(definition, tape.root(), &ValidationConfig::default());
        errors.into_iter().map(|error| (error.path, error.message)).collect()
    }

    #[test]
    fn every_definition_of_every_revision_compiles() {
        for revision in Revision::ALL {
            let validator = SchemaValidator::built_in(revision);
            let definitions = &validator.0.definitions;
            assert!(definitions.names().count() > 70);
            for name in definitions.names() {
                assert!(definitions.checker(name).unwrap().is_ok(), "{revision} {name}");
                assert!(definitions.compiled(name).unwrap().is_ok(), "{revision} {name}");
            }
        }
    }

    #[test]
    fn methods_refer_only_to_existing_definitions() {
        for revision in Revision::ALL {
            let validator = SchemaValidator::built_in(revision);
            for method in validator.methods() {
                for name in method.definitions() {
                    assert!(validator.0.definitions.contains(name), "{revision} {name}");
                }
            }
        }
    }

    #[test]
    fn content_is_explained_by_the_branch_of_its_type() {
        for revision in Revision::ALL {
            let result = json!({ "content": [{ "type": "text" }], "resultType": "complete" });
            let errors = explain(revision, "CallToolResult", &result);
            assert_eq!(errors.len(), 1, "{errors:?}");
            assert_eq!(errors[0].0, "/content/0/text");
        }
    }

    #[test]
    fn misspelt_discriminator_lists_the_valid_ones() {
        let result = json!({ "content": [{ "type": "txt", "text": "hi" }] });
        let errors = explain(Revision::V2025_11_25, "CallToolResult", &result);
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].0, "/content/0/type");
        assert!(errors[0].1.contains("\"text\""), "{errors:?}");
    }

    #[test]
    fn messages_are_explained_at_their_root() {
        let errors = explain(Revision::V2025_11_25, "CallToolRequest", &json!([]));
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].0, "");
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {} });
        let errors = explain(Revision::V2025_11_25, "CallToolRequest", &request);
        assert_eq!(errors[0].0, "/params/name");
    }

    #[test]
    fn unions_are_explained_by_the_method() {
        let request =
            json!({ "method": "resources/read", "params": {}, "jsonrpc": "2.0", "id": 1 });
        let errors = explain(Revision::V2025_11_25, "ClientRequest", &request);
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].0, "/params/uri");
    }

    #[test]
    fn messages_are_validated_by_method_and_definition_name() {
        let validator = SchemaValidator::built_in(Revision::V2025_11_25);
        let call =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "t" } });
        assert_eq!(validator.validate("tools/call", call.to_string().as_bytes()), Ok(()));
        assert_eq!(validator.validate("CallToolRequest", call.to_string().as_bytes()), Ok(()));
        let result = validator.validate("CallToolResult", br#"{"content":"text"}"#).unwrap_err();
        assert_eq!(result[0].path, "/content");
        let message = |name: &str, text: &[u8]| {
            validator.validate(name, text).unwrap_err().first().unwrap().message.clone()
        };
        assert_eq!(
            message("tools/cal", b"{}"),
            "2025-11-25 has no method or definition `tools/cal`; did you mean `tools/call`?"
        );
        assert!(message("tools/call", b"{").starts_with("the message is not JSON: "));
        assert_eq!(
            message("server/discover", b"{}"),
            "2025-11-25 has no method or definition `server/discover`"
        );
    }

    #[test]
    fn formats_are_annotations() {
        let validator = SchemaValidator::built_in(Revision::V2025_11_25);
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(br#"{"uri": "not a uri", "name": "n"}"#, 128).unwrap();
        assert!(validator.is_valid("Resource", tape.root()));
    }

    #[test]
    fn standalone_definition_contains_its_references() {
        let validator = SchemaValidator::built_in(Revision::V2025_06_18);
        let schema = validator.definition_schema("Tool").unwrap();
        assert_eq!(schema["$ref"], "#/$defs/Tool");
        let names: Vec<&String> = schema["$defs"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["Tool", "ToolAnnotations"]);
        assert_eq!(validator.definition_schema("Tol"), None);
        assert_eq!(validator.nearest_definitions("Tol").first(), Some(&"Tool"));
    }

    #[test]
    fn undefined_definition_accepts_nothing() {
        let validator = SchemaValidator::built_in(Revision::V2024_11_05);
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(b"{}", 128).unwrap();
        assert!(!validator.is_valid("Task", tape.root()));
        assert!(validator.explain("Task", tape.root(), &ValidationConfig::default()).is_empty());
    }
}
