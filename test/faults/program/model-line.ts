/**
 * A proxy in front of the model server. A prompt that was cut before the first answer is sent
 * together with the next one, in one message; the scripted model would obey both, so only the
 * newest text is forwarded. Rounds can wait here for the moment a model is asked.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type ModelServer, startModelServer, TEST_MODEL } from "#test/model-server/model-server.ts";
import type { Player } from "#test/model-server/script.ts";
import { Moments } from "./moments.ts";

interface Block {
  type: string;
}

interface Body {
  messages?: { role: string; content: string | Block[] }[];
}

export interface Watcher {
  /** The whole request, as it came. */
  asked(body: string): void;
  /** The answer has been sent to its last byte. */
  answered(body: string): void;
}

export class ModelLine {
  /** Fires for each request to a model. */
  readonly asked = new Moments();
  readonly #watcher: Watcher | undefined;
  readonly #model: ModelServer;
  readonly #server = createServer((request, response) => {
    this.#passOn(request, response).catch(() => response.destroy());
  });

  private constructor(model: ModelServer, watcher: Watcher | undefined) {
    this.#model = model;
    this.#watcher = watcher;
  }

  /** With a watcher, who sees every request, requests are not stored. */
  static async open(watcher?: Watcher): Promise<ModelLine> {
    const line = new ModelLine(await startModelServer(), watcher);
    await new Promise<void>((resolve) => line.#server.listen(0, "127.0.0.1", resolve));
    return line;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Settings that make the program use this model. */
  get env(): Record<string, string> {
    return {
      MUSTER_MODEL: `anthropic/${TEST_MODEL}`,
      ANTHROPIC_API_KEY: "test-key",
      ANTHROPIC_BASE_URL: this.url,
    };
  }

  play(name: string, player: Player): void {
    this.#model.play(name, player);
  }

  /** The newest user text of each request so far. */
  requestTexts(): string[] {
    return this.#model.requests.map(({ conversation }) => conversation.userText);
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await Promise.all([closed, this.#model.close()]);
  }

  async #passOn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    this.asked.happen();
    if (this.#watcher) this.#model.requests.length = 0;
    this.#watcher?.asked(text);
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const answer = await fetch(`${this.#model.url}${request.url}`, {
      method: request.method ?? "GET",
      headers: { "content-type": "application/json" },
      ...(text === "" ? {} : { body: JSON.stringify(newestOnly(JSON.parse(text) as Body)) }),
      signal: gone.signal,
    });
    response.writeHead(answer.status, {
      "content-type": answer.headers.get("content-type") ?? "application/json",
    });
    response.flushHeaders();
    if (answer.body) await pipeline(Readable.fromWeb(answer.body), response);
    else response.end();
    this.#watcher?.answered(text);
  }
}

function newestOnly(body: Body): Body {
  const newest = body.messages?.findLast(
    ({ role, content }) =>
      role === "user" && typeof content !== "string" && content.some(({ type }) => type === "text"),
  );
  if (!newest || typeof newest.content === "string") return body;
  const last = newest.content.findLastIndex(({ type }) => type === "text");
  newest.content = newest.content.filter(({ type }, n) => type !== "text" || n === last);
  return body;
}
