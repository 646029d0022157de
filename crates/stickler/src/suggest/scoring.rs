//! How near two names are, and how much comparing one call may take.
//!
//! Contract: [`Scoring`] bounds all comparisons that one call causes, so that neither many names nor
//! long ones make them expensive; what is left out is always the same. [`distance_within`] is the
//! Damerau–Levenshtein distance where that is within reach.

use std::cell::Cell;

/// Names longer than this are not compared letter by letter.
pub(super) const LONGEST: usize = 128;

/// Fields of a call times names that each could have meant.
const MOST_PAIRS: usize = 64 * 256;

/// Cells of the tables that distances are computed in, for each step that an explanation may take.
const CELLS_PER_STEP: u64 = 4;

/// What comparing names may still take.
#[derive(Debug)]
pub(crate) struct Scoring {
    pairs: Cell<usize>,
    cells: Cell<u64>,
}

impl Scoring {
    /// For one call, with the steps that explaining it may take.
    pub(crate) fn new(steps: u32) -> Self {
        Self {
            pairs: Cell::new(MOST_PAIRS),
            cells: Cell::new(u64::from(steps).saturating_mul(CELLS_PER_STEP)),
        }
    }

    /// For names that no peer has sent.
    pub(crate) fn unlimited() -> Self {
        Self { pairs: Cell::new(usize::MAX), cells: Cell::new(u64::MAX) }
    }

    /// Whether a name may be compared with so many others.
    pub(super) fn take_pairs(&self, count: usize) -> bool {
        let left = self.pairs.get().checked_sub(count);
        if let Some(left) = left {
            self.pairs.set(left);
        }
        left.is_some()
    }

    /// Whether a name may still be compared with so many others.
    pub(crate) fn allows(&self, count: usize) -> bool {
        self.pairs.get() >= count && !self.is_spent()
    }

    pub(super) fn take_cells(&self, count: usize) -> bool {
        crate::tape::work::count(count);
        let left = self.cells.get().saturating_sub(u64::try_from(count).unwrap_or(u64::MAX));
        self.cells.set(left);
        left > 0
    }

    pub(super) fn is_spent(&self) -> bool {
        self.cells.get() == 0
    }
}

/// The edits between two names, if there are at most `reach`; `None` also where nothing more may be
/// compared.
pub(super) fn distance_within(a: &str, b: &str, reach: usize, scoring: &Scoring) -> Option<usize> {
    if a == b {
        return Some(0);
    }
    let (long, short) = (a.len().max(b.len()), a.len().min(b.len()));
    // A character has up to four bytes, so this never rules out what is within reach.
    if long > LONGEST || long - short > reach.saturating_mul(4) {
        return None;
    }
    if !scoring.take_cells(long) || letters_apart(a, b) > reach {
        return None;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let width = reach.saturating_mul(2).saturating_add(1).min(b.len());
    if a.len().abs_diff(b.len()) > reach || !scoring.take_cells(a.len() * width) {
        return None;
    }
    Table::new(&a, &b, reach).distance()
}

/// No fewer edits than this are between the names: what one has more of than the other.
fn letters_apart(a: &str, b: &str) -> usize {
    let mut counts = [0_i32; 64];
    let mut add = |byte: u8, by: i32| {
        if let Some(count) = counts.get_mut(usize::from(byte & 63)) {
            *count += by;
        }
    };
    // Continuation bytes say little and would count one character several times.
    let begins = |byte: &u8| byte & 0xc0 != 0x80;
    a.bytes().filter(begins).for_each(|byte| add(byte, 1));
    b.bytes().filter(begins).for_each(|byte| add(byte, -1));
    let (more, fewer) = counts
        .iter()
        .fold((0, 0), |(more, fewer), &count| (more + count.max(0), fewer - count.min(0)));
    usize::try_from(more.max(fewer)).unwrap_or(0)
}

/// The distances of the beginnings of two names, as far as they can be within reach: only cells near
/// the diagonal.
struct Table<'n> {
    a: &'n [char],
    b: &'n [char],
    reach: usize,
    width: usize,
    cells: Vec<usize>,
    /// For each character of `b`, where `a` has it last, counted from 1; 0 for nowhere so far.
    last_rows: Vec<usize>,
}

impl<'n> Table<'n> {
    fn new(a: &'n [char], b: &'n [char], reach: usize) -> Self {
        // No distance is larger than the length of the longer name.
        let reach = reach.min(a.len().max(b.len()));
        let width = 2 * reach + 1;
        let cells = vec![reach + 1; (a.len() + 1) * width];
        Self { a, b, reach, width, cells, last_rows: vec![0; b.len()] }
    }

    fn distance(mut self) -> Option<usize> {
        (0..=self.reach.min(self.b.len())).for_each(|column| self.set(0, column, column));
        for (above, &letter) in self.a.iter().enumerate() {
            self.fill_row(above + 1, letter);
        }
        Some(self.at(self.a.len(), self.b.len())).filter(|distance| *distance <= self.reach)
    }

    fn fill_row(&mut self, row: usize, letter: char) {
        let first = row.saturating_sub(self.reach);
        if first == 0 {
            self.set(row, 0, row);
        }
        // Where `b` has this letter last, counted from 1.
        let mut last_column = 0;
        for column in first.max(1)..=(row + self.reach).min(self.b.len()) {
            let equal = self.b.get(column - 1) == Some(&letter);
            let replaced = self.at(row - 1, column - 1) + usize::from(!equal);
            let changed = self.at(row - 1, column).min(self.at(row, column - 1)) + 1;
            let swapped = self.swapped(row, column, last_column);
            self.set(row, column, replaced.min(changed).min(swapped));
            if equal {
                last_column = column;
            }
        }
        // Later rows look no further ahead than this.
        let ahead = row + 2 * self.reach + 2;
        let letters = self.b.iter().zip(&mut self.last_rows).take(ahead).skip(first);
        letters.filter(|(other, _)| **other == letter).for_each(|(_, last)| *last = row);
    }

    /// The two last characters stand in the other name the other way round, those between them
    /// inserted or deleted.
    fn swapped(&self, row: usize, column: usize, last_column: usize) -> usize {
        let last_row = self.last_rows.get(column - 1).copied().unwrap_or(0);
        match (last_row.checked_sub(1), last_column.checked_sub(1)) {
            (Some(above), Some(before)) => {
                self.at(above, before) + (row - above - 2) + 1 + (column - before - 2)
            }
            _ => self.reach + 1,
        }
    }

    /// The distance of the first `row` and the first `column` characters.
    fn at(&self, row: usize, column: usize) -> usize {
        let cell = self.place(row, column).and_then(|place| self.cells.get(place));
        cell.copied().unwrap_or(self.reach + 1)
    }

    fn set(&mut self, row: usize, column: usize, distance: usize) {
        if let Some(cell) = self.place(row, column).and_then(|place| self.cells.get_mut(place)) {
            *cell = distance;
        }
    }

    fn place(&self, row: usize, column: usize) -> Option<usize> {
        let beside =
            (column + self.reach).checked_sub(row).filter(|beside| *beside < self.width)?;
        Some(row * self.width + beside)
    }
}

#[cfg(test)]
mod tests {
    use super::{Scoring, distance_within};

    /// Names over a small alphabet: those have many swaps and repeats.
    fn name(mut number: u64) -> String {
        let mut name = String::new();
        for _ in 0..number % 9 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            name.push(['a', 'b', 'c', 'ä', '€'][(number >> 33) as usize % 5]);
        }
        name
    }

    #[test]
    fn it_is_the_distance_of_damerau_and_levenshtein() {
        for number in 0..20_000_u64 {
            let (a, b) = (name(number * 7), name(number * 13 + 5));
            let whole = strsim::damerau_levenshtein(&a, &b);
            for reach in [0, 1, 2, 3, 128] {
                let found = distance_within(&a, &b, reach, &Scoring::unlimited());
                assert_eq!(found, Some(whole).filter(|one| *one <= reach), "{a} {b} {reach}");
            }
        }
    }

    #[test]
    fn nothing_is_compared_when_nothing_is_left() {
        let scoring = Scoring::new(1);
        assert_eq!(distance_within("abcdef", "abcdeg", 3, &scoring), None);
        assert!(scoring.is_spent());
        assert!(!Scoring::new(1).take_pairs(100_000));
    }
}
