// Compares the time of checking a valid call of 400 bytes with that of Ajv, including the crossing into native code.
//
// Run: node bench/check.js   (with stickler-mcp and ajv installed where Node finds them)
//
// All candidates run in turn, several rounds, in one process; the best round of each counts. Processor time is measured,
// which depends less on the load of the machine. The figures are ratios within this run.

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

const CALLS = 10_000;

/** Returns the processor time of one call in microseconds. */
function measure(run) {
  const start = process.cpuUsage();
  for (let index = 0; index < CALLS; index++) run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / CALLS;
}

const best = Object.fromEntries(Object.keys(candidates).map((name) => [name, Infinity]));
for (let round = 0; round < 30; round++) {
  for (const [name, run] of Object.entries(candidates)) best[name] = Math.min(best[name], measure(run));
}
console.log(`a valid call of ${text.length} bytes`);
for (const [name, time] of Object.entries(best)) {
  const base = best[`ajv, ${name.split(", ")[1]}`];
  console.log(`${name.padEnd(20)} ${time.toFixed(3).padStart(8)} µs   ${(time / base).toFixed(2).padStart(6)} × the time of ajv`);
}
