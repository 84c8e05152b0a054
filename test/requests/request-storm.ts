/**
 * Generated requests: every operation with valid and hostile values, from every kind of caller,
 * many at once. None may get a 5xx, and the server must still work afterwards.
 */
import { Agent, type ClientRequest, type IncomingMessage, request as send } from "node:http";
import type { Platform } from "#test/platform.ts";
import { Random } from "#test/random.ts";
import { type Caller, type Cast, gatherCallers } from "./callers.ts";
import { BEYOND_NUMBERS, type SchemaContext, valueFor } from "./from-schema.ts";
import {
  HOSTILE_BODIES,
  HOSTILE_CURSORS,
  HOSTILE_HEADERS,
  HOSTILE_SEGMENTS,
  HOSTILE_STRINGS,
} from "./hostile-values.ts";
import { KnownIds } from "./known-ids.ts";
import { listOperations, type Operation, type OperationTable } from "./operations.ts";

export interface Failure {
  caller: string;
  request: string;
  body: string;
  answer: string;
}

export interface StormReport {
  sent: number;
  /** Answers by status; 0: cut off by the client, such as streams. */
  statuses: Map<number, number>;
  failures: Failure[];
}

interface Shot {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
}

interface Answered {
  status: number;
  text: string;
}

const AT_ONCE = 16;
/** Requests themselves may ask for longer waits (`waitMs`, `sync`). */
const ANSWER_LIMIT_MS = 1_500;
const KEPT_FAILURES = 50;

export class RequestStorm {
  readonly #platform: Platform;
  readonly #random: Random;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE * 2 });
  readonly #known = new KnownIds();
  readonly #report: StormReport = { sent: 0, statuses: new Map(), failures: [] };
  #table: OperationTable | undefined;

  /** The platform must have no runner yet. */
  constructor(platform: Platform, seed: number) {
    this.#platform = platform;
    this.#random = new Random(seed);
  }

  async run(
    count: number,
    progress: (report: StormReport) => void = () => {},
  ): Promise<StormReport> {
    const cast = await gatherCallers(this.#platform);
    await this.#platform.startRunner();
    this.#known.reserve(cast.reserved);
    this.#known.learn("orgs", cast.orgId);
    this.#table = await listOperations(this.#platform);
    let left = count;
    const lane = async () => {
      while (left-- > 0) {
        await this.#shoot(cast);
        if (this.#report.sent % 5_000 === 0) progress(this.#report);
      }
    };
    try {
      await Promise.all(Array.from({ length: AT_ONCE }, lane));
    } finally {
      cast.close();
      this.#agent.destroy();
    }
    return this.#report;
  }

  async #shoot(cast: Cast): Promise<void> {
    const caller = this.#weighted(cast.callers);
    const operation = this.#weighted((this.#table as OperationTable).operations);
    const shot = this.#compose(operation, caller);
    const { status, text } = await this.#fire(shot);
    this.#report.sent += 1;
    this.#report.statuses.set(status, (this.#report.statuses.get(status) ?? 0) + 1);
    if (status >= 200 && status < 300) this.#known.read(operation.path, text);
    if (status === 401 && !isOpen(operation.path)) await caller.renew?.();
    if (status >= 500 && this.#report.failures.length < KEPT_FAILURES)
      this.#report.failures.push({
        caller: caller.name,
        request: `${shot.method} ${shot.path}`,
        body: (shot.body?.toString("utf8") ?? "").slice(0, 1_000),
        answer: `${status} ${text.slice(0, 300)}`,
      });
  }

  #weighted<T extends { weight: number }>(items: readonly T[]): T {
    let left = this.#random.next() * items.reduce((sum, { weight }) => sum + weight, 0);
    for (const item of items) {
      left -= item.weight;
      if (left < 0) return item;
    }
    return items[0] as T;
  }

  #compose(operation: Operation, caller: Caller): Shot {
    const random = this.#random;
    const path = this.#pathOf(operation) + this.#queryOf(operation);
    const body = this.#bodyOf(operation, caller);
    const headers: Record<string, string> = {
      ...caller.headers,
      ...(body ? { "content-type": "application/json" } : {}),
      ...(operation.path === "/mcp" ? { accept: "application/json, text/event-stream" } : {}),
    };
    if (random.chance(0.1)) {
      const [name, value] = random.pick(HOSTILE_HEADERS);
      // Keeps the caller's credential; without it most routes are not reached.
      if (!(name in caller.headers)) headers[name] = value;
    }
    return { method: operation.method, path, headers, body };
  }

  #pathOf({ path }: Operation): string {
    const random = this.#random;
    return path.replaceAll(/([\w-]+)\/\{(\w+)\}/g, (_all, collection: string, name: string) => {
      const known = this.#known.find(random, name === "orgId" ? "orgs" : collection);
      const isHostile = random.chance(name === "orgId" ? 0.03 : 0.15);
      if (known !== undefined && !isHostile) return `${collection}/${encodeURIComponent(known)}`;
      return `${collection}/${this.#hostileSegment()}`;
    });
  }

  #hostileSegment(): string {
    const random = this.#random;
    if (random.chance(0.5)) return random.pick(HOSTILE_SEGMENTS);
    return encodeLoosely(random.pick(HOSTILE_STRINGS)).slice(0, 6_000) || "x";
  }

  #queryOf({ query }: Operation): string {
    const random = this.#random;
    const parts: string[] = [];
    for (const { name, schema } of query) {
      if (!random.chance(0.4)) continue;
      const value =
        name === "cursor" && random.chance(0.5)
          ? (this.#known.find(random, "next") ?? random.pick(HOSTILE_CURSORS))
          : valueFor(this.#context(0.35), schema, name);
      const text = typeof value === "object" ? JSON.stringify(value) : String(value);
      parts.push(
        `${name}=${random.chance(0.1) ? random.pick(HOSTILE_SEGMENTS) : encodeLoosely(text)}`,
      );
    }
    if (random.chance(0.03))
      parts.push(random.pick(["%00=1", "x=%00", "a", "limit=1&limit=2", "%ff"]));
    const text = parts.join("&").slice(0, 10_000);
    return text === "" ? "" : `?${text}`;
  }

  #bodyOf(operation: Operation, caller: Caller): Buffer | undefined {
    const random = this.#random;
    if (operation.path === "/mcp" && operation.method === "POST") return this.#mcpBody(caller);
    if (operation.method === "GET" || operation.method === "HEAD") return undefined;
    if (random.chance(0.05)) return random.pick(HOSTILE_BODIES);
    if (!operation.body) return random.chance(0.5) ? undefined : Buffer.from("{}");
    return json(valueFor(this.#context(random.chance(0.4) ? 0 : 0.12), operation.body));
  }

  #mcpBody({ tools }: Caller): Buffer {
    const random = this.#random;
    if (random.chance(0.05)) return random.pick(HOSTILE_BODIES);
    const tool = random.find(tools);
    const context = this.#context(random.chance(0.4) ? 0 : 0.15);
    const params = {
      name: tool && random.chance(0.95) ? tool.name : random.pick(HOSTILE_STRINGS),
      arguments: valueFor(context, tool?.inputSchema),
    };
    const id = random.chance(0.9) ? random.between(1, 1e9) : random.pick(HOSTILE_STRINGS);
    const call = { jsonrpc: "2.0", id, method: "tools/call", params };
    return json(random.chance(0.05) ? [call, { ...call, id: 2 }] : call);
  }

  #context(odds: number): SchemaContext {
    const random = this.#random;
    const { components } = this.#table as OperationTable;
    return { random, components, odds, known: (field) => this.#known.forField(random, field) };
  }

  #fire({ method, path, headers, body }: Shot): Promise<Answered> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(this.#platform.url);
      let request: ClientRequest;
      const cut = () => {
        resolve({ status: 0, text: "" });
        request.destroy();
      };
      const limit = setTimeout(cut, ANSWER_LIMIT_MS);
      try {
        const length = body ? { "content-length": String(body.length) } : {};
        request = send(
          { hostname, port, method, path, headers: { ...headers, ...length }, agent: this.#agent },
          (response) => {
            read(response, path).then((answer) => {
              clearTimeout(limit);
              resolve(answer);
              if (answer.status === 0) request.destroy();
            }, cut);
          },
        );
      } catch (error) {
        clearTimeout(limit);
        return reject(error);
      }
      request.on("error", () => {
        clearTimeout(limit);
        resolve({ status: 0, text: "" });
      });
      request.end(body);
    });
  }
}

/** Reads an answer; a stream has no end, so its start is enough. */
async function read(response: IncomingMessage, path: string): Promise<Answered> {
  const status = response.statusCode ?? 0;
  const type = response.headers["content-type"] ?? "";
  if (type.startsWith("text/event-stream") && path.includes("/events"))
    return { status: 0, text: "" };
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status, text: Buffer.concat(chunks).toString("utf8") };
}

/** Like `encodeURIComponent`, but encodes lone surrogates instead of throwing. */
function encodeLoosely(text: string): string {
  return text.replaceAll(/[^\w.~-]/gu, (sign) =>
    sign.isWellFormed()
      ? encodeURIComponent(sign)
      : `%ED%${(0xa0 + ((sign.charCodeAt(0) - 0xd800) >> 6)).toString(16)}%80`,
  );
}

function json(value: unknown): Buffer {
  return Buffer.from((JSON.stringify(value) ?? "null").replaceAll(`"${BEYOND_NUMBERS}"`, "1e999"));
}

/** Routes without a credential, where a 401 says nothing about one. */
function isOpen(path: string): boolean {
  return path.startsWith("/api/auth/") || path.includes("/accept") || path.endsWith("/password");
}
