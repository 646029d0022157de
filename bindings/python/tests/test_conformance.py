"""Runs the conformance table: verdicts, help, corrected calls and answers are those of every other adapter."""

import json
from pathlib import Path

import pytest

from stickler_mcp import Validator

FOLDER = Path(__file__).resolve().parents[3] / "conformance"
TOOLS = json.loads((FOLDER / "tools.json").read_text(encoding="utf-8"))
CASES = [
    json.loads(line)
    for file in sorted(FOLDER.glob("*.jsonl"))
    for line in file.read_text(encoding="utf-8").splitlines()
]


def judge(case: dict) -> dict:
    """Return what the package does with a case, in the form of its expectation."""
    validator = Validator(TOOLS[case["tools"]], **case.get("config", {}))
    call = case["call"]
    name, turn = call["name"], case.get("turn")
    if "arguments_text" in call:
        result = validator.check_json(name, call["arguments_text"])
        admission = [
            validator.admit_json(name, call["arguments_text"], turn=turn) for _ in range(case.get("times", 1))
        ][-1]
        given = json.loads(call["arguments_text"])
    else:
        # An absent member means that the call has no arguments; `null` is a value.
        given = call.get("arguments")
        text = json.dumps(given) if "arguments" in call and given is None else None
        result = validator.check(name, given) if text is None else validator.check_json(name, text)
        admit = validator.admit if text is None else validator.admit_json
        admission = [admit(name, text or given, turn=turn) for _ in range(case.get("times", 1))][-1]
    repaired = admission.admitted and admission.arguments is not given and admission.arguments != given
    found = {
        "verdict": "reject" if not admission.admitted else "repair" if repaired else "forward",
        "valid": result.valid,
        "forwarded": admission.arguments if repaired else None,
        "unchecked": result.unchecked,
        "errors": result.errors,
        "corrected": result.corrected,
        "edits": result.edits if result.corrected else None,
        "help": result.help,
        "answer": admission.answer,
    }
    if "server" in case:
        enhanced = validator.enhance_reply(name, case["server"])
        found["enhanced"] = enhanced is not None
        found["answer"] = enhanced or case["server"]
        server = case["server"].get("result")
        if server is not None and server.get("isError") is not True:
            found["output_errors"] = validator.check_output(name, server.get("structuredContent"))
    return {member: value for member, value in found.items() if value not in (None, [])}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_conforms(case: dict) -> None:
    assert judge(case) == case["expect"]


def test_table_is_complete() -> None:
    assert len(CASES) > 100
