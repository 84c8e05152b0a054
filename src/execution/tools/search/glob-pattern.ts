/**
 * Patterns of paths: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`, `**` for any folders, `\` before a literal
 * character. A pattern may come from an attacker, so matching takes time in proportion to pattern
 * times name, never more; it uses no regular expressions.
 *
 * Matching goes name by name: `begin` returns the states a walk starts with, `step` those after a
 * name. Without states nothing below can match, so a walk need not go there.
 */
const MAX_ALTERNATIVES = 256;

/** One character's worth of a pattern. */
type Token =
  | { kind: "star" }
  | { kind: "any" }
  | { kind: "one"; character: string }
  | { kind: "class"; negated: boolean; ranges: readonly (readonly [string, string])[] };

/** Null stands for `**`. */
type Segment = readonly Token[] | null;

/** Alternatives that still match, and the position in each. */
export type GlobStates = readonly { alternative: number; position: number }[];

export class GlobPattern {
  readonly #alternatives: readonly (readonly Segment[])[];

  /** Null when the pattern has too many alternatives. */
  static parse(pattern: string): GlobPattern | null {
    const expanded = expandBraces(pattern);
    return expanded && new GlobPattern(expanded);
  }

  private constructor(patterns: readonly string[]) {
    this.#alternatives = patterns.map((pattern) => {
      const parts = pattern.split("/").filter((part) => part !== "" && part !== ".");
      // A trailing `**` matches the contents of a folder, not the folder itself.
      if (parts.at(-1) === "**") parts.push("*");
      return parts.map((part) => (part === "**" ? null : tokenize(part)));
    });
  }

  begin(): GlobStates {
    return this.#spread(this.#alternatives.map((_, alternative) => ({ alternative, position: 0 })));
  }

  step(states: GlobStates, name: string): GlobStates {
    const next = states.flatMap((state) => {
      const segment = this.#alternatives[state.alternative]?.[state.position];
      if (segment === undefined) return [];
      if (segment === null) return [state];
      return matchName(segment, name) ? [{ ...state, position: state.position + 1 }] : [];
    });
    return this.#spread(next);
  }

  isMatch(states: GlobStates): boolean {
    return states.some(
      ({ alternative, position }) => position === this.#alternatives[alternative]?.length,
    );
  }

  matches(path: string): boolean {
    let states = this.begin();
    for (const name of path.split("/")) states = this.step(states, name);
    return this.isMatch(states);
  }

  /** `**` may stand for no folder at all, so a state before one is also behind it. */
  #spread(states: GlobStates): GlobStates {
    const seen = new Set<string>();
    const all: { alternative: number; position: number }[] = [];
    const queue = [...states];
    for (let state = queue.pop(); state; state = queue.pop()) {
      const key = `${state.alternative}:${state.position}`;
      if (seen.has(key)) continue;
      seen.add(key);
      all.push(state);
      const segment = this.#alternatives[state.alternative]?.[state.position];
      if (segment === null) queue.push({ ...state, position: state.position + 1 });
    }
    return all;
  }
}

/** `a{b,c}` is `ab` and `ac`. Null when there would be too many. Unclosed braces are literal. */
export function expandBraces(pattern: string): string[] | null {
  const done: string[] = [];
  const queue = [pattern];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const brace = findBrace(next);
    if (!brace) done.push(next);
    else {
      const [before, after] = [next.slice(0, brace.open), next.slice(brace.close + 1)];
      queue.unshift(...brace.options.map((option) => before + option + after));
    }
    if (done.length + queue.length > MAX_ALTERNATIVES) return null;
  }
  return done;
}

/** First pair of braces with a comma between them. */
function findBrace(pattern: string) {
  for (let open = pattern.indexOf("{"); open >= 0; open = pattern.indexOf("{", open + 1)) {
    if (pattern[open - 1] === "\\") continue;
    const found = readBrace(pattern, open);
    if (found) return found;
  }
  return null;
}

function readBrace(pattern: string, open: number) {
  const options: string[] = [];
  let depth = 0;
  let start = open + 1;
  for (let i = open; i < pattern.length; i++) {
    const character = pattern[i];
    if (character === "\\") i++;
    else if (character === "{") depth++;
    else if (character === "," && depth === 1) {
      options.push(pattern.slice(start, i));
      start = i + 1;
    } else if (character === "}" && --depth === 0) {
      if (options.length === 0) return null;
      return { open, close: i, options: [...options, pattern.slice(start, i)] };
    }
  }
  return null;
}

function tokenize(part: string): Token[] {
  const tokens: Token[] = [];
  const letters = [...part];
  for (let i = 0; i < letters.length; ) {
    const { token, end } = readToken(letters, i);
    if (token.kind !== "star" || tokens.at(-1)?.kind !== "star") tokens.push(token);
    i = end + 1;
  }
  return tokens;
}

function readToken(letters: readonly string[], start: number): { token: Token; end: number } {
  const character = letters[start] as string;
  if (character === "*") return { token: { kind: "star" }, end: start };
  if (character === "?") return { token: { kind: "any" }, end: start };
  const next = letters[start + 1];
  if (character === "\\" && next !== undefined) {
    return { token: { kind: "one", character: next }, end: start + 1 };
  }
  const set = character === "[" ? readClass(letters, start) : null;
  return set ?? { token: { kind: "one", character }, end: start };
}

/** Null when the bracket does not close: then it is literal. */
function readClass(letters: readonly string[], open: number) {
  const negated = letters[open + 1] === "!" || letters[open + 1] === "^";
  const first = open + (negated ? 2 : 1);
  const end = letters.indexOf("]", first + 1);
  if (end < 0) return null;
  const ranges: [string, string][] = [];
  for (let i = first; i < end; i++) {
    const from = letters[i] as string;
    const isRange = letters[i + 1] === "-" && i + 2 < end;
    ranges.push([from, isRange ? (letters[i + 2] as string) : from]);
    if (isRange) i += 2;
  }
  return { token: { kind: "class", negated, ranges } satisfies Token, end };
}

/** Backtracks to the last star only, which is enough: an earlier one need not take more. */
function matchName(tokens: readonly Token[], name: string): boolean {
  const letters = [...name];
  let [token, letter, star, starLetter] = [0, 0, -1, 0];
  while (letter < letters.length) {
    const present = tokens[token];
    if (present?.kind === "star") {
      star = token++;
      starLetter = letter;
    } else if (present && fits(present, letters[letter] as string)) {
      token++;
      letter++;
    } else if (star >= 0) {
      token = star + 1;
      letter = ++starLetter;
    } else return false;
  }
  while (tokens[token]?.kind === "star") token++;
  return token === tokens.length;
}

function fits(token: Token, letter: string): boolean {
  switch (token.kind) {
    case "star":
    case "any":
      return true;
    case "one":
      return token.character === letter;
    case "class":
      return token.ranges.some(([from, to]) => from <= letter && letter <= to) !== token.negated;
  }
}
