//! Rules for the behaviour of a server that `stickler check` probes with calls and messages.

use super::{Rule, Severity, rules};

rules! { PROBES:
    SILENT = "probe-silent", Warning,
        "the server does not respond to a request",
        "The client waits forever, or until its timeout.",
        "Respond to every request, with an error if it cannot be served.";
    ACCEPTED = "probe-accepted", Warning,
        "the server accepts an invalid call",
        "The arguments do not satisfy the tool's schema, and the server responded as if they did. \
         It silently dropped or converted the field that is misspelt or has the wrong type.",
        "Validate the arguments against the schema before the tool runs: `z.strictObject` in \
         TypeScript, `extra=\"forbid\"` and `strict=True` with pydantic, `deny_unknown_fields` with \
         serde. Or put `stickler run` in front of the server.";
    FAILING = "probe-failing", Warning,
        "calls fail whether or not they contain a mistake",
        "A valid call gets the same error as the invalid ones, so the responses to invalid calls \
         cannot be judged.",
        "Check the server's arguments and environment, and the programs and accounts that it \
         needs. Then run the check again.";
    VAGUE = "probe-vague", Note,
        "the server rejects a call without naming the mistake",
        "A model corrects a field that the error names. If the error is only \"error\", the model \
         tries something else.",
        "Name the field, the expected value and the received value. `stickler run` in front of the \
         server adds them.";
    ERROR_CODE = "probe-error-code", Note,
        "an error with an unusual code",
        "JSON-RPC defines a code for each of these cases, and clients evaluate it: -32601 for an \
         unknown method, -32602 for invalid parameters and unknown tools.",
        "Respond with the code that the finding names.";
    DIED = "probe-died", Error,
        "the server exited instead of responding",
        "A single invalid message makes the server unavailable to all of its clients.",
        "Handle errors where messages are read and where tools are called.";
    KEEPS_RUNNING = "keeps-running", Warning,
        "the server does not exit when its input ends",
        "On stdio, a client ends the session by closing the server's input. A server that keeps \
         running has to be killed, or is left behind.",
        "Exit the process when standard input reaches end of file.";
    LEFT_BEHIND = "left-behind", Warning,
        "child processes outlive the server",
        "They keep running after the client has disconnected.",
        "Terminate child processes before the server exits.";
    NO_TOOLS = "no-tools", Note,
        "a server without tools",
        "There is nothing to check.",
        "If the server should have tools, check its command-line arguments and its environment \
         variables.";
}
