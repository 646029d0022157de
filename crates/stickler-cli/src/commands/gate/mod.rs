//! `stickler gate`: lists and decides the gates that agents have opened.
//!
//! A decision needs the approver's passphrase, read from the terminal. It is signed with a key that is
//! derived from the passphrase and stored nowhere, so that an agent can neither run this command to the end
//! nor write a decision of its own (docs/mcp-servers.md states what this does not prevent).

mod terminal;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use stickler_reference::{
    Approver, ApproverKey, Decision, Gate, GateStore, Permissions, Workspace,
};

use self::terminal::Terminal;
use crate::cli::Format;
use crate::exit::{Exit, Failure, Outcome};
use crate::style::printable;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GateOptions {
    #[command(subcommand)]
    action: Action,

    /// Folder of the project, as in `serve --root`
    #[arg(long, value_name = "DIR", default_value = ".", global = true)]
    root: PathBuf,

    /// File with the approver's public key [default: stickler/approver.json in the user's configuration folder]
    #[arg(long, value_name = "FILE", global = true)]
    approver: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Choose the passphrase that decisions require
    Init,
    /// List the gates
    List(ListOptions),
    /// Approve a gate
    Approve(DecideOptions),
    /// Reject a gate
    Reject(DecideOptions),
}

#[derive(Debug, Args)]
struct ListOptions {
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Args)]
struct DecideOptions {
    /// Gate to decide, such as `gate-7`
    #[arg(value_name = "ID")]
    id: String,

    /// Reason, which the agent is shown
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  stickler gate init
  stickler gate list --root ~/project
  stickler gate approve gate-7 --root ~/project --reason 'after the backup'";

pub(crate) fn run(options: &GateOptions) -> Outcome {
    let path = approver_path(options.approver.as_deref())?;
    if matches!(options.action, Action::Init) {
        return init(&path);
    }
    let approver = Approver::load(&path).map_err(|error| {
        Failure::Usage(format!("cannot read the approver `{}`: {error}", path.display()))
    })?;
    let root = options.root.display();
    let workspace = Workspace::open(&options.root, Permissions::default())
        .map_err(|error| Failure::Usage(format!("cannot use the root `{root}`: {error}")))?;
    let gates = GateStore::new(workspace.with_approver(approver.clone()));
    match &options.action {
        Action::Init => Ok(Exit::Success),
        Action::List(given) => list(&gates, given.format),
        Action::Approve(given) => decide(&gates, given, true, approver.as_ref()),
        Action::Reject(given) => decide(&gates, given, false, approver.as_ref()),
    }
}

/// Returns the approver's file: as given, or the default in the user's configuration folder.
pub(crate) fn approver_path(given: Option<&std::path::Path>) -> Result<PathBuf, Failure> {
    if let Some(path) = given {
        return Ok(path.to_owned());
    }
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = folder.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".config")));
    folder.map(|folder| folder.join("stickler/approver.json")).ok_or_else(|| {
        Failure::Usage("neither `XDG_CONFIG_HOME` nor `HOME` is set; use `--approver`".to_owned())
    })
}

fn init(path: &std::path::Path) -> Outcome {
    let file = path.display();
    if path.exists() {
        return Err(Failure::Usage(format!(
            "`{file}` already exists: decisions are signed with its passphrase\n\nhint: to choose another one, \
             delete the file and restart the servers"
        )));
    }
    let mut terminal = Terminal::open()?;
    terminal.print(
        "The passphrase is required for every decision about a gate. Agents must not know it.\n",
    )?;
    let passphrase = terminal.passphrase("New passphrase: ")?;
    let approver = Approver::create(&passphrase).map_err(Failure::Usage)?;
    if terminal.passphrase("Again: ")? != passphrase {
        return Err(Failure::Usage("the passphrases differ; nothing was written".to_owned()));
    }
    approver
        .save(path)
        .map_err(|error| Failure::Usage(format!("cannot write `{file}`: {error}")))?;
    terminal.print(&format!("Wrote {file}. Restart servers that are running.\n"))?;
    Ok(Exit::Success)
}

fn list(gates: &GateStore, format: Format) -> Outcome {
    let mut out = std::io::stdout().lock();
    for gate in gates.list().map_err(Failure::Usage)? {
        if format == Format::Json {
            writeln!(out, "{}", gate.to_json())?;
            continue;
        }
        let (id, status, title) = (&gate.id, gate.status(), printable(&gate.title, 200));
        let note =
            if gate.has_unproven_decision { " (ignored a decision without proof)" } else { "" };
        writeln!(out, "{id}  {status:8}  {}  {title}{note}", gate.opened_at)?;
    }
    Ok(Exit::Success)
}

fn decide(
    gates: &GateStore,
    given: &DecideOptions,
    is_approved: bool,
    approver: Option<&Approver>,
) -> Outcome {
    let approver = approver.ok_or_else(|| {
        Failure::Usage(
            "no approver is set up\n\nhint: run `stickler gate init`, then restart the servers"
                .to_owned(),
        )
    })?;
    let gate = gates.open_gate(&given.id).map_err(Failure::Usage)?;
    let mut terminal = Terminal::open()?;
    terminal.print(&question(&gate))?;
    let action = if is_approved { "approve" } else { "reject" };
    let passphrase = terminal.passphrase(&format!("Passphrase to {action} {}: ", gate.id))?;
    let key: ApproverKey = approver
        .unlock(&passphrase)
        .ok_or_else(|| Failure::Usage("wrong passphrase; nothing was decided".to_owned()))?;
    let decision = Decision { is_approved, reason: given.reason.clone() };
    gates.decide(&gate, &decision, &key).map_err(Failure::Usage)?;
    let done = if is_approved { "approved" } else { "rejected" };
    terminal.print(&format!("{done} {}\n", gate.id))?;
    Ok(Exit::Success)
}

/// Shows what is decided. The text comes from an agent and cannot control the terminal.
fn question(gate: &Gate) -> String {
    let mut text =
        format!("{} of {}\n  {}\n", gate.id, gate.opened_at, printable(&gate.title, 1000));
    for line in gate.details.iter().flat_map(|details| details.lines()) {
        let _ = writeln!(text, "  {}", printable(line, 1000));
    }
    if let Some(task) = &gate.task {
        let _ = writeln!(text, "  task: {}", printable(task, 100));
    }
    text
}
