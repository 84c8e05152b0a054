/**
 * The oracle: checks the database after every commit, and every message to an actor, and stops the
 * simulation when something impossible happened.
 */
import type { Tx } from "#base/store/index.ts";
import type { EventRow, GateRow, PromptRow, RunRow, SessionRow } from "#engine/schema.ts";
import type { Assignment, HistoryItem } from "#protocol/frames.ts";
import { LEASE_MS } from "#protocol/frames.ts";
import type { Verdict } from "#protocol/sessions.ts";
import { type Call, judgedCalls } from "../judging.ts";
import type { RunnerProcess } from "../runner/runner-process.ts";
import type { World } from "../world.ts";
import { decisionsText } from "./call-reader.ts";
import { createLogReader } from "./log-reader.ts";
import { Losses } from "./losses.ts";
import { isOrchestrator, Model, must, type RunModel } from "./model.ts";
import { createRowChecks } from "./row-checks.ts";

/** Time from the end of a lease until the run is taken away: a sweep, and a slow store. */
const TAKEOVER_SLACK_MS = 10_000;
const ARCHIVE_KEPT_MS = 7 * 24 * 3_600_000;

interface Effect {
  token: string;
  prompt_id: string;
  call_id: string;
  run_id: string;
  fence: number;
  boot: string;
}

interface Change {
  kind: string;
  what: string;
  id: string;
  session_id: string;
}

export class Oracle {
  readonly model = new Model();
  readonly losses: Losses;
  readonly deliveries = new Map<string, number>();
  /** Contents that someone asked to put in a prompt's place. */
  readonly #wishes = new Map<string, Set<string>>();
  /** Decisions that some runner has received as news. */
  readonly #news = new Set<string>();
  readonly #world: World;
  readonly #log: ReturnType<typeof createLogReader>;
  readonly #rows: ReturnType<typeof createRowChecks>;
  commits = 0;
  /** No lease may end by the clock before this (steady) instant. */
  graceUntil = 0;

  constructor(world: World) {
    this.#world = world;
    this.losses = new Losses(world);
    this.#log = createLogReader(world, this.model);
    this.#rows = createRowChecks(world, this.model);
  }

  async committed(): Promise<void> {
    this.commits += 1;
    await this.guard(() =>
      this.#world.real.transaction(async (tx) => {
        const changes = await tx.query<Change>({
          sql: "select kind, what, id, session_id from sim_changes",
          parameters: [],
        });
        if (changes.length === 0) return;
        await tx.execute({ sql: "delete from sim_changes", parameters: [] });
        for (const id of new Set(changes.map((change) => change.session_id)))
          await this.#session(
            tx,
            id,
            changes.filter((change) => change.session_id === id),
          );
      }),
    );
  }

  /** A failed check stops everything, whoever caused it. */
  async guard(check: () => unknown): Promise<void> {
    try {
      await check();
    } catch (error) {
      this.#world.scheduler.fail(error);
    }
  }

  async #session(tx: Tx, id: string, changes: readonly Change[]): Promise<void> {
    for (const { kind, what, id: rowId } of changes) {
      must(kind !== "outbox", () => `outbox row ${rowId} was ${what}`);
      if (kind === "runs" && what === "delete") this.#runDeleted(rowId, id, changes);
    }
    const [row] = await select<SessionRow>(tx, "sessions", "id", [id]);
    if (!row) return this.#purged(id);
    const prompts = await changed<PromptRow>(tx, "prompts", changes);
    const runs = await changed<RunRow>(tx, "runs", changes);
    const session = this.#sessionModel(row);
    const events = await tx.query<EventRow>({
      sql: "select * from events where session_id = ? and seq > ? order by seq",
      parameters: [id, session.lastSeq],
    });
    const edited = new Set<string>();
    for (const gate of (await changed<GateRow>(tx, "gates", changes)).values())
      this.#rows.gateRow(gate);
    for (const event of events) await this.#log.read({ tx, session, prompts, runs, edited }, event);
    must(
      session.lastSeq === row.last_seq,
      () => `session ${id}: ${row.last_seq} is not its last seq`,
    );
    session.lifecycle = row.lifecycle;
    session.archivedAt = row.archived_at;
    session.waiting = row.waiting;
    session.updatedAt = row.updated_at;
    await this.#effects(tx, changes);
    for (const prompt of prompts.values()) this.#rows.promptRow(prompt, edited);
    for (const run of runs.values()) this.#rows.runRow(run);
    const unsettled = await this.#rows.session(tx, row);
    for (const { id: promptId, state } of unsettled)
      if (state === "queued") this.#log.queued.add(promptId);
      else this.#log.queued.delete(promptId);
  }

  #sessionModel(row: SessionRow) {
    const known = this.model.sessions.get(row.id);
    if (known) return known;
    const session = {
      id: row.id,
      ownerId: row.owner_id,
      parentId: row.parent_session_id,
      isExclusive: row.exclusive === 1,
      lifecycle: row.lifecycle,
      archivedAt: null,
      lastSeq: 0,
      arrivals: 0,
      waiting: 0,
      updatedAt: row.updated_at,
      isSentToSleep: false,
      keeper: null,
      keepers: new Set<string>(),
    };
    this.model.sessions.set(row.id, session);
    return session;
  }

  async #effects(tx: Tx, changes: readonly Change[]): Promise<void> {
    const tokens = changes.filter(({ kind }) => kind === "effects").map((change) => change.id);
    if (tokens.length === 0) return;
    for (const effect of await select<Effect>(tx, "sim_effects", "token", tokens))
      this.#effect(effect);
  }

  /** An effect of a server tool: once for each call, and only by the holder of the run. */
  #effect({ token, prompt_id: promptId, call_id: callId, run_id: runId, fence, boot }: Effect) {
    const key = `${promptId}/${callId}`;
    must(!this.model.effects.has(key), () => `${key} was performed twice`);
    this.model.effects.set(key, token);
    const run = this.model.run(runId);
    const host = this.#world.hosts.find(({ runnerId }) => runnerId === run.runnerId);
    const isTheirs = boot.startsWith(`${host?.profile.name}-`);
    must(
      run.isHeld && run.fence === fence && isTheirs,
      () => `${key} was performed for ${boot} under #${fence}; ${run.runnerId} holds #${run.fence}`,
    );
  }

  /** Only a run that was never claimed may be deleted. */
  #runDeleted(runId: string, sessionId: string, changes: readonly Change[]): void {
    const isPurge = changes.some(
      (change) => change.kind === "sessions" && change.what === "delete",
    );
    must(
      isPurge || !this.model.runs.has(runId),
      () => `run ${runId} of ${sessionId} was deleted after it had been claimed`,
    );
  }

  #purged(id: string): void {
    const session = this.model.sessions.get(id);
    const keptMs = this.#world.clock.now() - (session?.archivedAt ?? Number.POSITIVE_INFINITY);
    must(session && keptMs >= ARCHIVE_KEPT_MS, () => `session ${id} was deleted too early`);
    this.model.purged.add(id);
    this.model.sessions.delete(id);
    for (const child of this.model.sessions.values())
      if (child.parentId === id) child.parentId = null;
    for (const prompt of this.model.promptsOf(id)) {
      this.model.prompts.delete(prompt.id);
      this.model.purged.add(prompt.id);
      this.model.runs.delete(prompt.runId);
    }
    for (const gate of [...this.model.gates.values()])
      if (gate.session_id === id) this.model.gates.delete(gate.id);
  }

  // Messages to actors

  wish(promptId: string, content: string): void {
    const known = this.#wishes.get(promptId) ?? new Set();
    this.#wishes.set(promptId, known.add(content));
  }

  mayRead(promptId: string, content: string): boolean {
    return this.#wishes.get(promptId)?.has(content) === true;
  }

  delivered(causeKey: string): void {
    this.deliveries.set(causeKey, (this.deliveries.get(causeKey) ?? 0) + 1);
  }

  /** Records that someone was told this prompt is accepted. */
  acknowledged(promptId: string): void {
    void this.guard(() =>
      must(
        this.model.prompts.has(promptId) || this.model.purged.has(promptId),
        () => `prompt ${promptId} was acknowledged and does not exist`,
      ),
    );
  }

  assigned(runner: RunnerProcess, assignment: Assignment): void {
    void this.guard(() => {
      const run = this.model.run(assignment.run);
      this.#hearNews(assignment);
      this.model.heard.add(`${assignment.run}#${assignment.fence}`);
      // Sent too late: the runner knows that its lease is over, and does nothing.
      if (runner.believes(run.id) === undefined) return;
      const what = `${assignment.run}#${assignment.fence}, given to ${runner.bootId}`;
      for (const host of this.#world.hosts) {
        if (host.process === runner) continue;
        const believed = host.process?.believes(run.id);
        must(
          believed === undefined || this.losses.mayStillBelieve(run.id, believed),
          () => `${what}: ${host.process?.bootId} may write too`,
        );
      }
      if (run.fence === assignment.fence && run.journaled === 0)
        this.#continues(what, run, assignment);
    });
  }

  /** A decision is news to one attempt only: the allowed call is made at most once. */
  #hearNews({ promptId, decisions }: Assignment): void {
    for (const { callId, fresh } of decisions) {
      const key = `${promptId}/${callId}`;
      must(!fresh || !this.#news.has(key), () => `the decision on ${key} was news twice`);
      if (fresh) this.#news.add(key);
    }
  }

  /** A turn continues exactly where it was left. */
  #continues(what: string, run: RunModel, assignment: Assignment): void {
    const prompt = this.model.prompt(assignment.promptId);
    must(assignment.content === prompt.content, () => `${what}: wrong words`);
    const entries = assignment.journal.map((item) => item.entryId);
    must(
      JSON.stringify(entries) === JSON.stringify(prompt.entries),
      () => `${what}: continues after ${entries.length} of ${prompt.entries.length} entries`,
    );
    const told = decisionsText(assignment.decisions);
    must(told === run.decisions, () => `${what}: told ${told}, not ${run.decisions}`);
    for (const { callId, verdict } of judgedCalls(assignment.journal))
      must(
        JSON.stringify(verdict) === prompt.verdicts.get(callId),
        () => `${what}: ${callId} comes with the verdict ${verdict?.verdict}`,
      );
  }

  readHistory(assignment: Assignment, items: readonly HistoryItem[]): void {
    void this.guard(() => {
      const said = new Set(
        this.model
          .promptsOf(assignment.sessionId)
          .filter((prompt) => prompt.isStarted)
          .map((prompt) => prompt.content),
      );
      for (const { item } of items)
        if (item.type === "prompt")
          must(
            said.has(item.text),
            () => `history of ${assignment.run} shows what has not been said`,
          );
    });
  }

  toldLost(runner: RunnerProcess, runId: string, fence: number, code: string): void {
    if (code === "ordinal_gap") return;
    const run = this.model.runs.get(runId);
    const isHeld = run?.isHeld && run.fence === fence && run.runnerId === runner.host.runnerId;
    void this.guard(() =>
      must(
        !isHeld,
        () => `${runner.bootId} was told that it lost ${runId}#${fence}, which it holds`,
      ),
    );
  }

  settleAcknowledged(runId: string, fence: number): void {
    const run = this.model.runs.get(runId);
    void this.guard(() =>
      must(
        !run || run.isSettled,
        () => `the end of ${runId}#${fence} was acknowledged and is not kept`,
      ),
    );
  }

  parkAcknowledged({ bootId, wire }: RunnerProcess, runId: string, fence: number): void {
    const run = this.model.runs.get(runId);
    const place = wire?.connection.held.get(runId);
    void this.guard(() => {
      must(
        !run?.isHeld || run.fence !== fence,
        () => `the park of ${runId}#${fence} was acknowledged, and it is still held`,
      );
      must(place?.fence !== fence, () => `${runId}#${fence} is parked and keeps ${bootId} busy`);
    });
  }

  /** Every judged call gets a verdict, the same each time. */
  verdictsTold(
    promptId: string,
    calls: readonly Call[],
    verdicts: Readonly<Record<string, Verdict>>,
  ): void {
    void this.guard(() => {
      const prompt = this.model.prompts.get(promptId);
      if (!prompt) return;
      for (const { callId } of calls) {
        const told = JSON.stringify(verdicts[callId]);
        const kept = prompt.verdicts.get(callId);
        must(told === kept, () => `${promptId}: ${callId} was judged ${kept}, and ${told} is told`);
      }
    });
  }

  effectTold(promptId: string, callId: string, token: string | null, isRefused: boolean): void {
    void this.guard(() => {
      const kept = this.model.effects.get(`${promptId}/${callId}`) ?? null;
      must(
        token === kept && isRefused === (kept === null),
        () => `${promptId}/${callId} did ${kept}, and ${token} is told`,
      );
    });
  }

  /** A runner may delete files only when no session will come back to them. */
  filesAreGone(runnerId: string, sessions: readonly string[]): void {
    void this.guard(() => {
      for (const id of sessions) {
        const session = this.model.sessions.get(id);
        const isElsewhere = session && [...session.keepers].some((keeper) => keeper !== runnerId);
        const isLeft = session?.keepers.has(runnerId) && session.keeper !== runnerId;
        // The log reader checks that these do not come back.
        const isEnded = session?.lifecycle === "terminated" && !isOrchestrator(id);
        must(
          !session || isElsewhere || isLeft || isEnded,
          () => `${runnerId} is to throw away the files of ${id}`,
        );
      }
    });
  }

  /** Leases end in time, whatever the clock did. */
  checkLeases(): void {
    const { scheduler, server } = this.#world;
    if (!server.isUp) return;
    for (const run of this.model.runs.values()) {
      if (!run.isHeld) continue;
      const sinceMs = scheduler.now - Math.max(run.renewedAt, this.graceUntil);
      must(
        sinceMs <= LEASE_MS + TAKEOVER_SLACK_MS,
        () => `run ${run.id}#${run.fence} is held by ${run.runnerId}, unheard of for ${sinceMs} ms`,
      );
    }
  }
}

async function select<Row>(
  tx: Tx,
  table: string,
  column: string,
  values: readonly string[],
): Promise<Row[]> {
  const marks = values.map(() => "?").join(", ");
  return tx.query<Row>({
    sql: `select * from ${table} where ${column} in (${marks})`,
    parameters: values,
  });
}

async function changed<Row extends { id: string }>(
  tx: Tx,
  table: string,
  changes: readonly Change[],
): Promise<Map<string, Row>> {
  const ids = new Set(changes.filter((change) => change.kind === table).map((change) => change.id));
  if (ids.size === 0) return new Map();
  const rows = await select<Row>(tx, table, "id", [...ids]);
  return new Map(rows.map((row) => [row.id, row]));
}
