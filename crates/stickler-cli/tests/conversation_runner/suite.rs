//! Loads all conversations of a folder and runs them on several threads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::gateway;
use super::player::{Recorded, play};
use super::report;
use super::script::{Conversation, Definitions, Pairing, read};

/// More threads than cores, because runs mostly wait.
const THREADS: usize = 6;

/// The file with the definitions for all files.
const COMMON: &str = "common.conv";

pub(crate) struct Suite {
    folder: PathBuf,
    version: String,
    runs: Vec<(Conversation, Pairing)>,
}

impl Suite {
    /// Reads a folder. `chosen` selects runs by a part of `file: name [pairing]`.
    pub(crate) fn read(folder: &Path, chosen: Option<&str>) -> Result<Self, String> {
        let mut definitions = Definitions::default();
        let common = folder.join(COMMON);
        if common.exists() {
            read(&common, &mut definitions)?;
        }
        let mut runs = Vec::new();
        for file in files(folder).into_iter().filter(|file| *file != common) {
            for conversation in read(&file, &mut definitions.clone())? {
                for pairing in conversation.pairings.clone() {
                    let title = report::title(folder, &conversation, pairing);
                    if chosen.is_none_or(|part| title.contains(part)) {
                        runs.push((conversation.clone(), pairing));
                    }
                }
            }
        }
        Ok(Self { folder: folder.to_owned(), version: gateway::version(), runs })
    }

    /// Runs all conversations and returns the failures in the order of the files.
    pub(crate) fn run(&self) -> Vec<String> {
        let next = AtomicUsize::new(0);
        let failures = Mutex::new(BTreeMap::new());
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some((conversation, pairing)) = self.runs.get(number) else { return };
                        if let Err(failure) = play(conversation, *pairing, &self.version, None) {
                            let text =
                                report::failure(&self.folder, conversation, *pairing, &failure);
                            failures.lock().unwrap().insert(number, text);
                        }
                    }
                });
            }
        });
        failures.into_inner().unwrap().into_values().collect()
    }

    /// Runs all conversations, those of a file sequentially, and writes the actual messages to the files. The
    /// remaining failures are expectations in `steps` blocks, expectations that differ between pairings, and steps
    /// that receive nothing.
    pub(crate) fn record(&self) -> Vec<String> {
        let mut files: BTreeMap<&Path, Vec<&(Conversation, Pairing)>> = BTreeMap::new();
        for run in &self.runs {
            files.entry(&run.0.file).or_default().push(run);
        }
        let failures = Mutex::new(BTreeMap::new());
        std::thread::scope(|scope| {
            for (file, runs) in files {
                let failures = &failures;
                scope.spawn(move || {
                    let failed = self.record_file(file, &runs);
                    failures.lock().unwrap().insert(file, failed);
                });
            }
        });
        failures.into_inner().unwrap().into_values().flatten().collect()
    }

    fn record_file(&self, file: &Path, runs: &[&(Conversation, Pairing)]) -> Vec<String> {
        let (mut failures, mut recorded) = (Vec::new(), Recorded::new());
        let mut constants = None;
        for (conversation, pairing) in runs {
            if let Err(failure) = play(conversation, *pairing, &self.version, Some(&mut recorded)) {
                failures.push(report::failure(&self.folder, conversation, *pairing, &failure));
            }
            constants = Some(&conversation.constants);
        }
        if let Some(constants) = constants.filter(|_| !recorded.is_empty()) {
            report::rewrite(file, &recorded, constants);
        }
        failures
    }

    /// Formats the number of conversations and runs, by topic and by pairing.
    pub(crate) fn counts(&self) -> String {
        let mut scripts: BTreeMap<String, (Vec<&str>, usize)> = BTreeMap::new();
        let mut pairings: BTreeMap<Pairing, usize> = BTreeMap::new();
        for (conversation, pairing) in &self.runs {
            let topic = conversation.file.parent().and_then(Path::file_name).unwrap_or_default();
            let (names, runs) = scripts.entry(topic.to_string_lossy().into_owned()).or_default();
            if !names.contains(&conversation.name.as_str()) {
                names.push(&conversation.name);
            }
            *runs += 1;
            *pairings.entry(*pairing).or_default() += 1;
        }
        let all: usize = scripts.values().map(|(names, _)| names.len()).sum();
        let mut text = format!("{all} conversations, {} runs", self.runs.len());
        for (topic, (names, runs)) in &scripts {
            text.push_str(&format!("\n  {topic}: {} conversations, {runs} runs", names.len()));
        }
        for (pairing, runs) in &pairings {
            text.push_str(&format!("\n  {}: {runs} runs", pairing.name()));
        }
        text
    }
}

/// Returns the conversation files of a folder and its subfolders, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(self::files(&path));
        } else if path.extension().is_some_and(|extension| extension == "conv") {
            files.push(path);
        }
    }
    files
}
