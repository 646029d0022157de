//! Where the clients on this machine keep their configuration files.

use std::path::{Path, PathBuf};

/// A configuration file of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClientFile {
    pub(super) client: &'static str,
    pub(super) path: PathBuf,
}

/// Folders that the files are relative to.
#[derive(Debug, Clone)]
pub(super) struct Folders {
    pub(super) home: Option<PathBuf>,
    /// Folder for the settings of applications: `~/.config`, `~/Library/Application Support` or `%APPDATA%`.
    pub(super) settings: Option<PathBuf>,
    /// Folder of Codex, if the environment sets it.
    pub(super) codex: Option<PathBuf>,
    /// Working directory, for the files of a project.
    pub(super) project: Option<PathBuf>,
}

impl Folders {
    pub(super) fn of_this_machine() -> Self {
        let variable = |name: &str| {
            std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        let home = variable("HOME").or_else(|| variable("USERPROFILE"));
        let in_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let settings = if cfg!(windows) {
            variable("APPDATA")
        } else if cfg!(target_os = "macos") {
            in_home("Library/Application Support")
        } else {
            variable("XDG_CONFIG_HOME").or_else(|| in_home(".config"))
        };
        Self {
            settings,
            codex: variable("CODEX_HOME"),
            project: std::env::current_dir().ok(),
            home,
        }
    }
}

/// Files in the home folder.
const IN_HOME: [(&str, &str); 14] = [
    ("Claude Code", ".claude.json"),
    ("Cursor", ".cursor/mcp.json"),
    ("Windsurf", ".codeium/windsurf/mcp_config.json"),
    ("Gemini CLI", ".gemini/settings.json"),
    ("Codex", ".codex/config.toml"),
    ("Continue", ".continue/config.yaml"),
    ("Continue", ".continue/mcpServers"),
    ("LM Studio", ".lmstudio/mcp.json"),
    ("LM Studio", ".cache/lm-studio/mcp.json"),
    // Zed uses this folder on macOS, too.
    ("Zed", ".config/zed/settings.json"),
    ("Amazon Q", ".aws/amazonq/mcp.json"),
    ("Kiro", ".kiro/settings/mcp.json"),
    ("GitHub Copilot CLI", ".copilot/mcp-config.json"),
    ("VS Code server", ".vscode-server/data/User/mcp.json"),
];

/// Files in the folder for settings of applications.
const IN_SETTINGS: [(&str, &str); 12] = [
    ("Claude Desktop", "Claude/claude_desktop_config.json"),
    ("VS Code", "Code/User/mcp.json"),
    ("VS Code", "Code/User/settings.json"),
    ("VS Code Insiders", "Code - Insiders/User/mcp.json"),
    ("VS Code Insiders", "Code - Insiders/User/settings.json"),
    ("VSCodium", "VSCodium/User/mcp.json"),
    ("Zed", "Zed/settings.json"),
    ("Zed", "zed/settings.json"),
    ("Cline", "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
    ("Roo Code", "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"),
    ("Amp", "amp/settings.json"),
    ("GitHub Copilot", "github-copilot/intellij/mcp.json"),
];

/// Files in the folder of a project.
const IN_PROJECT: [(&str, &str); 9] = [
    ("Claude Code", ".mcp.json"),
    ("Cursor", ".cursor/mcp.json"),
    ("VS Code", ".vscode/mcp.json"),
    ("Zed", ".zed/settings.json"),
    ("Gemini CLI", ".gemini/settings.json"),
    ("Codex", ".codex/config.toml"),
    ("Continue", ".continue/mcpServers"),
    ("Roo Code", ".roo/mcp.json"),
    ("Kiro", ".kiro/settings/mcp.json"),
];

/// Returns the files that exist, each once.
pub(super) fn find(folders: &Folders) -> Vec<ClientFile> {
    let places = [
        (&folders.home, IN_HOME.as_slice()),
        (&folders.settings, IN_SETTINGS.as_slice()),
        (&folders.codex, &[("Codex", "config.toml")]),
        (&folders.project, IN_PROJECT.as_slice()),
    ];
    let mut found: Vec<ClientFile> = Vec::new();
    let mut seen: Vec<PathBuf> = Vec::new();
    for (folder, files) in places {
        let Some(folder) = folder else { continue };
        for (client, path) in files {
            for path in expand(&folder.join(path)) {
                // A link, or the same file by two names, is changed once.
                let Ok(resolved) = path.canonicalize() else { continue };
                if resolved.is_file() && !seen.contains(&resolved) {
                    seen.push(resolved);
                    found.push(ClientFile { client, path });
                }
            }
        }
    }
    found
}

/// Returns a file as it is, and the files of a folder by name.
fn expand(path: &Path) -> Vec<PathBuf> {
    let Ok(folder) = std::fs::read_dir(path) else { return vec![path.to_owned()] };
    let files = folder.filter_map(|entry| Some(entry.ok()?.path()));
    let is_known = |path: &PathBuf| {
        let extension = path.extension().unwrap_or_default();
        ["yaml", "yml", "json"].iter().any(|one| extension.eq_ignore_ascii_case(one))
    };
    let mut files: Vec<PathBuf> = files.filter(is_known).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::{Folders, find};
    use std::path::Path;

    fn write(root: &Path, name: &str) {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "{}").unwrap();
    }

    #[test]
    fn files_of_all_folders_are_found_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for file in [
            "home/.claude.json",
            "home/.codex/config.toml",
            "home/.config/zed/settings.json",
            "home/.continue/mcpServers/b.yaml",
            "home/.continue/mcpServers/a.json",
            "home/.continue/mcpServers/notes.txt",
            "home/.config/Claude/claude_desktop_config.json",
            "project/.mcp.json",
        ] {
            write(root, file);
        }
        let folders = Folders {
            home: Some(root.join("home")),
            settings: Some(root.join("home/.config")),
            codex: Some(root.join("home/.codex")),
            project: Some(root.join("project")),
        };
        let found = find(&folders);
        let found: Vec<String> = found
            .iter()
            .map(|file| {
                let path = file.path.strip_prefix(root).unwrap();
                format!("{}: {}", file.client, path.display())
            })
            .collect();
        let expected = [
            "Claude Code: home/.claude.json",
            "Codex: home/.codex/config.toml",
            "Continue: home/.continue/mcpServers/a.json",
            "Continue: home/.continue/mcpServers/b.yaml",
            "Zed: home/.config/zed/settings.json",
            "Claude Desktop: home/.config/Claude/claude_desktop_config.json",
            "Claude Code: project/.mcp.json",
        ];
        assert_eq!(found, expected);
    }
}
