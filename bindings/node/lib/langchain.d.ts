import type { Settings, Tools } from "./index.js";

/** The tools: a list, lists by server name, or a function that fetches the list of a server. */
export type ToolSource =
  | Tools
  | Record<string, Tools>
  | ((serverName: string) => Tools | Promise<Tools>);

/**
 * A hook for the option `beforeToolCall` of a `MultiServerMCPClient`. A bad call is not sent; the tool fails with the
 * help as its message.
 *
 * ```ts
 * const client: MultiServerMCPClient = new MultiServerMCPClient({
 *   mcpServers,
 *   beforeToolCall: beforeToolCall(async (server) => (await client.getClient(server))!.listTools()),
 * });
 * ```
 */
export function beforeToolCall(
  tools: ToolSource,
  settings?: Settings,
): (request: { serverName: string; name: string; args?: any }, ...rest: any[]) => Promise<{ args?: any }>;
