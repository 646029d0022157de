"""Reads the Python examples of the documentation, for the tests that run them."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGES = ["README.md", "docs/packages.md", "bindings/python/README.md"]

# `expression   # value`; a value that is prose is not compared.
ANNOTATED = re.compile(r"^(?P<expression>result\.\w+)\s+# (?P<value>.*)$", re.MULTILINE)


def examples(containing: str) -> list[tuple[str, str]]:
    """Return the page and the text of each Python example that contains a text."""
    found = []
    for page in PAGES:
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
        found += [(page, block) for block in blocks if containing in block]
    return found


def annotations(example: str) -> list[tuple[str, object]]:
    """Return the expressions of an example whose value a comment states. `…` stands for anything."""
    stated = []
    for match in ANNOTATED.finditer(example):
        value = match["value"].replace(", …}", "}").replace("…", "...")
        try:
            stated.append((match["expression"], ast.literal_eval(value)))
        except (SyntaxError, ValueError):
            continue
    return stated


def fits(actual: object, stated: object) -> bool:
    """Return whether a value is the stated one; an object may have further members."""
    if stated is Ellipsis:
        return True
    if isinstance(stated, dict):
        return isinstance(actual, dict) and all(
            name in actual and fits(actual[name], value) for name, value in stated.items()
        )
    if isinstance(stated, list):
        return isinstance(actual, list) and len(actual) == len(stated) and all(map(fits, actual, stated))
    return actual == stated
