//! Rules for the `STK` error codes and for the arguments of a call.

use super::{Rule, Severity, json_rpc};

/// The rule for an unusable schema, which the linter reports too.
pub(crate) static UNUSABLE_SCHEMA: Rule = UNUSABLE;

const UNUSABLE: Rule = Rule {
    id: "STK-108",
    severity: Severity::Warning,
    summary: "the tool's schema cannot be used",
    why: "The schema is invalid in its dialect, exceeds a limit, or refers to a location outside \
          itself. Calls of this tool cannot be validated; calls of the server's other tools still \
          are.",
    fix: "Correct the tool's `inputSchema` as the reason describes. References must stay within \
          the schema; the dialects from draft-04 to 2020-12 are supported.",
    json_rpc: Some(json_rpc::INVALID_PARAMS),
};

pub(super) static CALLS: &[Rule] = &[
    Rule {
        id: "STK-100",
        severity: Severity::Error,
        summary: "not connected to a server",
        why: "The call was made before the connection was established or after it was closed.",
        fix: "Connect first, and check that the connection succeeded.",
        json_rpc: None,
    },
    Rule {
        id: "STK-101",
        severity: Severity::Error,
        summary: "the server cannot be started or reached",
        why: "The command could not be run or exited immediately, or nothing responded at the \
              address.",
        fix: "Run the server's command manually and read its output, or check the address.",
        json_rpc: None,
    },
    Rule {
        id: "STK-102",
        severity: Severity::Error,
        summary: "the tool call failed; details from the schema follow the server's error",
        why: "The server rejected the call or could not execute it. The error text of the server \
              comes first, unchanged; if it is about the arguments, the required and valid fields \
              follow.",
        fix: "Read the error of the server. If it is about the arguments, correct them as shown.",
        json_rpc: None,
    },
    Rule {
        id: "STK-103",
        severity: Severity::Error,
        summary: "a message violated the protocol",
        why: "This revision of MCP does not define the message in this direction.",
        fix: "Correct the program that sent the message. The path of the finding is the location \
              of the problem.",
        json_rpc: None,
    },
    Rule {
        id: "STK-104",
        severity: Severity::Error,
        summary: "the server did not respond in time",
        why: "The request exceeded its timeout.",
        fix: "Increase the timeout for slow tools, or find out what the server is waiting for.",
        json_rpc: None,
    },
    Rule {
        id: "STK-105",
        severity: Severity::Error,
        summary: "the server disconnected",
        why: "The process exited or the connection was closed while requests were pending.",
        fix: "Check the log of the server. Requests that were pending may or may not have been \
              executed.",
        json_rpc: None,
    },
    Rule {
        id: "STK-106",
        severity: Severity::Error,
        summary: "unknown tool",
        why: "The server does not list a tool with this name. If it lists a tool with a similar \
              name, or listed the tool before, the call was not made. Otherwise the gateway \
              forwards the call, because a server may have unlisted tools; `strict` rejects it, \
              too.",
        fix: "Use one of the names in the response. The most similar names come first.",
        json_rpc: Some(json_rpc::INVALID_PARAMS),
    },
    Rule {
        id: "STK-107",
        severity: Severity::Error,
        summary: "parameter validation failed",
        why: "The arguments do not satisfy the tool's `inputSchema`. The call was not made, so \
              nothing has changed. Every problem is listed with its path, the expected value and \
              the received value.",
        fix: "Correct the arguments as each problem describes, or send the corrected call if one \
              is shown.",
        json_rpc: Some(json_rpc::INVALID_PARAMS),
    },
    UNUSABLE,
    Rule {
        id: "STK-109",
        severity: Severity::Warning,
        summary: "the result does not match the tool's `outputSchema`",
        why: "The server declared a schema for its structured results and returned a result that \
              does not satisfy it.",
        fix: "Correct the server's result or its `outputSchema`.",
        json_rpc: None,
    },
    Rule {
        id: "missing_required",
        severity: Severity::Error,
        summary: "a required field is missing",
        why: "The tool cannot work without it.",
        fix: "Add the field. The path is its location, and the message contains its type. If a \
              field with a similar name is reported as unknown, rename that field.",
        json_rpc: Some(json_rpc::INVALID_PARAMS),
    },
    Rule {
        id: "type_mismatch",
        severity: Severity::Error,
        summary: "a value has the wrong type",
        why: "Servers reject the value, or worse, convert it to another value. Usual causes: a \
              number or an object sent as a string, `null` for an optional field, a single value \
              instead of an array.",
        fix: "Send the value with the type in the message.",
        json_rpc: Some(json_rpc::INVALID_PARAMS),
    },
    Rule {
        id: "unknown_field",
        severity: Severity::Error,
        summary: "a field that the tool does not define",
        why: "Most servers silently drop unknown fields, so a misspelt option seems to work. \
              Therefore an object schema that lists its properties and leaves open whether others \
              are allowed is treated as closed.",
        fix: "Use the suggested name, or omit the field. If the tool accepts any field, add \
              `additionalProperties: true` to its schema; to follow schemas literally, set unknown \
              fields to `follow-schema`.",
        json_rpc: Some(json_rpc::INVALID_PARAMS),
    },
    Rule {
        id: "invalid_enum",
        severity: Severity::Error,
        summary: "a value that is not one of the allowed values",
        why: "The tool accepts exactly the values that its schema lists.",
        fix: "Use one of the listed values; the suggestion is the most similar one.",
        json_rpc: Some(json_rpc::INVALID_PARAMS),
    },
    Rule {
        id: "invalid_value",
        severity: Severity::Error,
        summary: "a value of the right type that is not allowed",
        why: "The value is out of bounds, has the wrong length or format, does not match the \
              pattern, or is JSON that parsers interpret differently (a duplicate key, a number \
              too large for a double).",
        fix: "Choose a value that satisfies the constraint in the message.",
        json_rpc: Some(json_rpc::INVALID_PARAMS),
    },
    Rule {
        id: "unknown_tool",
        severity: Severity::Error,
        summary: "a tool that the server does not have",
        why: "The same as STK-106, as the kind of a validation error.",
        fix: "Use the suggested name or one of the available tools.",
        json_rpc: Some(json_rpc::INVALID_PARAMS),
    },
    Rule {
        id: "invalid_call",
        severity: Severity::Error,
        summary: "JSON that is not a tool call",
        why: "A call is an object with the `name` of the tool, a string, and its `arguments`.",
        fix: "Write `{\"name\": \"…\", \"arguments\": {…}}` or a complete `tools/call` request.",
        json_rpc: Some(json_rpc::INVALID_PARAMS),
    },
    Rule {
        id: "invalid_json",
        severity: Severity::Error,
        summary: "a text that is not JSON",
        why: "A call that cannot be parsed cannot be validated.",
        fix: "Correct the syntax. The message contains the byte at which parsing stopped and what \
              was expected there.",
        json_rpc: Some(json_rpc::PARSE_ERROR),
    },
];
