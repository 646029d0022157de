"""An interceptor for ``langchain-mcp-adapters``.

.. code-block:: python

    from langchain_mcp_adapters.client import MultiServerMCPClient
    from stickler_mcp.langchain import SticklerInterceptor

    async def list_tools(server_name):
        async with client.session(server_name) as session:
            return await session.list_tools()

    client = MultiServerMCPClient(connections, tool_interceptors=[SticklerInterceptor(list_tools)])

A bad call is not sent; the agent receives the help as the result of the tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._guard import Guard, ListTools, tool_source


class SticklerInterceptor:
    """Checks the calls of a client.

    ``tools`` is a tool list, a dictionary of tool lists by server, or a function that fetches the list of a server by its
    name. The settings are those of :class:`stickler_mcp.Validator`.
    """

    def __init__(self, tools: Any, **settings: Any) -> None:
        self._tools = tools
        self._guard = Guard(**settings)

    async def __call__(self, request: Any, handler: Any) -> Any:
        """Check a call, repair it if the settings allow that, and extend the server's error about its arguments."""
        from mcp.types import CallToolResult

        session, list_tools = request.server_name, self._source(request.server_name)
        admission = await self._guard.admit(session, request.name, request.args, list_tools)
        if not admission.admitted:
            content = [{"type": "text", "text": admission.text}]
            return CallToolResult.model_validate({"content": content, "isError": True})
        if admission.arguments is not request.args:
            request = request.override(args=admission.arguments)
        result = await handler(request)
        if not isinstance(result, CallToolResult):
            return result
        reply = {"result": result.model_dump(by_alias=True, exclude_none=True, mode="json")}
        enhanced = await self._guard.enhance(session, request.name, reply, list_tools)
        return result if enhanced is None else CallToolResult.model_validate(enhanced["result"])

    def _source(self, server: str) -> ListTools:
        if isinstance(self._tools, Mapping) and server in self._tools:
            return tool_source(self._tools[server])
        if callable(self._tools):
            return tool_source(lambda: self._tools(server))
        return tool_source(self._tools)
