//! `stickler explain`, `completions` and `--help`.

use crate::support::command::stickler;

#[test]
fn explain_prints_the_cause_and_the_remedy() {
    let run = stickler(&["explain", "STK-107"]);
    assert_eq!(run.status, 0);
    insta::assert_snapshot!("explain_stk_107", run.stdout);
    assert_eq!(stickler(&["explain", "[stk-107]"]).stdout, run.stdout);
}

#[test]
fn explain_without_a_code_lists_every_rule() {
    let run = stickler(&["explain"]);
    let listed = run.stdout.lines().count();
    assert_eq!(listed, stickler::rules::all().count());
}

#[test]
fn explain_with_an_unknown_code_suggests_one_and_exits_with_2() {
    let run = stickler(&["explain", "STK-17"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("did you mean `STK-107`?"), "{}", run.stderr);
}

#[test]
fn explain_as_json_is_one_object() {
    let run = stickler(&["explain", "unknown_field", "--format", "json"]);
    let rule: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        (rule["id"].as_str(), rule["json_rpc"].as_i64()),
        (Some("unknown_field"), Some(-32602))
    );
}

#[test]
fn completions_are_printed_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = stickler(&["completions", shell]);
        assert_eq!(run.status, 0);
        assert!(run.stdout.contains("validate"), "{shell}");
    }
}

#[test]
fn help_lists_every_command_and_the_exit_codes() {
    let run = stickler(&["--help"]);
    let (_, commands) = run.stdout.split_once("Commands:\n").unwrap();
    let (commands, rest) = commands.split_once("\n\n").unwrap();
    // Continuation lines of a description are indented further.
    let first_lines = commands.lines().filter_map(|line| line.strip_prefix("  "));
    let names: Vec<&str> = first_lines
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split(' ').next())
        .collect();
    // The commands of the first hour come first.
    let expected = [
        "run",
        "wrap",
        "unwrap",
        "check",
        "tools",
        "call",
        "validate",
        "audit",
        "ui",
        "demo",
        "extproc",
        "explain",
        "schema",
        "serve",
        "gate",
        "completions",
        "man",
        "help",
    ];
    assert_eq!(names, expected);
    assert!(rest.contains("Exit codes:"), "{rest}");
}

#[test]
fn help_and_manual_pages_are_printed_for_every_command() {
    let run = stickler(&["help", "run"]);
    assert_eq!(
        (run.status, run.stdout.contains("Usage: stickler run")),
        (0, true),
        "{}",
        run.stderr
    );
    assert_eq!(stickler(&["help"]).stdout, stickler(&["--help"]).stdout);
    let run = stickler(&["man"]);
    assert_eq!((run.status, run.stdout.contains(".TH stickler 1")), (0, true), "{}", run.stdout);
    let run = stickler(&["man", "wrap"]);
    assert_eq!((run.status, run.stdout.contains("\\-\\-status")), (0, true), "{}", run.stdout);
    let run = stickler(&["man", "wrp"]);
    assert_eq!(
        (run.status, run.stderr.contains("did you mean `wrap`?")),
        (2, true),
        "{}",
        run.stderr
    );
    let run = stickler(&["vrap"]);
    assert_eq!(
        (run.status, run.stderr.contains("did you mean `stickler wrap`?")),
        (2, true),
        "{}",
        run.stderr
    );
}

#[test]
fn boolean_before_the_command_is_not_run_as_a_program() {
    for (arguments, hint) in [
        (&["run", "--strict", "true", "--", "cat"][..], "`--strict=true`"),
        (&["run", "--mask", "false", "--", "cat"], "`--mask=false`"),
        (&["run", "--strict", "yes"], "`--strict=true`"),
    ] {
        let run = stickler(arguments);
        assert_eq!((run.status, run.stderr.contains(hint)), (2, true), "{}", run.stderr);
    }
    assert_eq!(stickler(&["run", "--strict", "--", "true"]).status, 0);
}

#[test]
fn url_without_a_scheme_is_explained() {
    for command in ["run", "check", "tools"] {
        let run = stickler(&[command, "--url", "example.com/mcp"]);
        let expected = "it must start with `http://` or `https://`";
        assert_eq!((run.status, run.stderr.contains(expected)), (2, true), "{}", run.stderr);
    }
}
