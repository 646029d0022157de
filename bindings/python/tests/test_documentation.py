"""Runs the examples of the documentation that need nothing but the package."""

import pytest
from documentation import annotations, examples, fits

TEXT = {"type": "string"}
TOOLS = [
    {
        "name": "write_file",
        "inputSchema": {
            "type": "object",
            "properties": {"path": TEXT, "content": TEXT},
            "required": ["path", "content"],
        },
    }
]
CHECKS = examples("Validator(tools)")


def test_examples_were_found() -> None:
    assert {page for page, _ in CHECKS} == {"docs/packages.md", "bindings/python/README.md"}


@pytest.mark.parametrize(("page", "example"), CHECKS)
def test_results_are_as_the_comments_say(page: str, example: str) -> None:
    names = {"tools": TOOLS}
    exec(example, names)
    stated = annotations(example)
    assert len(stated) >= 2
    for expression, value in stated:
        assert fits(eval(expression, names), value), f"{page}: {expression}"
