//! Bounded edit distance of names, and the budget for computing it.
//!
//! Contract: a [`ComparisonBudget`] bounds all comparisons that one call causes, regardless of the
//! number and length of names, and deterministically. [`distance_within`] is the Damerau–Levenshtein
//! distance if that is at most the given maximum.

use std::cell::Cell;

/// Longer names are not compared character by character.
pub(super) const MAX_COMPARED_BYTES: usize = 128;

/// Maximum number of pairs of a field and a known name that one call can compare.
const MAX_PAIRS: usize = 64 * 256;

/// Cells of distance tables that can be computed per step of an explanation.
const CELLS_PER_STEP: u64 = 4;

/// The remaining budget for comparing names.
#[derive(Debug)]
pub(crate) struct ComparisonBudget {
    pairs: Cell<usize>,
    cells: Cell<u64>,
}

impl ComparisonBudget {
    /// Creates the budget of one call; `steps` is the limit on the steps of an explanation.
    pub(crate) fn new(steps: u32) -> Self {
        Self {
            pairs: Cell::new(MAX_PAIRS),
            cells: Cell::new(u64::from(steps).saturating_mul(CELLS_PER_STEP)),
        }
    }

    /// Creates an unlimited budget, for names that were not sent by a peer.
    pub(crate) fn unlimited() -> Self {
        Self { pairs: Cell::new(usize::MAX), cells: Cell::new(u64::MAX) }
    }

    /// Takes the comparisons of a name with `count` others. Returns false if they exceed the budget.
    pub(crate) fn take_pairs(&self, count: usize) -> bool {
        let left = self.pairs.get().checked_sub(count);
        if let Some(left) = left {
            self.pairs.set(left);
        }
        left.is_some()
    }

    /// Returns whether a name may still be compared with `count` others.
    pub(crate) fn allows(&self, count: usize) -> bool {
        self.pairs.get() >= count && !self.is_spent()
    }

    pub(crate) fn take_cells(&self, count: usize) -> bool {
        crate::tape::work::count(count);
        let left = self.cells.get().saturating_sub(u64::try_from(count).unwrap_or(u64::MAX));
        self.cells.set(left);
        left > 0
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.cells.get() == 0
    }
}

/// Returns the edit distance of two names if it is at most `max_distance`; `None` if it is larger or the
/// budget is spent.
pub(super) fn distance_within(
    a: &str,
    b: &str,
    max_distance: usize,
    budget: &ComparisonBudget,
) -> Option<usize> {
    if a == b {
        return Some(0);
    }
    let (long, short) = (a.len().max(b.len()), a.len().min(b.len()));
    // A character has up to four bytes, so this never excludes a distance within the maximum.
    if long > MAX_COMPARED_BYTES || long - short > max_distance.saturating_mul(4) {
        return None;
    }
    if !budget.take_cells(long / 4 + 1) || distance_lower_bound(a, b) > max_distance {
        return None;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (a, b) = without_common_ends(&a, &b);
    let width = max_distance.saturating_mul(2).saturating_add(1).min(b.len());
    if a.len().abs_diff(b.len()) > max_distance || !budget.take_cells(a.len() * width) {
        return None;
    }
    Table::new(a, b, max_distance).distance()
}

/// Removes the common prefix and the common suffix, which do not affect the distance.
fn without_common_ends<'n>(a: &'n [char], b: &'n [char]) -> (&'n [char], &'n [char]) {
    let prefix = a.iter().zip(b).take_while(|(one, other)| one == other).count();
    let (a, b) = (a.get(prefix..).unwrap_or_default(), b.get(prefix..).unwrap_or_default());
    let suffix = a.iter().rev().zip(b.iter().rev()).take_while(|(one, other)| one == other).count();
    let trimmed = |name: &'n [char]| name.get(..name.len() - suffix).unwrap_or_default();
    (trimmed(a), trimmed(b))
}

/// Returns a lower bound of the edit distance, from the number of occurrences of each character.
fn distance_lower_bound(a: &str, b: &str) -> usize {
    let mut counts = [0_i32; 64];
    let mut add = |byte: u8, by: i32| {
        if let Some(count) = counts.get_mut(usize::from(byte & 63)) {
            *count += by;
        }
    };
    // Skip continuation bytes: they would count one character several times.
    let begins = |byte: &u8| byte & 0xc0 != 0x80;
    a.bytes().filter(begins).for_each(|byte| add(byte, 1));
    b.bytes().filter(begins).for_each(|byte| add(byte, -1));
    let (more, fewer) = counts
        .iter()
        .fold((0, 0), |(more, fewer), &count| (more + count.max(0), fewer - count.min(0)));
    usize::try_from(more.max(fewer)).unwrap_or(0)
}

/// Distances of the prefixes of two names, restricted to the band around the diagonal that can be within
/// the maximum distance.
struct Table<'n> {
    a: &'n [char],
    b: &'n [char],
    max_distance: usize,
    width: usize,
    cells: Vec<usize>,
    /// For each character of `b`, its last position in `a`, counted from 1; 0 if not found yet.
    last_rows: Vec<usize>,
}

impl<'n> Table<'n> {
    fn new(a: &'n [char], b: &'n [char], max_distance: usize) -> Self {
        // No distance is larger than the length of the longer name.
        let max_distance = max_distance.min(a.len().max(b.len()));
        let width = 2 * max_distance + 1;
        let cells = vec![max_distance + 1; (a.len() + 1) * width];
        Self { a, b, max_distance, width, cells, last_rows: vec![0; b.len()] }
    }

    fn distance(mut self) -> Option<usize> {
        (0..=self.max_distance.min(self.b.len())).for_each(|column| self.set(0, column, column));
        for (above, &letter) in self.a.iter().enumerate() {
            self.fill_row(above + 1, letter);
        }
        Some(self.at(self.a.len(), self.b.len())).filter(|distance| *distance <= self.max_distance)
    }

    fn fill_row(&mut self, row: usize, letter: char) {
        let first = row.saturating_sub(self.max_distance);
        if first == 0 {
            self.set(row, 0, row);
        }
        // The last position of this letter in `b`, counted from 1.
        let mut last_column = 0;
        for column in first.max(1)..=(row + self.max_distance).min(self.b.len()) {
            let equal = self.b.get(column - 1) == Some(&letter);
            let replaced = self.at(row - 1, column - 1) + usize::from(!equal);
            let changed = self.at(row - 1, column).min(self.at(row, column - 1)) + 1;
            let transposed = self.transposed(row, column, last_column);
            self.set(row, column, replaced.min(changed).min(transposed));
            if equal {
                last_column = column;
            }
        }
        // Later rows access no cells beyond this column.
        let ahead = row + 2 * self.max_distance + 2;
        let letters = self.b.iter().zip(&mut self.last_rows).take(ahead).skip(first);
        letters.filter(|(other, _)| **other == letter).for_each(|(_, last)| *last = row);
    }

    /// Returns the distance if the last two characters are transposed and the characters between them
    /// are inserted or deleted.
    fn transposed(&self, row: usize, column: usize, last_column: usize) -> usize {
        let last_row = self.last_rows.get(column - 1).copied().unwrap_or(0);
        match (last_row.checked_sub(1), last_column.checked_sub(1)) {
            (Some(above), Some(before)) => {
                self.at(above, before) + (row - above - 2) + 1 + (column - before - 2)
            }
            _ => self.max_distance + 1,
        }
    }

    /// Returns the distance of the prefixes of `row` and `column` characters.
    fn at(&self, row: usize, column: usize) -> usize {
        let cell = self.index(row, column).and_then(|index| self.cells.get(index));
        cell.copied().unwrap_or(self.max_distance + 1)
    }

    fn set(&mut self, row: usize, column: usize, distance: usize) {
        if let Some(cell) = self.index(row, column).and_then(|index| self.cells.get_mut(index)) {
            *cell = distance;
        }
    }

    fn index(&self, row: usize, column: usize) -> Option<usize> {
        let offset =
            (column + self.max_distance).checked_sub(row).filter(|offset| *offset < self.width)?;
        Some(row * self.width + offset)
    }
}

#[cfg(test)]
mod tests {
    use super::{ComparisonBudget, distance_within};

    /// Names over a small alphabet, which have many transpositions and repetitions.
    fn name(mut number: u64) -> String {
        let mut name = String::new();
        for _ in 0..number % 9 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            name.push(['a', 'b', 'c', 'ä', '€'][(number >> 33) as usize % 5]);
        }
        name
    }

    #[test]
    fn bounded_distance_equals_the_damerau_levenshtein_distance() {
        for number in 0..20_000_u64 {
            let (a, b) = (name(number * 7), name(number * 13 + 5));
            let whole = strsim::damerau_levenshtein(&a, &b);
            for max_distance in [0, 1, 2, 3, 128] {
                let found = distance_within(&a, &b, max_distance, &ComparisonBudget::unlimited());
                assert_eq!(
                    found,
                    Some(whole).filter(|one| *one <= max_distance),
                    "{a} {b} {max_distance}"
                );
            }
        }
    }

    /// All names of up to five characters over an alphabet of three.
    #[test]
    fn bounded_distance_is_exact_for_all_short_names() {
        let names: Vec<String> = (0..=5_u32)
            .flat_map(|length| (0..3_u32.pow(length)).map(move |number| (length, number)))
            .map(|(length, number)| {
                let digits = (0..length).map(|digit| number / 3_u32.pow(digit) % 3);
                digits.map(|digit| ['a', 'b', 'c'][digit as usize]).collect()
            })
            .collect();
        for (a, b) in names.iter().flat_map(|a| names.iter().map(move |b| (a, b))) {
            let whole = strsim::damerau_levenshtein(a, b);
            let found = distance_within(a, b, 3, &ComparisonBudget::unlimited());
            assert_eq!(found, Some(whole).filter(|one| *one <= 3), "{a} {b}");
        }
    }

    #[test]
    fn comparison_fails_when_the_budget_is_spent() {
        let budget = ComparisonBudget::new(1);
        assert_eq!(distance_within("abcdef", "bcdefa", 3, &budget), None);
        assert!(budget.is_spent());
        assert!(!ComparisonBudget::new(1).take_pairs(100_000));
    }
}
