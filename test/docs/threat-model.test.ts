import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const page = readFileSync(join(ROOT, "docs/threat-model.md"), "utf8");
const named = [...page.matchAll(/^- `(\S+)` › (.+)$/gm)].map(([, file = "", title = ""]) => ({
  file,
  title,
}));

it("names tests for every principal", () => {
  const sections = page.split(/^### /m).slice(1);
  expect(sections.length).toBeGreaterThanOrEqual(10);
  for (const section of sections) expect(section).toMatch(/^- `\S+\.test\.ts` › /m);
});

it.each(named)("$file has: $title", ({ file, title }) => {
  const path = join(ROOT, file);
  expect(existsSync(path)).toBe(true);
  expect(readFileSync(path, "utf8")).toContain(title);
});
