/** What the platform tells an agent, read back out of the words it was told in. Pure. */
import { isGuestThread } from "#protocol/guests.ts";
import type { Entry } from "#protocol/sessions.ts";
import { newsIn } from "#protocol/worker-news.ts";

/** `children`: what became of its children; `letters`: what was written to it; `board`: of its tasks. */
export type Told = "children" | "letters" | "board";

const SIGNS: readonly [string, Told][] = [
  ["[orchestration] ", "children"],
  ["[mailbox] ", "letters"],
  ["[mailbox, guest] ", "letters"],
  ["[tasks] ", "board"],
];

/**
 * Undefined for what somebody has said. The platform writes under its own name, and brings a person's
 * letter to their own agent under theirs.
 */
export function toldIn({ author, text }: Pick<Entry, "author" | "text">): Told | undefined {
  const told = SIGNS.find(([sign]) => text?.startsWith(sign))?.[1];
  if (author?.kind === "system") return told;
  const isLetter =
    author?.kind === "user" && told === "letters" && lettersIn(text ?? "").length > 0;
  return isLetter ? told : undefined;
}

/** Written by the platform to wake a session for its children. */
export function isWake(entry: Pick<Entry, "author" | "text">): boolean {
  return toldIn(entry) === "children";
}

/** How it begins, in one line. */
export function wakeLine(text: string): string {
  return (text.split("\n", 1)[0] ?? "").replace(/^\[[a-z, ]+\] /, "");
}

/** All of it, in one line. */
export function toldLine(told: Told, text: string): string {
  const words = WORDS[told](text);
  return words.length > 0 ? words.join("; ") : wakeLine(text);
}

const WORDS: Record<Told, (text: string) => string[]> = {
  children: (text) => newsIn(text).map(({ childName, what }) => `${childName} ${what}`),
  letters: (text) => lettersIn(text).map(({ kind, from }) => `${kind} from ${from}`),
  board: (text) => boardNewsIn(text).map(({ title, what }) => `${title} ${what}`),
};

/** Part of what an agent says to somebody other than its person: no part of their conversation. */
export function isAside({ thread }: Pick<Entry, "thread">): boolean {
  return isGuestThread(thread);
}

export interface ToldLetter {
  id: string;
  /** "A question". */
  kind: string;
  from: string;
  handle: string | null;
  /** How it begins. */
  line: string;
}

const KINDS: Readonly<Record<string, string>> = {
  question: "A question",
  escalation: "An escalation",
  notification: "A notification",
  approval: "A request",
};
const LETTER = /^(\d+)\. (\w+) (\w+) from ("(?:[^"\\]|\\.)*") \((?:@([^,\s]+), )?[^)]*\), .+\.$/;

/** What somebody wrote stands behind `>`, so it cannot pass for a line of ours. */
export function lettersIn(text: string): ToldLetter[] {
  const letters: ToldLetter[] = [];
  for (const line of text.split("\n")) {
    const [, place, type, id, name, handle] = LETTER.exec(line) ?? [];
    const last = letters.at(-1);
    if (type && id && name && Number(place) === letters.length + 1)
      letters.push({
        id,
        kind: Object.hasOwn(KINDS, type) ? (KINDS[type] as string) : "A letter",
        from: unquoted(name),
        handle: handle ?? null,
        line: "",
      });
    else if (last?.line === "" && line.startsWith("> ")) last.line = plain(line.slice(2));
  }
  return letters;
}

/** Without the marks of its writing. */
function plain(line: string): string {
  return line
    .replace(/^[#>]+ +/, "")
    .replace(/`+|\*\*/g, "")
    .trim();
}

export interface BoardNews {
  id: string;
  title: string;
  what: string;
}

const TASK = /^- Task ("(?:[^"\\]|\\.)*") \((\w+)\) (.+)$/;
const WHAT: readonly [RegExp, string][] = [
  [/^was given to you/, "was given to it"],
  [/^was due /, "is overdue"],
  [/^is not blocked any more/, "is not blocked any more"],
  [/^waits for .* which has failed/, "waits for one that has failed"],
  [/^depended on .* which was deleted/, "waited for one that was deleted"],
];

/** Titles stand in quotes on one line, so they cannot pass for a line of ours. */
export function boardNewsIn(text: string): BoardNews[] {
  return text.split("\n").flatMap((line) => {
    const [, title, id, rest] = TASK.exec(line) ?? [];
    if (!title || !id || !rest) return [];
    const what = WHAT.find(([sign]) => sign.test(rest))?.[1] ?? "has changed";
    return [{ id, title: unquoted(title), what }];
  });
}

function unquoted(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
