"""A guardrail for the OpenAI Agents SDK (``openai-agents``).

.. code-block:: python

    from agents.mcp import MCPServerStdio
    from stickler_mcp.openai_agents import tool_input_guardrail

    server = MCPServerStdio(
        params={"command": "my-server"},
        tool_input_guardrails=[tool_input_guardrail(lambda: server.list_tools())],
    )

A bad call is not made; the model receives the help instead. Guardrails cannot change arguments, so nothing is repaired.
"""

from __future__ import annotations

from typing import Any

from agents import ToolGuardrailFunctionOutput, ToolInputGuardrail, ToolInputGuardrailData

from ._guard import Guard, tool_source


def tool_input_guardrail(tools: Any, **settings: Any) -> ToolInputGuardrail[Any]:
    """Return a guardrail for tools or for an MCP server.

    ``tools`` is a tool list or a function that fetches it. The settings are those of :class:`stickler_mcp.Validator`.
    """
    guard = Guard(**{"repair": "suggest", **settings})
    list_tools = tool_source(tools)

    async def check(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        context = data.context
        admission = await guard.admit_json("", context.tool_name, context.tool_arguments or None, list_tools)
        if admission.admitted:
            return ToolGuardrailFunctionOutput.allow()
        return ToolGuardrailFunctionOutput.reject_content(admission.text, output_info={"problems": admission.problems})

    return ToolInputGuardrail(guardrail_function=check, name="stickler")
