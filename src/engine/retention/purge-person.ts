/**
 * Removes the rows of one person: the kernel's part here, then each feature's. The work is done in
 * batches and may be started again at any point.
 */

import type { Feature, Person } from "../feature.ts";
import { forEachIndependently } from "../for-each-independently.ts";
import { forgetKeysOf } from "../requests/idempotency-queries.ts";
import { listRunners } from "../runs/runners/runner-queries.ts";
import { deleteOpensOf } from "../sessions/log/open-queries.ts";
import { purgeSessionsOf } from "../sessions/purge/purge.ts";
import { command, type Engine } from "../work.ts";

export interface PurgeParts {
  engine: Engine;
  features: readonly Feature[];
  /** Tables of features whose rows are removed together with their session. */
  sessionTables: readonly string[];
  removeRunner(person: Person, runnerId: string): Promise<void>;
}

/** True when nothing is left. */
export async function purgePerson(parts: PurgeParts, person: Person): Promise<boolean> {
  const { engine, features, sessionTables, removeRunner } = parts;
  // Sessions go first: a session may be using rows that features keep.
  if (!(await purgeSessionsOf(engine, person, sessionTables))) return false;
  const runners = await engine.store.read((reader) => listRunners(reader, person.orgId));
  const own = runners.filter(({ owner_id }) => owner_id === person.userId);
  await forEachIndependently(own, ({ id }) => removeRunner(person, id));
  await engine.store.transaction(async (tx) => {
    await forgetKeysOf(tx, `user:${person.userId}`);
    await deleteOpensOf(tx, person.userId);
  });
  let isDone = true;
  for (const { purgePerson: purge } of features)
    if (purge && !(await command(engine, (work) => purge(work, person)))) isDone = false;
  return isDone;
}
