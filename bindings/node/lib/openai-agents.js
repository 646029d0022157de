// The adapter for the OpenAI Agents SDK (`@openai/agents`).

import { Guard, textOf, toolSource } from "./guard.js";

/** Returns a guardrail for the option `toolInputGuardrails`. */
export function toolInputGuardrail(tools, settings = {}) {
  // A guardrail cannot change arguments, so nothing is repaired.
  const guard = new Guard({ repair: "suggest", ...settings });
  const listTools = toolSource(tools);
  return {
    type: "tool_input",
    name: "stickler",
    async run({ toolCall }) {
      const admission = await guard.admitText(toolCall.name, toolCall.arguments, listTools);
      if (admission.admitted) return { behavior: { type: "allow" } };
      const outputInfo = { problems: admission.problems };
      return { outputInfo, behavior: { type: "rejectContent", message: textOf(admission.answer) } };
    },
  };
}
