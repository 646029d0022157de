"""The wrapped handler in real servers on `mcp` 1.x."""

import pytest
from mcp import types
from mcp.server.fastmcp import FastMCP
from mcp.server.lowlevel import Server
from mcp.shared.memory import create_connected_server_and_client_session as connect

from stickler_mcp.mcp import install

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "mode": {"type": "integer"}},
    "required": ["path"],
}


def server(**settings) -> Server:
    server = Server("files")

    @server.list_tools()
    async def list_tools() -> list[types.Tool]:
        return [types.Tool(name="open", inputSchema=SCHEMA)]

    @server.call_tool()
    async def call_tool(name: str, arguments: dict) -> list[types.TextContent]:
        if arguments["path"] == "picky":
            raise ValueError("missing field `owner`")
        return [types.TextContent(type="text", text=repr(arguments))]

    install(server, **settings)
    return server


async def call(server, arguments, name="open"):
    async with connect(server) as client:
        return await client.call_tool(name, arguments)


async def test_valid_call_reaches_the_tool() -> None:
    result = await call(server(), {"path": "a"})
    assert (result.isError, result.content[0].text) == (False, "{'path': 'a'}")


async def test_bad_call_gets_help() -> None:
    result = await call(server(), {"pth": "a"})
    assert result.isError
    assert result.content[0].text.startswith("Tool call failed for: open")
    assert result.meta["dev.stickler/validation"]["corrected"]["arguments"] == {"path": "a"}


async def test_unknown_tool_gets_the_list() -> None:
    assert "- open" in (await call(server(), {}, name="opn")).content[0].text


async def test_assist_repairs() -> None:
    result = await call(server(mode="assist"), {"path": "a", "mode": "7"})
    assert result.content[0].text == "{'path': 'a', 'mode': 7}"


async def test_error_of_the_tool_is_extended() -> None:
    result = await call(server(), {"path": "picky"})
    assert result.content[0].text == "missing field `owner`"
    assert "Valid fields: [path, mode]" in result.content[1].text


async def test_fastmcp_of_the_sdk_is_supported() -> None:
    mcp = FastMCP("files")

    @mcp.tool()
    def open(path: str) -> str:
        return path

    install(mcp)
    assert (await call(mcp._mcp_server, {"path": "a"})).content[0].text == "a"
    assert (await call(mcp._mcp_server, {"pth": "a"})).content[0].text.startswith("Tool call failed for: open")


def test_server_without_handler_is_an_error() -> None:
    with pytest.raises(ValueError, match="no handler"):
        install(Server("empty"))
