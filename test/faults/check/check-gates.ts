/**
 * Gates and their outcomes: one gate a call, closed once, as it was decided; an acknowledged
 * decision is never lost; and a call that must ask is never made without approval.
 */
import { INTERRUPTED, type SessionEvent } from "#protocol/events.ts";
import type { SentDecision } from "../clients/decider.ts";
import { type NativeTurn, type ObservedCall, wasLost } from "./native-turns.ts";

interface ObservedGate {
  id: string;
  callId: string;
  kind: string;
  closings: SessionEvent[];
}

export function checkGates(turn: NativeTurn, decisions: readonly SentDecision[]): string[] {
  const gates = gatesOf(turn);
  return [
    ...gates.flatMap((gate) => checkGate(turn, gate, decisions)),
    ...turn.calls.flatMap((call) => checkAsked(turn, call, gates, decisions)),
  ];
}

function gatesOf({ events }: NativeTurn): ObservedGate[] {
  return events
    .filter(({ type }) => type === "gate_opened")
    .map(({ data }) => ({
      id: String(data?.gateId),
      callId: String(data?.callId),
      kind: String(data?.kind),
      closings: events.filter(
        (event) => event.type === "gate_closed" && event.data?.gateId === data?.gateId,
      ),
    }));
}

function checkGate(
  { prompt }: NativeTurn,
  { id, closings }: ObservedGate,
  decisions: readonly SentDecision[],
): string[] {
  const say = (what: string) => `gate: ${id} of ${prompt.id} (${prompt.outcome}) ${what}`;
  const [closing] = closings;
  if (!closing || closings.length > 1) return [say(`was closed ${closings.length} times`)];
  const sent = decisions.filter(({ gateId }) => gateId === id);
  const told = sent.filter(({ acknowledged }) => acknowledged);
  if (told.length > 1) return [say("acknowledged two decisions")];
  const allowed = closing.data?.allowed === true;
  if (told[0] && (closing.reason !== "decided" || told[0].allowed !== allowed))
    return [
      say(
        `lost: ${nameOf(told[0].allowed)} was acknowledged, and it was ${closing.reason} as ${nameOf(allowed)}`,
      ),
    ];
  if (closing.reason === "decided" && !sent.some((decision) => decision.allowed === allowed))
    return [say(`was decided as ${nameOf(allowed)}, which nobody said`)];
  if (closing.reason === "expired") return [say("expired")];
  return closing.reason === "cancelled" && prompt.outcome === "completed"
    ? [say("was withdrawn, and its turn went on")]
    : [];
}

function nameOf(allowed: boolean): string {
  return allowed ? "a yes" : "a no";
}

function checkAsked(
  turn: NativeTurn,
  call: ObservedCall,
  gates: readonly ObservedGate[],
  decisions: readonly SentDecision[],
): string[] {
  const { prompt } = turn;
  const { callId, post, pre, ruling, times } = call;
  const say = (what: string) => [
    `asked: ${callId} of ${prompt.id} (${prompt.outcome}) #${pre.seq} ${what}`,
  ];
  const own = gates.filter((gate) => gate.callId === callId);
  if (ruling !== "ask") return own.length === 0 ? [] : say("was asked about without need");
  if (own.length > 1) return say(`has ${own.length} gates`);
  const [gate] = own;
  const closing = gate?.closings[0];
  if (times !== undefined && times > 0 && !isYes(closing))
    return say("was performed without a yes");
  if (prompt.outcome !== "completed" || !post) return [];
  if (!gate || !closing) return say("was answered without being asked");
  return checkAnswer(turn, gate, closing, post, decisions).flatMap(say);
}

function isYes(closing: SessionEvent | undefined): boolean {
  return closing?.reason === "decided" && closing.data?.allowed === true;
}

/** The model's answer in a turn that ran to its end. */
function checkAnswer(
  turn: NativeTurn,
  { id, kind }: ObservedGate,
  closing: SessionEvent,
  post: SessionEvent,
  decisions: readonly SentDecision[],
): string[] {
  const allowed = isYes(closing);
  const sent = decisions.filter((one) => one.gateId === id && one.allowed === allowed);
  const words = sent[0]?.words ?? "";
  if (!allowed) return post.error?.includes(words) ? [] : [`was denied, and told: ${post.error}`];
  // Two people may have answered, and the first counted.
  const isTold = sent.some((one) => String(post.toolOutput).includes(one.words ?? ""));
  if (kind === "question")
    return post.error === null && isTold
      ? []
      : [`was answered, and told: ${post.toolOutput} ${post.error}`];
  return checkAllowed(turn, post, closing);
}

/**
 * An approval is sent to one attempt. When that is lost the call may have begun, and is not made
 * again.
 */
function checkAllowed(turn: NativeTurn, post: SessionEvent, closing: SessionEvent): string[] {
  if (post.error === null) return [];
  if (post.error !== INTERRUPTED) return [`was allowed, and told: ${post.error}`];
  const claimed = turn.events.find(
    ({ type, seq }) => type === "run_claimed" && seq > closing.seq && seq < post.seq,
  );
  return claimed && wasLost(turn, claimed.seq, post.seq)
    ? []
    : ["was allowed, and no runner was lost that could have begun it"];
}
