//! Tests for all recognisers: ordinary failures are ignored, and the work per text is bounded.

use super::{ArgumentError, ErrorKind, MAX_ERRORS, recognise, truncated};

#[test]
fn ordinary_failures_are_not_argument_errors() {
    let ordinary = [
        "",
        "   \n",
        "Project 'alpha' already exists",
        "fetch failed",
        "Cannot read properties of undefined (reading 'map')",
        "ENOENT: no such file or directory, open '/tmp/x'",
        "file not found",
        "Collection [abc] already exists",
        "Error executing tool make: Failed to make: Collection [abc] already exists",
        "MCP error -32603: connection refused",
        "Authentication is required",
        "API key is required to use this service",
        "token is required",
        "Subscription: Required\nPlan: Pro",
        "The permit is required by law. All visitors must be 18 or older.",
        "error decoding response body: missing field `data` at line 1 column 20",
        "missing field `package` at line 3 column 1",
        "failed to parse Cargo.toml: unknown field `nmae`, expected `name`",
        "Client.__init__() got an unexpected keyword argument 'proxies'",
        "[Errno 22] Invalid argument: '/dev/zero'",
        "2 validation errors for SearchResponse\nid\n  Field required [type=missing, input_value={}, input_type=dict]",
        "json: cannot unmarshal object into Go value of type []github.Issue",
        "decode reply: json: cannot unmarshal string into Go struct field Issue.id of type int",
        "Tool ffmpeg not found in PATH",
        "command not found: pandoc",
        "Missing required environment variable: HOME_TOKEN",
        "Missing required permission 'read'",
        "HTTP 400: {\"message\":\"Invalid request parameters were sent upstream\"}",
    ];
    for text in ordinary {
        assert_eq!(recognise(text), [], "{text}");
    }
}

#[test]
fn output_validation_errors_are_not_argument_errors() {
    let text = "MCP error -32602: Output validation error: Invalid structured content for \
                    tool f: Invalid input: expected string, received number at a";
    assert_eq!(recognise(text), []);
    let issues = "Output validation error: Invalid structured content for tool f: \
                      [{\"code\":\"invalid_type\",\"expected\":\"string\",\"path\":[\"a\"],\
                      \"message\":\"Invalid input: expected string, received number\"}]";
    assert_eq!(recognise(issues), []);
}

#[test]
fn repeated_errors_are_reported_once() {
    let text = "Invalid arguments for tool f:\n- a: required\n- a: required";
    let missing = ArgumentError { kind: ErrorKind::MissingField, path: "/a".into() };
    assert_eq!(recognise(text), [missing]);
}

#[test]
fn number_of_errors_is_bounded() {
    let fields: Vec<String> = (0..500).map(|n| format!("- f{n}: required")).collect();
    let text = format!(
        "Invalid arguments for tool f:
{}",
        fields.join(
            "
"
        )
    );
    assert_eq!(recognise(&text).len(), MAX_ERRORS);
}

#[test]
fn long_texts_are_truncated_at_a_character_boundary() {
    let text = "é".repeat(5_000_000);
    assert_eq!(truncated(&text).len(), 64 * 1024);
    let misaligned = format!("x{text}");
    assert_eq!(truncated(&misaligned).len(), 64 * 1024 - 1);
    let late = format!("Invalid arguments: {}\na: required", "y".repeat(70_000));
    assert!(recognise(&late).iter().all(|error| error.path.is_empty()));
}

#[test]
fn hostile_repetition_yields_few_errors_and_does_not_panic() {
    let pieces = [
        "[{",
        "[",
        "{\"",
        "'",
        "\"",
        "`",
        ": ",
        ", ",
        " at ",
        "a: ",
        "é: ",
        "\n",
        "\n  ",
        "/",
        "must be ",
        "Invalid input: ",
        "Error: ",
        "Invalid arguments: ",
        "validating ",
        "missing field `",
        "unknown field `a`, expected `",
        "1 validation error for A\n",
        " is not one of ",
        "[type=",
        "Unrecognized key: \"",
        "tool '",
        "a[",
        "a.",
        "json: cannot unmarshal ",
        "Unknown tool: ",
        "✖ ",
        "→ at ",
        "missing properties: [",
    ];
    for piece in pieces {
        for opening in ["", "Invalid arguments for tool f: ", "Invalid tools/call request: "] {
            let text = format!("{opening}{}", piece.repeat(10_000_000 / piece.len() / 100));
            let found = recognise(&text);
            assert!(found.len() <= 64, "{} errors in {piece:?}", found.len());
        }
    }
}
