//! The client on the standard input and output of the gateway.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout};
use std::time::Duration;

use super::inbox::Inbox;
use super::script::Step;
use super::template::{Bindings, bytes_of, fill, visible};

pub(crate) struct StdioClient {
    /// `None` once the client has closed it.
    input: Option<ChildStdin>,
    /// Lines; `None` at the end of the output.
    inbox: Inbox<Option<Vec<u8>>>,
}

impl StdioClient {
    pub(crate) fn new(input: ChildStdin, output: ChildStdout) -> Self {
        let inbox = Inbox::default();
        let lines = inbox.clone();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(output);
            let mut line = Vec::new();
            while reader.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                if line.ends_with(b"\n") {
                    line.pop();
                }
                lines.push(Some(std::mem::take(&mut line)));
            }
            lines.push(None);
        });
        Self { input: Some(input), inbox }
    }

    pub(crate) fn send(&mut self, step: &Step, bindings: &Bindings) -> Result<(), String> {
        if step.options.has("close") {
            self.close();
            return Ok(());
        }
        let mut bytes = bytes_of(&fill(&step.text, bindings)?);
        if step.options.has("hex") {
            bytes = unhex(&step.text).ok_or("not hexadecimal digits")?;
        }
        if !step.options.has("raw") {
            bytes.push(b'\n');
        }
        let input = self.input.as_mut().ok_or("the client has closed its input")?;
        input
            .write_all(&bytes)
            .and_then(|()| input.flush())
            .map_err(|error| format!("the gateway does not read: {error}"))
    }

    /// The next line; `None` for the end that the step expects, or where it expects an HTTP answer without body.
    pub(crate) fn receive(
        &self,
        step: &Step,
        deadline: Duration,
    ) -> Result<Option<String>, String> {
        let wants_end = step.options.has("end");
        if step.text.is_empty() && !wants_end {
            return Ok(None);
        }
        let next = self.inbox.take(deadline, |_| true);
        if next == Some(None) {
            // An end stays one.
            self.inbox.push(None);
        }
        match next {
            None => Err("nothing came".to_owned()),
            Some(None) if wants_end => Ok(None),
            Some(None) => Err("the gateway closed its output".to_owned()),
            Some(Some(line)) if wants_end => Err(format!("a message came: {}", visible(&line))),
            Some(Some(line)) => Ok(Some(visible(&line))),
        }
    }

    pub(crate) fn close(&mut self) {
        self.input = None;
    }

    pub(crate) fn rest(&self) -> Vec<String> {
        self.inbox.rest(|line| line.as_ref().map(|line| visible(line)))
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).ok()).collect()
}
