/**
 * Answers the loop's request for a summary of text that is too long to be read again. The demo
 * cannot judge what matters, so it keeps the newest words as they were.
 */
import type { Script } from "../script.ts";

const KEPT_CHARS = 3000;

export const sumUp: Script = {
  name: "sum-up",
  fits: ({ system, tools }) => tools.size === 0 && /^(sum up|summari[sz]e)\b/i.test(system),
  next: ({ saidWhole }) => ({
    say: `The end of the earlier conversation, word for word:\n\n${saidWhole.slice(-KEPT_CHARS)}`,
    calls: [],
    isForThePerson: false,
  }),
};
