"""Tests of the typed API: conversions, bad input, threads and documentation."""

import doctest
import json
import threading
from collections import OrderedDict
from enum import Enum

import pytest

import stickler_mcp
from stickler_mcp import Validator, _native, _validator

TOOL = {
    "name": "write_file",
    "inputSchema": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}, "mode": {"type": "integer"}},
        "required": ["path"],
    },
}


class Color(str, Enum):
    RED = "red"


@pytest.mark.parametrize("module", [stickler_mcp, _validator])
def test_examples_in_docstrings_run(module) -> None:
    failures, tests = doctest.testmod(module)
    assert (failures, tests > 0) == (0, True)


@pytest.mark.parametrize(
    "value",
    [
        {"a": [1, -2, 3.5, 1e300, True, None, "x"], "b": {}},
        {"text": 'quote " backslash \\ newline \n tab \t bell \x07 ü 😀 \x7f \u2028'},
        {"big": 2**80, "float": 1.0, "tuple": (1, 2)},
        OrderedDict(b=1, a=2),
        {"enum": Color.RED, 1: "key"},
        {"lone": "\ud800"},
    ],
)
def test_json_is_that_of_the_json_module(value) -> None:
    assert json.loads(_native.to_json(value)) == json.loads(json.dumps(value))


def recursive() -> list:
    value: list = []
    value.append(value)
    value.append(value)
    return value


def deep() -> list:
    value: list = []
    for _ in range(100_000):
        value = [value]
    return value


@pytest.mark.parametrize(
    "arguments",
    [recursive(), deep(), {1, 2}, object(), {"path": float("nan")}, {"path": b"x"}, {(1, 2): 3}, "text", 7, [], True],
)
def test_no_input_raises(arguments) -> None:
    validator = Validator([TOOL])
    result = validator.check("write_file", arguments)
    assert not result.valid
    assert result.errors[0]["message"]
    assert not validator.admit("write_file", arguments).admitted
    assert validator.help_prompt("write_file", arguments)


@pytest.mark.parametrize("text", ["", "{", "nul", "\x00", "[" * 200, "{'path': 'a'}", '```json\n{"path":"a"}\n```'])
def test_no_text_raises(text) -> None:
    result = Validator([TOOL]).check_json("write_file", text)
    assert (result.valid, result.errors[0]["kind"]) == (False, "invalid_json")


def test_fenced_text_is_corrected() -> None:
    result = Validator([TOOL]).check_json("write_file", '```json\n{"path":"a"}\n```')
    assert result.corrected == {"name": "write_file", "arguments": {"path": "a"}}


def test_bad_settings_raise() -> None:
    with pytest.raises(ValueError, match="unknown variant `never`"):
        Validator([TOOL], repair="never")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Validator([TOOL], repiar="off")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="tool list"):
        Validator("{}")


def test_unusable_schema_is_reported_and_its_calls_pass() -> None:
    validator = Validator([TOOL, {"name": "odd", "inputSchema": {"type": "strng"}}])
    assert len(validator.problems) == 1
    result = validator.check("odd", {"x": 1})
    assert result.valid
    assert result.unchecked


def test_tools_can_be_replaced() -> None:
    validator = Validator([TOOL])
    validator.set_tools({"tools": [{"name": "other", "inputSchema": {"type": "object"}}]})
    assert validator.check("write_file", {}).errors[0]["kind"] == "unknown_tool"


def test_other_threads_run_while_a_call_is_checked() -> None:
    validator = Validator([{"name": "t", "inputSchema": {"type": "object", "properties": {"a": {"type": "array"}}}}])
    big = json.dumps({"a": [{"k": i} for i in range(300_000)]})
    ticks, done = [], threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(1)
            done.wait(0.0001)

    thread = threading.Thread(target=tick)
    thread.start()
    before = len(ticks)
    for _ in range(5):
        validator._native.check_json("t", big)
    during = len(ticks) - before
    done.set()
    thread.join()
    assert during > 5
