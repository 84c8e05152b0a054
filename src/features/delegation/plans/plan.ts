/**
 * Plans of a child, one row for each child that has presented one or must. A label marks those
 * children, so that the many others cost no query. Every command that judges or decides has locked
 * the session, and with it the plan.
 */
import { Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import { planDecision } from "#engine/gates/index.ts";
import type { Brief, Feature, GateRow, SessionRow, SessionWriter, Work } from "#engine/index.ts";
import { hasLabel, setLabel } from "#engine/sessions/index.ts";
import type { SessionWait } from "#protocol/sessions.ts";
import { isEnded } from "../children/lifecycle.ts";
import type { Child } from "../contract.ts";
import type { PlanRow } from "../schema.ts";
import { deletePlanRow, findPlanRow, listPlanRows, savePlanRow } from "./plan-queries.ts";

const LABEL = "plan";

export type Plan = Pick<PlanRow, "is_required" | "state">;

/** True if the session has presented a plan or must present one. */
export function hasPlan(session: Pick<SessionRow, "labels">): boolean {
  return hasLabel(session, LABEL);
}

export async function findPlan(
  reader: Reader,
  session: Pick<SessionRow, "id" | "labels">,
): Promise<Plan | undefined> {
  return hasPlan(session) ? findPlanRow(reader, session.id) : undefined;
}

/** Plans of those sessions that have one, by session id. */
export async function readPlans(
  reader: Reader,
  sessions: readonly SessionRow[],
): Promise<Map<string, Plan>> {
  const ids = sessions.filter(hasPlan).map(({ id }) => id);
  const rows = ids.length === 0 ? [] : await listPlanRows(reader, ids);
  return new Map(rows.map((row) => [row.session_id, row]));
}

/** True if the session may not change anything yet. */
export function isHeldByPlan({ is_required, state }: Plan): boolean {
  return is_required === 1 && state !== "approved";
}

export function viewPlan(plan: Plan | undefined): Pick<Child, "requirePlanApproval" | "planState"> {
  const isRequired = plan?.is_required === 1;
  return {
    requirePlanApproval: isRequired,
    planState: plan?.state ?? (isRequired ? "required" : "none"),
  };
}

const WAITS: SessionWait = {
  kind: "plan",
  message:
    "Its plan is waiting for a decision. You or its parent session can approve it, send it back or reject it.",
  until: null,
};

/** Shows that a session waits for a decision about its plan. */
export const describeSessions: NonNullable<Feature["describeSessions"]> = async (reader, rows) => {
  const gated = rows.filter((row) => row.run_state === "gated" && !isEnded(row));
  const plans = [...(await readPlans(reader, gated))];
  return new Map(
    plans.flatMap(([id, { state }]) => (state === "pending" ? [[id, { waitingFor: WAITS }]] : [])),
  );
};

async function change(
  work: Work,
  { row }: SessionWriter,
  next: (plan: Plan) => Plan,
): Promise<void> {
  const plan = (await findPlan(work.tx, row)) ?? { is_required: 0, state: null };
  setLabel(row, LABEL, true);
  const { is_required, state } = next(plan);
  await savePlanRow(work.tx, { session_id: row.id, org_id: row.org_id, is_required, state });
}

/** Requires a plan from now on, even during a turn: an approved plan no longer counts. */
export async function requirePlan(work: Work, session: SessionWriter): Promise<void> {
  requirePlannable(session.row);
  await change(work, session, ({ state }) => ({
    is_required: 1,
    state: state === "pending" ? state : null,
  }));
}

/**
 * Refuses a runtime whose calls are not judged in advance, because a plan could not be enforced
 * there.
 */
function requirePlannable({
  parent_session_id,
  runtime,
}: Pick<SessionRow, "parent_session_id" | "runtime">): void {
  if (parent_session_id === null)
    throw new Refusal(
      "invalid",
      "plan_needs_parent",
      "Only sessions with a parent present plans. Name a parent, or leave requirePlanApproval out.",
    );
  if (runtime === "native") return;
  throw new Refusal(
    "invalid",
    "plan_not_enforceable",
    "Calls of this runtime are not judged beforehand, so a plan could not be enforced. Use the native runtime, or leave requirePlanApproval out.",
  );
}

/** A new plan replaces the previous one. */
export async function planOpened(work: Work, session: SessionWriter, gate: GateRow): Promise<void> {
  if (gate.kind !== "plan" || session.row.parent_session_id === null) return;
  await change(work, session, (plan) => ({ ...plan, state: "pending" }));
}

/** A rejection binds every child, even one that needed no plan. */
export async function planClosed(work: Work, session: SessionWriter, gate: GateRow): Promise<void> {
  if (gate.kind !== "plan" || session.row.parent_session_id === null) return;
  await change(work, session, (plan) => {
    if (gate.state === "cancelled") return { ...plan, state: null };
    const { fate } = planDecision(gate);
    const isRefused = fate === "revise" || fate === "rejected";
    return { is_required: isRefused ? 1 : plan.is_required, state: fate };
  });
}

export async function forgetPlan(work: Work, { row }: SessionWriter): Promise<void> {
  if (!hasPlan(row)) return;
  setLabel(row, LABEL, false);
  await deletePlanRow(work.tx, row.id);
}

/** Instructions for each turn of a child until its plan is approved. */
export async function planBrief(reader: Reader, row: SessionRow): Promise<Brief | undefined> {
  const plan = await findPlan(reader, row);
  if (!plan || !isHeldByPlan(plan)) return undefined;
  return { instructions: [{ name: PLAN_FILE, content: PLAN_BRIEF }], files: [], setup: null };
}

const PLAN_FILE = "PLAN-FIRST.md";
const PLAN_BRIEF = `# A plan first

Whoever gave you this task wants to see your plan before anything is changed.

1. Look around with read-only tools: files, searches, pages. Ask what you must know.
2. Call request_plan_approval with the whole plan: what you will change and where, what you will leave
   alone, in which order, how you will check it, what could go wrong. Your turn waits for the decision.
3. If it is sent back, revise it as requested and present the whole plan again. If it is approved, carry
   it out as it is; if you must do something else, present a new plan.

Until you have an approved plan, everything that changes something is refused with plan_not_approved:
writing and editing files, commands, pushing, pull requests. Do not try to work around that.
`;
