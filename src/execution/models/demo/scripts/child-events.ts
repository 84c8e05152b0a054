/** Parses an orchestrator's notice of its children: which child, its result, and its words. */
import { excerpt } from "../script.ts";

export const IS_CHILD_NOTICE = /^\[orchestration\]/;

export interface WorkerEvent {
  sessionId: string;
  /** Quoted words of the child, so that nothing in them passes for an event. */
  quote: string;
  /** True when the child's turn completed. */
  isDone: boolean;
  /** True when the child is at work all the same. */
  worksOn: boolean;
  /** Sentence for the person. */
  words: string;
}

const HEAD = /^\d+\. (worker\.\w+): ("(?:[^"\\]|\\.)*") \((\S+)\)([^\n]*)$/;

/** Events of a notice; none in other text. Ended waits and folded events are words without a child. */
export function eventsIn(said: string): WorkerEvent[] {
  if (!IS_CHILD_NOTICE.test(said)) return [];
  const events: { head: RegExpExecArray; body: string[] }[] = [];
  for (const line of said.split("\n")) {
    const head = HEAD.exec(line);
    if (head) events.push({ head, body: [] });
    else events.at(-1)?.body.push(line);
  }
  return events.map(({ head, body }) => read(head, body));
}

function read(
  [, type = "", quoted = "", sessionId = "", rest = ""]: RegExpExecArray,
  body: string[],
) {
  const quote = body
    .flatMap((line) => (line.startsWith("> ") || line === ">" ? [line.slice(2)] : []))
    .join("\n")
    .trim();
  const isDone = type === "worker.ended" && rest.includes("(completed)");
  const isAnswered =
    type === "worker.ask_user" && body.some((line) => /^It no longer waits/.test(line));
  const name = `*${nameIn(quoted)}*`;
  return {
    sessionId,
    quote,
    isDone,
    worksOn: type === "worker.notified" || isAnswered,
    words: isAnswered
      ? `${name} has its answer and continues.`
      : wordsFor(type, name, quote, isDone),
  };
}

function wordsFor(type: string, name: string, quote: string, isDone: boolean): string {
  const said = quote === "" ? "" : `\n\n${excerpt(quote)}`;
  switch (type) {
    case "worker.ask_user":
      return `${name} has a question. Please open it and answer there.${said}`;
    case "worker.notified":
      return `${name} sent me a message and continues working:${said}`;
    case "worker.detached":
      return `${name} was detached from me, so I no longer wait for it. It continues on its own: open it to see what it does.`;
    case "worker.deleted":
      return `${name} was ended before it was done. Ask me again, and I start another.`;
    case "worker.stopped_without_end":
      return `${name} was stopped before it finished. Write to it to continue, or ask me again.`;
    case "worker.auto_retry_failed":
      return `${name} could not reach its model after several attempts. Check the model's settings, then write to it to continue.${said}`;
    default:
      return isDone ? `${name} is done:${said}` : `${name} didn't finish.${said}`;
  }
}

/** Name without characters that would be markup here. */
function nameIn(quoted: string): string {
  try {
    return String(JSON.parse(quoted)).replace(/[*_`<>[\]\\\n]/g, "") || "A child session";
  } catch {
    return "A child session";
  }
}
