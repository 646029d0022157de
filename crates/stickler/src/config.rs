//! Configuration of validation, help, repair and limits.

/// How calls are validated, explained and repaired.
///
/// ```
/// use stickler::ValidationConfig;
///
/// let config = ValidationConfig { pre_validate: false, ..Default::default() };
/// # assert!(config.enhance_errors);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationConfig {
    /// Validate the arguments before the call.
    pub pre_validate: bool,
    /// Add help from the schema to errors that the server returns.
    pub enhance_errors: bool,
    /// Maximum edit distance between a name and a suggestion for it.
    pub suggestion_distance: usize,
    /// Whether fields that the schema does not mention are rejected.
    pub unknown_fields: UnknownFields,
    /// How the `format` keyword is applied.
    pub formats: Formats,
    /// Whether a corrected call is computed, and whether it is applied.
    pub repair: Repair,
    /// The level of detail of help prompts.
    pub help: HelpDetail,
    /// Maximum number of tokens of a brief help prompt.
    pub help_token_budget: usize,
    /// Omit argument values from messages, help and corrected calls; names and types are kept.
    pub mask_values: bool,
    /// Keys that a client adds to calls, besides [`BUILT_IN_INJECTED_KEYS`]. At the top level of the arguments
    /// they are ignored where the schema does not mention other fields, and removed where it forbids them.
    pub injected_keys: Vec<String>,
    /// URL template of a tool's documentation, with the placeholders `{server}` and `{tool}`; used if
    /// the tool's `_meta` does not contain a URL.
    pub documentation_url: Option<String>,
    /// The signals that suggestions for unknown fields are based on; all of them, except to measure what
    /// each one contributes.
    #[doc(hidden)]
    pub signals: Signals,
    /// When the schemas of a tool list are compiled.
    pub compile_schemas: CompileSchemas,
    /// Resource limits.
    pub limits: Limits,
}

impl Default for ValidationConfig {
    fn default() -> Self {
        Self {
            pre_validate: true,
            enhance_errors: true,
            suggestion_distance: 3,
            unknown_fields: UnknownFields::default(),
            formats: Formats::default(),
            repair: Repair::default(),
            help: HelpDetail::default(),
            help_token_budget: 500,
            mask_values: false,
            injected_keys: Vec::new(),
            documentation_url: None,
            signals: Signals::default(),
            compile_schemas: CompileSchemas::default(),
            limits: Limits::default(),
        }
    }
}

/// The signals that suggestions for unknown fields are based on.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each signal is switched on its own")]
pub struct Signals {
    /// Spelling: case, separators and edit distance.
    pub form: bool,
    /// Shared words of the names.
    pub words: bool,
    /// Synonyms count as shared words.
    pub synonyms: bool,
    /// Words in the description.
    pub text: bool,
    /// Whether the value fits.
    pub value: bool,
    /// What is required and missing, or the only candidate.
    pub elimination: bool,
}

impl Default for Signals {
    fn default() -> Self {
        Self { form: true, words: true, synonyms: true, text: true, value: true, elimination: true }
    }
}

/// Keys that widespread clients add to the arguments of any tool: a progress note, and the dummy argument of
/// tools without parameters.
pub const BUILT_IN_INJECTED_KEYS: [&str; 2] = ["task_progress", "random_string"];

/// How much an adapter intervenes. A mode sets defaults; explicit settings override it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Rejects invalid calls and answers them with help.
    #[default]
    Enforce,
    /// Repairs what is beyond doubt, and rejects an unlisted field only if it is probably a mistake.
    Assist,
    /// Rejects, repairs and adds nothing, and reports what it would have rejected.
    Observe,
}

impl ValidationConfig {
    /// Returns the defaults of a mode.
    pub fn in_mode(mode: Mode) -> Self {
        let default = Self::default();
        match mode {
            Mode::Enforce => default,
            Mode::Assist => Self {
                unknown_fields: UnknownFields::RejectMistakes,
                repair: Repair::Apply,
                ..default
            },
            Mode::Observe => Self { repair: Repair::Off, enhance_errors: false, ..default },
        }
    }

    /// Returns whether a client adds the key to calls.
    pub(crate) fn is_injected(&self, key: &str) -> bool {
        BUILT_IN_INJECTED_KEYS.contains(&key) || self.injected_keys.iter().any(|known| known == key)
    }
}

/// When the schemas of a tool list are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CompileSchemas {
    /// Each schema at the first call of its tool, so that listing tools does not pay for compilation.
    #[default]
    OnFirstCall,
    /// All schemas when the list is received, so that schema errors are reported with the list.
    WhenListed,
}

/// How fields are treated that a schema neither lists nor forbids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownFields {
    /// Treats an object schema with `properties` but without a keyword about other fields as closed.
    #[default]
    Reject,
    /// Like `Reject`, but accepts a call that satisfies its schema as written if none of its unlisted fields
    /// resembles another one. Such fields are reported.
    RejectMistakes,
    /// Applies the schema as written.
    FollowSchema,
}

/// How the `format` keyword is applied. Formats that are not listed always pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Formats {
    /// Accepts what common libraries accept: for `date-time` a valid date with optional time and zone; for `date`
    /// a valid date; for `time` a valid time with optional zone; for `uri` and `url` what a WHATWG URL parser
    /// accepts; for `email` text on both sides of `@` without spaces; for `uuid` 32 hexadecimal digits with
    /// optional hyphens; for `ipv4` and `ipv6` an address. Other formats pass.
    #[default]
    Lenient,
    /// Asserts the formats of the JSON Schema specification.
    Strict,
    /// Treats `format` as an annotation.
    Ignore,
}

/// Whether a corrected call is computed, and whether it is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Repair {
    /// No corrected call is computed.
    Off,
    /// The corrected call is included in the response.
    #[default]
    Suggest,
    /// An unambiguously corrected call is made; other corrections are included in the response.
    Apply,
}

/// The level of detail of a help prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HelpDetail {
    /// As much as fits into the token budget.
    #[default]
    Brief,
    /// Everything, including the schema.
    Full,
}

/// Limits on the resources that a peer can consume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum size of a message in bytes.
    pub message_bytes: usize,
    /// Maximum nesting depth of a message.
    pub message_depth: usize,
    /// Maximum number of pending requests per peer.
    pub requests_in_flight: usize,
    /// Maximum number of tools per server.
    pub tools_per_server: usize,
    /// Maximum size of a tool schema in bytes.
    pub schema_bytes: usize,
    /// Maximum nesting depth of a tool schema.
    pub schema_depth: usize,
    /// Maximum number of subschemas of a tool schema, with local references resolved.
    pub schema_nodes: u64,
    /// Maximum size of a compiled pattern in bytes.
    pub pattern_bytes: usize,
    /// Maximum estimated size in bytes of the compiled schemas of one server. Patterns that take long to
    /// translate count as larger.
    pub compiled_bytes_per_server: usize,
    /// Maximum estimated size in bytes of the compiled schemas of all servers.
    pub compiled_bytes: usize,
    /// Maximum number of backtracking steps of a pattern with lookaround on one string.
    pub pattern_backtracks: usize,
    /// Maximum number of array and object accesses for deciding whether a call is valid.
    pub verdict_steps: u32,
    /// Maximum number of steps of each part of an explanation: array and object accesses, subschemas
    /// applied, names compared, bytes of the problems' paths, and tokens of repeated repair rounds.
    pub explain_steps: u32,
    /// Maximum number of errors reported for one call.
    pub errors: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 16 << 20,
            message_depth: 128,
            requests_in_flight: 10_000,
            tools_per_server: 10_000,
            schema_bytes: 1 << 20,
            schema_depth: 64,
            schema_nodes: 10_000,
            pattern_bytes: 10 << 20,
            compiled_bytes_per_server: 64 << 20,
            compiled_bytes: 256 << 20,
            pattern_backtracks: 50_000,
            verdict_steps: 20_000_000,
            explain_steps: 500_000,
            errors: 50,
        }
    }
}
