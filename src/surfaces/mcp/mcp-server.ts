/** A protocol server for one request of one caller; it is discarded afterwards. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  type CallToolRequest,
  CallToolRequestSchema,
  ListToolsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { Log } from "#base/log.ts";
import { failed, type Toolbox } from "./toolbox.ts";

export interface McpServerOptions {
  toolbox: Toolbox;
  version: string;
  log: Log;
  /** Names a call, so that a repeated one is recognised; undefined when it cannot be. */
  callIdOf(requestId: string | number, call: CallToolRequest["params"]): string | undefined;
  /** Calls back when the client cancels a request. Returns the function that unsubscribes. */
  onCancelled(requestId: string | number, cancelled: () => void): () => void;
  isStillGood(): Promise<boolean>;
}

/**
 * Validates a client's answers to the server's questions. The server asks none, and the default is costly to
 * create.
 */
const nothingToValidate = {
  getValidator() {
    throw new Error("This server does not ask clients anything.");
  },
};

export function createMcpServer(options: McpServerOptions): Server {
  const { toolbox, version } = options;
  const server = new Server(
    { name: "muster", title: "Muster", version },
    {
      capabilities: { tools: {} },
      instructions: toolbox.instructions,
      jsonSchemaValidator: nothingToValidate,
    },
  );
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: await toolbox.list() }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const { requestId, signal } = extra;
    const gone = new AbortController();
    const leave = toolbox.mayWait(params.name)
      ? options.onCancelled(requestId, () => gone.abort())
      : () => {};
    const progressToken = params._meta?.progressToken;
    let progressCount = 0;
    const progress = (message: string) => {
      if (progressToken === undefined) return;
      const notice = { progressToken, progress: ++progressCount, message };
      const sent = extra.sendNotification({ method: "notifications/progress", params: notice });
      sent.catch(() => {}); // The client has gone; the signal reports it too.
    };
    try {
      return await toolbox.call(params.name, params.arguments ?? {}, {
        callId: options.callIdOf(requestId, params),
        signal: AbortSignal.any([signal, gone.signal]),
        progress,
        isStillGood: options.isStillGood,
      });
    } catch (error) {
      options.log.error({ err: error, tool: params.name.slice(0, 100) }, "an MCP call failed");
      return failed(
        "internal_error: Something went wrong on the server. It was logged; try again.",
      );
    } finally {
      leave();
    }
  });
  return server;
}
