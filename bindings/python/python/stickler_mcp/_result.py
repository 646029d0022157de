"""The results of checks, as typed data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict


class Error(TypedDict):
    """One problem with a call."""

    path: str
    """JSON Pointer within the arguments; empty for the arguments themselves."""
    schema_path: str
    """JSON Pointer within the schema to the keyword that failed."""
    kind: Literal[
        "missing_required",
        "type_mismatch",
        "unknown_field",
        "invalid_value",
        "invalid_enum",
        "unknown_tool",
        "invalid_json",
    ]
    message: str
    """One sentence that the caller can act on."""
    expected: str
    received: str
    suggestions: list[str]
    """The names or values that were probably meant, best first."""


# ``from`` is a keyword of Python, hence the functional form.
Edit = TypedDict("Edit", {"edit": str, "path": str, "from": str, "to": str})
"""One change that leads to the corrected call."""


class CorrectedCall(TypedDict):
    """The call as it was probably meant. It satisfies the tool's schema."""

    name: str
    arguments: Any


class Finding(TypedDict):
    """A finding of the linter about a tool definition."""

    tool: str | None
    rule: str
    severity: Literal["error", "warning", "note"]
    path: str
    message: str
    fix: str


@dataclass(frozen=True, slots=True)
class Result:
    """The result of checking a call."""

    valid: bool
    """Whether the tool can be called, with :attr:`arguments`."""
    arguments: Any = None
    """The arguments to call the tool with: the given ones, or repaired ones. ``None`` if the call is rejected."""
    errors: list[Error] = field(default_factory=list)
    """The problems; for a repaired call, those before the repair."""
    help: str | None = None
    """For a rejected call: Markdown from which a language model can correct the call."""
    corrected: CorrectedCall | None = None
    """The call as it was probably meant, if that is clear."""
    edits: list[Edit] = field(default_factory=list)
    """The edits that lead to the corrected call."""
    unchecked: str | None = None
    """Why the call was accepted without a complete check."""

    def __bool__(self) -> bool:
        return self.valid


@dataclass(frozen=True, slots=True)
class Admission:
    """What an adapter does with a call."""

    admitted: bool
    """Whether to call the tool, with :attr:`arguments`."""
    arguments: Any = None
    answer: dict[str, Any] | None = None
    """The answer to a rejected call: ``{"result": …}``, a tool result, or ``{"error": …}``, a JSON-RPC error."""
    problems: list[str] = field(default_factory=list)
    """What to log, one sentence for each problem."""
    edits: str = ""
    """The repairs in words."""

    @property
    def text(self) -> str:
        """The text of the answer, for interfaces that take nothing else."""
        if self.answer is None:
            return ""
        if "error" in self.answer:
            return str(self.answer["error"]["message"])
        return str(self.answer["result"]["content"][0]["text"])
