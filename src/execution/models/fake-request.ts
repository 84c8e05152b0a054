/** Requests to a model and their results, for tests. */
import * as z from "zod";
import { toolDefinition } from "#protocol/tools.ts";
import type {
  ModelEvent,
  ModelFailure,
  ModelProvider,
  ModelRequest,
  ModelResponse,
} from "./model.ts";

export const LOOK = toolDefinition({
  name: "look",
  description: "Looks.",
  schema: z.strictObject({ at: z.number().optional(), text: z.string().optional() }),
});

export function request(text: string, more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: "test-1",
    system: "You are a test.",
    messages: [{ role: "user", content: [{ type: "text", text }] }],
    tools: [LOOK],
    cacheKey: "ses_1",
    signal: new AbortController().signal,
    ...more,
  };
}

export async function collect(provider: ModelProvider, asked: ModelRequest): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of provider.stream(asked)) events.push(event);
  return events;
}

export function responseIn(events: readonly ModelEvent[]): ModelResponse {
  const last = events.at(-1);
  if (last?.type !== "end") throw new Error(`no response but ${JSON.stringify(last)}`);
  return last.response;
}

export function failureIn(events: readonly ModelEvent[]): ModelFailure {
  const last = events.at(-1);
  if (last?.type !== "failed")
    throw new Error(`no failure but ${JSON.stringify(last)?.slice(0, 300)}`);
  return last.failure;
}

/** Joins the streamed pieces of one kind. */
export function streamed(
  events: readonly ModelEvent[],
  type: "text" | "reasoning" | "tool_input",
): string {
  return events.flatMap((event) => (event.type === type ? [event.text] : [])).join("");
}
