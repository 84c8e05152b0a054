export {
  decideGate,
  decisionOf,
  GATE_TIMER,
  GATE_TTL_MS,
  type GateDecision,
  gateTimerDue,
  openGate,
  type Question,
} from "./gates.ts";
export { findGate, type GateFilter, listGates, listPendingGates } from "./queries.ts";
