//! Options that select the protocol revision and its schemas, shared by several commands.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use stickler::Revision;
use stickler_protocol::{ProtocolSchemas, SchemaValidator};
use stickler_transport::http::fetch;

use crate::exit::Failure;

/// Size limit for a schema, above any schema of the protocol. The core has the same limit.
const MAX_SCHEMA_BYTES: usize = 16 << 20;

/// Maximum time to fetch a schema from a URL.
const FETCH_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug, Args)]
pub(crate) struct ProtocolOptions {
    /// Revision to validate all messages against [default: the revision of each session]
    #[arg(long, value_name = "REVISION")]
    pub(crate) revision: Option<Revision>,

    /// Official schema file, a path or URL, that replaces the built-in definitions of a revision. Loaded
    /// once at startup; can be given once per revision
    #[arg(long, value_name = "REVISION=FILE")]
    pub(crate) protocol_schema: Vec<SchemaSource>,
}

/// A revision and the path or URL of its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SchemaSource {
    revision: Revision,
    location: String,
}

impl FromStr for SchemaSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((revision, location)) = text.split_once('=').filter(|(_, to)| !to.is_empty())
        else {
            return Err("expected REVISION=FILE, such as 2025-11-25=schema.json".to_owned());
        };
        let revision = revision.parse().map_err(|error| format!("{error}"))?;
        Ok(Self { revision, location: location.to_owned() })
    }
}

impl ProtocolOptions {
    /// Loads the schemas of all revisions.
    pub(crate) fn schemas(&self) -> Result<ProtocolSchemas, Failure> {
        load(&self.protocol_schema)
    }
}

/// Loads the schemas of all revisions, with the given ones replaced. A schema that cannot be loaded is
/// an error.
pub(crate) fn load(sources: &[SchemaSource]) -> Result<ProtocolSchemas, Failure> {
    sources.iter().try_fold(ProtocolSchemas::new(), |schemas, source| {
        let validator = source.load().map_err(|reason| {
            let SchemaSource { revision, location } = source;
            let message = format!("cannot use the schema of {revision} in `{location}`");
            Failure::Usage(format!("{message}: {reason}"))
        })?;
        Ok(schemas.with(validator))
    })
}

impl SchemaSource {
    /// Creates a source from a configuration file; a relative path is relative to `folder`.
    pub(crate) fn new(revision: &str, location: &str, folder: &Path) -> Result<Self, String> {
        let revision = revision.parse().map_err(|error| format!("{error}"))?;
        let mut source = Self { revision, location: location.to_owned() };
        if let Location::File(path) = source.parse_location() {
            source.location = folder.join(path).to_string_lossy().into_owned();
        }
        Ok(source)
    }

    fn load(&self) -> Result<SchemaValidator, String> {
        let text = match self.parse_location() {
            Location::File(path) => read(path).map_err(|error| error.to_string())?,
            Location::Url(url) => fetch(url, READ_LIMIT, FETCH_TIMEOUT)?,
        };
        let schema = serde_json::from_slice(&text).map_err(|error| format!("not JSON: {error}"))?;
        SchemaValidator::from_schema(self.revision, &schema).map_err(|error| error.to_string())
    }

    fn parse_location(&self) -> Location<'_> {
        match self.location.split_once("://") {
            Some(("http" | "https", _)) => Location::Url(&self.location),
            Some(("file", path)) => Location::File(Path::new(path)),
            _ => Location::File(Path::new(&self.location)),
        }
    }
}

/// Parsed location of a schema.
#[derive(Debug, PartialEq, Eq)]
enum Location<'s> {
    File(&'s Path),
    Url(&'s str),
}

/// One byte above the limit, so that the core rejects a schema that is too large.
const READ_LIMIT: usize = MAX_SCHEMA_BYTES + 1;

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?.take(READ_LIMIT as u64).read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::{Location, SchemaSource};
    use std::path::Path;

    #[test]
    fn source_is_parsed_as_revision_and_location() {
        for (text, path) in
            [("2025-11-25=a/b.json", "a/b.json"), ("2025-11-25=file:///a=b.json", "/a=b.json")]
        {
            let source: SchemaSource = text.parse().unwrap();
            assert_eq!(source.parse_location(), Location::File(Path::new(path)));
        }
        let remote: SchemaSource = "2025-11-25=https://example.com/schema.json".parse().unwrap();
        assert_eq!(remote.parse_location(), Location::Url("https://example.com/schema.json"));
        for text in ["", "schema.json", "2025-11-25=", "latest=schema.json"] {
            assert!(text.parse::<SchemaSource>().is_err(), "{text}");
        }
    }
}
