"""A plugin for ContextForge and other gateways on the CPEX framework.

In the plugin configuration:

.. code-block:: yaml

    plugins:
      - name: stickler
        kind: stickler_mcp.contextforge.SticklerPlugin
        hooks: [tool_pre_invoke]
        mode: enforce
        config: {mode: assist}          # the settings of stickler_mcp.Validator

A bad call is stopped with the help as the description of the violation; unambiguous corrections are made if the settings
allow that. The gateway passes the definition of the tool in the metadata of the request; a call without one passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cpex.framework import (
    Plugin,
    PluginConfig,
    PluginContext,
    PluginViolation,
    ToolPreInvokePayload,
    ToolPreInvokeResult,
)
from cpex.framework.constants import TOOL_METADATA

from ._guard import Guard, tool_source

_INVALID_PARAMS = -32602


class SticklerPlugin(Plugin):
    """Checks tool calls before a gateway makes them."""

    def __init__(self, config: PluginConfig) -> None:
        super().__init__(config)
        self._guard = Guard(**(config.config or {}))

    async def tool_pre_invoke(self, payload: ToolPreInvokePayload, context: PluginContext) -> ToolPreInvokeResult:
        """Check a call."""
        tool = _definition(payload.name, context.global_context.metadata.get(TOOL_METADATA))
        if tool is None:
            return ToolPreInvokeResult()
        session = (context.global_context.server_id, context.global_context.user, payload.name)
        admission = await self._guard.admit(session, payload.name, payload.args, tool_source([tool]))
        if not admission.admitted:
            violation = PluginViolation(
                reason="Invalid tool call arguments",
                description=admission.text,
                code="STK-107",
                details={"problems": admission.problems},
                mcp_error_code=_INVALID_PARAMS,
            )
            return ToolPreInvokeResult(continue_processing=False, violation=violation)
        if admission.arguments == payload.args:
            return ToolPreInvokeResult()
        return ToolPreInvokeResult(modified_payload=payload.model_copy(update={"args": admission.arguments}))


def _definition(name: str, metadata: Any) -> dict[str, Any] | None:
    """Return the definition of a tool from the gateway's record of it, a model or a dictionary."""

    def member(*names: str) -> Any:
        for one in names:
            found = metadata.get(one) if isinstance(metadata, Mapping) else getattr(metadata, one, None)
            if found is not None:
                return found
        return None

    schema = member("input_schema", "inputSchema")
    if schema is None:
        return None
    return {"name": name, "description": member("description"), "inputSchema": schema}
