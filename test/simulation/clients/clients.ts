/**
 * Random actions of people, agents and programs, and the conclusions they may draw from the
 * answers.
 */

import { decideGate } from "#engine/gates/index.ts";
import { command, fingerprintOf, type Kernel, type Principal } from "#engine/index.ts";
import { createSession } from "#engine/sessions/create-session.ts";
import { setTimer } from "#engine/timers/index.ts";
import type { ExecutionMode, RunnerRequirements } from "#protocol/runs.ts";
import type { Lifecycle, QueueMode } from "#protocol/sessions.ts";
import { must, type PromptModel, type SessionModel } from "../oracle/model.ts";
import { SIM_TIMER } from "../server/sim-feature.ts";
import { ORG, type World } from "../world.ts";
import { authorFor, ownerOf, strangerTo, users } from "./people.ts";
import { type Request, Requests } from "./requests.ts";

const THREADS = ["main", "main", "main", "side", "slack/c1/7"];
const MODES: (QueueMode | undefined)[] = [
  undefined,
  "followup",
  "followup",
  "collect",
  "collect",
  "steer",
  "interrupt",
];
const FLOOD = 108;
const KEY_KEPT_MS = 6 * 24 * 3_600_000;

/** A request under a key that must stand for one thing. */
interface Named {
  session: string;
  dispatchId: string;
  asked: PromptDraft[];
  /** The content of the first acknowledgement. */
  known: { id: string; wish: PromptDraft } | undefined;
}

interface PromptDraft {
  content: string;
  thread: string;
  mode: QueueMode | undefined;
  attachments: { name: string; mediaType: string; data: Buffer }[];
}

export class Clients {
  readonly requests: Requests;
  /** Acknowledged timers, with the number of requests for each. */
  readonly timers = new Map<string, { dueAt: number; sent: number }>();
  readonly #world: World;
  readonly #named: Named[] = [];
  #count = 0;

  constructor(world: World) {
    this.#world = world;
    this.requests = new Requests(world);
  }

  readonly #actions: Record<string, { weight: number; act: () => void }> = {
    session: { weight: 4, act: () => this.#createSession() },
    orchestrator: { weight: 1, act: () => this.#createOrchestrator() },
    prompt: { weight: 40, act: () => this.#prompt() },
    repeat: { weight: 5, act: () => this.#repeat() },
    withdraw: { weight: 4, act: () => this.#withdraw() },
    edit: { weight: 4, act: () => this.#edit() },
    promote: { weight: 5, act: () => this.#promote() },
    stop: {
      weight: 4,
      act: () => this.#manage("stop", async (k, p, id) => (await k.sessions.stop(p, id)).session),
    },
    hibernate: {
      weight: 3,
      act: () => this.#manage("hibernate", (k, p, id) => k.sessions.hibernate(p, id), "hibernated"),
    },
    wake: { weight: 3, act: () => this.#manage("wake", (k, p, id) => k.sessions.wake(p, id)) },
    archive: { weight: 1.5, act: () => this.#archive() },
    terminate: {
      weight: 0.7,
      act: () => this.#manage("terminate", (k, p, id) => k.sessions.terminate(p, id), "terminated"),
    },
    clear: {
      weight: 1,
      act: () => this.#manage("clear", (k, p, id) => k.sessions.clear(p, id, "main")),
    },
    update: { weight: 1, act: () => this.#update() },
    run: { weight: 10, act: () => this.#createRun() },
    stopRun: { weight: 3, act: () => this.#stopRun() },
    decide: { weight: 12, act: () => this.#decide() },
    timer: { weight: 3, act: () => this.#timer() },
    look: { weight: 3, act: () => this.#look() },
    stranger: { weight: 1, act: () => this.#stranger() },
    flood: { weight: 0.06, act: () => this.#flood() },
  };
  readonly #weights = Object.fromEntries(
    Object.entries(this.#actions).map(([name, { weight }]) => [name, weight]),
  );

  /** Draws the preferences of this seed. */
  drawTaste(): void {
    const { random } = this.#world;
    for (const name of Object.keys(this.#weights))
      this.#weights[name] = (this.#weights[name] ?? 0) * random.pick([0.2, 1, 1, 3]);
  }

  act(): void {
    this.#actions[this.#world.random.weighted(this.#weights)]?.act();
  }

  /** Answers whatever still waits for a person at the end. */
  finish(): void {
    for (const gate of this.#world.oracle.model.gates.values())
      if (gate.state === "pending") this.#decideOne(gate.id);
  }

  /** Prompts sleeping sessions, which accept them like any other. */
  wakeSome(): void {
    for (let i = 0; i < 3; i++) {
      const session = this.#session(["hibernated"]);
      if (!session) return;
      this.#sendKeyed(session, ownerOf(session), { ...this.#wish(), mode: "followup" });
    }
  }

  // Choosing

  get #random() {
    return this.#world.random;
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }

  #session(
    lifecycles: readonly string[] = ["active", "active", "hibernated", "archived"],
  ): SessionModel | undefined {
    const wanted = this.#random.pick(lifecycles);
    const fitting = [...this.#world.oracle.model.sessions.values()].filter(
      (s) => s.lifecycle === wanted,
    );
    return this.#random.find(fitting);
  }

  #waitingPrompt(): PromptModel | undefined {
    const { prompts } = this.#world.oracle.model;
    const recent = [...prompts.values()].slice(-60);
    const waiting = recent.filter((prompt) => prompt.outcome === null && !prompt.isStarted);
    return this.#random.find(this.#random.chance(0.9) ? waiting : recent);
  }

  #ownerOf(prompt: PromptModel): Principal {
    const session = this.#world.oracle.model.sessions.get(prompt.session);
    return session ? ownerOf(session) : (users[0] as Principal);
  }

  /** A key stands for one thing as long as it is remembered. */
  #sameAsBefore(key: string, known: string | undefined, id: string): void {
    must(
      known === undefined || known === id || this.#world.clock.furthest > KEY_KEPT_MS,
      () => `${key} made ${known} and ${id}`,
    );
  }

  // Sessions

  #createSession(): void {
    const user = this.#random.pick(users);
    const parent = this.#random.chance(0.3) ? this.#session(["active"]) : undefined;
    const isOwn = parent?.ownerId === user.userId;
    const n = this.#next();
    const wish = {
      title: `session ${n}`,
      runtime: this.#random.pick(["native", "native", "scripted"]),
      queueMode: this.#random.pick(["followup", "followup", "collect", "steer"] as const),
      ...(isOwn && parent ? { parentSessionId: parent.id } : {}),
      ...(this.#random.chance(0.5) ? { prompt: `first words of session ${n}` } : {}),
    };
    const idempotent = { key: `key-${n}`, fingerprint: fingerprintOf("session", String(n)) };
    let known: string | undefined;
    const request: Request<{ id: string }> = {
      name: `session ${n}`,
      call: (kernel) => kernel.sessions.create(user, wish, idempotent),
      done: ({ id }) => {
        const { model } = this.#world.oracle;
        must(model.sessions.has(id) || model.purged.has(id), () => `session ${id} does not exist`);
        this.#sameAsBefore(`key-${n}`, known, id);
        known = id;
      },
    };
    this.requests.send(request);
    if (this.#random.chance(0.2)) this.requests.send(request);
  }

  /** Created by the server itself: the only sessions whose threads run side by side. */
  #createOrchestrator(): void {
    const user = this.#random.pick(users);
    const id = `orchestrator:${user.userId}:${this.#next()}`;
    if ([...this.#world.oracle.model.sessions.values()].filter((s) => !s.isExclusive).length >= 4)
      return;
    this.requests.send({
      name: id,
      call: (kernel) =>
        command(kernel.engine, async (work) => {
          if (await work.session(id)) return;
          await createSession(work, {
            id,
            orgId: ORG,
            ownerId: user.userId,
            createdBy: "system",
            title: null,
            kind: "orchestrator",
            purpose: "task",
            parent: null,
            requested: { runtime: true, model: false, persona: false, callback: false },
            runtime: "native",
            model: null,
            repo: null,
            branch: null,
            scopeKey: null,
            queueMode: "followup",
            instructions: null,
            budgetMicros: null,
            projectDir: null,
            mayUsePath: false,
            agentName: null,
          });
        }),
    });
  }

  #manage(
    name: string,
    call: (kernel: Kernel, owner: Principal, id: string) => Promise<{ lifecycle: Lifecycle }>,
    after?: Lifecycle,
  ): void {
    const session = this.#session(
      name === "wake" ? ["hibernated", "archived", "active"] : undefined,
    );
    if (!session) return;
    if (after === "hibernated") session.isSentToSleep = true;
    this.requests.send({
      name: `${name} ${session.id}`,
      call: (kernel) => call(kernel, ownerOf(session), session.id),
      done: ({ lifecycle }) => {
        must(
          after === undefined || lifecycle === after,
          () => `${name} left ${session.id} ${lifecycle}`,
        );
      },
    });
  }

  #archive(): void {
    const force = this.#random.chance(0.5);
    this.#manage(force ? "archive!" : "archive", (kernel, owner, id) =>
      kernel.sessions.archive(owner, id, force),
    );
  }

  #update(): void {
    const queueMode = this.#random.pick(["followup", "collect", "steer", "interrupt"] as const);
    this.#manage("update", (kernel, owner, id) => kernel.sessions.update(owner, id, { queueMode }));
  }

  // Prompts

  #wish(): PromptDraft {
    const n = this.#next();
    return {
      content: this.#random.chance(0.03) ? " /clear " : `words ${n}`,
      thread: this.#random.pick(THREADS),
      mode: this.#random.pick(MODES),
      attachments: this.#random.chance(0.05)
        ? [{ name: `file ${n}`, mediaType: "text/plain", data: Buffer.from(`bytes ${n}`) }]
        : [],
    };
  }

  #prompt(): void {
    const session = this.#session();
    if (!session) return;
    const wish = this.#wish();
    const author = authorFor(this.#random, session);
    if (this.#random.chance(0.4)) {
      const named: Named = {
        session: session.id,
        dispatchId: `d${this.#next()}`,
        asked: [wish],
        known: undefined,
      };
      this.#named.push(named);
      this.#sendNamed(named, author, wish);
      return;
    }
    this.#sendKeyed(session, author, wish);
  }

  #sendKeyed(session: SessionModel, author: Principal, wish: PromptDraft): void {
    const key = `key-${this.#next()}`;
    const idempotent = { key, fingerprint: fingerprintOf(session.id, wish.content) };
    let known: string | undefined;
    const request: Request<{ id: string }> = {
      name: `prompt ${session.id} ${wish.content} ${wish.mode}`,
      call: (kernel) => kernel.prompts.admit(author, session.id, wish, idempotent),
      done: ({ id }) => {
        this.#world.oracle.acknowledged(id);
        this.#sameAsBefore(key, known, id);
        known = id;
      },
      refused: (code) =>
        must(code !== "idempotency_conflict", () => `${key} was refused as another's`),
    };
    this.requests.send(request);
    if (this.#random.chance(0.1)) this.requests.send(request);
  }

  /** Repeats a dispatch id: the same content is the same prompt, other content is refused. */
  #repeat(): void {
    const named = this.#random.find(this.#named.slice(-20));
    const session = named && this.#world.oracle.model.sessions.get(named.session);
    const first = named?.asked[0];
    if (!named || !session || !first) return;
    if (this.#random.chance(0.6)) {
      this.#sendNamed(named, ownerOf(session), first);
      return;
    }
    const other = this.#wish();
    named.asked.push(other);
    this.#sendNamed(named, ownerOf(session), other);
  }

  #sendNamed(named: Named, author: Principal, wish: PromptDraft): void {
    this.requests.send({
      name: `prompt ${named.session} ${named.dispatchId} ${wish.content} ${wish.mode}`,
      call: (kernel) =>
        kernel.prompts.admit(author, named.session, { ...wish, dispatchId: named.dispatchId }),
      done: ({ id }) => {
        this.#world.oracle.acknowledged(id);
        const { known } = named;
        must(
          known === undefined || (known.id === id && isSame(known.wish, wish)),
          () => `${named.dispatchId} stands for ${known?.id} and ${id}`,
        );
        named.known = { id, wish };
      },
      refused: (code) =>
        must(
          code !== "dispatch_conflict" || !named.known || !isSame(named.known.wish, wish),
          () => `${named.dispatchId} was refused, and it had been taken`,
        ),
    });
  }

  #withdraw(): void {
    const prompt = this.#waitingPrompt();
    if (!prompt) return;
    this.requests.send({
      name: `withdraw ${prompt.id}`,
      call: (kernel) => kernel.prompts.withdraw(this.#ownerOf(prompt), prompt.id),
      done: () =>
        must(
          prompt.outcome === "withdrawn",
          () => `${prompt.id} was withdrawn and is ${prompt.outcome}`,
        ),
    });
  }

  #edit(): void {
    const prompt = this.#waitingPrompt();
    if (!prompt) return;
    const content = `words ${this.#next()}, edited`;
    this.#world.oracle.wish(prompt.id, content);
    this.requests.send({
      name: `edit ${prompt.id}`,
      call: (kernel) => kernel.prompts.edit(this.#ownerOf(prompt), prompt.id, content),
      done: (answer) =>
        must(
          this.#world.oracle.mayRead(prompt.id, answer.content),
          () => `${prompt.id} was edited and says ${answer.content}`,
        ),
    });
  }

  #promote(): void {
    const prompt = this.#waitingPrompt();
    if (!prompt) return;
    this.requests.send({
      name: `promote ${prompt.id}`,
      call: (kernel) => kernel.prompts.promote(this.#ownerOf(prompt), prompt.id),
    });
  }

  #flood(): void {
    const session = this.#session(["active"]);
    if (!session) return;
    for (let i = 0; i < FLOOD; i++)
      this.#sendKeyed(session, ownerOf(session), {
        ...this.#wish(),
        thread: "main",
        mode: "followup",
      });
  }

  // Runs

  #createRun(): void {
    const resumed = this.#random.chance(0.4) ? this.#session(["active", "hibernated"]) : undefined;
    const parent = this.#session(["active", "active", "archived", "terminated"]);
    const owner = resumed ? ownerOf(resumed) : parent ? ownerOf(parent) : this.#random.pick(users);
    const n = this.#next();
    const executionMode = this.#random.pick<ExecutionMode>([
      "async_poll",
      "async_callback",
      "async_callback",
    ]);
    const common = { prompt: `run ${n}`, executionMode, demands: this.#demands() };
    const wish = resumed
      ? { ...common, type: "resume_session" as const, sessionId: resumed.id }
      : {
          ...common,
          type: "start_session" as const,
          ...(parent ? { parentSessionId: parent.id } : {}),
        };
    const idempotent = { key: `key-${n}`, fingerprint: fingerprintOf("run", String(n)) };
    let known: string | undefined;
    this.requests.send({
      name: `run ${n} ${executionMode} ${resumed?.id ?? parent?.id}`,
      call: (kernel) => kernel.runs.create(owner, wish, idempotent),
      done: ({ id, promptId }) => {
        this.#world.oracle.acknowledged(promptId);
        this.#sameAsBefore(`key-${n}`, known, id);
        known = id;
      },
    });
  }

  #demands(): RunnerRequirements {
    if (this.#random.chance(this.#world.odds.unmatched)) return { tags: ["nobody-has-this"] };
    return this.#random.chance(0.1) ? { tags: ["gpu"] } : {};
  }

  #stopRun(): void {
    const prompt = this.#random.find([...this.#world.oracle.model.prompts.values()].slice(-60));
    if (!prompt) return;
    this.requests.send({
      name: `stop ${prompt.runId}`,
      call: (kernel) => kernel.runs.stop(this.#ownerOf(prompt), prompt.runId),
    });
  }

  // Gates and timers

  #decide(): void {
    const gates = [...this.#world.oracle.model.gates.values()];
    const pending = gates.filter((gate) => gate.state === "pending");
    const gate = this.#random.find(this.#random.chance(0.8) ? pending : gates.slice(-10));
    if (gate) this.#decideOne(gate.id);
  }

  #decideOne(id: string): void {
    const by = `user:somebody#${this.#next()}`;
    const decision = {
      allowed: this.#random.chance(0.6),
      reason: this.#random.chance(0.3) ? "not like this" : null,
      answers: this.#random.chance(0.3) ? ["the first"] : null,
      scope: "once" as const,
    };
    let tries = 0;
    this.requests.send({
      name: `decide ${id}`,
      call: (kernel) => {
        tries += 1;
        return command(kernel.engine, (work) => decideGate(work, id, decision, by));
      },
      done: () => {
        const kept = this.#world.oracle.model.gates.get(id);
        must(
          !kept || kept.decided_by === by,
          () => `gate ${id} was decided by ${kept?.decided_by}, not ${by}`,
        );
      },
      refused: (code) => {
        const kept = this.#world.oracle.model.gates.get(id);
        must(
          tries > 1 || kept?.decided_by !== by,
          () => `gate ${id}: ${by} decided it and was refused (${code})`,
        );
      },
    });
  }

  #timer(): void {
    const subject = `timer ${this.#next()}`;
    const dueAt = this.#world.clock.now() + this.#random.between(0, 30_000);
    let sent = 0;
    this.requests.send({
      name: subject,
      call: (kernel) => {
        sent += 1;
        return command(kernel.engine, (work) => setTimer(work, SIM_TIMER, subject, ORG, dueAt));
      },
      done: () => {
        this.timers.set(subject, { dueAt, sent });
      },
    });
  }

  // Reads

  #look(): void {
    const prompt = this.#random.find([...this.#world.oracle.model.prompts.values()].slice(-60));
    if (!prompt) return;
    const owner = this.#ownerOf(prompt);
    const seen = prompt.outcome;
    this.requests.send({
      name: `look at ${prompt.id}`,
      call: async (kernel) => {
        await kernel.runs.get(owner, prompt.runId);
        await kernel.prompts.list(owner, prompt.session, { states: ["queued"], limit: 5 });
        await kernel.sessions.list(owner, { limit: 20, status: ["working"] });
        return kernel.prompts.get(owner, prompt.id);
      },
      done: ({ outcome }) =>
        must(seen === null || outcome === seen, () => `${prompt.id} was ${seen} and is ${outcome}`),
      refused: (code) =>
        must(
          this.#world.oracle.model.purged.has(prompt.id),
          () => `${prompt.id} exists and its owner is refused (${code})`,
        ),
    });
  }

  #stranger(): void {
    const session = this.#session();
    if (!session) return;
    this.requests.send({
      name: `stranger ${session.id}`,
      call: (kernel) => kernel.prompts.admit(strangerTo(session), session.id, this.#wish()),
      done: ({ id }) => must(false, () => `a stranger prompted ${session.id} (${id})`),
      refused: (code) => must(code === "not_found", () => `a stranger was told ${code}`),
    });
  }
}

/** Two independent requests may still have the same content. */
function isSame(one: PromptDraft, other: PromptDraft): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
