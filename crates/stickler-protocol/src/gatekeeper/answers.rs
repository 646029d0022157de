//! Answers of the tool that validates, kept for a while.
//!
//! The same call is often asked about again and again. An answer holds until its time is over or
//! something changes that it may depend on; see `invalidateOn` in the capability.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::envelope::RequestId;

/// So many answers are kept, and so many are waited for.
const MOST: usize = 256;
/// Longer questions and answers are not kept.
const LONGEST: usize = 64 << 10;

#[derive(Debug, Default)]
pub(super) struct Answers {
    /// By question, the arguments as they were written.
    kept: BTreeMap<Box<str>, Answer>,
    order: VecDeque<Box<str>>,
    /// Questions that the server was asked and has not answered.
    open: BTreeMap<RequestId, Box<str>>,
}

#[derive(Debug)]
struct Answer {
    result: Box<str>,
    holds_until: Duration,
}

impl Answers {
    /// What was answered before, if it still holds.
    pub(super) fn get(&self, question: &str, now: Duration) -> Option<&str> {
        let answer = self.kept.get(question).filter(|answer| now < answer.holds_until)?;
        Some(&answer.result)
    }

    pub(super) fn keep(&mut self, question: &str, result: &str, holds_until: Duration) {
        if question.len() > LONGEST || result.len() > LONGEST {
            return;
        }
        let answer = Answer { result: result.into(), holds_until };
        if self.kept.insert(question.into(), answer).is_some() {
            return;
        }
        self.order.push_back(question.into());
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.kept.remove(&oldest);
        }
    }

    /// The server is asked: its answer will be kept.
    pub(super) fn expect(&mut self, id: &RequestId, question: &str) {
        // An older question of that id was cancelled or given up: the answer will not be to it.
        self.open.remove(id);
        if self.open.len() < MOST && question.len() <= LONGEST {
            self.open.insert(id.clone(), question.into());
        }
    }

    /// The question that an answer of the server's is to.
    pub(super) fn take_question(&mut self, id: &RequestId) -> Option<Box<str>> {
        self.open.remove(id)
    }

    /// Something has changed that any answer may depend on, those under way included.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::{Answers, LONGEST, MOST};
    use crate::envelope::RequestId;
    use std::time::Duration;
    use stickler::tape::TapeBuffer;

    fn id(text: &str) -> RequestId {
        let mut buffer = TapeBuffer::new();
        RequestId::of(buffer.read(text.as_bytes(), 1).unwrap().root()).unwrap()
    }

    #[test]
    fn answers_hold_for_their_time() {
        let mut answers = Answers::default();
        answers.keep("q", "{}", Duration::from_secs(5));
        assert_eq!(answers.get("q", Duration::from_secs(4)), Some("{}"));
        assert_eq!(answers.get("q", Duration::from_secs(5)), None);
        answers.keep("q", "[]", Duration::from_secs(9));
        assert_eq!(answers.get("q", Duration::from_secs(5)), Some("[]"));
        answers.forget();
        assert_eq!(answers.get("q", Duration::ZERO), None);
    }

    #[test]
    fn memory_is_bounded() {
        let mut answers = Answers::default();
        let late = Duration::MAX;
        for number in 0..MOST * 3 {
            answers.keep(&number.to_string(), "{}", late);
        }
        answers.keep(&"x".repeat(LONGEST + 1), "{}", late);
        answers.keep("long", &"x".repeat(LONGEST + 1), late);
        assert_eq!((answers.kept.len(), answers.order.len()), (MOST, MOST));
        assert!(answers.get("0", Duration::ZERO).is_none());
    }

    #[test]
    fn a_new_question_takes_the_place_of_an_older_one_of_its_id() {
        let mut answers = Answers::default();
        answers.expect(&id("1"), "old");
        answers.expect(&id("1"), &"x".repeat(LONGEST + 1));
        assert_eq!(answers.take_question(&id("1")), None, "too long to be kept, but asked");
        for number in 0..MOST {
            answers.expect(&id(&number.to_string()), "old");
        }
        answers.expect(&id("1"), "new");
        assert_eq!(answers.take_question(&id("1")).as_deref(), Some("new"));
    }
}
