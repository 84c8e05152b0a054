/**
 * The load of a fault round: sessions with clients that send prompts in all modes, withdraw,
 * promote and stop, and readers that follow along. Every acknowledgement is recorded; a request
 * without an answer is repeated until it has one.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { emptyHistory, type History, type ScriptRuntime } from "../history.ts";
import type { Random } from "../random.ts";
import { Api, type ApiResponse, NoAnswer, unlessRefused } from "./api.ts";
import { Follower } from "./follower.ts";
import { echoStyle, scriptedStyle } from "./scripts.ts";
import type { Style } from "./style.ts";

const MAX_OPEN = 8;

export interface LoadOptions {
  /** One or several servers on the same database. */
  urls: readonly string[];
  key: string;
  random: Random;
  sessions: number;
  /** Pause of a client between two requests. */
  pauseMs: [min: number, max: number];
  /** The styles of the sessions, in turn. */
  styles?: readonly [Style, ...Style[]];
  /** A session with more unsettled prompts than this gets no new ones for a while. */
  maxOpen?: number;
}

export interface LoadedSession {
  id: string;
  runtime: ScriptRuntime;
}

interface Client {
  session: LoadedSession;
  style: Style;
  /** Prompts that are not known to have settled. */
  open: readonly string[];
}

export class Load {
  readonly history: History = emptyHistory();
  readonly sessions: LoadedSession[] = [];
  readonly followers: Follower[] = [];
  readonly apis: Api[];
  readonly #options: LoadOptions;
  readonly #styles: readonly [Style, ...Style[]];
  readonly #open = new Map<string, string[]>();
  #clients: Promise<void>[] = [];
  #ending = false;
  #sent = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#styles = options.styles ?? [scriptedStyle, echoStyle];
    const onAnswer = (answer: ApiResponse, what: string) => {
      if (isBadAnswer(answer)) this.history.badAnswers.push(describe(answer, what));
    };
    this.apis = options.urls.map((url) => new Api({ url, key: options.key, onAnswer }));
  }

  async start(): Promise<void> {
    for (let n = 0; n < this.#options.sessions; n++) {
      const { runtime, session: fields = {} } = this.#style(n);
      const { session } = await this.#api(n).patient.sessions.create(
        { body: { title: `fault ${n}`, runtime, ...fields } },
        { idempotencyKey: randomUUID() },
      );
      const { id } = session;
      this.sessions.push({ id, runtime });
      this.#open.set(id, []);
      this.followers.push(new Follower(this.#apisFrom(n), id, `follower of ${id}`));
    }
    this.#clients = this.sessions.map((session, n) =>
      this.#client(session, n, this.#options.random.fork()),
    );
  }

  /** Sends no more requests, after every open one has its answer. The followers stay. */
  async end(): Promise<void> {
    this.#ending = true;
    await Promise.all(this.#clients);
  }

  /** Stops the followers and adds their records to the history. */
  async leave(): Promise<void> {
    await Promise.all(this.followers.map((follower) => follower.leave()));
    this.history.followers = this.followers.map(({ record }) => record);
  }

  #style(n: number): Style {
    return this.#styles[n % this.#styles.length] as Style;
  }

  #api(n: number): Api {
    return this.apis[n % this.apis.length] as Api;
  }

  #apisFrom(n: number): Api[] {
    const from = n % this.apis.length;
    return [...this.apis.slice(from), ...this.apis.slice(0, from)];
  }

  async #client(session: LoadedSession, n: number, random: Random): Promise<void> {
    const {
      pauseMs: [minMs, maxMs],
      maxOpen = MAX_OPEN,
    } = this.#options;
    const style = this.#style(n);
    const follower = this.followers[n] as Follower;
    while (!this.#ending) {
      const open = (this.#open.get(session.id) ?? []).filter((id) => !follower.settled.has(id));
      this.#open.set(session.id, open);
      const api = this.#api(random.between(0, this.apis.length - 1));
      if (open.length < maxOpen || random.chance(0.1)) {
        await this.#act(api, { session, style, open }, random).catch((error: unknown) => {
          if (!(error instanceof NoAnswer)) throw error;
        });
      }
      await sleep(random.between(minMs, maxMs));
    }
  }

  async #act(api: Api, { session, style, open }: Client, random: Random): Promise<void> {
    const choice = random.next();
    const victim = open[random.between(0, open.length)];
    if (choice < 0.1 && victim) return this.#withdraw(api, victim);
    if (choice < 0.13 && victim) return this.#promote(api, victim);
    if (choice < 0.18) return this.#stop(api, session.id);
    await this.#prompt(api, session, style, random);
  }

  async #prompt(api: Api, session: LoadedSession, style: Style, random: Random): Promise<void> {
    const mark = `m${this.#sent++}-${randomUUID().slice(0, 8)}`;
    const content = style.write(mark, random);
    const mode = style.mode(random);
    const { id } = session;
    const { prompts } = api.patient;
    // Uses both ways to mark a repeated request.
    const sending = random.chance(0.5)
      ? prompts.create({ id, body: { content, mode, dispatchId: mark } })
      : prompts.create({ id, body: { content, mode } }, { idempotencyKey: mark });
    const accepted = await unlessRefused(sending);
    if (!accepted) return;
    const { prompt } = accepted;
    this.history.prompts.push({
      id: prompt.id,
      sessionId: session.id,
      content,
      runtime: session.runtime,
      mode,
    });
    this.#open.get(session.id)?.push(prompt.id);
  }

  async #withdraw(api: Api, promptId: string): Promise<void> {
    const withdrawn = await unlessRefused(api.patient.prompts.withdraw({ id: promptId }));
    if (withdrawn) this.history.withdrawn.push(promptId);
  }

  async #promote(api: Api, promptId: string): Promise<void> {
    this.history.promoted.push(promptId);
    await unlessRefused(api.patient.prompts.promote({ id: promptId }));
  }

  async #stop(api: Api, sessionId: string): Promise<void> {
    const stopped = await unlessRefused(api.once.sessions.stop({ id: sessionId }));
    if (stopped) this.history.reached.push({ sessionId, lastSeq: stopped.session.lastSeq });
  }
}

/** True for answers that clients must never get, whatever happens to the program. */
export function isBadAnswer({ status, body, retryAfter }: ApiResponse): boolean {
  if (status < 500 && status !== 401 && status !== 403 && status !== 400) return false;
  const { code } = (body.error ?? {}) as { code?: string };
  return !(status === 503 && code === "store_unavailable" && retryAfter !== null);
}

export function describe({ status, body }: ApiResponse, what: string): string {
  return `${what}: ${status} ${JSON.stringify(body)}`;
}
