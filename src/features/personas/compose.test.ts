import { describe, expect, it } from "vitest";
import { composePersona } from "./compose.ts";
import { newPersonaSchema } from "./contract.ts";
import { shippedPersonas } from "./shipped/index.ts";

const file = (filename: string, sortOrder = 0) => ({
  filename,
  sortOrder,
  content: `# ${filename}`,
});
const namesOf = (files: ReturnType<typeof file>[], purpose: "task" | "review" = "task") =>
  composePersona({ files }, { purpose }).map(({ name }) => name);

describe("composing a persona", () => {
  it("puts safety first, then goes by place, then by name", () => {
    const files = [
      file("TOOLS.md", 5),
      file("b.md"),
      file("SYSTEM.md", 1),
      file("a.md"),
      file("SAFETY.md", 99),
    ];
    const expected = ["00-SAFETY.md", "01-a.md", "02-b.md", "03-SYSTEM.md", "04-TOOLS.md"];
    expect(namesOf(files)).toEqual(expected);
    expect(namesOf(files.toReversed())).toEqual(expected);
    expect(files[0]?.filename).toBe("TOOLS.md");
  });

  it("puts safety and system first, then goes by name, when no place is given", () => {
    const files = ["PROCESS.md", "TOOLS.md", "a.md", "system.md", "SAFETY.md"].map((name) =>
      file(name),
    );
    const expected = ["00-SAFETY.md", "01-system.md", "02-PROCESS.md", "03-TOOLS.md", "04-a.md"];
    expect(namesOf(files)).toEqual(expected);
    expect(namesOf(files.toReversed())).toEqual(expected);
  });

  it("gives review criteria to those who review", () => {
    const files = [file("SYSTEM.md"), file("Review.md"), file("REVIEW-NOTES.md")];
    expect(namesOf(files)).toEqual(["00-SYSTEM.md", "01-REVIEW-NOTES.md"]);
    expect(namesOf(files, "review")).toEqual([
      "00-SYSTEM.md",
      "01-REVIEW-NOTES.md",
      "02-Review.md",
    ]);
  });

  it("keeps texts as they are, and numbers with two digits", () => {
    const files = Array.from({ length: 50 }, (_, at) => file(`f${at}.md`, at));
    const composed = composePersona({ files }, { purpose: "task" });
    expect(composed[9]).toEqual({ name: "09-f9.md", content: "# f9.md" });
    expect(composed[49]?.name).toBe("49-f49.md");
    expect(composed.map(({ name }) => name).toSorted()).toEqual(composed.map(({ name }) => name));
    expect(namesOf([file("notes.txt"), file("notes.MD")])).toEqual([
      "00-notes.MD",
      "01-notes.txt.md",
    ]);
    expect(composePersona({ files: [] }, { purpose: "review" })).toEqual([]);
  });
});

describe("what ships", () => {
  it.each(shippedPersonas)("$slug can be created and begins with safety", (persona) => {
    const wanted = newPersonaSchema.parse({ ...persona, visibility: "shared" });
    expect(composePersona(wanted, { purpose: "task" })[0]?.name).toBe("00-SAFETY.md");
  });

  it("has criteria for reviews", () => {
    const reviewer = shippedPersonas.find(({ slug }) => slug === "reviewer");
    const given = (purpose: "task" | "review") =>
      composePersona({ files: reviewer?.files ?? [] }, { purpose }).map(({ name }) => name);
    expect(given("review")).toEqual(["00-SAFETY.md", "01-SYSTEM.md", "02-REVIEW.md"]);
    expect(given("task")).toEqual(["00-SAFETY.md", "01-SYSTEM.md"]);
  });
});
