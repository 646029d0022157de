import type { Settings, Tools } from "./index.js";

/**
 * A guardrail for the option `toolInputGuardrails` of a tool or an MCP server. It rejects a bad call; the model receives
 * the help. `tools` is the tool list or a function that fetches it.
 *
 * ```ts
 * const server = new MCPServerStdio({ command, toolInputGuardrails: [toolInputGuardrail(() => server.listTools())] });
 * ```
 */
export function toolInputGuardrail(
  tools: Tools | (() => Tools | Promise<Tools>),
  settings?: Settings,
): {
  type: "tool_input";
  name: string;
  run(data: any): Promise<{ outputInfo?: unknown; behavior: { type: "allow" } | { type: "rejectContent"; message: string } }>;
};
