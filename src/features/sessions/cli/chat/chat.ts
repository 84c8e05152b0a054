/**
 * A conversation from a terminal, or from lines that a program writes: interprets typed lines, sends them to
 * a session, and tracks pending approvals. It shows through a view and makes no decision of the server's;
 * leaving it only stops watching.
 */
import type { Prompt, Session } from "#protocol/sessions.ts";
import type { Api } from "#surfaces/cli/client/api.ts";
import { followHints, type Hinted } from "#surfaces/cli/client/follow-hints.ts";
import type { Output } from "#surfaces/cli/kit/host.ts";
import { activityWords } from "#surfaces/cli/kit/text/activity-words.ts";
import { columnsOf, type Style, safeLine } from "#surfaces/cli/kit/text/terminal.ts";
import { readTrees } from "../tree/read-tree.ts";
import { drawTree, rowsOf } from "../tree/session-tree.ts";
import type { ChatView } from "./chat-view.ts";
import { childName } from "./child-changes.ts";
import { Conversation } from "./conversation.ts";
import { PendingApprovals } from "./pending-approvals.ts";
import { type CommandName, helpLines, parseInput } from "./slash-commands.ts";
import type { Status } from "./terminal/status-line.ts";

export interface ChatOptions {
  api: Api;
  view: ChatView;
  me: string;
  style: Style;
  /** Output, for the width of the tree. */
  output: Output;
  reasoning: boolean;
  giveUpAfterMs?: number | undefined;
}

export class Chat {
  conversation: Conversation;
  readonly asks: PendingApprovals;
  /** The person's prompts, for Up and Down. */
  readonly history: string[] = [];
  /** Number of lines that failed. */
  mistakes = 0;
  /** True once a command was carried out. */
  hasActed = false;
  readonly #sent = new Set<string>();
  readonly #settled = new Map<string, Prompt>();
  /** A prompt from here ended by waiting, and no later turn has reported a result. */
  #isDelegated = false;
  readonly #options: ChatOptions;
  readonly #left = new AbortController();
  #following = new AbortController();
  #showsReasoning: boolean;
  /** Sessions that `/back` returns to. */
  readonly #previousSessions: Session[] = [];
  #numbers: string[] = [];
  #isStopping = false;
  #failed: (error: unknown) => void = () => {};
  readonly #failure: Promise<never>;

  constructor(session: Session, options: ChatOptions) {
    this.#options = options;
    this.#showsReasoning = options.reasoning;
    this.#failure = new Promise((_, reject) => {
      this.#failed = reject;
    });
    this.#failure.catch(() => {});
    this.conversation = this.#openConversation(session);
    this.asks = new PendingApprovals(
      options.api,
      options.view,
      options.me,
      {
        session: () => this.conversation.session,
        nameOf: (id) => {
          const child = this.conversation.childOf(id);
          return child && childName(child);
        },
      },
      { style: options.style, output: options.output },
    );
  }

  /** Runs until `leave`, or until the session cannot be followed any more. */
  async follow(): Promise<void> {
    const { api } = this.#options;
    const hints = followHints(api, (hinted) => this.#hinted(hinted), this.#left.signal);
    this.#begin();
    const left = new Promise<void>((resolve) =>
      this.#left.signal.addEventListener("abort", () => resolve()),
    );
    try {
      await Promise.race([left, this.#failure]);
    } finally {
      this.leave();
      await hints;
    }
  }

  leave(): void {
    this.#following.abort();
    this.#left.abort();
  }

  get hasLeft(): boolean {
    return this.#left.signal.aborted;
  }

  status(): Status {
    const { session, children, queue, sending, isAway } = this.conversation;
    const working = children.items.filter(({ activity }) => isWorking(activity)).length;
    const waiting = children.items.filter(({ activity }) => activity === "needs_you").length;
    return {
      name: safeLine(session.title ?? session.id),
      state: activityWords(session),
      model: session.model === null ? session.runtime : safeLine(session.model),
      working,
      waiting,
      cost: children.items.length > 0 ? children.treeCost : session.cost,
      queued: queue.length + sending.size,
      asks: this.asks.count,
      isAway,
    };
  }

  /** Pending prompts, in order. */
  waiting(): string[] {
    const { queue, sending } = this.conversation;
    return [...queue.map(({ content }) => content), ...sending.values()];
  }

  /** Outcomes of the prompts that were sent from here; undefined: still running. */
  outcomes(): (Prompt | undefined)[] {
    return [...this.#sent].map((id) => this.#outcomeOf(id));
  }

  /** True while the reply to a prompt from here is still to come. */
  get isDelegated(): boolean {
    return this.#isDelegated && this.conversation.goesOn;
  }

  #outcomeOf(id: string): Prompt | undefined {
    const prompt = this.#settled.get(id);
    return prompt && prompt.mergedInto !== null ? this.#outcomeOf(prompt.mergedInto) : prompt;
  }

  /** Handles a line that a person or a program has typed. */
  async submit(text: string): Promise<void> {
    const typed = parseInput(text);
    try {
      if (typed.type === "prompt") await this.#send(typed.text);
      else if (typed.type === "command") {
        this.hasActed = true;
        await this.#commands[typed.name](typed.rest);
      } else if (typed.type === "unknown")
        this.#mistake(`Unknown command ${typed.word}; /help lists the commands.`);
    } catch (error) {
      this.#mistake(messageOf(error));
    }
  }

  /** Handles a typed answer to an approval. */
  async answer(text: string): Promise<void> {
    try {
      await this.asks.answer(text);
    } catch (error) {
      this.#options.view.note(messageOf(error));
    }
  }

  /** Handles Ctrl-C. The first press ends the turn; true for the second, which leaves. */
  interrupt(): boolean {
    if (this.#isStopping) return true;
    this.#isStopping = true;
    void this.#stop("; Ctrl-C again leaves");
    return false;
  }

  /** Resets the first press after any other action. */
  calmDown(): void {
    this.#isStopping = false;
  }

  readonly #commands: Record<CommandName, (rest: string) => Promise<void>> = {
    help: async () => this.#options.view.print(helpLines()),
    stop: async () => this.#stop(""),
    steer: async (rest) =>
      rest === ""
        ? this.#mistake("Say what to do instead: /steer TEXT")
        : this.#send(rest, "steer"),
    clear: async () => this.#clear(),
    tree: async () => this.#showTree(),
    open: async (rest) => this.#open(rest),
    back: async () => this.#back(),
    approvals: async () => {
      await this.asks.refresh();
      this.asks.showAll();
    },
    allow: async (rest) => this.asks.decide(rest || undefined, "y"),
    always: async (rest) => this.asks.decide(rest || undefined, "always"),
    deny: async (rest) => {
      const [, id, why = ""] = /^(apr_\S+)?\s*(.*)$/s.exec(rest) ?? [];
      await this.asks.decide(id, `n ${why}`.trim());
    },
    later: async () => {
      if (!this.asks.putAside()) this.#options.view.note("Nothing needs your answer.");
    },
    reasoning: async () => {
      this.#showsReasoning = !this.#showsReasoning;
      this.#options.view.note(`Reasoning is ${this.#showsReasoning ? "shown" : "hidden"}.`);
    },
    quit: async () => this.leave(),
  };

  #mistake(text: string): void {
    this.mistakes += 1;
    this.#options.view.note(text);
  }

  #openConversation(session: Session): Conversation {
    this.#following = new AbortController();
    return new Conversation(session, {
      ...this.#options,
      showsReasoning: () => this.#showsReasoning,
      gatesChanged: () => void this.asks.refresh().catch(this.#failed),
      settled: (prompt, hasHandedOn) => {
        this.#settled.set(prompt.id, prompt);
        const goesOnWith = prompt.notice?.kind === "children";
        if (goesOnWith && this.#isDelegated) this.#sent.add(prompt.id);
        if (hasHandedOn && this.#sent.has(prompt.id)) this.#isDelegated = true;
        else if (goesOnWith) this.#isDelegated = false;
        this.#options.view.changed();
      },
      signal: this.#following.signal,
    });
  }

  #begin(): void {
    this.conversation.follow().catch(this.#failed);
    this.asks.startOver().catch(this.#failed);
  }

  #hinted(hinted: Hinted): void {
    if (hinted.type === "away") return;
    if (hinted.type === "connected") {
      void this.conversation.refresh().catch(this.#failed);
      void this.asks.refresh().catch(this.#failed);
    } else if (hinted.kind === "approval") void this.asks.refresh().catch(this.#failed);
    else if (hinted.kind === "session") this.conversation.hinted(hinted.id);
  }

  async #send(text: string, mode?: "steer"): Promise<void> {
    this.calmDown();
    if (text.trim() !== "" && this.history.at(-1) !== text) this.history.push(text);
    const prompt = await this.conversation.send(text, mode);
    if (prompt) this.#sent.add(prompt.id);
  }

  async #stop(then: string): Promise<void> {
    const { view } = this.#options;
    try {
      const what = await this.conversation.stop();
      if (what === "stopping") view.note(`Stopping the turn${then}.`);
      else if (what === "withdrawn") view.note(`Your last queued prompt is withdrawn${then}.`);
      else view.note(`No turn is running${then}.`);
    } catch (error) {
      view.note(`The turn could not be stopped: ${messageOf(error)}`);
    }
  }

  async #clear(): Promise<void> {
    await this.#options.api.again.sessions.clear({ id: this.conversation.session.id });
    this.#options.view.note("The agent starts with a fresh context. The history stays readable.");
  }

  async #showTree(): Promise<void> {
    const { api, view, style, output } = this.#options;
    const [tree] = await readTrees(api, { rootId: this.conversation.session.id, all: false });
    if (!tree) return;
    this.#numbers = rowsOf(tree).map(({ node }) => node.id);
    view.print(drawTree(tree, { columns: columnsOf(output) - 1, style, isNumbered: true }));
  }

  async #open(which: string): Promise<void> {
    if (which === "")
      return this.#mistake("Say which one: /open N, with a number from /tree, or an id.");
    if (/^\d+$/.test(which) && this.#numbers.length === 0) await this.#showTree();
    const id = /^\d+$/.test(which) ? this.#numbers[Number(which)] : which;
    if (id === undefined || which === "0")
      return this.#mistake(`There is no ${which} in the tree; /tree shows it.`);
    const from = this.conversation.session;
    await this.#goTo(id);
    this.#previousSessions.push(from);
  }

  async #back(): Promise<void> {
    const to = this.#previousSessions.pop()?.id ?? this.conversation.session.parentSessionId;
    if (to === null) return this.#options.view.note("There is no session to go back to.");
    await this.#goTo(to);
  }

  async #goTo(id: string): Promise<void> {
    const { session } = await this.#options.api.again.sessions.get({ id });
    this.#following.abort();
    this.#numbers = [];
    this.conversation = this.#openConversation(session);
    await this.welcome();
    this.#begin();
  }

  /** Shows the session and its last messages. */
  async welcome(): Promise<void> {
    const { title, id } = this.conversation.session;
    this.#options.view.begin();
    this.#options.view.note(`${title === null ? "" : `${title} · `}${id} · /help`);
    this.history.push(...(await this.conversation.showPast()));
  }
}

function isWorking(activity: string): boolean {
  return activity === "working" || activity === "recovering" || activity === "unknown";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
