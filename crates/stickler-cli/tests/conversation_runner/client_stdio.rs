//! The stdio client of a conversation: uses the standard input and output of the gateway.

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
        let input = self.input.as_mut().ok_or("the client has closed its output")?;
        input
            .write_all(&bytes)
            .and_then(|()| input.flush())
            .map_err(|error| format!("the gateway does not read: {error}"))
    }

    /// Returns the next line; `None` if the step expects the end of the output or an HTTP response without a body.
    pub(crate) fn receive(
        &self,
        step: &Step,
        deadline: Duration,
    ) -> Result<Option<String>, String> {
        let expects_end = step.options.has("end");
        if step.text.is_empty() && !expects_end {
            return Ok(None);
        }
        let next = self.inbox.take(deadline, |_| true);
        if next == Some(None) {
            // Keep the end for later steps.
            self.inbox.push(None);
        }
        match next {
            None => Err("nothing was received".to_owned()),
            Some(None) if expects_end => Ok(None),
            Some(None) => Err("the gateway closed its output".to_owned()),
            Some(Some(line)) if expects_end => {
                Err(format!("received a message: {}", visible(&line)))
            }
            Some(Some(line)) => Ok(Some(visible(&line))),
        }
    }

    pub(crate) fn close(&mut self) {
        self.input = None;
    }

    /// Returns the lines that no step has consumed.
    pub(crate) fn unconsumed(&self) -> Vec<String> {
        self.inbox.unconsumed(|line| line.as_ref().map(|line| visible(line)))
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).ok()).collect()
}
