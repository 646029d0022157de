//! The server as a command: each process is a relay that connects to a socket of the runner.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::inbox::Inbox;
use super::script::{Actor, Step};
use super::template::{Bindings, bytes_of, fill, matches, visible};

pub(crate) struct Processes {
    inbox: Inbox<(usize, Came)>,
    shared: Arc<Shared>,
    /// How many of them the script speaks of.
    expected: usize,
}

/// What the threads that read need.
struct Shared {
    sockets: Mutex<Vec<UnixStream>>,
    /// Processes that end only when the script says so.
    kept: Vec<usize>,
    is_over: AtomicBool,
}

#[derive(PartialEq)]
enum Came {
    Start,
    Line(Vec<u8>),
    End,
}

impl Processes {
    pub(crate) fn listen(path: &Path, steps: &[Step]) -> Self {
        let listener = UnixListener::bind(path).unwrap();
        let of_servers = || {
            steps
                .iter()
                .filter(|step| matches!(step.actor, Actor::ServerReceives | Actor::ServerSends))
        };
        let kept = of_servers()
            .filter(|step| step.actor == Actor::ServerReceives && step.options.has("end"));
        let kept = kept.map(|step| step.server).collect();
        let shared = Shared { sockets: Mutex::default(), kept, is_over: AtomicBool::new(false) };
        let (inbox, shared) = (Inbox::default(), Arc::new(shared));
        let (events, state) = (inbox.clone(), Arc::clone(&shared));
        std::thread::spawn(move || {
            for (number, socket) in (1..).zip(listener.incoming().map_while(Result::ok)) {
                state.sockets.lock().unwrap().push(socket.try_clone().unwrap());
                events.push((number, Came::Start));
                let (events, state) = (events.clone(), Arc::clone(&state));
                std::thread::spawn(move || state.read(number, socket, &events));
            }
        });
        let expected = of_servers().map(|step| step.server).max().unwrap_or(1);
        Self { inbox, shared, expected }
    }

    /// The next line for a process; `None` for its start or the end of its input, if the step expects that.
    pub(crate) fn receive(
        &self,
        step: &Step,
        bindings: &Bindings,
        deadline: Duration,
    ) -> Result<Option<String>, String> {
        let wants_start = step.options.has("start");
        let is_next = |(number, came): &(usize, Came)| {
            let is_wanted = !step.options.has("any")
                || matches!(came, Came::Line(line) if matches(&step.text, &visible(line), &mut bindings.clone()));
            *number == step.server && (wants_start || *came != Came::Start) && is_wanted
        };
        let wants_end = step.options.has("end");
        match self.inbox.take(deadline, is_next) {
            None => Err("nothing came".to_owned()),
            Some((_, Came::Start)) => Ok(None),
            Some((_, Came::End)) if wants_end => Ok(None),
            Some((_, Came::End)) => Err("the input of the server was closed".to_owned()),
            Some((_, Came::Line(line))) if wants_end => {
                Err(format!("a message came: {}", visible(&line)))
            }
            Some((_, Came::Line(line))) => Ok(Some(visible(&line))),
        }
    }

    pub(crate) fn send(&self, step: &Step, bindings: &Bindings) -> Result<(), String> {
        let options = &step.options;
        let (kind, number, bytes) = if options.has("exit") {
            (b'x', u32::from(options.number.unwrap_or(0)), Vec::new())
        } else if options.has("kill") {
            (b'k', 0, Vec::new())
        } else {
            let mut bytes = bytes_of(&fill(&step.text, bindings)?);
            if !options.has("raw") {
                bytes.push(b'\n');
            }
            (b'o', u32::try_from(bytes.len()).unwrap(), bytes)
        };
        let sockets = self.shared.sockets.lock().unwrap();
        let mut socket =
            sockets.get(step.server - 1).ok_or("there is no such server process yet")?;
        let frame = [&[kind][..], &number.to_be_bytes(), &bytes].concat();
        socket.write_all(&frame).map_err(|error| format!("the server process has ended: {error}"))
    }

    /// From now on every process ends with its input.
    pub(crate) fn finish(&self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        let inputs =
            self.inbox.rest(|(number, came)| (*came == Came::End).then(|| number.to_string()));
        for number in inputs.iter().filter_map(|number| number.parse::<usize>().ok()) {
            self.shared.end(number);
        }
    }

    pub(crate) fn rest(&self) -> Vec<String> {
        self.inbox.rest(|(number, came)| match came {
            Came::Line(line) => Some(format!("S{number}: {}", visible(line))),
            Came::Start => (*number > self.expected)
                .then(|| format!("S{number}: a process that the script does not expect")),
            Came::End => None,
        })
    }
}

impl Shared {
    fn read(&self, number: usize, socket: UnixStream, events: &Inbox<(usize, Came)>) {
        let mut reader = BufReader::new(socket);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            if line.ends_with(b"\n") {
                line.pop();
            }
            events.push((number, Came::Line(std::mem::take(&mut line))));
        }
        events.push((number, Came::End));
        if self.is_over.load(Ordering::SeqCst) || !self.kept.contains(&number) {
            self.end(number);
        }
    }

    /// The relay ends with exit code 0 when its socket does.
    fn end(&self, number: usize) {
        if let Some(socket) = self.sockets.lock().unwrap().get(number - 1) {
            let _ = socket.shutdown(std::net::Shutdown::Both);
        }
    }
}
