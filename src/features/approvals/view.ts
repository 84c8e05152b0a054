import type { GateDecision } from "#engine/gates/index.ts";
import type { GateRow } from "#engine/index.ts";
import { childKeyOf, standingTarget } from "#features/policy/index.ts";
import type { Approval } from "./contract.ts";

const iso = (at: number) => new Date(at).toISOString();

export function approvalView(gate: GateRow): Approval {
  const decision = gate.decision === null ? null : (JSON.parse(gate.decision) as GateDecision);
  return {
    id: gate.id,
    kind: gate.kind,
    sessionId: gate.session_id,
    promptId: gate.prompt_id,
    runId: gate.run_id,
    callId: gate.call_id,
    tool: gate.tool,
    target: gate.target,
    shown: JSON.parse(gate.shown) as unknown,
    askedAt: iso(gate.asked_at),
    expiresAt: iso(gate.expires_at),
    decidedAt: gate.decided_at === null ? null : iso(gate.decided_at),
    state: gate.state,
    decision: decision && nameOf(decision),
    scope: decision?.scope ?? null,
    reason: decision?.reason ?? null,
    answers: decision?.answers ?? null,
    decidedBy: gate.decided_by,
    coveredBy: decision?.coveredBy ?? null,
    coversChildren: gate.kind === "approval" && childKeyOf(gate, "allow") !== null,
    rulePreview: rulePreview(gate),
  };
}

function nameOf({ allowed, revise = false }: GateDecision): "allow" | "deny" | "revise" {
  return allowed ? "allow" : revise ? "revise" : "deny";
}

function rulePreview(gate: GateRow): Approval["rulePreview"] {
  const pattern = gate.kind === "approval" ? standingTarget(gate, "allow") : null;
  return pattern === null ? null : { level: "user", tool: gate.tool, pattern, match: "exact" };
}
