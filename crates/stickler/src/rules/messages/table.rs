//! What the rules about messages mean.

use crate::rules::{Rule, Severity, json_rpc};

pub(in crate::rules) static MESSAGES: &[Rule] = &[
    Rule {
        id: "json-syntax",
        severity: Severity::Error,
        summary: "bytes that are not JSON",
        why: "Nothing can be said about a message that cannot be read. Servers built on the \
              official SDKs do not answer one at all, so the caller waits for ever.",
        mend: "The finding says at which byte reading stopped and what was expected there. Each \
               message is one line of UTF-8 without a byte order mark.",
        json_rpc: Some(json_rpc::PARSE_ERROR),
    },
    Rule {
        id: "bad-envelope",
        severity: Severity::Error,
        summary: "JSON that is no JSON-RPC message",
        why: "A message is an object with `jsonrpc: \"2.0\"` and either a `method` (with an `id` \
              for a request), or an `id` and one of `result` and `error`. An id is a string or a \
              whole number. A member given twice would be read differently by different programs. \
              Only revision 2025-03-26 has batches.",
        mend: "Correct the member that the finding's path names.",
        json_rpc: Some(json_rpc::INVALID_REQUEST),
    },
    Rule {
        id: "unknown-method",
        severity: Severity::Note,
        summary: "a method that the revision does not know",
        why: "It may be an extension that both sides have agreed on, so it passes; or it is \
              misspelt, or belongs to another revision.",
        mend: "Check the spelling and the revision. Under a strict policy such a request is \
               answered with an error.",
        json_rpc: Some(json_rpc::METHOD_NOT_FOUND),
    },
    Rule {
        id: "bad-params",
        severity: Severity::Error,
        summary: "parameters of the wrong shape",
        why: "The revision that was agreed on gives this method's `params` a shape, and these do \
              not have it. A request is refused; a notification, which cannot be answered, passes \
              and is noted.",
        mend: "Correct the member that the path names. `stickler schema` prints the shape.",
        json_rpc: Some(json_rpc::INVALID_PARAMS),
    },
    Rule {
        id: "bad-result",
        severity: Severity::Error,
        summary: "a result of the wrong shape",
        why: "The answer does not have the shape that the revision gives to results of the method \
              that was asked. Strict clients will refuse it, others will misread it.",
        mend: "Correct the server (or the client, when it is the one that answers).",
        json_rpc: Some(json_rpc::INTERNAL_ERROR),
    },
    Rule {
        id: "bad-error",
        severity: Severity::Error,
        summary: "an error of the wrong shape",
        why: "An error has a whole number as its `code` and a string as its `message`; some codes \
              also give their `data` a shape that clients rely on.",
        mend: "Correct the member that the path names.",
        json_rpc: Some(json_rpc::INTERNAL_ERROR),
    },
    Rule {
        id: "unpaired-response",
        severity: Severity::Warning,
        summary: "a response that answers nothing, or for the second time",
        why: "No request with that id is waiting. The id may have been changed on the way (`1` and \
              `\"1\"` are different ids), or the request was answered already.",
        mend: "Answer each request once, with its id exactly as it came.",
        json_rpc: None,
    },
    Rule {
        id: "duplicate-id",
        severity: Severity::Error,
        summary: "a request whose id is still in flight",
        why: "Two requests with one id cannot be told apart in their answers. The second is \
              refused without an id, so that the first keeps its answer.",
        mend: "Give every request an id of its own.",
        json_rpc: Some(json_rpc::INVALID_REQUEST),
    },
    Rule {
        id: "reused-id",
        severity: Severity::Note,
        summary: "an id that was used before in this session",
        why: "The earlier request is finished, so nothing is mixed up, but the protocol asks for \
              ids that are never used again within a session.",
        mend: "Count upwards instead of starting again.",
        json_rpc: None,
    },
    Rule {
        id: "unknown-reference",
        severity: Severity::Note,
        summary: "a cancellation or progress that refers to nothing known",
        why: "No request with that id or progress token is in flight: it may just have been \
              answered, or the reference is wrong.",
        mend: "If it happens regularly, compare the id or token with the one in the request.",
        json_rpc: None,
    },
    Rule {
        id: "wrong-direction",
        severity: Severity::Warning,
        summary: "a message that only the other side may send",
        why: "The revision knows this method, but not from this side.",
        mend: "Correct the program that sent it; often client and server were mixed up.",
        json_rpc: Some(json_rpc::METHOD_NOT_FOUND),
    },
    Rule {
        id: "too-large",
        severity: Severity::Error,
        summary: "a message with more bytes than allowed",
        why: "Messages are held in memory, so their size is bounded (16 MiB by default).",
        mend: "Send large data in parts or by reference, or raise the limit.",
        json_rpc: Some(json_rpc::INVALID_REQUEST),
    },
    Rule {
        id: "too-deep",
        severity: Severity::Error,
        summary: "a message that nests deeper than allowed",
        why: "Deep nesting makes recursive readers fail, so it is bounded (128 levels by default).",
        mend: "Flatten the data, or raise the limit.",
        json_rpc: Some(json_rpc::INVALID_REQUEST),
    },
    Rule {
        id: "too-many-requests",
        severity: Severity::Error,
        summary: "more requests in flight than allowed",
        why: "Every request in flight is remembered until it is answered, so their number is \
              bounded (10,000 by default).",
        mend: "Wait for answers before sending more, or raise the limit.",
        json_rpc: Some(json_rpc::INVALID_REQUEST),
    },
    Rule {
        id: "stdout-noise",
        severity: Severity::Warning,
        summary: "text on the server's stdout that is no message",
        why: "On stdio, stdout is the wire. A line printed there for people reaches the client as \
              a broken message. It is kept off the wire and logged.",
        mend: "Have the server log to stderr.",
        json_rpc: None,
    },
    Rule {
        id: "empty-line",
        severity: Severity::Note,
        summary: "a line without anything in it",
        why: "It is no message and is not passed on. Some programs end their messages with two \
              line breaks.",
        mend: "End each message with one line break.",
        json_rpc: None,
    },
    Rule {
        id: "duplicate-key",
        severity: Severity::Warning,
        summary: "an object with a key given twice",
        why: "Programs differ in which of the two they take, so what was checked may not be what \
              is used. In the envelope, and in a call's name and arguments, it is an error.",
        mend: "Give each key once.",
        json_rpc: None,
    },
    Rule {
        id: "lifecycle",
        severity: Severity::Warning,
        summary: "a message at the wrong time",
        why: "Before `initialize` has been answered only `ping` may be sent; a server waits for \
              `notifications/initialized` before it sends requests; `initialize` comes once and \
              is not cancelled.",
        mend: "Wait for the handshake to finish.",
        json_rpc: None,
    },
    Rule {
        id: "capability",
        severity: Severity::Warning,
        summary: "something used that the other side did not announce",
        why: "What a peer can do, it announces in the handshake (2026-07-28: with each request \
              and in `server/discover`). A method beyond that will probably fail.",
        mend: "Look at the announced capabilities before using one, or announce it.",
        json_rpc: None,
    },
    Rule {
        id: "header-mismatch",
        severity: Severity::Error,
        summary: "an HTTP header that is missing or does not agree with the body",
        why: "Since 2026-07-28 the method, the name and some arguments of a request are repeated \
              in headers, so that the way there can use them. They must say the same as the body.",
        mend: "Make the headers from the body: `Mcp-Method`, `Mcp-Name`, `Mcp-Param-…`, \
               `MCP-Protocol-Version`.",
        json_rpc: Some(json_rpc::HEADER_MISMATCH),
    },
    Rule {
        id: "unknown-revision",
        severity: Severity::Note,
        summary: "a revision of the protocol that is not known here",
        why: "The shapes of its messages cannot be checked; envelopes and arguments still are.",
        mend: "Update Stickler, or give it the revision's schema with `--protocol-schema`.",
        json_rpc: None,
    },
];
