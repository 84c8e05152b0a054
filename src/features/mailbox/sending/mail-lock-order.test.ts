/**
 * Agents in different trees write to each other at the same moment. On PostgreSQL every session has
 * its own lock, so sending a message locks sender and recipient in one order. Otherwise the
 * database has to break deadlocks, each a second later.
 */
import { Client } from "pg";
import { describe, expect, it } from "vitest";
import type { Turn, User } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl } from "#test/services/postgres.ts";
import { FakeOffice, idOf } from "./fake-office.ts";

interface Scene {
  office: FakeOffice;
  ann: User;
  bob: User;
  hers: Turn;
  his: Turn;
  /** Turns of her children. */
  a: Turn;
  b: Turn;
  n: number;
}
type Act = (scene: Scene) => Promise<unknown>;

const sessionOf = ({ assignment }: Turn) => assignment.sessionId;
const write = (from: Turn, to: string) =>
  from.tool("mailbox_send", { to, content: "x", messageType: "question" });

const hersToHis: Act = ({ hers, bob }) => write(hers, idOf(bob));
const hisToHers: Act = ({ his, ann }) => write(his, idOf(ann));
const aToB: Act = ({ a, b }) => write(a, sessionOf(b));
const bToA: Act = ({ a, b }) => write(b, sessionOf(a));
const annToHis: Act = ({ office, ann, bob }) => office.send(ann, { to: idOf(bob), content: "x" });
const bobToHers: Act = ({ office, ann, bob }) => office.send(bob, { to: idOf(ann), content: "x" });
const hersToA: Act = ({ hers, a }) => write(hers, sessionOf(a));
const aUp: Act = ({ a }) => write(a, "orchestrator");
const read: Act = ({ office, ann, b }) =>
  office.world.call(ann, "PUT", `/api/sessions/${sessionOf(b)}/messages/read`, {});

const RACES: [times: number, string, readonly Act[]][] = [
  [40, "two orchestrators write to each other", [hersToHis, hisToHers]],
  [30, "two siblings write to each other, and their parent to one", [aToB, bToA, hersToA]],
  [
    30,
    "a child writes up while its orchestrator writes out and is written to",
    [aUp, hersToHis, hisToHers],
  ],
  [
    20,
    "people write to each other's agents, who write to each other",
    [annToHis, bobToHers, hersToHis, hisToHers],
  ],
  [20, "a child is written to while its person reads its messages", [aToB, read, bToA]],
];

describe.skipIf(!postgresUrl)("messages that never wait for each other, on PostgreSQL", () => {
  it.each(RACES)("%i times: %s", { timeout: 60_000 }, async (times, _what, acts) => {
    const database = await createTestDatabase();
    const office = await FakeOffice.open({ url: database.url });
    try {
      const scene = await sceneIn(office);
      for (let n = 0; n < times; n++)
        await Promise.all(
          acts.map((act, at) => later(((n + at * 3) % 7) * 0.6, () => act({ ...scene, n }))),
        );
      await office.world.stop();
      expect(await deadlocksIn(database.url)).toBe(0);
    } finally {
      await database.drop();
    }
  });
});

async function sceneIn(office: FakeOffice): Promise<Omit<Scene, "n">> {
  const [ann, bob] = [await office.person("Ann"), await office.person("Bob")];
  for (const who of [ann, bob]) await office.accept(who, "org");
  const [hers, his] = [await office.turn(ann, idOf(ann)), await office.turn(bob, idOf(bob))];
  const [one, two] = [await office.at.spawn(idOf(ann)), await office.at.spawn(idOf(ann))];
  const [a, b] = [await office.at.turnOf(one), await office.at.turnOf(two)];
  return { office, ann, bob, hers, his, a, b };
}

/**
 * Accepts a refusal for a call that came too late or exceeded a limit; any other error fails the
 * test.
 */
async function later(ms: number, act: () => Promise<unknown>): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  await act().catch((error: Error) => {
    if (!("code" in error)) throw error;
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
