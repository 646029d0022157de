// Adapters for the official SDK: `@modelcontextprotocol/server` 2.x and `@modelcontextprotocol/sdk` 1.x.

import { Guard } from "./guard.js";
import { Validator } from "./index.js";

const CALL = "tools/call";
const LIST = "tools/list";

/** Checks the calls of an `McpServer` or `Server`, whenever their handlers are registered. */
export function protect(server, settings = {}) {
  const target = server.server ?? server;
  const handlers = target._requestHandlers;
  if (!(handlers instanceof Map)) throw new TypeError("stickler-mcp: this is not a server of a supported SDK version");
  const guard = new Guard(settings);
  let installed;
  const wrap = () => {
    const handler = handlers.get(CALL);
    if (handler === undefined || handler === installed) return;
    installed = checked(guard, handlers, handler);
    handlers.set(CALL, installed);
  };
  const register = target.setRequestHandler;
  target.setRequestHandler = function (...args) {
    const outcome = register.apply(this, args);
    wrap();
    return outcome;
  };
  wrap();
  return server;
}

/** Returns a validator for `fromJsonSchema(schema, validator)`: a rejected input gets help, a repaired one passes. */
export function jsonSchemaValidator(settings = {}) {
  return {
    getValidator(schema) {
      const name = typeof schema?.title === "string" ? schema.title : "tool";
      const validator = new Validator([{ name, inputSchema: schema }], settings);
      return (input) => {
        const result = validator.check(name, input);
        return result.valid
          ? { valid: true, data: result.arguments, errorMessage: undefined }
          : { valid: false, data: undefined, errorMessage: result.help };
      };
    },
  };
}

function checked(guard, handlers, handler) {
  return async (request, context) => {
    const { name, arguments: args, _meta: meta } = request.params ?? {};
    if (typeof name !== "string") return handler(request, context);
    const session = context?.sessionId ?? "";
    const listTools = () => listAll(handlers.get(LIST), request, context);
    const admission = await guard.admit(session, name, args, listTools, meta);
    if (!admission.admitted) return answer(admission.answer);
    const repaired = admission.arguments !== args;
    const call = repaired ? { ...request, params: { ...request.params, arguments: admission.arguments } } : request;
    let result;
    try {
      result = await handler(call, context);
    } catch (error) {
      throw await extended(guard, session, name, error, listTools);
    }
    if (result?.isError !== true) return result;
    const enhanced = await guard.enhance(session, name, { result }, listTools);
    return enhanced ? enhanced.result : result;
  };
}

async function extended(guard, session, name, error, listTools) {
  if (!Number.isSafeInteger(error?.code)) return error;
  const { code, message, data } = error;
  const enhanced = await guard.enhance(session, name, { error: { code, message, data } }, listTools);
  return enhanced ? rpcError(enhanced.error) : error;
}

async function listAll(handler, request, context) {
  const tools = [];
  const seen = new Set();
  let cursor;
  do {
    seen.add(cursor);
    // Modern requests carry the client's revision and capabilities in `_meta`.
    const { _meta } = request.params ?? {};
    const params = { ...(_meta && { _meta }), ...(cursor !== undefined && { cursor }) };
    const page = await handler({ ...request, method: LIST, params }, context);
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined && !seen.has(cursor));
  return tools;
}

function answer(reply) {
  if (reply.error) throw rpcError(reply.error);
  return reply.result;
}

/** The SDKs send `code` and `data` of any error that has them. */
function rpcError({ code, message, data }) {
  return Object.assign(new Error(message), { code, data });
}
