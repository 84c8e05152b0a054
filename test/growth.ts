/** Growth of a function's running time with its input, as a ratio within one process. */

const REPEATS = 7;
const PIECES = 32;
const PIECE_CHARS = 8_000;

/**
 * The time for one long text as a multiple of the time for as many characters in short texts: about
 * 1 for linear functions, 32 for quadratic ones. The shortest of several runs counts, because other
 * load on the machine only adds time.
 */
export function growth(
  makeInput: (chars: number) => string,
  work: (text: string) => unknown,
): number {
  const short = makeInput(PIECE_CHARS);
  const long = makeInput(PIECE_CHARS * PIECES);
  const inPieces = leastMs(() => {
    for (let count = 0; count < PIECES; count++) work(short);
  });
  return leastMs(() => work(long)) / Math.max(inPieces, 0.01);
}

function leastMs(run: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let count = 0; count < REPEATS; count++) {
    const startedAt = performance.now();
    run();
    least = Math.min(least, performance.now() - startedAt);
  }
  return least;
}

/** Far from both 1 and 32. */
export const MOST_GROWTH = 10;

/** Texts that make careless patterns slow. */
export const HOSTILE: readonly [name: string, unit: string][] = [
  ["word characters", "a"],
  ["digits and letters", "a1"],
  ["beginnings of tokens", "-eyJaaaaaaaaaaaa"],
  ["parts of tokens", "-eyJaaaaaaaaaaaa.eyJaaaaaaaaaa"],
  ["addresses without a host", "a://a:"],
  ["addresses that end in @", "a://a:a@"],
  ["slashes", "://"],
  ["the word Bearer", "Bearer "],
  ["spaces", " "],
  ["spaces after Bearer", "Bearer                "],
  ["beginnings of keys", "sk-"],
  ["beginnings of private keys", "-----BEGIN PRIVATE KEY-----"],
  ["ends of private keys", "-----END "],
  ["beginnings of our own", "mst_a mrt_run_"],
  ["dots and dashes", ".-"],
];

export function repeated(unit: string): (chars: number) => string {
  return (chars) => unit.repeat(Math.ceil(chars / unit.length));
}
