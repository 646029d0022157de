// The adapter in the real AI SDK, with its mock model.

import assert from "node:assert/strict";
import { test } from "node:test";

import { generateText, jsonSchema, tool } from "ai";
import * as mocks from "ai/test";

import { repairToolCall } from "stickler-mcp/ai";

const Model = mocks.MockLanguageModelV4 ?? mocks.MockLanguageModelV3;
const inputSchema = {
  type: "object",
  properties: { path: { type: "string" }, mode: { type: "integer" } },
  required: ["path"],
  additionalProperties: false,
};

/** Lets the model make one call, and returns the steps. */
async function run(input, { toolName = "open", settings } = {}) {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const model = new Model({
    doGenerate: async () => ({
      content: [{ type: "tool-call", toolCallId: "1", toolName, input }],
      finishReason: { unified: "tool-calls", raw: undefined },
      usage,
      warnings: [],
    }),
  });
  const validate = (value) =>
    Object.keys(value).every((key) => key in inputSchema.properties) &&
    typeof value.path === "string" &&
    ["number", "undefined"].includes(typeof value.mode)
      ? { success: true, value }
      : { success: false, error: new Error("dump of a validation library") };
  const repair = repairToolCall(settings);
  const result = await generateText({
    model,
    prompt: "open a",
    tools: {
      open: tool({ inputSchema: jsonSchema(inputSchema, { validate }), execute: async (args) => JSON.stringify(args) }),
    },
    repairToolCall: repair,
    experimental_repairToolCall: repair,
  });
  const part = result.steps[0].content.find((one) => one.type === "tool-result" || one.type === "tool-error");
  return part.type === "tool-result" ? part.output : String(part.error.message ?? part.error);
}

test("valid call is left alone", async () => {
  assert.equal(await run('{"path":"a"}'), '{"path":"a"}');
});

test("unambiguous mistakes are repaired", async () => {
  assert.equal(await run('{"path":"a","mode":"7"}'), '{"path":"a","mode":7}');
  assert.equal(await run('{"Path":"a"}'), '{"path":"a"}');
});

test("other mistakes reach the model as help", async () => {
  const text = await run('{"filename":"a"}');
  assert.match(text, /Tool call failed for: open/);
  assert.match(text, /Corrected Call/);
});

test("every correction is made if so configured", async () => {
  assert.equal(await run('{"filename":"a"}', { settings: { apply: "all" } }), '{"path":"a"}');
  assert.equal(await run("{'path': 'a'}", { settings: { apply: "all" } }), '{"path":"a"}');
  assert.equal(await run('{"path":"a"}', { toolName: "opn", settings: { apply: "all" } }), '{"path":"a"}');
});

test("unknown tool reaches the model as help", async () => {
  assert.match(await run('{"path":"a"}', { toolName: "opn" }), /Available tools:\n- open/);
});
