/**
 * Answers of the demo to prompts that no person wrote: mailbox messages and notices of the task
 * board. The demo says that it has read them; it writes to nobody and does no task, whatever they
 * say.
 */
import { end, IS_NOTICE, type Script } from "../script.ts";

const MESSAGE = /^\d+\. \w+ \w+ from ("(?:[^"\\]|\\.)*") \(/gm;
const TASK = /^- Task ("(?:[^"\\]|\\.)*") \(/gm;
const MAX_NAMED = 3;

export const acknowledgeNotice: Script = {
  name: "told",
  fits: ({ said }) => IS_NOTICE.test(said),
  next: ({ said }) => ({
    ...end(said.startsWith("[tasks]") ? boardWords(said) : messageWords(said)),
    isForThePerson: false,
  }),
};

function messageWords(said: string): string {
  const from = namesIn(said, MESSAGE);
  return `I have read what ${from === "" ? "was written" : `${from} wrote`}. As the demo I answer no messages; a real model would.`;
}

function boardWords(said: string): string {
  const tasks = namesIn(said, TASK);
  return `I have seen the updates from the board${tasks === "" ? "" : ` about ${tasks}`}. As the demo I do no tasks by myself; a real model would continue from here. You can change them on the board.`;
}

/** Names that occur, each once, without characters that would be markup here. */
function namesIn(said: string, pattern: RegExp): string {
  const all = new Set([...said.matchAll(pattern)].map(([, quoted = ""]) => nameIn(quoted)));
  const named = [...all].filter((name) => name !== "");
  const shown = named.slice(0, MAX_NAMED).map((name) => `*${name}*`);
  if (named.length > MAX_NAMED) shown.push("others");
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}

function nameIn(quoted: string): string {
  try {
    return String(JSON.parse(quoted))
      .replace(/[*_`<>[\]\\\n]/g, "")
      .trim();
  } catch {
    return "";
  }
}
