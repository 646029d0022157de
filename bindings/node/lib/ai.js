// The adapter for the AI SDK (`ai`).

import { Validator } from "./index.js";

/** Returns a function for the option `repairToolCall`. */
export function repairToolCall({ apply = "unambiguous", ...settings } = {}) {
  const configuration = { mode: "assist", ...settings };
  // Throws for a bad setting now, not at the first call.
  new Validator([], configuration);
  return async ({ toolCall, tools, inputSchema }) => {
    const names = toolCall.toolName in tools ? [toolCall.toolName] : Object.keys(tools);
    const definitions = await Promise.all(
      names.map(async (name) => ({
        name,
        description: tools[name].description,
        inputSchema: await inputSchema({ toolName: name }),
      })),
    );
    const result = new Validator(definitions, configuration).checkJson(toolCall.toolName, toolCall.input);
    if (result.valid) {
      // Without a repair, the tool's own schema is stricter than its JSON Schema; its message is the better one.
      return result.edits.length > 0 ? repaired(toolCall, toolCall.toolName, result.arguments) : null;
    }
    if (apply === "all" && result.corrected) {
      return repaired(toolCall, result.corrected.name, result.corrected.arguments);
    }
    // The message of this error is what the model receives as the tool's result.
    throw new Error(result.help);
  };
}

function repaired(toolCall, toolName, args) {
  return { ...toolCall, toolName, input: JSON.stringify(args) };
}
