// The launcher passes arguments, exit codes and signals.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";

const root = dirname(createRequire(import.meta.url).resolve("stickler-mcp/package.json"));
const launcher = join(root, "bin", "stickler.js");

test("exit codes are those of the program", () => {
  assert.equal(spawnSync(process.execPath, [launcher, "--version"]).status, 0);
  assert.equal(spawnSync(process.execPath, [launcher, "--no-such-option"]).status, 2);
});

test("a signal reaches the program, and its exit code is returned", async () => {
  const child = spawn(process.execPath, [launcher, "run", "--listen", "127.0.0.1:0", "--", "cat"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  await new Promise((resolve) => child.stderr.once("data", resolve));
  child.kill("SIGTERM");
  const code = await new Promise((resolve) => child.on("exit", (status, signal) => resolve(signal ?? status)));
  assert.ok(code === 0 || code === 143, `exit code ${code}`);
});
