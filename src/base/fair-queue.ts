/**
 * A line for work that several parties share. A few holders work at once; places go round the
 * parties in turn, so a party that asks for very much delays itself and nobody else. Between two
 * holders the event loop turns once, so a long line never holds it.
 */
export interface FairLineLimits {
  /** Holders at once, all parties together. */
  atOnce: number;
  /** Holders at once of one party. */
  perParty: number;
  /** Waiting requests of one party; without it there is no limit. */
  waiting?: number;
}

type Release = () => void;

interface Party {
  holding: number;
  waiting: ((release: Release) => void)[];
}

export class FairLine {
  readonly #limits: FairLineLimits;
  /** In the order of their next turn. */
  readonly #parties = new Map<string, Party>();
  #holding = 0;
  #scheduled = false;

  constructor(limits: FairLineLimits) {
    this.#limits = limits;
  }

  /** Resolves with the function that gives the place back; undefined when too many of the party wait. */
  enter(name: string): Promise<Release> | undefined {
    const party = this.#parties.get(name) ?? { holding: 0, waiting: [] };
    if (party.waiting.length >= (this.#limits.waiting ?? Number.POSITIVE_INFINITY))
      return undefined;
    this.#parties.set(name, party);
    // A place that was given back in this turn of the loop is handed out in the next, also to whoever had it.
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
      this.#handOut();
    });
  }

  #handOut(): void {
    for (const [name, party] of [...this.#parties]) {
      if (this.#holding >= this.#limits.atOnce) return;
      if (party.waiting.length === 0 || !this.#mayHold(party)) continue;
      const next = party.waiting.shift();
      // Its next turn comes after everybody else's.
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
