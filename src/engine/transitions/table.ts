/** Tables of allowed state changes. A change that no row allows is a bug, and undoes its command. */

/** A condition on the row besides its state. */
export interface Guard<Row> {
  name: string;
  holds(row: Row): boolean;
}

/** An allowed change; `from` holds `"none"` where the event makes the row. */
export interface Transition<State extends string, Event extends string, Row> {
  from: readonly (State | "none")[];
  event: Event;
  to: State;
  guard?: Guard<Row>;
}

export type TransitionTable<State extends string, Event extends string, Row> = readonly Transition<
  State,
  Event,
  Row
>[];

/** Finds the next state; undefined when no row of the table allows the event. */
export function findNext<State extends string, Event extends string, Row>(
  table: TransitionTable<State, Event, Row>,
  from: State,
  event: Event,
  row: Row,
): State | undefined {
  return table.find(
    (one) =>
      one.event === event &&
      one.from.includes(from) &&
      (one.guard === undefined || one.guard.holds(row)),
  )?.to;
}

/** State of a row that an event makes. */
export function firstState<State extends string, Event extends string, Row>(
  table: TransitionTable<State, Event, Row>,
  event: Event,
): State {
  const made = table.find((one) => one.event === event && one.from.includes("none"));
  if (!made) throw new Error(`nothing is made by ${event}`);
  return made.to;
}
