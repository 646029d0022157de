//! What a user can choose.

/// How calls are validated, explained and repaired.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValidationConfig {
    /// Check the arguments before the call.
    pub pre_validate: bool,
    /// Add what the schema knows to the server's own errors.
    pub enhance_errors: bool,
    /// How many edits apart two names may be for one to be suggested for the other.
    pub suggestion_distance: usize,
    /// What to do with a field that the schema does not mention and is silent about.
    pub unknown_fields: UnknownFields,
    /// Whether a corrected call is looked for, and what becomes of it.
    pub repair: Repair,
    /// How much the help prompt tells.
    pub help: HelpDetail,
    /// How many tokens a brief help prompt may take.
    pub help_token_budget: usize,
    /// Keep argument values out of messages, help and corrected calls; names and types stay.
    pub mask_values: bool,
    /// Keys that a client adds to every call and that the tool does not know; repair drops them.
    pub injected_keys: Vec<String>,
    /// Where a tool's documentation is, with `{server}` and `{tool}` standing for their names; for
    /// tools whose `_meta` does not say it.
    pub documentation_url: Option<String>,
    /// When the schemas of a tool list are compiled.
    pub compile_schemas: CompileSchemas,
    /// How much is too much.
    pub limits: Limits,
}

impl Default for ValidationConfig {
    fn default() -> Self {
        Self {
            pre_validate: true,
            enhance_errors: true,
            suggestion_distance: 3,
            unknown_fields: UnknownFields::default(),
            repair: Repair::default(),
            help: HelpDetail::default(),
            help_token_budget: 500,
            mask_values: false,
            injected_keys: Vec::new(),
            documentation_url: None,
            compile_schemas: CompileSchemas::default(),
            limits: Limits::default(),
        }
    }
}

/// When the schemas of a tool list are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CompileSchemas {
    /// Each when its tool is first called: a list that is only listed costs what reading it costs.
    #[default]
    OnFirstCall,
    /// All when the list is learnt, so that what is wrong with them is reported with the list.
    WhenListed,
}

/// What becomes of a field that a schema neither lists nor forbids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownFields {
    /// An object schema that lists `properties` and says nothing about others is closed.
    #[default]
    Reject,
    /// As the schema says, to the letter.
    FollowSchema,
}

/// What becomes of a call that can be corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Repair {
    /// No corrected call is looked for.
    Off,
    /// The corrected call is shown.
    #[default]
    Suggest,
    /// The corrected call is made, where the correction is beyond doubt; otherwise it is shown.
    Apply,
}

/// How much a help prompt tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HelpDetail {
    /// What fits the token budget.
    #[default]
    Brief,
    /// Everything, the schema included.
    Full,
}

/// Bounds on what a peer can make us do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one message.
    pub message_bytes: usize,
    /// Arrays and objects open at once in one message.
    pub message_depth: usize,
    /// Requests of one side that wait for an answer at once.
    pub requests_in_flight: usize,
    /// Tools of one server.
    pub tools_per_server: usize,
    /// Bytes of one tool schema.
    pub schema_bytes: usize,
    /// Levels of one tool schema.
    pub schema_depth: usize,
    /// Subschemas of one tool schema, local references followed.
    pub schema_nodes: u64,
    /// Bytes of one compiled pattern.
    pub pattern_bytes: usize,
    /// Estimated bytes of the compiled schemas of one server's tools.
    pub compiled_bytes_per_server: usize,
    /// The same of all servers.
    pub compiled_bytes: usize,
    /// Steps back that a pattern with lookaround may take on one string.
    pub pattern_backtracks: usize,
    /// Looks into arrays and objects that deciding about one call may take.
    pub verdict_steps: u32,
    /// Steps that each part of explaining one rejected call may take: looks into arrays and objects,
    /// subschemas applied, names compared, and the tokens of repeated rounds of repair.
    pub explain_steps: u32,
    /// Problems told about one call.
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
