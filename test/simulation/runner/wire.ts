/**
 * The wire between a runner and a server. While it holds, it keeps order and loses nothing, as a
 * WebSocket does; when it is cut, everything from then on is lost, and either end may not know.
 */
import type { RunnerConnection } from "#engine/runs/index.ts";
import type { RunnerFrame, ServerFrame } from "#protocol/frames.ts";
import { isExpected } from "../expected.ts";
import type { ServerProcess } from "../server/server-process.ts";
import { sender } from "../server/sim-feature.ts";
import { ORG, type World } from "../world.ts";
import type { RunnerProcess } from "./runner-process.ts";

const PULSE_MS = 1_000;
const QUIET_AFTER_MS = 1_800;
const DEAD_AFTER_MS = 8_000;

export class Wire {
  readonly #world: World;
  readonly #server: ServerProcess;
  readonly #runner: RunnerProcess;
  readonly connection: RunnerConnection;
  /** The latest instant at which the runner knows the server was there. */
  provenAt: number;
  isCut = false;
  #stalledUntil = 0;
  /** When the server last received anything from the runner. */
  #heardAt: number;
  #serverOpen = true;
  #runnerOpen = true;
  #toServerAt = 0;
  #toRunnerAt = 0;

  constructor(world: World, server: ServerProcess, runner: RunnerProcess) {
    this.#world = world;
    this.#server = server;
    this.#runner = runner;
    this.provenAt = world.scheduler.now;
    this.#heardAt = world.scheduler.now;
    server.wires.add(this);
    const { credentialId, scope, profile } = runner.host;
    this.connection = server.kernel.dispatcher.connect(
      { kind: "runner", orgId: ORG, credentialId, scope, tags: [], name: profile.name },
      {
        send: (frame) => this.#toRunner(frame),
        close: () => this.#closeByServer(),
        isAlive: () => this.#isAlive(),
        isQuiet: () => this.#world.scheduler.now - this.#heardAt > QUIET_AFTER_MS,
      },
    );
    this.#pulse();
  }

  get isOpen(): boolean {
    return this.#runnerOpen;
  }

  toServer(frame: RunnerFrame): void {
    if (!this.#runnerOpen) return;
    const copy = JSON.parse(JSON.stringify(frame)) as RunnerFrame;
    this.#deliver("toServer", () => {
      if (!this.#serverOpen || !this.#server.isUp) return;
      this.#hear();
      this.#noteArrival(copy);
      this.#receive(copy).catch((error: unknown) => {
        if (!isExpected(error))
          this.#world.scheduler.fail(
            new Error(`the frame ${copy.op} failed: ${String(error)}`, { cause: error }),
          );
        this.#closeByServer();
      });
    });
  }

  /** Only the runner that got a run can confirm it. */
  #noteArrival(frame: RunnerFrame): void {
    const { runner, held } = this.connection;
    if (!runner) return;
    const refs = "run" in frame ? [frame] : frame.op === "renew" ? frame.runs : [];
    for (const { run, fence } of refs)
      if (held.get(run)?.fence === fence) this.#world.oracle.losses.confirmed(run, fence);
  }

  #receive(frame: RunnerFrame): Promise<void> {
    if (frame.op !== "tool") return this.connection.receive(frame);
    const { by } = frame.input as { by: { fence: number; boot: string } };
    return sender.run(by, () => this.connection.receive(frame));
  }

  #toRunner(frame: ServerFrame): void {
    if (!this.#serverOpen) return;
    const copy = JSON.parse(JSON.stringify(frame)) as ServerFrame;
    const { losses } = this.#world.oracle;
    const { bootId, host } = this.#runner;
    if (copy.op === "registered") losses.cameBack(bootId);
    if (copy.op === "assign")
      losses.sent(copy.assignment.run, copy.assignment.fence, host.acknowledges);
    this.#deliver("toRunner", () => {
      if (this.#runnerOpen && this.#runner.isUp) this.#runner.receive(this, copy);
    });
  }

  /** The server pings; a silent runner is given up after a while. */
  #pulse(): void {
    const { scheduler } = this.#world;
    scheduler.after(PULSE_MS, () => {
      if (!this.#serverOpen || !this.#server.isUp) return;
      if (scheduler.now - this.#heardAt > DEAD_AFTER_MS) return this.#giveUp();
      this.#deliver("toRunner", () => {
        if (this.#runnerOpen && this.#runner.isUp) this.#deliver("toServer", () => this.#hear());
      });
      this.#pulse();
    });
  }

  #hear(): void {
    const wasQuiet = this.#world.scheduler.now - this.#heardAt > QUIET_AFTER_MS;
    this.#heardAt = this.#world.scheduler.now;
    if (wasQuiet && this.#serverOpen && this.#server.isUp) this.#server.kernel.dispatcher.poke();
  }

  #giveUp(): void {
    const { bootId } = this.#runner;
    this.#world.note(`the server gives up the wire of ${bootId}`);
    if (this.connection.runner) this.#world.oracle.losses.fellSilent(bootId);
    this.connection.fellSilent();
    this.#closeByServer();
  }

  /** The wire itself answers, whatever the server is busy with. */
  ping(): void {
    const sentAt = this.#world.scheduler.now;
    this.#deliver("toServer", () => {
      if (!this.#serverOpen || !this.#server.isUp) return;
      this.#deliver("toRunner", () => {
        this.provenAt = Math.max(this.provenAt, sentAt);
      });
    });
  }

  /** Frames arrive much later, when nobody expects them any more. */
  stall(forMs: number): void {
    this.#stalledUntil = this.#world.scheduler.now + forMs;
  }

  /** From now on nothing gets through. Each end finds out by itself, or not at all. */
  cut(): void {
    if (this.isCut) return;
    this.isCut = true;
    const { random, scheduler } = this.#world;
    scheduler.after(random.between(100, 20_000), () => this.#runnerNotices());
    if (random.chance(0.7))
      scheduler.after(random.between(100, 60_000), () => this.#serverNotices());
  }

  /** The runner's process ended, or it closed the wire. */
  runnerGone(): void {
    this.#runnerOpen = false;
    this.#deliver("toServer", () => this.#serverNotices());
  }

  serverGone(): void {
    this.#serverOpen = false;
    if (!this.isCut) this.#world.scheduler.after(this.#latencyMs(), () => this.#runnerNotices());
  }

  /** At the end both ends learn what happened. */
  heal(): void {
    this.#stalledUntil = 0;
    if (!this.isCut) return;
    this.#runnerNotices();
    this.#serverNotices();
  }

  #closeByServer(): void {
    if (!this.#serverOpen) return;
    this.#serverNotices();
    if (!this.isCut) this.#world.scheduler.after(this.#latencyMs(), () => this.#runnerNotices());
  }

  #serverNotices(): void {
    if (!this.#serverOpen || !this.#server.isUp) return;
    this.#serverOpen = false;
    this.#server.wires.delete(this);
    this.#server.kernel.dispatcher.disconnect(this.connection).catch((error: unknown) => {
      if (!isExpected(error)) this.#world.scheduler.fail(error);
    });
  }

  #runnerNotices(): void {
    if (!this.#runnerOpen) return;
    this.#runnerOpen = false;
    this.#runner.disconnected(this);
  }

  #isAlive(): Promise<boolean> {
    return new Promise((resolve) => {
      const answers = () => this.#runnerOpen && !this.isCut && this.#runner.isUp;
      this.#world.scheduler.after(answers() ? this.#latencyMs() : 1_000, () => resolve(answers()));
    });
  }

  #deliver(direction: "toServer" | "toRunner", arrive: () => void): void {
    const { scheduler } = this.#world;
    const key = direction === "toServer" ? "server" : "runner";
    const earliest = key === "server" ? this.#toServerAt : this.#toRunnerAt;
    const at = Math.max(earliest, scheduler.now + this.#latencyMs(), this.#stalledUntil);
    if (key === "server") this.#toServerAt = at;
    else this.#toRunnerAt = at;
    scheduler.after(at - scheduler.now, () => {
      if (!this.isCut) arrive();
    });
  }

  #latencyMs(): number {
    const { calm, random, odds } = this.#world;
    if (calm) return 1;
    return random.chance(odds.slowWire) ? random.between(100, 4_000) : random.between(0, 15);
  }
}
