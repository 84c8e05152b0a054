/** Test support: the real kernel with features, a runner that the test controls, and their routes. */
import { createMemoryBus } from "#base/bus/memory/memory-bus.ts";
import { FakeClock, systemClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { silentLog as log } from "#base/log.ts";
import { openStore } from "#base/store/index.ts";
import { type Client, createClient } from "#client/index.ts";
import { createKernel, type Feature, type Kernel, type Principal } from "#engine/index.ts";
import type { JournalItem, Settlement } from "#protocol/events.ts";
import {
  type Assignment,
  type ExecutorBinding,
  type Park,
  RUNNER_PROTOCOL,
  type RunnerFrame,
  type ServerFrame,
} from "#protocol/frames.ts";
import type { Verdict } from "#protocol/sessions.ts";

export type User = Extract<Principal, { kind: "user" }>;

export const owner: User = {
  kind: "user",
  orgId: "org_1",
  userId: "usr_1",
  name: "owner",
  role: "admin",
  scopes: ["*"],
  channel: "api",
};
export const member: User = { ...owner, userId: "usr_2", name: "member", role: "member" };
export const stranger: User = { ...owner, orgId: "org_2", userId: "usr_3", name: "stranger" };

export interface Turn {
  assignment: Assignment;
  /** Appends to the journal; returns the verdicts. */
  journal(
    items: readonly JournalItem[],
    end?: { settle?: Settlement; park?: Park; bind?: ExecutorBinding },
  ): Promise<Record<string, Verdict>>;
  /** Calls a tool of the server as the native agent would: journaled, judged, performed, answered. */
  tool(name: string, input: unknown): Promise<ToolReply>;
  /** Sends a frame of a tool call unchanged, with any fence. */
  sendTool(callId: string, name: string, input: unknown, fence?: number): Promise<ServerFrame>;
  /** Reports the folder of the executor, as a runner does. */
  bind(binding: ExecutorBinding): Promise<void>;
  /** Writes this text and completes. */
  end(result: string): Promise<void>;
  /** Newest page of the history before the turn, as its runtime would request it. */
  history(): Promise<ServerFrame>;
  /** Renews the lease once; nothing else does. */
  renew(): Promise<void>;
  /** Returns the turn, as a runner does before it leaves; `begun`: it may have done something. */
  release(begun?: boolean): Promise<void>;
}

export interface ToolReply {
  output: unknown;
  error: string | null;
  endsTurn: boolean;
}

export interface World {
  kernel: Kernel;
  clock: FakeClock;
  /** The typed client of somebody; a refusal is thrown as the route throws it. */
  as(who: Principal): Client;
  /** Calls a route of a feature as the HTTP surface would, also with what no client would send. */
  call<T = Record<string, unknown>>(
    who: Principal,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<T>;
  createSession(fields?: Record<string, unknown>, who?: Principal): Promise<string>;
  /** Admits a prompt and waits until it is claimed. */
  startTurn(sessionId: string, content?: string, who?: Principal): Promise<Turn>;
  /** Returns the next assignment: of a turn that continues. */
  nextTurn(): Promise<Turn>;
  stop(): Promise<void>;
}

const CLAIM_EVERY_MS = 50;

/** Starts the kernel. Without an address: SQLite in memory, and a clock that the test moves. */
export async function startWorld(features: readonly Feature[], url?: string): Promise<World> {
  const clock = new FakeClock();
  const store = await openStore({
    url: url ?? "sqlite::memory:",
    clock: url === undefined ? clock : systemClock,
    log,
    onSyncFailure: () => {},
  });
  const kernel = await createKernel({
    store,
    bus: createMemoryBus(log),
    clock: url === undefined ? clock : systemClock,
    ids: createIds(),
    log,
    features,
    defaults: {
      runtime: "native",
      model: null,
      limits: { activePerUser: 100, activePerOrg: 100 },
    },
  });
  const runner = await connectRunner(kernel);
  // Replaces the sweep, which does not run here: finds runs that were locked when they could have been
  // claimed.
  const claiming = setInterval(() => kernel.engine.announcer.runsReady(), CLAIM_EVERY_MS).unref();
  return {
    kernel,
    clock,
    as: (who) =>
      createClient(({ method, path, body }) => callRoute(kernel, who, method, path, body)),
    call: (who, method, path, body) => callRoute(kernel, who, method, path, body),
    createSession: async (fields = {}, who = owner) =>
      (await kernel.sessions.create(who, fields)).id,
    async startTurn(sessionId, content = "go", who = owner) {
      const request = { content, mode: "followup" as const, thread: "main", attachments: [] };
      await kernel.prompts.admit(who, sessionId, request);
      return runner.nextTurn();
    },
    nextTurn: runner.nextTurn,
    async stop() {
      clearInterval(claiming);
      await kernel.stop();
      await store.close();
    },
  };
}

/** Connects a runner whose turns the test works by hand. */
export async function connectRunner(kernel: Kernel, orgId = owner.orgId) {
  const assigned: Assignment[] = [];
  const answers = new Map<string, (frame: ServerFrame) => void>();
  let wake = () => {};
  let last = 0;
  const principal = {
    kind: "runner",
    orgId,
    credentialId: "crd_1",
    scope: "org",
    tags: [],
    name: "r",
  } as const;
  const connection = kernel.dispatcher.connect(principal, {
    send(frame) {
      if (frame.op === "assign") {
        assigned.push(frame.assignment);
        wake();
      }
      if ("id" in frame && typeof frame.id === "string") answers.get(frame.id)?.(frame);
    },
    close: () => {},
    isAlive: async () => true,
  });
  await connection.receive({
    op: "register",
    id: "register",
    protocol: RUNNER_PROTOCOL,
    bootId: "boot_1",
    profile: {
      name: "r",
      hostname: "h",
      folder: "/f",
      profile: "default",
      projectDir: null,
      tags: [],
      runtimes: ["native", "scripted"],
      capacity: 100,
      models: [],
      sandbox: { kind: "bubblewrap", why: null, fix: null, enforced: {} },
      version: "0",
    },
    holding: [],
  });

  const ask: Ask = async (frame) => {
    const id = `frame_${++last}`;
    const answered = new Promise<ServerFrame>((resolve) => answers.set(id, resolve));
    await connection.receive(frame(id));
    return answered;
  };

  return {
    async nextTurn(): Promise<Turn> {
      while (assigned.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      return turnOf(assigned.shift() as Assignment, ask);
    },
  };
}

type Ask = (frame: (id: string) => RunnerFrame) => Promise<ServerFrame>;
let calls = 0;

function turnOf(assignment: Assignment, ask: Ask): Turn {
  const { run, fence } = assignment;
  let ordinal = 1;
  const journal: Turn["journal"] = async (items, end = {}) => {
    const firstOrdinal = ordinal;
    const answer = await ask((id) => ({
      op: "journal",
      id,
      run,
      fence,
      firstOrdinal,
      items: [...items],
      ...end,
    }));
    ordinal += items.length;
    if (answer.op !== "journaled") throw new Error(JSON.stringify(answer));
    return answer.verdicts ?? {};
  };
  return {
    assignment,
    journal,
    async tool(name, input) {
      const callId = `call_${++calls}`;
      const verdicts = await journal([asks(callId, name, input)]);
      const verdict = verdicts[callId];
      const answer: ToolReply = { output: null, error: verdict?.reason ?? null, endsTurn: false };
      if (verdict?.verdict === "allow") {
        const toolReply = await ask((id) => ({ op: "tool", id, run, fence, callId, name, input }));
        if (toolReply.op !== "tool_result") throw new Error(JSON.stringify(toolReply));
        const { output, error, endsTurn = false } = toolReply;
        Object.assign(answer, { output, error, endsTurn });
      }
      const { error } = answer;
      const item = ended(callId, name, { output: JSON.stringify(answer.output), error });
      const isDone = verdict?.verdict === "allow";
      await journal([isDone ? item : ({ ...item, performed: false } as JournalItem)]);
      return answer;
    },
    sendTool: (callId, name, input, of = fence) =>
      ask((id) => ({ op: "tool", id, run, fence: of, callId, name, input })),
    async bind(binding) {
      await journal([], { bind: binding });
    },
    async end(result) {
      await journal([], { settle: { outcome: "completed", result } });
    },
    history: () => ask((id) => ({ op: "history", id, run, fence, beforeSeq: null, limit: 200 })),
    async renew() {
      await ask((id) => ({ op: "renew", id, runs: [{ run, fence }] }));
    },
    async release(begun = true) {
      await ask((id) => ({ op: "release", id, run, fence, begun }));
    },
  };
}

async function callRoute<T>(
  kernel: Kernel,
  principal: Principal,
  method: string,
  path: string,
  body: unknown,
): Promise<T> {
  const url = new URL(path, "http://localhost");
  for (const route of kernel.routes) {
    const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
    const match = matchOf([route.path, ...(route.aliases ?? [])], url.pathname);
    if (!match || route.method.toUpperCase() !== method) continue;
    return (await route.handle({
      engine: kernel.engine,
      principal,
      params: Object.fromEntries(
        names.map((name, at) => [name, decodeURIComponent(match[at + 1] as string)]),
      ),
      query: (route.query?.parse(Object.fromEntries(url.searchParams)) ?? {}) as never,
      body: (route.body?.parse(body ?? {}) ?? {}) as never,
      idempotency: undefined,
    })) as T;
  }
  throw new Error(`no route ${method} ${url.pathname}`);
}

function matchOf(paths: readonly string[], pathname: string): RegExpExecArray | undefined {
  for (const path of paths) {
    const match = new RegExp(`^${path.replaceAll(/\{\w+\}/g, "([^/]+)")}$`).exec(pathname);
    if (match) return match;
  }
  return undefined;
}

let entries = 0;
const entryId = () => `ent_${++entries}`;

/** Builds a call that asks to be judged. */
export function asks(callId: string, tool: string, input: unknown): JournalItem {
  return { type: "pre_tool", entryId: entryId(), callId, tool, input, authorise: true };
}

export function ended(
  callId: string,
  tool: string,
  fields: { output?: string; error?: string | null } = {},
): JournalItem {
  return {
    type: "post_tool",
    entryId: entryId(),
    callId,
    tool,
    input: { command: "ls" },
    output: fields.output ?? "done",
    error: fields.error ?? null,
    exitCode: fields.error ? 1 : 0,
    durationMs: 12,
  };
}

export function modelCall(
  fields: Partial<Extract<JournalItem, { type: "model_call" }>> = {},
): JournalItem {
  return {
    type: "model_call",
    entryId: entryId(),
    model: "lab/small",
    inputTokens: 100,
    cachedInputTokens: 40,
    outputTokens: 20,
    reasoningTokens: 5,
    costMicros: 300,
    priceId: "p1",
    durationMs: 50,
    stopReason: "stop",
    ...fields,
  };
}
