/** Moves the end of sessions into the past, so that the product purges them during the run. */
import type { Database } from "../database.ts";
import type { Worker } from "./worker.ts";

const ENDED_FOR_MS = 10_000;
/** Every 15 s: more than are archived, and as many as a purge manages in a minute. */
const AT_ONCE = 25;

export class SessionAger {
  readonly aged: string[] = [];
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  get worker(): Worker {
    const act = async () => this.age(ENDED_FOR_MS);
    return { name: "session ager", pauseMs: [15_000, 15_000], act };
  }

  age(endedForMs: number): void {
    this.aged.push(...this.#database.ageEnded(endedForMs, AT_ONCE));
  }
}
