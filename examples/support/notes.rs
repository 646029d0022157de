//! A server built with rmcp's macros: notes that can be written, read and searched.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{Implementation, ServerCapabilities, ServerConfig};
use rmcp::{ServerHandler, schemars, tool, tool_handler, tool_router};

/// Notes by their path.
#[derive(Clone, Default)]
pub(crate) struct Notes {
    notes: Arc<Mutex<BTreeMap<String, String>>>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct WriteNote {
    /// Path of the note, such as `ideas/today`
    path: String,
    /// Text of the note
    content: String,
    /// What to do if the note already exists
    #[serde(default)]
    mode: Mode,
}

#[derive(Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Replace,
    Append,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct ReadNote {
    /// Path of the note
    path: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct SearchNotes {
    /// Words to search for
    query: String,
    /// Maximum number of notes to return
    #[serde(default = "default_limit")]
    limit: u8,
}

fn default_limit() -> u8 {
    10
}

impl Notes {
    /// Returns whether a note exists at the path.
    #[allow(dead_code, reason = "used by some examples only")]
    pub(crate) fn has(&self, path: &str) -> bool {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).contains_key(path)
    }
}

#[tool_router]
impl Notes {
    #[tool(description = "Writes a note")]
    fn write_note(&self, Parameters(note): Parameters<WriteNote>) -> String {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        let text = notes.entry(note.path.clone()).or_default();
        match note.mode {
            Mode::Replace => text.clone_from(&note.content),
            Mode::Append => text.push_str(&note.content),
        }
        format!("wrote {} characters to {}", note.content.chars().count(), note.path)
    }

    #[tool(description = "Reads a note")]
    fn read_note(&self, Parameters(note): Parameters<ReadNote>) -> Result<String, String> {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.get(&note.path).cloned().ok_or_else(|| format!("no note at {}", note.path))
    }

    #[tool(description = "Finds notes by their text")]
    fn search_notes(&self, Parameters(search): Parameters<SearchNotes>) -> String {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        let found = notes.iter().filter(|(_, text)| text.contains(&search.query));
        let paths: Vec<&str> =
            found.map(|(path, _)| path.as_str()).take(search.limit.into()).collect();
        format!("{} notes: {}", paths.len(), paths.join(", "))
    }
}

#[tool_handler]
impl ServerHandler for Notes {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("notes", "1.0.0"))
    }
}
