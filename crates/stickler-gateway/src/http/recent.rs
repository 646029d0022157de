//! Things by their key, in the order of their last use.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// A table that knows what was used last, and what was not used for longest.
#[derive(Debug)]
pub(super) struct Recent<K, V> {
    entries: HashMap<K, Entry<V>>,
    /// By the number of their last use.
    order: BTreeMap<u64, K>,
    uses: u64,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    used: u64,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self { entries: HashMap::new(), order: BTreeMap::new(), uses: 0 }
    }
}

impl<K: Clone + Eq + Hash, V> Recent<K, V> {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// What has that key, which is used by asking for it.
    pub(super) fn get(&mut self, key: &K) -> Option<&mut V> {
        let entry = self.entries.get_mut(key)?;
        if let Some(key) = self.order.remove(&entry.used) {
            self.uses += 1;
            entry.used = self.uses;
            self.order.insert(self.uses, key);
        }
        Some(&mut entry.value)
    }

    /// The same without using it.
    pub(super) fn look_at(&mut self, key: &K) -> Option<&mut V> {
        self.entries.get_mut(key).map(|entry| &mut entry.value)
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        self.remove(&key);
        self.uses += 1;
        self.order.insert(self.uses, key.clone());
        self.entries.insert(key, Entry { value, used: self.uses });
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        let entry = self.entries.remove(key)?;
        self.order.remove(&entry.used);
        Some(entry.value)
    }

    /// Takes out the one that was not used for longest.
    pub(super) fn pop_oldest(&mut self) -> Option<(K, V)> {
        let (_, key) = self.order.pop_first()?;
        self.entries.remove(&key).map(|entry| (key, entry.value))
    }

    /// All, the one that was not used for longest first.
    pub(super) fn oldest_first(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        let value = |key| self.entries.get(key).map(|entry| &entry.value);
        self.order.values().filter_map(move |key| Some((key, value(key)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::Recent;

    fn order(recent: &Recent<&str, u32>) -> String {
        recent.oldest_first().map(|(key, _)| *key).collect()
    }

    #[test]
    fn what_is_used_is_the_newest() {
        let mut recent = Recent::default();
        for (index, key) in ["a", "b", "c"].into_iter().enumerate() {
            recent.insert(key, u32::try_from(index).unwrap());
        }
        assert_eq!(order(&recent), "abc");
        assert_eq!(recent.get(&"a"), Some(&mut 0));
        assert_eq!(recent.get(&"z"), None);
        assert_eq!(order(&recent), "bca");
        recent.insert("b", 7);
        assert_eq!((order(&recent).as_str(), recent.len()), ("cab", 3));
        assert_eq!((recent.remove(&"a"), recent.remove(&"a")), (Some(0), None));
        assert_eq!((order(&recent).as_str(), recent.order.len()), ("cb", recent.len()));
        assert_eq!(recent.look_at(&"c"), Some(&mut 2));
        assert_eq!((recent.pop_oldest(), recent.pop_oldest()), (Some(("c", 2)), Some(("b", 7))));
        assert_eq!((recent.pop_oldest(), recent.len()), (None, 0));
    }
}
