/**
 * What a feature is to the kernel: tables, listeners and timers now; routes, tools and pages reach
 * the surfaces through the same object. The kernel hosts features and names none.
 */
import type { Migration } from "#base/store/index.ts";
import type { TimerRow } from "./schema.ts";
import type { Listener, Work } from "./work.ts";

/** Called in its own transaction when a timer is due; the timer is gone when it commits. */
export type TimerHandler = (work: Work, timer: TimerRow) => Promise<void>;

/** Delivers one outbox row outside the database. A throw means: try again later. */
export type Deliverer = (payload: unknown, causeKey: string) => Promise<void>;

export interface Feature {
  name: string;
  migrations?: readonly Migration[];
  listeners?: readonly Listener[];
  timers?: Readonly<Record<string, TimerHandler>>;
  deliverers?: Readonly<Record<string, Deliverer>>;
}
