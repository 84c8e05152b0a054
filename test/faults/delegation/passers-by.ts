/**
 * The people around the parents: they start waves, and they stop, delete, detach, prompt and wake
 * children whose parents leave that to them; they archive parents and restore them. Acknowledged
 * actions are recorded.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Prompt, Session } from "#protocol/sessions.ts";
import { type Api, NoAnswer } from "../clients/api.ts";
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
    const body = { content: `${content}\n(${mark})`, mode: "followup", thread };
    const path = `/api/sessions/${parent.id}/prompts`;
    const answer = await parent.api.insist("POST", path, { ...body, dispatchId: mark });
    if (answer.status !== 202) return;
    this.#remember(answer.body.prompt as Prompt, body.content);
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
    return api.list<Session>(`/api/sessions?parent=${id}&lifecycle=active`);
  }

  async #meddle(parent: Parent): Promise<void> {
    const random = this.#random;
    if (random.chance(0.008)) return this.#putAway(parent);
    if (random.chance(0.006)) return void (await parent.api.send("POST", stopOf(parent.id), {}));
    const open = (await this.#live(parent)).filter(({ title }) => keeperOf(title ?? "") === "open");
    const child = open[random.between(0, open.length)];
    if (child) await this.#touch(parent.api, child.id);
  }

  async #touch(api: Api, id: string): Promise<void> {
    const random = this.#random;
    const choice = random.next();
    if (choice < 0.3) return void (await api.send("POST", stopOf(id), {}));
    if (choice < 0.5) return this.#tell(api, id);
    if (choice < 0.6) return this.#withdraw(api, id);
    if (choice < 0.7) return this.#do(api, id, "terminated", `/api/sessions/${id}/terminate`);
    if (choice < 0.78) return this.#do(api, id, "detached", `/api/sessions/${id}/detach`);
    if (choice < 0.95) {
      await this.#do(api, id, "archived", `/api/sessions/${id}/archive`, { force: true });
      if (random.chance(0.3)) await api.insist("POST", `/api/sessions/${id}/wake`, {});
    }
  }

  async #do(api: Api, childId: string, what: Deed["what"], path: string, body = {}): Promise<void> {
    const { status } = await api.insist("POST", path, body);
    if (status === 200) this.deeds.push({ childId, what });
  }

  async #tell(api: Api, id: string): Promise<void> {
    const mode = this.#random.pick(["followup", "steer", "interrupt"]);
    const token = `p-${++this.#sent}`;
    const content = writeTask(token, this.#random);
    const path = `/api/sessions/${id}/prompts`;
    const answer = await api.insist("POST", path, { content, mode, dispatchId: token });
    if (answer.status === 202) this.#remember(answer.body.prompt as Prompt, content);
  }

  async #withdraw(api: Api, id: string): Promise<void> {
    const page = await api.get(`/api/sessions/${id}/prompts?state=queued&limit=1`);
    const [waiting] = page.items as Prompt[];
    if (!waiting) return;
    const { status } = await api.insist("DELETE", `/api/prompts/${waiting.id}`);
    if (status === 200 && this.#isOurs(waiting.id))
      this.#household.history.withdrawn.push(waiting.id);
  }

  /** Only prompts that were sent from here are read again at the end. */
  #isOurs(id: string): boolean {
    return this.#household.history.prompts.some((prompt) => prompt.id === id);
  }

  async #putAway(parent: Parent): Promise<void> {
    const { api, id } = parent;
    if (this.#random.chance(0.3)) {
      await api.send("POST", `/api/sessions/${id}/hibernate`, {});
      return;
    }
    await api.insist("POST", `/api/sessions/${id}/archive`, { force: true });
    await sleep(this.#random.between(100, 1_500));
    await this.#fetchBack(parent);
  }

  async #fetchBack({ api, id, kind }: Parent): Promise<void> {
    const path = kind === "orchestrator" ? "/api/me/orchestrator/wake" : `/api/sessions/${id}/wake`;
    const { status, body } = await api.insist("POST", path, {});
    if (status !== 200) throw new Error(`${id} does not come back: ${JSON.stringify(body)}`);
  }
}

function stopOf(id: string): string {
  return `/api/sessions/${id}/stop`;
}
