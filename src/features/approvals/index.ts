/** Approvals: gates as people see and decide them. */
import type { Feature, Listener } from "#engine/index.ts";
import { ANSWER_WAITING, waitingTimerDue } from "./answer-waiting.ts";
import { approvalRoutes } from "./routes.ts";

/** Refreshes the owner's pages when a gate opens or closes. */
const notifyOwner: Listener = async (work, event) => {
  if (event.type !== "gate_opened" && event.type !== "gate_closed") return;
  const { owner_id: ownerId } = event.session.row;
  const { id } = event.gate;
  if (ownerId === null) return;
  work.tx.afterCommit(() => work.announcer.hint(`user:${ownerId}`, "approval", id));
};

export const approvals: Feature = {
  name: "approvals",
  listeners: [notifyOwner],
  timers: { [ANSWER_WAITING]: waitingTimerDue },
  routes: approvalRoutes,
};
