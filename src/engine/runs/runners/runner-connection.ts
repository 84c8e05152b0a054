/**
 * One runner's connection on the server: answers its frames and tracks its runs. All truth is in
 * the database; the state here only counts free places and routes deltas.
 */
import { Refusal } from "#base/refusal.ts";
import type { Principal } from "#engine/requests/principal.ts";
import type { RunnerRow } from "#engine/schema.ts";
import type { Assignment, RunnerFrame, ServerFrame } from "#protocol/frames.ts";
import { Reservation } from "../claims/reservation.ts";
import { type Batch, type Journaled, journal } from "../journal/journal.ts";
import { journalInPieces } from "../journal/journal-pieces.ts";
import { freeHeldRuns, releaseRun, renewLeases } from "../leases/leases.ts";
import { listHeldBy } from "../queries.ts";
import { graceFor } from "../request-stop.ts";
import type { AssignedRun, ConnectionHost, RunnerLink } from "./connection-host.ts";
import { MachineReports } from "./machine-reports.ts";
import { answerRequest, type RunnerRequest } from "./runner-requests.ts";
import { markRunner, recordModels, registerRunner } from "./runners.ts";
import { ConsentNotifier } from "./sandbox-consent.ts";

/** Next turn of the session that settles, and that of its parent. */
const MAX_FOLLOW_UPS = 2;
/** Requests under way: some for the runner itself, and a turn's concurrent calls for each turn. */
const REQUESTS_AT_ONCE = 64;
const REQUESTS_PER_RUN = 32;

type Frame<Op extends RunnerFrame["op"]> = Extract<RunnerFrame, { op: Op }>;

export class RunnerConnection {
  readonly principal: Extract<Principal, { kind: "runner" }>;
  readonly held = new Map<string, AssignedRun>();
  /** Set as soon as the registering runner is known; `runner` is set when it has registered. */
  runnerId: string | undefined;
  runner: RunnerRow | undefined;
  draining = false;
  closed = false;
  readonly #link: RunnerLink;
  readonly #host: ConnectionHost;
  #replaced = false;
  /** Places that a search for work has reserved. */
  #reserved = 0;
  #readers: ReadonlySet<string> = new Set();
  #isReady = false;
  #acknowledges = false;
  #requests = 0;
  /** True once a register frame has come: one is allowed per connection. */
  #hasAsked = false;
  readonly #consent: ConsentNotifier;
  readonly #machine: MachineReports;

  constructor(
    principal: Extract<Principal, { kind: "runner" }>,
    link: RunnerLink,
    host: ConnectionHost,
  ) {
    this.principal = principal;
    this.#link = link;
    this.#host = host;
    this.#consent = new ConsentNotifier(host.engine, (frame) => link.send(frame));
    this.#machine = new MachineReports(host);
  }

  get free(): number {
    if (!this.runner || !this.#isReady || this.draining || this.closed) return 0;
    if (this.#link.isQuiet?.() || this.#machine.isDiskLow) return 0;
    return Math.max(0, this.runner.capacity - this.held.size - this.#reserved);
  }

  /** Reserves `most` of the free places, or all; undefined when there are none. */
  reserve(most = Number.POSITIVE_INFINITY): Reservation | undefined {
    const { runner } = this;
    const free = Math.min(this.free, most);
    if (!runner || free === 0) return undefined;
    this.#reserved += free;
    const { engine, config } = this.#host;
    const end = () => {
      this.#reserved -= free;
    };
    return new Reservation(
      { runner, free, config, readers: this.#readers },
      { engine, connection: this, end },
    );
  }

  isAlive(): Promise<boolean> {
    return this.closed ? Promise.resolve(false) : this.#link.isAlive();
  }

  assign(assignment: Assignment): void {
    const { run, fence, sessionId, thread, promptId } = assignment;
    this.held.set(run, { fence, sessionId, thread, promptId });
    if (this.#acknowledges) this.#host.engine.evidence.sent(assignment);
    this.#link.send({ op: "assign", assignment });
  }

  cancel(order: Omit<Extract<ServerFrame, { op: "cancel" }>, "op">): void {
    this.#link.send({ op: "cancel", ...order });
  }

  providersChanged(): void {
    this.#link.send({ op: "providers" });
  }

  async sendConsent(look: boolean): Promise<void> {
    if (this.runner && !this.closed) await this.#consent.send(this.runner.id, look);
  }

  tidy(): void {
    this.#link.send({ op: "tidy" });
  }

  /** Stops new work at once: a broken wire may take long to report that it is closed. */
  close(reason: string): void {
    this.closed = true;
    this.#link.close(reason);
  }

  /** Ends a connection that was not closed but has gone silent. */
  fellSilent(): void {
    this.closed = true;
    if (this.runner && !this.#replaced) this.#host.engine.evidence.fellSilent(this.runner.boot_id);
  }

  /** Ends a runner whose token was revoked: it must drop its turns, and they go to others at once. */
  async revoke(reason: string): Promise<void> {
    for (const [run, { fence }] of this.held)
      this.#link.send({ op: "lost", id: null, run, fence, code: "runner_revoked" });
    this.held.clear();
    this.close(reason);
    const { runnerId, runner } = this;
    if (runnerId !== undefined)
      await freeHeldRuns(this.#host.engine, runnerId, [], () => "runner_revoked");
    // A revoked runner may leave its wire open for as long as it likes.
    if (runner) await markRunner(this.#host.engine, runner, "offline");
  }

  /** Ends a connection whose runner has come back on another wire. */
  replace(): void {
    this.#replaced = true;
    this.close("replaced by a newer connection");
  }

  /** Handles a lost wire. The runner keeps its runs until their leases end. */
  async disconnected(): Promise<void> {
    this.closed = true;
    if (this.runner && !this.#replaced) await markRunner(this.#host.engine, this.runner, "offline");
  }

  /**
   * Answers a frame. A frame that cannot be fulfilled is refused, so that it is not sent for ever;
   * only when the store is away this rejects, and the runner sends the frame again.
   */
  async receive(frame: RunnerFrame): Promise<void> {
    try {
      await this.#receive(frame);
    } catch (error) {
      const isAway = error instanceof Refusal && error.kind === "unavailable";
      if (isAway || !("id" in frame)) throw error;
      const isRefusal = error instanceof Refusal;
      if (!isRefusal) this.#host.log.error({ err: error, op: frame.op }, "a runner frame failed");
      this.#link.send({
        op: "refused",
        id: frame.id,
        code: isRefusal ? error.code : "internal_error",
        message: isRefusal ? error.message : "The server could not do this; see its log.",
      });
    }
  }

  async #receive(frame: RunnerFrame): Promise<void> {
    if (frame.op === "register") {
      if (this.#hasAsked) return this.close("registered already");
      this.#hasAsked = true;
      return this.#register(frame);
    }
    if (!this.runner) return this.close("register first");
    if ("run" in frame) this.#confirm(frame);
    switch (frame.op) {
      case "accepted":
        return;
      case "delta":
        return this.#delta(frame);
      case "journal":
        return this.#journal(frame, this.runner);
      case "renew":
        return this.#renew(frame, this.runner);
      case "tool":
      case "history":
      case "brief":
      case "repository":
      case "blob":
      case "fetch_blob":
      case "sessions":
        return this.#answer(frame, this.runner);
      case "models":
        return this.#models(frame, this.runner);
      case "sandbox":
      case "disk":
        await this.#machine.report(this.runner, frame);
        return this.#link.send({ op: "done", id: frame.id });
      case "release":
        await releaseRun(this.#host.engine, this.runner.id, frame, frame.begun ?? true);
        this.#forget(frame.run, frame.fence);
        return this.#link.send({ op: "done", id: frame.id });
      case "drain":
        this.draining = true;
        await markRunner(this.#host.engine, this.runner, "draining");
        return this.#link.send({ op: "done", id: frame.id });
    }
  }

  async #register(frame: Frame<"register">): Promise<void> {
    const { engine } = this.#host;
    let runner: RunnerRow;
    try {
      const { protocol, bootId, profile, identity, holding, ready = true } = frame;
      const isConnected = (id: string, boot: string) => this.#host.isConnected(id, boot);
      runner = await registerRunner(engine, {
        principal: this.principal,
        protocol,
        bootId,
        profile,
        identity,
        holding,
        ready,
        isConnected,
        accepted: (id) => {
          this.runnerId = id;
          this.#host.replaceOthers(this, id);
        },
        isCurrent: () => !this.closed,
      });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#link.send({ op: "refused", id: frame.id, code: error.code, message: error.message });
      return this.close(error.code);
    }
    const mine = await engine.store.read((reader) => listHeldBy(reader, runner.id));
    const kept = mine.filter((run) =>
      frame.holding.some((ref) => ref.run === run.id && ref.fence === run.fence),
    );
    for (const { id, fence, session_id, thread, prompt_id } of kept)
      this.held.set(id, { fence, sessionId: session_id, thread, promptId: prompt_id });
    this.#readers = new Set(frame.profile.readers);
    this.#isReady = frame.ready ?? true;
    this.#acknowledges = frame.acknowledges ?? false;
    this.#machine.registered(runner, frame.profile);
    // The number of free places is known only now.
    this.runner = runner;
    if (this.closed) return this.disconnected();
    const lost = frame.holding.map((ref) => ref.run).filter((id) => !this.held.has(id));
    engine.evidence.cameBack(runner.boot_id);
    this.#link.send({
      op: "registered",
      id: frame.id,
      runnerId: runner.id,
      serverBootId: engine.serverId,
      lost,
      tools: [...this.#host.toolDefinitions],
      wantsAccepted: true,
      unsandboxed: this.#consent.note(runner),
    });
    this.#host.log.info(
      { runnerId: runner.id, name: runner.name, holding: this.held.size },
      "runner connected",
    );
    await this.#repeatOrders(runner);
    this.#host.ready();
  }

  /**
   * Repeats orders that may have been lost: cancels, which a runner that has them ignores, and a
   * consent that was taken back, also while the runner was registering.
   */
  async #repeatOrders(runner: RunnerRow): Promise<void> {
    const runs = await this.#host.engine.store.read((reader) => listHeldBy(reader, runner.id));
    for (const run of runs) {
      if (run.state !== "stopping" || run.stop_reason === null) continue;
      const reason = run.stop_reason as "stop";
      this.cancel({ run: run.id, fence: run.fence, reason, graceMs: graceFor(reason) });
    }
    await this.#consent.send(runner.id);
  }

  /** Frees the places of runs that this runner has lost without a frame from either side. */
  async recount(): Promise<void> {
    const { runner } = this;
    if (!runner) return;
    const counted = [...this.held];
    const mine = await this.#host.engine.store.read((reader) => listHeldBy(reader, runner.id));
    for (const [run, { fence }] of counted)
      if (!mine.some((row) => row.id === run && row.fence === fence)) this.#forget(run, fence);
  }

  /** Notes that an assignment has arrived; any frame of the runner about its run shows it. */
  #confirm({ run, fence }: { run: string; fence: number }): void {
    if (this.held.get(run)?.fence === fence) this.#host.engine.evidence.accepted({ run, fence });
  }

  /** Frees a place; a late frame about an earlier attempt must not free that of the present one. */
  #forget(run: string, fence: number): void {
    if (this.held.get(run)?.fence === fence) this.held.delete(run);
  }

  #delta({ run, fence, op: _op, ...piece }: Frame<"delta">): void {
    const held = this.held.get(run);
    if (held?.fence !== fence) return;
    const { sessionId, thread } = held;
    this.#host.engine.announcer.delta(sessionId, { ...piece, thread });
  }

  async #journal(frame: Frame<"journal">, runner: RunnerRow): Promise<void> {
    const { engine, policy } = this.#host;
    const { run, fence, settle, park } = frame;
    const done = await journalInPieces(
      engine,
      policy,
      { ...frame, runnerId: runner.id },
      (piece) => (settle ? this.#settleWith(piece) : journal(engine, policy, piece)),
    );
    if (settle || park || !done.ok) this.#forget(run, fence);
    this.#answerJournal(frame, done);
  }

  /** Settles, and claims the follow-ups that the end of the turn makes ready, if places are free. */
  async #settleWith(piece: Batch): Promise<Journaled> {
    const { engine, policy } = this.#host;
    const reservation = this.reserve(MAX_FOLLOW_UPS);
    try {
      const done = await journal(engine, policy, piece, reservation);
      this.#forget(piece.run, piece.fence);
      return done;
    } finally {
      await reservation?.release();
    }
  }

  /** Sent after the follow-up turns: those wait for nothing more, and this answer frees nobody. */
  #answerJournal({ id, run, settle, park }: Frame<"journal">, done: Journaled): void {
    if (done.ok) {
      const { ok: _ok, ...answer } = done;
      this.#link.send({ op: "journaled", id, run, ...answer });
    } else this.#link.send({ op: "lost", id, run, code: done.code });
    // Also when the place was filled again: others may have been passed over while they were
    // locked.
    if (settle || park || !done.ok) this.#host.ready();
  }

  async #renew({ id, runs }: Frame<"renew">, runner: RunnerRow): Promise<void> {
    // The database is asked only about runs that were assigned to this runner, once about each.
    const mine = new Map(
      runs
        .filter(({ run, fence }) => this.held.get(run)?.fence === fence)
        .map((ref) => [ref.run, ref]),
    );
    for (const ref of mine.values()) this.#confirm(ref);
    const lost = new Set(await renewLeases(this.#host.engine, runner.id, [...mine.values()]));
    for (const { run, fence } of runs) {
      if (lost.has(run)) this.#forget(run, fence);
      else if (!mine.has(run)) lost.add(run);
    }
    this.#link.send({ op: "renewed", id, lost: [...lost] });
    if (this.closed) return;
    await markRunner(this.#host.engine, runner, this.draining ? "draining" : "online");
    // The connection may have closed meanwhile, and been marked offline before this write.
    if (this.closed) return this.disconnected();
    await this.#repeatOrders(runner);
  }

  /** Requests may wait for something outside, so their number is limited per turn. */
  async #answer(frame: RunnerRequest, runner: RunnerRow): Promise<void> {
    const most = REQUESTS_AT_ONCE + REQUESTS_PER_RUN * this.held.size;
    if (this.#requests >= most)
      throw new Refusal(
        "limit",
        "too_many_requests",
        `This runner has ${most} open requests. Wait for answers, then ask again.`,
      );
    this.#requests += 1;
    try {
      const { held } = this;
      this.#link.send(await answerRequest({ host: this.#host, runner, held }, frame));
    } finally {
      this.#requests -= 1;
    }
  }

  /** Records the models; the first report makes the runner ready for work. */
  async #models({ id, models }: Frame<"models">, runner: RunnerRow): Promise<void> {
    await recordModels(this.#host.engine, runner, models);
    const isNew = !this.#isReady;
    this.#isReady = true;
    this.#link.send({ op: "done", id });
    if (isNew) this.#host.ready();
  }
}
