/** Follows one prompt to its outcome. When it is merged with others, the merged turn is followed instead. */
import type { Delta, SessionEvent } from "#protocol/events.ts";
import type { Prompt } from "#protocol/sessions.ts";
import type { Api } from "#surfaces/cli/client/api.ts";
import { followSession } from "#surfaces/cli/client/follow-session.ts";
import type { TurnView } from "./turn-view.ts";

/** Wait after which a prompt that has not begun gets an explanation. */
const PATIENCE_MS = 2_000;

/** State of the turn while it runs. */
export class Turn {
  readonly sessionId: string;
  readonly thread: string;
  promptId: string;
  /** True once a runner has the turn: text streamed in its thread belongs to it. */
  isRunning = false;

  constructor({ sessionId, thread, id }: Pick<Prompt, "sessionId" | "thread" | "id">) {
    this.sessionId = sessionId;
    this.thread = thread;
    this.promptId = id;
  }
}

export async function followTurn(
  api: Api,
  turn: Turn,
  after: number,
  view: TurnView,
): Promise<Prompt> {
  const stop = new AbortController();
  const patience = setTimeout(() => void explainWait(api, turn, view), PATIENCE_MS);
  try {
    for await (const item of followSession(api, {
      sessionId: turn.sessionId,
      after,
      signal: stop.signal,
    })) {
      if (item.type === "away")
        view.note("The server does not answer. Your prompt is safe there; trying again…");
      else if (item.type === "delta") showDelta(turn, view, item.delta);
      else if (item.type === "event" && hasEnded(turn, view, item.event)) break;
    }
  } finally {
    clearTimeout(patience);
    stop.abort();
  }
  const { prompt } = await api.again.prompts.get({ id: turn.promptId });
  view.end(prompt);
  return prompt;
}

function showDelta(turn: Turn, view: TurnView, delta: Delta): void {
  if (turn.isRunning && delta.thread === turn.thread) view.delta(delta);
}

function hasEnded(turn: Turn, view: TurnView, event: SessionEvent): boolean {
  if (event.promptId !== turn.promptId) return false;
  if (event.type === "run_claimed") turn.isRunning = true;
  if (event.type === "run_lost") turn.isRunning = false;
  view.event(event);
  if (event.type !== "prompt_settled") return false;
  const mergedInto = event.data?.mergedInto;
  if (typeof mergedInto !== "string") return true;
  turn.promptId = mergedInto;
  turn.isRunning = false;
  view.note(
    event.data?.answeredGate === undefined
      ? "Merged with the prompt that followed."
      : "Delivered as the answer to its question.",
  );
  return false;
}

async function explainWait(api: Api, turn: Turn, view: TurnView): Promise<void> {
  if (turn.isRunning) return;
  const answer = await api.prompts.get({ id: turn.promptId }).catch(() => undefined);
  const waitingFor = answer?.prompt.waitingFor;
  if (waitingFor && !turn.isRunning)
    view.note(`${waitingFor.message} Press Ctrl-C to withdraw the prompt.`);
}
