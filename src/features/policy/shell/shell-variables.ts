/**
 * Values of shell variables as far as they are known; null: set to an unknown value. An inner shell
 * sees the variables of the outer one and sets only its own. It does not copy them: a command with many
 * variables and many substitutions would take quadratic time to read.
 */
export class ShellVariables {
  readonly #own = new Map<string, string | null>();
  readonly #outer: ShellVariables | undefined;

  constructor(outer?: ShellVariables) {
    this.#outer = outer;
  }

  get(name: string): string | null {
    const own = this.#own.get(name);
    return own === undefined ? (this.#outer?.get(name) ?? null) : own;
  }

  set(name: string, value: string | null): void {
    this.#own.set(name, value);
  }
}
