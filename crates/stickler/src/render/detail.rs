//! Levels of detail of a help prompt, from everything to the minimum.
//!
//! A brief prompt uses the first level that fits its token budget, so [`BRIEF_LEVELS`] is the
//! documented order in which detail is dropped.

/// Limits on each part of a prompt; `usize::MAX` means unlimited, 0 omits the part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Detail {
    /// Maximum number of tokens of the tool's description.
    pub(super) description: usize,
    /// Maximum number of problems listed.
    pub(super) problems: usize,
    /// Maximum number of tokens of one problem.
    pub(super) problem: usize,
    /// Maximum number of required fields listed.
    pub(super) required: usize,
    /// Maximum number of tokens of a required field's description.
    pub(super) required_description: usize,
    /// Maximum number of optional fields listed.
    pub(super) optional: usize,
    /// Maximum number of tokens of an optional field's description.
    pub(super) optional_description: usize,
    /// Maximum number of tokens of a field's name.
    pub(super) name: usize,
    /// Whether the example is shown.
    pub(super) example: bool,
    /// Whether the corrected call is shown.
    pub(super) corrected: bool,
    /// Whether the schema is shown.
    pub(super) schema: bool,
}

/// Everything, including the schema.
pub(super) const FULL: Detail = Detail {
    description: usize::MAX,
    problems: usize::MAX,
    problem: usize::MAX,
    required: usize::MAX,
    required_description: usize::MAX,
    optional: usize::MAX,
    optional_description: usize::MAX,
    name: usize::MAX,
    example: true,
    corrected: true,
    schema: true,
};

/// The most detailed brief prompt.
const BRIEF: Detail = Detail {
    description: 120,
    problem: 120,
    required_description: 50,
    optional_description: 30,
    name: 60,
    schema: false,
    ..FULL
};

/// The levels of a brief prompt, each with less detail than the one before.
pub(super) const BRIEF_LEVELS: [Detail; 11] = {
    let optional_names = Detail { optional_description: 0, ..BRIEF };
    let short_description = Detail { description: 40, ..optional_names };
    let few_optional = Detail { optional: 12, ..short_description };
    let required_names = Detail { required_description: 0, ..few_optional };
    let no_optional = Detail { optional: 0, ..required_names };
    let no_description = Detail { description: 0, ..no_optional };
    let short_problems = Detail { problems: 10, problem: 60, ..no_description };
    let no_example = Detail { example: false, ..short_problems };
    let few_required = Detail { required: 12, name: 30, problems: 5, ..no_example };
    let minimal = Detail { corrected: false, required: 5, name: 15, problems: 3, ..few_required };
    [
        BRIEF,
        optional_names,
        short_description,
        few_optional,
        required_names,
        no_optional,
        no_description,
        short_problems,
        no_example,
        few_required,
        minimal,
    ]
};
