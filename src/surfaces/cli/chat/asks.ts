/**
 * What waits for the person's answer in a conversation and among its children. Each is shown once; the
 * first answer given anywhere stands, and is told here too.
 */
import type { Approval } from "#features/approvals/contract.ts";
import type { Session } from "#protocol/sessions.ts";
import type { Api } from "../client/api.ts";
import { ServerRefusal } from "../client/server-refusal.ts";
import { approvalPath } from "../commands/approvals-decide.ts";
import { sessionPath } from "../commands/session-path.ts";
import type { Style } from "../terminal.ts";
import { askLabel, describeAsk, describeDecision, describeQuestion, readAnswer } from "./ask.ts";
import { createRefresh } from "./refresh.ts";

export interface AsksView {
  print(lines: readonly string[]): void;
  note(text: string): void;
  changed(): void;
}

export interface AskScope {
  /** The session that is talked with. */
  session(): Session;
  /** What a session of the tree is called; undefined when it is not known. */
  nameOf(sessionId: string): string | undefined;
}

export class Asks {
  readonly refresh: () => Promise<void>;
  readonly #api: Api;
  readonly #view: AsksView;
  readonly #me: string;
  readonly #scope: AskScope;
  readonly #style: Style;
  #pending: Approval[] = [];
  readonly #shown = new Set<string>();
  readonly #aside = new Set<string>();
  /** Answers to the first questions of the one in front. */
  #answers: string[] = [];
  readonly #strangers = new Map<string, Session | null>();

  constructor(api: Api, view: AsksView, me: string, scope: AskScope, style: Style) {
    this.#api = api;
    this.#view = view;
    this.#me = me;
    this.#scope = scope;
    this.#style = style;
    this.refresh = createRefresh(() => this.#look());
  }

  get count(): number {
    return this.#pending.length;
  }

  /** What is to be answered now. */
  get front(): Approval | undefined {
    return this.#pending.find(({ id }) => !this.#aside.has(id));
  }

  get label(): string | undefined {
    const { front } = this;
    return front && askLabel(front, this.#answers.length);
  }

  putAside(): boolean {
    const { front } = this;
    if (!front) return false;
    this.#aside.add(front.id);
    this.#answers = [];
    this.#showFront();
    return true;
  }

  /** Everything that waits is shown again, and what was put aside is to be answered again. */
  showAll(): void {
    this.#aside.clear();
    this.#answers = [];
    if (this.#pending.length === 0) this.#view.note("Nothing waits for you.");
    for (const approval of this.#pending) this.#show(approval);
    this.#view.changed();
  }

  /** Another conversation begins: what waits is looked at with other eyes. */
  async startOver(): Promise<void> {
    this.#pending = [];
    this.#shown.clear();
    this.#answers = [];
    await this.refresh();
  }

  /** A typed answer to the one in front. */
  async answer(text: string): Promise<void> {
    const { front } = this;
    if (!front) return;
    const answer = readAnswer(front, this.#answers, text);
    if (answer.type === "unclear") return this.#view.note(answer.how);
    if (answer.type === "next") {
      this.#answers = answer.answers;
      this.#view.print(describeQuestion(front, this.#answers.length, this.#style));
      return this.#view.changed();
    }
    await this.#send(front, answer.body);
  }

  /** By name: `/allow`, `/always`, `/deny`. */
  async decide(id: string | undefined, text: string): Promise<void> {
    const approval = id === undefined ? this.front : this.#pending.find((known) => known.id === id);
    if (!approval) {
      this.#view.note(id === undefined ? "Nothing waits for you." : `${id} does not wait.`);
      return;
    }
    const answer = readAnswer(approval, [], text);
    if (answer.type === "send") await this.#send(approval, answer.body);
    else this.#view.note(answer.type === "unclear" ? answer.how : "Answer it where it is asked.");
  }

  async #send(approval: Approval, body: object): Promise<void> {
    try {
      await this.#api.callAgain(approvalPath(approval.id), { method: "POST", body });
    } catch (error) {
      const isOver = error instanceof ServerRefusal && error.status === 409;
      if (!isOver) {
        this.#answers = [];
        throw error;
      }
    }
    await this.refresh();
  }

  async #look(): Promise<void> {
    const all = await this.#api.listAll<Approval>("/api/approvals", { state: "pending" });
    const ours: Approval[] = [];
    for (const approval of all) if (await this.#isOurs(approval)) ours.push(approval);
    const gone = this.#pending.filter(({ id }) => !ours.some((approval) => approval.id === id));
    const wasFront = this.front?.id;
    this.#pending = ours.toSorted((a, b) => a.askedAt.localeCompare(b.askedAt));
    for (const { id } of gone) await this.#tellOutcome(id);
    if (this.front?.id !== wasFront) this.#answers = [];
    this.#showFront();
  }

  async #tellOutcome(id: string): Promise<void> {
    if (!this.#shown.has(id)) return;
    const { approval } = await this.#api.callAgain<{ approval: Approval }>(approvalPath(id));
    const who = this.#whoOf(approval);
    this.#view.note(`${who === null ? "" : `${who}: `}${describeDecision(approval, this.#me)}`);
  }

  #showFront(): void {
    const { front } = this;
    if (front && !this.#shown.has(front.id)) this.#show(front);
    this.#view.changed();
  }

  #show(approval: Approval): void {
    this.#shown.add(approval.id);
    this.#view.print([
      ...describeAsk(approval, this.#whoOf(approval), this.#style),
      ...describeQuestion(approval, 0, this.#style),
      this.#style.dim(`  ${approval.id}`),
    ]);
  }

  #whoOf({ sessionId }: Approval): string | null {
    return sessionId === this.#scope.session().id
      ? null
      : (this.#scope.nameOf(sessionId) ?? this.#strangers.get(sessionId)?.title ?? sessionId);
  }

  /** Asked by the conversation itself, by a child, or further down the same tree. */
  async #isOurs({ sessionId }: Approval): Promise<boolean> {
    const { id, rootSessionId, depth } = this.#scope.session();
    if (sessionId === id || this.#scope.nameOf(sessionId) !== undefined) return true;
    if (!this.#strangers.has(sessionId)) {
      const found = await this.#api
        .call<{ session: Session }>(sessionPath(sessionId))
        .catch(() => undefined);
      this.#strangers.set(sessionId, found?.session ?? null);
    }
    const stranger = this.#strangers.get(sessionId);
    return stranger?.rootSessionId === rootSessionId && stranger.depth > depth;
  }
}
