// A server on stdio for the tests, which returns the arguments of a call.

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const inputSchema = {
  type: "object",
  properties: { path: { type: "string" }, mode: { type: "integer" } },
  required: ["path"],
};
const server = new Server({ name: "files", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [{ name: "open", inputSchema }] }));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
  content: [{ type: "text", text: JSON.stringify(params.arguments) }],
}));
await server.connect(new StdioServerTransport());
