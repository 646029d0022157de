//! A method that a newer rmcp adds to its handlers must not get lost in the wrapper.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// The source of the rmcp that this crate is built with.
fn rmcp_source() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path", manifest])
        .output()
        .expect("cargo can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let rmcp = packages.iter().find(|package| package["name"] == "rmcp").unwrap();
    PathBuf::from(rmcp["manifest_path"].as_str().unwrap()).with_file_name("src/handler/server.rs")
}

/// The methods of the trait, which rmcp writes once in a macro.
fn trait_methods(source: &str) -> Vec<&str> {
    let start = source.find("macro_rules! server_handler_methods").expect("rmcp has moved it");
    let end = source[start..].find("\npub trait ServerHandler").expect("rmcp has moved it") + start;
    let lines = source[start..end].lines();
    let methods = lines.filter_map(|line| line.trim_start().strip_prefix("fn ")?.split('(').next());
    methods.collect()
}

#[test]
fn every_method_of_the_handler_is_passed_on() {
    let source = std::fs::read_to_string(rmcp_source()).unwrap();
    let methods = trait_methods(&source);
    assert!(methods.len() >= 25 && methods.contains(&"call_tool"), "{methods:?}");
    let wrapper = include_str!("../../src/server/handler.rs");
    for method in methods {
        let is_there = wrapper.contains(&format!("fn {method}("));
        let is_passed_on = wrapper.contains(&format!("self.handler.{method}("));
        assert!(is_there && is_passed_on, "`{method}` of rmcp's ServerHandler is not passed on");
    }
}
