export {
  decideGate,
  GATE_TIMER,
  type GateDecision,
  gateTimerDue,
  openGate,
  type Question,
} from "./gates.ts";
export { findGate, type GateFilter, listGates, listPendingGates } from "./queries.ts";
