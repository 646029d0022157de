// The guardrail in the real OpenAI Agents SDK: a run with a scripted model and a real MCP server process.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Agent, MCPServerStdio, Runner } from "@openai/agents";

import { toolInputGuardrail } from "stickler-mcp/openai-agents";

/** A model that makes one call and then repeats what the tool returned. */
function model(args) {
  return {
    async getResponse({ input }) {
      const usage = { requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2, inputTokensDetails: [], outputTokensDetails: [], add() {} };
      const returned = Array.isArray(input) && input.find((item) => item.type === "function_call_result");
      const text = returned && (returned.output.text ?? JSON.stringify(returned.output));
      const output = returned
        ? [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] }]
        : [{ type: "function_call", callId: "1", name: "open", status: "completed", arguments: args }];
      return { usage, output, responseId: "1" };
    },
    async *getStreamedResponse() {},
  };
}

async function run(args) {
  const server = new MCPServerStdio({
    command: process.execPath,
    args: [new URL("./server.js", import.meta.url).pathname],
    clientSessionTimeoutSeconds: 120,
    timeout: 120_000,
    toolInputGuardrails: [toolInputGuardrail(() => server.listTools())],
  });
  await server.connect();
  try {
    const agent = new Agent({ name: "agent", model: model(args), mcpServers: [server] });
    const result = await new Runner({ tracingDisabled: true }).run(agent, "open a");
    return result.finalOutput;
  } finally {
    await server.close();
  }
}

test("valid call reaches the tool", async () => {
  assert.match(await run('{"path":"a"}'), /path.*a/);
  assert.doesNotMatch(await run('{"path":"a"}'), /Tool call failed/);
});

test("bad call is rejected with help", async () => {
  const output = await run('{"pth":"a"}');
  assert.match(output, /^Tool call failed for: open/);
  assert.match(output, /Corrected Call/);
});
