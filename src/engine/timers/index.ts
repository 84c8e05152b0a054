/** Timers and sweeps: work that the clock starts. */
export { runDueTimers, setTimer } from "./timers.ts";
