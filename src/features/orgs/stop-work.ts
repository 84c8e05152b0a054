/**
 * Stops the work of a former member: pending prompts are withdrawn, running turns are stopped, then the
 * session hibernates. Their data stays. A sweep repeats this, in case the first time was cut short.
 */
import { Refusal } from "#base/refusal.ts";
import type { Kernel, Principal } from "#engine/index.ts";
import type { PersonRow } from "#features/auth/index.ts";

export type Work = Pick<Kernel, "sessions" | "prompts" | "dispatcher">;

const PAGE = 100;
const MAX_ROUNDS = 20;

/** Disconnects machines whose tokens were revoked; their turns go to others at once. */
export async function dropMachines({ dispatcher }: Work, tokens: readonly string[]): Promise<void> {
  for (const id of tokens) await dispatcher.drop(id, "the token was revoked");
}

export async function stopWorkOf(
  { sessions, prompts }: Omit<Work, "dispatcher">,
  user: PersonRow,
): Promise<void> {
  const principal: Principal = {
    kind: "user",
    orgId: user.org_id,
    userId: user.id,
    name: user.name,
    role: "member",
    scopes: ["*"],
    channel: "api",
  };
  let cursor: string | undefined;
  do {
    const page = await sessions.list(principal, { lifecycle: ["active"], limit: PAGE, cursor });
    for (const { id } of page.items) {
      await withdrawAll(prompts, principal, id);
      await unlessRefused(sessions.stopAll(principal, id));
      // A session is busy until its turn has ended; the next round finds it.
      await unlessRefused(sessions.hibernate(principal, id));
    }
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
}

async function withdrawAll(
  prompts: Work["prompts"],
  principal: Principal,
  sessionId: string,
): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const waiting = await prompts.list(principal, sessionId, {
      states: ["collecting", "queued"],
      limit: PAGE,
    });
    for (const { id } of waiting.items) await unlessRefused(prompts.withdraw(principal, id));
    if (waiting.next === null) return;
  }
}

/** Ignores a refusal: the session has changed state meanwhile. */
async function unlessRefused(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
}
