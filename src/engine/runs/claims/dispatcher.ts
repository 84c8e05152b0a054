/**
 * Gives waiting runs to connected runners. Woken by a hint when a run becomes ready or a place
 * becomes free; a slow poll makes up for lost hints.
 */
import type { Log } from "#base/log.ts";
import type { RepositoryOpener } from "#engine/feature.ts";
import type { Principal } from "#engine/requests/principal.ts";
import type { ToolHost, ToolPolicy } from "#engine/tools/index.ts";
import type { Engine } from "#engine/work.ts";
import { DeadServers } from "../leases/dead-servers.ts";
import { freeHeldRuns } from "../leases/leases.ts";
import { Presence, type Present } from "../leases/presence.ts";
import type { RunnerLink } from "../runners/connection-host.ts";
import { RunnerConnection } from "../runners/runner-connection.ts";
import { listRunnerIds } from "../runners/runner-queries.ts";
import { markRunner } from "../runners/runners.ts";
import type { TurnConfig } from "./assignment.ts";
import { claimRuns } from "./claim.ts";

export interface DispatcherOptions {
  engine: Engine;
  tools: ToolHost;
  policy: ToolPolicy;
  openers: readonly RepositoryOpener[];
  config: TurnConfig;
  log: Log;
}

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #engine: Engine;
  readonly #log: Log;
  readonly #connections = new Set<RunnerConnection>();
  readonly #presence: Presence;
  readonly #deadServers: DeadServers;
  readonly #leave: (() => void)[];
  #dispatching = false;
  #again = false;
  #closed = false;

  constructor(options: DispatcherOptions) {
    const { engine, log } = options;
    this.#options = options;
    this.#engine = engine;
    this.#log = log;
    this.#presence = new Presence(engine);
    this.#deadServers = new DeadServers(engine);
    this.#leave = [
      engine.announcer.onRunsReady(() => this.poke()),
      engine.announcer.onCancel(({ runnerId, ...order }) => {
        for (const connection of this.#connections)
          if (connection.runner?.id === runnerId) connection.cancel(order);
      }),
      engine.announcer.onHint("providers", () => {
        for (const connection of this.#connections)
          if (connection.runner) connection.providersChanged();
      }),
      engine.announcer.onHint("sandbox", ({ type, id }) => {
        for (const connection of this.#connections)
          if (connection.runner?.id === id) this.#sendConsent(connection, type === "look");
      }),
      engine.announcer.onTidy((runnerId) => {
        for (const connection of this.#connections)
          if (connection.runner?.id === runnerId) connection.tidy();
      }),
    ];
  }

  connect(principal: Extract<Principal, { kind: "runner" }>, link: RunnerLink): RunnerConnection {
    const connection = new RunnerConnection(principal, link, {
      engine: this.#engine,
      tools: this.#options.tools,
      policy: this.#options.policy,
      openers: this.#options.openers,
      toolDefinitions: this.#options.config.catalogue.definitions,
      config: this.#options.config,
      log: this.#log,
      isConnected: (runnerId, bootId) => this.#isConnected(runnerId, bootId),
      replaceOthers: (newer, runnerId) => this.#replaceOthers(newer, runnerId),
      ready: () => this.poke(),
    });
    this.#connections.add(connection);
    return connection;
  }

  async disconnect(connection: RunnerConnection): Promise<void> {
    this.#connections.delete(connection);
    await connection.disconnected();
  }

  #replaceOthers(newer: object, runnerId: string): void {
    for (const connection of this.#connections)
      if (connection !== newer && connection.runnerId === runnerId) connection.replace();
  }

  /** Ends the connections of a revoked token and frees the turns of its runners, connected or not. */
  async drop(credentialId: string, reason: string): Promise<void> {
    for (const connection of [...this.#connections])
      if (connection.principal.credentialId === credentialId) await connection.revoke(reason);
    const ids = await this.#engine.store.read((reader) => listRunnerIds(reader, credentialId));
    for (const id of ids) await freeHeldRuns(this.#engine, id, [], () => "runner_revoked");
  }

  /** Marks runners offline that no server has any more, before anybody is served. */
  setRowsRight(): Promise<void> {
    return this.#presence.setRight();
  }

  /** Makes up, by the clock, for lost hints and for places that were given up without a frame. */
  async sweep(): Promise<void> {
    await this.#confirmPresent();
    await this.#deadServers.look();
    for (const connection of this.#connections)
      if (connection.free === 0 && !connection.closed) await connection.recount();
    this.poke();
  }

  /**
   * Confirms connected runners. A connection lost meanwhile must not be shown as connected
   * afterwards.
   */
  async #confirmPresent(): Promise<void> {
    const before = this.#present();
    await this.#presence.confirm(before);
    const here = new Set(this.#present().map(({ runner }) => runner.id));
    for (const { runner } of before)
      if (!here.has(runner.id)) await markRunner(this.#engine, runner, "offline");
  }

  #present(): Present[] {
    return [...this.#connections].flatMap(({ runner, closed, draining }) =>
      runner && !closed ? [{ runner, state: draining ? "draining" : "online" }] : [],
    );
  }

  poke(): void {
    if (this.#closed) return;
    if (this.#dispatching) {
      this.#again = true;
      return;
    }
    this.#dispatching = true;
    void this.#dispatch();
  }

  close(): void {
    this.#closed = true;
    for (const leave of this.#leave) leave();
    for (const connection of this.#connections) connection.close("server is stopping");
  }

  async #dispatch(): Promise<void> {
    do {
      this.#again = false;
      for (const connection of this.#connections) await this.#fill(connection);
    } while (this.#again && !this.#closed);
    this.#dispatching = false;
  }

  async #fill(connection: RunnerConnection): Promise<void> {
    const reservation = connection.reserve();
    if (!reservation) return;
    try {
      await claimRuns(this.#engine, reservation).finally(() => reservation.release());
    } catch (error) {
      if (!this.#closed)
        this.#log.error(
          { err: error, runnerId: reservation.runner.id },
          "claiming failed; it will be tried again",
        );
    }
  }

  #sendConsent(connection: RunnerConnection, look: boolean): void {
    connection
      .sendConsent(look)
      .catch((error: unknown) =>
        this.#log.warn({ err: error }, "a runner could not be notified about its sandbox"),
      );
  }

  async #isConnected(runnerId: string, bootId: string): Promise<boolean> {
    for (const connection of this.#connections) {
      if (
        connection.runner?.id === runnerId &&
        connection.runner.boot_id === bootId &&
        (await connection.isAlive())
      )
        return true;
    }
    return false;
  }
}
