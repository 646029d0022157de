//! Traces and metrics by OpenTelemetry, exported over OTLP (HTTP with protobuf).
//!
//! Spans, attributes and metrics follow the conventions for MCP: a SERVER span for each request of a client, and within
//! it a CLIENT span for the request to the server, if it was forwarded. `params._meta.traceparent` is the parent, and
//! the context of the HTTP request a link; without the former, the latter is the parent. A thread behind a bounded queue builds them when a request is answered, and the exporter has a thread and a queue of
//! its own, so a collector that does not answer delays no message.
//!
//! | module | contents |
//! | --- | --- |
//! | `spans` | the spans and durations of a request |
//! | `ids` | the ids of spans |
//! | `http_client` | sends exports with the gateway's HTTP client |

mod http_client;
mod ids;
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

use super::QueuedConsumer;
use super::queue::{Item, Worker};
use http_client::ExportClient;
use ids::PlannedIds;
use spans::Spans;

/// The transport of the clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Downstream {
    /// Standard input and output.
    Pipe,
    /// HTTP.
    Tcp,
}

/// What to export, and where to.
#[derive(Debug, Clone)]
pub struct OtelSettings {
    /// The base URL of the collector. Without it, the variables of OpenTelemetry apply (`OTEL_EXPORTER_OTLP_ENDPOINT` and
    /// others).
    pub endpoint: Option<String>,
    /// The transport of the clients.
    pub downstream: Downstream,
    /// Whether each forwarded request names its span in `params._meta.traceparent`.
    pub inject_context: bool,
}

/// Starts the exports to a collector.
pub fn start(settings: &OtelSettings) -> Result<Arc<QueuedConsumer>, String> {
    let client = ExportClient::new().map_err(|error| error.to_string())?;
    let endpoint = settings.endpoint.as_deref();
    let at = |path: &str| endpoint.map(|base| format!("{}{path}", base.trim_end_matches('/')));
    let mut span_exporter = SpanExporter::builder().with_http().with_http_client(client.clone());
    let mut metric_exporter = MetricExporter::builder().with_http().with_http_client(client);
    if let (Some(for_traces), Some(for_metrics)) = (at("/v1/traces"), at("/v1/metrics")) {
        span_exporter = span_exporter.with_endpoint(for_traces);
        metric_exporter = metric_exporter.with_endpoint(for_metrics);
    }
    let resource = Resource::builder().with_service_name("stickler").build();
    let ids = PlannedIds::default();
    let tracers = SdkTracerProvider::builder()
        .with_id_generator(ids.clone())
        .with_batch_exporter(span_exporter.build().map_err(|error| error.to_string())?)
        .with_resource(resource.clone())
        .build();
    let meters = SdkMeterProvider::builder()
        .with_periodic_exporter(metric_exporter.build().map_err(|error| error.to_string())?)
        .with_resource(resource)
        .build();
    let spans =
        Spans::new(tracers.tracer("stickler"), &meters.meter("stickler"), settings.downstream)
            .with_ids(ids);
    let exporter = Exporter { spans, tracers, meters, injects_context: settings.inject_context };
    QueuedConsumer::start("telemetry", exporter).map_err(|error| error.to_string())
}

/// The work of the thread.
struct Exporter {
    spans: Spans,
    tracers: SdkTracerProvider,
    meters: SdkMeterProvider,
    injects_context: bool,
}

/// Maximum time to export what is left at the exit of the process.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

impl Worker<Item> for Exporter {
    fn injects_context(&self) -> bool {
        self.injects_context
    }

    fn handle(&mut self, items: VecDeque<Item>, _: u64) {
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
