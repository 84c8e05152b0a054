import { expect, test } from "vitest";
import { pageOf } from "./page-of.ts";

const file = (path: string, mediaType = "text/html") => ({
  path,
  mediaType,
  size: 1,
  updatedAt: "2026-03-01T10:00:00.000Z",
});

test("the index nearest to the top is looked at first, and only pages are", () => {
  const files = [
    file("a/index.html"),
    file("b.html"),
    file("index.html"),
    file("x.png", "image/png"),
  ];
  expect(pageOf(files)?.path).toBe("index.html");
  expect(pageOf(files.slice(0, 2))?.path).toBe("b.html");
  expect(pageOf(files.slice(3))).toBeUndefined();
});
