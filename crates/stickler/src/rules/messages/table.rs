//! Texts of the rules for messages: summary, reason and fix.

use crate::rules::{Rule, Severity, json_rpc};

pub(in crate::rules) static MESSAGES: &[Rule] = &[
    Rule {
        id: "json-syntax",
        severity: Severity::Error,
        summary: "bytes that are not JSON",
        why: "A message that cannot be parsed cannot be validated. Servers built on the official \
              SDKs do not respond to one, so the caller waits forever.",
        fix: "Correct the syntax. The finding contains the byte at which parsing stopped and what \
              was expected there. Each message is one line of UTF-8 without a byte order mark.",
        json_rpc: Some(json_rpc::PARSE_ERROR),
    },
    Rule {
        id: "bad-envelope",
        severity: Severity::Error,
        summary: "JSON that is not a JSON-RPC message",
        why: "A message is an object with `jsonrpc: \"2.0\"` and either a `method` (with an `id` \
              for a request), or an `id` and one of `result` and `error`. An id is a string or an \
              integer. Different programs interpret a duplicate member differently. Only revision \
              2025-03-26 has batches.",
        fix: "Correct the member at the path of the finding.",
        json_rpc: Some(json_rpc::INVALID_REQUEST),
    },
    Rule {
        id: "unknown-method",
        severity: Severity::Note,
        summary: "a method that the revision does not define",
        why: "It may be an extension that both sides have agreed on, so it is forwarded. Otherwise \
              it is misspelt or belongs to another revision.",
        fix: "Check the spelling and the revision. A strict policy answers the request with an \
              error.",
        json_rpc: Some(json_rpc::METHOD_NOT_FOUND),
    },
    Rule {
        id: "bad-params",
        severity: Severity::Error,
        summary: "parameters that do not match the schema",
        why: "The `params` do not match the schema of the method in the negotiated revision. A \
              request is rejected; a notification, which cannot be answered, is forwarded and \
              reported.",
        fix: "Correct the member at the path. `stickler schema` prints the schema.",
        json_rpc: Some(json_rpc::INVALID_PARAMS),
    },
    Rule {
        id: "bad-result",
        severity: Severity::Error,
        summary: "a result that does not match the schema",
        why: "The result does not match the schema that the revision defines for the requested \
              method. Strict clients reject it, others misinterpret it.",
        fix: "Correct the server, or the client if it sent the result.",
        json_rpc: Some(json_rpc::INTERNAL_ERROR),
    },
    Rule {
        id: "bad-error",
        severity: Severity::Error,
        summary: "an error that does not match the schema",
        why: "An error has an integer as its `code` and a string as its `message`. Some codes also \
              define a schema for `data`, which clients rely on.",
        fix: "Correct the member at the path.",
        json_rpc: Some(json_rpc::INTERNAL_ERROR),
    },
    Rule {
        id: "unpaired-response",
        severity: Severity::Warning,
        summary: "a response without a pending request",
        why: "No request with this id is pending. The id may have been changed in transit (`1` and \
              `\"1\"` are different ids), or the request was answered before. A second response is dropped, and an id \
              of the other type is corrected. After any other such response, requests that may have been meant get an \
              error within 60 seconds.",
        fix: "Respond to each request once, with its id unchanged.",
        json_rpc: None,
    },
    Rule {
        id: "duplicate-id",
        severity: Severity::Error,
        summary: "a request with the id of a pending request",
        why: "The responses to two requests with the same id cannot be distinguished. The second \
              request is rejected with an error without an id, so that the first request can still \
              be answered.",
        fix: "Use a unique id for every request.",
        json_rpc: Some(json_rpc::INVALID_REQUEST),
    },
    Rule {
        id: "reused-id",
        severity: Severity::Note,
        summary: "an id that was used before in this session",
        why: "The earlier request is complete, so the responses cannot be confused, but the \
              protocol does not allow reusing an id within a session.",
        fix: "Increment the id instead of restarting the sequence.",
        json_rpc: None,
    },
    Rule {
        id: "unknown-reference",
        severity: Severity::Note,
        summary: "a cancellation or progress notification for an unknown request",
        why: "No pending request has this id or progress token. The request may just have been \
              answered, or the reference is wrong.",
        fix: "If this happens regularly, compare the id or token with the one in the request.",
        json_rpc: None,
    },
    Rule {
        id: "wrong-direction",
        severity: Severity::Warning,
        summary: "a message that only the other side may send",
        why: "The revision defines this method, but not for this sender.",
        fix: "Correct the program that sent it; often client and server were confused.",
        json_rpc: Some(json_rpc::METHOD_NOT_FOUND),
    },
    Rule {
        id: "too-large",
        severity: Severity::Error,
        summary: "a message that exceeds the size limit",
        why: "Messages are held in memory, so their size is limited (16 MiB by default).",
        fix: "Send large data in parts or by reference, or raise the limit.",
        json_rpc: Some(json_rpc::INVALID_REQUEST),
    },
    Rule {
        id: "too-deep",
        severity: Severity::Error,
        summary: "a message that exceeds the nesting limit",
        why: "Deep nesting exhausts the stack of recursive parsers, so it is limited (128 levels \
              by default).",
        fix: "Flatten the data, or raise the limit.",
        json_rpc: Some(json_rpc::INVALID_REQUEST),
    },
    Rule {
        id: "too-many-requests",
        severity: Severity::Error,
        summary: "too many pending requests",
        why: "Every pending request is stored until it is answered, so their number is limited \
              (10,000 by default), and so is the memory of calls that wait for the tool list.",
        fix: "Wait for responses before sending more requests, or raise the limit.",
        json_rpc: Some(json_rpc::INVALID_REQUEST),
    },
    Rule {
        id: "stdout-noise",
        severity: Severity::Warning,
        summary: "text on the server's stdout that is not a message",
        why: "On stdio, stdout carries the protocol. A client receives log output on stdout as an \
              invalid message. The gateway does not forward it and logs it.",
        fix: "Configure the server to log to stderr.",
        json_rpc: None,
    },
    Rule {
        id: "empty-line",
        severity: Severity::Note,
        summary: "an empty line",
        why: "It is not a message and is not forwarded. Some programs end their messages with two \
              line breaks.",
        fix: "End each message with one line break.",
        json_rpc: None,
    },
    Rule {
        id: "duplicate-key",
        severity: Severity::Warning,
        summary: "an object with a duplicate key",
        why: "Programs differ in which of the two values they use, so the validated value may not \
              be the one that is used. In the envelope, and in the name and arguments of a call, \
              it is an error.",
        fix: "Use each key once.",
        json_rpc: None,
    },
    Rule {
        id: "lifecycle",
        severity: Severity::Warning,
        summary: "a message at the wrong time",
        why: "Before the response to `initialize`, only `ping` may be sent. A server waits for \
              `notifications/initialized` before it sends requests. `initialize` is sent once and \
              not cancelled.",
        fix: "Wait for the handshake to complete.",
        json_rpc: None,
    },
    Rule {
        id: "capability",
        severity: Severity::Warning,
        summary: "use of a feature that the other side did not announce",
        why: "A peer announces its capabilities in the handshake (2026-07-28: with each request \
              and in `server/discover`). Methods beyond them will probably fail.",
        fix: "Check the announced capabilities before using one, or announce it.",
        json_rpc: None,
    },
    Rule {
        id: "header-mismatch",
        severity: Severity::Error,
        summary: "an HTTP header that is missing or does not match the body",
        why: "Since 2026-07-28, the method, the name and some arguments of a request are repeated \
              in headers, so that intermediaries can use them. They must match the body.",
        fix: "Derive the headers from the body: `Mcp-Method`, `Mcp-Name`, `Mcp-Param-…`, \
              `MCP-Protocol-Version`.",
        json_rpc: Some(json_rpc::HEADER_MISMATCH),
    },
    Rule {
        id: "unknown-revision",
        severity: Severity::Note,
        summary: "an unknown revision of the protocol",
        why: "Messages cannot be validated against the schema of the revision; envelopes and \
              arguments still are.",
        fix: "Update Stickler, or provide the schema of the revision with `--protocol-schema`.",
        json_rpc: None,
    },
];
