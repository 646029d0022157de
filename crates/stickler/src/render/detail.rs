//! Levels of detail of a help prompt, from everything to the minimum.
//!
//! A brief prompt uses the first level that fits its token budget, so [`BRIEF_LEVELS`] is the
//! documented order in which detail is dropped. What a caller needs to write a valid call goes last: the
//! problems, and the allowed values of required fields.

/// Limits on each part of a prompt; `usize::MAX` means unlimited, 0 omits the part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Detail {
    /// Maximum number of tokens of the tool's description.
    pub(super) description: usize,
    /// Maximum number of problems listed.
    pub(super) problems: usize,
    /// Maximum number of tokens of one problem.
    pub(super) problem: usize,
    pub(super) required: FieldDetail,
    pub(super) optional: FieldDetail,
    /// Maximum number of tokens of a name.
    pub(super) name: usize,
    /// Whether the example is shown.
    pub(super) example: bool,
    /// Whether the corrected call is shown.
    pub(super) corrected: bool,
    /// Whether the schema is shown.
    pub(super) schema: bool,
}

/// Limits on a list of fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldDetail {
    /// Maximum number of fields listed.
    pub(super) count: usize,
    /// Maximum number of tokens for the allowed values and constraints of a field; 0 shows only the type.
    pub(super) accepted: usize,
    /// Maximum number of tokens of a field's description.
    pub(super) description: usize,
}

/// Everything, including the schema.
pub(super) const FULL: Detail = {
    let fields = FieldDetail { count: usize::MAX, accepted: usize::MAX, description: usize::MAX };
    Detail {
        description: usize::MAX,
        problems: usize::MAX,
        problem: usize::MAX,
        required: fields,
        optional: fields,
        name: usize::MAX,
        example: true,
        corrected: true,
        schema: true,
    }
};

/// The most detailed brief prompt.
const BRIEF: Detail = Detail {
    description: 120,
    problem: 120,
    required: FieldDetail { accepted: 120, description: 50, ..FULL.required },
    optional: FieldDetail { accepted: 80, description: 30, ..FULL.optional },
    name: 60,
    schema: false,
    ..FULL
};

/// The levels of a brief prompt, each with less detail than the one before.
pub(super) const BRIEF_LEVELS: [Detail; 14] = {
    let optional_names = Detail { optional: described(BRIEF.optional, 0), ..BRIEF };
    let short_description = Detail { description: 40, ..optional_names };
    let few = FieldDetail { count: 12, accepted: 40, ..short_description.optional };
    let few_optional = Detail { optional: few, ..short_description };
    let required_names = Detail { required: described(BRIEF.required, 0), ..few_optional };
    let optional_types = Detail { optional: FieldDetail { accepted: 0, ..few }, ..required_names };
    let no_optional = Detail { optional: FieldDetail { count: 0, ..few }, ..optional_types };
    let no_description = Detail { description: 0, ..no_optional };
    let short_problems = Detail { problems: 10, problem: 60, ..no_description };
    let no_example = Detail { example: false, ..short_problems };
    let short = FieldDetail { accepted: 30, ..no_example.required };
    let short_values = Detail { required: short, name: 30, ..no_example };
    let some = FieldDetail { count: 12, ..short };
    let few_required = Detail { required: some, problems: 5, ..short_values };
    let no_corrected = Detail { corrected: false, ..few_required };
    let least = FieldDetail { count: 5, accepted: 0, ..some };
    let minimal = Detail { required: least, name: 15, problems: 3, ..no_corrected };
    [
        BRIEF,
        optional_names,
        short_description,
        few_optional,
        required_names,
        optional_types,
        no_optional,
        no_description,
        short_problems,
        no_example,
        short_values,
        few_required,
        no_corrected,
        minimal,
    ]
};

const fn described(fields: FieldDetail, description: usize) -> FieldDetail {
    FieldDetail { description, ..fields }
}
