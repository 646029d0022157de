"""The middleware in a real FastMCP server, called by a real client."""

import pytest
from documentation import examples
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError

from stickler_mcp.fastmcp import SticklerMiddleware


def server(**settings) -> FastMCP:
    mcp = FastMCP("files")
    mcp.add_middleware(SticklerMiddleware(**settings))

    @mcp.tool
    def write_file(path: str, content: str, mode: int = 0) -> str:
        """Write a file."""
        if path == "forbidden":
            raise ToolError("permission denied")
        if path == "picky":
            raise ToolError("missing field `owner`")
        return f"{path}:{content}:{mode!r}"

    return mcp


async def call(mcp: FastMCP, arguments: dict, name: str = "write_file"):
    async with Client(mcp) as client:
        return await client.call_tool(name, arguments, raise_on_error=False)


async def test_valid_call_reaches_the_tool() -> None:
    result = await call(server(), {"path": "a", "content": "b"})
    assert (result.is_error, result.content[0].text) == (False, "a:b:0")


async def test_bad_call_gets_help_instead_of_a_validation_dump() -> None:
    result = await call(server(), {"pth": "a", "content": "b"})
    text = result.content[0].text
    assert result.is_error
    assert text.startswith("Tool call failed for: write_file")
    assert '"arguments":{"path":"a","content":"b"}' in text
    assert "pydantic" not in text


async def test_unknown_tool_gets_the_list() -> None:
    result = await call(server(), {}, name="write_fil")
    assert result.content[0].text.startswith("Unknown tool name. Available tools:\n- write_file")


async def test_assist_repairs() -> None:
    result = await call(server(mode="assist"), {"Path": "a", "content": "b", "mode": "7"})
    assert (result.is_error, result.content[0].text) == (False, "a:b:7")


async def test_observe_leaves_the_call_to_the_tool(caplog) -> None:
    result = await call(server(mode="observe"), {"pth": "a", "content": "b"})
    assert result.is_error
    assert "Tool call failed for" not in result.content[0].text
    assert "would be rejected" in caplog.text


async def test_errors_of_the_tool_about_arguments_are_extended_and_others_are_not() -> None:
    text = (await call(server(), {"path": "picky", "content": "b"})).content[0].text
    assert text.startswith("missing field `owner`")
    assert "Valid fields: [path, content, mode]" in text
    assert (await call(server(), {"path": "forbidden", "content": "b"})).content[0].text == "permission denied"


async def test_json_rpc_errors_are_raised() -> None:
    async with Client(server(answer="json-rpc-error")) as client:
        with pytest.raises(Exception, match="Tool call failed for: write_file"):
            await client.call_tool("write_file", {"pth": "a"})


async def test_tools_added_later_are_known() -> None:
    mcp = server()
    async with Client(mcp) as client:
        await client.call_tool("write_file", {"path": "a", "content": "b"})

        @mcp.tool
        def later(x: int) -> int:
            return x

        assert (await client.call_tool("later", {"x": 1})).data == 1


async def test_repeated_call_gets_another_answer() -> None:
    async with Client(server()) as client:
        calls = [await client.call_tool("write_file", {"pth": 1}, raise_on_error=False) for _ in range(2)]
    assert calls[1].content[0].text.startswith("This exact call has been rejected 2 times")


@pytest.mark.parametrize(("page", "example"), examples("SticklerMiddleware"))
async def test_example_of_the_documentation_runs(page: str, example: str) -> None:
    names = {}
    exec(example, names)

    @names["mcp"].tool
    def write_file(path: str, content: str) -> str:
        return f"{path}:{content}"

    assert (await call(names["mcp"], {"path": "a", "content": "b"})).content[0].text == "a:b"
    assert (await call(names["mcp"], {"pth": "a", "content": "b"})).content[0].text.startswith("Tool call failed for")


def test_the_documentation_has_the_example() -> None:
    assert {page for page, _ in examples("SticklerMiddleware")} >= {"docs/packages.md", "bindings/python/README.md"}
