//! The tool definitions of a session, read from the recorded `tools/list` responses.

use std::sync::{Arc, Mutex, PoisonError};

use stickler::{McpValidator, ToolList};

use crate::files::Text;
use crate::index::row::Place;
use crate::library::Library;
use crate::record::Line;
use crate::verdict::new_validator;

/// Name under which a validator knows the server.
pub(crate) const SERVER: &str = "server";
/// Number of sessions whose definitions are kept.
const MAX_KEPT: usize = 8;
/// Longest record that is read.
pub(crate) const MAX_RECORD_BYTES: usize = 100 << 20;

/// Validators with the tools of the sessions that were looked at last.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    kept: Mutex<Vec<Kept>>,
}

#[derive(Debug)]
struct Kept {
    session: usize,
    lists: Vec<Place>,
    validator: Arc<McpValidator>,
}

impl Definitions {
    /// Returns a validator with the tools of a session; `None` if it has no readable tool list.
    pub(crate) fn of(&self, library: &Library, session: usize) -> Option<Arc<McpValidator>> {
        let lists: Vec<Place> =
            library.read().all.get(session)?.lists.iter().map(|(place, _)| *place).collect();
        if lists.is_empty() {
            return None;
        }
        let is_it = |kept: &&Kept| kept.session == session && kept.lists == lists;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept.iter().find(is_it) {
            return Some(Arc::clone(&found.validator));
        }
        let validator = Arc::new(load(library, session, &lists)?);
        kept.retain(|one| one.session != session);
        kept.truncate(MAX_KEPT - 1);
        kept.insert(0, Kept { session, lists, validator: Arc::clone(&validator) });
        Some(validator)
    }
}

fn load(library: &Library, session: usize, lists: &[Place]) -> Option<McpValidator> {
    let validator = new_validator();
    let mut tools = Vec::new();
    for place in lists {
        let record = record(library, session, *place)?;
        let Line::Message(message) = Line::read(&record) else { continue };
        if let Ok(list) = ToolList::read(&message.text, &validator.config().limits) {
            tools.extend(list.tools);
        }
    }
    if tools.is_empty() {
        return None;
    }
    validator.cache().populate(SERVER, &tools);
    Some(validator)
}

/// Reads the record at a place; `None` if it cannot be read any more.
pub(crate) fn record(library: &Library, session: usize, place: Place) -> Option<Vec<u8>> {
    let path = {
        let sessions = library.read();
        let segment = sessions.all.get(session)?.segments.get(place.segment())?;
        segment.path.clone()
    };
    Text::line_at(&path, place.offset(), MAX_RECORD_BYTES).ok()
}
