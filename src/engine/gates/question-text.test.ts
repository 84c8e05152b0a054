import { describe, expect, it } from "vitest";
import type { AskedQuestion } from "#protocol/tools.ts";
import { answersInWords } from "./question-text.ts";

const gateOf = (...questions: AskedQuestion[]) => ({
  id: "gat_1",
  shown: JSON.stringify({ input: { questions } }),
});
const options = [{ label: "Red" }, { label: "Blue" }];
const colour: AskedQuestion = { question: "Colour?", options, freeText: false };
const host: AskedQuestion = { question: "Host?" };
const port: AskedQuestion = { question: "Port?" };

describe("answers in one message", () => {
  const taken: [string, AskedQuestion[], string, string[]][] = [
    ["one question: the whole message", [host], " 1. a\n2. b ", ["1. a\n2. b"]],
    ["one question: the option it names", [colour], "blue", ["Blue"]],
    ["numbered", [host, port], "1. localhost\n2. 8080", ["localhost", "8080"]],
    ["numbered in another way", [host, port], "1) localhost\n\n2: 8080", ["localhost", "8080"]],
    ["numbered, in any order", [host, port], "2. 8080\n1. localhost", ["localhost", "8080"]],
    ["numbered, of several lines", [host, port], "1. a\nb\n2. c", ["a\nb", "c"]],
    ["a line each", [host, port], "localhost\n8080\n", ["localhost", "8080"]],
    ["an option among them", [colour, port], "1. RED\n2. 8080", ["Red", "8080"]],
  ];
  it.each(taken)("%s", (_name, questions, message, answers) => {
    expect(answersInWords(gateOf(...questions), message)).toEqual(answers);
  });

  const refused: [string, AskedQuestion[], string, string][] = [
    ["one text for two questions", [host, port], "localhost and 8080", "question_needs_answers"],
    ["an answer too few", [host, port, colour], "1. a\n2. b", "question_needs_answers"],
    ["an answer too many", [host, port], "1. a\n2. b\n3. c", "question_needs_answers"],
    ["an empty answer", [host, port], "1.\n2. b", "question_needs_answers"],
    ["a number twice", [host, port], "1. a\n1. b", "question_needs_answers"],
    ["words before the first number", [host, port], "well\n1. a\n2. b", "question_needs_answers"],
    ["no option", [colour, port], "1. green\n2. b", "question_needs_choice"],
  ];
  it.each(refused)("refuses %s", (_name, questions, message, code) => {
    expect(() => answersInWords(gateOf(...questions), message)).toThrowError(
      expect.objectContaining({ code }),
    );
  });

  it("names the questions and their options where it refuses", () => {
    expect(() =>
      answersInWords(gateOf(colour, port), "x", { elsewhere: "Or interrupt it." }),
    ).toThrow(/“Colour\?” \(“Red”, “Blue”\).*“Port\?”.*Or interrupt it\.$/s);
  });
});
