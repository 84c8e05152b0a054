/**
 * Models whose keys the server keeps: a turn reaches them through the server, with its run token in place of
 * a key. The runner's own token only lists the models. Providers for which this machine has its own key are
 * called directly.
 */
import * as z from "zod";
import type { Log } from "#base/log.ts";
import type { Models } from "#execution/models/registry.ts";

export interface Gateway {
  serverUrl: string;
  token: string;
}

const listSchema = z.object({
  items: z.array(
    z.object({
      name: z.string(),
      kind: z.enum(["anthropic", "openai", "openai-chat", "openai-compatible"]),
      models: z.array(z.string()).nullable(),
      /** Servers of the previous version do not send it. */
      answered: z.boolean().default(true),
    }),
  ),
});
type ServerProvider = z.infer<typeof listSchema>["items"][number];
const TIMEOUT_MS = 10_000;

/** Keeps a registry in step with what the server offers. */
export class ServerModels {
  readonly #models: Models;
  readonly #gateway: Gateway;
  readonly #log: Log;
  /** Names from the server, to be removed when it removes them. */
  readonly #added = new Set<string>();

  constructor(models: Models, gateway: Gateway, log: Log) {
    this.#models = models;
    this.#gateway = gateway;
    this.#log = log;
  }

  async refresh(): Promise<void> {
    const items = await this.#list();
    for (const name of this.#added) {
      if (items.some((item) => item.name === name)) continue;
      this.#models.forget(name);
      this.#added.delete(name);
    }
    const offers = await this.#models.capabilities();
    const own = new Set(offers.filter(({ usable }) => usable).map(({ provider }) => provider));
    for (const item of items)
      if (this.#added.has(item.name) || !own.has(item.name)) this.#add(item);
  }

  #add({ name, kind, models, answered }: ServerProvider): void {
    const { serverUrl, token } = this.#gateway;
    const baseUrl = `${serverUrl}/api/gateway/${name}`;
    try {
      // Otherwise the names from before would stay.
      if (models === null) this.#models.forget(name);
      const reach = { kind, baseUrl, apiKey: token, viaServer: true, isUntried: !answered };
      this.#models.configure(name, { ...reach, ...(models ? { models } : {}) });
      this.#added.add(name);
    } catch (error) {
      this.#log.warn({ err: error, provider: name }, "the server's provider cannot be used here");
    }
  }

  async #list(): Promise<ServerProvider[]> {
    const { serverUrl, token } = this.#gateway;
    const answer = await fetch(`${serverUrl}/api/gateway`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!answer.ok) throw new Error(`the server's models: status ${answer.status}`);
    return listSchema.parse(await answer.json()).items;
  }
}
