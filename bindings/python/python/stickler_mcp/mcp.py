"""Middleware for servers on the official SDK, ``mcp`` 2.x; :func:`install` also supports 1.x.

The SDK passes arguments to a tool without helpful validation. With this middleware a bad call is answered with help,
and a tool's own error about its arguments is extended with the tool's fields.

.. code-block:: python

    from mcp.server.lowlevel import Server
    from stickler_mcp.mcp import install

    server = Server("files", on_list_tools=..., on_call_tool=...)
    install(server)                       # also for an `MCPServer`; settings as keyword arguments
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ._guard import Guard, session_key

_MODERN = "2026-07-28"


def install(server: Any, **settings: Any) -> None:
    """Check the calls of a low-level ``Server``, an ``MCPServer`` or, with ``mcp`` 1.x, a ``FastMCP`` server.

    Call it after the tools' handlers are registered (with ``mcp`` 1.x this matters). The settings are those of
    :class:`stickler_mcp.Validator`.
    """
    for attribute in ("_lowlevel_server", "_mcp_server"):
        server = getattr(server, attribute, server)
    if hasattr(server, "middleware"):
        server.middleware.append(SticklerMiddleware(**settings))
        return
    from .mcp_v1 import wrap_handlers

    wrap_handlers(server, Guard(**settings))


class SticklerMiddleware:
    """Middleware for ``Server.middleware`` of ``mcp`` 2.x. The settings are those of :class:`stickler_mcp.Validator`."""

    def __init__(self, **settings: Any) -> None:
        self._guard = Guard(**settings)

    async def __call__(self, ctx: Any, call_next: Any) -> Any:
        """Check a ``tools/call`` request; other messages pass."""
        params = ctx.params
        if ctx.method != "tools/call" or not isinstance(params, Mapping) or not isinstance(params.get("name"), str):
            return await call_next(ctx)
        name, session = params["name"], session_key(ctx.session)

        async def list_tools() -> list[Any]:
            return await _list_tools(ctx, call_next)

        admission = await self._guard.admit(
            session, name, params.get("arguments"), list_tools, meta=params.get("_meta")
        )
        if admission.answer is not None:
            return _answer(admission.answer, ctx.protocol_version)
        if admission.arguments is not params.get("arguments"):
            ctx = replace(ctx, params={**params, "arguments": admission.arguments})
        return await self._call(session, name, ctx, call_next, list_tools)

    async def _call(self, session: str, name: str, ctx: Any, call_next: Any, list_tools: Any) -> Any:
        from mcp.shared.exceptions import MCPError

        try:
            result = await call_next(ctx)
        except MCPError as error:
            reply = {"error": {"code": error.code, "message": error.message, "data": error.data}}
            if error.data is None:
                del reply["error"]["data"]
            enhanced = await self._guard.enhance(session, name, reply, list_tools)
            if enhanced is None:
                raise
            raise _error(enhanced["error"]) from error
        if not isinstance(result, dict) or result.get("isError") is not True:
            return result
        enhanced = await self._guard.enhance(session, name, {"result": result}, list_tools)
        return result if enhanced is None else enhanced["result"]


async def _list_tools(ctx: Any, call_next: Any) -> list[Any]:
    """Ask the rest of the chain for all pages of the list that this caller sees."""
    tools: list[Any] = []
    cursor: str | None = None
    seen: set[str | None] = set()
    while cursor not in seen:
        seen.add(cursor)
        params: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
        meta = (ctx.params or {}).get("_meta")
        if meta is not None:
            # Modern requests carry the client's revision and capabilities in `_meta`.
            params["_meta"] = meta
        page = await call_next(replace(ctx, method="tools/list", params=params))
        tools.extend(page["tools"])
        cursor = page.get("nextCursor")
        if cursor is None:
            break
    return tools


def _answer(answer: dict[str, Any], version: str) -> dict[str, Any]:
    if "error" in answer:
        raise _error(answer["error"])
    result: dict[str, Any] = answer["result"]
    # A middleware that answers itself is responsible for the whole envelope.
    return {**result, "resultType": "complete"} if version >= _MODERN else result


def _error(error: dict[str, Any]) -> Exception:
    from mcp.shared.exceptions import MCPError

    failure: Exception = MCPError(error["code"], error["message"], error.get("data"))
    return failure
