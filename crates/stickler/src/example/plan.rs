//! The variants in which an example is attempted, and the order of trying them.

/// Which of the schema author's own values are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Annotations {
    #[default]
    All,
    /// Not `examples`, which are documentation and go stale first.
    DefaultsOnly,
    None,
}

/// How one attempt decides what the schema leaves open.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) annotations: Annotations,
    /// Whether optional properties are included.
    pub(super) all_optional: bool,
    /// Whether a reference may be built inside itself, down to the depth limit.
    pub(super) allow_recursion: bool,
    /// By how many places every list of branches is rotated.
    pub(super) shift: usize,
    /// One place, and how many fitting candidates to pass over there.
    pub(super) detour: Option<(String, usize)>,
}

impl Plan {
    pub(super) fn skip_at(&self, path: &str) -> usize {
        match &self.detour {
            Some((place, skip)) if place == path => *skip,
            _ => 0,
        }
    }

    /// This plan with another decision at one of `places`, nearest decisions first.
    pub(super) fn detours<'p>(&'p self, places: &'p [String]) -> impl Iterator<Item = Self> + 'p {
        (1..=MAX_SKIP).flat_map(move |skip| {
            places
                .iter()
                .map(move |place| Self { detour: Some((place.clone(), skip)), ..self.clone() })
        })
    }
}

/// How far one place is moved on before giving up on it.
const MAX_SKIP: usize = 4;

/// The plans that differ everywhere at once, most natural first.
pub(super) fn broad_plans() -> Vec<Plan> {
    let plain = Plan::default();
    let bare = Plan { annotations: Annotations::None, ..Plan::default() };
    let mut plans = vec![
        plain.clone(),
        Plan { annotations: Annotations::DefaultsOnly, ..Plan::default() },
        bare.clone(),
        Plan { all_optional: true, ..plain },
        Plan { all_optional: true, ..bare.clone() },
        Plan { allow_recursion: true, ..bare.clone() },
    ];
    plans.extend((1..=4).map(|shift| Plan { shift, ..bare.clone() }));
    plans
}

#[cfg(test)]
mod tests {
    use super::{Plan, broad_plans};

    #[test]
    fn a_detour_concerns_its_place_only() {
        let plan = Plan { detour: Some(("/a".to_owned(), 2)), ..Plan::default() };
        assert_eq!((plan.skip_at("/a"), plan.skip_at("/b")), (2, 0));
    }

    #[test]
    fn every_place_is_moved_once_before_any_is_moved_twice() {
        let places = ["/a".to_owned(), "/b".to_owned()];
        let plan = Plan::default();
        let order: Vec<_> = plan.detours(&places).filter_map(|plan| plan.detour).take(3).collect();
        assert_eq!(order, [("/a".to_owned(), 1), ("/b".to_owned(), 1), ("/a".to_owned(), 2)]);
    }

    #[test]
    fn broad_plans_leave_room_for_detours() {
        assert!(broad_plans().len() < super::super::MAX_CHECKS / 2);
    }
}
