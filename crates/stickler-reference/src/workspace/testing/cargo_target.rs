//! Selects the tests of a file or folder of a cargo package.

use std::path::{Component, Path};

use cap_std::fs::Dir;

use crate::tool_failure::ToolFailure;

/// The options of `cargo test` and the filter that select the tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CargoTarget {
    pub(super) options: Vec<String>,
    /// The module, for a file of a library.
    pub(super) filter: Option<String>,
}

/// Returns the selection for a path within the package. Fails if cargo cannot select it.
pub(super) fn of(package: &Dir, path: &Path) -> Result<CargoTarget, ToolFailure> {
    let parts: Vec<&str> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    let library = || if package.is_file("src/lib.rs") { "--lib" } else { "--bins" };
    let target = |options: &[&str]| CargoTarget {
        options: options.iter().map(|option| (*option).to_owned()).collect(),
        filter: None,
    };
    let named = |option: &str, name: &str| {
        let name = name.strip_suffix(".rs").unwrap_or(name);
        target(&[&format!("{option}={name}")])
    };
    Ok(match parts.as_slice() {
        [] => CargoTarget::default(),
        ["src"] => target(&["--lib", "--bins"][usize::from(!package.is_file("src/lib.rs"))..]),
        ["src", "lib.rs"] => target(&["--lib"]),
        ["src", "main.rs" | "bin"] => target(&["--bins"]),
        ["src", "bin", name, ..] => named("--bin", name),
        ["src", modules @ ..] => {
            CargoTarget { filter: Some(module(modules)), ..target(&[library()]) }
        }
        ["tests"] => target(&["--test=*"]),
        ["tests", name, ..] => named("--test", name),
        ["examples", name, ..] => named("--example", name),
        ["benches", name, ..] => named("--bench", name),
        _ => {
            let path = path.display();
            return Err(ToolFailure::runtime(format!(
                "cargo cannot select the tests of `{path}`; use a file or folder in `src`, \
                 `tests`, `examples` or `benches`, or the folder of the package"
            )));
        }
    })
}

/// Returns the module of a file, as in `a::b::` for `a/b.rs` and `a/b/mod.rs`.
fn module(parts: &[&str]) -> String {
    let names = parts.iter().filter(|name| **name != "mod.rs");
    names.fold(String::new(), |module, name| {
        module + name.strip_suffix(".rs").unwrap_or(name) + "::"
    })
}

#[cfg(test)]
mod tests {
    use super::of;
    use cap_std::ambient_authority;
    use cap_std::fs::Dir;
    use std::path::Path;

    #[test]
    fn path_selects_its_tests() {
        let folder = tempfile::tempdir().unwrap();
        let package = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        package.create_dir("src").unwrap();
        let words = |path: &str| {
            let target = of(&package, Path::new(path)).map_err(|failure| failure.message)?;
            Ok::<_, String>(
                [target.options, target.filter.into_iter().collect()].concat().join(" "),
            )
        };
        assert_eq!(words("src").unwrap(), "--bins");
        assert_eq!(words("src/parser.rs").unwrap(), "--bins parser::");
        package.write("src/lib.rs", "").unwrap();
        assert_eq!(words("src").unwrap(), "--lib --bins");
        assert_eq!(words("src/lib.rs").unwrap(), "--lib");
        assert_eq!(words("src/a/mod.rs").unwrap(), "--lib a::");
        assert_eq!(words("src/a/b.rs").unwrap(), "--lib a::b::");
        assert_eq!(words("src/bin/tool.rs").unwrap(), "--bin=tool");
        assert_eq!(words("tests").unwrap(), "--test=*");
        assert_eq!(words("tests/whole.rs").unwrap(), "--test=whole");
        assert_eq!(words("tests/whole/main.rs").unwrap(), "--test=whole");
        assert_eq!(words("").unwrap(), "");
        assert!(words("docs/a.md").unwrap_err().contains("cannot select the tests of `docs/a.md`"));
    }
}
