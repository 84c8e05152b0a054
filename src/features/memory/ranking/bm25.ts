/** BM25, and how alike two texts are. Pure: the databases only say which term stands where. */

/** A term in a memory. */
export interface Posting {
  term: string;
  memory_id: string;
  /** How often it stands there. */
  count: number;
  /** How many terms the memory has. */
  length: number;
}

export interface Corpus {
  memories: number;
  /** Of all of them together. */
  length: number;
  /** In how many each term stands. */
  frequency: ReadonlyMap<string, number>;
}

export interface Hit {
  id: string;
  score: number;
}

/** The usual values: how soon repeating a term stops to count, and how much length counts. */
const K1 = 1.2;
const B = 0.75;

export class Scores {
  readonly #corpus: Corpus;
  readonly #scores = new Map<string, number>();
  readonly #average: number;

  constructor(corpus: Corpus) {
    this.#corpus = corpus;
    this.#average = corpus.length / Math.max(1, corpus.memories) || 1;
  }

  /** Terms must come in the same order each time: sums of fractions depend on it. */
  add(term: string, postings: Iterable<Posting>): void {
    const rarity = this.#rarity(term);
    for (const { memory_id, count, length } of postings) {
      const norm = K1 * (1 - B + (B * length) / this.#average);
      const score = (rarity * count * (K1 + 1)) / (count + norm);
      this.#scores.set(memory_id, (this.#scores.get(memory_id) ?? 0) + score);
    }
  }

  /** Best first; of two that are equal the newer, which is the one with the greater id. */
  hits(): Hit[] {
    return [...this.#scores].map(([id, score]) => ({ id, score })).sort(byScore);
  }

  #rarity(term: string): number {
    const { memories, frequency } = this.#corpus;
    const found = frequency.get(term) ?? 0;
    return Math.log(1 + (memories - found + 0.5) / (found + 0.5));
  }
}

export function byScore(one: Hit, other: Hit): number {
  if (one.score !== other.score) return other.score - one.score;
  return one.id < other.id ? 1 : one.id > other.id ? -1 : 0;
}

/** What two sets have in common, of all that is in either. */
export function jaccard(shared: number, one: number, other: number): number {
  const all = one + other - shared;
  return all === 0 ? 0 : shared / all;
}
