//! The tape accepts exactly the JSON of RFC 8259.
//!
//! Runs the public JSON parsing test suite if it is available next to the project;
//! `json_grammar_table.rs` has a built-in table. Results that the RFC leaves open are listed here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use stickler::tape::{SyntaxErrorKind as Kind, TapeBuffer};

/// Deep enough for every text of the suite.
const UNBOUNDED: usize = 1 << 20;

fn read(bytes: &[u8], depth: usize) -> Result<(), (Kind, usize)> {
    let mut buffer = TapeBuffer::new();
    buffer.read(bytes, depth).map(|_| ()).map_err(|error| (error.kind(), error.offset()))
}

/// A result that the RFC leaves to the parser: accepted or not, the reason, and the test files.
type Choice = (bool, &'static str, &'static [&'static str]);

const CHOICES: &[Choice] = &[
    (
        true,
        "numbers of any size stay text until they are compared",
        &[
            "i_number_double_huge_neg_exp.json",
            "i_number_huge_exp.json",
            "i_number_neg_int_huge_exp.json",
            "i_number_pos_double_huge_exp.json",
            "i_number_real_neg_overflow.json",
            "i_number_real_pos_overflow.json",
            "i_number_real_underflow.json",
            "i_number_too_big_neg_int.json",
            "i_number_too_big_pos_int.json",
            "i_number_very_big_negative_int.json",
        ],
    ),
    (
        true,
        "lone or reversed surrogates stay text until the string is decoded",
        &[
            "i_object_key_lone_2nd_surrogate.json",
            "i_string_1st_surrogate_but_2nd_missing.json",
            "i_string_1st_valid_surrogate_2nd_invalid.json",
            "i_string_incomplete_surrogate_and_escape_valid.json",
            "i_string_incomplete_surrogate_pair.json",
            "i_string_incomplete_surrogates_escape_valid.json",
            "i_string_invalid_lonely_surrogate.json",
            "i_string_invalid_surrogate.json",
            "i_string_inverted_surrogates_U+1D11E.json",
            "i_string_lone_second_surrogate.json",
        ],
    ),
    (
        false,
        "interchanged JSON is UTF-8; other encodings and invalid sequences are rejected",
        &[
            "i_string_UTF-16LE_with_BOM.json",
            "i_string_UTF-8_invalid_sequence.json",
            "i_string_UTF8_surrogate_U+D800.json",
            "i_string_invalid_utf-8.json",
            "i_string_iso_latin_1.json",
            "i_string_lone_utf8_continuation_byte.json",
            "i_string_not_in_unicode_range.json",
            "i_string_overlong_sequence_2_bytes.json",
            "i_string_overlong_sequence_6_bytes.json",
            "i_string_overlong_sequence_6_bytes_null.json",
            "i_string_truncated-utf-8.json",
            "i_string_utf16BE_no_BOM.json",
            "i_string_utf16LE_no_BOM.json",
        ],
    ),
    (
        true,
        "the nesting depth is a limit of the parser, not of the grammar",
        &["i_structure_500_nested_arrays.json"],
    ),
    (
        false,
        "a sender must not add a byte order mark",
        &["i_structure_UTF-8_BOM_empty_object.json"],
    ),
];

/// The files of the suite by name; `None` if the suite is not available.
fn suite() -> Option<BTreeMap<String, PathBuf>> {
    let beside = "../../../shared/json-test-suite/test_parsing";
    let entries = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(beside)).ok()?;
    let files = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        Some((path.file_name()?.to_str()?.to_owned(), path))
    });
    Some(files.collect())
}

#[test]
#[ignore = "needs the JSON parsing test suite in ../shared/json-test-suite"]
fn json_parsing_test_suite_gives_the_documented_results() {
    let files = suite().expect("the suite is in ../shared/json-test-suite");
    assert!(files.len() > 300, "the suite is incomplete: only {} files", files.len());
    let chosen: BTreeMap<&str, bool> = CHOICES
        .iter()
        .flat_map(|(accepted, _, names)| names.iter().map(|name| (*name, *accepted)))
        .collect();
    let mut wrong = Vec::new();
    for (name, path) in &files {
        let outcome = read(&std::fs::read(path).unwrap(), UNBOUNDED);
        let expected = match name.get(..2) {
            Some("y_") => Some(true),
            Some("n_") => Some(false),
            _ => chosen.get(name.as_str()).copied(),
        };
        if expected != Some(outcome.is_ok()) {
            wrong.push(format!("{name}: expected {expected:?}, got {outcome:?}"));
        }
    }
    for name in chosen.keys().filter(|name| !files.contains_key(**name)) {
        wrong.push(format!("{name}: listed here, but missing from the suite"));
    }
    assert!(wrong.is_empty(), "{} of {} files:\n{}", wrong.len(), files.len(), wrong.join("\n"));
}

#[test]
#[ignore = "needs the JSON parsing test suite in ../shared/json-test-suite"]
fn depth_limit_does_not_affect_shallow_texts() {
    let files = suite().expect("the suite is in ../shared/json-test-suite");
    let mut too_deep = Vec::new();
    for (name, path) in &files {
        let bytes = std::fs::read(path).unwrap();
        let (bounded, unbounded) = (read(&bytes, 128), read(&bytes, UNBOUNDED));
        if matches!(bounded, Err((Kind::TooDeep, _))) {
            too_deep.push(name.as_str());
        } else {
            assert_eq!(bounded, unbounded, "{name}");
        }
    }
    let deep = [
        "i_structure_500_nested_arrays.json",
        "n_structure_100000_opening_arrays.json",
        "n_structure_open_array_object.json",
    ];
    assert_eq!(too_deep, deep);
}
