"""Three lines add help to every bad call of a FastMCP server. Run it to see a bad call answered."""

import asyncio

from fastmcp import Client, FastMCP

from stickler_mcp.fastmcp import SticklerMiddleware

mcp = FastMCP("files")
mcp.add_middleware(SticklerMiddleware())


@mcp.tool
def write_file(path: str, content: str) -> str:
    """Write a text file."""
    return f"wrote {len(content)} characters to {path}"


async def main() -> None:
    async with Client(mcp) as client:
        for arguments in ({"filepath": "a.txt", "content": "hi"}, {"path": "a.txt", "content": "hi"}):
            result = await client.call_tool("write_file", arguments, raise_on_error=False)
            print(f"→ write_file {arguments}\n{result.content[0].text}\n")


if __name__ == "__main__":
    asyncio.run(main())
