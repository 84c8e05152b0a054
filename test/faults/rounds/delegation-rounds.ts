/**
 * `kill -9` while parents lead children: as they spawn, as a child's turn ends, as it asks, as
 * someone ends it, while the parent works, sleeps or is archived. At rest every parent must have
 * been notified of everything once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { checkDelegation, type DelegationFigures } from "../check/check-delegation.ts";
import { check } from "../checker.ts";
import { comeToRest, readHousehold } from "../delegation/come-to-rest.ts";
import { createHousehold } from "../delegation/household.ts";
import { PassersBy } from "../delegation/passers-by.ts";
import { deliveredTokens } from "../delegation/tasks.ts";
import { ModelLine } from "../program/model-line.ts";
import { Moments } from "../program/moments.ts";
import { Stage } from "../program/stage.ts";
import type { Random } from "../random.ts";
import { type FaultRound, type Report, type RoundContext, Tally } from "../round.ts";
import { anyone } from "./native-rounds.ts";

/** Agents take time to restart, and a few cycles must not take long. */
const CYCLES_PER_KILL = 3;
/** After this many kills everything must settle, is checked, and starts over. */
const STRETCH = 20;
/** Limit when no moment to strike comes. */
const WAIT_MS = 4_000;
const MAX_WORKERS = 20;

export const delegationRounds: FaultRound[] = [{ name: "delegation", play }];

/** Sees every request of every model, and records which results each parent was shown. */
class Onlooker {
  readonly shown = new Map<string, Set<string>>();
  /** Fires when a child's model has answered: its turn is about to end. */
  readonly childAnswered = new Moments();
  /** Fires when a parent's model has answered: it is about to act. */
  readonly parentAnswered = new Moments();

  asked(body: string): void {
    const name = playedBy(body);
    if (name === undefined) return;
    const seen = this.shown.get(name) ?? new Set();
    this.shown.set(name, seen);
    for (const token of deliveredTokens(body)) seen.add(token);
  }

  answered(body: string): void {
    (playedBy(body) === undefined ? this.childAnswered : this.parentAnswered).happen();
  }
}

function playedBy(body: string): string | undefined {
  return /(?:\\n|")PLAY (\w+)/.exec(body)?.[1];
}

async function play({ cleanup, program, cycles, random }: RoundContext): Promise<Report> {
  const tally = new Tally();
  const sums: DelegationFigures = {
    children: 0,
    endings: 0,
    questions: 0,
    messages: 0,
    told: 0,
    own: 0,
  };
  const wanted = Math.ceil(cycles / CYCLES_PER_KILL);
  let struck = 0;
  while (struck < wanted && tally.violations.length === 0) {
    const kills = Math.min(STRETCH, wanted - struck);
    struck += kills;
    const onlooker = new Onlooker();
    const line = await ModelLine.open(onlooker);
    const env = { ...line.env, ORCHESTRATION_MAX_WORKERS_PER_SUPERVISOR: String(MAX_WORKERS) };
    const stage = await Stage.create({ cleanup, program, env });
    try {
      await anyone.begin(stage);
      const figures = await playStretch({ stage, line, onlooker, random, kills }, tally);
      for (const [name, count] of Object.entries(figures)) sums[name as keyof typeof sums] += count;
    } finally {
      await stage.killAll();
      await line.close();
    }
  }
  const { children, endings, questions, messages, told, own } = sums;
  const summary = `${struck} kills: ${tally}; ${children} children, ${endings} endings, ${questions} questions and ${messages} messages due, ${told} told, ${own} of the parents' own doing`;
  return { violations: tally.violations, summary };
}

interface Scene {
  stage: Stage;
  line: ModelLine;
  onlooker: Onlooker;
  random: Random;
  kills: number;
}

async function playStretch(scene: Scene, tally: Tally): Promise<DelegationFigures> {
  const { stage, line, onlooker, random, kills } = scene;
  const household = await createHousehold(stage, line, random.fork());
  const people = new PassersBy(household, random.fork());
  await people.begin();
  for (let n = 0; n < kills; n++) {
    await moment(scene);
    await anyone.strike(stage, random);
  }
  await comeToRest(household, people);
  const observation = await readHousehold(household);
  const mayFail = ({ content, error }: { content: string; error: { code: string } | null }) =>
    /^FAIL /m.test(content) && /^model_|^request_/.test(error?.code ?? "");
  tally.add(check(household.history, observation, { mayExhaust: true, mayFail }));
  const { violations, figures } = checkDelegation(observation, {
    parents: household.parents.map(({ id, foreman }) => ({ id, name: foreman.name })),
    shown: onlooker.shown,
    deeds: people.deeds,
  });
  tally.violations.push(...violations);
  if (tally.violations.length > 0) tally.violations.push(stage.logTail());
  return figures;
}

/** Usually just as a child's turn ends or its parent acts. */
async function moment({ onlooker, random }: Scene): Promise<void> {
  await sleep(random.between(500, 2_500));
  switch (random.pick(["any", "child", "child", "parent"])) {
    case "any":
      return void (await sleep(random.between(0, 800)));
    case "child":
      await onlooker.childAnswered.next(WAIT_MS);
      return void (await sleep(random.pick([5, 40]) * random.next()));
    case "parent":
      await onlooker.parentAnswered.next(WAIT_MS);
      return void (await sleep(random.pick([5, 40]) * random.next()));
  }
}
