//! `[ui]`: the page over recordings that a listening gateway serves.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::folder::Folder;
use crate::support::http::{call, initialize, request, scripted_server};
use crate::support::stdio::wait_until;

/// A gateway with the addresses that it announced.
struct Gateway {
    child: Child,
    port: u16,
    /// Port and token of the page.
    page: Option<(u16, String)>,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}

fn config(folder: &Folder, settings: &str, table: &str) -> String {
    let server = scripted_server();
    let server = server.to_str().unwrap();
    let text = format!("{settings}\n[ui]\n{table}\n[servers.s]\ncommand = {server:?}\n");
    folder.file("stickler.toml", &text)
}

fn command(file: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stickler"));
    command.args(["run", "--grace", "1", "--listen", "127.0.0.1:0", "--config", file]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

impl Gateway {
    /// Starts a gateway and reads its log until it listens.
    fn start(file: &str) -> Self {
        let mut child = command(file).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut page = None;
        let port = log.by_ref().find_map(|line| {
            let line = line.unwrap();
            if let Some((_, rest)) =
                line.split_once("page over the recordings at http://127.0.0.1:")
            {
                let (port, token) = rest.trim().split_once("/?token=").unwrap();
                page = Some((port.parse().unwrap(), token.to_owned()));
            }
            let (_, rest) = line.split_once("listening on http://127.0.0.1:")?;
            rest.split('/').next()?.parse().ok()
        });
        // Keeps the pipe open and empty.
        std::thread::spawn(move || log.for_each(drop));
        Self { child, port: port.unwrap(), page }
    }
}

fn get(port: u16, path: &str, headers: &[(&str, &str)]) -> (u16, String) {
    let response = request(port, "GET", path, headers, "").finish();
    (response.status, response.text())
}

#[test]
fn page_of_a_gateway_shows_what_it_records_to_the_owner_of_the_token() {
    let folder = Folder::new();
    let file =
        config(&folder, &format!("record = {:?}", folder.path("r")), "listen = \"127.0.0.1:0\"");
    let gateway = Gateway::start(&file);
    let (port, token) = gateway.page.clone().unwrap();
    let session = request(gateway.port, "POST", "/mcp", &[], &initialize()).finish();
    let session = session.header("mcp-session-id").unwrap().to_owned();
    let headers = [("mcp-session-id", session.as_str())];
    request(gateway.port, "POST", "/mcp", &headers, &call(1, "echo", &json!({ "txt": "x" })))
        .finish();
    let host = format!("127.0.0.1:{port}");
    let own = [("host", host.as_str())];
    let rows = format!("/api/rows?token={token}");
    wait_until("the rejected call is on the page", || get(port, &rows, &own).1.contains("STK-107"));
    let start: Value =
        serde_json::from_str(&get(port, &format!("/api/start?token={token}"), &own).1).unwrap();
    assert_eq!(start["servers"], json!(["s"]), "calls can be sent to the servers of the file");
    let foreign_origin = [own[0], ("origin", "http://evil.example")];
    let foreign_host = [("host", "evil.example")];
    for (path, headers) in [
        ("/api/rows", &own[..]),
        ("/", &own),
        ("/api/rows?token=0", &own),
        (rows.as_str(), &foreign_host),
        (rows.as_str(), &foreign_origin),
    ] {
        let (status, text) = get(port, path, headers);
        assert_eq!(status, 403, "{path} {headers:?}: {text}");
    }
    // The page has a listener of its own: what clients reach does not serve it.
    assert_eq!(get(gateway.port, &rows, &[]).0, 404);
}

/// Starts a gateway that cannot run, and returns its exit code and log.
fn failure(file: &str) -> (i32, String) {
    let output = command(file).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn page_is_off_by_default_and_never_reachable_from_other_machines() {
    let folder = Folder::new();
    let record = format!("record = {:?}", folder.path("r"));
    assert_eq!(Gateway::start(&config(&folder, &record, "")).page, None);
    let (status, log) = failure(&config(&folder, &record, "listen = \"0.0.0.0:0\""));
    assert_eq!(status, 2, "{log}");
    assert!(log.contains("can be reached from other machines"), "{log}");
    let (status, log) = failure(&config(&folder, "", "listen = \"127.0.0.1:0\""));
    assert_eq!(status, 2, "{log}");
    assert!(log.contains("there are no recordings to show"), "{log}");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let (status, log) = failure(&config(&folder, &record, &format!("listen = \"{address}\"")));
    assert_eq!(status, 3, "{log}");
    assert!(log.contains("the port is in use"), "{log}");
}

#[test]
fn page_needs_a_gateway_that_listens() {
    let folder = Folder::new();
    let record = format!("record = {:?}", folder.path("r"));
    let file = config(&folder, &record, "listen = \"127.0.0.1:0\"");
    let output = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["run", "--config", &file])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(log.contains("`ui.listen` is ignored because there is no `listen`"), "{log}");
}
