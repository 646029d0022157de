//! The messages and events in a list of actions.

use stickler_protocol::{Action, Actions, Event, Side};

/// Returns the messages that are sent to a side, in order.
pub(crate) fn messages<'a>(actions: &'a Actions<'_>, to: Side) -> Vec<&'a [u8]> {
    let sent = actions.iter().filter(|action| action.receiver() == Some(to));
    sent.filter_map(Action::message).collect()
}

/// Returns the reported events, in order.
pub(crate) fn events(actions: &Actions<'_>) -> Vec<Event> {
    let event = |action: &Action<'_>| match action {
        Action::Event(event) => Some(event.clone()),
        _ => None,
    };
    actions.iter().filter_map(event).collect()
}
