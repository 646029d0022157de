//! The configuration: the settings of a gateway that apply to a validator, under the same names.

use serde::Deserialize;
use stickler::{AnswerForm, ValidationConfig};

/// Rejections of the same call after which the answer is short.
const DEFAULT_RETRY_LIMIT: u32 = 5;

/// The settings of a validator. A setting that is absent has the default of the mode.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Settings {
    pub(crate) mode: Mode,
    pub(crate) answer: Answer,
    #[serde(default = "default_retry_limit")]
    pub(crate) retry_limit: u32,
    /// Name of the server, for documentation links.
    pub(crate) server: Option<String>,
    pre_validate: Option<bool>,
    enhance_errors: Option<bool>,
    suggestion_distance: Option<usize>,
    unknown_fields: Option<UnknownFields>,
    formats: Option<Formats>,
    repair: Option<Repair>,
    help: Option<Help>,
    help_token_budget: Option<usize>,
    mask: Option<bool>,
    injected_keys: Option<Vec<String>>,
    documentation_url: Option<String>,
}

fn default_retry_limit() -> u32 {
    DEFAULT_RETRY_LIMIT
}

/// Defines a choice of the configuration. Its values are those of the command line; underscores are accepted.
macro_rules! choice {
    ($name:ident => $target:ty { $first:ident $(= $first_alias:literal)?, $($variant:ident $(= $alias:literal)?),* $(,)? }) => {
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub(crate) enum $name {
            #[default]
            $(#[serde(alias = $first_alias)])?
            $first,
            $($(#[serde(alias = $alias)])? $variant,)*
        }

        impl From<$name> for $target {
            fn from(choice: $name) -> Self {
                match choice {
                    $name::$first => Self::$first,
                    $($name::$variant => Self::$variant,)*
                }
            }
        }
    };
}

choice!(Mode => stickler::Mode { Enforce, Assist, Observe });
choice!(Answer => AnswerForm {
    ToolResult = "tool_result", JsonRpcError = "json_rpc_error", Observation
});
choice!(UnknownFields => stickler::UnknownFields {
    Reject, RejectMistakes = "reject_mistakes", FollowSchema = "follow_schema"
});
choice!(Formats => stickler::Formats { Lenient, Strict, Ignore });
choice!(Repair => stickler::Repair { Off, Suggest, Apply });
choice!(Help => stickler::HelpDetail { Brief, Full });

impl Mode {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Enforce => "enforce",
            Self::Assist => "assist",
            Self::Observe => "observe",
        }
    }
}

impl Settings {
    /// Parses a JSON object. The error is a sentence for the programmer.
    pub(crate) fn parse(config: &str) -> Result<Self, String> {
        serde_json::from_str(config).map_err(|error| {
            let reason = error.to_string();
            // The position in the generated text means nothing to the caller.
            let reason = reason.split(" at line ").next().unwrap_or_default();
            format!("the configuration cannot be used: {reason}")
        })
    }

    pub(crate) fn validation(&self) -> ValidationConfig {
        let mut config = ValidationConfig::in_mode(self.mode.into());
        set(&mut config.pre_validate, self.pre_validate);
        set(&mut config.enhance_errors, self.enhance_errors);
        set(&mut config.suggestion_distance, self.suggestion_distance);
        set(&mut config.unknown_fields, self.unknown_fields.map(Into::into));
        set(&mut config.formats, self.formats.map(Into::into));
        set(&mut config.repair, self.repair.map(Into::into));
        set(&mut config.help, self.help.map(Into::into));
        set(&mut config.help_token_budget, self.help_token_budget);
        set(&mut config.mask_values, self.mask);
        set(&mut config.injected_keys, self.injected_keys.clone());
        config.documentation_url.clone_from(&self.documentation_url);
        config
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}
