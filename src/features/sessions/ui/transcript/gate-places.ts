/** Placement of each gate below its tool call. Pure. */
import type { Entry } from "#protocol/sessions.ts";
import type { Approval } from "#surfaces/web/kit/approval.ts";

export interface GatePlaces {
  byCall: ReadonlyMap<string, Approval>;
  /** Pending gates whose call is not visible: they are shown at the end. */
  rest: readonly Approval[];
}

export const NO_GATES: GatePlaces = { byCall: new Map(), rest: [] };

export function placeGates(entries: readonly Entry[], approvals: readonly Approval[]): GatePlaces {
  if (approvals.length === 0) return NO_GATES;
  // Call ids are unique in a turn, not in a session.
  const calls = new Set(
    entries.flatMap(({ promptId, tool }) => (tool ? [gateKey(promptId, tool.callId)] : [])),
  );
  const byCall = new Map<string, Approval>();
  const rest: Approval[] = [];
  for (const approval of approvals) {
    const { callId, promptId, state } = approval;
    const key = gateKey(promptId, callId);
    if (calls.has(key)) byCall.set(key, approval);
    else if (state === "pending") rest.push(approval);
  }
  return { byCall, rest };
}

export function gateKey(promptId: string | null, callId: string): string {
  return `${promptId} ${callId}`;
}
