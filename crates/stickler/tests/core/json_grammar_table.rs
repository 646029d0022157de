//! The tape accepts exactly the JSON of RFC 8259, up to the configured depth.
//!
//! A self-contained table: valid texts, invalid texts with the kind and offset of the error, and the
//! nesting limit.

use stickler::tape::{SyntaxErrorKind as Kind, TapeBuffer};

fn read(bytes: &[u8], depth: usize) -> Result<(), (Kind, usize)> {
    let mut buffer = TapeBuffer::new();
    buffer.read(bytes, depth).map(|_| ()).map_err(|error| (error.kind(), error.offset()))
}

const VALID: &[&str] = &[
    "null",
    " true ",
    "\t\r\n false",
    "0",
    "-0",
    "-0.0e-0",
    "1E+2",
    "10.01",
    "123456789012345678901234567890",
    "1e400",
    "-1e-400",
    "\"\"",
    r#""\/\b\f\n\r\t\"\\""#,
    r#""\u0000\uFFFF\uaBcD\uD834\uDD1E""#,
    r#"["\ud834", "\udd1e\ud834", "\ud834\u0041", "\ud834\n"]"#,
    "\"\u{7f}\u{80}\u{2028}\u{feff}𝄞\"",
    "[ ]",
    "{ }",
    "[[],{},\"\",0,null]",
    r#"{"":0}"#,
    r#"{"a":1,"a":2}"#,
    r#"{"a" : [ 1 , { "b" : null } ] , "c" : -1.5e+3 }"#,
    r#""longer than one stride of the reader, with an escape \u0041 and a good deal after it""#,
];

const INVALID: &[(Kind, &[&str])] = &[
    (Kind::UnexpectedEnd, &["", " \n", "[", "[1,", "[1", "{", "{\"a\":", "\"", "\"a\\"]),
    (Kind::ExpectedValue, &["nul", "True", "NaN", "'a'", "+1", ".5", "[,]", "[1,]", "{\"a\":}"]),
    (Kind::ExpectedValue, &["/* */ 1", "\u{feff}1", "\u{a0}1", "\u{b}1", "\u{2028}1", "]"]),
    (Kind::ExpectedKey, &["{a:1}", "{1:1}", "{\"a\":1,}", "{,}", "{]"]),
    (Kind::ExpectedColon, &["{\"a\"}", "{\"a\",1}", "{\"a\" 1}"]),
    (Kind::ExpectedCommaOrBrace, &["{\"a\":1 \"b\":2}", "{\"a\":1]"]),
    (Kind::ExpectedCommaOrBracket, &["[1 2]", "[1}", "[1:2]"]),
    (Kind::TrailingCharacters, &["1 2", "{}}", "null,", "1\0", "truefalse"]),
    (Kind::BadNumber, &["01", "-01", "-", "-a", "1.", "1.e1", "1e", "1e+"]),
    (Kind::ControlCharacter, &["\"\n\"", "\"\0\"", "\"\u{1f}\""]),
    (Kind::BadEscape, &[r#""\a""#, r#""\u12G4""#, r#""\u+123""#, r#""\x41""#]),
];

#[test]
fn valid_texts_are_accepted() {
    for text in VALID {
        assert_eq!(read(text.as_bytes(), 128), Ok(()), "{text:?}");
    }
}

#[test]
fn invalid_texts_are_rejected_with_the_right_reason() {
    for (kind, texts) in INVALID {
        for text in *texts {
            let rejected = read(text.as_bytes(), 128).map_err(|(kind, _)| kind);
            assert_eq!(rejected, Err(*kind), "{text:?}");
        }
    }
    assert_eq!(read(b"\"ok \xff\"", 128), Err((Kind::NotUtf8, 4)));
}

#[test]
fn error_offset_is_the_first_invalid_byte() {
    let places = [
        ("[1 2]", 3),
        (r#"{"a" 1}"#, 5),
        (r#"{"a":1,}"#, 7),
        ("{}x", 2),
        ("\"ab\u{1}\"", 3),
        (r#"["é", "\q"]"#, 8),
        ("[tru]", 1),
        ("[[[", 3),
    ];
    for (text, offset) in places {
        let rejected = read(text.as_bytes(), 128).map_err(|(_, offset)| offset);
        assert_eq!(rejected, Err(offset), "{text:?}");
    }
}

#[test]
fn nesting_is_accepted_up_to_the_limit_and_rejected_above_it() {
    for depth in [1, 2, 127, 128, 129, 130, 1000] {
        let arrays = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let objects = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        let expected = |offset| {
            if depth <= 128 { Ok(()) } else { Err((Kind::TooDeep, offset)) }
        };
        assert_eq!(read(arrays.as_bytes(), 128), expected(128), "{depth} arrays");
        assert_eq!(read(objects.as_bytes(), 128), expected(128 * 5), "{depth} objects");
    }
    let siblings = format!("[{}]", vec!["[[]]"; 200].join(","));
    assert_eq!(read(siblings.as_bytes(), 3), Ok(()), "only simultaneously open containers count");
    assert_eq!(read(b"1", 0), Ok(()), "a scalar has no depth");
    assert_eq!(read(b"[]", 0), Err((Kind::TooDeep, 0)));
}
