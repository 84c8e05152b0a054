/**
 * A server that speaks the wire format, with just enough sessions, prompts and event streams for the
 * commands.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Delta, SessionEvent } from "#protocol/events.ts";
import type { Prompt, Session } from "#protocol/sessions.ts";

export const KEY = "mst_test_key";
const SESSION = "ses_1";

export interface Seen {
  method: string;
  path: string;
  query: Record<string, string>;
  body: Record<string, unknown>;
  headers: IncomingMessage["headers"];
}

type Answer = (seen: Seen, response: ServerResponse) => void;

export class FakeServer {
  readonly seen: Seen[] = [];
  readonly prompts = new Map<string, Prompt>();
  /** Called once for each new prompt, after its response. */
  onPrompt: (prompt: Prompt) => void = () => {};
  onStop: () => void = () => {};
  readonly #server: Server;
  readonly #log: SessionEvent[] = [];
  readonly #streams = new Set<ServerResponse>();
  readonly #answers = new Map<string, Answer>();

  constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get env(): Record<string, string> {
    return {
      MUSTER_SERVER: `http://127.0.0.1:${this.port}`,
      MUSTER_API_KEY: KEY,
      MUSTER_HOME: "/nonexistent",
    };
  }

  /** Overrides the response to a request, for as long as it is set. */
  answer(method: string, path: string, answer: Answer): void {
    this.#answers.set(`${method} ${path}`, answer);
  }

  refuse(method: string, path: string, status: number, code: string): void {
    this.answer(method, path, (_seen, response) =>
      reply(response, status, { error: { code, message: `Said ${code}.` } }),
    );
  }

  forget(method: string, path: string): void {
    this.#answers.delete(`${method} ${path}`);
  }

  requests(method: string, path: string): Seen[] {
    return this.seen.filter((seen) => seen.method === method && seen.path === path);
  }

  publish(type: SessionEvent["type"], fields: Partial<SessionEvent> = {}): SessionEvent {
    const event: SessionEvent = {
      seq: this.#log.length + 1,
      type,
      v: 1,
      at: new Date().toISOString(),
      sessionId: SESSION,
      thread: "main",
      promptId: null,
      runId: null,
      entryId: null,
      kind: null,
      role: null,
      content: null,
      toolName: null,
      toolInput: null,
      toolOutput: null,
      error: null,
      exitCode: null,
      reason: null,
      data: null,
      ...fields,
    };
    this.#log.push(event);
    for (const stream of this.#streams) stream.write(frameOf(event));
    return event;
  }

  delta(entryId: string, offset: number, text: string, kind: Delta["kind"] = "text"): void {
    const delta: Delta = { entryId, thread: "main", kind, offset, text };
    for (const stream of this.#streams)
      stream.write(`event: delta\ndata: ${JSON.stringify(delta)}\n\n`);
  }

  emit(prompt: Prompt, entryId: string, text: string, kind: "text" | "reasoning" = "text"): void {
    this.publish("message", {
      promptId: prompt.id,
      entryId,
      kind,
      role: "assistant",
      content: [{ type: kind, text }],
    });
  }

  /** `data`: further fields of the event. */
  settle(
    prompt: Prompt,
    outcome: Prompt["outcome"],
    extra: Partial<Prompt> = {},
    data: Record<string, unknown> = {},
  ): void {
    Object.assign(prompt, { state: "settled", outcome, ...extra });
    this.publish("prompt_settled", {
      promptId: prompt.id,
      reason: outcome,
      data: { outcome, mergedInto: prompt.mergedInto, supersededBy: null, ...data },
    });
  }

  cutStreams(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  get streaming(): number {
    return this.#streams.size;
  }

  newPrompt(content: string, dispatchId: string | null): Prompt {
    const prompt = {
      id: `pmt_${this.prompts.size + 1}`,
      sessionId: SESSION,
      thread: "main",
      state: "queued",
      outcome: null,
      content,
      dispatchId,
      mergedInto: null,
      error: null,
      waitingFor: null,
    } as unknown as Prompt;
    this.prompts.set(prompt.id, prompt);
    this.publish("prompt_accepted", { promptId: prompt.id });
    return prompt;
  }

  session(): Session {
    return {
      id: SESSION,
      title: "A session",
      lifecycle: "active",
      activity: "idle",
      runtime: "echo",
      model: null,
      parentSessionId: null,
      persona: null,
      repo: null,
      branch: null,
      projectDir: null,
      hostname: null,
      lastSeq: this.#log.length,
      counts: { queued: 0, prompts: 0 },
      createdAt: new Date().toISOString(),
      updatedAt: new Date().toISOString(),
    } as unknown as Session;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://localhost");
    const body = await bodyOf(request);
    const seen: Seen = {
      method: request.method ?? "",
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      body,
      headers: request.headers,
    };
    this.seen.push(seen);
    const own = this.#answers.get(`${seen.method} ${seen.path}`);
    if (own) return own(seen, response);
    if (seen.headers.authorization !== `Bearer ${KEY}`) {
      return reply(response, 401, { error: { code: "unauthenticated", message: "Sign in." } });
    }
    this.#route(seen, response);
  }

  #route(seen: Seen, response: ServerResponse): void {
    const route = `${seen.method} ${seen.path}`;
    const prompt = this.prompts.get(seen.path.split("/")[3] ?? "");
    if (route === "GET /api/sessions")
      reply(response, 200, { items: [this.session()], next: null });
    else if (route === "POST /api/sessions") reply(response, 201, { session: this.session() });
    else if (route === `GET /api/sessions/${SESSION}`)
      reply(response, 200, { session: this.session() });
    else if (route === `POST /api/sessions/${SESSION}/prompts`) this.acceptPrompt(seen, response);
    else if (route === `GET /api/sessions/${SESSION}/events`) this.#stream(seen, response);
    else if (route === `POST /api/sessions/${SESSION}/stop`) {
      const stopped = seen.body.promptId === undefined ? [] : [seen.body.promptId];
      reply(response, 200, { session: this.session(), stopped });
      this.onStop();
    } else if (seen.method === "GET" && prompt) reply(response, 200, { prompt });
    else reply(response, 404, { error: { code: "not_found", message: "No such thing." } });
  }

  acceptPrompt({ body }: Seen, response: ServerResponse): void {
    const known = [...this.prompts.values()].find(
      (prompt) => prompt.dispatchId === body.dispatchId,
    );
    const prompt = known ?? this.newPrompt(String(body.content), String(body.dispatchId));
    reply(response, 202, { prompt });
    if (!known) setTimeout(() => this.onPrompt(prompt), 5);
  }

  #stream(seen: Seen, response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": hello\n\n");
    for (const event of this.#log.slice(Number(seen.query.after))) response.write(frameOf(event));
    this.#streams.add(response);
    response.on("close", () => this.#streams.delete(response));
  }
}

function frameOf(event: SessionEvent): string {
  return `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

export function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
}

export async function until(condition: () => boolean, withinMs = 5_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error("It did not happen in time.");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
