//! Completeness of the wrapper: it forwards every `ServerHandler` method of the rmcp version in use.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// Path of the handler source of the rmcp version in use.
fn rmcp_source() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path", manifest])
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let rmcp = packages.iter().find(|package| package["name"] == "rmcp").unwrap();
    PathBuf::from(rmcp["manifest_path"].as_str().unwrap()).with_file_name("src/handler/server.rs")
}

/// The methods of the trait, which rmcp defines in a macro.
fn trait_methods(source: &str) -> Vec<&str> {
    let start = source
        .find("macro_rules! server_handler_methods")
        .expect("the definition has moved in rmcp");
    let end = source[start..]
        .find("\npub trait ServerHandler")
        .expect("the definition has moved in rmcp")
        + start;
    let lines = source[start..end].lines();
    let methods = lines.filter_map(|line| line.trim_start().strip_prefix("fn ")?.split('(').next());
    methods.collect()
}

#[test]
fn every_server_handler_method_is_forwarded() {
    let source = std::fs::read_to_string(rmcp_source()).unwrap();
    let methods = trait_methods(&source);
    assert!(methods.len() >= 25 && methods.contains(&"call_tool"), "{methods:?}");
    let wrapper = include_str!("../../src/server/handler.rs");
    for method in methods {
        let is_defined = wrapper.contains(&format!("fn {method}("));
        let is_forwarded = wrapper.contains(&format!("self.handler.{method}("));
        assert!(is_defined && is_forwarded, "`{method}` of rmcp's ServerHandler is not forwarded");
    }
}
