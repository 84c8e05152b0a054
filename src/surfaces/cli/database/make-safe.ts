/** All steps on a restored database before a server may start from it. */
import { randomUUID } from "node:crypto";
import { type EncryptedColumn, forgetStatements } from "#base/secrets/secret-key.ts";
import { type EndedAccess, endAccess } from "./end-access.ts";
import { type FencedOff, fenceOff } from "./fence-off.ts";
import { bindLocalRunner, type RunnerFiles } from "./local-workspaces.ts";
import { type PreviousAccess, readTrailEnd } from "./previous-access.ts";
import type { RestoreDb } from "./restore-db.ts";

/** Time to check the restored data, and to set its retention, before retention removes it again. */
const RETENTION_HELD_MS = 24 * 60 * 60_000;

export interface SafetyOptions {
  now: number;
  previous: PreviousAccess | undefined;
  keepAccess: boolean;
  ownerKeyHash: string | undefined;
  /** Folder of the runner that starts with the server. */
  runnerFolder: string;
  /** Columns to empty, because their key is lost. */
  forget: readonly EncryptedColumn[];
}

export interface RestoreNote {
  id: string;
  at: number;
  /** End of the audit trail in the copy. */
  seq: number;
  hash: string;
}

export interface MadeSafe extends FencedOff, EndedAccess {
  files: RunnerFiles[];
  hasForgotten: boolean;
  note: RestoreNote;
}

/** Runs in one transaction of the caller's. */
export async function makeSafe(db: RestoreDb, options: SafetyOptions): Promise<MadeSafe> {
  const fenced = await fenceOff(db, options.now);
  const ended = await endAccess(db, options);
  const files = await bindLocalRunner(db, options.runnerFolder);
  await db.run("delete from retention_hold");
  await db.run(
    "insert into retention_hold (id, until) values (1, ?)",
    options.now + RETENTION_HELD_MS,
  );
  const hasForgotten = options.forget.length > 0;
  if (hasForgotten)
    for (const sql of await forgetStatements((text) => db.all(text), db.dialect, options.forget))
      await db.run(sql);
  const end = await readTrailEnd(db);
  const note = { id: randomUUID(), at: options.now, ...end };
  return { ...fenced, ...ended, files, hasForgotten, note };
}
