/** Dependencies of a runner's connection: the wire, and the server around it. */
import type { Log } from "#base/log.ts";
import type { RepositoryOpener } from "#engine/feature.ts";
import type { ToolHost, ToolPolicy } from "#engine/tools/index.ts";
import type { Engine } from "#engine/work.ts";
import type { ServerFrame } from "#protocol/frames.ts";
import type { ToolDefinition } from "#protocol/tools.ts";
import type { TurnConfig } from "../claims/assignment.ts";

/** Wire to a runner. */
export interface RunnerLink {
  send(frame: ServerFrame): void;
  close(reason: string): void;
  /** True while the other end still answers. */
  isAlive(): Promise<boolean>;
  /** True while nothing has come from the runner for longer than it should take. */
  isQuiet?(): boolean;
}

export interface AssignedRun {
  fence: number;
  sessionId: string;
  thread: string;
  promptId: string;
}

export interface ConnectionHost {
  engine: Engine;
  tools: ToolHost;
  policy: ToolPolicy;
  openers: readonly RepositoryOpener[];
  /** Server tools, as offered to a runner. */
  toolDefinitions: readonly ToolDefinition[];
  config: TurnConfig;
  log: Log;
  isConnected(runnerId: string, bootId: string): Promise<boolean>;
  /** Ends every other connection of this runner. */
  replaceOthers(connection: object, runnerId: string): void;
  /** Called when the runner is ready for work, or has a place free. */
  ready(): void;
}
