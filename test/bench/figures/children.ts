/**
 * Many children at once: each of 50 people has an orchestrator with 20 live children. All children
 * settle, and every ending must be in its parent's transcript. Measures the cost of all processes
 * together.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Contender } from "../contenders.ts";
import { atMost, type Figure, type Row } from "../figure.ts";
import { createHttpClient, type HttpClient } from "../load/http-client.ts";
import { inTurn } from "../load/turns.ts";
import { MODELS } from "../model/answers.ts";
import type { BenchTools } from "../tools.ts";

export const children: Figure = { name: "children", quick: false, measure };

const PEOPLE = 50;
const EACH = 20;
const TURNS = 2;
const AT_ONCE = 8;
const NOTIFIED_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 250;
const PASSWORD = "correct horse battery";
const MIB_IN_ALL = 1_024;

interface Person {
  client: HttpClient;
  orchestrator: string;
  children: string[];
}

async function measure(tools: BenchTools): Promise<Row[]> {
  const { port: modelPort } = await tools.model();
  const env = { MUSTER_MODEL: `anthropic/${MODELS.prompt}` };
  const ours = await tools.ours({ runtime: "native", modelPort, env });
  const people: Person[] = [];
  await inTurn(
    Array.from({ length: PEOPLE }, (_, n) => n),
    AT_ONCE,
    async (n) => void people.push(await settleIn(ours, n)),
  );
  let most = ours.memory();
  const look = () => {
    const now = ours.memory();
    if (now.pssMib > most.pssMib) most = now;
  };
  const startedAt = performance.now();
  const work = people.flatMap(({ client, children: ids }) => ids.map((id) => ({ client, id })));
  for (let turn = 0; turn < TURNS; turn++)
    await inTurn(work, AT_ONCE * 4, async ({ client, id }) => {
      await client.post(
        `/api/sessions/${id}/prompts`,
        JSON.stringify({ content: `R-${id}-${turn}` }),
      );
    });
  const due = PEOPLE * EACH * TURNS;
  let told = 0;
  for (
    const until = performance.now() + NOTIFIED_WITHIN_MS;
    told < due && performance.now() < until;
  ) {
    await sleep(LOOK_EVERY_MS);
    look();
    told = (await Promise.all(people.map(countNotified))).reduce((sum, count) => sum + count, 0);
  }
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  for (const { client } of people) client.close();
  const family = `${(PEOPLE * EACH).toLocaleString("en-US")} live children of ${PEOPLE} orchestrators`;
  return [
    {
      figure: `endings lost, ${family}`,
      unit: "",
      ours: due - told,
      target: atMost(0),
      note: `${due.toLocaleString("en-US")} endings told in ${seconds} s`,
    },
    {
      figure: `memory of all processes, ${family}, PSS`,
      unit: "MiB",
      ours: most.pssMib,
      target: atMost(MIB_IN_ALL),
      note: `at its most; RSS ${Math.round(most.rssMib)} MiB`,
    },
  ];
}

/** Creates a person with an orchestrator and its children. */
async function settleIn(ours: Contender, number: number): Promise<Person> {
  const { port } = ours;
  const owner = createHttpClient(ours, 1);
  const { org } = JSON.parse(await owner.get("/api/me")) as { org: { id: string } };
  const invited = await owner.post(`/api/orgs/${org.id}/invitations`, '{"role":"member"}');
  const { link } = JSON.parse(invited) as { link: string };
  const token = new URL(link).hash.slice("#token=".length);
  owner.close();
  const key = await join(port, token, `person${number}`);
  const client = createHttpClient({ port, key }, 2);
  const made = await client.post("/api/me/orchestrator", "{}");
  const orchestrator = idIn(made);
  const ids: string[] = [];
  for (let n = 0; n < EACH; n++) {
    const body = { parentSessionId: orchestrator, runtime: "echo", title: `child ${n}` };
    ids.push(idIn(await client.post("/api/sessions", JSON.stringify(body))));
  }
  return { client, orchestrator, children: ids };
}

async function join(port: number, token: string, name: string): Promise<string> {
  const url = `http://127.0.0.1:${port}`;
  const post = (path: string, body: object, cookie: string) =>
    fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", origin: url, cookie },
      body: JSON.stringify(body),
    });
  const proof = { name, email: `${name}@example.org`, password: PASSWORD };
  const joined = await post(`/api/invitations/${token}/accept`, proof, "");
  const cookie = (joined.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const scopes = ["sessions:read", "sessions:write"];
  const made = await post("/api/me/api-keys", { name: "bench", scopes }, cookie);
  const { key } = (await made.json()) as { key?: string };
  if (key === undefined) throw new Error(`${name} has no key: ${joined.status}, ${made.status}`);
  return key;
}

function idIn(text: string): string {
  return (JSON.parse(text) as { session: { id: string } }).session.id;
}

/** Counts endings in the parent's transcript: each result has words of its own. */
async function countNotified(person: Person): Promise<number> {
  const told = await readNotified(person);
  const once = new Set(told);
  if (once.size < told.length)
    throw new Error(`${told.length - once.size} endings were told twice to ${person.orchestrator}`);
  return once.size;
}

interface Entry {
  seq: number;
  kind: string;
  text: string | null;
}

async function readNotified({ client, orchestrator }: Person): Promise<string[]> {
  const path = `/api/sessions/${encodeURIComponent(orchestrator)}/transcript?limit=200`;
  const told: string[] = [];
  for (let after = 0; ; ) {
    const page = await client.get(`${path}&after=${after}`);
    const { items } = JSON.parse(page) as { items: Entry[] };
    const prompts = items.filter(({ kind }) => kind === "prompt");
    told.push(...prompts.flatMap(({ text }) => (text ?? "").match(/> R-\S+/g) ?? []));
    const last = items.at(-1);
    if (!last) return told;
    after = last.seq;
  }
}
