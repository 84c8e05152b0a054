/** BM25 scores and the similarity of two texts. Pure: the databases only return postings. */

/** A term in a memory. */
export interface Posting {
  term: string;
  memory_id: string;
  /** Occurrences of the term in the memory. */
  count: number;
  /** Number of terms in the memory. */
  length: number;
}

export interface Corpus {
  memories: number;
  /** Sum of the lengths of all memories. */
  length: number;
  /** Number of memories per term. */
  frequency: ReadonlyMap<string, number>;
}

export interface Hit {
  id: string;
  score: number;
}

/** Usual constants of BM25: the saturation of repeated terms, and the weight of length. */
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

  /** Adds a term's postings. The order of terms must be fixed: sums of fractions depend on it. */
  add(term: string, postings: Iterable<Posting>): void {
    const rarity = this.#rarity(term);
    for (const { memory_id, count, length } of postings) {
      const norm = K1 * (1 - B + (B * length) / this.#average);
      const score = (rarity * count * (K1 + 1)) / (count + norm);
      this.#scores.set(memory_id, (this.#scores.get(memory_id) ?? 0) + score);
    }
  }

  /** Returns hits, best first; of equal scores the newer memory first, which has the greater id. */
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

/** Jaccard similarity of two sets, from their sizes and the size of their intersection. */
export function jaccard(shared: number, one: number, other: number): number {
  const all = one + other - shared;
  return all === 0 ? 0 : shared / all;
}
