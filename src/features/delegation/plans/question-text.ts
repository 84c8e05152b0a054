/** Text of a child's questions for its parent; pure. */
import type { AskedQuestion } from "#protocol/tools.ts";

/** Several questions are numbered, as their answers must be. */
export function questionText(questions: readonly AskedQuestion[]): string {
  return questions
    .map((question, at) => {
      const number = questions.length > 1 ? `${at + 1}. ` : "";
      return `${number}${question.question}${optionsText(question)}`;
    })
    .join("\n");
}

function optionsText({ options = [], multiple = false, freeText }: AskedQuestion): string {
  if (options.length === 0) return "";
  const shown = options.map(({ label, description }) =>
    description === undefined ? `“${label}”` : `“${label}”: ${description}`,
  );
  const how = multiple ? "Any of (several separated by commas)" : "One of";
  const other = freeText === false ? "" : "; or your own words";
  return `\n${how}: ${shown.join("; ")}${other}`;
}

/** Advice on answering a number of questions with one message. */
export function answerAdvice(count: number): string {
  return count > 1
    ? "with a message that answers each: one line per question, starting with its number (1. …)"
    : "with a message to the session";
}
