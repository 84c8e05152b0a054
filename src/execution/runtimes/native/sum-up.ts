/** Sums up the oldest exchanges of a thread, once: the summary is journaled and stands for them from then on. */
import type { ModelProvider } from "#execution/models/model.ts";
import { costMicros, priceOf } from "#execution/models/prices.ts";
import type { JournalItem } from "#protocol/events.ts";
import type { Turn } from "../runtime.ts";
import { type Earlier, toText } from "./earlier.ts";
import { SUMMARY_PROMPT } from "./system-prompt.ts";

/** What one request can read; of more, the newest part is summed up and the rest is told to be missing. */
const MAX_READ_CHARS = 400_000;

export async function sumUp(
  turn: Turn,
  provider: ModelProvider,
  { id, model }: { id: string; model: string },
  { summary, exchanges }: Earlier,
  count: number,
): Promise<Earlier> {
  const old = exchanges.slice(0, count);
  const kept = exchanges.slice(count);
  const text = [summary === null ? "" : `[Summed up before]\n${summary}`, toText(old)].join("\n\n");
  const answer = await ask(turn, provider, model, text.slice(-MAX_READ_CHARS));
  if (answer === null) {
    // The turn matters more: it goes on with what fits, and the next one tries again.
    turn.log.warn({}, "earlier exchanges could not be summed up");
    return { summary, exchanges: kept };
  }
  const throughSeq = old.at(-1)?.items.at(-1)?.seq ?? 0;
  const usage = answer.usage;
  const price = priceOf(id);
  const items: JournalItem[] = [
    { type: "context_summary", entryId: turn.entryId(), text: answer.text, throughSeq },
    {
      type: "model_call",
      entryId: turn.entryId(),
      model: id,
      inputTokens: usage?.inputTokens ?? 0,
      cachedInputTokens: usage?.cachedInputTokens ?? 0,
      outputTokens: usage?.outputTokens ?? 0,
      reasoningTokens: usage?.reasoningTokens ?? 0,
      costMicros: costMicros(price, usage),
      priceId: price?.id ?? null,
      durationMs: answer.durationMs,
      stopReason: "summary",
    },
  ];
  await turn.append(...items);
  return { summary: answer.text, exchanges: kept };
}

async function ask(turn: Turn, provider: ModelProvider, model: string, text: string) {
  await turn.step();
  const startedAt = performance.now();
  const stream = provider.stream({
    model,
    system: SUMMARY_PROMPT,
    messages: [{ role: "user", content: [{ type: "text", text }] }],
    tools: [],
    cacheKey: `${turn.assignment.sessionId}/summary`,
    signal: AbortSignal.any([turn.signal, turn.killed]),
  });
  for await (const event of stream) {
    if (event.type === "failed") return null;
    if (event.type !== "end") continue;
    const { parts, usage } = event.response;
    const said = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
    const durationMs = Math.round(performance.now() - startedAt);
    return said.trim() === "" ? null : { text: said, usage, durationMs };
  }
  return null;
}
