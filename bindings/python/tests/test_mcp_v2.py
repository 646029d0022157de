"""The middleware in real servers on `mcp` 2.x, in both eras of the protocol."""

import mcp_types as types
import pytest
from mcp import Client
from mcp.server import Server
from mcp.server.mcpserver import MCPServer

from stickler_mcp.mcp import install

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "mode": {"type": "integer"}},
    "required": ["path"],
}


def server(**settings) -> Server:
    async def list_tools(ctx, params):
        if params is None or params.cursor is None:
            other = types.Tool(name="stat", input_schema={"type": "object"})
            return types.ListToolsResult(tools=[other], next_cursor="2")
        return types.ListToolsResult(tools=[types.Tool(name="open", input_schema=SCHEMA)])

    async def call_tool(ctx, params):
        if params.arguments["path"] == "picky":
            content = [types.TextContent(type="text", text="missing field `owner`")]
            return types.CallToolResult(content=content, is_error=True)
        return types.CallToolResult(content=[types.TextContent(type="text", text=repr(params.arguments))])

    server = Server("files", on_list_tools=list_tools, on_call_tool=call_tool)
    install(server, **settings)
    return server


@pytest.fixture(params=["legacy", "auto"])
def mode(request):
    return request.param


async def call(server, arguments, name="open", mode="auto"):
    async with Client(server, mode=mode) as client:
        return await client.call_tool(name, arguments)


async def test_valid_call_reaches_the_tool(mode) -> None:
    result = await call(server(), {"path": "a"}, mode=mode)
    assert (result.is_error, result.content[0].text) == (False, "{'path': 'a'}")


async def test_bad_call_gets_help(mode) -> None:
    result = await call(server(), {"pth": "a"}, mode=mode)
    assert result.is_error
    assert result.content[0].text.startswith("Tool call failed for: open")
    assert result.meta["dev.stickler/validation"]["corrected"]["arguments"] == {"path": "a"}


async def test_unknown_tool_gets_the_list(mode) -> None:
    assert "- open" in (await call(server(), {}, name="opn", mode=mode)).content[0].text


async def test_assist_repairs(mode) -> None:
    result = await call(server(mode="assist"), {"path": "a", "mode": "7"}, mode=mode)
    assert result.content[0].text == "{'path': 'a', 'mode': 7}"


async def test_error_of_the_tool_is_extended(mode) -> None:
    result = await call(server(), {"path": "picky"}, mode=mode)
    assert result.content[0].text == "missing field `owner`"
    assert "Valid fields: [path, mode]" in result.content[1].text


async def test_mcp_server_is_supported(mode) -> None:
    mcp = MCPServer("files")

    @mcp.tool()
    def open(path: str) -> str:
        return path

    install(mcp)
    assert (await call(mcp, {"path": "a"}, mode=mode)).content[0].text == "a"
    assert (await call(mcp, {"pth": "a"}, mode=mode)).content[0].text.startswith("Tool call failed for: open")


async def test_repeated_call_gets_another_answer(mode) -> None:
    async with Client(server(), mode=mode) as client:
        calls = [await client.call_tool("open", {"pth": 1}) for _ in range(2)]
    assert calls[1].content[0].text.startswith("This exact call has been rejected 2 times")
