import { expect, test } from "vitest";
import { reveal } from "#base/text/visible-text.ts";
import { revealLine } from "./reveal.ts";

const shown = (text: string) =>
  reveal(text)
    .map((piece) => ("text" in piece ? piece.text : `[${piece.name}]`))
    .join("");

test("ordinary text stays as it is, in every script", () => {
  for (const text of ["ls -la\n\tcat x | grep 'é'", "日本語 ελληνικά 👋🏽", ""]) {
    expect(shown(text)).toBe(text);
  }
});

test("what would hide or reorder is named", () => {
  expect(shown("rm -rf /\rls")).toBe("rm -rf /[CR]ls");
  expect(shown("a\u001b[2Kb\0")).toBe("a[ESC][2Kb[NUL]");
  expect(shown("echo \u202egnp.x\u202c")).toBe("echo [U+202E]gnp.x[U+202C]");
  expect(shown("a\u200bb\u00a0c\u2028d\ufeff")).toBe("a[U+200B]b[U+00A0]c[U+2028]d[U+FEFF]");
  expect(shown("x\u{e0041}y\ud800")).toBe("x[U+E0041]y[U+D800]");
});

test("one line names them in the text itself", () => {
  expect(revealLine("a\u202eb\tc")).toBe("a⟨U+202E⟩b\tc");
});
