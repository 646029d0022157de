//! The codes that errors carry, and what is said about the arguments of a call.

use super::{Rule, Severity, json_rpc};

/// What `check` says of a schema too.
pub(crate) static UNUSABLE_SCHEMA: Rule = UNUSABLE;

const UNUSABLE: Rule = Rule {
    id: "STK-108",
    severity: Severity::Warning,
    summary: "the tool's schema cannot be used",
    why: "The schema is not valid in its dialect, too large, or refers to something outside \
          itself. Calls of this tool cannot be checked; the server's other tools can.",
    mend: "Correct the tool's `inputSchema` as the reason says. References must stay within \
           the schema; dialects from draft-04 to 2020-12 are known.",
    json_rpc: Some(json_rpc::INVALID_PARAMS),
};

pub(super) static CALLS: &[Rule] = &[
    Rule {
        id: "STK-100",
        severity: Severity::Error,
        summary: "not connected to a server",
        why: "A call was made before the connection was there or after it was closed.",
        mend: "Connect first, and check that the connection did not fail.",
        json_rpc: None,
    },
    Rule {
        id: "STK-101",
        severity: Severity::Error,
        summary: "the server cannot be started or reached",
        why: "The command could not be run, ended at once, or the address did not answer.",
        mend: "Run the server's command by hand and read what it prints; check the address.",
        json_rpc: None,
    },
    Rule {
        id: "STK-102",
        severity: Severity::Error,
        summary: "the tool call failed: the server's own error, with what its schema adds to it",
        why: "The server refused the call or could not do it. Its own words come first, unchanged; \
              where they are about the arguments, the required and valid fields follow.",
        mend: "Read the server's words. If they are about the arguments, correct those as shown.",
        json_rpc: None,
    },
    Rule {
        id: "STK-103",
        severity: Severity::Error,
        summary: "a message broke the protocol",
        why: "The message is not one that this revision of MCP knows in this direction.",
        mend: "The finding's path says where. Correct the program that sent the message.",
        json_rpc: None,
    },
    Rule {
        id: "STK-104",
        severity: Severity::Error,
        summary: "the server did not answer in time",
        why: "The time that was allowed for a request ran out.",
        mend: "Allow more time for slow tools, or find out what the server is waiting for.",
        json_rpc: None,
    },
    Rule {
        id: "STK-105",
        severity: Severity::Error,
        summary: "the server went away",
        why: "The process ended or the connection was closed while requests were in flight.",
        mend: "Look at the server's log. Requests that were in flight may or may not have been \
               carried out.",
        json_rpc: None,
    },
    Rule {
        id: "STK-106",
        severity: Severity::Error,
        summary: "unknown tool",
        why: "The server lists no tool with that name. Where it lists one with a name like it, or \
              did so before, the call was not made. Otherwise the gateway passes it on, because \
              a server may have tools that it does not list; `strict` refuses it, too.",
        mend: "Use one of the names in the answer. The nearest come first.",
        json_rpc: Some(json_rpc::INVALID_PARAMS),
    },
    Rule {
        id: "STK-107",
        severity: Severity::Error,
        summary: "parameter validation failed",
        why: "The arguments do not satisfy the tool's `inputSchema`. The call was not made, so \
              nothing has changed. Every problem is listed with its path, what was expected and \
              what came.",
        mend: "Correct the arguments as each problem says, or make the corrected call if one is \
               shown.",
        json_rpc: Some(json_rpc::INVALID_PARAMS),
    },
    UNUSABLE,
    Rule {
        id: "STK-109",
        severity: Severity::Warning,
        summary: "the result does not match the tool's `outputSchema`",
        why: "The server promised a form for its structured results and did not keep to it.",
        mend: "Correct the server's result or its `outputSchema`.",
        json_rpc: None,
    },
    Rule {
        id: "missing_required",
        severity: Severity::Error,
        summary: "a required field is missing",
        why: "The tool cannot work without it.",
        mend: "Add the field. The path says where, the message which type it has. If a field with \
               a similar name is reported as unknown, rename that one.",
        json_rpc: Some(json_rpc::INVALID_PARAMS),
    },
    Rule {
        id: "type_mismatch",
        severity: Severity::Error,
        summary: "a value has the wrong type",
        why: "Servers refuse it, or worse, convert it to something else. The usual causes: a \
              number or object sent as its text, `null` for a field that could be left out, a \
              single value where a list is wanted.",
        mend: "Send the value in the type that the message names.",
        json_rpc: Some(json_rpc::INVALID_PARAMS),
    },
    Rule {
        id: "unknown_field",
        severity: Severity::Error,
        summary: "a field that the tool does not have",
        why: "Most servers drop fields they do not know without a word, so a misspelt option \
              looks as if it had been obeyed. An object schema that lists its properties and says \
              nothing about others is therefore read as closed.",
        mend: "Use the suggested name, or leave the field out. If the tool really takes any \
               field, its schema should say `additionalProperties: true`; to follow schemas to \
               the letter, set unknown fields to `follow-schema`.",
        json_rpc: Some(json_rpc::INVALID_PARAMS),
    },
    Rule {
        id: "invalid_enum",
        severity: Severity::Error,
        summary: "a value that is not one of those allowed",
        why: "The tool accepts only the values that its schema lists, to the letter.",
        mend: "Use one of the listed values; the suggestion is the nearest.",
        json_rpc: Some(json_rpc::INVALID_PARAMS),
    },
    Rule {
        id: "invalid_value",
        severity: Severity::Error,
        summary: "the type is right, the value is not",
        why: "The value is out of bounds, has the wrong length, form or pattern, or is not \
              something that every JSON reader understands alike (a key given twice, a number \
              too large for a double).",
        mend: "Choose a value within what the message says.",
        json_rpc: Some(json_rpc::INVALID_PARAMS),
    },
    Rule {
        id: "unknown_tool",
        severity: Severity::Error,
        summary: "a tool that the server does not have",
        why: "The same as STK-106, as the kind of a validation error.",
        mend: "Use the suggested name or one of the available tools.",
        json_rpc: Some(json_rpc::INVALID_PARAMS),
    },
    Rule {
        id: "invalid_call",
        severity: Severity::Error,
        summary: "JSON that is no tool call",
        why: "A call is an object with the tool's `name`, a string, and its `arguments`.",
        mend: "Write `{\"name\": \"…\", \"arguments\": {…}}` or a whole `tools/call` request.",
        json_rpc: Some(json_rpc::INVALID_PARAMS),
    },
    Rule {
        id: "invalid_json",
        severity: Severity::Error,
        summary: "a text that is not JSON",
        why: "Nothing can be said about a call that cannot be read.",
        mend: "The message says at which byte reading stopped and what was expected there.",
        json_rpc: Some(json_rpc::PARSE_ERROR),
    },
];
