/**
 * Parents and children change each other at the same moment: the child's turn ends while its parent
 * writes to it. On PostgreSQL every session has its own lock, so commands that lock several must do
 * it in one order. Otherwise the database has to break deadlocks, each a second later.
 */
import { Client } from "pg";
import { describe, expect, it } from "vitest";
import { authMigrations, insertUser } from "#features/auth/index.ts";
import { createDelegation } from "#features/delegation/index.ts";
import { FakeSessionTree } from "#features/fake-session-tree/index.ts";
import { owner, startWorld, type Turn, type World } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl } from "#test/services/postgres.ts";
import { createOrchestrators } from "../index.ts";

interface Pair {
  world: World;
  at: FakeSessionTree;
  parent: Turn;
  parentId: string;
  child: Turn;
  childId: string;
  n: number;
}
type Act = (pair: Pair) => Promise<unknown>;

const write: Act = ({ parent, childId }) =>
  parent.tool("send_message", { sessionId: childId, message: "more" });
const spawn: Act = ({ parent }) => parent.tool("spawn_session", { prompt: "go", title: "next" });
const terminate: Act = ({ parent, childId }) =>
  parent.tool("terminate_session", { sessionId: childId });

/** Concurrent pairs: their number, a title, an act below or outside, and an act above. */
const RACES: [pairs: number, string, Act, Act][] = [
  [
    60,
    "a turn ends, its parent writes",
    ({ at, child }) => at.settle(child, { outcome: "completed", result: "done" }),
    write,
  ],
  [15, "a child asks, its parent writes", ({ at, child }) => at.ask(child, "Which?"), write],
  [
    15,
    "a child speaks to its parent, which ends it",
    ({ child }) => child.tool("notify_parent", { message: "look" }),
    terminate,
  ],
  [
    15,
    "a person ends a child, its parent writes",
    ({ world, childId }) => world.kernel.sessions.archive(owner, childId, true),
    write,
  ],
  [
    15,
    "a person takes a child away, its parent ends it",
    ({ world, childId }) => world.call(owner, "POST", `/api/sessions/${childId}/detach`),
    terminate,
  ],
  [
    30,
    "a person gives a parent a child, it spawns another",
    ({ world, parentId }) => world.createSession({ parentSessionId: parentId }),
    spawn,
  ],
  [
    30,
    "a person renames their orchestrator, it spawns a child",
    ({ world, n }) =>
      world.call(owner, "PUT", "/api/me/orchestrator/identity", {
        handle: `ann-a${n}`,
        name: `Ann ${n}`,
      }),
    spawn,
  ],
];

describe.skipIf(!postgresUrl)("commands that never wait for each other, on PostgreSQL", () => {
  it.each(RACES)("%i times: %s", { timeout: 60_000 }, async (pairs, _what, below, above) => {
    const database = await createTestDatabase();
    try {
      await race(database.url, pairs, below, above);
      expect(await deadlocksIn(database.url)).toBe(0);
    } finally {
      await database.drop();
    }
  });
});

async function race(url: string, pairs: number, below: Act, above: Act): Promise<void> {
  const auth = { name: "auth", migrations: authMigrations };
  const world = await startWorld([auth, createDelegation(), createOrchestrators()], url);
  const at = new FakeSessionTree(world);
  try {
    await addOwner(world);
    const made = await world.call<{ session: { id: string } }>(
      owner,
      "POST",
      "/api/me/orchestrator",
      {},
    );
    const parentId = made.session.id;
    const parent = await at.prompt(parentId);
    const children: Turn[] = [];
    if (above !== spawn)
      for (let n = 0; n < pairs; n++) children.push(await at.turnOf(await at.spawn(parentId)));
    for (let n = 0; n < pairs; n++) {
      const child = children[n] ?? parent;
      const childId = child.assignment.sessionId;
      const pair = { world, at, parent, parentId, child, childId, n };
      const later = (n % 10) * 0.7;
      await Promise.all([
        below(pair).catch(refused),
        new Promise((resolve) => setTimeout(resolve, later)).then(() => above(pair)),
      ]);
    }
  } finally {
    await world.stop();
  }
}

/** The second of two may find nothing left to do. */
function refused(error: Error): void {
  if (!("code" in error)) throw error;
}

async function addOwner({ kernel }: World): Promise<void> {
  await kernel.engine.store.transaction(async (tx) => {
    const sql = "insert into orgs (id, name, slug, created_at) values ('org_1', 'C', 'c', 1)";
    await tx.execute({ sql, parameters: [] });
    const { userId: id, orgId: org_id, name, role } = owner;
    const rest = { email: null, timezone: "UTC", locale: "en", created_at: 1 };
    await insertUser(tx, { id, org_id, name, role, ...rest });
  });
}

/** Deadlocks counted by PostgreSQL, which reports those of a process when the process has ended. */
async function deadlocksIn(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ deadlocks: string }>(
      "select deadlocks from pg_stat_database where datname = current_database()",
    );
    return Number(rows[0]?.deadlocks);
  } finally {
    await client.end();
  }
}
