/**
 * One runner process that follows the protocol: it works only while the server is known to hold its
 * leases, keeps unacknowledged items and sends them again, and releases runs in time. Now and then
 * it also sends what a confused runner would.
 */
import type { JournalItem } from "#protocol/events.ts";
import {
  type Assignment,
  LEASE_MS,
  RENEW_EVERY_MS,
  RUNNER_PROTOCOL,
  type RunnerFrame,
  type ServerFrame,
} from "#protocol/frames.ts";
import { EFFECT_TOOL } from "../judging.ts";
import { must } from "../oracle/model.ts";
import type { World } from "../world.ts";
import { type Ask, HeldTurn, mark } from "./held-turn.ts";
import type { RunnerHost } from "./runner-host.ts";
import { Wire } from "./wire.ts";

const TICK_MS = 1_000;
const PING_EVERY_MS = 5_000;
const ANSWER_WITHIN_MS = 20_000;

/** A run that the process held earlier, with data for late frames about it. */
interface GoneRun extends RunRef {
  /** A call that was journaled and has no result. */
  callId: string | undefined;
}

interface RunRef {
  run: string;
  fence: number;
}

type JournalFrame = Extract<RunnerFrame, { op: "journal" }>;

export class RunnerProcess {
  readonly host: RunnerHost;
  readonly bootId: string;
  readonly held = new Map<string, HeldTurn>();
  isUp = true;
  isDraining = false;
  isRegistered = false;
  knowsModels = true;
  wire: Wire | undefined;
  readonly #world: World;
  readonly #asked = new Map<string, Ask>();
  readonly #renewals = new Map<string, { sentAt: number; refs: RunRef[] }>();
  /** Runs it had to release: a confused runner writes to them. */
  readonly #gone: GoneRun[] = [];
  #lastId = 0;
  #renewAt = 0;
  #pingAt = 0;
  #connectAt = 0;
  #leaveAt = Number.POSITIVE_INFINITY;

  constructor(world: World, host: RunnerHost, bootId: string) {
    this.#world = world;
    this.host = host;
    this.bootId = bootId;
    this.#tick();
  }

  get world(): World {
    return this.#world;
  }

  // Lifecycle

  crash(): void {
    this.isUp = false;
    this.held.clear();
    this.wire?.runnerGone();
    this.wire = undefined;
  }

  /** Takes no more work, lets turns end for a while, gives the rest back, and exits. */
  drain(): void {
    if (this.isDraining || !this.isRegistered) return;
    this.isDraining = true;
    this.#leaveAt = this.#world.scheduler.now + this.#world.random.between(0, 5_000);
    this.send({ op: "drain", id: this.nextId() });
  }

  #leave(): void {
    if (this.held.size === 0) {
      this.#world.note(`runner ${this.bootId} leaves`);
      this.crash();
      return;
    }
    for (const turn of [...this.held.values()]) {
      this.abandon(turn);
      this.send({ op: "release", id: this.nextId(), run: turn.run, fence: turn.fence });
    }
  }

  #tick(): void {
    if (!this.isUp) return;
    const { scheduler, server } = this.#world;
    const { now } = scheduler;
    for (const turn of [...this.held.values()]) if (now >= turn.expiresAt) this.abandon(turn);
    if (!this.wire?.isOpen) {
      if (now >= this.#connectAt && server.isUp) this.#connect();
    } else if (this.isRegistered) this.#tend(this.wire, now);
    scheduler.after(TICK_MS, () => this.#tick());
  }

  #tend(wire: Wire, now: number): void {
    const { random, odds, calm } = this.#world;
    if (now >= this.#pingAt) {
      this.#pingAt = now + PING_EVERY_MS;
      wire.ping();
    }
    if (now >= this.#renewAt && this.held.size > 0) this.#renew();
    for (const [id, ask] of this.#asked)
      if (now - ask.sentAt > ANSWER_WITHIN_MS) this.#unanswered(id);
    if (now >= this.#leaveAt) this.#leave();
    if (!calm && random.chance(odds.misbehaves)) this.#misbehave(random.find(this.#gone));
  }

  /** A request without an answer means that the wire is broken. */
  #unanswered(id: string): void {
    this.#asked.delete(id);
    const { wire } = this;
    if (!wire) return;
    wire.runnerGone();
    this.disconnected(wire);
  }

  // The wire

  #connect(): void {
    const { server, random, scheduler } = this.#world;
    this.#connectAt = scheduler.now + random.between(500, 3_000);
    this.isRegistered = false;
    const wire = new Wire(this.#world, server, this);
    this.wire = wire;
    this.send({
      op: "register",
      id: this.nextId(),
      protocol: RUNNER_PROTOCOL,
      bootId: this.bootId,
      profile: this.host.profile,
      holding: this.#refs(),
      ...(this.host.acknowledges ? { acknowledges: true, ready: false } : {}),
    });
  }

  /** The next frame of either side is lost, and neither side knows. */
  loseWire(): void {
    const { wire } = this;
    const { random, scheduler } = this.#world;
    scheduler.after(random.between(0, 30), () => {
      if (!this.#world.calm) wire?.cut();
    });
  }

  disconnected(wire: Wire): void {
    if (this.wire !== wire) return;
    this.wire = undefined;
    this.isRegistered = false;
    this.#asked.clear();
    this.#renewals.clear();
    for (const turn of this.held.values()) turn.disconnected();
    this.#connectAt = this.#world.scheduler.now + this.#world.random.between(50, 1_500);
  }

  nextId(): string {
    this.#lastId += 1;
    return `${this.bootId}.${this.#lastId}`;
  }

  send(frame: RunnerFrame): void {
    if (this.isUp) this.wire?.toServer(frame);
  }

  ask(frame: Extract<RunnerFrame, { run: string; id: string }>, turn: HeldTurn): void {
    this.#asked.set(frame.id, { turn, frame, sentAt: this.#world.scheduler.now });
    this.send(frame);
  }

  receive(wire: Wire, frame: ServerFrame): void {
    if (wire !== this.wire) return;
    switch (frame.op) {
      case "registered":
        this.#registered(frame.lost);
        return;
      case "assign":
        this.#assigned(frame.assignment);
        return;
      case "renewed":
        this.#renewed(frame.id, frame.lost);
        return;
      case "cancel": {
        const turn = this.held.get(frame.run);
        if (turn?.fence === frame.fence) turn.cancel(frame.reason, frame.graceMs);
        return;
      }
      case "refused":
      case "done":
      case "blob":
      case "brief":
      case "repository":
      case "sandbox":
        return;
      case "tidy":
      case "providers":
        this.#askAboutFiles();
        return;
      case "sessions":
        this.#world.oracle.filesAreGone(this.host.runnerId, frame.gone);
        for (const id of frame.gone) this.host.kept.delete(id);
        return;
      case "lost":
        if (frame.id === null) this.#takenAway(frame.run, frame.fence);
        else this.#answered(frame);
        return;
      default:
        this.#answered(frame);
        return;
    }
  }

  /** The server reports that a run no longer belongs to this runner. */
  #takenAway(run: string, fence: number | undefined): void {
    const turn = this.held.get(run);
    if (turn && turn.fence === fence) this.abandon(turn);
  }

  #answered(
    frame: Extract<ServerFrame, { op: "journaled" | "lost" | "tool_result" | "history" }>,
  ): void {
    const ask = frame.id === null ? undefined : this.#asked.get(frame.id);
    if (!ask || frame.id === null) return;
    this.#asked.delete(frame.id);
    const { turn } = ask;
    if (frame.op === "lost") {
      this.#world.oracle.toldLost(this, turn.run, turn.fence, frame.code);
      this.abandon(turn);
      return;
    }
    if (this.held.get(turn.run) === turn) turn.answered(frame, ask);
  }

  #registered(lost: readonly string[]): void {
    this.isRegistered = true;
    this.#findModels();
    for (const run of lost) {
      const turn = this.held.get(run);
      if (turn) this.abandon(turn);
    }
    if (this.held.size > 0) this.#renew();
    for (const turn of this.held.values()) turn.reconnected();
    if (this.isDraining) this.send({ op: "drain", id: this.nextId() });
    this.#askAboutFiles();
  }

  /** Finding its models takes a while; until then it must be assigned nothing. */
  #findModels(): void {
    if (!this.host.acknowledges) return;
    const { wire } = this;
    const { random, scheduler, calm } = this.#world;
    this.knowsModels = false;
    scheduler.after(calm ? 1 : random.skewed(0, 3_000), () => {
      if (this.wire !== wire || !this.isUp) return;
      this.knowsModels = true;
      this.send({ op: "models", id: this.nextId(), models: [] });
    });
  }

  #askAboutFiles(): void {
    const sessions = [...this.host.kept];
    if (sessions.length > 0) this.send({ op: "sessions", id: this.nextId(), sessions });
  }

  // Runs

  #assigned(assignment: Assignment): void {
    const { run, fence } = assignment;
    void this.#world.oracle.guard(() =>
      must(this.knowsModels, () => `${this.bootId} was given ${run} before it knew its models`),
    );
    if (this.isDraining) {
      this.send({ op: "release", id: this.nextId(), run, fence });
      return;
    }
    if (this.host.acknowledges) this.send({ op: "accepted", run, fence });
    const known = this.held.get(run);
    if (known && known.fence >= fence) return;
    if (known) this.abandon(known);
    const renewedAt = this.wire?.provenAt ?? 0;
    const turn = new HeldTurn(this, assignment, renewedAt);
    this.held.set(run, turn);
    this.#world.note(`runner ${this.bootId} takes ${run}#${fence}`);
    this.#world.oracle.assigned(this, assignment);
    this.#world.oracle.readHistory(assignment, assignment.material?.history?.items ?? []);
    turn.begin();
  }

  abandon(turn: HeldTurn): void {
    turn.isOver = true;
    if (this.held.get(turn.run) === turn) this.held.delete(turn.run);
    if (turn.isSettling) return;
    const gone = { run: turn.run, fence: turn.fence, callId: turn.openCallId };
    this.#gone.push(gone);
    if (this.#gone.length > 8) this.#gone.shift();
    const { random, odds, calm, scheduler } = this.#world;
    if (calm || !random.chance(10 * odds.misbehaves)) return;
    for (let i = 0; i < 4; i++)
      scheduler.after(random.between(0, 8_000), () => this.#misbehave(gone));
  }

  #refs(): RunRef[] {
    return [...this.held.values()].map(({ run, fence }) => ({ run, fence }));
  }

  #renew(): void {
    const { now } = this.#world.scheduler;
    const id = this.nextId();
    const refs = this.#refs();
    this.#renewAt = now + RENEW_EVERY_MS;
    this.#renewals.set(id, { sentAt: now, refs });
    this.send({ op: "renew", id, runs: refs });
  }

  #renewed(id: string, lost: readonly string[]): void {
    const renewal = this.#renewals.get(id);
    if (!renewal) return;
    this.#renewals.delete(id);
    for (const { run, fence } of renewal.refs) {
      const turn = this.held.get(run);
      if (turn?.fence !== fence) continue;
      if (lost.includes(run)) this.abandon(turn);
      else turn.renewedAt = Math.max(turn.renewedAt, renewal.sentAt);
    }
  }

  believes(run: string): number | undefined {
    const turn = this.held.get(run);
    const { now } = this.#world.scheduler;
    if (!turn || turn.isParking || !this.isUp) return undefined;
    return now < turn.renewedAt + LEASE_MS ? turn.fence : undefined;
  }

  /** Sends frames that no runner should send, and no server may believe. */
  #misbehave(gone: GoneRun | undefined): void {
    const { random } = this.#world;
    if (!gone || this.held.has(gone.run)) return;
    const { run, fence } = gone;
    const what = random.between(0, 5);
    if (what === 0) this.send({ op: "release", id: this.nextId(), run, fence });
    else if (what === 1) this.send({ op: "renew", id: this.nextId(), runs: [{ run, fence }] });
    else if (what === 2)
      this.send({
        op: "tool",
        id: this.nextId(),
        run,
        fence,
        callId: gone.callId ?? `stale.${fence}.${random.between(0, 2 ** 31)}`,
        name: EFFECT_TOOL,
        input: { words: "allow 1", by: { fence, boot: this.bootId } },
      });
    else
      this.send({
        op: "journal",
        id: this.nextId(),
        run,
        // The next fence could become this runner's own; one far ahead never does.
        fence: random.chance(0.8) ? fence : fence + 1_000,
        firstOrdinal: random.chance(0.9) ? 1 : 1_000,
        items: Array.from({ length: random.between(0, 6) }, (_, i) => staleItem(gone, i + 1)),
        ...staleEnd(gone, random.between(0, 3)),
      });
  }
}

function staleEnd(ref: RunRef, what: number): Pick<JournalFrame, "settle" | "park"> {
  if (what > 1) return { settle: { outcome: "completed", result: mark(ref) } };
  if (what === 0) return {};
  return { park: { kind: "pause", waitMs: 1_000, code: "stale", message: "wait 1000" } };
}

function staleItem(ref: RunRef, ordinal: number): JournalItem {
  const entryId = `ent_${ref.run.slice(4)}.${ref.fence}.${ordinal}.stale`;
  return { type: "message", entryId, kind: "text", text: "from the past" };
}
