"""The guardrail in the hooks of a real LiteLLM proxy."""

import litellm
import pytest
from litellm.caching.caching import DualCache
from litellm.exceptions import GuardrailRaisedException
from litellm.proxy._types import UserAPIKeyAuth
from litellm.proxy.utils import ProxyLogging

from stickler_mcp.litellm import SticklerGuardrail

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "mode": {"type": "integer"}},
    "required": ["path"],
}


async def arguments_after(arguments: dict, **settings) -> dict:
    """Send a call through the proxy's hooks, as its MCP gateway does, and return the arguments for the server."""
    litellm.callbacks = [SticklerGuardrail(settings)]
    proxy = ProxyLogging(user_api_key_cache=DualCache())
    call = {
        "name": "open",
        "arguments": arguments,
        "server_name": "files",
        "tool_description": "Opens a file.",
        "tool_input_schema": SCHEMA,
        "user_api_key_auth": UserAPIKeyAuth(),
    }
    request = proxy.create_mcp_request_object_from_kwargs(call)
    data = proxy.convert_mcp_to_llm_format(request, call)
    data = await proxy.pre_call_hook(user_api_key_dict=UserAPIKeyAuth(), data=data, call_type="call_mcp_tool")
    return proxy.convert_mcp_hook_response_to_kwargs(data, call)["arguments"]


async def test_valid_call_passes() -> None:
    assert await arguments_after({"path": "a"}) == {"path": "a"}


async def test_bad_call_is_blocked_with_help() -> None:
    with pytest.raises(GuardrailRaisedException) as caught:
        await arguments_after({"pth": "a"})
    assert str(caught.value).startswith("Tool call failed for: open")
    assert "Corrected Call" in str(caught.value)


async def test_assist_repairs() -> None:
    assert await arguments_after({"path": "a", "mode": "7"}, mode="assist") == {"path": "a", "mode": 7}


async def test_other_calls_pass() -> None:
    guardrail = SticklerGuardrail()
    data = {"messages": []}
    assert await guardrail.async_pre_call_hook(None, None, data, "completion") is data
