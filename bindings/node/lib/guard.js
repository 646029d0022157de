// What the adapters share: a validator with the tools that a server lists.
//
// A call that is valid by the last known list is admitted at once. Any other call is checked again with a list that was
// fetched for it, so a changed list never causes a rejection, and help never names tools that the caller cannot see.

import { Validator } from "./index.js";

const MAX_SESSIONS = 1024;

export class Guard {
  #settings;
  #sessions = new Map();

  constructor(settings = {}) {
    // Throws for a bad setting now, not at the first call.
    new Validator([], settings);
    this.#settings = settings;
  }

  learn(session, tools) {
    let validator = this.#sessions.get(session);
    if (validator) {
      validator.setTools(tools);
      return validator;
    }
    validator = new Validator(tools, this.#settings);
    if (this.#sessions.size >= MAX_SESSIONS) this.#sessions.delete(this.#sessions.keys().next().value);
    this.#sessions.set(session, validator);
    for (const problem of validator.problems) warn(`${problem}; its calls are not validated`);
    return validator;
  }

  /** Decides on a call. `listTools` fetches the tools that the caller sees. */
  async admit(session, name, args, listTools, meta) {
    const known = this.#sessions.get(session);
    if (known) {
      const { valid, errors, arguments: given } = known.check(name, args);
      if (valid && errors.length === 0) {
        return { admitted: true, arguments: args === undefined ? args : given, problems: [], edits: "" };
      }
    }
    const validator = this.learn(session, await listTools());
    const turn = meta?.["dev.stickler/turn_index"];
    const admission = validator.admit(name, args, { turn: Number.isInteger(turn) ? turn : undefined });
    report(name, admission, validator.mode === "observe");
    return admission;
  }

  /** Decides on a call whose arguments are JSON text. The list is fetched again unless the call is valid. */
  async admitText(name, text, listTools) {
    const known = this.#sessions.get("");
    if (known?.checkJson(name, text).valid) return { admitted: true, problems: [], edits: "" };
    const validator = this.learn("", await listTools());
    const admission = validator.admitJson(name, text);
    report(name, admission, validator.mode === "observe");
    return admission;
  }

  /** Extends the response of a tool if it is an error about arguments; `null` if it stays as it is. */
  async enhance(session, name, reply, listTools) {
    const validator = this.#sessions.get(session) ?? this.learn(session, await listTools());
    return validator.enhanceReply(name, reply);
  }
}

/** Returns the text of an answer, for interfaces that take nothing else. */
export function textOf(answer) {
  return answer.error ? answer.error.message : answer.result.content[0].text;
}

/** Returns a function that fetches tools from what a caller of an adapter passes: a list, or a function that fetches one. */
export function toolSource(tools) {
  return typeof tools === "function" ? async () => tools() : async () => tools;
}

function report(name, admission, observed) {
  const problems = admission.problems.join("; ");
  if (!admission.admitted) warn(`call of \`${name}\` rejected: ${problems}`);
  else if (!admission.edits && problems) {
    warn(`call of \`${name}\` ${observed ? "would be rejected" : "accepted"}: ${problems}`);
  }
}

// Standard error: on stdio, standard output carries the protocol.
function warn(text) {
  console.warn(`stickler: ${text}`);
}
