/** Answers to a question that come as one message; pure. */
import { Refusal } from "#base/refusal.ts";
import { type AskedQuestion, keptQuestions } from "#protocol/tools.ts";
import type { GateRow } from "../schema.ts";

/** None when what was shown cannot be read as questions. */
export function questionsOf({ shown }: Pick<GateRow, "shown">): AskedQuestion[] {
  const { input } = JSON.parse(shown) as { input?: unknown };
  return keptQuestions.safeParse(input).data?.questions ?? [];
}

/** One answer for each question: the whole message, or the option that it names. */
export function answersInWords(gate: Pick<GateRow, "id" | "shown">, message: string): string[] {
  const text = message.trim();
  const questions = questionsOf(gate);
  if (questions.length === 0) return [text];
  return questions.map((question) => {
    const answer = answerInWords(question, text);
    if (answer === undefined) throw needsChoice(gate.id, question);
    return answer;
  });
}

function answerInWords(question: AskedQuestion, text: string): string | undefined {
  const { options = [], freeText, multiple = false } = question;
  const named = findLabel(question, text);
  if (named !== undefined) return named;
  const several = multiple ? text.split(/[\n,;]/).map((part) => findLabel(question, part)) : [];
  // One choice a line, as answers to such a question are kept.
  if (several.length > 1 && several.every((label) => label !== undefined))
    return [...new Set(several)].join("\n");
  return options.length === 0 || freeText !== false ? text : undefined;
}

function findLabel({ options = [] }: AskedQuestion, text: string): string | undefined {
  const wanted = text.trim().toLowerCase();
  return options.find(({ label }) => label.trim().toLowerCase() === wanted)?.label;
}

function needsChoice(gateId: string, { question, options = [] }: AskedQuestion): Refusal {
  const labels = options.map(({ label }) => `“${label}”`).join(", ");
  return new Refusal(
    "conflict",
    "question_needs_choice",
    `The agent asks: “${question}” Answer with one of ${labels}, or decide among your approvals (${gateId}). To do something else instead, send it with mode steer.`,
  );
}
