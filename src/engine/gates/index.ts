export { type GateDecision, overruledReason, type PlanFate } from "./decision.ts";
export { gateText } from "./gate-text.ts";
export {
  decideGate,
  decisionOf,
  GATE_TIMER,
  GATE_TTL_MS,
  type GateRequest,
  gateTimerDue,
  openGate,
} from "./gates.ts";
export { planDecision } from "./plan-text.ts";
export {
  findGate,
  findGateByCall,
  type GateFilter,
  listGates,
  listPendingGates,
  listPendingInTree,
  listPendingOfOwner,
} from "./queries.ts";
export { answersInWords, questionsOf } from "./question-text.ts";
