// Runs the conformance table: verdicts, help, corrected calls and answers are those of every other adapter.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { Validator } from "stickler-mcp";

const folder = process.env.STICKLER_CONFORMANCE ?? new URL("../../../conformance", import.meta.url).pathname;
const sets = JSON.parse(readFileSync(`${folder}/tools.json`, "utf8"));
const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
const lines = files.flatMap((name) => readFileSync(`${folder}/${name}`, "utf8").trim().split("\n"));
const cases = lines.map((line) => JSON.parse(line));

function camelCase(config) {
  const rename = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(config).map(([name, value]) => [rename(name), value]));
}

/** Returns what the package does with a case, in the form of its expectation. */
function judge({ tools, config = {}, call, turn, times = 1, server }) {
  const validator = new Validator(sets[tools], camelCase(config));
  const { name, arguments: args, arguments_text: text } = call;
  const check = () => (text === undefined ? validator.check(name, args) : validator.checkJson(name, text));
  const result = check();
  // A valid call is checked in another way when it is repeated.
  assert.deepEqual(check(), result);
  let admission;
  for (let count = 0; count < times; count++) {
    admission = text === undefined ? validator.admit(name, args, { turn }) : validator.admitJson(name, text, { turn });
  }
  const repaired = admission.admitted && result.valid && result.edits.length > 0;
  const found = {
    verdict: !admission.admitted ? "reject" : repaired ? "repair" : "forward",
    valid: result.valid,
    forwarded: repaired ? admission.arguments : undefined,
    unchecked: result.unchecked,
    errors: result.errors,
    corrected: result.corrected,
    edits: result.corrected ? result.edits : undefined,
    help: result.help,
    answer: admission.answer,
  };
  if (server) {
    const enhanced = validator.enhanceReply(name, server);
    found.enhanced = enhanced !== null;
    found.answer = enhanced ?? server;
    if (server.result && server.result.isError !== true) {
      found.output_errors = validator.checkOutput(name, server.result.structuredContent);
    }
  }
  const present = ([, value]) => value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(found).filter(present));
}

assert.ok(cases.length > 100, "the table is complete");
for (const line of cases) {
  test(`conforms: ${line.case}`, () => assert.deepEqual(judge(line), line.expect));
}
