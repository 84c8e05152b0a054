import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createCaller, openFakeWorkspace } from "../fake-workspace.ts";
import { createRunnerTools } from "../runner-tools.ts";

describe("edit", () => {
  it("tells nothing of a file of secrets, however it is named", async () => {
    await using workspace = await openFakeWorkspace();
    const call = createCaller(createRunnerTools(), workspace);
    const edit = (path: string, one: object) => call("edit", { path, edits: [one] });
    const file = join(workspace.folder, ".env");
    writeFileSync(file, "KEY=abc\nKEY=abc\n");
    symlinkSync(".env", join(workspace.folder, "innocent"));
    const errors = new Set<string | null>();
    for (const oldText of ["KEY=a", "KEY=z", "  KEY=abc", "same"])
      errors.add((await edit(".env", { oldText, newText: "same" })).error);
    expect([...errors]).toEqual([expect.stringMatching(/could not be made; nothing was changed/)]);
    expect((await edit("innocent", { oldText: "KEY", newText: "x", all: true })).error).toMatch(
      /leads to \.env, which usually contains secrets/,
    );
    expect((await edit(".env", { oldText: "KEY", newText: "K", all: true })).error).toBeNull();
    expect(readFileSync(file, "utf8")).toBe("K=abc\nK=abc\n");
  });
});
