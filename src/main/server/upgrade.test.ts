/** Databases of earlier versions: their rows as that version wrote them, opened by this one. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "#base/clock.ts";
import { silentLog as log } from "#base/log.ts";
import { openStore, type Store } from "#base/store/index.ts";
import { kernelMigrations } from "#engine/index.ts";
import { owner, startWorld, type World } from "#features/testing/index.ts";
import { DEFAULT_TURN_LIMITS } from "#protocol/frames.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { createFeatures } from "../features.ts";

const features = createFeatures({
  secretKey: "k".repeat(43),
  searchPath: "",
  log,
  providers: {},
  turnLimits: DEFAULT_TURN_LIMITS,
  orchestration: { disabled: false, minimalUi: false, maxWorkers: 3, allowDelete: true },
}).list;
const all = [...kernelMigrations, ...features.flatMap(({ migrations = [] }) => migrations)];

const MOVED = ["0030-roles-and-labels", "personas-0003-pinned-names", "delegation-0004-plans"];

type Values = Readonly<Record<string, string | number | null>>;

async function insert(store: Store, table: string, row: Values): Promise<void> {
  const names = Object.keys(row);
  const marks = names.map((_name, at) => (store.dialect === "sqlite" ? "?" : `$${at + 1}`));
  const sql = `insert into ${table} (${names.join(", ")}) values (${marks.join(", ")})`;
  await store.transaction((tx) => tx.execute({ sql, parameters: Object.values(row) }));
}

/** Row of a session, with the columns that it had before labels and roles. */
function sessionRow(id: string, given: Values = {}): Values {
  return {
    id,
    org_id: owner.orgId,
    owner_id: owner.userId,
    created_by: `user:${owner.userId}`,
    kind: "task",
    purpose: "task",
    lifecycle: "active",
    root_session_id: id,
    depth: 0,
    runtime: "native",
    queue_mode: "followup",
    enable_memory: 0,
    incarnation: 1,
    exclusive: 1,
    last_seq: 0,
    next_position: 0,
    waiting: 0,
    prompts_total: 0,
    cost_micros: 0,
    cost_unknown: 0,
    created_at: 1,
    updated_at: 1,
    ...given,
  };
}

function promptRow(id: string, given: Values): Values {
  return {
    id,
    org_id: owner.orgId,
    created_by: "system",
    session_id: "ses_plain",
    thread: "main",
    author_kind: "system",
    author_id: "mailbox",
    author_name: "Muster",
    origin: "{}",
    mode: "followup",
    state: "settled",
    outcome: "completed",
    rank: 1,
    position: 1,
    attachments: "[]",
    content_hash: "h",
    run_id: `run_${id}`,
    attempts: 1,
    accepted_at: 1,
    ...given,
  };
}

async function fill(store: Store): Promise<void> {
  await insert(store, "sessions", sessionRow("ses_plain"));
  await insert(store, "sessions", sessionRow("ses_memory", { enable_memory: 1 }));
  const led = { supervisor: 1, project_dir: "/srv/app" };
  await insert(store, "sessions", sessionRow("ses_leads", led));
  const persona = { persona_slug: "old-name", persona_version: 7, enable_memory: 1 };
  await insert(store, "sessions", sessionRow("ses_persona", persona));
  await insert(store, "persona_pins", {
    session_id: "ses_persona",
    org_id: owner.orgId,
    persona_id: "per_1",
    version_id: "psv_7",
    pinned_at: 1,
  });
  const orchestrator = { kind: "orchestrator", enable_memory: 1 };
  await insert(store, "sessions", sessionRow("orchestrator:usr_1", orchestrator));
  const child = { parent_session_id: "orchestrator:usr_1", depth: 1 };
  const plans = {
    ses_required: { plan_required: 1 },
    ses_pending: { plan_required: 1, plan_state: "pending", run_state: "gated" },
    ses_approved: { plan_required: 1, plan_state: "approved" },
    ses_presented: { plan_required: 0, plan_state: "pending", run_state: "gated" },
  };
  for (const [id, plan] of Object.entries(plans)) {
    await insert(store, "sessions", sessionRow(id, { ...child, ...plan }));
    await insert(store, "session_links", {
      session_id: id,
      org_id: owner.orgId,
      parent_session_id: "orchestrator:usr_1",
      parent_thread: "main",
      handoff: 0,
      is_silent: 0,
      returned_micros: 0,
      created_at: 1,
    });
  }
}

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let made: TestDatabase | undefined;
    let folder: string | undefined;
    let world: World | undefined;
    afterEach(async () => {
      await world?.stop();
      await made?.drop();
      if (folder !== undefined) rmSync(folder, { recursive: true });
      [made, folder, world] = [undefined, undefined, undefined];
    });

    /** Makes a database without the latest migrations, then opens it with all of them. */
    async function upgrade(
      without: readonly string[],
      write: (store: Store) => Promise<void>,
    ): Promise<World> {
      made = await database();
      folder = mkdtempSync(join(tmpdir(), "muster-upgrade-"));
      const url = made?.url ?? `sqlite:${join(folder, "muster.db")}`;
      const old = await openStore({ url, clock: systemClock, log, onSyncFailure: () => {} });
      await old.migrate(all.filter(({ id }) => !without.includes(id)));
      await write(old);
      await old.close();
      world = await startWorld(features, url);
      return world;
    }

    it("keep personas, memory and supervisor mode", async () => {
      const { kernel, call } = await upgrade(MOVED, fill);
      const shown = async (id: string) => {
        const { persona, personaVersion, enableMemory } = await kernel.sessions.get(owner, id);
        return { persona, personaVersion, enableMemory };
      };
      const nobody = { persona: null, personaVersion: null };
      expect(await shown("ses_plain")).toEqual({ ...nobody, enableMemory: false });
      expect(await shown("ses_memory")).toEqual({ ...nobody, enableMemory: true });
      expect(await shown("orchestrator:usr_1")).toEqual({ ...nobody, enableMemory: true });
      expect(await shown("ses_persona")).toEqual({
        persona: "old-name",
        personaVersion: 7,
        enableMemory: true,
      });
      const listed = await kernel.sessions.list(owner, { persona: "old-name", limit: 10 });
      expect(listed.items.map(({ id }) => id)).toEqual(["ses_persona"]);
      const roleOf = (id: string) => call(owner, "GET", `/api/orchestration/sessions/${id}`);
      expect(await roleOf("ses_leads")).toMatchObject({ role: "supervisor" });
      expect(await roleOf("ses_plain")).toMatchObject({ role: "standalone" });
      const worker = await kernel.sessions.create(owner, { parentSessionId: "ses_leads" });
      expect(worker.projectDir).toBe("/srv/app");
    });

    it("keep plans", async () => {
      const { kernel, call } = await upgrade(MOVED, fill);
      const { items } = await call<{ items: { sessionId: string }[] }>(
        owner,
        "GET",
        "/api/sessions/orchestrator:usr_1/children",
      );
      expect(Object.fromEntries(items.map((child) => [child.sessionId, child]))).toMatchObject({
        ses_required: { requirePlanApproval: true, planState: "required", waitingFor: null },
        ses_pending: { planState: "pending", waitingFor: { kind: "plan" } },
        ses_approved: { requirePlanApproval: true, planState: "approved" },
        ses_presented: { requirePlanApproval: false, planState: "pending" },
      });
      const { waitingFor } = await kernel.sessions.get(owner, "ses_presented");
      expect(waitingFor).toMatchObject({ kind: "plan" });
    });

    it("give the turns of guests a guest's rights, and no others", async () => {
      const guests = "[mailbox, guest] A message from bo.";
      const { kernel } = await upgrade(["0029-notices", ...MOVED], async (store) => {
        await fill(store);
        const contents: [string, Values][] = [
          ["pmt_guest", { content: guests }],
          ["pmt_mail", { content: "[mailbox] A message from bo." }],
          // A person may write anything; only the platform's words counted.
          ["pmt_person", { content: guests, author_kind: "user", author_id: owner.userId }],
          ["pmt_quoted", { content: `bo wrote: ${guests}` }],
        ];
        for (const [id, given] of contents) await insert(store, "prompts", promptRow(id, given));
      });
      const rows = await kernel.engine.store.read((reader) =>
        reader.query<{ id: string; is_guest: number; notice: string | null }>({
          sql: "select id, is_guest, notice from prompts order by id",
          parameters: [],
        }),
      );
      expect(rows).toEqual([
        { id: "pmt_guest", is_guest: 1, notice: null },
        { id: "pmt_mail", is_guest: 0, notice: null },
        { id: "pmt_person", is_guest: 0, notice: null },
        { id: "pmt_quoted", is_guest: 0, notice: null },
      ]);
    });
  });
}

suite("databases of earlier versions on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("databases of earlier versions on PostgreSQL", createTestDatabase);
});
