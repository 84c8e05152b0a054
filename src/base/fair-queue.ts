/**
 * A queue for work that several parties share. A few holders work at once; slots go to the parties
 * in turn, so a party that asks for very much delays only itself. The event loop turns once between
 * two holders, so a long queue never blocks it.
 */
export interface FairQueueLimits {
  /** Holders at once, over all parties. */
  atOnce: number;
  /** Holders at once per party. */
  perParty: number;
  /** Waiting requests per party; no limit if absent. */
  waiting?: number;
}

type Release = () => void;

interface Party {
  holding: number;
  waiting: ((release: Release) => void)[];
}

export class FairQueue {
  readonly #limits: FairQueueLimits;
  /** Parties in the order of their next turn. */
  readonly #parties = new Map<string, Party>();
  #holding = 0;
  #scheduled = false;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /**
   * Resolves with the function that releases the slot. Returns undefined if too many requests of
   * the party wait.
   */
  enter(name: string): Promise<Release> | undefined {
    const party = this.#parties.get(name) ?? { holding: 0, waiting: [] };
    if (party.waiting.length >= (this.#limits.waiting ?? Number.POSITIVE_INFINITY))
      return undefined;
    this.#parties.set(name, party);
    // A slot that was released in this turn of the loop is granted in the next one, also to the
    // party that had it.
    if (!this.#scheduled && party.waiting.length === 0 && this.#mayHold(party))
      return Promise.resolve(this.#hold(name, party));
    return new Promise((resolve) => {
      party.waiting.push(resolve);
      this.#schedule();
    });
  }

  #mayHold({ holding }: Party): boolean {
    return this.#holding < this.#limits.atOnce && holding < this.#limits.perParty;
  }

  #hold(name: string, party: Party): Release {
    this.#holding += 1;
    party.holding += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holding -= 1;
      party.holding -= 1;
      if (party.holding === 0 && party.waiting.length === 0) this.#parties.delete(name);
      this.#schedule();
    };
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#grantSlots();
    });
  }

  #grantSlots(): void {
    for (const [name, party] of [...this.#parties]) {
      if (this.#holding >= this.#limits.atOnce) return;
      if (party.waiting.length === 0 || !this.#mayHold(party)) continue;
      const next = party.waiting.shift();
      // The party moves to the end of the order.
      this.#parties.delete(name);
      this.#parties.set(name, party);
      next?.(this.#hold(name, party));
    }
    if (this.#holding < this.#limits.atOnce && this.#hasWaiting()) this.#schedule();
  }

  #hasWaiting(): boolean {
    for (const party of this.#parties.values())
      if (party.waiting.length > 0 && this.#mayHold(party)) return true;
    return false;
  }
}
