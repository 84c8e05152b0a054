/**
 * A kernel on SQLite in memory, with a clock that stands still and runners that a test plays by
 * hand.
 */
import { createMemoryBus } from "#base/bus/memory/memory-bus.ts";
import { FakeClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { silentLog as log } from "#base/log.ts";
import { openStore } from "#base/store/index.ts";
import type { JournalItem, Settlement } from "#protocol/events.ts";
import { type Assignment, type Park, RUNNER_PROTOCOL, type ServerFrame } from "#protocol/frames.ts";
import type { QueueMode } from "#protocol/sessions.ts";
import type { Feature } from "../feature.ts";
import { createKernel } from "../kernel.ts";
import type { Principal } from "../requests/principal.ts";
import type { PromptRow, RunRow } from "../schema.ts";

export const owner: Principal = {
  kind: "user",
  orgId: "org_1",
  userId: "usr_1",
  name: "owner",
  role: "admin",
  scopes: ["*"],
  channel: "api",
};

export interface TestBatch {
  /** Defaults to the fence of the assignment. */
  fence?: number;
  firstOrdinal?: number;
  items?: JournalItem[];
  settle?: Settlement;
  park?: Park;
}

export async function startTestKernel(features: readonly Feature[] = []) {
  const clock = new FakeClock();
  const store = await openStore({ url: "sqlite::memory:", clock, log, onSyncFailure: () => {} });
  const kernel = await createKernel({
    store,
    bus: createMemoryBus(log),
    clock,
    ids: createIds(),
    log,
    features,
    defaults: { runtime: "native", model: null, limits: { activePerUser: 50, activePerOrg: 50 } },
  });
  const select = <T>(sql: string) =>
    store.read((reader) => reader.query<T & object>({ sql, parameters: [] }));
  return {
    kernel,
    engine: kernel.engine,
    clock,
    select,
    createSession: async () => (await kernel.sessions.create(owner, {})).id,
    send: (sessionId: string, content: string, mode: QueueMode = "followup", dispatchId?: string) =>
      kernel.prompts.admit(owner, sessionId, {
        content,
        mode,
        thread: "main",
        attachments: [],
        ...(dispatchId === undefined ? {} : { dispatchId }),
      }),
    async run(id: string): Promise<RunRow> {
      return (await select<RunRow>(`select * from runs where id = '${id}'`))[0] as RunRow;
    },
    async prompt(id: string): Promise<PromptRow> {
      return (await select<PromptRow>(`select * from prompts where id = '${id}'`))[0] as PromptRow;
    },
    /** Texts in the transcript of a session, in order. */
    async said(sessionId: string): Promise<string[]> {
      const rows = await select<{ content: string }>(
        `select content from events where session_id = '${sessionId}' and kind = 'text' order by seq`,
      );
      return rows.map(({ content }) => (JSON.parse(content) as { text: string }[])[0]?.text ?? "");
    },
    connect: (name: string, capacity = 1) => connectRunner(kernel, name, capacity),
  };
}

type Kernel = Awaited<ReturnType<typeof createKernel>>;

async function connectRunner(kernel: Kernel, name: string, capacity: number) {
  const frames: ServerFrame[] = [];
  const credentialId = `crd_${name}`;
  const connection = kernel.dispatcher.connect(
    { kind: "runner", orgId: "org_1", credentialId, scope: "org", tags: [], name },
    { send: (frame) => frames.push(frame), close: () => {}, isAlive: async () => true },
  );
  await connection.receive({
    op: "register",
    id: "register",
    protocol: RUNNER_PROTOCOL,
    bootId: `boot_${name}`,
    profile: {
      name,
      hostname: name,
      folder: `/${name}`,
      profile: "default",
      projectDir: null,
      tags: [],
      runtimes: ["native"],
      capacity,
      models: [],
      sandbox: null,
      version: "0",
    },
    holding: [],
  });
  let sent = 0;
  return {
    connection,
    assigned: () => frames.flatMap((one) => (one.op === "assign" ? [one.assignment] : [])),
    /** Writes to the journal, and returns the server's answer. */
    async journal({ run, fence }: Assignment, batch: TestBatch): Promise<ServerFrame> {
      sent += 1;
      const id = `journal ${sent}`;
      const { firstOrdinal = 1, items = [], ...end } = batch;
      await connection.receive({ op: "journal", id, run, fence, firstOrdinal, items, ...end });
      const answer = frames.find((one) => "id" in one && one.id === id);
      if (!answer) throw new Error("the batch was not answered");
      return answer;
    },
  };
}

export const text = (words: string): JournalItem => ({
  type: "message",
  entryId: `ent_${words}`,
  kind: "text",
  text: words,
});

/** A call that asks to be judged. */
export const call = (callId: string, command: string): JournalItem => ({
  type: "pre_tool",
  entryId: `ent_${callId}`,
  callId,
  tool: "bash",
  input: { command },
  authorise: true,
});

/** Asks a person about every call. */
export const asksAboutAll: Feature = {
  name: "asks-about-all",
  judge: async () => ({ verdict: "ask", reason: null }),
};
