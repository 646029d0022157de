//! Queue of the messages that a peer has received and that no step has consumed.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// A queue that reader threads fill and the player empties.
pub(crate) struct Inbox<T>(Arc<(Mutex<VecDeque<T>>, Condvar)>);

impl<T> Clone for Inbox<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for Inbox<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Inbox<T> {
    pub(crate) fn push(&self, one: T) {
        self.0.0.lock().unwrap().push_back(one);
        self.0.1.notify_all();
    }

    /// Removes the first item that matches; waits for one until the deadline.
    pub(crate) fn take(&self, deadline: Duration, is_match: impl Fn(&T) -> bool) -> Option<T> {
        let queue = self.0.0.lock().unwrap();
        let has_none = |queue: &mut VecDeque<T>| !queue.iter().any(&is_match);
        let (mut queue, _) = self.0.1.wait_timeout_while(queue, deadline, has_none).unwrap();
        let position = queue.iter().position(is_match)?;
        queue.remove(position)
    }

    /// Formats the remaining items.
    pub(crate) fn unconsumed(&self, show: impl Fn(&T) -> Option<String>) -> Vec<String> {
        self.0.0.lock().unwrap().iter().filter_map(show).collect()
    }
}
