/**
 * Makes a restored database safe to start from. Runners, browsers and deliveries from after the copy
 * still exist; none of them may act on the restored state:
 * - every live run gets a fence that no runner has, and can be claimed again;
 * - a stopping run stays so with its lease expired, and the server ends it;
 * - credentials of runners, runs and browsers are revoked;
 * - outbox entries are held, because they may have been delivered already.
 */
import { LIVE_RUN_STATES } from "#protocol/runs.ts";
import type { RestoreDb } from "./restore-db.ts";

const FENCE_STEP = 1_000_000;
const REVOKED_KINDS = ["runner", "run", "cookie", "sign_in_link"];

export interface FencedOff {
  runsPutBack: number;
  runsFenced: number;
  credentialsRevoked: number;
  outboxHeld: number;
}

export async function fenceOff({ run }: RestoreDb, now: number): Promise<FencedOff> {
  const live = listOf(LIVE_RUN_STATES);
  const runsFenced = await run(
    `update runs set fence = fence + ${FENCE_STEP} where state in (${live})`,
  );
  const runsPutBack = await run(
    `update runs set state = 'pending', runner_id = null, runner_boot = null, lease_until = null,
       available_at = case when available_at < ? then available_at else ? end
     where state in ('claimed', 'running', 'gated')`,
    now,
    now,
  );
  await run(
    "update runs set runner_id = null, runner_boot = null, lease_until = 0 where state = 'stopping'",
  );
  await run(
    `update sessions set run_state = case
       when exists (select 1 from runs where session_id = sessions.id and state = 'stopping') then 'stopping' else 'pending' end
     where exists (select 1 from runs where session_id = sessions.id and state in (${live}))`,
  );
  await run("update runners set state = 'offline', server_id = null where state <> 'offline'");
  const credentialsRevoked = await run(
    `update credentials set revoked_at = ? where revoked_at is null and kind in (${listOf(REVOKED_KINDS)})`,
    now,
  );
  const outboxHeld = await run("update outbox set state = 'held' where state = 'pending'");
  return { runsPutBack, runsFenced, credentialsRevoked, outboxHeld };
}

function listOf(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(", ");
}
