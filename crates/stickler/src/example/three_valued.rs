//! Logic with a third value: `None` is "cannot tell".

/// Whether every verdict is yes.
pub(super) fn all(verdicts: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let mut sure = true;
    for verdict in verdicts {
        match verdict {
            Some(false) => return Some(false),
            Some(true) => {}
            None => sure = false,
        }
    }
    sure.then_some(true)
}

/// Whether some verdict is yes.
pub(super) fn any(verdicts: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    all(verdicts.into_iter().map(|verdict| verdict.map(|fits| !fits))).map(|none| !none)
}

/// Whether one verdict is yes and all others are no.
pub(super) fn exactly_one(verdicts: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let (mut fitting, mut open) = (0_usize, false);
    for verdict in verdicts {
        fitting += usize::from(verdict == Some(true));
        open |= verdict.is_none();
    }
    match (fitting, open) {
        (0 | 1, true) => None,
        (fitting, _) => Some(fitting == 1),
    }
}

#[cfg(test)]
mod tests {
    use super::{all, any, exactly_one};

    #[test]
    fn an_open_verdict_matters_only_where_it_could_turn_the_result() {
        assert_eq!(all([Some(false), None]), Some(false));
        assert_eq!(all([Some(true), None]), None);
        assert_eq!(any([Some(true), None]), Some(true));
        assert_eq!(any([Some(false), None]), None);
        assert_eq!(exactly_one([Some(true), Some(true), None]), Some(false));
        assert_eq!(exactly_one([Some(true), None]), None);
    }

    #[test]
    fn nothing_to_judge_holds_for_all_and_fails_for_any() {
        assert_eq!((all([]), any([]), exactly_one([])), (Some(true), Some(false), Some(false)));
    }
}
