/**
 * What a parent is told of its children, read back out of the words it was told in, and said to people.
 * Pure: pages and terminals show it alike.
 */

export interface WorkerNews {
  type: string;
  childId: string;
  childName: string;
  /** For people: "finished its turn". */
  what: string;
}

const HEAD = /^(\d+)\. ([\w.]+): ("(?:[^"\\]|\\.)*") \(([\w:]+)\) (.+)$/;

/** What a child said stands behind `>`, so it cannot pass for a line of ours. */
export function newsIn(text: string): WorkerNews[] {
  const news: WorkerNews[] = [];
  for (const line of text.split("\n")) {
    const [, place, type, name, childId, told] = HEAD.exec(line) ?? [];
    if (!type || !name || !childId || !told || Number(place) !== news.length + 1) continue;
    const childName = nameIn(name);
    if (childName !== undefined)
      news.push({ type, childId, childName, what: wordsFor(type, told) });
  }
  return news;
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ["worker.ask_user", "asks a question"],
  ["worker.auto_retry_failed", "could not reach its model, after several tries"],
  ["worker.stopped_without_end", "was stopped before it came to an end"],
  ["worker.deleted", "was ended by a person"],
  ["worker.detached", "was detached by a person, and goes on by itself"],
  ["worker.notified", "has something to tell"],
]);
const OUTCOMES: ReadonlyMap<string, string> = new Map([
  ["completed", "finished its turn"],
  ["failed", "failed"],
  ["aborted", "was stopped"],
]);

/** Of what a newer server tells, its own words. */
function wordsFor(type: string, told: string): string {
  if (told.startsWith("presents a plan")) return "presents a plan";
  if (type !== "worker.ended") return WORDS.get(type) ?? told;
  const outcome = /\((\w+)\)/.exec(told)?.[1] ?? "";
  return OUTCOMES.get(outcome) ?? "ended its turn";
}

function nameIn(quoted: string): string | undefined {
  try {
    const name: unknown = JSON.parse(quoted);
    return typeof name === "string" ? name : undefined;
  } catch {
    return undefined;
  }
}
