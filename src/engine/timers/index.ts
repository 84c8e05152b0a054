/** Timers and sweeps: what the clock starts. */
export { runDueTimers, setTimer } from "./timers.ts";
