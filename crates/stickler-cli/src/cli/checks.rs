//! How calls are checked, explained and answered: for all commands that do so.

use clap::{Args, ValueEnum};

/// How calls are checked and explained.
#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// What to do with fields that a schema neither lists nor forbids [default: reject]
    #[arg(long, value_enum)]
    pub(crate) unknown_fields: Option<UnknownFields>,

    /// Whether to look for a corrected call, and whether a call that can be corrected beyond doubt
    /// counts as valid [default: suggest]
    #[arg(long, value_enum)]
    pub(crate) repair: Option<Repair>,

    /// How much the help prompt tells [default: brief]
    #[arg(long, value_enum)]
    pub(crate) help_detail: Option<Help>,

    /// How many edits apart two names may be for one to be suggested for the other [default: 3]
    #[arg(long, value_name = "N")]
    pub(crate) suggestion_distance: Option<usize>,

    /// Keep argument values out of everything that is printed; names and types stay
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) mask: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnknownFields {
    /// A schema that lists properties and is silent about others is closed
    Reject,
    /// As the schema says, to the letter
    FollowSchema,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Repair {
    /// Do not look for a corrected call
    Off,
    /// Show the corrected call
    Suggest,
    /// Take the corrected call where the correction is beyond doubt
    Apply,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Help {
    /// What fits into 500 tokens
    Brief,
    /// Everything, the schema included
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Answer {
    /// A tool result with the help, which models get to see
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
            UnknownFields::FollowSchema => Self::FollowSchema,
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
    /// Changes what was chosen on the command line.
    pub(crate) fn apply(&self, config: &mut stickler::ValidationConfig) {
        if let Some(choice) = self.unknown_fields {
            config.unknown_fields = choice.into();
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
