//! Rules for tool definitions, which `stickler check` reports.

use super::{Rule, Severity, rules};

rules! { TOOLS:
    BAD_TOOL = "bad-tool", Error,
        "a tool definition that does not match the protocol",
        "The definition does not match the schema of the protocol. Strict clients reject the whole \
         list because of one invalid tool.",
        "Correct the member at the path. `stickler schema Tool` prints the schema.";
    NO_INPUT_SCHEMA = "no-input-schema", Error,
        "a tool without an `inputSchema`",
        "The protocol requires one. Without it, clients and models do not know the arguments of \
         the tool, and calls cannot be validated.",
        "Add an `inputSchema`; for a tool without arguments: `{\"type\": \"object\", \
         \"properties\": {}, \"additionalProperties\": false}`.";
    INPUT_SCHEMA_TYPE = "input-schema-type", Error,
        "an `inputSchema` without `type: \"object\"` at its root",
        "The protocol requires `type: \"object\"` at the root, because arguments are always an \
         object. Clients that validate the list reject it.",
        "Add `\"type\": \"object\"` at the root of the schema.";
    OUTPUT_SCHEMA_TYPE = "output-schema-type", Warning,
        "an `outputSchema` without `type: \"object\"` at its root",
        "Revisions 2025-06-18 and 2025-11-25 allow only objects, and their clients reject the \
         list. Since 2026-07-28, any schema is allowed.",
        "Wrap the result in an object, for example `{\"result\": …}`.";
    NO_DESCRIPTION = "no-description", Warning,
        "a tool without a description",
        "A model decides by the description whether to use the tool.",
        "Describe in one or two sentences what the tool does, when to use it and what it returns.";
    CONTRADICTORY_HINTS = "contradictory-hints", Warning,
        "annotations that contradict each other",
        "A read-only tool cannot be destructive. Clients use these hints to decide which calls \
         need the user's consent.",
        "Remove the hint that is wrong, `readOnlyHint` or `destructiveHint`.";
    NO_EXAMPLE = "no-example", Warning,
        "no valid call could be generated for a tool",
        "No arguments were found that the schema accepts. Either its constraints contradict each \
         other, or they are so complex that models will not satisfy them either.",
        "Check that all constraints can be satisfied at once, and add one valid call to the \
         schema's `examples`.";
    INVALID_EXAMPLE = "invalid-example", Warning,
        "an example that its schema rejects",
        "Models imitate examples, including the mistakes in them.",
        "Correct the example, or the schema if the example is right.";
    BAD_DEFAULT = "bad-default", Warning,
        "a `default` that its schema rejects",
        "Models send defaults explicitly, and clients fill them in. Both calls are then rejected.",
        "Use a default that the schema allows, extend the schema (`\"type\": [\"string\", \
         \"null\"]` for a `null`), or remove the default.";
    TOOL_NAME = "tool-name", Warning,
        "a tool name that the protocol does not recommend",
        "Since 2025-11-25, names should have 1 to 128 characters: letters, digits, `_`, `-` and \
         `.`.",
        "Rename the tool.";
    DUPLICATE_TOOL = "duplicate-tool", Error,
        "two tools with the same name",
        "A call can reach only one of them.",
        "Give each tool a unique name.";
    UNRESOLVABLE_REF = "unresolvable-ref", Error,
        "a reference that cannot be resolved",
        "The referenced schema does not exist, so the schema cannot be used.",
        "Correct the reference, or add the referenced schema under `$defs`.";
    REMOTE_REF = "remote-ref", Error,
        "a reference to a location outside the schema",
        "Clients must not fetch schemas, because a schema could make them send requests to \
         arbitrary addresses. Therefore the schema cannot be used.",
        "Copy the referenced schema into this one, under `$defs`.";
    UNKNOWN_DIALECT = "unknown-dialect", Error,
        "a `$schema` that names an unknown dialect",
        "The dialect defines the meaning of the keywords. Schemas in an unknown dialect are \
         rejected.",
        "Remove `$schema` (the default is 2020-12), or name 2020-12 or draft-07.";
    LARGE_SCHEMA = "large-schema", Warning,
        "a very large schema",
        "It is sent to the model with every request and is slow to compile. Schemas above a limit \
         (1 MiB, 64 levels, 10,000 subschemas) are not used at all.",
        "Split the tool, or move rarely used options into the description.";
    COSTLY_PATTERN = "costly-pattern", Warning,
        "a regular expression that is costly or not portable",
        "Lookaround and backreferences need an engine that can take exponential time, and the \
         engines of many languages reject them. The time for matching one value is bounded, so \
         long values may be rejected.",
        "Write the pattern without lookaround and backreferences, and with smaller repetitions.";
    OPEN_OBJECT = "open-object", Note,
        "an object with `properties` that leaves open whether other fields are allowed",
        "According to JSON Schema any other field is allowed, and most servers drop it silently. A \
         misspelt option then seems to work. Stickler treats the object as closed.",
        "Add `\"additionalProperties\": false`, or `true` if the tool accepts any field.";
    UNDESCRIBED_PARAMETER = "undescribed-parameter", Note,
        "a parameter without a description",
        "A model has to guess its meaning from the name and the type.",
        "Describe the value with its unit or format, and the behaviour if it is omitted.";
    UNTYPED_PARAMETER = "untyped-parameter", Warning,
        "a parameter without a type",
        "Any value is allowed, and a model has to guess which values work.",
        "Add `type`, `enum`, or `anyOf` with the accepted types.";
    REQUIRED_NOT_LISTED = "required-not-listed", Warning,
        "a required field that is missing from `properties`",
        "A call must have the field, but nothing describes it; often the name is misspelt. If \
         other fields are not allowed, no call can be valid.",
        "Add the field to `properties`, or correct its name in `required`.";
    UNKNOWN_KEYWORD = "unknown-keyword", Note,
        "a keyword that no dialect of JSON Schema defines",
        "It is ignored. If it is a misspelt keyword, the intended constraint has no effect.",
        "Correct the spelling. Start the names of custom keywords with `x-`.";
    UNSATISFIABLE = "unsatisfiable", Warning,
        "constraints that no value can satisfy",
        "Bounds exclude each other, an `enum` is empty, or its values do not have the required \
         type. If the value is required, no call can be valid.",
        "Correct the bound or the value.";
    HEADER_ANNOTATION = "header-annotation", Error,
        "an `x-mcp-header` that is not allowed",
        "Since 2026-07-28, parameters with this annotation are repeated in an HTTP header. The \
         annotation must be a unique header name, on a string, integer or boolean that is reached \
         through `properties` alone. Otherwise the tool is omitted from the list over HTTP.",
        "Correct the name, move the annotation to a parameter that is reached through `properties` \
         alone, or remove it.";
    CLIENT_TOOL_NAME = "client-tool-name", Warning,
        "a tool name that model APIs reject",
        "Function names of the OpenAI API have at most 64 letters, digits, `_` and `-`; those of \
         the Anthropic API the same characters, up to 128. Every request of a client that passes \
         names on unchanged fails. Many clients also prepend the name of the server.",
        "Choose a short name of letters, digits, `_` and `-`.";
    CLIENT_PROPERTY_NAME = "client-property-name", Warning,
        "a parameter name that a model API rejects",
        "The Anthropic API (also through Bedrock) accepts parameter names of 1 to 64 letters, \
         digits, `_`, `.` and `-`, and rejects the whole request otherwise.",
        "Rename the parameter.";
    CLIENT_ROOT_CHOICE = "client-root-choice", Warning,
        "`oneOf`, `anyOf`, `allOf`, `enum` or `not` at the root of an input schema",
        "The Anthropic API rejects `oneOf`, `anyOf` and `allOf` there, the OpenAI API also `enum` \
         and `not`. One tool of this kind makes every request fail.",
        "List all properties at the root as optional, and check the combination when the tool is \
         called.";
    CLIENT_ARRAY_ITEMS = "client-array-items", Warning,
        "an array without `items`",
        "The OpenAI API and VS Code reject every request that contains it (\"array schema missing \
         items\").",
        "Add `items`; `{}` allows any value.";
    CLIENT_REFERENCE = "client-reference", Note,
        "a `$ref` in an input schema",
        "References are allowed, but some clients do not resolve them. Gemini's function \
         declarations did not support references at first and still reject a reference beside \
         other keywords. Some clients forward only `properties`.",
        "If the schema is referenced only once or twice, inline it.";
    TOO_MANY_TOOLS = "client-tool-count", Note,
        "more tools than a model API accepts",
        "The OpenAI API accepts at most 128 tools per request, counted over all servers. Other \
         APIs have lower limits, and models choose worse among many tools.",
        "Offer fewer tools, or let users enable groups of tools.";
    TOKEN_COST = "token-cost", Note,
        "tool definitions that cost many tokens",
        "The definitions are sent to the model with every request. The figure is an upper \
         estimate.",
        "Shorten descriptions, remove unused options, and move rarely used tools to another \
         server.";
}
