//! Validation options, shared by all commands that validate calls.

use clap::{Args, ValueEnum};

/// Options for validating and explaining calls.
#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// How to treat fields that a schema neither lists nor forbids [default: reject]
    #[arg(long, value_enum)]
    pub(crate) unknown_fields: Option<UnknownFields>,

    /// How to apply the `format` keyword [default: lenient]
    #[arg(long, value_enum)]
    pub(crate) formats: Option<Formats>,

    /// Whether to suggest a corrected call, and whether to apply unambiguous corrections
    /// [default: suggest]
    #[arg(long, value_enum)]
    pub(crate) repair: Option<Repair>,

    /// Level of detail of the help prompt [default: brief]
    #[arg(long, value_enum)]
    pub(crate) help_detail: Option<Help>,

    /// Maximum edit distance between a name and a suggestion for it [default: 3]
    #[arg(long, value_name = "N")]
    pub(crate) suggestion_distance: Option<usize>,

    /// Keep argument values out of all output; names and types remain
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) mask: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnknownFields {
    /// Reject them: a schema that lists properties and does not mention others is closed
    Reject,
    /// Reject a field only if it probably stands for another one or the call is invalid anyway; report the others
    RejectMistakes,
    /// Follow the schema literally
    FollowSchema,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Reject invalid calls and answer with help
    Enforce,
    /// Repair what is beyond doubt; reject an unlisted field only if it is probably a mistake
    Assist,
    /// Change and reject nothing; report what would be rejected
    Observe,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Formats {
    /// Accept what common libraries accept, such as a date without time for `date-time`
    Lenient,
    /// Assert the formats of the JSON Schema specification
    Strict,
    /// Ignore formats
    Ignore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Repair {
    /// Do not suggest a corrected call
    Off,
    /// Suggest the corrected call
    Suggest,
    /// Apply unambiguous corrections and suggest the others
    Apply,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Help {
    /// At most 500 tokens
    Brief,
    /// Everything, including the schema
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Answer {
    /// A tool result with the help as its text, visible to the model
    ToolResult,
    /// A JSON-RPC error
    JsonRpcError,
    /// A tool result whose text is a retry observation
    Observation,
}

impl From<UnknownFields> for stickler::UnknownFields {
    fn from(choice: UnknownFields) -> Self {
        match choice {
            UnknownFields::Reject => Self::Reject,
            UnknownFields::RejectMistakes => Self::RejectMistakes,
            UnknownFields::FollowSchema => Self::FollowSchema,
        }
    }
}

impl From<Mode> for stickler::Mode {
    fn from(choice: Mode) -> Self {
        match choice {
            Mode::Enforce => Self::Enforce,
            Mode::Assist => Self::Assist,
            Mode::Observe => Self::Observe,
        }
    }
}

impl From<Formats> for stickler::Formats {
    fn from(choice: Formats) -> Self {
        match choice {
            Formats::Lenient => Self::Lenient,
            Formats::Strict => Self::Strict,
            Formats::Ignore => Self::Ignore,
        }
    }
}

impl From<Repair> for stickler::Repair {
    fn from(choice: Repair) -> Self {
        match choice {
            Repair::Off => Self::Off,
            Repair::Suggest => Self::Suggest,
            Repair::Apply => Self::Apply,
        }
    }
}

impl From<Help> for stickler::HelpDetail {
    fn from(choice: Help) -> Self {
        match choice {
            Help::Brief => Self::Brief,
            Help::Full => Self::Full,
        }
    }
}

impl From<Answer> for stickler::AnswerForm {
    fn from(choice: Answer) -> Self {
        match choice {
            Answer::ToolResult => Self::ToolResult,
            Answer::JsonRpcError => Self::JsonRpcError,
            Answer::Observation => Self::Observation,
        }
    }
}

impl CheckOptions {
    /// Applies the options that were given to a configuration.
    pub(crate) fn apply(&self, config: &mut stickler::ValidationConfig) {
        if let Some(choice) = self.unknown_fields {
            config.unknown_fields = choice.into();
        }
        if let Some(choice) = self.formats {
            config.formats = choice.into();
        }
        if let Some(choice) = self.repair {
            config.repair = choice.into();
        }
        if let Some(choice) = self.help_detail {
            config.help = choice.into();
        }
        if let Some(distance) = self.suggestion_distance {
            config.suggestion_distance = distance;
        }
        if let Some(mask) = self.mask {
            config.mask_values = mask;
        }
    }
}

impl From<&CheckOptions> for stickler::ValidationConfig {
    fn from(options: &CheckOptions) -> Self {
        let mut config = Self::default();
        options.apply(&mut config);
        config
    }
}
