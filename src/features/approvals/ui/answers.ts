/** Choices and typed text per question, and the answer they make. Pure. */
import type { AskedQuestion } from "#protocol/tools.ts";

export interface Choice {
  /** Labels of the chosen options. */
  picked: readonly string[];
  words: string;
}

export const NO_CHOICE: Choice = { picked: [], words: "" };

export function mayWrite(question: AskedQuestion): boolean {
  return question.freeText !== false || (question.options ?? []).length === 0;
}

/** Picking an option of a single choice clears the typed text, and typing clears the option. */
export function pick(question: AskedQuestion, choice: Choice, label: string): Choice {
  if (question.multiple !== true) return { picked: [label], words: "" };
  const picked = choice.picked.includes(label)
    ? choice.picked.filter((one) => one !== label)
    : [...choice.picked, label];
  return { ...choice, picked };
}

export function write(question: AskedQuestion, choice: Choice, words: string): Choice {
  const isInstead = question.multiple !== true && words.trim() !== "";
  return { picked: isInstead ? [] : choice.picked, words };
}

/** Returns null while there is no answer. */
export function answerOf(choice: Choice): string | null {
  const words = choice.words.trim();
  const parts = words === "" ? choice.picked : [...choice.picked, words];
  // The server reads one choice per line.
  return parts.length === 0 ? null : parts.join("\n");
}

/** Returns one answer per question, or null while one is missing. */
export function answersOf(choices: readonly Choice[]): string[] | null {
  const answers = choices.map(answerOf);
  return answers.every((answer) => answer !== null) ? answers : null;
}
