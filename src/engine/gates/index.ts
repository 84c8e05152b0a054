export { type GateDecision, overruledReason, type PlanFate } from "./decision.ts";
export { gateWords } from "./gate-words.ts";
export {
  decideGate,
  decisionOf,
  GATE_TIMER,
  GATE_TTL_MS,
  gateTimerDue,
  openGate,
  type Question,
} from "./gates.ts";
export { planDecision } from "./plan-words.ts";
export {
  findGate,
  findGateByCall,
  type GateFilter,
  listGates,
  listPendingGates,
  listPendingInTree,
  listPendingOfOwner,
} from "./queries.ts";
export { answersInWords, questionsOf } from "./question-words.ts";
