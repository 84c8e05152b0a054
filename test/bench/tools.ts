/** What every figure is handed: fresh folders, servers that end with the bench, the load process. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Contender,
  type OurOptions,
  removeFolder,
  startFloor,
  startOurs,
  type Target,
} from "./contenders.ts";
import { createHttpClient } from "./load/http-client.ts";
import { type LoadProcess, startLoad } from "./load/load-process.ts";

export interface BenchTools {
  quick: boolean;
  /** How many rounds: one in a quick run. */
  rounds(full: number): number;
  load: LoadProcess;
  freshHome(): string;
  ours(options?: Partial<OurOptions>): Promise<Contender>;
  floor(options?: { home?: string; runner?: "inline" | "none" }): Promise<Contender>;
  /** Ends the servers of the figure before. */
  endServers(): Promise<void>;
  close(): Promise<void>;
}

export async function createTools(quick: boolean, nodeOptions: string[]): Promise<BenchTools> {
  const folder = mkdtempSync(join(tmpdir(), "muster-bench-"));
  const load = await startLoad();
  let running: Contender[] = [];
  let homes = 0;
  const freshHome = () => join(folder, `home-${++homes}`);
  const endServers = async () => {
    await Promise.all(running.map((contender) => contender.kill()));
    running = [];
  };
  const close = async () => {
    await endServers();
    load.end();
    removeFolder(folder);
  };
  return {
    quick,
    rounds: (full) => (quick ? 1 : full),
    load,
    freshHome,
    async ours(options = {}) {
      const contender = await startOurs({ home: freshHome(), nodeOptions, ...options });
      running.push(contender);
      return contender;
    },
    async floor({ home = freshHome(), runner = "inline" } = {}) {
      const contender = await startFloor(home, runner);
      running.push(contender);
      return contender;
    },
    endServers,
    close,
  };
}

/** Creates a session, sends a prompt and waits for its settlement, in the bench's own process. */
export async function settleFirst({ port, key }: Target): Promise<void> {
  const client = createHttpClient({ port, key }, 2);
  const created = JSON.parse(await client.post("/api/sessions", "{}")) as {
    session: { id: string };
  };
  const { promise: settled, resolve } = Promise.withResolvers<void>();
  const path = `/api/sessions/${created.session.id}`;
  const leave = await client.follow(`${path}/events?after=0`, (type) => {
    if (type === "prompt_settled") resolve();
  });
  await client.post(`${path}/prompts`, JSON.stringify({ content: "first" }));
  await settled;
  leave();
  client.close();
}
