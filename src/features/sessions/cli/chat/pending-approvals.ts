/**
 * Pending approvals of a conversation and its children. Each is shown once; the first answer given anywhere
 * stands, and is shown here too.
 */

import {
  type ApprovalLook,
  approvalLabel,
  describeApproval,
  describeDecision,
  describeQuestion,
  isYes,
  readAnswer,
} from "#features/approvals/cli/index.ts";
import type { Approval, DecisionRequest } from "#features/approvals/contract.ts";
import type { Session } from "#protocol/sessions.ts";
import type { Api } from "#surfaces/cli/client/api.ts";
import { ServerRefusal } from "#surfaces/cli/client/server-refusal.ts";
import type { Output } from "#surfaces/cli/kit/host.ts";
import { columnsOf, exactText, type Style, safeLine } from "#surfaces/cli/kit/text/terminal.ts";
import { ApprovalReading } from "./approval-reading.ts";
import { createRefresh } from "./refresh.ts";

export interface PendingApprovalsView {
  /** Rows of the window; undefined: everything is printed at once. */
  pageRows?(): number;
  print(lines: readonly string[]): void;
  note(text: string): void;
  changed(): void;
}

export interface ApprovalScope {
  /** Session of the conversation. */
  session(): Session;
  /** Name of a session in the tree; undefined when it is unknown. */
  nameOf(sessionId: string): string | undefined;
}

export interface PendingApprovalsLook {
  style: Style;
  /** Output, for its width. */
  output: Output;
}

export class PendingApprovals {
  readonly refresh: () => Promise<void>;
  readonly #api: Api;
  readonly #view: PendingApprovalsView;
  readonly #me: string;
  readonly #scope: ApprovalScope;
  readonly #look: PendingApprovalsLook;
  #pending: Approval[] = [];
  readonly #shown = new Set<string>();
  readonly #setAside = new Set<string>();
  /** Answers to the first questions of the approval in front. */
  #answers: string[] = [];
  readonly #otherSessions = new Map<string, Session | null>();
  /** Id of the approval that was chosen ahead of the others. */
  #chosen: string | undefined;
  #reading: ApprovalReading | undefined;

  constructor(
    api: Api,
    view: PendingApprovalsView,
    me: string,
    scope: ApprovalScope,
    look: PendingApprovalsLook,
  ) {
    this.#api = api;
    this.#view = view;
    this.#me = me;
    this.#scope = scope;
    this.#look = look;
    this.refresh = createRefresh(() => this.#readPending());
  }

  get count(): number {
    return this.#pending.length;
  }

  /** Approval to answer now. */
  get front(): Approval | undefined {
    const chosen = this.#pending.find(({ id }) => id === this.#chosen);
    return chosen ?? this.#pending.find(({ id }) => !this.#setAside.has(id));
  }

  /** True while part of the approval was not shown yet. */
  get hasMore(): boolean {
    return this.#reading?.hasMore === true && this.#reading.id === this.front?.id;
  }

  get label(): string | undefined {
    const { front } = this;
    if (this.hasMore) return this.#reading?.label;
    return front && approvalLabel(front, this.#answers.length);
  }

  /**
   * Names the approval in the input's label: an agent that goes on writing could print something that looks
   * like another question below the real one.
   */
  get summary(): string | undefined {
    const { front } = this;
    if (front?.kind !== "approval") return undefined;
    const { tool, target } = front;
    return safeLine(exactText(target === null ? tool : `${tool}: ${target}`));
  }

  putAside(): boolean {
    const { front } = this;
    if (!front) return false;
    this.#setAside.add(front.id);
    this.#chosen = undefined;
    this.#answers = [];
    this.#showFront();
    return true;
  }

  /** Shows all pending approvals again, also those that were set aside. */
  showAll(): void {
    this.#setAside.clear();
    this.#answers = [];
    if (this.#pending.length === 0) this.#view.note("Nothing needs your answer.");
    for (const approval of this.#pending) this.#show(approval);
    this.#view.changed();
  }

  /** Resets the state for another conversation. */
  async startOver(): Promise<void> {
    this.#pending = [];
    this.#chosen = undefined;
    this.#reading = undefined;
    this.#shown.clear();
    this.#answers = [];
    await this.refresh();
  }

  /** Applies a typed answer to the approval in front. */
  async answer(text: string): Promise<void> {
    const { front } = this;
    if (!front) return;
    if (this.hasMore && /^(|all)$/i.test(text.trim()))
      return this.#showNextRows(text.trim() !== "");
    const heard = this.#countedAnswer(front, text);
    if (heard === undefined) return;
    const answer = readAnswer(front, this.#answers, heard);
    if (answer.type === "unclear") return this.#view.note(answer.how);
    if (answer.type === "next") {
      this.#answers = answer.answers;
      this.#begin(front, describeQuestion(front, this.#answers.length, this.#askLook()));
      return this.#view.changed();
    }
    await this.#send(front, answer.body);
  }

  /** Shows the next page of the approval, or all that is left. */
  #showNextRows(isAll: boolean): void {
    const reading = this.#reading;
    if (!reading) return;
    this.#view.print(isAll ? reading.skim() : reading.nextPage(this.#pageRows()));
    this.#view.changed();
  }

  /** Returns a typed answer that counts; undefined for an allow before everything was shown. */
  #countedAnswer(approval: Approval, text: string): string | undefined {
    const reading = this.#reading;
    if (!this.#view.pageRows || !(approval.kind === "question" || isYes(text))) return text;
    if (reading?.id !== approval.id || this.#columns() < reading.columns) {
      this.#view.note("The window has changed, so here it is again. Answer it now.");
      this.#show(approval);
      this.#view.changed();
      return undefined;
    }
    if (approval.kind === "question" && !reading.hasMore) return text;
    const judged = reading.judgeYes(text);
    if ("text" in judged) return judged.text;
    this.#view.note(judged.how);
    return undefined;
  }

  /** Decides by command: `/allow`, `/always`, `/deny`. */
  async decide(id: string | undefined, text: string): Promise<void> {
    const approval = id === undefined ? this.front : this.#pending.find((known) => known.id === id);
    if (!approval) {
      this.#view.note(id === undefined ? "Nothing needs your answer." : `${id} is not pending.`);
      return;
    }
    if (approval.id !== this.front?.id && this.#view.pageRows && isYes(text)) {
      this.#chosen = approval.id;
      this.#answers = [];
      this.#show(approval);
      this.#view.note("This is the one. Read it, then answer.");
      return this.#view.changed();
    }
    const heard = this.#countedAnswer(approval, text);
    if (heard === undefined) return;
    const answer = readAnswer(approval, [], heard);
    if (answer.type === "send") await this.#send(approval, answer.body);
    else this.#view.note(answer.type === "unclear" ? answer.how : "Answer it where it is shown.");
  }

  async #send({ id }: Approval, body: DecisionRequest): Promise<void> {
    try {
      await this.#api.again.approvals.decide({ id, body });
    } catch (error) {
      const isOver = error instanceof ServerRefusal && error.status === 409;
      if (!isOver) {
        this.#answers = [];
        throw error;
      }
    }
    await this.refresh();
  }

  async #readPending(): Promise<void> {
    const query = { state: "pending" } as const;
    const all = await this.#api.listAll(this.#api.approvals.list, { query });
    const ours: Approval[] = [];
    for (const approval of all) if (await this.#isOurs(approval)) ours.push(approval);
    const gone = this.#pending.filter(({ id }) => !ours.some((approval) => approval.id === id));
    const wasFront = this.front?.id;
    this.#pending = ours.toSorted((a, b) => a.askedAt.localeCompare(b.askedAt));
    for (const { id } of gone) await this.#showOutcome(id);
    if (this.front?.id !== wasFront) this.#answers = [];
    this.#showFront();
  }

  async #showOutcome(id: string): Promise<void> {
    if (!this.#shown.has(id)) return;
    const { approval } = await this.#api.again.approvals.get({ id });
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
    const look = this.#askLook();
    this.#begin(approval, [
      ...describeApproval(approval, this.#whoOf(approval), look),
      ...describeQuestion(approval, 0, look),
      look.style.dim(`  ${approval.id}`),
    ]);
  }

  /** Prints as much as fits; the rest follows on request. */
  #begin(approval: Approval, rows: readonly string[]): void {
    const reading = new ApprovalReading(approval.id, rows, this.#columns());
    if (approval.id === this.front?.id) this.#reading = reading;
    this.#view.print(this.#view.pageRows ? reading.nextPage(this.#pageRows()) : rows);
    if (reading.hasMore && this.#view.pageRows && approval.id !== this.front?.id)
      this.#view.note(`${approval.id} is longer: /allow ${approval.id} shows all of it.`);
  }

  #pageRows(): number {
    return this.#view.pageRows?.() ?? Number.POSITIVE_INFINITY;
  }

  #columns(): number {
    return columnsOf(this.#look.output) - 1;
  }

  #askLook(): ApprovalLook {
    return { style: this.#look.style, columns: this.#columns() };
  }

  #whoOf({ sessionId }: Approval): string | null {
    return sessionId === this.#scope.session().id
      ? null
      : (this.#scope.nameOf(sessionId) ?? this.#otherSessions.get(sessionId)?.title ?? sessionId);
  }

  /** True for an approval of the conversation itself, of a child, or further down the same tree. */
  async #isOurs({ sessionId }: Approval): Promise<boolean> {
    const { id, rootSessionId, depth } = this.#scope.session();
    if (sessionId === id || this.#scope.nameOf(sessionId) !== undefined) return true;
    if (!this.#otherSessions.has(sessionId)) {
      const found = await this.#api.sessions.get({ id: sessionId }).catch(() => undefined);
      this.#otherSessions.set(sessionId, found?.session ?? null);
    }
    const stranger = this.#otherSessions.get(sessionId);
    return stranger?.rootSessionId === rootSessionId && stranger.depth > depth;
  }
}
