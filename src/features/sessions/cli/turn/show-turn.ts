/** Sends a prompt and shows its turn to the end; Ctrl-C ends the turn. */
import type { Prompt, Session } from "#protocol/sessions.ts";
import type { Api } from "#surfaces/cli/client/api.ts";
import { EXIT } from "#surfaces/cli/kit/exit-codes.ts";
import type { Ending, Invocation } from "#surfaces/cli/kit/invocation.ts";
import { followTurn, Turn } from "./follow-turn.ts";
import { interruptTurn } from "./interrupt-turn.ts";
import { createJsonLines } from "./json-lines.ts";
import { TurnPrinter } from "./turn-printer.ts";

interface SentPrompt {
  prompt: Prompt;
  /** State before the prompt was sent: events after its `lastSeq` are shown. */
  session: Pick<Session, "id" | "lastSeq">;
}

export async function showTurn(
  invocation: Invocation,
  send: (api: Api) => Promise<SentPrompt>,
): Promise<Ending> {
  const { host, json } = invocation;
  const api = invocation.api();
  const view = json ? createJsonLines(host) : new TurnPrinter(host);
  let turn: Turn | undefined;
  const interrupts = interruptTurn(host, { api, view, turn: () => turn });
  try {
    const { prompt, session } = await send(api);
    turn = new Turn(prompt);
    const settled = await followTurn(api, turn, session.lastSeq, view);
    if (host.stderr.isTTY) invocation.note(`Continue with: muster run --session ${session.id} "…"`);
    if (settled.outcome === "completed") return EXIT.ok;
    return interrupts.wasInterrupted() ? EXIT.interrupted : EXIT.failed;
  } finally {
    interrupts.dispose();
  }
}
