//! A map that tracks the order in which its entries were last used, for LRU eviction.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// A map from keys to values, ordered by last use.
#[derive(Debug)]
pub(crate) struct Lru<K, V> {
    entries: HashMap<K, Entry<V>>,
    /// Keys by the sequence number of their last use.
    order: BTreeMap<u64, K>,
    uses: u64,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    last_use: u64,
}

impl<K, V> Default for Lru<K, V> {
    fn default() -> Self {
        Self { entries: HashMap::new(), order: BTreeMap::new(), uses: 0 }
    }
}

impl<K: Clone + Eq + Hash, V> Lru<K, V> {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the value of a key and marks it as used.
    pub(crate) fn get(&mut self, key: &K) -> Option<&mut V> {
        let entry = self.entries.get_mut(key)?;
        if let Some(key) = self.order.remove(&entry.last_use) {
            self.uses += 1;
            entry.last_use = self.uses;
            self.order.insert(self.uses, key);
        }
        Some(&mut entry.value)
    }

    /// Returns the value of a key without marking it as used.
    pub(crate) fn peek(&mut self, key: &K) -> Option<&mut V> {
        self.entries.get_mut(key).map(|entry| &mut entry.value)
    }

    pub(crate) fn insert(&mut self, key: K, value: V) {
        self.remove(&key);
        self.uses += 1;
        self.order.insert(self.uses, key.clone());
        self.entries.insert(key, Entry { value, last_use: self.uses });
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let entry = self.entries.remove(key)?;
        self.order.remove(&entry.last_use);
        Some(entry.value)
    }

    /// Removes the least recently used entry.
    pub(crate) fn pop_lru(&mut self) -> Option<(K, V)> {
        let (_, key) = self.order.pop_first()?;
        self.entries.remove(&key).map(|entry| (key, entry.value))
    }

    /// Iterates over all entries, the least recently used first.
    pub(crate) fn lru_first(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        let value = |key| self.entries.get(key).map(|entry| &entry.value);
        self.order.values().filter_map(move |key| Some((key, value(key)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::Lru;

    fn order(lru: &Lru<&str, u32>) -> String {
        lru.lru_first().map(|(key, _)| *key).collect()
    }

    #[test]
    fn used_entry_becomes_the_most_recent() {
        let mut lru = Lru::default();
        for (index, key) in ["a", "b", "c"].into_iter().enumerate() {
            lru.insert(key, u32::try_from(index).unwrap());
        }
        assert_eq!(order(&lru), "abc");
        assert_eq!(lru.get(&"a"), Some(&mut 0));
        assert_eq!(lru.get(&"z"), None);
        assert_eq!(order(&lru), "bca");
        lru.insert("b", 7);
        assert_eq!((order(&lru).as_str(), lru.len()), ("cab", 3));
        assert_eq!((lru.remove(&"a"), lru.remove(&"a")), (Some(0), None));
        assert_eq!((order(&lru).as_str(), lru.order.len()), ("cb", lru.len()));
        assert_eq!(lru.peek(&"c"), Some(&mut 2));
        assert_eq!((lru.pop_lru(), lru.pop_lru()), (Some(("c", 2)), Some(("b", 7))));
        assert_eq!((lru.pop_lru(), lru.len()), (None, 0));
    }
}
