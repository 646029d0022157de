//! How much a help prompt tells, from everything down to the bone.
//!
//! A brief prompt takes the first of these that fits its budget, so this list is the documented
//! order in which detail is dropped.

/// Limits on each part; `usize::MAX` is no limit, 0 leaves the part out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Detail {
    /// Tokens of the tool's description.
    pub(super) description: usize,
    /// Problems listed.
    pub(super) problems: usize,
    /// Tokens of one problem.
    pub(super) problem: usize,
    /// Required fields listed.
    pub(super) required: usize,
    /// Tokens of a required field's description.
    pub(super) required_description: usize,
    /// Optional fields listed.
    pub(super) optional: usize,
    /// Tokens of an optional field's description.
    pub(super) optional_description: usize,
    /// Tokens of a field's name.
    pub(super) name: usize,
    /// The example is shown.
    pub(super) example: bool,
    /// The corrected call is shown.
    pub(super) corrected: bool,
    /// The whole schema is shown.
    pub(super) schema: bool,
}

/// Everything, the schema included.
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

/// What a comfortable brief prompt has.
const COMFORTABLE: Detail = Detail {
    description: 120,
    problem: 120,
    required_description: 50,
    optional_description: 30,
    name: 60,
    schema: false,
    ..FULL
};

/// From comfortable to bare, each step without one thing more.
pub(super) const STEPS: [Detail; 11] = {
    let optional_names = Detail { optional_description: 0, ..COMFORTABLE };
    let short_description = Detail { description: 40, ..optional_names };
    let few_optional = Detail { optional: 12, ..short_description };
    let required_names = Detail { required_description: 0, ..few_optional };
    let no_optional = Detail { optional: 0, ..required_names };
    let no_description = Detail { description: 0, ..no_optional };
    let short_problems = Detail { problems: 10, problem: 60, ..no_description };
    let no_example = Detail { example: false, ..short_problems };
    let few_required = Detail { required: 12, name: 30, problems: 5, ..no_example };
    let bare = Detail { corrected: false, required: 5, name: 15, problems: 3, ..few_required };
    [
        COMFORTABLE,
        optional_names,
        short_description,
        few_optional,
        required_names,
        no_optional,
        no_description,
        short_problems,
        no_example,
        few_required,
        bare,
    ]
};
