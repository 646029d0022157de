"""The plugin in the real plugin manager of CPEX, configured as a gateway does it."""

import pytest
from cpex.framework import GlobalContext, PluginManager, ToolHookType, ToolPreInvokePayload

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "mode": {"type": "integer"}},
    "required": ["path"],
}
CONFIG = """
plugins:
  - name: stickler
    kind: stickler_mcp.contextforge.SticklerPlugin
    hooks: [tool_pre_invoke]
    mode: {mode}
    priority: 1
    config: {settings}
plugin_dirs: []
plugin_settings:
  plugin_timeout: 30
  fail_on_plugin_error: true
"""


@pytest.fixture
def invoke(tmp_path):
    async def run(arguments: dict, settings: str = "{}", tool: object = None):
        file = tmp_path / "plugins.yaml"
        file.write_text(CONFIG.replace("{mode}", "sequential").replace("{settings}", settings), encoding="utf-8")
        PluginManager.reset()
        manager = PluginManager(str(file))
        await manager.initialize()
        try:
            metadata = {"tool": {"name": "open", "input_schema": SCHEMA} if tool is None else tool}
            context = GlobalContext(request_id="1", metadata=metadata)
            payload = ToolPreInvokePayload(name="open", args=arguments)
            result, _ = await manager.invoke_hook(ToolHookType.TOOL_PRE_INVOKE, payload, context)
            return result
        finally:
            await manager.shutdown()

    return run


async def test_valid_call_passes(invoke) -> None:
    result = await invoke({"path": "a"})
    assert result.continue_processing
    assert result.violation is None


async def test_bad_call_is_stopped_with_help(invoke) -> None:
    result = await invoke({"pth": "a"})
    assert not result.continue_processing
    assert result.violation.description.startswith("Tool call failed for: open")
    assert result.violation.mcp_error_code == -32602


async def test_assist_repairs(invoke) -> None:
    result = await invoke({"path": "a", "mode": "7"}, "{mode: assist}")
    assert result.modified_payload.args == {"path": "a", "mode": 7}


async def test_call_of_a_tool_without_definition_passes(invoke) -> None:
    assert (await invoke({"pth": "a"}, tool={})).continue_processing
