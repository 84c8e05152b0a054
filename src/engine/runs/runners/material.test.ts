/** Material sent to a runner together with a turn, and runners that must not get it. */
import { describe, expect, it } from "vitest";
import { createMemoryBus } from "#base/bus/memory/memory-bus.ts";
import { FakeClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { silentLog as log } from "#base/log.ts";
import { openStore } from "#base/store/index.ts";
import type { Feature } from "#engine/feature.ts";
import { createKernel } from "#engine/kernel.ts";
import type { Principal } from "#engine/requests/principal.ts";
import { keepSummary } from "#engine/sessions/queries.ts";
import { type Assignment, RUNNER_PROTOCOL, type ServerFrame } from "#protocol/frames.ts";

const owner: Principal = {
  kind: "user",
  orgId: "org_1",
  userId: "usr_1",
  name: "owner",
  role: "admin",
  scopes: ["*"],
  channel: "api",
};
const machine = { kind: "runner", orgId: "org_1", credentialId: "crd_1", scope: "org" } as const;

async function start({ readers, content = "be kind" }: { readers?: string[]; content?: string }) {
  const clock = new FakeClock();
  const store = await openStore({ url: "sqlite::memory:", clock, log, onSyncFailure: () => {} });
  const reads = { briefs: 0, registers: 0 };
  const library: Feature = {
    name: "library",
    hasBrief: ({ labels }) => labels === "library",
    async brief(_reader, _session, prompt) {
      reads.briefs += 1;
      const instructions = [{ name: "00.md", content }];
      return { instructions, files: [], setup: null, recall: [`for ${prompt.content}`] };
    },
    async register() {
      reads.registers += 1;
      return "[what there is]";
    },
  };
  const kernel = await createKernel({
    store,
    bus: createMemoryBus(log),
    clock,
    ids: createIds(),
    log,
    features: [library],
    defaults: { runtime: "scripted", model: null, limits: { activePerUser: 9, activePerOrg: 9 } },
  });
  const frames: ServerFrame[] = [];
  const connection = kernel.dispatcher.connect(
    { ...machine, tags: [], name: "r" },
    { send: (frame) => frames.push(frame), close: () => {}, isAlive: async () => true },
  );
  const profile = { name: "r", hostname: "h", folder: "/f", profile: "default", projectDir: null };
  await connection.receive({
    op: "register",
    id: "1",
    protocol: RUNNER_PROTOCOL,
    bootId: "boot_1",
    profile: {
      ...profile,
      tags: [],
      runtimes: ["scripted"],
      ...(readers ? { readers } : {}),
      capacity: 2,
      models: [],
      sandbox: null,
      version: "0",
    },
    holding: [],
  });
  const assigned = () => frames.flatMap((one) => (one.op === "assign" ? [one.assignment] : []));
  return {
    store,
    reads,
    async sessionWithBrief() {
      const { id } = await kernel.sessions.create(owner, {});
      await store.transaction((tx) =>
        tx.execute({
          sql: "update sessions set labels = 'library' where id = ?",
          parameters: [id],
        }),
      );
      return id;
    },
    createSession: async () => (await kernel.sessions.create(owner, {})).id,
    async turn(sessionId: string, words: string): Promise<Assignment> {
      const count = assigned().length;
      const request = { content: words, mode: "followup" as const, thread: "main" };
      await kernel.prompts.admit(owner, sessionId, { ...request, attachments: [] });
      await expect.poll(() => assigned().length).toBe(count + 1);
      const assignment = assigned().at(-1) as Assignment;
      const { run, fence } = assignment;
      const entryId = `ent_${run}`;
      const items = [{ type: "message" as const, entryId, kind: "text" as const, text: "said" }];
      const settle = { outcome: "completed" as const, result: "done" };
      const ref = { run, fence, firstOrdinal: 1, items };
      await connection.receive({ op: "journal", id: `end ${run}`, ...ref, settle });
      return assignment;
    },
  };
}

describe("what comes with an assignment", () => {
  it("is the brief and what was said before, for a runtime that reads first", async () => {
    const { turn, sessionWithBrief, reads } = await start({ readers: ["scripted"] });
    const id = await sessionWithBrief();
    const first = await turn(id, "one");
    expect(first.material).toEqual({
      brief: {
        instructions: [{ name: "00.md", content: "be kind" }],
        files: [],
        setup: null,
        identity: null,
        recall: ["for one"],
      },
    });
    const { material } = await turn(id, "two");
    expect(material?.brief?.recall).toEqual(["for two"]);
    expect(material?.history).toMatchObject({ more: false, summary: null });
    expect(material?.history?.items.map(({ item }) => "text" in item && item.text)).toEqual([
      "one",
      "said",
    ]);
    expect(reads).toEqual({ briefs: 2, registers: 0 });
  });

  it("is nothing for others, and where there is nothing to read", async () => {
    const silent = await start({});
    const id = await silent.sessionWithBrief();
    await silent.turn(id, "one");
    expect(await silent.turn(id, "two")).not.toHaveProperty("material");
    expect(silent.reads).toEqual({ briefs: 0, registers: 0 });
    const { turn, createSession } = await start({ readers: ["scripted"] });
    expect(await turn(await createSession(), "one")).not.toHaveProperty("material");
  });

  it("says when it was claimed, and where the person is", async () => {
    const { store, turn, createSession } = await start({ readers: ["scripted"] });
    await store.transaction((tx) =>
      tx.execute({
        sql: `insert into users (id, org_id, name, role, timezone, locale, created_at)
              values ('usr_1', 'org_1', 'Olga', 'admin', 'Europe/Berlin', 'de-DE', 1)`,
        parameters: [],
      }),
    );
    const { material } = await turn(await createSession(), "one");
    expect(material).toEqual({
      time: { at: expect.any(Number), timezone: "Europe/Berlin", locale: "de-DE" },
    });
  });

  it("has the register where something was summed up", async () => {
    const { store, turn, sessionWithBrief } = await start({ readers: ["scripted"] });
    const id = await sessionWithBrief();
    await turn(id, "one");
    await store.transaction((tx) => keepSummary(tx, id, "main", "so far", 1));
    const { material } = await turn(id, "two");
    expect(material?.history?.summary).toBe("so far");
    expect(material?.brief?.register).toBe("[what there is]");
  });

  it("leaves out a brief that is too long to be sent unasked", async () => {
    const long = "x".repeat(300_000);
    const { turn, sessionWithBrief } = await start({ readers: ["scripted"], content: long });
    const assignment = await turn(await sessionWithBrief(), "one");
    expect(assignment).toMatchObject({ hasBrief: true, material: {} });
    expect(assignment.material).not.toHaveProperty("brief");
  });
});
