#!/usr/bin/env node
// Runs the program `stickler` of the platform package. Signals are passed on, and the exit code is that of the program;
// a program that a signal ended gives 128 plus its number, as in a shell.

import { spawn } from "node:child_process";
import { constants } from "node:os";

import { resolveNative } from "../lib/platform.js";

let program;
try {
  program = resolveNative(process.platform === "win32" ? "bin/stickler.exe" : "bin/stickler");
} catch (error) {
  console.error(`error: ${error.message}`);
  process.exit(3);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`error: cannot start \`${program}\`: ${error.message}`);
  process.exit(3);
});
child.on("exit", (code, signal) => {
  process.exit(code ?? 128 + constants.signals[signal]);
});
