/** Ids seen in answers, by collection, so that later requests reach existing rows. */
import type { Random } from "#test/random.ts";

/** Old ids are dropped: most of their rows were removed by some request. */
const KEPT = 40;

/** Collections by the names of fields that hold their ids. */
const FIELDS: readonly [RegExp, string][] = [
  [/cursor/i, "next"],
  [/session|parent$|worker|^to$/i, "sessions"],
  [/persona/i, "personas"],
  [/task|blockedBy|^ids$/i, "tasks"],
  [/repo/i, "repos"],
  [/user/i, "members"],
  [/prompt(Id)?$/i, "prompts"],
  [/run(Id)?$/i, "runs"],
  [/memory/i, "memories"],
  [/message|reply/i, "inbox"],
];

export class KnownIds {
  readonly #ids = new Map<string, string[]>();
  #reserved: ReadonlySet<string> = new Set();

  reserve(ids: ReadonlySet<string>): void {
    this.#reserved = ids;
  }

  learn(collection: string, id: unknown): void {
    if (typeof id !== "string" || id === "" || this.#reserved.has(id)) return;
    const known = this.#ids.get(collection) ?? [];
    known.push(id);
    if (known.length > KEPT) known.shift();
    this.#ids.set(collection, known);
  }

  find(random: Random, collection: string): string | undefined {
    return random.find(this.#ids.get(collection) ?? []);
  }

  forField(random: Random, field: string): string | undefined {
    const found = FIELDS.find(([pattern]) => pattern.test(field));
    return found && this.find(random, found[1]);
  }

  /** Collects ids from an answer of this route. */
  read(path: string, text: string): void {
    if (!text.startsWith("{") || text.length > 200_000) return;
    const answer = JSON.parse(text) as Record<string, unknown>;
    const collection = path.split("/").findLast((part) => /^[a-z-]+$/.test(part)) ?? "";
    this.learn("next", answer.next);
    for (const item of Array.isArray(answer.items) ? answer.items.slice(0, 5) : [])
      this.#readItem(collection, item);
    for (const [name, value] of Object.entries(answer)) this.#readItem(`${name}s`, value);
  }

  #readItem(collection: string, item: unknown): void {
    if (typeof item !== "object" || item === null) return;
    const { id, name, userId } = item as Record<string, unknown>;
    this.learn(collection, id ?? userId ?? name);
    if (collection === "messages") this.learn("inbox", id);
  }
}
