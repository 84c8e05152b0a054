/** Final checks: without further faults, all accepted work must have ended. */
import type { OutboxRow, RunnerRow } from "#engine/schema.ts";
import type { Clients } from "./clients/clients.ts";
import { must } from "./oracle/model.ts";
import type { World } from "./world.ts";

const ROWS = [
  "sessions",
  "prompts",
  "runs",
  "events",
  "gates",
  "workspaces",
  "tool_results",
  "timers",
  "outbox",
  "sim_fired",
  "sim_effects",
];

/** Describes work that is still in progress; undefined when there is none. */
export async function findUnfinished(world: World, clients: Clients): Promise<string | undefined> {
  const { model } = world.oracle;
  if (clients.requests.open > 0) return `${clients.requests.open} requests are unanswered`;
  for (const prompt of model.prompts.values()) {
    if (prompt.outcome !== null) continue;
    const lifecycle = model.sessions.get(prompt.session)?.lifecycle;
    const keepsWaiting = lifecycle === "archived" && prompt.author.startsWith("system:");
    if (!keepsWaiting)
      return `prompt ${prompt.id} of ${prompt.session} (${lifecycle}) has no outcome`;
  }
  const rows = await query<{ what: string }>(
    world,
    "select 'outbox ' || id as what from outbox where state = 'pending' union all select 'timer ' || subject from timers where kind in ('sim', 'collect') limit 1",
  );
  if (rows[0]) return `${rows[0].what} waits`;
  const held = world.hosts.find(
    ({ process }) => !process?.isRegistered || process.isDraining || process.held.size > 0,
  );
  return held && `runner ${held.profile.name} is not idle`;
}

export function checkAsleep(world: World): void {
  for (const { id, lifecycle } of world.oracle.model.sessions.values())
    must(lifecycle !== "active", () => `session ${id} is not used and does not fall asleep`);
}

export async function checkEnd(world: World, clients: Clients): Promise<void> {
  const { model } = world.oracle;
  const settled = await query<{ n: number }>(world, "select count(*) as n from outbox");
  const ended = [...model.prompts.values()].filter((prompt) => prompt.outcome !== null).length;
  const purged = [...model.purged].filter((id) => id.startsWith("pmt")).length;
  const rows = settled[0]?.n ?? 0;
  must(
    rows >= ended && rows <= ended + purged,
    () => `${ended} prompts ended, ${rows} consequences`,
  );
  const outbox = await query<OutboxRow>(world, "select * from outbox");
  for (const row of outbox) {
    const times = world.oracle.deliveries.get(row.cause_key) ?? 0;
    if (row.state === "delivered") must(times > 0, () => `${row.cause_key} was never delivered`);
    else must(row.state === "dead" && row.attempts >= 10, () => `${row.cause_key} is ${row.state}`);
    if (deliversOnce(world))
      must(times <= 1, () => `${row.cause_key} was delivered ${times} times without a reason`);
  }
  await checkTimers(world, clients);
  const runners = await query<RunnerRow>(world, "select * from runners");
  for (const { process, runnerId } of world.hosts) {
    const row = runners.find(({ id }) => id === runnerId);
    must(row?.state === "online", () => `${process?.bootId} is here and shown as ${row?.state}`);
    // Slots that were released silently are counted again when none is left.
    const free = process?.wire?.connection.free ?? 0;
    must(free > 0, () => `${process?.bootId} is idle and has no place free`);
  }
}

/** True if nothing in this seed may leave a delivery in doubt. */
function deliversOnce({ odds }: World): boolean {
  const { serverCrash, serverRestart, storeAway, hiccups, deliveryHangs, clockJump } = odds;
  return [serverCrash, serverRestart, storeAway, hiccups, deliveryHangs, clockJump].every(
    (odd) => odd === 0,
  );
}

async function checkTimers(world: World, clients: Clients): Promise<void> {
  const fired = await query<{ subject: string; at: number }>(
    world,
    "select subject, at from sim_fired",
  );
  for (const [subject, { dueAt, sent }] of clients.timers) {
    const times = fired.filter((row) => row.subject === subject);
    must(times.length >= 1, () => `${subject} was acknowledged and never fired`);
    must(times.length <= sent, () => `${subject} fired ${times.length} times`);
    must(
      world.odds.clockJump > 0 || times.every((row) => row.at >= dueAt),
      () => `${subject} fired too early`,
    );
  }
}

/** Everything in the database, for comparing two runs of one seed. */
export async function dump(world: World): Promise<string[]> {
  const lines: string[] = [];
  for (const table of ROWS)
    for (const row of await query<object>(world, `select * from ${table} order by rowid`))
      lines.push(JSON.stringify(row));
  return lines;
}

function query<Row>(world: World, sql: string): Promise<Row[]> {
  return world.real.read((reader) => reader.query<Row>({ sql, parameters: [] }));
}
