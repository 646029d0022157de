"""The script ``stickler-mcp``: executes the program ``stickler`` that the wheel carries.

``uvx stickler-mcp`` runs the script with the name of the package, hence the second name.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

_NAME = "stickler.exe" if os.name == "nt" else "stickler"


def find_stickler() -> Path | None:
    """Return the path of the program, or ``None`` if this installation does not have it."""
    folders: list[str | Path] = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user")),
        # Installed with `pip install --target`.
        Path(__file__).parent.parent / "bin",
        # `uvx` and `pipx` run this script from the folder that also has the program.
        Path(sys.argv[0]).parent,
    ]
    for folder in folders:
        path = Path(folder) / _NAME
        if path.is_file():
            return path
    return None


def main() -> None:
    """Execute ``stickler`` with the arguments of this process."""
    path = find_stickler()
    if path is None:
        sys.exit(
            "error: this installation has no `stickler` program: it is included in the wheels for Linux and macOS; "
            "the Python library works without it"
        )
    command = [str(path), *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    # Replaces this process, so that signals and the exit code need no forwarding.
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
