/**
 * The person whom the agents ask: reads pending approvals, takes a moment, and allows, denies or
 * answers. Sometimes two people decide differently at once, and the first must count. A decision
 * without an answer is sent again until it has one.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Moments } from "../program/moments.ts";
import type { Random } from "../random.ts";
import { type Api, NoAnswer } from "./api.ts";

const LOOK_EVERY_MS = 25;
const MAX_DELAY_MS = 500;

/** A decision that was sent and answered, accepted or not. */
export interface SentDecision {
  gateId: string;
  allowed: boolean;
  /** The reason for a denial, or the answer to a question. */
  words: string | null;
  acknowledged: boolean;
}

interface Pending {
  id: string;
  kind: string;
}

export class Decider {
  readonly decisions: SentDecision[] = [];
  /** Fires for each new question. */
  readonly found = new Moments();
  /** Fires for each decision sent. */
  readonly deciding = new Moments();
  readonly #api: Api;
  readonly #random: Random;
  readonly #seen = new Set<string>();
  readonly #open = new Set<Promise<void>>();
  readonly #looking: Promise<void>;
  #ending = false;

  constructor(api: Api, random: Random) {
    this.#api = api;
    this.#random = random;
    this.#looking = this.#look();
  }

  /** Resolves when every sent decision has its answer. */
  async end(): Promise<void> {
    this.#ending = true;
    await this.#looking;
    await Promise.all(this.#open);
  }

  async #look(): Promise<void> {
    while (!this.#ending) {
      for (const gate of await this.#pending()) {
        if (this.#seen.has(gate.id)) continue;
        this.#seen.add(gate.id);
        this.found.happen();
        const deciding = this.#decide(gate).finally(() => this.#open.delete(deciding));
        this.#open.add(deciding);
      }
      await sleep(LOOK_EVERY_MS);
    }
  }

  async #pending(): Promise<Pending[]> {
    try {
      const { status, body } = await this.#api.send(
        "GET",
        "/api/approvals?state=pending&limit=100",
      );
      return status === 200 ? (body.items as Pending[]) : [];
    } catch (error) {
      if (error instanceof NoAnswer) return [];
      throw error;
    }
  }

  async #decide({ id, kind }: Pending): Promise<void> {
    await sleep(this.#random.between(0, MAX_DELAY_MS));
    const denies = this.#random.chance(0.3);
    const hasDouble = this.#random.chance(0.15);
    this.deciding.happen();
    const opinions = hasDouble ? [denies, !denies] : [denies];
    await Promise.all(opinions.map((isNo) => this.#send(id, kind, isNo)));
  }

  async #send(gateId: string, kind: string, isNo: boolean): Promise<void> {
    const words = isNo ? `no to ${gateId}` : kind === "question" ? `yes to ${gateId}` : null;
    const body = isNo
      ? { decision: "deny", reason: words }
      : words === null
        ? { decision: "allow" }
        : { answers: [words] };
    const { status } = await this.#api.insist("POST", `/api/approvals/${gateId}`, body);
    this.decisions.push({ gateId, allowed: !isNo, words, acknowledged: status === 200 });
  }
}
