/**
 * The people around the parents: they start waves, and they stop, delete, detach, prompt and wake
 * children whose parents leave that to them; they archive parents and restore them. Acknowledged
 * actions are recorded.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Prompt, Session } from "#protocol/sessions.ts";
import { type Api, listAll, NoAnswer, unlessRefused } from "../clients/api.ts";
import type { History } from "../history.ts";
import type { Random } from "../random.ts";
import type { Household, Parent } from "./household.ts";
import { keeperOf, writeTask } from "./tasks.ts";

const FIRST_WAVE = 4;
const PAUSE_MS = [40, 250] as const;
const WAVE_EVERY_MS = [300, 1_200] as const;
/** A parent with more live children than this gets no further wave. */
const MAX_LIVE = 20;

/** An acknowledged action on a child. */
export interface Deed {
  childId: string;
  what: "archived" | "terminated" | "detached";
}

export class PassersBy {
  readonly deeds: Deed[] = [];
  readonly #household: Household;
  readonly #random: Random;
  #busy: Promise<void>[] = [];
  #ending = false;
  #sent = 0;

  constructor(household: Household, random: Random) {
    this.#household = household;
    this.#random = random;
  }

  async begin(): Promise<void> {
    const { parents } = this.#household;
    for (const parent of parents) await this.prompt(parent, `WAVE ${FIRST_WAVE}`);
    this.#busy = parents.flatMap((parent) => [
      this.#repeat(WAVE_EVERY_MS, () => this.#wave(parent)),
      this.#repeat(PAUSE_MS, () => this.#meddle(parent)),
    ]);
  }

  /** Resolves when all parents are active again. */
  async leave(): Promise<void> {
    this.#ending = true;
    await Promise.all(this.#busy);
    for (const parent of this.#household.parents) await this.#fetchBack(parent);
  }

  async prompt(parent: Pick<Parent, "id" | "api">, content: string, thread = "main") {
    const mark = `p${++this.#sent}-${randomUUID().slice(0, 8)}`;
    const body = { content: `${content}\n(${mark})`, mode: "followup", thread } as const;
    const accepted = await unlessRefused(
      parent.api.patient.prompts.create({ id: parent.id, body: { ...body, dispatchId: mark } }),
    );
    if (accepted) this.#remember(accepted.prompt, body.content);
  }

  #remember({ id, sessionId, mode }: Prompt, content: string): void {
    const { prompts }: History = this.#household.history;
    prompts.push({ id, sessionId, content, mode, runtime: "played" });
  }

  async #repeat([min, max]: readonly [number, number], act: () => Promise<void>): Promise<void> {
    const random = this.#random.fork();
    while (!this.#ending) {
      await sleep(random.between(min, max));
      if (this.#ending) return;
      await act().catch((error: unknown) => {
        if (!(error instanceof NoAnswer)) throw error;
      });
    }
  }

  async #wave(parent: Parent): Promise<void> {
    if ((await this.#live(parent)).length >= MAX_LIVE) return;
    const size = this.#random.between(2, 8);
    await this.prompt(parent, `WAVE ${size}`, this.#random.pick(parent.threads));
  }

  async #live({ api, id }: Parent): Promise<Session[]> {
    const query = { parent: id, lifecycle: "active" };
    return listAll((page) => api.patient.sessions.list({ query: { ...page, ...query } }));
  }

  async #meddle(parent: Parent): Promise<void> {
    const random = this.#random;
    if (random.chance(0.008)) return this.#putAway(parent);
    if (random.chance(0.006)) return stop(parent.api, parent.id);
    const open = (await this.#live(parent)).filter(({ title }) => keeperOf(title ?? "") === "open");
    const child = open[random.between(0, open.length)];
    if (child) await this.#touch(parent.api, child.id);
  }

  async #touch(api: Api, id: string): Promise<void> {
    const random = this.#random;
    const choice = random.next();
    if (choice < 0.3) return stop(api, id);
    if (choice < 0.5) return this.#tell(api, id);
    if (choice < 0.6) return this.#withdraw(api, id);
    const { sessions, delegation } = api.patient;
    if (choice < 0.7) return this.#record(id, "terminated", sessions.terminate({ id }));
    if (choice < 0.78) return this.#record(id, "detached", delegation.detach({ id }));
    if (choice < 0.95) {
      await this.#record(id, "archived", sessions.archive({ id, body: { force: true } }));
      if (random.chance(0.3)) await unlessRefused(sessions.wake({ id }));
    }
  }

  async #record(childId: string, what: Deed["what"], deed: Promise<object>): Promise<void> {
    if (await unlessRefused(deed)) this.deeds.push({ childId, what });
  }

  async #tell(api: Api, id: string): Promise<void> {
    const mode = this.#random.pick(["followup", "steer", "interrupt"] as const);
    const token = `p-${++this.#sent}`;
    const content = writeTask(token, this.#random);
    const body = { content, mode, dispatchId: token };
    const accepted = await unlessRefused(api.patient.prompts.create({ id, body }));
    if (accepted) this.#remember(accepted.prompt, content);
  }

  async #withdraw(api: Api, id: string): Promise<void> {
    const { prompts } = api.patient;
    const { items } = await prompts.list({ id, query: { state: "queued", limit: 1 } });
    const [waiting] = items;
    if (!waiting) return;
    const withdrawn = await unlessRefused(prompts.withdraw({ id: waiting.id }));
    if (withdrawn && this.#isOurs(waiting.id)) this.#household.history.withdrawn.push(waiting.id);
  }

  /** Only prompts that were sent from here are read again at the end. */
  #isOurs(id: string): boolean {
    return this.#household.history.prompts.some((prompt) => prompt.id === id);
  }

  async #putAway(parent: Parent): Promise<void> {
    const { api, id } = parent;
    if (this.#random.chance(0.3)) {
      await unlessRefused(api.once.sessions.hibernate({ id }));
      return;
    }
    await unlessRefused(api.patient.sessions.archive({ id, body: { force: true } }));
    await sleep(this.#random.between(100, 1_500));
    await this.#fetchBack(parent);
  }

  async #fetchBack({ api, id, kind }: Parent): Promise<void> {
    if (kind === "orchestrator") await api.patient.orchestrators.wake();
    else await api.patient.sessions.wake({ id });
  }
}

async function stop(api: Api, id: string): Promise<void> {
  await unlessRefused(api.once.sessions.stop({ id }));
}
