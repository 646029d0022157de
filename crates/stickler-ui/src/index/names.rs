//! Names by number: the methods, tools and rules of a session.

use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of names; further ones share the last number.
const MAX_NAMES: u16 = u16::MAX;
/// Maximum length of a name in characters. A peer chooses the names of methods and tools.
const MAX_NAME_CHARS: usize = 200;

/// A table of names. Number 0 is the empty name.
#[derive(Debug)]
pub(crate) struct Names {
    list: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u16>,
    max: u16,
}

impl Default for Names {
    fn default() -> Self {
        Self::with_max(MAX_NAMES)
    }
}

impl Names {
    pub(crate) fn with_max(max: u16) -> Self {
        Self { list: vec![Arc::from("")], numbers: HashMap::new(), max }
    }

    pub(crate) fn number(&mut self, name: &str) -> u16 {
        if name.is_empty() {
            return 0;
        }
        let name = match name.char_indices().nth(MAX_NAME_CHARS) {
            Some((end, _)) => name.get(..end).unwrap_or_default(),
            None => name,
        };
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u16::try_from(self.list.len()).unwrap_or(self.max);
        let name: Arc<str> = match number {
            number if number < self.max => name.into(),
            _ if self.list.len() == usize::from(self.max) => "(other names)".into(),
            _ => return self.max,
        };
        self.list.push(Arc::clone(&name));
        self.numbers.insert(name, number);
        number
    }

    pub(crate) fn get(&self, number: u16) -> &str {
        self.list.get(usize::from(number)).map_or("", |name| name)
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn names_beyond_the_limit_share_a_number() {
        let mut names = Names::with_max(2);
        assert_eq!((names.number(""), names.number("a")), (0, 1));
        assert_eq!((names.number("b"), names.number("c"), names.number("b")), (2, 2, 2));
        assert_eq!(names.get(2), "(other names)");
    }
}
