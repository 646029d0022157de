// The hook in the real LangChain adapter, in front of a real server process.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { MultiServerMCPClient } from "@langchain/mcp-adapters";

import { beforeToolCall } from "stickler-mcp/langchain";

const clients = [];
after(() => Promise.all(clients.map((client) => client.close())));

async function openTool(settings) {
  const server = new URL("./server.js", import.meta.url).pathname;
  const client = new MultiServerMCPClient({
    mcpServers: { files: { command: process.execPath, args: [server] } },
    beforeToolCall: beforeToolCall(async (name) => (await client.getClient(name)).listTools(), settings),
  });
  clients.push(client);
  return (await client.getTools())[0];
}

test("valid call reaches the server", async () => {
  assert.equal(await (await openTool()).invoke({ path: "a" }), '{"path":"a"}');
});

test("call with an unknown field is rejected with help", async () => {
  const tool = await openTool();
  await assert.rejects(tool.invoke({ path: "a", mod: 7 }), /Tool call failed for: open/);
});

test("assist renames the field", async () => {
  const tool = await openTool({ mode: "assist" });
  assert.equal(await tool.invoke({ path: "a", Mode: 7 }), '{"path":"a","mode":7}');
});
