// Prints, as JSON, which of the values in values.json zod and ajv-formats accept per format.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

// The packages are installed in the current directory.
const require = createRequire(path.join(process.cwd(), "index.js"));
const { z } = require("zod");
const Ajv = require("ajv/dist/2020").default;
const addFormats = require("ajv-formats").default;
const version = (name) => JSON.parse(readFileSync(path.join("node_modules", name, "package.json"))).version;

const zodTypes = {
  "date-time": [z.iso.datetime(), z.iso.datetime({ offset: true, local: true })],
  date: [z.iso.date()],
  time: [z.iso.time()],
  uri: [z.url()],
  url: [z.url()],
  email: [z.email()],
  uuid: [z.uuid(), z.guid()],
  ipv4: [z.ipv4()],
  ipv6: [z.ipv6()],
  duration: [z.iso.duration()],
};

const ajv = new Ajv({ strict: false });
addFormats(ajv);

const formats = JSON.parse(readFileSync(new URL("values.json", import.meta.url)));
const accepted = { zod: {}, ajv: {} };
for (const [format, values] of Object.entries(formats)) {
  const texts = [...values.accepted, ...values.rejected];
  const types = zodTypes[format];
  if (types) accepted.zod[format] = texts.filter((text) => types.some((type) => type.safeParse(text).success));
  if (ajv.formats[format]) {
    const check = ajv.compile({ type: "string", format });
    accepted.ajv[format] = texts.filter((text) => check(text));
  }
}
const of = (name) => ({ version: version(name), accepted: accepted[name] });
process.stdout.write(JSON.stringify({
  zod: of("zod"),
  ajv: { version: `${version("ajv")}, ajv-formats ${version("ajv-formats")}`, accepted: accepted.ajv },
}));
