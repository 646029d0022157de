"""Middleware for FastMCP servers.

.. code-block:: python

    from fastmcp import FastMCP
    from stickler_mcp.fastmcp import SticklerMiddleware

    mcp = FastMCP("files")
    mcp.add_middleware(SticklerMiddleware())

A bad call is answered with help instead of a validation dump, before the tool runs. Add it last, so that it sees the
tools and arguments that other middleware leaves.
"""

from __future__ import annotations

from typing import Any

from fastmcp.exceptions import FastMCPError, ToolError
from fastmcp.server.middleware import Middleware, MiddlewareContext
from fastmcp.tools.base import ToolResult

from ._guard import Guard, session_key


class SticklerMiddleware(Middleware):
    """Checks the calls of a FastMCP server. The settings are those of :class:`stickler_mcp.Validator`."""

    def __init__(self, **settings: Any) -> None:
        self._guard = Guard(**settings)

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: Any) -> Any:
        """Check a call, and extend the tool's own error about its arguments."""
        message = context.message
        name, arguments, session = message.name, message.arguments, _session(context)

        async def list_tools() -> list[Any]:
            return await _list_tools(context)

        meta = message.meta if isinstance(message.meta, dict) else None
        admission = await self._guard.admit(session, name, arguments, list_tools, meta=meta)
        if admission.answer is not None:
            return _answer(admission.answer)
        if admission.arguments is not arguments:
            context = context.copy(message=message.model_copy(update={"arguments": admission.arguments}))
        try:
            result = await call_next(context)
        except FastMCPError as error:
            reply = {"error": {"code": 0, "message": str(error)}}
            enhanced = await self._guard.enhance(session, name, reply, list_tools)
            if enhanced is None:
                raise
            raise ToolError(enhanced["error"]["message"], log_level=error.log_level) from error
        return await self._enhanced(session, name, result, list_tools)

    async def _enhanced(self, session: str, name: str, result: Any, list_tools: Any) -> Any:
        if not isinstance(result, ToolResult) or not result.is_error:
            return result
        content = [block.model_dump(by_alias=True, exclude_none=True, mode="json") for block in result.content]
        reply: dict[str, Any] = {"result": {"content": content, "isError": True}}
        if result.meta is not None:
            reply["result"]["_meta"] = result.meta
        enhanced = await self._guard.enhance(session, name, reply, list_tools)
        return result if enhanced is None else _answer(enhanced)


async def _list_tools(context: MiddlewareContext[Any]) -> list[Any]:
    """List the tools that this caller sees; other middleware may add, hide or rename some."""
    server = context.fastmcp_context.fastmcp  # type: ignore[union-attr]
    return [tool.to_mcp_tool() for tool in await server.list_tools()]


def _answer(answer: dict[str, Any]) -> Any:
    if "error" in answer:
        from mcp.shared.exceptions import MCPError

        error = answer["error"]
        raise MCPError(error["code"], error["message"], error.get("data"))
    from mcp.types import CallToolResult

    return ToolResult.from_mcp_result(CallToolResult.model_validate(answer["result"]))


def _session(context: MiddlewareContext[Any]) -> str:
    request = context.fastmcp_context.request_context  # type: ignore[union-attr]
    # A call from Python has no session.
    return "" if request is None else session_key(request.session)
