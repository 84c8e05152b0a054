/** Ends the bootstrap; the message says what went wrong and what to do next. */
export class Stop extends Error {}

/** Progress goes to stderr, so that a program's `--json` on stdout stays clean. */
export function createProgress(quiet) {
  const silent = quiet && !process.stderr.isTTY;
  const say = (text) => {
    if (!silent) process.stderr.write(text);
  };
  return {
    say: (text) => say(`${text}\n`),
    async step(what, work) {
      const startedAt = Date.now();
      say(`${what} … `);
      try {
        const result = await work();
        say(`${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`);
        return result;
      } catch (error) {
        say("failed\n");
        throw error;
      }
    },
  };
}
