/** Answers to a question that come as one message; pure. */
import { Refusal } from "#base/refusal.ts";
import { type AskedQuestion, keptQuestions } from "#protocol/tools.ts";
import type { GateRow } from "../schema.ts";

export function questionsOf({ shown }: Pick<GateRow, "shown">): AskedQuestion[] {
  const { input } = JSON.parse(shown) as { input?: unknown };
  return keptQuestions.parse(input).questions;
}

/** One answer for each question: the whole message, or the option that it names. */
export function answersInWords(gate: Pick<GateRow, "id" | "shown">, message: string): string[] {
  const text = message.trim();
  return questionsOf(gate).map((question) => {
    const answer = answerInWords(question, text);
    if (answer === undefined) throw needsChoice(gate.id, question);
    return answer;
  });
}

function answerInWords({ options = [], freeText }: AskedQuestion, text: string) {
  const wanted = text.toLowerCase();
  const named = options.find(({ label }) => label.trim().toLowerCase() === wanted);
  if (named) return named.label;
  return options.length === 0 || freeText !== false ? text : undefined;
}

function needsChoice(gateId: string, { question, options = [] }: AskedQuestion): Refusal {
  const labels = options.map(({ label }) => `“${label}”`).join(", ");
  return new Refusal(
    "conflict",
    "question_needs_choice",
    `The agent asks: “${question}” Answer with one of ${labels}, or decide among your approvals (${gateId}). To do something else instead, send it with mode steer.`,
  );
}
