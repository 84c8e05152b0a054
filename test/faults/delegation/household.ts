/** The people of a round, their orchestrators and their supervisors, each with a scripted model. */
import { randomUUID } from "node:crypto";
import { Api, type ApiResponse } from "../clients/api.ts";
import { joinAs } from "../clients/join-as.ts";
import { describe, isBadAnswer } from "../clients/load.ts";
import { emptyHistory, type History } from "../history.ts";
import type { ModelLine } from "../program/model-line.ts";
import type { Stage } from "../program/stage.ts";
import type { Random } from "../random.ts";
import { type Dialect, orchestrator, supervisor } from "./dialects.ts";
import { Foreman } from "./foreman.ts";

/** Members besides the owner. */
const MEMBERS = 2;
const SUPERVISORS = 2;
const SCOPES = ["sessions:read", "sessions:write", "approvals"] as const;

export interface Parent {
  id: string;
  kind: "orchestrator" | "supervisor";
  foreman: Foreman;
  /** The threads that people have with it. */
  threads: readonly [string, ...string[]];
  /** A client with its person's key. */
  api: Api;
}

export interface Household {
  parents: Parent[];
  /** One client for each person. */
  apis: Api[];
  history: History;
}

export async function createHousehold(
  stage: Stage,
  line: ModelLine,
  random: Random,
): Promise<Household> {
  const history = emptyHistory();
  const onAnswer = (answer: ApiResponse, what: string) => {
    if (isBadAnswer(answer)) history.badAnswers.push(describe(answer, what));
  };
  const { url } = stage;
  const owner = new Api({ url, key: stage.key, onAnswer });
  const apis = [owner];
  for (let n = 0; n < MEMBERS; n++)
    apis.push(
      new Api({ url, key: await joinAs(`member${n}`, { owner, url, scopes: SCOPES }), onAnswer }),
    );
  const foremen = (name: string, dialect: Dialect) => {
    const foreman = new Foreman({ name, dialect, random: random.fork() });
    line.play(name, (conversation) => foreman.play(conversation));
    return foreman;
  };
  const parents: Parent[] = [];
  for (const [n, api] of apis.entries())
    parents.push(await makeOrchestrator(api, foremen(`o${n}`, orchestrator)));
  for (let n = 0; n < SUPERVISORS; n++)
    parents.push(await makeSupervisor(owner, foremen(`s${n}`, supervisor)));
  return { parents, apis, history };
}

async function makeOrchestrator(api: Api, foreman: Foreman): Promise<Parent> {
  const { name } = foreman;
  const { session } = await api.patient.orchestrators.create({
    body: {
      name,
      handle: `agent-${name}`,
      style: "custom",
      customInstructions: `PLAY ${name}`,
    },
  });
  const { id } = session;
  return { id, kind: "orchestrator", foreman, threads: ["main", "side"], api };
}

async function makeSupervisor(api: Api, foreman: Foreman): Promise<Parent> {
  const { name } = foreman;
  const { session } = await api.patient.sessions.create(
    { body: { title: name, runtime: "native", instructions: `PLAY ${name}` } },
    { idempotencyKey: randomUUID() },
  );
  const { id } = session;
  await api.patient.supervision.enable({ id });
  return { id, kind: "supervisor", foreman, threads: ["main"], api };
}
