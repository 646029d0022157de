//! The tape accepts exactly the JSON of RFC 8259.
//!
//! Shown with the public JSON parsing test suite where it lies beside the project (a table of our
//! own is in `json_grammar_table.rs`). Where the RFC leaves a choice, the choice is written down
//! here.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::disallowed_methods,
    reason = "tests are blunt, and read files and start processes"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use stickler::tape::{SyntaxErrorKind as Kind, TapeBuffer};

/// Deep enough for every text of the suite.
const UNBOUNDED: usize = 1 << 20;

fn read(bytes: &[u8], depth: usize) -> Result<(), (Kind, usize)> {
    let mut buffer = TapeBuffer::new();
    buffer.read(bytes, depth).map(|_| ()).map_err(|error| (error.kind(), error.offset()))
}

/// A choice that the RFC leaves to the reader: accepted or not, why, and which files are about it.
type Choice = (bool, &'static str, &'static [&'static str]);

const CHOICES: &[Choice] = &[
    (
        true,
        "a number of any size is only text until someone compares it",
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
        "half of a surrogate pair, or two halves in the wrong order, are only text until someone looks",
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
        "JSON between systems is UTF-8, and this is another encoding or a broken one",
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
        "how deep a text may be is its reader's limit and not the grammar's",
        &["i_structure_500_nested_arrays.json"],
    ),
    (
        false,
        "a sender must not add a byte order mark",
        &["i_structure_UTF-8_BOM_empty_object.json"],
    ),
];

/// The suite's files by name, or `None` where the suite is not there.
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
fn the_parsing_test_suite_is_decided_as_the_rfc_and_our_choices_say() {
    let Some(files) = suite() else {
        eprintln!("skipped: the JSON parsing test suite is not there");
        return;
    };
    assert!(files.len() > 300, "only {} files: is the suite whole?", files.len());
    let chosen: BTreeMap<&str, bool> = CHOICES
        .iter()
        .flat_map(|(accepted, _, names)| names.iter().map(|name| (*name, *accepted)))
        .collect();
    let mut wrong = Vec::new();
    for (name, path) in &files {
        let outcome = read(&std::fs::read(path).unwrap(), UNBOUNDED);
        let wanted = match name.get(..2) {
            Some("y_") => Some(true),
            Some("n_") => Some(false),
            _ => chosen.get(name.as_str()).copied(),
        };
        if wanted != Some(outcome.is_ok()) {
            wrong.push(format!("{name}: wanted {wanted:?}, got {outcome:?}"));
        }
    }
    for name in chosen.keys().filter(|name| !files.contains_key(**name)) {
        wrong.push(format!("{name}: decided here, but the suite has no such file"));
    }
    assert!(wrong.is_empty(), "{} of {} files:\n{}", wrong.len(), files.len(), wrong.join("\n"));
}

#[test]
fn the_depth_limit_changes_nothing_for_texts_within_it() {
    let Some(files) = suite() else {
        eprintln!("skipped: the JSON parsing test suite is not there");
        return;
    };
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
