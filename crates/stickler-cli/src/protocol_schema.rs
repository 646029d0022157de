//! Which revision a session speaks, and by which schemas its messages are read: options that
//! several commands share.

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

/// Larger than any schema of the protocol; the core refuses more in any case.
const LARGEST_FILE: usize = 16 << 20;

/// How long a schema may take to come.
const LONGEST_FETCH: Duration = Duration::from_secs(30);

#[derive(Debug, Args)]
pub(crate) struct ProtocolOptions {
    /// Read all messages by this revision, whatever they say themselves
    #[arg(long, value_name = "REVISION")]
    pub(crate) revision: Option<Revision>,

    /// Read a revision by an official schema file in place of the built-in definitions: a path or
    /// a URL, loaded once at start-up; can be given once for each revision
    #[arg(long, value_name = "REVISION=FILE")]
    pub(crate) protocol_schema: Vec<SchemaSource>,
}

/// A revision, and where its schema is.
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
    /// The schemas of all revisions.
    pub(crate) fn schemas(&self) -> Result<ProtocolSchemas, Failure> {
        load(&self.protocol_schema)
    }
}

/// The schemas of all revisions, some of them replaced. What was named and cannot be used is a
/// reason not to start.
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
    /// As a file names it: paths are relative to its folder.
    pub(crate) fn new(revision: &str, location: &str, folder: &Path) -> Result<Self, String> {
        let revision = revision.parse().map_err(|error| format!("{error}"))?;
        let mut source = Self { revision, location: location.to_owned() };
        if let Place::File(path) = source.place() {
            source.location = folder.join(path).to_string_lossy().into_owned();
        }
        Ok(source)
    }

    fn load(&self) -> Result<SchemaValidator, String> {
        let text = match self.place() {
            Place::File(path) => read(path).map_err(|error| error.to_string())?,
            Place::Url(url) => fetch(url, READ, LONGEST_FETCH)?,
        };
        let schema = serde_json::from_slice(&text).map_err(|error| format!("not JSON: {error}"))?;
        SchemaValidator::from_schema(self.revision, &schema).map_err(|error| error.to_string())
    }

    fn place(&self) -> Place<'_> {
        match self.location.split_once("://") {
            Some(("http" | "https", _)) => Place::Url(&self.location),
            Some(("file", path)) => Place::File(Path::new(path)),
            _ => Place::File(Path::new(&self.location)),
        }
    }
}

/// Where a schema is.
#[derive(Debug, PartialEq, Eq)]
enum Place<'s> {
    File(&'s Path),
    Url(&'s str),
}

/// One byte more than the core takes, so that it is the core that refuses a larger one.
const READ: usize = LARGEST_FILE + 1;

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?.take(READ as u64).read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::{Place, SchemaSource};
    use std::path::Path;

    #[test]
    fn a_source_is_a_revision_and_a_place() {
        for (text, path) in
            [("2025-11-25=a/b.json", "a/b.json"), ("2025-11-25=file:///a=b.json", "/a=b.json")]
        {
            let source: SchemaSource = text.parse().unwrap();
            assert_eq!(source.place(), Place::File(Path::new(path)));
        }
        let remote: SchemaSource = "2025-11-25=https://example.com/schema.json".parse().unwrap();
        assert_eq!(remote.place(), Place::Url("https://example.com/schema.json"));
        for text in ["", "schema.json", "2025-11-25=", "latest=schema.json"] {
            assert!(text.parse::<SchemaSource>().is_err(), "{text}");
        }
    }
}
