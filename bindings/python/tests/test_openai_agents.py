"""The guardrail in the real OpenAI Agents SDK: a run with a scripted model and a real MCP server process."""

import sys
from pathlib import Path

from agents import Agent, ModelResponse, RunConfig, Runner, Usage
from agents.mcp import MCPServerStdio
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from stickler_mcp.openai_agents import tool_input_guardrail

SERVER = str(Path(__file__).parent / "stdio_server.py")


class ScriptedModel(Model):
    """Makes one call, then repeats what the tool returned."""

    def __init__(self, arguments: str) -> None:
        self.arguments = arguments

    async def get_response(self, *args, **kwargs) -> ModelResponse:
        items = kwargs.get("input", args[1] if len(args) > 1 else None)
        outputs = [
            item["output"] for item in items if isinstance(item, dict) and item.get("type") == "function_call_output"
        ]
        if outputs:
            text = outputs[-1] if isinstance(outputs[-1], str) else str(outputs[-1])
            content = [ResponseOutputText(type="output_text", text=text, annotations=[])]
            output = ResponseOutputMessage(
                id="m", type="message", role="assistant", status="completed", content=content
            )
        else:
            output = ResponseFunctionToolCall(
                id="c", type="function_call", call_id="1", name="open", arguments=self.arguments
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


async def run(arguments: str) -> str:
    server = MCPServerStdio(
        params={"command": sys.executable, "args": [SERVER]},
        client_session_timeout_seconds=120,
        tool_input_guardrails=[tool_input_guardrail(lambda: server.list_tools())],
    )
    async with server:
        agent = Agent(name="agent", model=ScriptedModel(arguments), mcp_servers=[server])
        result = await Runner.run(agent, "open a", run_config=RunConfig(tracing_disabled=True))
        return str(result.final_output)


async def test_valid_call_reaches_the_server() -> None:
    assert "path" in await run('{"path": "a"}')
    assert "Tool call failed" not in await run('{"path": "a"}')


async def test_bad_call_is_rejected_with_help() -> None:
    text = await run('{"pth": "a"}')
    assert text.startswith("Tool call failed for: open")
    assert "Corrected Call" in text


async def test_text_that_is_not_json_is_rejected_with_help() -> None:
    assert "not JSON" in await run("{'path': 'a'}")
