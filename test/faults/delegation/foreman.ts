/**
 * Plays the model of a parent: spawns children in waves, answers their questions, gives completed
 * ones another task, corrects, interrupts, ends and detaches some, reads notices and waits. It
 * knows of its children only what it was told; a request that is repeated after a crash may get
 * another answer, as from a real model.
 */
import type { Conversation } from "#test/model-server/script.ts";
import type { Random } from "../random.ts";
import { type ChildNotice, readAnswer, readWake } from "./child-notices.ts";
import type { Dialect, ToolCall } from "./dialects.ts";
import { keeperOf, sayTask, titleOf, writeTask } from "./tasks.ts";

const MAX_ROUNDS = 3;
const MAX_CALLS = 12;
const SPAWN = /^WAVE (\d+)$/m;
const LISTED = /"(?:workerId|sessionId)":"(ses_\w+)","(?:name|title)":"([^"]+)"/g;

export interface ForemanOptions {
  name: string;
  dialect: Dialect;
  random: Random;
}

export class Foreman {
  /** It starts nothing new, and answers questions. */
  isEnding = false;
  readonly name: string;
  readonly #options: ForemanOptions;
  /** Titles by session id. */
  readonly #known = new Map<string, string>();
  #made = 0;

  constructor(options: ForemanOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** The text of the next response. */
  play({ userText, round, toolResults }: Conversation): string {
    const { random } = this.#options;
    const news = round === 0 ? readWake(userText) : toolResults.flatMap(noticesIn);
    for (const text of toolResults) this.#learn(text);
    for (const { childId, childName } of news) this.#known.set(childId, childName);
    const calls = news.flatMap((one) => this.#react(one));
    if (round === 0) calls.push(...this.#wave(userText));
    if (!this.isEnding && round < MAX_ROUNDS && random.chance(0.3)) calls.push(...this.#whim());
    if (calls.length > 0) return wordsOf(calls.slice(0, MAX_CALLS));
    return this.#finish(round);
  }

  #learn(text: string): void {
    for (const [, id, title] of text.matchAll(LISTED)) if (id && title) this.#known.set(id, title);
  }

  #react({ type, childId, childName }: ChildNotice): ToolCall[] {
    const { dialect, random } = this.#options;
    if (type === "worker.ask_user") {
      if (!this.isEnding && random.chance(0.05)) return [];
      // An answer that comes too late is a task like any other.
      return [dialect.send(childId, sayTask(this.#token()))];
    }
    if (this.isEnding || type === "worker.deleted" || type === "worker.detached") return [];
    const choice = random.next();
    if (choice < 0.5) return [dialect.send(childId, this.#task())];
    return choice < 0.8 && keeperOf(childName) === "own" ? [dialect.end(childId)] : [];
  }

  #wave(text: string): ToolCall[] {
    const { random } = this.#options;
    if (this.isEnding) return [];
    const asked = Number(SPAWN.exec(text)?.[1] ?? 0);
    const count = asked || (random.chance(0.35) ? random.between(1, 3) : 0);
    return Array.from({ length: count }, () => this.#spawn());
  }

  #spawn(): ToolCall {
    const { dialect, name, random } = this.#options;
    const keeper = random.chance(0.6) ? "own" : "open";
    return dialect.spawn(titleOf(name, ++this.#made, keeper), this.#task());
  }

  /** An action without a reason. */
  #whim(): ToolCall[] {
    const { dialect, random } = this.#options;
    const choice = random.next();
    if (choice < 0.25) return [dialect.look];
    if (choice < 0.4) return [dialect.list];
    const known = [...this.#known].slice(-30);
    const [id, title] = known[random.between(0, known.length)] ?? [];
    if (!id || !title) return [];
    if (choice < 0.6) return [dialect.correct(id, this.#task())];
    if (keeperOf(title) !== "own") return [];
    if (choice < 0.75) return [dialect.end(id)];
    if (choice < 0.95) return dialect.interrupt ? [dialect.interrupt(id)] : [];
    return dialect.detach ? [dialect.detach(id)] : [];
  }

  #finish(round: number): string {
    const { dialect, random } = this.#options;
    const late = random.chance(0.3) ? `LATE ${random.between(10, 400)}\n` : "";
    const waits = !this.isEnding && round < MAX_ROUNDS && random.chance(0.5);
    if (!waits || dialect.look.tool !== "wait_for_event") return `${late}SAY All is well.`;
    return late + wordsOf([this.#waiting()]);
  }

  #waiting(): ToolCall {
    const { dialect, random } = this.#options;
    const [id] = [...this.#known].at(-1) ?? [];
    const onlyOne = id !== undefined && random.chance(0.2) ? { sessionIds: [id] } : {};
    const time = random.chance(0.4) ? { timeoutSeconds: random.between(1, 4) } : {};
    return { ...dialect.look, input: { ...onlyOne, ...time } };
  }

  #task(): string {
    return writeTask(this.#token(), this.#options.random);
  }

  #token(): string {
    return `${this.#options.name}-${++this.#made}`;
  }
}

/** A result does not name its tool; each reader takes only what it knows. */
function noticesIn(text: string): ChildNotice[] {
  return [...readAnswer("wait_for_event", text), ...readAnswer("orchestrate_read_inbox", text)];
}

function wordsOf(calls: readonly ToolCall[]): string {
  return calls
    .map(({ tool, input }, n) => `${n === 0 ? "CALL" : "ALSO"} ${tool} ${JSON.stringify(input)}`)
    .join("\n");
}
