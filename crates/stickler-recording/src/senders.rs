//! Methods that identify the sender of a message.

use std::collections::HashMap;

use stickler::Revision;
use stickler_protocol::{Method, ProtocolSchemas, Side};

/// The sender of each method, where only one side may send it.
#[derive(Debug)]
pub struct Senders(HashMap<String, Option<Side>>);

impl Senders {
    /// Merges all revisions. A fixed revision takes precedence for the methods that it has.
    pub fn new(schemas: &ProtocolSchemas, fixed: Option<Revision>) -> Self {
        let mut senders = HashMap::new();
        for revision in Revision::ALL {
            for method in schemas.get(revision).methods() {
                let sender = only_sender(method);
                let known = senders.entry(method.name.clone()).or_insert(sender);
                if *known != sender {
                    *known = None;
                }
            }
        }
        for method in fixed.iter().flat_map(|fixed| schemas.get(*fixed).methods()) {
            senders.insert(method.name.clone(), only_sender(method));
        }
        Self(senders)
    }

    /// Returns the only side that may send a method; `None` if both may or the method is unknown.
    pub fn of(&self, method: &str) -> Option<Side> {
        self.0.get(method).copied().flatten()
    }
}

fn only_sender(method: &Method) -> Option<Side> {
    match (method.is_sent_by(Side::Client), method.is_sent_by(Side::Server)) {
        (true, false) => Some(Side::Client),
        (false, true) => Some(Side::Server),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Senders;
    use stickler::Revision;
    use stickler_protocol::{ProtocolSchemas, Side};

    #[test]
    fn method_of_one_side_identifies_the_sender() {
        let senders = Senders::new(&ProtocolSchemas::new(), None);
        assert_eq!(senders.of("tools/call"), Some(Side::Client));
        assert_eq!(senders.of("sampling/createMessage"), Some(Side::Server));
        assert_eq!(senders.of("ping"), None);
        assert_eq!(senders.of("notifications/cancelled"), None);
        assert_eq!(senders.of("vendor/own"), None);
    }

    #[test]
    fn fixed_revision_takes_precedence() {
        let senders = Senders::new(&ProtocolSchemas::new(), Some(Revision::V2026_07_28));
        assert_eq!(senders.of("notifications/progress"), Some(Side::Server));
        assert_eq!(senders.of("initialize"), Some(Side::Client));
    }
}
