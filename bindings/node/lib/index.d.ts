/** A tool definition as in the result of `tools/list`. */
export interface ToolDefinition {
  name: string;
  description?: string;
  inputSchema?: unknown;
  outputSchema?: unknown;
  [member: string]: unknown;
}

/** A list of tools, a `tools/list` result, or the JSON text of one. */
export type Tools = readonly ToolDefinition[] | { tools: readonly ToolDefinition[] } | string;

/** The settings, with the values and defaults of the gateway's configuration. `mode` sets the defaults of the others. */
export interface Settings {
  /** `enforce` rejects bad calls; `assist` repairs what is beyond doubt and rejects an unlisted field only if it is probably a mistake; `observe` rejects nothing in adapters. */
  mode?: "enforce" | "assist" | "observe";
  unknownFields?: "reject" | "reject-mistakes" | "follow-schema";
  formats?: "lenient" | "strict" | "ignore";
  repair?: "off" | "suggest" | "apply";
  help?: "brief" | "full";
  helpTokenBudget?: number;
  suggestionDistance?: number;
  mask?: boolean;
  injectedKeys?: readonly string[];
  documentationUrl?: string;
  preValidate?: boolean;
  enhanceErrors?: boolean;
  answer?: "tool-result" | "json-rpc-error" | "observation";
  retryLimit?: number;
  /** Name of the server, for documentation links. */
  server?: string;
}

/** One problem with a call. */
export interface ValidationError {
  /** JSON Pointer within the arguments; empty for the arguments themselves. */
  path: string;
  /** JSON Pointer within the schema to the keyword that failed. */
  schema_path: string;
  kind:
    | "missing_required"
    | "type_mismatch"
    | "unknown_field"
    | "invalid_value"
    | "invalid_enum"
    | "unknown_tool"
    | "invalid_json";
  /** One sentence that the caller can act on. */
  message: string;
  expected: string;
  received: string;
  /** The names or values that were probably meant, best first. */
  suggestions: string[];
}

/** One change that leads to the corrected call. */
export interface Edit {
  edit: string;
  path: string;
  from: string;
  to: string;
}

/** The call as it was probably meant. It satisfies the tool's schema. */
export interface CorrectedCall {
  name: string;
  arguments: unknown;
}

/** The result of checking a call. */
export interface Result {
  /** Whether the tool can be called, with `arguments`. */
  valid: boolean;
  /** The arguments to call the tool with: the given ones, or repaired ones; `undefined` if the call is rejected. */
  arguments: any;
  /** The problems; for a repaired call, those before the repair. */
  errors: ValidationError[];
  /** For a rejected call: Markdown from which a language model can correct the call. */
  help: string | null;
  corrected: CorrectedCall | null;
  edits: Edit[];
  /** Why the call was accepted without a complete check. */
  unchecked?: string;
}

/** A JSON-RPC error. */
export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** A tool result. */
export interface ToolResult {
  content: Array<{ type: string; text?: string; [member: string]: unknown }>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
  [member: string]: unknown;
}

/** A response to a call. */
export type Reply = { result: ToolResult; error?: undefined } | { error: RpcError; result?: undefined };

/** What an adapter does with a call. */
export interface Admission {
  /** Whether to call the tool, with `arguments`. */
  admitted: boolean;
  arguments?: any;
  /** The answer to a rejected call. */
  answer?: Reply;
  /** What to log, one sentence for each problem. */
  problems: string[];
  /** The repairs in words. */
  edits: string;
}

/** A finding of the linter about a tool definition. */
export interface Finding {
  tool: string | null;
  rule: string;
  severity: "error" | "warning" | "note";
  path: string;
  message: string;
  fix: string;
}

/**
 * Validates calls to the tools of one server. A tool whose schema cannot be used is listed in `problems`, and its calls
 * are accepted. Throws an error for a setting or a tool list that cannot be used; nothing that a caller of a tool can
 * send does.
 */
export class Validator {
  constructor(tools: Tools, settings?: Settings);
  /** Checks a call. `undefined` as arguments is equivalent to `{}`. */
  check(name: string, args?: unknown): Result;
  /** Checks a call whose arguments are JSON text, as models produce it. Fenced or single-quoted JSON is recognised. */
  checkJson(name: string, text: string | null | undefined): Result;
  /** Decides on a call for an adapter, with the answer to send if it is rejected. Rejections are counted: an identical call gets another answer each time. */
  admit(name: string, args?: unknown, options?: { turn?: number }): Admission;
  /** Like `admit`, for arguments that are JSON text. */
  admitJson(name: string, text: string | null | undefined, options?: { turn?: number }): Admission;
  /** Returns the help prompt of a bad call; `null` if the call is valid. */
  helpPrompt(name: string, args?: unknown): string | null;
  /** Returns the observation with which an agent loop asks the model to retry; `null` if the call is valid. */
  retryObservation(name: string, args?: unknown, turnIndex?: number): Record<string, any> | null;
  /** Returns the text of a server's error, with help from the schema if it is about the arguments. */
  enhanceError(name: string, text: string): string;
  /** Extends a response to a call; `null` if it stays as it is. */
  enhanceReply(name: string, reply: Reply): Reply | null;
  /** Checks the structured content of a result against the tool's `outputSchema`; `undefined` means there is none. */
  checkOutput(name: string, structured?: unknown): ValidationError[];
  /** Replaces the tool list. */
  setTools(tools: Tools): void;
  /** Why tools cannot be checked, one sentence for each. */
  readonly problems: string[];
  readonly mode: "enforce" | "assist" | "observe";
}

/** Lints tool definitions. `revision` is the revision of MCP that the server speaks, such as `2025-11-25`. */
export function lint(tools: Tools, options?: { revision?: string }): Finding[];
