/**
 * One session of a chat: its log since joining, its queue and its children. Its state comes from the log,
 * which misses nothing, and from a refresh at every hint.
 */
import { randomUUID } from "node:crypto";
import { systemClock } from "#base/clock.ts";
import type { Child, ChildrenOverview } from "#features/delegation/contract.ts";
import type { SessionEvent } from "#protocol/events.ts";
import type { Notice } from "#protocol/notices/notices.ts";
import type { Author, Prompt, QueueMode, Session } from "#protocol/sessions.ts";
import { type Api, isPassing } from "#surfaces/cli/client/api.ts";
import { followSession } from "#surfaces/cli/client/follow-session.ts";
import { textOf } from "../turn/turn-printer.ts";
import type { ChatView } from "./chat-view.ts";
import { childName, describeChange } from "./child-changes.ts";
import { wakeLines } from "./compact.ts";
import { eventOfEntry } from "./past-entries.ts";
import { createRefresh } from "./refresh.ts";

export interface ConversationOptions {
  api: Api;
  view: ChatView;
  /** Id of the person whose prompts are shown as their own. */
  me: string;
  showsReasoning(): boolean;
  /** Called when an approval opens or closes. */
  gatesChanged(): void;
  /** `hasHandedOn`: the turn ended by waiting, and a later one brings its reply. */
  settled(prompt: Prompt, hasHandedOn: boolean): void;
  signal: AbortSignal;
  /** Undefined: never. */
  giveUpAfterMs?: number | undefined;
}

const HISTORY = 12;
const RETRY_MS = 1_000;
const BUSY: readonly string[] = ["working", "needs_you", "recovering", "unknown"];
const NAMED = 3;
const UNSHOWN_EVENTS: ReadonlySet<SessionEvent["type"]> = new Set([
  "gate_opened",
  "gate_closed",
  "model_call",
]);

export class Conversation {
  session: Session;
  children: ChildrenOverview = { items: [], more: 0, treeCost: null };
  queue: Prompt[] = [];
  /** Prompts that the server has not confirmed yet. */
  readonly sending = new Map<string, string>();
  isAway = false;
  readonly refresh: () => Promise<void>;
  readonly #options: ConversationOptions;
  readonly #refreshQueue: () => Promise<void>;
  /** Prompts whose turn has begun and not ended, up to the position read. */
  readonly #running = new Set<string>();
  /** Position up to which the log has been read. */
  #seen: number;
  #knowsFamily = false;

  constructor(session: Session, options: ConversationOptions) {
    this.session = session;
    this.#seen = session.lastSeq;
    this.#options = options;
    this.refresh = createRefresh(() => this.#look());
    this.#refreshQueue = createRefresh(() => this.#lookAtQueue());
  }

  get isBusy(): boolean {
    return BUSY.includes(this.session.activity);
  }

  /** True while its children or its queue will produce something without the person. */
  get goesOn(): boolean {
    const isUp = ({ activity }: { activity: string }) =>
      activity === "waiting" || BUSY.includes(activity);
    // The refreshed state may be ahead of the log, and only the log has been shown.
    const isBehind = this.#seen < this.session.lastSeq;
    return (
      isBehind || isUp(this.session) || this.queue.length > 0 || this.children.items.some(isUp)
    );
  }

  childOf(id: string): Child | undefined {
    return this.children.items.find(({ sessionId }) => sessionId === id);
  }

  /** Shows the last messages before joining; returns the person's own prompts among them, oldest first. */
  async showPast(): Promise<string[]> {
    const { api, view } = this.#options;
    const { items } = await api.again.sessions.transcript({
      id: this.session.id,
      query: { limit: HISTORY },
    });
    const past = items.filter(({ seq }) => seq <= this.session.lastSeq);
    for (const entry of past) this.#show(eventOfEntry(this.session.id, entry), view);
    return past
      .filter(({ kind, author }) => kind === "prompt" && author?.id === this.#options.me)
      .map(({ text }) => text ?? "");
  }

  /** Resolves when the signal aborts; throws when the session cannot be followed any more. */
  async follow(): Promise<void> {
    const { api, view, signal, giveUpAfterMs } = this.#options;
    const { id: sessionId, lastSeq: after } = this.session;
    void this.#refreshAll();
    for await (const item of followSession(api, {
      sessionId,
      after,
      signal,
      giveUpAfterMs: giveUpAfterMs ?? Number.POSITIVE_INFINITY,
    })) {
      if (item.type === "event") this.#event(item.event);
      else if (item.type === "delta") {
        if (item.delta.kind !== "reasoning" || this.#options.showsReasoning())
          view.delta(item.delta);
      } else this.#connectionChanged(item.type);
    }
  }

  hinted(sessionId: string): void {
    if (sessionId === this.session.id || this.childOf(sessionId)) void this.refresh();
  }

  /** Retries until the server has the prompt: the same dispatch id is the same prompt. */
  async send(content: string, mode?: QueueMode): Promise<Prompt | undefined> {
    const { api, view, signal } = this.#options;
    const dispatchId = randomUUID();
    const { id } = this.session;
    this.sending.set(dispatchId, content);
    view.changed();
    try {
      for (;;) {
        try {
          const body = { content, mode, dispatchId };
          const sent = await api.again.prompts.create({ id, body });
          await this.#refreshQueue();
          return sent.prompt;
        } catch (error) {
          if (!isPassing(error) || this.#options.giveUpAfterMs !== undefined) throw error;
          await systemClock.sleep(RETRY_MS, signal);
          if (signal.aborted) return undefined;
        }
      }
    } finally {
      this.sending.delete(dispatchId);
      view.changed();
    }
  }

  /** Stops the turn that is shown; without one, withdraws the person's last pending prompt. */
  async stop(): Promise<"stopping" | "withdrawn" | "nothing"> {
    const { api } = this.#options;
    // Read before any request: the next turn may have begun by the time of a response.
    const shown = [...this.#running];
    await this.refresh();
    if (this.isBusy) {
      const { id } = this.session;
      const bodies = shown.length > 0 ? shown.map((promptId) => ({ promptId })) : [{}];
      for (const body of bodies) await api.again.sessions.stop({ id, body });
      return "stopping";
    }
    const own = this.queue.findLast(({ author }) => author.id === this.#options.me);
    if (!own) return "nothing";
    await api.prompts.withdraw({ id: own.id });
    await this.#refreshQueue();
    return "withdrawn";
  }

  #connectionChanged(state: "away" | "here"): void {
    const wasAway = this.isAway;
    this.isAway = state === "away";
    if (this.isAway)
      this.#options.view.note(
        "The server does not answer. Accepted prompts are safe; trying again…",
      );
    else if (wasAway) {
      this.#options.view.note("The server is back.");
      void this.#refreshAll();
      this.#options.gatesChanged();
    }
    this.#options.view.changed();
  }

  async #refreshAll(): Promise<void> {
    await Promise.all([this.refresh(), this.#refreshQueue()]);
  }

  #event(event: SessionEvent): void {
    const { view, gatesChanged } = this.#options;
    view.raw?.(event);
    this.#seen = event.seq;
    this.#trackTurn(event);
    this.#show(event, view);
    if (event.type === "gate_opened" || event.type === "gate_closed") gatesChanged();
    if (event.type.startsWith("prompt_") || event.type === "run_claimed") void this.#refreshQueue();
    if (!event.entryId) void this.refresh();
    if (event.type === "prompt_settled" && event.promptId !== null)
      void this.#showEnd(event.promptId);
  }

  #trackTurn({ type, promptId }: SessionEvent): void {
    if (promptId === null) return;
    if (type === "run_claimed") this.#running.add(promptId);
    if (type === "prompt_settled") this.#running.delete(promptId);
  }

  #show(event: SessionEvent, view: ChatView): void {
    if (event.kind === "reasoning" && !this.#options.showsReasoning()) return;
    if (UNSHOWN_EVENTS.has(event.type)) return;
    if (event.kind === "prompt") this.#showPrompt(event, view);
    else view.event(event);
  }

  #showPrompt(event: SessionEvent, view: ChatView): void {
    const author = event.data?.author as Author | undefined;
    const noticeLines = wakeLines((event.data?.notice as Notice | null | undefined) ?? null);
    if (noticeLines) for (const line of noticeLines) view.note(line);
    else view.prompt(author?.id === this.#options.me ? null : (author?.name ?? "?"), textOf(event));
  }

  async #showEnd(promptId: string): Promise<void> {
    try {
      const { prompt } = await this.#options.api.again.prompts.get({ id: promptId });
      this.#options.view.end(prompt);
      const hasHandedOn = prompt.endedWaitingFor !== null;
      if (hasHandedOn) await this.#showWaiting();
      this.#options.settled(prompt, hasHandedOn);
    } catch (error) {
      this.#options.view.note(error instanceof Error ? error.message : String(error));
    }
  }

  async #showWaiting(): Promise<void> {
    await this.refresh();
    const busy = this.children.items.filter(({ activity }) => BUSY.includes(activity));
    const names = busy.slice(0, NAMED).map(childName).join(", ");
    const more = busy.length > NAMED ? ` and ${busy.length - NAMED} more` : "";
    if (busy.length > 0) this.#options.view.note(`Delegated · waiting for ${names}${more}`);
  }

  async #look(): Promise<void> {
    const { api, view } = this.#options;
    const { id } = this.session;
    const [{ session }, children] = await Promise.all([
      api.sessions.get({ id }),
      api.delegation.children({ id }),
    ]);
    const noticeLines = this.#knowsFamily ? childNotices(this.children.items, children.items) : [];
    this.#knowsFamily = true;
    this.session = session;
    this.children = children;
    for (const line of noticeLines) view.note(line);
    view.changed();
  }

  async #lookAtQueue(): Promise<void> {
    const { api, view } = this.#options;
    const page = await api.prompts.list({
      id: this.session.id,
      query: { state: "queued,collecting" },
    });
    this.queue = page.items;
    view.changed();
  }
}

function childNotices(before: readonly Child[], now: readonly Child[]): string[] {
  return now.flatMap((child) => {
    const notice = describeChange(
      before.find(({ sessionId }) => sessionId === child.sessionId),
      child,
    );
    return notice === null ? [] : [notice];
  });
}
