/** Moves the end of sessions into the past, so that the product purges them during the run. */
import type { Database } from "../database.ts";
import type { Worker } from "./worker.ts";

const ENDED_FOR_MS = 10_000;
const AT_ONCE = 4;

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
