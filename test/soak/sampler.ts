/** Takes readings at intervals while the load runs, and keeps them as series. */
import type { Sample, Total } from "./judge.ts";
import type { Ledger } from "./load/ledger.ts";
import { pause } from "./load/worker.ts";
import {
  type GaugeName,
  measureWorkspaces,
  type Product,
  readProduct,
  type TotalName,
} from "./measure.ts";

/** Walking through all workspaces is slow, and is done only every few readings. */
const READINGS_PER_WALK = 2;

export class Sampler {
  readonly gauges = new Map<GaugeName, Sample[]>();
  readonly totals = new Map<TotalName, Total[]>();
  /** Seconds at which the first reading was taken. */
  startedAt = 0;
  #turns = 0;
  readonly #product: Product;
  readonly #ledger: Ledger;

  constructor(product: Product, ledger: Ledger) {
    this.#product = product;
    this.#ledger = ledger;
  }

  /** Turns that settled between the first and the last reading. */
  get turns(): number {
    const [first] = this.totals.get("database") ?? [];
    return this.#turns - (first?.turns ?? 0);
  }

  /** Every series, by the name of its figure. */
  toJson(): string {
    return JSON.stringify(Object.fromEntries([...this.gauges, ...this.totals]), null, 1);
  }

  async runFor(ms: number, everyMs: number): Promise<void> {
    const ending = AbortSignal.timeout(ms);
    this.startedAt = this.#ledger.now;
    for (let n = 0; !ending.aborted; n++) {
      await this.#read(n % READINGS_PER_WALK === 0);
      await pause(everyMs, ending);
    }
  }

  async #read(withWorkspaces: boolean): Promise<void> {
    const { gauges, totals, turns } = await readProduct(this.#product);
    this.#turns = turns;
    const at = this.#ledger.now;
    for (const [name, value] of Object.entries(gauges))
      append(this.gauges, name as GaugeName, { at, value });
    for (const [name, value] of Object.entries(totals))
      append(this.totals, name as TotalName, { turns, value });
    if (!withWorkspaces) return;
    const { files, bytes } = await measureWorkspaces(this.#product.home);
    append(this.totals, "workspaces", { turns, value: bytes });
    append(this.totals, "workspace files", { turns, value: files });
  }
}

function append<K, T>(series: Map<K, T[]>, name: K, item: T): void {
  const list = series.get(name) ?? [];
  list.push(item);
  series.set(name, list);
}
