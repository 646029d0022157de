//! Traces and metrics by OpenTelemetry, exported over OTLP (HTTP with protobuf).
//!
//! Spans, attributes and metrics follow the conventions for MCP: a SERVER span for each request of a client, and within
//! it a CLIENT span for the request to the server, if it was forwarded. `params._meta.traceparent` is the parent. A
//! thread behind a bounded queue builds them when a request is answered, and the exporter has a thread and a queue of
//! its own, so a collector that does not answer delays no message.
//!
//! | module | contents |
//! | --- | --- |
//! | `spans` | the spans and durations of a request |
//! | `http_client` | sends exports with the gateway's HTTP client |

mod http_client;
mod spans;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{
    MetricExporter, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::warn;

use super::queue::{Queue, Weighed, Worker};
use super::{Consumer, MessageEvent, Session};
use http_client::ExportClient;
use spans::Spans;

/// The transport of the clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Downstream {
    /// Standard input and output.
    Pipe,
    /// HTTP.
    Tcp,
}

/// Exports traces and metrics.
#[derive(Debug)]
pub struct Telemetry {
    queue: Queue<Item>,
}

#[derive(Debug)]
enum Item {
    Message(Arc<MessageEvent>),
    Ended(Arc<Session>),
}

impl Weighed for Item {
    fn size(&self) -> usize {
        match self {
            Self::Message(event) => event.message.as_ref().map_or(0, bytes::Bytes::len),
            Self::Ended(_) => 0,
        }
    }

    fn is_essential(&self) -> bool {
        matches!(self, Self::Ended(_))
    }
}

impl Telemetry {
    /// Starts the exports to a collector. Without an endpoint, the variables of OpenTelemetry apply
    /// (`OTEL_EXPORTER_OTLP_ENDPOINT` and others).
    pub fn start(endpoint: Option<&str>, downstream: Downstream) -> Result<Arc<Self>, String> {
        let client = ExportClient::new().map_err(|error| error.to_string())?;
        let at = |path: &str| endpoint.map(|base| format!("{}{path}", base.trim_end_matches('/')));
        let mut span_exporter =
            SpanExporter::builder().with_http().with_http_client(client.clone());
        let mut metric_exporter = MetricExporter::builder().with_http().with_http_client(client);
        if let (Some(for_traces), Some(for_metrics)) = (at("/v1/traces"), at("/v1/metrics")) {
            span_exporter = span_exporter.with_endpoint(for_traces);
            metric_exporter = metric_exporter.with_endpoint(for_metrics);
        }
        let resource = Resource::builder().with_service_name("stickler").build();
        let tracers = SdkTracerProvider::builder()
            .with_batch_exporter(span_exporter.build().map_err(|error| error.to_string())?)
            .with_resource(resource.clone())
            .build();
        let meters = SdkMeterProvider::builder()
            .with_periodic_exporter(metric_exporter.build().map_err(|error| error.to_string())?)
            .with_resource(resource)
            .build();
        let spans = Spans::new(tracers.tracer("stickler"), &meters.meter("stickler"), downstream);
        let exporter = Exporter { spans, tracers, meters, dropped: 0 };
        let queue = Queue::start("telemetry", exporter).map_err(|error| error.to_string())?;
        Ok(Arc::new(Self { queue }))
    }

    /// Returns the number of events that were not exported because the thread was too slow.
    pub fn dropped(&self) -> u64 {
        self.queue.dropped()
    }
}

impl Consumer for Telemetry {
    fn reads_messages(&self) -> bool {
        true
    }

    fn message(&self, event: &Arc<MessageEvent>) {
        self.queue.push(Item::Message(Arc::clone(event)));
    }

    fn session_ended(&self, session: &Arc<Session>) {
        self.queue.push(Item::Ended(Arc::clone(session)));
    }

    fn finish(&self) {
        self.queue.finish();
    }
}

/// The work of the thread.
struct Exporter {
    spans: Spans,
    tracers: SdkTracerProvider,
    meters: SdkMeterProvider,
    dropped: u64,
}

/// Maximum time to export what is left at the exit of the process.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

impl Worker<Item> for Exporter {
    fn handle(&mut self, items: VecDeque<Item>, dropped: u64) {
        if dropped > self.dropped {
            warn!("telemetry is too slow: {} messages are not exported", dropped - self.dropped);
            self.dropped = dropped;
        }
        for item in items {
            match item {
                Item::Message(event) => self.spans.message(&event),
                Item::Ended(session) => self.spans.session_ended(&session),
            }
        }
    }

    fn finish(&mut self, _: u64) {
        self.spans.finish();
        let traces = self.tracers.shutdown_with_timeout(SHUTDOWN_TIMEOUT);
        let metrics = self.meters.shutdown_with_timeout(SHUTDOWN_TIMEOUT);
        for failure in [traces.err(), metrics.err()].into_iter().flatten() {
            warn!("telemetry is not exported completely: {failure}");
        }
    }
}
