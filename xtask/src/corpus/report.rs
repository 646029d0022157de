//! Counts the results and prints the final table.

use std::collections::BTreeMap;

use serde_json::Value;
use stickler::{CachedSchema, Discovery, McpValidator, ValidationResult, estimate_tokens};
use tiktoken_rs::CoreBPE;

use super::break_call::Broken;
use super::locations::ToolUnderTest;
use super::tools::Server;
use crate::Outcome;

pub(super) struct Report {
    show: usize,
    tokenizers: Vec<(&'static str, CoreBPE)>,
    tools: usize,
    quarantined: Vec<String>,
    compiled: usize,
    with_example: usize,
    examples_rejected: usize,
    valid: Count,
    kinds: BTreeMap<String, Tally>,
    most_tokens: usize,
    most_tokens_at: String,
    over_budget: usize,
    underestimated: usize,
    prompts: usize,
    failures: BTreeMap<String, Vec<String>>,
}

#[derive(Default)]
struct Count {
    good: usize,
    all: usize,
}

/// Counts for one kind of mistake.
#[derive(Default)]
struct Tally {
    calls: usize,
    detected: usize,
    exact: usize,
    suggested: Count,
    corrected: Count,
}

const MAX_HELP_TOKENS: usize = 500;

/// The prefix of the labels of mistakes about meaning.
const MEANING: &str = "meaning: ";

impl Tally {
    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.detected += other.detected;
        self.exact += other.exact;
        self.suggested.good += other.suggested.good;
        self.suggested.all += other.suggested.all;
        self.corrected.good += other.corrected.good;
        self.corrected.all += other.corrected.all;
    }
}

impl Report {
    pub(super) fn new(show: usize) -> Result<Self, String> {
        let tokenizers = vec![
            ("cl100k", tiktoken_rs::cl100k_base().map_err(|error| error.to_string())?),
            ("o200k", tiktoken_rs::o200k_base().map_err(|error| error.to_string())?),
        ];
        Ok(Self {
            show,
            tokenizers,
            tools: 0,
            quarantined: Vec::new(),
            compiled: 0,
            with_example: 0,
            examples_rejected: 0,
            valid: Count::default(),
            kinds: BTreeMap::new(),
            most_tokens: 0,
            most_tokens_at: String::new(),
            over_budget: 0,
            underestimated: 0,
            prompts: 0,
            failures: BTreeMap::new(),
        })
    }

    pub(super) fn discovered(&mut self, server: &Server, discovery: &Discovery) {
        self.tools += server.tools.len();
        self.compiled += discovery.usable;
        let rejected = discovery.quarantined.iter();
        self.quarantined.extend(rejected.map(|error| format!("{}: {error}", server.name)));
    }

    pub(super) fn note(&mut self, note: String) {
        self.fail("not measured", note);
    }

    pub(super) fn example(&mut self, subject: &ToolUnderTest, cached: &CachedSchema) {
        match cached.example() {
            Some(example) => {
                self.with_example += 1;
                if !subject.accepts(example) {
                    self.examples_rejected += 1;
                    self.fail("example rejected", format!("{}: {example}", place(subject)));
                }
            }
            None => self.fail("no example", place(subject)),
        }
    }

    pub(super) fn valid_call(
        &mut self,
        validator: &McpValidator,
        subject: &ToolUnderTest,
        call: &Value,
    ) {
        let result = validator.validate(&subject.server, &subject.tool, call);
        self.valid.all += 1;
        if result.is_valid {
            self.valid.good += 1;
        } else {
            self.fail(
                "valid call rejected",
                format!("{}: {call}: {}", place(subject), error_summary(&result)),
            );
        }
    }

    pub(super) fn broken_call(
        &mut self,
        validator: &McpValidator,
        subject: &ToolUnderTest,
        broken: &Broken,
    ) {
        let result = validator.validate(&subject.server, &broken.name, &broken.arguments);
        let two = broken.label.contains(" + ");
        let key = if two { "two at once".to_owned() } else { broken.label.clone() };
        let exact = broken.expected.iter().all(|expected| {
            result
                .errors
                .iter()
                .any(|error| error.path == expected.path && error.kind.name() == expected.kind)
        });
        let suggested: Vec<bool> = broken
            .expected
            .iter()
            .filter_map(|expected| {
                let suggestion = expected.suggestion.as_ref()?;
                let error = result.errors.iter().find(|error| {
                    error.path == expected.path && error.kind.name() == expected.kind
                });
                Some(error.is_some_and(|error| error.suggestions().first() == Some(suggestion)))
            })
            .collect();
        let corrected = is_corrected(&result, broken);
        let tally = self.kinds.entry(key).or_default();
        tally.calls += 1;
        tally.detected += usize::from(!result.is_valid);
        tally.exact += usize::from(exact);
        tally.suggested.all += suggested.len();
        tally.suggested.good += suggested.iter().filter(|good| **good).count();
        if broken.repairable {
            tally.corrected.all += 1;
            tally.corrected.good += usize::from(corrected);
        }
        let what = || describe(subject, broken, &result);
        if broken.label.starts_with(MEANING) {
            if suggested.contains(&false) || broken.repairable && !corrected {
                self.fail(&broken.label, what());
            }
        } else if result.is_valid {
            self.fail("not detected", what());
        } else if !exact {
            self.fail("not exact", what());
        } else if suggested.contains(&false) {
            self.fail("not suggested", what());
        } else if broken.repairable && !corrected {
            self.fail("not corrected", what());
        }
        self.prompt(validator, subject, broken, &result);
    }

    fn prompt(
        &mut self,
        validator: &McpValidator,
        subject: &ToolUnderTest,
        broken: &Broken,
        result: &ValidationResult,
    ) {
        let help = validator.build_help_prompt(&subject.server, &broken.name, result);
        let estimate = estimate_tokens(help.as_str());
        self.prompts += 1;
        for (name, tokenizer) in &self.tokenizers {
            let tokens = tokenizer.encode_ordinary(help.as_str()).len();
            if tokens > self.most_tokens {
                self.most_tokens = tokens;
                self.most_tokens_at = format!("{name}, {}", place(subject));
            }
            self.over_budget += usize::from(tokens > MAX_HELP_TOKENS);
            self.underestimated += usize::from(tokens > estimate);
        }
    }

    fn fail(&mut self, kind: &str, what: String) {
        let list = self.failures.entry(kind.to_owned()).or_default();
        list.push(what);
    }

    #[allow(clippy::print_stdout)]
    pub(super) fn finish(self) -> Outcome {
        println!(
            "tools {}, compiled {}, quarantined {}",
            self.tools,
            self.compiled,
            self.quarantined.len()
        );
        for reason in &self.quarantined {
            println!("  {reason}");
        }
        println!(
            "examples: {} of {} compiled ({}), {} rejected by the plain engine",
            self.with_example,
            self.compiled,
            percent(self.with_example, self.compiled),
            self.examples_rejected
        );
        println!("valid calls: {}, rejected {}", self.valid.all, self.valid.all - self.valid.good);
        println!(
            "\n{:<24} {:>7} {:>9} {:>9} {:>10} {:>10}",
            "broken calls", "calls", "detected", "exact", "suggested", "corrected"
        );
        let is_about_meaning = |kind: &str| kind.starts_with(MEANING);
        let (mut total, mut meaning) = (Tally::default(), Tally::default());
        for (kind, tally) in self.kinds.iter().filter(|(kind, _)| !is_about_meaning(kind)) {
            print_row(kind, tally);
            total.add(tally);
        }
        print_row("all", &total);
        for (kind, tally) in self.kinds.iter().filter(|(kind, _)| is_about_meaning(kind)) {
            print_row(kind, tally);
            meaning.add(tally);
        }
        print_row("all about meaning", &meaning);
        println!(
            "\nhelp prompts: {}, most tokens {} ({}), over {MAX_HELP_TOKENS}: {}, estimated too low: {}",
            self.prompts,
            self.most_tokens,
            self.most_tokens_at,
            self.over_budget,
            self.underestimated
        );
        for (kind, list) in &self.failures {
            println!("\n{kind}: {}", list.len());
            for failure in list.iter().take(self.show) {
                println!("  - {failure}");
            }
        }
        self.check_goals(&total)
    }

    /// Returns an error that lists the goals that were missed.
    fn check_goals(&self, total: &Tally) -> Outcome {
        let mut missed = Vec::new();
        let mut require = |what: &str, good: usize, all: usize, per_mille: usize| {
            if good * 1000 < all * per_mille {
                missed.push(format!("{what}: {} of {all} ({})", good, percent(good, all)));
            }
        };
        require("examples", self.with_example, self.compiled, 990);
        let valid_examples = self.with_example - self.examples_rejected;
        require("valid examples", valid_examples, self.with_example, 1000);
        require("valid calls accepted", self.valid.good, self.valid.all, 1000);
        require("detected", total.detected, total.calls, 1000);
        require("exact path and kind", total.exact, total.calls, 995);
        require("correct first suggestion", total.suggested.good, total.suggested.all, 980);
        require("corrected to the original", total.corrected.good, total.corrected.all, 970);
        let prompts = self.prompts * self.tokenizers.len();
        require("help within the budget", prompts - self.over_budget, prompts, 1000);
        if missed.is_empty() { Ok(()) } else { Err(format!("goals missed: {}", missed.join("; "))) }
    }
}

#[allow(clippy::print_stdout)]
fn print_row(kind: &str, tally: &Tally) {
    println!(
        "{kind:<24} {:>7} {:>9} {:>9} {:>10} {:>10}",
        tally.calls,
        percent(tally.detected, tally.calls),
        percent(tally.exact, tally.calls),
        percent(tally.suggested.good, tally.suggested.all),
        percent(tally.corrected.good, tally.corrected.all),
    );
}

fn percent(good: usize, all: usize) -> String {
    if all == 0 {
        return "-".to_owned();
    }
    let hundredths = good * 10_000 / all;
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}

fn place(subject: &ToolUnderTest) -> String {
    format!("{}/{}", subject.server, subject.tool)
}

/// Returns a broken call with what was expected and what was reported.
fn describe(subject: &ToolUnderTest, broken: &Broken, result: &ValidationResult) -> String {
    format!(
        "{} [{}] {} {}\n      original {}\n      expected {:?}\n      reported {}\n      corrected {:?}",
        place(subject),
        broken.label,
        broken.name,
        broken.arguments,
        broken.original,
        broken.expected,
        error_summary(result),
        result.corrected.as_ref().map(|call| call.arguments.get()),
    )
}

fn error_summary(result: &ValidationResult) -> String {
    let errors: Vec<String> = result
        .errors
        .iter()
        .map(|error| format!("{} {} {:?}", error.kind.name(), error.path, error.suggestions()))
        .collect();
    errors.join("; ")
}

/// Returns whether the corrected call is the call before the mistake.
fn is_corrected(result: &ValidationResult, broken: &Broken) -> bool {
    result.corrected.as_ref().is_some_and(|call| {
        let arguments = serde_json::from_str::<Value>(call.arguments.get());
        call.name == broken.original_name && arguments.ok().as_ref() == Some(&broken.original)
    })
}
