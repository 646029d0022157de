"""A server on stdio for the tests, which returns the arguments of a call. Runs on `mcp` 1.x."""

import asyncio
import json

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "mode": {"type": "integer"}},
    "required": ["path"],
}
server = Server("files")


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    return [types.Tool(name="open", description="Opens a file.", inputSchema=SCHEMA)]


@server.call_tool(validate_input=False)
async def call_tool(name: str, arguments: dict) -> list[types.TextContent]:
    if arguments.get("path") == "picky":
        raise ValueError("missing field `owner`")
    return [types.TextContent(type="text", text=json.dumps(arguments))]


async def main() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
