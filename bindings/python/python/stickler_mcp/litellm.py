"""A guardrail for the MCP gateway of the LiteLLM proxy.

In the proxy's configuration:

.. code-block:: yaml

    guardrails:
      - guardrail_name: stickler
        litellm_params:
          guardrail: stickler_mcp.litellm.SticklerGuardrail
          mode: pre_mcp_call
          default_on: true

A bad call is not sent to the server; the caller receives the help. With ``repair="apply"`` or ``mode="assist"`` unambiguous
corrections are made.
"""

from __future__ import annotations

from typing import Any

from litellm.exceptions import GuardrailRaisedException
from litellm.integrations.custom_guardrail import CustomGuardrail
from litellm.types.guardrails import GuardrailEventHooks

from ._guard import Guard, tool_source

_CALL_TYPE = "call_mcp_tool"


class SticklerGuardrail(CustomGuardrail):
    """Checks MCP tool calls. ``settings`` are those of :class:`stickler_mcp.Validator`."""

    def __init__(self, settings: dict[str, Any] | None = None, **options: Any) -> None:
        self._guard = Guard(**(settings or {}))
        options.setdefault("guardrail_name", "stickler")
        options.setdefault("event_hook", GuardrailEventHooks.pre_mcp_call)
        options.setdefault("default_on", True)
        super().__init__(**options)

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> Any:
        """Check a call of an MCP tool whose schema LiteLLM knows; other calls pass."""
        name, schema = data.get("mcp_tool_name"), data.get("mcp_input_schema")
        if call_type != _CALL_TYPE or not isinstance(name, str) or schema is None:
            return data
        tool = {"name": name, "description": data.get("mcp_tool_description"), "inputSchema": schema}
        # Only this tool is known here, so its schema is the whole list.
        session = (data.get("user_api_key_hash"), data.get("mcp_server_name"), name)
        arguments = data.get("mcp_arguments")
        admission = await self._guard.admit(session, name, arguments, tool_source([tool]))
        if not admission.admitted:
            raise GuardrailRaisedException(
                guardrail_name=self.guardrail_name,
                message=admission.text,
                should_wrap_with_default_message=False,
                blocked_content=True,
            )
        if admission.arguments is not arguments and admission.arguments != arguments:
            data["modified_arguments"] = admission.arguments
        return data
