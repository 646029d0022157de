"""Validates tool calls of the Model Context Protocol (MCP) before they are made.

A bad call is answered with everything that its caller needs to correct it: the path of each problem, what was
expected, "did you mean" suggestions, a valid example and the corrected call.

>>> from stickler_mcp import Validator
>>> validator = Validator([{
...     "name": "write_file",
...     "inputSchema": {
...         "type": "object",
...         "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
...         "required": ["path", "content"],
...     },
... }])
>>> validator.check("write_file", {"path": "a.txt", "content": "hi"}).valid
True
>>> result = validator.check("write_file", {"pth": "a.txt", "content": "hi"})
>>> result.errors[0]["message"]
'`pth` is not a known field; did you mean `path` (string, required)?'
>>> result.corrected
{'name': 'write_file', 'arguments': {'path': 'a.txt', 'content': 'hi'}}

Adapters for SDKs and frameworks are in the modules ``stickler_mcp.mcp``, ``fastmcp``, ``langchain``,
``openai_agents``, ``litellm`` and ``contextforge``.
"""

from ._native import __version__
from ._result import Admission, CorrectedCall, Edit, Error, Finding, Result
from ._validator import Validator, lint

__all__ = [
    "Admission",
    "CorrectedCall",
    "Edit",
    "Error",
    "Finding",
    "Result",
    "Validator",
    "__version__",
    "lint",
]
