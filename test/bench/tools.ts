/** The tools of every figure: fresh folders, servers that end with the bench, the load process. */
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
import { type ModelProcess, startModel } from "./model/model-process.ts";

export interface BenchTools {
  quick: boolean;
  /** Number of rounds: one in a quick run. */
  rounds(full: number): number;
  load: LoadProcess;
  /** The one model that all contenders call; it is started on first use. */
  model(): Promise<ModelProcess>;
  freshHome(): string;
  ours(options?: Partial<OurOptions>): Promise<Contender>;
  floor(options?: FloorOptions): Promise<Contender>;
  /** Ends the servers of the previous figure. */
  endServers(): Promise<void>;
  close(): Promise<void>;
}

interface FloorOptions {
  home?: string;
  runner?: "inline" | "none";
  modelPort?: number;
}

export interface ToolsOptions {
  quick: boolean;
  nodeOptions: string[];
  program?: string;
}

export async function createTools(options: ToolsOptions): Promise<BenchTools> {
  const { quick, nodeOptions, program } = options;
  const folder = mkdtempSync(join(tmpdir(), "muster-bench-"));
  const load = await startLoad();
  let running: Contender[] = [];
  let homes = 0;
  let model: Promise<ModelProcess> | undefined;
  const freshHome = () => join(folder, `home-${++homes}`);
  const endServers = async () => {
    await Promise.all(running.map((contender) => contender.kill()));
    running = [];
  };
  const close = async () => {
    await endServers();
    load.end();
    (await model)?.end();
    removeFolder(folder);
  };
  return {
    quick,
    rounds: (full) => (quick ? 1 : full),
    load,
    model() {
      model ??= startModel();
      return model;
    },
    freshHome,
    async ours(options = {}) {
      const build = program === undefined ? {} : { program };
      const contender = await startOurs({ home: freshHome(), nodeOptions, ...build, ...options });
      running.push(contender);
      return contender;
    },
    async floor({ home = freshHome(), runner = "inline", modelPort } = {}) {
      const contender = await startFloor(home, runner, modelPort);
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
