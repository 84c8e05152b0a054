/** Tools over MCP, depending on the caller. */
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import type { Kernel } from "#engine/index.ts";
import type { App } from "#surfaces/http/app.ts";
import type { Caller, Callers } from "#surfaces/http/guards/callers.ts";
import type { StreamSlots } from "#surfaces/http/sockets/stream-slots.ts";
import type { SessionFeeds } from "#surfaces/live/index.ts";
import { agentToolbox } from "./agent-tools.ts";
import type { Coordination, PromptOrchestrator } from "./person-tool.ts";
import { personToolbox } from "./person-toolbox.ts";
import { mcpRoute } from "./route.ts";
import type { Toolbox } from "./toolbox.ts";

export type { Coordination, PromptOrchestrator } from "./person-tool.ts";

export interface McpOptions {
  kernel: Kernel;
  callers: Callers;
  feeds: SessionFeeds;
  streams: StreamSlots;
  clock: Clock;
  log: Log;
  version: string;
  promptOrchestrator: PromptOrchestrator;
  coordination: Coordination;
}

/** A person's credentials for programs. Those that open a page are for browsers alone. */
const PROGRAM_KEYS = new Set(["owner_key", "api_key"]);

export function mcpRoutes(app: App, options: McpOptions): void {
  const { kernel, callers, streams, log, version } = options;
  mcpRoute(app, {
    callers,
    streams,
    log,
    version,
    ids: kernel.engine.ids,
    announcer: kernel.engine.announcer,
    toolboxFor: (caller) => toolboxFor(options, caller),
  });
}

function toolboxFor(options: McpOptions, { principal, kind }: Caller): Toolbox | undefined {
  if (principal.kind === "session") return agentToolbox(options.kernel.agents, principal);
  if (principal.kind === "user" && PROGRAM_KEYS.has(kind)) return personToolbox(options, principal);
  return undefined;
}
