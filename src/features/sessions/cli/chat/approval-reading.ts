/**
 * Paged display of one approval on a terminal. It can be allowed only after its end was shown. A person who
 * has all of it shown at once must type the number of rows.
 */
export class ApprovalReading {
  readonly id: string;
  /** Columns of the window at display; in a narrower one the rows are wrapped again. */
  readonly columns: number;
  readonly #rows: readonly string[];
  #shown = 0;
  #isSkimmed = false;

  constructor(id: string, rows: readonly string[], columns: number) {
    this.id = id;
    this.#rows = rows;
    this.columns = columns;
  }

  get count(): number {
    return this.#rows.length;
  }

  get hasMore(): boolean {
    return this.#shown < this.#rows.length;
  }

  get label(): string {
    return `Enter: more (${this.#shown} of ${this.count} rows) ›`;
  }

  nextPage(height: number): string[] {
    const from = this.#shown;
    this.#shown = Math.min(this.count, from + Math.max(1, height));
    return this.#rows.slice(from, this.#shown);
  }

  /** Shows all remaining rows at once: more than a window can hold. */
  skim(): string[] {
    this.#isSkimmed = this.hasMore;
    return this.nextPage(this.count);
  }

  /** Interprets an allow; returns what is missing if it does not count. */
  judgeYes(text: string): { text: string } | { how: string } {
    if (this.hasMore)
      return {
        how: `There is more: ${this.count - this.#shown} of ${this.count} rows are not shown yet. Enter shows the next ones, "all" the rest; "n" denies.`,
      };
    if (!this.#isSkimmed) return { text };
    const [, word = "", number] = /^(\S+)\s+(\d+)$/.exec(text.trim()) ?? [];
    return Number(number) === this.count
      ? { text: word }
      : { how: `It is longer than the window. To allow all of it, answer: y ${this.count}` };
  }
}
