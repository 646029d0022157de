"""The adapter for ``mcp`` 1.x, whose servers have no middleware: it wraps the handler of ``tools/call``.

Use :func:`stickler_mcp.mcp.install`. The SDK's own check of arguments comes after this one, so it no longer rejects
anything that a model could have corrected with help.
"""

from __future__ import annotations

from typing import Any

from ._guard import Guard


def wrap_handlers(server: Any, guard: Guard) -> None:
    """Replace the handler of ``tools/call`` by one that checks the call first."""
    from mcp import types

    handlers = server.request_handlers
    call_tool = handlers.get(types.CallToolRequest)
    if call_tool is None:
        raise ValueError("the server has no handler for `tools/call` yet; install Stickler after registering it")

    async def list_tools() -> list[Any]:
        return await _list_tools(handlers[types.ListToolsRequest])

    async def checked(request: types.CallToolRequest) -> Any:
        name, arguments = request.params.name, request.params.arguments
        session = _session(server)
        meta = request.params.meta.model_dump() if request.params.meta else None
        admission = await guard.admit(session, name, arguments, list_tools, meta=meta)
        if admission.answer is not None:
            return _answer(admission.answer)
        if admission.arguments is not arguments:
            params = request.params.model_copy(update={"arguments": admission.arguments})
            request = request.model_copy(update={"params": params})
        outcome = await call_tool(request)
        return await _enhanced(guard, session, name, outcome, list_tools)

    handlers[types.CallToolRequest] = checked


async def _enhanced(guard: Guard, session: int, name: str, outcome: Any, list_tools: Any) -> Any:
    from mcp import types

    result = getattr(outcome, "root", None)
    if not isinstance(result, types.CallToolResult) or not result.isError:
        return outcome
    reply = {"result": result.model_dump(by_alias=True, exclude_none=True, mode="json")}
    enhanced = await guard.enhance(session, name, reply, list_tools)
    return outcome if enhanced is None else _answer(enhanced)


async def _list_tools(handler: Any) -> list[Any]:
    from mcp import types

    tools: list[Any] = []
    cursor: str | None = None
    seen: set[str | None] = set()
    while cursor not in seen:
        seen.add(cursor)
        params = types.PaginatedRequestParams(cursor=cursor) if cursor is not None else None
        page = (await handler(types.ListToolsRequest(params=params))).root
        tools.extend(page.tools)
        cursor = page.nextCursor
        if cursor is None:
            break
    return tools


def _answer(answer: dict[str, Any]) -> Any:
    from mcp import types
    from mcp.shared.exceptions import McpError

    if "error" in answer:
        raise McpError(types.ErrorData(**answer["error"]))
    return types.ServerResult(types.CallToolResult.model_validate(answer["result"]))


def _session(server: Any) -> int:
    """Identify the session of the current request."""
    try:
        return id(server.request_context.session)
    except LookupError:
        return 0
