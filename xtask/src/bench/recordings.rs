//! Generates the recorded sessions for the audit benchmark; all traffic is valid.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::messages;
use crate::paths;

pub(super) struct Recording {
    pub(super) name: String,
    pub(super) files: Vec<PathBuf>,
    pub(super) bytes: u64,
}

const REVISION: &str = "2025-11-25";

/// The approximate total size of all files of a recording.
const TOTAL_BYTES: usize = 96 << 20;

/// The sizes of calls and results in a recording.
struct Traffic {
    name: &'static str,
    edits: usize,
    text: usize,
}

const TRAFFIC: [Traffic; 3] = [
    Traffic { name: "400 B calls", edits: 2, text: 300 },
    Traffic { name: "4 KB calls", edits: 40, text: 4 << 10 },
    Traffic { name: "64 KB results", edits: 2, text: 64 << 10 },
];

/// Returns each kind of traffic as raw messages and as records, in one file and in several per core.
/// The files are written when the iterator reaches them and removed when the recording is dropped.
pub(super) fn all(cores: usize) -> impl Iterator<Item = Result<Recording, String>> {
    let kinds = TRAFFIC.iter().flat_map(move |traffic| {
        let forms = [(true, 1), (true, cores * 4), (false, 1), (false, cores * 4)];
        forms.into_iter().map(move |(is_raw, files)| (traffic, is_raw, files))
    });
    kinds.map(|(traffic, is_raw, files)| {
        let folder = paths::root().join("target/bench");
        std::fs::create_dir_all(&folder)
            .and_then(|()| record(&folder, traffic, is_raw, files))
            .map_err(|error| format!("{}: {error}", folder.display()))
    })
}

impl Drop for Recording {
    fn drop(&mut self) {
        for file in &self.files {
            // A leftover file is overwritten by the next run.
            let _ = std::fs::remove_file(file);
        }
    }
}

fn record(
    folder: &Path,
    traffic: &Traffic,
    is_raw: bool,
    files: usize,
) -> std::io::Result<Recording> {
    let form = if is_raw { "raw" } else { "records" };
    let name = format!("{}, {form}, {files}", traffic.name);
    let paths: Vec<PathBuf> = (0..files)
        .map(|index| folder.join(format!("{name} {index}.ndjson").replace([' ', ','], "-")))
        .collect();
    let mut bytes = 0;
    for path in &paths {
        let mut file = BufWriter::new(File::create(path)?);
        write_session(&mut file, traffic, is_raw, TOTAL_BYTES / files)?;
        bytes += file.into_inner()?.metadata()?.len();
    }
    Ok(Recording {
        name: format!("{name} file{}", if files == 1 { "" } else { "s" }),
        files: paths,
        bytes,
    })
}

fn write_session(
    file: &mut impl Write,
    traffic: &Traffic,
    is_raw: bool,
    bytes: usize,
) -> std::io::Result<()> {
    let mut written = 0;
    let mut write = |direction: &str, message: &Value| {
        let message = message.to_string();
        let line = if is_raw {
            message
        } else {
            json!({ "dir": direction, "msg": message, "t": 1.5 }).to_string()
        };
        written += line.len() + 1;
        writeln!(file, "{line}").map(|()| written)
    };
    let peer = json!({ "name": "bench", "version": "1" });
    let ask = json!({ "protocolVersion": REVISION, "capabilities": {}, "clientInfo": peer });
    let answer =
        json!({ "protocolVersion": REVISION, "capabilities": { "tools": {} }, "serverInfo": peer });
    let tool = json!({ "name": "edit_file", "inputSchema": messages::tool_schema() });
    write("c2s", &request(0, "initialize", &ask))?;
    write("s2c", &response(0, &answer))?;
    write("c2s", &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
    write("c2s", &request(1, "tools/list", &json!({})))?;
    write("s2c", &response(1, &json!({ "tools": [tool] })))?;
    let call = messages::call_params(traffic.edits);
    let text = messages::filler(traffic.text);
    let result = json!({ "content": [{ "type": "text", "text": text }], "isError": false });
    for id in 2.. {
        write("c2s", &request(id, "tools/call", &call))?;
        if write("s2c", &response(id, &result))? > bytes {
            break;
        }
    }
    file.flush()
}

fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn response(id: u64, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}
