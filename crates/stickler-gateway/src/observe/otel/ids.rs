//! The ids of spans: random, unless the forwarded request already names one of them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use opentelemetry::{SpanId, TraceId};
use opentelemetry_sdk::trace::{IdGenerator, RandomIdGenerator};

use crate::observe::SpanIds;

/// Generates ids. The spans of a request are built one after the other by one thread, which plans their ids before.
#[derive(Debug, Clone, Default)]
pub(super) struct PlannedIds(Arc<Mutex<Planned>>);

#[derive(Debug, Default)]
struct Planned {
    trace: Option<TraceId>,
    spans: VecDeque<SpanId>,
}

impl PlannedIds {
    fn planned(&self) -> MutexGuard<'_, Planned> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the ids of the next spans: towards the client, then towards the server. `None` for random ids.
    pub(super) fn plan(&self, ids: Option<SpanIds>) {
        let mut planned = self.planned();
        planned.trace = ids.map(|ids| TraceId::from(ids.trace));
        planned.spans =
            ids.into_iter().flat_map(|ids| [ids.server, ids.client]).map(SpanId::from).collect();
    }
}

impl IdGenerator for PlannedIds {
    fn new_trace_id(&self) -> TraceId {
        let planned = self.planned().trace.take();
        planned.unwrap_or_else(|| RandomIdGenerator::default().new_trace_id())
    }

    fn new_span_id(&self) -> SpanId {
        let planned = self.planned().spans.pop_front();
        planned.unwrap_or_else(|| RandomIdGenerator::default().new_span_id())
    }
}
