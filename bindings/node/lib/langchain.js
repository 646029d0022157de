// The adapter for `@langchain/mcp-adapters`.

import { Guard, textOf, toolSource } from "./guard.js";

/** Returns a hook for the option `beforeToolCall` of a `MultiServerMCPClient`. */
export function beforeToolCall(tools, settings = {}) {
  const guard = new Guard(settings);
  return async ({ serverName, name, args }) => {
    const listTools = toolSource(typeof tools === "function" ? () => tools(serverName) : tools[serverName] ?? tools);
    const admission = await guard.admit(serverName, name, args, listTools);
    // The message of this error is what the model receives as the tool's result.
    if (!admission.admitted) throw new Error(textOf(admission.answer));
    if (admission.arguments === args) return {};
    // The caller merges the returned arguments into its own, so fields that were renamed must be removed here.
    for (const field of Object.keys(args)) {
      if (!(field in admission.arguments)) delete args[field];
    }
    return { args: admission.arguments };
  };
}
