"""The interceptor in the real LangChain adapter, in front of a real server process."""

import sys
from pathlib import Path

from langchain_mcp_adapters.client import MultiServerMCPClient

from stickler_mcp.langchain import SticklerInterceptor

SERVER = str(Path(__file__).parent / "stdio_server.py")


async def call(arguments: dict, **settings) -> str:
    async def list_tools(server_name: str):
        async with client.session(server_name) as session:
            return await session.list_tools()

    client = MultiServerMCPClient(
        {"files": {"command": sys.executable, "args": [SERVER], "transport": "stdio"}},
        tool_interceptors=[SticklerInterceptor(list_tools, **settings)],
    )
    tool = (await client.get_tools())[0]
    request = {"type": "tool_call", "id": "1", "name": "open", "args": arguments}
    content = (await tool.ainvoke(request)).content
    return "\n".join(block["text"] for block in content) if isinstance(content, list) else content


async def test_valid_call_reaches_the_server() -> None:
    assert await call({"path": "a"}) == '{"path": "a"}'


async def test_bad_call_gets_help() -> None:
    text = await call({"pth": "a"})
    assert "Tool call failed for: open" in text
    assert "Corrected Call" in text


async def test_assist_repairs() -> None:
    assert await call({"path": "a", "mode": "7"}, mode="assist") == '{"path": "a", "mode": 7}'


async def test_error_of_the_server_is_extended() -> None:
    assert "Valid fields: [path, mode]" in await call({"path": "picky"})
