// Compares the time of checking a valid call of 400 bytes with that of Ajv, including the crossing into native code.
//
// Run: node bench/check.js   (with stickler-mcp and ajv installed where Node finds them)
//
// All candidates run in turn, several rounds, in one process; the best round of each counts. The figures are ratios
// within this run: absolute times depend on the machine and its load.

import { readFileSync } from "node:fs";

import { Ajv } from "ajv";

import { Validator } from "stickler-mcp";

const file = process.env.STICKLER_BENCH_CALL ?? new URL("../../bench_call.json", import.meta.url);
const { tool, arguments: args } = JSON.parse(readFileSync(file, "utf8"));
const text = JSON.stringify(args);
const validator = new Validator([tool]);
const validate = new Ajv({ allErrors: false }).compile(tool.inputSchema);
if (!validator.check(tool.name, args).valid || !validate(args)) throw new Error("the call must be valid");

const candidates = {
  "ajv, object": () => validate(args),
  "stickler, object": () => validator.check(tool.name, args),
  "ajv, text": () => validate(JSON.parse(text)),
  "stickler, text": () => validator.checkJson(tool.name, text),
};

function measure(run, milliseconds = 40) {
  const start = performance.now();
  let count = 0;
  let elapsed;
  do {
    for (let index = 0; index < 500; index++) run();
    count += 500;
    elapsed = performance.now() - start;
  } while (elapsed < milliseconds);
  return (elapsed * 1000) / count;
}

const best = Object.fromEntries(Object.keys(candidates).map((name) => [name, Infinity]));
for (let round = 0; round < 20; round++) {
  for (const [name, run] of Object.entries(candidates)) best[name] = Math.min(best[name], measure(run));
}
console.log(`a valid call of ${text.length} bytes`);
for (const [name, time] of Object.entries(best)) {
  const base = best[`ajv, ${name.split(", ")[1]}`];
  console.log(`${name.padEnd(20)} ${time.toFixed(3).padStart(8)} µs   ${(time / base).toFixed(2).padStart(6)} × the time of ajv`);
}
