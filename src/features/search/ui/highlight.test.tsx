import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import type { MatchRanges } from "#features/search/contract.ts";
import { Highlight, partsOf } from "./highlight.tsx";

function drawn(text: string, matches: MatchRanges): HTMLElement {
  const box = document.createElement("div");
  box.innerHTML = renderToStaticMarkup(<Highlight text={text} matches={matches} />);
  return box;
}

test("marks what was found, and keeps the rest", () => {
  const box = drawn("two otters, two", [
    [4, 10],
    [12, 15],
  ]);
  expect(box.textContent).toBe("two otters, two");
  expect([...box.querySelectorAll("mark")].map((mark) => mark.textContent)).toEqual([
    "otters",
    "two",
  ]);
});

test("what was found is never markup", () => {
  const text = '<img src=x onerror="alert(1)"><mark>';
  const box = drawn(text, [[0, 4]]);
  expect(box.querySelector("img")).toBeNull();
  expect(box.querySelectorAll("mark")).toHaveLength(1);
  expect(box.textContent).toBe(text);
});

test.each<[MatchRanges]>([
  [[[2, 99]]],
  [
    [
      [0, 3],
      [1, 2],
    ],
  ],
  [[[3, 1]]],
  [[[50, 60]]],
  [[]],
])("loses nothing of the text, whatever the ranges say: %j", (matches) => {
  expect(
    partsOf("abcde", matches)
      .map(({ text }) => text)
      .join(""),
  ).toBe("abcde");
});
