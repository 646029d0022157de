// The adapter in real servers of both SDKs, called by their clients.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport, McpServer, fromJsonSchema } from "@modelcontextprotocol/server";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport as OldTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer as OldServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import * as z from "zod";

import { jsonSchemaValidator, protect } from "stickler-mcp/mcp";

const info = { name: "files", version: "1.0.0" };
const sdks = {
  "server 2.x": [McpServer, Client, InMemoryTransport, (shape) => z.object(shape)],
  "sdk 1.x": [OldServer, OldClient, OldTransport, (shape) => shape],
};

for (const [sdk, [Server, SdkClient, Transport, shaped]] of Object.entries(sdks)) {
  async function connect(settings, { late = false } = {}) {
    const server = new Server(info);
    if (!late) protect(server, settings);
    const inputSchema = shaped({ path: z.string(), mode: z.number().int().optional() });
    server.registerTool("open", { description: "Opens a file.", inputSchema }, async (args) => {
      if (args.path === "picky") {
        return { content: [{ type: "text", text: "missing field `owner`" }], isError: true };
      }
      return { content: [{ type: "text", text: JSON.stringify(args) }] };
    });
    if (late) protect(server, settings);
    const [near, far] = Transport.createLinkedPair();
    const client = new SdkClient(info);
    await Promise.all([server.connect(far), client.connect(near)]);
    return client;
  }

  test(`${sdk}: valid call reaches the tool`, async () => {
    const client = await connect();
    const result = await client.callTool({ name: "open", arguments: { path: "a" } });
    assert.equal(result.content[0].text, '{"path":"a"}');
  });

  for (const late of [false, true]) {
    test(`${sdk}: bad call gets help, protected ${late ? "after" : "before"} registration`, async () => {
      const client = await connect({}, { late });
      const result = await client.callTool({ name: "open", arguments: { pth: "a" } });
      assert.equal(result.isError, true);
      assert.match(result.content[0].text, /^Tool call failed for: open/);
      assert.deepEqual(result._meta["dev.stickler/validation"].corrected.arguments, { path: "a" });
    });
  }

  test(`${sdk}: unknown tool gets the list`, async () => {
    const result = await (await connect()).callTool({ name: "opn", arguments: {} });
    assert.match(result.content[0].text, /^Unknown tool name\. Available tools:\n- open/);
  });

  test(`${sdk}: assist repairs`, async () => {
    const client = await connect({ mode: "assist" });
    const result = await client.callTool({ name: "open", arguments: { path: "a", mode: "7" } });
    assert.equal(result.content[0].text, '{"path":"a","mode":7}');
  });

  test(`${sdk}: error of the tool about arguments is extended`, async () => {
    const result = await (await connect()).callTool({ name: "open", arguments: { path: "picky" } });
    assert.equal(result.content[0].text, "missing field `owner`");
    assert.match(result.content[1].text, /Valid fields: \[path, mode\]/);
  });

  test(`${sdk}: JSON-RPC errors have code and help`, async () => {
    const client = await connect({ answer: "json-rpc-error" });
    await assert.rejects(client.callTool({ name: "open", arguments: {} }), (error) => {
      assert.equal(error.code, -32602);
      assert.match(error.message, /Tool call failed for: open/);
      return true;
    });
  });
}

test("validator for fromJsonSchema explains and repairs", async () => {
  const schema = { title: "open", type: "object", properties: { mode: { type: "integer" } }, required: ["mode"] };
  const server = new McpServer(info);
  const inputSchema = fromJsonSchema(schema, jsonSchemaValidator({ repair: "apply" }));
  server.registerTool("open", { inputSchema }, async (args) => ({
    content: [{ type: "text", text: JSON.stringify(args) }],
  }));
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client(info);
  await Promise.all([server.connect(far), client.connect(near)]);
  const repaired = await client.callTool({ name: "open", arguments: { mode: "7" } });
  assert.equal(repaired.content[0].text, '{"mode":7}');
  const rejected = await client.callTool({ name: "open", arguments: {} });
  assert.match(rejected.content[0].text, /Tool call failed for: open/);
});
