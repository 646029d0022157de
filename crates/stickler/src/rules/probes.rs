//! What is said about a server that is tried with calls and messages.

use super::{Rule, Severity, rules};

rules! { PROBES:
    SILENT = "probe-silent", Warning,
        "no answer to a request",
        "Whoever waits for an answer waits for ever, or until a timeout.",
        "Answer every request, with an error where it cannot be served.";
    ACCEPTED = "probe-accepted", Warning,
        "a wrong call that was accepted",
        "The arguments do not satisfy the tool's own schema, and the server answered as if they \
         did. What was misspelt or of the wrong type was dropped or converted without a word.",
        "Check arguments against the schema before the tool runs, or put `stickler run` in front.";
    VAGUE = "probe-vague", Note,
        "a refusal that does not say what is wrong",
        "A model that is told which field is wrong corrects it; one that is told \"error\" tries \
         something else.",
        "Name the field, what was expected and what came. `stickler run` in front adds it.";
    ERROR_CODE = "probe-error-code", Note,
        "an error with an unusual code",
        "JSON-RPC has a code for each of these cases, and clients look at it: -32601 for a method \
         that is not known, -32602 for wrong parameters and unknown tools.",
        "Answer with the code that the finding names.";
    DIED = "probe-died", Error,
        "the server ended instead of answering",
        "One bad message takes the server away from everybody who uses it.",
        "Catch the error where messages are read and tools are called.";
    KEEPS_RUNNING = "keeps-running", Warning,
        "the server does not end when its input does",
        "On stdio, the end of input is how a client says goodbye. A server that stays has to be \
         killed, or is left behind.",
        "End the process when reading standard input gives end of file.";
    LEFT_BEHIND = "left-behind", Warning,
        "processes that the server started outlive it",
        "They keep running when the client has gone.",
        "End child processes before the server ends.";
    NO_TOOLS = "no-tools", Note,
        "a server without tools",
        "Nothing was found to check.",
        "If it should have tools, look at its arguments and at what it needs from the environment.";
}
