// Tests of the typed API: conversions, bad input and settings.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Validator, lint } from "stickler-mcp";

const tool = {
  name: "write_file",
  inputSchema: {
    type: "object",
    properties: { path: { type: "string" }, content: { type: "string" }, mode: { type: "integer" } },
    required: ["path"],
  },
};

test("valid call returns its arguments", () => {
  const args = { path: "a" };
  const result = new Validator([tool]).check("write_file", args);
  assert.equal(result.arguments, args);
  assert.deepEqual(result, { valid: true, arguments: args, errors: [], help: null, corrected: null, edits: [] });
});

test("calls after a valid one are checked like the first", () => {
  const validator = new Validator([tool]);
  for (const content of ["b", "\u00e4\u20ac\ud83d\ude00", "\ud800", "x".repeat(100_000)]) {
    for (const text of [undefined, JSON.stringify({ path: "a", content })]) {
      const check = (args) => (text ? validator.checkJson("write_file", text) : validator.check("write_file", args));
      const args = { path: "a", content };
      assert.deepEqual(check(args), check(args));
      assert.deepEqual(check(args).arguments, args);
    }
  }
  assert.equal(validator.check("write_file", { path: 7 }).valid, false);
  assert.equal(validator.check("write_fil", { path: "a" }).valid, false);
  assert.equal(validator.checkJson("write_file", '{"path":"a"').valid, false);
  assert.equal(validator.checkJson("write_file", '{"path":"a","path":"b"}').valid, false);
});

test("an accepted call is rejected once the tool list no longer allows it", () => {
  const validator = new Validator([tool]);
  assert.equal(validator.check("write_file", { path: "a" }).valid, true);
  validator.setTools([{ ...tool, inputSchema: { ...tool.inputSchema, required: ["path", "content"] } }]);
  assert.equal(validator.check("write_file", { path: "a" }).valid, false);
  validator.setTools([]);
  assert.equal(validator.check("write_file", { path: "a", content: "b" }).valid, false);
});

test("rejected call is explained and corrected", () => {
  const result = new Validator([tool]).check("write_file", { pth: "a" });
  assert.equal(result.valid, false);
  assert.equal(result.arguments, undefined);
  assert.equal(result.errors[0].message, "`pth` is not a known field; did you mean `path` (string, required)?");
  assert.deepEqual(result.corrected, { name: "write_file", arguments: { path: "a" } });
  assert.deepEqual(result.edits, [{ edit: "rename_field", path: "/pth", from: "pth", to: "path" }]);
  assert.match(result.help, /^Tool call failed for: write_file/);
});

test("unambiguous repair is applied in the mode assist", () => {
  const result = new Validator([tool], { mode: "assist" }).check("write_file", { path: "a", mode: "7" });
  assert.deepEqual([result.valid, result.arguments], [true, { path: "a", mode: 7 }]);
});

test("no input throws", () => {
  const validator = new Validator([tool]);
  const cyclic = {};
  cyclic.self = cyclic;
  for (const args of [cyclic, { path: 1n }, "text", 7, [], true, null, { path: "\ud800" }, { path: Symbol("x") }]) {
    const result = validator.check("write_file", args);
    assert.equal(typeof result.valid, "boolean");
    if (!result.valid) assert.ok(result.errors[0].message.length > 0);
    validator.admit("write_file", args);
    validator.helpPrompt("write_file", args);
  }
  for (const text of ["", "{", "\0", "[".repeat(200)]) {
    assert.equal(validator.checkJson("write_file", text).errors[0].kind, "invalid_json");
  }
});

test("fenced and single-quoted text is corrected", () => {
  const validator = new Validator([tool]);
  for (const text of ["{'path': 'a'}", '```json\n{"path":"a"}\n```']) {
    assert.deepEqual(validator.checkJson("write_file", text).corrected.arguments, { path: "a" });
  }
});

test("bad settings throw", () => {
  assert.throws(() => new Validator([tool], { repair: "never" }), /unknown variant `never`/);
  assert.throws(() => new Validator([tool], { repiar: "off" }), /unknown field `repiar`/);
  assert.throws(() => new Validator("{}"), /tool list/);
});

test("help, observation, enhancement and lint", () => {
  const validator = new Validator([tool]);
  assert.equal(validator.helpPrompt("write_file", { path: "a" }), null);
  assert.equal(validator.retryObservation("write_file", {}, 4).turn_index, 4);
  assert.match(validator.enhanceError("write_file", "missing field `owner`"), /Valid fields: \[path, content, mode\]/);
  assert.equal(validator.enhanceError("write_file", "disk full"), "disk full");
  assert.equal(lint([tool])[0].rule, "no-description");
});
