import { expect, test } from "vitest";
import { answerOf, answersOf, mayWrite, NO_CHOICE, pick, write } from "./answers.ts";

const options = [{ label: "Red" }, { label: "Blue" }];
const one = { question: "Colour?", options };
const several = { question: "Colours?", options, multiple: true };

test("of a single choice the last one counts, and own words take its place", () => {
  const red = pick(one, NO_CHOICE, "Red");
  expect(answerOf(pick(one, red, "Blue"))).toBe("Blue");
  expect(answerOf(write(one, red, " green "))).toBe("green");
  expect(answerOf(pick(one, write(one, red, "green"), "Red"))).toBe("Red");
  expect(answerOf(write(one, red, " "))).toBe("Red");
});

test("of several choices all count, with own words beside them", () => {
  const both = pick(several, pick(several, NO_CHOICE, "Red"), "Blue");
  expect(answerOf(both)).toBe("Red\nBlue");
  expect(answerOf(write(several, pick(several, both, "Red"), "green"))).toBe("Blue\ngreen");
});

test("nothing is sent before every question has an answer", () => {
  expect(answersOf([NO_CHOICE])).toBeNull();
  expect(answersOf([pick(one, NO_CHOICE, "Red"), NO_CHOICE])).toBeNull();
  expect(answersOf([pick(one, NO_CHOICE, "Red"), write(one, NO_CHOICE, "x")])).toEqual([
    "Red",
    "x",
  ]);
});

test("a question without options can always be answered in words", () => {
  expect(mayWrite({ question: "?", freeText: false })).toBe(true);
  expect(mayWrite({ ...one, freeText: false })).toBe(false);
  expect(mayWrite(one)).toBe(true);
});
