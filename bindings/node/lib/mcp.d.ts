import type { Settings } from "./index.js";

/**
 * Checks the calls of an `McpServer` or `Server` of `@modelcontextprotocol/server` 2.x or `@modelcontextprotocol/sdk`
 * 1.x: a bad call is answered with help before the tool runs, and a tool's own error about its arguments is extended.
 *
 * ```ts
 * const server = protect(new McpServer({ name: "files", version: "1.0.0" }));
 * ```
 */
export function protect<S extends object>(server: S, settings?: Settings): S;

/** The interface `jsonSchemaValidator` of the SDKs. */
export interface JsonSchemaValidatorProvider {
  getValidator<T>(
    schema: any,
  ): (input: unknown) =>
    | { valid: true; data: T; errorMessage: undefined }
    | { valid: false; data: undefined; errorMessage: string };
}

/**
 * A validator for `fromJsonSchema(schema, validator)` and for the SDKs' option `jsonSchemaValidator`: a rejected input
 * is explained with help, and with `repair: "apply"` an unambiguous correction passes. The schema's `title` is used as
 * the name of the tool.
 */
export function jsonSchemaValidator(settings?: Settings): JsonSchemaValidatorProvider;
