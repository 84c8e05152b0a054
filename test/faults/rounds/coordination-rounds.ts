/**
 * `kill -9` of server and runner at every step of shared work: as each model is asked, and as each
 * has answered and its answer is about to take effect. However often this happens, the story ends
 * the same.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";
import { Api, listAll } from "../clients/api.ts";
import { checkStory, describeStory } from "../coordination/check-story.ts";
import { REPORT, REQUEST, Story } from "../coordination/story.ts";
import { ModelLine } from "../program/model-line.ts";
import { Stage } from "../program/stage.ts";
import type { Random } from "../random.ts";
import type { FaultRound, Report, RoundContext } from "../round.ts";

const CYCLES_PER_STORY = 3;
/** The minimum number of requests in the story; the last ones may be merged. */
const STEPS = 24;
const REST_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 100;

export const coordinationRounds: FaultRound[] = [{ name: "coordination", play }];

/** When to strike: at which request, and before or after its answer. */
interface Strike {
  step: number;
  when: "asked" | "answered";
}

async function play({ cleanup, program, cycles, random }: RoundContext): Promise<Report> {
  const violations: string[] = [];
  const strikes = pickStrikes(Math.ceil(cycles / CYCLES_PER_STORY), random);
  let told = 0;
  let struck = 0;
  for (const strike of strikes) {
    const clock = new StepClock(strike);
    const line = await ModelLine.open(clock);
    const stage = await Stage.create({ cleanup, program, env: line.env });
    try {
      const found = await tell(stage, line, clock, random);
      told++;
      if (clock.hasCome) struck++;
      if (found.length > 0)
        violations.push(`killed when request ${strike.step} was ${strike.when}:`, ...found);
    } finally {
      await stage.killAll();
      await line.close();
    }
    if (violations.length > 0) break;
  }
  return {
    violations,
    summary: `${told} stories, ${struck} kills`,
  };
}

/** Every step in both ways, if there are enough cycles; otherwise a sample. */
function pickStrikes(count: number, random: Random): Strike[] {
  const all = Array.from({ length: STEPS }, (_, n) => n + 1).flatMap((step) => [
    { step, when: "asked" as const },
    { step, when: "answered" as const },
  ]);
  while (all.length > count) all.splice(random.between(0, all.length - 1), 1);
  return all;
}

class StepClock {
  hasCome = false;
  readonly #strike: Strike;
  readonly #counts = { asked: 0, answered: 0 };
  readonly #come = Promise.withResolvers<void>();

  constructor(strike: Strike) {
    this.#strike = strike;
  }

  asked(): void {
    this.#count("asked");
  }

  answered(): void {
    this.#count("answered");
  }

  get comes(): Promise<void> {
    return this.#come.promise;
  }

  #count(what: Strike["when"]): void {
    this.#counts[what]++;
    if (what !== this.#strike.when || this.#counts[what] !== this.#strike.step) return;
    this.hasCome = true;
    this.#come.resolve();
  }
}

async function tell(
  stage: Stage,
  line: ModelLine,
  clock: StepClock,
  random: Random,
): Promise<string[]> {
  const story = new Story();
  line.play("lead", (conversation) => story.playOrchestrator(conversation));
  line.play("api", (conversation) => story.playApi(conversation));
  line.play("web", (conversation) => story.playWeb(conversation));
  await stage.startBoth();
  const api = new Api({ url: stage.url, key: stage.key });
  const { session } = await api.patient.orchestrators.create({
    body: {
      name: "Lead",
      handle: "lead",
      style: "custom",
      customInstructions: "PLAY lead",
    },
  });
  const { id } = session;
  const body = { content: REQUEST, dispatchId: "the-request" };
  await api.patient.prompts.create({ id, body });
  const over = new AbortController();
  const killed = clock.comes.then(async () => {
    if (over.signal.aborted) return;
    await sleep(random.pick([0, 5, 30]) * random.next());
    await stage.killServer();
    await stage.startBoth();
  });
  const isOver = await untilReport(api, id);
  over.abort();
  if (clock.hasCome) await killed;
  const violations = isOver ? await checkStory(api, id) : ["the story did not end"];
  violations.push(...story.surprises.map((text) => `surprised by: ${text}`));
  if (violations.length > 0) violations.push(...(await describeStory(api)), stage.logTail());
  return violations;
}

/** Waits until the report was given and nobody works any more. */
async function untilReport(api: Api, id: string): Promise<boolean> {
  const { sessions } = api.patient;
  const deadline = Date.now() + REST_WITHIN_MS;
  while (Date.now() < deadline) {
    const { items } = await sessions.transcript({ id, query: { limit: PAGE_LIMIT_MAX } });
    const isTold = JSON.stringify(items).includes(REPORT);
    const status = "pending,running,stopping";
    const busy = await listAll((page) => sessions.list({ query: { ...page, status } }));
    if (isTold && busy.length === 0) return true;
    await sleep(LOOK_EVERY_MS);
  }
  return false;
}
