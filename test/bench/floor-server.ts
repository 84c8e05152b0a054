/**
 * The floor: the least that a server must do for a turn. A bare Node server on better-sqlite3 that
 * commits synced rows when a prompt is accepted, when it is claimed and when it is answered, and
 * streams one delta and the settlement to whoever watches. No identity, no checks, no recovery of
 * half a turn. It answers at the same addresses as ours, so that one load generator serves both.
 *
 *   node floor-server.ts PORT FOLDER (inline|none) [MODEL_PORT]
 *
 * A session that names a model has its prompts answered by it, over HTTP. When a session that has a
 * parent is done, its ending and the parent's prompt are one commit, and the parent's model is asked.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { askModel } from "./floor-model.ts";

const [port = "0", folder = ".", runner = "inline", modelPort = "0"] = process.argv.slice(2);

const db = new Database(join(folder, "floor.db"));
db.pragma("journal_mode = WAL");
db.pragma("synchronous = FULL");
db.exec(`
  create table if not exists sessions (id text primary key, created_at integer not null);
  create table if not exists prompts (
    id text primary key, session_id text not null, content text not null, state text not null,
    accepted_at integer not null, claimed_at integer, settled_at integer
  );
  create index if not exists prompts_open on prompts (accepted_at) where state <> 'settled';
  create table if not exists entries (
    id integer primary key, session_id text not null, prompt_id text not null, text text not null
  );
  create index if not exists entries_session on entries (session_id, id);
`);
const addSession = db.prepare("insert into sessions values (?, ?)");
const accept = db.prepare("insert into prompts values (?, ?, ?, 'accepted', ?, null, null)");
const claim = db.prepare("update prompts set state = 'running', claimed_at = ? where id = ?");
const addEntry = db.prepare("insert into entries (session_id, prompt_id, text) values (?, ?, ?)");
const end = db.prepare("update prompts set state = 'settled', settled_at = ? where id = ?");
const find = db.prepare("select * from prompts where id = ?");
const open = db.prepare(
  "select id, session_id, content from prompts where state <> 'settled' order by accepted_at",
);
const settle = db.transaction((session: string, prompt: string, text: string) => {
  addEntry.run(session, prompt, text);
  end.run(Date.now(), prompt);
});
const begin = db.prepare("insert into prompts values (?, ?, ?, 'running', ?, ?, null)");
const settleAndWake = db.transaction(
  (session: string, prompt: string, text: string, parent: string, wake: string) => {
    settle(session, prompt, text);
    const now = Date.now();
    begin.run(wake, parent, text, now, now);
  },
);

/** Models by session. */
const models = new Map<string, string>();
const parents = new Map<string, string>();
const watchers = new Map<string, Set<ServerResponse>>();
let lastId = Date.now();

function publish(session: string, event: string, data: object): void {
  const responses = watchers.get(session);
  if (!responses) return;
  const text = `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
  for (const response of responses) response.write(text);
}

async function turn(session: string, prompt: string, content: string): Promise<void> {
  claim.run(Date.now(), prompt);
  await work(session, prompt, content);
}

async function work(session: string, prompt: string, content: string): Promise<void> {
  const reply = await answer(session, prompt, content);
  const parent = parents.get(session);
  const wake = `id${++lastId}`;
  if (parent === undefined) settle(session, prompt, reply);
  else settleAndWake(session, prompt, reply, parent, wake);
  publish(session, "prompt_settled", { promptId: prompt, text: reply });
  if (parent !== undefined) await work(parent, wake, reply);
}

async function answer(session: string, prompt: string, content: string): Promise<string> {
  const model = models.get(session);
  if (model !== undefined)
    return askModel(Number(modelPort), model, content, (text) =>
      publish(session, "delta", { text }),
    );
  const [word = "", first = "0", second = "0"] = content.split(/\s/, 3);
  if (word === "say") return writeLines(session, prompt, content.split("\n"));
  if (word === "stream") return stream(session, Number(first), Number(second));
  publish(session, "delta", { text: content });
  return content;
}

/** Writes each line as an entry of its own, committed before the next. */
async function writeLines(session: string, prompt: string, lines: string[]): Promise<string> {
  for (const line of lines.slice(0, -1)) {
    const text = line.slice("say ".length);
    publish(session, "delta", { text });
    addEntry.run(session, prompt, text);
    publish(session, "message", { text });
    await new Promise((resolve) => setImmediate(resolve));
  }
  return lines.at(-1)?.slice("say ".length) ?? "";
}

async function stream(session: string, tokens: number, everyMs: number): Promise<string> {
  let text = "";
  for (let token = 1; token <= tokens; token++) {
    const piece = ` token${token}`;
    text += piece;
    publish(session, "delta", { text: piece });
    if (everyMs > 0) await sleep(everyMs);
  }
  return text;
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(text),
  });
  response.end(text);
}

interface Body {
  content?: string;
  /** `provider/model` */
  model?: string;
  parentSessionId?: string;
}

async function readJson(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString() || "{}") as Body;
}

function watch(session: string, request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.flushHeaders();
  const responses = watchers.get(session) ?? new Set();
  watchers.set(session, responses.add(response));
  request.on("close", () => responses.delete(response));
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, , what = "", id = "", more = ""] = (request.url ?? "").split("?")[0]?.split("/") ?? [];
  if (request.url === "/ready" || what === "orchestration")
    return send(response, 200, { ok: true });
  if (what === "prompts") return send(response, 200, { prompt: find.get(id) as object });
  if (more === "events") return watch(id, request, response);
  if (request.method === "GET") return send(response, 200, { session: { id, lastSeq: 0 } });
  const body = await readJson(request);
  const newId = `id${++lastId}`;
  if (more !== "prompts") {
    addSession.run(newId, Date.now());
    if (body.parentSessionId !== undefined) parents.set(newId, body.parentSessionId);
    if (body.model !== undefined) models.set(newId, body.model.split("/").at(-1) ?? "");
    return send(response, 201, { session: { id: newId } });
  }
  const { content = "" } = body;
  accept.run(newId, id, content, Date.now());
  send(response, 202, { prompt: { id: newId, state: "accepted" } });
  if (runner === "inline") setImmediate(() => void turn(id, newId, content));
}

createServer((request, response) => void serve(request, response)).listen(
  Number(port),
  "127.0.0.1",
  () => void resume(),
);

/** Restarts prompts that a dead process left behind, from their beginning. */
async function resume(): Promise<void> {
  if (runner !== "inline") return;
  for (const row of open.all() as { id: string; session_id: string; content: string }[]) {
    await turn(row.session_id, row.id, row.content);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
