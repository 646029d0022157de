//! What is said about tool definitions.

use super::{Rule, Severity, rules};

rules! { TOOLS:
    BAD_TOOL = "bad-tool", Error,
        "a tool definition of the wrong shape",
        "The protocol gives a tool's definition a shape, and this one does not have it. Strict \
         clients refuse the whole list because of one such tool.",
        "Correct the member that the path names. `stickler schema Tool` prints the shape.";
    NO_INPUT_SCHEMA = "no-input-schema", Error,
        "a tool without an `inputSchema`",
        "The protocol requires one. Without it nobody knows what arguments the tool takes, and \
         no call can be checked.",
        "Add an `inputSchema`; for a tool without arguments: `{\"type\": \"object\", \
         \"properties\": {}, \"additionalProperties\": false}`.";
    INPUT_SCHEMA_TYPE = "input-schema-type", Error,
        "an `inputSchema` whose root is not `type: \"object\"`",
        "The protocol requires `type: \"object\"` at the root, because arguments are always an \
         object. Clients that check the list refuse it.",
        "Write `\"type\": \"object\"` at the root of the schema.";
    OUTPUT_SCHEMA_TYPE = "output-schema-type", Warning,
        "an `outputSchema` whose root is not `type: \"object\"`",
        "Revisions 2025-06-18 and 2025-11-25 allow objects only; clients of theirs refuse the \
         list. From 2026-07-28 on any schema is allowed.",
        "Wrap the result in an object, such as `{\"result\": …}`.";
    NO_DESCRIPTION = "no-description", Warning,
        "a tool without a description",
        "The description is all that a model has to decide whether to use the tool.",
        "Say in a sentence or two what the tool does, when to use it and what it gives back.";
    CONTRADICTORY_HINTS = "contradictory-hints", Warning,
        "annotations that contradict each other",
        "A tool that only reads cannot destroy anything. Clients use these hints to decide which \
         calls need a person's consent.",
        "Drop `readOnlyHint` or `destructiveHint`, whichever is not true.";
    NO_EXAMPLE = "no-example", Warning,
        "no valid call could be found for a tool",
        "No arguments were found that the schema accepts. Either its rules contradict each other, \
         or they are so intricate that a model will not satisfy them either.",
        "Check that the rules can be satisfied together, and add one valid call to the schema's \
         `examples`.";
    INVALID_EXAMPLE = "invalid-example", Warning,
        "an example that its own schema refuses",
        "Models imitate examples. One that is refused teaches them a mistake.",
        "Correct the example, or the schema if it is the example that is right.";
    BAD_DEFAULT = "bad-default", Warning,
        "a `default` that its own schema refuses",
        "Models send defaults explicitly, and clients fill them in. Both are then refused.",
        "Use a default that the schema allows, allow it (`\"type\": [\"string\", \"null\"]` for a \
         `null`), or leave it out.";
    TOOL_NAME = "tool-name", Warning,
        "a tool name beyond what the protocol recommends",
        "Since 2025-11-25 names should have 1 to 128 characters out of letters, digits, `_`, `-` \
         and `.`.",
        "Rename the tool.";
    DUPLICATE_TOOL = "duplicate-tool", Error,
        "two tools with the same name",
        "A call can only mean one of them; the other cannot be reached.",
        "Give each tool a name of its own.";
    UNRESOLVABLE_REF = "unresolvable-ref", Error,
        "a reference that leads nowhere",
        "What stands there cannot be known, so the schema cannot be used.",
        "Correct the reference, or add what it refers to under `$defs`.";
    REMOTE_REF = "remote-ref", Error,
        "a reference to somewhere outside of the schema",
        "Clients must not fetch anything for a schema (they could be made to ask any address), so \
         the schema cannot be used.",
        "Copy what it refers to into the schema, under `$defs`.";
    UNKNOWN_DIALECT = "unknown-dialect", Error,
        "a `$schema` that names no known dialect",
        "A schema is read by the rules of its dialect. One that nobody knows is refused.",
        "Leave `$schema` out (then it is 2020-12), or name 2020-12 or draft-07.";
    LARGE_SCHEMA = "large-schema", Warning,
        "a very large schema",
        "It goes to the model with every request and takes its time to compile. Beyond a limit \
         (1 MiB, 64 levels, 10,000 subschemas) it is not used at all.",
        "Split the tool, or describe rare options in words.";
    COSTLY_PATTERN = "costly-pattern", Warning,
        "a regular expression that is costly or not portable",
        "Lookaround and back references need an engine that can take exponential time, and many \
         languages' engines refuse them. Checking a call with such a pattern is bounded, so long \
         values may be refused.",
        "Write the pattern without lookaround and back references, and with smaller repetitions.";
    OPEN_OBJECT = "open-object", Note,
        "an object that lists properties and does not say whether others are allowed",
        "By the letter any other field is then allowed, and most servers drop it without a word: a \
         misspelt option looks as if it had been obeyed. Stickler reads such an object as closed.",
        "Write `\"additionalProperties\": false`, or `true` if any field is really meant.";
    UNDESCRIBED_PARAMETER = "undescribed-parameter", Note,
        "a parameter without a description",
        "A model has only its name and type to guess from.",
        "Say what the value is, with its unit or format, and what happens without it.";
    UNTYPED_PARAMETER = "untyped-parameter", Warning,
        "a parameter without a type",
        "Anything is then allowed, and a model has to guess what works.",
        "Add `type`, `enum`, or `anyOf` with the forms that are taken.";
    REQUIRED_NOT_LISTED = "required-not-listed", Warning,
        "a required field that `properties` does not list",
        "A call must have it and nobody says what it is; often it is a misspelt name. Where other \
         fields are not allowed, no call can be valid.",
        "List the field in `properties`, or correct its name in `required`.";
    UNKNOWN_KEYWORD = "unknown-keyword", Note,
        "a keyword that no dialect of JSON Schema knows",
        "It is ignored. If it is a misspelt keyword, the rule that was meant does not hold.",
        "Correct the spelling. Give keywords of your own a name that begins with `x-`.";
    UNSATISFIABLE = "unsatisfiable", Warning,
        "rules that no value can satisfy",
        "Bounds that exclude each other, an empty `enum`, or values of another type than the one \
         asked for. If the value is required, no call can be valid.",
        "Correct the bound or value that is wrong.";
    HEADER_ANNOTATION = "header-annotation", Error,
        "an `x-mcp-header` that is not allowed",
        "Since 2026-07-28 such a parameter is repeated in an HTTP header. Its value must be a \
         header name that no other parameter has, on a string, integer or boolean that is reached \
         through `properties` alone. Otherwise the tool is left out of the list over HTTP.",
        "Correct the name, move the annotation to a plain parameter, or drop it.";
    CLIENT_TOOL_NAME = "client-tool-name", Warning,
        "a tool name that model APIs refuse",
        "Function names of the OpenAI API have at most 64 letters, digits, `_` and `-`; those of \
         the Anthropic API the same characters, up to 128. Clients that pass names on as they are \
         fail with every request, and many put the server's name in front.",
        "Choose a short name out of letters, digits, `_` and `-`.";
    CLIENT_PROPERTY_NAME = "client-property-name", Warning,
        "a parameter name that a model API refuses",
        "The Anthropic API (also through Bedrock) takes parameter names of 1 to 64 letters, \
         digits, `_`, `.` and `-`, and refuses the whole request otherwise.",
        "Rename the parameter.";
    CLIENT_ROOT_CHOICE = "client-root-choice", Warning,
        "`oneOf`, `anyOf`, `allOf`, `enum` or `not` at the root of an input schema",
        "The Anthropic API refuses `oneOf`, `anyOf` and `allOf` there, and the OpenAI API also \
         `enum` and `not`: one such tool makes every request fail.",
        "List all properties at the root as optional ones, and check the choice when the tool is \
         called.";
    CLIENT_ARRAY_ITEMS = "client-array-items", Warning,
        "an array without `items`",
        "The OpenAI API and VS Code refuse it (\"array schema missing items\"), with every \
         request.",
        "Add `items`; `{}` stands for anything.";
    CLIENT_REFERENCE = "client-reference", Note,
        "a `$ref` in an input schema",
        "Allowed, but some clients do not resolve it: Gemini's function declarations had no \
         references at first and still refuse one beside other keywords, and some clients pass \
         only `properties` on.",
        "Where it is used once or twice, write the schema out in its place.";
    TOO_MANY_TOOLS = "client-tool-count", Note,
        "more tools than a model API takes",
        "The OpenAI API takes at most 128 tools in one request, those of all servers together; \
         others have lower limits, and models choose worse among many.",
        "Offer fewer tools, or let users choose which groups of them are on.";
    TOKEN_COST = "token-cost", Note,
        "definitions that take many tokens",
        "They are sent to the model with every request. The figure is an upper estimate.",
        "Shorten descriptions, drop options that nobody uses, and split rarely used tools off.";
}
