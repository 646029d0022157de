//! Sample strings for the standard `format` names.
//!
//! Addresses and names are from the ranges reserved for documentation, so that an example that is
//! sent by mistake does not reach a real system.

/// Returns valid strings for `format`, best first; empty for a non-standard format.
pub(super) fn samples(format: &str) -> &'static [&'static str] {
    match format {
        "date" => &["2024-01-15", "2024-02-16", "2024-03-17"],
        "date-time" => &["2024-01-15T09:30:00Z", "2024-02-16T10:30:00Z", "2024-03-17T11:30:00Z"],
        "time" => &["09:30:00Z", "10:30:00Z", "11:30:00Z"],
        "duration" => &["PT1H", "P1D", "P2W"],
        "email" | "idn-email" => &["user@example.com", "other@example.com", "a@b.co"],
        "hostname" | "idn-hostname" => &["example.com", "example.org", "a"],
        "ipv4" => &["192.0.2.1", "192.0.2.2", "192.0.2.3"],
        "ipv6" => &["2001:db8::1", "2001:db8::2", "::1"],
        "uri" | "iri" | "url" => &["https://example.com", "https://example.org", "a:b"],
        "uri-reference" | "iri-reference" => &["/example", "/other", "a"],
        "uri-template" => &["https://example.com/{id}", "/{id}", "a"],
        "uuid" => &[
            "123e4567-e89b-12d3-a456-426614174000",
            "123e4567-e89b-42d3-a456-426614174001",
            "123e4567-e89b-72d3-a456-426614174002",
        ],
        "json-pointer" => &["/example", "/other", ""],
        "relative-json-pointer" => &["0/example", "1/example", "0"],
        "regex" => &["^example$", "^other$", "a"],
        _ => &[],
    }
}

/// Extends `sample` to at least `min_length` characters if its format allows this.
pub(super) fn extended(format: &str, sample: &str, min_length: usize) -> String {
    let missing = min_length.saturating_sub(sample.chars().count());
    let filler = "a".repeat(missing.min(super::MAX_TEXT_CHARS));
    match format {
        _ if missing == 0 => sample.to_owned(),
        "email" | "idn-email" | "hostname" | "idn-hostname" => format!("{filler}{sample}"),
        "uri" | "iri" | "url" if missing == 1 => format!("{sample}/"),
        "uri" | "iri" | "url" if sample.contains("//") => {
            let path: String = filler.chars().skip(1).collect();
            format!("{sample}/{path}")
        }
        "uri" | "iri" | "url" | "uri-reference" | "iri-reference" | "uri-template"
        | "json-pointer" | "regex" => format!("{sample}{filler}"),
        _ => sample.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{extended, samples};
    use serde_json::json;

    const STANDARD: [&str; 19] = [
        "date",
        "date-time",
        "time",
        "duration",
        "email",
        "idn-email",
        "hostname",
        "idn-hostname",
        "ipv4",
        "ipv6",
        "uri",
        "uri-reference",
        "iri",
        "iri-reference",
        "uri-template",
        "uuid",
        "json-pointer",
        "relative-json-pointer",
        "regex",
    ];

    fn is_valid(format: &str, text: &str) -> bool {
        jsonschema::options()
            .should_validate_formats(true)
            .build(&json!({ "format": format }))
            .unwrap()
            .is_valid(&json!(text))
    }

    #[test]
    fn every_sample_of_every_standard_format_is_valid() {
        for format in STANDARD {
            assert!(!samples(format).is_empty(), "{format}");
            for sample in samples(format) {
                assert!(is_valid(format, sample), "{format}: {sample}");
            }
        }
    }

    #[test]
    fn extended_samples_stay_valid() {
        for format in ["email", "uri", "hostname", "uri-reference", "json-pointer"] {
            let text = extended(format, samples(format)[0], 30);
            assert!(text.len() >= 30 && is_valid(format, &text), "{format}: {text}");
        }
    }

    #[test]
    fn unknown_format_has_no_samples() {
        assert!(samples("phone").is_empty());
    }
}
