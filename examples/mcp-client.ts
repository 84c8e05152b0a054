/**
 * A client of the Model Context Protocol: lists the tools that a key opens, asks your orchestrator
 * something, and shows its progress and its answer.
 *
 *     node examples/mcp-client.ts "What can you do?"
 *
 * The address is MUSTER_SERVER (default http://127.0.0.1:4747), the key MUSTER_API_KEY, else the
 * owner's key of this machine. `npx muster mcp --new-key NAME` makes a key for a client, which can
 * decide no approvals.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { connection } from "./connection.ts";

/** Longer than the 50 seconds that the tool itself waits for an answer. */
const TIMEOUT_MS = 60_000;

const { url, key } = connection();
const client = new Client({ name: "muster-example", version: "1.0.0" });
await client.connect(
  new StreamableHTTPClientTransport(new URL("/mcp", url), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  }),
);

const { tools } = await client.listTools();
console.log(`tools     ${tools.map(({ name }) => name).join(", ")}`);

const result = await client.callTool(
  { name: "ask_orchestrator", arguments: { message: process.argv[2] ?? "What can you do?" } },
  undefined,
  {
    onprogress: ({ message }) => console.log(`progress  ${message}`),
    timeout: TIMEOUT_MS,
  },
);
console.log(result.isError ? "failed" : "answered");
console.log(JSON.stringify(result.structuredContent ?? result.content, null, 2));
await client.close();
