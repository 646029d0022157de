//! Sends exports with the HTTP client that the gateway uses for its servers.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use hyper::{HeaderMap, Uri};
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use stickler_transport::http::{Received, Upstream, receive};
use tokio::runtime::{Builder, Runtime};

/// Maximum size of a collector's response.
const MAX_RESPONSE_BYTES: usize = 1 << 20;

/// The client. The exporter's threads have no runtime, so it has one.
#[derive(Clone)]
pub(super) struct ExportClient {
    runtime: Arc<Runtime>,
    upstreams: Arc<Mutex<HashMap<Uri, Arc<Upstream>>>>,
}

impl ExportClient {
    pub(super) fn new() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        Ok(Self { runtime: Arc::new(runtime), upstreams: Arc::default() })
    }

    fn upstream(&self, uri: &Uri) -> io::Result<Arc<Upstream>> {
        let mut upstreams = self.upstreams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(upstream) = upstreams.get(uri) {
            return Ok(Arc::clone(upstream));
        }
        let upstream = Upstream::new(uri.clone(), HeaderMap::new())?;
        upstreams.insert(uri.clone(), Arc::clone(&upstream));
        Ok(upstream)
    }
}

impl std::fmt::Debug for ExportClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExportClient").finish_non_exhaustive()
    }
}

#[async_trait::async_trait]
impl HttpClient for ExportClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let upstream = {
            // Connections are tasks of the runtime.
            let _runtime = self.runtime.enter();
            self.upstream(&parts.uri)?
        };
        let exchange = async move {
            let sent = upstream.send(parts.method, parts.headers, body).await;
            let (response, lease) = sent.map_err(|error| error.to_string())?;
            let (parts, body) = response.into_parts();
            match receive(body, MAX_RESPONSE_BYTES).await {
                Received::Whole(bytes) => {
                    lease.release();
                    Ok(Response::from_parts(parts, bytes))
                }
                _ => Err("the response is too large or incomplete".to_owned()),
            }
        };
        Ok(self.runtime.spawn(exchange).await??)
    }
}
