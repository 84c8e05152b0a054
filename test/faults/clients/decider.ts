/**
 * The person whom the agents ask: reads pending approvals, takes a moment, and allows, denies or
 * answers. Sometimes two people decide differently at once, and the first must count. A decision
 * without an answer is sent again until it has one.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Approval } from "#features/approvals/contract.ts";
import { Moments } from "../program/moments.ts";
import type { Random } from "../random.ts";
import { type Api, NoAnswer, unlessRefused } from "./api.ts";

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

type Pending = Pick<Approval, "id" | "kind">;

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
      const query = { state: "pending", limit: 100 } as const;
      const page = await unlessRefused(this.#api.once.approvals.list({ query }));
      return page?.items ?? [];
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

  async #send(gateId: string, kind: Pending["kind"], isNo: boolean): Promise<void> {
    const words = isNo ? `no to ${gateId}` : kind === "question" ? `yes to ${gateId}` : null;
    const body = isNo
      ? ({ decision: "deny", reason: words ?? "" } as const)
      : words === null
        ? ({ decision: "allow" } as const)
        : { answers: [words] };
    const call = this.#api.patient.approvals.decide({ id: gateId, body });
    const acknowledged = (await unlessRefused(call)) !== undefined;
    this.decisions.push({ gateId, allowed: !isNo, words, acknowledged });
  }
}
