// The validator of calls: the shared native one, with values converted to JSON text.

import { loadNative } from "./platform.js";

const native = loadNative();

// Arguments of valid calls cross into native code as bytes in this buffer. A UTF-16 unit has at most three bytes.
const scratch = Buffer.allocUnsafeSlow(48 * 1024);
const MAX_SCRATCH_LENGTH = scratch.length / 3;

const MAX_ACCEPTORS = 1024;

/** Validates calls to the tools of one server. */
export class Validator {
  #native;
  /** Native functions by tool, which decide whether a call is valid as given. */
  #acceptors = new Map();

  constructor(tools, settings = {}) {
    this.#native = new native.NativeValidator(toolList(tools), JSON.stringify(snakeCase(settings)));
  }

  check(name, args) {
    let text;
    try {
      text = args === undefined ? undefined : JSON.stringify(args);
    } catch (error) {
      return result(JSON.parse(this.#native.unreadable(name, error.message.split("\n")[0])), args);
    }
    if (this.#accepts(name, text)) return valid(args);
    const record = this.#check(name, text);
    return record === null ? valid(args ?? {}) : result(JSON.parse(record), args ?? {});
  }

  checkJson(name, text) {
    if (this.#accepts(name, text)) return valid(JSON.parse(text));
    const record = this.#check(name, text ?? undefined);
    if (record === null) return valid(text == null ? {} : JSON.parse(text));
    const found = JSON.parse(record);
    const isJson = found.errors[0]?.kind !== "invalid_json";
    return result(found, isJson && text != null ? JSON.parse(text) : {});
  }

  /** Whether a call is known to be valid as given. `false` decides nothing. */
  #accepts(name, text) {
    if (typeof text !== "string" || text.length > MAX_SCRATCH_LENGTH) return false;
    const accepts = this.#acceptors.get(name);
    return accepts !== undefined && accepts(scratch.write(text));
  }

  /** Checks a call; the next valid one of the tool is accepted by a function of its own. */
  #check(name, text) {
    const record = this.#native.check(name, text);
    if (record === null && this.#acceptors.size < MAX_ACCEPTORS && !this.#acceptors.has(name)) {
      this.#acceptors.set(name, this.#native.acceptor(name, scratch));
    }
    return record;
  }

  admit(name, args, { turn } = {}) {
    return this.#admission(this.#native.admit(name, toText(args), turn), () => args);
  }

  admitJson(name, text, { turn } = {}) {
    return this.#admission(this.#native.admit(name, text ?? undefined, turn), () => parsed(text));
  }

  #admission(record, given) {
    if (record === null) return { admitted: true, arguments: given(), problems: [], edits: "" };
    const admission = { edits: "", ...JSON.parse(record) };
    if (admission.admitted && !("arguments" in admission)) admission.arguments = given();
    return admission;
  }

  helpPrompt(name, args) {
    return this.#native.helpPrompt(name, toText(args));
  }

  retryObservation(name, args, turnIndex = 0) {
    const text = this.#native.retryObservation(name, toText(args), turnIndex);
    return text === null ? null : JSON.parse(text);
  }

  enhanceError(name, text) {
    const addition = this.#native.enhanceError(name, text);
    return addition === null ? text : `${text}\n\n${addition}`;
  }

  enhanceReply(name, reply) {
    const text = this.#native.enhanceReply(name, JSON.stringify(reply));
    return text === null ? null : JSON.parse(text);
  }

  checkOutput(name, structured) {
    return JSON.parse(this.#native.checkOutput(name, structured === undefined ? undefined : JSON.stringify(structured)));
  }

  setTools(tools) {
    this.#native.setTools(toolList(tools));
  }

  get problems() {
    return JSON.parse(this.#native.problems());
  }

  get mode() {
    return this.#native.mode();
  }
}

/** Lints tool definitions. */
export function lint(tools, { revision } = {}) {
  return JSON.parse(native.lint(toolList(tools), revision));
}

function valid(args) {
  return { valid: true, arguments: args, errors: [], help: null, corrected: null, edits: [] };
}

function result(record, args) {
  const { valid, arguments: repaired, errors, corrected, edits, help, unchecked } = record;
  const found = { valid, arguments: repaired ?? (valid ? args : undefined), errors, help, corrected, edits };
  return unchecked === undefined ? found : { ...found, unchecked };
}

/** Returns the value of a text, or the text itself if it is not JSON. */
function parsed(text) {
  try {
    return text == null ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns the JSON text of arguments. What cannot be written is passed on as text that is not JSON. */
function toText(args) {
  if (args === undefined) return undefined;
  try {
    return JSON.stringify(args);
  } catch (error) {
    return `cannot be written as JSON (${error.message.split("\n")[0]})`;
  }
}

function toolList(tools) {
  return typeof tools === "string" ? tools : JSON.stringify(tools);
}

/** Settings have the names of the configuration file; here they are written in camel case. */
function snakeCase(settings) {
  const rename = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [rename(name), value]));
}
