/**
 * A reader of one session's live log that reconnects at its cursor whenever the connection breaks.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { SessionEvent } from "#protocol/events.ts";
import type { FollowerRecord } from "../history.ts";
import { type Api, digestOf, NoAnswer } from "./api.ts";

/** The server sends something every 15 s; a connection that is silent for longer is dead. */
const SILENT_MS = 25_000;
const COME_BACK_MS = 30;

export class Follower {
  readonly record: FollowerRecord;
  /** Prompts it has seen settle. */
  readonly settled = new Set<string>();
  readonly #apis: readonly Api[];
  readonly #leaving = new AbortController();
  readonly #done: Promise<void>;
  #lastSeq = 0;

  /** With several servers it switches between them at each connection. */
  constructor(apis: readonly Api[], sessionId: string, name: string) {
    this.record = { name, sessionId, sightings: [] };
    this.#apis = apis;
    this.#done = this.#follow();
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  async leave(): Promise<void> {
    this.#leaving.abort();
    await this.#done;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#leaving;
    for (let connection = 0; !signal.aborted; connection++) {
      const api = this.#apis[connection % this.#apis.length];
      try {
        await this.#read(api as Api);
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
      }
      if (!signal.aborted) await sleep(COME_BACK_MS);
    }
  }

  async #read(api: Api): Promise<void> {
    const { sessionId, sightings } = this.record;
    const events = api.events(sessionId, this.#lastSeq, this.#leaving.signal, SILENT_MS);
    for await (const { seq, type, json } of events) {
      sightings.push({ seq, digest: digestOf(json) });
      this.#lastSeq = seq;
      const { promptId } = JSON.parse(json) as SessionEvent;
      if (type === "prompt_settled" && promptId !== null) this.settled.add(promptId);
    }
  }
}
