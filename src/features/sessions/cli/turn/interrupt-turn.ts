/**
 * Ctrl-C while a turn is followed: the first press ends the turn, the second one leaves. A prompt that has
 * not begun is withdrawn instead, because the running turn is another one.
 */
import type { Api } from "#surfaces/cli/client/api.ts";
import { ServerRefusal } from "#surfaces/cli/client/server-refusal.ts";
import { EXIT } from "#surfaces/cli/kit/exit-codes.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import type { Turn } from "./follow-turn.ts";
import type { TurnView } from "./turn-view.ts";

/** One press can arrive twice: from the terminal, and passed on by the process that started us. */
const SAME_PRESS_MS = 200;

export interface TurnInterrupts {
  wasInterrupted(): boolean;
  dispose(): void;
}

export interface Interruptible {
  api: Api;
  view: TurnView;
  /** Undefined until the server has the prompt: nothing can be ended yet, so the first press leaves. */
  turn(): Turn | undefined;
}

export function interruptTurn(host: CliHost, { api, view, turn }: Interruptible): TurnInterrupts {
  let firstAt: number | undefined;
  const dispose = host.onInterrupt(() => {
    const now = performance.now();
    if (firstAt !== undefined && now - firstAt < SAME_PRESS_MS) return;
    const current = turn();
    if (firstAt !== undefined || !current) return host.exit(EXIT.interrupted);
    firstAt = now;
    view.note("Stopping the turn; press again to leave.");
    endTurn(api, current).catch((error: Error) =>
      view.note(`The turn could not be stopped: ${error.message}`),
    );
  });
  return { wasInterrupted: () => firstAt !== undefined, dispose };
}

async function endTurn(api: Api, turn: Turn): Promise<void> {
  if (!turn.isRunning && (await isWithdrawn(api, turn))) return;
  await api.sessions.stop({ id: turn.sessionId, body: { promptId: turn.promptId } });
}

async function isWithdrawn(api: Api, turn: Turn): Promise<boolean> {
  try {
    await api.prompts.withdraw({ id: turn.promptId });
    return true;
  } catch (error) {
    // The turn has begun meanwhile.
    if (error instanceof ServerRefusal && error.status === 409) return false;
    throw error;
  }
}
