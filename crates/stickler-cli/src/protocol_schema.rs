//! Which revision a session speaks, and by which schemas its messages are read: options that
//! several commands share.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::str::FromStr;

use clap::Args;
use stickler::{ProtocolSchemas, Revision, SchemaValidator};

use crate::exit::Failure;

/// Larger than any schema of the protocol; the core refuses more in any case.
const LARGEST_FILE: u64 = 16 << 20;

#[derive(Debug, Args)]
pub(crate) struct ProtocolOptions {
    /// Read all messages by this revision, whatever they say themselves
    #[arg(long, value_name = "REVISION")]
    pub(crate) revision: Option<Revision>,

    /// Read a revision by an official schema file in place of the built-in definitions; can be
    /// given once for each revision
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
    /// The schemas of all revisions. What was named and cannot be used is a reason not to start.
    pub(crate) fn schemas(&self) -> Result<ProtocolSchemas, Failure> {
        self.protocol_schema.iter().try_fold(ProtocolSchemas::new(), |schemas, source| {
            let validator = source.load().map_err(|reason| {
                let SchemaSource { revision, location } = source;
                let message = format!("cannot use the schema of {revision} in `{location}`");
                Failure::Usage(format!("{message}: {reason}"))
            })?;
            Ok(schemas.with(validator))
        })
    }
}

impl SchemaSource {
    fn load(&self) -> Result<SchemaValidator, String> {
        let text = read(self.path()?).map_err(|error| error.to_string())?;
        let schema = serde_json::from_slice(&text).map_err(|error| format!("not JSON: {error}"))?;
        SchemaValidator::from_schema(self.revision, &schema).map_err(|error| error.to_string())
    }

    fn path(&self) -> Result<&Path, String> {
        match self.location.split_once("://") {
            Some(("http" | "https", _)) => {
                Err("cannot fetch it; download the file and give its path".to_owned())
            }
            Some(("file", path)) => Ok(Path::new(path)),
            _ => Ok(Path::new(&self.location)),
        }
    }
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    // One byte more than the core takes, so that it is the core that refuses a larger one.
    File::open(path)?.take(LARGEST_FILE + 1).read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::SchemaSource;
    use std::path::Path;

    #[test]
    fn a_source_is_a_revision_and_a_place() {
        for (text, path) in
            [("2025-11-25=a/b.json", "a/b.json"), ("2025-11-25=file:///a=b.json", "/a=b.json")]
        {
            let source: SchemaSource = text.parse().unwrap();
            assert_eq!(source.path(), Ok(Path::new(path)));
        }
        let remote: SchemaSource = "2025-11-25=https://example.com/schema.json".parse().unwrap();
        assert!(remote.path().unwrap_err().starts_with("cannot fetch"));
        for text in ["", "schema.json", "2025-11-25=", "latest=schema.json"] {
            assert!(text.parse::<SchemaSource>().is_err(), "{text}");
        }
    }
}
