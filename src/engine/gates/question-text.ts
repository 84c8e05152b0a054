/** Parses the answers to a question from one message; pure. */
import { Refusal } from "#base/refusal.ts";
import { type AskedQuestion, keptQuestions } from "#protocol/tools.ts";
import type { GateRow } from "../schema.ts";

/** Questions of a gate; none when its call cannot be read as questions. */
export function questionsOf({ shown }: Pick<GateRow, "shown">): AskedQuestion[] {
  const { input } = JSON.parse(shown) as { input?: unknown };
  return keptQuestions.safeParse(input).data?.questions ?? [];
}

const MAX_SHOWN_CHARS = 500;

/** Advice for the writer of a message who wants something else than to answer. */
interface AnswerAdvice {
  elsewhere: string;
}

const adviceFor = (gateId: string): AnswerAdvice => ({
  elsewhere: `Or answer it in your approvals (${gateId}). To do something else instead, send it with mode steer.`,
});

/**
 * One answer for each question. A single question takes the whole message, or the option that it
 * names; several take numbered answers, or a line each.
 */
export function answersInWords(
  gate: Pick<GateRow, "id" | "shown">,
  message: string,
  advice = adviceFor(gate.id),
): string[] {
  const text = message.trim();
  const questions = questionsOf(gate);
  if (questions.length === 0) return [text];
  const parts = questions.length === 1 ? [text] : splitAnswers(text, questions.length);
  if (!parts) throw needsAnswers(questions, advice);
  return questions.map((question, at) => {
    const answer = answerInWords(question, parts[at] ?? "");
    if (answer === undefined) throw needsChoice(question, advice);
    return answer;
  });
}

const NUMBERED = /^\s*(\d{1,2})[.):](?:\s+|$)/;

/** Undefined when the message does not have exactly `count` answers. */
function splitAnswers(text: string, count: number): string[] | undefined {
  const lines = text.split(/\r?\n/);
  const answers = lines.some((line) => NUMBERED.test(line))
    ? numberedAnswers(lines)
    : lines.filter((line) => line.trim() !== "");
  const trimmed = answers?.map((answer) => answer?.trim() ?? "");
  return trimmed?.length === count && !trimmed.includes("") ? trimmed : undefined;
}

/** Answers in the order of their numbers; a line without a number continues the answer before it. */
function numberedAnswers(lines: readonly string[]): string[] | undefined {
  const answers = new Map<number, string>();
  let at: number | undefined;
  for (const line of lines) {
    const number = NUMBERED.exec(line);
    if (number) {
      at = Number(number[1]);
      if (answers.has(at)) return undefined;
      answers.set(at, line.slice(number[0].length));
    } else if (at !== undefined) answers.set(at, `${answers.get(at)}\n${line}`);
    else if (line.trim() !== "") return undefined;
  }
  return Array.from(
    { length: Math.max(...answers.keys()) },
    (_, index) => answers.get(index + 1) ?? "",
  );
}

function answerInWords(question: AskedQuestion, text: string): string | undefined {
  const { options = [], freeText, multiple = false } = question;
  const named = findLabel(question, text);
  if (named !== undefined) return named;
  const several = multiple ? text.split(/[\n,;]/).map((part) => findLabel(question, part)) : [];
  // Answers to such a question are kept with one choice per line.
  if (several.length > 1 && several.every((label) => label !== undefined))
    return [...new Set(several)].join("\n");
  return options.length === 0 || freeText !== false ? text : undefined;
}

function findLabel({ options = [] }: AskedQuestion, text: string): string | undefined {
  const wanted = text.trim().toLowerCase();
  return options.find(({ label }) => label.trim().toLowerCase() === wanted)?.label;
}

/** The agent's question on a single line. */
const questionLine = ({ question }: AskedQuestion) =>
  `“${question.replaceAll(/\s+/g, " ").slice(0, MAX_SHOWN_CHARS).toWellFormed()}”`;

const labelsOf = ({ options = [] }: AskedQuestion) =>
  options.map(({ label }) => `“${label}”`).join(", ");

function needsChoice(question: AskedQuestion, { elsewhere }: AnswerAdvice): Refusal {
  return new Refusal(
    "conflict",
    "question_needs_choice",
    `The agent asks: ${questionLine(question)} Answer with one of ${labelsOf(question)}. ${elsewhere}`,
  );
}

function needsAnswers(questions: readonly AskedQuestion[], { elsewhere }: AnswerAdvice): Refusal {
  const asked = questions.map((question, at) => {
    const labels = labelsOf(question);
    return `${at + 1}. ${questionLine(question)}${labels === "" ? "" : ` (${labels})`}`;
  });
  return new Refusal(
    "conflict",
    "question_needs_answers",
    `The agent asks ${questions.length} questions: ${asked.join(" ")} Answer each on its own line, starting with its number. ${elsewhere}`,
  );
}
