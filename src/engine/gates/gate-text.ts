/**
 * Describes a gate to the person who is to answer it; pure. Hidden characters of the agent's text
 * are spelled out, and several lines of it are quoted, so that none can pass for one of ours.
 */
import { quoteLines } from "#base/text/clean-text.ts";
import { spellOut } from "#base/text/visible-text.ts";
import type { GateRow } from "../schema.ts";

const MAX_CHARS = 2_000;

interface ShownCall {
  input?: {
    questions?: { question?: unknown; options?: { label?: unknown }[] }[];
    plan?: unknown;
    summary?: unknown;
  };
  reason?: unknown;
}

export function gateText({
  kind,
  tool,
  target,
  shown,
}: Pick<GateRow, "kind" | "tool" | "target" | "shown">): string {
  const { input, reason } = JSON.parse(shown) as ShownCall;
  if (kind === "question") return bounded((input?.questions ?? []).map(questionWords).join("\n\n"));
  if (kind === "plan")
    return bounded(`It presents a plan:\n\n${text(input?.summary ?? input?.plan)}`);
  const what = target === null ? text(tool) : `${text(tool)}:${quoted(text(target))}`;
  const why = text(reason);
  return bounded(`Wants to run ${what}${why === "" ? "" : `\n\n${why}`}`);
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
  return typeof value === "string" ? spellOut(value) : "";
}

function quoted(target: string): string {
  return target.includes("\n") ? `\n\n${quoteLines(target)}` : ` ${target}`;
}

function bounded(words: string): string {
  if (words.length <= MAX_CHARS) return words;
  const missing = (words.length - MAX_CHARS).toLocaleString("en-US");
  return `${words.slice(0, MAX_CHARS).toWellFormed()}…\n\n(${missing} more characters are shown in the approval.)`;
}
