//! Plans for building an example, and the order in which they are tried.

/// The annotations that are used as candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Annotations {
    #[default]
    All,
    /// Without `examples`, which are more often outdated than defaults.
    DefaultsOnly,
    None,
}

/// Decisions of one attempt where the schema allows several values.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) annotations: Annotations,
    /// Whether optional properties are included.
    pub(super) all_optional: bool,
    /// Whether a reference may be nested in itself, up to the depth limit.
    pub(super) allow_recursion: bool,
    /// Number of positions by which every list of branches is rotated.
    pub(super) shift: usize,
    /// A path, and the number of valid candidates to skip there.
    pub(super) variation: Option<(String, usize)>,
}

impl Plan {
    pub(super) fn skip_at(&self, path: &str) -> usize {
        match &self.variation {
            Some((varied, skip)) if varied == path => *skip,
            _ => 0,
        }
    }

    /// Returns variants of this plan that differ at one of `paths`, smallest deviations first.
    pub(super) fn variations<'p>(&'p self, paths: &'p [String]) -> impl Iterator<Item = Self> + 'p {
        (1..=MAX_SKIP).flat_map(move |skip| {
            paths
                .iter()
                .map(move |path| Self { variation: Some((path.clone(), skip)), ..self.clone() })
        })
    }
}

/// Maximum number of candidates to skip at one path.
const MAX_SKIP: usize = 4;

/// Returns the plans that apply to the whole example, preferred ones first.
pub(super) fn base_plans() -> Vec<Plan> {
    let default_plan = Plan::default();
    let without_annotations = Plan { annotations: Annotations::None, ..Plan::default() };
    let mut plans = vec![
        default_plan.clone(),
        Plan { annotations: Annotations::DefaultsOnly, ..Plan::default() },
        without_annotations.clone(),
        Plan { all_optional: true, ..default_plan },
        Plan { all_optional: true, ..without_annotations.clone() },
        Plan { allow_recursion: true, ..without_annotations.clone() },
    ];
    plans.extend((1..=4).map(|shift| Plan { shift, ..without_annotations.clone() }));
    plans
}

#[cfg(test)]
mod tests {
    use super::{Plan, base_plans};

    #[test]
    fn variation_applies_only_to_its_path() {
        let plan = Plan { variation: Some(("/a".to_owned(), 2)), ..Plan::default() };
        assert_eq!((plan.skip_at("/a"), plan.skip_at("/b")), (2, 0));
    }

    #[test]
    fn every_path_is_varied_once_before_any_is_varied_twice() {
        let paths = ["/a".to_owned(), "/b".to_owned()];
        let plan = Plan::default();
        let order: Vec<_> =
            plan.variations(&paths).filter_map(|plan| plan.variation).take(3).collect();
        assert_eq!(order, [("/a".to_owned(), 1), ("/b".to_owned(), 1), ("/a".to_owned(), 2)]);
    }

    #[test]
    fn base_plans_leave_room_for_variations() {
        assert!(base_plans().len() < super::super::MAX_CHECKS / 2);
    }
}
