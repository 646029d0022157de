//! Three-valued logic, where `None` means unknown.

/// Whether every value is true.
pub(super) fn all(values: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let mut is_known = true;
    for value in values {
        match value {
            Some(false) => return Some(false),
            Some(true) => {}
            None => is_known = false,
        }
    }
    is_known.then_some(true)
}

/// Whether at least one value is true.
pub(super) fn any(values: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    all(values.into_iter().map(|value| value.map(|value| !value))).map(|none| !none)
}

/// Whether one value is true and all others are false.
pub(super) fn exactly_one(values: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let (mut true_values, mut has_unknown) = (0_usize, false);
    for value in values {
        true_values += usize::from(value == Some(true));
        has_unknown |= value.is_none();
    }
    match (true_values, has_unknown) {
        (0 | 1, true) => None,
        (true_values, _) => Some(true_values == 1),
    }
}

#[cfg(test)]
mod tests {
    use super::{all, any, exactly_one};

    #[test]
    fn unknown_value_matters_only_if_it_could_change_the_result() {
        assert_eq!(all([Some(false), None]), Some(false));
        assert_eq!(all([Some(true), None]), None);
        assert_eq!(any([Some(true), None]), Some(true));
        assert_eq!(any([Some(false), None]), None);
        assert_eq!(exactly_one([Some(true), Some(true), None]), Some(false));
        assert_eq!(exactly_one([Some(true), None]), None);
    }

    #[test]
    fn empty_input_is_true_for_all_and_false_for_any() {
        assert_eq!((all([]), any([]), exactly_one([])), (Some(true), Some(false), Some(false)));
    }
}
