// Compiled, not run: the types of the package fit those of the SDKs.

import { MCPServerStdio } from "@openai/agents";
import { McpServer, fromJsonSchema } from "@modelcontextprotocol/server";
import { McpServer as OldServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { type LanguageModel, type ToolSet, generateText } from "ai";

import { type Result, Validator, lint } from "stickler-mcp";
import { repairToolCall } from "stickler-mcp/ai";
import { beforeToolCall } from "stickler-mcp/langchain";
import { jsonSchemaValidator, protect } from "stickler-mcp/mcp";
import { toolInputGuardrail } from "stickler-mcp/openai-agents";

declare const model: LanguageModel;
declare const tools: ToolSet;

const validator = new Validator([{ name: "open", inputSchema: { type: "object" } }], { mode: "assist" });
const result: Result = validator.check("open", { path: "a" });
const kinds: string[] = result.errors.map((error) => error.kind);
const rules: string[] = lint([{ name: "open" }]).map((finding) => finding.rule);

const server: McpServer = protect(new McpServer({ name: "files", version: "1.0.0" }), { repair: "apply" });
const oldServer: OldServer = protect(new OldServer({ name: "files", version: "1.0.0" }));
server.registerTool("open", { inputSchema: fromJsonSchema({ type: "object" }, jsonSchemaValidator()) }, async () => ({
  content: [],
}));
await generateText({ model, tools, prompt: "", repairToolCall: repairToolCall() });
const client: MultiServerMCPClient = new MultiServerMCPClient({
  mcpServers: {},
  beforeToolCall: beforeToolCall(async (name) => (await client.getClient(name))!.listTools()),
});
const agentServer = new MCPServerStdio({
  command: "server",
  toolInputGuardrails: [toolInputGuardrail([{ name: "open", inputSchema: { type: "object" } }])],
});

// @ts-expect-error: not a setting
new Validator([], { repiar: "off" });
// @ts-expect-error: not a value of the setting
new Validator([], { repair: "never" });

export { agentServer, kinds, oldServer, rules };
