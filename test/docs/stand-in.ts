/**
 * Prints the id for a placeholder in a document: `stand-in tsk 2` is the second task. A missing one
 * is created first, through the API that a reader would use.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [kind = "", nth = "1"] = process.argv.slice(2);
const env = process.env;
const url = `http://127.0.0.1:${env.MUSTER_PORT}`;
const key = readFileSync(join(env.HOME ?? "", ".muster/owner.key"), "utf8").trim();
const WAIT_LIMIT_MS = 30_000;

interface Item {
  id: string;
  createdAt?: string;
  askedAt?: string;
}

async function call<T>(path: string, body?: unknown, bearer = key): Promise<T> {
  const answer = await fetch(url + path, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      ...(bearer === "" ? {} : { authorization: `Bearer ${bearer}` }),
      "content-type": "application/json",
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return JSON.parse(text) as T;
}

interface Kind {
  list: string;
  make(): Promise<unknown>;
}

const KINDS: Record<string, Kind> = {
  tsk: {
    list: "/api/sessions/orchestrator/tasks?limit=200",
    make: () => call("/api/sessions/orchestrator/tasks", { title: "Something to do" }),
  },
  ses: {
    list: "/api/sessions?kind=task&limit=200",
    make: () => call("/api/sessions", { title: "A session", runtime: "echo" }),
  },
  mem: {
    list: "/api/me/memories?limit=50",
    make: () => call("/api/me/memories", { content: "Otters hold hands", category: "general" }),
  },
  msg: { list: "/api/me/inbox?limit=200", make: failSession },
  apr: { list: "/api/approvals?state=pending", make: askForSomething },
  rnr: { list: "/api/runners", make: () => Promise.reject(new Error("there is no runner")) },
};

/** A failed session sends its owner a message. */
async function failSession(): Promise<void> {
  const prompt = "fail on purpose";
  await call("/api/sessions", { title: "It fails", runtime: "scripted", prompt });
}

/** The demo model asks before it deletes outside of its workspace. */
async function askForSomething(): Promise<void> {
  const prompt = "run rm -rf /tmp/muster-docs-nothing";
  await call("/api/sessions", { title: "It asks", model: "demo/story", prompt });
}

async function oldestFirst({ list }: Kind): Promise<Item[]> {
  const { items } = await call<{ items: Item[] }>(list);
  const at = ({ createdAt, askedAt }: Item) => createdAt ?? askedAt ?? "";
  return items.sort((a, b) => at(a).localeCompare(at(b)) || a.id.localeCompare(b.id));
}

const found = KINDS[kind];
if (!found) throw new Error(`nothing is known by ${kind}`);
const wanted = Number(nth);
let items = await oldestFirst(found);
const missing = wanted - items.length;
for (let made = 0; made < missing; made++) await found.make();
const until = Date.now() + WAIT_LIMIT_MS;
while (items.length < wanted) {
  if (Date.now() > until) throw new Error(`there is no ${kind} ${nth}`);
  await new Promise((resolve) => setTimeout(resolve, 50));
  items = await oldestFirst(found);
}
console.log(items[wanted - 1]?.id);
