//! Proptest strategies for parser input: bytes, near-JSON strings, and unusually formatted values.

use std::fmt::Write as _;

use proptest::prelude::*;

/// Any bytes, and any string as bytes.
pub(crate) fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        any::<String>().prop_map(String::into_bytes),
        any::<String>().prop_map(|text| format!("\"{text}\"").into_bytes()),
    ]
}

/// Fragments of JSON in random order.
pub(crate) fn near_json() -> impl Strategy<Value = String> {
    let pieces = vec![
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "\\",
        " ",
        "\n",
        "\"a\"",
        "\"b\":",
        "\"\\u0061\":",
        "null",
        "true",
        "false",
        "nul",
        "0",
        "-",
        "-0",
        "1",
        "9",
        ".",
        "e",
        "E+",
        "1e5",
        "1e400",
        "0.1",
        "\\u",
        "d83d",
        "\\ude00",
        "\\ud83d",
        "\"\\n\"",
        "é",
        "\u{feff}",
        "\u{0}",
        "{}",
        "[]",
        "[1,2]",
        "{\"a\":1}",
        "{\"a\":1,\"a\":2}",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..12).prop_map(|pieces| pieces.concat())
}

/// The text of a JSON value with unusual formatting.
#[derive(Debug, Clone)]
pub(crate) struct Written(pub(crate) String);

/// Values with irregular whitespace, redundant escapes and duplicate keys.
pub(crate) fn written() -> impl Strategy<Value = Written> {
    let scalar = prop_oneof![
        prop::sample::select(vec![
            "null", "true", "false", "-0", "0.0", "1.0", "1E2", "-1e-7", "2e308"
        ])
        .prop_map(str::to_owned),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        any::<i128>().prop_map(|n| n.to_string()),
        any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(|n| format!("{n:e}")),
        (any::<u64>(), "[0-9]{1,25}", -330_i32..300).prop_map(|(a, b, e)| format!("{a}.{b}e{e}")),
        string(),
    ];
    scalar
        .prop_recursive(5, 80, 8, |inner| {
            let item = (space(), inner.clone(), space()).prop_map(|(a, v, b)| format!("{a}{v}{b}"));
            let member = (space(), key(), space(), inner, space())
                .prop_map(|(a, k, b, v, c)| format!("{a}{k}{b}:{v}{c}"));
            prop_oneof![
                prop::collection::vec(item, 0..6)
                    .prop_map(|items| format!("[{}]", items.join(","))),
                prop::collection::vec(member, 0..8)
                    .prop_map(|members| format!("{{{}}}", members.join(","))),
                // More keys than the linear duplicate search handles.
                prop::collection::vec((key_of(40), 0..9_u8), 28..45).prop_map(|members| {
                    let members: Vec<_> =
                        members.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
                    format!("{{{}}}", members.join(","))
                }),
            ]
        })
        .prop_flat_map(|text| (space(), Just(text), space()))
        .prop_map(|(a, text, b)| Written(format!("{a}{text}{b}")))
}

fn space() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", "", "", " ", "\n", "\t \r\n"])
}

/// A small set of names, so that keys repeat; some are written with escapes.
fn key() -> impl Strategy<Value = String> {
    prop_oneof![key_of(4), string()]
}

fn key_of(names: u32) -> impl Strategy<Value = String> {
    (0..names, prop::bool::weighted(0.1)).prop_map(|(name, escaped)| {
        if escaped { format!("\"\\u006b{name}\"") } else { format!("\"k{name}\"") }
    })
}

/// A JSON string; each character is plain or escaped.
fn string() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => prop::char::range(' ', '~'),
        1 => any::<char>(),
        1 => prop::sample::select(vec!['"', '\\', '/', '~', '\n', '\u{0}', '\u{7f}', '𝄞', '\u{ffff}']),
    ];
    let written = (character, any::<bool>()).prop_map(|(c, escape)| {
        if escape || c < ' ' || c == '"' || c == '\\' { escaped(c) } else { c.to_string() }
    });
    prop::collection::vec(written, 0..40).prop_map(|parts| format!("\"{}\"", parts.concat()))
}

fn escaped(c: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        '/' => "\\/".to_owned(),
        _ => {
            let mut text = String::new();
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(text, "\\u{unit:04x}");
            }
            text
        }
    }
}
