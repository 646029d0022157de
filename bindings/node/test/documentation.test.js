// Runs the JavaScript examples of the documentation with the real packages.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import { generateText, jsonSchema, stepCountIs, tool } from "ai";
import * as mocks from "ai/test";
import * as z from "zod";

const root = process.env.STICKLER_ROOT ?? new URL("../../..", import.meta.url).pathname;
const pages = ["docs/packages.md", "bindings/node/README.md"];
const require = createRequire(import.meta.url);

/** Returns the examples that contain a text, one for each page. */
function examples(containing) {
  return pages.flatMap((page) => {
    const blocks = readFileSync(`${root}/${page}`, "utf8").matchAll(/```ts\n(.*?)```/gs);
    return [...blocks].map(([, text]) => text).filter((text) => text.includes(containing)).map((text) => [page, text]);
  });
}

/** Runs an example and returns the value of an expression after it. */
async function run(example, names, expression) {
  const imported = example.replaceAll(/^import (\{.*?\}) from "(.*?)";/gm, "const $1 = await load('$2');");
  const load = (name) => import(pathToFileURL(require.resolve(name)));
  const AsyncFunction = (async () => {}).constructor;
  const body = `${imported}\nreturn (${expression});`;
  return new AsyncFunction("load", ...Object.keys(names), body)(load, ...Object.values(names));
}

test("every page has its examples", () => {
  assert.deepEqual(examples("new Validator(tools").map(([page]) => page), pages);
  assert.deepEqual(examples("repairToolCall()").map(([page]) => page), pages);
  assert.deepEqual(examples("protect(").map(([page]) => page), [pages[1]]);
});

const properties = { path: { type: "string" }, content: { type: "string" }, mode: { type: "integer" } };
const inputSchema = { type: "object", properties, required: ["path", "content"] };

for (const [page, example] of examples("new Validator(tools")) {
  test(`${page}: results are as the comments say`, async () => {
    const result = await run(example, { tools: [{ name: "write_file", inputSchema }] }, "result");
    const stated = [...example.matchAll(/^result\.(\w+);\s*\/\/ (true|false|\{.*\})$/gm)];
    assert.ok(stated.length >= 2);
    for (const [, member, value] of stated) {
      assert.deepEqual(result[member], new Function(`return (${value});`)(), member);
    }
  });
}

/** A model that makes one call and then repeats what the tool returned. */
function scriptedModel(input) {
  const Model = mocks.MockLanguageModelV4 ?? mocks.MockLanguageModelV3;
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  return new Model({
    doGenerate: async () => ({
      content: [{ type: "tool-call", toolCallId: "1", toolName: "write_file", input }],
      finishReason: { unified: "tool-calls", raw: undefined },
      usage,
      warnings: [],
    }),
  });
}

for (const [page, example] of examples("repairToolCall()")) {
  test(`${page}: the AI SDK repairs a call`, async () => {
    const validate = (value) =>
      typeof value.mode === "number" ? { success: true, value } : { success: false, error: new Error("not a number") };
    const schema = jsonSchema({ ...inputSchema, additionalProperties: false }, { validate });
    const tools = { write_file: tool({ inputSchema: schema, execute: async ({ mode }) => mode }) };
    const model = scriptedModel('{"path":"a","content":"b","mode":"7"}');
    const generate = (options) => generateText({ ...options, prompt: "write", stopWhen: stepCountIs(1) });
    const result = await run(example, { generateText: generate, model, tools }, "result");
    assert.equal(result.steps[0].toolResults[0].output, 7);
  });
}

for (const [page, example] of examples("protect(")) {
  test(`${page}: the server answers a bad call with help`, async () => {
    const server = await run(example, { McpServer }, "server");
    const inputSchema = z.object({ path: z.string() });
    server.registerTool("open", { inputSchema }, async () => ({ content: [] }));
    const [near, far] = InMemoryTransport.createLinkedPair();
    const client = new Client({ name: "client", version: "1.0.0" });
    await Promise.all([server.connect(far), client.connect(near)]);
    const result = await client.callTool({ name: "open", arguments: { pth: "a" } });
    assert.match(result.content[0].text, /^Tool call failed for: open/);
  });
}
