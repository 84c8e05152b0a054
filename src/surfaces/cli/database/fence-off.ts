/**
 * Makes a restored database safe to start from. Runners, browsers and deliveries of the time after
 * the copy was made still exist; none of them may act on the past:
 * - every live run gets a fence that no runner has, and is free to be claimed again;
 * - a run that was being stopped stays so with its lease lapsed, and the server ends it;
 * - what was given to runners, runs and browsers opens nothing any more;
 * - what was about to leave the house is held, because it may have left already.
 */
import Database from "better-sqlite3";
import { LIVE_RUN_STATES } from "#protocol/runs.ts";

const FENCE_STEP = 1_000_000;
const REVOKED_KINDS = ["runner", "run", "cookie", "sign_in_link"];

export interface FencedOff {
  runsPutBack: number;
  runsFenced: number;
  credentialsRevoked: number;
  outboxHeld: number;
}

export function fenceOff(path: string, now: number): FencedOff {
  const db = new Database(path, { fileMustExist: true });
  try {
    db.pragma("journal_mode = DELETE");
    db.pragma("synchronous = FULL");
    return db.transaction(() => change(db, now)).immediate();
  } finally {
    db.close();
  }
}

function change(db: Database.Database, now: number): FencedOff {
  const live = listOf(LIVE_RUN_STATES);
  const run = (sql: string, ...values: unknown[]) => db.prepare(sql).run(...values).changes;
  const runsFenced = run(`update runs set fence = fence + ${FENCE_STEP} where state in (${live})`);
  const runsPutBack = run(
    `update runs set state = 'pending', runner_id = null, runner_boot = null, lease_until = null, available_at = min(available_at, ?)
     where state in ('claimed', 'running', 'gated')`,
    now,
  );
  run(
    "update runs set runner_id = null, runner_boot = null, lease_until = 0 where state = 'stopping'",
  );
  run(
    `update sessions set run_state = case
       when exists (select 1 from runs where session_id = sessions.id and state = 'stopping') then 'stopping' else 'pending' end
     where exists (select 1 from runs where session_id = sessions.id and state in (${live}))`,
  );
  run("update runners set state = 'offline', server_id = null where state <> 'offline'");
  const credentialsRevoked = run(
    `update credentials set revoked_at = ? where revoked_at is null and kind in (${listOf(REVOKED_KINDS)})`,
    now,
  );
  const outboxHeld = run("update outbox set state = 'held' where state = 'pending'");
  return { runsPutBack, runsFenced, credentialsRevoked, outboxHeld };
}

function listOf(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(", ");
}
