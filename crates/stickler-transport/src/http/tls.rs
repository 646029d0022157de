//! TLS configuration: trusts the built-in Mozilla root certificates and those in `SSL_CERT_FILE`.

use std::io;
use std::sync::Arc;

use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

/// The environment variable that names a PEM file with additional root certificates.
const CERT_FILE_VARIABLE: &str = "SSL_CERT_FILE";

/// Creates a connector for HTTP and HTTPS.
pub(super) fn connector() -> io::Result<HttpsConnector<HttpConnector>> {
    let mut tcp = HttpConnector::new();
    tcp.set_nodelay(true);
    tcp.enforce_http(false);
    let builder = HttpsConnectorBuilder::new();
    let builder = match std::env::var_os(CERT_FILE_VARIABLE).filter(|file| !file.is_empty()) {
        None => builder.with_webpki_roots(),
        Some(file) => {
            let bad = |reason: String| {
                let file = file.to_string_lossy();
                let reason = format!("the certificates of `{CERT_FILE_VARIABLE}={file}`: {reason}");
                io::Error::new(io::ErrorKind::InvalidInput, reason)
            };
            let mut roots = RootCertStore::empty();
            roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
            let found = CertificateDer::pem_file_iter(&file).map_err(|one| bad(one.to_string()))?;
            // A bundle may contain certificates in unsupported formats; they are skipped.
            let (added, _) = roots.add_parsable_certificates(found.flatten());
            if added == 0 {
                return Err(bad("the file contains no valid certificate".to_owned()));
            }
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let config = ClientConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .map_err(|one| bad(one.to_string()))?;
            let config = config.with_root_certificates(roots);
            builder.with_tls_config(config.with_no_client_auth())
        }
    };
    Ok(builder.https_or_http().enable_http1().wrap_connector(tcp))
}
