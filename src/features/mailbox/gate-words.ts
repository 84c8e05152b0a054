/** What a turn waits for, in words for the person who is to answer; pure. */
import type { GateRow } from "#engine/index.ts";

const MAX_CHARS = 2_000;

interface Shown {
  input?: {
    questions?: { question?: unknown; options?: { label?: unknown }[] }[];
    plan?: unknown;
    summary?: unknown;
  };
  reason?: unknown;
}

export function gateWords({
  kind,
  tool,
  target,
  shown,
}: Pick<GateRow, "kind" | "tool" | "target" | "shown">): string {
  const { input, reason } = JSON.parse(shown) as Shown;
  if (kind === "question") return bounded((input?.questions ?? []).map(questionWords).join("\n\n"));
  if (kind === "plan")
    return bounded(`It presents a plan:\n\n${text(input?.summary ?? input?.plan)}`);
  const what = target === null ? tool : `${tool}: ${target}`;
  const why = text(reason);
  return bounded(`It asks to be allowed ${what}${why === "" ? "" : `\n\n${why}`}`);
}

function questionWords({
  question,
  options = [],
}: {
  question?: unknown;
  options?: { label?: unknown }[];
}): string {
  return [text(question), ...options.map(({ label }) => `- ${text(label)}`)].join("\n");
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function bounded(words: string): string {
  return words.length <= MAX_CHARS ? words : `${words.slice(0, MAX_CHARS).toWellFormed()}…`;
}
